# SPDX-License-Identifier: Apache-2.0
"""Where the result goes, and what becomes of what was there: never less than a whole file."""

import contextlib
import itertools
import os
import resource
import signal
import stat
import subprocess
import threading
import time
import unittest

from support import COMMAND, RMS, Array, CommandTest, header, npy, pack

X = npy([1, 2, 3, 4, 5, 6], (2, 3))
ROOT = os.geteuid() == 0


class OutputTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("in.npy", X)

    def done(self, *arguments, **options):
        result = self.run_command("normalize", *arguments, "--eps", "0", **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""), result)
        return result

    def assert_result(self, path):
        self.assert_close(Array((self.folder / path).read_bytes()).values, RMS)

    def mode(self, path):
        return stat.S_IMODE(os.stat(self.folder / path).st_mode)


class Existing(OutputTest):
    def test_needs_force(self):
        old = self.file("out.npy", b"old")
        result = self.run_command("normalize", "in.npy", "-o", "out.npy")
        self.assert_failed(result)
        self.assertIn(b"out.npy: the file exists; use --force", result.stderr)
        self.assertEqual(old.read_bytes(), b"old")
        self.done("in.npy", "-o", "out.npy", "--force")
        self.assert_result("out.npy")

    def test_a_longer_file_is_not_left_below(self):
        self.file("out.npy", b"x" * 1000000)
        self.done("in.npy", "-o", "out.npy", "--force")
        self.assertEqual(os.path.getsize(self.folder / "out.npy"), 152)

    def test_the_old_file_stays_until_the_new_one_is_complete(self):
        """One who has the old file open keeps reading the old bytes."""
        old = self.file("out.npy", b"old bytes")
        with open(old, "rb") as reader:
            self.done("in.npy", "-o", "out.npy", "--force")
            self.assertEqual(reader.read(), b"old bytes")

    def test_the_sum_needs_force_too_and_then_neither_is_written(self):
        self.file("sum.npy", b"old")
        result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--residual", "in.npy", "--residual-out",
                                  "sum.npy")
        self.assert_failed(result)
        self.assertFalse((self.folder / "out.npy").exists())
        self.assertEqual((self.folder / "sum.npy").read_bytes(), b"old")


class OverTheInput(OutputTest):
    def setUp(self):
        super().setUp()
        os.symlink("in.npy", self.folder / "link.npy")
        os.link(self.folder / "in.npy", self.folder / "hard.npy")

    def test_without_force_nothing_happens(self):
        for name in ("in.npy", "./in.npy", "link.npy", "hard.npy"):
            self.assert_failed(self.run_command("normalize", "in.npy", "-o", name))
            self.assertEqual((self.folder / "in.npy").read_bytes(), X)

    def test_by_its_name(self):
        for name in ("in.npy", "./in.npy", str(self.folder / "in.npy")):
            self.file("in.npy", X)
            self.done("in.npy", "-o", name, "--force")
            self.assert_result("in.npy")

    def test_by_a_symbolic_link(self):
        self.done("in.npy", "-o", "link.npy", "--force")
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assert_result("in.npy")
        self.assertEqual((self.folder / "hard.npy").read_bytes(), X)

    def test_by_a_hard_link(self):
        self.done("in.npy", "-o", "hard.npy", "--force")
        self.assert_result("hard.npy")
        self.assertEqual((self.folder / "in.npy").read_bytes(), X)

    def test_over_a_weight_and_a_residual(self):
        self.file("w.npy", npy([1, 1, 1], (3,)))
        self.done("in.npy", "-o", "w.npy", "--weight", "w.npy", "--force")
        self.assert_result("w.npy")
        self.file("r.npy", npy([0] * 6, (2, 3)))
        self.done("in.npy", "-o", "in.npy", "--residual", "r.npy", "--residual-out", "r.npy", "--force")
        self.assert_result("in.npy")
        self.assertEqual((self.folder / "r.npy").read_bytes(), X)


