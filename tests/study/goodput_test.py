"""drydock-goodput as a program: a run and a shipped failures file become goodput.json, no figure depends on the threads, the
policies take their runs, and every mistake is said.

Usage: goodput_test.py BIN
"""

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
SETS = ["model.layers=4", "training.micro_batch=1", "training.global_batch=96"]
STORAGE = ["storage.read=20 GB/s", "storage.write=10 GB/s", "storage.source=test"]
COST = "cost.rent={gpu: {value: 2 USD/h, source: test}}"
TIMES = ["recovery.start={time: 2 min, source: test}", "recovery.replace={time: 1 min, source: test}",
         "recovery.repair={time: 1 days, source: test}", "recovery.communicator={time: 1 s, source: test}",
         "recovery.member={time: 1 s, source: test}", "failures.switch={per_year: 0.1, source: test}",
         # Such a small cluster rarely fails.
         "failures.host.per_year=100"]


def sets(assignments):
    return [word for each in assignments for word in ("--set", each)]


class GoodputTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        for name, more in [("whole", ["cluster.hosts=4", *STORAGE, COST]), ("shrunk", ["cluster.hosts=3", *STORAGE]),
                           ("slow", ["cluster.hosts=4", "hosts.dgx-a100-80g.nics.rate=20 Gbps", *STORAGE]), ("bare", ["cluster.hosts=4"])]:
            words = [BIN / "drydock", "run", MODEL, CLUSTER, *sets(SETS + more), "--network", "analytical", "--out", cls.folder / name]
            done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, timeout=240)
            assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_words(self, *words):
        done = subprocess.run([BIN / "drydock-goodput", *map(str, words)], cwd=ROOT, text=True, capture_output=True, timeout=240)
        return done.returncode, done.stdout, done.stderr

    def goodput(self, *words, run="whole"):
        out = self.folder / "answer.json"
        status, text, error = self.run_words(self.folder / run, "--failures", "llama-3", "--samples", 50, "-o", out, *words)
        self.assertEqual(status, 0, error)
        return json.loads(out.read_text()), text

    def refused(self, *words, run="whole"):
        out = self.folder / "never.json"
        status, text, error = self.run_words(self.folder / run, "--failures", "llama-3", "-o", out, *words)
        self.assertEqual(text, "")
        self.assertFalse(out.exists(), "something was written")
        return status, error

    def test_what_is_unknown_is_listed(self):
        answer, text = self.goodput("--days", 54)
        self.assertTrue(answer["upper_bound"])
        self.assertEqual(answer["unknown"], ["failures.switch", "recovery.repair", "recovery.start", "recovery.communicator", "recovery.member"])
        self.assertIn("goodput, at most", text)
        self.assertIn("unknown, counted as 0: failures.switch, recovery.repair,", text)
        self.assertAlmostEqual(answer["cost"]["amount"], 2 * 32 * 24 * 54)

    def test_no_figure_depends_on_the_threads(self):
        files = []
        for jobs in [1, 3]:
            out = self.folder / f"{jobs}.json"
            status, _, error = self.run_words(self.folder / "whole", "--failures", "llama-3", *sets(TIMES), "--jobs", jobs, "-o", out)
            self.assertEqual(status, 0, error)
            files.append(out.read_bytes())
        self.assertEqual(files[0], files[1])

    def test_policies(self):
        shares = {}
        for policy, more in [("restart", []), ("spares", ["--spares", 2]), ("shrink", ["--shrunk", self.folder / "shrunk"])]:
            answer, text = self.goodput("--policy", policy, *more, *sets(TIMES))
            self.assertFalse(answer["upper_bound"], answer["unknown"])
            self.assertIn("one failure every", text)
            badput = dict(answer["badput"])
            custom = badput.pop("CUSTOM_BADPUT_EVENTS")
            sum_of = answer["goodput"]["mean"] + sum(each["mean"] for each in [*badput.values(), *custom.values()])
            self.assertAlmostEqual(sum_of, 1, places=9)
            self.assertEqual(custom["shrunk"]["mean"] > 0, policy == "shrink")
            shares[policy] = answer["goodput"]["median"]
        # Repair takes a day: waiting for it is worst, spares are best.
        self.assertLess(shares["restart"], shares["shrink"])
        self.assertLess(shares["shrink"], shares["spares"])

    def test_the_best_interval_is_no_worse_than_another(self):
        best, _ = self.goodput(*sets(TIMES))
        for interval in ["1 min", "10 h"]:
            other, text = self.goodput(*sets(TIMES), "--interval", interval)
            self.assertGreaterEqual(best["goodput"]["mean"], other["goodput"]["mean"])
            self.assertEqual(other["checkpoint"]["trials"], [])
        self.assertAlmostEqual(other["checkpoint"]["interval_s"], 36000, delta=other["iteration_time_s"])

    def test_asynchronous_checkpoints(self):
        answer, _ = self.goodput("--asynchronous", *sets(TIMES))
        self.assertEqual(answer["unknown"], ["interference of asynchronous checkpoints (--writing)"])
        self.assertIsNone(answer["writing_iteration_time_s"])
        self.assertLess(answer["checkpoint"]["stall_s"], answer["checkpoint"]["write_s"])
        answer, _ = self.goodput("--asynchronous", "--writing", self.folder / "slow", *sets(TIMES))
        self.assertEqual(answer["unknown"], [])
        self.assertGreater(answer["writing_iteration_time_s"], answer["iteration_time_s"])
        self.assertGreater(answer["badput"]["CUSTOM_BADPUT_EVENTS"]["checkpoint_interference"]["mean"], 0)

    def test_check_writes_nothing(self):
        status, text, error = self.run_words(self.folder / "whole", "--failures", "llama-3", "--days", 54, "--check")
        self.assertEqual((status, text), (0, ""))
        self.assertIn("failures expected in 54 days", error)
        self.assertFalse((self.folder / "whole/goodput.json").exists())

    def test_bad_input(self):
        for words, status, message in [
                (["--set", "failures.gpu.per_year=-1"], 1, "'per_year' is a number of failures from 0 to 1e6"),
                (["--set", "failures.gpus=unknown"], 1, "did you mean 'gpu'"),
                (["--days", 0], 2, "--days"),
                (["--policy", "pray"], 2, "--policy"),
                (["--policy", "spares"], 2, "--spares N"),
                (["--spares", 2], 2, "--spares has an effect with --policy spares only"),
                (["--policy", "shrink"], 2, "--shrunk RUN"),
                (["--policy", "shrink", "--shrunk", self.folder / "shrunk"], 1, "'recovery.repair' is unknown"),
                (["--policy", "shrink", "--shrunk", self.folder / "whole"], 1, "not fewer than the 4"),
                (["--writing", self.folder / "slow"], 2, "--writing has an effect with --asynchronous only"),
                (["--interval", "soon"], 2, "expected a time such as"),
                (["--interval", "2 years"], 1, "longer than the 30 days"),
                (["--checkpoint-size", "big"], 2, "'big' is not a")]:
            with self.subTest(words=words):
                got, error = self.refused(*words)
                self.assertEqual(got, status, error)
                self.assertIn(message, error)
        status, error = self.refused(run="bare")
        self.assertEqual(status, 1)
        self.assertIn("its cluster states no 'storage'", error)
        status, error = self.refused(run="nowhere")
        self.assertEqual(status, 1)
        self.assertIn("run workload-gen first", error)
        status, _, error = self.run_words(self.folder / "whole", "--failures", "no-such-rates")
        self.assertEqual(status, 1)
        self.assertIn("no-such-rates", error)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
