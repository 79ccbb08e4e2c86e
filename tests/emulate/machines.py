# SPDX-License-Identifier: Apache-2.0
"""The emulated machines: one line each, with the ISA that has to run there."""
import dataclasses
import pathlib
import subprocess
import tempfile

import arm64_sysroot
import bochs

AVX512 = frozenset({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"})


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    isa: str
    what: str
    qemu_cpu: str = ""  # CPU model of qemu-user
    bochs_cpu: str = ""  # CPU model of bochs
    hide: tuple = ()  # what the guest's kernel must not see
    native: frozenset = frozenset()  # a host with all of these has no need of the emulation
    architecture: str = "x86_64"
    suites: str = "*"  # of rownorm_tests
    exclude: tuple = ()  # test cases that the emulator, not the library, gets wrong

    def run(self, script, files, timeout_s):
        """Runs a shell script in which $RUN stands before each program."""
        if self.bochs_cpu:
            return bochs.run("cd /tmp; RUN=\n" + script, files, self.bochs_cpu, self.hide, timeout_s=timeout_s)
        return _run_on_host(f"RUN={_quoted(self._prefix())}\n{script}", timeout_s)

    def _prefix(self):
        if self.architecture == "aarch64":
            libraries = arm64_sysroot.folder() / "usr/lib/aarch64-linux-gnu"
            return f"qemu-aarch64 -cpu {self.qemu_cpu} -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH={libraries}"
        return f"qemu-x86_64 -cpu {self.qemu_cpu}"


# qemu 7.2 reads a whole vector where vmaskmov masks the rest, and so faults at the end of a page.
QEMU_MASKED_LOADS = ("every argument ends?*", "the same for long rows and for batches*")
# Where only the choice of the ISA is in question.
CHOICE = "ISA"

# bochs takes some hundred times as long as the machine: every kernel once, and few of the sweeps.
KERNELS = "ISA,affine,aliasing,layout,LayerNorm,fused add,NaN and infinity,lane model,one-line calls,redone rows,several rows,signed zeros"

MACHINES = [
    Machine("qemu64", "sse2", "SSE2 and SSE3 only", qemu_cpu="qemu64"),
    Machine("nehalem", "sse2", "SSE4.2, no AVX", qemu_cpu="Nehalem", suites=CHOICE),
    Machine("haswell", "avx2", "AVX2 and FMA", qemu_cpu="Haswell", exclude=QEMU_MASKED_LOADS),
    Machine("neon", "neon", "AArch64", qemu_cpu="cortex-a57", architecture="aarch64"),
    Machine("avx512-off", "avx2", "AVX-512 in CPUID, its state off in the OS",
            bochs_cpu="sapphire_rapids", hide=("avx512f",), suites=CHOICE),
    Machine("avx-off", "sse2", "AVX in CPUID, its state off in the OS",
            bochs_cpu="sapphire_rapids", hide=("avx",), suites=CHOICE),
    Machine("skylake-x", "avx512", "AVX-512 F, CD, BW, DQ, VL and no more", bochs_cpu="corei7_skylake_x", native=AVX512,
            suites=KERNELS),
    Machine("sapphire-rapids", "avx512bf16", "AVX-512 with BF16 and FP16", bochs_cpu="sapphire_rapids",
            native=AVX512 | {"avx512_bf16"},
            suites=KERNELS),
]


def host_features():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return frozenset(line.split())
    return frozenset()


def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def _run_on_host(script, timeout_s):
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                                  text=True, errors="replace", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace")
        return bochs.Result(124, output + f"timed out after {timeout_s} s\n")
    lines = [l for l in done.stdout.splitlines(keepends=True) if "warning: TCG doesn't support" not in l]
    return bochs.Result(done.returncode, "".join(lines))
