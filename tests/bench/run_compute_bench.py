#!/usr/bin/env python3
"""compute-sim's speed: a profile of a million rows, and 175B on 1024 GPUs, against compute.jsonl.

Usage: run_compute_bench.py --bin DIR --out DIR [--runs N] [--record DOCS]

Prints, per line, the least CPU time of N runs of the whole program and the largest peak memory.
Exit status 1 if a limit is exceeded.
"""
import argparse
import pathlib
import subprocess
import sys

from limits import ROOT, add_record_option, cluster_file, cost, holds, lines_of, record


def million_rows(path):
    """GEMMs of 100 x 100 x 100 extents, three significant digits of microseconds."""
    with path.open("w") as file:
        file.write("# gpu: h100-sxm-80g\n# provenance: made up\n# method: a formula\n# date: never\n"
                   "kernel,dtype,m,n,k,time\n")
        for m in range(1, 101):
            for n in range(1, 101):
                file.writelines(f"gemm,bf16,{m * 128},{n * 128},{k * 128},{m * n * k * 5e-3 + 3:.2f} us\n"
                                for k in range(1, 101))


def command_of(line, tools, out):
    if "profile_rows" in line:
        path = out / "million.csv"
        if not path.exists():
            million_rows(path)
        return [tools / "compute-sim", "explain", "-q", "--gpu", "h100-sxm-80g", "--submodule",
                "kind: linear, rows: 8192, n: 4096, k: 4095", "--gpu-profile", path]
    run = out / "compute"
    subprocess.run([tools / "workload-gen", ROOT / "configs/models" / (line["model"] + ".yaml"),
                    cluster_file(line["cluster"]), "-q", "-o", run, *line["set"]], check=True)
    return [tools / "compute-sim", run, "-q"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where files go")
    parser.add_argument("--runs", type=int, default=3)
    add_record_option(parser)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    failed = False
    for line in lines_of(__file__):
        command = command_of(line, options.bin, options.out)
        _, seconds, peaks = zip(*(cost(command) for _ in range(options.runs)))
        failed |= not holds(line, min(seconds), max(peaks))
    record(options, __file__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
