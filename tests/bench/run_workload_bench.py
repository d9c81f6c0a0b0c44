#!/usr/bin/env python3
"""Compares workload-gen's time, memory and output size for large layouts with the limits of workload.jsonl.

Usage: run_workload_bench.py --bin DIR --out DIR [--record DOCS]

Prints CPU seconds, peak memory and the size of the artefact, a line of limits each. Exit status 1 if a limit is exceeded.
"""
import argparse
import pathlib
import shutil
import sys

from limits import ROOT, add_record_option, cluster_file, cost, holds, lines_of, record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    add_record_option(parser)
    options = parser.parse_args()

    failed = False
    run = options.out / "workload-bench"
    for line in lines_of(__file__):
        shutil.rmtree(run, ignore_errors=True)
        run.mkdir(parents=True)
        sets = [word for setting in line.get("set", []) for word in ("--set", setting)]
        _, seconds, peak = cost([options.bin / "workload-gen", ROOT / "configs/models" / (line["model"] + ".yaml"),
                                 cluster_file(line["cluster"]), "-o", run, "--alike-once", "--quiet", *sets])
        size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file()) / 1e6
        small = size <= line["max_artefact_mb"]
        verdict = "" if small else ", TOO MUCH"
        failed |= not holds(line, seconds, peak, f"artefact {size:.1f} MB (limit {line['max_artefact_mb']}){verdict}")
        failed |= not small
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
