"""workload-gen explode and merge, read as ASTRA-sim would."""

import json
import pathlib
import shutil

from chakra_traces import ALL_GATHER, COLL, COMP, REDUCE_SCATTER, SEND, decoded, read_varint, varint
from workload_graphs import SMALL, Graphs, main


class Feeder:
    """Runs a folder as ASTRA-sim does: ready nodes by ascending id, each collective when all ranks of its group are ready."""

    def __init__(self, test, prefix, ranks):
        self.groups = {name: members for name, members in json.loads(pathlib.Path(f"{prefix}.json").read_text()).items()}
        self.nodes = [decoded(f"{prefix}.{rank}.et") for rank in range(ranks)]
        self.test = test

    def check_node(self, rank, n):
        a = n["attr"]
        self.test.assertIn("is_cpu_op", a)
        if n["type"] == COMP:
            self.test.assertGreaterEqual(a["num_ops"], 0)
            self.test.assertGreater(a["tensor_size"], 0)
            return
        self.test.assertGreater(a["comm_size"], 0)
        self.test.assertGreater(int(a["pg_name"]), 0)
        self.test.assertIn(rank, self.groups[a["pg_name"]])
        if n["type"] == COLL:
            self.test.assertIn(a["comm_type"], range(10))
        else:
            self.test.assertIsInstance(a["comm_tag"], int)
            peer = a["comm_dst" if n["type"] == SEND else "comm_src"]
            self.test.assertIn(peer, self.groups[a["pg_name"]])
            self.test.assertNotEqual(peer, rank)

    def play(self):
        """Every node of every rank ends, and the members of a call describe the call equally."""
        waiting, done, begun, calls = [], [set() for _ in self.nodes], [set() for _ in self.nodes], {}
        counts = [{} for _ in self.nodes]
        for rank, nodes in enumerate(self.nodes):
            for n in nodes:
                self.check_node(rank, n)
        moved = True
        while moved:
            moved = False
            for rank, nodes in enumerate(self.nodes):
                for n in nodes:
                    if n["id"] in begun[rank] or not done[rank].issuperset(n["data_deps"] + n["ctrl_deps"]):
                        continue
                    begun[rank].add(n["id"])
                    moved = True
                    a = n["attr"]
                    if n["type"] == COMP:
                        done[rank].add(n["id"])
                        continue
                    if n["type"] == COLL:
                        key, what, wanted = ("coll", a["pg_name"]), (a["comm_type"], a["comm_size"]), len(self.groups[a["pg_name"]])
                    else:
                        ends = (rank, a["comm_dst"]) if n["type"] == SEND else (a["comm_src"], rank)
                        key, what, wanted = ("p2p", *ends, a["comm_tag"], n["type"]), a["comm_size"], 2
                    number = counts[rank][key] = counts[rank].get(key, 0) + 1
                    call = calls.setdefault((*key[:4], number), [])
                    call.append((rank, n["id"], what))
                    self.test.assertEqual({w for _, _, w in call}, {what})
                    if len(call) == wanted:
                        for r, i, _ in call:
                            done[r].add(i)
        self.test.assertEqual([len(d) for d in done], [len(n) for n in self.nodes])


