"""simccl's commands as a program: what NCCL decides in words, and every mistake's exact words."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
A100, H100 = "configs/clusters/dgx-a100-80g-8.topo", "configs/clusters/dgx-h100-8.topo"


def run(*arguments):
    done = subprocess.run([BIN / "simccl", *map(str, arguments)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Explain(unittest.TestCase):
    maxDiff = None

    def explain(self, *arguments):
        status, stdout, stderr = run("explain", *arguments)
        self.assertEqual((status, stderr), (0, ""))
        return stdout

    def expect_usage(self, message, *arguments):
        self.assertEqual(run("explain", *arguments),
                         (2, "", f"simccl: error: {message}\nsimccl: see simccl explain --help\n"))

    def expect_error(self, message, *arguments):
        self.assertEqual(run("explain", *arguments), (1, "", f"error: {message}\n"))

    def test_the_choice_and_the_reason(self):
        text = self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB")
        self.assertEqual(text.split("\nRings:")[0], """\
all-reduce bf16 67.11 MB over 16: ranks 0-15 of dgx-h100-8
2 hosts; 2 dgx-h100 with 8 GPUs of the group each
Settings of NCCL: none

NCCL runs nvls-tree with Simple: 16 channels of 20 warps, chunks of 131.1 KB
Of the 7 that NCCL considers it predicts the least time for nvls-tree with Simple: 339.4 us; the next, ring with \
LL128, would take 503.8 us (48 % more).
predicted (us)            LL       LL128      Simple
  tree                4074.0       646.1       688.4
  ring                3266.4       503.8       511.9
  collnet-direct           -           -           -  no in-network reduction
  collnet-chain            -           -           -  no in-network reduction
  nvls                     -           -           -  over several hosts it needs in-network reduction
  nvls-tree                -           -      *339.4
  pat                      -           -           -  no such kernel
""")

    def test_what_nccl_built(self):
        text = self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB")
        for line in ["  channels 0, 8: 0 7 6 5 4 3 2 1 9 10 11 12 13 14 15 8\n",
                     "  channel 0: 0 (1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15)\n",
                     "  channels 0-14:2: heads 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; tree 0 8; ",
                     "256 connections over the network, 0 by PXN (which is on):\n",
                     "  channel 0: 0 to 8, NIC 0 to NIC 0, GPUDirect\n", "  ... and 240 more (-v)\n"]:
            self.assertIn(line, text)
        self.assertEqual(self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB",
                                      "-v").count(" to NIC "), 256)

    def test_messages_go_by_pxn(self):
        text = self.explain("--cluster", A100, "--collective", "alltoall", "--size", "1MiB")
        self.assertIn("\nNCCL runs messages: 16.38 KB each over 1 channel in chunks of 131.1 KB, protocol ", text)
        self.assertIn("\n56 connections over the network from the first rank, 49 by PXN (which is on):\n"
                      "  0 to 8, NIC 0 to NIC 0, GPUDirect\n"
                      "  0 to 9, NIC 1 to NIC 1, PXN through the GPU of rank 1, GPUDirect\n", text)

    def test_strided_groups_and_settings(self):
        words = ["--cluster", A100, "--group", "0-56:8", "--collective", "all_gather", "--size", "1MiB"]
        self.assertIn("NCCL runs pat with Simple: 2 channels ", self.explain(*words))
        forced = self.explain(*words, "--set", "nccl.settings.NCCL_ALGO=Ring")
        self.assertIn("Settings of NCCL: NCCL_ALGO=Ring\n", forced)
        self.assertIn("NCCL runs ring with ", forced)

    def test_one_host_needs_no_network(self):
        text = self.explain("--cluster", H100, "--group", "0-7", "--collective", "broadcast", "--size", "8", "--root", "3")
        self.assertTrue(text.endswith("\nNothing goes over a network.\n"), text)
        self.assertIn("\n1 host; 1 dgx-h100 with 8 GPUs of the group\n", text)

    def test_one_rank_copies(self):
        text = self.explain("--cluster", H100, "--group", "5", "--collective", "all_reduce", "--size", "8")
        self.assertTrue(text.endswith("\nNCCL runs a copy inside the GPU\n"), text)

    def test_check_prints_nothing(self):
        self.assertEqual(run("explain", "--cluster", H100, "--collective", "all_reduce", "--size", "8", "--check"), (0, "", ""))

    def test_wrong_usage(self):
        call = ["--cluster", H100, "--collective", "all_reduce", "--size", "8"]
        self.expect_usage("--cluster is required")
        self.expect_usage("--collective is required", "--cluster", H100)
        self.expect_usage("--size is required", "--cluster", H100, "--collective", "all_reduce")
        self.expect_usage("'0-7,3' names rank 3 twice", *call, "--group", "0-7,3")
        self.expect_usage("'8-0' is no list of ranks: '8-0' runs backwards", *call, "--group", "8-0")
        self.expect_usage("'9000000T' is too large", *call[:-1], "9000000T")
        self.expect_usage("--size 100000T is more than 72057594037927936 B", *call[:-1], "100000T")
        self.expect_usage("The following argument was not expected: --grup; did you mean '--group'?", *call, "--grup")
        status, _, stderr = run("explain", "--cluster", H100, "--collective", "allreduse", "--size", "8")
        self.assertEqual(status, 2)
        self.assertTrue(stderr.startswith(
            "simccl: error: there is no collective 'allreduse'; did you mean 'allreduce'?; valid values are all-reduce, "),
            stderr)

    def test_what_the_cluster_does_not_have(self):
        call = ["--cluster", H100, "--collective", "all_reduce", "--size", "8"]
        self.expect_error("there is no rank 64: the cluster has 64 GPUs, ranks 0 to 63", *call, "--group", "60-70")
        self.expect_error("there is no root 4 in a group of 4", *call, "--group", "0-3", "--root", "4")
        self.expect_error("7 B are no whole number of elements of bf16 (2 B each)", *call[:-1], "7")
        self.expect_error("4 elements do not divide among 64 members; the nearest size that does is 128 B",
                          "--cluster", H100, "--collective", "all_gather", "--size", "8")

    def test_a_setting_nccl_does_not_have(self):
        setting = "nccl.settings.NCCL_ALGOR=Ring"
        status, _, stderr = run("explain", "--cluster", H100, "--collective", "all_reduce", "--size", "8", "--set", setting)
        self.assertEqual(status, 1)
        self.assertTrue(stderr.startswith(f"--set {setting}: error: "), stderr)
        self.assertIn("did you mean 'NCCL_ALGO'?", stderr)

    def test_help(self):
        status, stdout, _ = run("explain", "--help")
        self.assertEqual(status, 0)
        for text in ("--group", "--collective", "Files:\n  reads cluster.topo", "Exit status:", "Example:\n  simccl explain"):
            self.assertIn(text, stdout)
        self.assertIn("explain", run("--help")[1])


class Usage(unittest.TestCase):
    def test_wrong_values_are_wrong_usage(self):
        self.assertEqual(run("x", "--planner", "ncl"), (2, "", "simccl: error: there is no planner 'ncl'; planners are: nccl\n"
                                                        "simccl: see simccl --help\n"))
        self.assertEqual(run(), (2, "", "simccl: error: RUN is required\nsimccl: see simccl --help\n"))
        for network, message in [("packets", "there is no network 'packets'; did you mean 'packet'?; valid values are "
                                  "analytical, packet")]:
            done = subprocess.run([BIN / "exec-engine", "x", "--network", network], text=True, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"exec-engine: error: {message}\nexec-engine: see exec-engine --help\n"))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
