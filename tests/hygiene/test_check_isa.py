# SPDX-License-Identifier: Apache-2.0
"""Each kind of leak, planted in a small library of objects compiled here, must be found by its words."""
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import unittest

import check_isa
import instructions

ISAS = {"sse2": None, "avx2": None, "avx512": None, "avx512bf16": ["statistics"]}
CODE = {"sse2": "addps %xmm0, %xmm1", "avx2": "vfmadd231ps %ymm0, %ymm1, %ymm2; vcvtps2ph $0, %ymm1, %xmm2",
        "avx512": "vfmadd231ps %zmm0, %zmm1, %zmm2{%k1}", "avx512bf16": "vcvtne2ps2bf16 %zmm0, %zmm1, %zmm2",
        "baseline": "tzcnt %eax, %ecx"}
SHARED = "inline __attribute__((noinline, used)) int shared() { return 1; }\n"


def function(isa, code):
    name = f"rownorm_statistics_{isa}" if isa != "baseline" else "rownorm_plan"
    return f'extern "C" void {name}() {{ asm volatile("{code}"); }}\n'


def compile_object(text, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-fPIC", "-w", "-x", "c++", "-", "-c", "-o", str(path)]
    subprocess.run(command, input=text, text=True, check=True)


class Library(unittest.TestCase):
    """A library of one kernel file and one other file, without a leak; every test plants one in a copy."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.clean = pathlib.Path(cls.folder.name) / "clean"
        for file in ("kernels/statistics.cpp", "plan.cpp"):
            (cls.clean / "lib" / file).parent.mkdir(parents=True, exist_ok=True)
            (cls.clean / "lib" / file).touch()
        for isa, code in CODE.items():
            compile_object(function(isa, code), cls.object_of(cls.clean, isa))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def object_of(root, isa):
        objects = root / "lib" / "CMakeFiles"
        if isa == "baseline":
            return objects / "rownorm_objects.dir" / "plan.cpp.o"
        return objects / f"rownorm_kernels_{isa}.dir" / "kernels" / "statistics.cpp.o"

    def setUp(self):
        self.root = self.clean.parent / "planted"
        shutil.copytree(self.clean, self.root)
        self.addCleanup(shutil.rmtree, self.root)

    def plant(self, isa, text="", code=None):
        """Compiles the ISA's object anew, with more text, or with other instructions, or both."""
        compile_object(text + function(isa, CODE[isa] if code is None else code), self.object_of(self.root, isa))

    def findings(self, sanitizer=False):
        return list(check_isa.check(self.root, self.root, ISAS, sanitizer))

    def expect(self, *words):
        """Exactly one finding, which has all the words."""
        found = self.findings()
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])


class Symbols(Library):
    def test_clean(self):
        self.assertEqual(self.findings(), [])

    def test_second_global_symbol(self):
        self.plant("avx2", "void helper() {}\n")
        self.expect("avx2/statistics.cpp.o: global symbols are _Z6helperv, rownorm_statistics_avx2; expected")

    def test_global_data(self):
        self.plant("avx512", "int counter = 1;\n")
        self.expect("avx512/statistics.cpp.o: global symbols are counter, rownorm_statistics_avx512")

    def test_other_name(self):
        compile_object(function("sse2", CODE["sse2"]), self.object_of(self.root, "avx2"))
        self.assertIn("avx2/statistics.cpp.o: global symbols are rownorm_statistics_sse2; expected "
                      "rownorm_statistics_avx2 alone", self.findings())

    def test_no_global_symbol(self):
        compile_object('static void f() { asm("addps %xmm0, %xmm1"); }\nstatic auto *volatile p = &f;\n',
                       self.object_of(self.root, "sse2"))
        self.assertIn("sse2/statistics.cpp.o: global symbols are none", " ".join(self.findings()))

    def test_weak_function_shared_between_isas(self):
        for isa in ("sse2", "avx512"):
            self.plant(isa, SHARED)
        found = self.findings()
        self.assertIn("sse2/statistics.cpp.o: weak function _Z6sharedv is also in avx512/statistics.cpp.o", found)
        self.assertIn("avx512/statistics.cpp.o: weak function _Z6sharedv is also in sse2/statistics.cpp.o", found)

    def test_weak_function_shared_with_the_baseline(self):
        for isa in ("avx2", "baseline"):
            self.plant(isa, SHARED)
        self.expect("avx2/statistics.cpp.o: weak function _Z6sharedv is also in baseline/plan.cpp.o")

    def test_weak_function_of_one_object_is_no_leak(self):
        self.plant("avx2", SHARED)
        self.assertEqual(self.findings(), [])

    def test_tbb(self):
        self.plant("avx2", "namespace tbb { void spawn(); }\nstatic auto *volatile p = &tbb::spawn;\n")
        self.assertTrue(any("avx2/statistics.cpp.o: TBB symbol _ZN3tbb5spawnEv" in line for line in self.findings()))

    def test_initialiser(self):
        self.plant("baseline", "int value();\nint planted = value();\n")
        self.expect("baseline/plan.cpp.o: has a static initialiser (.init_array)")
        self.assertEqual(self.findings(sanitizer=True), [])


