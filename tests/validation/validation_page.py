"""The tables of docs/explanation/validation.md as figures, and the page that shows them.

`figures_of` turns records into docs/figures/validation.json, `page` turns that file into Markdown. Both are pure.
"""
import pathlib
import re
import sys
import textwrap

import training_records as training
import unstated
from scatter import scatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import figures  # noqa: E402

LISTED = 40  # the page lists this many rows of a source; of a longer source it lists the worst first
WORST = 8
LARGE_MEAN, LARGE_WORST = 8, 12  # per cent; a source with larger errors says what the model lacks


def of_tier_d(kinds, hardware=None):
    """Selects rows of tier D by the kind of their model and by their GPU."""
    return lambda record: (record.tier == "D" and record.source != "simumax-b200" and record.kind in kinds
                           and (hardware is None or training.hardware(record).split("-")[0].upper() in hardware))


HOPPER, BLACKWELL = ["H100", "H200"], ["B200", "GB200", "B300", "GB300"]
# Name, rows, largest mean error in per cent, largest error of a row.
TARGETS = [
    ("tier A", lambda record: record.tier == "A", 5, 12),
    ("tiers A and B", lambda record: record.tier in "AB", 8, None),
    ("vTrain, one node", lambda record: record.source == "vtrain-single-node", 8, None),
    ("vTrain, many nodes", lambda record: record.source == "vtrain-multi-node", 12, None),
    ("tier D: dense models on H100 and H200", of_tier_d(["dense"], HOPPER), 4, None),
    ("tier D: dense models on Blackwell", of_tier_d(["dense"], BLACKWELL), 5, None),
    ("tier D: SimuMax's table", lambda record: record.source == "simumax-b200", 5, 13),
    ("tier D: experts and hybrids", of_tier_d(["experts", "hybrid"]), 10, 25),
    ("tier D: small CI", of_tier_d(["small CI"]), 15, None),
]
INTRODUCTION = """Drydock's predictions against published measurements. One model makes all predictions: no row has a setting beyond what its
source states. `./run_validation.sh` writes this page. [The packet network under congestion](network-validation.md) has a
separate page."""
TIERS = """In tier A the source states everything that decides the time. In tier B a rule supplies a value that decides the
time, such as the micro-batch. Tier C has separate targets, because vTrain's own simulator has errors of 8.37 % on one node and
14.73 % on many; the means of tiers A and B leave its rows out. Tier D holds what people run today; its targets count the rows that wait
for no feature."""
GROUPS = """All rows by hardware, kind of model and size. Small CI: the small models of Megatron-LM's own tests, which the launching
host decides. Hybrid: layers of state-space models among others. Memory is the peak that PyTorch allocates."""
NEEDS = """These rows are recorded and not predicted: their runs use something that the product does not express yet. A row with
several such features counts in each line."""
BANDS = """Every prediction has [a band](bands.md) that is to hold the measured time of 80 % of all runs. The half-width is how far
its upper end lies above the prediction."""
RIVALS = """The same rows as another simulator predicts them."""
RANGES = """A setting that the source does not state can move the time. For the rules below, the other values that a run can have
had are known. They are predicted as well, one at a time beside the row's other settings. A value with which the ranks do not fit
their GPUs' memory, as Drydock predicts it, is left out. A row whose own values do not fit says so: there the rule or the predicted
memory is wrong. Where another value is 5 % or more from the row's prediction, the row shows the range of all. Rules that are not
listed have no such set. For `cluster` there is one, the wiring of the NICs, but it moves nothing over the analytical network: 0.0 %
on the six rows where a host's NICs shared a leaf in place of rails."""
TUNED = """In tier D, a run whose micro-batch or recomputation is not stated counts as tuned: the prediction is that of the fastest
value that fits the memory. In tiers A to C, statements of the same source make the rule."""
HARDWARE = ["V100", "A100", "L40S", "H100", "H100-SXM-96G-500W", "H800", "H20", "H200", "B200", "GB200", "B300", "GB300"]
SIZES = [("1 to 8", 8), ("9 to 64", 64), ("65 to 512", 512), ("513 to 4096", 4096), ("above 4096", 1 << 40)]
COLLECTIVES = """Predictions of `collective-perf` over the analytical network against published times of single calls, mostly of nccl-tests.
`tests/validation/collective_tables.csv` lists the sources. The targets for the three classes of sizes are 10, 12 and 6 %."""
KERNELS = """Each line compares the half of a table of measurements that no parameter was fitted to. [Compute times](compute.md) explains
the models."""


def wrapped(text, **how):
    return textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False, **how) + "\n"


def percent(value):
    return f"{value:+.1f} %"


def settings(record):
    return ", ".join(setting.replace("=", " ") for setting in training.last_names(record.settings))


