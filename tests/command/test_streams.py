# SPDX-License-Identifier: Apache-2.0
"""Pipes, files of any size, and the memory they take."""

import fcntl
import itertools
import math
import os
import random
import subprocess
import time
import unittest

from support import COMMAND, RMS, Array, CommandTest, header, npy, pack, rms_rows

X = npy([1, 2, 3, 4, 5, 6], (2, 3))


class Pipes(CommandTest):
    def test_from_a_pipe_and_to_a_pipe(self):
        result = self.run_command("normalize", "-", "-o", "-", "--eps", "0", input=X)
        self.assertEqual(result.returncode, 0)
        self.assert_close(Array(result.stdout).values, RMS)

    def test_two_in_a_row(self):
        self.file("in.npy", npy([float(i % 97) - 40 for i in range(300 * 1000)], (300, 1000)))
        line = '"$0" normalize in.npy -o - -q | "$0" normalize - -o out.npy -q'
        result = subprocess.run(["sh", "-c", line, COMMAND], cwd=self.folder, capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.run_command("normalize", "in.npy", "-o", "once.npy")
        self.run_command("normalize", "once.npy", "-o", "twice.npy")
        self.assertEqual((self.folder / "out.npy").read_bytes(), (self.folder / "twice.npy").read_bytes())

    def test_a_pipe_that_gives_a_byte_at_a_time(self):
        process = subprocess.Popen([COMMAND, "normalize", "-", "-o", "-", "--eps", "0", "-q"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, bufsize=0)
        for i in range(len(X)):
            process.stdin.write(X[i:i + 1])
        out = process.communicate(timeout=10)[0]
        self.assert_close(Array(out).values, RMS)

    def test_weight_and_residual_from_standard_input(self):
        self.file("in.npy", X)
        for option, data in (("--weight", npy([1, 1, 1], (3,))), ("--residual", npy([0] * 6, (2, 3)))):
            result = self.run_command("normalize", "in.npy", "-o", "-", "--eps", "0", option, "-", input=data)
            self.assertEqual(result.returncode, 0)
            self.assert_close(Array(result.stdout).values, RMS)

    def test_a_file_as_standard_input_from_where_it_stands(self):
        self.file("two.npy", b"junk" + X)
        with open(self.folder / "two.npy", "rb") as stream:
            os.lseek(stream.fileno(), 4, os.SEEK_SET)
            result = self.run_command("normalize", "-", "-o", "-", "--eps", "0", "-q", stdin=stream)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assert_close(Array(result.stdout).values, RMS)
        fortran = npy([1, 4, 2, 5, 3, 6] * 1000, (2000, 3), fortran=True)  # in tiles, which are read here and there
        expected = self.normalize(fortran, "--memory", "1K").data
        self.file("two.npy", b"junk" + fortran)
        with open(self.folder / "two.npy", "rb") as stream:
            os.lseek(stream.fileno(), 4, os.SEEK_SET)
            result = self.run_command("normalize", "-", "-o", "tiles.npy", "--memory", "1K", stdin=stream)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(Array((self.folder / "tiles.npy").read_bytes()).data, expected)


class Blocks(CommandTest):
    def test_more_rows_than_a_block_holds(self):
        """Rows of many blocks, the last of which is not full, in every type and with a residual."""
        draw = random.Random(3)
        for descr, n, rows in (("<f4", 1000, 1777), ("<f8", 333, 1500), ("<f2", 7, 40001), (">f4", 64, 9001)):
            with self.subTest(descr):
                base = [draw.uniform(-2, 2) for _ in range(n)]
                x = base * rows
                self.file("in.npy", npy(x, (rows, n), descr))
                self.file("r.npy", npy(x, (rows, n), descr))
                out = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", "--residual", "r.npy",
                                       "--residual-out", "sum.npy", "--eps", "0")
                self.assertEqual((out.returncode, out.stderr), (0, b""))
                y = Array((self.folder / "out.npy").read_bytes())
                s = Array((self.folder / "sum.npy").read_bytes())
                first = y.data[:len(y.data) // rows]
                self.assertEqual(y.data, first * rows)
                self.assert_close(y.values[:n], rms_rows([2 * v for v in base], n), 2e-3 if descr == "<f2" else 4e-6)
                self.assertEqual(s.data, s.data[:len(s.data) // rows] * rows)

    def test_every_block_is_written_in_its_place(self):
        rows, n = 6000, 200
        x = [float(r + 1) for r in range(rows) for _ in range(n)]
        self.file("in.npy", npy(x, (rows, n)))
        self.file("b.npy", npy([0.0] * n, (n,)))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--op", "l2", "--l2-eps", "add", "--eps",
                                  "1e6", "--threads", "8")
        self.assertEqual(result.returncode, 0)
        out = Array((self.folder / "out.npy").read_bytes())
        for r in range(0, rows, 37):
            expected = (r + 1) / ((r + 1) * n ** 0.5 + 1e6)
            self.assert_close(out.values[r * n:r * n + 2], [expected] * 2)


class Fortran(CommandTest):
    """Column-major arrays: in memory as a whole, and in tiles where they do not fit."""

    def check(self, shape, descr="<f4", **options):
        n = shape[-1]
        rows = 1
        for extent in shape[:-1]:
            rows *= extent
        draw = random.Random(7)
        x = [draw.uniform(-1, 1) for _ in range(rows * n)]
        # In file order the last axis is the slowest, so the rows stand side by side.
        self.file("in.npy", npy(x, shape, descr, fortran=True))
        self.file("w.npy", npy([float(j + 1) for j in range(n)], (n,)))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", "--eps", "0", "--weight", "w.npy",
                                  *options.get("more", ()))
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        out = Array((self.folder / "out.npy").read_bytes())
        self.assertEqual((out.fortran, out.shape), (True, shape))
        for row in range(0, rows, max(rows // 50, 1)):
            expected = [v * (j + 1) for j, v in enumerate(rms_rows(x[row::rows], n))]
            self.assert_close(out.values[row::rows], expected, 2e-3 if "f2" in descr else 4e-6)

    def test_ranks_and_types(self):
        for shape in ((5, 7), (33, 65), (2, 3, 4), (2, 1, 3), (1, 2, 2, 5), (100, 1), (1, 100)):
            for descr in ("<f2", "<f4", "<f8", ">f4"):
                with self.subTest((shape, descr)):
                    self.check(shape, descr)

    def test_tiles(self):
        """With 64 KiB of memory these take many tiles, the last of which is narrower."""
        for shape, descr in (((4000, 20), "<f4"), ((3011, 17), "<f8"), ((101, 31, 20), "<f2"), ((7, 1011), ">f4")):
            for threads in ("1", "2"):
                with self.subTest((shape, descr, threads)):
                    self.check(shape, descr, more=("--memory", "64K", "--threads", threads))

    def test_a_pipe_takes_what_fits(self):
        x = [1, 4, 2, 5, 3, 6]
        result = self.run_command("normalize", "-", "-o", "-", "--eps", "0", input=npy(x, (2, 3), fortran=True))
        self.assert_close(Array(result.stdout).values, [RMS[i] for i in (0, 3, 1, 4, 2, 5)])
        big = header(order="True", shape="(20000, 2)") + b"\0" * 160000
        result = self.run_command("normalize", "-", "-o", "out.npy", "--memory", "64K", input=big)
        self.assert_failed(result)
        self.assertIn(b"standard input: not a file", result.stderr)
        self.file("in.npy", big)
        result = self.run_command("normalize", "in.npy", "-o", "-", "--memory", "64K")
        self.assert_failed(result)
        self.assertIn(b"standard output: not a file", result.stderr)

    def test_a_residual_in_the_other_order(self):
        x, r = [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]
        self.file("in.npy", npy(x, (2, 3)))
        self.file("r.npy", npy(r, (2, 3), fortran=True))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--eps", "0", "--residual", "r.npy",
                                  "--residual-out", "s.npy")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assert_close(Array((self.folder / "out.npy").read_bytes()).values, RMS)
        total = Array((self.folder / "s.npy").read_bytes())
        self.assertEqual((total.fortran, total.values), (True, [1, 4, 2, 5, 3, 6]))


    def test_a_residual_of_more_axes_in_the_other_order(self):
        """C and Fortran order number the rows differently; both outputs keep the order of their inputs."""
        for shape in ((3, 4, 5), (2, 3, 2, 6), (7, 1, 9, 4), (60, 3, 100)):
            count = math.prod(shape)
            draw = random.Random(2)
            x, r = [[round(draw.uniform(-8, 8) * 8) / 8 for _ in range(count)] for _ in range(2)]
            total = [u + v for u, v in zip(x, r)]
            place = [sum(i * s for i, s in zip(index, strides(shape)))
                     for index in itertools.product(*(range(extent) for extent in shape))]
            turned = lambda values: [v for _, v in sorted(zip(place, values))]
            self.file("s-c.npy", npy(total, shape))
            self.run_command("normalize", "s-c.npy", "-o", "expected.npy", "--force")
            expected = Array((self.folder / "expected.npy").read_bytes()).values
            for fortran in (False, True):
                self.file("in.npy", npy(turned(x) if fortran else x, shape, fortran=fortran))
                self.file("r.npy", npy(r if fortran else turned(r), shape, fortran=not fortran))
                for more in ((), ("--memory", "16K", "--threads", "1"), ("--memory", "16K", "--verify")):
                    with self.subTest((shape, fortran, more)):
                        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--residual", "r.npy",
                                                  "--residual-out", "s.npy", "--force", *more)
                        self.assertEqual((result.returncode, result.stderr), (0, b""))
                        y, s = (Array((self.folder / name).read_bytes()) for name in ("out.npy", "s.npy"))
                        self.assertEqual((y.fortran, s.fortran), (fortran, not fortran))
                        self.assertEqual(y.values, turned(expected) if fortran else expected)
                        self.assertEqual(s.values, total if fortran else turned(total))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--residual", "r.npy", "--axis", "0")
        self.assert_failed(result)
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--residual", "r.npy", "--memory", "1K")
        self.assert_failed(result)


def strides(shape):
    """Of Fortran order."""
    return [math.prod(shape[:axis]) for axis in range(len(shape))]


class LargeFiles(CommandTest):
    def test_a_sparse_file_of_more_than_4_gib(self):
        """Offsets beyond 4 GiB; read through a pipe, so that no disk of that size is needed."""
        rows, n = 524416, 4096
        head = header("'<f2'", shape="(%d, %d)" % (rows, n))
        with open(self.folder / "in.npy", "wb") as out:
            out.write(head)
            out.truncate(len(head) + rows * n * 2 - n * 2)
            out.seek(0, os.SEEK_END)
            out.write(pack([1.0] * n, "f2"))
        process = subprocess.Popen([COMMAND, "normalize", "in.npy", "-o", "-", "-q"], cwd=self.folder,
                                   stdout=subprocess.PIPE, bufsize=0)
        size, pipe = len(head) + rows * n * 2, process.stdout.fileno()
        fcntl.fcntl(pipe, 1031, 1 << 20)  # F_SETPIPE_SZ
        left = size - 2 * n
        with open("/dev/null", "wb") as nowhere:
            while left > 0 and (got := os.splice(pipe, nowhere.fileno(), min(left, 1 << 20))):
                left -= got
        self.assertEqual(process.stdout.read(2 * n + 1), pack([1.0] * n, "f2"))
        process.communicate()
        self.assertEqual((process.returncode, left), (0, 0))

    def test_a_file_that_is_cut_while_it_is_read(self):
        head = header(shape="(262144, 1024)")
        with open(self.folder / "in.npy", "wb") as out:
            out.write(head)
            out.truncate(len(head) + (1 << 30))
        process = subprocess.Popen([COMMAND, "normalize", "in.npy", "-o", "-"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1 << 20)  # it runs, and is held by the pipe
        os.truncate(self.folder / "in.npy", 100)
        start = time.monotonic()
        error = process.communicate(timeout=10)[1]
        self.assertEqual(process.returncode, 1)
        self.assertLess(time.monotonic() - start, 10)
        self.assertRegex(error, rb"\Arownorm: in\.npy: \d.* of data found; expected 1\.00 GiB [^\n]*\n\Z")

    def test_a_file_that_is_cut_leaves_the_old_output(self):
        head = header(shape="(262144, 1024)")
        with open(self.folder / "in.npy", "wb") as out:
            out.write(head)
            out.truncate(len(head) + (1 << 30))
        self.file("out.npy", b"old")
        process = subprocess.Popen([COMMAND, "normalize", "in.npy", "-o", "out.npy", "--force", "--threads", "1"],
                                   cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        while not list(self.folder.glob(".rownorm-*")):
            time.sleep(0.001)
        os.truncate(self.folder / "in.npy", 100)
        error = process.communicate(timeout=10)[1]
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual((self.folder / "out.npy").read_bytes(), b"old")


if __name__ == "__main__":
    unittest.main(verbosity=0)
