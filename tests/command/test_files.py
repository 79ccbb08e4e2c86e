# SPDX-License-Identifier: Apache-2.0
"""Which .npy files are read, and how the others are refused: one test for each kind of file."""

import pickle
import resource
import struct
import unittest

from support import RMS, SANITIZED, Array, CommandTest, bf16, header, npy, pack

DATA = pack([1, 2, 3, 4, 5, 6])
PLAIN = header() + DATA
TEXT = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


class Versions(CommandTest):
    def test_versions_1_to_3_are_read_and_written_as_1(self):
        for version in (1, 2, 3):
            with self.subTest(version):
                out = self.normalize(header(version=version) + DATA, "--eps", "0")
                self.assert_close(out.values, RMS)
                self.assertEqual((out.shape, out.descr, out.fortran), ((2, 3), "<f4", False))

    def test_every_other_version_is_refused(self):
        for major in (0, 4, 5, 255):
            with self.subTest(major):
                self.refuse(header(version=major) + DATA, says="version %d.0 found" % major)
        for minor in (1, 7, 255):
            with self.subTest(minor):
                self.refuse(header(minor=minor) + DATA, says="version 1.%d found" % minor)


class HeaderLengths(CommandTest):
    """Every length from 0 to 70,000 is swept by the C++ tests of the header; here is the whole path."""

    def test_long_headers_are_read_up_to_64_kib(self):
        for version, length in ((1, 502), (2, 502), (1, 9000), (1, 65535), (2, 65535), (3, 65536)):
            with self.subTest((version, length)):
                out = self.normalize(header(version=version, length=length) + DATA, "--eps", "0")
                self.assert_close(out.values, RMS)

    def test_longer_headers_are_refused_with_the_limit(self):
        for length in (65537, 70000, 200000):
            with self.subTest(length):
                self.refuse(header(version=2, length=length) + DATA, says="at most 65536 are read")
        # Nothing of that size is allocated, or waited for.
        self.refuse(b"\x93NUMPY\x02\x00\xff\xff\xff\xff", says="4294967295 bytes found")

    def test_header_length_beyond_the_end_of_the_file(self):
        self.refuse(b"\x93NUMPY\x01\x00\xff\xff{'descr'", says="65535 bytes promised")

    def test_data_may_begin_anywhere(self):
        for length in range(len(TEXT) + 1, len(TEXT) + 70):
            with self.subTest(length):
                out = self.normalize(header(length=length) + DATA, "--eps", "0")
                self.assert_close(out.values, RMS)
        half = self.normalize(header("'<f2'", length=60) + pack([1, 2, 3, 4, 5, 6], "f2"), "--eps", "0")
        self.assert_close(half.values, RMS, rtol=1.5e-3)

    def test_sizes_on_page_boundaries(self):
        for length in (4096 - 10, 4096 - 10 - len(DATA), 8192 - 10 - len(DATA)):
            with self.subTest(length):
                self.assert_close(self.normalize(header(length=length) + DATA, "--eps", "0").values, RMS)


class Truncation(CommandTest):
    def test_a_file_cut_at_any_byte(self):
        for end in range(len(PLAIN)):
            with self.subTest(end):
                line = self.refuse(PLAIN[:end])
                self.assertIn("found" if end else "empty file", line) if end < 6 or end >= 128 else None

    def test_a_pipe_cut_at_any_byte(self):
        for end in range(len(PLAIN)):
            with self.subTest(end):
                result = self.run_command("normalize", "-", "-o", "out.npy", input=PLAIN[:end])
                self.assert_failed(result)
                self.assertFalse((self.folder / "out.npy").exists())

    def test_data_shorter_than_the_shape(self):
        self.refuse(PLAIN[:-1], says="23 bytes of data found; expected 24 bytes for shape (2, 3) of f32")
        self.refuse(header(), says="0 bytes of data found")

    def test_4_tb_promised_and_24_bytes_there(self):
        def limit_memory():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))

        promise = header(shape="(1000000, 1000000)") + DATA
        self.refuse(promise, says="expected 3.64 TiB", preexec_fn=limit_memory)
        result = self.run_command("normalize", "-", "-o", "out.npy", input=promise, preexec_fn=limit_memory)
        self.assert_failed(result)
        self.assertIn(b"24 bytes of data found", result.stderr)


class MoreData(CommandTest):
    def test_bytes_after_the_array_are_ignored_with_a_warning(self):
        for more in (b"\0", b"\0" * 5, PLAIN):
            with self.subTest(len(more)):
                self.file("in.npy", PLAIN + more)
                for source in ({"arguments": ["in.npy"]}, {"arguments": ["-"], "input": PLAIN + more}):
                    result = self.run_command("normalize", *source.pop("arguments"), "-o", "out.npy", "--eps", "0",
                                              "--force", **source)
                    self.assertEqual(result.returncode, 0)
                    self.assertRegex(result.stderr, rb"\Arownorm: warning: .*after the array.*ignored\n\Z")
                    self.assert_close(Array((self.folder / "out.npy").read_bytes()).values, RMS)


