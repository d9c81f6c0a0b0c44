"""Tests the rules by which import_truth.py makes records, the records that it made, and the reader of a run's memory."""
import csv
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import import_truth  # noqa: E402
import manifest  # noqa: E402
import training_records as training  # noqa: E402
import validation_page  # noqa: E402

KINDS = {"dense", "experts", "hybrid", "small CI"}


def row(model="llama-3-70b", kind="dense"):
    made = import_truth.Row(model, "repository @1234 path line 1")
    made.kind, made.seconds = kind, 1.0
    return made


class Clusters(unittest.TestCase):
    def settings(self, gpu, gpus):
        made = row()
        import_truth.set_cluster(made, gpu, gpus)
        return made.cluster, list(made.settings.values()), made.assumed, made.needs

    def test_hosts_of_8_are_counted(self):
        self.assertEqual(self.settings("H100", 64), ("eos", ["8"], ["system"], []))

    def test_a_part_of_a_host_is_a_host_with_fewer_gpus(self):
        self.assertEqual(self.settings("H100", 1), ("eos", ["1", "1"], ["system"], []))

    def test_a_run_within_one_rack_has_its_gpus_and_trays(self):
        self.assertEqual(self.settings("GB200", 8), ("gb200-nvl72-2", ["1", "8", "2", "8"], ["system"], []))

    def test_racks_are_full_or_use_64(self):
        self.assertEqual(self.settings("GB300", 144)[1:3], (["2", "72", "18", "72"], ["system"]))
        self.assertEqual(self.settings("GB300", 256)[1:3], (["4", "64", "16", "64"], ["system", "rack"]))

    def test_an_unknown_gpu_is_a_feature_that_is_missing(self):
        self.assertEqual(self.settings("MI325X", 64), ("", [], [], ["GPU MI325X"]))


