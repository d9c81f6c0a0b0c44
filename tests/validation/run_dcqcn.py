#!/usr/bin/env python3
"""Runs the scenarios of the DCQCN paper (Zhu et al., SIGCOMM 2015) with pauses alone and with DCQCN.

Usage: run_dcqcn.py --bin DIR [--ways N,N...] [--docs DIR]

Prints a table for each. --docs renews those of docs/explanation/network-validation.md and the plot. Exit status 1
if a law of the paper does not hold (see CHECKS).
"""
import argparse
import csv
import io
import pathlib
import statistics
import subprocess
import sys

from pages import judge, markdown, record

CONTROLS = {"none": "PFC alone", "dcqcn": "DCQCN"}
SENDERS = [0, 1, 2]  # at T3
STEP = 100_000  # us between the starts, or ends, of two flows in the scenario convergence
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]


def run(tool, scenario, control, ways):
    """Rows of rates by time."""
    done = subprocess.run([tool, scenario, control, str(ways)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{tool} {scenario} {control} {ways}: exit status {done.returncode}")
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(done.stdout))]


def rates(rows, begin, end):
    """Mean rate of each flow between two times (us), Gb/s."""
    chosen = [row for row in rows if begin < row["time_us"] <= end]
    return {name: statistics.mean(row[name] for row in chosen) for name in rows[0] if name != "time_us"}


def jain(values):
    values = list(values)
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def spread(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


class Results:
    def __init__(self, tool, ways):
        def settled(scenario, control):
            return [rates(run(tool, scenario, control, way), 60_000, 100_000) for way in ways]

        self.unfairness = {c: settled("unfairness", c) for c in CONTROLS}
        self.victim = {c: [[r["vs"] for r in settled(f"victim-{n}", c)] for n in SENDERS] for c in CONTROLS}
        self.convergence = {c: run(tool, "convergence", c, 0) for c in CONTROLS}

    def of(self, control, host):
        return [run[host] for run in self.unfairness[control]]

    def stages(self, control):
        """For each stage, the rates of its senders in the last quarter of the stage."""
        for stage in range(7):
            begin = STEP * stage
            flows = rates(self.convergence[control], begin + STEP * 3 // 4, begin + STEP)
            yield [flows[f"h{i + 1}"] for i in range(4) if i <= stage < i + 4]


def unfairness_table(results):
    yield "", "H1, Gb/s", "H2, Gb/s", "H3, Gb/s", "H4, Gb/s"
    for control, name in CONTROLS.items():
        yield name, *(spread(results.of(control, f"h{i}")) for i in range(1, 5))


def victim_table(results):
    yield "VS to VR, Gb/s, beside", *(f"{n} at T3" for n in SENDERS)
    for control, name in CONTROLS.items():
        yield name, *(spread(values) for values in results.victim[control])


def convergence_table(results):
    yield "senders at once", *(str(len(flows)) for flows in results.stages("dcqcn"))
    yield "DCQCN, together, Gb/s", *(f"{sum(flows):.1f}" for flows in results.stages("dcqcn"))
    yield "Jain", *(f"{jain(flows):.3f}" for flows in results.stages("dcqcn"))


TABLES = {"dcqcn-unfairness": unfairness_table, "dcqcn-victim": victim_table, "dcqcn-convergence": convergence_table}

# (law, predicate of the results).
CHECKS = [
    ("pauses alone favor the host with a separate port (figure 3)",
     lambda r: all(run["h4"] > 0.98 * max(run["h1"], run["h2"], run["h3"])
                   and run["h4"] > 1.3 * (run["h1"] + run["h2"] + run["h3"]) / 3 for run in r.unfairness["none"])),
    ("with DCQCN all four hosts have equal rates (figure 8)",
     lambda r: all(jain(run.values()) > 0.98 for run in r.unfairness["dcqcn"])),
    ("with pauses alone, senders at T3 take more than half of the rate of VS, with which they share no link (figure 4)",
     lambda r: any(with_two < 0.5 * alone for with_two, alone in zip(r.victim["none"][2], r.victim["none"][0]))),
    ("with DCQCN they take nothing: VS gains the bandwidth that the other hosts at T1 lose (figure 9)",
     lambda r: all(with_two > 0.98 * alone for with_two, alone in zip(r.victim["dcqcn"][2], r.victim["dcqcn"][0]))
     and min(r.victim["dcqcn"][2]) > 1.5 * min(r.victim["none"][2])),
    ("DCQCN's flows converge to equal shares as flows start and stop",
     lambda r: all(jain(flows) > 0.95 for flows in r.stages("dcqcn"))),
]


def plot(results):
    """Rates over time in the scenario convergence, a panel a control. As SVG."""
    width, height, gap = 360, 130, 20
    end = 7 * STEP
    parts = []
    for column, (control, name) in enumerate(CONTROLS.items()):
        x0 = 50 + column * (width + gap)
        parts.append(f'<text x="{x0 + width / 2}" y="16" text-anchor="middle">{name}</text>'
                     f'<rect x="{x0}" y="24" width="{width}" height="{height}" fill="none" stroke="#999"/>')
        for i, colour in enumerate(COLOURS):
            points = " ".join(f'{x0 + width * row["time_us"] / end:.1f},{24 + height * (1 - min(1, row[f"h{i + 1}"] / 40)):.1f}'
                              for row in results.convergence[control] if row["time_us"] <= end)
            parts.append(f'<polyline fill="none" stroke="{colour}" points="{points}"/>')
    parts.append(f'<text x="44" y="34" text-anchor="end">40</text><text x="44" y="{24 + height}" '
                 f'text-anchor="end">Gb/s 0</text><text x="50" y="{40 + height}">0 to {end // 1000} ms</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {50 + 2 * (width + gap)} {48 + height}" '
            'font-family="sans-serif" font-size="11"><title>convergence</title>' + "".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--ways", default="0,4,5", help="routes of the flows (ECMP), one run each")
    parser.add_argument("--docs", type=pathlib.Path, help="folder whose tables and plot are renewed")
    options = parser.parse_args()
    results = Results(options.bin / "dcqcn_paper", [int(way) for way in options.ways.split(",")])
    tables = {name: list(table(results)) for name, table in TABLES.items()}
    for name, table in tables.items():
        print(f"{name}\n\n{markdown(table)}")
    if options.docs:
        record(options.docs, "network", f"tests/validation/run_dcqcn.py --ways {options.ways} --docs docs", tables,
               pictures={"network-dcqcn.svg": plot(results)})
    return judge(CHECKS, results)


if __name__ == "__main__":
    sys.exit(main())
