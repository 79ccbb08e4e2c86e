# SPDX-License-Identifier: Apache-2.0
"""Asks the compiler for its warnings on each file that another build does not compile.

    python3 .ci/check_left_out.py COMPILE_COMMANDS COMPILE_COMMANDS_OF_THE_OTHER

Runs the first database's commands with -fsyntax-only: clang's warnings need no code to be generated. Exits with 1 if a
command fails (with the preset "dev" a warning is an error).
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys


def entries(database):
    return json.loads(pathlib.Path(database).read_text())


def passes(entry):
    return subprocess.run(shlex.split(entry["command"]) + ["-fsyntax-only"], cwd=entry["directory"], check=False).returncode == 0


def main(database, other):
    compiled = {entry["file"] for entry in entries(other)}
    left_out = [entry for entry in entries(database) if entry["file"] not in compiled]
    if not compiled or not left_out:
        sys.exit(f"{database}: nothing that {other} leaves out")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = list(pool.map(passes, left_out)).count(False)
    print(f"{len(left_out)} files that the other build leaves out, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
