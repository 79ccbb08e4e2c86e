# SPDX-License-Identifier: Apache-2.0
"""`rownorm info`: what it says of an array, as text, as JSON and as a histogram."""

import importlib.util
import json
import math
import os
import random
import statistics
import subprocess
import unittest

from support import COMMAND, SAMPLE, SANITIZED, Array, CommandTest, header, npy, pack


def rms(row):
    return math.sqrt(math.fsum(v * v for v in row) / len(row))


class Info(CommandTest):
    def info(self, name, *options, **more):
        result = self.run_command("info", name, *options, **more)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def json(self, data, *options, **more):
        self.file("a.npy", data)
        return json.loads(self.info("a.npy", "--json", *options, **more))

    def test_rms_of_rows(self):
        draw = random.Random(4)
        for rows in (1, 2, 7, 1000):
            x = [draw.gauss(0, 2) for _ in range(rows * 30)]
            for descr, near in (("<f2", 2e-3), ("<V2", 2e-2), (">f4", 1e-6), ("<f8", 1e-14)):
                with self.subTest((rows, descr)):
                    got = self.json(npy(x, (rows, 30), descr), *(("--type", "bf16") if "V" in descr else ()))
                    each = [rms(x[i:i + 30]) for i in range(0, len(x), 30)]
                    self.assertEqual((got["rows"], got["n"], got["shape"], got["order"]), (rows, 30, [rows, 30], "C"))
                    self.assertEqual(got["rms"]["median_of_every"], 1)
                    for key, value in (("min", min(each)), ("max", max(each)), ("median", statistics.median(each))):
                        self.assertAlmostEqual(got["rms"][key] / value, 1, delta=near)
                    if near < 1e-5:
                        self.assertEqual(got["rms"]["min_row"], each.index(min(each)))
                        self.assertEqual(got["rms"]["max_row"], each.index(max(each)))

    def test_the_largest_element_and_channel(self):
        x = [1.0] * 60
        x[4 * 12 + 7] = -5.0
        for row in range(5):
            x[row * 12 + 3] = 4.0
        got = self.json(npy(x, (5, 12)))
        self.assertEqual(got["largest"], {"value": -5.0, "row": 4, "channel": 7, "index": [4, 7]})
        self.assertEqual(got["largest_channel"], {"channel": 3, "rms": 4.0})
        text = self.info("a.npy")
        self.assertRegex(text, r"largest   -5 at \(4, 7\): row 4, channel 7, \d\.\d+ times the median rms")
        self.assertRegex(text, r"channel   3 has the largest rms, 4\n")

    def test_the_largest_element_of_long_rows(self):
        x = [1.0] * 600000
        x[599000] = -7.0
        for shape in ((200, 3000), (2, 300000)):
            row, channel = divmod(599000, shape[1])
            self.assertEqual(self.json(npy(x, shape))["largest"],
                             {"value": -7.0, "row": row, "channel": channel, "index": [row, channel]})

    def test_nan_and_infinity(self):
        nan, inf = math.nan, math.inf
        for descr in ("<f2", "<f4", "<f8", "<V2"):
            got = self.json(npy([1, 2, nan, 3, inf, nan, 5, -inf, 1, 1, 3, 3], (6, 2), descr), *(("--type", "bf16") if "V" in descr else ()))
            self.assertEqual([got[k] for k in ("nan_elements", "nan_rows", "infinite_elements", "infinity_rows")],
                             [2, 2, 2, 2])
            self.assertEqual(got["rms"]["max"], 3)
            self.assertEqual(got["rms"]["median"], statistics.median([math.sqrt(2.5), 1, 3]))
            self.assertEqual(got["largest"]["value"], 3)
        got = self.json(npy([nan, inf], (2, 1)))
        self.assertIsNone(got["rms"])
        self.assertNotIn("largest", got)
        self.assertNotIn("rms", self.info("a.npy").split("infinity")[0])

    def test_extreme_magnitudes(self):
        for value in (1e300, 1e-300, 5e-324, 1.7e308):
            self.assertEqual(self.json(npy([value, -value], (1, 2), "<f8"))["rms"]["max"], value)
        self.assertEqual(self.json(npy([0.0, -0.0], (1, 2)))["rms"]["max"], 0)

    def test_orders_and_axes(self):
        x = [float(i) for i in range(24)]
        x[17] = 100.0  # C order: (1, 1, 1); Fortran order: (1, 2, 2)
        c, f = npy(x, (2, 3, 4)), npy(x, (2, 3, 4), fortran=True)
        self.assertEqual(self.json(c)["largest"]["index"], [1, 1, 1])
        self.assertEqual(self.json(f)["largest"]["index"], [1, 2, 2])
        for axis in ("0", "1", "2", "-1", "0..", "1.."):
            self.assertEqual(self.json(c, "--axis", axis)["largest"]["index"], [1, 1, 1])
            self.assertEqual(self.json(f, "--axis", axis)["largest"]["index"], [1, 2, 2])
        got = self.json(c, "--axis", "1")
        self.assertEqual((got["rows"], got["n"]), (8, 3))
        got = self.json(f, "--axis", "1..")
        self.assertEqual((got["rows"], got["n"], got["largest"]["channel"]), (2, 12, 2 * 4 + 2))
        one_wide = npy([1.0, 2.0, 3.0, 4.0, 9.0, 5.0], (2, 3, 1))
        self.assertEqual(self.json(one_wide)["largest"]["index"], [1, 1, 0])
        self.assertEqual(self.json(npy([1.0, 2.0, 3.0, 4.0, 9.0, 5.0], (2, 1, 3)), "--axis", "1")["largest"]["index"],
                         [1, 0, 1])

    def test_empty_arrays_and_scalars(self):
        for shape in ((0,), (0, 5), (5, 0)):
            got = self.json(npy([], shape))
            self.assertEqual((got["shape"], got["rms"], got["nan_elements"]), (list(shape), None, 0))
            self.info("a.npy", "--plot")
        self.assertEqual(self.json(npy([-3.0], ()))["rms"]["max"], 3)

    def test_long_rows_and_pipes(self):
        x = [float(i % 101 - 50) for i in range(600000)]
        data = npy(x, (2, 300000))
        got = self.json(data)
        self.assertAlmostEqual(got["rms"]["max"], max(rms(x[:300000]), rms(x[300000:])))
        self.assertNotIn("largest_channel", got)
        piped = json.loads(self.info("-", "--json", input=data))
        self.assertEqual({**piped, "input": 0}, {**got, "input": 0})
        result = self.run_command("info", "-", input=npy([1, 2, 3, 4], (2, 2), fortran=True))
        self.assert_failed(result)

    def test_the_median_of_very_many_rows_is_sampled_and_says_so(self):
        rows = (1 << 24) + 2
        head = header("'<f2'", shape="(%d, 1)" % rows)
        with open(self.folder / "many.npy", "wb") as out:
            out.write(head + pack([1.0, 2.0], "f2") * (rows // 2))  # every second row is 1: those that are looked at
        pid = os.posix_spawn(COMMAND, [COMMAND, "info", self.folder / "many.npy", "--json"], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, self.folder / "out", os.O_WRONLY | os.O_CREAT, 0o600)])
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss / 1024, 256)
        got = json.loads((self.folder / "out").read_text())
        self.assertEqual((got["rms"]["median"], got["rms"]["median_of_every"]), (1, 2))
        self.assertIn("median 1 (sampled: one row in 2)", self.info("many.npy"))

    def test_the_massive_activation_of_the_sample(self):
        text = self.info(SAMPLE / "llama_residual_out.npy")
        self.assertRegex(text, r"largest   -?2\d{4}[.\d]* at \(0, \d+\): row 0")

    def test_wrong_usage(self):
        self.file("a.npy", npy([1.0], (1,)))
        for arguments, code in (((), 2), (("a.npy", "b"), 2), (("no.npy",), 1), (("a.npy", "--axis", "5"), 2),
                                (("a.npy", "--jsno"), 2), (("a.npy", "--json", "--plot"), 2),
                                (("a.npy", "--plot-out", "x.pdf"), 2)):
            self.assert_failed(self.run_command("info", *arguments), code)


