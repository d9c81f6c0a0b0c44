"""What scripts that renew parts of a page share: tables, and the marks between which they stand."""


def markdown(table):
    """A Markdown table of rows of words, the first of which is its head."""
    head, *rows = table
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def replace_between(text, name, content):
    """`text` with `content` between its marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    return text[:text.index(begin) + len(begin)] + content + text[text.index(end):]
