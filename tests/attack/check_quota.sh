#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The default number of threads under cgroup quotas: check_quota.sh PROBE SHIM
set -u
probe=$1 shim=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/proc/self" "$root/sys/fs/cgroup"
unset ROWNORM_NUM_THREADS
failed=0

threads() { ROWNORM_FAKE_ROOT=$root LD_PRELOAD=$shim "$probe" num-threads | sed 's/threads //'; }

expect() { # WHAT THREADS
    local found
    found=$(threads)
    [ "$found" = "$2" ] || { printf '%s: %s threads, expected %s\n' "$1" "$found" "$2" && failed=1; }
}

quota() { # GROUP TEXT
    mkdir -p "$root/sys/fs/cgroup$1"
    printf '%s\n' "$2" >"$root/sys/fs/cgroup$1/cpu.max"
}

cpus=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
if [ "$cpus" -lt 2 ]; then
    echo "one CPU: no quota can be told from it"
    exit 77
fi
expect "no cgroup files" "$cpus"
printf '0::/a/b\n' >"$root/proc/self/cgroup"
quota /a/b "max 100000"
expect "no limit" "$cpus"
quota /a/b "100000 100000"
expect "one CPU" 1
quota /a/b "190000 100000"
expect "1.9 CPUs" 1
quota /a/b "50000 100000"
expect "half a CPU" 1
quota /a/b "10000000 100000"
expect "100 CPUs" "$cpus"
quota /a "100000 100000"
expect "one CPU for the parent" 1
quota /a "nonsense"
expect "a file that says nothing" "$cpus"
quota /a "100000 0"
expect "a period of 0" "$cpus"
quota "" "100000 100000"
expect "one CPU at the root" 1
rm "$root/sys/fs/cgroup/cpu.max"
mkdir -p "$root/sys/fs/cgroup/cpu"
echo 100000 >"$root/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
echo 100000 >"$root/sys/fs/cgroup/cpu/cpu.cfs_period_us"
printf '4:cpu:/\n' >"$root/proc/self/cgroup"
expect "version 1" 1
echo -1 >"$root/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
expect "version 1 without a limit" "$cpus"
[ $failed -eq 0 ] && echo "quotas: right"
exit $failed
