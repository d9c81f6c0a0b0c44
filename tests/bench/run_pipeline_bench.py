#!/usr/bin/env python3
"""Times the whole pipeline, warm, against the thresholds of pipeline.jsonl.

Usage: run_pipeline_bench.py --bin DIR --out DIR [--runs N]

Prints, per line, the median wall time of N runs, the time of each stage in that run and the
largest peak memory of any stage. Exit status 1 if a threshold is passed.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = pathlib.Path(__file__).with_name("pipeline.jsonl")


def run_stage(command):
    """Wall seconds and peak MB of one process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{message.decode()}")
    return time.monotonic() - start, usage.ru_maxrss / 1000.0


def run_once(tools, line, run):
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    model = str(ROOT / "configs/models" / (line["model"] + ".yaml"))
    cluster = str(ROOT / "configs/clusters" / (line["cluster"] + ".topo"))
    stages = {
        "workload-gen": [model, cluster, "-o", str(run)],
        "simccl": [str(run)],
        "compute-sim": [str(run)],
        "exec-engine": [str(run), "--network", line["network"]],
        "report": [str(run)],
    }
    return {name: run_stage([str(tools / name), *arguments, "--quiet"])
            for name, arguments in stages.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()

    failed = False
    for line in map(json.loads, LINES.read_text().splitlines()):
        results = []
        for _ in range(options.runs):
            results.append(run_once(options.bin, line, options.out / "bench"))
        walls = [sum(seconds for seconds, _ in result.values()) for result in results]
        median = statistics.median(walls)
        chosen = min(results, key=lambda r: abs(sum(s for s, _ in r.values()) - median))
        peak = max(mb for result in results for _, mb in result.values())
        stages = ", ".join(f"{name} {seconds:.2f}" for name, (seconds, _) in chosen.items())
        ok = median <= line["max_seconds"] and peak <= line["max_mb"]
        failed |= not ok
        print(f"{line['name']}: {median:.2f} s (limit {line['max_seconds']}), "
              f"{peak:.0f} MB (limit {line['max_mb']}) {'ok' if ok else 'TOO MUCH'} [{stages}]",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
