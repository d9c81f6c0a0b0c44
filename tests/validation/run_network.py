#!/usr/bin/env python3
"""Runs textbook scenarios of congestion and compares them with the theory of each control.

Usage: run_network.py --bin DIR [--docs DIR]

Prints a table for each scenario. --docs records the tables in DIR/figures/network.json, draws the plots and renews the
pages. Exit status 1 if a law of a control's paper does not hold (see CHECKS).
"""
import argparse
import csv
import io
import pathlib
import statistics
import subprocess
import sys

from pages import judge, markdown, record

CONTROLS = ["none", "dcqcn", "hpcc", "timely", "swift", "dctcp"]
# The window is so wide that only the congestion control limits a queue pair.
ATTRIBUTES = ["RdmaTransport::WindowBdp=100"]
LINE = 100.0  # Gb/s
PLAIN = LINE * 1000 / 1048  # goodput of 1000 B packets with 48 B around each
HPCC = LINE * 0.95 * 1000 / 1090  # eta of the line, 42 B of telemetry more


class Run:
    def __init__(self, tool, scenario, control):
        done = subprocess.run([tool, scenario, control, *ATTRIBUTES], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{tool} {scenario} {control}: exit status {done.returncode}")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.flows = [name for name in rows[0] if name.startswith("flow")]
        self.rows = [{key: float(value) for key, value in row.items()} for row in rows]

    def between(self, begin, end):
        return [row for row in self.rows if begin < row["time_us"] <= end]

    def rate(self, begin, end, flows=None):
        rows = self.between(begin, end)
        return statistics.mean(sum(row[f] for f in flows or self.flows) for row in rows)

    def queue(self, begin, end, reduce=statistics.mean):
        return reduce(row["queue_bytes"] for row in self.between(begin, end)) / 1000

    def paused(self):
        return sum(row["paused_us"] for row in self.rows)

    def fairness(self, begin, end):
        """Jain's index of the flows' rates."""
        rates = [self.rate(begin, end, [flow]) for flow in self.flows]
        return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))

    def last(self, flows):
        """Returns when the last message of these flows arrived, us."""
        return max((row["time_us"] for row in self.rows if any(row[f] > 0 for f in flows)), default=0)


def two_to_one(runs):
    yield "control", "alone, Gb/s", "together, Gb/s", "Jain", "queue, KB", "most, KB", "alone again, Gb/s"
    for name, run in runs.items():
        yield (name, f"{run.rate(500, 1000):.1f}", f"{run.rate(3000, 5000):.1f}",
               f"{run.fairness(3000, 5000):.3f}", f"{run.queue(3000, 5000):.0f}",
               f"{run.queue(1000, 5000, max):.0f}", f"{run.rate(5500, 6000):.1f}")


def incast(runs):
    yield "control", "17 flows, Gb/s", "all done, us", "most queued, KB", "then alone, Gb/s"
    for name, run in runs.items():
        others = run.flows[1:]
        yield (name, f"{run.rate(1050, 1500):.1f}", f"{run.last(others):.0f}",
               f"{run.queue(1000, 3000, max):.0f}", f"{run.rate(2500, 3000):.1f}")


