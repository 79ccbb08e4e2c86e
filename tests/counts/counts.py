#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of hot cells with callgrind and compares them with table.txt.

    counts.py PROGRAM            fails where a cell takes over 2 % more instructions than the table says
    counts.py PROGRAM --update   writes the table anew (or: cmake --build BUILD --target update_counts)
    counts.py --skip REASON      says why nothing is counted

PROGRAM is rownorm_counts, of a Release build with g++ 12. Counts are exact where clocks are noisy: a change of them
is a change of the code, never of the machine, which is taken for the same one everywhere.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("table.txt")
ISAS = ("avx2", "sse2")  # Debian 12's valgrind knows no AVX-512
MACHINE = "l1=32K,l2=1M,l3=32M,turns=1"
SLACK = 0.02
SKIPPED = 77
HEADING = """\
# Instructions of hot cells, counted by callgrind; made by: cmake --build BUILD --target update_counts
# isa  cell  instructions of a call  of an element
"""


def skip(reason):
    print("counts: skipped:", reason)
    sys.exit(SKIPPED)


def instructions(part):
    """The total of one part of callgrind's output."""
    return int(re.search(r"^(?:totals|summary): (\d+)", part.read_text(), re.MULTILINE)[1])


def count(program, isa):
    """{(isa, cell): (instructions of a call, elements)}"""
    with tempfile.TemporaryDirectory(prefix="rownorm-counts-") as folder:
        out = pathlib.Path(folder, "out")
        result = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=rownorm_counted",
             "--dump-after=rownorm_counted", program],
            env={**os.environ, "ROWNORM_MAX_ISA": isa, "ROWNORM_MACHINE": MACHINE}, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"counts: {program} failed under valgrind ({isa}):\n{result.stderr}")
        first, *cells = result.stdout.splitlines()
        if first != f"isa {isa}":
            skip(f"this machine runs {first.split()[-1]} where {isa} is counted")
        parts = sorted(out.parent.glob("out.*"), key=lambda path: int(path.suffix[1:]))
        if not cells or len(parts) != len(cells):
            sys.exit(f"counts: {len(cells)} cells and {len(parts)} parts of callgrind's output")
        return {(isa, line.split()[0]): (instructions(part), int(line.split()[1])) for line, part in zip(cells, parts)}


def count_all(program):
    found = {}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for counts in pool.map(lambda isa: count(program, isa), ISAS):
            found.update(counts)
    return found


def write_table(found):
    lines = [f"{isa:<5} {cell:<36} {calls:>9} {calls / elements:>8.3f}\n"
             for (isa, cell), (calls, elements) in found.items()]
    TABLE.write_text(HEADING + "".join(lines))


def read_table():
    lines = [line.split() for line in TABLE.read_text().splitlines() if line and line[0] != "#"]
    return {(isa, cell): int(calls) for isa, cell, calls, _ in lines}


def compare(found, table):
    """(what is wrong, what has become better), as lines."""
    wrong, better = [], []
    for key in sorted(found.keys() | table.keys()):
        name = " ".join(key)
        if key not in table or key not in found:
            wrong.append(f"{name}: {'not in the table' if key in found else 'in the table and not counted'}")
            continue
        now, before = found[key][0], table[key]
        change = f"{name}: {now} instructions, in the table {before} ({100 * (now / before - 1):+.1f} %)"
        if now > before * (1 + SLACK):
            wrong.append(change)
        elif now < before * (1 - SLACK):
            better.append(change)
    return wrong, better


def check(found):
    wrong, better = compare(found, read_table())
    for line in better:
        print("better", line)
    if better:
        print("Make the table anew, so that this is kept: cmake --build BUILD --target update_counts")
    for line in wrong:
        print("WRONG ", line)
    print(f"counts: {len(found)} cells counted, {len(wrong)} wrong, {len(better)} better")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--skip")
    arguments = parser.parse_args()
    if arguments.skip:
        skip(arguments.skip)
    if not shutil.which("valgrind"):
        skip("valgrind is not here")
    found = count_all(arguments.program)
    if arguments.update:
        write_table(found)
        print(f"counts: wrote {TABLE}")
        return 0
    return check(found)


if __name__ == "__main__":
    sys.exit(main())
