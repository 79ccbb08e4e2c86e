# SPDX-License-Identifier: Apache-2.0
"""--verify, --json, --quiet and the progress on a terminal."""

import contextlib
import itertools
import json
import math
import os
import platform
import pty
import random
import select
import signal
import subprocess
import time
import unittest

from support import COMMAND, CommandTest, header, npy

KINDS = {"f16": "<f2", "bf16": "<V2", "f32": "<f4", "f64": "<f8"}


def values(count, seed=1):
    draw = random.Random(seed)
    return [draw.uniform(-3, 3) for _ in range(count)]


class Verify(CommandTest):
    def verified(self, *options):
        """The largest error and its bound, of a run that must be within."""
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", "--verify", "--json", *options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        report = json.loads(result.stdout)
        self.assertLessEqual(report["largest_error_ulp"], report["bound_ulp"])
        return report["largest_error_ulp"], report["bound_ulp"]

    def test_every_op_type_and_rounding(self):
        self.file("w.npy", npy(values(300, 2), (300,)))
        self.file("b.npy", npy(values(300, 3), (300,)))
        ops = (("--op", "rms"), ("--op", "layer"), ("--partial", "0.3"),
               *(("--op", "l2", "--l2-eps", mode, "--eps", "0.7") for mode in ("max", "add", "inside", "clamp")))
        for (kind, descr), op, rounding in itertools.product(KINDS.items(), ops, ("once", "before-weight")):
            for vectors in ((), ("--weight", "w.npy"), ("--weight", "w.npy", "--bias", "b.npy", "--weight-offset", "1")):
                with self.subTest((kind, op, rounding, vectors)):
                    self.file("in.npy", npy(values(3000), (10, 300), descr))
                    error, bound = self.verified(*op, *vectors, "--round", rounding, "--type", kind)
                    narrow = kind in ("f16", "bf16")
                    self.assertGreater(error, 0.3 if narrow else 0)
                    if rounding == "once" and narrow:
                        self.assertLess(bound, 0.51)

    def test_residuals_and_output_types(self):
        for x, r, y in itertools.product(("f16", "bf16", "f32"), repeat=3):
            with self.subTest((x, r, y)):
                self.file("in.npy", npy(values(3000), (10, 300), KINDS[x]))
                self.file("r.npy", npy(values(3000, 4), (10, 300), KINDS[r]))
                self.verified("--residual", "r.npy", "--out-type", y, "--type", "bf16" if "bf16" in (x, r) else x)

    def test_extreme_rows(self):
        rows = ([3e38, -3e38, 1e38, 0.0], [1e-30, 2e-30, 0.0, 1e-30], [1e-40, 2e-40, 3e-45, 0.0], [math.nan, 1.0, 2.0, 3.0],
                [math.inf, 1.0, 2.0, 3.0], [math.inf, -math.inf, 1.0, 0.0], [0.0] * 4, [7.0] * 4, [1e4 + 1, 1e4 - 1, 1e4, 1e4])
        flat = [v for row in rows for v in row]
        for op, eps, out in itertools.product(("rms", "layer", "l2"), ("0", "1e-6"), ("f16", "bf16", "f32")):
            with self.subTest((op, eps, out)):
                self.file("in.npy", npy(flat, (len(rows), 4)))
                self.verified("--op", op, "--eps", eps, "--out-type", out)
        self.file("in.npy", npy([1e300, 1e-300, -1e300, 5.0, 1e-310, 2e-310, 0.0, 1e-310], (2, 4), "<f8"))
        for op in ("rms", "layer", "l2"):
            self.verified("--op", op, "--eps", "0")

    def test_rows_that_are_read_in_parts(self):
        self.file("in.npy", npy(values(9000), (3, 3000)))
        self.verified("--memory", "1K")
        self.verified("--memory", "1K", "--op", "layer")

    def test_a_share_whose_product_is_not_exact(self):
        """0.07 of 100 is 7 elements, though the product of the two is a little more than 7."""
        self.file("in.npy", npy(values(1000), (10, 100)))
        for memory in ("1M", "1K"):
            self.verified("--partial", "0.07", "--memory", memory)

    def test_the_line_says_so(self):
        self.file("in.npy", npy(values(10), (2, 5)))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--verify")
        self.assertRegex(result.stdout, rb"; verified, largest error \S+ ulp, bound 12\n\Z")

    @unittest.skipUnless(platform.machine() == "x86_64", "fma is a call of the C library's on x86-64 only")
    def test_an_error_beyond_the_bound_fails_before_the_output_appears(self):
        """The C library's fmaf, which rows read in parts use, is replaced by one that is wrong, far or a little."""
        self.file("in.npy", npy(values(9000), (3, 3000)))
        arguments = ("normalize", "in.npy", "-o", "out.npy", "--force", "--memory", "1K")
        for how in ("EIO", "short"):
            with self.subTest(how):
                environment = {**os.environ, "LD_PRELOAD": os.environ["ROWNORM_FAULT_SHIM"], "FAULT": "fmaf:%s:1" % how,
                               "ASAN_OPTIONS": "verify_asan_link_order=0"}
                self.assertEqual(self.run_command(*arguments, env=environment).returncode, 0)
                self.file("out.npy", b"old")
                result = self.run_command(*arguments, "--verify", env=environment)
                self.assert_failed(result)
                self.assertRegex(result.stderr, rb"out\.npy: [\d,]+ of 9,000 elements are beyond the error bound, the first "
                                                rb"in row \d+, element \d+: \S+ found; expected \S+; not written")
                self.assertEqual((self.folder / "out.npy").read_bytes(), b"old")