class Recipes(unittest.TestCase):
    def test_a_layout_without_stages_has_no_chunks(self):
        made = row()
        import_truth.set_layout(made, 1, 1, chunks=12)
        self.assertEqual(made.settings, {})

    def test_chunks_overlap_messages_and_tensor_parallelism_splits_sequences(self):
        made = row()
        import_truth.set_layout(made, 4, 8, 2, 5)
        self.assertEqual(made.settings, {
            "parallel.tensor": "4", "parallel.pipeline": "8", "parallel.virtual_pipeline": "5", "parallel.context": "2",
            "parallel.sequence_parallel": "true", "overlap.p2p": "true"})

    def test_a_model_with_a_layout_of_its_own_has_it_in_place_of_chunks(self):
        made = row("deepseek-v3", "experts")
        import_truth.set_layout(made, 1, 8, 1, 2, 8)
        self.assertEqual(made.settings["parallel.layout"], "Etttt|(tttt|)*14tmL")
        self.assertNotIn("parallel.virtual_pipeline", made.settings)

    def precision(self, text, hopper):
        made = row()
        import_truth.set_precision(made, text, hopper)
        import_truth.set_quantized_gather(made)
        keys = ("precision", "fp8_recipe", "quantized_param_gather")
        return tuple(made.settings.get(f"training.{key}") for key in keys)

    def test_a_format_has_its_recipe_and_fp8_is_gathered_as_it_is_stored(self):
        self.assertEqual(self.precision("BF16", False), ("bf16", None, None))
        self.assertEqual(self.precision("FP8", True), ("fp8", None, "true"))
        self.assertEqual(self.precision("FP8-CS", False), ("fp8", "tensorwise", "true"))
        self.assertEqual(self.precision("MXFP8", False), ("fp8", "mxfp8", "true"))
        self.assertEqual(self.precision("NVFP4", False), ("nvfp4", None, None))
        self.assertEqual(self.precision("FP8 finer granularity", True), ("fp8", "blockwise", None))
        self.assertEqual(self.precision("FP8 finer granularity", False), ("fp8", "mxfp8", "true"))

    def graphs(self, implementation, scope):
        made = row()
        import_truth.set_graphs(made, implementation, scope)
        return made.settings.get("training.cuda_graphs"), made.needs

    def test_graphs_have_the_scope_that_a_recipe_names(self):
        self.assertEqual(self.graphs("none", ["attn"]), (None, []))
        self.assertEqual(self.graphs("transformer_engine", []), ("layers", []))
        self.assertEqual(self.graphs("transformer_engine", ["attn", "mamba"]), ("[attn,mamba]", []))
        self.assertEqual(self.graphs("transformer_engine", "mlp"), ("[mlp]", []))
        self.assertEqual(self.graphs("local", "full_iteration"), ("full_iteration", []))

    def release(self, model, *said):
        made = row(model, "experts")
        import_truth.set_bridge_release(made, *said)
        return {key.split(".")[1]: value for key, value in made.settings.items()}

    def test_a_release_turns_on_what_tables_leave_out(self):
        kept = {"mtp_layers": "1", "moe_router_fusion": "true"}
        dropping = self.release("deepseek-v3", "25.09", "B200", "FP8-CS (main number)")
        self.assertEqual(dropping, {**kept, "recompute": "selective", "recompute_modules": "[mla_up_proj]"})
        self.assertEqual(self.release("deepseek-v3", "25.11", "B200", "FP8-MX"), kept)
        self.assertEqual(self.release("deepseek-v3", "25.11", "GB200", "FP8-MX"), {**kept, "param_gather": "false"})
        self.assertEqual(self.release("qwen3-235b-a22b", "25.09", "GB200", "FP8-CS")["cuda_graphs"], "layers")
        self.assertEqual(self.release("nemotron-3-super", "26.04", "B300", "MXFP8"), {"moe_router_padding": "true"})
        self.assertEqual(self.release("nemotron-3-super", "26.04", "B300", "BF16"), {})

    def test_runs_of_the_zoo_have_its_common_settings(self):
        def zoo(precision, **training):
            made = row("qwen3-235b-a22b", "experts")
            made.set(training={"precision": precision, **training})
            import_truth.set_zoo_recipe(made)
            return {key.split(".")[1]: value for key, value in made.settings.items()}

        common = {"cross_entropy_fusion": "te", "moe_router_fusion": "true"}
        self.assertEqual(zoo("bf16"), {"precision": "bf16", **common})
        self.assertEqual(zoo("fp8", moe_dispatcher="hybridep"), {
            "precision": "fp8", "moe_dispatcher": "hybridep", **common, "moe_dispatch_sms": "32",
            "quantized_param_gather": "true", "moe_router_padding": "true"})

    def test_shared_experts_overlap_what_nccl_exchanges_alone(self):
        for keys, said in (({}, "true"), ({"training": {"moe_dispatcher": "hybridep"}}, None), ({"overlap": {"expert": True}}, None)):
            made = row("deepseek-v3", "experts")
            made.set(**keys)
            import_truth.set_shared_overlap(made)
            self.assertEqual(made.settings.get("overlap.shared_expert"), said)

    def test_arguments_become_words_but_for_places_of_files(self):
        words = import_truth.argument_words({"--bf16": True, "--load": "${CHECKPOINT}/x", "--lr": 0.1, "--sft": False,
                                             "--recompute-modules": "[mlp moe_act]"})
        self.assertEqual(list(words), ["--bf16", "--lr", "0.1", "--recompute-modules", "mlp", "moe_act"])

    def test_a_run_that_is_printed_again_counts_once(self):
        first, again, other = row(), row(), row()
        again.where, other.seconds = "repository @5678 path line 2", 1.1
        self.assertEqual(list(import_truth.distinct([first, again, other])), [first, other])

    def test_flops_count_half_of_the_scores(self):
        hidden, heads, kv, dim, layers = 4096, 64, 4, 128, 94
        each = hidden * (2 * heads + 2 * kv) * dim + heads * dim * 4096 + 3 * hidden * 1536 * 8
        self.assertEqual(import_truth.flops_per_token("qwen3-235b-a22b", 4096), 6 * (layers * each + hidden * 151936))

    def test_a_record_is_read_as_it_was_written(self):
        made = row()
        made.cluster = "eos"
        made.set(cluster={"hosts": 8}, training={"recompute_modules": ["mlp", "moe_act"]})
        made.arguments = ["python", "pretrain_gpt.py", "--moe-layer-freq", "([0]*1+[1]*3)"]
        made.assume("system")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new.csv"
            import_truth.write(path, ["title: New", "tier: D"], [made])
            real, training.RECORDS = training.RECORDS, pathlib.Path(folder)
            try:
                read, = training.records("new")
            finally:
                training.RECORDS = real
        self.assertEqual(read.settings, ["cluster.hosts=8", "training.recompute_modules=[mlp,moe_act]"])
        self.assertEqual((read.arguments, read.assumed, read.tier, read.seconds), (made.arguments, ["system"], "D", 1.0))


class Records(unittest.TestCase):
    """The files of training/ that import_truth.py made."""

    def records(self):
        for source in import_truth.IMPORTERS:
            yield from training.records(source)

    def test_each_row_says_where_it_is_from_and_what_it_is(self):
        for record in self.records():
            with self.subTest(source=record.source, row=record.name):
                self.assertRegex(record.where, r"^\S+/\S+ @[0-9a-f]{8} \S+")
                self.assertGreater(record.seconds, 0)
                self.assertIn(record.kind, KINDS)
                self.assertEqual(record.tier, "D")

    def test_each_row_that_is_predicted_has_a_model_and_a_cluster(self):
        for record in self.records():
            if not record.needs:
                with self.subTest(source=record.source, row=record.name):
                    self.assertTrue(record.arguments or record.model.exists())
                    self.assertTrue(record.cluster.exists())
                    self.assertGreater(training.count_gpus(record), 0)

    def test_each_row_is_another_run_or_another_measurement(self):
        seen = [(record.source, record.model, tuple(record.settings), tuple(record.arguments), record.seconds, record.where)
                for record in self.records()]
        self.assertEqual(len(seen), len(set(seen)))


