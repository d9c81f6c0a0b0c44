#!/usr/bin/env python3
"""Compares the rates of the packet network with the targets and floors of packet.jsonl.

Usage: run_packet_bench.py --bench PACKET_BENCH [--short] [--record DOCS]

Prints the median of seven runs of each case. A target is for an idle machine; a shared machine is at
times a third slower, so only a rate below the floor fails (exit status 1). The short form takes
seconds: it runs each case once, leaves out comparisons of threads, and fails below half the floor.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from limits import add_record_option, lines_of, measured, record



def measure(bench, cases, repetitions):
    """(case, figure) -> median."""
    output = subprocess.run(
        [bench, "--benchmark_filter=^Permutation/(" + "|".join(cases) + ")/real_time$",
         f"--benchmark_repetitions={repetitions}", "--benchmark_min_time=0.2",
         # Cases alternate, so that a slow minute of the machine affects all cases equally.
         "--benchmark_enable_random_interleaving=true", "--benchmark_format=json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    runs = [run for run in json.loads(output)["benchmarks"] if run["run_type"] == "iteration"]
    figures = {}
    for case in cases:
        for figure in ("hops/s_cpu", "hops/s_wall"):
            values = [run[figure] for run in runs if case + "/" in run["name"]]
            if not values:
                sys.exit(f"{bench} has no case {case}")
            figures[case, figure] = statistics.median(values)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, type=pathlib.Path, help="packet_bench")
    parser.add_argument("--short", action="store_true", help="seconds; half the floors")
    add_record_option(parser)
    options = parser.parse_args()

    lines = lines_of(__file__)
    if options.short:
        lines = [dict(line, floor=line["floor"] / 2) for line in lines if "against" not in line]
    figures = measure(options.bench,
                      sorted({line[key] for line in lines for key in ("case", "against")
                              if key in line}), 1 if options.short else 7)
    failed = False
    for line in lines:
        value = figures[line["case"], line["figure"]] / line["scale"]
        if "against" in line:
            value /= figures[line["against"], line["figure"]]
        verdict = ("ok" if value >= line["target"] else
                   "below target" if value >= line["floor"] else "TOO SLOW")
        measured.append((line["name"], {"rate": f"{value:.1f}"}))
        failed |= value < line["floor"]
        print(f"{line['name']}: {value:.2f} {line['unit']} (target {line['target']}, floor "
              f"{line['floor']}) {verdict}", flush=True)
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
