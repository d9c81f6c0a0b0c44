#!/usr/bin/env python3
"""Times collective-perf over nccl-tests' usual sizes against the thresholds of collective_perf.jsonl.

Usage: run_collective_perf_bench.py --bin DIR [--runs N]

Prints, per line, the median wall time of N runs and the largest peak memory of any process. Exit
status 1 if a threshold is passed.
"""
import argparse
import json
import pathlib
import statistics
import sys

from run_pipeline_bench import ROOT, run_stage

LINES = pathlib.Path(__file__).with_name("collective_perf.jsonl")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()

    failed = False
    for line in map(json.loads, LINES.read_text().splitlines()):
        command = [str(options.bin / "collective-perf"), line["collective"], "-b", "8", "-e", "8G", "-f", "2",
                   "--cluster", str(ROOT / "configs/clusters" / (line["cluster"] + ".topo")), "--quiet"]
        runs = [run_stage(command) for _ in range(options.runs)]
        seconds = statistics.median(seconds for seconds, _ in runs)
        peak = max(mb for _, mb in runs)
        ok = seconds <= line["max_seconds"] and peak <= line["max_mb"]
        failed |= not ok
        print(f"{line['name']}: {seconds:.2f} s (limit {line['max_seconds']}), "
              f"{peak:.0f} MB (limit {line['max_mb']}) {'ok' if ok else 'TOO MUCH'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
