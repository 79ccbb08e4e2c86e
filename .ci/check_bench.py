# SPDX-License-Identifier: Apache-2.0
"""Checks a JSON file of rownorm_bench: nothing failed, every ISA and limit is there, every norm has its counters.

    python3 .ci/check_bench.py FILE
"""
import json
import pathlib
import sys


def problems(runs, isas):
    for run in runs:
        if run.get("error_occurred"):
            yield f"{run['name']}: {run['error_message']}"
        elif not run["name"].startswith("call/") and not run.get("bytes/s", 0) > 0:
            yield f"{run['name']}: no bytes/s"
    contestants = {tuple(run["name"].split("/")[:3]) for run in runs}
    for op in ("rms_norm", "partial_rms_norm", "add_rms_norm", "layer_norm", "l2_norm"):
        for types in ("f32", "f16", "bf16", "bf16_w_f32", "f32_y_bf16", "f64"):
            for isa in isas:
                if (op, types, isa) not in contestants:
                    yield f"no benchmark {op}/{types}/{isa}"
    for limit in ("memcpy", "triad", "read"):
        if (limit, "f32", "limit") not in contestants:
            yield f"no limit {limit}"


def main(file):
    report = json.loads(pathlib.Path(file).read_text())
    runs, isas = report["benchmarks"], report["context"]["rownorm isas"].split()
    found = list(problems(runs, isas))
    print("\n".join(found))
    print(f"{len(runs)} benchmarks ran on {', '.join(isas)}; {len(found)} problems")
    sys.exit(1 if found or not runs else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
