#!/usr/bin/env python3
"""Holds the networks to the CPU seconds and the memory of network.jsonl.

Usage: run_network_bench.py --bin DIR --tests DIR

Prints, per line, the CPU time (user and system, children included) and the peak memory of any
process. Exit status 1 if a threshold is passed.
"""
import argparse
import pathlib
import sys

from limits import cluster_file, cost, holds, lines_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--tests", required=True, type=pathlib.Path, help="where idle_fabric is")
    options = parser.parse_args()

    failed = False
    for line in lines_of(__file__):
        place = options.tests if line["tool"] == "idle_fabric" else options.bin
        here = str(pathlib.Path(__file__).parent)
        command = [place / line["tool"], *(word.replace("{here}", here) for word in line["arguments"])]
        if "cluster" in line:
            command += ["--quiet", "--cluster", cluster_file(line["cluster"])]
        _, seconds, peak = cost(command)
        failed |= not holds(line, seconds, peak)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
