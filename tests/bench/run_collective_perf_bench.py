#!/usr/bin/env python3
"""Times collective-perf over nccl-tests' usual sizes against the limits of collective_perf.jsonl.

Usage: run_collective_perf_bench.py --bin DIR [--runs N] [--record DOCS]

Prints, per line, the median wall time of N runs and the largest peak memory of any process. Exit
status 1 if a limit is exceeded.
"""
import argparse
import pathlib
import statistics
import sys

from limits import add_record_option, cluster_file, cost, holds, lines_of, record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--runs", type=int, default=3)
    add_record_option(parser)
    options = parser.parse_args()

    failed = False
    for line in lines_of(__file__):
        command = [options.bin / "collective-perf", line["collective"], "-b", "8", "-e", "8G", "-f", "2",
                   "--cluster", cluster_file(line["cluster"]), "--quiet"]
        walls, _, peaks = zip(*(cost(command) for _ in range(options.runs)))
        failed |= not holds(line, statistics.median(walls), max(peaks))
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
