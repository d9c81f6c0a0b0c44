"""drydock-sweep --on slurm with a real Slurm: its daemons, with two nodes, on this machine.

Usage: slurm_test.py BIN

Exit status 77 (skipped) if Slurm is not installed or this user is not root.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
POINTS = ["gpt-1.7b", "dgx-a100-80g-1", "--set", "model.layers=4", "--set", "training.micro_batch=1", "--no-pages"]
SHORT = [*POINTS, "--network", "analytical", "--set", "training.global_batch=16", "--over", "parallel.tensor=1,2,4",
         "--over", "parallel.pipeline=1,2"]
# Seconds each.
LONG = [*POINTS, "--network", "fluid", "--set", "training.global_batch=4096", "--over", "parallel.pipeline=1,2,4", "--over",
        "parallel.tensor=1,2"]

CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,requeue_setup_env_fail
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=5
MpiDefault=none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def is_there():
    programs = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "sinfo"]
    return os.geteuid() == 0 and all(shutil.which(each, path=os.environ["PATH"] + ":/usr/sbin") for each in programs)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """munged, slurmctld and two slurmd in a folder of their own."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm"))
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        port, first, second = free_ports(3)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, port=port, first=first, second=second))
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.daemons = [self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                                   f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                                   f"--seed-file={self.folder}/munge.seed")]
        self.daemons.append(self.start("slurmctld", "-D"))
        self.nodes = {name: self.start("slurmd", "-D", "-N", name) for name in ["n1", "n2"]}
        self.wait_for("idle", 2)

    def start(self, *words):
        return subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)

    def call(self, *words, **more):
        return subprocess.run(list(map(str, words)), env=self.environment, text=True, capture_output=True, timeout=300, cwd=ROOT,
                              **more)

    def wait_for(self, state, count):
        end = time.monotonic() + 60
        while True:
            found = self.call("sinfo", "-h", "-N", "-o", "%t").stdout.split()
            if found.count(state) >= count:
                return
            if time.monotonic() > end:
                raise AssertionError(f"nodes are {found}, not {state}: {self.call('tail', '-20', self.folder / 'slurmctld.log').stdout}")
            time.sleep(0.2)

    def jobs(self):
        return self.call("squeue", "-h", "-o", "%i %T %N").stdout.splitlines()

    def end(self):
        self.call("scancel", "--user=root")
        for process in [*self.nodes.values(), *reversed(self.daemons)]:
            process.terminate()
            process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())

    def tearDown(self):
        shutil.rmtree(self.folder)

    def sweep(self, *arguments, out, before=()):
        return self.cluster.call(*before, BIN / "drydock-sweep", *arguments, "-o", self.folder / out)

    def begin(self, *arguments, out):
        """Starts a sweep, and waits until two of its jobs run."""
        words = [BIN / "drydock-sweep", *arguments, "-o", self.folder / out]
        process = subprocess.Popen(list(map(str, words)), env=self.cluster.environment, cwd=ROOT, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while sum("RUNNING" in line for line in self.cluster.jobs()) < 2:
            self.assertLess(time.monotonic(), end, self.cluster.jobs())
            self.assertIsNone(process.poll())
            time.sleep(0.1)
        return process

    def table(self, out):
        return (self.folder / out / "sweep.csv").read_bytes()

    def test_the_table_is_that_of_this_machine(self):
        self.assertEqual(self.sweep(*SHORT, out="local").returncode, 0)
        for name, words in {"slurm": ["--on", "slurm:partition=all,time=5", "--jobs", 3],
                            "command": ["--on", "command:nice {job}", "--jobs", 2]}.items():
            done = self.sweep(*SHORT, *words, out=name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.table(name), self.table("local"))
        self.assertEqual(len(list((self.folder / "slurm/jobs").glob("*.json"))), 3)
        # Nothing is left to do.
        done = self.sweep(*SHORT, "--on", "slurm", out="slurm")
        self.assertIn("6 of 6 points are known from an earlier call", done.stderr)

    def test_inside_an_allocation(self):
        self.assertEqual(self.sweep(*SHORT, out="local").returncode, 0)
        done = self.sweep(*SHORT, "--on", "srun", "--jobs", 2, out="srun", before=["salloc", "--quiet", "--ntasks=2"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.table("srun"), self.table("local"))

    def test_a_node_that_dies(self):
        process = self.begin(*LONG, "--on", "slurm", "--jobs", 3, out="node")
        node = self.cluster.nodes["n1"]
        subprocess.run(["pkill", "-KILL", "-f", f"{self.folder}/node/jobs"])  # the node's processes die with it, and the other's
        node.kill()
        node.wait()
        self.cluster.wait_for("down*", 1)
        self.cluster.nodes["n1"] = self.cluster.start("slurmd", "-D", "-N", "n1")
        process.communicate(timeout=300)
        # Slurm requeues the job of the dead node. The other one has failed and left its points.
        again = self.sweep(*LONG, "--on", "slurm", "--jobs", 2, out="node")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.sweep(*LONG, out="local").returncode, 0)
        self.assertEqual(self.table("node"), self.table("local"))
        self.cluster.wait_for("idle", 2)

    def test_jobs_that_are_cancelled_leave_their_points(self):
        process = self.begin(*LONG, "--on", "slurm", "--jobs", 2, out="cancelled")
        self.cluster.call("scancel", "--user=root")
        _, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(error, r"not in the table, the first is \w{16}: job \d did not write it: ")
        self.assertIn("the same command tries them again", error)

    def test_an_interrupt_ends_the_jobs(self):
        process = self.begin(*LONG, "--on", "slurm", "--jobs", 2, out="interrupted")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        end = time.monotonic() + 30
        while self.cluster.jobs() and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.cluster.jobs(), [])

    def test_mistakes(self):
        done = self.sweep(*SHORT, "--on", "slurm:partition=nowhere", out="mistake")
        self.assertEqual(done.returncode, 1)
        self.assertIn("invalid partition", done.stderr)
        self.assertIn("sbatch did not run the jobs (exit status 1)", done.stderr)
        bare = {**self.cluster.environment, "PATH": "/nowhere"}
        done = subprocess.run([str(BIN / "drydock-sweep"), *map(str, SHORT), "--on", "slurm", "-o", str(self.folder / "bare")], env=bare,
                              text=True, capture_output=True, cwd=ROOT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no sbatch on this machine: install Slurm's client", done.stderr)
        done = self.sweep("--job", self.folder / "nothing.json", out="job")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing.json", done.stderr)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    if not is_there():
        print("Slurm is not installed, or this user is not root", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
