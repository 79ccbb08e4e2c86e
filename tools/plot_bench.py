#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what rownorm_bench measured:  plot_bench.py BENCH.json... [-o FOLDER] [--types T,...] [--format svg|png]

  roofline-TYPES   bytes/s over the bytes of a run, one panel an ISA, with what the memory system allows as lines
  peers-TYPES      bytes/s beside other implementations, one panel an op
  cost-TYPES       the best ISA's time over the length of a row and over the number of rows

Names begin with the CPU's. Only one thread and rows that are not moved out of the caches in between are drawn.
Needs matplotlib (Debian: python3-matplotlib).
"""
import argparse
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import results  # noqa: E402

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#777777")  # told apart by all eyes
MARKERS = "osD^vP"
DASHES = {"memcpy": "-", "nt_copy": "--", "triad": "-.", "read": ":"}
SERIAL = {"threads": 1, "place": "repeated"}


def points_of(cells):
    return [c.bytes for c in cells], [c.rate / 1e9 for c in cells]


def bound_of(cells):
    """A limit's line: of runs that move nearly the same, the fastest."""
    best = {}
    for cell in cells:
        near = round(4 * math.log2(cell.bytes))
        best[near] = max(cell, best.get(near, cell), key=lambda c: c.rate)
    return points_of([best[near] for near in sorted(best)])


