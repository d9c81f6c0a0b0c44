"""docs/validation.md: the tables, per source and of all, of what was predicted. Pure: records in, Markdown out."""
import training_records as training
from pages import markdown

LISTED = 40  # rows of a source that are listed at once; of longer ones the worst are, and all on demand
WORST = 8
LARGE_MEAN, LARGE_WORST = 8, 12  # above, in per cent, a source says what is missing in the model
# What, which rows, mean error in per cent at most, worst at most.
TARGETS = [
    ("tier A", lambda record: record.tier == "A", 5, 12),
    ("tiers A and B", lambda record: record.tier in "AB", 8, None),
    ("vTrain, one node", lambda record: record.source == "vtrain-single-node", 8, None),
    ("vTrain, many nodes", lambda record: record.source == "vtrain-multi-node", 12, None),
]
TIERS = """Tier A: the source states everything that decides the time. B: a rule filled something that does, such as a micro-batch; such
rows stay out of the mean of tier A. C: points with a target of their own, which stay out of both means; vTrain itself
states 8.37 % on one node and 14.73 % on many."""


def percent(value):
    return f"{value:+.1f} %"


def settings(record):
    return ", ".join(setting.split(".")[-1].replace("=", " ") for setting in record.settings)


def is_large(of):
    """Whether the source's errors are such that the page has to say why."""
    good = training.predicted(of)
    return bool(good) and (abs(training.worst(of).error) > LARGE_WORST or
                           (len(good) == len(of) and training.mean_error(of) > LARGE_MEAN))


def how_many(of):
    good = len(training.predicted(of))
    return str(len(of)) if good == len(of) else f"{good} of {len(of)}"


def summary_rows(groups):
    yield "source", "tier", "rows", "mean error", "bias", "worst"
    for name, of in groups:
        good = training.predicted(of)
        tiers = ", ".join(sorted({record.tier for record in of}))
        if not good:
            yield name, tiers, how_many(of), "", "", ""
            continue
        bias = sum(record.error for record in good) / len(good)
        yield (name, tiers, how_many(of), f"{training.mean_error(of):.1f} %", percent(bias),
               percent(training.worst(of).error))


def verdict(of, mean, worst):
    """A worst row beyond its target is one whatever the others say; a mean is a mean once all rows are there."""
    good = training.predicted(of)
    if worst is not None and good and abs(training.worst(of).error) > worst:
        return "missed"
    if len(good) < len(of):
        return "open"
    return "met" if training.mean_error(of) <= mean else "missed"


def target_rows(everything):
    yield "what", "rows", "mean error", "target", "worst", "target", ""
    for name, belongs, mean, worst in TARGETS:
        of = [record for record in everything if belongs(record)]
        if not training.predicted(of):
            continue
        yield (name, how_many(of), f"{training.mean_error(of):.1f} %", f"{mean} %", percent(training.worst(of).error),
               f"{worst} %" if worst else "", verdict(of, mean, worst))


def result(record):
    if record.left_out:
        return "not run", record.left_out
    if record.failure:
        return "none", record.failure.splitlines()[0].replace("|", "/")
    return f"{record.predicted:.4g} s", percent(record.error)


def row_rows(of):
    yield "model", "tier", "settings", "published", "predicted", "error", "not stated"
    for record in of:
        yield (record.model.stem, record.tier, settings(record), f"{record.seconds:.4g} s", *result(record),
               ", ".join(record.assumed))


def listing(of, selection):
    if len(of) <= LISTED:
        return markdown(list(row_rows(of)))
    shown = sorted(training.predicted(of), key=lambda record: -abs(record.error))[:WORST]
    return (f"The {len(shown)} worst of {how_many(of)} rows ({selection}):\n\n{markdown(list(row_rows(shown)))}\n"
            f"<details><summary>All rows</summary>\n\n{markdown(list(row_rows(of)))}\n</details>\n")


def source_section(source, of):
    head = training.head(source)
    missing = f"Missing in the model: {head['missing']}.\n\n" if "missing" in head else ""
    return f"### {head['title']}\n\n{head['source']}.\n\n{missing}{listing(of, head.get('selection', 'all'))}\n"


def training_section(found, network):
    groups = [(training.head(source)["title"], of) for source, of in found.items()]
    everything = [record for of in found.values() for record in of]
    rules = "".join(f"- {name}: {rule}.\n" for name, (rule, _) in training.RULES.items())
    left = sum(bool(record.left_out) for record in everything)
    said = f"{left} of {len(everything)} rows were not run; they are marked, and no figure has them.\n\n" if left else ""
    return (f"## Training runs\n\nIteration times, network `{network}`. {TIERS}\n\n{said}"
            f"{markdown(list(target_rows(everything)))}\n{markdown(list(summary_rows(groups)))}\n"
            "![predicted against published](validation-training.svg)\n\n"
            f"What a source does not state is filled by a rule, the same for all:\n\n{rules}\n"
            + "".join(source_section(source, of) for source, of in found.items()))


def collective_rows(points):
    sizes = [("below 1 MiB", 0, 1 << 20), ("below 16 MiB", 1 << 20, 1 << 24), ("from 16 MiB", 1 << 24, 1 << 62)]
    yield "table", "points", *(f"{title}: mean, worst" for title, _, _ in sizes)
    tables = {}
    for point in points:
        if not point["apart"]:
            tables.setdefault(point["table"], []).append((int(point["bytes"]), float(point["error"])))
    for table, of in tables.items():
        cells = []
        for _, begin, end in sizes:
            errors = [error for size, error in of if begin <= size < end]
            cells.append(f"{sum(map(abs, errors)) / len(errors):.1f} %, {max(errors, key=abs):+.0f} %" if errors else "")
        yield table, str(len(of)), *cells


def collective_section(points):
    """Of the points that run_collectives.py wrote; nothing if it was not run."""
    table = markdown(list(collective_rows(points))) if points else "Not run.\n"
    return ("## Collectives\n\nTime of one call of nccl-tests and others, as `collective-perf` predicts it; the sources stand in "
            f"`tests/validation/collective_tables.csv`. Targets: 10, 12 and 6 % by size.\n\n{table}\n")


def kernel_section(printed):
    """Of what run_kernels.py printed; nothing if it was not run."""
    table = f"```\n{printed}```\n" if printed else "Not run.\n"
    return ("## Kernels\n\nThe half of each table that no parameter was fitted on ([compute.md](compute.md)).\n\n" + table)


def page(found, network, points, printed):
    return ("# Validation\n\nWhat Drydock predicts against what was published, made by `./run_validation.sh`. One general model: "
            "no row has a setting of its own beyond what its source states.\nThe packet network has a page to itself, "
            "[network-validation.md](network-validation.md).\n\n"
            + training_section(found, network) + collective_section(points) + kernel_section(printed))
