"""Tests the scoreboard on a small tree whose tools are scripts: its cache, its runs, its verdicts and its page."""
import contextlib
import io
import json
import math
import os
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bands  # noqa: E402
import scoreboard  # noqa: E402
import training_limits  # noqa: E402
import training_records as training  # noqa: E402
import training_runs  # noqa: E402
import validation_page  # noqa: E402
from kept import configuration_files  # noqa: E402

# Every tool logs its call; report finds what the file beside it says; simccl fails if a file requests it.
TOOL = """#!/bin/sh
here=$(dirname "$0"); name=$(basename "$0")
echo "$name" >>"$here/calls"
run=$1; [ "$name" != workload-gen ] || run=$4
[ "$name" != report ] || cp "$here/found.json" "$run/summary.json"
if [ "$name" = simccl ] && [ -f "$here/broken" ]; then echo "no such thing" >&2; exit 1; fi
"""


BANDS = """bands:
  coverage: 0.8  # the share of runs
  kernels:
    model: 0.06
    source: >-
      a table: products 3.8 to 7.7 %
  whole_run:
    dense: 0.069
    experts: 0.144
    source: a table
"""
# What report says of the models of a run: half of the time is of a model whose error stands in bands.yaml.
MODELS = [{"name": "gemm (model)", "share": 0.8, "stated_error": 0.02, "entry": "kernels.model", "entry_share": 0.5},
          {"name": "compute without kernels", "share": 0.2, "stated_error": 0, "entry": "", "entry_share": 0}]


def record(name="1", predicted=0.0, published=2.5, **others):
    return training.Record("source", name, pathlib.Path("m.yaml"), pathlib.Path("c.topo"), ["cluster.hosts=1"], published, "A", [],
                           predicted, **others)


