#!/usr/bin/env python3
"""Predicts the published collectives of collectives.csv and prints how far off each table is.

Usage: run_collectives.py --bin DIR [--points FILE] [--jobs N]

Prints mean and worst error by table and class of sizes, then against the targets. --points writes
every point with its prediction as CSV. Exit status 1 if a point cannot be predicted, the error of a table
grows by more than a percentage point, or a group of tables misses a target.
"""
import argparse
import collections
import concurrent.futures
import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLASSES = ["small", "middle", "large"]
TITLES = {"small": "below 1 MiB", "middle": "below 16 MiB", "large": "from 16 MiB"}
TARGETS = {"small": 10.0, "middle": 12.0, "large": 6.0}  # per cent, mean over a group of tables
WORSE = 1.0  # percentage points by which the error of a table may grow


def read_csv(name):
    lines = [line for line in (HERE / name).read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def size_class(size):
    return "small" if size < 1 << 20 else "middle" if size < 1 << 24 else "large"


def predict(tool, cluster, points):
    """Fills in `predicted` and `plan` of points that share a cluster."""
    fields = ("collective", "type", "bytes", "hosts", "gpus")
    calls = "".join(" ".join(point[f] for f in fields) + "\n" for point in points)
    done = subprocess.run([tool, ROOT / cluster], input=calls, stdout=subprocess.PIPE, text=True)
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != len(points):
        sys.exit(f"{tool} {cluster}: exit status {done.returncode}")
    for point, answer in zip(points, answers):
        words = answer.split(" ", 6)
        if words[5] == "error":
            sys.exit(f"{cluster}: {answer}")
        point["predicted"], point["plan"] = float(words[5]), words[6]


def predict_all(tool, points, tables, jobs):
    shares = collections.defaultdict(list)  # by cluster, divided among the jobs
    seen = collections.Counter()
    for point in points:
        cluster = tables[point["table"]]["cluster"]
        shares[cluster, seen[cluster] % jobs].append(point)
        seen[cluster] += 1
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda share: predict(tool, share[0][0], share[1]), shares.items()))


def evaluate(point, table):
    predicted = point["predicted"] + float(table["launch_us"])
    point["predicted"] = predicted
    point["error"] = 100.0 * (predicted / float(point["us"]) - 1.0)


def mean(errors):
    return sum(map(abs, errors)) / len(errors)


def print_row(name, by_class):
    cells = []
    for c in CLASSES:
        errors = by_class.get(c)
        cells.append(f"{mean(errors):5.1f} %{max(errors, key=abs):+8.0f} %{len(errors):5}"
                     if errors else " " * 21)
    print(f"{name:<34}" + "".join(f"{cell:>25}" for cell in cells))


def print_header(title):
    print(f"{title:<34}" + "".join(f"{TITLES[c]:>25}" for c in CLASSES))
    print(f"{'':<34}" + "".join(f"{'mean    worst points':>25}" for _ in CLASSES))


def group_errors(points, key):
    errors = collections.OrderedDict()
    for point in points:
        by_class = errors.setdefault(key(point), collections.defaultdict(list))
        by_class[size_class(int(point["bytes"]))].append(point["error"])
    return errors


def check_tables(errors, tables):
    failures = []
    for name, table in tables.items():
        for c in CLASSES:
            errors_here = errors.get(name, {}).get(c)
            if not errors_here or not table[c]:
                continue
            if mean(errors_here) > float(table[c]) + WORSE:
                failures.append(f"{name}, {TITLES[c]}: mean error {mean(errors_here):.1f} %, "
                                f"was {table[c]} %")
    return failures


def check_targets(errors):
    return [f"{group}, {TITLES[c]}: mean error {mean(by_class[c]):.1f} %, target {TARGETS[c]:g} %"
            for group, by_class in errors.items() for c in CLASSES
            if by_class.get(c) and mean(by_class[c]) > TARGETS[c]]


def write_points(path, points):
    fields = ["table", "collective", "type", "bytes", "hosts", "gpus", "us", "predicted", "error",
              "apart", "plan"]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for point in points:
            writer.writerow({**point, "predicted": f"{point['predicted']:.2f}",
                             "error": f"{point['error']:+.1f}"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where collective_times is")
    parser.add_argument("--points", type=pathlib.Path, help="write every point to this CSV file")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    tables = {table["table"]: table for table in read_csv("collective_tables.csv")}
    points = read_csv("collectives.csv")
    predict_all(options.bin / "collective_times", points, tables, options.jobs)
    for point in points:
        evaluate(point, tables[point["table"]])
    scored = [point for point in points if not point["apart"]]

    by_table = group_errors(scored, lambda point: point["table"])
    by_group = group_errors(scored, lambda point: tables[point["table"]]["group"])
    print_header("table")
    for name, by_class in by_table.items():
        print_row(name, by_class)
    print()
    print_header("table, collective")
    for (table, collective), by_class in group_errors(
            scored, lambda point: (point["table"], point["collective"])).items():
        print_row(f"{table}, {collective}", by_class)
    print()
    print_header("not scored, reason")
    for (table, reason), by_class in group_errors(
            [p for p in points if p["apart"]], lambda point: (point["table"], point["apart"])).items():
        print_row(f"{table}, {reason}", by_class)
    print()
    print_header("group (targets 10, 12, 6 %)")
    for name, by_class in by_group.items():
        print_row(name, by_class)
    if options.points:
        write_points(options.points, points)
    failures = check_tables(by_table, tables) + check_targets(by_group)
    for failure in failures:
        print(f"failed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