class Dict(CommandTest):
    def test_every_way_to_write_the_same_dict(self):
        texts = [
            "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
            "{'fortran_order': False, 'shape': (2, 3), 'descr': '<f4',}",
            '{"descr": "<f4", "fortran_order": False, "shape": (2, 3)}',
            "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , }",
            "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } # 'shape': (9, 9)",
            "{'descr': '<f4', # a remark, }\n'fortran_order': False,\n\t'shape': (2, 3)}",
            "{u'descr': u'<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
            "{'descr': r'<f4', 'fortran_order': False, 'shape': (0x2, 0b11)}",
            "{'de' 'scr': '''<f4''', 'fortran_order': False, 'shape': (+2, 3)}",
            "({'descr': ('\\x3cf4'), 'fortran_order': (False), 'shape': ((2), 3)})",
        ]
        for text in texts:
            with self.subTest(text):
                self.assert_close(self.normalize(header(text=text) + DATA, "--eps", "0").values, RMS)

    def test_missing_keys(self):
        for key, rest in (("shape", "'descr': '<f4', 'fortran_order': False"),
                          ("descr", "'shape': (2, 3), 'fortran_order': False"),
                          ("fortran_order", "'descr': '<f4', 'shape': (2, 3)")):
            with self.subTest(key):
                self.refuse(header(text="{%s}" % rest) + DATA, says="without key '%s'" % key)

    def test_keys_that_come_twice(self):
        for pair in ("'descr': '<f8'", "'shape': (6,)", "'fortran_order': True", "'descr': '<f4'"):
            with self.subTest(pair):
                self.refuse(header(text=TEXT.replace("{", "{%s, " % pair)) + DATA, says="twice")

    def test_other_keys(self):
        for pair in ("'x': 'shape'", "'Shape': (2, 3)", "1: 2", "'': ()", "None: 'descr'"):
            with self.subTest(pair):
                self.refuse(header(text=TEXT.replace("{", "{%s, " % pair)) + DATA, says="key")

    def test_orders_that_are_no_bool(self):
        for order in ("1", "0", "None", "'False'", "(False,)", "false", "Falsey"):
            with self.subTest(order):
                self.refuse(header(order=order) + DATA)

    def test_texts_that_are_no_dict(self):
        for text in ("", " ", "()", "[]", "None", "'descr'", "{", "}", "{'descr'}", TEXT + "}", TEXT + "1",
                     "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}", TEXT.replace("'<f4'", "'<f4"),
                     TEXT.replace(", }", ",, }"), TEXT + "\0", "__import__('os')", TEXT.replace("(2, 3)", "(2, 3"),
                     TEXT.replace("False", "False and 1"), "dict(%s)" % TEXT, "\\", "'''", "{'a': '\\"):
            with self.subTest(text):
                self.refuse(header(text=text) + DATA)

    def test_brackets_without_end(self):
        for bracket in "([{":
            for count in (33, 201, 60000):
                with self.subTest((bracket, count)):
                    self.refuse(header(text=bracket * count) + DATA, says="nested brackets")
        self.refuse(header(text="{'descr': '<f4', 'fortran_order': False, 'shape': " + "(" * 60000) + DATA)
        self.refuse(header(text="(" * 100000, version=2) + DATA, says="at most 65536")

    def test_version_3_is_utf_8(self):
        remark = TEXT + " # \u00e9\u6e2c\U0001f600"
        self.assert_close(self.normalize(header(text=remark, version=3) + DATA, "--eps", "0").values, RMS)
        self.refuse(header(text=TEXT.encode() + b" # \xe9", version=3) + DATA, says="not UTF-8")
        self.assert_close(self.normalize(header(text=TEXT.encode() + b" # \xe9") + DATA, "--eps", "0").values, RMS)


