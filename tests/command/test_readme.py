# SPDX-License-Identifier: Apache-2.0
"""README's part on files: every command there is run on the sample activations and must print what README shows."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest

from support import COMMAND, SAMPLE, Array, CommandTest

README = pathlib.Path(__file__).parents[2] / "README.md"
FILES = {"x.npy": "llama_x", "residual.npy": "llama_residual", "gain.npy": "llama_gain", "reference.npy": "llama_y",
         "hidden_bf16.npy": "llama_hidden_bf16"}


def without_measurements(text):
    """What differs from run to run and from machine to machine, put out of sight."""
    text = re.sub(r"in \S+ s, \S+ GB/s \(\w+, \d+ threads?\)", "in TIME", text)
    return re.sub(r'"(isa|threads|seconds|gigabytes_per_second)":[^,]+', r'"\1":...', text)


class Readme(CommandTest):
    def test_every_command_prints_what_is_shown(self):
        for name, sample in FILES.items():
            shutil.copy(SAMPLE / (sample + ".npy"), self.folder / name)
        gain = Array((SAMPLE / "llama_gain.npy").read_bytes()).data
        head = b'{"norm.weight":{"dtype":"F32","shape":[576],"data_offsets":[0,%d]}}' % len(gain)
        self.file("model.safetensors", struct.pack("<Q", len(head)) + head + gain)
        part = README.read_text().split("## Use it on files")[1].split("\n## ")[0]
        block = part.split("```console\n")[1].split("```")[0]
        steps = re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        self.assertGreaterEqual(len(steps), 6)
        environment = {**os.environ, "PATH": "%s:%s" % (pathlib.Path(COMMAND).parent, os.environ["PATH"])}
        for command, shown in steps:
            with self.subTest(command):
                result = subprocess.run(["sh", "-c", command], cwd=self.folder, env=environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(without_measurements(result.stdout), without_measurements(shown.rstrip("\n") + "\n"))


if __name__ == "__main__":
    unittest.main(verbosity=0)