class Page(unittest.TestCase):
    def records(self):
        first, second, third = list(training.records("simumax-b200"))[:3]
        first.predicted, second.predicted = first.seconds * 0.9, second.seconds * 1.2
        first.band = {"low_s": first.seconds * 0.8, "high_s": first.seconds * 1.05}
        second.band = {"low_s": second.seconds * 1.1, "high_s": second.seconds * 1.3}
        first.predicted_gib, second.predicted_gib = first.memory_gib * 1.05, second.memory_gib * 0.99
        third.needs = ["Muon", "LoRA"]
        return [first, second, third]

    def test_groups_have_time_and_memory(self):
        table = list(validation_page.group_rows(self.records()))
        self.assertEqual(table[1], ("B200", "dense", "1 to 8", "2", "15.0 %", "+5.0 %", "+20.0 %", "1 of 2", "2", "3.0 %",
                                    "+2.0 %", "+5.0 %"))
        self.assertEqual(table[2], ("B200", "experts", "1 to 8", "0 of 1", "", "", "", "", "", "", "", ""))

    def test_stated_errors_are_held_against_real_ones(self):
        table = list(validation_page.band_rows(self.records()))
        # Half-widths: 1.05 / 0.9 and 1.3 / 1.2.
        self.assertEqual(table[1:], [("dense", "2", "1", "50 %", "12.5 %"), ("all", "2", "1", "50 %", "12.5 %")])

    def test_a_rival_is_compared_on_the_same_rows(self):
        table = list(validation_page.rival_rows({"simumax-b200": self.records()}))
        self.assertEqual(table[1][1:6], ("time", "2", "15.0 %", "+5.0 %", "+20.0 %"))
        self.assertEqual(table[1][6:], ("2.6 %", "-2.6 %", "-3.6 %"))
        self.assertEqual(table[2][1:3], ("memory", "2"))

    def test_features_are_counted(self):
        self.assertEqual(list(validation_page.need_rows(self.records()))[1:], [("LoRA", "1", "0"), ("Muon", "1", "0")])

    def test_a_row_says_what_it_needs(self):
        self.assertEqual(validation_page.result(self.records()[2]), ("not yet", "needs Muon, LoRA"))


class Memory(unittest.TestCase):
    """A manifest by hand: two classes of 2 and 1 GiB beside NCCL's buffers, ranks of classes 0, 1, 1, 0."""

    @staticmethod
    def varint(value):
        data = b""
        while value > 127:
            data, value = data + bytes([value & 127 | 128]), value >> 7
        return data + bytes([value])

    def field(self, number, value):
        if isinstance(value, int):
            return self.varint(number << 3) + self.varint(value)
        return self.varint(number << 3 | 2) + self.varint(len(value)) + value

    def rank_class(self, gib):
        part = lambda name, size: self.field(3, self.field(1, name) + self.field(2, size))  # noqa: E731
        return self.field(11, self.field(1, b"class.et") + part(b"activations", gib << 30) + part(b"nccl", 5 << 30))

    def test_the_peak_is_what_pytorch_allocates(self):
        data = self.field(1, b"header") + self.field(10, bytes([0, 1, 1, 1])) + self.rank_class(2) + self.rank_class(1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "manifest.pb"
            path.write_bytes(data)
            self.assertEqual(manifest.peak_memory(path), {"fullest": 2.0, "first": 2.0, "last": 1.0})

    def test_without_a_manifest_there_is_no_memory(self):
        self.assertEqual(manifest.peak_memory(pathlib.Path("/none")), {})


class Tables(unittest.TestCase):
    def test_a_table_of_nemo_becomes_rows(self):
        table = ("source,commit,path,line,task,model,gpus,precision,gbs,mbs,seq,tp,pp,cp,vpp,iter_time_s_derived\n"
                 "NVIDIA/NeMo,7831735490,a.md,14,pre-training,GPT3-5B,64,FP8,2048,4,2048,1,1,1,1,2.91\n"
                 "NVIDIA/NeMo,7831735490,a.md,40,fine-tuning LoRA,LLAMA2-7B,8,FP8,32,1,4096,1,1,,,0.65\n")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "nemo_performance_summary.csv").write_text(table)
            first, second = import_truth.import_nemo(pathlib.Path(folder))
        self.assertEqual((first.model, first.seconds, first.needs), ("gpt-3-5b", 2.91, []))
        self.assertEqual(second.needs, [])
        self.assertEqual(second.settings["model.lora_targets"], "[linear_qkv]")
        self.assertEqual(second.assumed[-2:], ["samples", "adapters"])
        cells = next(csv.reader(io.StringIO(",".join(first.cells()))))
        self.assertIn("training.precision=fp8", cells[3])


if __name__ == "__main__":
    unittest.main()
