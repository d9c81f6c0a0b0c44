"""Tests drydock-capture from a command to a run that the other tools read: launchers, scripts, and what a rank is told.

PyTorch is the one of third_party/pytorch/wheels.txt; the test fetches it first. If that fails, the test is skipped and says so.
"""
import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "configs/clusters/dgx-h100-8.topo"
PROGRAM = ROOT / "tests/capture/programs/trained.py"
SKIPPED = 77
OPTIONS = None  # from the command line


class Commands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def capture(self, *words, options=(), hosts=2, environment=(), status=0):
        """Returns the run directory and what drydock-capture said."""
        run = self.folder / self.id().rsplit(".", 1)[1]
        done = subprocess.run(
            [OPTIONS.bin / "drydock", "capture", "--cluster", CLUSTER, "--set", f"cluster.hosts={hosts}", "--cache",
             self.folder / "cache", "--python", sys.executable, "-v", "-o", run, *options, "--", *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(OPTIONS.pytorch), "OMP_NUM_THREADS": "1", **dict(environment)}, text=True,
            capture_output=True, timeout=900, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return run, done.stderr

    def told(self, said):
        """What the program has printed of itself: rank, world, local rank, arguments."""
        return re.search(r"^told (.*)$", said, re.M)[1]

    def test_torchrun(self):
        run, said = self.capture("torchrun", "--nproc-per-node", "gpu", PROGRAM, "--name", "a b")
        self.assertEqual(self.told(said), "0 8 0 ['--name', 'a b']")
        manifest = (run / "1-workload/manifest.pb").read_bytes()
        for option in (f"command=torchrun --nproc-per-node gpu {PROGRAM} --name 'a b'", "launcher=torchrun", "hosts=1",
                       "ranks-per-host=8", "variable=OMP_NUM_THREADS=1", f"python={platform.python_version()} ", "pytorch=2.9.1"):
            self.assertIn(option.encode(), manifest)
        for tool in ("simccl", "compute-sim", "exec-engine", "report"):
            subprocess.run([OPTIONS.bin / tool, run, "-q", *(["--network", "analytical"] if tool == "exec-engine" else [])],
                           check=True, timeout=300)
        summary = (run / "summary.txt").read_text()
        self.assertIn("trained.py", summary)
        self.assertIn("all-reduce", summary)
        checked = subprocess.run([OPTIONS.bin / "workload-gen", "check", run, "--cluster", CLUSTER, "--set", "cluster.hosts=2"])
        self.assertEqual(checked.returncode, 0)

    def test_a_script_whose_ranks_get_their_number_as_an_argument(self):
        (self.folder / "run.sh").write_text(f"""#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
echo '["of the script"]' > $TMPDIR/made.json
srun bash -c 'python {PROGRAM} --local_rank=$SLURM_LOCALID --config $TMPDIR/made.json'
""")
        _, said = self.capture("bash", "run.sh")
        self.assertRegex(self.told(said), r"0 2 0 \['--local_rank=0', '--config', '.*made.json'\] \['of the script'\]$")

    def test_python_alone_is_told_no_rank(self):
        _, said = self.capture("python", PROGRAM, environment={"MASTER_ADDR": "somewhere"})
        self.assertEqual(self.told(said), "none none none []")

    def test_a_program_that_starts_its_ranks_itself(self):
        program = PROGRAM.with_name("spawned.py")
        run, said = self.capture("python", program, 8, options=["--nproc-per-node", "8"])
        rank, world, made = self.told(said).split()
        self.assertEqual((rank, world), ("0", "8"))
        self.assertFalse(pathlib.Path(made).exists(), "a folder of the program's is left")
        counted = subprocess.run([OPTIONS.bin / "workload-gen", "stats", run], text=True, capture_output=True, check=True).stdout
        self.assertIn("all-reduce", counted)
        run, said = self.capture("python", program, 8, status=1)
        self.assertIn("spawned.py:29: error: rank 0: RuntimeError: the program starts 8 processes itself, and a capture runs one; "
                      "write --nproc-per-node 8 before --, and each is a rank\n", said)

    def test_a_group_of_other_ranks_than_those_of_the_capture(self):
        run, said = self.capture("python", PROGRAM.with_name("spawned.py"), 1, status=1)
        self.assertIn("spawned.py:13: error: rank 0: RuntimeError: the program joins its ranks as rank 0 of 4, but a capture runs it "
                      "here as rank 0 of 1; write a launcher before the program, or --nnodes and --nproc-per-node before --\n", said)
        self.assertFalse(run.exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--pytorch", required=True, type=pathlib.Path)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bin, OPTIONS.pytorch = OPTIONS.bin.resolve(), OPTIONS.pytorch.resolve()
    fetched = subprocess.run([sys.executable, ROOT / "third_party/pytorch/fetch.py", OPTIONS.pytorch], timeout=1500)
    if fetched.returncode != 0:
        print("SKIPPED: no program is captured on this machine: PyTorch cannot be fetched", file=sys.stderr)
        sys.exit(SKIPPED if fetched.returncode == SKIPPED else 1)
    unittest.main(argv=[sys.argv[0], *rest])
