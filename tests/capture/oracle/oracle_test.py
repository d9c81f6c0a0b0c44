"""Tests that workload-gen writes the calls and products that frameworks make, and predicts PyTorch's peak of memory within 3 %.

A few of the cases of oracle.py, which the page on the oracle describes. PyTorch and the frameworks are fetched first. If that fails,
the test is skipped and says so.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import oracle

SKIPPED = 77
OPTIONS = None  # from the command line
MEMORY_TOLERANCE = 0.03

# torchtitan logs in each step of this program, and sums the tokens apart.
LOG = ["ranks (0, 1, 2, 3, 4, 5, 6, 7): only the program: 1x all-reduce 4 fp32 average; 1x all-reduce 4 fp32 max; 1x all-reduce 8 int64",
       "ranks (0, 1, 2, 3, 4, 5, 6, 7): only workload-gen: 1x all-reduce 4 fp32"]


class Oracle(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        OPTIONS.cache = cls.folder / "cache"

    def expect(self, case, differences):
        for result in oracle.results_of(OPTIONS, case, self.folder):
            with self.subTest(case=case, rank=result.rank):
                self.assertEqual(result.differences, differences)
                self.assertGreater(result.calls, 0)
                self.assertGreater(result.products, 0)
                theirs, ours = result.peaks["allocated"]
                self.assertLess(abs(ours / theirs - 1), MEMORY_TOLERANCE, (ours, theirs))

    def test_megatron_with_tensor_parallelism(self):
        self.expect("megatron-gqa", [])

    def test_megatron_with_stages(self):
        self.expect("megatron-pipeline", [])

    def test_torchtitan(self):
        self.expect("torchtitan-fsdp", LOG)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("--pytorch", required=True, type=pathlib.Path)
    parser.add_argument("--frameworks", required=True, type=pathlib.Path)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.python, OPTIONS.sources, OPTIONS.keep = sys.executable, oracle.ROOT, False
    for folder, wheels in (OPTIONS.pytorch, []), (OPTIONS.frameworks, ["--list", oracle.HERE / "frameworks.txt"]):
        fetched = subprocess.run([sys.executable, oracle.ROOT / "third_party/pytorch/fetch.py", folder, *wheels], timeout=1500)
        if fetched.returncode != 0:
            print("SKIPPED: nothing is compared on this machine: PyTorch or the frameworks cannot be fetched", file=sys.stderr)
            sys.exit(SKIPPED if fetched.returncode == SKIPPED else 1)
    os.environ["PYTHONPATH"] = f"{OPTIONS.frameworks}:{OPTIONS.pytorch}"
    unittest.main(argv=[sys.argv[0], *rest])
