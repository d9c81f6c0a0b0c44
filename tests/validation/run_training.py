#!/usr/bin/env python3
"""Predicts published training runs (training/*.csv) and prints predicted, published and error.

Usage: run_training.py --bin DIR --out DIR [SOURCE...] [--first N] [--network NAME] [--jobs N]

Exit status 1 if a run fails or a source misses its limits (training.jsonl).
"""
import argparse
import json
import pathlib
import sys

import training_records as training


TARGETS = {"max_mean": 8, "max_worst": 12}


def limits():
    """By source; one that training.jsonl does not name is held to the targets."""
    lines = pathlib.Path(__file__).with_name("training.jsonl").read_text().splitlines()
    named = {line["source"]: line for line in map(json.loads, lines)}
    return {source: named.get(source, TARGETS) for source in training.sources()}


def print_record(record):
    if record.failure:
        print(f"{'none':>12}{record.seconds:>10.3f} s{'':>10}  {record.name_and_settings}\n  {record.failure}", flush=True)
        return
    print(f"{record.predicted:>10.3f} s{record.seconds:>10.3f} s{record.error:>+8.1f} %  "
          f"{record.name_and_settings}{' *' if record.assumed else ''}", flush=True)


def check(source, of, limit):
    """What it says, and whether its limits hold."""
    mean, most = training.mean_error(of), training.worst(of)
    left_out = sum(record.failure.startswith("not run") for record in of)
    failed = len(of) - len(training.predicted(of)) - left_out
    if left_out == len(of):
        print(f"{source}: none of {left_out} runs was asked for\n")
        return True
    ok = not failed and mean <= limit["max_mean"] and abs(most.error) <= limit["max_worst"]
    verdict = f"{failed} FAILED" if failed else "ok" if ok else "WORSE THAN IT WAS"
    print(f"{source}: {len(of) - left_out} of {len(of)} runs, mean error {mean:.1f} % (limit {limit['max_mean']}), worst "
          f"{most.error if most else 0:+.1f} % (limit {limit['max_worst']}) {verdict}\n")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", help="files of training/ without suffix; all if none is given")
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--network", default="analytical")
    parser.add_argument("--first", type=int, help="only so many runs of each source (the files have small ones first)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    failed = False
    for source in options.sources or training.sources():
        print(f"{training.head(source)['title']}\n{'predicted':>12}{'published':>12}{'error':>10}")
        of = training.records(source)[:options.first]
        training.predict_all(of, options.bin, options.out / options.network, options.network, options.jobs, print_record)
        failed |= not check(source, of, limits()[source])
    print("* something is not stated by the source; filled by a rule (training_records.py)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