class LinksAndModes(OutputTest):
    def test_links_are_followed_and_the_mode_is_kept(self):
        os.mkdir(self.folder / "there")
        self.file("there/target.npy", b"old").chmod(0o600)
        os.symlink("there/target.npy", self.folder / "a.npy")
        os.symlink(self.folder / "a.npy", self.folder / "b.npy")
        self.done("in.npy", "-o", "b.npy", "--force")
        self.assertTrue((self.folder / "a.npy").is_symlink() and (self.folder / "b.npy").is_symlink())
        self.assert_result("there/target.npy")
        self.assertEqual(self.mode("there/target.npy"), 0o600)

    def test_odd_modes_are_kept(self):
        for mode in (0o640, 0o644, 0o666, 0o755):
            self.file("out.npy", b"old").chmod(mode)
            self.done("in.npy", "-o", "out.npy", "--force", umask=0o077)
            self.assertEqual(self.mode("out.npy"), mode)

    def test_new_files_follow_the_umask(self):
        for umask, mode in ((0o022, 0o644), (0o077, 0o600), (0o000, 0o666)):
            self.done("in.npy", "-o", "new-%o.npy" % umask, umask=umask)
            self.assertEqual(self.mode("new-%o.npy" % umask), mode)

    def test_a_link_to_nothing_makes_its_target(self):
        os.symlink("target.npy", self.folder / "link.npy")
        self.done("in.npy", "-o", "link.npy")
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assert_result("target.npy")

    def test_a_link_in_a_circle(self):
        os.symlink("b.npy", self.folder / "a.npy")
        os.symlink("a.npy", self.folder / "b.npy")
        self.assert_failed(self.run_command("normalize", "in.npy", "-o", "a.npy", "--force"))


class NoFiles(OutputTest):
    def test_standard_output(self):
        result = self.run_command("normalize", "in.npy", "-o", "-", "--eps", "0")
        self.assertEqual(result.returncode, 0)
        self.assert_close(Array(result.stdout).values, RMS)
        self.assertRegex(result.stderr, rb"\Arownorm: standard output: 2 rows of 3 f32 in ")

    def test_dev_stdout_as_a_pipe_and_as_a_file(self):
        self.assert_close(Array(self.run_command("normalize", "in.npy", "-o", "/dev/stdout", "--eps", "0").stdout).values,
                          RMS)
        with open(self.folder / "out.npy", "wb") as out:
            inode = os.fstat(out.fileno()).st_ino
            result = self.run_command("normalize", "in.npy", "-o", "/dev/stdout", "--eps", "0", stdout=out)
        self.assertEqual(result.returncode, 0)
        self.assert_result("out.npy")
        self.assertEqual(os.stat(self.folder / "out.npy").st_ino, inode)

    def test_dev_null_stays_a_device(self):
        self.done("in.npy", "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_a_fifo(self):
        os.mkfifo(self.folder / "fifo")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "fifo").read_bytes()), daemon=True)
        reader.start()
        self.done("in.npy", "-o", "fifo")
        reader.join(timeout=10)
        self.assert_close(Array(got[0]).values, RMS)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "fifo").st_mode))


class Refused(OutputTest):
    def refused(self, *arguments, says, **options):
        result = self.run_command("normalize", *arguments, **options)
        self.assert_failed(result)
        self.assertIn(says, result.stderr)
        self.assertEqual((self.folder / "in.npy").read_bytes(), X)

    def test_directories_in_the_wrong_place(self):
        os.mkdir(self.folder / "d")
        self.refused("in.npy", "-o", "d", says=b"d: a directory found")
        self.refused("in.npy", "-o", "d", "--force", says=b"d: a directory found")
        self.refused("in.npy", "-o", "d/", says=b"d/: a directory found")
        self.refused("d", "-o", "out.npy", says=b"d: a directory found")
        self.refused("in.npy", "-o", "out.npy", "--weight", "d", says=b"d: a directory found")
        self.refused("in.npy", "-o", "nowhere/out.npy", says=b"nowhere/out.npy: cannot create a file in nowhere")
        self.refused("in.npy", "-o", "nowhere/", says=b"nowhere/: no such directory")
        self.refused("in.npy", "-o", "in.npy/out.npy", says=b"in.npy/out.npy")

    def test_missing_inputs(self):
        self.refused("no.npy", "-o", "out.npy", says=b"no.npy: cannot be opened: No such file")
        self.refused("in.npy", "-o", "out.npy", "--bias", "no.npy", says=b"no.npy: cannot be opened")

    @unittest.skipUnless(ROOT, "needs root, to run as a user without rights")
    def test_places_without_the_right_to_write(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.folder / "closed")
        old = self.file("closed/old.npy", b"old")
        old.chmod(0o666)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        for name in ("closed/new.npy", "closed/old.npy"):
            self.refused("in.npy", "-o", name, "--force", says=b"cannot create a file in closed", **nobody)
        os.chmod(self.folder / "closed", 0o777)
        old.chmod(0o444)
        self.refused("in.npy", "-o", "closed/old.npy", "--force", says=b"cannot be written", **nobody)
        self.assertEqual(old.read_bytes(), b"old")
        secret = self.file("secret.npy", X)
        secret.chmod(0o000)
        self.refused("secret.npy", "-o", "closed/new.npy", says=b"secret.npy: cannot be opened", **nobody)

    def test_closed_standard_streams(self):
        run = lambda text: subprocess.run(["sh", "-c", text, "sh", COMMAND], cwd=self.folder, capture_output=True)
        for text in ('"$1" normalize in.npy -o - >&-', '"$1" normalize - -o out.npy <&-', '"$1" isa >&-'):
            with self.subTest(text):
                self.assert_failed(run(text))
        self.assertFalse((self.folder / "out.npy").exists())
        # No file of ours takes the place of a closed stream, where a warning or the summary would be written into it.
        self.file("more.npy", X + b"more")
        for closed in itertools.product(("", "<&-"), ("", ">&-"), ("", "2>&-")):
            for quiet in ("", "-q"):
                with self.subTest((closed, quiet)):
                    line = '"$1" normalize more.npy -o out.npy --eps 0 --force %s %s' % (quiet, " ".join(closed))
                    # If the summary cannot be said, the result is complete all the same.
                    self.assertEqual(run(line).returncode, 1 if closed[1] and not quiet else 0)
                    self.assert_result("out.npy")
                    self.assertEqual((self.folder / "more.npy").read_bytes(), X + b"more")


