# SPDX-License-Identifier: Apache-2.0
"""The options of `rownorm normalize`, each against plain arithmetic in double precision."""

import itertools
import math
import random
import struct
import unittest

from support import SAMPLE, Array, CommandTest, bf16, header, npy, pack, rms_rows

KINDS = {"f16": "<f2", "bf16": "<V2", "f32": "<f4", "f64": "<f8"}
NEAR = {"f16": 1e-3, "bf16": 8e-3, "f32": 3e-6, "f64": 1e-14}  # a little over one rounding


def rounded(value, kind):
    """The number of that type nearest to a double (for bf16 through f32)."""
    if kind == "bf16":
        return struct.unpack("<f", struct.pack("<I", bf16(value) << 16))[0]
    code = {"f16": "<e", "f32": "<f", "f64": "<d"}[kind]
    return struct.unpack(code, struct.pack(code, value))[0]


def values(count, kind="f32", seed=1):
    draw = random.Random(seed)
    return [rounded(draw.uniform(-3, 3), kind) for _ in range(count)]


def of_type(numbers, shape, kind):
    return npy(numbers, shape, KINDS[kind])


class Ops(CommandTest):
    def test_rms_is_the_default(self):
        x = values(35)
        for extra in ((), ("--op", "rms")):
            out = self.normalize(npy(x, (5, 7)), "--eps", "0.5", *extra)
            self.assert_close(out.values, rms_rows(x, 7, 0.5))

    def test_layer(self):
        x, expected = values(35), []
        for i in range(0, 35, 7):
            row = x[i:i + 7]
            mean = math.fsum(row) / 7
            scale = 1 / math.sqrt(math.fsum((v - mean) ** 2 for v in row) / 7 + 0.5)
            expected += [(v - mean) * scale for v in row]
        self.assert_close(self.normalize(npy(x, (5, 7)), "--op", "layer", "--eps", "0.5").values, expected, atol=1e-6)

    def test_l2_with_each_eps_mode(self):
        x, eps = [0.3, 0.4, 30.0, 40.0], 2.0
        modes = {"max": lambda ss: max(math.sqrt(ss), eps), "add": lambda ss: math.sqrt(ss) + eps,
                 "inside": lambda ss: math.sqrt(ss + eps), "clamp": lambda ss: math.sqrt(max(ss, eps))}
        for mode, d in modes.items():
            with self.subTest(mode):
                out = self.normalize(npy(x, (2, 2)), "--op", "l2", "--l2-eps", mode, "--eps", "2")
                self.assert_close(out.values, [v / d(ss) for v, ss in zip(x, (0.25, 0.25, 2500, 2500))])
        default = self.normalize(npy(x, (2, 2)), "--op", "l2", "--eps", "2")
        self.assert_close(default.values, [0.15, 0.2, 0.6, 0.8])

    def test_eps_is_1e_6_for_every_type(self):
        for kind in KINDS:
            with self.subTest(kind):
                x = [rounded(1e-3, kind)] * 32
                out = self.normalize(of_type(x, (1, 32), kind), "--type", "bf16" if kind == "bf16" else kind)
                self.assert_close(out.values, rms_rows(x, 32, 1e-6), NEAR[kind])

    def test_partial_rms(self):
        x = [3.0, 4.0, 1000.0, 1000.0]
        for option in (("--partial-count", "2"), ("--partial", "0.5"), ("--partial", "0.26")):
            with self.subTest(option):
                out = self.normalize(npy(x, (4,)), "--eps", "0", *option)
                self.assert_close(out.values, rms_rows(x, 4, k=2))
        x = values(100)
        out = self.normalize(npy(x, (100,)), "--eps", "0", "--partial", "0.07")
        self.assert_close(out.values, rms_rows(x, 100, k=7))