def add_legend(figure, lines, labels, columns):
    """Below all panels, which make room for it."""
    height = (0.1 + 0.2 * -(-len(labels) // columns)) / figure.get_size_inches()[1]
    figure.get_layout_engine().set(rect=(0, height, 1, 1 - height))
    figure.legend(lines, labels, loc="lower center", ncols=columns, fontsize="small")


def draw_panel_of_isa(axes, data, types, isa):
    for limit, dash in DASHES.items():
        cells = data.where(op=limit, types=types, **SERIAL)
        if cells:
            axes.plot(*bound_of(cells), dash, color="#999999", linewidth=1.2, label=limit)
    for op, colour, marker in zip(results.OPS, COLOURS, MARKERS):
        cells = data.where(op=op, types=types, contestant=isa, **SERIAL)
        if cells:
            axes.plot(*points_of(cells), marker, color=colour, markersize=5, label=op)
    axes.set_xscale("log", base=2)
    axes.set_title(isa)
    axes.set_xlabel("bytes of a run")
    axes.grid(True, alpha=0.3)


def draw_roofline(pyplot, data, types):
    isas = [isa for isa in data.isas if data.where(types=types, contestant=isa, **SERIAL)]
    if not isas:
        return None
    figure, panels = pyplot.subplots(1, len(isas), figsize=(4.2 * len(isas), 4.4), sharey=True, squeeze=False,
                                     layout="constrained")
    for axes, isa in zip(panels[0], isas):
        draw_panel_of_isa(axes, data, types, isa)
    panels[0][0].set_ylabel("GB/s")
    panels[0][0].set_ylim(bottom=0)
    add_legend(figure, *panels[0][0].get_legend_handles_labels(), 5)
    return figure


def shapes_of(cells):
    return sorted({(c.rows * c.cols, c.rows, c.cols, c.shape) for c in cells})


def draw_bars(axes, data, cells, contestants, shapes):
    width = 0.8 / len(contestants)
    for i, name in enumerate(contestants):
        rates = {c.shape: c.rate / 1e9 for c in cells if c.contestant == name}
        places = [at + (i - (len(contestants) - 1) / 2) * width for at, s in enumerate(shapes) if s[3] in rates]
        axes.bar(places, [rates[s[3]] for s in shapes if s[3] in rates], width, color=COLOURS[i % len(COLOURS)])
    axes.set_xticks(range(len(shapes)), [s[3] for s in shapes], rotation=30, ha="right", fontsize="small")
    axes.grid(True, axis="y", alpha=0.3)


def draw_peers(pyplot, data, types):
    cells = [c for c in data.where(types=types, **SERIAL) if c.op in results.OPS]
    peers = set(data.contestants(cells)) - set(data.isas)
    ops = [op for op in results.OPS if any(c.op == op and c.contestant in peers for c in cells)]
    if not ops:
        return None
    contestants = [name for name in data.contestants(cells) if name != "sse2"]
    figure, panels = pyplot.subplots(len(ops), 1, figsize=(10, 2.5 * len(ops) + 0.6), sharex=True, squeeze=False,
                                     layout="constrained")
    for axes, op in zip(panels[:, 0], ops):
        draw_bars(axes, data, [c for c in cells if c.op == op], contestants, shapes_of(cells))
        axes.set_title(op, fontsize="medium")
        axes.set_ylabel("GB/s")
    boxes = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for _, colour in zip(contestants, COLOURS)]
    add_legend(figure, boxes, contestants, len(contestants))
    return figure


def draw_lines(axes, data, types, x, y, keep):
    drawn = 0
    for op, colour, marker in zip(results.OPS, COLOURS, MARKERS):
        cells = data.where(op=op, types=types, contestant=data.isas[0], **SERIAL)
        points = sorted({getattr(c, x): y(c) for c in cells if keep(c)}.items())
        if points:
            axes.plot(*zip(*points), marker + "-", color=colour, markersize=4, linewidth=1, label=op)
        drawn = max(drawn, len(points))
    axes.set_xscale("log", base=2)
    axes.grid(True, alpha=0.3)
    return drawn


def commonest(values):
    values = list(values)
    return max(sorted(set(values)), key=values.count)


def draw_cost(pyplot, data, types):
    """Left: time of an element over n, with the number of rows of most cells; right: of a row over the rows."""
    cells = [c for c in data.where(types=types, contestant=data.isas[0], **SERIAL) if c.op in results.OPS]
    if not cells:
        return None
    shapes = {(c.rows, c.cols) for c in cells}
    rows, cols = commonest(r for r, _ in shapes), commonest(n for _, n in shapes)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    drawn = draw_lines(left, data, types, "cols", lambda c: c.ns_row / c.cols, lambda c: c.rows == rows)
    drawn = max(drawn, draw_lines(right, data, types, "rows", lambda c: c.ns_row, lambda c: c.cols == cols))
    if drawn < 2:
        pyplot.close(figure)
        return None
    left.set(xlabel=f"n ({rows} row{'s' * (rows != 1)})", ylabel=f"ns an element, {data.isas[0]}", yscale="log")
    right.set(xlabel=f"rows (of {cols})", ylabel=f"ns a row, {data.isas[0]}")
    right.set_ylim(bottom=0)
    add_legend(figure, *left.get_legend_handles_labels(), 5)
    return figure


PICTURES = {"roofline": draw_roofline, "peers": draw_peers, "cost": draw_cost}


def shorten(path):
    """An SVG without what only its readers as text would see."""
    text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    path.write_text(re.sub(r"\s*\n\s*", "\n", text))


def draw_all(pyplot, data, wanted, folder, form):
    """Writes the pictures that the data has cells for; gives their paths."""
    cpu = re.sub(r"[^a-z0-9]+", "-", data.context["cpu"].lower()).strip("-")
    written = []
    for types in [t for t in data.types() if not wanted or t in wanted.split(",")]:
        for kind, draw in PICTURES.items():
            figure = draw(pyplot, data, types)
            if figure is None:
                continue
            title = f"{kind}, {types}: {data.context['cpu']}, one thread"
            figure.suptitle(title.replace("$", r"\$"), fontsize="medium")
            path = folder / f"{cpu}-{kind}-{types}.{form}"
            # No date, so that the same measurements give the same file.
            figure.savefig(path, dpi=120, metadata={"Date": None} if form == "svg" else None)
            if form == "svg":
                shorten(path)
            pyplot.close(figure)
            written.append(path)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="+", help="from rownorm_bench --benchmark_format=json, of one machine")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."), metavar="FOLDER")
    parser.add_argument("--types", metavar="T,...", help="only these, such as f32,bf16")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    arguments = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot_bench: it needs matplotlib for Python 3 (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "rownorm", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]})
    from matplotlib import pyplot
    try:
        data = results.read(*arguments.json)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_bench: {error}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    written = draw_all(pyplot, data, arguments.types, arguments.output, arguments.format)
    if not written:
        sys.exit(f"plot_bench: {', '.join(arguments.json)}: nothing to draw: no cell of one thread and these types")
    print("\n".join(map(str, written)))


if __name__ == "__main__":
    main()
