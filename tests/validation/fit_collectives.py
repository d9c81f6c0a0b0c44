#!/usr/bin/env python3
"""Fits the costs of NCCL's kernels in a GPU file to published times of collectives.

Usage: fit_collectives.py --bin DIR --tables LIST [--rows FILE] [--gpu FILE] [--kernels LIST] [-o FILE]

The tables are those of collective_tables.csv, which names their clusters; the rows are those of collectives.csv, or of --rows,
a file with the same columns. Each row is predicted as in `collective-perf --network analytical`: NCCL's plan, replayed. The
first prediction says which kernel a row runs. Then each kernel's parameters are fitted to half of its rows: those whose size
has an even place among the sizes of their collective, type and number of GPUs. The other half is only predicted.

The fit minimizes the mean absolute logarithm of predicted over published time. A parameter that the rows do not determine
stays near its value in the file: a factor of two costs as much as PULL for each row. `link_efficiency` and `several_peers`
are shared by kernels and belong to the kernels of SHARED. A parameter that the file does not state is not fitted. What
matters between hosts only (net_slice, proxy) is fitted if rows have several hosts.

Prints mean and worst error before and after, of fitted rows and of the others. -o writes the GPU file with the new values.
Exit status 1 if a row cannot be predicted.
"""
import argparse
import collections
import math
import pathlib
import re
import shutil
import sys
import tempfile

import run_collectives as published

ROOT = published.ROOT
PULL = 0.002
STEP = 0.05  # of a logarithm, for derivatives
ROUNDS = 6
SCANS = 2
FACTORS = [0.33, 0.5, 0.7, 1.4, 2, 3]
# The kernels in the order in which they are fitted, and what of each can be seen inside a host.
RATES = ["send", "copy_send", "reduce_send", "receive"]
PASSES = ["base", "base_per_warp", "step", "pass_time", "pass_store"]
PARAMETERS = {
    "simple": ["base", "step", "hop", *RATES],
    "nvls": ["base", "step", "hop", *RATES],
    "p2p_simple": ["base", "step", "hop", *RATES],
    "ll": PASSES,
    "ll128": ["base", "step", "hop", *RATES],
    "p2p_ll": ["base", "step", "pass_time", "pass_store"],
}
BETWEEN_HOSTS = ["net_slice", "proxy"]  # fitted if a row has several hosts
SHARED = {"simple": ["link_efficiency"], "p2p_simple": ["several_peers"]}


class GpuText:
    """The text of a GPU file whose parameters of `collectives:` can be read and replaced; comments stay."""

    def __init__(self, text):
        self.text = text

    def pattern(self, kernel, name):
        before = r"" if kernel is None else rf"{kernel}: \{{[^}}\n]*?\b"
        return re.compile(rf"^(  {before}{name}: )([0-9.e+-]+)", re.MULTILINE)

    def find(self, kernel, name):
        found = self.pattern(kernel, name).search(self.text, self.text.index("\ncollectives:"))
        return found and float(found.group(2))

    def replaced(self, values):
        text = self.text
        for (kernel, name), value in values.items():
            begin = text.index("\ncollectives:")
            changed = self.pattern(kernel, name).sub(lambda m: f"{m.group(1)}{value:.4g}", text[begin:], count=1)
            text = text[:begin] + changed
        return GpuText(text)


def kernel_of(plan):
    """The section of the GPU file that a plan of collective_times uses."""
    algorithm, protocol = plan.split(" ", 1)[0].lower().split("/")
    if algorithm.startswith("nvls"):
        return "nvls"
    prefix = "p2p_" if algorithm in ("send-recv", "sendrecv", "p2p") else ""
    return prefix + protocol


