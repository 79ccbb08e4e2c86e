# SPDX-License-Identifier: Apache-2.0
"""`rownorm isa`."""

import os
import platform
import unittest

from support import CommandTest

ALL = {"x86_64": ["avx512bf16", "avx512", "avx2", "sse2"], "aarch64": ["neon"]}[platform.machine()]


class Isa(CommandTest):
    def lines(self, **environment):
        env = {k: v for k, v in os.environ.items() if k != "ROWNORM_MAX_ISA"}
        result = self.run_command("isa", env={**env, **environment})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return [line.split(None, 1) for line in result.stdout.decode().splitlines()]

    def test_one_line_an_isa_and_one_that_runs(self):
        lines = self.lines()
        self.assertEqual([name for name, _ in lines], ALL)
        self.assertEqual([state for _, state in lines].count("runs (the default)"), 1)
        chosen = [state for _, state in lines].index("runs (the default)")
        for _, state in lines[:chosen]:
            self.assertRegex(state, "^cannot run: .")
        for _, state in lines[chosen + 1:]:
            self.assertEqual(state, "can run")

    def test_the_cap_is_obeyed_and_shown(self):
        lowest = ALL[-1]
        lines = dict(self.lines(ROWNORM_MAX_ISA=lowest))
        self.assertEqual(lines[lowest], "runs (the default)")
        for name in ALL[:-1]:
            self.assertRegex(lines[name], "^(cannot run: .|can run, but ROWNORM_MAX_ISA is lower$)")

    def test_an_unknown_cap_is_an_error(self):
        result = self.run_command("isa", env={**os.environ, "ROWNORM_MAX_ISA": "avx9"})
        self.assert_failed(result)
        self.assertIn(b"avx9", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=0)
