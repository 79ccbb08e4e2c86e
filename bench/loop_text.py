# SPDX-License-Identifier: Apache-2.0
"""Reads llvm-objdump's disassembly: the functions, the inner loop of each, and what a turn of it does."""
import collections
import re

Instruction = collections.namedtuple("Instruction", "address name operands target")

NUMBER = r"-?(?:0x[0-9a-f]+|\d+)"
# Memory operands: x86-64's displacement(base, index, scale), AArch64's [base, index or displacement, lsl #n].
X86_MEMORY = re.compile(r"\((%\w+)?(?:, ?(%\w+)(?:, ?(\d))?)?\)")
ARM_MEMORY = re.compile(r"\[(\w+)(?:, (x\d+)(?:, lsl #(?:0x)?(\d))?)?[^\]]*\]")
# reg += number, in x86-64's words and in AArch64's, and AArch64's loads and stores that move their base on.
X86_STEP = re.compile(rf"(add|sub)[lq]\s\$({NUMBER}), (%\w+)")
ARM_STEP = re.compile(rf"(add|sub)\s(x\d+), (x\d+), #({NUMBER})")
ARM_WRITE_BACK = re.compile(rf"\[(x\d+)(?:\], #({NUMBER})|, #({NUMBER})\]!)")
# An instruction whose result is a general register: x86-64's last operand, AArch64's first.
RENEWED = re.compile(r"^(?:mov|lea)\w*\s.*(%r\w+)$|^(?:mov|add|sub|lsl|ldr)\s(x\d+),")
VECTOR = re.compile(r"%[xyz]mm\d|\b[vq]\d+\b")
MASKED_LOAD = re.compile(r"\) ?, .*%[xyz]mm\d+ ?\{%k\d\} ?\{z\}|maskmov\S+\s.*\), %")
MASKED_STORE = re.compile(r"\) ?\{%k\d\}$|maskmov\S+\s.*\)$")
SHUFFLE = re.compile(r"v?(?:perm|shuf|unpck|punpck|pack|insert|extract|pinsr|pextr|palign|valign|broadcast|movhl|movlh|"
                     r"pbroadcast|pshuf|pperm|pmov[sz]x|pmov[dq][bw]|zip|uzp|trn|ext|tbl|rev|dup|ins)")


class Loop:
    """The instructions of one turn, and how many elements it does; beside them the masked loads and stores of the
    whole function, as they serve the end of a row."""

    def __init__(self, body, size, function):
        self.body = body
        self.elements = step(body) // size
        self.spills = sum(bool(re.search(r"\(%[re][sb]p|\[(?:sp|x29)\b", i.operands)) for i in body)
        self.shuffles = sum(is_shuffle(i) for i in body)
        self.masked = "+".join(str(sum(bool(kind.search(f"{i.name} {i.operands}")) for i in function))
                               for kind in (MASKED_LOAD, MASKED_STORE))

    def text(self, label):
        """For llvm-mca; every branch goes to the label."""
        return "".join(f"{i.name} {i.operands if i.target is None else branch_to(i.operands, label)}\n"
                       for i in self.body)


def is_shuffle(i):
    moves_a_lane = i.name == "mov" and re.search(r"v\d+\.\w+\[", i.operands)  # how AArch64's ins is written
    return bool(VECTOR.search(i.operands) and (SHUFFLE.match(i.name) or moves_a_lane))


def branch_to(operands, label):
    return re.sub(r"0x[0-9a-f]+ <.*", label, operands)


def instruction(line):
    """None for what is not one, and for padding."""
    found = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
    if not found or found[2].startswith(("nop", "data16", "cs")):
        return None
    operands = re.sub(r"\s+(?:# |//).*", "", found[3])
    target = re.search(r"\b0x([0-9a-f]+) <", operands)
    return Instruction(int(found[1], 16), found[2], operands, int(target[1], 16) if target else None)


def functions(text):
    """{name with template arguments: instructions}; what GCC moved out of a function is left out, as it is cold."""
    found = {}
    for part in re.split(r"\n(?=[0-9a-f]+ <)", text):
        head, _, body = part.partition("\n")
        name = re.search(r"<(?:\w+ )?(.*)>:$", head.replace("(anonymous namespace)::", ""))
        if name and ".cold" not in name[1]:
            lines = map(instruction, body.splitlines())
            found[re.sub(r"\((?!rownorm::Affine\)).*", "", name[1])] = [i for i in lines if i]
    return found


def jumps_always(i):
    return i.name in ("jmp", "b", "ret", "retq") or i.name.startswith(("call", "bl"))


def inner_loop(function, size):
    """Of the loops with no other inside, that with the most vector instructions."""
    ends = [(i.target, i.address) for i in function if i.target is not None and i.target <= i.address]
    inner = [a for a in ends if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in ends)]
    bodies = [[i for i in function if first <= i.address <= last] for first, last in inner]
    bodies = [body for body in bodies if not any(map(jumps_always, body))]
    if not bodies:
        raise ValueError("a function without an inner loop")
    return Loop(max(bodies, key=lambda body: sum(bool(VECTOR.search(i.operands)) for i in body)), size, function)


def steps(body):
    """{register: what a turn adds to it}, of registers that keep what they were otherwise"""
    found, renewed = collections.Counter(), set()
    for i in body:
        line = f"{i.name} {i.operands}"
        if match := X86_STEP.match(line):
            found[match[3]] += int(match[2], 0) * (1 if match[1] == "add" else -1)
        elif (match := ARM_STEP.match(line)) and match[2] == match[3]:
            found[match[2]] += int(match[4], 0) * (1 if match[1] == "add" else -1)
        elif match := ARM_WRITE_BACK.search(line):
            found[match[1]] += int(match[2] or match[3], 0)
        elif match := RENEWED.search(line):
            renewed.add(match[1] or match[2])
    return collections.Counter({register: by for register, by in found.items() if register not in renewed})


def step(body):
    """How many bytes further on a turn's loads and stores are than those of the turn before."""
    moved, found = steps(body), set()
    for i in body:
        for memory in [] if i.name.startswith("lea") else [*X86_MEMORY.finditer(i.operands)]:
            found.add(moved[memory[1]] + moved[memory[2]] * int(memory[3] or 1))
        for memory in ARM_MEMORY.finditer(i.operands):
            found.add(moved[memory[1]] + (moved[memory[2]] << int(memory[3] or 0)))
    found -= {0}
    if len(found) != 1:
        raise ValueError(f"a loop whose operands move by {sorted(found)} bytes")
    return found.pop()
