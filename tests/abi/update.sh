#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Describes the binary interface anew, after a change of it that is meant: writes tests/abi/librownorm.abi. The
# difference in it is what to review, beside the version in rownorm.h.
#
#   sh tests/abi/update.sh [BUILD_FOLDER]     build/release without one
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=${1:-$source/build/release}

[ -e "$build/CMakeCache.txt" ] || cmake -S "$source" -B "$build" -G Ninja
cmake --build "$build" --target rownorm_described
sh "$here/abi.sh" describe "$build/tests/abi/librownorm.so" "$source/include" >"$here/librownorm.abi.new"
mv "$here/librownorm.abi.new" "$here/librownorm.abi"
