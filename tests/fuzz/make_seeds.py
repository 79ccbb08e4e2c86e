#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets: make_seeds.py FOLDER makes FOLDER/abi, FOLDER/headers, FOLDER/command.

The headers are of the kinds that have broken readers of .npy files: every version, key orders and quotes, lengths
that lie, opaque and foreign types, shapes whose product wraps, brackets without end, other files by mistake.
"""
import io
import json
import pathlib
import random
import struct
import sys
import zipfile

DATA = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
HEADER = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }"


def npy(text, version=1, data=DATA, length=None, block=64):
    prefix = 10 if version == 1 else 12
    body = text.encode() + b" " * (-(prefix + len(text) + 1) % block) + b"\n"
    size = struct.pack("<H" if prefix == 10 else "<I", len(body) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + body + data


def plain(descr="'<f4'", order="False", shape="(2, 3)", **more):
    return npy(HEADER % (descr, order, shape), **more)


def npy_seeds():
    yield from (plain(version=v) for v in (0, 1, 2, 3, 4))
    yield from (plain(length=n) for n in (0, 1, 500, 65535))
    yield from (plain()[:n] for n in (0, 6, 8, 10, 18, 127))
    yield plain(version=2, length=2 ** 32 - 1)[:12]
    for descr in ("'<f2'", "'<f8'", "'>f4'", "'|V2'", "'>V2'", "'bfloat16'", "'<g2'", "'|V1'", "'|O'", "'<i4'", "''", "'<'",
                  "None", "'<M8[s]'", "'<f99999999999999999999'", "[('a', '<f4'), ('b', '<f4')]", "u'<f4'", "b'<f4'"):
        yield plain(descr)
    for shape in ("()", "(6,)", "(6)", "6", "[2, 3]", "(2L, 3L)", "(-1,)", "(0,)", "(0, 8)", "(8, 0)", "(1000000, 1000000)",
                  "(4294967296, 4294967296)", "(4611686018427387905, 4)", "(18446744073709551617,)", "(0x2, 3)", "(2.0, 3)",
                  "(" + "1, " * 70 + ")", "(" * 200 + ")" * 200, "(0, 1099511627776)", "(2, True)"):
        yield plain(shape=shape)
    yield from (plain(order=order) for order in ("True", "0", "1", "None", "'False'"))
    yield npy("{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}")
    yield npy('{"descr":"<f4","fortran_order":False,"shape":(2,3)}')
    yield npy("{'descr': '<f4', 'fortran_order': False, }")
    yield npy("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}")
    yield npy("{'descr': '<f4', 'x': 'shape', 'fortran_order': False, 'shape': (2, 3)}")
    yield npy("{'de\\x73cr': '\\u003cf4', 'fortran_order': False, 'shape': (2, # two\n 3)}")
    yield from (plain(block=block) for block in (1, 16, 4096))
    yield from (plain(data=data) for data in (b"", DATA[:-1], DATA + b"extra"))
    yield from (b"PK\x03\x04" + bytes(60), b"\x1f\x8b\x08\x00", b"version https://git-lfs", b"<!DOCTYPE html>",
                b"\x80\x04\x95", b"\xef\xbb\xbf" + plain())


def npz_seeds():
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for names in (["a.npy"], ["a.npy", "b.npy"], ["a"], []):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", method) as archive:
                for name in names:
                    archive.writestr(name, plain())
            yield file.getvalue()
            yield file.getvalue()[:-7]


def tensors(header, data=DATA):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def safetensors_seeds():
    a = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    yield tensors({"a": a})
    yield tensors({"__metadata__": {"format": "pt"}, "a": a, "b": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}})
    for key, value in (("dtype", "I64"), ("dtype", 3), ("shape", [2 ** 62, 4]), ("shape", [-1]), ("shape", 6), ("shape", [0]),
                       ("data_offsets", [0, 23]), ("data_offsets", [24, 0]), ("data_offsets", [8, 32]),
                       ("data_offsets", [2 ** 63, 2 ** 63 + 24]), ("data_offsets", [])):
        yield tensors({"a": dict(a, **{key: value})})
    yield from (tensors(text) for text in (b"", b"{}", b"[]", b"null", b"{\"a\":" * 300, b"{\"a\":1,\"a\":2}", b"\xff{}"))
    yield struct.pack("<Q", 2 ** 63) + b"{}"
    yield struct.pack("<Q", 99_999_999) + b"{}"


def header_seeds():
    for number, seed in enumerate(npy_seeds()):
        yield bytes([4 * (number % 5)]) + seed  # opaque bytes are nothing or one of four types
        yield bytes([1 + 4 * (number % 5)]) + seed
    yield from (b"\x02" + seed for seed in npz_seeds())
    yield from (b"\x03" + seed for seed in safetensors_seeds())


def random_seeds(count, sizes):
    for number in range(count):
        generator = random.Random(number)
        yield bytes(generator.randrange(256) for _ in range(generator.choice(sizes)))


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds = {"headers": list(header_seeds()),
             "abi": list(random_seeds(1000, [60, 200, 700])),
             "command": list(random_seeds(300, [40, 150, 300]))}
    for target, files in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(files):
            (folder / target / ("%04d" % number)).write_bytes(seed)


main()
