#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the histogram of `rownorm info --plot-out`: JSON on standard input, a picture on standard output.

The object has title, edges, counts, logarithmic and format ("svg" or "png").
"""

import io
import json
import sys


def draw(job, pyplot):
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    edges, counts = job["edges"], job["counts"]
    if counts:
        widths = [b - a for a, b in zip(edges, edges[1:])]
        if len(counts) == 1 and widths[0] == 0:  # all rows have one rms
            edges, widths = [edges[0] * 0.95 - 0.01], [edges[0] * 0.1 + 0.02]
        axes.bar(edges[:len(counts)], counts, widths, align="edge", edgecolor="white", linewidth=0.5)
    if job["logarithmic"]:
        axes.set_xscale("log")
    axes.set_xlabel("rms of a row")
    axes.set_ylabel("rows")
    axes.set_title(job["title"].replace("$", r"\$"))
    picture = io.BytesIO()
    # No date, so that the same rows give the same file.
    figure.savefig(picture, format=job["format"], dpi=150, metadata={"Date": None} if job["format"] == "svg" else None)
    return picture.getvalue()


def main():
    try:
        import matplotlib
    except ImportError:
        sys.exit("it needs matplotlib for Python 3 (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "rownorm"
    from matplotlib import pyplot
    sys.stdout.buffer.write(draw(json.load(sys.stdin), pyplot))


if __name__ == "__main__":
    main()
