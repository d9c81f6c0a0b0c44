"""What a setting that a source does not state could have been, and how far it moves the prediction.

A rule (training_records.RULES) supplies one value. For the rules of ALTERNATIVES the other values of such a run are known. They are
predicted as well, one at a time beside the row's other values. Those whose ranks do not fit their GPUs' memory, as it is predicted,
are left out. Where the others reach 5 % from the row's prediction, the row has a range.

In tier D, a run is taken as tuned: of the values of TUNED that fit, together where several are not stated, the fastest is the row's
prediction. In tiers A to C the source's own statements make the rule.
"""
import dataclasses
import itertools
import re

import training_records as training

MOVED = 0.05  # of the prediction: from here on a row is shown with its range
TUNED = ["micro-batch", "recomputation"]


def setting(record, key, default=""):
    """The value of a key like "training.micro_batch": of the row, else of its model file."""
    said = dict(word.split("=", 1) for word in record.settings)
    if key in said or not record.model.is_file():
        return said.get(key, default)
    section, name = key.split(".", 1)
    body = re.search(rf"^{section}:\n((?: .*\n|\n|#.*\n)*)", record.model.read_text() + "\n", re.M)
    found = body and re.search(rf"^  {name}: *([^#\n]*)", body[1], re.M)
    return found[1].strip() if found else default


def size(record, key):
    return int(setting(record, key, "1") or 1)


def sequences(record):
    """Of a step and a data-parallel replica."""
    replicas = training.count_gpus(record) // (size(record, "parallel.tensor") * size(record, "parallel.pipeline") *
                                               size(record, "parallel.context"))
    return size(record, "training.global_batch") // replicas


def can_interleave(record, micro):
    """Interleaved chunks take turns after as many micro-batches as there are stages."""
    return sequences(record) // micro % size(record, "parallel.pipeline") == 0


def micro_batches(record):
    chunks = size(record, "parallel.virtual_pipeline")
    return [(str(micro), {"training.micro_batch": micro}) for micro in (1, 2, 4, 8)
            if sequences(record) % micro == 0 and (chunks == 1 or can_interleave(record, micro))]


def recomputations(record):
    return [(kind, {"training.recompute": kind}) for kind in ("none", "selective", "full")]


def chunks(record, least):
    """Numbers that divide the layers of a stage, among which embedding and loss count where the model file says so."""
    accounts = [key for key in ("embedding", "loss") if setting(record, f"parallel.account_for_{key}") == "true"]
    layers = (size(record, "model.layers") + len(accounts)) // size(record, "parallel.pipeline")
    can = can_interleave(record, size(record, "training.micro_batch"))
    return [(str(number), {"parallel.virtual_pipeline": number}) for number in range(least, layers + 1)
            if layers % number == 0 and (number == 1 or (can and size(record, "parallel.pipeline") > 1))]


def schedules(record):
    return [(f"interleaved {number}" if number != "1" else "not interleaved", settings) for number, settings in chunks(record, 1)]


def data_loaders(record):
    """The setting's absence: data is never late."""
    return [("never late", {"training.sample_time": None})]


def networks(record):
    """NICs of 800 Gb/s also run at the 400 Gb/s of the switches before theirs."""
    host = {"dgx-b300-8": "dgx-b300"}.get(record.cluster.stem)
    if host is None or size(record, "cluster.hosts") == 1:
        return []
    return [("at 400 Gb/s", {key: "400Gbps" for key in (f"hosts.{host}.nics.rate", "fabric.leaf.rate", "fabric.spine.rate")})]


def hosts(record):
    """No launch was measured on the processors of these systems: their hosts launch as fast as the slowest measured one, that of
    a DGX A100."""
    host = {"dgx-b200-8": "dgx-b200", "dgx-b300-8": "dgx-b300"}.get(record.cluster.stem)
    return [("host as slow as a DGX A100's", {f"hosts.{host}.board.launch_speed": "1.0"})] if host else []


def systems(record):
    return networks(record) + hosts(record)


@dataclasses.dataclass(frozen=True)
class Alternatives:
    said: str  # on the page
    of: object  # returns (name of a value, settings) of a record: all values, among them the rule's own


ALTERNATIVES = {
    "micro-batch": Alternatives("1, 2, 4 and 8, where they divide the sequences of a replica", micro_batches),
    "recomputation": Alternatives("none, selective, full", recomputations),
    "chunks a stage": Alternatives("all divisors of a stage's layers above 1", lambda record: chunks(record, 2)),
    "chunks of another release": Alternatives("all divisors of a stage's layers", lambda record: chunks(record, 1)),
    "schedule": Alternatives("not interleaved, and interleaved with all divisors of a stage's layers", schedules),
    "data loader": Alternatives("data that is never late", data_loaders),
    "system": Alternatives("DGX B300 whose network runs at 400 Gb/s; DGX B200 and B300 whose hosts launch as slowly as a DGX A100's",
                           systems),
}


