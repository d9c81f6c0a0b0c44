"""What scripts that hold runs to laws and renew parts of a page share."""


def markdown(table):
    """A Markdown table of rows of words, the first of which is its head."""
    head, *rows = table
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def replace_between(text, name, content):
    """`text` with `content` between its marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    return text[:text.index(begin) + len(begin)] + content + text[text.index(end):]


def judge(checks, results):
    """Prints of each check, (law, whether it holds of results), what it says; the exit status: 1 if one does not."""
    missed = 0
    for law, holds in checks:
        fine = holds(results)
        missed += not fine
        print(f"{'holds ' if fine else 'MISSED'} {law}")
    return 1 if missed else 0
