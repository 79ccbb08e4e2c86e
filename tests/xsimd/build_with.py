#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and tests the library with the xsimd of another Debian release.

    python3 tests/xsimd/build_with.py                      trixie's (13.2), natively
    python3 tests/xsimd/build_with.py --aarch64            the same, cross-compiled and run under qemu
    python3 tests/xsimd/build_with.py --release sid --build build/xsimd-sid

Nothing is installed: the headers are unpacked beside the emulators' downloads (tests/emulate/debian.py) and named to
CMake by ROWNORM_XSIMD_INCLUDE_DIR. Three programs must pass: rownorm_simd_tests, rownorm_hashes against the golden
file on every ISA of the machine, and a thinned rownorm_tests. Prints the seconds of each step.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "emulate"))
import debian  # noqa: E402
import machines  # noqa: E402

PACKAGE = "libxsimd-dev"
PROGRAMS = ["rownorm_simd_tests", "rownorm_hashes", "rownorm_tests"]


def headers(release):
    """The folder that holds xsimd/xsimd.hpp of a release; downloaded once."""
    target = debian.cache_folder() / f"xsimd-{release}"
    done = target / ".complete"
    if not done.exists():
        shutil.rmtree(target, ignore_errors=True)
        apt = debian.Apt(release, "amd64")
        apt.update()
        apt.unpack_alone(PACKAGE, target)
        apt.remove()
        done.touch()
    return target / "usr" / "include"


def version(include):
    text = (include / "xsimd" / "config" / "xsimd_config.hpp").read_text()
    return ".".join(re.search(rf"XSIMD_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def run(step, *command, **options):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    report(step, done.returncode, done.stdout, begin)


def report(step, status, output, begin):
    print(f"{step:<22} {time.monotonic() - begin:5.0f} s  {'FAILED' if status else 'ok'}", flush=True)
    if status:
        sys.exit(output[-4000:])


def build(arguments, include):
    preset = "aarch64" if arguments.aarch64 else "release"
    run("configure", "cmake", "--preset", preset, "-B", arguments.build, "-D", f"ROWNORM_XSIMD_INCLUDE_DIR={include}",
        "-D", "ROWNORM_BUILD_TOOLS=OFF", "-D", "ROWNORM_BUILD_BENCH=OFF", *arguments.define, cwd=ROOT)
    run("build", "cmake", "--build", arguments.build, "--parallel", arguments.jobs, "--target", *PROGRAMS)
    commands = json.loads((arguments.build / "compile_commands.json").read_text())
    kernels = [c["command"] for c in commands if "/lib/kernels/" in c["file"]]
    if not kernels or not all(f" {include} " in c for c in kernels):
        sys.exit(f"the kernels were not compiled with {include}")


def test(arguments):
    environment = {"ROWNORM_TEST_SCALE": str(arguments.scale)}
    golden = ROOT / "tests" / "golden" / "hashes.txt"
    for program in PROGRAMS:
        words = [str(arguments.build / "bin" / program)]
        if program == "rownorm_hashes":
            words += ["--check", str(golden)]
        if arguments.aarch64:
            emulated(program, words, arguments.scale)
        else:
            run(program, *words, env={**os.environ, **environment})


def emulated(program, words, scale):
    begin = time.monotonic()
    machine = next(m for m in machines.MACHINES if m.name == "neon")
    result = machine.run(f"export ROWNORM_TEST_SCALE={scale}\n$RUN {' '.join(words)}", [], 1200)
    report(program, result.status, result.output, begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="trixie", help="a Debian release's code name")
    parser.add_argument("--aarch64", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--scale", type=float, default=0.02, help="ROWNORM_TEST_SCALE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("define", nargs="*", help="further arguments of cmake, after --")
    arguments = parser.parse_args()
    folder = f"xsimd-{arguments.release}" + ("-aarch64" if arguments.aarch64 else "")
    arguments.build = (arguments.build or ROOT / "build" / folder).resolve()
    include = headers(arguments.release)
    print(f"xsimd {version(include)} of {arguments.release}", flush=True)
    build(arguments, include)
    test(arguments)


if __name__ == "__main__":
    main()
