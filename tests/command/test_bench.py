# SPDX-License-Identifier: Apache-2.0
"""`rownorm bench`: what it says, briefly measured."""

import json
import os
import re
import time
import unittest

from support import CommandTest

CELLS = [("decode", "rms_norm", "f32", 1, 4096), ("decode", "rms_norm", "bf16", 1, 4096),
         ("heads", "rms_norm", "f32", 32, 128), ("prefill", "rms_norm", "f32", 64, 4096),
         ("prefill", "rms_norm", "bf16", 64, 4096), ("prefill", "layer_norm", "f32", 64, 4096)]


class Bench(CommandTest):
    def bench(self, *arguments, **environment):
        env = {k: v for k, v in os.environ.items() if k != "ROWNORM_MAX_ISA"}
        result = self.run_command("bench", "--seconds", "0.1", *arguments, env={**env, **environment})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def report(self, **environment):
        text = self.bench("--json", **environment)
        self.assertEqual(text.count("\n"), 1)
        return json.loads(text)

    def default_isa(self):
        lines = self.run_command("isa", env={k: v for k, v in os.environ.items() if k != "ROWNORM_MAX_ISA"})
        return re.search(r"^(\w+) +runs", lines.stdout.decode(), re.MULTILINE)[1]

    def test_the_six_cells(self):
        report = self.report()
        cells = report["cells"]
        self.assertEqual([tuple(c[k] for k in ("use", "op", "type", "rows", "n")) for c in cells], CELLS)
        for cell in cells:
            with self.subTest(cell=cell):
                size = 4 if cell["type"] == "f32" else 2
                vectors = 2 * cell["rows"] + (2 if cell["op"] == "layer_norm" else 1)
                moved = vectors * cell["n"] * size
                seconds = cell["ns_per_row"] * cell["rows"] * 1e-9
                self.assertAlmostEqual(cell["gigabytes_per_second"] * seconds * 1e9 / moved, 1, places=6)
                self.assertAlmostEqual(cell["share_of_memcpy"],
                                       cell["gigabytes_per_second"] / cell["memcpy_gigabytes_per_second"], places=6)
                self.assertGreaterEqual(cell["spread"], 0)
                # Bounds that only nonsense exceeds: a row of nothing, or seconds for it.
                self.assertGreater(cell["ns_per_row"], cell["n"] * size / 1e4)
                self.assertLess(cell["ns_per_row"], 1e7)

    def test_what_it_says_of_the_machine(self):
        report = self.report()
        self.assertEqual(report["isa"], self.default_isa())
        version = self.run_command("--version").stdout.decode()
        self.assertIn("rownorm %s\n" % report["version"], version)
        self.assertIn("ISAs: %s (" % ", ".join(report["built_isas"]), version)
        self.assertIn("compiled by %s\n" % report["compiler"], version)
        self.assertEqual(report["cpus"], len(os.sched_getaffinity(0)))
        self.assertEqual(list(report["cache_bytes"]), ["l1d", "l2", "l3"])
        self.assertGreaterEqual(report["limits"]["bytes"], 16 << 20)
        for name in ("memcpy", "read"):
            self.assertTrue(0.01 < report["limits"][name + "_gigabytes_per_second"] < 1e4, report["limits"])

    def test_short_rows_take_less_than_long_ones(self):
        """What is measured is what is named."""
        cells = self.report()["cells"]
        self.assertLess(cells[2]["ns_per_row"], cells[0]["ns_per_row"])
        self.assertLess(cells[2]["ns_per_row"], cells[3]["ns_per_row"])

    def test_the_cap_is_obeyed(self):
        lowest = self.report()["built_isas"][-1]
        self.assertEqual(self.report(ROWNORM_MAX_ISA=lowest)["isa"], lowest)
        result = self.run_command("bench", env={**os.environ, "ROWNORM_MAX_ISA": "avx9"})
        self.assert_failed(result)
        self.assertIn(b"avx9", result.stderr)

    def test_the_text_to_paste(self):
        lines = self.bench().splitlines()
        self.assertRegex(lines[0], r"\Arownorm \d+\.\d+\.\d+, (GCC|Clang) \S+, ISA \w+ \(of .+\)\Z")
        self.assertRegex(lines[1], r"\ACPU     .+, \d+ usable, load \d+\.\d\Z")
        self.assertRegex(lines[2], r"\Acaches  L1d .+, L2 .+, L3 .+\Z")
        self.assertRegex(lines[3], r"\Alimits  memcpy \d+\.\d GB/s, read \d+\.\d GB/s, of \d+\.\d\d MiB\Z")
        self.assertEqual(lines[4], "")
        rows = [line.split() for line in lines[6:]]
        self.assertEqual([tuple(row[:4]) for row in rows], [(u, op, t, "%dx%d" % (r, n)) for u, op, t, r, n in CELLS])
        for line in lines[6:]:
            self.assertRegex(line, r" \d+\.\d +\d+\.\d +\d+ % +\d+ %\Z")
        self.assertEqual(len({len(line) for line in lines[5:]}), 1, "columns end together")

    def test_seconds(self):
        begin = time.monotonic()
        self.run_command("bench", "--seconds", "2")
        self.assertGreater(time.monotonic() - begin, 1.9)
        for wrong in ("0", "-1", "nan", "1s", "", "1e9"):
            result = self.run_command("bench", "--seconds", wrong)
            self.assert_failed(result, 2)
            self.assertIn(b"--seconds", result.stderr)

    def test_unknown_arguments(self):
        self.assert_failed(self.run_command("bench", "x.npy"), 2)
        result = self.run_command("bench", "--secnods", "1")
        self.assert_failed(result, 2)
        self.assertIn(b"is --seconds meant?", result.stderr)

    def test_standard_output_that_is_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full is not here")
        with open("/dev/full", "wb") as full:
            result = self.run_command("bench", "--seconds", "0.01", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"standard output", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=0)
