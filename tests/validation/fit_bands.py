#!/usr/bin/env python3
"""Estimates the errors of whole runs in configs/bands.yaml from published training runs.

Usage: fit_bands.py --bin DIR --out DIR [--network NAME]

Reads the predictions that run_validation.sh has cached in OUT; predicts nothing. A band's variance is that of the models
that a prediction used, weighted by their shares of the time, plus that of the whole run, of which there is one value for
dense models and one for models with experts. Each value maximizes the likelihood of half of the runs, with errors that are
normal in the logarithm of the time. The other half shows how often the measured time lies in the band.
"""
import argparse
import math
import pathlib
import zlib

import training_records as training
from training_runs import Runs

Z = 1.281552  # a standard normal variable lies within it in 80 % of all cases
KINDS = {"dense": "dense", "small CI": "dense", "hybrid": "dense", "experts": "experts"}
GRID = [step * 0.0025 for step in range(401)]


def is_fitted(record):
    """True for half of the runs; depends on what was run, not on its place in a file."""
    return zlib.crc32(f"{record.source} {record.name_and_settings} {record.arguments}".encode()) % 2 == 0


def models_variance(record):
    """The variance of the logarithm that the models of a prediction state."""
    return math.pi / 2 * sum((model["share"] * model["error"]) ** 2 for model in record.band["models"])


def log_error(record):
    return math.log(record.predicted / record.seconds)


def variance(record, whole_run):
    return models_variance(record) + math.pi / 2 * whole_run ** 2


def loss(of, whole_run):
    """Minus the logarithm of the likelihood, without constants. Errors beyond 2.5 standard deviations count as these: a run
    with a setting that is not stated does not widen all bands."""
    total = 0.0
    for record in of:
        spread = max(variance(record, whole_run), 1e-8)
        total += min(log_error(record) ** 2 / spread, 6.25) + math.log(spread)
    return total


def coverage(of, whole_run):
    inside = sum(abs(log_error(record)) <= Z * math.sqrt(variance(record, whole_run)) for record in of)
    return f"{100 * inside / len(of):.0f} % of {len(of)}" if of else "no runs"


def known_records(options):
    runs = Runs(options.bin, options.out, options.network)
    for source in training.sources():
        for record in training.records(source):
            if not record.needs and runs.recall(record) and record.band:
                yield record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where cached predictions are")
    parser.add_argument("--network", default="analytical")
    options = parser.parse_args()
    known = list(known_records(options))
    for kind in ("dense", "experts"):
        of = [record for record in known if KINDS[record.kind] == kind]
        fitted, others = [r for r in of if is_fitted(r)], [r for r in of if not is_fitted(r)]
        if not fitted:
            print(f"{kind}: no run is predicted")
            continue
        best = min(GRID, key=lambda value: loss(fitted, value))
        print(f"{kind}: {best:.4f}; bands hold {coverage(fitted, best)} fitted and {coverage(others, best)} other runs")


if __name__ == "__main__":
    main()
