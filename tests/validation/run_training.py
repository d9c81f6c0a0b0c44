#!/usr/bin/env python3
"""Predicts published training runs (training/*.csv) and prints predicted, published and error.

Usage: run_training.py --bin DIR --out DIR [SOURCE...] [--first N] [--network NAME] [--jobs N]

Exit status 1 if a run fails or a source misses its limits (training_limits.py). Predictions from the same files are
reused from --out.
"""
import argparse
import pathlib
import sys

import training_records as training
from training_limits import check
from training_runs import Runs


def print_record(record):
    if record.left_out or record.needs:
        return
    if record.failure:
        print(f"{'none':>12}{record.seconds:>10.3f} s{'':>29}  {record.name_and_settings}\n  {record.failure}", flush=True)
        return
    memory = f"{record.memory_error:>+7.1f} % memory" if record.memory_error is not None else ""
    print(f"{record.predicted:>10.3f} s{record.seconds:>10.3f} s{record.error:>+8.1f} %{record.cpu_seconds:>8.0f} s"
          f"{record.gigabytes:>6.1f} GB{memory}  {record.name_and_settings}{' *' if record.assumed else ''}", flush=True)


def print_head(title):
    print(f"{title}\n{'predicted':>12}{'published':>12}{'error':>10}{'CPU':>10}{'memory':>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", help="files of training/ without suffix; all if none is given")
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--network", default="analytical")
    parser.add_argument("--first", type=int, help="the number of runs of each source (the files have small runs first)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    runs, failed = Runs(options.bin, options.out, options.network), False
    for source in options.sources or training.sources():
        print_head(training.head(source)["title"])
        of = training.records(source)
        wanted = {record.name for record in of[:options.first]}
        runs.predict_all(of, options.jobs, lambda record: "" if record.name in wanted else "not requested", print_record)
        failed |= not check(source, of)
    print("* a rule supplies values that the source does not state (training_records.py)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