class Predictor:
    """Predicts rows with a changed GPU file: copies of the tables' cluster files, with the GPU file beside them."""

    def __init__(self, tool, clusters, name, folder):
        self.tool, self.gpu, self.clusters = tool, folder / "gpus" / f"{name}.yaml", {}
        shutil.copytree(ROOT / "configs/gpus", folder / "gpus")
        (folder / "clusters").mkdir()
        for table, cluster in clusters.items():
            self.clusters[table] = folder / "clusters" / cluster.name
            self.clusters[table].write_text(cluster.read_text())

    def __call__(self, gpu, rows):
        """Returns microseconds and plan of each row."""
        self.gpu.write_text(gpu.text)
        out = {}
        for table, cluster in self.clusters.items():
            of = [row for row in rows if row["table"] == table]
            if of:
                published.predict(self.tool, cluster, of)
                out |= {id(row): (row.pop("predicted"), row.pop("plan")) for row in of}
        return [out[id(row)] for row in rows]


def halves(rows):
    """Marks every second size of each collective, type and number of ranks as fitted."""
    series = collections.defaultdict(list)
    for row in rows:
        series[row["table"], row["collective"], row["type"], row["hosts"], row["gpus"]].append(row)
    for of in series.values():
        for place, row in enumerate(sorted(of, key=lambda row: int(row["bytes"]))):
            row["fitted"] = place % 2 == 0