class NoRoom(OutputTest):
    """Outputs that break off: the old file is intact, and nothing else is left."""

    def setUp(self):
        super().setUp()
        self.file("big.npy", header(shape="(1024, 1024)") + b"\0" * (1 << 22))
        self.old = self.file("out.npy", b"old")

    def test_a_limit_of_the_file_size(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))

        for action in (signal.SIG_IGN, signal.SIG_DFL):
            def prepare():
                signal.signal(signal.SIGXFSZ, action)
                limit()

            result = self.run_command("normalize", "big.npy", "-o", "out.npy", "--force", preexec_fn=prepare)
            self.assert_failed(result)
            self.assertIn(b"out.npy: cannot be written: File too large", result.stderr)
            self.assertEqual(self.old.read_bytes(), b"old")

    def test_dev_full(self):
        for name in ("in.npy", "big.npy"):
            result = self.run_command("normalize", name, "-o", "/dev/full")
            self.assert_failed(result)
            self.assertIn(b"/dev/full: cannot be written: No space left", result.stderr)
        with open("/dev/full", "wb") as full:
            for arguments in (("normalize", "in.npy", "-o", "-"), ("isa",), ("normalize", "in.npy", "-o", "new.npy")):
                result = self.run_command(*arguments, stdout=full)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"standard output: cannot be written", result.stderr)

    @unittest.skipUnless(ROOT, "needs root, to mount a tmpfs")
    def test_a_full_disk(self):
        disk = self.folder / "disk"
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no mount here")
        try:
            (disk / "out.npy").write_bytes(b"old")
            result = self.run_command("normalize", "big.npy", "-o", "disk/out.npy", "--force")
            self.assert_failed(result)
            self.assertIn(b"disk/out.npy: cannot be written: No space left", result.stderr)
            self.assertEqual(os.listdir(disk), ["out.npy"])
            self.assertEqual((disk / "out.npy").read_bytes(), b"old")
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_a_reader_that_goes_away(self):
        reader, writer = os.pipe()
        process = subprocess.Popen([COMMAND, "normalize", "big.npy", "-o", "-"], cwd=self.folder, stdout=writer,
                                   stderr=subprocess.PIPE)
        os.close(writer)
        os.read(reader, 100)
        os.close(reader)
        error = process.communicate(timeout=30)[1]
        self.assertEqual((process.returncode, error), (1, b"rownorm: standard output: cannot be written: Broken pipe\n"))