def changed(record, settings):
    """Returns the row's settings with others; None takes a setting out."""
    left = dict(word.split("=", 1) for word in record.settings)
    left.update({key: str(value) for key, value in settings.items()})
    return [f"{key}={value}" for key, value in left.items() if settings.get(key, value) is not None]


@dataclasses.dataclass
class Option:
    """A row with other values of unstated settings."""
    rules: tuple
    said: str  # "micro-batch 2"
    record: training.Record

    @property
    def fits(self):
        return self.record.fits is not False


def is_tuned(record, rule):
    return record.tier == "D" and rule in TUNED


def option(record, choices):
    """`choices` are (rule, name of the value, settings)."""
    said = ", ".join(f"{rule} {name}" for rule, name, _ in choices)
    settings = {key: value for _, _, of in choices for key, value in of.items()}
    name = f"{record.name}-{re.sub('[^a-z0-9]+', '-', said)}"
    other = dataclasses.replace(record, name=name, settings=changed(record, settings), predicted=0.0, cpu_seconds=0.0, gigabytes=0.0,
                                predicted_gib=0.0, fits=None, band={}, failure="", left_out="", options=[])
    return Option(tuple(rule for rule, _, _ in choices), said, other)


def is_own(record, settings):
    return all(value is not None and setting(record, key, "1") == str(value) for key, value in settings.items())


def options(record):
    """The row with the values that its rules did not choose."""
    rules = [rule for rule in record.assumed if rule in ALTERNATIVES]
    values = {rule: [(rule, *value) for value in ALTERNATIVES[rule].of(record)] for rule in rules}
    groups = [[rule] for rule in rules if not is_tuned(record, rule)] + [[rule for rule in rules if is_tuned(record, rule)]]
    return [option(record, choices) for group in groups if group
            for choices in itertools.product(*(values[rule] for rule in group))
            if not all(is_own(record, settings) for _, _, settings in choices)]


def choose(record):
    """Where the row's run is taken as tuned, makes the fastest option that fits the row's prediction."""
    tuned = [each for each in record.options if all(is_tuned(record, rule) for rule in each.rules)]
    if not tuned:
        return
    if any(each.record.left_out for each in tuned):
        record.left_out = "not all values of its unstated settings are predicted"
        return
    own = option(record, [])
    own.record = dataclasses.replace(record, options=[])
    best = min((each for each in [own, *tuned] if each.fits and each.record.predicted), key=lambda each: each.record.predicted,
               default=own)
    if best is own:
        return
    rest = [each for each in record.options if each is not best]
    own.rules, own.said = best.rules, "the rule's own value"
    for key in ("settings", "predicted", "predicted_gib", "fits", "band", "cpu_seconds", "gigabytes"):
        setattr(record, key, getattr(best.record, key))
    record.options, record.chosen = [own, *rest], best.said


def known(record):
    """The options that were predicted and fit."""
    return [each for each in record.options if each.record.predicted and each.fits]


def move(record, each):
    """How far an option is from the row's prediction, as a share of that."""
    return each.record.predicted / record.predicted - 1


def has_range(record):
    return any(abs(move(record, each)) >= MOVED for each in known(record))


def range_text(record):
    """ "1.05 to 1.22 s (micro-batch)"; "" for a row without alternatives."""
    if not record.options or not record.predicted or record.left_out:
        return ""
    notes = ["no memory for the row's own values"] * (record.fits is False)
    notes += [f"no memory for {each.said}" for each in record.options if not each.fits]
    notes += [f"refused: {each.said}" for each in record.options if each.record.failure]
    waiting = sum(bool(each.record.left_out) for each in record.options)
    notes += [f"{waiting} not run"] * bool(waiting)
    said = "within 5 %" if known(record) else ""
    if has_range(record):
        times = [record.predicted, *(each.record.predicted for each in known(record))]
        rules = dict.fromkeys(rule for each in known(record) if abs(move(record, each)) >= MOVED for rule in each.rules)
        said = f"{min(times):.4g} to {max(times):.4g} s ({', '.join(rules)})"
    return "; ".join(filter(None, [said, *notes]))


def range_rows(everything):
    """Of each rule: its alternatives, the rows that have them, and how far they move these."""
    yield "not stated", "alternatives", "rows", "moved by 5 %", "least", "most", "alternatives without memory"
    rows = [record for record in training.predicted(everything) if record.options]
    for rule, alternatives in ALTERNATIVES.items():
        of = [(record, [each for each in record.options if rule in each.rules]) for record in rows]
        of = [(record, having) for record, having in of if having]
        if not of:
            continue
        moves = [move(record, each) for record, having in of for each in having if each in known(record)]
        moved = sum(any(abs(move(record, each)) >= MOVED for each in having if each in known(record)) for record, having in of)
        yield (rule, alternatives.said, str(len(of)), str(moved), f"{100 * min(moves, default=0):+.0f} %",
               f"{100 * max(moves, default=0):+.0f} %", str(sum(not each.fits for _, having in of for each in having)))
