"""Tests that a program of many ranks becomes the workload of all of them, from a few that run.

PyTorch is the one of third_party/pytorch/wheels.txt; the test fetches it first. If that fails, the test is skipped and says so.
"""
import argparse
import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/capture/programs"
SKIPPED = 77
OPTIONS = None  # from the command line


class Worlds(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "scratch").mkdir()

    def capture(self, name, program, *arguments, world, options=()):
        """Returns exit status, what the tool printed, and its errors."""
        done = subprocess.run(
            [OPTIONS.tool, ROOT / "configs/clusters/eos.topo", "--set", "cluster.hosts=2", "--world", str(world), *options,
             "--cache", self.folder / "cache", "--libraries", OPTIONS.libraries, "--sources", ROOT, "-o", self.folder / name,
             "--", sys.executable, PROGRAMS / program, *arguments],
            env={**os.environ, "PYTHONPATH": str(OPTIONS.pytorch), "TMPDIR": str(self.folder / "scratch")}, text=True,
            capture_output=True, timeout=1500)
        left = [path.name for path in (self.folder / "scratch").iterdir() if path.name.startswith("drydock-capture")]
        self.assertEqual(left, [])
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def line_of(program, text):
        lines = (PROGRAMS / program).read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def assert_same_workload(self, one, other):
        folders = [self.folder / name / "1-workload" for name in (one, other)]
        names = sorted(path.name for path in folders[0].iterdir())
        same, different, missing = filecmp.cmpfiles(*folders, names, shallow=False)
        self.assertEqual((different, missing), ([], []))
        self.assertIn("manifest.pb", same)

    def test_three_ranks_of_a_class_stand_for_all_and_all_agree(self):
        second = ["--iteration", "2"]  # behind the third, rank 0 sends what nobody receives
        status, said, errors = self.capture("few", "data_parallel.py", world=8, options=[*second, "--no-times"])
        self.assertEqual(status, 0, errors)
        # Rank 0 has two groups of its own, and ranks 2 and 4 each have one with it; the iteration uses none of them.
        self.assertIn("class: ranks 0-7; ran 0-2\n", said)
        status, said, errors = self.capture("all", "data_parallel.py", world=8, options=[*second, "--no-times", "--all-ranks"])
        self.assertEqual(status, 0, errors)
        self.assertIn("8 of 8 ranks ran\n", said)
        self.assert_same_workload("few", "all")
        status, said, errors = self.capture("again", "data_parallel.py", world=8, options=[*second, "--no-times", "--jobs", "2"])
        self.assertEqual(status, 0, errors)
        self.assert_same_workload("few", "again")
        for tool in ("simccl", "compute-sim", "exec-engine", "report"):
            done = subprocess.run([OPTIONS.tools / tool, self.folder / "few"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads((self.folder / "few" / "summary.json").read_text())
        self.assertGreater(summary["iteration_time_s"], 0)

    def test_reads_of_values_that_nobody_computed_are_told(self):
        status, said, errors = self.capture("reads", "reads.py", world=1)
        self.assertEqual(status, 0, errors)
        self.assertIn("values that nobody computed: 24 reads by the host at 7 places; the program may branch on them\n", said)
        line = self.line_of("reads.py", "loss.item() > 1e4")
        self.assertIn(f"reads.py:{line} reads fp32[] that depends on aten::nll_loss_forward of Float[256,32000]; it is 0: 3 times\n",
                      said)

    def test_a_large_group_has_several_unique_ids(self):
        hosts = ["--set", "cluster.hosts=32", "--no-times"]  # PyTorch makes one id for 128 ranks
        status, said, errors = self.capture("large", "trained.py", world=256, options=hosts)
        self.assertEqual(status, 0, errors)
        self.assertIn("class: ranks 0-255; ran 0, 128, 255\n", said)

    def test_calls_that_do_not_match_are_named_with_their_lines(self):
        status, _, errors = self.capture("none", "mismatch.py", "first", world=8)
        self.assertEqual(status, 1)
        line = self.line_of("mismatch.py", "torch.ones(5")
        self.assertIn("rank 0 calls all-reduce of 5 float32 (sum) in", errors)
        self.assertIn(f"mismatch.py:{line}", errors)
        self.assertIn("NCCL would hang or mix up data", errors)
        self.assertFalse((self.folder / "none").exists())

    def test_a_rank_that_differs_from_its_class(self):
        status, said, errors = self.capture("folded", "mismatch.py", "third", world=8)
        self.assertEqual(status, 0, errors)
        status, _, errors = self.capture("none", "mismatch.py", "third", world=8, options=["--all-ranks"])
        self.assertEqual(status, 1)
        self.assertIn("error: rank 3 should do the same as rank 0 (class 0: ranks 0-7), but does not: entry ", errors)

    def test_a_rank_that_dies(self):
        status, _, errors = self.capture("none", "mismatch.py", "dies", world=4)
        self.assertEqual(status, 1)
        line = self.line_of("mismatch.py", "raise ValueError")
        self.assertIn(f"mismatch.py:{line}: error: rank 3: ValueError: no data for rank 3\n", errors)
        self.assertIn("rank 3 ended with exit status 1; the end of its stderr:\n", errors)

    def test_a_program_without_steps(self):
        status, _, errors = self.capture("none", "memory.py", world=1)
        self.assertEqual(status, 1)
        self.assertIn("error: rank 0 never reaches a step", errors)
        self.assertIn("the end of what rank 0 wrote to stdout:\n", errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("--pytorch", required=True, type=pathlib.Path)
    OPTIONS, rest = parser.parse_known_args()
    fetched = subprocess.run([sys.executable, ROOT / "third_party/pytorch/fetch.py", OPTIONS.pytorch], timeout=1500)
    if fetched.returncode != 0:
        print("SKIPPED: no program is captured on this machine: PyTorch cannot be fetched", file=sys.stderr)
        sys.exit(SKIPPED if fetched.returncode == SKIPPED else 1)
    unittest.main(argv=[sys.argv[0], *rest])
