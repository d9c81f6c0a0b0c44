"""Predictions: `run` makes one, `Run` reads one."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from drydock._executables import DrydockError, Path, call

Value = Union[str, int, float, bool]

_OP = re.compile(r"rank (\d+) op (\d+) (\S+) (.*): start (-?\d+) ready (-?\d+) end (-?\d+) ps")


class Run:
    """A run directory with a finished prediction. Its files are read when they are first asked for."""

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path)
        if not (self.path / "summary.json").is_file():
            raise DrydockError(1, f"{self.path}: it has no summary.json; it is not the directory of a finished run")

    @functools.cached_property
    def summary(self) -> Dict[str, Any]:
        """summary.json: docs/reference/report.md explains each entry."""
        content: Dict[str, Any] = json.loads((self.path / "summary.json").read_text())
        return content

    @functools.cached_property
    def timeline(self) -> Dict[str, List[Any]]:
        """Each op of each rank, as columns of equal length; `pandas.DataFrame(run.timeline)` is a table.

        Columns: rank, op (its number in the rank's program), stream, name, and start_ps, ready_ps, end_ps, which are
        whole picoseconds from the begin of the iteration. An op that never ended in a stopped replay ends with the replay.
        """
        columns: Dict[str, List[Any]] = {name: [] for name in ("rank", "op", "stream", "name", "start_ps", "ready_ps", "end_ps")}
        for line in call("exec-engine", [str(self.path), "--dump", "-v"]).splitlines():
            found = _OP.fullmatch(line)
            if found is None:
                continue
            rank, op, stream, name, *times = found.groups()
            row = [int(rank), int(op), stream, name, *map(int, times)]
            for column, value in zip(columns.values(), row):
                column.append(value)
        return columns

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def run(model: Path, cluster: Path, *, set: Optional[Mapping[str, Value]] = None, out: Optional[Path] = None,
        network: Optional[str] = None, threads: Union[int, str, None] = None, fold: Optional[str] = None,
        until: Optional[str] = None, iterations: Optional[int] = None, gpu_profiles: Sequence[Path] = ()) -> Run:
    """Predicts the iteration time of a model on a cluster, as `drydock run` does.

    model, cluster: files, or names of what ships ("gpt-22b", "dgx-a100-80g-1").
    set: values that replace those of either file, by "section.key".
    out: the run directory; without it, a new folder among the temporary files, which stays.
    network, threads, fold, until, iterations, gpu_profiles: the options of `drydock run` of these names.
    Raises DrydockError with the messages of the executables.
    """
    place = os.fspath(out) if out is not None else tempfile.mkdtemp(prefix="drydock-")
    words = ["run", "-q", "--out", place]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={_text(value)}"]
    options = {"network": network, "threads": threads, "fold": fold, "until": until, "iterations": iterations}
    for name, given in options.items():
        if given is not None:
            words += [f"--{name}", str(given)]
    for file in gpu_profiles:
        words += ["--gpu-profile", os.fspath(file)]
    call("drydock", [*words, "--", os.fspath(model), os.fspath(cluster)])
    return Run(place)
