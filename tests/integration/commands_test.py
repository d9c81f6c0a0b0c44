"""The two commands and the set-up: order, idempotence, resumption, options, and the exact message of every error.

Usage: commands_test.py DRYDOCK
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import sandbox

MISTAKE = "run_pipeline.sh: see ./run_pipeline.sh --help\n"
SETUP = """Setting up what is missing (logs in .deps/log):
  source of NCCL 2.29.7-1 N s
  building NCCL 2.29.7-1 N s
  source of ns-3 3.37 N s
  building ns-3 3.37 N s
  configuring Drydock (release) N s
  building Drydock (release) N s
"""
STAGES = "".join(f"{tool}: done\n" for tool in sandbox.TOOLS)
INPUTS = ["model.yaml", "cluster.topo"]


def read(path):
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


class Commands(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.sandbox = sandbox.Sandbox()
        self.addCleanup(self.sandbox.remove)
        self.box, self.world = self.sandbox.box, self.sandbox.world

    def build(self):
        """Sets everything up, so that the next call finds it built."""
        self.pipeline(*INPUTS)
        self.sandbox.calls()

    def pipeline(self, *arguments, cwd=None):
        return self.sandbox.run("run_pipeline.sh", *arguments, cwd=cwd)

    def expect(self, outcome, status, stderr, stdout=""):
        self.assertEqual(outcome, (status, stdout, stderr))

    def programs_called(self):
        return [line.split()[0] for line in self.sandbox.calls()]

    # --- set-up ---------------------------------------------------------------------------------

    def test_cold_run_sets_up_then_runs_the_stages(self):
        self.expect(self.pipeline(*INPUTS), 0, SETUP + STAGES)
        self.assertEqual(
            self.programs_called(),
            ["apt-get", "apt-get", "build-nccl", "apt-get", "apt-get", "build-ns3", "cmake", "ninja", *sandbox.TOOLS])

    def test_the_first_command_builds_every_command(self):
        help_text = subprocess.run([sandbox.DRYDOCK, "help"], text=True, capture_output=True, check=True).stdout
        tools = set(re.findall(r"^  ([\w-]+)  ", help_text.split("\n\n", 1)[1], re.M))
        targets = re.search(r"^tool_targets=\(([^)]*)\)", (sandbox.ROOT / "scripts/setup.sh").read_text(), re.M)[1].split()
        executables = {name if name in tools else name.removeprefix("drydock-") for name in targets}
        self.assertLessEqual({"capture", "sweep", "search", "nccl-record", "collective-perf"}, executables)
        self.assertEqual(tools & {"workload-gen", "simccl", "compute-sim", "exec-engine", "report", "collective-perf", "nccl-record",
                                  "capture", "sweep", "search", "gpu-profiler"} - executables, {"gpu-profiler"})

    def test_second_run_starts_with_the_first_stage(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        self.expect(self.pipeline(*INPUTS), 0, STAGES)
        self.assertEqual(self.programs_called(), sandbox.TOOLS)

    def test_a_changed_patch_builds_nccl_again_and_nothing_else(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        (self.box / "patches/nccl/0001.patch").write_text("new")
        self.expect(self.sandbox.run("scripts/setup.sh"), 0,
                    "Setting up what is missing (logs in .deps/log):\n  source of NCCL 2.29.7-1 N s\n"
                    "  building NCCL 2.29.7-1 N s\nDrydock is ready.\n")
        self.assertEqual(self.programs_called(), ["build-nccl"])

    def test_missing_packages_are_installed_without_recommended_ones(self):
        (self.world / "missing").write_text("ninja-build\nlibfmt-dev\n")
        status, _, said = self.sandbox.run("scripts/setup.sh")
        self.assertEqual((status, said.splitlines()[1]), (0, "  installing 2 packages N s"))
        installs = [line for line in self.sandbox.calls() if " install " in line]
        self.assertEqual(len(installs), 1)
        self.assertTrue(installs[0].endswith(" install --no-install-recommends ninja-build libfmt-dev"), installs[0])

    def test_a_package_that_cannot_be_installed_is_named(self):
        (self.world / "missing").write_text("libcli11-dev\nlibfmt-dev\n")
        (self.world / "unknown").write_text("libcli11-dev\n")
        self.expect(self.pipeline(*INPUTS), 1, """Setting up what is missing (logs in .deps/log):
  installing 2 packages                       failed