# (scenario, law, predicate of the runs by control).
CHECKS = [
    ("two-to-one", "without control the port is full, and windows wait in its queue",
     lambda r: abs(r["none"].rate(3000, 5000) - PLAIN) < 2 and r["none"].queue(3000, 5000) > 1000),
    ("two-to-one", "HPCC keeps eta of the line and next to no queue (HPCC, 3.3)",
     lambda r: abs(r["hpcc"].rate(3000, 5000) - HPCC) < 2 and r["hpcc"].queue(3000, 5000) < 10),
    ("two-to-one", "Swift fills the line with a queue of its target: 11 us of 100 Gb/s are 137 KB",
     lambda r: abs(r["swift"].rate(3000, 5000) - PLAIN) < 2
     and abs(r["swift"].queue(3000, 5000) - 137.5) < 15),
    ("two-to-one", "DCTCP fills the line below its step of 400 KB",
     lambda r: abs(r["dctcp"].rate(3000, 5000) - PLAIN) < 2 and r["dctcp"].queue(3000, 5000) < 400),
    ("two-to-one", "TIMELY fills the line between Tlow and Thigh: 50 to 500 us are 0.6 to 6.3 MB",
     lambda r: abs(r["timely"].rate(3000, 5000) - PLAIN) < 2
     and 500 < r["timely"].queue(3000, 5000) < 6300),
    ("two-to-one", "DCQCN: both flows cut their rates equally, then rise equally, 200 Mb/s every 55 us at 100 Gb/s",
     lambda r: r["dcqcn"].fairness(3000, 5000) > 0.99
     and abs((r["dcqcn"].rate(4500, 5000) - r["dcqcn"].rate(2500, 3000)) - 2 * 0.2 * 2000 / 55) < 4),
    ("two-to-one", "all but HPCC share within 1 %; HPCC, which adds 80 B a round trip, within 2 %",
     lambda r: all(run.fairness(3000, 5000) > (0.98 if name == "hpcc" else 0.99)
                   for name, run in r.items())),
    ("incast", "HPCC's queue stays below a hundredth of DCQCN's (HPCC, figure 9)",
     lambda r: r["hpcc"].queue(1100, 1500) * 100 < r["dcqcn"].queue(1100, 1500)),
    ("incast", "16 x 500 KB and what flow 1 gets pass the port, so none ends before 670 us",
     lambda r: all(run.last(run.flows[1:]) >= 1670 for run in r.values())),
    ("incast", "after it flow 1 has the line back, with all but DCQCN",
     lambda r: all(run.rate(2500, 3000) > 80 for name, run in r.items() if name != "dcqcn")
     and r["dcqcn"].rate(2500, 3000) < 20),
]


def plot(runs, scenario, flows):
    """Small multiples: a row of rates and a row of queues, a column a control. As SVG."""
    width, height, gap = 150, 90, 34
    end = max(row["time_us"] for run in runs.values() for row in run.rows if row["time_us"] <= 6000)
    most = max(row["queue_bytes"] for run in runs.values() for row in run.rows)
    colours = ["#1f77b4", "#d62728"]
    parts = []

    def line(points, x0, y0, top, colour):
        coordinates = " ".join(f"{x0 + width * x / end:.1f},{y0 + height * (1 - min(1, y / top)):.1f}"
                               for x, y in points if x <= end)
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{coordinates}"/>')

    for column, (name, run) in enumerate(runs.items()):
        x0 = 60 + column * (width + 16)
        parts.append(f'<text x="{x0 + width / 2}" y="16" text-anchor="middle">{name}</text>')
        for row in range(2):
            y0 = 24 + row * (height + gap)
            parts.append(f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" '
                         'stroke="#999"/>')
        for names, colour in zip(flows, colours):
            line([(r["time_us"], sum(r[f] for f in names)) for r in run.rows], x0, 24, LINE, colour)
        line([(r["time_us"], r["queue_bytes"]) for r in run.rows], x0, 24 + height + gap, most, "#333")
    parts.append(f'<text x="54" y="32" text-anchor="end">{LINE:.0f}</text>'
                 f'<text x="54" y="{24 + height}" text-anchor="end">Gb/s 0</text>'
                 f'<text x="54" y="{32 + height + gap}" text-anchor="end">{most / 1e6:.1f}</text>'
                 f'<text x="54" y="{24 + 2 * height + gap}" text-anchor="end">MB 0</text>'
                 f'<text x="60" y="{40 + 2 * height + gap}">0 to {end / 1000:.0f} ms</text>')
    total = (60 + len(runs) * (width + 16), 48 + 2 * height + gap)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total[0]} {total[1]}" '
            f'font-family="sans-serif" font-size="11"><title>{scenario}</title>'
            + "".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path, help="folder whose tables and plots are renewed")
    options = parser.parse_args()
    tables, plots, all_runs = {}, {}, {}
    for scenario, table in (("two-to-one", two_to_one), ("incast", incast)):
        runs = {c: Run(options.bin / "network_scenarios", scenario, c) for c in CONTROLS}
        all_runs[scenario] = runs
        tables[scenario] = list(table(runs))
        print(f"{scenario}\n\n{markdown(tables[scenario])}")
    if options.docs:
        for scenario, runs in all_runs.items():
            flows = [["flow1_gbps"], [f for f in next(iter(runs.values())).flows if f != "flow1_gbps"]]
            plots[f"network-{scenario}.svg"] = plot(runs, scenario, flows)
        record(options.docs, "network", "tests/validation/run_network.py --docs docs", tables, pictures=plots)
    return judge([(f"{scenario}: {law}", lambda runs, scenario=scenario, holds=holds: holds(runs[scenario]))
                  for scenario, law, holds in CHECKS], all_runs)


if __name__ == "__main__":
    sys.exit(main())
