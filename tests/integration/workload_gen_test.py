"""workload-gen as a program: what it writes, twice the same; every mistake's exact words and exit status."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line
MODEL = "configs/models/gpt-22b.yaml"
CLUSTER = "configs/clusters/dgx-a100-80g-1.topo"


class WorkloadGen(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "run"

    def run_tool(self, *arguments):
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def expect_error(self, message, *arguments, status=1):
        self.assertEqual(self.run_tool(*arguments, "-o", self.out, "-q"), (status, "", message))
        self.assertFalse(self.out.exists(), "something was written")

    def test_writes_a_manifest_and_a_trace_per_class(self):
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "-o", self.out)
        self.assertEqual((status, stdout), (0, ""), stderr)
        self.assertEqual(stderr, "workload-gen: gpt-22b: TP8 PP1 DP1, 1 micro-batch, 8 ranks in 1 classes, 837 ops, "
                                 "43 submodules, 7 calls\nworkload-gen: 1 process groups, 1 NCCL communicators created\n")
        names = sorted(p.name for p in (self.out / "1-workload").iterdir())
        self.assertEqual(names, ["class-0.et", "manifest.pb"])

    def test_two_runs_are_equal_byte_for_byte(self):
        arguments = ["configs/models/llama-3-70b.yaml", "configs/clusters/dgx-h100-8.topo", "-q", "-o"]
        for run in "ab":
            self.assertEqual(self.run_tool(*arguments, self.folder / run), (0, "", ""))
        names = sorted(p.name for p in (self.folder / "a/1-workload").iterdir())
        self.assertEqual(names, ["class-0.et", "class-1.et", "class-2.et", "class-3.et", "manifest.pb"])
        same = filecmp.cmpfiles(self.folder / "a/1-workload", self.folder / "b/1-workload", names, shallow=False)
        self.assertEqual(same, (names, [], []))

    def test_check_and_dump_write_nothing(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "--check", "-q", "--alike-once"), (0, "", ""))
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "--dump", "-q")
        self.assertEqual((status, stderr), (0, ""))
        self.assertIn("\nclass 0: 837 ops\n", stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_every_shipped_model_fits_its_cluster(self):
        clusters = {"gpt-22b": "dgx-a100-80g-1", "llama": "dgx-h100-8"}
        hosts = {"gpt-530b": 35, "gpt-1.7b": 4, "gpt-7.5b": 16}
        for model in sorted((ROOT / "configs/models").glob("*.yaml")):
            kind = model.stem.removesuffix("-sp-selective")
            cluster = clusters.get(kind.split("-")[0], clusters.get(kind, "dgx-a100-80g-8"))
            size = ["--set", f"cluster.hosts={hosts[kind]}"] if kind in hosts else []
            with self.subTest(model=model.stem):
                self.assertEqual(
                    self.run_tool(model, f"configs/clusters/{cluster}.topo", "--check", "-q", *size), (0, "", ""))

    def test_missing_files(self):
        self.expect_error("no.yaml: error: cannot read: No such file or directory\n", "no.yaml", CLUSTER)
        self.expect_error("no.topo: error: cannot read: No such file or directory\n", MODEL, "no.topo")

    def test_a_folder_is_not_a_file(self):
        self.expect_error(f"{self.folder}: error: cannot read: Is a directory\n", self.folder, CLUSTER)

    def test_layout_that_does_not_fit(self):
        self.expect_error(
            "--set parallel.data=2: error: tensor 8 x pipeline 1 x context 1 x data 2 = 16 GPUs, but the cluster has "
            "8\n", MODEL, CLUSTER, "--set", "parallel.data=2")
        self.expect_error(
            "--set parallel.tensor=16: error: tensor 16 is more than the 8 GPUs of a dgx-a100-80g host\n",
            MODEL, "configs/clusters/dgx-a100-80g-8.topo", "--set", "parallel.tensor=16")

    def test_unknown_sections(self):
        self.expect_error(
            "--set modle.layers=2: error: no such section; sections are model, training, parallel, overlap (model.yaml) "
            "and cluster, hosts, fabric, transport, nccl (cluster.topo)\n", MODEL, CLUSTER, "--set", "modle.layers=2")

    def test_no_run_directory(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER),
                         (2, "", "workload-gen: error: -o RUN is required\nworkload-gen: see workload-gen --help\n"))

    def test_a_model_from_a_pipe_counts_by_its_content(self):
        pipe = self.folder / "model.yaml"
        os.mkfifo(pipe)
        text = (ROOT / MODEL).read_text()
        for model in [text, text.replace("layers: 48", "layers: 24"), text]:
            writer = threading.Thread(target=pipe.write_text, args=[model])
            writer.start()
            status, _, stderr = self.run_tool(pipe, CLUSTER, "-o", self.out, "--if-changed")
            writer.join()
            self.assertEqual(status, 0, stderr)
            self.assertNotIn("up to date", stderr)

    def test_nothing_is_done_twice(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "-q", "-o", self.out), (0, "", ""))
        again = self.run_tool(MODEL, CLUSTER, "-o", self.out, "--if-changed")
        self.assertEqual(again, (0, "", "workload-gen: up to date\n"))
        changed = self.run_tool(MODEL, CLUSTER, "-o", self.out, "--if-changed", "-q", "--set",
                                "training.recompute=none")
        self.assertEqual(changed, (0, "", ""))

    def test_a_nccl_library_that_is_not_one(self):
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "-o", self.out, "-q", "--nccl-library", MODEL)
        self.assertEqual((status, stdout), (1, ""))
        self.assertIn(MODEL, stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