class Json(CommandTest):
    def report(self, *options):
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", "--json", *options)
        self.assertEqual((result.returncode, result.stderr, result.stdout.count(b"\n")), (0, b"", 1))
        return json.loads(result.stdout)

    def test_one_object(self):
        self.file("in.npy", npy(values(3000), (10, 300), "<f2"))
        report = self.report("--out-type", "f32", "--threads", "1", "--op", "layer")
        self.assertEqual({k: report[k] for k in ("input", "output", "op", "threads", "rows", "n", "input_type",
                                                 "output_type", "bytes", "nan_rows", "infinity_rows")},
                         {"input": "in.npy", "output": "out.npy", "op": "layer", "threads": 1, "rows": 10, "n": 300,
                          "input_type": "f16", "output_type": "f32", "bytes": 18000, "nan_rows": 0, "infinity_rows": 0})
        self.assertIn(report["isa"], ("sse2", "avx2", "avx512", "avx512bf16", "neon"))
        self.assertGreater(report["seconds"], 0)
        self.assertAlmostEqual(report["gigabytes_per_second"], 18e-6 / report["seconds"])
        self.assertNotIn("largest_error_ulp", report)

    def test_bytes_are_of_all_that_is_read_and_written(self):
        self.file("in.npy", npy(values(3000), (10, 300), "<f2"))
        self.file("r.npy", npy(values(3000), (10, 300)))
        report = self.report("--residual", "r.npy", "--residual-out", "sum.npy")
        self.assertEqual((report["bytes"], report["residual_output"]), (2 * 6000 + 2 * 12000, "sum.npy"))
        self.assertEqual(self.report("--residual", "r.npy")["bytes"], 2 * 6000 + 12000)

    def test_quiet_keeps_it(self):
        self.file("in.npy", npy(values(10), (2, 5)))
        self.assertEqual(self.report("--quiet")["rows"], 2)

    def test_rows_with_nan_and_infinity(self):
        nan, inf = math.nan, math.inf
        rows = [[1.0, 2.0], [nan, 1.0], [inf, 1.0], [-inf, inf], [3.0, 4.0], [nan, nan]]
        for descr, kind in (("<f2", "f16"), ("<V2", "bf16"), ("<f4", "f32"), (">f8", "f64")):
            for more in ((), ("--memory", "1K")):
                with self.subTest((descr, more)):
                    self.file("in.npy", npy([v for row in rows for v in row * 100], (6, 200), descr))
                    self.file("b.npy", npy([0.0] * 199 + [inf], (200,)))
                    report = self.report("--type", kind, *more)
                    self.assertEqual((report["nan_rows"], report["infinity_rows"]), (4, 0))  # inf * 0 is NaN
                    report = self.report("--type", kind, "--bias", "b.npy", *more)
                    self.assertEqual((report["nan_rows"], report["infinity_rows"]), (4, 3))

    def test_on_stderr_if_the_data_goes_to_stdout(self):
        self.file("in.npy", npy(values(10), (2, 5)))
        result = self.run_command("normalize", "in.npy", "-o", "-", "--json")
        self.assertEqual(json.loads(result.stderr)["output"], "standard output")

    def test_an_empty_array(self):
        self.file("in.npy", npy([], (0, 5)))
        report = self.report("--verify")
        self.assertEqual((report["rows"], report["isa"], report["largest_error_ulp"]), (0, None, 0))

    def test_names_that_are_not_utf_8(self):
        name = os.path.join(os.fsencode(self.folder), b"\xff\n\".npy")
        with open(name, "wb") as out:
            out.write(npy(values(10), (2, 5)))
        result = self.run_command("normalize", name, "-o", "out.npy", "--json")
        self.assertTrue(json.loads(result.stdout)["input"].endswith('\\xff\\n".npy'))


