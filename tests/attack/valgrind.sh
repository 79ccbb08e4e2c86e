#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A smoke set under valgrind's memcheck, on the ISAs that it knows: tests/attack/valgrind.sh [BUILD]
# (build/release if none is named). Exits with 1 if memcheck reports anything or a program fails.
#
# The calls of replay_abi have every row in memory of its own, so that an access past its end is seen; the kit of the
# suite surrounds rows by a pattern instead. Left out are a case that compares with long double, which has 64 bits
# here, and one whose own code GCC compiles to a look at an optional's value before the question whether it has one.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:-$here/../../build/release}") || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ROWNORM_NUM_THREADS=1 ROWNORM_TEST_SCALE=0.01
failed=0

check() { # NAME PROGRAM [ARGUMENT...]
    local name=$1 begin=$SECONDS verdict=passed program=$build/bin/$2
    shift 2
    if ! valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite "$program" "$@" >"$work/log" 2>&1; then
        verdict=FAILED
        failed=1
        grep -v '^/' "$work/log" | head -n 25
    fi
    printf '%-16s %-5s %4d s  %s\n' "$name" "$isa" $((SECONDS - begin)) $verdict
}

python3 -B "$here/../fuzz/make_seeds.py" "$work/seeds" || exit 1
mkdir "$work/few" && cp "$work"/seeds/abi/*[05] "$work/few" || exit 1
for isa in sse2 avx2; do
    export ROWNORM_MAX_ISA=$isa
    check "the C ABI" rownorm_tests --test-suite='ABI: *,one-line calls,aliasing,layout' --test-case-exclude='*eps of -0*,random layouts*'
    check "calls by chance" replay_abi "$work/few"
    check "hashes" rownorm_hashes --isa $isa --check "$here/../golden/hashes.txt"
done
exit $failed
