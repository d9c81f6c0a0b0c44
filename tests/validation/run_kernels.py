#!/usr/bin/env python3
"""Predicts published kernel times (kernels-*.csv) and prints how far off the predictions are.

Usage: run_kernels.py --bin DIR

A line of kernels.jsonl with a `reference` leaves the GPU's own parameters out: it is predicted from the
other one's, as a GPU that nobody measured. Exit status 1 if an error is above its limit.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GPUS = HERE.parents[1] / "configs/gpus"
LINE = re.compile(r"other half +(\d+) rows +mean +([\d.]+) % +p95 +([\d.]+) % +sum +([-+][\d.]+) %")


def gpu_file(line, folder):
    """The GPU's name, or a file that has its specification and a reference instead of its kernels."""
    if "reference" not in line:
        return line["gpu"]
    text = (GPUS / f"{line['gpu']}.yaml").read_text()
    path = pathlib.Path(folder) / f"{line['gpu']}-as-new.yaml"
    path.write_text(text[:text.index("\nkernels:")].rstrip() + f"\n  reference: {line['reference']}\n")
    return path


def residuals(line, tools, folder):
    done = subprocess.run([tools / "compute-sim", "fit", "--gpu", gpu_file(line, folder), "--gpu-profile",
                           HERE / line["rows"], "--evaluations", "0"], capture_output=True, text=True)
    found = LINE.search(done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"{line['name']}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return int(found[1]), *map(float, found.groups()[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where compute-sim is")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for line in map(json.loads, (HERE / "kernels.jsonl").read_text().splitlines()):
            rows, mean, p95, total = residuals(line, options.bin, folder)
            ok = mean <= line["max_mean"] and p95 <= line.get("max_p95", 100)
            failed |= not ok
            print(f"{line['name']:<34} {rows:4} rows  mean {mean:4.1f} % (limit {line['max_mean']})  p95 {p95:4.1f} %"
                  f"  sum {total:+.1f} %  {'ok' if ok else 'TOO MUCH'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