class Progress(CommandTest):
    SHAPE, PART = (64, 16384), 1 << 20  # 4 MiB

    def watch(self, *arguments, seconds=1.6, code=0, meanwhile=lambda process: None):
        """Feeds an array slowly, with stderr on a terminal; gives what that showed."""
        main, terminal = pty.openpty()
        process = subprocess.Popen([COMMAND, *arguments], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=terminal)
        process.stdin.write(header(shape=repr(self.SHAPE)) + b"\0" * (2 * self.PART))
        process.stdin.flush()
        left, end = 2 * self.PART, time.monotonic() + seconds
        while time.monotonic() < end and left > 65536:
            process.stdin.write(b"\0" * 65536)
            process.stdin.flush()
            left -= 65536
            time.sleep(seconds / 16)
        meanwhile(process)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"\0" * left)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        self.assertEqual(process.wait(timeout=20), code)
        os.close(terminal)
        shown = b""
        while select.select([main], [], [], 0)[0]:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(main)
        return shown.decode()

    NORMALIZE = ("normalize", "-", "-o", "out.npy", "--force")

    def test_a_long_job_on_a_terminal(self):
        self.file("b.npy", header(shape=repr(self.SHAPE)) + b"\0" * (4 * self.PART))
        for arguments in (self.NORMALIZE, ("info", "-"), ("diff", "-", "b.npy")):
            with self.subTest(arguments):
                shown = self.watch(*arguments)
                self.assertRegex(shown, r"\r\d\.\d\d MiB of 4\.00 MiB \(\d+ %\), \d+\.\d\d [KM]iB/s, \d+ s left")
                self.assertTrue(shown.rstrip("\r\n").endswith("\r\x1b[K"), repr(shown))

    def test_a_short_job_shows_none(self):
        for _ in range(10):  # a busy machine may make the job a long one
            begin = time.monotonic()
            shown = self.watch(*self.NORMALIZE, seconds=0.1)
            if time.monotonic() - begin < 0.5:
                self.assertNotIn("left", shown)
                return
        self.fail("none of ten runs was short")

    def test_quiet(self):
        self.file("b.npy", header(shape=repr(self.SHAPE)) + b"\0" * (4 * self.PART))
        for arguments in (self.NORMALIZE, ("diff", "-", "b.npy")):
            self.assertNotIn("left", self.watch(*arguments, "--quiet"))

    def test_a_signal_ends_the_line(self):
        shown = self.watch(*self.NORMALIZE, code=-signal.SIGINT, meanwhile=lambda process: process.send_signal(signal.SIGINT))
        self.assertRegex(shown, r" left\x1b\[K\r?\nrownorm: interrupted; out\.npy was left as it was\r?\n\Z")


if __name__ == "__main__":
    unittest.main(verbosity=0)
