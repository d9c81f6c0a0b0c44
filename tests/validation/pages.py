"""Shared code of the scripts that check runs against laws and record figures for the documents."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import figures  # noqa: E402


def markdown(table):
    """Returns a Markdown table of rows of words; the first row is the head."""
    head, *rows = table
    return figures.markdown(head, rows)


def record(docs, name, command, tables, texts=None, pictures=None):
    """Records tables (rows of words, the head first) and texts as figures, writes pictures, and renews the pages.

    Keys of `pictures` are names of files in DOCS/figures.
    """
    made = {key: {"head": list(head), "rows": [list(row) for row in rows]} for key, (head, *rows) in tables.items()}
    figures.record(docs, name, command, made | (texts or {}))
    for file, content in (pictures or {}).items():
        (docs / "figures" / file).write_text(content)
    figures.update(docs)


def judge(checks, results):
    """Prints whether each check, a (law, predicate), holds for `results`. Returns the exit status: 1 if one does not."""
    missed = 0
    for law, holds in checks:
        fine = holds(results)
        missed += not fine
        print(f"{'holds ' if fine else 'MISSED'} {law}")
    return 1 if missed else 0
