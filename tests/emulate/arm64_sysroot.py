#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpacks the arm64 libraries that the `aarch64` preset links with; prints their folder.

    python3 tests/emulate/arm64_sysroot.py

The compiler and the C library are the host's g++-aarch64-linux-gnu. Done once: later calls only print.
"""
import shutil

import debian

PACKAGES = ["libtbb-dev", "libxsimd-dev", "libbenchmark-dev", "libfmt-dev", "doctest-dev", "libcli11-dev",
            "libzip-dev", "nlohmann-json3-dev"]


def folder():
    return debian.cache_folder() / "arm64"


def prepare():
    target = folder()
    done = target / ".complete"
    if done.exists() and done.read_text() == " ".join(PACKAGES):
        return target
    shutil.rmtree(target, ignore_errors=True)
    apt = debian.Apt(debian.host_release(), "arm64")
    apt.update()
    apt.unpack_with_libraries(PACKAGES, target)
    apt.remove()
    done.write_text(" ".join(PACKAGES))
    return target


if __name__ == "__main__":
    print(prepare())
