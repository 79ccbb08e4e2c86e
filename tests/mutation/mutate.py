#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the library on purpose, one small change at a time, and shows which test notices.

    python3 tests/mutation/mutate.py                all of mutations.py, each against the tests that should kill it,
                                                    then, if it lives, against the whole suite
    python3 tests/mutation/mutate.py --quick        a few that are cheap to build, in at most two minutes
    python3 tests/mutation/mutate.py --only 3,17    these;  --list says which there are
    python3 tests/mutation/mutate.py --check        only whether each still finds its text in lib/
    python3 tests/mutation/mutate.py --table FILE   writes the result as a table (tests/mutation/TABLE.md)

Needs the `release` preset, built with its tests (or --build). Only the objects that a mutation names are compiled
anew, from a copy of lib/ and with the build's own commands, and linked into a library of their own, which the build's
test programs are made to load in place of theirs. Exits 1 if a mutation survives, does not compile, or no longer
finds its text.
"""
import argparse
import dataclasses
import pathlib
import sys
import tempfile
import time

from mutant import Broken, Build, Mutant
from mutations import MUTATIONS
from trial import Trial

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Result:
    number: int
    mutation: object
    verdict: str  # "killed", "equivalent", "SURVIVED" or "BROKEN"
    by: str
    seconds: float


def attempt(build, number, mutation):
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rownorm-mutant-") as name:
        folder = pathlib.Path(name)
        try:
            Mutant(build, mutation, folder).make()
            by = Trial(build, folder).kill(mutation)
            survived = ("equivalent", mutation.equivalent) if mutation.equivalent else ("SURVIVED", "")
            verdict = ("killed", by) if by else survived
        except Broken as fault:
            verdict = ("BROKEN", str(fault))
    return Result(number, mutation, *verdict, time.monotonic() - begin)


def check_control(build):
    """The library of the build itself must pass what the mutants are shown to."""
    trial = Trial(build, build.folder / "lib")
    if found := trial.suites("*", 0.02) or trial.hashes():
        sys.exit(f"mutate.py: the library fails without a mutation: {found}")


def table(results):
    lines = ["# Mutations, and what kills them", "",
             "Written by `python3 tests/mutation/mutate.py --table tests/mutation/TABLE.md`. Each is one small change",
             "of `lib/`, from `mutations.py`. A name in quotation marks is a test case of `rownorm_tests`.", "",
             "| | in `lib/` | what is broken | killed by |", "|--:|---|---|---|"]
    for r in results:
        by = r.by if r.verdict == "killed" else f"**{r.verdict}**: {r.by}"
        lines.append(f"| {r.number} | `{r.mutation.file}` | {r.mutation.what} | {by} |")
    return "\n".join([*lines, "", summary(results), ""])


def summary(results):
    counts = {v: sum(r.verdict == v for r in results) for v in ("killed", "equivalent", "SURVIVED", "BROKEN")}
    return f"{len(results)} mutations: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)


def chosen(arguments):
    numbered = list(enumerate(MUTATIONS, 1))
    if arguments.only:
        wanted = {int(n) for n in arguments.only.split(",")}
        if not wanted <= {n for n, _ in numbered}:
            sys.exit(f"mutate.py: the mutations are 1 to {len(numbered)}")
        return [(n, m) for n, m in numbered if n in wanted]
    return [(n, m) for n, m in numbered if m.quick or not arguments.quick]


def check_texts(mutations):
    """Lines that say which mutations the code has moved away from."""
    for number, mutation in mutations:
        path = ROOT / "lib" / mutation.file
        source = path.read_text() if path.is_file() else ""
        for text, _ in mutation.edits:
            if text not in source:
                yield f"{number} ({mutation.what}): lib/{mutation.file} no longer holds: {text}"


def run(build, mutations):
    check_control(build)
    for number, mutation in mutations:
        r = attempt(build, number, mutation)
        print(f"{r.number:3} {r.seconds:5.0f} s  {r.verdict:8} {r.mutation.what}: {r.by}", flush=True)
        yield r


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", help="numbers of mutations, comma-separated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    mutations = chosen(arguments)
    if arguments.list:
        for number, mutation in mutations:
            print(f"{number:3} {'quick' if mutation.quick else '':5} {mutation.file:24} {mutation.what}")
        return
    if arguments.check:
        moved = list(check_texts(mutations))
        print("\n".join(moved) if moved else f"{len(mutations)} mutations find their text")
        sys.exit(1 if moved else 0)
    results = list(run(Build(ROOT, arguments.build.resolve()), mutations))
    if arguments.table:
        arguments.table.write_text(table(results))
    print(summary(results))
    sys.exit(0 if results and all(r.verdict in ("killed", "equivalent") for r in results) else 1)


if __name__ == "__main__":
    main()
