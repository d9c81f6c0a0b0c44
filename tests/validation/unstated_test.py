"""Tests the other values of unstated settings: which there are, which row shows a range, and what a tuned run has."""
import dataclasses
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import training_records as training  # noqa: E402
import training_runs  # noqa: E402
import unstated  # noqa: E402
import validation_page  # noqa: E402

MODEL = """# a model
model:
  layers: 24  # all alike
  hidden: 1024
training:
  micro_batch: 4
  global_batch: 192
  recompute: none
parallel:
  tensor: 1
"""


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = pathlib.Path(folder.name) / "m.yaml"
        self.model.write_text(MODEL)

    def row(self, *assumed, settings=(), tier="B", predicted=1.0, fits=True):
        """A row on 16 GPUs."""
        return training.Record("source", "1", self.model, pathlib.Path("c.topo"), ["cluster.hosts=2", *settings], 1.0, tier,
                               list(assumed), predicted, fits=fits)

    def said(self, *assumed, **others):
        return [each.said for each in unstated.options(self.row(*assumed, **others))]

    def with_options(self, *times, assumed=("micro-batch",), **others):
        """A row with the first options predicted: seconds, None where the memory does not suffice, a word where it was not run."""
        row = self.row(*assumed, **others)
        row.options = unstated.options(row)
        for each, seconds in zip(row.options, times, strict=True):
            each.record.predicted, each.record.fits = (seconds or 9.0, seconds is not None) if not isinstance(seconds, str) else (0, None)
            each.record.left_out = seconds if isinstance(seconds, str) else ""
        return row


class Options(Rows):
    def test_settings_come_from_the_row_and_else_from_its_model(self):
        row = self.row(settings=["training.micro_batch=2"])
        self.assertEqual(unstated.setting(row, "training.micro_batch"), "2")
        self.assertEqual(unstated.setting(row, "training.global_batch"), "192")
        self.assertEqual(unstated.setting(row, "model.layers"), "24")
        self.assertEqual(unstated.setting(row, "parallel.pipeline", "none"), "none")

    def test_a_system_can_have_a_slower_network_or_slower_hosts(self):
        def said(cluster, hosts):
            row = dataclasses.replace(self.row("system", settings=[f"cluster.hosts={hosts}"]), cluster=pathlib.Path(cluster))
            return [(each.said, each.record.settings[1:]) for each in unstated.options(row)]

        slower = ["hosts.dgx-b300.nics.rate=400Gbps", "fabric.leaf.rate=400Gbps", "fabric.spine.rate=400Gbps"]
        host = ("system host as slow as a DGX A100's", ["hosts.dgx-b300.board.launch_speed=1.0"])
        self.assertEqual(said("dgx-b300-8.topo", 8), [("system at 400 Gb/s", slower), host])
        self.assertEqual(said("dgx-b300-8.topo", 1), [host])
        self.assertEqual(said("dgx-b200-8.topo", 1), [(host[0], ["hosts.dgx-b200.board.launch_speed=1.0"])])
        self.assertEqual(said("eos.topo", 8), [])

    def test_micro_batches_divide_the_sequences_of_a_replica(self):
        self.assertEqual(self.said("micro-batch"), ["micro-batch 1", "micro-batch 2"])  # of 12; 4 is the row's
        self.assertEqual(self.said("micro-batch", settings=["parallel.tensor=8"]), ["micro-batch 1", "micro-batch 2", "micro-batch 8"])

    def test_interleaved_micro_batches_are_a_multiple_of_the_stages(self):
        chunks = ["parallel.tensor=8", "parallel.pipeline=2", "parallel.virtual_pipeline=2", "training.global_batch=6"]
        self.assertEqual(self.said("micro-batch", settings=[*chunks, "training.micro_batch=1"]), [])
        self.assertEqual(self.said("micro-batch", settings=[*chunks[:2], chunks[3], "training.micro_batch=1"]), ["micro-batch 2"])

    def test_chunks_divide_the_layers_of_a_stage(self):
        stages = ["parallel.pipeline=4", "parallel.virtual_pipeline=2", "training.micro_batch=1"]
        self.assertEqual(self.said("chunks a stage", settings=stages), ["chunks a stage 3", "chunks a stage 6"])
        self.assertEqual(self.said("chunks of another release", settings=stages),
                         [f"chunks of another release {number}" for number in (1, 3, 6)])
        self.assertEqual(self.said("schedule", settings=[*stages, "model.layers=7", "parallel.account_for_loss=true"]),
                         ["schedule not interleaved"])

    def test_an_option_changes_one_setting_beside_the_others(self):
        row = self.row("micro-batch", "recomputation", settings=["training.micro_batch=4"])
        options = unstated.options(row)
        self.assertEqual([each.said for each in options],
                         ["micro-batch 1", "micro-batch 2", "recomputation selective", "recomputation full"])
        self.assertEqual(options[0].record.settings, ["cluster.hosts=2", "training.micro_batch=1"])
        self.assertEqual(options[3].record.settings, ["cluster.hosts=2", "training.micro_batch=4", "training.recompute=full"])
        self.assertEqual(row.settings, ["cluster.hosts=2", "training.micro_batch=4"])

    def test_values_of_a_tuned_run_are_combined(self):
        self.assertEqual(len(self.said("micro-batch", "recomputation", tier="D")), 3 * 3 - 1)

    def test_data_that_is_never_late_has_no_setting(self):
        row = self.row("data loader", settings=["training.sample_time=60ms"])
        self.assertEqual([each.record.settings for each in unstated.options(row)], [["cluster.hosts=2"]])

    def test_rules_without_a_set_of_values_have_no_options(self):
        self.assertEqual(self.said("system", "recipe", "dropout", "GPU"), [])

    def test_all_rows_with_such_rules_have_options(self):
        """A row whose only legal value is the rule's has none: 7 layers of a stage, 105 of 35 stages."""
        for source in training.sources():
            for row in training.records(source):
                if not row.needs and set(row.assumed) & {"micro-batch", "recomputation", "schedule", "data loader"}:
                    self.assertTrue(unstated.options(row), f"{source}, row {row.name}")


