# SPDX-License-Identifier: Apache-2.0
"""System calls that fail or do less than asked: the input is intact, the target old or new, one line says why."""

import os
import unittest

from support import Array, CommandTest, npy

ROWS = 1300  # five blocks
X = [float(i % 251 - 125) for i in range(ROWS * 500)]


class Faults(CommandTest):
    def setUp(self):
        super().setUp()
        self.data = npy(X, (ROWS, 500))
        self.file("in.npy", self.data)
        self.file("fortran.npy", npy(X, (ROWS, 500), fortran=True))
        for name in ("in", "fortran"):
            self.assertEqual(self.run_command("normalize", name + ".npy", "-o", name + "-good.npy").returncode, 0)
        self.good = (self.folder / "in-good.npy").read_bytes()

    def with_fault(self, fault, *arguments):
        environment = {**os.environ, "LD_PRELOAD": os.environ["ROWNORM_FAULT_SHIM"], "FAULT": fault,
                       "ASAN_OPTIONS": "verify_asan_link_order=0"}
        return self.run_command("normalize", *arguments, env=environment)

    def fails(self, fault, says, *arguments):
        """Whether the target exists or not, it stays as it was."""
        for old in (None, b"old"):
            with self.subTest((fault, old)):
                (self.folder / "out.npy").unlink(missing_ok=True)
                if old:
                    self.file("out.npy", old)
                result = self.with_fault(fault, *(arguments or ("in.npy",)), "-o", "out.npy", "--force")
                self.assert_failed(result)
                self.assertIn(says, result.stderr)
                self.assertEqual((self.folder / "out.npy").read_bytes() if old else None, old)
                self.assertEqual(list(self.folder.glob(".rownorm-*")), [])
                self.assertEqual((self.folder / "in.npy").read_bytes(), self.data)

    def works(self, fault, name="in", *more):
        result = self.with_fault(fault, name + ".npy", "-o", "out.npy", "--force", *more)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual((self.folder / "out.npy").read_bytes(), (self.folder / (name + "-good.npy")).read_bytes())

    def test_the_shim_is_there(self):
        self.fails("read:EIO:1", b"Input/output error")

    def test_errors_of_reading(self):
        for call in (1, 2, 3, 4, 6):
            self.fails("read:EIO:%d" % call, b"in.npy: cannot be read: Input/output error")
        self.fails("read:ESTALE:5", b"in.npy: cannot be read: Stale file handle")
        self.fails("read:EIO:9", b"fortran.npy: cannot be read", "fortran.npy", "--memory", "64K")

    def test_a_file_that_ends_too_early(self):
        for call in (2, 3, 4, 5):
            self.fails("read:zero:%d" % call, b"in.npy: ")

    def test_errors_of_writing(self):
        for error, text in (("EIO", b"Input/output error"), ("ENOSPC", b"No space left"),
                            ("EDQUOT", b"Disk quota exceeded")):
            for call in (1, 2, 5):
                self.fails("write:%s:%d" % (error, call), b"out.npy: cannot be written: " + text)
        self.fails("write:zero:3", b"out.npy: cannot be written")
        self.fails("write:EIO:7", b"out.npy: cannot be written", "fortran.npy", "--memory", "64K")

    def test_errors_of_finishing(self):
        self.fails("rename:EACCES:1", b"out.npy: cannot be written: Permission denied")
        self.fails("fsync:EIO:1", b"out.npy: cannot be written: Input/output error", "in.npy", "--fsync")
        self.fails("stat:zero:2", b"out.npy: 0 bytes found after writing")

    def test_the_disk_is_waited_for_only_if_asked(self):
        self.works("fsync:EIO:1")

    def test_an_error_of_closing(self):
        """Some file systems say only then that a write was lost. The input's own closing comes later."""
        self.fails("close:EIO:1", b"out.npy: cannot be written: Input/output error")

    def test_short_and_interrupted_calls(self):
        for call in ("read", "write"):
            for how in ("short:1", "once-EINTR:1"):
                if how == "short:1":
                    self.file("small.npy", npy(X[:600], (3, 200)))
                    self.assertEqual(self.run_command("normalize", "small.npy", "-o", "small-good.npy", "--force")
                                     .returncode, 0)
                    self.works("%s:%s" % (call, how), "small")
                else:
                    self.works("%s:%s" % (call, how))
                    self.works("%s:%s" % (call, how), "fortran", "--memory", "64K")

    def test_the_sum_fails_and_the_output_is_not_put_in_place(self):
        self.file("out.npy", b"old")
        self.file("s.npy", b"old sum")
        result = self.with_fault("close:EIO:2", "in.npy", "-o", "out.npy", "--residual", "in.npy", "--residual-out",
                                 "s.npy", "--force")
        self.assert_failed(result)
        self.assertIn(b"s.npy: cannot be written", result.stderr)
        self.assertEqual((self.folder / "out.npy").read_bytes(), b"old")
        self.assertEqual((self.folder / "s.npy").read_bytes(), b"old sum")


if __name__ == "__main__":
    unittest.main(verbosity=0)
