# SPDX-License-Identifier: Apache-2.0
"""tables.py and tools/plot_bench.py: on numbers made by hand, and on what rownorm_bench writes (ROWNORM_BENCH)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import results
import tables
import targets

PLOT = pathlib.Path(__file__).resolve().parents[1] / "tools" / "plot_bench.py"
CONTEXT = {"cpu": "Made Up(R) CPU", "measured GHz": "3.00", "caches": "L1d 32 KiB", "noise": "1.00 % (p90)",
           "rownorm isas": "avx2 sse2", "date": "2000-01-01T00:00:00+00:00"}
HAS_MATPLOTLIB = subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True).returncode == 0


def run(name, ns_row, bytes_run, share=0.5, level="L2", **more):
    rows = int(name.split("rows:")[1].split("/")[0])
    return {"name": name, "run_name": name, "run_type": "iteration", "label": level, "ns/row": ns_row, "share": share,
            "bytes/s": bytes_run / (ns_row * rows) * 1e9, **more}


def made_up():
    """Every cell takes its own time: 100 ns a row of RMSNorm with avx2, and more for what is slower."""
    runs = []
    for types, size in (("f32", 4), ("bf16", 2)):
        for rows, cols in ((1, 256), (1, 1024), (64, 1024)):
            shape = f"/rows:{rows}/cols:{cols}/threads:1"
            bytes_run = (2 * rows + 1) * cols * size
            runs += [run(f"{limit}/{types}/limit{shape}", 50 + i, bytes_run)
                     for i, limit in enumerate(("memcpy", "read"))]
            for op, ns in (("rms_norm", 100), ("layer_norm", 160)):
                for contestant, times in (("avx2", 1), ("sse2", 3), ("loop", 5)):
                    runs.append(run(f"{op}/{types}/{contestant}{shape}", ns * times, bytes_run))
    runs.append(run("rms_norm/f32/avx2/rows:64/cols:1024/threads:2", 60, 528384))
    runs.append({"name": "call/execute/rows:1/cols:128", "run_name": "call/execute/rows:1/cols:128", "ns": 1})
    return {"context": CONTEXT, "benchmarks": runs}


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, report):
        path = self.folder / "bench.json"
        path.write_text(report if isinstance(report, str) else json.dumps(report))
        return path

    def plot(self, file, *arguments):
        return subprocess.run([sys.executable, "-B", PLOT, file, "-o", self.folder / "out", *arguments],
                              capture_output=True, text=True)


class Read(Reports):
    def test_the_median_of_repeated_runs(self):
        name = "rms_norm/f32/avx2/rows:1/cols:4/threads:1"
        runs = [run(name, ns, 40) for ns in (1, 9, 2)]
        self.assertEqual(results.read(self.file({"context": CONTEXT, "benchmarks": runs})).cells[0].ns_row, 2)
        of = {"run_type": "aggregate"}
        runs = [run(name, 5, 40, aggregate_name="mean", **of), run(name, 4, 40, aggregate_name="median", **of)]
        for r in runs:
            r["run_type"] = "aggregate"
        self.assertEqual(results.read(self.file({"context": CONTEXT, "benchmarks": runs})).cells[0].ns_row, 4)

    def test_the_bytes_of_a_run(self):
        data = results.read(self.file(made_up()))
        cell = data.one(op="rms_norm", types="bf16", contestant="avx2", rows=64, cols=1024)
        self.assertAlmostEqual(cell.bytes, 129 * 1024 * 2)

    def test_the_order_is_that_of_registration(self):
        names = [f"rms_norm/{types}/avx2/rows:1/cols:4/threads:1" for types in ("f32", "bf16")]
        runs = [run(names[i], 1, 40, family_index=i) for i in (1, 0, 1, 0)]
        self.assertEqual(results.read(self.file({"context": CONTEXT, "benchmarks": runs})).types(), ["f32", "bf16"])

    def test_files_of_one_machine_are_one(self):
        name = "rms_norm/f32/avx2/rows:%d/cols:4/threads:1"
        files = []
        for rows in (1, 2):
            files.append(self.folder / f"{rows}.json")
            files[-1].write_text(json.dumps({"context": CONTEXT, "benchmarks": [run(name % rows, 1, 40)]}))
        self.assertEqual([c.rows for c in results.read(*files).cells], [1, 2])
        files[1].write_text(files[1].read_text().replace("Made Up", "Another"))
        with self.assertRaises(ValueError):
            results.read(*files)

    def test_other_files_are_refused(self):
        for text in ("", "[]", "{}", '{"context": {}, "benchmarks": []}',
                     json.dumps({"context": CONTEXT, "benchmarks": []})):
            with self.assertRaises(ValueError, msg=text):
                results.read(self.file(text))


class Tables(Reports):
    def test_the_numbers(self):
        text = tables.all_tables(results.read(self.file(made_up())))
        for line in ("| avx2, GB/s (share) | 1x256 L2 | 1x1024 L2 | 64x1024 L2 |",
                     "| rms_norm f32 | 30.7 (50 %) | 122.9 (50 %) | 82.6 (50 %) |",
                     "| f32, ns a row | avx2 | sse2 | loop |",
                     "| layer_norm 64x1024 | 160 | 480 | 800 |",
                     "| bf16 | 38 % | 38 % | 38 % |",
                     "| rms_norm f32 | 1.67 |"):
            self.assertIn(line + "\n", text)

    def test_readme_is_made_anew_between_its_marks_only(self):
        readme = self.folder / "README.md"
        for old in ("", "old\n"):
            readme.write_text("head\n" + tables.BEGIN + old + tables.END + "tail\n")
            tables.update(readme, "new\n")
            self.assertEqual(readme.read_text(), f"head\n{tables.BEGIN}\nnew\n\n{tables.END}tail\n")
        readme.write_text("head\n" + tables.BEGIN)
        with self.assertRaises(ValueError):
            tables.update(readme, "new\n")

    def test_the_marks_are_in_our_readme(self):
        text = pathlib.Path(__file__).with_name("README.md").read_text()
        self.assertEqual((text.count(tables.BEGIN), text.count(tables.END)), (1, 1))


class Targets(Reports):
    def row(self, what, *cells, calls=()):
        """That of a target, of cells that are given as (op/types/contestant, ns, more of their name)."""
        moved = {"bf16": 20, "bf16_w_f32": 25, "f32_y_bf16": 35}  # bytes; 40 by the others
        runs = [run(f"{name}/rows:1/cols:4/threads:{more}", ns, moved.get(name.split("/")[1], 40), level=level)
                for name, ns, more, level in (cell if len(cell) == 4 else (*cell, "1", "L3") for cell in cells)]
        runs += [{"run_name": f"call/{call}/rows:1/cols:128", "cpu_time": ns} for call, ns in calls]
        data = results.read(self.file({"context": CONTEXT, "benchmarks": runs}))
        found = [row for row in targets.rows(data) + targets.call_rows(data) if row[0] == what]
        self.assertLessEqual(len(found), 1)
        return found[0] if found else None

    def test_a_cell_beyond_its_target_is_named(self):
        what = "what a plan chooses, beside avx2"
        fast = [("rms_norm/f32/default", 90), ("rms_norm/f32/avx2", 100)]
        slow = [("layer_norm/f32/default", 106, "1/from:cold_weight", "L1"),
                ("layer_norm/f32/avx2", 100, "1/from:cold_weight", "L1")]
        self.assertEqual(self.row(what, *fast), [what, "1.05", "1", "0.90", "0.90", "none"])
        self.assertEqual(self.row(what, *fast, *slow),
                         [what, "1.05", "2", "0.98", "1.06", "layer_norm f32 1x4 cold_weight 1.06"])
        self.assertIsNone(self.row(what, ("rms_norm/f32/default", 90)))

    def test_a_ratio_misses_by_what_is_printed(self):
        for ns, missing in ((105.4, "none"), (105.6, "rms_norm f32 1x4 1.06")):
            row = self.row("what a plan chooses, beside avx2", ("rms_norm/f32/default", ns), ("rms_norm/f32/avx2", 100))
            self.assertEqual(row[-1], missing)

    def test_many_cells_are_counted(self):
        cells = [(f"{op}/{types}/{contestant}", ns) for op in results.OPS for types in ("f32", "f16", "bf16")
                 for contestant, ns in (("default", 200), ("avx2", 100))]
        beyond = self.row("what a plan chooses, beside avx2", *cells)[-1]
        self.assertEqual((beyond.count("1x4 2.00"), beyond.split(", ")[-1]), (12, "3 more of 1x4 to 2.00"))

    def test_what_is_compared_with_what(self):
        f32 = [("rms_norm/f32/default", 100), ("rms_norm/bf16/default", 80), ("layer_norm/f32/default", 200)]
        for what, cell, ratio in (
                ("mixed types beside the same bytes of one type", ("rms_norm/bf16_w_f32/default", 102), "1.20"),
                ("mixed types beside the same bytes of one type", ("rms_norm/f32_y_bf16/default", 114), "1.20"),
                ("slices of wider rows beside dense rows", ("rms_norm/f32/default", 130, "1/from:slices", "L3"),
                 "1.30"),
                ("several threads beside one, L3", ("rms_norm/f32/default", 70, "2", "L3"), "0.70"),
                ("several threads beside one, memory", ("rms_norm/f32/default", 80, "2", "memory"), "0.80"),
                ("what a plan chooses, beside peer", ("rms_norm/f32/peer", 50), "2.00"),
                ("sse2 beside avx2, f32 from L3 and memory", ("rms_norm/f32/sse2", 600), "6.00"),
                ("LayerNorm of sse2 beside avx2, f32 from L3 and memory", ("layer_norm/f32/sse2", 1600), "8.00")):
            avx2 = [("rms_norm/f32/avx2", 100), ("layer_norm/f32/avx2", 200)]
            found = self.row(what, *f32, *avx2, cell)
            self.assertEqual((found[2], found[4]), ("1", ratio), what)
            self.assertTrue(found[5].endswith(ratio), what)
        self.assertEqual(self.row("RMSNorm beside LayerNorm", *f32)[4:], ["0.50", "none"])
        self.assertIsNone(self.row("sse2 beside avx2, f32 from L3 and memory", ("rms_norm/f32/sse2", 6, "1", "L1"),
                                   ("rms_norm/f32/avx2", 1, "1", "L1")))

    def test_slices_are_compared_with_dense_rows_only(self):
        slices = [(f"{op}/{types}/default", 100, "1/from:slices", "L3") for op in ("rms_norm", "layer_norm")
                  for types in ("f32", "bf16", "bf16_w_f32")]
        for what in ("RMSNorm beside LayerNorm", "mixed types beside the same bytes of one type"):
            self.assertIsNone(self.row(what, *slices), what)

    def test_of_mixed_types_with_a_cold_gain_that_counts_alone(self):
        what = "mixed types beside the same bytes of one type"
        cells = [(f"rms_norm/{types}/default", ns, "1/from:cold_weight", "cold_weight")
                 for types, ns in (("f32", 100), ("bf16", 50), ("bf16_w_f32", 120))]
        self.assertEqual(self.row(what, *cells)[4], "1.20")
        for missing in (0, 1):  # what there is nothing to compare with
            self.assertIsNone(self.row(what, *cells[:missing], *cells[missing + 1:]))

    def test_calls_are_compared_with_the_kernels(self):
        calls = (("kernels", 30), ("execute_part", 35), ("one_line", 20))
        cell = ("rms_norm/f32/avx2", 1)
        self.assertEqual(self.row("execute_part", cell, calls=calls), ["execute_part", "35.0", "5.0", "12"])
        self.assertEqual(self.row("one_line", cell, calls=calls), ["one_line", "20.0", "-10.0", "20"])
        self.assertIsNone(self.row("one_line", cell, calls=calls[1:]))


@unittest.skipUnless(HAS_MATPLOTLIB, "matplotlib is not here")
class Pictures(Reports):
    def assert_pictures(self, result, names, begin):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        written = sorted((self.folder / "out").iterdir())
        self.assertEqual([p.name for p in written], names)
        for path in written:
            self.assertTrue(path.read_bytes().startswith(begin), path)
        self.assertEqual(sorted(result.stdout.split()), [str(p) for p in written])

    def few(self):
        """Enough for two pictures, as each takes its time."""
        report = made_up()
        report["benchmarks"] = [r for r in report["benchmarks"] if "/bf16/" in r["name"] and "/loop/" not in r["name"]]
        return self.file(report)

    def test_one_picture_a_kind_and_types(self):
        kinds = [f"made-up-r-cpu-{kind}-{types}" for kind in ("cost", "peers", "roofline") for types in ("bf16", "f32")]
        self.assert_pictures(self.plot(self.file(made_up())), [k + ".svg" for k in kinds], b"<?xml")
        text = (self.folder / "out" / "made-up-r-cpu-roofline-f32.svg").read_text()
        for word in ("avx2", "sse2", "memcpy", "read", "rms_norm", "layer_norm", "GB/s", "bytes of a run"):
            self.assertTrue(f">{word}<" in text, word)
        self.assertTrue("Made Up(R) CPU" in text)
        self.assertFalse("loop" in text)

    def test_the_types_that_are_asked_for(self):
        self.assert_pictures(self.plot(self.file(made_up()), "--types=bf16", "--format=png"),
                             [f"made-up-r-cpu-{kind}-bf16.png" for kind in ("cost", "peers", "roofline")], b"\x89PNG")

    def test_the_same_measurements_give_the_same_file(self):
        found = []
        for _ in range(2):
            names = ["made-up-r-cpu-cost-bf16.svg", "made-up-r-cpu-roofline-bf16.svg"]
            self.assert_pictures(self.plot(self.few()), names, b"<?xml")
            found.append([(self.folder / "out" / name).read_bytes() for name in names])
        self.assertEqual(found[0], found[1])

    def test_nothing_to_draw(self):
        report = made_up()
        report["benchmarks"] = [r for r in report["benchmarks"] if "threads:2" in r["name"]]
        file = self.file(report)
        for arguments in ((file,), (file, "--types=f64"), (self.folder / "none.json",)):
            result = self.plot(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"\Aplot_bench: [^\n]+\n\Z")


class WithoutMatplotlib(Reports):
    def test_a_message_says_what_to_install(self):
        hidden = self.folder / "matplotlib.py"
        hidden.write_text("raise ImportError")
        result = subprocess.run([sys.executable, "-B", PLOT, self.file(made_up())], capture_output=True, text=True,
                                env={**os.environ, "PYTHONPATH": str(self.folder)})
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Aplot_bench: it needs matplotlib [^\n]*python3-matplotlib[^\n]*\n\Z")


@unittest.skipUnless("ROWNORM_BENCH" in os.environ, "ROWNORM_BENCH names no rownorm_bench")
class Measured(Reports):
    def test_what_rownorm_bench_writes(self):
        report = subprocess.run(
            [os.environ["ROWNORM_BENCH"], "--shapes=1x64,3x65", "--types=f32", "--op=rms_norm,layer_norm",
             "--threads=1", "--from=repeated", "--benchmark_min_time=0.0001", "--benchmark_format=json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        file = self.file(report)
        data = results.read(file)
        cell = data.one(op="rms_norm", contestant=data.isas[0], rows=3)
        self.assertAlmostEqual(cell.bytes, 7 * 65 * 4, delta=0.01)
        self.assertIn("| rms_norm f32 | ", tables.all_tables(data))
        if HAS_MATPLOTLIB:
            self.assertEqual(self.plot(file).returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=0)
