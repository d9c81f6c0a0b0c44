"""simccl's commands as a program: NCCL's decisions in words, and the exact message of every error."""

import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
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

    def expect_error(self, message, *arguments, place=None):
        place = place or arguments[arguments.index("--cluster") + 1]
        self.assertEqual(run("explain", *arguments), (1, "", f"{place}: error: {message}\n"))

    def test_the_choice_and_the_reason(self):
        text = self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB")
        self.assertEqual(text.split("\nRings:")[0], """\
all-reduce bf16 67.11 MB over 16: ranks 0-15 of dgx-h100-8
2 hosts; 2 dgx-h100 with 8 GPUs of the group each
Settings of NCCL: none

NCCL runs nvls-tree with Simple: 16 channels of 20 warps, chunks of 131.1 KB
Of the 7 choices that NCCL considers, it predicts the least time for nvls-tree with Simple: 339.4 us; the next, ring with \
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

    def test_explain_lists_rings_trees_and_connections(self):
        text = self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB")
        for line in ["  channels 0, 8: 0 7 6 5 4 3 2 1 9 10 11 12 13 14 15 8\n",
                     "  channel 0: 0 (1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15)\n",
                     "  channels 0-14:2: heads 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; tree 0 8; ",
                     "256 connections over the network, 0 by PXN (which is on):\n",
                     "  channel 0: 0 to 8, NIC 0 to NIC 0, GPUDirect\n", "  ... and 240 more (-v)\n"]:
            self.assertIn(line, text)
        self.assertEqual(self.explain("--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "64MiB",
                                      "-v").count(" to NIC "), 256)

    def test_messages_use_pxn(self):
        text = self.explain("--cluster", A100, "--collective", "alltoall", "--size", "1MiB")
        self.assertIn("\nNCCL runs messages: 16.38 KB each over 1 channel in chunks of 32.77 KB, protocol LL", text)
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

    GROUP = ["--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "6MiB", "--collective", "all_gather",
             "--size", "1MiB", "--collective", "all_reduce", "--size", "64KiB", "--collective", "sendrecv", "--size", "40KiB"]

    def test_a_group_of_calls(self):
        text = self.explain(*self.GROUP)
        self.assertTrue(text.startswith("group of all-reduce x2, all-gather, send-recv: 7.447 MB over 16: ranks 0-15 of "
                                        "dgx-h100-8\n"), text)
        kernel = text.split("\nNCCL runs ")[1].split("\nThe tuner on ")[0].splitlines()
        self.assertEqual(kernel[0], "1 kernel, on rank 0:")
        self.assertEqual(len(kernel), 5)
        for call in ["all-reduce bf16 6.291 MB over 16: ", "all-reduce bf16 65.54 KB over 16: ",
                     "all-gather bf16 1.049 MB over 16: "]:
            self.assertEqual(sum(call in line for line in kernel), 1, call)
        self.assertIn("message to rank 1, 40.96 KB with ", kernel[-1])
        self.assertEqual(text.count("\nThe tuner on all-reduce, "), 2)  # their sizes differ too much
        self.assertEqual(text.count("\nThe tuner on all-gather, 1.049 MB together:\n"), 1)

    def test_broadcasts_of_several_roots_are_one_kernel(self):
        words = ["--cluster", H100, "--group", "0-7"]
        for root in "037":
            words += ["--collective", "broadcast", "--size", "1MiB", "--root", root]
        self.assertRegex(self.explain(*words), "\nNCCL runs 1 kernel, on rank 0:\n  channels 0-[0-9]+ +broadcasts of 3 roots in "
                                               "turns \\(AllGatherV\\): ring with [A-Za-z0-9]+, [0-9]+ warps, chunks of ")

    def test_check_prints_nothing(self):
        self.assertEqual(run("explain", "--cluster", H100, "--collective", "all_reduce", "--size", "8", "--check"), (0, "", ""))

    def test_wrong_usage(self):
        call = ["--cluster", H100, "--collective", "all_reduce", "--size", "8"]
        self.expect_usage("--cluster is required")
        self.expect_usage("--collective is required", "--cluster", H100)
        self.expect_usage("--size is required", "--cluster", H100, "--collective", "all_reduce")
        self.expect_usage("--size is given 1 time for 2 calls; each needs its own", *call, "--collective", "reduce")
        self.expect_usage("--type is given 2 times for 1 call; give it once, or for each", *call, "--type", "bf16", "--type",
                          "fp32")
        self.expect_usage("'0-7,3' names rank 3 twice", *call, "--group", "0-7,3")
        self.expect_usage("'8-0' is not a list of ranks: '8-0' runs backwards", *call, "--group", "8-0")
        self.expect_usage("'9000000T' is too large", *call[:-1], "9000000T")
        self.expect_usage("--size 100000T is more than 72057594037927936 B", *call[:-1], "100000T")
        self.expect_usage("--set modle.layers=2: no such section; sections are cluster, hosts, fabric, transport, faults, jitter, nccl, cost, storage "
                          "(cluster.topo)", *call, "--set", "modle.layers=2")
        self.expect_usage("The following argument was not expected: --grup; did you mean '--group'?", *call, "--grup")
        status, _, stderr = run("explain", "--cluster", H100, "--collective", "allreduse", "--size", "8")
        self.assertEqual(status, 2)
        self.assertTrue(stderr.startswith(
            "simccl: error: there is no collective 'allreduse'; did you mean 'allreduce'?; valid values are all-reduce, "),
            stderr)

    def test_what_the_cluster_does_not_have(self):
        call = ["--cluster", H100, "--collective", "all_reduce", "--size", "8"]
        self.expect_error("there is no rank 64: the cluster has 64 GPUs, ranks 0 to 63", *call, "--group", "60-70", place="--group 60-70")
        self.expect_error("there is no root 4 in a group of 4", *call, "--group", "0-3", "--root", "4")
        self.expect_error("7 B are not a whole number of elements of bf16 (2 B each)", *call[:-1], "7")
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


class Expand(unittest.TestCase):
    maxDiff = None
    RING = ["--cluster", A100, "--group", "8-15", "--collective", "all_reduce", "--size", "64MiB"]
    RAIL = ["--cluster", A100, "--group", "3,11", "--collective", "all_reduce", "--size", "16KiB"]

    def expand(self, *arguments):
        status, stdout, stderr = run("expand", *arguments)
        self.assertEqual((status, stderr), (0, ""))
        return stdout

    def flows(self, *arguments):
        return list(csv.DictReader(self.expand(*arguments).splitlines()))

    def test_every_flow_of_a_small_call(self):
        self.assertEqual(self.expand(*self.RAIL), """\
plan,work,flow,source,destination,bytes,channel,step,link,source_nic,destination_nic,proxy,waits_for,room
0,0,0.0,3,11,4096,0,0,net,3,3,,,
0,0,0.1,3,11,4096,0,1,net,3,3,,0.0 1.0,
0,0,2.0,3,11,4096,1,0,net,3,3,,,
0,0,2.1,3,11,4096,1,1,net,3,3,,2.0 3.0,
0,0,1.0,11,3,4096,0,0,net,3,3,,,
0,0,1.1,11,3,4096,0,1,net,3,3,,1.0 0.0,
0,0,3.0,11,3,4096,1,0,net,3,3,,,
0,0,3.1,11,3,4096,1,1,net,3,3,,3.0 2.0,
""")

    def test_bytes_of_a_ring_are_those_of_the_closed_form(self):
        sent = collections.Counter()
        flows = self.flows(*self.RING)
        for flow in flows:
            sent[int(flow["source"])] += int(flow["bytes"])
        self.assertEqual(sent, {rank: 2 * 7 * (64 << 20) // 8 for rank in range(8, 16)})
        names = {flow["flow"]: flow for flow in flows}
        self.assertEqual(len(names), len(flows))
        for flow in flows:
            for earlier in flow["waits_for"].split():
                self.assertIn(flow["source"], (names[earlier]["source"], names[earlier]["destination"]))
                self.assertEqual(flow["channel"], names[earlier]["channel"])
            if flow["room"]:
                self.assertEqual((names[flow["room"]]["source"], names[flow["room"]]["destination"]),
                                 (flow["source"], flow["destination"]))

    def test_userbuffers_bypass_nccl(self):
        words = ["--cluster", A100, "--group", "8-15", "--collective", "all_gather", "--size", "64MiB", "--buffers", "userbuffers"]
        flows = self.flows(*words)
        self.assertEqual({flow["link"] for flow in flows}, {"write"})
        sent = collections.Counter()
        for flow in flows:
            sent[int(flow["source"]), int(flow["destination"])] += int(flow["bytes"])
        pairs = {(a, b) for a in range(8, 16) for b in range(8, 16) if a != b}
        self.assertEqual(sent, dict.fromkeys(pairs, 8 << 20))
        self.assertEqual(run("explain", *words), (1, "", f"{A100}: error: --buffers userbuffers: the call bypasses NCCL; 'simccl expand' "
                                                         "lists its flows\n"))
        self.assertEqual(run("expand", *words[:3], "0,8", *words[4:]),
                         (1, "", f"{A100}: error: userbuffers: all members must be GPUs of one host, whose memory they map\n"))

    def test_flows_of_a_group_keep_the_order_of_its_works(self):
        words = ["--cluster", A100, "--group", "0-7"]
        for collective, size in [("all_reduce", "1MiB"), ("all_reduce", "1MiB"), ("alltoall", "512KiB")]:
            words += ["--collective", collective, "--size", size]
        flows = self.flows(*words)
        sent = collections.Counter()
        names = {flow["flow"]: flow for flow in flows}
        self.assertEqual(len(names), len(flows))
        for flow in flows:
            sent[int(flow["source"])] += int(flow["bytes"])
        self.assertEqual(sent, {rank: 2 * 2 * 7 * (1 << 20) // 8 + 7 * (512 << 10) // 8 for rank in range(8)})
        of_work = collections.Counter()
        for flow in flows:
            of_work[flow["work"]] += int(flow["bytes"])
        self.assertEqual(of_work, {"0": 2 * 7 << 20, "1": 2 * 7 << 20, "2": 7 * (512 << 10)})
        # On a channel every work except the first has a dependency.
        free = collections.Counter((f["source"], f["channel"]) for f in flows if not f["waits_for"])
        self.assertTrue(all(count == 1 for (_, channel), count in free.items() if int(channel) < 2), free)

    def test_messages_name_nics_and_proxies(self):
        flows = self.flows("--cluster", A100, "--group", "0-15", "--collective", "alltoall", "--size", "1MiB")
        pxn = [flow for flow in flows if (flow["source"], flow["destination"]) == ("0", "9")]
        self.assertEqual(sum(int(flow["bytes"]) for flow in pxn), 65536)
        for flow in pxn:
            self.assertEqual([flow[key] for key in ("link", "source_nic", "destination_nic", "proxy")], ["net", "1", "1", "1"])

    def test_json_has_the_same_flows(self):
        rows = self.flows(*self.RING)
        flows = json.loads(self.expand(*self.RING, "--format", "json"))["flows"]
        for row, flow in zip(rows, flows, strict=True):
            flow["waits_for"] = " ".join(flow["waits_for"])
            self.assertEqual({key: str(value) for key, value in flow.items()}, {k: v for k, v in row.items() if v or k == "waits_for"})

    def test_goal_schedules_run_to_their_end(self):
        for words in (self.RING, self.RAIL, ["--cluster", H100, "--group", "0-15", "--collective", "all_reduce", "--size", "16MiB"],
                      ["--cluster", A100, "--group", "0-15", "--collective", "alltoall", "--size", "1MiB"]):
            with self.subTest(words=words):
                self.run_goal(self.expand(*words, "--format", "goal"))

    def run_goal(self, text):
        """Runs a schedule: sends are buffered, receives take messages of their tag in order."""
        head, *ranks = re.split(r"\nrank (?=\d+ {\n)", text)
        self.assertEqual(head, f"num_ranks {len(ranks)}\n")
        operations, waits = {}, collections.defaultdict(list)
        for rank, body in enumerate(ranks):
            number, *lines = body.strip().splitlines()
            self.assertEqual((number, lines.pop()), (f"{rank} {{", "}"))
            for line in lines:
                made = re.fullmatch(r"(l\d+): (?:(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)|calc 0) cpu \d+(?: nic \d+)?", line)
                order = re.fullmatch(r"(l\d+) i?requires (l\d+)", line)
                self.assertTrue(made or order, line)
                if made:
                    operations[rank, made[1]] = made.groups()[1:]
                else:
                    self.assertIn((rank, order[2]), operations, "an op can only name earlier ops")
                    waits[rank, order[1]].append((rank, order[2]))
        followers, open_ = collections.defaultdict(list), {key: len(waits[key]) for key in operations}
        for key, earlier in waits.items():
            for one in earlier:
                followers[one].append(key)
        sent, wanted = collections.defaultdict(collections.deque), collections.defaultdict(collections.deque)
        ready, ended = collections.deque(key for key, count in open_.items() if count == 0), 0

        def end(key):
            nonlocal ended
            ended += 1
            for follower in followers[key]:
                open_[follower] -= 1
                if open_[follower] == 0:
                    ready.append(follower)
        while ready:
            key = ready.popleft()
            kind, size, peer, tag = operations[key]
            if kind == "send":
                sent[key[0], int(peer), tag].append(size)
                end(key)
            elif kind == "recv":
                wanted[int(peer), key[0], tag].append((key, size))
            else:
                end(key)
            path = (key[0], int(peer), tag) if kind == "send" else (int(peer), key[0], tag) if kind else None
            while path and sent[path] and wanted[path]:
                taker, expected = wanted[path].popleft()
                self.assertEqual(sent[path].popleft(), expected)
                end(taker)
        self.assertEqual(ended, len(operations))
        self.assertFalse(any(sent.values()))

    def test_memory_does_not_grow_with_the_plan(self):
        with open("/dev/null", "w") as nothing:
            done = subprocess.run([BIN / "simccl", "expand", *self.RING[:-1], "1GiB", "--stats"], cwd=ROOT, stdout=nothing,
                                  stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 0)
        self.assertLess(float(re.search(r"([\d.]+) MB peak", done.stderr)[1]), 80)

    def test_a_run_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool, *words in (["workload-gen", "configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-1.topo", "-o", folder,
                                  "--set", "model.layers=2", "-q"], ["simccl", folder, "-q"]):
                subprocess.run([BIN / tool, *words], cwd=ROOT, check=True, timeout=120)
            flows = self.flows(folder)
            dump = run(folder, "--dump")[1]
            plans = [line for line in dump.splitlines() if re.search(r"channels? of", line)]
            self.assertEqual({int(flow["plan"]) for flow in flows}, set(range(len(plans))))
            self.assertEqual({int(flow["source"]) for flow in flows}, set(range(8)))
            self.assertEqual(run("expand", folder, "--format", "goal"), (2, "", "simccl: error: a GOAL schedule has one "
                             "call: give --cluster and a call, not RUN\nsimccl: see simccl expand --help\n"))

    def test_wrong_usage(self):
        see = "\nsimccl: see simccl expand --help\n"
        self.assertEqual(run("expand"), (2, "", "simccl: error: --cluster is required" + see))
        self.assertEqual(run("expand", *self.RING, "--format", "cvs"), (2, "", "simccl: error: there is no format 'cvs'; did you "
                         "mean 'csv'?; valid values are csv, json, goal" + see))
        self.assertEqual(run("expand", "no", "--format", "csv")[:2], (1, ""))


class Custom(unittest.TestCase):
    """A ring written as MSCCL's XML, over the four GPUs of one host."""

    def ring(self, reduce="rrs"):
        gpus = []
        for g in range(4):
            steps = [("s", g + 3), (reduce, g + 2), ("rrs", g + 1), ("rrcs", g), ("rcs", g + 3), ("rcs", g + 2), ("r", g + 1)]
            lines = "\n".join(f'<step s="{i}" type="{kind}" srcbuf="i" srcoff="{chunk % 4}" dstbuf="i" dstoff="{chunk % 4}" '
                              f'cnt="1" depid="-1" deps="-1" hasdep="0"/>' for i, (kind, chunk) in enumerate(steps))
            gpus.append(f'<gpu id="{g}" i_chunks="4" o_chunks="0" s_chunks="0">\n<tb id="0" send="{(g + 1) % 4}" '
                        f'recv="{(g + 3) % 4}" chan="0">\n{lines}\n</tb>\n</gpu>')
        return ('<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="4" ngpus="4" coll="allreduce" inplace="1">\n'
                + "\n".join(gpus) + "\n</algo>\n")

    def perf(self, *arguments):
        done = subprocess.run([BIN / "collective-perf", "all_reduce", "--cluster", A100, "--set", "cluster.hosts=1", "--group", "0-3",
                               "-b", "16M", "-e", "16M", "--network", "analytical", *arguments],
                              cwd=ROOT, text=True, capture_output=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_a_ring_takes_as_long_as_that_of_nccl(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "ring.xml"
            file.write_text(self.ring())
            rows = []
            for arguments in (["--planner", f"custom:{file}"],
                              ["--set", "nccl.settings.NCCL_MAX_NCHANNELS=1", "--set", "nccl.settings.NCCL_ALGO=Ring",
                               "--set", "nccl.settings.NCCL_PROTO=Simple"]):
                status, stdout, stderr = self.perf(*arguments)
                self.assertEqual((status, stderr), (0, ""))
                rows.append([line for line in stdout.splitlines() if " float " in line])
            self.assertEqual(rows[0], rows[1])
            # NCCL itself picks more channels and is faster.
            nccl = [line for line in self.perf()[1].splitlines() if " float " in line]
            self.assertLess(float(nccl[0].split()[5]), float(rows[0][0].split()[5]) / 2)

    def test_a_trace_of_the_collective_api_contains_its_xml(self):
        def field(number, content):
            head, size = bytes([number << 3 | 2]), len(content)
            if number == 29:
                head = b"\xea\x01"
            return head + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + content

        def trace(name):
            metadata = field(2, field(1, name) + field(29, self.ring().encode()))
            return bytes([len(metadata) & 127 | 128, len(metadata) >> 7]) + metadata
        with tempfile.TemporaryDirectory() as folder:
            xml, et = pathlib.Path(folder) / "ring.xml", pathlib.Path(folder) / "ring.0.et"
            xml.write_text(self.ring())
            et.write_bytes(trace(b"input_file"))
            self.assertEqual(self.perf("--planner", f"custom:{et}"), self.perf("--planner", f"custom:{xml}"))
            et.write_bytes(trace(b"input_name"))
            status, _, stderr = self.perf("--planner", f"custom:{et}")
            self.assertEqual(status, 1)
            self.assertIn(f"{et}: error: this trace does not contain the XML that it was made of, and its nodes do not say which "
                          "data they move; give the XML file of MSCCL", stderr)

    def test_an_algorithm_that_does_not_sum_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "ring.xml"
            file.write_text(self.ring(reduce="rcs"))
            status, _, stderr = self.perf("--planner", f"custom:{file}")
            self.assertEqual(status, 1)
            self.assertIn(f"{file}:2: error: all-reduce fp32 16.78 MB over 4, ranks 0, 1, 2, 3: this is no all-reduce over 4 GPUs: "
                          "member 0 ends with the wrong element 0", stderr)


class Usage(unittest.TestCase):
    def test_wrong_values_are_wrong_usage(self):
        self.assertEqual(run("x", "--planner", "ncl"), (2, "", "simccl: error: there is no planner 'ncl'; planners are: nccl, custom:FILE\n"
                                                        "simccl: see simccl --help\n"))
        self.assertEqual(run(), (2, "", "simccl: error: RUN is required\nsimccl: see simccl --help\n"))
        for network, message in [("packets", "there is no network 'packets'; did you mean 'packet'?; valid values are "
                                  "analytical, fluid, packet, auto")]:
            done = subprocess.run([BIN / "exec-engine", "x", "--network", network], text=True, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"exec-engine: error: {message}\nexec-engine: see exec-engine --help\n"))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
