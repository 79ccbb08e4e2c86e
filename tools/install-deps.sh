#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian or Ubuntu packages that are still missing for the named purposes:
#
#   sh tools/install-deps.sh build [tests] [peers] [checks] [emulate]
#
# Says nothing when all are there. Needs root or sudo, and only when something is missing.
set -eu

packages_for() {
    case $1 in
    build) echo g++ cmake ninja-build pkg-config libxsimd-dev libtbb-dev libcli11-dev libfmt-dev libzip-dev nlohmann-json3-dev ;;
    tests) echo abigail-tools binutils python3 doctest-dev libbenchmark-dev valgrind ;;
    peers) echo libeigen3-dev libdnnl-dev ;; # optional, for bench/
    checks) echo clang clang-16 clang-format clang-tidy libclang-rt-dev ;;
    emulate) echo python3 qemu-user g++-aarch64-linux-gnu gcc libc6-dev binutils lz4 ;;
    *) echo "install-deps: unknown purpose '$1': build, tests, peers, checks or emulate" >&2 && return 1 ;;
    esac
}

# The packages among the arguments that dpkg does not know as installed.
missing_of() {
    for package; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

install() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "neither root nor sudo" >&2 && return 1; }
        as_root=sudo
    fi
    # An update may fail for a source that none of these packages comes from: the install decides.
    $as_root apt-get -qq update || true
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=120 install "$@"
}

wanted=
for purpose; do
    wanted="$wanted $(packages_for "$purpose")"
done

if ! command -v apt-get >/dev/null; then
    echo "install-deps: no apt-get here; assuming that you have what these packages hold:$wanted" >&2
    exit 0
fi

# shellcheck disable=SC2086 # a list of words
missing=$(missing_of $wanted | tr '\n' ' ')
[ -n "$missing" ] || exit 0

echo "Installing: $missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! install $missing >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "install-deps: could not install: $missing" >&2
    exit 1
fi
