#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every fuzz target, one after the other: tests/fuzz/run.sh SECONDS [TARGET...]. Build them before:
#   cmake --preset fuzz && cmake --build build/fuzz --target fuzz_abi fuzz_headers fuzz_command
# Exits with 1 if a target finds anything: a crash, a sanitizer's report, a leak, a wrong answer, an input that
# takes a minute, an allocation of 512 MiB. What it found is in BUILD/fuzz/TARGET/found-*; once the fault is mended, the
# input goes to tests/fuzz/found/TARGET, where the suite replays it. FUZZ_BUILD names another build folder.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${FUZZ_BUILD:-$here/../../build/fuzz}") || exit 1
seconds=${1:?"usage: $0 SECONDS [TARGET...]"}
shift
targets=("$@")
[ $# -gt 0 ] || targets=(headers command abi)
failed=0

export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export ROWNORM_NUM_THREADS=2
python3 -B "$here/make_seeds.py" "$build/fuzz/seeds" || exit 1
for target in "${targets[@]}"; do
    work=$build/fuzz/$target
    mkdir -p "$work/corpus"
    inputs=("$work/corpus" "$build/fuzz/seeds/$target")
    [ ! -d "$here/found/$target" ] || inputs+=("$here/found/$target")
    options=(-max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=4096
        -artifact_prefix="$work/found-" -print_final_stats=1)
    [ "$target" != headers ] || options+=(-dict="$here/headers.dict" -max_len=20000)
    [ "$target" != command ] || options+=(-dict="$here/headers.dict")
    # The outer limit is for a target that hangs where libFuzzer's own alarm cannot end it.
    if ! timeout -k 10 $((seconds + 300)) "$build/bin/fuzz_$target" "${options[@]}" "${inputs[@]}" >"$work/log" 2>&1; then
        printf '%s FOUND SOMETHING, see %s\n' "$target" "$work/log"
        grep -m1 -A2 -E 'FINDING|ERROR|runtime error' "$work/log"
        failed=1
    fi
    printf '%-8s %s inputs run\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")"
done
exit $failed
