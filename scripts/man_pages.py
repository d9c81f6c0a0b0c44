#!/usr/bin/env python3
"""Writes a man page for each tool and command, from --help.

Usage: scripts/man_pages.py BIN VERSION FOLDER     # FOLDER/drydock.1.gz, FOLDER/simccl-explain.1.gz, ...
"""
import gzip
import pathlib
import re
import sys

import help_texts


def escaped(line):
    """A line of text that roff shows as it is."""
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + line if line[:1] in (".", "'") else line


def summary_of(command, text):
    """The first sentence, without the name that some help texts begin with."""
    return text.splitlines()[0].removeprefix(f"{command}: ").rstrip(".")


def sections_of(text):
    """(heading, lines) of a help text; the heading of the lines before the first one is ""."""
    found = [("", [])]
    for line in text.splitlines():
        heading = re.fullmatch(r"([A-Z][\w ,'().-]*):", line)
        usage = re.fullmatch(r"Usage: (.*)", line)
        if heading:
            found.append((heading[1], []))
        elif usage:
            found += [("Usage", ["  " + usage[1]]), ("", [])]
        else:
            found[-1][1].append(line)
    return [(name, lines) for name, lines in found if any(line.strip() for line in lines)]


def page_of(command, text, version, others):
    """The man page of a command; `others` are the pages it refers to."""
    name = command.replace(" ", "-")
    out = [f'.TH "{name.upper()}" 1 "" "Drydock {version}" "Drydock"', ".SH NAME",
           escaped(f"{name} - {summary_of(command, text)}")]
    text = "\n".join(text.splitlines()[1:])
    for heading, lines in sections_of(text):
        while lines and not lines[0].strip():
            lines = lines[1:]
        title = {"": "DESCRIPTION", "Usage": "SYNOPSIS"}.get(heading, heading.upper())
        # The columns of the help text are kept.
        out += [f'.SH "{title}"', ".nf", *map(escaped, lines), ".fi"]
    if others:
        out += [".SH SEE ALSO", ", ".join(rf"\fB{escaped(other)}\fR(1)" for other in others)]
    return "\n".join(out) + "\n"


def main(binaries, version, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for tool, helps in help_texts.all_helps(binaries, ("gpu-profiler", "drydock-capture")):
        names = [command.replace(" ", "-") for command, _ in helps]
        for command, text in helps:
            others = [name for name in names if name != command.replace(" ", "-")] or ["drydock"]
            page = page_of(command, text, version, others)
            path = folder / f"{command.replace(' ', '-')}.1.gz"
            path.write_bytes(gzip.compress(page.encode(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
