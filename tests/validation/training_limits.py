"""Checks predicted rows against the limits of training.jsonl.

A line names a source, `max_mean` and `max_worst` in per cent, and optionally `first`: the line then applies to the first
rows of the source only. The mean is judged when all these rows are predicted. The worst error is judged at once, because
more rows can only increase it. A source without a line has the limits of TARGETS.
Rows of tier D have targets (validation_page.py) but no limit: a row that the tools refuse is shown as such.
"""
import dataclasses
import json
import pathlib

import training_records as training

TARGETS = {"max_mean": 8, "max_worst": 12}
LINES = pathlib.Path(__file__).with_name("training.jsonl")


@dataclasses.dataclass
class Verdict:
    text: str
    ok: bool


def limits(source):
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    return [line for line in lines if line["source"] == source] or [{"source": source, **TARGETS}]


def judge(of, limit):
    """Judges all rows of a source by `limit`, whether or not they are predicted."""
    rows = of[:limit.get("first", len(of))]
    good = training.predicted(rows)
    if not good:
        return Verdict(f"none of {len(rows)} rows", True)
    mean, worst = training.mean_error(rows), abs(training.worst(rows).error)
    complete = len(good) == len(rows)
    ok = worst <= limit["max_worst"] and (not complete or mean <= limit["max_mean"])
    judged = f"limit {limit['max_mean']:g}" if complete else "not judged"
    return Verdict(f"{len(good)} of {len(rows)} rows, mean error {mean:.1f} % ({judged}), worst {worst:.1f} % "
                   f"(limit {limit['max_worst']:g})", ok)


def print_without_limit(source, of):
    good, waiting = training.predicted(of), sum(bool(record.needs) for record in of)
    mean = f", mean error {training.mean_error(of):.1f} %" if good else ""
    failed = sum(bool(record.failure) for record in of)
    print(f"{source}: {len(good)} of {len(of)} rows{mean}; {waiting} wait for features, {failed} are refused\n", flush=True)


def check(source, of):
    """Prints the limits. Returns whether they hold and every row that was run has a prediction."""
    if of and all(record.tier == "D" for record in of):
        print_without_limit(source, of)
        return True
    failed = sum(bool(record.failure) for record in of)
    good = not failed
    for limit in limits(source):
        verdict = judge(of, limit)
        good &= verdict.ok
        print(f"{source}: {verdict.text} {'ok' if verdict.ok else 'ABOVE ITS LIMIT'}")
    if failed:
        print(f"{source}: {failed} FAILED")
    print(flush=True)
    return good
