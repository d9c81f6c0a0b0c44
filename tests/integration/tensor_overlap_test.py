"""Tensor-parallel communication during products that are split into parts (overlap.tensor), through all five executables."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # the folder of the tools; from the command line

# Four layers of Llama 3 70B on one host: communication takes about half as long as compute. Launches are free: with those of
# Megatron-Core the host decides so small a run, and no overlap helps it.
SETTINGS = ["model.layers=4", "model.vocab=8192", "model.sequence=4096", "parallel.tensor=8", "parallel.pipeline=1",
            "parallel.virtual_pipeline=1", "parallel.sequence_parallel=true", "training.micro_batch=1", "training.global_batch=2",
            "training.recompute=none", "training.host_launch=none"]


class TensorOverlap(unittest.TestCase):
    def call(self, tool, *arguments):
        done = subprocess.run([BIN / tool, *map(str, arguments), "-q"], cwd=ROOT, text=True, capture_output=True, timeout=200)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{tool} {arguments}")
        return done.stdout

    def run_all(self, *settings):
        run = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, run)
        options = [word for setting in [*SETTINGS, *settings] for word in ("--set", setting)]
        self.call("workload-gen", "configs/models/llama-3-70b.yaml", "configs/clusters/dgx-h100-1.topo", *options, "-o", run)
        self.assertIn("no cycle, every op is reached", self.call("workload-gen", "check", run))
        for tool, *arguments in (["simccl", run], ["compute-sim", run], ["exec-engine", run, "--network", "fluid"],
                                 ["report", run, "--no-html"]):
            self.call(tool, *arguments)
        return json.loads((run / "summary.json").read_text())

    def test_overlap_hides_communication_and_adds_no_work(self):
        apart = self.run_all()
        overlapped = self.run_all("overlap.tensor=true")
        time = {name: {key: value["mean_s"] for key, value in summary["time"].items()}
                for name, summary in (("apart", apart), ("overlapped", overlapped))}
        self.assertLess(time["overlapped"]["exposed_tensor"], 0.5 * time["apart"]["exposed_tensor"])
        self.assertLess(overlapped["iteration_time_s"], apart["iteration_time_s"])
        # Between the compute time without overlap, and the time if no communication were hidden.
        self.assertGreater(overlapped["iteration_time_s"], time["apart"]["compute"])
        self.assertLess(overlapped["iteration_time_s"], time["overlapped"]["compute"] + time["apart"]["exposed_tensor"])
        self.assertGreater(time["overlapped"]["compute"], time["apart"]["compute"])  # smaller products are less efficient
        self.assertEqual(overlapped["hardware_flops_per_iteration"], apart["hardware_flops_per_iteration"])
        kinds = {row["algorithm"] for row in overlapped["collectives"] if row["group"] == "tp"}
        self.assertLessEqual({"copy-engine", "userbuffers"}, kinds)

    def test_fp8_is_gathered_in_half_the_bytes_and_either_form_of_sums_hides_them(self):
        fp8 = "training.precision=fp8"
        apart = self.run_all(fp8)
        gathered = {row["size_bytes"] for row in apart["collectives"] if row["group"] == "tp" and row["collective"] == "all-gather"}
        self.assertEqual(min(gathered), 4096 * 8192)  # a byte for each of a sequence's values, 2 in front of the head
        self.assertEqual(max(gathered), 2 * 4096 * 8192)
        for forms in ([], ["overlap.tensor_scatter_proj=ring", "overlap.tensor_scatter_fc2=ring"]):
            overlapped = self.run_all(fp8, "overlap.tensor=true", *forms)
            self.assertLess(overlapped["iteration_time_s"], apart["iteration_time_s"], forms)
            self.assertLess(overlapped["time"]["exposed_tensor"]["mean_s"], 0.6 * apart["time"]["exposed_tensor"]["mean_s"], forms)
            self.assertEqual(overlapped["model_flops_per_iteration"], apart["model_flops_per_iteration"])

    def test_a_gpu_without_userbuffers_costs_is_refused(self):
        run = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, run)
        options = [word for setting in [*SETTINGS, "overlap.tensor=true", "training.precision=fp16"] for word in ("--set", setting)]
        self.call("workload-gen", "configs/models/llama-3-70b.yaml", "configs/clusters/dgx-1-v100-2.topo", *options, "-o", run)
        self.call("simccl", run)
        self.call("compute-sim", run)
        done = subprocess.run([BIN / "exec-engine", run, "-q"], cwd=ROOT, text=True, capture_output=True, timeout=200)
        self.assertEqual(done.returncode, 1)
        self.assertIn("v100-sxm-32g.yaml has no 'copy_engine' in its 'collectives:' section, which states the costs of communication",
                      done.stderr)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
