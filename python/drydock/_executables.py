"""Where the executables are, and how they are started."""
from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
from typing import Sequence, Union

Path = Union[str, "os.PathLike[str]"]

_HERE = pathlib.Path(__file__).resolve().parent


class DrydockError(Exception):
    """An executable failed. The text is what it said; `status` is its exit status: 1 bad input, 2 wrong usage,
    3 internal error, 130 interrupted."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@functools.lru_cache(maxsize=None)
def folder() -> pathlib.Path:
    """The folder of the executables: that of this package, else of the source tree around it, else of `drydock` in PATH."""
    for place in (_HERE / "_tree/bin", _HERE.parents[1] / "build/release/bin"):
        if (place / "drydock").is_file():
            return place
    found = shutil.which("drydock")
    if found is None:
        raise DrydockError(1, "there is no executable 'drydock': install Drydock's package, or run scripts/setup.sh")
    return pathlib.Path(found).resolve().parent


def call(tool: str, arguments: Sequence[str]) -> str:
    """Runs an executable to its end and returns its standard output. Raises DrydockError with its messages."""
    done = subprocess.run([str(folder() / tool), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise DrydockError(done.returncode, done.stderr.strip() or f"{tool} ended with status {done.returncode}")
    return done.stdout


def version() -> str:
    """What `drydock --version` prints: version, commit and formats."""
    return call("drydock", ["--version"]).strip()
