#!/usr/bin/env python3
"""Predicts how often published runs were interrupted and what that left, and compares.

Usage: run_goodput.py --bin DIR --out DIR [--docs DIR]

Runs are kept in --out. --docs records the table in DIR/figures/goodput.json and renews the pages. Exit status 1 if a figure
is outside its limits. Rates are those of the shipped failures files; no entry is made for a row.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from pages import record

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOUR = 3600
# The Llama 3 Herd of Models, section 3.3.1: Tectonic sustains 2 TB/s.
STORAGE = ["storage.read=2 TB/s", "storage.write=2 TB/s", "storage.source='Llama Team 2024, section 3.3.1, sustained'"]
RUNS = {
    "llama": ("llama-3.1-405b", "grand-teton-h100-2048", []),
    # ByteRobust states neither its model nor its layout.
    "robust": ("llama-3.1-405b", "grand-teton-h100-2048", ["cluster.hosts=1200", "training.global_batch=2400"]),
    "research": ("gpt-175b", "dgx-a100-80g-8", ["cluster.hosts=128", "fabric.leaf.ports=64", "fabric.spine.ports=64",
                                            "training.global_batch=128"]),
}


def run(binary, words):
    done = subprocess.run([binary, *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{binary} {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def predict(options, name):
    model, cluster, sets = RUNS[name]
    out = options.out / name
    words = ["run", model, cluster, "--network", "analytical", "--out", out]
    for assignment in [*sets, *STORAGE]:
        words += ["--set", assignment]
    run(options.bin / "drydock", words)
    return out


def goodput(options, name, failures, days, *more):
    target = options.out / f"{name}-{failures}.json"
    run(options.bin / "drydock-goodput", [options.out / name, "--failures", failures, "--days", days, "-o", target, "-q", *more])
    return json.loads(target.read_text())


class Rows:
    def __init__(self):
        self.rows, self.wrong = [], []

    def add(self, what, published, found, text, low, high, why):
        """A figure that has to lie within low..high."""
        self.rows.append((what, published or "–", text, why))
        verdict = "" if low <= found <= high else f"  not within {low:g} to {high:g}"
        if verdict:
            self.wrong.append(what)
        print(f"{what:60} {published:>10} {text:>12}{verdict}", flush=True)


def explained(answer, published):
    """The seconds a failure that the published share leaves beside what the prediction counts."""
    return (answer["goodput"]["median"] - published) * answer["days"] * 24 * HOUR / answer["failures"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path)
    options = parser.parse_args()
    options.out = options.out.resolve()
    for name in RUNS:
        predict(options, name)
    rows = Rows()

    llama = goodput(options, "llama", "llama-3", 54)
    rows.add("Llama 3, 16,384 GPUs: interruptions in 54 days", "419", llama["failures"]["median"],
             f"{llama['failures']['median']:.0f}", 380, 440, "its own rates, so this tests their sum over parts and days")
    rows.add("the same: effective training time", "> 90 %", llama["goodput"]["median"], f"≤ {llama['goodput']['median'] * 100:.1f} %", 0.90, 1,
             "replacing hosts, starting and communicators are not published: they count as 0")
    rest = explained(llama, 0.90) / 60
    rows.add("the same: minutes an interruption that would make it 90 %", "", rest, f"{rest:.1f}", 5, 20,
             "what the unpublished times may be together")

    research = goodput(options, "llama", "meta-rsc-1", 54)
    hours = research["between_failures_s"] / HOUR
    rows.add("Meta RSC-1 rate, 16,384 GPUs: hours between failures", "1.8", hours, f"{hours:.2f}", 1.7, 1.9, "the paper projects by the same rate")
    research = goodput(options, "research", "meta-rsc-1", 54)
    hours = research["between_failures_s"] / HOUR
    rows.add("Meta RSC-1 rate, 1,024 GPUs: hours between failures", "7.9", hours, f"{hours:.1f}", 25, 32,
             "not known; the paper's times may be of jobs that ended for other causes too")
    research = goodput(options, "research", "meta-rsc-2", 54)
    hours = research["between_failures_s"] / HOUR
    rows.add("Meta RSC-2 rate, 1,024 GPUs: hours between failures", "", hours, f"{hours:.1f}", 70, 90, "no figure of this size is published")

    robust = goodput(options, "robust", "llama-3", 90)
    rows.add("ByteRobust, 9,600 GPUs, 90 days: effective training time", "97 %", robust["goodput"]["median"],
             f"≤ {robust['goodput']['median'] * 100:.1f} %", 0.97, 1, "its rates and its model are not published: those of Llama 3")
    rest = explained(robust, 0.97) / 60
    rows.add("the same: minutes an interruption that would make it 97 %", "", rest, f"{rest:.1f}", 0.5, 15,
             "warm spare hosts and restarts in place are what its paper is about")

    if options.docs:
        table = [("what", "published", "we find", "why"), *rows.rows]
        best = llama["checkpoint"]
        record(options.docs, "goodput", "tests/validation/run_goodput.py --docs docs", {"anchors": table},
               {"checkpoint_size": f"{best['bytes'] / 1e12:.2f} TB", "checkpoint_write": f"{best['write_s']:.1f} s",
                "interval": f"{best['interval_s'] / 60:.1f} min", "young": f"{best['young_s'] / 60:.1f} min",
                "daly": f"{best['daly_s'] / 60:.1f} min", "restore": f"{llama['recovery']['restore_s']:.0f} s"})
    return 1 if rows.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