def rows(*predicted):
    """A source; None: a row that was left out."""
    return [record(str(i), value or 0.0, 1.0, left_out="" if value else "128 GPUs") for i, value in enumerate(predicted)]


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.tools = self.root / "bin"
        for tool in [*training_runs.TOOLS, "report"]:
            self.write(f"bin/{tool}", TOOL).chmod(0o755)
        self.errors = bands.read_errors(self.write("configs/bands.yaml", BANDS))
        band = bands.band_of({"kind": "dense", "models": MODELS}, 2.0, self.errors)
        self.write("bin/found.json", json.dumps({"iteration_time_s": 2.0, "gpus": 8, "band": band, "memory": {"fits": True}}))
        self.write("configs/host.yaml", "all runs read it")
        self.write("configs/clusters/c.topo", "hosts: {a: {gpu: new}}")
        self.write("configs/clusters/other.topo", "hosts: {a: {gpu: old}}")
        self.write("configs/gpus/new.yaml", "gpu:\n  reference: base")
        self.write("configs/gpus/base.yaml", "gpu: {}")
        self.write("configs/gpus/old.yaml", "gpu: {}")
        self.write("configs/profiles/base.csv", "kernel,us")
        self.write("configs/models/m.yaml", "huggingface: m.json")
        self.write("configs/models/m.json", "{}")
        real = training_runs.ROOT
        training_runs.ROOT = self.root
        self.addCleanup(setattr, training_runs, "ROOT", real)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def row(self):
        return training.Record("source", "1", self.root / "configs/models/m.yaml", self.root / "configs/clusters/c.topo",
                               [], 2.5, "A", [])

    def predict(self, why_not=lambda record: ""):
        """Returns the record after a call, and the number of tools that ran."""
        import kept
        kept.file_hash.cache_clear()  # a file changes only between calls of the program
        calls = self.tools / "calls"
        calls.write_text("")
        row = self.row()
        training_runs.Runs(self.tools, self.root / "out", "analytical").predict_all([row], 1, why_not)
        return row, len(calls.read_text().splitlines())

    def test_the_same_files_are_not_predicted_twice(self):
        row, calls = self.predict()
        self.assertEqual((row.predicted, calls, row.failure), (2.0, 5, ""))
        self.assertAlmostEqual(row.error, -20)
        row, calls = self.predict()
        self.assertEqual((row.predicted, calls), (2.0, 0))

    def test_a_changed_input_repeats_the_prediction(self):
        self.predict()
        for name in ["bin/exec-engine", "configs/host.yaml", "configs/clusters/c.topo", "configs/gpus/base.yaml",
                     "configs/profiles/base.csv", "configs/models/m.json", "configs/models/m.yaml"]:
            path = self.root / name
            path.write_text(path.read_text() + "\n")
            self.assertEqual(self.predict()[1], 5, name)
            self.assertEqual(self.predict()[1], 0, name)

    def test_a_change_elsewhere_does_not_repeat_the_prediction(self):
        self.predict()
        for name in ["bin/report", "configs/clusters/other.topo", "configs/gpus/old.yaml"]:
            path = self.root / name
            path.write_text(path.read_text() + "\n")
            self.assertEqual(self.predict()[1], 0, name)

    def test_other_bands_need_no_prediction(self):
        before = self.predict()[0]
        self.write("configs/bands.yaml", BANDS.replace("dense: 0.069", "dense: 0.1").replace("model: 0.06", "model: 0.08"))
        row, calls = self.predict()
        self.assertEqual((row.predicted, row.fits, calls), (2.0, True, 0))
        self.assertEqual(before.band["whole_run_error"], 0.069)
        self.assertEqual(row.band["whole_run_error"], 0.1)
        self.assertEqual(row.band["models"][0]["error"], 0.02 + 0.5 * 0.08)
        self.assertGreater(row.band["high_s"], before.band["high_s"])
        self.assertLess(row.band["low_s"], before.band["low_s"])

    def test_the_last_picosecond_of_a_band_may_differ(self):
        found = json.loads((self.tools / "found.json").read_text())
        found["band"]["high_s"] += 1e-12
        self.write("bin/found.json", json.dumps(found))
        self.assertEqual(self.predict()[0].failure, "")

    def test_a_report_of_another_formula_is_a_failure(self):
        found = json.loads((self.tools / "found.json").read_text())
        found["band"]["high_s"] += 1e-6
        self.write("bin/found.json", json.dumps(found))
        self.assertEqual(self.predict()[0].failure, "report: its band is not that of tests/validation/bands.py")

    def test_an_unrequested_row_is_left_out_unless_it_is_cached(self):
        row, calls = self.predict(lambda record: "128 GPUs")
        self.assertEqual((row.left_out, calls), ("128 GPUs", 0))
        self.predict()
        row, _ = self.predict(lambda record: "128 GPUs")
        self.assertEqual((row.left_out, row.predicted), ("", 2.0))

    def test_a_failure_is_reported_and_repeated(self):
        self.write("bin/broken", "")
        row, calls = self.predict()
        self.assertEqual((row.failure, calls), ("simccl: exit status 1: no such thing", 2))
        (self.tools / "broken").unlink()
        self.assertEqual(self.predict()[0].predicted, 2.0)

    def test_rows_of_the_same_run_are_predicted_once(self):
        self.predict()
        again = self.row()
        again.name, again.seconds = "2", 1.6
        training_runs.Runs(self.tools, self.root / "out", "analytical").predict_all([again, self.row()], 2)
        self.assertEqual((again.predicted, (self.tools / "calls").read_text().count("report")), (2.0, 1))
        self.assertAlmostEqual(again.error, 25)

    def test_the_cache_ignores_how_the_folder_is_written(self):
        row = self.predict()[0]
        relative = pathlib.Path(os.path.relpath(self.tools))
        self.assertTrue(training_runs.Runs(relative, self.root / "out", "analytical").recall(row))

    def test_configuration_files_include_the_files_that_they_name(self):
        found = configuration_files([self.root / "configs/clusters/c.topo"], self.root)
        self.assertEqual([path.relative_to(self.root / "configs").as_posix() for path in found],
                         ["bands.yaml", "clusters/c.topo", "gpus/base.yaml", "gpus/new.yaml", "host.yaml", "profiles/base.csv"])


class Bands(unittest.TestCase):
    def test_errors_of_models_add_as_independent(self):
        """The case of report/band/band_test.cc. That real bands are those of `report`, every prediction checks."""
        said = {"kind": "dense", "models": [{"name": "gemm (model)", "share": 0.5, "stated_error": 0.06, "entry": "kernels.model",
                                             "entry_share": 0.25}]}
        band = bands.band_of(said, 1.0, {"coverage": 0.8, "kernels.model": 0.08, "whole_run.dense": 0.03})
        self.assertEqual(band["models"][0]["error"], 0.08)
        self.assertAlmostEqual(band["high_s"], math.exp(1.281552 * 0.05 * math.sqrt(math.pi / 2)), 6)
        self.assertAlmostEqual(band["low_s"] * band["high_s"], 1, 9)

    def test_the_errors_of_this_installation_are_complete(self):
        errors = bands.read_errors(training.ROOT / "configs/bands.yaml")
        self.assertEqual(sorted(errors), ["communication.between_hosts", "communication.inside_hosts", "coverage", "host.launches",
                                          "host.memory", "kernels.given", "kernels.model", "kernels.profile", "kernels.scaled",
                                          "whole_run.dense", "whole_run.experts", "whole_run.hybrid"])
        self.assertTrue(all(0 <= value < 1 for value in errors.values()))

    def test_a_run_without_a_band_has_none(self):
        self.assertEqual(bands.band_of({}, 1.0, {}), {})