class Plots(CommandTest):
    def bars(self, values):
        self.file("a.npy", npy(values, (len(values), 1)))
        result = self.run_command("info", "a.npy", "--plot")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        title, *lines = result.stdout.decode().split("rms of rows")[1].splitlines()
        counts = [int(line.split()[-1].replace(",", "")) for line in lines]
        self.assertEqual(sum(counts), len(values))
        for line, count in zip(lines, counts):
            self.assertEqual(line.count("#"), math.ceil(50 * count / max(counts)))
        return title, lines, counts

    def test_bars_of_a_histogram(self):
        title, lines, counts = self.bars([1.0 + i / 100 for i in range(100)])
        self.assertEqual((title, len(lines)), ("", 20))
        self.assertTrue(all(4 <= count <= 6 for count in counts), counts)

    def test_rows_of_nearly_one_rms(self):
        """As normalised rows have: the bars still show where they begin and end."""
        lines = self.bars([1.0 + i * 2 ** -23 for i in range(40)])[1]
        edges = [line.split()[0:3:2] for line in lines]
        self.assertTrue(all(first != last for first, last in edges), edges)
        self.assertEqual([last for _, last in edges[:-1]], [first for first, _ in edges[1:]])

    def test_a_wide_range_is_logarithmic(self):
        title, lines, counts = self.bars([1.0] * 50 + [1000.0])
        self.assertEqual((title, counts[0], counts[-1]), (" (logarithmic scale)", 50, 1))

    def test_rows_of_one_rms(self):
        self.assertEqual(self.bars([3.0] * 7)[2], [7])

    def python_has_matplotlib(self):
        return subprocess.run(["python3", "-c", "import matplotlib"], capture_output=True).returncode == 0

    def test_pictures(self):
        self.file("a.npy", npy([float(i) for i in range(50)], (50, 1)))
        if not self.python_has_matplotlib():
            result = self.run_command("info", "a.npy", "--plot-out", "p.svg")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, rb"\Arownorm: \S+plot_info\.py failed: it needs matplotlib[^\n]*\n\Z")
            self.assertFalse((self.folder / "p.svg").exists())
            return
        for name, begin in (("p.svg", b"<?xml"), ("p.png", b"\x89PNG")):
            result = self.run_command("info", "a.npy", "--plot-out", name)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertTrue((self.folder / name).read_bytes().startswith(begin))
            self.assertEqual(self.run_command("info", "a.npy", "--plot-out", name).returncode, 1)
            self.assertEqual(self.run_command("info", "a.npy", "--plot-out", name, "--force").returncode, 0)
        self.assertIn(b"rms of a row", (self.folder / "p.svg").read_bytes().replace(b"<!-- ", b""))

    def test_a_python_that_is_not_there(self):
        self.file("a.npy", npy([1.0], (1,)))
        result = self.run_command("info", "a.npy", "--plot-out", "p.svg", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"python3 cannot be run: No such file", result.stderr)
        self.assertFalse((self.folder / "p.svg").exists())


if __name__ == "__main__":
    unittest.main(verbosity=0)