class WeightAndBias(CommandTest):
    def test_each_type_of_weight_with_each_type_of_input(self):
        for kind, of_weight in itertools.product(KINDS, KINDS):
            with self.subTest((kind, of_weight)):
                x, w, b = values(15, kind), values(5, of_weight, 2), values(5, of_weight, 3)
                self.file("w.npy", of_type(w, (5,), of_weight))
                self.file("b.npy", of_type(b, (5,), of_weight))
                named = ("--type", "bf16") if "bf16" in (kind, of_weight) else ()
                out = self.normalize(of_type(x, (3, 5), kind), "--eps", "0.1", "--weight", "w.npy", "--bias", "b.npy",
                                     *named)
                t = rms_rows(x, 5, 0.1)
                expected = [v * w[i % 5] + b[i % 5] for i, v in enumerate(t)]
                self.assertEqual(out.descr, KINDS[kind])
                near = max(NEAR[kind], 3e-7 if of_weight == "f64" and kind != "f64" else 0)
                self.assert_close(out.values, expected, near, atol=4 * near)

    def test_weight_and_bias_come_alone(self):
        self.file("two.npy", npy([2.0] * 4, (4,)))
        x = [1.0, 2.0, 3.0, 4.0]
        t = rms_rows(x, 4)
        self.assert_close(self.normalize(npy(x, (4,)), "--eps", "0", "--weight", "two.npy").values, [2 * v for v in t])
        self.assert_close(self.normalize(npy(x, (4,)), "--eps", "0", "--bias", "two.npy").values, [2 + v for v in t])

    def test_weight_offset_without_weight(self):
        self.file("x.npy", npy([1.0, 2.0], (1, 2)))
        result = self.run_command("normalize", "x.npy", "-o", "y.npy", "--weight-offset", "1")
        self.assertEqual((result.returncode, result.stderr.strip()),
                         (2, b"rownorm: --weight-offset needs --weight, to which it is added"))

    def test_weight_offset(self):
        self.file("w.npy", npy([15.8125], (1,)))
        for offset, factor in (("1", 16.8125), ("-0.8125", 15.0), ("0", 15.8125), ("1e1", 25.8125)):
            out = self.normalize(npy([1.0], (1, 1)), "--eps", "0", "--weight", "w.npy", "--weight-offset", offset)
            self.assertEqual(out.values, [factor])

    def test_big_endian_and_opaque_weights(self):
        for descr in (">f2", ">f4", ">f8"):
            self.file("w.npy", npy([1.0, 2.0], (2,), descr))
            out = self.normalize(npy([1.0, 1.0], (2,)), "--eps", "0", "--weight", "w.npy")
            self.assertEqual(out.values, [1.0, 2.0])
        self.file("w.npy", npy([1.0, 2.0], (2,), "|V2"))
        self.file("in.npy", npy([1.0, 1.0], (2,)))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--weight", "w.npy")
        self.assert_failed(result)
        self.assertIn(b"w.npy: type '|V2'", result.stderr)

    def test_vectors_that_do_not_fit(self):
        self.file("in.npy", npy(values(6), (2, 3)))
        for shape in ((2,), (4,), (3, 1), (1, 3), (), (0,), (6,)):
            for option in ("--weight", "--bias"):
                with self.subTest((shape, option)):
                    self.file("v.npy", npy([1.0] * math.prod(shape), shape))
                    result = self.run_command("normalize", "in.npy", "-o", "out.npy", option, "v.npy")
                    self.assert_failed(result)
                    self.assertIn(("v.npy: shape %r found; expected (3,)" % (shape,)).encode(), result.stderr)
                    self.assertFalse((self.folder / "out.npy").exists())


class Residual(CommandTest):
    def test_each_type_of_residual_with_each_type_of_input(self):
        kinds = ("f16", "bf16", "f32")
        for kind, of_residual in [*itertools.product(kinds, kinds), ("f64", "f64")]:
            with self.subTest((kind, of_residual)):
                x, r = values(15, kind), values(15, of_residual, 2)
                self.file("r.npy", of_type(r, (3, 5), of_residual))
                named = ("--type", "bf16") if "bf16" in (kind, of_residual) else ()
                out = self.normalize(of_type(x, (3, 5), kind), "--eps", "0.1", "--residual", "r.npy",
                                     "--residual-out", "sum.npy", *named)
                written = Array((self.folder / "sum.npy").read_bytes())
                total = [rounded(rounded(u + v, "f32") if of_residual != "f64" else u + v, of_residual)
                         for u, v in zip(x, r)]
                self.assertEqual((written.descr, written.values), (KINDS[of_residual], total))
                self.assert_close(out.values, rms_rows(total, 5, 0.1), NEAR[kind])

    def test_with_and_without_writing_the_sum(self):
        self.file("r.npy", npy(values(6, seed=5), (2, 3)))
        first = self.normalize(npy(values(6), (2, 3)), "--residual", "r.npy")
        second = self.normalize(npy(values(6), (2, 3)), "--residual", "r.npy", "--residual-out", "sum.npy")
        self.assertEqual(first.data, second.data)

    def test_shapes_and_types_that_do_not_fit(self):
        self.file("in.npy", npy(values(6), (2, 3)))
        for data, says in ((npy(values(6), (3, 2)), b"shape (3, 2) found; expected (2, 3)"),
                           (npy(values(6), (6,)), b"shape (6,) found"),
                           (npy(values(6), (2, 3), "<f8"), b"f64 goes with f64 only")):
            self.file("r.npy", data)
            result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--residual", "r.npy")
            self.assert_failed(result)
            self.assertIn(says, result.stderr)


