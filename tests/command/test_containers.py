# SPDX-License-Identifier: Apache-2.0
"""Members of .npz archives and tensors of .safetensors files, as every kind of input."""

import io
import itertools
import json
import struct
import unittest
import zipfile

from support import RMS, Array, CommandTest, header, npy, pack

X = npy([1, 2, 3, 4, 5, 6], (2, 3))
METHODS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}


class Containers(CommandTest):
    def npz(self, members, method=zipfile.ZIP_STORED, name="a.npz"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
        return self.file(name, out.getvalue())

    def safetensors(self, tensors, name="m.safetensors", metadata=None):
        head, data = ({"__metadata__": metadata} if metadata else {}), b""
        for key, (dtype, shape, values) in tensors.items():
            head[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
            data += values
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        return self.file(name, struct.pack("<Q", len(text)) + text + data)

    def good(self, *arguments):
        result = self.run_command("normalize", *arguments, "-o", "out.npy", "--force", "--eps", "0")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return Array((self.folder / "out.npy").read_bytes())

    def bad(self, name, *says, code=1):
        result = self.run_command("normalize", name, "-o", "bad.npy")
        self.assert_failed(result, code)
        for text in says:
            self.assertIn(text, result.stderr.decode())
        self.assertFalse((self.folder / "bad.npy").exists())


class Npz(Containers):
    def test_members_by_either_name(self):
        for method in METHODS.values():
            self.npz({"x.npy": X, "other.npy": npy([1.0], (1,))}, method)
            for name in ("a.npz:x", "a.npz:x.npy"):
                self.assert_close(self.good(name).values, RMS)

    def test_the_only_member_needs_no_name(self):
        self.npz({"arr_0.npy": X})
        self.assert_close(self.good("a.npz").values, RMS)

    def test_members_as_weight_bias_and_residual(self):
        for method in METHODS.values():
            self.npz({"x.npy": X, "w.npy": npy([2, 2, 2], (3,)), "b.npy": npy([1, 1, 1], (3,)),
                      "r.npy": npy([0] * 6, (2, 3))}, method)
            out = self.good("a.npz:x", "--weight", "a.npz:w", "--bias", "a.npz:b", "--residual", "a.npz:r",
                            "--residual-out", "s.npy")
            self.assert_close(out.values, [2 * v + 1 for v in RMS])
            self.assertEqual((self.folder / "s.npy").read_bytes(), X)

    def test_names_with_colons_and_folders(self):
        self.npz({"layers/0:attn.npy": X, "layers/1.npy": X})
        self.assert_close(self.good("a.npz:layers/0:attn").values, RMS)
        self.file("plain.npz:x", X)  # a file may have any name
        self.assert_close(self.good("plain.npz:x").values, RMS)

    def test_large_members(self):
        x = [float(i % 97 - 48) for i in range(400 * 1000)]
        self.file("x.npy", npy(x, (400, 1000)))
        expected = self.good("x.npy").data
        for method in METHODS.values():
            self.npz({"x.npy": npy(x, (400, 1000)), "f.npy": npy(x, (400, 1000), fortran=True)}, method)
            self.assertEqual(self.good("a.npz:x").data, expected)
        self.file("f.npy", npy(x, (400, 1000), fortran=True))
        expected = self.good("f.npy").data
        self.assertEqual(self.good("a.npz:f").data, expected)
        result = self.run_command("normalize", "a.npz:f", "-o", "bad.npy", "--memory", "64K")
        self.assert_failed(result)  # deflated: no reading here and there
        self.assertIn(b"a.npz:f: not a file; expected one for columns", result.stderr)
        self.npz({"f.npy": npy(x, (400, 1000), fortran=True)})
        self.assertEqual(self.good("a.npz:f", "--memory", "64K").data, expected)

    def test_members_that_are_not_there(self):
        self.npz({"x.npy": X, "y.npy": X})
        self.bad("a.npz:z", "no member 'z'", "'x.npy', 'y.npy'")
        self.bad("a.npz", "no member's name", "'x.npy'")
        self.bad("a.npz:", "no member's name")
        self.npz({"%d.npy" % i: X for i in range(9)})
        self.bad("a.npz:z", "and 4 more")
        self.npz({})
        self.bad("a.npz:x")
        self.bad("no.npz:x", "no.npz: cannot be opened", "No such file")

    def test_members_that_are_no_arrays(self):
        self.npz({"x.npy": b"hello", "o.npy": header("'|O'") + b"pickle", "short.npy": X[:-1], "more.npy": X + b"1"})
        self.bad("a.npz:x", "a.npz:x: ")
        self.bad("a.npz:o", "pickle")
        self.bad("a.npz:short", "23 bytes of data found")
        result = self.run_command("normalize", "a.npz:more", "-o", "out.npy")
        self.assertRegex(result.stderr, rb"warning: a\.npz:more: 1 byte after the array")

    def test_archives_that_are_damaged(self):
        for kind, method in METHODS.items():
            path = self.npz({"x.npy": X}, method)
            data = path.read_bytes()
            for end in range(0, len(data), 7):
                path.write_bytes(data[:end])
                self.bad("a.npz:x", "a.npz: cannot be opened as a zip archive")
            place = data.index(b"NUMPY" if kind == "stored" else b"x.npy", 20) + (150 if kind == "stored" else 30)
            changed = bytearray(data)
            changed[40 + 128 if kind == "stored" else place] ^= 0x55
            path.write_bytes(changed)
            self.bad("a.npz:x", "a.npz:x: ")

    def test_not_an_archive(self):
        self.file("a.npz", X)
        self.bad("a.npz:x", "a.npz: cannot be opened as a zip archive")


class Safetensors(Containers):
    def test_types_are_known_from_the_header(self):
        for dtype, kind, descr, rtol in (("F32", "f4", "<f4", 4e-6), ("F16", "f2", "<f2", 1e-3), ("F64", "f8", "<f8", 1e-15),
                                         ("BF16", "bf16", "<V2", 8e-3)):
            self.safetensors({"a": ("I64", [1], b"\0" * 8), "blk.0.x": (dtype, [2, 3], pack([1, 2, 3, 4, 5, 6], kind))},
                             metadata={"format": "pt"})
            out = self.good("m.safetensors:blk.0.x")
            self.assertEqual((out.descr, out.shape, out.fortran), (descr, (2, 3), False))
            self.assert_close(out.values, RMS, rtol)

    def test_tensors_as_weight_bias_and_residual(self):
        self.file("x.npy", X)
        self.safetensors({"w": ("BF16", [3], pack([2, 2, 2], "bf16")), "b": ("F16", [3], pack([1, 1, 1], "f2")),
                          "r": ("F32", [2, 3], pack([0] * 6))})
        out = self.good("x.npy", "--weight", "m.safetensors:w", "--bias", "m.safetensors:b", "--residual",
                        "m.safetensors:r")
        self.assert_close(out.values, [2 * v + 1 for v in RMS])

    def test_the_only_tensor_needs_no_name(self):
        self.safetensors({"x": ("F32", [2, 3], pack([1, 2, 3, 4, 5, 6]))}, metadata={"a": "b"})
        self.assert_close(self.good("m.safetensors").values, RMS)

    def test_shapes(self):
        for shape in ([6], [1, 6], [], [0, 5], [5, 0]):
            count = 1
            for extent in shape:
                count *= extent
            self.safetensors({"x": ("F32", shape, pack([1.0] * count)), "y": ("F32", [1], pack([1]))})
            self.assertEqual(self.good("m.safetensors:x").shape, tuple(shape))

    def test_long_rows_and_tiles(self):
        values = [float(i % 97 - 48) for i in range(30000)]
        self.file("x.npy", npy(values, (3, 10000)))
        self.safetensors({"a": ("F16", [1], b"\0\0"), "x": ("F32", [3, 10000], pack(values))})
        for more in (("--memory", "8K"), ("--axis", "0"), ("--axis", "0", "--memory", "8K"), ()):
            self.assertEqual(self.good("m.safetensors:x", *more).data, self.good("x.npy", *more).data)

    def test_names_that_are_not_there(self):
        self.safetensors({"tensor.%d" % i: ("F32", [1], pack([1])) for i in range(7)}, metadata={"x": "y"})
        self.bad("m.safetensors:x", "no tensor 'x'", "'tensor.0'", "and 2 more")
        self.bad("m.safetensors", "no tensor's name")
        self.bad("m.safetensors:__metadata__", "no tensor")
        self.bad("no.safetensors:x", "No such file")

    def test_types_that_are_not_read(self):
        for dtype, size in (("I64", 8), ("U8", 1), ("BOOL", 1), ("F8_E4M3", 1), ("f32", 4), ("", 4), (None, 4), (1, 4)):
            self.safetensors({"x": (dtype, [1], b"\0" * size)})
            self.bad("m.safetensors:x", "m.safetensors:x: type ")

    def test_headers_that_are_wrong(self):
        def with_header(text, data=b"\0" * 24, length=None):
            self.file("m.safetensors", struct.pack("<Q", len(text) if length is None else length) + text + data)

        good = {"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
        with_header(json.dumps(good).encode())
        self.good("m.safetensors:x")
        for field, values in (("shape", ([2, 4], [-2, -3], [2.0, 3], ["2", 3], None, 6, "23", [1 << 62, 4], [1 << 64, 0],
                                         [[2], 3], [True, 6])),
                              ("data_offsets", ([0, 23], [0, 25], [1, 25], [24, 0], [-24, 0], [0], [0, 24, 24], None, 24,
                                                [0, 1 << 70])),
                              ("dtype", ("I32", None, ["F32"], {}))):
            for value in values:
                with self.subTest((field, value)):
                    with_header(json.dumps({"x": {**good["x"], field: value}}).encode())
                    self.bad("m.safetensors:x", "m.safetensors:x: ", "data_offsets" if field == "data_offsets" else "")
            broken = {k: v for k, v in good["x"].items() if k != field}
            with_header(json.dumps({"x": broken}).encode())
            self.bad("m.safetensors:x", "without " + field)
        one = json.dumps(good["x"])
        for text in ("", "{", "[]", "null", "{\"x\": 1}", "{\"x\": []}", "{\"x\": %s, \"x\": %s}" % (one, one),
                     "[" * 100000, "{\"x\":" * 100000, "{\"x\": %s} 1" % one, "{\"x\": %s,}" % one, "\xff"):
            with self.subTest(text[:40]):
                with_header(text.encode("latin-1"))
                self.bad("m.safetensors:x", "m.safetensors")

    def test_lengths_are_checked_before_anything_is_allocated(self):
        for length in (1 << 63, (1 << 64) - 1, 100_000_001, 99_999_999, 30):
            with self.subTest(length):
                self.file("m.safetensors", struct.pack("<Q", length) + b"{}" + b" " * 20)
                self.bad("m.safetensors:x", "a header of %d bytes" % length)

    def test_a_file_cut_at_any_byte(self):
        path = self.safetensors({"x": ("F32", [2, 3], pack([1, 2, 3, 4, 5, 6]))})
        data = path.read_bytes()
        for end in range(len(data)):
            path.write_bytes(data[:end])
            self.bad("m.safetensors:x", "m.safetensors")


class Outputs(Containers):
    def test_containers_are_not_written(self):
        self.file("x.npy", X)
        for name in ("out.npz", "out.npz:x", "out.safetensors", "out.safetensors:x"):
            for arguments in (("-o", name), ("-o", "o.npy", "--residual", "x.npy", "--residual-out", name)):
                result = self.run_command("normalize", "x.npy", *arguments)
                self.assert_failed(result, 2)
                self.assertIn(b"only .npy files are written", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=0)
