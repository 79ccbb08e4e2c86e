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
X86_STEP = re.compile(rf"(add|sub)q\s\$({NUMBER}), (%\w+)")
ARM_STEP = re.compile(rf"(add|sub)\s(x\d+), (x\d+), #({NUMBER})")
ARM_WRITE_BACK = re.compile(rf"\[(x\d+)(?:\], #({NUMBER})|, #({NUMBER})\]!)")
# reg = other reg (+ number), in x86-64's words.
X86_COPY = re.compile(rf"(?:movq |leaq ({NUMBER})?\()(%r\w+)\)?, (%r\w+)$")
# An instruction whose result is a general register, whatever its width: x86-64's last operand, AArch64's first.
RENEWED = re.compile(r"^(?!cmp|test).*%(?:[re]([a-z]{2}|\d+)|(r\d+)d?)$|"
                     r"^(?!cmp|cmn|tst|st|cb|tb|prfm|b)\w+\s[xw](\d+)\b")
STACK = ("%rsp", "sp")
VECTOR = re.compile(r"%[xyz]mm\d|\b[vq]\d+\b")
MASKED_LOAD = re.compile(r"\) ?, .*%[xyz]mm\d+ ?\{%k\d\} ?\{z\}|maskmov\S+\s.*\), %")
MASKED_STORE = re.compile(r"\) ?\{%k\d\}$|maskmov\S+\s.*\)$")
SHUFFLE = re.compile(r"v?(?:perm|shuf|unpck|punpck|pack|insert|extract|pinsr|pextr|palign|valign|broadcast|movhl|movlh|"
                     r"pbroadcast|pshuf|pperm|pmov[sz]x|pmov[dq][bw]|zip|uzp|trn|ext|tbl|rev|dup|ins)")


class Loop:
    """The instructions of one turn, and how many elements it does; beside them the masked loads and stores of the
    whole function, as they serve the end of a row."""

    def __init__(self, body, sizes, function):
        self.body = body
        self.elements = elements(body, sizes)
        has_frame = any(re.match("movq %rsp, %rbp", f"{i.name} {i.operands}") for i in function)
        stack = re.compile(r"\(%rsp|\[(?:sp|x29)\b" + (r"|\(%rbp" if has_frame else ""))
        self.spills = sum(bool(stack.search(i.operands)) for i in body)
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


def inner_loop(function, sizes):
    """Of the loops with no other inside, that with the most vector instructions."""
    ends = [(i.target, i.address) for i in function if i.target is not None and i.target <= i.address]
    inner = [a for a in ends if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in ends)]
    bodies = [[i for i in function if first <= i.address <= last] for first, last in inner]
    bodies = [body for body in bodies if not any(map(jumps_always, body))]
    if not bodies:
        raise ValueError("a function without an inner loop")
    return Loop(max(bodies, key=lambda body: sum(bool(VECTOR.search(i.operands)) for i in body)), sizes, function)


def after(line, values):
    """{register: its value} of an instruction that gives one: which register held it as the turn began and what was
    added to that, or None and 0 where it is another"""
    def plus(source, by):
        origin, moved = values.get(source, (source, 0))
        return origin, moved + by

    if match := X86_STEP.match(line):
        return {match[3]: plus(match[3], int(match[2], 0) * (1 if match[1] == "add" else -1))}
    if match := X86_COPY.match(line):
        return {match[3]: plus(match[2], int(match[1] or "0", 0))}
    if match := ARM_STEP.match(line):
        return {match[2]: plus(match[3], int(match[4], 0) * (1 if match[1] == "add" else -1))}
    if match := ARM_WRITE_BACK.search(line):
        return {match[1]: plus(match[1], int(match[2] or match[3], 0))}
    if match := RENEWED.search(line):
        return {f"x{match[3]}" if match[3] else "%" + (match[2] or f"r{match[1]}"): (None, 0)}
    return {}


def elements(body, sizes):
    """How many elements a turn does, of operands that have these bytes an element."""
    values, operands = {}, []

    def part(register, factor=1):
        return values.get(register, (register, 0))[0] if register else "none", factor

    for i in body:
        if not i.name.startswith("lea"):
            operands += ([part(m[1]), part(m[2], int(m[3] or 1))] for m in X86_MEMORY.finditer(i.operands))
        operands += ([part(m[1]), part(m[2], 1 << int(m[3] or 0))] for m in ARM_MEMORY.finditer(i.operands))
        values |= after(f"{i.name} {i.operands}", values)
    moved = {register: by for register, (origin, by) in values.items() if origin == register}
    operands = [parts for parts in operands if parts[0][0] not in STACK]
    if any(origin is None for parts in operands for origin, _ in parts):
        raise ValueError("a loop with an operand that is somewhere else at each turn")
    found = {sum(moved.get(origin, 0) * factor for origin, factor in parts) for parts in operands} - {0}
    turn = max(found, default=0) // max(sizes)
    if turn < 1 or found != {turn * size for size in sizes}:
        raise ValueError(f"a loop whose operands move by {sorted(found)} bytes")
    return turn