class Rounding(CommandTest):
    def test_before_the_weight(self):
        for kind in ("f16", "bf16"):
            with self.subTest(kind):
                x, w = values(64, kind), values(64, kind, 2)
                self.file("w.npy", of_type(w, (64,), kind))
                named = ("--type", "bf16") if kind == "bf16" else ()
                t = self.normalize(of_type(x, (64,), kind), *named).values  # rounded to the output's type
                twice = self.normalize(of_type(x, (64,), kind), "--weight", "w.npy", "--round", "before-weight", *named)
                self.assertEqual(twice.values, [rounded(rounded(u * v, "f32"), kind) for u, v in zip(t, w)])
                once = self.normalize(of_type(x, (64,), kind), "--weight", "w.npy", "--round", "once", *named)
                self.assertNotEqual(once.data, twice.data)
                self.assertEqual(once.data, self.normalize(of_type(x, (64,), kind), "--weight", "w.npy", *named).data)

    def test_before_the_weight_goes_by_the_type_of_the_output(self):
        x, w = values(64), values(64, "f32", 2)
        self.file("w.npy", npy(w, (64,)))
        same = self.normalize(npy(x, (64,)), "--weight", "w.npy", "--round", "before-weight")
        self.assertEqual(same.data, self.normalize(npy(x, (64,)), "--weight", "w.npy").data)
        t = self.normalize(npy(x, (64,)), "--out-type", "bf16").values
        out = self.normalize(npy(x, (64,)), "--weight", "w.npy", "--round", "before-weight", "--out-type", "bf16")
        self.assertEqual(out.values, [rounded(rounded(u * v, "f32"), "bf16") for u, v in zip(t, w)])


class OutType(CommandTest):
    def test_each_type_to_each_type(self):
        for kind, out_kind in itertools.product(("f16", "bf16", "f32"), repeat=2):
            with self.subTest((kind, out_kind)):
                x = values(15, kind)
                out = self.normalize(of_type(x, (3, 5), kind), "--out-type", out_kind, "--type", kind)
                self.assertEqual((out.descr, out.shape), (KINDS[out_kind], (3, 5)))
                self.assert_close(out.values, rms_rows(x, 5, 1e-6), NEAR[out_kind])

    def test_f64_goes_with_f64_only(self):
        self.refuse(npy([1.0], (1,), "<f8"), "--out-type", "f32", code=2, says="f64 goes with f64 only")
        self.refuse(npy([1.0], (1,)), "--out-type", "f64", code=2, says="f64 goes with f64 only")


class Machine(CommandTest):
    def test_every_isa_and_number_of_threads_gives_the_same_bits(self):
        x = values(20 * 1500)
        listed = self.run_command("isa").stdout.decode().splitlines()
        runnable = [line.split()[0] for line in listed if "cannot run" not in line]
        self.assertTrue(runnable)
        expected = self.normalize(npy(x, (20, 1500))).data
        for name in runnable:
            self.assertEqual(self.normalize(npy(x, (20, 1500)), "--isa", name).data, expected)
        for threads in ("1", "2", "3", "8"):
            self.assertEqual(self.normalize(npy(x, (20, 1500)), "--threads", threads).data, expected)

    def test_an_isa_that_cannot_run_and_one_that_does_not_exist(self):
        listed = self.run_command("isa").stdout.decode().splitlines()
        for line in listed:
            if "cannot run" in line:
                self.file("in.npy", npy([1.0], (1,)))
                result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--isa", line.split()[0])
                self.assert_failed(result, 1)
        self.file("in.npy", npy([1.0], (1,)))
        for name in ("avx3", "", "AVX2", "avx2 "):
            result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--isa", name)
            self.assert_failed(result, 2)
        self.assertFalse((self.folder / "out.npy").exists())


class Summary(CommandTest):
    def test_one_line_says_what_was_done(self):
        self.file("in.npy", npy(values(6), (2, 3)))
        result = self.run_command("normalize", "in.npy", "-o", "out.npy")
        self.assertRegex(result.stdout, rb"\Aout\.npy: 2 rows of 3 f32 in [0-9.e+-]+ s, [0-9.e+-]+ GB/s "
                                        rb"\((sse2|avx2|avx512|avx512bf16|neon), \d+ threads?\)\n\Z")
        self.assertEqual(result.stderr, b"")
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", "--quiet")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))