class Limits(unittest.TestCase):
    LIMIT = {"source": "source", "max_mean": 10, "max_worst": 30}

    def judge(self, of, **limit):
        verdict = training_limits.judge(of, {**self.LIMIT, **limit})
        return verdict.text, verdict.ok

    def test_all_rows_are_judged_by_mean_and_worst(self):
        self.assertEqual(self.judge(rows(1.05, 0.87)), ("2 of 2 rows, mean error 9.0 % (limit 10), worst 13.0 % (limit 30)", True))
        self.assertFalse(self.judge(rows(1.05, 0.84))[1])
        self.assertFalse(self.judge(rows(1.31, 1.0, 1.0, 1.0, 1.0))[1])

    def test_some_rows_are_judged_by_the_worst_only(self):
        self.assertEqual(self.judge(rows(1.25, None)), ("1 of 2 rows, mean error 25.0 % (not judged), worst 25.0 % (limit 30)", True))
        self.assertFalse(self.judge(rows(1.35, None))[1])
        self.assertEqual(self.judge(rows(None, None)), ("none of 2 rows", True))

    def test_the_first_rows_can_have_a_separate_limit(self):
        self.assertFalse(self.judge(rows(1.25, None), first=1)[1])
        self.assertTrue(self.judge(rows(1.05, None), first=1)[1])

    def test_a_failed_row_fails_the_check(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertFalse(training_limits.check("source", [record(predicted=2.5), record(failure="simccl: no")]))
        self.assertIn("source: 1 FAILED", printed.getvalue())


class Orders(unittest.TestCase):
    def orders(self, sources=(), most_gpus=None, minutes=None):
        return scoreboard.Orders(types.SimpleNamespace(sources=sources, most_gpus=most_gpus, minutes=minutes))

    def test_why_a_row_is_not_run(self):
        self.assertEqual(self.orders().why_not(record()), "")
        self.assertEqual(self.orders(sources=["mlperf"]).why_not(record()), "not requested")
        self.assertEqual(self.orders(most_gpus=7).why_not(record()), "8 GPUs")
        self.assertEqual(self.orders(most_gpus=8).why_not(record()), "")
        self.assertEqual(self.orders(minutes=0).why_not(record()), "no time was left")


class Page(unittest.TestCase):
    def page(self, of):
        return validation_page.page(validation_page.figures_of({"korthikanti": of}, "analytical", [], ""))

    def test_rows_that_were_not_run_are_listed_as_such(self):
        text = self.page(rows(1.04, None))
        self.assertIn("1 of 2 rows were not run. They are marked, and no figure includes them.", text)
        self.assertIn("| m | A | hosts 1 | 1 s | not run | 128 GPUs |", text)
        self.assertIn("| m | A | hosts 1 | 1 s | 1.04 s | +4.0 % |", text)
        self.assertIn("| tier A | 1 of 2 | 4.0 % | 5 % | +4.0 % | 12 % | open |", text)

    def test_targets_are_met_or_missed_once_all_rows_are_known(self):
        self.assertIn("| tier A | 2 | 4.0 % | 5 % | +4.0 % | 12 % | met |", self.page(rows(1.04, 0.96)))
        self.assertIn("| 12 % | missed |", self.page(rows(1.06, 0.94)))
        self.assertIn("| 12 % | missed |", self.page(rows(1.13, None)))

    def test_large_errors_of_a_source_are_recognized(self):
        self.assertTrue(validation_page.is_large(rows(1.13, None)))
        self.assertTrue(validation_page.is_large(rows(1.09, 1.09)))
        self.assertFalse(validation_page.is_large(rows(1.09, None)))
        self.assertFalse(validation_page.is_large(rows(None)))

    def test_long_sources_show_the_worst_and_all_on_demand(self):
        table = validation_page.table_of(validation_page.row_rows(rows(*(1 + i / 1000 for i in range(50)))))
        text = validation_page.listing(table, "every sixth")
        self.assertIn("The 8 worst of 50 rows (every sixth):", text)
        self.assertEqual(text.count("| +4.9 % |"), 2)
        self.assertEqual(text.count("| +0.1 % |"), 1)

    def test_the_page_and_its_picture_are_made_from_the_data_file(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder)
            made = validation_page.figures_of({"korthikanti": rows(1.04, 0.96)}, "analytical", [], "")
            validation_page.figures.record(docs, "validation", "./run_validation.sh", made)
            validation_page.write(docs)
            self.assertEqual((docs / "explanation/validation.md").read_text(), validation_page.page(made))
            self.assertIn("circle", (docs / "figures/validation-training.svg").read_text())
            self.assertEqual(made["mean.tier_A"], "4.0 %")


if __name__ == "__main__":
    unittest.main()
