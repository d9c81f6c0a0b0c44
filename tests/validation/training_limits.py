"""Checks predicted rows against the limits of training.jsonl.

A line names a source, `max_mean` and `max_worst` in per cent, and maybe `first`: it is then of the first so many rows.
A mean says something of its rows together: it is judged once all of them are predicted. The worst is judged of whatever
is there, since more rows can only make it worse. So a part of the rows never fails for the lack of the others, and what
is too far off fails at once. A source without a line has that of the targets.
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
    """Of the rows of a source, which are all there, those that were left out too."""
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


def check(source, of):
    """Prints the limits. Returns whether they hold and every row that was run has a prediction."""
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
