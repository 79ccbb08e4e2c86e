# SPDX-License-Identifier: Apache-2.0
"""What the library is held to, as ratios of times that one run of rownorm_bench measured, and which cells miss it."""
import dataclasses
import statistics

import results

MOST_NAMED = 12  # cells that miss a target; the others are counted by their shape
MIXES = ("bf16_w_f32", "f32_y_bf16")


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    at_most: float
    ratios: list  # (ratio, cell)

    def row(self):
        ratios = sorted(((round(ratio, 2), cell) for ratio, cell in self.ratios), key=lambda found: -found[0])
        missing = [(ratio, cell) for ratio, cell in ratios if ratio > round(self.at_most, 2)]
        named = [f"{name(cell)} {ratio:.2f}" for ratio, cell in missing[:MOST_NAMED]]
        values = [ratio for ratio, _ in ratios]
        return [self.what, f"{self.at_most:.2f}", str(len(values)), f"{statistics.median(values):.2f}",
                f"{values[0]:.2f}", ", ".join(named + by_shape(missing[MOST_NAMED:])) or "none"]


def name(cell):
    """As short as it is told apart."""
    return " ".join([cell.op, cell.types, cell.shape] + ([] if cell.place == "repeated" else [cell.place]) +
                    ([] if cell.threads == 1 else [f"{cell.threads} threads"]))


def by_shape(found):
    """So many more of each shape, up to which ratio."""
    shapes = {}
    for ratio, cell in found:
        shapes.setdefault(cell.shape, []).append(ratio)
    return [f"{len(ratios)} more of {shape} to {max(ratios):.2f}" for shape, ratios in shapes.items()]


def key(cell, **other):
    """What two cells have in common that are compared, but for what is named."""
    parts = {"op": cell.op, "types": cell.types, "shape": cell.shape, "place": cell.place, "threads": cell.threads}
    return tuple({**parts, **other}.values())


def cells_of(data, contestant):
    return {key(c): c for c in data.where(contestant=contestant) if c.op in results.OPS}


def beside(cells, others, picks, **other):
    """The time of each cell over that of the same one among the others, but for what is named."""
    pairs = ((c, others.get(key(c, **other))) for c in cells.values() if picks(c))
    return [(c.ns_row / o.ns_row, c) for c, o in pairs if o]


def beside_same_bytes(cells):
    """Mixes of bf16 and f32 beside as many bytes of rows of one type, between those of both. Where the gain comes from
    memory, its bytes count alone: they are those of an f32 one in each mix."""
    found = []
    for c in cells.values():
        half, full = (cells.get(key(c, types=types)) for types in ("bf16", "f32"))
        if c.types in MIXES and half and full:
            part = 1.0 if c.place == "cold_weight" else (c.bytes - half.bytes) / (full.bytes - half.bytes)
            found.append((c.ns_row / (half.ns_row + part * (full.ns_row - half.ns_row)), c))
    return found


def all_targets(data):
    default, avx2, sse2 = (cells_of(data, isa) for isa in ("default", "avx2", "sse2"))

    def serial(c):
        return c.threads == 1

    def is_dense(c):  # of slices, only what they cost beside dense rows is asked
        return c.place != "slices"

    def far_f32(c):
        return serial(c) and c.types == "f32" and c.place == "repeated" and c.level in ("L3", "memory")

    yield Target("what a plan chooses, beside avx2", 1.05, beside(default, avx2, serial))
    yield Target("sse2 beside avx2, f32 from L3 and memory", 5.0,
                 beside(sse2, avx2, lambda c: far_f32(c) and c.op != "layer_norm"))
    yield Target("LayerNorm of sse2 beside avx2, f32 from L3 and memory", 7.0,
                 beside(sse2, avx2, lambda c: far_f32(c) and c.op == "layer_norm"))
    for level, at_most in (("L2", 1.0), ("L3", 1 / 1.5), ("memory", 1 / 1.3)):
        yield Target(f"several threads beside one, {level}", at_most,
                     beside(default, default, lambda c, at=level: c.threads > 1 and c.level == at, threads=1))
    yield Target("mixed types beside the same bytes of one type", 1.1,
                 beside_same_bytes({k: c for k, c in default.items() if serial(c) and is_dense(c)}))
    yield Target("slices of wider rows beside dense rows", 1.1,
                 beside(default, default, lambda c: serial(c) and c.place == "slices", place="repeated"))
    yield Target("RMSNorm beside LayerNorm", 1.0,
                 beside(default, default, lambda c: serial(c) and is_dense(c) and c.op == "rms_norm", op="layer_norm"))
    for peer in data.peers():
        yield Target(f"what a plan chooses, beside {peer}", 1.0, beside(default, cells_of(data, peer), serial))


HEAD = ["target", "at most", "cells", "median", "highest", "what misses it"]


def rows(data):
    return [target.row() for target in all_targets(data) if target.ratios]


CALL_HEAD = ["one row of 128 f32", "ns", "beyond the kernels", "at most"]


def call_rows(data):
    """What a call costs beyond the kernels themselves, in ns."""
    kernels = data.calls.get("kernels")
    if kernels is None:
        return []
    most = {"execute_part": "12", "one_line": "20"}
    return [[call, f"{ns:.1f}", f"{ns - kernels:.1f}", most.get(call, "")] for call, ns in data.calls.items()]
