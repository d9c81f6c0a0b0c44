#!/usr/bin/env python3
"""Predicts every published measurement that Drydock is checked against, and writes the page of all of them.

Usage: scoreboard.py --bin DIR --out DIR --docs DIR [SOURCE...] [--network NAME] [--jobs N] [--most-gpus N] [--minutes N]
       scoreboard.py --bin DIR --out DIR --list [--network NAME]

Writes DOCS/figures/validation.json, DOCS/explanation/validation.md and its picture, and renews the figures in other pages.
Predictions from the same files are reused (kept.py), so several calls can make the page piece by piece: it shows all known
results. Exit status 1 if something cannot be predicted, is worse than its limit (training_limits.py, kernels.jsonl,
collective_tables.csv), or has large errors that the page does not explain.
"""
import argparse
import csv
import os
import pathlib
import signal
import subprocess
import sys
import time

import training_records as training
from kept import configuration_files, key_of
from run_training import print_head, print_record
from training_limits import check
from training_runs import NCCL, Runs
from validation_page import figures, figures_of, is_large, write

HERE = pathlib.Path(__file__).resolve().parent


class Orders:
    """The rows that the command line selects."""

    def __init__(self, options):
        self.sources, self.most_gpus = options.sources, options.most_gpus
        self.deadline = time.monotonic() + 60 * options.minutes if options.minutes is not None else None

    def why_not(self, record):
        """Returns why a row is not run, in a few words; "" if it is run."""
        if self.sources and record.source not in self.sources:
            return "not requested"
        if self.most_gpus and training.count_gpus(record) > self.most_gpus:
            return f"{training.count_gpus(record)} GPUs"
        return self.why_not_now()

    def why_not_now(self):
        return "no time was left" if self.deadline is not None and time.monotonic() >= self.deadline else ""


def all_records():
    return {source: training.records(source) for source in training.sources()}


def small_first(found):
    everything = [record for of in found.values() for record in of]
    return sorted(everything, key=lambda record: (training.count_gpus(record), record.source))


def list_rows(runs):
    """The rows with results, and the resources that they used."""
    found = all_records()
    for record in small_first(found):
        if record.needs:
            continue
        if not runs.recall(record):
            record.left_out = "not known"
        took = f"{record.cpu_seconds:>8.0f} s{record.gigabytes:>6.1f} GB" if not record.left_out else f"{'-':>10}{'-':>9}"
        print(f"{training.count_gpus(record):>6} GPUs{took}  {record.source}: {record.name_and_settings}")
    everything = [record for of in found.values() for record in of]
    known = training.predicted(everything)
    runs.predict_options(everything, 1, lambda record: "not known")
    others = [option.record for record in known for option in record.options]
    others_known = training.predicted(others)
    waiting = sum(bool(record.needs) for record in everything)
    print(f"{len(known)} of {len(everything)} rows known, {waiting} wait for features; "
          f"{sum(record.cpu_seconds for record in known):.0f} s of CPU time")
    print(f"{len(others_known)} of {len(others)} predictions with other values of unstated settings known; "
          f"{sum(record.cpu_seconds for record in others_known):.0f} s of CPU time")


def predict_training(options, orders, runs):
    """Returns the records by source, and whether all checks pass."""
    found = all_records()
    print_head("Training runs, small ones first")
    runs.predict_all(small_first(found), options.jobs, orders.why_not, print_record)
    print()
    print_head("The same with other values of settings that the source does not state")
    runs.predict_options(small_first(found), options.jobs, orders.why_not, print_record)
    print()
    good = True
    for source, of in found.items():
        good &= check(source, of)
        if is_large(of) and "missing" not in training.head(source):
            print(f"{source}: has large errors, and its file does not say what is missing in the model\n")
            good = False
    return found, good


def run_script(kept, orders, name, files, *words, result=None):
    """Returns the output of a script, the content of `result`, and whether the script succeeds; from `kept` if it ran on the
    same files before. Returns nothing if no time is left for it."""
    script = HERE / name
    key = key_of([], [script, *files], training.ROOT)
    known = kept.find(script.stem, key)
    if known is None and orders.why_not_now():
        return {"printed": "", "result": "", "ok": True}
    if known is None:
        done = subprocess.run([sys.executable, script, *map(str, words)], stdout=subprocess.PIPE, text=True)
        known = {"printed": done.stdout, "result": result.read_text() if result and result.exists() else "",
                 "ok": done.returncode == 0}
        if known["result"] or (known["printed"] and not result):
            kept.keep(script.stem, key, known)
    print(known["printed"], flush=True)
    return known


def predict_collectives(options, orders, kept):
    clusters = sorted((training.ROOT / "configs/clusters").iterdir()) + sorted((HERE / "clusters").iterdir())
    points = options.out / "collectives.csv"
    points.unlink(missing_ok=True)
    return run_script(kept, orders, "run_collectives.py",
                      [options.bin / "collective_times", NCCL, HERE / "collectives.csv", HERE / "collective_tables.csv",
                       *configuration_files(clusters, training.ROOT)],
                      "--bin", options.bin, "--points", points, "--jobs", options.jobs, result=points)


def predict_kernels(options, orders, kept):
    configs = training.ROOT / "configs"
    return run_script(kept, orders, "run_kernels.py",
                      [options.bin / "compute-sim", configs / "kernels.yaml", HERE / "kernels.jsonl", *HERE.glob("kernels/*"),
                       *configs.glob("gpus/*"), *configs.glob("profiles/*")],
                      "--bin", options.bin)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs and cached results go")
    parser.add_argument("--docs", type=pathlib.Path, help="where the page goes")
    parser.add_argument("--list", action="store_true", help="list the known rows and their cost; run nothing")
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="run only training runs of these files (without suffix)")
    parser.add_argument("--network", default="analytical")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most-gpus", type=int, help="run no larger training runs")
    parser.add_argument("--minutes", type=float, help="start no run after this time")
    options = parser.parse_args()
    unknown = set(options.sources) - set(training.sources())
    if unknown:
        parser.error(f"no source is called {' or '.join(sorted(unknown))}; there are {', '.join(training.sources())}")
    runs = Runs(options.bin, options.out, options.network)
    if options.list:
        list_rows(runs)
        return 0
    if not options.docs:
        parser.error("--docs is missing")

    orders = Orders(options)
    found, good = predict_training(options, orders, runs)
    collectives = predict_collectives(options, orders, runs.kept)
    kernels = predict_kernels(options, orders, runs.kept)
    points = list(csv.DictReader(collectives["result"].splitlines()))
    figures.record(options.docs, "validation", "./run_validation.sh",
                   figures_of(found, options.network, points, kernels["printed"]))
    write(options.docs)
    figures.update(options.docs)
    return 0 if good and collectives["ok"] and kernels["ok"] else 1


if __name__ == "__main__":
    # Child processes get the same signal; threads that wait for them would start the next runs.
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    sys.exit(main())
