#!/usr/bin/env python3
"""Runs the published training runs of training.csv and prints predicted, published and error.

Usage: run_training.py --bin DIR --out DIR [--network NAME] [--max-mean PERCENT]

Exit status 1 if a run fails or the mean error is above --max-mean.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = pathlib.Path(__file__).with_name("training.csv")


def read_records():
    lines = [line for line in RECORDS.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def run_stages(tools, record, run, network):
    model = ROOT / "configs/models" / (record["model"] + ".yaml")
    cluster = ROOT / "configs/clusters" / (record["cluster"] + ".topo")
    stages = [
        ["workload-gen", model, cluster, "-o", run],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", network],
        ["report", run],
    ]
    for tool, *arguments in stages:
        command = [str(tools / tool), *map(str, arguments), "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return json.loads((run / "summary.json").read_text())["iteration_time_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--network", default="analytical")
    parser.add_argument("--max-mean", type=float, default=20.0, help="percent")
    options = parser.parse_args()

    print(f"{'model':<24}{'cluster':<18}{'predicted':>11}{'published':>11}{'error':>9}{'took':>9}")
    errors = []
    for record in read_records():
        run = options.out / f"{record['model']}-{record['cluster']}-{options.network}"
        run.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        predicted = run_stages(options.bin, record, run, options.network)
        published = float(record["seconds"])
        error = 100.0 * (predicted / published - 1.0)
        errors.append(abs(error))
        print(f"{record['model']:<24}{record['cluster']:<18}{predicted:>9.3f} s{published:>9.3f} s"
              f"{error:>+7.1f} %{time.monotonic() - start:>7.1f} s", flush=True)
    mean = sum(errors) / len(errors)
    print(f"mean error {mean:.1f} %, worst {max(errors):.1f} % (network: {options.network})")
    return 0 if mean <= options.max_mean else 1


if __name__ == "__main__":
    sys.exit(main())
