#!/usr/bin/env python3
"""Runs every published measurement that Drydock is checked against and writes docs/validation.md.

Usage: scoreboard.py --bin DIR --out DIR --docs DIR [SOURCE...] [--network NAME] [--jobs N] [--most-gpus N]

Exit status 1 if something cannot be predicted, or is worse than its limit (training.jsonl, kernels.jsonl,
collective_tables.csv). The page is written either way.
"""
import argparse
import csv
import pathlib
import subprocess
import sys

import training_records as training
from run_network import markdown
from run_training import check, limits, print_record
from scatter import scatter

HERE = pathlib.Path(__file__).resolve().parent
LISTED = 40  # runs of a source that are listed one by one; of longer ones the worst are
WORST = 8
# What, which runs, mean error in per cent at most, worst at most.
TARGETS = [
    ("tier A", lambda record: record.tier == "A", 5, 12),
    ("tiers A and B", lambda record: record.tier in "AB", 8, None),
    ("vTrain, one node", lambda record: record.source == "vtrain-single-node", 8, None),
    ("vTrain, many nodes", lambda record: record.source == "vtrain-multi-node", 12, None),
]
TIERS = """Tier A: the source states everything that decides the time. B: a rule filled something that does, such as a micro-batch; such
rows stay out of the mean of tier A. C: points with a target of their own, which stay out of both means; vTrain itself
states 8.37 % on one node and 14.73 % on many."""


def percent(value):
    return f"{value:+.1f} %"


def settings(record):
    return ", ".join(setting.split(".")[-1].replace("=", " ") for setting in record.settings)


def summary_rows(groups):
    yield "source", "tier", "runs", "mean error", "bias", "worst"
    for name, of in groups:
        good = training.predicted(of)
        tiers = ", ".join(sorted({record.tier for record in of}))
        if not good:
            yield name, tiers, str(len(of)), "no prediction", "", ""
            continue
        bias = sum(record.error for record in good) / len(good)
        failed = f", {len(good)} run" if len(good) < len(of) else ""
        yield (name, tiers, str(len(of)) + failed, f"{training.mean_error(of):.1f} %", percent(bias),
               percent(training.worst(of).error))


def target_rows(everything):
    yield "what", "runs", "mean error", "target", "worst", "target", ""
    for name, belongs, mean, worst in TARGETS:
        of = [record for record in everything if belongs(record)]
        most = training.worst(of)
        if most is None:
            continue
        met = training.mean_error(of) <= mean and (worst is None or abs(most.error) <= worst)
        good = training.predicted(of)
        runs = str(len(of)) if len(good) == len(of) else f"{len(good)} of {len(of)}"
        yield (name, runs, f"{training.mean_error(of):.1f} %", f"{mean} %", percent(most.error),
               f"{worst} %" if worst else "", "missed" if not met else "met" if len(good) == len(of) else "met so far")


def run_rows(of):
    yield "model", "tier", "settings", "published", "predicted", "error", "not stated"
    for record in of:
        result = ((f"{record.predicted:.4g} s", percent(record.error)) if not record.failure else
                  ("", record.failure.splitlines()[0].replace("|", "/")))
        yield (record.model.stem, record.tier, settings(record), f"{record.seconds:.4g} s", *result,
               ", ".join(record.assumed))


def source_section(source, of):
    head = training.head(source)
    shown = of if len(of) <= LISTED else sorted(training.predicted(of), key=lambda record: -abs(record.error))[:WORST]
    which = "" if shown is of else f"The {WORST} worst of {len(of)} runs ({head['selection']}):\n\n"
    missing = f"Missing in the model: {head['missing']}.\n\n" if "missing" in head else ""
    return f"### {head['title']}\n\n{head['source']}.\n\n{missing}{which}{markdown(list(run_rows(shown)))}\n"


