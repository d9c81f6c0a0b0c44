#!/usr/bin/env python3
"""Estimates the errors of whole runs in configs/bands.yaml from published training runs.

Usage: fit_bands.py --bin DIR --out DIR [--network NAME]

Reads the predictions that run_validation.sh has cached in OUT; predicts nothing. A band's variance is that of the models
that a prediction used, weighted by their shares of the time, plus that of the whole run, of which there is one value for
dense models, one for models with experts and one for hybrids. Each half of the runs asks for a value, the smallest with which
its bands hold 80 % of it; the result is their mean. How often the bands of one half hold with the value of the other shows
what the result is worth on runs that it has not seen.
"""
import argparse
import math
import pathlib
import zlib

import training_records as training
from training_runs import Runs

Z = 1.281552  # a standard normal variable lies within it in 80 % of all cases
COVERAGE = 0.8
KINDS = {"dense": "dense", "small CI": "dense", "hybrid": "hybrid", "experts": "experts"}
GRID = [step * 0.0025 for step in range(401)]


def is_fitted(record):
    """True for one half of the runs; depends on what was run, not on its place in a file."""
    return zlib.crc32(f"{record.source} {record.name_and_settings} {record.arguments}".encode()) % 2 == 0


def models_variance(record):
    """The variance of the logarithm that the models of a prediction state."""
    return math.pi / 2 * sum((model["share"] * model["error"]) ** 2 for model in record.band["models"])


def log_error(record):
    return math.log(record.predicted / record.seconds)


def variance(record, whole_run):
    return models_variance(record) + math.pi / 2 * whole_run ** 2


def coverage(of, whole_run):
    """The share of runs whose measured time lies in the band."""
    return sum(abs(log_error(record)) <= Z * math.sqrt(variance(record, whole_run)) for record in of) / len(of)


def smallest_that_covers(of):
    return next((value for value in GRID if coverage(of, value) >= COVERAGE), GRID[-1])


def said(of, whole_run):
    return f"{100 * coverage(of, whole_run):.0f} % of {len(of)}"


def known_records(options):
    runs = Runs(options.bin, options.out, options.network)
    for source in training.sources():
        for record in training.records(source):
            if record.needs or not runs.recall(record):
                continue
            runs.predict_options([record], 1, lambda other: "not known")  # a tuned run has one of these
            if record.band and not record.left_out:
                yield record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where cached predictions are")
    parser.add_argument("--network", default="analytical")
    options = parser.parse_args()
    known = list(known_records(options))
    for kind in ("dense", "experts", "hybrid"):
        of = [record for record in known if KINDS[record.kind] == kind]
        halves = [[r for r in of if is_fitted(r)], [r for r in of if not is_fitted(r)]]
        if not all(halves):
            print(f"{kind}: too few runs are predicted")
            continue
        values = [smallest_that_covers(half) for half in halves]
        print(f"{kind}: {sum(values) / 2:.4f}; with the value of the other half, bands hold "
              f"{said(halves[0], values[1])} and {said(halves[1], values[0])} runs")


if __name__ == "__main__":
    main()
