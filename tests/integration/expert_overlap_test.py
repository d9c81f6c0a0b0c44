"""Token dispatch and combine during another micro-batch's compute (overlap.expert), through all five executables."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # the folder of the tools; from the command line

# Two stages of two chunks, eight ranks of experts each: 16 micro-batches.
SETTINGS = ["cluster.hosts=2", "model.layers=8", "model.hidden=2048", "model.heads=16", "model.kv_heads=8", "model.ffn=7168",
            "model.vocab=8192", "parallel.pipeline=2", "parallel.virtual_pipeline=2", "training.global_batch=128"]


class ExpertOverlap(unittest.TestCase):
    def run_all(self, *settings):
        run = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, run)
        options = [word for setting in [*SETTINGS, *settings] for word in ("--set", setting)]
        for tool, *arguments in (
            ["workload-gen", "configs/models/mixtral-8x7b.yaml", "configs/clusters/dgx-h100-8.topo", *options, "-o", run],
            ["simccl", run],
            ["compute-sim", run],
            ["exec-engine", run, "--network", "fluid"],
            ["report", run, "--no-html"],
        ):
            done = subprocess.run([BIN / tool, *map(str, arguments), "-q"], cwd=ROOT, text=True, capture_output=True,
                                  timeout=200)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{tool} {settings}")
        return json.loads((run / "summary.json").read_text())

    def test_overlap_hides_exchanges_and_adds_no_work(self):
        apart = self.run_all()
        combined = self.run_all("overlap.expert=true")
        delayed = self.run_all("overlap.expert=true", "overlap.delay_weight_gradients=true")

        def exposed(summary):
            return summary["time"]["exposed_expert"]["mean_s"]

        def moved(summary):
            return sorted((row["group"], row["collective"], row["size_bytes"], row["uses"]) for row in summary["collectives"])

        # 27 or 29 of a stage's 32 forward passes run beside a backward pass.
        self.assertLess(exposed(combined), 0.6 * exposed(apart))
        self.assertLess(exposed(delayed), exposed(combined))
        self.assertLess(combined["iteration_time_s"], apart["iteration_time_s"])
        self.assertLess(delayed["iteration_time_s"], combined["iteration_time_s"])
        for other in (combined, delayed):
            self.assertEqual(moved(other), moved(apart))
            self.assertEqual(other["hardware_flops_per_iteration"], apart["hardware_flops_per_iteration"])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
