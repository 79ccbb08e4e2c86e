# SPDX-License-Identifier: Apache-2.0
"""Help, version, the man page and the completions: complete, and their examples work."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from support import COMMAND, CommandTest, npy
from test_containers import Containers

TOOLS = pathlib.Path(__file__).parents[2] / "tools"
COMMANDS = ("normalize", "info", "diff", "isa", "bench")


class HelpTest(CommandTest):
    def help(self, *command):
        result = self.run_command(*command, "--help")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def options(self, command):
        """The long options of a subcommand, from its help."""
        lines = self.help(command).split("Examples:")[0].splitlines()
        return {name for line in lines if line.startswith("  -") for name in re.findall(r"--[a-z0-9-]+", line[:32])}


class Help(HelpTest):
    def test_the_overview_names_every_command(self):
        text = self.help()
        for command in COMMANDS:
            self.assertRegex(text, r"\n  %s +\w" % command)

    def test_normalize_has_its_options(self):
        expected = {"--" + name for name in (
            "help output weight bias residual residual-out type out-type op eps axis partial partial-count l2-eps "
            "weight-offset round force fsync verify json quiet isa threads memory").split()}
        self.assertEqual(self.options("normalize"), expected)

    def test_lines_fit_a_terminal(self):
        for command in COMMANDS:
            for line in self.help(command).splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_every_line_of_usage_can_be_typed(self):
        self.assertIn("Usage: rownorm normalize IN -o OUT [OPTIONS]", self.help("normalize"))
        self.assertIn("Usage: rownorm diff A B [OPTIONS]", self.help("diff"))

    def test_version(self):
        for option in ("--version", "-V"):
            result = self.run_command(option)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stdout.decode(), r"\Arownorm \d+\.\d+\.\d+\nISAs: [a-z0-9, ]+ \(here: \w+\)\n"
                                                     r"compiled by (GCC|Clang) \d+\.\d+\.\d+\n\Z")

    def test_words_that_are_no_command(self):
        for word, near in (("normalise", "normalize"), ("nromalize", "normalize"), ("dif", "diff"), ("infos", "info"),
                           ("--vresion", "--version"), ("frobnicate", None), ("-q", None)):
            result = self.run_command(word, "x.npy")
            self.assert_failed(result, 2)
            self.assertIn(b"no command '%s'" % word.encode(), result.stderr)
            self.assertEqual(b"meant?" in result.stderr, near is not None)
            self.assertIn(b"; is %s meant?" % near.encode() if near else b"bench (see", result.stderr)
        self.assert_failed(self.run_command(), 2)


class Examples(Containers, HelpTest):
    """Each example is run on files of its names."""

    def setUp(self):
        super().setUp()
        for name in ("hidden", "x", "r", "y", "reference", "a", "b", "full"):
            self.file(name + ".npy", npy([1, 2, 3, 4, 5, 6], (2, 3)))
        for name in ("big", "rounded"):
            self.file(name + ".npy", npy([1, 2, 3, 4, 5, 6], (2, 3), "|V2"))
        self.file("gain.npy", npy([1, 2, 3], (3,)))
        self.safetensors({"norm.weight": ("F32", [3], b"\0" * 12), "norm.bias": ("F32", [3], b"\0" * 12)},
                         "model.safetensors")

    def run_examples(self, text, least):
        examples = re.findall(r"^    (rownorm (?:[^\n]*\\\n)*[^\n]*)$", text, re.MULTILINE)
        self.assertGreaterEqual(len(examples), least)
        for example in examples:
            with self.subTest(example):
                (self.folder / "y.npy").unlink(missing_ok=True) if " -o y.npy" in example else None
                words = shlex.split(example.replace("\\\n", ""))
                if "--plot-out" in words and subprocess.run(["python3", "-c", "import matplotlib"],
                                                            capture_output=True).returncode:
                    continue
                result = self.run_command(*words[1:])
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                if " -o y.npy" in example:
                    self.file("y.npy", npy([1, 2, 3, 4, 5, 6], (2, 3)))

    def test_examples_of_help(self):
        for command in ("normalize", "info", "diff"):
            self.run_examples(self.help(command), 3)

    def test_examples_of_the_man_page(self):
        text = (TOOLS / "man" / "rownorm.1").read_text().replace("\\-", "-")
        self.run_examples(text, 3)


class ManPage(HelpTest):
    def test_every_option_is_there(self):
        text = (TOOLS / "man" / "rownorm.1").read_text().replace("\\-", "-")
        for command in COMMANDS:
            section = text.split(".SH OPTIONS OF " + command.upper())[-1].split(".SH")[0] if command != "isa" else text
            for option in self.options(command) - {"--help"}:
                self.assertRegex(section, re.escape(option) + r"\b", (command, option))

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_it_is_formatted_without_a_warning(self):
        result = subprocess.run(["groff", "-man", "-ww", "-z", TOOLS / "man" / "rownorm.1"], capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, b""))


class Completions(HelpTest):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rownorm; printf "%s\\n" "${COMPREPLY[@]}"'
        result = subprocess.run(["bash", "-c", script, "bash", TOOLS / "completion" / "rownorm.bash", COMMAND, *words],
                                cwd=self.folder, capture_output=True, check=True)
        return set(result.stdout.decode().split())

    @unittest.skipUnless(shutil.which("bash"), "bash is not here")
    def test_bash(self):
        self.assertEqual(self.complete(""), {*COMMANDS, "--help", "--version"})
        self.assertEqual(self.complete("no"), {"normalize"})
        for command in COMMANDS:
            self.assertEqual(self.complete(command, "--"), self.options(command))
        self.assertEqual(self.complete("normalize", "--op", ""), {"rms", "layer", "l2"})
        self.assertEqual(self.complete("normalize", "--type", "b"), {"bf16"})
        names = {line.split()[0] for line in self.run_command("isa").stdout.decode().splitlines()}
        self.assertEqual(self.complete("normalize", "--isa", ""), names)
        self.file("input.npy", b"")
        self.assertEqual(self.complete("normalize", "in"), {"input.npy"})
        self.assertEqual(self.complete("normalize", "--weight", "in"), {"input.npy"})
        self.assertEqual(self.complete("normalize", "--eps", ""), set())

    def test_zsh_and_fish_know_every_option(self):
        zsh = (TOOLS / "completion" / "_rownorm").read_text()
        fish = (TOOLS / "completion" / "rownorm.fish").read_text()
        for command in ("normalize", "info", "diff", "bench"):
            part = zsh.split("    %s)\n" % command)[1].split(";;")[0]
            self.assertEqual(set(re.findall(r"--[a-z][a-z0-9-]+", part)), self.options(command))
            lines = [line for line in fish.splitlines() if line.startswith("complete") and (
                         "-l help" in line or "$%s " % command in line or re.search("from [^']*%s" % command, line))]
            known = {"--" + name for line in lines for name in re.findall(r" -l ([a-z0-9-]+)", line)}
            self.assertEqual(known, self.options(command))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not here")
    def test_zsh_reads_it(self):
        subprocess.run(["zsh", "-n", TOOLS / "completion" / "_rownorm"], check=True)

    @unittest.skipUnless(shutil.which("fish"), "fish is not here")
    def test_fish_reads_it(self):
        subprocess.run(["fish", "-n", TOOLS / "completion" / "rownorm.fish"], check=True)


class Installed(CommandTest):
    def test_what_belongs_to_the_command_is_installed_and_found(self):
        subprocess.run(["cmake", "--install", os.environ["ROWNORM_TOOLS_BUILD"], "--prefix", self.folder / "first"],
                       check=True, capture_output=True)
        os.rename(self.folder / "first", self.folder / "moved")  # an installed tree may be moved
        share = self.folder / "moved" / "share"
        for source, place in (("man/rownorm.1", "man/man1/rownorm.1"), ("completion/_rownorm", "zsh/site-functions/_rownorm"),
                              ("completion/rownorm.bash", "bash-completion/completions/rownorm"),
                              ("completion/rownorm.fish", "fish/vendor_completions.d/rownorm.fish")):
            self.assertEqual((share / place).read_bytes(), (TOOLS / source).read_bytes())
        # The script that draws, from where it is installed: this one draws nothing.
        script = share / "rownorm" / "plot_info.py"
        self.assertEqual(script.read_bytes(), (TOOLS / "plot_info.py").read_bytes())
        script.write_text("import sys\nsys.exit('found')\n")
        self.file("a.npy", npy([1.0], (1,)))
        result = subprocess.run([self.folder / "moved" / "bin" / "rownorm", "info", "a.npy", "--plot-out", "a.svg"],
                                cwd=self.folder, capture_output=True)
        self.assertRegex(result.stderr, rb"\Arownorm: \S+/plot_info\.py failed: found\n\Z")


if __name__ == "__main__":
    unittest.main(verbosity=0)
