# SPDX-License-Identifier: Apache-2.0
"""loops.py: what it reads of a disassembly made by hand, and the marks in README.md."""
import pathlib
import tempfile
import unittest

import loop_text
import loops

# A sum over rows: the loop of a turn of 16 f32 (with a spill, a shuffle and a branch to cold code), one of single
# vectors, the loop over the rows around both, a masked load for the end of a row, and cold code that returns.
X86 = """
sum.cpp.o:	file format elf64-x86-64

Disassembly of section .text:

0000000000000000 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long, long, double*)>:
       0:      	vxorps	%xmm0, %xmm0, %xmm0
       4:      	nopw	%cs:(%rax,%rax)
      10:      	vmovups	(%rax), %ymm1
      14:      	vmovups	0x20(%rcx,%rdx,4), %ymm2
      16:      	vmovups	0x20(%rsi), %ymm2
      18:      	vunpcklps	%ymm1, %ymm2, %ymm1     # ymm1 = ymm2[0],ymm1[0]
      1c:      	vaddps	-0x40(%rsp), %ymm1, %ymm0
      20:      	leaq	0x1(%rdx), %rsi
      23:      	addq	$0x7f, %rsi
      27:      	jp	0x80 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long)+0x80>
      29:      	addq	$0x10, %rdx
      2d:      	subq	$-0x40, %rax            # imm = 0x40
      31:      	cmpq	%rsi, %rdi
      34:      	jg	0x10 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long)+0x10>
      40:      	vaddps	(%rax), %ymm0, %ymm0
      44:      	addq	$0x20, %rax
      48:      	jne	0x40 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long)+0x40>
      4c:      	vmovups	(%rax), %zmm3 {%k1} {z}
      50:      	vmovups	%zmm3, (%rax) {%k1}
      54:      	vmovaps	%zmm3, %zmm4 {%k1} {z}
      55:      	vmaskmovps	(%rax), %ymm5, %ymm6
      56:      	vmaskmovps	%ymm6, %ymm5, (%rax)
      58:      	jne	0x4 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long)+0x4>
      5c:      	retq
      80:      	vaddps	%ymm4, %ymm5, %ymm6
      84:      	vaddps	%ymm4, %ymm5, %ymm6
      88:      	vaddps	%ymm4, %ymm5, %ymm6
      8c:      	je	0x4c <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long)+0x4c>

0000000000000090 <void (anonymous namespace)::sum<(anonymous namespace)::F32>(rownorm::Rows, long) (.cold)>:
      90:      	retq

00000000000000a0 <void (anonymous namespace)::apply<(anonymous namespace)::F32, false, (rownorm::Affine)1>(rownorm::A)>:
      a0:      	retq
"""

# A loop that counts in a register and loads by another, and one over two types.
COPIES = """
0000000000000000 <void (anonymous namespace)::add<(anonymous namespace)::F32>(rownorm::Rows)>:
       0:      	movq	%rdx, %r11
       3:      	vmovups	(%rbp,%r11,4), %ymm1
       8:      	movslq	%ebx, %rcx
       c:      	shlq	$0x4, %rcx
      10:      	vaddps	0x40(%rsp,%rcx), %ymm1, %ymm1
      14:      	leaq	0x8(%r11), %rdx
      18:      	addq	$0xf, %r11
      1c:      	cmpq	%r11, %rax
      20:      	jg	0x0 <void (anonymous namespace)::add<(anonymous namespace)::F32>(rownorm::Rows)>
      24:      	retq
"""
MIXED = """
0000000000000000 <void (anonymous namespace)::apply<(anonymous namespace)::F32, (anonymous namespace)::Bf16>(void)>:
       0:      	vmovups	(%rdi,%rdx,4), %ymm1
       5:      	vmovdqu	%ymm1, (%rsi,%rdx,2)
       a:      	addq	$0x10, %rdx
       e:      	jg	0x0 <void (anonymous namespace)::apply<(anonymous namespace)::F32>(void)>
      12:      	retq
"""

