"""Single collectives, as `drydock collectives` (collective-perf) has them."""
from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from drydock._executables import Path, call
from drydock._run import Value, _text


@dataclasses.dataclass(frozen=True)
class Collectives:
    """The times of a collective for a range of sizes.

    report: what collective-perf prints as JSON. table: a row for each size as columns of equal length, ready for
    `pandas.DataFrame`: size (bytes), count, type, op, root, and time_us, alg_bw, bus_bw (GB/s) out of place.
    """

    report: Dict[str, Any]

    @property
    def table(self) -> Dict[str, List[Any]]:
        rows = self.report["results"]
        columns: Dict[str, List[Any]] = {name: [row[name] for row in rows] for name in ("size", "count", "type", "redop", "root")}
        for name, key in (("time_us", "time"), ("alg_bw", "alg_bw"), ("bus_bw", "bus_bw")):
            columns[name] = [row["out_of_place"][key] for row in rows]
        return columns


def collectives(collective: str, cluster: Path, *, begin: Union[int, str] = "32M", end: Union[int, str, None] = None,
                factor: int = 2, datatype: Optional[str] = None, op: Optional[str] = None, group: Sequence[str] = (),
                network: Optional[str] = None, set: Optional[Mapping[str, Value]] = None) -> Collectives:
    """How long a collective takes on a cluster, for sizes from `begin` to `end`.

    collective: all_reduce, all_gather, reduce_scatter, alltoall, ...
    cluster: a file, or the name of what ships.
    begin, end: bytes, or sizes such as "8M"; without `end` there is one size. factor: from one size to the next.
    datatype, op, group, network: the options of `drydock collectives` of these names.
    set: values that replace those of the cluster file, by "section.key".
    Raises DrydockError with the messages of the executables.
    """
    last = begin if end is None else end
    words = ["collectives", collective, "--json", "-q", "-b", str(begin), "-e", str(last), "-f", str(factor),
             "--cluster", os.fspath(cluster)]
    for name, given in {"--datatype": datatype, "--op": op, "--network": network}.items():
        if given is not None:
            words += [name, given]
    for ranks in group:
        words += ["--group", ranks]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={_text(value)}"]
    return Collectives(json.loads(call("drydock", words)))
