# SPDX-License-Identifier: Apache-2.0
"""Prepares clang-tidy's work: a compilation database with each file once, and the list of files.

    python3 .ci/tidy_files.py COMPILE_COMMANDS FOLDER

clang-tidy goes through a file once per entry of the database, so kernels would be read once per ISA.
"""
import json
import pathlib
import sys


def main(database, folder):
    first = {}
    for entry in json.loads(pathlib.Path(database).read_text()):
        first.setdefault(entry["file"], entry)
    if not first:
        sys.exit(f"{database}: no files")
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / "compile_commands.json").write_text(json.dumps(list(first.values())))
    (target / "files").write_text("".join(f"{file}\n" for file in sorted(first)))
    print(f"clang-tidy: {len(first)} files")


if __name__ == "__main__":
    main(*sys.argv[1:])