ARM = """
0000000000000000 <void (anonymous namespace)::add<(anonymous namespace)::F16, true>(rownorm::Rows)>:
       0:      	ldr	d0, [x1, x3, lsl #1]
       4:      	ldr	q1, [x2], #0x10
       8:      	ldr	q3, [sp, #0x60]
       c:      	mov	v0.d[1], v1.d[0]
      10:      	add	x5, x3, #0x7f
      14:      	add	x3, x3, #0x8
      18:      	str	q0, [x4, #0x10]!
      1c:      	b.gt	0x0 <void (anonymous namespace)::add<(anonymous namespace)::F16, true>(rownorm::Rows)>
      20:      	ret
"""


class Parsing(unittest.TestCase):
    def setUp(self):
        self.functions = loop_text.functions(X86)
        self.loop = loop_text.inner_loop(self.functions["sum<F32>"], {4})

    def test_functions_by_their_template_arguments(self):
        self.assertEqual({name: len(f) for name, f in self.functions.items()},
                         {"sum<F32>": 27, "apply<F32, false, (rownorm::Affine)1>": 1})

    def test_the_inner_loop_with_the_most_vectors(self):
        self.assertEqual([self.loop.body[0].address, self.loop.body[-1].address, len(self.loop.body)], [0x10, 0x34, 12])
        with self.assertRaises(ValueError):
            loop_text.inner_loop(self.functions["apply<F32, false, (rownorm::Affine)1>"], {4})

    def test_what_a_turn_does(self):
        loop = self.loop
        self.assertEqual((loop.elements, loop.spills, loop.shuffles, loop.masked), (16, 1, 1, "2+2"))

    def test_operands_that_do_not_move_together_are_refused(self):
        text = X86.replace("subq	$-0x40, %rax", "subq	$-0x80, %rax")
        with self.assertRaises(ValueError):
            loop_text.inner_loop(loop_text.functions(text)["sum<F32>"], {4})

    def test_a_register_that_is_copied_from_another(self):
        loop = loop_text.inner_loop(loop_text.functions(COPIES)["add<F32>"], {4})
        self.assertEqual((len(loop.body), loop.elements, loop.spills), (9, 8, 1))
        moving = COPIES.replace("addq	$0xf, %r11", "addq	$0x20, %rbp")
        for lost in ("movslq	%edx, %r11", "movl	%edx, %r11d"):  # beside a register that moves as a loop should
            with self.assertRaises(ValueError):
                loop_text.inner_loop(loop_text.functions(moving.replace("movq	%rdx, %r11", lost))["add<F32>"], {4})

    def test_types_of_two_sizes(self):
        function = loop_text.functions(MIXED)["apply<F32, Bf16>"]
        self.assertEqual(loop_text.inner_loop(function, {2, 4}).elements, 16)
        for wrong in ({4}, {2, 8}):
            with self.assertRaises(ValueError):
                loop_text.inner_loop(function, wrong)

    def test_the_text_for_llvm_mca(self):
        lines = self.loop.text(".L7").splitlines()
        self.assertEqual(lines[3], "vunpcklps %ymm1, %ymm2, %ymm1")
        self.assertEqual([lines[7], lines[-1]], ["jp .L7", "jg .L7"])

    def test_aarch64(self):
        loop = loop_text.inner_loop(loop_text.functions(ARM)["add<F16, true>"], {2})
        self.assertEqual((len(loop.body), loop.elements, loop.spills, loop.shuffles), (8, 8, 1, 1))
        self.assertEqual(loop.text(".L0").splitlines()[-1], "b.gt .L0")


class Readme(unittest.TestCase):
    def test_only_what_is_between_the_marks_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            readme = pathlib.Path(folder, "README.md")
            readme.write_text(f"head\n{loops.BEGIN}old\n{loops.END}tail\n")
            loops.update(readme, "new\n")
            self.assertEqual(readme.read_text(), f"head\n{loops.BEGIN}\nnew\n\n{loops.END}tail\n")
            readme.write_text(f"head\n{loops.BEGIN}")
            with self.assertRaises(ValueError):
                loops.update(readme, "new\n")

    def test_the_marks_are_in_our_readme(self):
        text = pathlib.Path(__file__).with_name("README.md").read_text()
        self.assertEqual((text.count(loops.BEGIN), text.count(loops.END)), (1, 1))


if __name__ == "__main__":
    unittest.main(verbosity=0)