class Calls(Library):
    def test_forbidden(self):
        for name in ("abort", "exit", "_exit", "printf", "puts", "fprintf", "fputs", "fwrite", "perror", "stderr"):
            with self.subTest(name):
                self.plant("baseline", f'extern "C" void {name}();\nauto *use() {{ return &{name}; }}\n')
                self.expect(f"baseline/plan.cpp.o: refers to {name}")

    def test_streams(self):
        for name in ("cout", "cerr"):
            with self.subTest(name):
                self.plant("avx2", f"namespace std {{ extern int {name}[]; }}\nstatic int use() {{ return *std::{name}; }}\n"
                                   "static auto *volatile p = &use;\n")
                self.assertTrue(any(f"avx2/statistics.cpp.o: refers to _ZSt4{name}" in line for line in self.findings()))

    def test_allowed(self):
        self.plant("baseline", 'extern "C" { void snprintf(); void vsnprintf(); }\nvoid g();\n'
                               "auto *a() { return &snprintf; }\nauto *b() { return &vsnprintf; }\n"
                               "void f() noexcept { g(); }\n")
        self.assertEqual(self.findings(), [])


class Instructions(Library):
    def expect_above(self, isa, code):
        mnemonic = code.split()[0]
        with self.subTest(f"{isa}: {code}"):
            self.plant(isa, code=f"{CODE[isa]}; {code}")
            self.expect(f"{isa}/", f": above the ISA, {mnemonic}")

    def test_above_sse2(self):
        for code in ("haddps %xmm0, %xmm1", "pshufb %xmm0, %xmm1", "blendvps %xmm0, %xmm1, %xmm2",
                     "roundss $1, %xmm0, %xmm1", "pmovzxwd %xmm0, %xmm1", "vaddps %xmm0, %xmm1, %xmm2", "vzeroupper"):
            self.expect_above("sse2", code)
        self.plant("sse2")
        for code in ("popcnt %eax, %ecx", "vmovss %xmm0, %xmm1, %xmm2", "kmovw %eax, %k1", "shlx %eax, %ecx, %edx"):
            self.expect_above("baseline", code)

    def test_above_avx2(self):
        for code in ("vaddps %zmm0, %zmm1, %zmm2", "kmovw %eax, %k1", "vaddps %ymm16, %ymm1, %ymm2",
                     "vmovaps %xmm31, %xmm1", "vaddph %xmm1, %xmm2, %xmm3", "vaesenc %ymm0, %ymm1, %ymm2"):
            self.expect_above("avx2", code)

    def test_above_avx512(self):
        for code in ("vpdpbusd %zmm0, %zmm1, %zmm2", "vdpbf16ps %zmm0, %zmm1, %zmm2", "vcvtneps2bf16 %zmm0, %ymm1",
                     "vpermb %zmm0, %zmm1, %zmm2", "vpshldd $1, %zmm0, %zmm1, %zmm2", "vpcompressb %zmm0, %zmm1",
                     "vpmadd52luq %zmm0, %zmm1, %zmm2", "vpopcntd %zmm0, %zmm1", "vpopcntb %zmm0, %zmm1",
                     "vaddph %zmm0, %zmm1, %zmm2", "vfmadd231ph %zmm0, %zmm1, %zmm2", "vaddsh %xmm0, %xmm1, %xmm2",
                     "vcvtph2psx %ymm0, %zmm1", "vgf2p8mulb %zmm0, %zmm1, %zmm2", "vpclmullqlqdq %zmm0, %zmm1, %zmm2"):
            self.expect_above("avx512", code)

    def test_above_avx512bf16(self):
        self.expect_above("avx512", "vcvtne2ps2bf16 %zmm0, %zmm1, %zmm2")
        self.plant("avx512")
        for code in ("vdpbf16ps %zmm0, %zmm1, %zmm2", "vcvtneps2bf16 %zmm0, %ymm1", "vpermb %zmm0, %zmm1, %zmm2"):
            self.expect_above("avx512bf16", code)

    def test_within(self):
        self.plant("sse2", code="cvtps2dq %xmm0, %xmm1; pshufd $1, %xmm0, %xmm1; sqrtsd %xmm0, %xmm1; verr %ax")
        self.plant("avx512", code="vpermt2w %zmm0, %zmm1, %zmm2; vcvtph2ps %ymm0, %zmm1; vpconflictd %zmm0, %zmm1; "
                                  "vpmovb2m %zmm0, %k1; vrangeps $1, %ymm17, %ymm1, %ymm2; vcvtps2ph $0, %zmm0, %ymm1")
        self.assertEqual(self.findings(), [])

    def test_floors(self):
        self.plant("avx2", code="vfmadd231ss %xmm0, %xmm1, %xmm2")
        self.expect("avx2/statistics.cpp.o: no ymm in its code")
        self.plant("avx2", code="vaddps %ymm0, %ymm1, %ymm2")
        self.expect("avx2/statistics.cpp.o: no vfmadd in its code")
        self.plant("avx2")
        self.plant("avx512", code="vfmadd231ps %ymm0, %ymm1, %ymm2")
        self.expect("avx512/statistics.cpp.o: no zmm in its code")