class Sample(CommandTest):
    """Real activations against their references, which were computed in float64."""

    def ulp(self, *options):
        self.assertEqual(self.run_command("normalize", *options[0], "-o", "y.npy", "--force").returncode, 0)
        self.reference = Array((SAMPLE / options[1]).read_bytes())
        return Array((self.folder / "y.npy").read_bytes())

    def test_llama_add_and_rms_norm(self):
        y = self.ulp((SAMPLE / "llama_x.npy", "--residual", SAMPLE / "llama_residual.npy", "--residual-out", "s.npy",
                      "--weight", SAMPLE / "llama_gain.npy", "--eps", "9.999999747378752e-06"), "llama_y.npy")
        self.assert_close(y.values, self.reference.values, rtol=3 * 2 ** -23)
        self.assertEqual((self.folder / "s.npy").read_bytes(), (SAMPLE / "llama_residual_out.npy").read_bytes())

    def test_bert_layer_norm(self):
        y = self.ulp((SAMPLE / "bert_x.npy", "--residual", SAMPLE / "bert_residual.npy", "--op", "layer", "--weight",
                      SAMPLE / "bert_gain.npy", "--bias", SAMPLE / "bert_bias.npy", "--eps", "1e-12"), "bert_y.npy")
        self.assert_close(y.values, self.reference.values, rtol=3e-7, atol=1e-6)

    def test_llama_in_f16_and_bf16(self):
        for name, named, rtol in (("llama_hidden_f16.npy", (), 1e-3),
                                  ("llama_hidden_bf16.npy", ("--type", "bf16"), 8e-3)):
            y = self.ulp((SAMPLE / name, "--weight", SAMPLE / "llama_gain.npy", "--eps", "1e-5", *named), "llama_y.npy")
            self.assertEqual(y.descr, "<f2" if name.endswith("f16.npy") and "b" not in name[13:] else "|V2")
            self.assert_close(y.values, self.reference.values, rtol=2 * rtol, atol=1e-7)


class WrongUsage(CommandTest):
    def test_values_outside_their_range(self):
        self.file("in.npy", npy(values(4), (4,)))
        for option, bad in (("--eps", ("-1", "-1e-5", "nan", "inf", "1e999", "", "x", "1e-6 ", "1,5")),
                            ("--partial", ("0", "1.5", "-0.5", "nan", "")),
                            ("--partial-count", ("0", "-1", "2.5", "5", "9223372036854775808")),
                            ("--weight-offset", ("inf", "nan", "one")), ("--op", ("RMS", "group", "")),
                            ("--l2-eps", ("min", "")), ("--round", ("twice", "")), ("--type", ("f8", "int8", "")),
                            ("--out-type", ("f8", "<f4")), ("--threads", ("0", "-1", "many", "4294967296")),
                            ("--memory", ("", "M", "0M", "64", "64m", "1.5M", "-1M", "64MB", "1025G", "9999999999K"))):
            for value in bad:
                with self.subTest((option, value)):
                    extra = ("--op", "l2") if option == "--l2-eps" else ()
                    result = self.run_command("normalize", "in.npy", "-o", "out.npy", option, value, *extra)
                    self.assert_failed(result, 2)
                    self.assertFalse((self.folder / "out.npy").exists())

    def test_minus_zero_eps_counts_as_zero(self):
        self.assert_close(self.normalize(npy([3.0, 4.0], (2,)), "--eps", "-0.0").values, rms_rows([3.0, 4.0], 2))

    def test_options_that_do_not_go_together(self):
        self.file("in.npy", npy(values(4), (4,)))
        for options in (("--partial", "0.5", "--partial-count", "2"), ("--residual-out", "s.npy"),
                        ("--op", "layer", "--partial", "0.5"), ("--op", "rms", "--l2-eps", "add"),
                        ("--residual", "in.npy", "--residual-out", "out.npy"),
                        ("--residual", "in.npy", "--residual-out", "./out.npy"), ("--op",), ("--weight",),
                        ("--op", "rms", "--op", "layer")):
            with self.subTest(options):
                self.assert_failed(self.run_command("normalize", "in.npy", "-o", "out.npy", *options), 2)
        for options in (("normalize",), ("normalize", "in.npy"), ("normalize", "-o", "out.npy"), (), ("norm",),
                        ("normalize", "in.npy", "in.npy", "-o", "out.npy"), ("isa", "x"), ("--nope",),
                        ("normalize", "-", "-o", "out.npy", "--weight", "-")):
            with self.subTest(options):
                self.assert_failed(self.run_command(*options, input=b""), 2)

    def test_a_mistyped_option_is_answered_with_the_near_one(self):
        self.file("in.npy", npy(values(4), (4,)))
        for wrong, near in (("--wieght", "--weight"), ("--residual_out", "--residual-out"), ("--ouput", "--output"),
                            ("--treads", "--threads"), ("--epsilon", None), ("--outtype=f16", "--out-type")):
            with self.subTest(wrong):
                result = self.run_command("normalize", "in.npy", wrong, "x", "-o", "out.npy")
                self.assert_failed(result, 2)
                self.assertIn(wrong.split("=")[0].encode(), result.stderr)
                if near:
                    self.assertIn(b"is %s meant?" % near.encode(), result.stderr)
                else:
                    self.assertNotIn(b"meant", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=0)