class Shapes(CommandTest):
    def test_one_axis(self):
        for shape in ("(6,)", "( 6 , )", "(6L,)", "(1, 6)", "(1, 1, 6)"):
            with self.subTest(shape):
                out = self.normalize(header(shape=shape) + DATA, "--eps", "0")
                expected = [v / (91 / 6) ** 0.5 for v in (1, 2, 3, 4, 5, 6)]
                self.assert_close(out.values, expected)

    def test_what_is_no_tuple(self):
        for shape in ("6", "(6)", "[2, 3]", "None", "'(2, 3)'", "{2: 3}", "True"):
            with self.subTest(shape):
                self.refuse(header(shape=shape) + DATA, says="expected a tuple")

    def test_what_is_no_extent(self):
        for shape in ("(-1,)", "(-2, -3)", "(2, -3)", "(None,)", "(2.0, 3)", "('6',)", "((2, 3),)", "(True, 6)",
                      "(6, 1e0)", "(1_,)", "(06,)", "(2l, 3l)", "(0x,)"):
            with self.subTest(shape):
                self.refuse(header(shape=shape) + DATA)

    def test_products_that_do_not_fit(self):
        for shape in ("(4294967296, 4294967296)", "(4611686018427387905, 4)", "(1073741824, 1073741824, 2)",
                      "(2305843009213693952,)", "(9223372036854775807,)", "(18446744073709551617,)",
                      "(9223372036854775808, 1)", "(99999999999999999999999999, 0)"):
            with self.subTest(shape):
                self.assertIn("not fit 63 bits", self.refuse(header(shape=shape) + DATA))

    def test_a_zero_makes_any_product_empty(self):
        out = self.normalize(header(shape="(4294967296, 4294967296, 0)"))
        self.assertEqual((out.shape, out.values), ((4294967296, 4294967296, 0), []))

    def test_many_axes(self):
        out = self.normalize(header(shape="(%s2, 3)" % ("1, " * 62)) + DATA, "--eps", "0")
        self.assert_close(out.values, RMS)
        for axes in (65, 201):
            self.refuse(header(shape="(%s)" % ("1, " * axes)) + DATA, says="a shape of %d axes" % axes)

    def test_empty_arrays(self):
        for shape in ((0,), (0, 8), (8, 0), (0, 0), (0, 3, 0), (0, 4096)):
            for source in (header(shape=repr(shape)), header(shape=repr(shape), length=4096 - 10)):
                with self.subTest((shape, len(source))):
                    out = self.normalize(source)
                    self.assertEqual((out.shape, out.data), (shape, b""))

    def test_an_array_without_axes_is_one_element(self):
        self.assertEqual(self.normalize(header(shape="()") + pack([-3.0]), "--eps", "0").values, [-1.0])

    def test_column_major_data_is_read_by_rows(self):
        out = self.normalize(npy([1, 4, 2, 5, 3, 6], (2, 3), fortran=True), "--eps", "0")
        self.assertEqual((out.shape, out.fortran), ((2, 3), True))
        self.assert_close(out.values, [RMS[i] for i in (0, 3, 1, 4, 2, 5)])
        out = self.normalize(npy([1, 4, 2, 5, 3, 6], (2, 1, 3), fortran=True), "--eps", "0")
        self.assert_close(out.values, [RMS[i] for i in (0, 3, 1, 4, 2, 5)])
        out = self.normalize(npy([3, 4], (2,), fortran=True), "--eps", "0")
        self.assert_close(out.values, [3 / 12.5 ** 0.5, 4 / 12.5 ** 0.5])