error: these packages could not be installed:
  libcli11-dev             Unable to locate package libcli11-dev
Check the machine's package sources, or install them by hand, and run the same command again.
run_pipeline.sh: the whole log is .deps/log/packages.log
""")

    def test_without_root_packages_are_installed_through_sudo(self):
        (self.world / "missing").write_text("ninja-build\n")
        self.sandbox.leave_root()
        self.assertEqual(self.sandbox.run("scripts/setup.sh")[0], 0)
        installs = [line for line in self.sandbox.calls() if line.startswith("sudo -n env ")]
        self.assertTrue(installs[-1].endswith(" install --no-install-recommends ninja-build"), installs)

    def test_without_root_and_sudo_the_command_to_type_is_printed(self):
        (self.world / "missing").write_text("ninja-build\nlibfmt-dev\n")
        self.sandbox.write("fakes/sudo", "#!/bin/sh\nexit 1\n")
        self.sandbox.leave_root()
        self.expect(self.pipeline(*INPUTS), 1, """Setting up what is missing (logs in .deps/log):
  installing 2 packages                       failed
error: installing packages needs root or sudo. Install these and run the same command again:
  apt-get install --no-install-recommends ninja-build libfmt-dev
run_pipeline.sh: the whole log is .deps/log/packages.log
""")

    def test_each_mirror_of_the_machine_is_tried_in_turn(self):
        (self.world / "targets").write_text(
            "bookworm http://broken.test/debian\nother http://other.test/x\nbookworm http://good.test/debian\n")
        self.assertEqual(self.sandbox.run("scripts/setup.sh")[0], 0)
        asked = [line.split("] ")[-1] for line in (self.box / "sources.txt").read_text().splitlines()]
        self.assertEqual(asked, ["http://good.test/debian sid contrib", "http://good.test/debian bookworm main"])

    def test_a_missing_source_is_reported_with_its_hash(self):
        self.sandbox.archives["NCCL"].unlink()
        digest = self.nccl_digest()
        self.expect(self.pipeline(*INPUTS), 1, f"""Setting up what is missing (logs in .deps/log):
  source of NCCL 2.29.7-1                     failed
error: cannot fetch the source of nvidia-nccl 2.29.7-1-1 (sid/contrib)
  from the package mirrors of this machine nor from https://github.com/NVIDIA/nccl/archive/refs/tags/v2.29.7-1.tar.gz
  Fetch it elsewhere (sha256 {digest}) and give it with --nccl-archive FILE.
run_pipeline.sh: the whole log is .deps/log/fetch-nccl.log
""")

    def nccl_digest(self):
        return (self.box / "third_party/versions.sh").read_text().split("[sha256]=")[1].split()[0]

    def test_a_source_with_another_hash_is_not_used(self):
        self.sandbox.archives["NCCL"].write_text("not the source")
        status, _, said = self.pipeline(*INPUTS)
        self.assertEqual(status, 1)
        self.assertIn("error: cannot fetch the source of nvidia-nccl 2.29.7-1-1", said)
        self.assertEqual(list((self.box / ".deps/downloads").iterdir()), [])

    def test_own_archives_are_used_without_a_mirror(self):
        own = {}
        for key, file in self.sandbox.archives.items():
            own[key] = self.box / f"my {key}.tar"
            file.rename(own[key])
        outcome = self.sandbox.run("scripts/setup.sh", "--nccl-archive", own["NCCL"], "--ns3-archive", own["NS3"])
        self.expect(outcome, 0, SETUP + "Drydock is ready.\n")
        self.assertEqual(self.programs_called(), ["build-nccl", "build-ns3", "cmake", "ninja"])

    def test_own_archive_with_another_hash_is_refused(self):
        own = self.box / "mine.tar.gz"
        own.write_text("something else")
        outcome = self.pipeline(*INPUTS, "--nccl-archive", own)
        self.expect(outcome, 1, f"""Setting up what is missing (logs in .deps/log):
  source of NCCL 2.29.7-1                     failed
