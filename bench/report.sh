#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures this machine and makes the tables and pictures of bench/README.md anew, in seven minutes:
#
#   sh bench/report.sh build/bench/bin/rownorm_bench [FLAG OF ROWNORM_BENCH...]
#   TABLES=bench/zen4.md sh bench/report.sh ...        the tables of another machine, in a file of their own
#
# Nothing else should run meanwhile. Each cell is measured five times, at random moments, and the median kept. The
# measurements stay beside the program: rownorm_bench.json, rownorm_slices.json for slices of wider rows, and
# rownorm_sweep.json for the cost over lengths and batches. Without matplotlib there are no pictures, and it says so.
set -eu

[ $# -ge 1 ] || { echo "usage: sh bench/report.sh ROWNORM_BENCH [FLAG...]" >&2 && exit 2; }
bench=$1
shift
here=$(dirname "$0")
json=$(dirname "$bench")/rownorm_bench.json
slices=$(dirname "$bench")/rownorm_slices.json
sweep=$(dirname "$bench")/rownorm_sweep.json

measure() {
    "$bench" --benchmark_min_time=0.01 --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true \
        --benchmark_format=json "$@"
}

measure "$@" >"$json"
measure "$@" --from=slices --shapes=prefill,heads --threads=1 --isa=default --peers=off --limits=off \
    --benchmark_filter=from:slices >"$slices"
measure "$@" --shapes=1x64,1x256,1x1024,1x65536,1x262144,4x4096,16x4096,256x4096 --types=f32,bf16 \
    --threads=1 --from=repeated --peers=off >"$sweep"
python3 -B "$here/tables.py" "$json" "$slices" --update --readme "${TABLES:-$here/README.md}"
python3 -B "$here/../tools/plot_bench.py" "$json" "$sweep" --types=f32,bf16 -o "$here/pictures"
