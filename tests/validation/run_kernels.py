#!/usr/bin/env python3
"""Predicts published kernel times (kernels/*.csv) and prints how far off the predictions are.

Usage: run_kernels.py --bin DIR

A line of kernels.jsonl names rows (a file or several) that no parameter was fitted to (the half that
compute-sim fit leaves aside) and the limits of their errors. With a `reference`, the line scales the parameters
of that GPU, as for a GPU without measurements; with `shares` it also uses the published shares of the dense
rate. Last, rows that are given as a profile must keep their times. Exit status 1 if an error is above its limit.
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
LINE = re.compile(r"^(\S+ \S+), other half +(\d+) rows +mean +([\d.]+) % +p95 +([\d.]+) % +sum +([-+][\d.]+) %", re.M)
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3}


def gpu_file(line, folder):
    """The GPU's name, or a file that has its specification and a reference instead of its kernels."""
    if "reference" not in line:
        return line["gpu"]
    text = (GPUS / f"{line['gpu']}.yaml").read_text()
    text = text[:text.index("\nkernels:")].replace(f"\n  reference: {line['reference']}\n", "\n")
    if not line.get("shares"):
        text = re.sub(r"\n  matmul_share:.*", "", text)
    path = pathlib.Path(folder) / f"{line['gpu']}-as-new.yaml"
    path.write_text(text.replace("\n\nscaling:", f"\n  reference: {line['reference']}\n\nscaling:") + "\n")
    return path


def run(tools, *arguments):
    done = subprocess.run([tools / "compute-sim", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compute-sim {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def residuals(line, tools, folder):
    """Returns for each kernel: rows, mean and 95th percentile of the error, error of the sum."""
    library = ["--attention-library", line["library"]] if "library" in line else []
    files = line["rows"] if isinstance(line["rows"], list) else [line["rows"]]
    profiles = [word for name in files for word in ("--gpu-profile", HERE / name)]
    printed = run(tools, "fit", "--gpu", gpu_file(line, folder), *profiles, "--evaluations", "0", *library)
    return {found[1]: (int(found[2]), *map(float, found.groups()[2:])) for found in LINE.finditer(printed)}


def check_line(line, tools, folder):
    kernels = residuals(line, tools, folder)
    rows = sum(kernel[0] for kernel in kernels.values())
    if rows == 0:
        sys.exit(f"{line['name']}: no rows")
    mean = sum(kernel[0] * kernel[1] for kernel in kernels.values()) / rows
    p95 = max(kernel[2] for kernel in kernels.values())
    ok = mean <= line["max_mean"] and p95 <= line.get("max_p95", 1000)
    if len(kernels) == 1:
        detail = f"p95 {p95:4.1f} %  sum {next(iter(kernels.values()))[3]:+.1f} %"
    else:
        detail = ", ".join(f"{name.split()[0]} {kernel[1]:.1f} %" for name, kernel in kernels.items())
    print(f"{line['name']:<42} {rows:4} rows  mean {mean:4.1f} % (limit {line['max_mean']})  {detail}  "
          f"{'ok' if ok else 'TOO MUCH'}")
    return ok


def check_rows_of_a_profile(line, tools, limit=2):
    """A product in the profile takes its time from the profile."""
    lines = [row.split(",") for row in (HERE / line["rows"]).read_text().splitlines() if row.startswith("gemm,")]
    words = []
    for _, kind, m, n, k, _ in lines:
        words += ["--submodule", f"kind: linear, pass: fwd, type: {kind}, rows: {m}, n: {n}, k: {k}"]
    printed = run(tools, "explain", "--gpu", line["gpu"], "--gpu-profile", HERE / line["rows"], "--clocks",
                  "burst", *words)
    found = re.findall(r"^ *([\d.]+) (\w+) +gemm .* profile ", printed, re.M)
    if len(found) != len(lines):
        sys.exit(f"{line['rows']}: {len(found)} of {len(lines)} rows were found again")
    worst = max(abs(float(time) * UNITS[unit] / float(row[5].split()[0]) - 1)
                for (time, unit), row in zip(found, lines))
    print(f"{line['rows'] + ' as a profile':<42} {len(lines):4} rows  worst {worst:.1%} (limit {limit} %)  "
          f"{'ok' if worst <= limit / 100 else 'TOO MUCH'}")
    return worst <= limit / 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where compute-sim is")
    options = parser.parse_args()
    lines = [json.loads(line) for line in (HERE / "kernels.jsonl").read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        good = [check_line(line, options.bin, folder) for line in lines]
    good += [check_rows_of_a_profile(line, options.bin) for line in lines
             if "max_p95" in line and "fp8" not in line["rows"]]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
