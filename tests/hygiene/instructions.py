# SPDX-License-Identifier: Apache-2.0
"""Which instructions lie above an ISA, judged by mnemonics and registers as objdump prints them (x86: AT&T)."""
import re

LINE = re.compile(r"^ *[0-9a-f]+:[ \t]+(?:(?:lock|rep|repz|repnz|notrack|bnd|data16|cs|ds|es|ss|fs|gs|\{vex\}|\{evex\}) )*"
                  r"([a-z][a-z0-9]*)[ \t]*(.*)$", re.MULTILINE)

# Beyond x86-64: what is neither VEX-encoded nor in the baseline. (tzcnt is left out: without BMI it is `rep bsf`,
# which compilers write for every CPU and which gives the same for operands that are not zero.)
SSE3 = "addsubp[sd] haddp[sd] hsubp[sd] lddqu movddup movs[hl]dup fisttp[a-z]* monitor mwait"
SSSE3 = "pshufb ph(add|sub)(w|d|sw) pmaddubsw pmulhrsw psign[bwd] palignr pabs[bwd]"
SSE41 = ("blendv?p[sd] pblendvb pblendw dpp[sd] extractps insertps movntdqa mpsadbw packusdw pcmpeqq pextr[bdq] "
         "pinsr[bdq] phminposuw pmaxs[bd] pmaxu[wd] pmins[bd] pminu[wd] pmov[sz]x[a-z]* pmuldq pmulld ptest "
         "rounds?[sdp][sd]?")
SSE42 = "pcmp[ei]str[im] pcmpgtq crc32[bwlq]? popcnt[wlq]?"
CRYPTO = "aes[a-z0-9]* pclmul[a-z]* sha1[a-z0-9]* sha256[a-z0-9]* gf2p8[a-z]*"
# In no ISA of the library: its flags do not name them and its CPU check does not ask for them.
GENERAL = ("lzcnt[wlq]? andn[lq]? bextr[lq]? bls(i|r|msk)[lq]? bzhi[lq]? mulx[lq]? pdep[lq]? pext[lq]? rorx[lq]? "
           "s(ar|hl|hr)x[lq]? movbe[wlq]? ad[co]x[lq]? cmpxchg16b extrq insertq movntss movntsd")
FOREIGN = ("vaes[a-z0-9]* vpclmul[a-z]* vgf2p8[a-z]* vpdp[a-z]* vdpbf16ps vcvtneps2bf16 vcvtneeph2ps vcvtneebf162ps vcvtneobf162ps vcvtneoph2ps vbcstne[a-z0-9]* vpmadd52[a-z]* "
           "vpermb vperm[it]2b vpmultishiftqb vpcompress[bw] vpexpand[bw] vpsh[lr]dv?[wdq] vpopcnt[bwdq] vpshufbitqmb "
           "vp2intersect[dq] vexp2p[sd] vrcp28[sp][sd] vrsqrt28[sp][sd] vp4dp[a-z]* v4fn?madd[sp]s v[a-z0-9]*sh "
           "v(add|sub|mul|div|sqrt|max|min|cmp|rcp|rsqrt|reduce|rndscale|scalef|getexp|getmant|fpclass)ph "
           "vfn?m(add|sub|addsub|subadd)[0-9]+ph vfc?m(add|ul)c[sp]h vcvtph2(psx|pd|u?dq|u?qq|u?w) vcvt[a-z0-9]+2phx? "
           "vmovw vfn?m(add|sub)[sp][sd] vgather[a-z]*pf[a-z]* vscatterpf[a-z]* vgatherpf[a-z]* prefetchwt1 tdp[a-z0-9]* "
           "tile[a-z]*")


def matcher(*lists):
    words = "|".join(" ".join(lists).split())
    return re.compile(rf"(?:{words})$")


ABOVE_SSE2 = matcher(SSE3, SSSE3, SSE41, SSE42, CRYPTO, GENERAL)
VEX = re.compile(r"v(?!err$|erw$|mcall$|mmcall$)|k(mov|and|or|xor|xnor|not|add|shift|test|unpck)[a-z]*$")
BEYOND_ALL = matcher(CRYPTO, GENERAL, FOREIGN)
BF16 = re.compile(r"vcvtne2ps2bf16$")
WITHIN = re.compile(r"vcvtps2ph$")  # F16C, whatever the lists above say
HIGH_REGISTER = re.compile(r"%[xy]mm(1[6-9]|2\d|3[01])\b|%zmm|%k[0-7]\b")
ANY_VECTOR_ABOVE = re.compile(r"%[yz]mm|%[k][0-7]\b|%xmm(1[6-9]|2\d|3[01])\b|%tmm")


