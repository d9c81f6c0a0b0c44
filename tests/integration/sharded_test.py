"""FSDP and ZeRO through all five executables: torchtitan's and SimAI's configurations, and each kind of sharding of a small model."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # the folder of the tools; from the command line

SMALL = ["model.layers=2", "model.hidden=512", "model.heads=8", "model.kv_heads=8", "model.ffn=1024", "model.sequence=512",
         "model.vocab=8192", "cluster.hosts=2"]


class Sharded(unittest.TestCase):
    def run_all(self, model, cluster, *settings):
        run = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, run)
        options = [word for setting in settings for word in ("--set", setting)]
        for tool, *arguments in (
            ["workload-gen", f"configs/models/{model}.yaml", f"configs/clusters/{cluster}.topo", *options, "-o", run],
            ["simccl", run],
            ["compute-sim", run],
            ["exec-engine", run, "--network", "analytical"],
            ["report", run, "--no-html"],
        ):
            done = subprocess.run([BIN / tool, *map(str, arguments), "-q"], cwd=ROOT, text=True, capture_output=True,
                                  timeout=200)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{tool} {settings}")
        return json.loads((run / "summary.json").read_text())

    def bytes_moved(self, summary, group, collective):
        return sum(row["size_bytes"] * row["uses"] for row in summary["collectives"]
                   if (row["group"], row["collective"]) == (group, collective))

    def test_torchtitans_llama_8b_on_eight_gpus(self):
        summary = self.run_all("torchtitan-llama-3-8b", "dgx-h100-1")
        embedding, layer = 128256 * 4096, 218112000  # elements
        head = embedding + 4096
        # Every group is gathered in the forward pass, and all except the head in the backward pass. Gradients are fp32.
        self.assertEqual(self.bytes_moved(summary, "dp", "all-gather"), 2 * (2 * (embedding + 32 * layer) + head))
        self.assertEqual(self.bytes_moved(summary, "dp", "reduce-scatter"), 4 * (embedding + 32 * layer + head))
        self.assertTrue(summary["memory"]["fits"])
        self.assertEqual(summary["memory"]["parts"]["parameters_bytes"], 4 * 8030261248 // 8)
        self.assertGreater(summary["hfu"], summary["mfu"])

    def test_each_variant_of_fsdp(self):
        for settings in (["fsdp.version=1"], ["fsdp.replicas=2"],
                         ["parallel.tensor=2", "parallel.sequence_parallel=true", "parallel.pipeline=2",
                          "fsdp.reshard_after_forward=always"]):
            with self.subTest(settings=settings):
                summary = self.run_all("torchtitan-llama-3-8b", "dgx-h100-8", *SMALL, "training.global_batch=64", *settings)
                self.assertTrue(summary["memory"]["fits"])

    def test_zero_3(self):
        summary = self.run_all("simai-llama-65b-zero-3", "hgx-a100-4nic-8", "model.layers=4", "cluster.hosts=2",
                               "training.global_batch=16")
        # Each parameter is reduced once. All except the norms are gathered at least in the forward and the backward pass.
        parameters = summary["parameters"]
        self.assertEqual(self.bytes_moved(summary, "dp", "reduce-scatter"), 2 * parameters)
        gathered = self.bytes_moved(summary, "dp", "all-gather")
        self.assertGreater(gathered, 2 * 1.9 * parameters)
        self.assertLess(gathered, 2 * 3.1 * parameters)

    def test_zero_2(self):
        summary = self.run_all("simai-llama-7b-zero-2", "hgx-a100-4nic-8", *SMALL, "training.global_batch=32")
        self.assertEqual(self.bytes_moved(summary, "dp", "all-reduce") // (2 * summary["parameters"]), 2)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
