#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds the release preset and runs the whole test suite, on all cores.
# Arguments are handed on to ctest:  sh tools/test.sh -R command
set -eu
cd "$(dirname "$0")/.."

sh tools/install-deps.sh build tests
cmake --preset release
cmake --build --preset release

CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL
exec ctest --preset release "$@"
