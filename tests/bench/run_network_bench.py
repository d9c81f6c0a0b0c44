#!/usr/bin/env python3
"""Compares the CPU time and memory of the networks with the limits of network.jsonl.

Usage: run_network_bench.py --bin DIR --tests DIR [--short] [--record DOCS]

Prints, per line, the CPU time (user and system, children included) and the peak memory of any
process. Exit status 1 if a limit is exceeded. The short form leaves out lines with limits above 5 s.
The machine may be busy, so it allows twice the time, and more where the machine runs slower than the
one for which the limits are written (limits.slowness); and no more memory.
"""
import argparse
import pathlib
import sys

from limits import add_record_option, cluster_file, cost, holds, lines_of, record, slowness


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--tests", required=True, type=pathlib.Path, help="where idle_fabric is")
    parser.add_argument("--short", action="store_true", help="seconds; twice the time")
    add_record_option(parser)
    options = parser.parse_args()

    lines = lines_of(__file__)
    if options.short:
        lines = [line for line in lines if line["max_seconds"] <= 5]
    failed = False
    for line in lines:
        place = options.tests if line["tool"] == "idle_fabric" else options.bin
        here = str(pathlib.Path(__file__).parent)
        if options.short:
            line = dict(line, max_seconds=round(2 * slowness() * line["max_seconds"], 3))
        command = [place / line["tool"], *(word.replace("{here}", here) for word in line["arguments"])]
        if "cluster" in line:
            command += ["--quiet", "--cluster", cluster_file(line["cluster"])]
        _, seconds, peak = cost(command)
        failed |= not holds(line, seconds, peak)
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
