"""workload-gen import: traces and files of other tools, through the pipeline."""

import json
import struct

from chakra_traces import ALL_GATHER, ALL_REDUCE, COLL, COMP, RECV, SEND, node, stg_node, stg_trace, trace
from workload_graphs import ROOT, SMALL, Graphs, main


class Import(Graphs):
    CLUSTER = "configs/clusters/dgx-h100-1.topo"

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def traces(self, *traces, groups=None):
        for rank, content in enumerate(traces):
            self.write(f"traces/t.{rank}.et", content)
        if groups is not None:
            self.write("traces/t.json", json.dumps(groups))
        return self.folder / "traces"

    def run_import(self, format, place, *options):
        return self.run_tool("import", "--from", format, place, "--cluster", self.CLUSTER, "-o", self.folder / "run", *options)

    def expect_error(self, message, format, place):
        self.assertEqual(self.run_import(format, place), (1, "", message))
        self.assertFalse((self.folder / "run").exists(), "something was written")

    def expect_import(self, format, place, *options):
        status, stdout, stderr = self.run_import(format, place, *options)
        self.assertEqual((status, stdout), (0, ""), stderr)
        return stderr

    def replay(self):
        """Runs the rest of the pipeline. Returns the iteration time in picoseconds."""
        run = self.folder / "run"
        for tool, *options in [("simccl", ), ("compute-sim", ), ("exec-engine", "--network", "analytical"), ("report", )]:
            status, _, stderr = self.tool(tool, run, "-q", *options)
            self.assertEqual(status, 0, stderr)
        return json.loads((run / "summary.json").read_text())

    def pair(self, after=(), size=4096, tag=3):
        """Rank 0 computes 100 us and sends, rank 1 receives and computes 50 us; both sum. Ids and order are odd."""
        first = trace(node(30, COLL, "sum", deps=[20], comm_type=ALL_REDUCE, comm_size=1 << 20, pg_name="7"),
                      node(20, SEND, "send", deps=[10], comm_dst=1, comm_size=size, comm_tag=tag),
                      node(10, COMP, "a", us=100))
        second = trace(node(4, COMP, "b", ctrl=[2], us=50), node(2, RECV, "recv", comm_src=0, comm_size=4096, comm_tag=3),
                       node(9, COLL, "sum", deps=[4, *after], comm_type=ALL_REDUCE, comm_size=1 << 20, pg_name="7"))
        return first, second

    def test_chakra_traces_go_through_the_pipeline(self):
        stderr = self.expect_import("chakra", self.traces(*self.pair(), groups={"7": [0, 1]}))
        self.assertEqual(stderr, "workload-gen import: warning: 6 of the cluster's 8 GPUs have no rank and stay idle\n"
                                 "workload-gen import: t: imported from Chakra traces, 2 ranks in 3 classes, 6 ops, 2 submodules, "
                                 "2 calls; 2 process groups, 2 NCCL communicators created\n")
        self.assertEqual(self.expect_ok("dump", self.folder / "run", "--ranks", "1")[0],
                         "rank 1: class 1, 3 ops\n"
                         "0 p2p-1.recv other: receive 4.096 KB from rank 0 in group 1 'p2p-1', tag 3\n"
                         "1 compute other: b after 0\n"
                         "2 2x1 other: all-reduce bf16 1.049 MB over 2 in group 0 '2x1' (ranks 0-1) after 1\n")
        summary = self.replay()
        self.assertEqual(summary["kernels"]["by_source"]["given"], {"kernels": 2, "time_share": 1.0})
        self.assertGreater(summary["iteration_time_s"] * 1e3, 0.150)
        self.assertLess(summary["iteration_time_s"] * 1e3, 0.250)

    def test_groups_in_metadata_and_counts_without_times(self):
        groups = json.dumps([{"pg_name": "7", "ranks": [0, 1]}])
        stderr = self.expect_import("chakra", self.traces(
            trace(node(1, 1, values=groups), node(2, COMP, "gemm", ctrl=[1], num_ops=10**12, tensor_size=1000),
                  node(3, COLL, deps=[2], comm_type=ALL_GATHER, comm_size=512, pg_name="7"),
                  node(4, COLL, deps=[3], comm_type=9, comm_size=0)),
            trace(node(3, COLL, comm_type=ALL_GATHER, comm_size=512, pg_name="7"), node(4, COMP, "cpu", is_cpu_op=True),
                  node(5, COLL, deps=[4], comm_type=9, comm_size=0))))
        for line in ["1 compute ops state no duration: they take the longer of num_ops at the GPU's dense rate and tensor_size "
                     "at its memory bandwidth", "1 ops state no duration, no operations and no bytes: they take no time",
                     "2 barriers are all-reduces of 4 bytes, as PyTorch makes them over NCCL"]:
            self.assertIn(f"warning: {line}\n", stderr)
        dump = self.expect_ok("dump", self.folder / "run", "--ranks", "1")[0]
        self.assertIn("all-gather bf16 1.024 KB over 2", dump)
        self.assertIn(" host other: cpu", dump)
        self.replay()

    def test_traces_of_stg(self):
        """Names that end in .eg, groups in a file of another name, no durations, a gather's size as one rank's part."""
        for rank in range(4):
            nodes = [stg_node(3, COMP, "w_COMP", num_ops=10**12, tensor_size=4096),
                     stg_node(7, COLL, "x_X1COMM", deps=[3], comm_size=1 << 20, comm_type=ALL_GATHER, pg_name=str(1 + rank // 2))]
            if rank < 2:
                nodes.append(stg_node(9, SEND, "y_SEND", deps=[7], comm_size=4096, comm_tag=1234567, comm_dst=rank + 2))
            else:
                nodes.append(stg_node(9, RECV, "y_RECV", comm_size=4096, comm_tag=1234567, comm_src=rank - 2))
            self.write(f"traces/gpt.{rank}.eg", stg_trace(*reversed(nodes)))
        groups = self.write("traces/comm_group.json", json.dumps({"1": [0, 1], "2": [2, 3]}))
        self.expect_import("chakra", self.folder / "traces", "--groups", groups)
        dump = self.expect_ok("dump", self.folder / "run", "--ranks", "2")[0]
        self.assertIn("all-gather bf16 2.097 MB over 2 in group 1 '2x1' (ranks 2-3)", dump)
        self.assertIn("receive 4.096 KB from rank 0", dump)
        self.replay()

    def converted(self, rank):
        """As mlcommons' converter writes a rank: callers as control dependencies on nodes that it removed, the host's calls of
        collectives with their type but no comm_type, kernels of messages without a peer."""
        host = dict(is_cpu_op=True, rf_id=1, tid=1)
        kernel = dict(is_cpu_op=False, rf_id=2, tid=1)
        groups = json.dumps([{"pg_name": "default", "ranks": [0, 1, 2, 3]}, {"pg_name": f"pp{rank % 2}", "ranks": [rank % 2, rank % 2 + 2]}])
        send = rank < 2
        return trace(
            node(4, 1, "process_group:init", ctrl=[1], values=groups, **host),
            node(10, COMP, "aten::mm(0)", ctrl=[3], us=12, **host), node(11, COMP, "gemm", ctrl=[10], deps=[10], us=100, **kernel),
            node(20, COLL, "nccl:all_reduce(0)", ctrl=[21], deps=[10], us=5, **host),
            node(21, COLL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ctrl=[20], deps=[20, 11], us=70, comm_size=1 << 20,
                 pg_name="default", **kernel),
            node(30, SEND if send else RECV, "ncclDevKernel_SendRecv(x)", deps=[21], comm_size=4096, pg_name=f"pp{rank % 2}", **kernel))

    def test_traces_of_mlcommons_converter(self):
        stderr = self.expect_import("chakra", self.traces(*map(self.converted, range(4))))
        self.assertIn("warning: 4 collectives of the host's side state no comm_type: they are work of the host, and the kernels "
                      "communicate\n", stderr)
        self.assertIn("warning: 20 control dependencies of operators of PyTorch state who calls whom, and no order: they are "
                      "ignored, as by Chakra's feeder\n", stderr)
        dump = self.expect_ok("dump", self.folder / "run", "--ranks", "2")[0]
        self.assertIn("host other: nccl:all_reduce(0)", dump)
        self.assertIn("all-reduce bf16 1.049 MB over 4", dump)
        self.assertIn("receive 4.096 KB from rank 0", dump)
        self.replay()

    def test_a_message_without_a_peer_needs_a_group_of_two(self):
        first, second = self.pair()
        self.traces(first, trace(node(1, SEND, comm_size=64, pg_name="all")), trace(node(1, COMP)),
                    groups={"7": [0, 1], "all": [0, 1, 2]})
        self.expect_error(f"{self.folder}/traces/t.1.et: error: node 1: its group 'all' has 3 ranks, so it needs a comm_dst: the "
                          "other rank\n", "chakra", self.folder / "traces")
        self.traces(first, trace(node(1, SEND, comm_size=64)), trace(node(1, COMP)))
        self.expect_error(f"{self.folder}/traces/t.1.et: error: node 1 ('n'): a COMM_SEND_NODE needs a comm_dst: the other rank\n",
                          "chakra", self.folder / "traces")

    def test_traces_in_json(self):
        """The jsonizer's text of the traces of pair(), and the feeder's, are the same workload."""
        self.expect_import("chakra", self.traces(*self.pair(), groups={"7": [0, 1]}))
        expected = self.expect_ok("dump", self.folder / "run", "--ranks", "0,1")[0]
        one = 1 << 20
        jsonized = [
            [{"version": "0.0.4"},
             {"id": "30", "name": "sum", "type": "COMM_COLL_NODE", "dataDeps": ["20"], "attr": [
                 {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": str(one)},
                 {"name": "pg_name", "stringVal": "7"}]},
             {"id": "20", "name": "send", "type": "COMM_SEND_NODE", "dataDeps": ["10"], "attr": [
                 {"name": "comm_dst", "int32Val": 1}, {"name": "comm_size", "uint64Val": "4096"}, {"name": "comm_tag", "int32Val": 3}]},
             {"id": "10", "name": "a", "type": "COMP_NODE", "durationMicros": "100"}],
            [{"version": "1.0.0"},
             {"id": "4", "name": "b", "type": "COMP_NODE", "ctrlDeps": ["2"], "durationMicros": "50"},
             {"id": "2", "name": "recv", "type": "COMM_RECV_NODE", "attr": [
                 {"name": "comm_src", "int32Val": 0}, {"name": "comm_size", "uint64Val": "4096"}, {"name": "comm_tag", "int32Val": 3}]},
             {"id": "9", "name": "sum", "type": "COMM_COLL_NODE", "dataDeps": ["4"], "attr": [
                 {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": str(one)},
                 {"name": "pg_name", "stringVal": "7"}]}]]
        feeder = [
            [{"Id": 30, "Name": "sum", "NodeType": 7, "data_deps": [20], "comm_type": 0, "comm_size": one, "pg_name": "7"},
             {"Id": 20, "Name": "send", "NodeType": 5, "data_deps": [10], "comm_dst": 1, "comm_size": 4096, "comm_tag": 3},
             {"Id": 10, "Name": "a", "NodeType": 4, "data_deps": [], "runtime": 100}],
            [{"Id": 4, "Name": "b", "NodeType": 4, "data_deps": [2], "runtime": 50},
             {"Id": 2, "Name": "recv", "NodeType": 6, "data_deps": [], "comm_src": 0, "comm_size": 4096, "comm_tag": 3},
             {"Id": 9, "Name": "sum", "NodeType": 7, "data_deps": [4], "comm_type": 0, "comm_size": one, "pg_name": "7"}]]
        for form, texts in [("jsonizer", ["".join(json.dumps(o, indent=2) for o in rank) for rank in jsonized]),
                            ("feeder", [json.dumps({"workload_graph": rank}) for rank in feeder])]:
            with self.subTest(form):
                for rank, text in enumerate(texts):
                    self.write(f"{form}/t.{rank}.json", text)
                self.write(f"{form}/t.json", json.dumps({"7": [0, 1]}))
                self.expect_import("chakra", self.folder / form)
                self.assertEqual(self.expect_ok("dump", self.folder / "run", "--ranks", "0,1")[0], expected)

    def test_exploded_traces_are_chakra_traces(self):
        """The importer, which ignores Drydock's attributes, finds the same work in the output of explode."""
        run = self.generate("generated", *SMALL)
        self.expect_ok("explode", run, "-o", self.folder / "traces", "-q")
        self.CLUSTER = "configs/clusters/dgx-a100-80g-1.topo"
        self.expect_import("chakra", self.folder / "traces")
        before, after = [json.loads(self.expect_ok("stats", r, "--json")[0]) for r in (run, self.folder / "run")]
        self.assertEqual((before["ops"], before["ranks"]), (after["ops"], after["ranks"]))
        self.assertAlmostEqual(before["flops"] / after["flops"], 1, 9)
        sums = [sorted((c["call"], c["least_members"], c["bytes"]) for c in s["communication"]) for s in (before, after)]
        totals = [{}, {}]
        for total, entries in zip(totals, sums):
            for call, members, size in entries:
                total[call, members] = total.get((call, members), 0) + size
        self.assertEqual(*totals)

    def test_hostile_and_wrong_traces(self):
        first, second = self.pair()
        place, t0, t1 = self.folder / "traces", self.folder / "traces/t.0.et", self.folder / "traces/t.1.et"
        for change, message in [
            (lambda: self.traces(first, second), f"{t0}: error: node 30: the ranks of its group '7' are unknown: there is no "
                                                 "t.json and no metadata with groups (--groups FILE)\n"),
            (lambda: self.traces(first, second, groups={"8": [0, 1]}), f"{t0}: error: node 30: there is no group '7'\n"),
            (lambda: self.traces(first, second, groups={"7": [0, 2]}),
             f"{place}/t.json: error: group '7': there is no rank 2; there are 2 ranks\n"),
            (lambda: self.traces(first, second, groups={"7": [1]}), f"{t0}: error: node 30: the rank is not in its group '7'\n"),
            (lambda: self.traces(first[:-3], second), f"{t0}: error: node 2, at byte 124, cannot be read: the trace is damaged or cut\n"),
            (lambda: self.traces(first, trace(node(1, COMP, deps=[2]), node(2, COMP, ctrl=[1]))),
             f"{t1}: error: its nodes wait for each other in a cycle: 2, 1\n"),
            (lambda: self.traces(first, trace(node(1, COMP, deps=[5]))),
             f"{t1}: error: node 1 waits for node 5, which does not exist\n"),
            (lambda: self.traces(first, trace(node(1, COMP), node(1, COMP))),
             f"{t1}: error: node 1 ('n'): another node has the same id\n"),
            (lambda: self.traces(first, trace(node(1, 0))), f"{t1}: error: node 1 ('n'): its type 0 is unknown\n"),
            (lambda: self.traces(first, trace(node(1, RECV, comm_src=0))),
             f"{t1}: error: node 1 ('n'): a COMM_RECV_NODE needs a comm_size: the bytes that it moves\n"),
            (lambda: self.traces(first, trace(node(1, RECV, comm_src=1, comm_size=3))),
             f"{t1}: error: node 1 ('n'): its comm_src is its own rank\n"),
            (lambda: self.traces(first, trace(node(1, COLL, comm_type=10, comm_size=3))),
             f"{t1}: error: node 1 ('n'): its comm_type 10 is unknown\n"),
            (lambda: self.traces(first, trace(node(1, 2, "weights"))),
             f"{t1}: error: node 1 ('weights'): a MEM_LOAD_NODE needs a tensor_size\n"),
            (lambda: self.traces(first, trace(node(1, 3, "grads", tensor_size=-1))),
             f"{t1}: error: node 1 ('grads'): its tensor_size of -1 bytes is not between 0 and 2^50\n"),
        ]:
            change()
            with self.subTest(message=message):
                self.expect_error(message, "chakra", place)
            if (place / "t.json").exists():
                (place / "t.json").unlink()

    def test_loads_and_stores(self):
        """ASTRA-sim's memory nodes: 100 MB over a remote memory of 10 GB/s, both ranks at once, and over the host's without one."""
        one = trace(node(1, 2, "weights", tensor_size=100_000_000), node(2, COMP, deps=[1], num_ops=1000, tensor_size=1000),
                    node(3, 3, "gradients", deps=[2], tensor_size=100_000_000))
        self.traces(one, one)
        shipped = (ROOT / "configs/clusters/dgx-a100-80g-1.topo").read_text()
        memory = "    gpus: 8\n    memory: {remote: {sharing: per-host, bandwidth: 10 GB/s, latency: 5 us}}\n"
        for tier, text, seconds in [("remote", shipped.replace("    gpus: 8\n", memory), 2 * 2 * 0.01),
                                    ("host", shipped, 2 * 2 * 0.1 / (31 * 0.85))]:
            with self.subTest(tier=tier):
                self.CLUSTER = self.write("c.topo", text)
                stderr = self.expect_import("chakra", self.folder / "traces")
                self.assertEqual("use the host's memory" in stderr, tier == "host")
                self.assertIn(f"load weights 100 MB from {tier}", self.expect_ok("dump", self.folder / "run", "--ranks", "0")[0])
                summary = self.replay()
                self.assertAlmostEqual(summary["iteration_time_s"] / seconds, 1, 2)
                self.assertAlmostEqual(summary["time"]["exposed_memory"]["max_s"] / seconds, 1, 2)

    def test_traces_that_do_not_match(self):
        self.traces(*self.pair(tag=4), groups={"7": [0, 1]})
        status, _, stderr = self.run_import("chakra", self.folder / "traces", "-q")
        self.assertEqual(status, 1)
        self.assertIn("error: rank 0, op 1 (p2p+1.send), 4.096 KB with tag 4: rank 1 has no receive for it in group 1 (ranks 0-1); "
                      "receives without a send there have tag 3\n", stderr)

    def test_simai(self):
        path = self.write("w.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 "
                                   "checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n3\n"
                                   "grad_norm -1 1 ALLGATHER 1048576 1 NONE 0 1 NONE 0 0\n"
                                   "attention -1 200000 ALLREDUCE 4194304 300000 ALLREDUCE 0 100000 NONE 0 0\n"
                                   "moe -1 500000 ALLTOALL_EP 4194304 500000 ALLTOALL_EP 4194304 500000 ALLREDUCE_DP_EP 4194304 0\n")
        stderr = self.expect_import("simai", path)
        self.assertEqual(stderr,
            "workload-gen import: warning: line 3: the collective of 'grad_norm' is in the forward columns and so runs over "
            "tensor-parallel ranks, as in SimAI; data-parallel ranks are meant\n"
            "workload-gen import: warning: 1 collectives of 0 bytes are left out; the first is 'attention' in line 4\n"
            "workload-gen import: w.txt: imported from a SimAI workload, 8 ranks in 1 class, 14 ops, 9 submodules, 3 calls; 14 process "
            "groups, 14 NCCL communicators created\n")
        self.assertGreater(self.replay()["iteration_time_s"] * 1e3, 2.1)
        path.write_text(path.read_text().replace("all_gpus: 8", "all_gpus: 16"))
        self.assertEqual(self.run_import("simai", path)[2], f"{path}:1: error: all_gpus: 16, but the cluster has 8 GPUs\n")
        path.write_text(path.read_text().replace("all_gpus: 16", "all_gpus: 6"))
        self.assertEqual(self.run_import("simai", path)[2],
                         f"{path}:1: error: the number of copies (3) is not divisible by ep (2)\n")

    def test_goal(self):
        path = self.write("ring.goal", "num_ranks 2\n\nrank 0 {\nl1: calc 100000 cpu 0\nl2: send 1048576b to 1 tag 1 cpu 0 nic 0\n"
                                       "l3: recv 8b from 1 tag 4294967295\nl2 requires l1\n}\nrank 1 {\n"
                                       "l1: recv 1048576b from 0 tag 1\nl2: calc 50000\nl3: send 8b to 0 tag 4294967295\n"
                                       "l2 requires l1\nl3 irequires l2\n}\n")
        stderr = self.expect_import("goal", path)
        self.assertIn("warning: 1 ops have others that start with them (irequires)", stderr)
        self.assertGreater(self.replay()["iteration_time_s"] * 1e3, 0.150)
        whole = path.read_text()
        for old, new, message in [
            ("num_ranks 2", "num_ranks two", "1:1: error: expected 'num_ranks N'\n  num_ranks two\n  ^\n"),
            ("num_ranks 2", "num_ranks 9", "1:11: error: 9 ranks, but the cluster has 8 GPUs\n  num_ranks 9\n            ^\n"),
            ("num_ranks 2", "num_ranks 3", "15: error: 2 ranks are described, but num_ranks is 3\n"),
            ("rank 1 {", "rank 0 {", "9:6: error: rank 0 is described twice\n  rank 0 {\n       ^\n"),
            ("l3 irequires l2", "l3 irequires l9", "14:14: error: no op above has this label\n  l3 irequires l9\n               ^\n"),
            ("l1: calc 100000 cpu 0", "l1: calc 100000 gpu 0",
             "4:17: error: expected 'tag', 'cpu' or 'nic'\n  l1: calc 100000 gpu 0\n                  ^\n"),
            ("send 1048576b to 1", "send 1048576 to 1",
             "5:10: error: expected bytes, as in '64b'\n  l2: send 1048576 to 1 tag 1 cpu 0 nic 0\n           ^\n"),
            ("l3 irequires l2\n}", "l3 irequires l2\n", "15: error: rank 1 is not closed by '}'\n"),
        ]:
            self.assertEqual(whole.count(old), 1, old)
            path.write_text(whole.replace(old, new))
            with self.subTest(new=new):
                self.assertEqual(self.run_import("goal", path), (1, "", f"{path}:{message}"))

    def test_a_binary_goal_schedule_is_the_same_as_its_text(self):
        text = ("num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 64b to 1 tag 7 cpu 0 nic 0\nl2 requires l1\n}\n"
                "rank 1 {\nl1: recv 64b from 0 tag 7 cpu 0 nic 0\n}\n")
        self.expect_import("goal", self.write("s.goal", text))
        expected = self.expect_ok("dump", self.folder / "run", "--ranks", "0,1")[0]

        def op(kind, peer, size, tag, dependents):
            return struct.pack("<IBIQIBBIIII", 0, kind, peer, size, tag, 0, 0, dependents, 0, 0, dependents)

        ranks = [struct.pack("<II", 2, 0) + op(3, 0, 100, 0, 1) + op(1, 1, 64, 7, 0) + struct.pack("<I", 1),
                 struct.pack("<II", 1, 0) + op(2, 0, 64, 7, 0)]
        begin = 6 + 2 * 16
        middle, end = begin + len(ranks[0]), begin + len(ranks[0]) + len(ranks[1])
        binary = struct.pack("<QIBBQQQQ", 4223, 2, 0, 0, begin, middle, middle, end) + b"".join(ranks)
        place = self.write("s.bin", binary)
        self.expect_import("goal", place)
        self.assertEqual(self.expect_ok("dump", self.folder / "run", "--ranks", "0,1")[0], expected)
        status, _, stderr = self.run_import("goal", self.write("s.bin", binary[:-1]))
        self.assertEqual((status, stderr), (1, f"{place}: error: the binary schedule ends too early: it is damaged or cut\n"))

    def test_an_inventory_becomes_a_cluster(self):
        nics = "".join(f'[{n + 1}]\t"H-{h}{n}"[1](x)\t\t# "dgx{h} mlx5_{n}" lid 1 4xHDR\n' for h in (2, 10) for n in range(8))
        net = self.write("net.txt", 'Switch\t40 "S-1"\t# "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 1 lmc 0\n' +
                         nics + "".join(
                             f'Ca\t1 "H-{h}{n}"\t# "dgx{h} mlx5_{n}"\n' for h in (2, 10) for n in range(8)) +
                         'Ca\t1 "H-s"\t# "storage1 mlx5_0"\n[1](x)\t"S-1"[40]\t# lid 3 lmc 0 "leaf1" lid 1 4xHDR\n')
        base = "configs/clusters/dgx-a100-80g-8.topo"
        status, _, stderr = self.run_tool("import-cluster", "--from", "ibnetdiscover", net, "--host", base, "-o",
                                          self.folder / "mine.topo")
        self.assertEqual(status, 0, stderr)
        self.assertIn("note: hosts with other numbers of cables are left out: 1 with 1 (storage1)\n", stderr)
        cluster = (self.folder / "mine.topo").read_text()
        self.assertIn("# host0 is dgx2\n# host1 is dgx10\n", cluster)
        self.assertIn("- {from: 'leaf1', to: host1/nic7, rate: 200 Gbps, delay: 50000 ps}\n", cluster)
        self.CLUSTER = self.folder / "mine.topo"
        self.expect_import("goal", self.write("s.goal", "num_ranks 16\n" + "".join(
            f"rank {r} {{\nl1: {'send 64b to 15' if r == 0 else 'recv 64b from 0' if r == 15 else 'calc 1'}\n}}\n"
            for r in range(16))))
        self.replay()
        for words, message in [(["--from", "ibnetdiscover", net], "--host is required"),
                               (["--from", "cables", net, "--host", base],
                                "--hosts PATTERN is required with --from cables: which devices are hosts"),
                               (["--from", "cable", net], "there is no inventory 'cable'; did you mean 'cables'?; valid values are "
                                                          "ibnetdiscover, cables, air, nvidia-smi")]:
            status, _, stderr = self.run_tool("import-cluster", *words)
            self.assertEqual((status, stderr.splitlines()[0]), (2, f"workload-gen: error: {message}"))

    def test_usage(self):
        see = "workload-gen: see workload-gen import --help\n"
        for arguments, message in [
            ([], "--from is required"), (["--from", "chakra"], "FILE is required"),
            (["--from", "chakras", "x"], "there is no format 'chakras'; did you mean 'chakra'?; formats are chakra, simai, aicb, goal"),
            (["--from", "goal", "x"], "--cluster is required"),
            (["--from", "goal", "x", "--cluster", self.CLUSTER], "-o RUN is required"),
            (["--from", "goal", "x", "--cluster", self.CLUSTER, "--groups", "g"], "--groups applies to --from chakra only"),
            (["--from", "goal", "x", "--dtype", "bf61"], "unknown data type 'bf61'; did you mean 'bf16'?"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_tool("import", *arguments), (2, "", f"workload-gen: error: {message}\n{see}"))
        self.assertEqual([line.split()[0] for line in self.expect_ok("import", "--from", "help")[0].splitlines()],
                         ["chakra", "simai", "aicb", "goal"])


if __name__ == "__main__":
    main()
