"""Published iteration times (training/*.csv) and what Drydock predicts for them.

A file has lines of comments "# key: value" (title, source, tier: A = everything that matters is stated,
B = something is not), then CSV with the columns
  model      a configuration under configs/models, or ./FILE beside the CSV
  cluster    a configuration under configs/clusters
  a.b.c      a key of either that this row sets
  seconds    the published time of an iteration
  assumed    what the source does not state, and a rule filled (RULES, the same for all rows)
"""
import concurrent.futures
import csv
import dataclasses
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDS = HERE / "training"

RULES = {
    "micro-batch": "4 without a pipeline, 1 with one: what Korthikanti et al. state for their runs of both kinds",
    "chunks a stage": "where the source says that the schedule is interleaved: the smallest number above 1 that divides "
                      "the layers of a stage",
    "recomputation": "none: FlashAttention keeps no scores",
    "cluster": "configs/clusters/eos.topo: DGX H100, three tiers of InfiniBand",
    "vocabulary": "51,200: GPT-2's, padded as Megatron pads it",
    "dropout": "0.1, Megatron's default",
}


@dataclasses.dataclass
class Record:
    source: str  # the file's stem
    name: str  # within the file
    model: pathlib.Path
    cluster: pathlib.Path
    settings: list  # "section.key=value"
    seconds: float
    tier: str
    assumed: list
    predicted: float = 0.0

    @property
    def error(self):
        """Per cent."""
        return 100.0 * (self.predicted / self.seconds - 1.0)


def sources():
    """The files in the order in which they are shown: tier A first."""
    return sorted((path.stem for path in RECORDS.glob("*.csv")), key=lambda stem: (head(stem)["tier"], stem))


def head(source):
    """The keys of a file's comments; a value goes on in lines that are indented."""
    keys, last = {}, None
    for line in (RECORDS / f"{source}.csv").read_text().splitlines():
        if not line.startswith("#"):
            break
        if line.startswith("#   "):
            keys[last] += " " + line[4:]
        else:
            last, _, value = line[2:].partition(": ")
            keys[last] = value
    return keys


def records(source):
    lines = (RECORDS / f"{source}.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    found = []
    for number, row in enumerate(rows, 1):
        model = (RECORDS / row["model"] if row["model"].startswith("./") else
                 ROOT / "configs/models" / f"{row['model']}.yaml")
        assumed = [item for item in row["assumed"].split("; ") if item]
        unknown = [item for item in assumed if item not in RULES]
        if unknown:
            sys.exit(f"{source}.csv, row {number}: no rule for {unknown}")
        found.append(Record(
            source, f"{number}", model, ROOT / "configs/clusters" / f"{row['cluster']}.topo",
            [f"{key}={value}" for key, value in row.items() if "." in key], float(row["seconds"]),
            row.get("tier") or head(source)["tier"], assumed))
    return found


def predict(record, tools, out, network):
    """Runs the stages; fills in `predicted`."""
    run = out / f"{record.source}-{record.name}"
    stages = [
        ["workload-gen", record.model, record.cluster, "-o", run, "--alike-once",
         *(word for setting in record.settings for word in ("--set", setting))],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", network, "--threads", "1"],
        ["report", run],
    ]
    for tool, *arguments in stages:
        command = [str(word) for word in (tools / tool, *arguments, "--quiet")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    record.predicted = json.loads((run / "summary.json").read_text())["iteration_time_s"]
    for artefact in run.glob("[4t]*"):  # timelines and traces of hundreds of runs fill a disk
        artefact.unlink()
    return record


def predict_all(wanted, tools, out, network, jobs, done=lambda record: None):
    """In order, so that what is printed does not depend on which run is ready first."""
    out.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for record in pool.map(lambda each: predict(each, tools, out, network), wanted):
            done(record)


def mean_error(of):
    return sum(abs(record.error) for record in of) / len(of)


def worst(of):
    return max(of, key=lambda record: abs(record.error))
