#!/usr/bin/env python3
"""Runs shipped models through the five tools and compares every artefact with the digest kept here.

A digest covers the bytes of an artefact except its provenance (hash chain, version, options), its
checksum, and the copies of input files, which a refactoring may change. So a changed digest means a
changed result.

Usage:
  artefacts_test.py BIN                   the rows marked 'short'; part of the integration tests
  artefacts_test.py BIN --all             all rows; three minutes on two cores
  artefacts_test.py BIN --all --update    rewrites the kept digests from the build in BIN
  --models REGEX                          only the models whose names match

A model runs with the command in its comments. Columns of artefacts.csv: when (short, long), model,
network, artefact, sha256.
"""
import argparse
import concurrent.futures
import csv
import gzip
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = HERE / "artefacts.csv"
RUNS = HERE / "artefact_runs.csv"

PROVENANCE, CHECKSUM = 1, 100
# Top-level fields of an artefact that repeat its inputs.
ECHOES = {"manifest.pb": {2, 3}}
JSON_KEYS_ASIDE = {"version", "inputs", "options", "tool", "run"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, bytes of tag and value) of each top-level field of a protobuf message."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = varint(data, at)
        elif kind == 1:
            at += 8
        elif kind == 2:
            size, at = varint(data, at)
            at += size
        elif kind == 5:
            at += 4
        else:
            raise ValueError(f"wire type {kind} at byte {begin}")
        yield tag >> 3, data[begin:at]


def without_keys(value):
    if isinstance(value, dict):
        return {key: without_keys(item) for key, item in value.items() if key not in JSON_KEYS_ASIDE}
    return [without_keys(item) for item in value] if isinstance(value, list) else value


def digest(path):
    data = path.read_bytes()
    if path.suffix == ".pb":
        aside = {PROVENANCE, CHECKSUM} | ECHOES.get(path.name, set())
        data = b"".join(part for number, part in fields(data) if number not in aside)
    elif path.suffix == ".json":
        data = json.dumps(without_keys(json.loads(data))).encode()
    elif path.suffix == ".gz":
        data = gzip.decompress(data)
    return hashlib.sha256(data).hexdigest()


def artefacts(folder):
    """Returns name -> digest of the artefacts in a run directory, without the HTML pages."""
    return {path.relative_to(folder).as_posix(): digest(path) for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in {".pb", ".et", ".json", ".csv", ".gz"}}


def command(model):
    """The arguments of workload-gen in the comments of a model file."""
    lines = [line for line in model.read_text().splitlines() if line.startswith("# workload-gen ")]
    words = shlex.split(lines[0])[2:]
    return words[:words.index("-o")] if "-o" in words else words


def run(tools, row):
    """name -> digest of the artefacts of one run, or a text that says what failed."""
    model = next(path for path in (ROOT / "configs/models").iterdir() if path.name == row["model"])
    with tempfile.TemporaryDirectory() as folder:
        stages = [["workload-gen", *command(model), "-o", folder], ["simccl", folder], ["compute-sim", folder]]
        if row["network"] != "none":
            stages += [["exec-engine", folder, "--network", row["network"], "--threads", "1"], ["report", folder]]
        for tool, *words in stages:
            done = subprocess.run([tools / tool, *words, "-q"], cwd=ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                return f"{tool}: exit status {done.returncode}\n{done.stderr}"
        return artefacts(pathlib.Path(folder))


def table(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def compare(row, got, kept):
    """Returns the differences of one run, one per line."""
    name = f"{row['model']} over {row['network']}"
    if isinstance(got, str):
        return [f"{name}: {got}"]
    lines = [f"{name}: {artefact} {'is new' if artefact not in kept else 'has other bytes'}"
             for artefact in got if kept.get(artefact) != got[artefact]]
    return lines + [f"{name}: {artefact} is missing" for artefact in kept if artefact not in got]


def keep(kept):
    with KEPT.open("w") as file:
        file.write("# Digests of the artefacts of shipped models (artefacts_test.py --all --update).\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "network", "artefact", "sha256"])
        for (model, network), digests in sorted(kept.items()):
            writer.writerows([model, network, *item] for item in sorted(digests.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--models", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tools = options.tools.absolute()
    rows = [row for row in table(RUNS) if (options.all or row["when"] == "short")
            and re.search(options.models, row["model"])]
    if not rows:
        sys.exit(f"no row of {RUNS.name} matches '{options.models}'")
    kept = {}
    for line in table(KEPT) if KEPT.exists() else []:
        kept.setdefault((line["model"], line["network"]), {})[line["artefact"]] = line["sha256"]
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, got in zip(rows, pool.map(lambda row: run(tools, row), rows)):
            key = (row["model"], row["network"])
            lines = compare(row, got, {} if options.update else kept.get(key, {}))
            if options.update and not isinstance(got, str):
                kept[key] = got
            else:
                wrong += lines
            said = "failed" if isinstance(got, str) else "kept" if options.update else "differs" if lines else "the same"
            print(f"{row['model']} over {row['network']}: {said}", flush=True)
    if options.update:
        keep(kept)
    print("\n".join(wrong) if wrong else f"{len(rows)} runs: every artefact has the kept bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
