"""Two tools that write into one run directory: the second ends at once, and says which process has the directory. And what
tools show of their progress in a log, which has no line in the middle of another."""

import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line: where the executables are
# Takes seconds over packets, and much less in all other stages.
LONG = ["--set", "model.layers=4", "--set", "model.hidden=2048", "--set", "model.heads=16", "--set", "model.ffn=8192",
        "--set", "training.global_batch=128"]
INPUTS = ["configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-8.topo"]
ROOT_USER = ["--allow-run-as-root"] if os.geteuid() == 0 else []
MPIRUN = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", *ROOT_USER, "-np", "2"]
# A file system without locks: flock fails as on one.
NO_FLOCK = """
#include <errno.h>
int flock(int file, int operation) { errno = ENOSYS; return -1; }
"""


def words_of(*words):
    return [str(word) for word in words]


def run(*words, **options):
    return subprocess.run(words_of(*words), cwd=ROOT, text=True, capture_output=True, timeout=300, **options)


def succeed(*words, **options):
    done = run(*words, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stderr}")
    return done


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class RunLock(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.planned = cls.folder / "planned"
        succeed(BIN / "workload-gen", *INPUTS, "-o", cls.planned, *LONG, "-q")
        succeed(BIN / "simccl", cls.planned, "-q")
        succeed(BIN / "compute-sim", cls.planned, "-q")

    def setUp(self):
        self.run_dir = self.folder / "run"
        shutil.copytree(self.planned, self.run_dir)
        self.addCleanup(shutil.rmtree, self.run_dir)

    def holder(self, *before):
        """Starts exec-engine over packets and waits until it has the lock."""
        process = subprocess.Popen(words_of(*before, BIN / "exec-engine", self.run_dir, "-q"), cwd=ROOT, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while not (self.run_dir / ".lock").exists() or not (self.run_dir / ".lock").read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return process

    def test_every_tool_that_writes_is_refused_at_once(self):
        before = content(self.run_dir)
        process = self.holder()
        said = f"{self.run_dir}: error: process {process.pid} (exec-engine {self.run_dir} -q) is writing into this directory; " \
            "wait for its end, or give another directory\n"
        for command in (["workload-gen", *INPUTS, "-o", self.run_dir], ["simccl", self.run_dir], ["compute-sim", self.run_dir],
                        ["exec-engine", self.run_dir], ["exec-engine", "what-if", self.run_dir], ["report", self.run_dir],
                        ["drydock", "run", *INPUTS, "--out", self.run_dir],
                        ["workload-gen", "merge", self.run_dir, "-o", self.run_dir],
                        ["workload-gen", "import", "nothing", "--from", "goal", "--cluster", INPUTS[1], "-o", self.run_dir]):
            with self.subTest(command=command):
                done = run(BIN / command[0], *command[1:])
                self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", said))
        # What writes nothing needs no lock.
        succeed(BIN / "simccl", self.run_dir, "--check", "-q")
        succeed(BIN / "simccl", self.run_dir, "--dump")
        succeed(BIN / "workload-gen", "dump", self.run_dir)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(content(self.run_dir), before)

    def test_a_killed_holder_leaves_no_lock(self):
        process = self.holder()
        process.kill()
        process.communicate(timeout=60)
        self.assertTrue((self.run_dir / ".lock").exists())
        succeed(BIN / "compute-sim", self.run_dir, "-q")
        self.assertFalse((self.run_dir / ".lock").exists())

    def test_several_processes_have_one_lock(self):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")
        environment = dict(os.environ, HWLOC_HIDE_ERRORS="2")
        process = subprocess.Popen(words_of(*MPIRUN, BIN / "exec-engine", self.run_dir, "-q"), cwd=ROOT, env=environment,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        end = time.monotonic() + 60
        while not (self.run_dir / ".lock").exists() or not (self.run_dir / ".lock").read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        done = run(*MPIRUN, BIN / "exec-engine", self.run_dir, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^{self.run_dir}: error: process \d+ \(exec-engine {self.run_dir} -q\) is writing")
        self.assertEqual(done.stderr.count("error:"), 1)

    def test_the_stages_of_a_run_do_not_wait_for_it(self):
        out = self.folder / "whole"
        for options in ([], ["--processes", "2", "--from", "exec-engine"]):
            if options and shutil.which("mpirun") is None:
                continue
            succeed(BIN / "drydock", "run", *INPUTS, "--out", out, "--set", "model.layers=1", "--network", "packet",
                    "--set", "training.global_batch=32", "-q", *options)
            self.assertTrue((out / "summary.json").exists())
            self.assertFalse((out / ".lock").exists())

    def test_wrong_input_leaves_no_directory(self):
        done = run(BIN / "workload-gen", "nothing.yaml", INPUTS[1], "-o", self.folder / "new/run")
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "new").exists())

    @unittest.skipIf(os.geteuid() == 0 and shutil.which("setpriv") is None, "root may write everywhere")
    def test_a_directory_that_cannot_be_written(self):
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        self.folder.chmod(0o755)
        succeed(BIN / "simccl", self.run_dir, "-q")
        mode = self.run_dir.stat().st_mode
        self.run_dir.chmod(0o555)
        self.addCleanup(self.run_dir.chmod, stat.S_IMODE(mode))
        if user and run(*user, "test", "-x", BIN / "simccl").returncode != 0:
            self.skipTest("another user cannot reach the executables")
        done = run(*user, BIN / "simccl", self.run_dir)
        self.assertEqual((done.returncode, done.stderr), (1, f"{self.run_dir}/2-flows.pb: error: cannot write: Permission denied\n"))
        # Nothing is written, so no lock is needed.
        succeed(*user, BIN / "simccl", self.run_dir, "--if-changed")

    def test_a_file_system_without_locks(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        source, library = self.folder / "no_flock.c", self.folder / "no_flock.so"
        source.write_text(NO_FLOCK)
        succeed(compiler, "-shared", "-fPIC", source, "-o", library)
        environment = dict(os.environ, LD_PRELOAD=str(library))
        done = succeed(BIN / "compute-sim", self.run_dir, env=environment)
        words = f"the file system of {self.run_dir} has no locks (Function not implemented), so two processes that write into this " \
            "directory at the same time are not noticed"
        self.assertIn(f"compute-sim: warning: {words}\n", done.stderr)
        self.assertFalse((self.run_dir / ".lock").exists())
        # The stages of a run do not repeat it.
        out = self.folder / "without-locks"
        done = succeed(BIN / "drydock", "run", *INPUTS, "--out", out, *LONG, "--network", "analytical", env=environment)
        self.assertEqual(done.stderr.count("has no locks"), 1)


class Progress(unittest.TestCase):
    """--progress-interval is for this test: a log gets a line each 30 s, which is too long to wait for."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def log_of(self, *command):
        """Returns the lines of standard output and error in one file."""
        log = self.folder / "log"
        with log.open("w") as file:
            subprocess.run(words_of(*command, "--progress-interval", 1), cwd=ROOT, stdout=file, stderr=file, check=True, timeout=300)
        return log.read_text().splitlines()

    def expect(self, lines, progress, others):
        """Every line is wholly one of these patterns, and some show the progress."""
        found = [line for line in lines if re.fullmatch(progress, line)]
        self.assertTrue(found, lines[:20])
        for line in lines:
            self.assertRegex(line, rf"^(?:{progress}|{others})$")

    def test_each_tool(self):
        run_dir = self.folder / "run"
        tool = lambda name: rf"{name}: (?!\d+ of \d+ |[a-z -]+ \(\d+ s so far\)).+"
        counted = r"\d+ of \d+ [a-z -]+(?:\.set)?.*?(?:, about \d+ s left)?"
        self.expect(self.log_of(BIN / "workload-gen", *INPUTS, "-o", run_dir, *LONG),
                    rf"workload-gen: (?:[a-z0-9/ -]+ \(\d+ s so far\)|{counted})", tool("workload-gen"))
        self.expect(self.log_of(BIN / "simccl", run_dir), rf"simccl: {counted}", tool("simccl"))
        self.log_of(BIN / "compute-sim", run_dir)  # takes less than a millisecond here
        self.expect(self.log_of(BIN / "exec-engine", run_dir, "--network", "fluid"),
                    r"exec-engine: \d+ %, [\d.]+ \w+ simulated, \d+ of \d+ ops.*", tool("exec-engine"))
        lines = self.log_of(BIN / "report", run_dir)
        progress = [line for line in lines if re.fullmatch(r"report: [a-z ]+ \(\d+ s so far\)", line)]
        self.assertIn("report: reads the run (0 s so far)", progress)
        summary = (run_dir / "summary.txt").read_text().splitlines()
        self.assertEqual([line for line in lines if line not in progress][:-1], summary)

    def test_collective_perf(self):
        lines = self.log_of(BIN / "collective-perf", "all_reduce", "-b", "1M", "-e", "64M", "-f", "4", "--cluster",
                            "configs/clusters/dgx-h100-8.topo", "--network", "packet")
        self.expect(lines, r"collective-perf: (?:size \d of 4, \d+ %|plans \d+ calls \(\d+ s so far\))", r"#.*|[\d ].*|")

    def test_quiet(self):
        lines = self.log_of(BIN / "workload-gen", *INPUTS, "-o", self.folder / "quiet", *LONG, "-q")
        self.assertEqual(lines, [])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