error: {own} is not the source of nvidia-nccl 2.29.7-1-1:
  its sha256 is  f41f3fa625ff120ddca7ef456bf66371ecea23c129f4e4c32367101edb516cf8
  expected       {self.nccl_digest()}  (third_party/versions.sh)
run_pipeline.sh: the whole log is .deps/log/fetch-nccl.log
""")

    def test_a_failed_build_shows_its_last_lines_and_is_resumed(self):
        (self.world / "compiler-error").write_text("a.cc:1:2: error: expected ';'\n")
        failed = SETUP.replace("(release) N s\n  building Drydock (release) N s",
                               "(release) N s\n  building Drydock (release)                  failed")
        self.expect(self.pipeline(*INPUTS), 1, failed + "    a.cc:1:2: error: expected ';'\n"
                    "run_pipeline.sh: the whole log is .deps/log/build-release.log\n")
        (self.world / "compiler-error").unlink()
        self.sandbox.calls()
        self.expect(self.pipeline(*INPUTS), 0, "Setting up what is missing (logs in .deps/log):\n"
                    "  building Drydock (release) N s\n" + STAGES)
        self.assertEqual(self.programs_called(), ["ninja", *sandbox.TOOLS])

    def test_an_interrupted_build_leaves_no_process_and_is_resumed(self):
        (self.world / "slow-build").touch()
        process = self.sandbox.start("run_pipeline.sh", *INPUTS)
        self.sandbox.wait_for_call("ninja")
        while not (compiler := (self.world / "slow-build").read_text().strip()):
            pass
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(said.endswith("\nrun_pipeline.sh: interrupted\n"), said)
        self.assertFalse(self.runs(compiler))
        (self.world / "slow-build").unlink()
        self.assertEqual(self.pipeline(*INPUTS)[0], 0)

    def runs(self, pid):
        """Returns whether the process runs; a zombie does not."""
        for _ in range(100):
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] == "Z":
                    return False
            except FileNotFoundError:
                return False
            time.sleep(0.02)
        return True

    def test_a_moved_folder_is_configured_again(self):
        self.pipeline(*INPUTS)
        cache = self.box / "build/release/CMakeCache.txt"
        cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
        self.assertIn("configuring Drydock", self.pipeline(*INPUTS)[2])

    # --- stages ---------------------------------------------------------------------------------

    def test_options_reach_their_stage(self):
        (self.box / "h100.yaml").touch()
        self.pipeline(*INPUTS, "--out=out dir", "--network", "packet", "--threads=2", "--until", "5 ms", "--set", "a.b=1",
                      "--set", "c.d=2 x", "--gpu-profile", "h100.yaml", "-q")
        self.assertEqual(self.sandbox.calls()[-5:], [
            "workload-gen -q --if-changed model.yaml cluster.topo -o out dir --set a.b=1 --set c.d=2 x",
            "simccl -q --if-changed out dir",
            "compute-sim -q --if-changed out dir --gpu-profile h100.yaml",
            "exec-engine -q --if-changed out dir --network packet --threads 2 --until 5 ms",
            "report -q --if-changed out dir",
        ])

    def test_several_processes_are_started_by_mpirun(self):
        (self.box / "hosts.txt").write_text("# two machines\nnode1 slots=2 max_slots=4\n\n  node2.rack-7 # as many as it has cores\n")
        self.pipeline(*INPUTS, "--out=out", "--processes=4", "--hostfile", "hosts.txt", "--threads=2")
        as_root = "--allow-run-as-root " if os.geteuid() == 0 else ""
        self.assertEqual(self.sandbox.calls()[-3:], [
            f"mpirun --quiet --bind-to none --oversubscribe -np 4 --hostfile hosts.txt -x DRYDOCK_RUN_LOCK {as_root}"
            f"{self.box}/build/release/bin/exec-engine --if-changed out --threads 2",
            "exec-engine --if-changed out --threads 2",
            "report --if-changed out",
        ])

    def test_default_run_directory_is_in_the_current_folder_and_named_after_model_and_cluster(self):
        elsewhere = self.sandbox.outer / "else where"
        elsewhere.mkdir()
        self.pipeline(*[self.box / name for name in INPUTS], cwd=elsewhere)
        self.assertTrue((elsewhere / "runs/model-cluster").is_dir())

    def test_only_and_from(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        self.pipeline("--only", "simccl", "--out", "runs/model-cluster")
        self.assertEqual(self.programs_called(), ["simccl"])
        self.pipeline(*INPUTS, "--from", "exec-engine")
        self.assertEqual(self.programs_called(), ["exec-engine", "report"])

    def test_a_failing_stage_ends_the_run_with_its_status(self):
        (self.world / "exit-simccl").write_text("1")
        self.expect(self.pipeline(*INPUTS), 1, SETUP + "workload-gen: done\nsimccl: done\n")

    def test_a_crashed_stage_is_an_internal_error(self):
        (self.world / "exit-simccl").write_text("139")
        self.expect(self.pipeline(*INPUTS), 3, SETUP + "workload-gen: done\nsimccl: done\n"
                    "run_pipeline.sh: internal error: simccl ended with status 139\n")

    def test_an_interrupted_stage(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        (self.world / "slow-stage").write_text("simccl")
        process = self.sandbox.start("run_pipeline.sh", *INPUTS)
        self.sandbox.wait_for_call("simccl")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.programs_called(), ["workload-gen", "simccl"])

    def test_two_runs_into_one_directory(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        (self.world / "slow-stage").write_text("simccl")
        process = self.sandbox.start("run_pipeline.sh", *INPUTS)
        self.sandbox.wait_for_call("simccl")
        status, _, said = self.pipeline(*INPUTS)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^runs/model-cluster: error: process \d+ \(run_pipeline.sh run model.yaml cluster.topo\) is "
                                        "writing into this directory; wait for its end, or give another directory\n$")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)

    # --- the command line -----------------------------------------------------------------------

    def test_wrong_usage(self):
        self.build()
        cases = [
            ([], "a model and a cluster are needed: MODEL CLUSTER"),
            (["model.yaml"], "a cluster is needed after the model 'model.yaml'"),
            ([*INPUTS, "x"], "one model and one cluster are needed; unexpected argument 'x'"),
            ([*INPUTS, "--nework", "packet"], "unknown option '--nework'; did you mean '--network'?"),
            ([*INPUTS, "--frobnicate"], "unknown option '--frobnicate'"),
            ([*INPUTS, "--network"], "--network needs a value"),
            ([*INPUTS, "--network", "analytic"],
             "no network is called 'analytic'; did you mean 'analytical'?; the networks are analytical fluid packet auto"),
            ([*INPUTS, "--threads", "0"], "--threads needs a number from 1 to 1024 or auto, not '0'"),
            ([*INPUTS, "--processes", "all"], "--processes needs a number from 1 to 1024, not 'all'"),
            ([*INPUTS, "--until", "soon"], "--until needs a time like '5 ms', not 'soon'"),
            ([*INPUTS, "--iterations", "0"], "--iterations needs a number from 1 to 1000, not '0'"),
            ([*INPUTS, "--iterations", "2", "--until=1 s"], "--until and --iterations exclude each other"),
            ([*INPUTS, "--fold", "exactly"],
             "no fold is called 'exactly'; did you mean 'exact'?; the folds are off exact relaxed auto"),
            ([*INPUTS, "--fold", "exact", "--network", "fluid"], "--fold exact needs --network analytical, not fluid"),
            ([*INPUTS, "--fold=relaxed"], "--fold relaxed needs --network analytical or fluid, not packet"),
            ([*INPUTS, "--hostfile", "model.yaml"], "--hostfile needs --processes, the number of processes"),
            ([*INPUTS, "--processes", "4", "--network=analytical"],
             "--processes: the analytical network runs in one process"),
            ([*INPUTS, "--jobs", "many"], "--jobs needs a number from 1, not 'many'"),
            ([*INPUTS, "--set", "layers"], "--set needs SECTION.KEY=VALUE, not 'layers'"),
            ([*INPUTS, "--out="], "--out needs a directory"),
            ([*INPUTS, "--only", "simcl"], "no stage is called 'simcl'; did you mean 'simccl'?; "
             "the stages are workload-gen simccl compute-sim exec-engine report"),
            ([*INPUTS, "--only", "simccl", "--from", "report"], "--only and --from exclude each other"),
            (["--from", "simccl"], "a model and a cluster are needed: MODEL CLUSTER"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments=arguments):
                self.expect(self.pipeline(*arguments), 2, f"run_pipeline.sh: error: {text}\n{MISTAKE}")
        self.assertEqual(self.sandbox.calls(), [])

    def test_missing_files_are_reported_before_any_set_up(self):
        self.build()
        cases = [
            (["modle.yaml", "cluster.topo"],
             "modle.yaml: error: cannot read: No such file or directory; did you mean 'model.yaml'?"),
            (["model.yaml", "nowhere/c.topo"], "nowhere/c.topo: error: cannot read: No such file or directory"),
            (["scripts", "cluster.topo"], "scripts: error: cannot read: Is a directory"),
            ([*INPUTS, "--gpu-profile", "p.yaml"], "p.yaml: error: cannot read: No such file or directory"),
            ([*INPUTS, "--processes=2", "--hostfile", "h.txt"], "h.txt: error: cannot read: No such file or directory"),
            ([*INPUTS, "--ns3-archive", "n.tar"], "n.tar: error: cannot read: No such file or directory"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments=arguments):
                self.expect(self.pipeline(*arguments), 1, text + "\n")
        self.assertEqual(self.sandbox.calls(), [])

    def test_names_are_checked_before_the_first_set_up(self):
        for arguments, text in [
                ([], "a model and a cluster are needed: MODEL CLUSTER"),
                (["model.yaml"], "a cluster is needed after the model 'model.yaml'"),
                ([*INPUTS, "x"], "one model and one cluster are needed; unexpected argument 'x'"),
                ([*INPUTS, "--nework", "packet"], "unknown option '--nework'; did you mean '--network'?"),
                ([*INPUTS, "--network"], "--network needs a value")]:
            with self.subTest(arguments=arguments):
                self.expect(self.pipeline(*arguments), 2, f"run_pipeline.sh: error: {text}\n{MISTAKE}")
        for arguments, text in [
                (["modle.yaml", "cluster.topo"], "modle.yaml: error: cannot read: No such file or directory"),
                (["scripts", "cluster.topo"], "scripts: error: cannot read: Is a directory"),
                ([*INPUTS, "--ns3-archive", "n.tar"], "n.tar: error: cannot read: No such file or directory")]:
            with self.subTest(arguments=arguments):
                self.expect(self.pipeline(*arguments), 1, text + "\n")
        status, text, _ = self.pipeline("--help")
        self.assertEqual(status, 0)
        self.assertIn("\n  --nccl-archive FILE ", text)
        self.assertEqual(self.sandbox.calls(), [])
        status, _, said = self.pipeline("model.yaml", "cluster.topo", "--set=a.b=1", "--network", "fluid", "-q", "--strict")
        self.assertEqual((status, said), (0, SETUP + STAGES))

    def test_a_mistake_does_not_wait_for_a_build(self):
        self.build()
        (self.box / "patches/nccl/0001.patch").write_text("new")
        self.expect(self.pipeline(*INPUTS, "--threads", "0"), 2,
                    f"run_pipeline.sh: error: --threads needs a number from 1 to 1024 or auto, not '0'\n{MISTAKE}")
        self.assertEqual(self.sandbox.calls(), [])

    def test_names_of_shipped_files(self):
        self.build()
        status, _, said = self.pipeline("gpt-22b", "selene")
        self.assertEqual(status, 0)
        self.assertIn(f"run_pipeline.sh: gpt-22b is the shipped {sandbox.ROOT}/configs/models/gpt-22b.yaml\n", said)
        call = self.sandbox.calls()[0]
        self.assertTrue(call.endswith("configs/clusters/selene.topo -o runs/gpt-22b-selene"), call)
        self.expect(self.pipeline("gpt-22", "selene"), 1,
                    "gpt-22: error: cannot read: No such file or directory; did you mean 'gpt-22b'?\n")

    def test_a_tree_by_a_symbolic_link_is_the_same_tree(self):
        self.build()
        link = self.sandbox.outer / "link"
        link.symlink_to(self.box)
        configured = (self.box / "build/release/CMakeCache.txt").stat().st_ino
        for folder in [link, self.box]:
            status, _, said = self.sandbox.run(folder / "run_pipeline.sh", *INPUTS, cwd=folder)
            self.assertEqual((status, said), (0, STAGES))
            # cmake records the path by which it was called.
            (self.box / "build/release/CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={link}\n")
        self.assertEqual((self.box / "build/release/CMakeCache.txt").stat().st_ino, configured)
        self.assertEqual([call.split()[0] for call in self.sandbox.calls()], 2 * sandbox.TOOLS)

    def test_a_built_tree_that_cannot_be_written_runs(self):
        self.build()
        mine = self.sandbox.outer / "mine"
        mine.mkdir()
        (self.box / "calls.txt").chmod(0o666)
        for path in [self.box, *self.box.rglob("*")]:
            if path.name != "calls.txt" and not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
        self.addCleanup(lambda: [path.chmod(0o755) for path in [self.box, *self.box.rglob("*")] if path.is_dir()])
        if os.geteuid() == 0:
            shutil.chown(mine, "nobody")
            self.sandbox.outer.chmod(0o755)
            self.sandbox.user = "nobody"
        inputs = [self.box / name for name in INPUTS]
        self.expect(self.pipeline(*inputs, cwd=mine), 0, STAGES)
        patches = self.box / "patches/nccl"
        patches.chmod(0o755)
        (patches / "0001.patch").write_text("new")
        (patches / "0001.patch").chmod(0o644)
        self.expect(self.pipeline(*inputs, cwd=mine), 1,
                    f"run_pipeline.sh: error: something is missing or out of date, but {self.box} cannot be written\n")

    def test_a_killed_run_ends_its_stage(self):
        self.build()
        (self.world / "slow-stage").write_text("simccl")
        for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]:
            with self.subTest(signal=number):
                process = self.sandbox.start("run_pipeline.sh", *INPUTS)
                self.sandbox.wait_for_call("simccl")
                self.sandbox.calls()
                stage = [path.parent.name for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                         if f"{self.box}/build/release/bin/simccl".encode() in read(path)]
                self.assertEqual(len(stage), 1)
                process.send_signal(number)
                process.wait(timeout=20)
                process.stdout.close(), process.stderr.close()
                self.assertEqual(process.returncode, -9 if number == signal.SIGKILL else 130)
                self.assertFalse(self.runs(stage[0]))

    def test_processes_on_one_machine_are_warned_of(self):
        self.build()
        (self.box / "hosts.txt").write_text("node1 slots=2\nnode2\n")
        warning = ("run_pipeline.sh: warning: 4 processes on one machine are slower than the threads of one process; "
                   "they pay where the memory of one machine does not suffice (--hostfile)\n")
        self.expect(self.pipeline(*INPUTS, "--processes=4"), 0, warning + STAGES)
        self.expect(self.pipeline(*INPUTS, "--processes=4", "--hostfile=hosts.txt"), 0, STAGES)
        self.expect(self.pipeline(*INPUTS, "--processes=1"), 0, STAGES)

    def test_a_malformed_hostfile_is_refused(self):
        self.build()
        for text, error in [
            ("", ": error: it names no machine"),
            ("# node1\n", ": error: it names no machine"),
            ("node1\n%node2 slots=2\n", ":2:1: error: '%node2' is not the name of a machine"),
            ("node1 slots=2\nnode2  slots=two", ":2:8: error: 'slots=two' is neither 'slots=N' nor 'max_slots=N'"),
            ("node1 slots=0\n", ":1:7: error: 'slots=0' is neither 'slots=N' nor 'max_slots=N'"),
            ("node1 node2\n", ":1:7: error: 'node2' is neither 'slots=N' nor 'max_slots=N'"),
        ]:
            with self.subTest(text=text):
                (self.box / "hosts.txt").write_text(text)
                self.expect(self.pipeline(*INPUTS, "--processes", "2", "--hostfile", "hosts.txt"), 1,
                            f"hosts.txt{error}\n")
        self.assertEqual(self.sandbox.calls(), [])

    def test_a_run_directory_that_cannot_be_made(self):
        (self.box / "file").touch()
        self.pipeline(*INPUTS)
        self.expect(self.pipeline(*INPUTS, "--out", "file/run"), 1,
                    "file/run: error: cannot create the run directory\n")

    def test_a_launch_script_takes_the_place_of_the_model(self):
        (self.box / "train.sh").write_text("torchrun pretrain_gpt.py")
        status, _, _ = self.pipeline("--megatron-args", "train.sh", "cluster.topo", "--variable", "N=2", "--strict", "--ignore-unknown")
        self.assertEqual(status, 0)
        self.assertTrue((self.box / "runs/train-cluster").is_dir())
        call = next(line for line in self.sandbox.calls() if line.startswith("workload-gen"))
        self.assertIn("cluster.topo -o runs/train-cluster --megatron-args train.sh --variable N=2 --strict --ignore-unknown", call)
        self.expect(self.pipeline("--megatron-args", "train.sh", *INPUTS), 2,
                    "run_pipeline.sh: error: --megatron-args takes the place of 'model.yaml'; give one of them\n" + MISTAKE)
        self.expect(self.pipeline("--megatron-args", "trian.sh", "cluster.topo"), 1,
                    "trian.sh: error: cannot read: No such file or directory; did you mean 'train.sh'?\n")
        self.expect(self.pipeline("--variable", "N", *INPUTS), 2,
                    "run_pipeline.sh: error: --variable needs NAME=VALUE, not 'N'\n" + MISTAKE)


    def test_a_config_json_in_place_of_the_model(self):
        folder = self.box / "Llama-3.1-8B"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        status, _, _ = self.pipeline("Llama-3.1-8B/config.json", "cluster.topo", "--sequence", "8192")
        self.assertEqual(status, 0)
        self.assertTrue((self.box / "runs/Llama-3.1-8B-cluster").is_dir(), "the folder names the model")
        call = next(line for line in self.sandbox.calls() if line.startswith("workload-gen"))
        self.assertIn("Llama-3.1-8B/config.json cluster.topo -o runs/Llama-3.1-8B-cluster --sequence 8192", call)
        self.expect(self.pipeline(*INPUTS, "--sequence", "4k"), 2,
                    "run_pipeline.sh: error: --sequence needs a number of tokens, not '4k'\n" + MISTAKE)

    def test_a_workload_takes_the_place_of_the_model(self):
        self.pipeline(*INPUTS)
        self.sandbox.calls()
        (self.box / "train.sh").touch()
        run = self.box / "runs/captured"
        (run / "1-workload").mkdir(parents=True)
        words = ["--workload", "runs/captured"]
        self.expect(self.pipeline(*words, "--network", "analytical", "-q"), 0, "".join(f"{tool}: done\n" for tool in sandbox.TOOLS[1:]))
        self.assertEqual([call.split(" -", 1)[0].split()[0] for call in self.sandbox.calls()], sandbox.TOOLS[1:])
        status, _, _ = self.pipeline(*words, "cluster.topo", "--set", "cluster.hosts=4")
        self.assertEqual(status, 0)
        self.assertEqual(self.sandbox.calls()[0],
                         "workload-gen check runs/captured --cluster cluster.topo --set cluster.hosts=4")
        (self.world / "exit-workload-gen").write_text("1")
        self.assertEqual(self.pipeline(*words, "cluster.topo")[0], 1)
        self.assertEqual(self.programs_called(), ["workload-gen"])
        for arguments, message in [
                ([*words, "--out", "x"], "--workload names the run directory; leave --out out"),
                ([*words, *INPUTS], "--workload takes the place of 'model.yaml'; give a cluster or nothing"),
                ([*words, "--set", "cluster.hosts=4"], "--set says something of the cluster; give the cluster with --workload"),
                ([*words, "--megatron-args", "train.sh", "cluster.topo"], "--workload and --megatron-args exclude each other")]:
            self.expect(self.pipeline(*arguments), 2, f"run_pipeline.sh: error: {message}\n" + MISTAKE)
        self.expect(self.pipeline("--workload", "runs/captur"), 1,
                    "runs/captur: error: it has no workload (1-workload/); did you mean 'captured'?\n")

    def test_help_names_every_option(self):
        self.build()
        status, text, _ = self.pipeline("--help")
        self.assertEqual(status, 0)
        for option in ["--out", "--network", "--threads", "--processes", "--hostfile", "--set", "--gpu-profile", "--megatron-args", "--workload",
                       "--variable", "--strict", "--ignore-unknown", "--only", "--from", "--help", "--nccl-archive", "--ns3-archive", "--jobs"]:
            self.assertIn(f"  {option}", text)

    def test_suites_of_run_tests(self):
        self.expect(self.sandbox.run("run_tests.sh", "fsat"), 2,
                    "run_tests.sh: error: no suite is called 'fsat'; did you mean 'fast'?; the suites are "
                    "fast integration validation capture cuda package bench-short scoreboard bench all asan tsan coverage\n"
                    "run_tests.sh: see ./run_tests.sh --help\n")
        self.expect(self.sandbox.run("run_tests.sh", "--filer", "x"), 2,
                    "run_tests.sh: error: unknown option '--filer'; did you mean '--filter'?\n"
                    "run_tests.sh: see ./run_tests.sh --help\n")

    def test_options_of_run_validation(self):
        mistake = "run_validation.sh: see ./run_validation.sh --help\n"
        self.expect(self.sandbox.run("run_validation.sh", "korthikant"), 2,
                    "run_validation.sh: error: no source is called 'korthikant'; did you mean 'korthikanti'?; the sources are "
                    "korthikanti mlperf\n" + mistake)
        self.expect(self.sandbox.run("run_validation.sh", "--minute", "3"), 2,
                    "run_validation.sh: error: unknown option '--minute'; did you mean '--minutes'?\n" + mistake)
        for option in ["--minutes", "--most-gpus"]:
            self.expect(self.sandbox.run("run_validation.sh", option, "few"), 2,
                        f"run_validation.sh: error: {option} needs a number, not 'few'\n" + mistake)

    def test_run_validation_passes_its_options_on(self):
        status, said, _ = self.sandbox.run("run_validation.sh", "mlperf", "--minutes", "0", "--most-gpus", "8", "--list")
        self.assertEqual(status, 0)
        self.assertRegex(said, r"--network analytical --jobs \d+ mlperf --minutes 0 --most-gpus 8 --list\n$")


if __name__ == "__main__":
    sandbox.DRYDOCK = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
