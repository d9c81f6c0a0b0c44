"""Figures of the documents: data files that benchmarks and validation write, and pages that quote them.

docs/figures/NAME.json holds records. A record says which command made its figures and at which
commit. A figure is a text ("10.6 s") or a table ({"head": [...], "rows": [[...], ...]}).

A page quotes a figure between two comments, on one line or as a table:

  <!--figure NAME.KEY-->10.6 s<!--/figure-->

  <!--table NAME.KEY-->
  | ... |
  <!--/table-->

scripts/update_figures rewrites every quotation. tests/integration/documents_test.py fails where a
page and its data file differ.
"""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

FIGURE = re.compile(r"<!--figure ([\w.-]+)-->(.*?)<!--/figure-->", re.S)
TABLE = re.compile(r"<!--table ([\w.-]+)-->\n(.*?)<!--/table-->", re.S)


def markdown(head, rows):
    """Returns a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def read(docs=DOCS):
    """Returns every figure by its name, "FILE.KEY"."""
    found = {}
    for path in sorted((docs / "figures").glob("*.json")):
        for record in json.loads(path.read_text())["records"]:
            for key, figure in record["figures"].items():
                name = f"{path.stem}.{key}"
                if name in found:
                    raise ValueError(f"{path.name}: two records have the figure {key}")
                found[name] = figure
    return found


def quoted(text, figures):
    """Returns `text` with every quotation replaced from `figures`. Raises KeyError for an unknown figure."""

    def table(match):
        content = figures[match[1]]
        return f"<!--table {match[1]}-->\n{markdown(content['head'], content['rows'])}<!--/table-->"

    text = FIGURE.sub(lambda match: f"<!--figure {match[1]}-->{figures[match[1]]}<!--/figure-->", text)
    return TABLE.sub(table, text)


def pages(docs=DOCS):
    """Returns the pages that may quote figures."""
    return [*sorted(docs.rglob("*.md")), docs.parent / "README.md"]


def update(docs=DOCS):
    """Rewrites the quotations of all pages; returns the pages that changed."""
    figures, changed = read(docs), []
    for page in pages(docs):
        if not page.exists():
            continue
        before = page.read_text()
        after = quoted(before, figures)
        if after != before:
            page.write_text(after)
            changed.append(page)
    return changed


def commit():
    """Returns the commit at which figures are made, with "+" behind it if the tree has changes."""
    done = subprocess.run(["git", "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or "unknown"


def record(docs, name, command, new):
    """Writes the figures `new` that `command` made into docs/figures/NAME.json.

    They replace earlier figures of the same keys; figures of other keys stay.
    """
    path = pathlib.Path(docs) / "figures" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = json.loads(path.read_text())["records"] if path.exists() else []
    for old in records:
        old["figures"] = {key: value for key, value in old["figures"].items() if key not in new}
    records = [old for old in records if old["figures"]]
    records.append({"command": command, "commit": commit(), "figures": new})
    path.write_text(json.dumps({"records": records}, indent=1, ensure_ascii=False) + "\n")