class Ranges(Rows):
    def test_a_row_that_moves_by_5_per_cent_shows_its_range(self):
        self.assertEqual(unstated.range_text(self.with_options(1.05, 0.99)), "0.99 to 1.05 s (micro-batch)")
        self.assertEqual(unstated.range_text(self.with_options(1.04, 0.96)), "within 5 %")

    def test_the_range_names_the_rules_that_move(self):
        row = self.with_options(1.01, 1.02, 1.1, 1.3, assumed=("micro-batch", "recomputation"))
        self.assertEqual(unstated.range_text(row), "1 to 1.3 s (recomputation)")

    def test_values_that_do_not_fit_the_memory_are_left_out(self):
        self.assertEqual(unstated.range_text(self.with_options(1.2, None)), "1 to 1.2 s (micro-batch); no memory for micro-batch 2")
        self.assertEqual(unstated.range_text(self.with_options(None, None)), "no memory for micro-batch 1; no memory for micro-batch 2")

    def test_a_row_that_does_not_fit_itself_says_so(self):
        self.assertEqual(unstated.range_text(self.with_options(None, 1.01, fits=False)),
                         "within 5 %; no memory for the row's own values; no memory for micro-batch 1")

    def test_values_that_were_not_run_are_counted(self):
        self.assertEqual(unstated.range_text(self.with_options(1.01, "no time was left")), "within 5 %; 1 not run")

    def test_a_row_without_alternatives_has_no_range(self):
        self.assertEqual(unstated.range_text(self.row("system")), "")

    def test_rules_are_counted(self):
        head, *rows = unstated.range_rows([self.with_options(1.2, None), self.with_options(1.04, 0.97), self.row("system")])
        self.assertEqual(rows, [("micro-batch", head and rows[0][1], "2", "1", "-3 %", "+20 %", "1")])

    def test_the_page_says_how_many_rows_have_a_range(self):
        of = [self.with_options(1.2, None), self.with_options(1.04, 0.97), self.row("system")]
        text = validation_page.page(validation_page.figures_of({"korthikanti": of}, "analytical", [], ""))
        self.assertIn("\n1 of 2 rows with such rules have a range.\n", text)
        self.assertIn("| not stated | range |", text)
        self.assertIn("| 1 s | 1 s | +0.0 % | micro-batch | 1 to 1.2 s (micro-batch); no memory for micro-batch 2 |", text)

    def test_a_page_without_such_rows_does_not_mention_them(self):
        text = validation_page.page(validation_page.figures_of({"korthikanti": [self.row("system")]}, "analytical", [], ""))
        self.assertNotIn("range", text)


class Tuned(Rows):
    def tuned(self, *times, **others):
        row = self.with_options(*times, assumed=("recomputation",), tier="D", **others)
        unstated.choose(row)
        return row

    def test_a_tuned_run_has_the_fastest_value_that_fits(self):
        row = self.tuned(1.1, 1.3, fits=False)
        self.assertEqual((row.predicted, row.chosen, row.fits), (1.1, "recomputation selective", True))
        self.assertIn("training.recompute=selective", row.settings)
        self.assertEqual(unstated.range_text(row), "1.1 to 1.3 s (recomputation); no memory for the rule's own value")
        self.assertEqual(validation_page.not_stated(row), "recomputation; tuned: recomputation selective")

    def test_the_rules_own_value_stays_if_it_is_the_fastest_that_fits(self):
        row = self.tuned(1.1, 1.3)
        self.assertEqual((row.predicted, row.chosen), (1.0, ""))
        row = self.tuned(None, 1.3)
        self.assertEqual((row.predicted, row.chosen), (1.0, ""))

    def test_a_run_is_not_tuned_before_all_values_are_known(self):
        self.assertEqual(self.tuned(1.1, "no time was left").left_out, "not all values of its unstated settings are predicted")

    def test_other_tiers_keep_the_value_of_their_rule(self):
        row = self.with_options(0.5, 0.6, assumed=("recomputation",))
        unstated.choose(row)
        self.assertEqual((row.predicted, row.chosen), (1.0, ""))


class Predictions(Rows):
    def test_options_are_predicted_like_rows_and_only_of_rows_that_were(self):
        asked = []

        class Runs(training_runs.Runs):
            def __init__(self):
                self.tools = pathlib.Path("bin")

            def key(self, record):
                return " ".join(record.settings)

            def recall(self, record):
                return False

            def predict(self, record):
                asked.append(record.settings[-1])
                record.predicted, record.fits = 1.5, True

        one, other = self.row("micro-batch"), self.row("micro-batch")
        other.left_out = "128 GPUs"
        Runs().predict_options([one, other], 1)
        self.assertEqual(asked, ["training.micro_batch=1", "training.micro_batch=2"])
        self.assertEqual((unstated.range_text(one), unstated.range_text(other)), ("1 to 1.5 s (micro-batch)", ""))
        Runs().predict_options([one], 1, lambda record: "no time was left")
        self.assertEqual(unstated.range_text(one), "2 not run")


if __name__ == "__main__":
    unittest.main()
