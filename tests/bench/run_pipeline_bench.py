#!/usr/bin/env python3
"""Times the whole pipeline, warm, against the thresholds of pipeline.jsonl.

Usage: run_pipeline_bench.py --bin DIR --out DIR [--runs N] [--full] [--only TEXT] [--record DOCS]

Prints, per line, the median wall time of N runs (of a long line, of one run), the time of each
stage in that run and the largest peak memory of any stage. Without --full, a line with a `short`
form runs in that form; --only keeps the lines whose name contains TEXT. Exit status 1 if a limit is
exceeded.
"""
import argparse
import pathlib
import shutil
import statistics
import sys

from limits import ROOT, add_record_option, cluster_file, cost, holds, lines_of, record


def overrides(line):
    return [word for value in line.get("set", []) for word in ("--set", value)]


def form(line, full):
    """Returns the short form of the line if there is one and --full is not given."""
    if full or "short" not in line:
        return line
    return {**line, **line["short"], "name": line["name"] + ", short form"}


def run_once(tools, line, run):
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    model = str(ROOT / "configs/models" / (line["model"] + ".yaml"))
    cluster = cluster_file(line["cluster"])
    stages = {
        "workload-gen": [model, cluster, "-o", str(run), *overrides(line)],
        "simccl": [str(run)],
        "compute-sim": [str(run)],
        "exec-engine": [str(run), "--network", line["network"]],
        "report": [str(run)],
    }
    costs = {name: cost([tools / name, *arguments, "--quiet"]) for name, arguments in stages.items()}
    return {name: (wall, peak) for name, (wall, _, peak) in costs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="no short forms: half an hour")
    parser.add_argument("--only", default="", help="lines whose name contains this")
    add_record_option(parser)
    options = parser.parse_args()

    failed = False
    for line in [form(line, options.full) for line in lines_of(__file__)]:
        if options.only not in line["name"]:
            continue
        results = []
        for _ in range(line.get("runs", options.runs)):
            results.append(run_once(options.bin, line, options.out / "bench"))
        walls = [sum(seconds for seconds, _ in result.values()) for result in results]
        median = statistics.median(walls)
        chosen = min(results, key=lambda r: abs(sum(s for s, _ in r.values()) - median))
        peak = max(mb for result in results for _, mb in result.values())
        stages = ", ".join(f"{name} {seconds:.2f}" for name, (seconds, _) in chosen.items())
        failed |= not holds(line, median, peak, stages)
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
