"""The section `cost` of the cluster file, from the file to the summary and to the metrics of a sweep.

Usage: cost_test.py BIN
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
MODEL, CLUSTER = "gpt-1.7b", "dgx-a100-80g-8"
SETS = ["model.layers=4", "training.micro_batch=1", "training.global_batch=64", "cluster.hosts=2"]
RENT = "cost.rent={gpu: {value: 2 USD/h, source: test}}"
POWER = "cost.power={gpu: {value: 400 W, source: a}, host: {value: 2 W, source: b}, switch: {value: 3 W, source: c}, " \
        "optics: {value: 4 W, source: d}, pue: {value: 1.5, source: e}}"


def sets(assignments):
    return [word for each in assignments for word in ("--set", each)]


class CostTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())

    def tearDown(self):
        shutil.rmtree(self.folder)

    def command(self, tool, *words):
        done = subprocess.run([BIN / tool, *map(str, words)], cwd=ROOT, text=True, capture_output=True, timeout=240)
        return done.returncode, done.stdout, done.stderr

    def predict(self, *assignments):
        out = self.folder / "run"
        status, _, error = self.command("drydock", "run", MODEL, CLUSTER, *sets([*SETS, *assignments]), "--network", "analytical", "--out", out)
        return status, error, out

    def test_the_summary_has_what_the_file_states(self):
        status, error, out = self.predict(RENT, POWER)
        self.assertEqual(status, 0, error)
        summary = json.loads((out / "summary.json").read_text())
        cost = summary["cost"]
        self.assertEqual(cost["per_hour"], 2 * 16)
        self.assertAlmostEqual(cost["per_iteration"], 32 / 3600 * summary["iteration_time_s"])
        self.assertAlmostEqual(cost["per_token"] * summary["tokens_per_iteration"], cost["per_iteration"])
        self.assertAlmostEqual(cost["power_w"], 1.5 * sum(cost["parts_w"].values()))
        self.assertEqual(cost["parts_w"]["GPUs"], 16 * 400)
        entries = {each["name"]: each for each in summary["assumptions"]["entries"]}
        self.assertEqual(entries["rent of a GPU"]["source"], "test")
        self.assertIn("cost             32 USD an hour\n", (out / "summary.txt").read_text())
        self.assertIn('id="tile-cost"', (out / "report.html").read_text())

    def test_without_a_price_there_is_none(self):
        status, error, out = self.predict()
        self.assertEqual(status, 0, error)
        self.assertNotIn("cost", json.loads((out / "summary.json").read_text()))
        self.assertNotIn('id="tile-cost"', (out / "report.html").read_text())

    def test_mistakes_are_located_and_write_nothing(self):
        for assignment, message in [
                ("cost.rent={gpu: {value: 2 USD/h}}", "'gpu' lacks the key 'source'"),
                ("cost.rent={gpu: {value: 2, source: a}}", "expected an amount like '2.5 USD/h', found '2'"),
                ("cost.rents={}", "unknown key 'rents' in 'cost'; did you mean 'rent'?"),
                ("storage.read=1 GB/s", "'storage' lacks the key 'write'")]:
            with self.subTest(assignment=assignment):
                status, error, out = self.predict(assignment)
                self.assertEqual(status, 1)
                self.assertIn(message, error)
                self.assertFalse((out / "1-workload").exists())

    def test_a_price_is_an_axis_and_cost_a_metric(self):
        out = self.folder / "sweep"
        status, text, error = self.command("drydock-sweep", MODEL, CLUSTER, *sets([*SETS, RENT]), "--network", "analytical", "--over",
                                           "cost.rent.gpu.value=4 USD/h,2 USD/h", "--metric", "cost_per_token", "-o", out)
        self.assertEqual(status, 0, error)
        self.assertLess(text.index("2 USD/h"), text.index("4 USD/h"))
        with open(out / "sweep.csv") as table:
            dear, cheap = (float(row["cost_per_token"]) for row in csv.DictReader(table))
        self.assertAlmostEqual(dear / cheap, 2, places=5)

    def test_a_sweep_by_a_cost_that_is_not_known_says_so(self):
        status, _, error = self.command("drydock-sweep", MODEL, CLUSTER, *sets(SETS), "--network", "analytical", "--over",
                                        "parallel.pipeline=1,2", "--metric", "cost_per_token", "-o", self.folder / "sweep")
        self.assertEqual(status, 1)
        self.assertIn("no point has cost_per_token: it needs 'cost' with a price in the cluster file", error)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
