"""exec-engine over several processes: the same bytes as in one process, with any threads and any partitioning, on a
fabric whose features could depend on the order of events. If one process fails, all processes end, with one message."""

import csv
import io
import itertools
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line: where the executables are
MPIRUN = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]

# Four hosts on two leaves with a quarter of the uplinks they need, pauses, marks and rates, bit errors, a spine that fails
# and recovers, ports chosen by their queues.
CLUSTER = """
cluster: {name: congested, host: dgx-h100, hosts: 4}
hosts:
  dgx-h100:
    gpu: h100-sxm-80g
    gpus: 8
    board: {launch_speed: 1}  # the times of faults depend on it
    scale_up: {kind: nvswitch, switches: 4, bandwidth: 450 GB/s, latency: 600 ns, multicast: true}
    nics: {count: 8, rate: 400 Gbps, pcie: gen5 x16, latency: 600 ns}
fabric:
  kind: leaf-spine
  routing: adaptive
  leaf:  {ports: 20, rate: 400 Gbps, cable: 400 m, latency: 300 ns, buffer: 8 MB}
  spine: {ports: 4, rate: 400 Gbps, cable: 400 m, latency: 300 ns, buffer: 3 MB, oversubscription: 4}
transport:
  kind: roce-v2
  mtu: 4096 B
  flow_control: pfc
  congestion_control: dcqcn
  retransmission: selective-repeat
  attributes:
    FabricSwitch::EcnMin: 2000
    FabricSwitch::EcnMax: 40000
    FaultInjector::RerouteTime: 5 us
    RdmaTransport::AckTimeout: 60 us
faults:
  - {link: [host1/nic0, leaf0], bit_errors: 1e-7}
  - {switch: spine0, at: 5280 us, until: 5320 us}
"""
MODEL = ["--set", "model.layers=1", "--set", "model.hidden=256", "--set", "model.heads=8", "--set", "model.ffn=1024",
         "--set", "model.vocab=3200", "--set", "training.global_batch=16"]
PARTITIONINGS = ["neighbours", "in-turns", "by-layer"]


# Where /sys is missing, as in a bare container, OpenMPI's hwloc would comment on it in every process.
ENVIRONMENT = dict(os.environ, HWLOC_HIDE_ERRORS="2")


def run(*words):
    return subprocess.run([str(word) for word in words], cwd=ROOT, text=True, capture_output=True, timeout=240,
                          env=ENVIRONMENT)


def succeed(*words):
    done = run(*words)
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stderr}")
    return done


