#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the kernels' inner loops, and asks llvm-mca what they cost on CPUs that are not here:

    loops.py [BUILD [AARCH64_BUILD]]             prints the tables; BUILD is build/release if none is named
    loops.py BUILD AARCH64_BUILD --update        writes them into README.md, between their two marks

llvm-mca and llvm-objdump: the newest on PATH, as of Debian's llvm-19. llvm-mca takes every load for a hit of the L1
cache and every branch for foreseen: its cycles compare loops, and are no measurement.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import loop_text
import tables

BEGIN, END = "<!-- loops: begin (bench/loops.py) -->\n", "<!-- loops: end -->\n"
ITERATIONS = 1000
X86, AARCH64 = "x86_64", "aarch64"
CPUS = {  # column: what llvm-mca calls it
    X86: {"Skylake-X": "skylake-avx512", "Sapphire Rapids": "sapphirerapids", "Zen 4": "znver4"},
    AARCH64: {"Neoverse V1": "neoverse-v1", "Apple M1": "apple-m1"},
}
ISAS = {"sse2": X86, "avx2": X86, "avx512": X86, "avx512bf16": X86, "neon": AARCH64}
LACKING = {("avx512bf16", "skylake-avx512")}
# What x, y and the gain are, and of each its bytes and the object file of its second pass.
TYPES = {"f32": ("F32",) * 3, "f16": ("F16",) * 3, "bf16": ("Bf16EvenOdd",) * 3,
         "bf16_w_f32": ("Bf16", "Bf16", "F32"), "f32_y_bf16": ("F32", "Bf16", "F32")}
MIXED = ("bf16_w_f32", "f32_y_bf16")
SIZES = {"F32": 4, "F16": 2, "Bf16EvenOdd": 2, "Bf16": 2}
APPLY = {"F32": "apply_f32", "F16": "apply_f16", "Bf16EvenOdd": "apply_bf16", "Bf16": "apply_bf16"}
# Kernel, object file, function: the sums of RMSNorm and LayerNorm, the fused add, the second pass of each.
KERNELS = (
    ("sum_squares", "statistics", "sum_squares<{0}>"),
    ("centred", "statistics", "centred<{0}>"),
    ("add", "residual", "add<{0}, {0}, true>"),
    ("apply, gain", None, "apply<{0}, {1}, {2}, false, (rownorm::Affine)1>"),
    ("apply, gain + bias", None, "apply<{0}, {1}, {2}, true, (rownorm::Affine)3>"),
)


@functools.lru_cache(None)
def newest(tool):
    """The tool's newest version on PATH, as of its numbered packages; else its plain name."""
    found = [path.name for folder in os.get_exec_path() for path in pathlib.Path(folder).glob(tool + "-*")]
    numbered = [name for name in found if re.fullmatch(tool + r"-\d+", name)]
    return max(numbered, key=lambda name: int(name.rpartition("-")[2]), default=tool)


def run(tool, *arguments, text=None):
    command = [newest(tool), *map(str, arguments)]
    return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout


@functools.lru_cache(None)
def functions(file):
    return loop_text.functions(run("llvm-objdump", "-d", "--demangle", "--no-show-raw-insn", file))


def has(isa, kernel, types):
    """False for kernels that an ISA shares with another, or has with the same instructions; for mixed types but in the
    second pass; and for sse2's second pass: one for whatever is there, so that its way is decided as it runs."""
    second_pass = kernel.startswith("apply")
    return not (second_pass and isa == "sse2" or isa == "avx512bf16" and types not in MIXED or
                types in MIXED and not second_pass)


def loops_of(build, isa):
    """(kernel and types, loop) of one ISA."""
    folder = build / "lib/CMakeFiles" / f"rownorm_kernels_{isa}.dir" / "kernels"
    for kernel, file, function in KERNELS:
        for types, elements in TYPES.items():
            if has(isa, kernel, types):
                path, name = folder / f"{file or APPLY[elements[0]]}.cpp.o", function.format(*elements)
                if name not in functions(path):
                    raise ValueError(f"{path}: no {name}")
                sizes = {SIZES[element] for element in elements}
                yield f"{kernel} {types}", loop_text.inner_loop(functions(path)[name], sizes)


def costs(loops, architecture, cpu):
    """(cycles of an element, the busiest port, the part of the cycles that it is busy) of each loop."""
    text = "".join(f"# LLVM-MCA-BEGIN\n.L{n}:\n{loop.text(f'.L{n}')}# LLVM-MCA-END\n" for n, loop in enumerate(loops))
    report = json.loads(run("llvm-mca", f"-mtriple={architecture}", f"-mcpu={cpu}", f"-iterations={ITERATIONS}",
                            "--json", text=text))
    ports = report["TargetInfo"]["Resources"]
    for loop, region in zip(loops, report["CodeRegions"], strict=True):
        cycles = region["SummaryView"]["TotalCycles"] / ITERATIONS
        used = region["ResourcePressureView"]["ResourcePressureInfo"]
        total = max(entry["InstructionIndex"] for entry in used)  # the line after the last instruction: their sum
        usage, port = max((entry["ResourceUsage"], -entry["ResourceIndex"])
                          for entry in used if entry["InstructionIndex"] == total)
        name = re.sub(r"^(SKX|SPR|Zn4|V1Unit|CyUnit)|\..*", "", ports[-port], flags=re.DOTALL)
        yield cycles / loop.elements, name, usage / cycles


def rows_of(architecture, builds):
    """One row a kernel and ISA, the ISAs of a kernel one below the other."""
    rows = {}
    for isa in (i for i, a in ISAS.items() if a == architecture):
        names, loops = zip(*loops_of(builds[architecture], isa))
        columns = [[f"{cycles:.3f} {port} {100 * part:.0f} %" for cycles, port, part in
                    costs(loops, architecture, cpu)] if (isa, cpu) not in LACKING else [""] * len(loops)
                   for cpu in CPUS[architecture].values()]
        for name, loop, *cells in zip(names, loops, *columns):
            counts = (len(loop.body), loop.elements, loop.spills, loop.shuffles, loop.masked)
            rows.setdefault(name, []).append(
                [name, isa, f"{len(loop.body) / loop.elements:.3f}", *map(str, counts), *cells])
    return sum(rows.values(), [])


def all_tables(builds):
    text = f"By llvm-mca {re.search(r'version (.*)', run('llvm-mca', '--version'))[1]}.\n"
    for architecture in builds:
        head = ["kernel", "ISA", "instructions per element", "of a turn", "elements", "spills", "shuffles", "masked"]
        text += "\n" + tables.table(head + [f"{cpu}: cycles per element, busiest port" for cpu in CPUS[architecture]],
                                    rows_of(architecture, builds))
    return text


def update(readme, text):
    found = re.fullmatch(f"(.*{re.escape(BEGIN)}).*({re.escape(END)}.*)", readme.read_text(), re.DOTALL)
    if not found:
        raise ValueError(f"{readme}: expected the marks of the loops")
    readme.write_text(f"{found[1]}\n{text}\n{found[2]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("aarch64_build", nargs="?", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--readme", type=pathlib.Path, default=pathlib.Path(__file__).with_name("README.md"))
    arguments = parser.parse_args()
    try:
        builds = {X86: arguments.build, AARCH64: arguments.aarch64_build}
        text = all_tables({architecture: build for architecture, build in builds.items() if build})
        if arguments.update:
            update(arguments.readme, text)
        else:
            print(text, end="")
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"loops: {error}")


if __name__ == "__main__":
    main()