class Signals(OutputTest):
    """The input is a pipe that stays open, so the command is held in mid-write."""

    @contextlib.contextmanager
    def held(self, *more):
        process = subprocess.Popen([COMMAND, "normalize", "-", "-o", "out.npy", "--force", *more], cwd=self.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(header(shape="(1024, 1024)") + b"\0" * (3 << 20))
        process.stdin.flush()
        deadline = time.monotonic() + 10
        while not (self.temporaries() and self.temporaries()[0].stat().st_size > 1 << 20):
            self.assertLess(time.monotonic(), deadline, "nothing was written")
            time.sleep(0.001)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def temporaries(self):
        return list(self.folder.glob(".rownorm-*"))

    def test_signals_that_ask_to_end(self):
        for number, word in ((signal.SIGINT, b"interrupted"), (signal.SIGTERM, b"terminated"),
                             (signal.SIGHUP, b"hung up")):
            for old in (None, b"old"):
                with self.subTest((number, old)), self.held() as process:
                    (self.folder / "out.npy").unlink(missing_ok=True)
                    if old:
                        self.file("out.npy", old)
                    process.send_signal(number)
                    error = process.stderr.read()
                    self.assertEqual(process.wait(timeout=10), -number)
                    self.assertRegex(error, rb"\Arownorm: %s[^\n]*out\.npy was left as it was\n\Z" % word)
                    self.assertEqual(self.temporaries(), [])
                    self.assertEqual((self.folder / "out.npy").read_bytes() if old else None, old)

    def test_a_killed_run_leaves_one_file_which_the_next_one_removes(self):
        self.file("out.npy", b"old")
        for _ in range(2):
            with self.held() as process:
                process.send_signal(signal.SIGKILL)
                self.assertEqual(process.wait(timeout=10), -signal.SIGKILL)
                self.assertEqual(len(self.temporaries()), 1)
                self.assertEqual((self.folder / "out.npy").read_bytes(), b"old")
        self.done("in.npy", "-o", "other.npy")
        self.assertEqual(len(self.temporaries()), 1, "another target's file was removed")
        self.done("in.npy", "-o", "out.npy", "--force")
        self.assertEqual(self.temporaries(), [])
        self.assert_result("out.npy")

    def test_two_runs_on_one_target(self):
        with self.held() as process:
            result = self.run_command("normalize", "in.npy", "-o", "out.npy", "--force")
            self.assert_failed(result)
            self.assertIn(b"another rownorm is writing it", result.stderr)
            self.done("in.npy", "-o", "other.npy")  # another target is free
            process.communicate(b"\0" * (1 << 20), timeout=10)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(Array((self.folder / "out.npy").read_bytes()).shape, (1024, 1024))

    def test_a_target_that_appears_meanwhile_is_not_replaced(self):
        for force, code in ((False, 1), (True, 0)):
            (self.folder / "out.npy").unlink(missing_ok=True)
            process = subprocess.Popen([COMMAND, "normalize", "-", "-o", "out.npy", *["--force"] * force],
                                       cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdin.write(X[:140])
            process.stdin.flush()
            while not self.temporaries():
                time.sleep(0.001)
            self.file("out.npy", b"new")
            error = process.communicate(X[140:], timeout=10)[1]
            self.assertEqual(process.returncode, code)
            if not force:
                self.assertIn(b"appeared meanwhile", error)
                self.assertEqual((self.folder / "out.npy").read_bytes(), b"new")

    def test_a_signal_that_is_ignored_stays_ignored(self):
        process = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$0" normalize - -o out.npy', COMMAND],
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(X[:140])
        process.stdin.flush()
        while not self.temporaries():
            time.sleep(0.001)
        process.send_signal(signal.SIGHUP)
        process.communicate(X[140:], timeout=10)
        self.assertEqual(process.returncode, 0)


class Names(OutputTest):
    def test_names_are_bytes(self):
        for name in (b"\xff\xfe.npy", b"a\nb.npy", "h\u00e9 \u6e2c.npy".encode(), b" ", b"a" * 251 + b".npy", b"*", b"%s{}"):
            with self.subTest(name):
                os.rename(self.folder / "in.npy", os.path.join(os.fsencode(self.folder), name))
                result = self.run_command("normalize", name, "-o", b"out.npy", "--eps", "0", "--force")
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assert_result("out.npy")
                result = self.run_command("normalize", name, "-o", name, "--eps", "0", "--force")
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assertEqual(result.stdout.count(b"\n"), 1)
                os.unlink(os.path.join(os.fsencode(self.folder), name))
                result = self.run_command("normalize", name, "-o", b"out.npy", "--force")
                self.assert_failed(result)
                self.file("in.npy", X)
        self.file("in.npy", X)
        result = self.run_command("normalize", b"\xff\x1b\n.npy", "-o", "out.npy", "--force")
        self.assertIn(rb"\xff\x1b\n.npy: cannot be opened", result.stderr)

    def test_a_name_that_begins_with_a_hyphen(self):
        self.file("-x.npy", X)
        result = self.run_command("normalize", "--eps", "0", "-o", "out.npy", "--", "-x.npy")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assert_result("out.npy")
        result = self.run_command("normalize", "-o", "out.npy", "--force", "--", "-x.npy", "-y.npy")
        self.assert_failed(result, 2)
        self.assertIn(b"-y.npy: unexpected argument", result.stderr)
        self.done("--output=-y.npy", "./-x.npy")
        self.assert_result("-y.npy")

    def test_a_long_path(self):
        deep = "/".join(["d" * 100] * 3)
        os.makedirs(self.folder / deep)
        self.done("in.npy", "-o", deep + "/out.npy")
        self.assert_result(deep + "/out.npy")

    def test_a_name_that_is_too_long(self):
        self.assert_failed(self.run_command("normalize", "in.npy", "-o", "a" * 256))


class Durable(OutputTest):
    def test_fsync(self):
        self.done("in.npy", "-o", "out.npy", "--fsync")
        self.assert_result("out.npy")
        self.done("in.npy", "-o", "/dev/null", "--fsync")
        self.assertEqual(self.run_command("normalize", "in.npy", "-o", "-", "--fsync").returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=0)
