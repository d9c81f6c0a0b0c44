"""collective-perf as a program: nccl-tests' exact columns, concurrent groups, and the exact message of every error."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line
ONE, EIGHT = "configs/clusters/dgx-a100-80g-1.topo", "configs/clusters/dgx-a100-80g-8.topo"
HEADER = """\
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
"""
SEE = "collective-perf: see collective-perf --help\n"


def run(*arguments, **options):
    done = subprocess.run([TOOL, *map(str, arguments)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, **options)
    return done.returncode, done.stdout, done.stderr


def rows(*arguments):
    status, stdout, stderr = run(*arguments)
    if (status, stderr) != (0, ""):
        raise AssertionError(stderr)
    return [line for line in stdout.splitlines() if not line.startswith("#")]


class CollectivePerf(unittest.TestCase):
    maxDiff = None

    def expect_usage(self, message, *arguments):
        self.assertEqual(run(*arguments), (2, "", f"collective-perf: error: {message}\n{SEE}"))

    # --- the table ------------------------------------------------------------------------------

    def test_the_table_has_the_columns_of_nccl_tests(self):
        status, stdout, stderr = run("all_reduce", "-b", "4", "-e", "1M", "-f", "512", "--cluster", ONE)
        self.assertEqual((status, stderr), (0, ""))
        title, table = stdout.split("#\n", 1)
        self.assertEqual(title, "# collective-perf: all-reduce on dgx-a100-80g-1, 8 ranks: 0-7\n"
                         "# network: packet below 67108864 B, analytical from there\n")
        self.assertTrue(table.startswith(HEADER), table)
        lines = table[len(HEADER):].splitlines()
        figure = r" {1,6}[0-9.]+"
        for line, size in zip(lines, (4, 2048, 1048576)):
            self.assertRegex(line, rf"^{size:12}  {size // 4:12}     float     sum      -1" +
                             rf"(  {figure}  {figure}  {figure}       0){{2}}$")
            self.assertEqual(len(line), 118)
        self.assertEqual(lines[3], "# Out of bounds values : 0 OK")
        self.assertRegex(lines[4], r"^# Avg bus bandwidth    : \d+\.\d+ $")

    # --- fabrics --------------------------------------------------------------------------------

    def time_on(self, changes, *arguments):
        """Time in us of the last row, on eight DGX H100 with sections of the cluster file replaced."""
        text = (ROOT / "configs/clusters/dgx-h100-8.topo").read_text()
        sections = re.split(r"\n(?=[a-z]+:)", text)
        for name, section in changes.items():
            sections = [each for each in sections if not each.startswith(name + ":")] + [section]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c.topo")
            path.write_text("\n".join(sections) + "\n")
            return float(rows(*arguments, "--cluster", path, "--network", "packet")[-1].split()[5])

    def test_every_kind_of_fabric_carries_an_all_reduce(self):
        def layer(ports):
            return f"{{ports: {ports}, rate: 400 Gbps, cable: 10 m, latency: 300 ns, buffer: 32 MB}}"

        fabrics = [
            f"kind: rail-optimised, leaf: {layer(8)}, spine: {layer(16)}, core: {layer(16)}",
            f"kind: rail-optimised, planes: 2, leaf: {layer(64)}, spine: {layer(64)}",
            f"kind: rail-optimised, routing: adaptive, leaf: {layer(64)}, spine: {layer(64)}",
            f"kind: fat-tree, switch: {layer(8)}",
            f"kind: dragonfly, switch: {layer(12)}, nics_per_switch: 4, switches_per_group: 4, "
            "global_cables: 4, global_cable: 50 m",
            f"kind: torus, switch: {layer(16)}, dimensions: [2, 2, 2]",
        ]
        plain = self.time_on({}, "all_reduce", "-b", "16M", "-e", "16M")
        for fabric in fabrics:
            with self.subTest(fabric):
                time_us = self.time_on({"fabric": f"fabric: {{{fabric}}}"}, "all_reduce", "-b", "16M",
                                       "-e", "16M")
                self.assertGreater(time_us, plain * 0.95)  # no fabric has more bandwidth than separate rails
                self.assertLess(time_us, plain * 3)

    def test_every_shipped_cluster_carries_an_all_reduce(self):
        for cluster in sorted(ROOT.glob("configs/clusters/*.topo")):
            with self.subTest(cluster=cluster.name):
                # One host, or two if there is a fabric: larger clusters need nothing more of a GPU's file.
                hosts = ["--set", "cluster.hosts=2"] if "kind: none" not in cluster.read_text() else []
                self.assertEqual(len(rows("all_reduce", "-b", "64K", "-e", "64K", "-n", "1", "--cluster", cluster,
                                          "--network", "analytical", *hosts)), 1)

    def test_a_slow_nic_slows_the_rings_that_use_it(self):
        call = ("all_reduce", "-b", "16M", "-e", "16M")
        slow = self.time_on({"faults": "faults:\n  - {nic: host3/nic2, rate: 50 Gbps}"}, *call)
        self.assertGreater(slow, 1.5 * self.time_on({}, *call))

    def test_bandwidths_follow_from_the_time(self):
        for collective, factor in [("all_reduce", 2 * 7 / 8), ("all_gather", 7 / 8), ("reduce_scatter", 7 / 8),
                                   ("alltoall", 7 / 8), ("gather", 7 / 8), ("scatter", 7 / 8), ("broadcast", 1), ("reduce", 1)]:
            with self.subTest(collective=collective):
                (line,) = rows(collective, "-b", "16M", "-e", "16M", "--cluster", ONE)
                size, _, _, _, _, us, algbw, busbw = line.split()[:8]
                self.assertEqual(size, "16777216")
                self.assertAlmostEqual(float(algbw), 16777216e-3 / float(us), delta=0.02)
                self.assertAlmostEqual(float(busbw), float(algbw) * factor, delta=0.02)

    def test_counts_are_those_of_the_nccl_function(self):
        cases = [("all_gather", "none", "-1", 1048576 // 8), ("reduce_scatter", "sum", "-1", 1048576 // 8),
                 ("alltoall", "none", "-1", 1048576 // 8), ("broadcast", "none", "3", 1048576), ("reduce", "max", "3", 1048576)]
        for collective, op, root, count in cases:
            with self.subTest(collective=collective):
                (line,) = rows(collective, "-b", "2M", "-e", "2M", "-d", "half", "-o", "max" if op == "max" else "sum",
                               "-r", "3", "--cluster", ONE)
                self.assertEqual(line.split()[:5], ["2097152", str(count), "half", op, root])

    def test_parts_too_small_for_nccl_tests_move_nothing(self):
        lines = rows("all_gather", "-b", "64", "-e", "128", "--cluster", ONE)
        self.assertEqual([line.split()[:2] + line.split()[5:8] for line in lines[:1]], [["0", "0", "0.00", "0.00", "0.00"]])
        self.assertEqual(lines[1].split()[:2], ["128", "4"])

    def test_in_place_no_rank_copies_its_own_part(self):
        (line,) = rows("all_gather", "-b", "64M", "-e", "64M", "--cluster", ONE)
        self.assertLessEqual(float(line.split()[9]), float(line.split()[5]))

    def test_sizes_by_addition(self):
        lines = rows("all_reduce", "-b", "1M", "-e", "3M", "-i", "1M", "--cluster", ONE)
        self.assertEqual([int(line.split()[0]) >> 20 for line in lines], [1, 2, 3])

    def test_verbose_rows_name_algorithm_protocol_and_network(self):
        (line,) = rows("all_reduce", "-b", "64M", "-e", "64M", "--cluster", ONE, "-v")
        self.assertTrue(line.endswith("  # ring Simple, 24 channels; analytical"), line)

    def test_one_process_launches_on_its_gpus_in_turn(self):
        call = ("all_reduce", "-b", "64", "-e", "64M", "-f", "1048576", "--cluster", ONE, "--network", "analytical")
        alone = [float(line.split()[5]) for line in rows(*call)]
        _, stdout, _ = run(*call, "-g", "8", "--launch-us", "4")
        together = [float(line.split()[5]) for line in stdout.splitlines() if not line.startswith("#")]
        self.assertIn("# launch: processes of 8 GPUs, 4 us for each launch: a call begins 28 us later on the last GPU of "
                      "a process than on the first\n", stdout)
        self.assertGreater(together[0], 32)  # eight launches set the pace of a call that takes less
        self.assertLess(together[0], 36)
        self.assertGreater(together[1], alone[1] + 0.5)  # the first call of 20 waits for them
        self.assertLess(together[1], alone[1] + 32 / 20)
        self.assertEqual(run(*call, "-g", "3"), (1, "", f"{ONE}: error: -g 3: the 8 GPUs of host 0 cannot be "
                                                 "divided among processes of 3; write a divisor of 8\n"))

    def test_sendrecv_is_a_ring(self):
        (line,) = rows("sendrecv", "-b", "512M", "-e", "512M", "--cluster", ONE)
        size, count, _, op, root, _, algbw, busbw = line.split()[:8]
        self.assertEqual((size, count, op, root, algbw), ("536870912", "134217728", "none", "-1", busbw))
        self.assertEqual(line.split()[5:8], line.split()[9:12])
        self.assertGreater(float(algbw), 100, "NVLink, not a network")

    def test_alltoallv_by_the_weights_of_pairs(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as pairs:
            pairs.write("# member 0 sends, the other members receive\n0, 1, 1, 2\n" + "0 0 0 0\n" * 3)
            pairs.flush()
            words = ["alltoallv", "-b", "64M", "-e", "64M", "--cluster", ONE, "--group", "0-3", "--pairs", pairs.name]
            (line,) = rows(*words)
            self.assertEqual(line.split()[:5], ["67108864", "16777216", "float", "none", "-1"])
            self.assertEqual(line.split()[6], line.split()[7], "all of it leaves the busiest member")
            status, _, stderr = run(*words[:-3], "0-4", *words[-2:])
            self.assertEqual((status, stderr), (1, f"{pairs.name}:2: error: 4 numbers, but the group has 5 members\n"))

    def test_all_types_reductions_and_roots(self):
        lines = rows("all_reduce", "-b", "1M", "-e", "2M", "-d", "half", "-o", "all", "--cluster", ONE)
        self.assertEqual([(line.split()[0], line.split()[3]) for line in lines],
                         [(size, op) for op in ("sum", "prod", "max", "min", "avg", "mulsum")
                          for size in ("1048576", "2097152")])
        for word in ("all", "-1"):
            lines = rows("broadcast", "-b", "1M", "-e", "1M", "-r", word, "--cluster", ONE, "--network", "analytical")
            self.assertEqual([line.split()[4] for line in lines], list("01234567"))

    # --- the loop -------------------------------------------------------------------------------

    def test_calls_with_a_root_overlap_in_the_loop(self):
        def time_of(collective, *words):
            (line,) = rows(collective, "-b", "16M", "-e", "16M", "--cluster", ONE, *words)
            return float(line.split()[5])
        self.assertLess(time_of("broadcast"), 0.6 * time_of("broadcast", "-n", "1", "-a", "3"))
        self.assertEqual(time_of("broadcast", "-z", "1"), time_of("broadcast", "-n", "1", "-a", "3"))
        self.assertEqual(time_of("broadcast", "-w", "5"), time_of("broadcast"), "nothing is cold")
        self.assertEqual(time_of("all_reduce"), time_of("all_reduce", "-n", "1"), "all end at once")
        root, mean, least, most = (time_of("broadcast", "-n", "2", "-a", str(whose)) for whose in range(4))
        self.assertEqual(root, least, "the root is done first")
        self.assertTrue(least < mean < most)

    def test_json_has_the_same_figures(self):
        words = ["all_reduce", "-b", "1M", "-e", "2M", "--cluster", EIGHT, "--hosts", "2", "--ranks-per-host", "4"]
        table = rows(*words)
        status, stdout, _ = run(*words, "--json")
        self.assertEqual(status, 0)
        answer = json.loads(stdout)
        self.assertEqual(answer["calls"], "all-reduce on dgx-a100-80g-8, 8 ranks: 0-3, 8-11")
        for line, result in zip(table, answer["results"], strict=True):
            figures = result["out_of_place"]
            self.assertEqual(line.split()[:6], [str(result["size"]), str(result["count"]), result["type"],
                                                result["redop"], str(result["root"]), f"{figures['time']:.2f}"])
            self.assertEqual(line.split()[9], f"{result['in_place']['time']:.2f}")
            self.assertEqual(figures["nwrong"], 0)

    def test_the_file_of_json_is_that_of_nccl_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.json")
            (line,) = rows("all_reduce", "-b", "1M", "-e", "1M", "--cluster", ONE, "-J", path)
            answer = json.loads(path.read_text())
        self.assertEqual(answer["version"], 3)
        self.assertEqual((answer["config"]["iterations"], answer["config"]["step_factor"]), (20, 2))
        (result,) = answer["results"]
        self.assertEqual((result["size"], result["root"], result["actual_iterations"]), (1 << 20, "    -1", 20))
        self.assertEqual(line.split()[5], f"{result['out_of_place']['time']:.2f}")
        self.assertEqual(answer["out_of_bounds"], {"count": 0, "okay": "true"})
        self.assertEqual(answer["average_bus_bandwidth"]["okay"], "unchecked")

    # --- options of nccl-tests ------------------------------------------------------------------

    def test_every_option_of_nccl_tests_is_accepted_and_the_idle_ones_are_named(self):
        status, stdout, stderr = run(
            "all_reduce", "-t", "2", "-g", "1", "-b", "1M", "-e", "1M", "-i", "1M", "-f", "2", "-n", "5", "-m", "1",
            "-w", "3", "-N", "1", "-p", "1", "-c", "1", "-o", "sum", "-d", "float", "-r", "0", "-z", "2", "-y", "1",
            "-T", "60", "-G", "0", "-C", "1", "-S", "1", "-a", "1", "-R", "0", "-x", "0", "-D", "0", "-V", "16",
            "-M", "1", "-u", "0", "-I", "1", "-K", "2", "--cluster", ONE)
        self.assertEqual((status, stderr), (0, ""))
        named = [line.split(": ")[1] for line in stdout.splitlines() if line.startswith("# without effect: ")]
        self.assertEqual(named, ["-t 2", "-w 3", "-N 1", "-p 1", "-c 1", "-y 1", "-T 60", "-C 1", "-S 1", "-D 0", "-V 16",
                                 "-M 1", "-u 0", "-I 1", "-K 2", "-i 1M"])
        self.assertIn("# without effect: -c 1: no data is moved, so no value can be wrong\n", stdout)
        _, stdout, _ = run("all_reduce", "-b", "1M", "-e", "1M", "-c", "1", "--cluster", ONE, "--json")
        self.assertEqual(json.loads(stdout)["without_effect"], ["-c 1: no data is moved, so no value can be wrong"])
        _, stdout, _ = run("all_reduce", "-b", "1M", "-e", "1M", "--cluster", ONE)
        self.assertNotIn("without effect", stdout)

    def test_calls_in_a_group_are_launched_together(self):
        call = ("all_reduce", "-b", "8", "-e", "8", "--cluster", ONE, "--network", "analytical")
        (alone,), (eight,) = rows(*call), rows(*call, "-m", "8")
        self.assertLess(float(eight.split()[5]), 0.5 * float(alone.split()[5]))

    def test_a_graph_removes_the_launches_of_single_calls(self):
        call = ("all_reduce", "-b", "64", "-e", "64", "--cluster", ONE, "--network", "analytical")
        (alone,), (process,), (graph,) = rows(*call), rows(*call, "-g", "8"), rows(*call, "-g", "8", "-G", "1")
        self.assertGreater(float(process.split()[5]), 1.5 * float(alone.split()[5]))
        self.assertEqual(graph, alone)

    def test_a_policy_for_thread_blocks_is_nccls_setting(self):
        call = ("all_reduce", "-b", "64M", "-e", "64M", "--cluster", ONE, "-v")
        self.assertEqual(rows(*call, "-x", "1"), rows(*call, "--set", "nccl.settings.NCCL_CTA_POLICY=EFFICIENCY"))

    def test_a_table_without_end_is_refused(self):
        self.expect_usage("-b 8 -e 1073741824 -i 1 are 1073741817 sizes; a table has at most 10000 rows; write -i 107385 or "
                          "more, or a factor (-f 2)", "all_reduce", "--cluster", ONE, "-b", "8", "-e", "1G", "-i", "1")
        lines = rows("all_reduce", "--cluster", ONE, "-b", "1M", "-e", "3M", "-f", "1", "--network", "analytical")
        self.assertEqual([int(line.split()[0]) >> 20 for line in lines], [1, 2, 3])

    # --- groups and networks --------------------------------------------------------------------

    def test_concurrent_groups_share_the_fabric(self):
        def time_of(*words):
            (line,) = rows("all_reduce", "-b", "32M", "-e", "32M", "--cluster", EIGHT, "--network", "packet", *words)
            return float(line.split()[5])
        alone = time_of("--group", "0-56:8")
        rails = time_of("--group", "0-56:8", "--shift", "8")
        self.assertLess(rails, alone * 1.05, "each rail has separate NICs and a separate leaf switch")
        halves = ["--set", "hosts.dgx-a100-80g.nics.count=4"]
        self.assertGreater(time_of("--group", "0-56:8", "--group", "1-57:8", *halves),
                           1.5 * time_of("--group", "0-56:8", *halves), "two GPUs share a NIC")

    def test_title_of_several_groups(self):
        status, stdout, _ = run("all_reduce", "-b", "1K", "-e", "1K", "--cluster", EIGHT, "--group", "0-56:8", "--shift", "8",
                                "--network", "analytical")
        self.assertEqual((status, stdout.splitlines()[:2]), (0, [
            "# collective-perf: all-reduce on dgx-a100-80g-8, 8 ranks: 0-56:8; 8 groups at once",
            "# network: analytical"]))

    def test_networks_by_size(self):
        lines = rows("all_reduce", "-b", "64K", "-e", "256K", "--cluster", EIGHT, "--hosts", "2", "--network", "auto:128K",
                     "-v")
        self.assertEqual([line.rsplit("; ")[1] for line in lines], ["packet", "analytical", "analytical"])
        status, stdout, _ = run("--network", "help")
        self.assertEqual((status, [line.split()[0] for line in stdout.splitlines()]),
                         (0, ["analytical", "fluid", "packet", "auto", "auto:SIZE"]))

    def test_check_prints_nothing(self):
        self.assertEqual(run("all_reduce", "--cluster", ONE, "--check"), (0, "", ""))

    # --- temporary files ------------------------------------------------------------------------

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TMPDIR": folder}
            self.assertEqual(run("all_reduce", "--cluster", ONE, env=environment)[0], 0)
            self.assertEqual(os.listdir(folder), [])
            status, _, stderr = run("all_reduce", "--cluster", ONE, "--nccl-library", "no.so", env=environment)
            self.assertEqual(status, 1)
            self.assertTrue(stderr.endswith("/simccl: error: simccl ended with exit status 1\n"), stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_an_interrupt_leaves_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([TOOL, "alltoall", "-b", "1M", "-e", "8G", "--cluster", EIGHT], cwd=ROOT,
                                       env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            while not os.listdir(folder):
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)
            self.assertEqual(process.wait(timeout=30), 130)
            self.assertEqual(os.listdir(folder), [])

    # --- mistakes -------------------------------------------------------------------------------

    def test_wrong_usage(self):
        known = "; valid values are "
        self.expect_usage("COLLECTIVE is required")
        self.expect_usage("--cluster is required", "all_reduce")
        self.expect_usage("-b 64M is more than -e 32M", "all_reduce", "--cluster", ONE, "-b", "64M")
        self.expect_usage("--threads '0' is neither 'auto' nor a number from 1 to 1024", "all_reduce", "--cluster", ONE,
                          "--threads", "0")
        self.expect_usage("there is no network 'packets'; did you mean 'packet'?" + known + "analytical, fluid, packet, auto, auto:SIZE",
                          "all_reduce", "--cluster", ONE, "--network", "packets")
        self.expect_usage("'0-7,3' names rank 3 twice", "all_reduce", "--cluster", ONE, "--group", "0-7,3")
        self.expect_usage("'99999999T' is too large", "all_reduce", "--cluster", ONE, "-e", "99999999T")
        self.expect_usage("-e 100000T is more than 72057594037927936 B", "all_reduce", "--cluster", ONE, "-e", "100000T")
        self.expect_usage("-G 20000 of -n 20 calls are more than 100000 calls", "all_reduce", "--cluster", ONE, "-G", "20000")
        self.expect_usage("-m and --astra-network exclude each other", "all_reduce", "--astra-network", "n", "--astra-system", "s",
                          "-m", "2")
        self.expect_usage("alltoallv needs --pairs FILE: what each member sends to each", "alltoallv", "--cluster", ONE)
        self.expect_usage("--pairs is for alltoallv only", "alltoall", "--cluster", ONE, "--pairs", "p.txt")
        self.expect_usage("--iters: Value 0 not in range 1 to 100000", "all_reduce", "--cluster", ONE, "-n", "0")
        self.expect_usage("--blocking: Value 4 not in range 0 to 3", "all_reduce", "--cluster", ONE, "-z", "4")
        self.expect_usage("--average: Value 4 not in range 0 to 3", "all_reduce", "--cluster", ONE, "-a", "4")
        self.expect_usage("--set clustr.hosts=2: no such section; sections are cluster, hosts, fabric, transport, faults, jitter, nccl, cost, storage "
                          "(cluster.topo)", "all_reduce", "--cluster", ONE, "--set", "clustr.hosts=2")
        self.expect_usage("--group excludes --hosts", "all_reduce", "--cluster", ONE, "--group", "0-7", "--hosts", "1")
        for option, value, message in [("-d", "flaot", "there is no data type 'flaot'; did you mean 'float'?"),
                                       ("-o", "sun", "there is no reduction 'sun'; did you mean 'sum'?")]:
            status, _, stderr = run("all_reduce", "--cluster", ONE, option, value)
            self.assertEqual((status, stderr.split(known)[0]), (2, "collective-perf: error: " + message))
        status, _, stderr = run("all_reduse", "--cluster", ONE)
        self.assertEqual((status, stderr.split(known)[0]),
                         (2, "collective-perf: error: there is no collective 'all_reduse'; did you mean 'all-reduce'?"))

    def test_what_the_cluster_does_not_have(self):
        for words, place, message in [
            (["--group", "4-11"], "--group 4-11", "there is no rank 8: the cluster has 8 GPUs, ranks 0 to 7"),
            (["--group", "0-3", "--shift", "6"], "--group 0-3", "there is no rank 8: the cluster has 8 GPUs, ranks 0 to 7"),
            (["--group", "0-3", "--shift", "2"], ONE, "rank 1 is in two groups"),
            (["--group", "0-3", "--group", "4-5"], ONE, "the groups 0-3 and 4-5 have different sizes"),
            (["--hosts", "2"], ONE, "the cluster has 1 hosts, not 2"),
            (["--ranks-per-host", "9"], ONE, "host 0 has 8 GPUs, not 9"),
            (["-r", "8"], "-r 8", "there is no root 8 in a group of 8"),
        ]:
            with self.subTest(words=words):
                self.assertEqual(run("all_reduce", "--cluster", ONE, *words), (1, "", f"{place}: error: {message}\n"))
        self.assertEqual(run("all_reduce", "--cluster", "no.topo"),
                         (1, "", "no.topo: error: cannot read: No such file or directory\n"))

    def test_help(self):
        status, stdout, _ = run("--help")
        self.assertEqual(status, 0)
        for text in ("all_reduce -b 8 -e 8G -f 2 --cluster", "Exit status:", "--ranks-per-host", "--shift", "auto:SIZE",
                     "--iters", "--pairs"):
            self.assertIn(text, stdout)
        self.assertNotIn("--if-changed", stdout)


if __name__ == "__main__":
    TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
