# SPDX-License-Identifier: Apache-2.0
"""`rownorm diff`: how much two arrays differ, where, and the exit code."""

import json
import math
import unittest

from support import CommandTest, header, npy, pack

NAN, INF = math.nan, math.inf


class Diff(CommandTest):
    def diff(self, a, b, *options):
        self.file("a.npy", a)
        self.file("b.npy", b)
        result = self.run_command("diff", "a.npy", "b.npy", *options)
        self.assertEqual(result.stderr, b"")
        return result.returncode, result.stdout.decode()

    def test_equal(self):
        x = npy([1, 2, 3, 4, 5, 6], (2, 3))
        self.assertEqual(self.diff(x, x), (0, "a.npy and b.npy: equal, 6 elements of f32\n"))
        self.assertEqual(self.diff(x, x, "-q"), (0, ""))

    def test_numbers_that_are_equal_as_values(self):
        for a, b in (([0.0], [-0.0]), ([NAN], [NAN]), ([INF, -INF], [INF, -INF])):
            self.assertEqual(self.diff(npy(a, (len(a),)), npy(b, (len(b),)))[0], 0)
        code, _ = self.diff(header(shape="(1,)") + b"\x01\x00\xc0\x7f",
                            header(shape="(1,)") + b"\x00\x00\xc0\xff")  # NaNs of other bits
        self.assertEqual(code, 0)
        self.assertEqual(self.diff(npy([1.0, 2.0], (2,), ">f4"), npy([1.0, 2.0], (2,), "<f4"))[0], 0)
        self.assertEqual(self.diff(npy([1.0, 2.0], (2,), "<f8"), npy([1.0, 2.0], (2,), "<f2"))[0], 0)

    def test_what_differs_and_where(self):
        a = npy([1, 2, 3, 4, 5, 1000.25], (2, 3))
        b = npy([1, 2, 4, 4, 5, 1000], (2, 3))
        code, text = self.diff(a, b)
        self.assertEqual(code, 1)
        lines = text.splitlines()
        self.assertEqual(lines[0], "a.npy and b.npy: 2 of 6 elements of f32 differ (33.3 %)")
        self.assertRegex(lines[1], r"^  largest absolute 1 +at \(0, 2\): 3 and 4$")
        self.assertRegex(lines[2], r"^  largest relative 0\.25 +at \(0, 2\): 3 and 4$")
        self.assertRegex(lines[3], r"^  largest ulp +4,194,304 f32 +at \(0, 2\): 3 and 4$")
        self.assertEqual(lines[4:], ["not equal: 2 beyond 0 ulp"])
        code, text = self.diff(a, b, "--ulp", "4194304")
        self.assertEqual((code, text.splitlines()[-1]), (0, "equal within 4194304 ulp"))

    def test_a_type_for_what_says_its_own(self):
        one = npy([1.0], (1,))
        for arguments in (("diff", "a.npy", "a.npy"), ("info", "a.npy")):
            self.file("a.npy", one)
            result = self.run_command(*arguments, "--type", "f16")
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"a.npy: type '<f4' found; --type f16 is for opaque bytes", result.stderr)
            self.assertEqual(self.run_command(*arguments, "--type", "f32").returncode, 0)

    def test_ulp_and_the_exit_code(self):
        one = {"f2": 2 ** -10, "f4": 2 ** -23, "f8": 2 ** -52}
        for kind, step in one.items():
            a, b = npy([1.0, 1 + 3 * step], (2,), "<" + kind), npy([1.0, 1.0], (2,), "<" + kind)
            self.assertEqual(self.diff(a, b, "--ulp", "2")[0], 1)
            code, text = self.diff(a, b, "--ulp", "3")
            self.assertEqual(code, 0)
            self.assertRegex(text, r"largest ulp +3 f%d +at \(1,\)" % (8 * int(kind[1])))
        below, above = npy([-1e-45], (1,)), npy([1e-45], (1,))  # the neighbours of 0 on both sides
        self.assertEqual(self.diff(below, above, "--ulp", "1")[0], 1)
        self.assertEqual(self.diff(below, above, "--ulp", "2")[0], 0)
        ends = npy([-1.7976931348623157e308], (1,), "<f8"), npy([1.7976931348623157e308], (1,), "<f8")
        self.assertEqual(self.diff(*ends, "--ulp", "18437736874454810621")[0], 1)
        self.assertEqual(self.diff(*ends, "--ulp", "18437736874454810622")[0], 0)

    def test_two_types_are_compared_in_the_less_precise_one(self):
        third = npy([1 / 3], (1,), "<f8")
        code, text = self.diff(third, npy([1 / 3], (1,), "<f2"), "--ulp", "0")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"1 of 1 elements of f64 and f16 differ")
        code, text = self.diff(third, npy([1 / 3 + 0.001], (1,), "<f2"), "--ulp", "3")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"largest ulp +4 +f16")
        self.assertEqual(self.diff(npy([1.0], (1,), "|V2"), npy([1.001], (1,)), "--type", "bf16")[0], 0)

    def test_nan_and_infinity_against_numbers(self):
        code, text = self.diff(npy([NAN, 1.0], (2,)), npy([1.0, 1.0], (2,)), "--ulp", "999999999999")
        self.assertEqual(code, 1)
        self.assertIn("NaN against a number: 1", text)
        self.assertNotIn("largest", text)
        code, text = self.diff(npy([INF], (1,)), npy([3.4028234663852886e38], (1,)), "--ulp", "1")
        self.assertEqual(code, 0)
        self.assertRegex(text, "largest absolute inf")
        self.assertEqual(self.diff(npy([1.0], (1,)), npy([0.0], (1,)))[1].count("inf"), 1)

    def test_shapes(self):
        for a, b in (((2, 3), (3, 2)), ((6,), (6, 1)), ((6,), (2, 3)), ((), (1,)), ((0,), (0, 1))):
            size = math.prod(a)
            code, text = self.diff(npy([1.0] * size, a), npy([1.0] * math.prod(b), b))
            self.assertEqual((code, text), (1, "a.npy and b.npy: shapes %r and %r found; expected one shape\n" % (a, b)))
        self.assertEqual(self.diff(npy([], (0, 5)), npy([], (0, 5)))[0], 0)
        self.assertEqual(self.diff(npy([1.0], ()), npy([1.0], ()))[0], 0)

    def test_orders(self):
        c, f = npy([1, 2, 3, 4, 5, 6], (2, 3)), npy([1, 4, 2, 5, 3, 6], (2, 3), fortran=True)
        self.assertEqual(self.diff(c, f)[0], 0)
        self.assertEqual(self.diff(f, c)[0], 0)
        self.assertEqual(self.diff(f, f)[0], 0)
        code, text = self.diff(f, npy([1, 4, 2, 5, 9, 6], (2, 3), fortran=True))
        self.assertIn("at (0, 2): 3 and 9", text)
        code, text = self.diff(f, npy([1, 2, 9, 4, 5, 6], (2, 3)))
        self.assertIn("at (0, 2): 3 and 9", text)

    def test_orders_of_more_axes(self):
        shape = (3, 4, 5)
        x = [float(i) for i in range(60)]
        in_file_order = [float((i * 4 + j) * 5 + k) for k in range(5) for j in range(4) for i in range(3)]
        c, f = npy(x, shape), npy(in_file_order, shape, fortran=True)
        self.assertEqual(self.diff(c, f), (0, "a.npy and b.npy: equal, 60 elements of f32\n"))
        self.assertEqual(self.diff(f, c)[0], 0)
        x[2 * 20 + 1 * 5 + 3] = -1
        self.assertIn("at (2, 1, 3): -1 and 48", self.diff(npy(x, shape), f)[1])
        self.assertIn("at (2, 1, 3): 48 and -1", self.diff(f, npy(x, shape))[1])
        self.assertEqual(self.diff(npy([1, 2], (2,)), npy([1, 2], (2,), fortran=True))[0], 0)

    def test_large_arrays_of_two_orders(self):
        count = 1050000  # for one index of the first axis: more than is held in memory
        for rows in (1, 2):
            with open(self.folder / "c.npy", "wb") as out:
                out.write(header("'<f2'", shape=repr((rows, count, 2))))
                out.truncate(out.tell() + rows * count * 4)
            with open(self.folder / "f.npy", "wb") as out:
                out.write(header("'<f2'", order="True", shape=repr((rows, count, 2))))
                out.truncate(out.tell() + rows * count * 4 - 2)
                out.seek(0, 2)
                out.write(b"\x00\x3c")
            result = self.run_command("diff", "c.npy", "f.npy")
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"at (%d, %d, 1): 0 and 1" % (rows - 1, count - 1), result.stdout)

    def test_json(self):
        self.file("a.npy", npy([1.0, 2.0, NAN, 5.0], (2, 2)))
        self.file("b.npy", npy([1.0, 2.5, 1.0, 5.0], (2, 2)))
        result = self.run_command("diff", "a.npy", "b.npy", "--json", "-q")
        got = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(got, {"a": "a.npy", "b": "b.npy", "same_shape": True, "equal": False, "elements": 4, "differing": 2,
                               "beyond_ulp": 2, "nan_against_number": 1, "ulp_type": "f32",
                               "largest_absolute": {"value": 0.5, "index": [0, 1], "a": 2.0, "b": 2.5},
                               "largest_relative": {"value": 0.2, "index": [0, 1], "a": 2.0, "b": 2.5},
                               "largest_ulp": {"value": 2097152.0, "index": [0, 1], "a": 2.0, "b": 2.5}})
        result = self.run_command("diff", "a.npy", "a.npy", "--json")
        self.assertEqual((result.returncode, json.loads(result.stdout)["largest_ulp"]), (0, None))
        self.file("b.npy", npy([1.0], (1,)))
        result = self.run_command("diff", "a.npy", "b.npy", "--json")
        self.assertEqual((result.returncode, json.loads(result.stdout)["same_shape"]), (1, False))

    def test_many_elements(self):
        x = [float(i) for i in range(2 * 1024 * 1024 + 100)]
        y = list(x)
        y[-3] += 1
        code, text = self.diff(npy(x, (len(x),)), npy(y, (len(y),)))
        self.assertEqual(code, 1)
        self.assertIn("at (%d,)" % (len(x) - 3), text)

    def test_failures(self):
        self.file("a.npy", npy([1.0], (1,)))
        self.file("bad.npy", b"not an array")
        for arguments, code in ((("a.npy",), 2), ((), 2), (("a.npy", "no.npy"), 1), (("a.npy", "bad.npy"), 1),
                                (("-", "-"), 2), (("a.npy", "a.npy", "a.npy"), 2), (("a.npy", "a.npy", "--ulp", "-1"), 2),
                                (("a.npy", "a.npy", "--ulp", "x"), 2), (("a.npy", "a.npy", "--upl", "1"), 2)):
            with self.subTest(arguments):
                self.assert_failed(self.run_command("diff", *arguments, input=b""), code)


if __name__ == "__main__":
    unittest.main(verbosity=0)
