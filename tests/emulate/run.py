#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs on emulated CPUs and checks that each picks the ISA it should and agrees on every bit.

    python3 tests/emulate/run.py                        those that this machine cannot show natively
    python3 tests/emulate/run.py --machines all         every one
    python3 tests/emulate/run.py --machines neon,qemu64

Needs the presets `release` (or --build) and, for neon, `aarch64` to be built. On each machine:
  isa     rownorm_which_isa names the ISA in the machine's line, and a norm runs on every ISA it offers;
  hashes  rownorm_hashes prints for that ISA what it prints natively for the best one;
  tests   rownorm_tests passes, its sweeps thinned by ROWNORM_TEST_SCALE.
Outputs are kept in build/emulate/<machine>.txt. The last line counts the checks.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import arm64_sysroot
import bochs_parts
import machines

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Test cases that sweep too much for an emulator even when thinned; the same arithmetic is in the others and the hashes.
TOO_LONG = ["*ordinary rows*", "gain and bias", "give the bits of a plan*", "long rows do not drift*"]
PROGRAMS = {"isa": "rownorm_which_isa", "hashes": "rownorm_hashes", "tests": "rownorm_tests"}


def script_for(machine, build, arguments):
    """Prints each program's output after a line "== name" and before a line "-- status"."""
    exclude = ",".join([*TOO_LONG, *machine.exclude])
    options = {"hashes": ["--isa", machine.isa],
               "tests": [f"--test-suite={machine.suites}", f"--test-case-exclude={exclude}"]}
    lines = [f"export ROWNORM_TEST_SCALE={arguments.scale}"]
    for name, program in PROGRAMS.items():
        # stderr comes afterwards, lest it cuts a line of stdout in two
        words = shlex.join([str(build / "bin" / program), *options.get(name, [])])
        lines.append(f"echo '== {name}'; $RUN {words} 2>errors; status=$?")
        lines.append("cat errors; printf '\\n-- %s\\n' $status")
    return "\n".join(lines)


def sections(output):
    """{name: (output, status)} of what the script printed."""
    found = re.findall(r"^== (\w+)\n(.*?)\n-- (\d+)$", output, re.MULTILINE | re.DOTALL)
    return {name: (text.strip(), int(status)) for name, text, status in found}


def problems(machine, found, native_hashes):
    """(check, what is wrong or None) for each check; a check whose program did not end has failed."""
    for name in PROGRAMS:
        text, status = found.get(name, ("it did not finish", None))
        problem = None if status == 0 else f"status {status}: {text[-1500:]}"
        if problem is None and name == "tests" and not re.search(r"test cases: +[1-9]", text):
            problem = "no test case ran"
        if problem is None and name == "isa" and text.split()[0] != machine.isa:
            problem = f"runs {text.split()[0]}, not {machine.isa}"
        if problem is None and name == "hashes" and hash_lines(text) != native_hashes:
            problem = difference(native_hashes, hash_lines(text))
        yield name, problem


def hash_lines(output):
    """The lines of rownorm_hashes that end in a hash; it says other things on stderr."""
    return re.findall(r"^.* [0-9a-f]{16}$", output, re.MULTILINE)


def difference(expected, got):
    different = [pair for pair in zip(expected, got) if pair[0] != pair[1]]
    if not different:
        return f"{len(got)} hashes, natively {len(expected)}"
    return f"{len(different)} of {len(expected)} hashes differ, first: {different[0][1]}; natively: {different[0][0]}"


def native_hashes(build):
    done = subprocess.run([build / "bin" / PROGRAMS["hashes"]], capture_output=True, text=True, check=True)
    lines = hash_lines(done.stdout)
    if not lines:
        raise RuntimeError("rownorm_hashes printed nothing to compare with")
    return lines


def chosen(names):
    if names == "all":
        return machines.MACHINES
    if names == "missing":
        return [m for m in machines.MACHINES if not (m.native and m.native <= machines.host_features())]
    known = {m.name: m for m in machines.MACHINES}
    unknown = [n for n in names.split(",") if n not in known]
    if unknown:
        raise SystemExit(f"run.py: unknown machine {unknown[0]}; there are: {', '.join(known)}")
    return [known[n] for n in names.split(",")]


def run_machine(machine, arguments, hashes):
    build = arguments.build if machine.architecture == "x86_64" else arguments.arm64_build
    files = [build / "bin" / program for program in PROGRAMS.values()]
    begin = time.monotonic()
    result = machine.run(script_for(machine, build, arguments), files, arguments.timeout)
    seconds = time.monotonic() - begin
    folder = ROOT / "build" / "emulate"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{machine.name}.txt").write_text(result.output)
    return list(problems(machine, sections(result.output), hashes)), seconds


def prepare(wanted):
    """Downloads happen here, one after another, before anything runs at once."""
    if any(m.bochs_cpu for m in wanted):
        bochs_parts.prepare()
    if any(m.architecture == "aarch64" for m in wanted):
        arm64_sysroot.prepare()


def report(machine, checks, seconds):
    failed = [name for name, problem in checks if problem]
    verdict = "FAILED: " + ", ".join(failed) if failed else "ok"
    print(f"{machine.name:<16} {machine.isa:<7} {seconds:5.0f} s  {verdict:<8} {machine.what}", flush=True)
    for name, problem in checks:
        if problem:
            print(f"    {name}: {problem}")
    return len(checks) - len(failed), len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="missing")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--arm64-build", type=pathlib.Path, default=ROOT / "build/aarch64")
    parser.add_argument("--scale", type=float, default=0.01, help="ROWNORM_TEST_SCALE")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one machine")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    arguments.build, arguments.arm64_build = arguments.build.resolve(), arguments.arm64_build.resolve()
    wanted = chosen(arguments.machines)
    prepare(wanted)
    hashes = native_hashes(arguments.build)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [(m, pool.submit(run_machine, m, arguments, hashes)) for m in wanted]
        for machine, run in runs:
            right, wrong = report(machine, *run.result())
            passed, failed = passed + right, failed + wrong
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
