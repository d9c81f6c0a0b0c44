#!/usr/bin/env python3
"""Slowdown of flows by size in the loaded Clos fabric of the HPCC paper, under each control.

Usage: run_clos.py --bin DIR [--milliseconds M] [--docs DIR]

Prints a table. --docs renews that of docs/explanation/network-validation.md and its plot. Exit status 1 if a
law of the paper does not hold (see CHECKS).
"""
import argparse
import csv
import io
import pathlib
import subprocess
import sys

from pages import judge, markdown, record

CONTROLS = ["dcqcn", "hpcc", "timely", "swift", "dctcp"]
LOAD = 0.3
COLOURS = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e"]


def run(tool, control, milliseconds):
    """Returns the output of clos_slowdown for each tenth of the flows by size."""
    done = subprocess.run([tool, control, str(LOAD), str(milliseconds)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{tool} {control}: exit status {done.returncode}")
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(done.stdout))]


def size(count):
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} KB"


def table(runs):
    yield "up to", *(f"{name} {q}" for name in runs for q in ("median", "95 %"))
    for tenth, row in enumerate(next(iter(runs.values()))):
        yield size(row["bytes_up_to"]), *(f"{rows[tenth][q]:.2f}" for rows in runs.values() for q in ("p50", "p95"))


def plot(runs):
    """The 95th percentiles over the tenths, on a scale of powers of two. As SVG."""
    width, height, x0, y0 = 520, 220, 50, 14
    most = 2
    while most < max(row["p95"] for rows in runs.values() for row in rows):
        most *= 2
    doublings = most.bit_length() - 1

    def y(value):
        log = 0
        while value >= 2:
            value, log = value / 2, log + 1
        return y0 + height * (1 - (log + value - 1) / doublings)

    parts = [f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    for i in range(doublings + 1):
        parts.append(f'<text x="{x0 - 6}" y="{y(2 ** i) + 4:.1f}" text-anchor="end">{2 ** i}</text>')
    for tenth, row in enumerate(next(iter(runs.values()))):
        x = x0 + width * (tenth + 0.5) / 10
        parts.append(f'<text x="{x:.1f}" y="{y0 + height + 14}" text-anchor="middle">'
                     f'{size(row["bytes_up_to"])}</text>')
    for i, (name, rows) in enumerate(runs.items()):
        points = " ".join(f'{x0 + width * (t + 0.5) / 10:.1f},{y(max(1, row["p95"])):.1f}'
                          for t, row in enumerate(rows))
        parts.append(f'<polyline fill="none" stroke="{COLOURS[i]}" points="{points}"/>'
                     f'<text x="{x0 + width + 8}" y="{y0 + 14 + 16 * i}" fill="{COLOURS[i]}">{name}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x0 + width + 70} {y0 + height + 24}" '
            'font-family="sans-serif" font-size="11"><title>95th percentile of slowdown by size</title>'
            + "".join(parts) + "</svg>\n")


# (law, predicate of the runs by control).
CHECKS = [
    ("no flow is faster than on an empty network",
     lambda r: all(row["least"] >= 1 for rows in r.values() for row in rows)),
    ("HPCC leaves no queues: half of the flows of the lower tenths lose less than 10 %",
     lambda r: all(row["p50"] < 1.1 for row in r["hpcc"][:3])),
    ("HPCC's short flows wait less than DCQCN's at the 95th percentile",
     lambda r: all(h["p95"] < d["p95"] for h, d in zip(r["hpcc"][:5], r["dcqcn"][:5]))),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--milliseconds", type=float, default=0.5, help="the time in which flows begin")
    parser.add_argument("--docs", type=pathlib.Path, help="folder whose table and plot are renewed")
    options = parser.parse_args()
    runs = {c: run(options.bin / "clos_slowdown", c, options.milliseconds) for c in CONTROLS}
    found = list(table(runs))
    print(markdown(found))
    if options.docs:
        record(options.docs, "network", "tests/validation/run_clos.py --docs docs", {"clos": found},
               pictures={"network-clos.svg": plot(runs)})
    return judge(CHECKS, runs)


if __name__ == "__main__":
    sys.exit(main())
