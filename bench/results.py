# SPDX-License-Identifier: Apache-2.0
"""Reads rownorm_bench's JSON: one Cell per name, medians where runs were repeated."""
import dataclasses
import json
import pathlib
import re
import statistics

LIMITS = ("memcpy", "nt_copy", "triad", "read", "memcpy_read_w")
OPS = ("rms_norm", "partial_rms_norm", "add_rms_norm", "layer_norm", "l2_norm")
NAME = re.compile(r"(?P<op>\w+)/(?P<types>\w+)/(?P<contestant>\w+)/rows:(?P<rows>\d+)/cols:(?P<cols>\d+)"
                  r"/threads:(?P<threads>\d+)(?:/from:(?P<place>\w+))?")


@dataclasses.dataclass(frozen=True)
class Cell:
    op: str
    types: str
    contestant: str
    rows: int
    cols: int
    threads: int
    place: str
    level: str  # the smallest cache that holds a run
    rate: float  # bytes a second
    ns_row: float
    share: float  # of the best limit; 0 for limits

    @property
    def shape(self):
        return f"{self.rows}x{self.cols}"

    @property
    def bytes(self):
        return self.rate * self.ns_row * self.rows * 1e-9


class Results:
    """The cells of a run, and what it says of its machine."""

    def __init__(self, cells, context, calls):
        self.cells = cells
        self.calls = calls  # ns of CPU time, by the name of the call
        measured = {c.contestant for c in cells}
        self.isas = [isa for isa in ("default", *context["rownorm isas"].split()) if isa in measured]  # best first
        self.context = context

    def where(self, **wanted):
        return [c for c in self.cells if all(getattr(c, name) == value for name, value in wanted.items())]

    def one(self, **wanted):
        found = self.where(**wanted)
        return found[0] if len(found) == 1 else None

    def contestants(self, cells):
        """Those of the cells, the library's ISAs first, limits left out."""
        names = {c.contestant for c in cells} - {"limit"}
        return [isa for isa in self.isas if isa in names] + sorted(names - set(self.isas))

    def peers(self):
        """In the order of their names."""
        return sorted({c.contestant for c in self.cells} - {"limit", *self.isas})

    def types(self):
        """In the order of registration."""
        return list(dict.fromkeys(c.types for c in self.cells))

    def machine(self):
        c = self.context
        return f"{c['cpu']}, {c['measured GHz']} GHz, {c['caches']}, noise {c['noise'].split(' %')[0]} %"


def median_of(runs, counter):
    return statistics.median(run.get(counter, 0.0) for run in runs)


def cell_of(name, runs):
    match = NAME.fullmatch(name)
    if not match:
        return None  # call/..., which moves no rows to speak of
    part = match.groupdict()
    return Cell(part["op"], part["types"], part["contestant"], int(part["rows"]), int(part["cols"]),
                int(part["threads"]), part["place"] or "repeated", runs[0].get("label", ""),
                median_of(runs, "bytes/s"), median_of(runs, "ns/row"), median_of(runs, "share"))


def order(run):
    """The order of registration, which random interleaving does not keep."""
    return run.get("family_index", 0)


def parse(file):
    """Context and runs of one file."""
    try:
        report = json.loads(pathlib.Path(file).read_text())
        context, runs = report["context"], report["benchmarks"]
        context["rownorm isas"]
        return context, runs
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: no JSON of rownorm_bench ({error})") from None


def read(*files):
    """Files of one machine, as one. Raises ValueError if a file is none of rownorm_bench's."""
    reports = [parse(file) for file in files]
    context = reports[0][0]
    if any(other["cpu"] != context["cpu"] for other, _ in reports):
        raise ValueError(f"{', '.join(map(str, files))}: of different CPUs")
    runs = [run for _, more in reports for run in sorted(more, key=order)]
    named = {}
    for run in runs:
        if run.get("run_type") == "aggregate" and run.get("aggregate_name") != "median":
            continue
        if not run.get("error_occurred"):
            named.setdefault(run["run_name"], []).append(run)
    cells = [cell for name, runs in named.items() if (cell := cell_of(name, runs))]
    calls = {name.split("/")[1]: median_of(runs, "cpu_time")
             for name, runs in named.items() if name.startswith("call/")}
    if not cells:
        raise ValueError(f"{', '.join(map(str, files))}: no benchmark of rows")
    return Results(cells, context, calls)