class Arm(unittest.TestCase):
    """As objdump prints them: an assembler for AArch64 may not be there."""

    @staticmethod
    def above(*code):
        lines = "\n".join(f"  {4 * i:3x}:\t{line}" for i, line in enumerate(code))
        return [name for name, _ in instructions.above("neon", f"x.o:     file format elf64-littleaarch64\n\n{lines}\n")]

    def test_above(self):
        for code in ("fadd\tv0.8h, v1.8h, v2.8h", "fmla\tv0.4h, v1.4h, v2.4h", "fadd\th0, h1, h2", "fcmp\th0, h1",
                     "bfcvtn\tv0.4h, v1.4s", "sdot\tv0.4s, v1.16b, v2.16b", "smmla\tv0.4s, v1.16b, v2.16b",
                     "sqrdmlah\tv0.4s, v1.4s, v2.4s", "fcadd\tv0.4s, v1.4s, v2.4s, #90", "ldadd\tx0, x1, [x2]",
                     "casal\tx0, x1, [x2]", "swpal\tw0, w1, [x2]", "ldaprb\tw0, [x1]", "aese\tv0.16b, v1.16b",
                     "pmull\tv0.1q, v1.1d, v2.1d", "crc32b\tw0, w1, w2", "fadd\tz0.s, z1.s, z2.s", "ptrue\tp0.s",
                     "ld1w\t{z0.s}, p0/z, [x0]", "fmlal\tv0.4s, v1.4h, v2.4h", "fjcvtzs\tw0, d1", "sb"):
            with self.subTest(code):
                self.assertEqual(self.above(code), [code.split("\t", maxsplit=1)[0]])

    def test_within(self):
        self.assertEqual(self.above(
            "fcvt\ts0, h1", "fcvt\th0, s1", "fcvtl\tv0.4s, v1.4h", "fcvtn2\tv0.8h, v1.4s", "fmla\tv0.4s, v1.4s, v2.4s",
            "mov\tv0.h[1], w1", "umov\tw0, v1.h[2]", "dup\tv0.8h, w1", "add\tv0.8h, v1.8h, v2.8h", "xtn\tv0.4h, v1.4s",
            "shrn\tv0.4h, v1.4s, #16", "ldr\th0, [x0]", "b.eq\t98 <.text+0x98>  // b.none", "bfi\tw0, w1, #2, #3",
            "bfxil\tw0, w1, #2, #3", "paciasp", "csdb", "sri\tv0.4s, v1.4s, #16", "subs\tx0, x1, x2",
            "stur\th0, [x0, #-2]", "ldaxr\tw0, [x1]", "stlxr\tw2, w0, [x1]", "scvtf\ts0, w1"), [])

    def test_unknown_architecture(self):
        self.assertEqual(list(instructions.above("neon", "x.o: file format elf64-littleriscv\n  0:\tret\n")),
                         [("?", "no ceiling is known for neon in elf64-littleriscv")])


class Missing(Library):
    def test_object(self):
        self.object_of(self.root, "avx2").unlink()
        self.expect("rownorm_kernels_avx2.dir/kernels/statistics.cpp.o: there is no such object")

    def test_folder(self):
        shutil.rmtree(self.object_of(self.root, "avx512").parent)
        self.expect("rownorm_kernels_avx512.dir/kernels/statistics.cpp.o: there is no such object")

    def test_family(self):
        (self.root / "lib" / "kernels" / "more.cpp").touch()
        found = " ".join(self.findings())
        self.assertIn("rownorm_kernels_avx512.dir/kernels/more.cpp.o: there is no such object", found)
        self.assertNotIn("rownorm_kernels_avx512bf16.dir/kernels/more.cpp.o", found)

    def test_source_folder(self):
        shutil.rmtree(self.root / "lib" / "kernels")
        self.assertIn("no source files for avx512", " ".join(self.findings()))

    def test_empty_object(self):
        self.object_of(self.root, "sse2").write_bytes(b"")
        with self.assertRaises(subprocess.CalledProcessError):
            self.findings()


def load_tests(_loader, tests, _pattern):
    """Nothing here is about other CPUs than x86-64."""
    return tests if platform.machine() in ("x86_64", "AMD64") else unittest.TestSuite()


if __name__ == "__main__":
    unittest.main()
