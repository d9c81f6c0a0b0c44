"""Published iteration times (training/*.csv); training_runs.py predicts them.

A file has lines of comments "# key: value" (title, source, tier, selection, missing), then CSV with the columns
  model      a configuration under configs/models, or ./FILE beside the CSV
  cluster    a configuration under configs/clusters
  a.b.c      a key of either that this row sets
  seconds    the published time of an iteration
  assumed    the values that the source does not state and a rule supplies (RULES, the same for all rows)

Files that import_truth.py makes have these too:
  kind       dense, experts, hybrid or small CI
  settings   section.key=value words, in place of columns
  arguments  a command line of Megatron-LM, in place of `model`, which is then a name
  memory_gib the published peak of a GPU's memory as PyTorch allocates it; memory_of: of the fullest, first or last rank
  rival_seconds, rival_memory_gib  another simulator's prediction of the same run
  needs      what the product does not express: the row is shown and not predicted
  where      repository, commit, path and line

Tiers. A: the source states everything that decides the time. B: a rule supplies a value that decides it. C: points with a
separate target, which the means of A and B leave out. D: points without a target yet. A file says A, C or D; a row of A that
needs a deciding rule is B.
"""
import csv
import dataclasses
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDS = HERE / "training"

# Values that a source can omit: the rule that supplies the value, and whether the value decides the time (then the row
# is of tier B). unstated.py has the other values that a run can have had.
RULES = {
    "micro-batch": ("4 without a pipeline, 1 with one, as Korthikanti et al. state for their runs of both kinds; in tier D, the "
                    "fastest that fits the GPU's memory", True),
    "chunks a stage": ("if the source states an interleaved schedule, the smallest number above 1 that divides "
                       "the layers of a stage", True),
    "schedule": ("interleaved with four chunks a stage", True),
    "recomputation": ("none: FlashAttention keeps no scores; in tier D, the fastest that fits the GPU's memory", True),
    "cluster": ("configs/clusters/eos.topo: DGX H100, three tiers of InfiniBand", True),
    "GPU": ("the nearest GPU of configs/gpus", True),
    "data loader": ("a sample_time for a system whose runs wait for their data: truth_tables.CI_SAMPLE_TIME", True),
    "sequence length": ("that of the training configuration beside the benchmark", True),
    "system": ("the DGX or NVL72 that configs/clusters has for the GPU, with InfiniBand: selene, eos, dgx-h200-8, dgx-b200-8, "
               "dgx-b300-8, gb200-nvl72-2, gb300-nvl72-2", True),
    "rack": ("of NVLink domains of 72 GPUs, a run that does not fill them uses 64 of each", True),
    "recipe": ("what the recipe's files at the release turn on for the model: overlap, types of gradients, fusions "
               "(tests/validation/truth_tables.py)", True),
    "chunks of another release": ("the chunks that another row of the same tables states for the model, GPU and stages", True),
    "samples": ("each sample fills its sequence", True),
    "adapters": ("of the rank that the framework's recipe for the model has, at the projections of queries, keys and values", True),
    "tokenizer": ("GPT-2's where the arguments name merges, BERT's where they name a vocabulary alone", False),
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
    kind: str = "dense"
    arguments: list = dataclasses.field(default_factory=list)  # of Megatron-LM, in place of the model file
    memory_gib: float = 0.0  # published; 0: not stated
    memory_of: str = "fullest"  # the ranks whose memory is published
    predicted_gib: float = 0.0
    fits: bool | None = None  # whether the predicted memory fits the GPU; None: not known
    band: dict = dataclasses.field(default_factory=dict)  # of summary.json; empty: the prediction has none
    options: list = dataclasses.field(default_factory=list)  # the row with other values of unstated settings (unstated.py)
    chosen: str = ""  # of these values, those that a tuned run has
    rival_seconds: float = 0.0
    rival_gib: float = 0.0
    needs: list = dataclasses.field(default_factory=list)  # features that the product does not express
    where: str = ""

    @property
    def error(self):
        """Per cent."""
        return 100.0 * (self.predicted / self.seconds - 1.0)

    @property
    def in_band(self):
        """Whether the published time lies in the prediction's band; None if the prediction has none."""
        return self.band["low_s"] <= self.seconds <= self.band["high_s"] if self.band else None

    @property
    def memory_error(self):
        """Per cent; None where there is nothing to compare."""
        return 100.0 * (self.predicted_gib / self.memory_gib - 1.0) if self.memory_gib and self.predicted_gib else None

    @property
    def name_and_settings(self):
        settings = " ".join(last_names(self.settings))
        return f"{self.model.stem} {settings}".strip()


def last_names(settings):
    """The settings without their sections: "hosts=8" of "cluster.hosts=8"."""
    for setting in settings:
        key, _, value = setting.partition("=")
        yield f"{key.split('.')[-1]}={value}"


def sources():
    """The files in the order in which they are shown: tier C last."""
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
        settings = [f"{key}={value}" for key, value in row.items() if "." in key] + row.get("settings", "").split()
        found.append(Record(
            source, f"{number}", model, ROOT / "configs/clusters" / f"{row['cluster']}.topo", settings, float(row["seconds"]), tier,
            assumed, kind=row.get("kind") or "dense", arguments=shlex.split(row.get("arguments", "")),
            memory_gib=float(row.get("memory_gib") or 0), memory_of=row.get("memory_of") or "fullest",
            rival_seconds=float(row.get("rival_seconds") or 0), rival_gib=float(row.get("rival_memory_gib") or 0),
            needs=[item for item in row.get("needs", "").split("; ") if item], where=row.get("where", "")))
    return found


def count_gpus(record):
    """Returns the GPUs of the row's cluster. Hosts have 8 GPUs unless the settings or the file say otherwise; a cluster that the
    product does not have has none."""
    said = dict(setting.split("=", 1) for setting in record.settings)
    text = record.cluster.read_text() if record.cluster.exists() else ""
    hosts, gpus = (re.search(rf"\b{key}: (\d+)", text) for key in ("hosts", "gpus"))
    gpus = next((value for key, value in said.items() if key.startswith("hosts.") and key.endswith(".gpus")),
                gpus.group(1) if gpus else 8)
    return int(said.get("cluster.hosts") or (hosts.group(1) if hosts else 0)) * int(gpus)


def hardware(record):
    """H100 of "gpu: h100-sxm-80g"; a name that tells GPUs of one generation apart stays whole."""
    if not record.cluster.exists():
        return "other"
    gpu = re.search(r"\bgpu: ([\w-]+)", record.cluster.read_text()).group(1)
    return gpu.split("-")[0].upper() if gpu.count("-") < 3 else gpu


def predicted(of):
    return [record for record in of if not record.failure and not record.left_out and not record.needs]


def mean_error(of):
    """Per cent, over the predicted rows; infinite if there are none."""
    errors = [abs(record.error) for record in predicted(of)]
    return sum(errors) / len(errors) if errors else float("inf")


def worst(of):
    return max(predicted(of), key=lambda record: abs(record.error), default=None)
