"""Folded replays of shipped models, cut to a few layers, compared with whole replays: dense and interleaved models,
experts and contexts across hosts, sharded parameters."""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # the folder of the tools; from the command line

A100 = "configs/clusters/dgx-a100-80g-8.topo"
H100 = "configs/clusters/dgx-h100-8.topo"
SMALL = ["model.hidden=2048", "model.heads=16", "model.vocab=32000"]

Case = collections.namedtuple("Case", "model cluster settings")
CASES = {
    "interleaved pipeline": Case("gpt-175b", A100, ["model.layers=16", "parallel.pipeline=2", "parallel.virtual_pipeline=2",
                                                    "training.global_batch=32"]),
    "experts across hosts": Case("mixtral-8x7b", H100, [*SMALL, "model.kv_heads=8", "model.ffn=7168", "model.layers=4",
                                                        "model.experts=16", "parallel.expert=16", "parallel.pipeline=1",
                                                        "parallel.virtual_pipeline=1", "training.global_batch=128"]),
    "contexts across hosts": Case("mlperf-llama-3.1-405b-64", H100, [*SMALL, "model.kv_heads=8", "model.ffn=7168",
                                                                     "model.layers=6", "parallel.pipeline=2",
                                                                     "parallel.virtual_pipeline=2",
                                                                     "training.global_batch=16"]),
    "FSDP": Case("torchtitan-llama-3-8b", H100, ["model.layers=4", "training.global_batch=128"]),
    "ZeRO": Case("simai-llama-65b-zero-3", H100, ["model.layers=4", "training.global_batch=64"]),
}


class Folding(unittest.TestCase):
    maxDiff = None

    def call(self, tool, *arguments):
        done = subprocess.run([BIN / tool, *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, timeout=200)
        self.assertEqual(done.returncode, 0, f"{tool}: {done.stderr}")
        return done.stdout

    def prepared(self, case):
        run = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, run)
        options = [word for setting in case.settings for word in ("--set", setting)]
        self.call("workload-gen", f"configs/models/{case.model}.yaml", case.cluster, *options, "-o", run, "-q")
        self.call("simccl", run, "-q")
        self.call("compute-sim", run, "-q")
        return run

    def replayed(self, run, fold, network="analytical"):
        """The iteration in picoseconds, the counters, and the timeline of every rank and op."""
        self.call("exec-engine", run, "--network", network, "--fold", fold, "-q")
        lines = self.call("exec-engine", run, "--dump", "-v").splitlines()
        counters = dict(line.rsplit(": ", 1) for line in lines if re.fullmatch(r"[a-z ]+: \d+", line))
        iteration = re.search(r"\((\d+) ps\)", lines[0])[1]
        ranks = [line for line in lines[1:] if line.rsplit(": ", 1)[0] not in counters]
        return int(iteration), {name: int(value) for name, value in counters.items()}, ranks

    def test_folded_runs_are_near_whole_ones(self):
        for name, case in CASES.items():
            with self.subTest(name):
                run = self.prepared(case)
                whole, counted, ranks = self.replayed(run, "off")
                exact, _, ranks_exactly = self.replayed(run, "exact")
                self.assertEqual((exact, ranks_exactly), (whole, ranks))
                relaxed, counted_relaxed, _ = self.replayed(run, "relaxed")
                # Trees over all ranks (the gradients' norm) divide the eight hosts into two equivalence classes.
                self.assertNotIn("hosts replayed", counted)
                self.assertEqual(counted_relaxed["hosts replayed"], 2)
                self.assertLess(abs(relaxed / whole - 1), 0.0005)
                for counter in ("messages", "message bytes"):
                    self.assertLess(abs(counted_relaxed[counter] / counted[counter] - 1), 0.005)
                # One rail, one leaf: flows meet at NICs only.
                whole, _, _ = self.replayed(run, "off", "fluid")
                relaxed, counted_relaxed, _ = self.replayed(run, "relaxed", "fluid")
                self.assertEqual(counted_relaxed["hosts replayed"], 2)
                if name != "experts across hosts":
                    self.assertLess(abs(relaxed / whole - 1), 0.001)
                    continue
                # In an all-to-all the order at a NIC matters; both orders are equally near to the packet network.
                packets, _, _ = self.replayed(run, "off", "packet")
                for fluid in (whole, relaxed):
                    self.assertLess(abs(fluid / packets - 1), 0.0125)

    def test_replicas_in_nvlink_domains_are_near_the_whole_run(self):
        """Each of two domains holds one stage of eight replicas of two trays."""
        settings = [*SMALL, "model.kv_heads=8", "model.ffn=7168", "model.layers=6", "cluster.hosts=2", "parallel.tensor=4",
                    "parallel.context=2", "parallel.pipeline=2", "parallel.virtual_pipeline=2", "training.global_batch=64"]
        run = self.prepared(Case("mlperf-llama-3.1-405b-64", "configs/clusters/gb200-nvl72-64-8.topo", settings))
        whole, counted, ranks_of_whole = self.replayed(run, "off")
        relaxed, counted_relaxed, ranks = self.replayed(run, "relaxed")
        self.assertNotIn("ranks replayed", counted)
        self.assertEqual(counted_relaxed["ranks replayed"], 16)
        self.assertGreater(counted_relaxed["calls timed alone"], 0)
        self.assertLess(abs(relaxed / whole - 1), 0.002)
        self.assertEqual(len(ranks), len(ranks_of_whole), "every rank and op has its times")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
