"""Published iteration times (training/*.csv) and what Drydock predicts for them.

A file has lines of comments "# key: value" (title, source, tier, selection, missing), then CSV with the columns
  model      a configuration under configs/models, or ./FILE beside the CSV
  cluster    a configuration under configs/clusters
  a.b.c      a key of either that this row sets
  seconds    the published time of an iteration
  assumed    what the source does not state, and a rule filled (RULES, the same for all rows)

Tiers. A: the source states everything that decides the time. B: a rule filled something that decides it. C: points with a
target of their own, which the means of A and B leave out. A file says A or C; a row of A that needs a deciding rule is B.
"""
import concurrent.futures
import csv
import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDS = HERE / "training"
TOOLS = ["workload-gen", "simccl", "compute-sim", "exec-engine"]  # that a prediction comes from

# What a source may leave open: the rule that fills it, and whether that decides the time (the row is then of tier B).
RULES = {
    "micro-batch": ("4 without a pipeline, 1 with one: what Korthikanti et al. state for their runs of both kinds", True),
    "chunks a stage": ("where the source says that the schedule is interleaved: the smallest number above 1 that divides "
                       "the layers of a stage", True),
    "chunks of the next round": ("6: what the same submitter states for the same model and cluster a year later", True),
    "schedule": ("interleaved with four chunks a stage", True),
    "recomputation": ("none: FlashAttention keeps no scores", True),
    "cluster": ("configs/clusters/eos.topo: DGX H100, three tiers of InfiniBand", True),
    "GPU": ("the nearest that configs/gpus has", True),
    "sequence length": ("that of the training configuration beside the benchmark", True),
    "vocabulary": ("51,200: GPT-2's, padded as Megatron pads it", False),
    "dropout": ("0.1, Megatron's default", False),
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
    failure: str = ""  # why there is no prediction: what a tool said, or that nobody asked
    gpus: int = 0  # once it is predicted

    @property
    def error(self):
        """Per cent."""
        return 100.0 * (self.predicted / self.seconds - 1.0)

    @property
    def name_and_settings(self):
        settings = " ".join(setting.split(".")[-1] for setting in self.settings)
        return f"{self.model.stem} {settings}".strip()


def sources():
    """The files in the order in which they are shown: those with a target of their own last."""
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
        tier = head(source)["tier"]
        if tier == "A" and any(RULES[item][1] for item in assumed):
            tier = "B"
        found.append(Record(
            source, f"{number}", model, ROOT / "configs/clusters" / f"{row['cluster']}.topo",
            [f"{key}={value}" for key, value in row.items() if "." in key], float(row["seconds"]), tier, assumed))
    return found


def fingerprint(tools):
    """Of all that a prediction is made from, but for the row itself."""
    digest = hashlib.sha256()
    for path in [tools / tool for tool in TOOLS] + sorted(p for p in (ROOT / "configs").rglob("*") if p.is_file()):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def predict(record, tools, out, network, made_from="", most_gpus=None):
    """Runs the stages; fills in `predicted` and `gpus`, or `failure`. What was predicted before from the same files is
    taken from there, so that a scoreboard that was interrupted goes on."""
    run = out / f"{record.source}-{record.name}"
    key = {"made_from": made_from, "settings": [record.model.read_text(), record.cluster.name, *record.settings]}
    known = run / "predicted.json"
    if made_from and known.exists() and (kept := json.loads(known.read_text()))["key"] == key:
        record.predicted, record.gpus = kept["seconds"], kept["gpus"]
        return record
    setting = [word for setting in record.settings for word in ("--set", setting)]
    stages = [
        ["workload-gen", record.model, record.cluster, "-o", run, "--alike-once", *setting],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", network, "--threads", "1"],
        ["report", run, "--no-html", "--trace-ranks", "1"],
    ]
    if most_gpus and (gpus := count_gpus(record)) > most_gpus:
        record.failure = f"not run: {gpus} GPUs"
        return record
    for tool, *arguments in stages:
        command = [str(word) for word in (tools / tool, *arguments, "--quiet")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            record.failure = f"{tool}: exit status {done.returncode}: {done.stderr.strip()}"
            shutil.rmtree(run, ignore_errors=True)
            return record
    summary = json.loads((run / "summary.json").read_text())
    record.predicted, record.gpus = summary["iteration_time_s"], summary["gpus"]
    for artefact in run.glob("[24ct]*"):  # plans, timelines and traces of hundreds of runs fill a disk
        artefact.unlink()
    known.write_text(json.dumps({"key": key, "seconds": record.predicted, "gpus": record.gpus}))
    return record


def count_gpus(record):
    """Of the row's cluster: hosts of 8 where nothing else is said, as the shipped clusters have them."""
    said = dict(setting.split("=", 1) for setting in record.settings)
    hosts = said.get("cluster.hosts") or re.search(r"\bhosts: (\d+)", record.cluster.read_text()).group(1)
    gpus = next((value for key, value in said.items() if key.startswith("hosts.") and key.endswith(".gpus")), 8)
    return int(hosts) * int(gpus)


def predict_all(wanted, tools, out, network, jobs, done=lambda record: None, made_from="", most_gpus=None):
    """In order, so that what is printed does not depend on which run is ready first."""
    out.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for record in pool.map(lambda each: predict(each, tools, out, network, made_from, most_gpus), wanted):
            done(record)


def predicted(of):
    return [record for record in of if not record.failure]


def mean_error(of):
    """Per cent, over what could be predicted; of nothing, infinite."""
    errors = [abs(record.error) for record in predicted(of)]
    return sum(errors) / len(errors) if errors else float("inf")


def worst(of):
    return max(predicted(of), key=lambda record: abs(record.error), default=None)
