# SPDX-License-Identifier: Apache-2.0
"""The tests of a build, run with another library in place of its own."""
import os
import re
import shutil
import subprocess
import sys

from mutant import Broken

HANG_S = 180
# What the whole suite leaves out: it looks at objects and sources, or has its own builds.
NOT_IN_SUITE = "^(hygiene|abi|exports|install|golden.planted|command|simd|fuzz|soak|suite.all_run)"


class Trial:
    """`folder` holds the library, as librownorm.so.0; what is made on the way goes there, too."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        listing = self._run(["ldd", build.program("rownorm_tests")], 1)[1]
        if str(folder / "librownorm.so.0") not in listing:
            raise Broken(f"rownorm_tests does not load {folder}/librownorm.so.0:\n{listing}")

    def kill(self, mutation):
        """By which test, or None: those named first, then all."""
        for test in mutation.tests:
            if found := self._ask(*test.partition(": ")):
                return found
        found = self.suites("*", 0.3) or self.hashes()
        return found or (None if mutation.equivalent else self.ctest(""))

    def _ask(self, kind, _, argument):
        if kind.startswith("suite"):
            return self.suites(argument, 1 if kind == "suite at full scale" else 0.05,
                               "avx2" if kind == "suite under avx2" else "")
        return {"hashes": lambda _: self.hashes(), "ctest": self.ctest, "emulated": self.emulated}[kind](argument)

    def suites(self, pattern, scale, cap=""):
        cap_setting = {"ROWNORM_MAX_ISA": cap} if cap else {}
        status, output = self._run([self.build.program("rownorm_tests"), f"--test-suite={pattern}", "--abort-after=1"],
                                   scale, **cap_setting)
        if status == 0 and not re.search(r"test cases: +[1-9]", output):
            raise Broken(f"there is no test suite {pattern}")
        cases = re.findall(r"TEST CASE:  (.*)", output)
        name = f'"{cases[-1].strip()}"' if cases else "rownorm_tests"
        return verdict(status, f"{name} under ROWNORM_MAX_ISA={cap}" if cap else name)

    def hashes(self):
        golden = self.build.source / "tests" / "golden" / "hashes.txt"
        return verdict(self._run([self.build.program("rownorm_hashes"), "--check", golden], 1)[0], "the golden hashes")

    def ctest(self, pattern):
        """Entries of ctest whose names begin so; all that load the library if it is empty."""
        self.build.prepare_ctest()
        which = ["-R", f"^{pattern}"] if pattern else []
        status, output = self._run(["ctest", *which, "-E", NOT_IN_SUITE, "-j", os.cpu_count()], 1, self.build.folder)
        if "No tests were found" in output:
            raise Broken(f"ctest has no {pattern}")
        failed = re.findall(r"^\s*\d+ - (\S+) \(", output, re.MULTILINE)
        return verdict(status, ", ".join(failed[:3]) or "ctest")

    def emulated(self, machine):
        """One of tests/emulate/machines.py."""
        programs = self.folder / "emulated" / "bin"
        programs.mkdir(parents=True)
        for program in ("rownorm_which_isa", "rownorm_hashes", "rownorm_tests"):
            shutil.copy(self.build.program(program), programs)
        status, output = self._run([sys.executable, self.build.source / "tests" / "emulate" / "run.py",
                                    "--machines", machine, "--build", programs.parent], 0.01)
        if not re.search(r"^\d+ passed, \d+ failed", output, re.MULTILINE):
            raise Broken(f"run.py --machines {machine}: {output[-300:]}")
        return verdict(status, f"the emulated machine {machine}")

    def _run(self, words, scale, cwd=None, **environment):
        """(status, output); the status is None for a program that hangs."""
        variables = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "ROWNORM_TEST_SCALE": str(scale), **environment}
        try:
            done = subprocess.run([str(w) for w in words], cwd=cwd or self.folder, env=variables, timeout=HANG_S,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  check=False)
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout


def verdict(status, name):
    if status is None:
        return f"{name}: hangs"
    return f"{name}: signal {-status}" if status < 0 else name if status else None
