#!/usr/bin/env python3
"""Holds the packet network to the CPU seconds and the memory of network.jsonl.

Usage: run_network_bench.py --bin DIR --tests DIR

Prints, per line, the CPU time (user and system, children included) and the peak memory of any
process. Exit status 1 if a threshold is passed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = pathlib.Path(__file__).with_name("network.jsonl")


def run(command):
    """CPU seconds and peak MB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{message.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--tests", required=True, type=pathlib.Path, help="where idle_fabric is")
    options = parser.parse_args()

    failed = False
    for line in map(json.loads, LINES.read_text().splitlines()):
        place = options.tests if line["tool"] == "idle_fabric" else options.bin
        command = [str(place / line["tool"]), *line["arguments"]]
        if "cluster" in line:
            command += ["--quiet", "--cluster", str(ROOT / "configs/clusters" / (line["cluster"] + ".topo"))]
        seconds, peak = run(command)
        ok = seconds <= line["max_cpu_seconds"] and peak <= line["max_mb"]
        failed |= not ok
        print(f"{line['name']}: {seconds:.2f} CPU s (limit {line['max_cpu_seconds']}), "
              f"{peak:.0f} MB (limit {line['max_mb']}) {'ok' if ok else 'TOO MUCH'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
