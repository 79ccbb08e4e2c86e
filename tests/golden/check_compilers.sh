#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The golden hashes under every compiler and optimisation level: builds the library and rownorm_hashes with
# each, and asks each for the very same lines on every ISA of this machine.
#
#   check_compilers.sh WORK_FOLDER           builds under WORK_FOLDER; exits 1 if any build fails or differs
#   COMPILERS="g++ clang++" LEVELS="-O1 -O2 -O3" JOBS=2    which, and how many at once; without COMPILERS
#                                            g++, clang++ and the newest clang++-N that is installed
set -u

work=${1:?usage: check_compilers.sh WORK_FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
failures=0

newest_clang() {
  for folder in $(echo "$PATH" | tr : ' '); do ls "$folder" 2>/dev/null; done |
    grep -x 'clang++-[0-9]*' | sort -t - -k 2 -n | tail -n 1
}

configure_and_build() { # COMPILER LEVEL FOLDER
  # The level is that of all code: kernels, the rest of the library, and the program that makes inputs.
  cmake -S "$source" -B "$3" -G Ninja -D CMAKE_CXX_COMPILER="$1" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE="$2" -D ROWNORM_KERNEL_OPTIMIZATION="$2" \
    -D ROWNORM_BUILD_TOOLS=OFF -D ROWNORM_BUILD_BENCH=OFF &&
    ninja -C "$3" -j "${JOBS:-2}" rownorm rownorm_hashes
}

check() { # COMPILER LEVEL
  begin=$(date +%s)
  folder=$work/$1$2
  mkdir -p "$folder"
  if ! configure_and_build "$1" "$2" "$folder" >"$folder/build.log" 2>&1; then
    tail -n 20 "$folder/build.log"
    echo "$1 $2: does not build"
    return 1
  fi
  if ! "$folder/bin/rownorm_hashes" --check "$here/hashes.txt" >"$folder/check.log" 2>&1; then
    head -n 20 "$folder/check.log"
    echo "$1 $2: other hashes"
    return 1
  fi
  echo "$1 $2: the golden hashes, after $(($(date +%s) - begin)) s"
}

checked=0
for compiler in ${COMPILERS:-g++ clang++ $(newest_clang)}; do
  for level in ${LEVELS:--O1 -O2 -O3}; do
    checked=$((checked + 1))
    check "$compiler" "$level" || failures=$((failures + 1))
  done
done
echo "$checked builds, $failures failed"
[ "$checked" -gt 0 ] && [ "$failures" -eq 0 ]
