"""workload-gen's commands on workloads that are there: check, explode, merge, import, dump, dot, graphml, stats, diff."""

import filecmp
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER = 0, 2, 6, 7
COMP, SEND, RECV, COLL = 4, 5, 6, 7


# ---- Chakra traces by hand: nothing of ours writes these. ---------------------------------------

def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(id, kind, name="n", deps=(), ctrl=(), us=0, values="", **attributes):
    out = field(1, id) + field(2, name.encode()) + field(3, kind)
    out += b"".join(field(4, d) for d in ctrl) + b"".join(field(5, d) for d in deps)
    if us:
        out += field(7, us)
    if values:
        out += field(8, field(1, values.encode()))
    for key, value in attributes.items():
        number = 27 if isinstance(value, bool) else 9 if isinstance(value, int) else 29
        content = int(value) if isinstance(value, (bool, int)) else value.encode()
        out += field(10, field(1, key.encode()) + field(number, content))
    return out


def stg_node(id, kind, name, deps=(), **attributes):
    """As STG's backend for Chakra 0.0.4 writes it: unsigned numbers, the dimensions as a list of truths."""
    out = field(1, id) + field(2, name.encode()) + field(3, kind) + b"".join(field(5, d) for d in deps)
    for key, value in attributes.items():
        number = {"comm_type": 9, "comm_tag": 11, "comm_src": 11, "comm_dst": 11, "pg_name": 29}.get(key, 13)
        out += field(10, field(1, key.encode()) + field(number, value.encode() if isinstance(value, str) else value))
    if "comm_type" in attributes:
        out += field(10, field(1, b"involved_dim") + field(28, field(1, b"\1\1\1")))
    return out


def stg_trace(*nodes):
    schema = field(2, field(1, b"schema") + field(29, b"symbolic_tensor_network"))
    return b"".join(varint(len(m)) + m for m in [schema, *nodes])


def trace(*nodes):
    return b"".join(varint(len(m)) + m for m in [field(1, b"0.0.4"), *nodes])


def decoded(path):
    """The nodes of a trace, by a reader that shares nothing with the tool."""
    run = subprocess.run([sys.executable, ROOT / "core/schema/decode_et.py", path], check=True, capture_output=True)
    return [json.loads(line) for line in run.stdout.splitlines()[1:]]


class Feeder:
    """ASTRA-sim's reading of a folder: ready nodes by ascending id, each collective when all its group are there."""

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
        """Every node of every rank ends; what members of a call say of it is the same."""
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


