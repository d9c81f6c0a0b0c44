"""nccl-record as a program: programs written against nccl.h alone are compiled as a user would, run as virtual ranks,
and recorded as an op graph that the other tools read; the message and exit status of every error."""

import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
BIN = DROP_IN = None  # from the command line
A100 = "configs/clusters/dgx-a100-80g-1.topo"
H100 = "configs/clusters/dgx-h100-8.topo"
built = None


def setUpModule():
    global built
    built = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, built)
    for program in ["buffers", "chain", "groups", "layout", "one_process"]:
        subprocess.run(["c++", PROGRAMS / f"{program}.cc", "-I", DROP_IN / "include", "-L", DROP_IN / "lib", "-lnccl",
                        "-lcudart", "-pthread", "-o", built / program], check=True)


class NcclRecord(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "run"

    def tool(self, name, *arguments):
        done = subprocess.run([BIN / name, *map(str, arguments)], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                              env=dict(os.environ, TMPDIR=str(self.folder)))
        return done.returncode, done.stdout, done.stderr

    def record(self, cluster, *program, options=(), out=None):
        (self.folder / "id").unlink(missing_ok=True)
        return self.tool("nccl-record", cluster, "-o", out or self.out, *options, "--", *program)

    def layout(self, cluster, *arguments, **keywords):
        return self.record(cluster, built / "layout", self.folder / "id", *arguments, **keywords)

    def expect_error(self, message, result):
        self.assertEqual((result[0], result[2]), (1, message), result)
        left = [p.name for p in self.folder.iterdir() if p.name != "id"]
        self.assertEqual(left, [], "temporary files remain")

    def test_a_layout_of_64_ranks_is_recorded_and_replayed(self):
        status, stdout, stderr = self.layout(H100)
        self.assertEqual((status, stdout), (0, "done, 64 ranks\n"), stderr)
        self.assertEqual(stderr, "nccl-record: layout: recorded, 64 ranks, 575 calls in 18 communicators, 2 classes\n")
        for tool in ["simccl", "compute-sim", "exec-engine", "report"]:
            status, _, stderr = self.tool(tool, self.out, "-q")
            self.assertEqual(status, 0, stderr)
        text = (self.out / "summary.txt").read_text()
        for call in ["comm0 all-reduce fp32 4.194 MB over 8", "comm1 reduce-scatter bf16 4.194 MB over 8",
                     "comm0 all-to-all-v fp32 16.38 KB over 8", "comm0 gather fp32 16.38 KB over 8",
                     "comm2 all-reduce fp32 4.096 KB over 64", "comm3 all-gather fp32 16.13 KB over 63"]:
            self.assertIn(call, text)

    def replay(self):
        for tool in ["simccl", "compute-sim", "exec-engine", "report"]:
            status, _, stderr = self.tool(tool, self.out, "-q")
            self.assertEqual(status, 0, stderr)
        return json.loads((self.out / "summary.json").read_text())

    def test_messages_outside_groups_stay_messages(self):
        status, _, stderr = self.record(A100, built / "chain", self.folder / "id")
        self.assertEqual((status, stderr), (0, "nccl-record: chain: recorded, 8 ranks, 14 calls in 1 communicator, "
                                               "8 classes\n"))
        calls = self.replay()["collectives"]
        self.assertEqual([(c["collective"], c["members"], c["uses"]) for c in calls], [("send-recv", 8, 7)])

    def test_groups_are_one_call(self):
        for cluster, ranks in [(A100, 8), (H100, 16)]:
            status, _, stderr = self.record(cluster, built / "groups", self.folder / "id", options=["--ranks", ranks])
            self.assertEqual(status, 0, stderr)
            rows = self.replay()["collectives"]
            calls = {row.get("parts", row["collective"]): row for row in rows}
            self.assertEqual(set(calls), {"all-reduce x3, all-gather, send-recv", f"broadcast x{ranks}",
                                          f"send-recv x{ranks - 2}", "send-recv"})
            buckets = calls["all-reduce x3, all-gather, send-recv"]
            self.assertEqual((buckets["members"], buckets["uses"]), (ranks, 1))
            self.assertEqual(sum(work["works"] for work in buckets["works"]), 5)
            self.assertEqual(buckets["works"][-1]["algorithm"], "send-recv")
            uneven = calls[f"broadcast x{ranks}"]
            self.assertEqual((uneven["algorithm"], uneven["size_bytes"]), ("ring", 40000 * ranks * (ranks + 1)))
            self.assertNotIn("works", uneven)  # AllGatherV
            self.assertEqual(calls[f"send-recv x{ranks - 2}"]["uses"], 1)
            self.assertEqual(sum(row["uses"] for row in rows if row["collective"] == "send-recv"), 3)
            shutil.rmtree(self.out)

    def test_a_recording_can_be_recorded_again(self):
        again = self.folder / "again"
        for program in [(built / "groups", self.folder / "id"), (built / "layout", self.folder / "id"), (built / "one_process",)]:
            gpus = 8 if len(program) == 1 else 1
            self.assertEqual(self.record(H100, *program, options=["--ranks", 16, "--gpus-per-process", gpus])[0], 0)
            status, _, stderr = self.tool("nccl-record", "--schedule", self.out, "-o", again)
            self.assertEqual(status, 0, stderr)
            status, told, stderr = self.tool("workload-gen", "diff", self.out, again)
            self.assertEqual((status, stderr), (0, ""), told)
            self.assertRegex(told, r"^\d+ ranks compared, as \d+ with different programs; 0 of them differ\n")
            shutil.rmtree(self.out)

    def test_registered_buffers_are_recorded(self):
        options = ["--gpus-per-process", 8, "--ranks", 8]
        status, _, stderr = self.record(H100, built / "buffers", options=options)
        self.assertEqual(status, 0, stderr)
        rows = self.replay()["collectives"]
        calls = sorted((row["size_bytes"] >> 20, row.get("buffers", "plain"), row["channels"]) for row in rows)
        self.assertEqual(calls, [(4, "plain", 16), (8, "plain", 16), (16, "plain", 16), (16, "registered", 4)])
        shutil.rmtree(self.out)
        status, _, stderr = self.record(H100, "env", "SYMMETRIC=1", built / "buffers", options=options)
        self.assertEqual(status, 0, stderr)
        status, _, stderr = self.tool("simccl", self.out, "-q")
        self.assertEqual(status, 1)
        self.assertIn("all-reduce fp32 16.78 MB over 8, symmetric buffers", stderr)
        self.assertIn("NCCL chose the symmetric-memory kernel AllReduce_RSxLDMC_AGxSTMC", stderr)

    def test_two_runs_are_equal_byte_for_byte(self):
        for run in ["a", "b"]:
            self.assertEqual(self.layout(H100, options=["-q"], out=self.folder / run)[0], 0)
        names = sorted(p.name for p in (self.folder / "a/1-workload").iterdir())
        same = filecmp.cmpfiles(self.folder / "a/1-workload", self.folder / "b/1-workload", names, shallow=False)
        self.assertEqual(same, (names, [], []))

    def test_one_process_may_drive_all_gpus_of_its_host(self):
        result = self.record(H100, built / "one_process", options=["--gpus-per-process", 8, "--ranks", 16])
        self.assertEqual(result, (0, "", "nccl-record: one_process: recorded, 16 ranks, 48 calls in 4 communicators, "
                                         "2 classes\nnccl-record: left out, since their times are unknown: 16 kernels "
                                         "and 16 copies or fills of the program itself\n"))

    def test_processes_find_their_places_as_under_torchrun_and_mpirun(self):
        names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK".split()
        command = "echo " + " ".join(f"${name}" for name in names)
        status, stdout, stderr = self.record(H100, "sh", "-c", command, options=["--ranks", 12])
        self.assertEqual((status, stderr), (1, "sh: error: the program made no NCCL call that moves data\n"))
        wanted = [f"{r} 12 {r % 8} {8 if r < 8 else 4} {r} {r % 8}" for r in range(12)]
        self.assertEqual(sorted(stdout.splitlines()), sorted(wanted))

    def test_if_changed_does_not_run_it_again(self):
        program = [built / "one_process"]
        options = ["--gpus-per-process", 8, "--if-changed"]
        self.assertEqual(self.record(A100, *program, options=options)[0], 0)
        self.assertEqual(self.record(A100, *program, options=options), (0, "", "nccl-record: up to date\n"))
        self.assertIn("recorded", self.record(A100, *program, "other", options=options)[2])

    def test_mismatched_calls_are_reported(self):
        world = f"{built}/layout: error: communicator of ranks 0, 1, 2, 3, ...: "
        hang = "; NCCL would hang or mix up data\n"
        self.expect_error(world + "collective 1: rank 3 calls all-reduce of 100 float32 (sum), rank 0 calls all-reduce of "
                          "1048576 float32 (sum)" + hang, self.layout(A100, "count"))
        self.expect_error(world + "collective 1: rank 3 makes no further collective, rank 0 calls all-reduce of 1024 float32 "
                          "(max)" + hang, self.layout(A100, "missing"))
        self.expect_error(world + "message 1 from rank 3 to rank 4: rank 3 sends 4096 float32, rank 4 does not receive "
                          "it" + hang, self.layout(A100, "send"))
        self.expect_error(world + "all-reduce of 1152921504606846976 float32 (max): the buffer's size overflows\n",
                          self.layout(A100, "overflow"))

    def test_missing_ranks_are_reported(self):
        self.expect_error(f"{built}/layout: error: all processes have waited 2 s for ranks that do not arrive; NCCL would hang here\n"
                          "  ncclCommSplit: 7 of 8 ranks have arrived; 1 has not: 3\n",
                          self.layout(A100, "split", options=["--patience", 2]))

    def test_failing_processes_are_reported(self):
        self.expect_error(f"{built}/layout: error: process 3 was killed by signal 6 (Aborted)\n", self.layout(A100, "crash"))
        script = "test $RANK != 2 || { echo out of luck >&2; exit 7; }"
        self.expect_error("[2] out of luck\nsh: error: process 2 ended with status 7; the end of its stderr:\nout of luck\n",
                          self.record(A100, "sh", "-c", script))
        status, _, stderr = self.record(A100, "/no/such/program")
        self.assertEqual(status, 1)
        self.assertRegex(stderr, "/no/such/program: error: process [0-7] ended with status 127; the end of its stderr:\n"
                                 "cannot start /no/such/program: No such file or directory\n")

    def test_wrong_usage(self):
        self.expect_error(f"{A100}: error: --ranks 9: the cluster has 8 GPUs\n",
                          self.record(A100, "true", options=["--ranks", 9]))
        status, _, stderr = self.tool("nccl-record", A100, "--", "true")
        self.assertEqual((status, stderr), (2, "nccl-record: error: -o RUN is required\nnccl-record: see nccl-record "
                                               "--help\n"))

    def test_a_program_without_the_launcher_gets_an_error(self):
        done = subprocess.run([built / "one_process"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={"LD_LIBRARY_PATH": str(DROP_IN / "lib")}, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("libcudart: no device: this libnccl.so.2 records what a program calls: start the program with "
                      "nccl-record\n", done.stderr)

    def test_every_function_of_nccl_h_is_exported(self):
        declared = set(re.findall(r"\bp?nccl[A-Z]\w+(?=\()", (DROP_IN / "include/nccl.h").read_text()))
        listing = subprocess.run(["nm", "-D", "--defined-only", DROP_IN / "lib/libnccl.so.2"], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout
        exported = {line.split()[-1] for line in listing.splitlines()}
        self.assertEqual({name for name in declared if name not in exported}, set())
        self.assertEqual({name for name in exported if not re.match("p?nccl|hacknccl_get_", name)}, set())


if __name__ == "__main__":
    BIN, DROP_IN = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
    unittest.main()
