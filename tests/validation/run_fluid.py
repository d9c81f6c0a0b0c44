#!/usr/bin/env python3
"""Compares the fluid network with the packet network over a suite of collectives.

Usage: run_fluid.py --bin DIR [--only TEXT] [--docs DIR]

Runs every line of fluid.jsonl over both and prints a table. --only keeps the lines that contain TEXT. --docs records the
table in DIR/figures/fluid.json and renews the pages. Exit status 1 if a time differs by more than MOST or the mean by more
than MEAN.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from pages import record

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 0.03
MEAN = 0.01


def times(tool, line, network):
    """Out-of-place times by size."""
    out = {}
    for size in line["sizes"]:
        command = [tool, line["collective"], "-b", size, "-e", size, "-n", "1", "--json", "--threads", "1",
                   "--cluster", str(ROOT / "configs/clusters" / (line["cluster"] + ".topo")), "--network", network,
                   "--set", f"cluster.hosts={line['hosts']}"]
        if "ranks_per_host" in line:
            command += ["--ranks-per-host", str(line["ranks_per_host"])]
        if "algorithm" in line:
            command += ["--set", f"nccl.settings.NCCL_ALGO={line['algorithm']}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}")
        out[size] = json.loads(done.stdout)
    return out


def microseconds(result):
    return result["results"][0]["out_of_place"]["time"]


def label(line):
    ranks = f", {line['ranks_per_host']} GPU each" if "ranks_per_host" in line else ""
    algorithm = f" ({line['algorithm']})" if "algorithm" in line else ""
    return line["cluster"], line["collective"] + algorithm, f"{line['hosts']}{ranks}"


def compare(tool, lines):
    for line in lines:
        packet, fluid = times(tool, line, "packet"), times(tool, line, "fluid")
        for size in line["sizes"]:
            there, here = microseconds(packet[size]), microseconds(fluid[size])
            yield *label(line), size, there, here, here / there - 1


def table_of(rows):
    table = [("cluster", "collective", "hosts", "size", "packet, us", "fluid, us", "difference")]
    for *words, packet, fluid, error in rows:
        table.append((*words, f"{packet:.1f}", f"{fluid:.1f}", f"{error:+.2%}"))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--docs", type=pathlib.Path)
    options = parser.parse_args()
    text = (pathlib.Path(__file__).parent / "fluid.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines() if options.only in line]
    rows = []
    for row in compare(options.bin / "collective-perf", lines):
        rows.append(row)
        print("{:16} {:24} {:>14} {:>5} {:12.1f} {:12.1f} {:+8.2%}".format(*row), flush=True)
    errors = [abs(row[-1]) for row in rows]
    mean, worst = statistics.mean(errors), max(errors)
    print(f"mean {mean:.2%} (limit {MEAN:.0%}), worst {worst:.2%} (limit {MOST:.0%})")
    if options.docs:
        record(options.docs, "fluid", "tests/validation/run_fluid.py --docs docs", {"suite": table_of(rows)},
               {"mean": f"{mean:.2%}", "worst": f"{worst:.2%}", "points": str(len(rows))})
    return 1 if worst > MOST or mean > MEAN else 0


if __name__ == "__main__":
    sys.exit(main())
