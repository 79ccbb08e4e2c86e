/* SPDX-License-Identifier: Apache-2.0
 *
 * The 64 KiB ROM of the emulated PC, in place of a BIOS: enters protected mode and jumps to the
 * kernel's PVH entry. The emulator has put kernel and initramfs into memory. A second reset means
 * that the kernel died: then the machine is switched off.
 *
 * Linked at 0xffff0000. The words at its beginning are patched for each run (bochs.py).
 */
	.code16
rom:
entry:		.long 0			/* physical address of the kernel's 32-bit entry */
image_begin:	.long 0			/* start info page, then kernel and initramfs */
image_end:	.long 0

	.balign 8
gdt:		.quad 0
		.quad 0x00cf9b000000ffff	/* 8: flat code */
		.quad 0x00cf93000000ffff	/* 16: flat data */
gdt_pointer:	.word gdt_pointer - gdt - 1
		.long gdt

real_mode:
	cli
	lgdtl	%cs:(gdt_pointer - rom)
	movl	%cr0, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmpl	$8, $protected_mode

	.code32
protected_mode:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	%ax, %fs
	movw	%ax, %gs
	inb	$0x92, %al		/* A20 on, without the reset bit */
	orb	$2, %al
	andb	$0xfe, %al
	outb	%al, $0x92

	/* bochs allots its blocks of memory at first touch but loads the image in one piece, which is
	 * only right if the blocks are then touched in order. */
	movl	image_begin, %ebx
	movl	%ebx, %esi
touch:	movl	(%esi), %eax
	addl	$0x1000, %esi
	cmpl	image_end, %esi
	jb	touch

	cmpl	$0, 0xff0(%ebx)		/* a free word of the start info page */
	jne	switch_off
	movl	$1, 0xff0(%ebx)
	movl	entry, %eax
	xorl	%ebp, %ebp
	cld
	jmp	*%eax			/* ebx: the start info */

switch_off:
	movl	$shutdown, %esi
	movl	$8, %ecx
	movw	$0x8900, %dx
	cld
	rep outsb
	hlt
shutdown: .ascii "Shutdown"		/* what bochs' power port waits for */

	.org	0xfff0			/* where the CPU begins */
	.code16
	.byte	0xe9			/* jmp near, relative: the segment stays as the reset set it */
	.word	(real_mode - rom) - 0xfff3
	.org	0x10000
