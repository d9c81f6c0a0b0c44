"""Runs the commands that the documents show and compares their output with the documents.

Usage: transcripts_test.py BIN
       transcripts_test.py BIN --update    writes new figures into the documents; lines that differ otherwise stay

A block of code marked `console` is a transcript: a line "$ command", its continuation lines after "> ", then the command's
output. A line "..." matches any lines, and "..." at the end of a line matches the rest of the line. Commands of a page run in
order, from the top folder. runs/ is a separate folder of the test, and ./run_pipeline.sh calls the tools without set-up.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
UPDATE = False
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)

PIPELINE = """#!/bin/bash
exec -a run_pipeline.sh "$(command -v drydock)" run "$@"
"""


def commands_of(block):
    """Returns (command, the lines that the document shows)."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif line.startswith("> "):
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1].append(line.rstrip())
    return found


def matches(said, printed):
    """Returns whether the lines match those of a page."""
    pattern = ""
    for line in said:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        elif line.endswith("..."):
            pattern += re.escape(line[:-3]) + r".*\n"
        else:
            pattern += re.escape(line) + r"\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def masked(line):
    """The line without its figures and units, so that the same line of another run is equal."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.]+(?: (?:[munp]?s|[kMGT]?B)\b)?", "#", line)).strip()


def renewed(said, printed):
    """The lines of a page with the figures that were printed."""
    lines, at = [], 0
    for line in said:
        words = len(line[:-3].split()) if line.endswith("...") else 0
        for place in range(at, len(printed)):
            new = printed[place].rstrip()
            if words and (start := re.match(rf"(?:\s*\S+){{{words}}}", new)):
                new = start[0].rstrip(",") + "..."
            if line.strip() != "..." and masked(new) == masked(line):
                line, at = new, place + 1
                break
        lines.append(line)
    return lines


class Transcripts(unittest.TestCase):
    def check(self, page):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            for path in ROOT.iterdir():
                if path.name not in ("run_pipeline.sh", "runs", "build"):
                    (top / path.name).symlink_to(path)
            (top / "runs").mkdir()
            (top / "run_pipeline.sh").write_text(PIPELINE)
            (top / "run_pipeline.sh").chmod(0o755)
            (top / "build/release").mkdir(parents=True)
            (top / "build/release/bin").symlink_to(BIN)
            for block in BLOCK.findall(page.read_text()):
                for command, said in commands_of(block):
                    self.check_command(page.relative_to(ROOT), command, said, top)

    def check_command(self, page, command, said, top):
        done = subprocess.run(["bash", "-c", command], cwd=top, text=True, timeout=600, stdout=subprocess.PIPE,
                              env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}, stderr=subprocess.STDOUT)
        printed = done.stdout.splitlines()
        if UPDATE and not matches(said, printed):
            text = (ROOT / page).read_text()
            (ROOT / page).write_text(text.replace("\n".join(said), "\n".join(renewed(said, printed))))
            return
        self.assertTrue(matches(said, printed), f"{page}: $ {command}\nprints\n{done.stdout}")


for path in sorted((ROOT / "docs").rglob("*.md")):
    if BLOCK.search(path.read_text()):
        name = re.sub(r"\W", "_", path.stem)
        setattr(Transcripts, f"test_{name}", lambda self, path=path: self.check(path))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    UPDATE = sys.argv[2:3] == ["--update"]
    unittest.main(argv=sys.argv[:1] + sys.argv[3 if UPDATE else 2:])
