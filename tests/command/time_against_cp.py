# SPDX-License-Identifier: Apache-2.0
"""How long `rownorm normalize` takes for a warm f32 file, against `cp` of it.

    python3 tests/command/time_against_cp.py build/release/bin/rownorm
    ... --mib 1024 --pairs 9 --limit 1.3 --tries 1

The two run in turn; the medians of time and of processor time are printed. Both run in real time (SCHED_RR) where
that is allowed, so that others on the machine hardly matter. Where it is not, and others used more than a tenth of
a core meanwhile, nothing is judged and the exit code is 77. Files are made in $TMPDIR.
"""

import argparse
import array
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

COLUMNS = 4096
ALLOWED_TO_OTHERS = 0.1  # of a core
FASTER_THAN_ANY_COPY = 30  # GiB/s
NOT_JUDGED = 77  # ctest counts it as skipped


def write_input(path, mib):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (mib * (1 << 18) // COLUMNS, COLUMNS)
    draw = random.Random(1)
    part = array.array("f", (draw.gauss(0, 1) for _ in range(1 << 18))).tobytes()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00\x76\x00" + text.encode().ljust(117) + b"\n")
        for _ in range(mib):
            out.write(part)
        out.flush()
        os.fsync(out.fileno())  # so that writing it back does not disturb the runs


def real_time_is_allowed():
    """From here on for this process and those that it starts."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except PermissionError:
        return False
    return True


def run(command, output):
    """The seconds and the processor seconds of one run, onto a new file."""
    output.unlink(missing_ok=True)
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        sys.exit("%s failed" % command[0])
    return seconds, usage.ru_utime + usage.ru_stime


def busy_seconds():
    """What all processors have worked so far, for anyone."""
    user, nice, system, _, _, irq, soft, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def compare(commands, output, pairs):
    """Prints the medians; gives cp's time, the ratios of time and processor time, and how many cores others used."""
    for command in commands.values():  # once for the page cache
        run(command, output)
    times = {name: [] for name in commands}
    begin, busy = time.monotonic(), busy_seconds()
    for _ in range(pairs):
        for name, command in commands.items():
            times[name].append(run(command, output))
    own = sum(processor for each in times.values() for _, processor in each)
    others = max((busy_seconds() - busy - own) / (time.monotonic() - begin), 0)
    medians = {name: [statistics.median(column) for column in zip(*each)] for name, each in times.items()}
    for name, (seconds, processor) in medians.items():
        print("%-8s %.3f s, processor %.3f s" % (name, seconds, processor))
    return [medians["cp"][0]] + [r / c for r, c in zip(medians["rownorm"], medians["cp"])] + [others]


def judge(cp_seconds, ratio, processor, others, o, real_time):
    """The exit code, after saying what was measured."""
    print("%d MiB, medians of %d pairs%s: time %.2f x, processor time %.2f x cp's; others used %.2f cores"
          % (o.mib, o.pairs, " in real time" if real_time else "", ratio, processor, others))
    if os.cpu_count() < 2 or (others > ALLOWED_TO_OTHERS and not real_time):
        print("not judged: two free cores are needed")
        return NOT_JUDGED
    if o.mib / 1024 / cp_seconds > FASTER_THAN_ANY_COPY:
        print("not judged: cp shares the blocks here and copies nothing")
        return NOT_JUDGED
    if ratio > o.limit:
        print("the time is %.2f x that of cp; the limit is %.2f" % (ratio, o.limit))
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--limit", type=float, default=1.3)
    parser.add_argument("--tries", type=int, default=1, help="until one is within the limit")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rownorm-time-") as folder:
        source, output = pathlib.Path(folder) / "in.npy", pathlib.Path(folder) / "out.npy"
        write_input(source, o.mib)
        real_time = real_time_is_allowed()
        commands = {"cp": ["cp", source, output], "rownorm": [o.program, "normalize", source, "-o", output]}
        code = 1
        while code == 1 and o.tries > 0:
            code = judge(*compare(commands, output, o.pairs), o, real_time)
            o.tries -= 1
    return code


if __name__ == "__main__":
    sys.exit(main())
