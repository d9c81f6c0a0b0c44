"""The five executables in a row: complete runs, no repeated work, equal bytes, and the failures that can occur
between them. A small run (22B's layers, four of them, on 2 x 8 A100) goes through the packet network."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line: where the executables are
MODEL, CLUSTER = "configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-8.topo"
SMALL = ["--set", "model.layers=4", "--set", "cluster.hosts=2", "--set", "training.global_batch=16"]
STAGES = ["workload-gen", "simccl", "compute-sim", "exec-engine", "report"]
# Root can write everywhere unless it drops this capability.
MORTAL = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
ARTEFACTS = ["1-memory.pb", "1-workload/class-0.et", "1-workload/manifest.pb", "1-workload/topology.pb", "2-flows.pb",
             "3-times.pb", "4-timeline.pb", "critical-path.csv", "report.html", "summary.json", "summary.txt", "trace.json.gz"]


def artefacts(run):
    """Path -> bytes of everything in a run directory but the stamps."""
    files = (path for path in run.rglob("*") if path.is_file())
    named = {path.relative_to(run).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in sorted(named.items()) if not name.startswith(".")}


class Pipeline(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp())
        cls.good = cls.shared / "good"
        for stage in STAGES:
            cls.run_stage(stage, cls.good, check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def setUp(self):
        self.run_dir = self.shared / self.id().rsplit(".", 1)[1]
        shutil.copytree(self.good, self.run_dir)
        self.addCleanup(shutil.rmtree, self.run_dir, ignore_errors=True)

    @staticmethod
    def command(stage, run, *more):
        inputs = [MODEL, CLUSTER, "-o", run, *SMALL] if stage == "workload-gen" else [run]
        # One thread unless a test says otherwise: two threads on two busy cores mostly wait for each other.
        if stage == "exec-engine" and "--threads" not in more:
            more += ("--threads", "1")
        return [BIN / stage, *inputs, *more]

    @classmethod
    def run_stage(cls, stage, run, *more, check=False, prefix=(), **options):
        done = subprocess.run([*prefix, *cls.command(stage, run, *more)], cwd=ROOT, text=True, capture_output=True, timeout=240,
                              **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{stage}: exit status {done.returncode}\n{done.stderr}")
        return done

    def expect_error(self, stage, message, *more, **options):
        done = self.run_stage(stage, self.run_dir, "-q", *more, **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", message))

    # --- a run ----------------------------------------------------------------------------------

    def test_the_run_directory_is_complete(self):
        self.assertEqual(list(artefacts(self.good)), ARTEFACTS)

    def test_unchanged_stages_are_not_repeated(self):
        before = {path: path.stat().st_mtime_ns for path in self.good.rglob("*")}
        for stage in STAGES:
            done = self.run_stage(stage, self.good, "--if-changed", check=True)
            # report prints the summary again, because it is the answer.
            shown = (self.good / "summary.txt").read_text() if stage == "report" else ""
            self.assertEqual((done.stdout, done.stderr), (shown, f"{stage}: up to date\n"))
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.good.rglob("*")}, before)

    def test_another_network_repeats_the_last_two_stages_only(self):
        for stage in STAGES:  # a copied run directory has no stamps of an earlier run
            self.run_stage(stage, self.run_dir, check=True)
        ran = []
        for stage in STAGES:
            more = ["--network", "analytical"] if stage == "exec-engine" else []
            done = self.run_stage(stage, self.run_dir, "--if-changed", *more, check=True)
            ran += [] if done.stderr == f"{stage}: up to date\n" else [stage]
        self.assertEqual(ran, ["exec-engine", "report"])

    def test_a_second_run_elsewhere_gives_the_same_bytes_with_other_threads_and_environment(self):
        environment = {"PATH": os.environ["PATH"], "NCCL_ALGO": "Tree", "NCCL_PROTO": "LL", "NCCL_DEBUG": "INFO",
                       "NCCL_TOPO_FILE": "/nowhere", "NS_LOG": "*", "OMP_NUM_THREADS": "1"}
        again = self.shared / "another name"
        self.addCleanup(shutil.rmtree, again)
        for stage in STAGES:
            more = ["--threads", "2"] if stage == "exec-engine" else []
            self.run_stage(stage, again, *more, check=True, env=environment)
        wanted, got = artefacts(self.good), artefacts(again)
        self.assertEqual(list(got), list(wanted))
        self.assertEqual([name for name in wanted if wanted[name] != got[name]], [])

    def test_the_language_of_the_user_changes_nothing(self):
        """German writes 1,5; the capital of a Turkish i is not I."""
        locales = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, locales)
        for language in ["de_DE", "tr_TR"]:
            with self.subTest(language=language):
                subprocess.run(["localedef", "-i", language, "-f", "UTF-8", locales / f"{language}.UTF-8"], check=True)
                environment = {"PATH": os.environ["PATH"], "LOCPATH": str(locales), "LC_ALL": f"{language}.UTF-8"}
                spoken = subprocess.run(["bash", "-c", "printf %.1f 1,5"], env=environment, capture_output=True, text=True)
                self.assertEqual(spoken.stdout, "1,5", "the language is installed")
                again = self.shared / language
                self.addCleanup(shutil.rmtree, again)
                for stage in STAGES:
                    self.run_stage(stage, again, check=True, env=environment)
                wanted, got = artefacts(self.good), artefacts(again)
                self.assertEqual(list(got), list(wanted))
                self.assertEqual([name for name in wanted if wanted[name] != got[name]], [])
                done = self.run_stage("exec-engine", again, "--network", "fluif", env=environment)
                self.assertIn("did you mean 'fluid'", done.stderr)

    # --- artefacts in the run directory ---------------------------------------------------------

    def test_a_missing_artefact_is_refused(self):
        for file, stage, what, maker in [
            ("1-workload/manifest.pb", "simccl", "workload manifest", "workload-gen"),
            ("1-workload/manifest.pb", "compute-sim", "workload manifest", "workload-gen"),
            ("1-workload/topology.pb", "compute-sim", "topology", "workload-gen"),
            ("2-flows.pb", "exec-engine", "flow plan", "simccl"),
            ("4-timeline.pb", "report", "timeline", "exec-engine"),
        ]:
            with self.subTest(file=file, stage=stage):
                path = self.run_dir / file
                content = path.read_bytes()
                path.unlink()
                self.expect_error(stage, f"{path}: error: there is no {what} yet; run {maker} first\n")
                path.write_bytes(content)

    def test_a_stale_artefact_is_refused(self):
        self.run_stage("workload-gen", self.run_dir, "--set", "model.layers=8", check=True)
        stale = "error: stale: it was made from another 1-workload/manifest.pb; run"
        self.expect_error("exec-engine", f"{self.run_dir}/2-flows.pb: {stale} simccl again\n")
        self.run_stage("simccl", self.run_dir, check=True)
        self.expect_error("exec-engine", f"{self.run_dir}/3-times.pb: {stale} compute-sim again\n")
        self.run_stage("compute-sim", self.run_dir, check=True)
        self.expect_error("report", f"{self.run_dir}/4-timeline.pb: {stale} exec-engine again\n")

    def test_a_damaged_artefact_is_refused(self):
        for file, stage, what, maker in [
            ("1-workload/manifest.pb", "simccl", "workload manifest", "workload-gen"),
            ("1-workload/topology.pb", "compute-sim", "topology", "workload-gen"),
            ("2-flows.pb", "exec-engine", "flow plan", "simccl"),
            ("4-timeline.pb", "report", "timeline", "exec-engine"),
        ]:
            path = self.run_dir / file
            content = path.read_bytes()
            middle = len(content) // 2
            flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:]
            for kind, bad in [("cut", content[:-7]), ("empty", b""), ("one bit", flipped), ("foreign", b"PK\3\4" * 99)]:
                with self.subTest(file=file, kind=kind):
                    path.write_bytes(bad)
                    self.expect_error(
                        stage, f"{path}: error: this is not a {what}, or it is damaged; run {maker} again\n")
            path.write_bytes(content)

    def test_a_trace_of_another_workload_is_refused(self):
        trace = self.run_dir / "1-workload/class-0.et"
        trace.write_bytes(trace.read_bytes()[:-7])
        self.expect_error("exec-engine", f"{trace}: error: this is not the trace the manifest was written with; "
                          "run workload-gen again\n")

    # --- writing --------------------------------------------------------------------------------

    def test_a_disk_that_fills_up_leaves_the_old_artefacts(self):
        def small_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        before = artefacts(self.run_dir)
        for stage, file in [("workload-gen", "1-workload"), ("simccl", "2-flows.pb"), ("compute-sim", "3-times.pb"),
                            ("exec-engine", "4-timeline.pb")]:
            with self.subTest(stage=stage):
                done = self.run_stage(stage, self.run_dir, "-q", preexec_fn=small_disk)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^{re.escape(str(self.run_dir / file))}\S*: "
                                 r"error: cannot write: File too large\n$")
        self.assertEqual(artefacts(self.run_dir), before)

    def test_an_interrupted_stage_leaves_the_old_artefacts(self):
        before = artefacts(self.run_dir)
        for stage in STAGES:
            for delay in [0.0, 0.005, 0.02, 0.08]:
                with self.subTest(stage=stage, delay=delay):
                    process = subprocess.Popen(self.command(stage, self.run_dir, "-q"), cwd=ROOT,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                    time.sleep(delay)
                    process.send_signal(signal.SIGINT)
                    process.communicate(timeout=60)
                    # Before main() the signal kills (-2); after the last byte the answer is complete (0).
                    self.assertIn(process.returncode, [130, -signal.SIGINT, 0])
                    self.assertEqual(artefacts(self.run_dir), before)

    def test_a_read_only_run_directory(self):
        self.addCleanup(self.run_dir.chmod, 0o755)
        self.run_dir.chmod(0o555)
        self.expect_error("simccl", f"{self.run_dir}/2-flows.pb: error: cannot write: Permission denied\n",
                          prefix=MORTAL)

    def test_a_closed_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(self.command("report", self.run_dir), cwd=ROOT, text=True, stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                         (1, "report: error: cannot write to standard output"))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