def lines(code):
    return LINE.findall(code)


def above_baseline(mnemonic, operands):
    return bool(ABOVE_SSE2.match(mnemonic) or VEX.match(mnemonic) or ANY_VECTOR_ABOVE.search(operands))


def above_avx2(mnemonic, operands):
    return above_avx512(mnemonic, operands) or bool(HIGH_REGISTER.search(operands))


def above_avx512(mnemonic, operands):
    return above_avx512bf16(mnemonic, operands) or bool(BF16.match(mnemonic))


def above_avx512bf16(mnemonic, operands):
    return bool(BEYOND_ALL.match(mnemonic)) and not WITHIN.match(mnemonic) or "%tmm" in operands


# AArch64: whatever ARMv8.0-A with Advanced SIMD lacks. Half-precision numbers are converted there, not computed with:
# an arithmetic instruction has them as .4h, .8h or a scalar h register.
ARM_LATER = matcher(
    "ld(add|clr|eor|set|smax|smin|umax|umin)[a-z]* st(add|clr|eor|set|smax|smin|umax|umin)l?[bh]? swp[a-z]* cas[a-z]* "
    "ldap[a-z]* stlur[a-z]* crc32[a-z]* aes[a-z]* sha(1|256|512)[a-z0-9]* sm[34][a-z0-9]* eor3 bcax rax1 xar "
    "sqrdml[as]h [su]dot usdot sudot [su]mmla usmmla bf[a-z]*[0-9]* fml[as]l2? fcadd fcmla fjcvtzs frint(32|64)[xz] "
    "setf(8|16) rmif cfinv sb wfet ld64b st64b[a-z0-9]*")
ARM_HALF_ARITHMETIC = re.compile(
    r"f(abd|abs|add|ac[gl][et]|cm[a-z]+|ccmp|csel|div|ma?x|min|max|maxnm|minnm|mla|mls|mul|mulx|neg|nmul|madd|msub|"
    r"nmadd|nmsub|recp[esx]|rsqrt[es]|rint[a-z]|sqrt|sub|addp|maxp|minp|maxnmp|minnmp|max[a-z]*v|min[a-z]*v|"
    r"cvt[amnpz][su])$|[su]cvtf$")
ARM_HALF = re.compile(r"\.[48]h\b|\bh\d+\b|\.h\[")
ARM_SCALABLE = re.compile(r"\bz\d+\b|\bp\d+(\.[bhsd]|/[mz])?(?=[,\s}]|$)")


def above_armv8(mnemonic, operands):
    if ARM_LATER.match(mnemonic) or ARM_SCALABLE.search(operands.split("//")[0]):
        return mnemonic not in ("bfi", "bfxil", "bfc", "bfm")
    return bool(ARM_HALF_ARITHMETIC.match(mnemonic) and ARM_HALF.search(operands)) or ".1q" in operands


X86_CEILINGS = {"baseline": above_baseline, "sse2": above_baseline, "avx2": above_avx2, "avx512": above_avx512,
                "avx512bf16": above_avx512bf16}
ARM_CEILINGS = {"baseline": above_armv8, "neon": above_armv8}
CEILINGS = {"elf64-x86-64": X86_CEILINGS, "elf64-littleaarch64": ARM_CEILINGS}


def above(isa, code):
    """The first instruction of each mnemonic above the ISA, as (mnemonic, text)."""
    format_name = re.search(r"file format (\S+)", code)
    ceilings = CEILINGS.get(format_name[1] if format_name else "")
    if ceilings is None or isa not in ceilings:
        yield "?", f"no ceiling is known for {isa} in {format_name and format_name[1]}"
        return
    seen = set()
    for mnemonic, operands in lines(code):
        if mnemonic not in seen and ceilings[isa](mnemonic, operands):
            seen.add(mnemonic)
            yield mnemonic, f"{mnemonic} {operands}".strip()
