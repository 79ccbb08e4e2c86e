# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, .npy files made by hand, and a plain reference."""

import math
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["ROWNORM_COMMAND"]
# A sanitizer reserves terabytes of addresses and keeps freed memory: bounds of memory say nothing then.
SANITIZED = any(mark in pathlib.Path(COMMAND).read_bytes() for mark in (b"__asan_init", b"__tsan_init"))
SAMPLE = pathlib.Path(__file__).parents[2] / "tools" / "sample"
RMS = [0.4629100498862757, 0.9258200997725514, 1.3887301496588271,
       0.7895420339517227, 0.9869275424396534, 1.184313050927584]  # RMSNorm of (1, 2, 3) and (4, 5, 6), eps 0


def header(descr="'<f4'", order="False", shape="(2, 3)", version=1, text=None, length=None, minor=0):
    """The bytes before the data: by default as numpy writes them, or with any text and length of it."""
    if text is None:
        text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    if isinstance(text, str):
        text = text.encode("utf-8" if version == 3 else "latin-1")
    prefix = 10 if version == 1 else 12
    if length is None:
        length = (prefix + len(text) + 1 + 63) // 64 * 64 - prefix
    text = text.ljust(length - 1) + b"\n" if length > len(text) else text[:length]
    size = struct.pack("<H" if prefix == 10 else "<I", length)
    return b"\x93NUMPY" + bytes([version, minor]) + size + text


def bf16(value):
    """The bits of a double rounded to bf16 through f32 (the tests use values where that is one rounding)."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if math.isnan(value):
        return 0x7fc0
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def pack(values, kind="f4", order="<"):
    if kind in ("bf16", "V2"):
        return b"".join(struct.pack(order + "H", bf16(v)) for v in values)
    return struct.pack("%s%d%s" % (order, len(values), {"f2": "e", "f4": "f", "f8": "d"}[kind]), *values)


def unpack(data, descr):
    order = ">" if descr[0] == ">" else "<"
    if descr.endswith("V2"):
        words = struct.unpack("<%dH" % (len(data) // 2), data)
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]
    code = {"f2": "e", "f4": "f", "f8": "d"}[descr[-2:]]
    return list(struct.unpack("%s%d%s" % (order, len(data) // struct.calcsize(code), code), data))


def npy(values, shape, descr="<f4", fortran=False):
    return header(repr(descr), str(fortran), repr(tuple(shape))) + pack(values, descr[-2:], descr[0].replace("|", "<"))


class Array:
    """An .npy file that the command wrote: read strictly, since what we write has one form."""

    def __init__(self, data):
        assert data[:6] == b"\x93NUMPY" and data[7] == 0, data[:12]
        prefix = 10 if data[6] == 1 else 12
        self.begin = prefix + int.from_bytes(data[8:prefix], "little")
        assert self.begin % 64 == 0, self.begin
        text = data[prefix:self.begin].decode()
        assert text.endswith("\n")
        fields = eval(text, {"__builtins__": {}})  # our own output, in a test
        self.descr, self.fortran, self.shape = fields["descr"], fields["fortran_order"], fields["shape"]
        self.data = data[self.begin:]
        size = {"f2": 2, "V2": 2, "f4": 4, "f8": 8}[self.descr[-2:]]
        assert len(self.data) == size * math.prod(self.shape), (len(self.data), self.shape)
        self.values = unpack(self.data, self.descr)


def rms_rows(values, n, eps=0.0, k=None):
    """RMSNorm in double precision with an exact sum."""
    out = []
    for i in range(0, len(values), n):
        row = values[i:i + n]
        scale = 1 / math.sqrt(math.fsum(v * v for v in row[:k or n]) / (k or n) + eps)
        out += [v * scale for v in row]
    return out


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own, which must hold no temporary file at the end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rownorm-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for kind in (bytes, list):  # unittest would take minutes to show how megabytes differ
            self.addTypeEqualityFunc(kind, self.assert_same_sequence)

    def tearDown(self):
        left = [p for p in self.folder.rglob(".rownorm-*")]
        self.assertEqual(left, [], "temporary files were left")

    def assert_same_sequence(self, first, second, msg=None):
        if first == second:
            return
        at = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
        self.fail(msg or "lengths %d and %d; from %d on %.200r and %.200r"
                  % (len(first), len(second), at, first[at:at + 20], second[at:at + 20]))

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_command(self, *arguments, **options):
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", 60)
        return subprocess.run([COMMAND, *arguments], stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, **options)

    def normalize(self, data, *arguments, **options):
        """Runs `normalize` on a file with these bytes; gives the result and the output, which must exist."""
        self.file("in.npy", data)
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force", *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return Array((self.folder / "out.npy").read_bytes())

    def refuse(self, data, *arguments, code=1, says=None, **options):
        """Runs `normalize`, which must refuse with one line and no output; gives that line."""
        self.file("in.npy", data)
        (self.folder / "out.npy").unlink(missing_ok=True)
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", *arguments, **options)
        self.assert_failed(result, code)
        self.assertFalse((self.folder / "out.npy").exists())
        line = result.stderr.decode()
        self.assertIn("in.npy", line)
        if says is not None:
            self.assertIn(says, line)
        return line

    def assert_failed(self, result, code=1):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stdout or b"", b"")
        self.assertRegex(result.stderr, rb"\Arownorm: [^\n]+\n\Z")

    def assert_close(self, values, expected, rtol=4e-6, atol=0.0):
        self.assertEqual(len(values), len(expected))
        for i, (v, e) in enumerate(zip(values, expected)):
            self.assertTrue(v == e or abs(v - e) <= atol + rtol * abs(e), "element %d: %r, expected %r" % (i, v, e))
