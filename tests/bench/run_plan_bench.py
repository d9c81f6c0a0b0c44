#!/usr/bin/env python3
"""Plans one call of one communicator a line, or a whole run, against the limits of plan.jsonl.

Usage: run_plan_bench.py --bin DIR --out DIR [--runs N] [--record DOCS]

Prints, per line, the least CPU time of N runs to create the communicators and plan the calls, and
the peak memory of that process. Exit status 1 if a limit is exceeded.
"""
import argparse
import pathlib
import subprocess
import sys

from limits import ROOT, add_record_option, cluster_file, holds, lines_of, record


def words(line, *command):
    """Returns the output of a command."""
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False)
    if answer.returncode != 0:
        sys.exit(f"{line['name']}: exit status {answer.returncode}\n{answer.stderr}")
    return answer.stdout.split()


def cluster_of(line):
    return cluster_file(line.get("cluster", "dgx-h100-8"))


def plan_call(line, tools, out):
    """Returns CPU seconds to create and to plan, peak MB, and remarks."""
    setting = [f"nccl.settings.NCCL_ALGO={line['setting']}"] if "setting" in line else []
    *figures, artefact, algorithm = words(
        line, tools / "plan_communicator", cluster_of(line), line["hosts"], line["gpus"],
        line["collective"], line["size"], out, *setting)
    if algorithm != line["algorithm"]:
        sys.exit(f"{line['name']}: NCCL chose {algorithm}")
    return *map(float, figures), f"artefact {artefact} MB"


def plan_run(line, tools, out):
    """The same, of all communicators of a training run."""
    words(line, tools / "workload-gen", ROOT / "configs/models" / (line["model"] + ".yaml"),
          cluster_of(line), "--if-changed", "-o", out,
          *(word for value in line["set"] for word in ("--set", value)))
    *figures, communicators, plans = words(line, tools / "plan_layout", out)
    if int(communicators) != line["communicators"]:
        sys.exit(f"{line['name']}: {communicators} communicators")
    return *map(float, figures), f"{communicators} communicators, {plans} plans"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where artefacts go")
    parser.add_argument("--runs", type=int, default=3)
    add_record_option(parser)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    failed = False
    for line in lines_of(__file__):
        plan = plan_run if "model" in line else plan_call
        runs = [plan(line, options.bin, options.out) for _ in range(options.runs)]
        create, call, peak, more = min(runs, key=lambda run: run[0] + run[1])
        failed |= not holds(line, create + call, peak,
                            f"create {create:.3f}, plan {call:.3f}, {more}")
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
