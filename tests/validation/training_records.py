"""Published iteration times (training/*.csv); training_runs.py predicts them.

A file has lines of comments "# key: value" (title, source, tier, selection, missing), then CSV with the columns
  model      a configuration under configs/models, or ./FILE beside the CSV
  cluster    a configuration under configs/clusters
  a.b.c      a key of either that this row sets
  seconds    the published time of an iteration
  assumed    what the source does not state, and a rule filled (RULES, the same for all rows)

Tiers. A: the source states everything that decides the time. B: a rule filled something that decides it. C: points with a
target of their own, which the means of A and B leave out. A file says A or C; a row of A that needs a deciding rule is B.
"""
import csv
import dataclasses
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDS = HERE / "training"

# Values that a source can omit: the rule that supplies the value, and whether the value decides the time (then the row
# is of tier B).
RULES = {
    "micro-batch": ("4 without a pipeline, 1 with one: what Korthikanti et al. state for their runs of both kinds", True),
    "chunks a stage": ("where the source says that the schedule is interleaved, the smallest number above 1 that divides "
                       "the layers of a stage", True),
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
    cpu_seconds: float = 0.0  # of the prediction
    gigabytes: float = 0.0  # its largest process
    failure: str = ""  # the message of the tool that failed
    left_out: str = ""  # why it was not run

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
    """Returns the keys of a file's comments; a value continues in indented lines."""
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


def count_gpus(record):
    """Of the row's cluster: hosts of 8 where nothing else is said, as the shipped clusters have them."""
    said = dict(setting.split("=", 1) for setting in record.settings)
    hosts = said.get("cluster.hosts") or re.search(r"\bhosts: (\d+)", record.cluster.read_text()).group(1)
    gpus = next((value for key, value in said.items() if key.startswith("hosts.") and key.endswith(".gpus")), 8)
    return int(hosts) * int(gpus)


def predicted(of):
    return [record for record in of if not record.failure and not record.left_out]


def mean_error(of):
    """Per cent, over the predicted rows; infinite if there are none."""
    errors = [abs(record.error) for record in predicted(of)]
    return sum(errors) / len(errors) if errors else float("inf")


def worst(of):
    return max(predicted(of), key=lambda record: abs(record.error), default=None)
