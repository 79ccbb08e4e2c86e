#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs x86-64 Linux programs on a PC with a CPU that this machine may not have.

    python3 tests/emulate/bochs.py --cpu corei7_skylake_x -- build/release/bin/rownorm isa

bochs starts Debian's cloud kernel straight into an initramfs that holds the program and its libraries; there
is no BIOS, boot loader or disk. A start takes a few seconds; then about 130 million instructions run in a
second. The guest has one CPU. The exit status is the program's (128 + N if it died of signal N), 124 after a
time-out, 125 when the emulator failed.

CPUs of use here: corei7_haswell_4770 (AVX2), corei7_skylake_x (AVX-512 F, CD, BW, DQ, VL and no more),
sapphire_rapids (all of AVX-512 with BF16 and FP16).
"""
import argparse
import dataclasses
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

import bochs_image
import bochs_parts

INSTRUCTIONS_PER_GUEST_SECOND = 50_000_000
# What bochs and Linux 6.1 do not agree on is hidden from the kernel (not from programs): the sizes of XSAVE
# areas with protection keys or in compact format, and FSRM without ERMS, which breaks the kernel's memmove.
HIDDEN_FROM_KERNEL = ["pku", "ospke", "xsaves", "xsavec", "fsrm"]


@dataclasses.dataclass
class Result:
    status: int
    output: str


def run(script, files, cpu, hide=(), memory_mib=1024, timeout_s=600):
    """Runs a shell script in the guest; `files` are host files, folders and programs that it uses.

    Features in `hide` (names of /proc/cpuinfo) are hidden from the kernel only: with "avx512f" the OS leaves
    AVX-512's register state off while CPUID still shows the instructions.
    """
    parts = bochs_parts.prepare()
    image = bochs_image.memory_image(parts.kernel, _initramfs(parts, script, files),
                                     _command_line(hide), memory_mib << 20)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        _write_machine(folder, parts, image, cpu, memory_mib)
        return _run_machine(folder, parts, timeout_s)


def _initramfs(parts, script, files):
    archive = bochs_image.Initramfs()
    for folder in ("/proc", "/sys", "/dev", "/etc"):
        archive.add_folder(folder)
    archive.add_folder("/tmp", 0o1777)
    archive.add_bytes("/init", parts.init)
    archive.add_bytes("/run.sh", script.encode())
    archive.add_bytes("/etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
    for path in ["/bin/sh", "/bin/cat", *files]:
        archive.add_host_path(path)
    return archive.archive()


def _command_line(hide):
    words = ["nokaslr", "mitigations=off", "clearcpuid=" + ",".join([*HIDDEN_FROM_KERNEL, *hide]),
             f"tsc_early_khz={INSTRUCTIONS_PER_GUEST_SECOND // 1000}", "pci=off", "acpi=off",
             # slow, and of no use here
             "cryptomgr.notests", "initcall_blacklist=load_system_certificate_list,trace_eval_init,crypto_algapi_init",
             "panic=-1", "oops=panic", "console=ttyS0", "quiet"]
    return " ".join(words)


def _write_machine(folder, parts, image, cpu, memory_mib):
    begin, end = bochs_image.IMAGE_ADDRESS, bochs_image.IMAGE_ADDRESS + len(image)
    (folder / "image").write_bytes(image)
    (folder / "rom").write_bytes(struct.pack("<III", parts.kernel.entry, begin, end) + parts.rom[12:])
    (folder / "bochsrc").write_text(f"""\
config_interface: textconfig
display_library: rfb, options="timeout=0, hideIPS"
cpu: model={cpu}, count=1, ips={INSTRUCTIONS_PER_GUEST_SECOND}, reset_on_triple_fault=0
memory: guest={memory_mib}, host={memory_mib}
romimage: file="{folder}/rom", address=0xffff0000
vgaromimage: file="{parts.bochs_root}/usr/share/vgabios/vgabios.bin"
optramimage1: file="{folder}/image", address={begin:#x}
port_e9_hack: enabled=1
com1: enabled=1, mode=file, dev="{folder}/console.log"
clock: sync=none, time0=utc
log: "{folder}/bochs.log"
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
speaker: enabled=1, mode=none
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
""")


def _run_machine(folder, parts, timeout_s):
    libraries = parts.bochs_root / "usr/lib/x86_64-linux-gnu"
    environment = dict(os.environ, LTDL_LIBRARY_PATH=f"{libraries}/bochs/plugins",
                       BXSHARE=str(parts.bochs_root / "usr/share/bochs"))
    # Debian's bochs has its debugger compiled in, which waits for "c"; its display listens on a port, so it
    # gets a network of its own where that is allowed.
    command = [libraries / "ld-linux-x86-64.so.2", "--library-path", libraries,
               parts.bochs_root / "usr/bin/bochs-bin", "-q", "-f", folder / "bochsrc"]
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0:
        command = ["unshare", "-n", *command]
    try:
        done = subprocess.run(command, input=b"c\n", capture_output=True, timeout=timeout_s, env=environment, check=False)
    except subprocess.TimeoutExpired as expired:
        return Result(124, _program_output(expired.stdout or b"")[0] + f"bochs: timed out after {timeout_s} s\n")
    output, status = _program_output(done.stdout)
    if status is None:
        logs = [folder / "console.log", folder / "bochs.log"]
        tails = [log.read_text(errors="replace")[-2000:] for log in logs if log.exists()]
        return Result(125, "\n".join([output, *tails, done.stderr.decode(errors="replace")[-1000:]]))
    return Result(status, output)


def _program_output(port):
    """Splits what came out of the debug port: the program's output, and its status if it ended."""
    text = port.decode(errors="replace").partition("\n@begin\n")[2]
    output, ended, status = text.partition("\n@exit ")
    return output, int(status.split()[0]) if ended else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", default="sapphire_rapids")
    parser.add_argument("--hide", default="", help="features hidden from the kernel, comma separated")
    parser.add_argument("--file", action="append", default=[], help="one more file, folder or program to take along")
    parser.add_argument("--timeout", type=int, default=600, help="seconds")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program[0])
    result = run(shlex.join([program, *arguments.program[1:]]), [program, *arguments.file], arguments.cpu,
                 [f for f in arguments.hide.split(",") if f], timeout_s=arguments.timeout)
    print(result.output, end="")
    sys.exit(result.status)


if __name__ == "__main__":
    main()