def is_large(of):
    """Returns whether the source's errors are so large that the page has to explain them. Rows of tier D have no limit."""
    good = training.predicted(of)
    return bool(good) and any(record.tier != "D" for record in of) and (abs(training.worst(of).error) > LARGE_WORST or
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


def three(errors):
    """Mean, bias and worst as cells."""
    if not errors:
        return "", "", ""
    return (f"{sum(map(abs, errors)) / len(errors):.1f} %", percent(sum(errors) / len(errors)), percent(max(errors, key=abs)))


def group_of(record):
    """The order and the names of the row's group."""
    name, gpus = training.hardware(record), training.count_gpus(record)
    size = next(number for number, (_, most) in enumerate(SIZES) if gpus <= most)
    order = HARDWARE.index(name.upper()) if name.upper() in HARDWARE else len(HARDWARE)
    return (order, name, record.kind, size), (name, record.kind, SIZES[size][0])


def in_band(of):
    """How many of the rows with a band lie in it: "12 of 15"; "" if none has one."""
    with_band = [record for record in of if record.band]
    return f"{sum(record.in_band for record in with_band)} of {len(with_band)}" if with_band else ""


def band_rows(everything):
    """Stated against real errors, by kind of model and over all."""
    yield "model", "rows", "in their band", "share", "mean half-width"
    good = [record for record in training.predicted(everything) if record.band]
    kinds = sorted({record.kind for record in good})
    for name, of in [*((kind, [record for record in good if record.kind == kind]) for kind in kinds), ("all", good)]:
        if of:
            inside = sum(record.in_band for record in of)
            width = sum(record.band["high_s"] / record.predicted - 1 for record in of) / len(of)
            yield name, str(len(of)), str(inside), f"{100 * inside / len(of):.0f} %", f"{100 * width:.1f} %"


def group_rows(everything):
    yield ("hardware", "model", "GPUs", "rows", "mean error", "bias", "worst", "in their band", "memory rows", "mean error", "bias",
           "worst")
    groups = {}
    for record in everything:
        order, names = group_of(record)
        groups.setdefault(order, (names, []))[1].append(record)
    for _, (names, of) in sorted(groups.items()):
        good = training.predicted(of)
        memory = [record.memory_error for record in good if record.memory_error is not None]
        yield (*names, how_many(of), *three([record.error for record in good]), in_band(good), str(len(memory) or ""),
               *three(memory))


def need_rows(everything):
    yield "feature", "rows", "rows that need nothing else"
    waiting = [record for record in everything if record.needs]
    features = {feature for record in waiting for feature in record.needs}
    for feature in sorted(features, key=lambda name: (-sum(name in record.needs for record in waiting), name)):
        yield (feature, str(sum(feature in record.needs for record in waiting)),
               str(sum(record.needs == [feature] for record in waiting)))


def rival_rows(found):
    yield "source", "of", "rows", "mean error", "bias", "worst", "rival: mean error", "bias", "worst"
    for source, of in found.items():
        good = [record for record in training.predicted(of) if record.rival_seconds]
        if good:
            yield (training.head(source)["title"], "time", str(len(good)), *three([record.error for record in good]),
                   *three([100 * (record.rival_seconds / record.seconds - 1) for record in good]))
        good = [record for record in good if record.rival_gib and record.memory_error is not None]
        if good:
            yield (training.head(source)["title"], "memory", str(len(good)), *three([record.memory_error for record in good]),
                   *three([100 * (record.rival_gib / record.memory_gib - 1) for record in good]))


def verdict(of, mean, worst):
    """A worst row can miss its target before all rows have results; a mean needs all rows that wait for nothing."""
    good, of = training.predicted(of), [record for record in of if not record.needs]
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
    if record.needs:
        return "not yet", "needs " + ", ".join(record.needs)
    if record.left_out:
        return "not run", record.left_out
    if record.failure:
        return "none", record.failure.splitlines()[0].replace("|", "/")
    return f"{record.predicted:.4g} s", percent(record.error)


def memory_cells(record):
    """The published and the predicted peak with its error."""
    if not record.memory_gib:
        return "", ""
    if record.memory_error is None:
        return f"{record.memory_gib:.4g} GiB", ""
    return f"{record.memory_gib:.4g} GiB", f"{record.predicted_gib:.4g} GiB ({percent(record.memory_error)})"


def not_stated(record):
    return ", ".join(record.assumed) + (f"; tuned: {record.chosen}" if record.chosen else "")


def row_rows(of):
    with_memory, with_place = (any(getattr(record, key) for record in of) for key in ("memory_gib", "where"))
    with_range = any(unstated.range_text(record) for record in of)
    more = [("range",)] * with_range + [("memory", "predicted")] * with_memory + [("where",)] * with_place
    yield "model", "tier", "settings", "published", "predicted", "error", "not stated", *(name for names in more for name in names)
    for record in of:
        yield (record.model.stem, record.tier, settings(record), f"{record.seconds:.4g} s", *result(record), not_stated(record),
               *([unstated.range_text(record)] if with_range else []), *(memory_cells(record) if with_memory else ()),
               *([record.where] if with_place else []))


def table_of(rows):
    """Returns rows of words as a figure; the first row is the head."""
    head, *rest = rows
    return {"head": list(head), "rows": [list(row) for row in rest]}


def kernel_figures(printed):
    """Returns the output of run_kernels.py, and the mean error of each line."""
    means = re.findall(r"^(\S.*?) +\d+ rows +mean +([\d.]+ %)", printed, re.M)
    return {"kernels": printed} | {f"kernels.{re.sub('[^a-z0-9]+', '_', name.lower())}": mean for name, mean in means}


def figures_of(found, network, points, printed):
    """The figures of the page: `found` has records by source, `points` is the output file of run_collectives.py, `printed` the
    output of run_kernels.py."""
    everything = [record for of in found.values() for record in of]
    made = {"network": network, "rows": str(len(everything)),
            "left_out": str(sum(bool(record.left_out) for record in everything)),
            "targets": table_of(target_rows(everything)),
            "waiting": str(sum(bool(record.needs) for record in everything)),
            "refused": str(sum(bool(record.failure) for record in everything)),
            "by_source": table_of(summary_rows([(training.head(source)["title"], of) for source, of in found.items()])),
            "by_group": table_of(group_rows(everything)), "bands": table_of(band_rows(everything)), "needs": table_of(need_rows(everything)),
            "ranges": table_of(unstated.range_rows(everything)), **range_figures(everything),
            "rivals": table_of(rival_rows(found))}
    made |= {f"mean.{name.replace(',', '').replace(' ', '_')}": mean
             for name, _, mean, *_ in made["targets"]["rows"]}
    if points:
        made["collectives"] = table_of(collective_rows(points))
    if printed:
        made |= kernel_figures(printed)
    return made | {f"rows.{source}": table_of(row_rows(of)) for source, of in found.items()}


def range_figures(everything):
    rows = [record for record in training.predicted(everything) if record.options]
    return {"ranged": str(sum(map(unstated.has_range, rows))), "with_options": str(len(rows)),
            "tuned": str(sum(bool(record.chosen) for record in rows))}


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


def group_sections(made):
    """Rows by group, the rows that another simulator predicts, and what rows wait for; nothing for a data file without them."""
    if "by_group" not in made:
        return ""
    said = "### By hardware, model and size\n\n" + wrapped(GROUPS) + "\n" + markdown(made["by_group"]) + "\n"
    if made.get("bands", {}).get("rows"):
        said += "### Stated against real errors\n\n" + wrapped(BANDS) + "\n" + markdown(made["bands"]) + "\n"
    if made.get("ranges", {}).get("rows"):
        said += ("### Ranges of unstated settings\n\n" + wrapped(RANGES) + "\n" + wrapped(TUNED) + "\n"
                 + wrapped(f"{made['ranged']} of {made['with_options']} rows with such rules have a range.") + "\n"
                 + markdown(made["ranges"]) + "\n")
    if made["rivals"]["rows"]:
        said += "### Beside other simulators\n\n" + wrapped(RIVALS) + "\n" + markdown(made["rivals"]) + "\n"
    if made["needs"]["rows"]:
        said += ("### Rows that wait for features\n\n" + wrapped(f"{made['waiting']} of {made['rows']} rows. {NEEDS}") + "\n"
                 + markdown(made["needs"]) + "\n")
    return said + "### Predicted against published\n\n"


def training_section(made):
    rules = "".join(wrapped(f"{name}: {rule}.", initial_indent="- ", subsequent_indent="  ")
                    for name, (rule, _) in training.RULES.items())
    said = ""
    if made["left_out"] != "0":
        said = wrapped(f"{made['left_out']} of {made['rows']} rows were not run. They are marked, and no figure includes "
                       "them.") + "\n"
    sources = [key.removeprefix("rows.") for key in made if key.startswith("rows.")]
    return ("## Training runs\n\n" + wrapped(f"Iteration times over the network `{made['network']}`. {TIERS}") + "\n" + said
            + markdown(made["targets"]) + "\n" + markdown(made["by_source"]) + "\n" + group_sections(made)
            + "![predicted against published](../figures/validation-training.svg)\n\n"
            "A rule supplies the values that a source does not state. The rules are the same for all sources:\n\n" + rules + "\n"
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
