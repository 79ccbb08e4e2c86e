# SPDX-License-Identifier: Apache-2.0
"""Rows that do not fit the memory: the bits are those of rows that do."""

import itertools
import math
import os
import random
import struct
import unittest

from support import COMMAND, SANITIZED, Array, CommandTest, header, npy, pack

SMALL = ("--memory", "16K")  # longer rows are then read in parts
N = 20007                    # elements: even in f16 they do not fit, and the last chunk of 1,024 is not full


def product(*lists, **more):
    """All tuples; with sanitizers, which make each run many times as long, every fifth."""
    return list(itertools.product(*lists, **more))[::5 if SANITIZED else 1]


def repeated(pattern, count, kind):
    data = pack(pattern, kind)
    return (data * (count // len(pattern) + 1))[:count * len(data) // len(pattern)]


class LongRows(CommandTest):
    def both_ways(self, *options, sums=False, small=SMALL):
        """The outputs in memory and in parts, which must be the same."""
        outputs = []
        for more in ((), small):
            names = ["y.npy"] + ["s.npy"] * sums
            result = self.run_command("normalize", "in.npy", "-o", "y.npy", "--force", *options,
                                      *["--residual-out", "s.npy"] * sums, *more)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            outputs.append([(self.folder / name).read_bytes() for name in names])
        self.assertEqual(outputs[0], outputs[1])
        return outputs[0]

    def write(self, name, shape, kind, seed=1, scale=3.0):
        draw = random.Random(seed)
        pattern = [draw.uniform(-scale, scale) for _ in range(1999)]
        descr = {"bf16": "<V2"}.get(kind, "<" + kind)
        self.file(name, header(repr(descr), shape=repr(shape)) + repeated(pattern, math.prod(shape), kind))

    def test_ops_and_types(self):
        self.write("w.npy", (N,), "f4", 2)
        self.write("b.npy", (N,), "f2", 3)
        ops = (("--op", "rms"), ("--op", "layer"), ("--partial", "0.3"),
               *(("--op", "l2", "--l2-eps", mode, "--eps", "0.7") for mode in ("max", "add", "inside", "clamp")))
        for kind, op in product(("f2", "bf16", "f4", "f8"), ops):
            with self.subTest((kind, op)):
                named = ("--type", "bf16") if kind == "bf16" else ()
                self.write("in.npy", (2, N), kind)
                self.both_ways(*op, *named)
                self.both_ways(*op, *named, "--weight", "w.npy", "--bias", "b.npy", "--weight-offset", "1")

    def test_parts_of_several_chunks(self):
        """Many rows, since a small difference of a sum shows in some only; a memory that is no multiple of a chunk."""
        self.write("in.npy", (40, N), "f4")
        for memory in ("70K", "16K"):
            self.both_ways("--eps", "0", small=("--memory", memory))

    def test_weights_alone_and_rounding(self):
        self.write("w.npy", (N,), "f2", 2)
        for kind, vectors, rounding in product(("f2", "bf16", "f4"), (("--weight", "w.npy"), ("--bias", "w.npy")),
                                               ((), ("--round", "before-weight"))):
            with self.subTest((kind, vectors, rounding)):
                self.write("in.npy", (1, N), kind)
                self.both_ways(*vectors, *rounding, *(("--type", "bf16") if kind == "bf16" else ()))

    def test_residuals_and_output_types(self):
        kinds = {"f2": "f16", "bf16": "bf16", "f4": "f32"}
        for x, r, y in product(kinds, repeat=3):
            with self.subTest((x, r, y)):
                self.write("in.npy", (N,), x)
                self.write("r.npy", (N,), r, 5)
                self.both_ways("--residual", "r.npy", "--out-type", kinds[y], "--type", "bf16" if "bf16" in (x, r) else
                               kinds[x], sums=True)

    def test_magnitudes_that_are_redone(self):
        rows = {"f4": ([3e38, -3e38, 1e38], [1e-30, 2e-30], [1e-40], [3e-17, 1e-17, 2e-17], [1e30, 1.0, 0.0], [math.nan, 1.0], [math.inf, 2.0],
                       [0.0], [1e4 + 1, 1e4 - 1]),
                "f8": ([1e300, -1e308, 3.0], [1e-300, 2e-300], [5e-324], [3e-140, 1e-140, 2e-140],
                       [1e200, 1e-150, 1.0], [math.nan, 1.0], [math.inf, 2.0], [0.0],
                       [1e200 + 1e190, 1e200], [1e9 + 1, 1e9 - 1])}
        for kind, patterns in rows.items():
            self.write("w.npy", (N,), kind, 2)
            for pattern, op, eps in itertools.product(patterns, ("rms", "layer", "l2"), ("0", "1e-6")):
                with self.subTest((kind, pattern, op, eps)):
                    self.file("in.npy", header("'<%s'" % kind, shape="(%d,)" % N) + repeated(pattern * 6, N, kind))
                    first = self.both_ways("--op", op, "--eps", eps)[0]
                    self.assertTrue(any(first[128:]) or op == "layer" or pattern == [0.0])
                    self.both_ways("--op", op, "--eps", eps, "--weight", "w.npy", "--bias", "w.npy")

    def test_a_share_that_is_redone(self):
        """What lies behind the share must not set the scale."""
        for first, rest in (([1e-300, 2e-300], [1e-290, 5e-324, 1e10]), ([1e300, 2e300], [1e-300, 1.0])):
            values = (first * N)[:N // 2] + (rest * N)[:N - N // 2]
            self.file("in.npy", header("'<f8'", shape="(%d,)" % N) + pack(values, "f8"))
            self.both_ways("--partial", "0.4", "--eps", "0")

    def test_layouts(self):
        for shape, order, axis in (((2, N), "True", "-1"), ((N, 2), "False", "0"), ((3, N, 1), "True", "1"),
                                   ((2, 5, N // 5), "True", "1.."), ((5, N // 5), "True", "0..")):
            with self.subTest((shape, order, axis)):
                draw = random.Random(9)
                pattern = [draw.uniform(-3, 3) for _ in range(1999)]
                data = repeated(pattern, math.prod(shape), "f4")
                self.file("in.npy", header(order=order, shape=repr(shape)) + data)
                self.both_ways("--axis", axis)

    def test_big_endian(self):
        draw = random.Random(9)
        data = pack([draw.uniform(-3, 3) for _ in range(N)], "f4", ">")
        self.file("in.npy", header("'>f4'", shape="(%d,)" % N) + data)
        self.both_ways()

    def test_pipes(self):
        self.write("in.npy", (2, N), "f4")
        self.run_command("normalize", "in.npy", "-o", "y.npy")
        result = self.run_command("normalize", "in.npy", "-o", "-", *SMALL)  # to a pipe is no trouble
        self.assertEqual(result.stdout, (self.folder / "y.npy").read_bytes())
        data = (self.folder / "in.npy").read_bytes()
        result = self.run_command("normalize", "-", "-o", "out.npy", *SMALL, input=data)
        self.assert_failed(result)
        self.assertIn(b"standard input: not a file; expected one for rows of 78.15 KiB", result.stderr)
        self.assertFalse((self.folder / "out.npy").exists())
        self.write("w.npy", (N,), "f4")
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", *SMALL, "--weight", "-",
                                  input=(self.folder / "w.npy").read_bytes())
        self.assert_failed(result)


class Memory(CommandTest):
    """What the command takes at most, as the system counts it."""

    def tearDown(self):
        super().tearDown()
        if SANITIZED:
            self.skipTest("it ran, but the sanitizer takes memory of its own")

    def assert_peak_below(self, mib, *arguments):
        pid = os.posix_spawn(COMMAND, [COMMAND, "normalize", *map(str, arguments), "-q"], os.environ)
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss / 1024, mib)

    def sparse(self, name, shape, descr="<f4", order="False"):
        head = header(repr(descr), order, repr(shape))
        path = self.folder / name
        with open(path, "wb") as out:
            out.write(head)
            out.truncate(len(head) + math.prod(shape) * int(descr[2]))
        return path

    def test_rows_of_32_mib_with_everything(self):
        n = 1 << 23
        x, r = self.sparse("x.npy", (3, n)), self.sparse("r.npy", (3, n))
        w, b = self.sparse("w.npy", (n,)), self.sparse("b.npy", (n,))
        self.assert_peak_below(256, x, "-o", "/dev/null", "--residual", r, "--residual-out", self.folder / "s.npy",
                               "--weight", w, "--bias", b)
        for more in (("--out-type", "f16", "--threads", "8"), ("--verify", "--weight", w, "--bias", b)):
            self.assert_peak_below(256, x, "-o", "/dev/null", *more)

    def test_longer_rows(self):
        x = self.sparse("x.npy", (1, 60 << 20))  # 240 MiB
        self.assert_peak_below(256, x, "-o", "/dev/null")

    def test_a_fortran_ordered_file_of_512_mib(self):
        x = self.sparse("x.npy", (1 << 19, 256), order="True")
        self.assert_peak_below(256, x, "-o", self.folder / "y.npy")

    def test_many_short_rows(self):
        x = self.sparse("x.npy", (1 << 20, 128))
        self.assert_peak_below(64, x, "-o", "/dev/null")


if __name__ == "__main__":
    unittest.main(verbosity=0)