class Types(CommandTest):
    def test_floats_of_either_byte_order(self):
        for descr, rtol in (("<f2", 1.5e-3), (">f2", 1.5e-3), ("<f4", 4e-6), (">f4", 4e-6), ("<f8", 1e-15),
                            (">f8", 1e-15)):
            with self.subTest(descr):
                out = self.normalize(npy([1, 2, 3, 4, 5, 6], (2, 3), descr), "--eps", "0")
                self.assert_close(out.values, RMS, rtol)
                self.assertEqual(out.descr, descr)  # what came big-endian leaves so

    def test_order_marks_that_numpy_takes_for_native(self):
        for descr in ("f4", "=f4", "|f4"):
            with self.subTest(descr):
                out = self.normalize(header(repr(descr)) + DATA, "--eps", "0")
                self.assert_close(out.values, RMS)
                self.assertEqual(out.descr, "<f4")

    def test_opaque_pairs_of_bytes_are_bf16_if_the_user_says_so(self):
        data = pack([1, 2, 3, 4, 5, 6], "bf16")
        for descr, written in (("<V2", "<V2"), ("|V2", "|V2"), (">V2", "<V2"), ("bfloat16", "<V2"), ("<g2", "<V2")):
            with self.subTest(descr):
                line = self.refuse(header(repr(descr)) + data, says="--type")
                self.assertIn("'%s'" % descr, line)
                out = self.normalize(header(repr(descr)) + data, "--eps", "0", "--type", "bf16")
                self.assertEqual(out.descr, written)
                self.assertEqual(out.data, b"".join(struct.pack("<H", bf16(v)) for v in RMS))

    def test_opaque_bytes_of_other_types(self):
        for kind, descr, name in (("f2", "|V2", "f16"), ("f4", "|V4", "f32"), ("f8", "|V8", "f64")):
            with self.subTest(kind):
                data = header(repr(descr)) + pack([1, 2, 3, 4, 5, 6], kind)
                self.refuse(data, says="--type")
                out = self.normalize(data, "--eps", "0", "--type", name)
                self.assertEqual(out.descr, "<" + kind)
                self.assert_close(out.values, RMS, 1.5e-3)
        self.refuse(header("'|V4'") + DATA, "--type", "bf16", says="--type bf16 says 2 bytes")

    def test_a_named_type_does_not_override_the_header(self):
        self.refuse(PLAIN, "--type", "bf16", code=2, says="'<f4' found; --type bf16 is for opaque bytes")
        self.assert_close(self.normalize(PLAIN, "--eps", "0", "--type", "f32").values, RMS)

    def test_8_bit_floats_are_refused(self):
        for descr in ("|V1", "<V1", "<f1", "|f1"):
            with self.subTest(descr):
                self.refuse(header(repr(descr)) + b"8@DHJL", says=repr(descr))

    def test_object_arrays_are_refused_and_the_pickle_is_not_touched(self):
        trap = self.folder / "trap"
        command = pickle.dumps(Bomb(str(trap)))
        for descr in ("|O", "O8", "O", "|O8", "object", "O4"):
            with self.subTest(descr):
                self.refuse(header(repr(descr)) + command, says="pickle")
                self.refuse(header(repr(descr)) + command, "--type", "f32", says="pickle")
        self.assertFalse(trap.exists())

    def test_every_other_type_that_numpy_writes_is_refused_by_its_name(self):
        sized = ["%s%s%d" % (order, kind, size) for order in "<>" for kind, sizes in
                 (("i", (2, 4, 8)), ("u", (2, 4, 8)), ("c", (8, 16, 24, 32)), ("f", (12, 16))) for size in sizes]
        times = ["%s%s8[%s]" % (order, kind, unit) for order in "<>" for kind in "Mm"
                 for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "generic")]
        others = ["|b1", "|i1", "|u1", "<M8", "<m8", "|S0", "|S1", "|S5", "|S100", "<U0", "<U1", ">U3", "|V0", "|V3",
                  "|V10", "|V16", "<V3"]
        broken = ["<ixy", "", "<", ">", "=", "|", "<f", "<f0", "<f-4", "<f04", "<f4 ", " <f4", "<f4,<f4", "<<f4",
                  "<f99999999999999999999", "<f3", "<f5", "<F4", "<f4\n", "f", "<\u00e9", "float", "<V2 ", "(3,)<f4"]
        for descr in sized + times + others + broken:
            with self.subTest(descr):
                line = self.refuse(header(repr(descr), text=None) + DATA + b"\0" * 1000, says="type ")
                self.assertIn("expected f2, f4 or f8", line)
                if descr.isprintable() and descr.isascii():
                    self.assertIn("'%s'" % descr, line)

    def test_types_that_are_no_string(self):
        for descr in ("None", "4", "True", "('<f4', (3,))", "{'names': ['a'], 'formats': ['<f4']}"):
            with self.subTest(descr):
                self.refuse(header(descr) + DATA, says="type ")
        for descr in ("[('a', '<f4')]", "[('a', '<f4'), ('b', '<i8', (2, 2))]", "[('', '|V4')]", "[]",
                      "[('a', [('b', '<f4')])]"):
            with self.subTest(descr):
                self.refuse(header(descr) + DATA, says="structured")


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


class OtherFiles(CommandTest):
    def test_files_of_other_kinds_are_named(self):
        kinds = {
            b"PK\x03\x04" + b"\0" * 60: "zip archive", b"PK\x05\x06" + b"\0" * 18: "zip archive",
            b"\x1f\x8b\x08\0" + b"\0" * 20: "gzip", b"\x28\xb5\x2f\xfd" + b"\0" * 20: "zstd",
            b"BZh9" + b"\0" * 20: "bzip2", b"\xfd7zXZ\0" + b"\0" * 20: "xz",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 152\n": "git-lfs",
            b"<!DOCTYPE html><html>404</html>": "web page", pickle.dumps([1, 2], 4): "pickle",
            b"\xef\xbb\xbf" + PLAIN: "byte-order mark", b"\x89HDF\r\n\x1a\n" + b"\0" * 20: "HDF5",
        }
        for data, what in kinds.items():
            with self.subTest(what):
                self.refuse(data, says=what)

    def test_files_of_unknown_kinds(self):
        for data in (PLAIN.lower(), b"\x93numpy\x01\0", b"\x92NUMPY" + PLAIN[6:], b"NUMPY\x01\0", b"\0" * 4096,
                     b"1,2,3\n4,5,6\n", b"\n" + PLAIN, b"\x93NUMPX" + PLAIN[6:]):
            with self.subTest(data[:8]):
                self.refuse(data, says="expected an .npy file, which begins with '\\x93NUMPY'")


if __name__ == "__main__":
    unittest.main(verbosity=0)
