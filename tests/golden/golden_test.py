#!/usr/bin/env python3
"""Runs the pipeline and compares the printed summary with the recorded one, byte for byte.

Usage: golden_test.py BIN [--update]     (--update rewrites the kept summaries)
"""
import csv
import difflib
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def summary(tools, row, run):
    model = ROOT / f"configs/models/{row['model']}.yaml"
    cluster = ROOT / f"configs/clusters/{row['cluster']}.topo"
    output = ""
    for tool, *arguments in [
        ["workload-gen", model, cluster, "-o", run],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", row["network"], "--threads", "1"],
        ["report", run],
    ]:
        done = subprocess.run([tools / tool, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{row['name']}: {tool}: exit status {done.returncode}\n{done.stderr}")
        output = done.stdout
    return output


def main():
    tools, update = pathlib.Path(sys.argv[1]), "--update" in sys.argv[2:]
    lines = [line for line in (HERE / "runs.csv").read_text().splitlines() if not line.startswith("#")]
    moved = False
    for row in csv.DictReader(lines):
        kept = HERE / f"{row['name']}.txt"
        with tempfile.TemporaryDirectory() as folder:
            got = summary(tools, row, pathlib.Path(folder) / row["name"])
        if update:
            kept.write_text(got)
        elif got != kept.read_text():
            moved = True
            sys.stdout.writelines(difflib.unified_diff(
                kept.read_text().splitlines(True), got.splitlines(True), str(kept.relative_to(ROOT)), "now"))
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
