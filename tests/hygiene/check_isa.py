#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may leak between the ISAs of one library, looked for in the object files with nm and objdump.

    check_isa.py SOURCE BUILD [--isas sse2,avx2,avx512bf16:residual+apply_bf16] [--sanitizer]

SOURCE/lib/kernels/*.cpp must each have an object per ISA, SOURCE/lib/*.cpp one for the baseline. The linker keeps
one copy of a function that two objects define weakly: were that the AVX-512 one, a machine without AVX-512 would
die in code that never asked for it. Hence one global symbol per ISA object, nothing shared, and a look at every
instruction. Each finding is a line on stdout; the exit code is 1 if there is any.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import instructions

FORBIDDEN_CALLS = frozenset(
    "abort exit _exit _Exit quick_exit __assert_fail printf vprintf puts putchar putc fprintf vfprintf fputs fputc "
    "fwrite perror __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk __fwrite_chk stdout stderr".split())
FORBIDDEN_STREAMS = ("_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZNSt8ios_base4Init")
INITIALISERS = re.compile(r"\s\d+\s+(\.init_array|\.ctors|\.preinit_array)\b")
SANITIZER_SYMBOLS = ("__odr_asan", "__asan_", "__tsan_", "__ubsan_", "__sanitizer_")
# What must be in an object, else the check (or the build) looks at something else than it believes.
FLOORS = {("avx2", "statistics"): ("ymm", "vfmadd"), ("avx512", "statistics"): ("zmm",),
          ("avx512bf16", "apply_bf16"): ("zmm", "vcvtne2ps2bf16"),
          ("avx2", "one_row"): ("prefetcht1",),  # of a gain from memory, which no result tells of
          ("sse2", "statistics"): ("xmm",), ("neon", "statistics"): ("fmla",)}


class Object:
    """One object file: its symbols as (kind, name) of nm, and where it belongs."""

    def __init__(self, path, isa, family):
        self.path, self.isa, self.family = path, isa, family
        self.label = f"{isa}/{path.name}"
        self.symbols = symbols(path)

    def defined(self, kinds):
        return {name for kind, name in self.symbols if kind in kinds}

    def undefined(self):
        return {name for kind, name in self.symbols if kind in "Uw"}


def tool(name, *arguments):
    command = [os.environ.get(name.upper(), name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(path):
    """The second-last and last word of each line: an undefined symbol has no address before them."""
    lines = (line.split() for line in tool("nm", path).splitlines())
    return [(words[-2], words[-1]) for words in lines if len(words) >= 2]


def check_exports(obj, sanitizer):
    expected = f"rownorm_{obj.family}_{obj.isa}"
    # 'V' is the reference to the personality routine (DW.ref.*): weak data, the same on every ISA.
    found = obj.defined("TDBRGSCiu")
    if sanitizer:
        found = {name for name in found if not name.startswith(SANITIZER_SYMBOLS)}
    if found != {expected}:
        yield f"{obj.label}: global symbols are {', '.join(sorted(found)) or 'none'}; expected {expected} alone"


def check_shared(objects):
    """Weak functions of an ISA object that any object of another ISA, or of the baseline, defines too."""
    for obj in (o for o in objects if o.isa != "baseline"):
        for other in (o for o in objects if o.isa != obj.isa):
            for name in sorted(obj.defined("Wu") & other.defined("TWui")):
                yield f"{obj.label}: weak function {name} is also in {other.label}"


def check_calls(obj):
    for name in sorted(obj.undefined()):
        if name in FORBIDDEN_CALLS or name.startswith(FORBIDDEN_STREAMS):
            yield f"{obj.label}: refers to {name}"
    if obj.isa != "baseline":
        for name in sorted({name for _, name in obj.symbols if "tbb" in name.lower()}):
            yield f"{obj.label}: TBB symbol {name} in an ISA object"


def check_initialisers(obj, sanitizer):
    found = INITIALISERS.search(tool("objdump", "-h", obj.path))
    if found and not sanitizer:
        yield f"{obj.label}: has a static initialiser ({found[1]})"


def check_instructions(obj):
    code = tool("objdump", "-d", "--no-show-raw-insn", obj.path)
    if not instructions.lines(code):
        if obj.isa == "baseline" and not obj.defined("TtWw"):
            return  # a file that is for another architecture
        yield f"{obj.label}: no instructions in the disassembly"
    for name, line in instructions.above(obj.isa, code):
        yield f"{obj.label}: above the ISA, {name}: {line}"
    for word in FLOORS.get((obj.isa, obj.family), ()):
        if word not in code:
            yield f"{obj.label}: no {word} in its code; was it compiled with the ISA's flags?"


def check_object(obj, sanitizer):
    if obj.isa != "baseline":
        yield from check_exports(obj, sanitizer)
    yield from check_calls(obj)
    yield from check_initialisers(obj, sanitizer)
    yield from check_instructions(obj)


def expected_objects(source, build, isas):
    """(path, isa, family) for every source file, whether or not the object exists; `isas` is {isa: its families}, of
    which None are all."""
    lib = source / "lib"
    objects = build / "lib" / "CMakeFiles"
    for isa, families in isas.items():
        for file in sorted((lib / "kernels").glob("*.cpp")):
            if families and file.stem not in families:
                continue
            yield objects / f"rownorm_kernels_{isa}.dir" / "kernels" / f"{file.name}.o", isa, file.stem
    for file in sorted(lib.glob("*.cpp")):
        yield objects / "rownorm_objects.dir" / f"{file.name}.o", "baseline", file.stem


def check(source, build, isas, sanitizer):
    expected = list(expected_objects(source, build, isas))
    for what in [*isas, "baseline"]:
        if not any(isa == what for _, isa, _ in expected):
            yield f"{source}: no source files for {what}"
    for path, _, _ in expected:
        if not path.is_file():
            yield f"{path}: there is no such object"
    objects = [Object(*one) for one in expected if one[0].is_file()]
    for obj in objects:
        yield from check_object(obj, sanitizer)
    yield from check_shared(objects)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--isas", default="sse2,avx2,avx512", help="comma-separated; NAME:FAMILY+FAMILY for some families")
    parser.add_argument("--sanitizer", action="store_true", help="the build has sanitizers: initialisers are theirs")
    arguments = parser.parse_args()
    isas = {name: families.split("+") if families else None
            for name, _, families in (isa.partition(":") for isa in arguments.isas.split(","))}
    findings = list(check(arguments.source, arguments.build, isas, arguments.sanitizer))
    print("\n".join(findings) if findings else "no leaks found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
