"""The tables of docs/explanation/validation.md as figures, and the page that shows them.

`figures_of` turns records into docs/figures/validation.json, `page` turns that file into Markdown. Both are pure.
"""
import pathlib
import re
import sys
import textwrap

import training_records as training
from scatter import scatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import figures  # noqa: E402

LISTED = 40  # rows of a source that the page lists at once; of a longer source it lists the worst first
WORST = 8
LARGE_MEAN, LARGE_WORST = 8, 12  # per cent; a source with larger errors says what the model lacks
# Name, rows, largest mean error in per cent, largest error of a row.
TARGETS = [
    ("tier A", lambda record: record.tier == "A", 5, 12),
    ("tiers A and B", lambda record: record.tier in "AB", 8, None),
    ("vTrain, one node", lambda record: record.source == "vtrain-single-node", 8, None),
    ("vTrain, many nodes", lambda record: record.source == "vtrain-multi-node", 12, None),
]
INTRODUCTION = """What Drydock predicts, against what others measured and published. One model makes all predictions: no row has a setting of its
own beyond what its source states. `./run_validation.sh` writes this page. The packet network has a page of its own,
[network-validation.md](network-validation.md)."""
TIERS = """In tier A the source states everything that decides the time. In tier B a rule fills in something that decides the
time, such as the micro-batch; the mean of tier A leaves these rows out. Tier C has a target of its own, and both means leave its
rows out: vTrain's own simulator has errors of 8.37 % on one node and 14.73 % on many."""
COLLECTIVES = """Times of single calls, mostly of nccl-tests, against `collective-perf` over the analytical network. The sources stand in
`tests/validation/collective_tables.csv`. The targets for the three classes of sizes are 10, 12 and 6 %."""
KERNELS = """Each line compares the half of a table of measurements that no parameter was fitted to. [compute.md](compute.md) explains
the models behind them."""


def wrapped(text, **how):
    return textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False, **how) + "\n"


def percent(value):
    return f"{value:+.1f} %"


def settings(record):
    return ", ".join(setting.split(".")[-1].replace("=", " ") for setting in record.settings)


def is_large(of):
    """Returns whether the source's errors are so large that the page has to explain them."""
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
    """A worst row can miss its target before all rows have results; a mean needs all rows."""
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


def table_of(rows):
    """Returns rows of words as a figure; the first row is the head."""
    head, *rest = rows
    return {"head": list(head), "rows": [list(row) for row in rest]}


def kernel_figures(printed):
    """Returns the output of run_kernels.py, and the mean error of each line."""
    means = re.findall(r"^(\S.*?) +\d+ rows +mean +([\d.]+ %)", printed, re.M)
    return {"kernels": printed} | {f"kernels.{re.sub('[^a-z0-9]+', '_', name.lower())}": mean for name, mean in means}


def figures_of(found, network, points, printed):
    """The figures of the page: `found` has records by source, `points` is what run_collectives.py wrote, `printed` what
    run_kernels.py said."""
    everything = [record for of in found.values() for record in of]
    made = {"network": network, "rows": str(len(everything)),
            "left_out": str(sum(bool(record.left_out) for record in everything)),
            "targets": table_of(target_rows(everything)),
            "by_source": table_of(summary_rows([(training.head(source)["title"], of) for source, of in found.items()]))}
    made |= {f"mean.{name.replace(',', '').replace(' ', '_')}": mean
             for name, _, mean, *_ in made["targets"]["rows"]}
    if points:
        made["collectives"] = table_of(collective_rows(points))
    if printed:
        made |= kernel_figures(printed)
    return made | {f"rows.{source}": table_of(row_rows(of)) for source, of in found.items()}


def markdown(table):
    return figures.markdown(table["head"], table["rows"])


def error_of(row):
    """Per cent, of a row of a source's table; 0 if it has no prediction."""
    return float(row[5].removesuffix(" %")) if row[5].endswith(" %") else 0.0


def listing(table, selection):
    rows = table["rows"]
    if len(rows) <= LISTED:
        return markdown(table)
    shown = sorted((row for row in rows if error_of(row)), key=lambda row: -abs(error_of(row)))[:WORST]
    known = sum(row[5].endswith(" %") for row in rows)
    many = str(len(rows)) if known == len(rows) else f"{known} of {len(rows)}"
    return (f"The {len(shown)} worst of {many} rows ({selection}):\n\n{markdown({**table, 'rows': shown})}\n"
            f"<details><summary>All rows</summary>\n\n{markdown(table)}\n</details>\n")


def source_section(source, table):
    head = training.head(source)
    missing = wrapped(f"Missing in the model: {head['missing']}.") + "\n" if "missing" in head else ""
    return (f"### {head['title']}\n\n" + wrapped(head["source"] + ".") + "\n" + missing
            + listing(table, head.get("selection", "all")) + "\n")


def training_section(made):
    rules = "".join(wrapped(f"{name}: {rule}.", initial_indent="- ", subsequent_indent="  ")
                    for name, (rule, _) in training.RULES.items())
    said = ""
    if made["left_out"] != "0":
        said = wrapped(f"{made['left_out']} of {made['rows']} rows were not run. They are marked, and no figure includes "
                       "them.") + "\n"
    sources = [key.removeprefix("rows.") for key in made if key.startswith("rows.")]
    return ("## Training runs\n\n" + wrapped(f"Iteration times over the network `{made['network']}`. {TIERS}") + "\n" + said
            + markdown(made["targets"]) + "\n" + markdown(made["by_source"]) + "\n"
            "![predicted against published](../figures/validation-training.svg)\n\n"
            "A rule fills in what a source does not state. The rules are the same for all sources:\n\n" + rules + "\n"
            + "".join(source_section(source, made[f"rows.{source}"]) for source in sources))


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


def collective_section(made):
    table = markdown(made["collectives"]) if "collectives" in made else "Not run.\n"
    return "## Collectives\n\n" + wrapped(COLLECTIVES) + "\n" + table + "\n"


def kernel_section(made):
    table = f"```\n{made['kernels']}```\n" if "kernels" in made else "Not run.\n"
    return "## Kernels\n\n" + wrapped(KERNELS) + "\n" + table


def page(made):
    return ("# Validation\n\n" + wrapped(INTRODUCTION) + "\n" + training_section(made) + collective_section(made)
            + kernel_section(made))


def picture(made):
    """Predicted over published times, as SVG; "" if nothing was predicted."""
    dots = {}
    for key, table in made.items():
        if key.startswith("rows."):
            found = [(float(row[3].removesuffix(" s")), float(row[4].removesuffix(" s"))) for row in table["rows"]
                     if row[5].endswith(" %")]
            if found:
                dots[training.head(key.removeprefix("rows."))["title"]] = found
    return scatter(dots, "published, s", "predicted, s") if dots else ""


def write(docs):
    """Writes the page and its picture from DOCS/figures/validation.json."""
    made = {name.removeprefix("validation."): figure for name, figure in figures.read(docs).items()
            if name.startswith("validation.")}
    (docs / "explanation").mkdir(exist_ok=True)
    (docs / "explanation/validation.md").write_text(page(made))
    if picture(made):
        (docs / "figures/validation-training.svg").write_text(picture(made))