class Explode(Graphs):
    def round_trip(self, run, *options):
        traces, again, once_more = self.folder / "traces", self.folder / "again", self.folder / "once-more"
        self.expect_ok("explode", run, "-o", traces, *options)
        self.expect_ok("merge", traces, "-o", again)
        self.assert_same_folders(run / "1-workload", again / "1-workload")
        if (run / "3-times.pb").exists():
            shutil.copy(run / "3-times.pb", again)
        self.expect_ok("explode", again, "-o", once_more, *options)
        self.assert_same_folders(traces, once_more)
        return traces

    def test_explode_and_merge_restore_the_workload(self):
        for model, cluster, *settings in [("gpt-22b", "dgx-a100-80g-1"), SMALL,
                                          ("llama-3-70b", "dgx-h100-8", "model.layers=20", "training.global_batch=64"),
                                          ("qwen3-30b-a3b", "dgx-h100-8", "training.global_batch=64"),
                                          ("torchtitan-llama-3-8b", "dgx-h100-1")]:
            with self.subTest(model=model):
                run = self.generate(model, model, cluster, *settings)
                self.round_trip(run)
                for name in ["traces", "again", "once-more"]:
                    shutil.rmtree(self.folder / name)

    def test_astra_sim_would_run_it(self):
        run = self.generate("run", *SMALL)
        self.expect_ok("explode", run, "-o", self.folder / "traces", "--prefix", "gpt", "-q")
        Feeder(self, self.folder / "traces/gpt", 8).play()

    def test_durations_are_written_where_they_are_known(self):
        run = self.generate("run", *SMALL)
        self.assertEqual(self.tool("compute-sim", run, "-q")[0], 0)
        traces = self.round_trip(run)
        nodes = [n for n in decoded(traces / "workload.0.et") if n["type"] == COMP]
        for n in nodes:
            self.assertEqual(n["duration_micros"], -(-n["attr"]["duration_ps"] // 1_000_000))
        self.assertGreater(max(n["duration_micros"] for n in nodes), 10)

    def test_sizes_are_chakras(self):
        run = self.generate("run", *SMALL, "training.distributed_optimizer=true")
        self.expect_ok("explode", run, "-o", self.folder / "traces", "-q", "--ranks", "3")
        self.assertEqual(sorted(p.name for p in (self.folder / "traces").iterdir()),
                         ["manifest.pb", "topology.pb", "workload.3.et", "workload.json"])
        sizes = {n["attr"]["comm_type"]: n["attr"]["comm_size"] for n in decoded(self.folder / "traces/workload.3.et")
                 if n["type"] == COLL and n["attr"]["comm_type"] in (ALL_GATHER, REDUCE_SCATTER)
                 and n["name"].startswith("dp.")}
        # fp32 gradients in full, fp16 parameters as one of two shards.
        self.assertEqual(sizes[REDUCE_SCATTER], 4 * sizes[ALL_GATHER])

    def test_edited_traces_get_separate_classes(self):
        run = self.generate("run", *SMALL)
        traces = self.folder / "traces"
        self.expect_ok("explode", run, "-o", traces, "-q")
        classes = len(list((run / "1-workload").glob("*.et")))
        # Rank 5 now waits only for earlier ops on its stream.
        path = traces / "workload.5.et"
        data, at, out = path.read_bytes(), 0, b""
        while at < len(data):
            size, at = read_varint(data, at)
            out += self.without_dependencies(data[at:at + size])
            at += size
        path.write_bytes(out)
        stdout, stderr = self.expect_ok("merge", traces, "-o", self.folder / "merged")
        self.assertEqual(stderr, f"workload-gen merge: 8 ranks in {classes + 1} classes\n")
        status, stdout, stderr = self.run_tool("diff", run, self.folder / "merged", "--shown", 1)
        self.assertEqual(status, 1)
        self.assertRegex(stdout, r"^8 ranks compared, as 3 with different programs; 1 of them differ\n")
        # The same work, which no longer waits for the same.
        self.assertRegex(stdout, r"(?m)^calls +254 +0 +0 +0$")
        self.assertRegex(stdout, r"(?m)^products +600 +0 +0 +0$")
        self.assertRegex(stdout, r"(?m)^starts of calls +195 +0 +0 +59$")
        self.assertRegex(stdout, r"(?m)^      A: rank 5, op 7, forward micro-batch 0 layer 2, 'tp' on tp, ranks 4-5$")

    @staticmethod
    def without_dependencies(message):
        """The message without its data_deps (field 5, packed)."""
        at, out = 0, b""
        while at < len(message):
            begin, tag = at, message[at]
            size, at = read_varint(message, at + 1)
            at += size if tag & 7 == 2 else 0
            out += b"" if tag == 5 << 3 | 2 else message[begin:at]
        return varint(len(out)) + out

    def test_contradictions_with_the_tables_are_reported(self):
        run = self.generate("run", *SMALL)
        traces = self.folder / "traces"
        self.expect_ok("explode", run, "-o", traces, "-q")
        path = traces / "workload.2.et"
        whole = path.read_bytes()
        number = next(i for i, n in enumerate(decoded(path)) if n["type"] == COLL)
        size = decoded(path)[number]["attr"]["comm_size"]
        at = whole.index(b"comm_size\x48" + varint(size)) + 10
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        self.assertEqual(self.run_tool("merge", traces, "-o", self.folder / "m"),
                         (1, "", f"{path}: error: node {number}: its comm_size is {size ^ 1}, but the tables say {size}\n"))
        path.write_bytes(whole[:-5])
        status, _, stderr = self.run_tool("merge", traces, "-o", self.folder / "m")
        self.assertEqual(status, 1)
        self.assertRegex(stderr, rf"^{path}: error: node \d+: it cannot be read\n$")
        path.unlink()
        self.assertEqual(self.run_tool("merge", traces, "-o", self.folder / "m"),
                         (1, "", f"{path}: error: the trace of rank 2 is missing; there are 7, up to rank 7\n"))

    def test_output_folders_that_are_refused(self):
        run = self.generate()
        (self.folder / "full").mkdir()
        (self.folder / "full/notes.txt").touch()
        self.assertEqual(self.run_tool("explode", run, "-o", self.folder / "full"),
                         (1, "", f"{self.folder}/full: error: the folder is not empty; name an empty folder, or one that does not exist\n"))
        self.assertEqual(self.run_tool("explode", run, "-o", self.folder / "x", "--ranks", "8")[0], 1)
        self.assertEqual(self.run_tool("merge", run / "1-workload", "-o", self.folder / "m")[0], 1)


if __name__ == "__main__":
    main()
