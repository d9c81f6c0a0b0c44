#!/usr/bin/env python3
"""compute-sim's speed: a profile of a million rows, and 175B on 1024 GPUs, against compute.jsonl.

Usage: run_compute_bench.py --bin DIR --out DIR [--runs N]

Prints, per line, the least CPU time of N runs of the whole program and the largest peak memory.
Exit status 1 if a limit is passed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = pathlib.Path(__file__).with_name("compute.jsonl")


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
    cluster = ROOT / "configs/clusters" / (line["cluster"] + ".topo")
    subprocess.run([tools / "workload-gen", ROOT / "configs/models" / (line["model"] + ".yaml"),
                    cluster, "-q", "-o", run, *line["set"]], check=True)
    return [tools / "compute-sim", run, "-q"]


def cost(command):
    """CPU seconds and peak MB of a command."""
    pid = os.posix_spawn(command[0], [str(word) for word in command], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where files go")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    failed = False
    for line in map(json.loads, LINES.read_text().splitlines()):
        command = command_of(line, options.bin, options.out)
        costs = [cost(command) for _ in range(options.runs)]
        seconds, peak = min(c[0] for c in costs), max(c[1] for c in costs)
        ok = seconds <= line["max_seconds"] and peak <= line["max_mb"]
        failed |= not ok
        print(f"{line['name']}: {seconds:.3f} s (limit {line['max_seconds']}), {peak:.0f} MB (limit "
              f"{line['max_mb']}) {'ok' if ok else 'TOO MUCH'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
