# SPDX-License-Identifier: Apache-2.0
"""A mutated copy of lib/, and the shared library that it makes with the other objects of a build."""
import json
import os
import shlex
import shutil
import subprocess
import sys

TARGETS = ["rownorm", "rownorm_tests", "rownorm_hashes"]


class Broken(Exception):
    """The mutation cannot be tried: the code has moved, or does not compile."""


class Build:
    """A build folder, and how it compiles and links."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self._update(*TARGETS)
        self._ctest_ready = False
        commands = json.loads((folder / "compile_commands.json").read_text())
        words = [shlex.split(c["command"]) for c in commands]
        self.compile = {w[w.index("-o") + 1]: w for w in words}
        self.link = self._link_command()

    def prepare_ctest(self):
        """A test whose program is not there would pass for one that fails."""
        if not self._ctest_ready:
            self._update("all")
            self._ctest_ready = True

    def _update(self, *targets):
        done = subprocess.run(["cmake", "--build", self.folder, "--target", *targets], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            sys.exit(f"mutate.py: {self.folder} does not build; is it a build of the release preset?\n"
                     f"{done.stdout[-2000:]}{done.stderr[-500:]}")

    def _link_command(self):
        library = os.path.realpath(self.folder / "lib" / "librownorm.so")
        listing = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", os.path.relpath(library, self.folder)],
                                 capture_output=True, text=True, check=True).stdout
        return [w for w in shlex.split(listing.strip().splitlines()[-1]) if w not in (":", "&&")]

    def baseline_objects(self, file):
        """The objects outside of lib/kernels that are compiled from a file of lib/ or include it."""
        for output in self.compile:
            if output.startswith("lib/CMakeFiles/rownorm_objects.dir/"):
                listing = subprocess.run(["ninja", "-C", self.folder, "-t", "deps", output], capture_output=True,
                                         text=True, check=True).stdout
                if f"{self.source}/lib/{file}" in listing.split():
                    yield output

    def program(self, name):
        return self.folder / "bin" / name


class Mutant:
    """Everything is below `folder`; the library is folder/librownorm.so.0."""

    def __init__(self, build, mutation, folder):
        self.build, self.mutation, self.folder = build, mutation, folder
        for part in ("lib", "include"):
            shutil.copytree(build.source / part, folder / part)

    def make(self):
        self._edit()
        replaced = {original: self._compile(original) for original in self._objects()}
        if all((self.build.folder / a).read_bytes() == b.read_bytes() for a, b in replaced.items()):
            raise Broken("the same machine code as without it")
        words = [str(replaced.get(w, w)) for w in self.build.link]
        words[words.index("-o") + 1] = str(self.folder / "librownorm.so.0")
        self._run(words, "does not link")

    def _edit(self):
        path = self.folder / "lib" / self.mutation.file
        source = path.read_text()
        for text, replacement in self.mutation.edits:
            if text not in source:
                raise Broken(f"lib/{self.mutation.file} no longer holds: {text}")
            source = source.replace(text, replacement)
        path.write_text(source)

    def _objects(self):
        """Those that the mutation names, "avx2/statistics" being lib/kernels/statistics.cpp for avx2, or all that are
        not kernels."""
        names = [name.split("/") for name in self.mutation.objects]
        outputs = [f"lib/CMakeFiles/rownorm_kernels_{isa}.dir/kernels/{family}.cpp.o" for isa, family in names]
        outputs = outputs or list(self.build.baseline_objects(self.mutation.file))
        missing = [o for o in outputs if o not in self.build.compile]
        if missing or not outputs:
            raise Broken(f"the build has no {' '.join(missing) or 'object of ' + self.mutation.file}")
        return outputs

    def _compile(self, output):
        target = self.folder / output.replace("/", "+")
        root = self.build.source
        words = [w.replace(f"{root}/lib", f"{self.folder}/lib").replace(f"{root}/include", f"{self.folder}/include")
                 for w in self.build.compile[output]]
        words[words.index("-o") + 1] = str(target)
        words.append("-w")  # a mutation may leave a parameter without use, which must not be an error
        self._run(words, "does not compile")
        return target

    def _run(self, words, fault):
        done = subprocess.run(words, cwd=self.build.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise Broken(f"{fault}: {(errors or [done.stderr[-300:]])[0]}")
