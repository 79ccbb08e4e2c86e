#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of bench/README.md from rownorm_bench's JSON:

    tables.py BENCH.json...              prints them, of files of one machine
    tables.py BENCH.json... --update     writes them into README.md, between its two marks (or into --readme FILE)
"""
import argparse
import pathlib
import sys

import results
import targets

BEGIN, END = "<!-- tables: begin (bench/tables.py) -->\n", "<!-- tables: end -->\n"
SERIAL = {"threads": 1, "place": "repeated"}


def table(head, rows, words=(0,)):
    """Markdown; the columns of words to the left, the others to the right."""
    lines = [head, ["---" if i in words else "---:" for i in range(len(head))], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) if rows else ""


def shapes_of(cells):
    found = sorted({(c.rows * c.cols, c.rows, c.shape) for c in cells})
    return [shape for _, _, shape in found]


def by_shape(cells):
    return {c.shape: c for c in cells}


def rates(data, isa, place):
    """GB/s and the share of the limit: a row for each op and types."""
    cells = [c for c in data.where(contestant=isa, threads=1, place=place) if c.op in results.OPS]
    shapes, rows = shapes_of(cells), []
    for types in data.types():
        for op in results.OPS:
            found = by_shape(c for c in cells if (c.op, c.types) == (op, types))
            if found:
                rows.append([f"{op} {types}"] + [
                    f"{found[s].rate / 1e9:.1f} ({100 * found[s].share:.0f} %)" if s in found else "" for s in shapes])
    heads = [f"{s} {level_of(cells, s)}" if place == "repeated" else s for s in shapes]
    return table([f"{isa}, GB/s (share)"] + heads, rows)


def level_of(cells, shape):
    """Where most types and ops of a shape lie, for the head of a column."""
    levels = [c.level for c in cells if c.shape == shape]
    return max(sorted(set(levels)), key=levels.count)


def contestants(data):
    """ns a row of every ISA and peer, where there are peers."""
    text = ""
    for types in data.types():
        cells = [c for c in data.where(types=types, **SERIAL) if c.op in results.OPS]
        names, rows = data.contestants(cells), []
        if not set(names) - set(data.isas):
            continue
        for op in results.OPS:
            for shape in shapes_of(c for c in cells if c.op == op):
                found = {c.contestant: c for c in cells if (c.op, c.shape) == (op, shape)}
                rows.append([f"{op} {shape}"] + [f"{found[n].ns_row:,.0f}" if n in found else "" for n in names])
        text += table([f"{types}, ns a row"] + names, rows) + "\n"
    return text.rstrip("\n") + "\n" if text else ""


def saving(data, less, more):
    """How much less time one op takes than another, in percent, on the best ISA."""
    cells = data.where(contestant=data.isas[0], **SERIAL)
    shapes, rows = shapes_of(c for c in cells if c.op == less), []
    for types in data.types():
        a, b = (by_shape(c for c in cells if (c.op, c.types) == (op, types)) for op in (less, more))
        if a and b:
            rows.append([types] + [
                f"{round(100 * (1 - a[s].ns_row / b[s].ns_row))} %" if s in a and s in b else "" for s in shapes])
    return table([f"{less} beside {more}"] + shapes, rows)


def speed_ups(data):
    """Times that several threads are faster than one."""
    cells = [c for c in data.where(contestant=data.isas[0], place="repeated") if c.op in results.OPS]
    text = ""
    for threads in sorted({c.threads for c in cells} - {1}):
        shapes, rows = shapes_of(c for c in cells if c.threads == threads), []
        for types in data.types():
            for op in results.OPS:
                one, many = (by_shape(c for c in cells if (c.op, c.types, c.threads) == (op, types, t))
                             for t in (1, threads))
                if one and many:
                    rows.append([f"{op} {types}"] + [f"{one[s].ns_row / many[s].ns_row:.2f}"
                                                     if s in one and s in many else "" for s in shapes])
        text += table([f"{threads} threads beside one"] + shapes, rows)
    return text


def target_tables(data):
    met = table(targets.HEAD, targets.rows(data), words=(0, len(targets.HEAD) - 1))
    tables = [met and f"Ratios of times.\n\n{met}", table(targets.CALL_HEAD, targets.call_rows(data))]
    return "\n".join(filter(None, tables))


def parts(data):
    yield "", f"Of {data.machine()}; {data.context['date'][:10]}.\n"
    yield "Targets, met and missed", target_tables(data)
    for isa in data.isas:
        yield "", rates(data, isa, "repeated")
    for place, title in (("cold_weight", "The gain and bias come from memory"), ("memory", "All comes from memory")):
        yield title, rates(data, data.isas[0], place)
    yield "Beside other implementations", contestants(data)
    yield "What RMSNorm saves over LayerNorm, and partial RMSNorm over RMSNorm", "\n".join(
        filter(None, (saving(data, "rms_norm", "layer_norm"), saving(data, "partial_rms_norm", "rms_norm"))))
    yield "Threads", speed_ups(data)


def all_tables(data):
    return "\n".join((f"### {title}\n\n" if title else "") + text for title, text in parts(data) if text)


def update(readme, text):
    before = readme.read_text()
    if before.count(BEGIN) != 1 or before.count(END) != 1 or before.index(BEGIN) > before.index(END):
        raise ValueError(f"{readme}: expected the marks of the tables, once each")
    head, rest = before.split(BEGIN)
    readme.write_text(head + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="+")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--readme", type=pathlib.Path, default=pathlib.Path(__file__).with_name("README.md"))
    arguments = parser.parse_args()
    try:
        text = all_tables(results.read(*arguments.json))
        if arguments.update:
            update(arguments.readme, text)
        else:
            print(text, end="")
    except (OSError, ValueError) as error:
        sys.exit(f"tables: {error}")


if __name__ == "__main__":
    main()
