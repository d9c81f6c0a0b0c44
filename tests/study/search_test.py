"""drydock-search as a program: it finds what an exhaustive search finds, its bounds hold, and a killed search goes on.

Usage: search_test.py BIN
"""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line

# Small spaces of a dense model, a model with experts, and FSDP.
SPACES = {
    "dense": ["gpt-1.7b", "dgx-a100-80g-1", "--set", "model.layers=4", "--set", "training.global_batch=8", "--set",
              "training.recompute=none"],
    "experts": ["mixtral-8x7b", "dgx-h100-1", "--set", "model.layers=2", "--set", "training.global_batch=8", "--set",
                "training.recompute=none", "--set", "parallel.tensor=1", "--set", "parallel.sequence_parallel=false"],
    "fsdp": ["torchtitan-llama-3-8b", "dgx-h100-1", "--set", "model.layers=4", "--set", "training.global_batch=16"],
}


class SearchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())

    def tearDown(self):
        shutil.rmtree(self.folder)

    def call(self, *arguments, out="out"):
        words = [BIN / "drydock-search", *arguments, "-o", self.folder / out, "--no-pages"]
        done = subprocess.run(list(map(str, words)), cwd=ROOT, text=True, capture_output=True, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def search(self, *arguments, out="out"):
        status, text, error = self.call(*arguments, out=out)
        self.assertEqual(status, 0, error)
        with open(self.folder / out / "search.csv") as table:
            return text, list(csv.DictReader(table))

    def test_it_finds_what_an_exhaustive_search_finds(self):
        for name, space in SPACES.items():
            with self.subTest(name):
                text, rows = self.search(*space, "--network", "analytical", "--top", 3, out=name)
                all_text, all_rows = self.search(*space, "--network", "analytical", "--top", 3, "--exhaustive", out=name + "-all")
                self.assertEqual(len(rows), len(all_rows))
                self.assertEqual(text.splitlines()[:4], all_text.splitlines()[:4])
                replayed = [row for row in rows if row["analytical_s"]]
                every = [row for row in all_rows if row["analytical_s"]]
                self.assertLess(len(replayed), len(every), "the bound prunes nothing")
                for row in every:
                    self.assertGreater(float(row["bound_s"]), 0)
                    self.assertLessEqual(float(row["bound_s"]), float(row["analytical_s"]) * (1 + 1e-6), row)
                for row, whole in zip(rows, all_rows):
                    if row["state"] == "does not fit":
                        self.assertEqual(whole["state"], "does not fit")
                        self.assertLessEqual(float(row["memory_gb"]), float(whole["memory_gb"]))
                    elif row["state"] == "slower by its bound":
                        self.assertLessEqual(float(row["bound_s"]), float(whole["analytical_s"] or "inf") * (1 + 1e-6), row)
                    else:
                        self.assertEqual(row, whole)
                # Few micro-batches show the memory of all.
                for row in every:
                    point = json.loads((self.folder / f"{name}-all" / "points" / row["point"] / "point.json").read_text())
                    self.assertAlmostEqual(float(row["memory_gb"]), point["metrics"]["memory_gb"], places=4)

    def test_the_fluid_network_has_the_last_word(self):
        space = SPACES["dense"]
        text, rows = self.search(*space, "--top", 2, out="both")
        _, all_rows = self.search(*space, "--top", 2, "--exhaustive", out="all")
        best = min((float(row["fluid_s"]), row["point"]) for row in rows if row["fluid_s"])
        self.assertEqual(best, min((float(row["fluid_s"]), row["point"]) for row in all_rows if row["fluid_s"]))
        self.assertLess(sum(bool(row["fluid_s"]) for row in rows), sum(bool(row["analytical_s"]) for row in rows))
        for row in all_rows:
            if row["fluid_s"]:
                self.assertLessEqual(float(row["bound_s"]), float(row["fluid_s"]) * (1 + 1e-6), row)
        # The written model is the best layout.
        run = self.folder / "run"
        done = subprocess.run([BIN / "drydock", "run", self.folder / "both/best/1.yaml", "dgx-a100-80g-1", "--network", "fluid",
                               "--out", run, "-q"], cwd=ROOT, text=True, capture_output=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)

        self.assertAlmostEqual(json.loads((run / "summary.json").read_text())["iteration_time_s"], best[0], places=6)
        self.assertIn(f"{best[0]:.4g}", text)

    def test_values_that_are_given_are_kept(self):
        _, rows = self.search(*SPACES["dense"], "--network", "analytical", "--set", "parallel.tensor=2", "--set",
                              "parallel.sequence_parallel=true", "--over", "training.micro_batch=1,2", out="kept")
        self.assertNotIn("parallel.tensor", rows[0])
        self.assertEqual({row["training.micro_batch"] for row in rows}, {"1", "2"})
        _, rows = self.search(*SPACES["dense"], "--network", "analytical", "--set", "parallel.pipeline=1", "--set",
                              "training.recompute=none", "--over", "overlap.grad_reduce=true,false", out="axis")
        self.assertEqual({row["overlap.grad_reduce"] for row in rows}, {"true", "false"})

    def test_the_same_on_any_number_of_processes_and_after_a_kill(self):
        space = [*SPACES["dense"], "--network", "analytical", "--set", "training.recompute=none"]
        tables = []
        for jobs in [2, 3]:
            self.search(*space, "--jobs", jobs, out=f"jobs-{jobs}")
            tables.append((self.folder / f"jobs-{jobs}" / "best/1.yaml").read_bytes())
        self.assertEqual(tables[0], tables[1])
        out = self.folder / "killed"
        process = subprocess.Popen([BIN / "drydock-search", *space, "-o", out, "--no-pages", "--jobs", "2"], cwd=ROOT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not list(out.glob("points/*/point.json")) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.2)
        self.search(*space, "--jobs", 2, out="killed")
        self.assertEqual((out / "search.csv").read_bytes(), (self.folder / "jobs-2/search.csv").read_bytes())

    def test_a_layout_as_megatron_takes_it_is_the_same_layout(self):
        model = ("--num-layers 6 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 "
                 "--vocab-size 32000 --bf16 --use-distributed-optimizer --global-batch-size 16 ")
        script = self.folder / "base.args"
        script.write_text(model + "--micro-batch-size 1 --recompute-granularity full --recompute-method uniform\n")
        words = ["dgx-a100-80g-1", "--megatron-args", script, "--network", "analytical", "--top", 1000, "--over",
                 "parallel.pipeline=2,4", "--over", "training.micro_batch=1,2"]
        self.search(*words, out="megatron")
        best = sorted((self.folder / "megatron/best").glob("*.args"))
        self.assertGreater(len(best), 20)
        seen = set()
        for arguments in best:
            text = arguments.read_text()
            seen |= {word for word in text.split() if word.startswith("--")} | set(text.split())
            again = self.folder / "again" / "base.args"  # the model is named after its file
            again.parent.mkdir(exist_ok=True)
            again.write_text(model + text)
            read = subprocess.run([BIN / "workload-gen", "--megatron-args", again, "--print-model", "-q"], text=True, capture_output=True)
            self.assertEqual(read.returncode, 0, read.stderr)
            self.assertEqual(read.stdout, arguments.with_suffix(".yaml").read_text(), text)
        self.assertLessEqual({"--account-for-loss-in-pipeline-split", "--num-virtual-stages-per-pipeline-rank", "--sequence-parallel",
                              "full", "selective"}, seen)

    def test_mistakes(self):
        for arguments, expected, message in [
            (["--over", "cluster.hosts=1,2"], 2, "--over cluster.hosts: a search varies keys of the model; 'drydock sweep' varies "
                                                 "those of the cluster as well"),
            (["--set", "parallel.tensor=3"], 1, "no layout of gpt-1.7b on these 8 GPUs has the values that --set and --over ask "
                                                "for; leave one of them out"),
            (["--over", "parallel.tensor=1,2", "--set", "parallel.tensor=2"], 2,
             "--set parallel.tensor=2 and --over parallel.tensor: leave one of them out"),
            (["--over", "parallel.tensor=2,3"], 1, "--over parallel.tensor: no layout of gpt-1.7b on these 8 GPUs has the value 3"),
            (["--network", "packet"], 2, "packet not in"),
            (["--top", "0"], 2, "--top"),
            (["--set", "model.layers=400", "--set", "parallel.pipeline=1", "--set", "parallel.tensor=1", "--set",
              "training.micro_batch=16", "--set", "training.global_batch=128"], 1, "no layout can be replayed; the nearest one: "),
        ]:
            status, text, error = self.call("gpt-1.7b", "dgx-a100-80g-1", *arguments)
            self.assertEqual(status, expected, error)
            self.assertIn(message, error)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