class Graphs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def tool(self, name, *arguments):
        done = subprocess.run([BIN / name, *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def run_tool(self, *arguments):
        return self.tool("workload-gen", *arguments)

    def expect_ok(self, *arguments):
        status, stdout, stderr = self.run_tool(*arguments)
        self.assertEqual(status, 0, stderr)
        return stdout, stderr

    def generate(self, name="run", model="gpt-22b", cluster="dgx-a100-80g-1", *settings):
        run = self.folder / name
        sets = [word for setting in settings for word in ("--set", setting)]
        self.expect_ok(f"configs/models/{model}.yaml", f"configs/clusters/{cluster}.topo", "-o", run, "-q",
                       "--alike-once", *sets)
        return run

    def assert_same_folders(self, a, b):
        names = sorted(p.name for p in a.iterdir())
        self.assertEqual(names, sorted(p.name for p in b.iterdir()))
        self.assertEqual(filecmp.cmpfiles(a, b, names, shallow=False), (names, [], []))


SMALL = ("gpt-7.5b", "dgx-a100-80g-8", "cluster.hosts=1", "parallel.tensor=2", "parallel.pipeline=2", "model.layers=4",
         "training.micro_batch=2", "training.global_batch=16")


class Check(Graphs):
    def test_shipped_workloads_can_run(self):
        for model, cluster, *settings in [("gpt-22b", "dgx-a100-80g-1"), ("llama-3-70b", "dgx-h100-8"), SMALL]:
            with self.subTest(model=model):
                stdout, stderr = self.expect_ok("check", self.generate(model, model, cluster, *settings))
                self.assertEqual(stderr, "")
                self.assertRegex(stdout, r"^\d+ ranks, \d+ programs of \d+ ops together: no circle, every op is reached; ")

    def test_every_shipped_model_can_run(self):
        for model in sorted((ROOT / "configs/models").iterdir()):
            commands = [line for line in model.read_text().splitlines() if line.startswith("# workload-gen ")]
            if not commands:
                continue
            with self.subTest(model=model.name):
                self.expect_ok(*shlex.split(commands[0])[2:], "-o", self.folder / "run", "-q", "--alike-once")
                stdout, stderr = self.expect_ok("check", self.folder / "run")
                self.assertEqual((stderr, stdout.count("no circle, every op is reached")), ("", 1))

    def test_a_damaged_run(self):
        run = self.generate()
        self.assertEqual(self.run_tool("check", self.folder / "no")[0], 1)
        path = run / "1-workload/class-0.et"
        path.write_bytes(path.read_bytes()[:-3])
        self.assertEqual(self.run_tool("check", run),
                         (1, "", f"{path}: error: this is not the trace the manifest was written with; run workload-gen again\n"))

    def test_usage(self):
        self.assertEqual(self.run_tool("check"),
                         (2, "", "workload-gen: error: RUN is required\nworkload-gen: see workload-gen check --help\n"))
        self.assertEqual(self.run_tool("help", "chek"),
                         (1, "", "error: there is no command 'chek'; did you mean 'check'?; commands are check, explode, merge, "
                                 "import, dump, dot, graphml, stats, diff\n"))
        for command in ["check", "explode", "merge", "import", "dump", "dot", "graphml", "stats", "diff"]:
            by_flag, by_name = self.expect_ok(command, "--help")[0], self.expect_ok("help", command)[0]
            self.assertEqual(by_flag, by_name)
            self.assertIn("Exit status:", by_flag)
        self.assertEqual(self.expect_ok("help"), self.expect_ok("--help"))


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

    def test_back_and_forth_loses_nothing(self):
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

    def test_durations_where_they_are_known(self):
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
                         ["manifest.pb", "workload.3.et", "workload.json"])
        sizes = {n["attr"]["comm_type"]: n["attr"]["comm_size"] for n in decoded(self.folder / "traces/workload.3.et")
                 if n["type"] == COLL and n["attr"]["comm_type"] in (ALL_GATHER, REDUCE_SCATTER)
                 and n["name"].startswith("dp.")}
        # fp32 gradients in full, fp16 parameters as one of two shards.
        self.assertEqual(sizes[REDUCE_SCATTER], 4 * sizes[ALL_GATHER])

    def test_edited_traces_get_classes_of_their_own(self):
        run = self.generate("run", *SMALL)
        traces = self.folder / "traces"
        self.expect_ok("explode", run, "-o", traces, "-q")
        classes = len(list((run / "1-workload").glob("*.et")))
        # Rank 5 waits for nothing any more but what stands before it on its stream.
        path = traces / "workload.5.et"
        data, at, out = path.read_bytes(), 0, b""
        while at < len(data):
            size = shift = 0
            while True:
                byte, at = data[at], at + 1
                size |= (byte & 0x7F) << shift
                shift += 7
                if not byte & 0x80:
                    break
            out += self.without_dependencies(data[at:at + size])
            at += size
        path.write_bytes(out)
        stdout, stderr = self.expect_ok("merge", traces, "-o", self.folder / "merged")
        self.assertEqual(stderr, f"workload-gen merge: 8 ranks in {classes + 1} classes\n")
        status, stdout, stderr = self.run_tool("diff", run, self.folder / "merged", "--shown", 1)
        self.assertEqual(status, 1)
        self.assertRegex(stdout, r"^rank 5: \d+ differences in (\d+) and \1 ops\n  ! op \d+: .* waits for op .* in the one, "
                                 r"nothing in the other\n  ... and \d+ more\n$")

    @staticmethod
    def without_dependencies(message):
        """The message less its data_deps (field 5, packed)."""
        at, out = 0, b""
        while at < len(message):
            begin, tag = at, message[at]
            at += 1
            size = shift = 0
            while True:
                byte, at = message[at], at + 1
                size |= (byte & 0x7F) << shift
                shift += 7
                if not byte & 0x80:
                    break
            at += size if tag & 7 == 2 else 0
            out += b"" if tag == 5 << 3 | 2 else message[begin:at]
        return varint(len(out)) + out

    def test_what_contradicts_the_tables_is_said(self):
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
                         (1, "", f"{path}: error: node {number}: its comm_size is {size ^ 1}, its tables say {size}\n"))
        path.write_bytes(whole[:-5])
        status, _, stderr = self.run_tool("merge", traces, "-o", self.folder / "m")
        self.assertEqual(status, 1)
        self.assertRegex(stderr, rf"^{path}: error: node \d+: it cannot be read\n$")
        path.unlink()
        self.assertEqual(self.run_tool("merge", traces, "-o", self.folder / "m"),
                         (1, "", f"{path}: error: the trace of rank 2 is missing; there are 7, up to rank 7\n"))

    def test_where_it_may_write(self):
        run = self.generate()
        (self.folder / "full").mkdir()
        (self.folder / "full/notes.txt").touch()
        self.assertEqual(self.run_tool("explode", run, "-o", self.folder / "full"),
                         (1, "", f"{self.folder}/full: error: the folder is not empty; name one that is, or is not there\n"))
        self.assertEqual(self.run_tool("explode", run, "-o", self.folder / "x", "--ranks", "8")[0], 1)
        self.assertEqual(self.run_tool("merge", run / "1-workload", "-o", self.folder / "m")[0], 1)


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
        """Through the rest of the pipeline; the iteration in picoseconds."""
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
        self.assertEqual(stderr, "workload-gen import: warning: 6 of the cluster's 8 GPUs have no rank and do nothing\n"
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
        for line in ["1 compute ops state no duration: they take what is longer of num_ops at the GPU's dense rate and tensor_size "
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

    def test_exploded_traces_are_chakra_traces(self):
        """The importer, which knows nothing of our attributes, finds the same work in what explode wrote."""
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
            (lambda: self.traces(first, second), f"{t0}: error: node 30: nothing says which ranks are in its group '7': there is no "
                                                 "t.json and no metadata with groups (--groups FILE)\n"),
            (lambda: self.traces(first, second, groups={"8": [0, 1]}), f"{t0}: error: node 30: there is no group '7'\n"),
            (lambda: self.traces(first, second, groups={"7": [0, 2]}),
             f"{place}/t.json: error: group '7': there is no rank 2; there are 2 ranks\n"),
            (lambda: self.traces(first, second, groups={"7": [1]}), f"{t0}: error: node 30: the rank is not in its group '7'\n"),
            (lambda: self.traces(first[:-3], second), f"{t0}: error: node 2, at byte 124, cannot be read: the trace is damaged or cut\n"),
            (lambda: self.traces(first, trace(node(1, COMP, deps=[2]), node(2, COMP, ctrl=[1]))),
             f"{t1}: error: its nodes wait for each other in a circle: 2, 1\n"),
            (lambda: self.traces(first, trace(node(1, COMP, deps=[5]))),
             f"{t1}: error: node 1 waits for node 5, which is not there\n"),
            (lambda: self.traces(first, trace(node(1, COMP), node(1, COMP))),
             f"{t1}: error: node 1 ('n'): another node has the same id\n"),
            (lambda: self.traces(first, trace(node(1, 0))), f"{t1}: error: node 1 ('n'): its type is 0, which is none\n"),
            (lambda: self.traces(first, trace(node(1, RECV, comm_src=0))),
             f"{t1}: error: node 1 ('n'): a COMM_RECV_NODE needs a comm_size\n"),
            (lambda: self.traces(first, trace(node(1, RECV, comm_src=1, comm_size=3))),
             f"{t1}: error: node 1 ('n'): its comm_src is its own rank\n"),
            (lambda: self.traces(first, trace(node(1, COLL, comm_type=10, comm_size=3))),
             f"{t1}: error: node 1 ('n'): its comm_type is 10, which is none\n"),
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
                self.assertEqual("go to the host's memory" in stderr, tier == "host")
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
            "workload-gen import: warning: line 3: the collective of 'grad_norm' stands in the forward columns and so runs over "
            "tensor-parallel ranks, as in SimAI; data-parallel ranks are meant\n"
            "workload-gen import: warning: 1 collectives of 0 bytes are left out; the first is 'attention' in line 4\n"
            "workload-gen import: w.txt: imported from a SimAI workload, 8 ranks in 1 classes, 14 ops, 9 submodules, 3 calls; 14 process "
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
            ("num_ranks 2", "num_ranks 3", "15: error: 2 ranks are described, num_ranks is 3\n"),
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

    def test_usage(self):
        see = "workload-gen: see workload-gen import --help\n"
        for arguments, message in [
            ([], "--from is required"), (["--from", "chakra"], "FILE is required"),
            (["--from", "chakras", "x"], "there is no format 'chakras'; did you mean 'chakra'?; formats are chakra, simai, goal"),
            (["--from", "goal", "x"], "--cluster is required"),
            (["--from", "goal", "x", "--cluster", self.CLUSTER], "-o RUN is required"),
            (["--from", "goal", "x", "--cluster", self.CLUSTER, "--groups", "g"], "--groups is of Chakra traces"),
            (["--from", "goal", "x", "--dtype", "bf61"], "unknown data type 'bf61'; did you mean 'bf16'?"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_tool("import", *arguments), (2, "", f"workload-gen: error: {message}\n{see}"))
        self.assertEqual([line.split()[0] for line in self.expect_ok("import", "--from", "help")[0].splitlines()],
                         ["chakra", "simai", "goal"])


class Text(Graphs):
    def test_dump_is_what_generating_prints(self):
        run = self.generate()
        whole = self.expect_ok("dump", run)[0]
        self.assertEqual(whole, self.expect_ok("configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-1.topo", "--dump", "-q")[0])
        self.assertTrue(whole.startswith(self.expect_ok("dump", run, "--tables")[0]))
        lines = self.expect_ok("dump", run, "--ranks", "3", "--layers", "5")[0].splitlines()
        self.assertRegex(lines[0], r"^rank 3: class 0, \d+ ops$")
        self.assertTrue(all(" layer5: " in line for line in lines[1:]) and len(lines) > 5)
        self.assertIn("in group 0 'tp' (ranks 0-7)", "".join(lines))

    def test_pictures(self):
        run = self.generate("run", *SMALL)
        dot = self.expect_ok("dot", run, "--ranks", "0,1,4,5", "--micro-batches", "0")[0]
        self.assertEqual((dot.count("{"), dot.count("digraph")), (dot.count("}"), 1))
        self.assertEqual(dot.count("subgraph cluster_rank"), 4)
        self.assertEqual(dot.count("[shape=rarrow"), dot.count("[style=bold]"), "every send in the slice has its receive there")
        self.expect_ok("graphml", run, "--ranks", "0,1,4,5", "--micro-batches", "0", "-o", self.folder / "g.xml")
        root = xml.etree.ElementTree.parse(self.folder / "g.xml").getroot()
        name = "{http://graphml.graphdrawing.org/xmlns}"
        nodes = {n.get("id") for n in root.iter(name + "node")}
        edges = [(e.get("source"), e.get("target")) for e in root.iter(name + "edge")]
        self.assertTrue(nodes.issuperset(end for edge in edges for end in edge))
        self.assertEqual((len(nodes), len(edges)), (dot.count("shape="), dot.count(" -> ")))
        self.assertEqual(self.run_tool("dot", run, "--ranks", "9")[0], 1)
        status, _, stderr = self.run_tool("dot", self.generate("more", "llama-3-70b", "dgx-h100-8"))
        self.assertEqual(status, 1)
        self.assertRegex(stderr, r"^error: \d+ ops are too many to draw \(at most 20000\); --ranks, --layers, --micro-batches and "
                                 r"--ops narrow them down\n$")

    def test_stats_add_up(self):
        run = self.generate("run", *SMALL)
        stats = json.loads(self.expect_ok("stats", run, "--json")[0])
        ops = sum(sum(v for k, v in phase.items() if k != "phase") for phase in stats["phases"])
        self.assertEqual(ops, stats["ops"])
        self.assertAlmostEqual(sum(c["flops"] for c in stats["compute"]) / stats["flops"], 1, 9)
        # Every rank makes each of its calls: counted at the ranks' programs, and here by group.
        calls = {(c["role"], c["call"]): c["calls"] for c in stats["communication"]}
        text = "".join(self.expect_ok("dump", run, "--ranks", str(rank))[0] for rank in range(8))
        self.assertEqual(sum(n for (role, call), n in calls.items() if role == "tp") * 2, text.count(" 'tp' "))
        self.assertEqual(sum(n for (role, call), n in calls.items() if call == "send-recv"), text.count(": send "))
        table = self.expect_ok("stats", run)[0]
        for row in stats["communication"]:
            self.assertRegex(table, rf"(?m)^{row['role']} +{row['call']} +{row['groups']} +{row['least_members']} +{row['calls']} ")

    def test_diff(self):
        a = self.generate("a", *SMALL)
        self.assertEqual(self.run_tool("diff", a, a), (0, "", ""))
        b = self.generate("b", *SMALL, "training.recompute=none")
        status, stdout, stderr = self.run_tool("diff", a, b, "--shown", "2")
        self.assertEqual((status, stderr), (1, f"error: {a} and {b} differ\n"))
        self.assertRegex(stdout, r"(?m)^hardware FLOP: ")
        self.assertRegex(stdout, r"(?m)^rank 0 and 3 more: \d+ differences in \d+ and \d+ ops$")
        self.assertRegex(stdout, r"(?m)^  - op \d+: ")
        c = self.generate("c", *SMALL, "cluster.hosts=2")
        self.assertIn("cluster: another one\n", self.run_tool("diff", a, c)[1])
        self.assertIn("ranks: 8 and 16\n", self.run_tool("diff", a, c)[1])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