def training_section(found, network):
    groups = [(training.head(source)["title"], of) for source, of in found.items()]
    everything = [record for of in found.values() for record in of]
    rules = "".join(f"- {name}: {rule}.\n" for name, (rule, _) in training.RULES.items())
    return (f"## Training runs\n\nIteration times, network `{network}`. {TIERS}\n\n"
            f"{markdown(list(target_rows(everything)))}\n{markdown(list(summary_rows(groups)))}\n"
            "![predicted against published](validation-training.svg)\n\n"
            f"What a source does not state is filled by a rule, the same for all:\n\n{rules}\n"
            + "".join(source_section(source, of) for source, of in found.items()))


def collective_rows(points):
    sizes = [("below 1 MiB", 0, 1 << 20), ("below 16 MiB", 1 << 20, 1 << 24), ("from 16 MiB", 1 << 24, 1 << 62)]
    yield "table", "points", *(f"{title}: mean, worst" for title, _, _ in sizes)
    tables = {}
    for point in points:
        if not point["apart"]:
            tables.setdefault(point["table"], []).append((int(point["bytes"]), float(point["error"])))
    for table, of in tables.items():
        cells = []
        for _, begin, end in sizes:
            errors = [error for size, error in of if begin <= size < end]
            cells.append(f"{sum(map(abs, errors)) / len(errors):.1f} %, {max(errors, key=abs):+.0f} %" if errors else "")
        yield table, str(len(of)), *cells


def run_script(name, *words):
    """What it prints; and whether it says that all is well."""
    done = subprocess.run([sys.executable, HERE / name, *map(str, words)], stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    return done.stdout, done.returncode == 0


def collective_section(options):
    path = options.out / "collectives.csv"
    _, ok = run_script("run_collectives.py", "--bin", options.bin, "--points", path, "--jobs", options.jobs)
    with path.open() as file:
        table = markdown(list(collective_rows(csv.DictReader(file))))
    return ("## Collectives\n\nTime of one call of nccl-tests and others, as `collective-perf` predicts it; the sources stand in "
            f"`tests/validation/collective_tables.csv`. Targets: 10, 12 and 6 % by size.\n\n{table}\n"), ok


def kernel_section(options):
    lines, ok = run_script("run_kernels.py", "--bin", options.bin)
    return ("## Kernels\n\nThe half of each table that no parameter was fitted on ([compute.md](compute.md)).\n\n"
            f"```\n{lines}```\n"), ok


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where runs go")
    parser.add_argument("--docs", required=True, type=pathlib.Path, help="where the page goes")
    parser.add_argument("sources", nargs="*", help="training runs of these files alone (without suffix); all if none is given")
    parser.add_argument("--network", default="analytical")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most-gpus", type=int, help="leave out larger training runs; the page says which")
    options = parser.parse_args()
    made_from = training.fingerprint(options.bin)

    found, ok = {}, True
    for source in options.sources or training.sources():
        of = found[source] = training.records(source)
        training.predict_all(of, options.bin, options.out / options.network, options.network, options.jobs, print_record,
                             made_from, options.most_gpus)
        ok &= check(source, of, limits()[source])
    collectives, collectives_ok = collective_section(options)
    kernels, kernels_ok = kernel_section(options)
    page = ("# Validation\n\nWhat Drydock predicts against what was published, made by `./run_validation.sh`. One general model: "
            "no row has a setting of its own beyond what its source states.\nThe packet network has a page to itself, "
            "[network-validation.md](network-validation.md).\n\n")
    (options.docs / "validation.md").write_text(page + training_section(found, options.network) + collectives + kernels)
    points = {training.head(source)["title"]: [(r.seconds, r.predicted) for r in training.predicted(of)] for source, of in found.items()}
    (options.docs / "validation-training.svg").write_text(scatter(points, "published, s", "predicted, s"))
    return 0 if ok and collectives_ok and kernels_ok else 1


if __name__ == "__main__":
    sys.exit(main())