def solve(matrix, right):
    """The solution of a small system of linear equations with a positive definite matrix."""
    n = len(right)
    rows = [list(line) + [value] for line, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            by = rows[k][i] / rows[i][i]
            rows[k] = [a - by * b for a, b in zip(rows[k], rows[i])]
    out = [0.0] * n
    for i in reversed(range(n)):
        out[i] = (rows[i][n] - sum(rows[i][k] * out[k] for k in range(i + 1, n))) / rows[i][i]
    return out


def loss(residuals, shifts):
    return (sum(map(abs, residuals)) + PULL * len(residuals) * sum((s / math.log(2)) ** 2 for s in shifts)) / len(residuals)


def fit_kernel(predict, gpu, kernel, rows):
    """Returns the values of a kernel's parameters, by Gauss-Newton steps in their logarithms with weights that make squares
    absolute values."""
    between = BETWEEN_HOSTS if any(int(row["hosts"]) > 1 for row in rows) else []
    names = [(kernel, name) for name in PARAMETERS[kernel] + between] + [(None, name) for name in SHARED.get(kernel, [])]
    start = {key: gpu.find(*key) for key in names}
    names = [key for key in names if start[key]]

    def residuals(shifts):
        values = {key: start[key] * math.exp(shift) for key, shift in zip(names, shifts)}
        for key in values:
            if key[0] is None:
                values[key] = min(values[key], 1.0)
        return [math.log(us / float(row["us"])) for (us, _), row in zip(predict(gpu.replaced(values), rows), rows)]

    shifts = [0.0] * len(names)
    here = residuals(shifts)
    # A rate that other limits hide has no slope, so larger moves of one parameter at a time come first.
    for _ in range(SCANS):
        for k in range(len(names)):
            trials = [shifts[:k] + [shifts[k] + math.log(factor)] + shifts[k + 1:] for factor in FACTORS]
            tried = [(shifts, here)] + [(trial, residuals(trial)) for trial in trials]
            shifts, here = min(tried, key=lambda each: loss(each[1], each[0]))
    for _ in range(ROUNDS):
        moved = [residuals([s + STEP * (i == k) for i, s in enumerate(shifts)]) for k in range(len(names))]
        slopes = [[(b - a) / STEP for a, b in zip(here, other)] for other in moved]
        weights = [1 / max(abs(r), 0.01) for r in here]
        pull = 2 * PULL * len(rows) / math.log(2) ** 2
        matrix = [[sum(w * x * y for w, x, y in zip(weights, a, b)) + pull * (i == k) for k, b in enumerate(slopes)]
                  for i, a in enumerate(slopes)]
        right = [-sum(w * x * r for w, x, r in zip(weights, a, here)) - pull * s for a, s in zip(slopes, shifts)]
        direction = solve(matrix, right)
        best, length = None, 1.0
        while length > 0.1:
            trial = [s + max(-0.7, min(0.7, length * d)) for s, d in zip(shifts, direction)]
            there = residuals(trial)
            if loss(there, trial) < loss(here, shifts) * 0.999:
                best = trial, there
                break
            length /= 2
        if best is None:
            break
        shifts, here = best
        print(f"  {kernel}: {100 * sum(map(abs, here)) / len(here):.2f} %", file=sys.stderr, flush=True)
    return {key: start[key] * math.exp(shift) for key, shift in zip(names, shifts)}


def print_errors(title, rows, key, before, after):
    print(f"{title:<14}{'rows':>5}{'before':>18}{'after: mean':>14}{'worst':>8}")
    for name in dict.fromkeys(map(key, rows)):
        of = [row for row in rows if key(row) == name]
        old, new = ([100 * (row[which] / float(row["us"]) - 1) for row in of] for which in (before, after))
        print(f"{name:<14}{len(of):>5}{published.mean(old):16.1f} %{published.mean(new):12.1f} %{max(new, key=abs):+7.0f} %")


def read_rows(options):
    rows = published.read_csv(options.rows.resolve() if options.rows else "collectives.csv")
    rows = [row for row in rows if row["table"] in options.tables and not row["apart"]]
    if not rows:
        sys.exit(f"no row of {', '.join(options.tables)}")
    halves(rows)
    return rows


def fit(options, predict, gpu):
    rows = read_rows(options)
    for row, (us, plan) in zip(rows, predict(gpu, rows)):
        row["before"], row["plan"], row["kernel"] = us, plan, kernel_of(plan)
    for kernel in options.kernels.split(","):
        of = [row for row in rows if row["fitted"] and row["kernel"] == kernel]
        if of:
            gpu = gpu.replaced(fit_kernel(predict, gpu, kernel, of))
    for row, (us, _) in zip(rows, predict(gpu, rows)):
        row["after"] = us
    return rows, gpu


def gpu_with_costs(cluster):
    """The name of the GPU file whose `collectives:` the cluster uses: that of its GPU, or of the GPU's reference."""
    name = re.search(r"^ +gpu: (\S+)", cluster.read_text(), re.MULTILINE).group(1)
    text = (ROOT / f"configs/gpus/{name}.yaml").read_text()
    return name if "\ncollectives:" in text else re.search(r"^  reference: (\S+)", text, re.MULTILINE).group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where collective_times is")
    parser.add_argument("--tables", required=True, type=lambda text: text.split(","), help="tables of collective_tables.csv")
    parser.add_argument("--rows", type=pathlib.Path, help="rows in the columns of collectives.csv, in place of that file")
    parser.add_argument("--gpu", type=pathlib.Path, help="GPU file to begin with; default: that of the table's cluster")
    parser.add_argument("--kernels", default=",".join(PARAMETERS), help="the kernels to fit, in this order")
    parser.add_argument("-o", type=pathlib.Path, help="write the GPU file with the new values")
    options = parser.parse_args()
    tables = {table["table"]: table for table in published.read_csv("collective_tables.csv")}
    unknown = [name for name in options.tables if name not in tables]
    if unknown:
        sys.exit(f"no table {unknown[0]}; tables are {', '.join(tables)}")
    clusters = {name: ROOT / tables[name]["cluster"] for name in options.tables}
    names = {gpu_with_costs(cluster) for cluster in clusters.values()}
    if len(names) > 1:
        sys.exit(f"the tables have costs of several GPUs: {', '.join(sorted(names))}")
    (name,) = names
    gpu = GpuText((options.gpu or ROOT / f"configs/gpus/{name}.yaml").read_text())
    with tempfile.TemporaryDirectory() as folder:
        predict = Predictor(options.bin / "collective_times", clusters, name, pathlib.Path(folder))
        rows, gpu = fit(options, predict, gpu)
    for fitted, title in ((True, "fitted"), (False, "not fitted")):
        of = [row for row in rows if row["fitted"] == fitted]
        print_errors(title, of, lambda row: published.TITLES[published.size_class(int(row["bytes"]))], "before", "after")
        print_errors("", of, lambda row: row["kernel"], "before", "after")
        print()
    print(gpu.text[gpu.text.index("\ncollectives:") + 1:])
    if options.o:
        options.o.write_text(gpu.text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
