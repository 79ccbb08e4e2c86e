# SPDX-License-Identifier: Apache-2.0
"""`--axis`: every axis of arrays in both orders, whole and in tiles, against plain indexing."""

import itertools
import math
import random
import unittest

from support import Array, CommandTest, npy, rms_rows

SHAPES = ((6,), (3, 4), (2, 3, 4), (5, 1, 3), (2, 3, 4, 5), (1, 7, 1), (3, 1))


def strides(shape, fortran):
    order = range(len(shape)) if fortran else reversed(range(len(shape)))
    out, step = [0] * len(shape), 1
    for axis in order:
        out[axis] = step
        step *= shape[axis]
    return out


def expected(x, shape, fortran, first, last, weight):
    """RMSNorm with eps 0 over axes [first, last), in file order."""
    step = strides(shape, fortran)
    offset = lambda axes, index: sum(step[a] * i for a, i in zip(axes, index))
    row_axes = range(first, last)
    batch_axes = [a for a in range(len(shape)) if a not in row_axes]
    inside = [offset(row_axes, i) for i in itertools.product(*(range(shape[a]) for a in row_axes))]
    out = [0.0] * len(x)
    for batch in itertools.product(*(range(shape[a]) for a in batch_axes)):
        begin = offset(batch_axes, batch)
        row = rms_rows([x[begin + i] for i in inside], len(inside))
        for j, i in enumerate(inside):
            out[begin + i] = row[j] * weight[j]
    return out


class Axes(CommandTest):
    def check(self, shape, fortran, text, *options, descr="<f4"):
        count = len(shape)
        first = int(text.removesuffix("..")) % count
        last = count if text.endswith("..") else first + 1
        draw = random.Random(11)
        x = [round(draw.uniform(-4, 4) * 64) / 64 for _ in range(math.prod(shape))]
        weight = [float(j % 5 + 1) for j in range(math.prod(shape[first:last]))]
        self.file("w.npy", npy(weight, (len(weight),)))
        out = self.normalize(npy(x, shape, descr, fortran), "--axis", text, "--eps", "0", "--weight", "w.npy", *options)
        self.assertEqual((out.shape, out.fortran), (shape, fortran))
        self.assert_close(out.values, expected(x, shape, fortran, first, last, weight), 2e-3 if "2" in descr else 4e-6)
        return out.data

    def test_every_axis_of_every_shape_in_both_orders(self):
        for shape, fortran in itertools.product(SHAPES, (False, True)):
            for axis in range(-len(shape), len(shape)):
                for text in ("%d" % axis, "%d.." % axis):
                    with self.subTest((shape, fortran, text)):
                        self.check(shape, fortran, text)

    def test_types_and_byte_orders(self):
        for descr, fortran, text in itertools.product(("<f2", ">f2", "<f8", ">f4"), (False, True), ("0", "1", "1..")):
            with self.subTest((descr, fortran, text)):
                self.check((4, 3, 5), fortran, text, descr=descr)

    def test_tiles(self):
        """The memory holds a part of one slab only: blocks begin and end within slabs, and the last is narrower."""
        for shape, text, fortran in (((3, 9, 1007), "1", False), ((2, 5021, 5), "2", True), ((1007, 9, 3), "1", True),
                                     ((2, 4009, 2), "0", False), ((3011, 2, 3), "1..", True)):
            for threads in ("1", "2"):
                with self.subTest((shape, text, fortran, threads)):
                    self.check(shape, fortran, text, "--memory", "64K", "--threads", threads)

    def test_a_residual_along_an_axis(self):
        x, r = npy([1, 2, 3, 4, 5, 6], (2, 3)), npy([0, 0, 0, 1, 1, 1], (2, 3))
        self.file("in.npy", x)
        self.file("r.npy", r)
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--axis", "0", "--eps", "0", "--residual",
                                  "r.npy", "--residual-out", "s.npy")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(Array((self.folder / "s.npy").read_bytes()).values, [1, 2, 3, 5, 6, 7])
        self.assert_close(Array((self.folder / "out.npy").read_bytes()).values,
                          expected([1, 2, 3, 5, 6, 7], (2, 3), False, 0, 1, [1, 1]))

    def test_weights_of_several_axes(self):
        x = [float(i % 7 - 3) for i in range(24)]
        weight = [float(j + 1) for j in range(12)]
        self.file("w.npy", npy(weight, (3, 4)))
        out = self.normalize(npy(x, (2, 3, 4)), "--axis", "1..", "--eps", "0", "--weight", "w.npy")
        self.assert_close(out.values, expected(x, (2, 3, 4), False, 1, 3, weight))
        for shape, data in (((4, 3), npy(weight, (4, 3))), ((3, 4), npy(weight, (3, 4), fortran=True)),
                            ((11,), npy(weight[:11], (11,)))):
            self.file("w.npy", data)
            result = self.run_command("normalize", "in.npy", "-o", "no.npy", "--axis", "1..", "--weight", "w.npy")
            self.assert_failed(result)
            self.assertIn(b"w.npy: ", result.stderr)

    def test_pipes_take_slabs_that_fit(self):
        x = [float(i % 7 - 3) for i in range(24)]
        result = self.run_command("normalize", "-", "-o", "-", "--axis", "1", "--eps", "0", input=npy(x, (2, 3, 4)))
        self.assert_close(Array(result.stdout).values, expected(x, (2, 3, 4), False, 1, 2, [1] * 3))

    def test_axes_that_are_none(self):
        self.file("in.npy", npy([1, 2, 3, 4, 5, 6], (2, 3)))
        for text in ("2", "-3", "2..", "x", "", "..", "1.", "1...", "0..1", "1 ", "0x1", "99999999999999999999"):
            with self.subTest(text):
                self.assert_failed(self.run_command("normalize", "in.npy", "-o", "out.npy", "--axis", text), 2)
        self.assertEqual(self.normalize(npy([4.0], ()), "--axis", "0", "--eps", "0").values, [1.0])

    def test_empty_arrays(self):
        for shape in ((0, 3), (3, 0), (2, 0, 3)):
            for text in ("0", "1", "0..", "1.."):
                out = self.normalize(npy([], shape), "--axis", text)
                self.assertEqual((out.shape, out.values), (shape, []))


if __name__ == "__main__":
    unittest.main(verbosity=0)