class Processes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.run_dir = cls.folder / "run"
        cluster = cls.folder / "congested.topo"
        cluster.write_text(CLUSTER)
        succeed(BIN / "workload-gen", "configs/models/gpt-22b.yaml", cluster, "-o", cls.run_dir, *MODEL)
        for stage in ("simccl", "compute-sim"):
            succeed(BIN / stage, cls.run_dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @staticmethod
    def generate(run_dir, cluster, *options):
        succeed(BIN / "workload-gen", "configs/models/gpt-22b.yaml", cluster, "-o", run_dir, *MODEL, *options)
        for stage in ("simccl", "compute-sim"):
            succeed(BIN / stage, run_dir)

    def engine(self, *options, processes=1, run_dir=None):
        start = MPIRUN + ["-np", processes] if processes > 1 else []
        return run(*start, BIN / "exec-engine", run_dir or self.run_dir, *options)

    def answer(self, *options, processes=1):
        """Returns all output of exec-engine and report for the run."""
        for made in self.run_dir.glob("[4s]*"):
            made.unlink()
        capture = self.run_dir / "4-up.pcap"
        done = self.engine("--network-log", "20 us", "--pcap", f"leaf0,spine0={capture}", *options, processes=processes)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("exec-engine:"), 1, done.stderr)
        succeed(BIN / "report", self.run_dir)
        names = ["4-timeline.pb", "4-links.csv", "4-messages.csv", "4-slowdown.csv", "4-up.pcap", "summary.json", "trace.json.gz"]
        return {name: (self.run_dir / name).read_bytes() for name in names}

    def test_same_bytes_for_any_processes_threads_and_partitioning(self):
        once = self.answer("--threads", "1")
        counters = json.loads(once["summary.json"])["network_counters"]
        for name in ["pause frames", "marked frames", "congestion notifications", "frames lost to faults",
                     "repeated packets", "ack timeouts", "ns of paused links"]:
            self.assertGreater(counters[name], 0, name)
        self.spine_dies_amid_traffic(once["4-links.csv"].decode())
        # The report's heat map has what the network logged, beside what the plans say.
        page = (self.run_dir / "report.html").read_text()
        self.assertIn('"Cables as the packet network logged them"', page)
        self.assertRegex(page, r'"name":"leaf0 to spine0 \(\d cables\)"')
        for processes, threads, partitioning in itertools.product([1, 2], [1, 2, 4], PARTITIONINGS):
            with self.subTest(processes=processes, threads=threads, partitioning=partitioning):
                again = self.answer("--threads", threads, "--partitioning", partitioning, processes=processes)
                for name, content in once.items():
                    self.assertEqual(again[name], content, name)

    def spine_dies_amid_traffic(self, links):
        """The spine sends before its failure, nothing during it, and again after it; otherwise the failure would test nothing."""
        sent = {"before": 0, "dead": 0, "after": 0}
        for row in csv.DictReader(io.StringIO(links)):
            if row["from"] == "spine0":
                time = float(row["time_us"])
                when = "before" if time <= 5280 else "dead" if time <= 5320 else "after"
                sent[when] += int(row["sent_bytes"])
        self.assertGreater(sent["before"], 0)
        self.assertEqual(sent["dead"], 0)
        self.assertGreater(sent["after"], 0)

    def test_same_bytes_with_slow_gpus_jitter_iterations_and_until(self):
        varied = self.folder / "varied"
        cluster = self.folder / "varied.topo"
        cluster.write_text(CLUSTER + "  - {gpu: host2/gpu3, slowdown: 1.3, at: 200 us, until: 900 us}\n"
                           "jitter: {compute: 0.05, call: 2 us, seed: 5}\n")
        self.generate(varied, cluster)

        def answer(processes, *options):
            done = self.engine(*options, processes=processes, run_dir=varied)
            self.assertEqual(done.returncode, 0, done.stderr)
            succeed(BIN / "report", varied)
            return (varied / "4-timeline.pb").read_bytes(), (varied / "summary.json").read_bytes()

        for length in ([], ["--until", "2 ms"], ["--iterations", "2"]):
            once = answer(1, "--threads", "1", *length)
            summary = json.loads(once[1])
            self.assertEqual("stopped_s" in summary, "--until" in length)
            self.assertEqual(len(summary.get("iterations_s", [])), 2 if "--iterations" in length else 0)
            self.assertGreater(summary["time"]["straggler_wait"]["mean_s"], 0)
            for processes, threads in [(1, 2), (1, 4), (2, 1), (2, 2), (2, 4)]:
                with self.subTest(length=length, processes=processes, threads=threads):
                    self.assertEqual(answer(processes, "--threads", threads, *length), once)

    # --- while it runs --------------------------------------------------------------------------

    def long_run(self):
        """A run directory whose replay takes several seconds."""
        long = self.folder / "long"
        if not long.exists():
            self.generate(long, self.folder / "congested.topo", "--set", "model.layers=16", "--set", "training.global_batch=32768")
        return long

    def test_an_interrupted_run_prints_its_progress(self):
        long = self.long_run()
        for quiet, words in [([], r"exec-engine: interrupted: \d+ of \d{4,} ops done, \d+\.\d{3} ms simulated\n"), (["-q"], "")]:
            command = [str(word) for word in [BIN / "exec-engine", long, "--threads", "1", *quiet]]
            for delay in (1, 2, 4, 8):  # into the run; earlier stages may take a while
                with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
                    time.sleep(delay)
                    self.assertIsNone(process.poll())
                    process.send_signal(signal.SIGINT)
                    said = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 130)
                self.assertEqual(list(long.glob("*4-*")), [])
                if said or quiet:
                    break
            self.assertRegex(said, f"^{words}$")

    def test_a_terminal_shows_the_progress(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a root folder without /dev/pts
            self.skipTest(f"no terminal can be opened here: {error}")
        command = [str(word) for word in [BIN / "exec-engine", self.long_run(), "--threads", "1"]]
        with subprocess.Popen(command, stderr=theirs) as process:
            os.close(theirs)
            said = b""
            while b" left" not in said:
                said += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
        os.close(ours)
        self.assertRegex(said.decode(), r"\r\x1b\[Kexec-engine: \d+ %, [\d.]+ [mu]?s simulated, \d+ of \d+ ops, "
                                        r"[\d.]+ [kM] events/s, [\d.]+ (s|min|h) left")

    # --- errors ---------------------------------------------------------------------------------

    def expect_error(self, status, message, *options, **where):
        """Expects the same error from two processes as from one."""
        for processes in (1, 2):
            done = self.engine("--threads", "1", *options, processes=processes, **where)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", message), processes)

    def test_input_errors_are_printed_once(self):
        nowhere = self.folder / "nowhere"
        self.expect_error(1, f"{nowhere}/1-workload/manifest.pb: error: there is no workload manifest yet; run workload-gen first\n",
                          run_dir=nowhere)

    def test_usage_errors_are_printed_once(self):
        self.expect_error(2, "exec-engine: error: there is no partitioning 'by-layers'; did you mean 'by-layer'?; valid values "
                             "are neighbours, in-turns, by-layer\nexec-engine: see exec-engine --help\n",
                          "--partitioning", "by-layers")

    def test_a_capture_does_not_overwrite_another_file(self):
        manifest = self.run_dir / "1-workload/manifest.pb"
        before = manifest.read_bytes()
        self.expect_error(1, f"{manifest}: error: this file exists and is not a capture; name another file\n", "--pcap", f"leaf0={manifest}")
        self.assertEqual(manifest.read_bytes(), before)

    def test_a_run_that_fails_during_the_replay(self):
        broken = self.folder / "broken"
        cluster = self.folder / "broken.topo"
        cluster.write_text(CLUSTER + "  - {nic: host3/nic1, at: 5300 us}\n")
        succeed(BIN / "workload-gen", "configs/models/gpt-22b.yaml", cluster, "-o", broken, *MODEL)
        for stage in ("simccl", "compute-sim"):
            succeed(BIN / stage, broken)
        first = self.engine(run_dir=broken)
        self.assertRegex(first.stderr, rf"^{broken}: error: a queue pair from host \d to host \d gave up at [^\n]*\n$")
        self.expect_error(1, first.stderr, run_dir=broken)
        self.assertEqual(list(broken.glob("*4-timeline*")), [])

    def test_one_killed_process_ends_all_processes(self):
        long = self.long_run()
        command = [BIN / "exec-engine", long, "--threads", "1"]
        with subprocess.Popen([str(word) for word in [*MPIRUN, "-np", 2, *command]], stderr=subprocess.DEVNULL,
                              env=ENVIRONMENT) as start:
            engines = self.children(start.pid, 2)
            time.sleep(1)  # into the run
            self.assertIsNone(start.poll())
            os.kill(engines[1], signal.SIGKILL)
            self.assertNotEqual(start.wait(timeout=60), 0)
        deadline = time.monotonic() + 30
        while any(self.runs(engine) for engine in engines):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual(list(long.glob("*4-*")), [])

    @staticmethod
    def runs(process):
        try:
            status = pathlib.Path(f"/proc/{process}/stat").read_text()
        except FileNotFoundError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"  # a zombie has ended

    @staticmethod
    def children(parent, count):
        """Waits until the given number of exec-engines have started below mpirun."""
        for _ in range(600):
            found = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            found = [int(pid) for pid in found if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "exec-engine"]
            if len(found) == count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{count} processes did not start")

    def test_the_analytical_network_has_one_process(self):
        plain = self.folder / "plain"
        cluster = self.folder / "plain.topo"
        cluster.write_text(CLUSTER.split("faults:")[0])
        succeed(BIN / "workload-gen", "configs/models/gpt-22b.yaml", cluster, "-o", plain, *MODEL)
        for stage in ("simccl", "compute-sim"):
            succeed(BIN / stage, plain)
        done = self.engine("--network", "analytical", "-q", processes=2, run_dir=plain)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"{plain}: error: the analytical network runs in one process; leave out mpirun\n"))

    def test_processes_with_different_runs_are_refused(self):
        other = self.folder / "other"
        shutil.copytree(self.run_dir, other)
        succeed(BIN / "workload-gen", "configs/models/gpt-22b.yaml", self.folder / "congested.topo", "-o", other, *MODEL,
                "--set", "training.global_batch=32")
        for stage in ("simccl", "compute-sim"):
            succeed(BIN / stage, other)
        done = run(*MPIRUN, "-np", "1", BIN / "exec-engine", self.run_dir, ":", "-np", "1", BIN / "exec-engine", other)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"{self.run_dir}: error: process 1 is given another run, other options or another version than "
                             "process 0; mpirun must start every process with the same arguments\n"))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
