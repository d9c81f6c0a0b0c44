"""Shared code of the tests of workload-gen's commands: runs in a temporary folder, and the tools on them."""

import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SMALL = ("gpt-7.5b", "dgx-a100-80g-8", "cluster.hosts=1", "parallel.tensor=2", "parallel.pipeline=2", "model.layers=4",
         "training.micro_batch=2", "training.global_batch=16")


class Graphs(unittest.TestCase):
    BIN = None  # the folder of the tools; from the command line
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def tool(self, name, *arguments):
        done = subprocess.run([self.BIN / name, *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def run_tool(self, *arguments):
        return self.tool("workload-gen", *arguments)

    def expect_ok(self, *arguments):
        status, stdout, stderr = self.run_tool(*arguments)
        self.assertEqual(status, 0, stderr)
        return stdout, stderr

    def generate(self, name="run", model="gpt-22b", cluster="dgx-a100-80g-1", *settings):
        run = self.folder / name
        sets = [word for setting in settings for word in ("--set", setting)]
        self.expect_ok(f"configs/models/{model}.yaml", f"configs/clusters/{cluster}.topo", "-o", run, "-q",
                       "--alike-once", *sets)
        return run

    def assert_same_folders(self, a, b):
        names = sorted(p.name for p in a.iterdir())
        self.assertEqual(names, sorted(p.name for p in b.iterdir()))
        self.assertEqual(filecmp.cmpfiles(a, b, names, shallow=False), (names, [], []))


def main():
    Graphs.BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
