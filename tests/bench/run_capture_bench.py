#!/usr/bin/env python3
"""Compares what logging a call of CUDA costs a captured program with the limits of capture.jsonl.

Usage: run_capture_bench.py --bench record_calls

Prints nanoseconds of CPU time a call. An operator is two entries. Exit status 1 if a limit is exceeded.
"""
import argparse
import json
import subprocess
import sys
import tempfile

from limits import lines_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program that calls")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([options.bench, folder], check=True, text=True, capture_output=True, timeout=240)
    measured = json.loads(done.stdout)
    failed = False
    for line in lines_of(__file__):
        took = measured[line["name"]]
        slow = took > line["max_ns"]
        failed |= slow
        print(f"{line['name']}: {took} ns a call (limit {line['max_ns']}){', TOO MUCH' if slow else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
