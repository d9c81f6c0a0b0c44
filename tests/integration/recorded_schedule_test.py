"""A generated schedule, made through NCCL's own interface: a program splits the world into the workload's groups and makes
each rank's calls, nccl-record writes down what came to NCCL, and that is what workload-gen generated. One call that is wrong
fails as it would on the cluster, with the rank and the call."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from chakra_traces import COLL, RECV, ROOT, SEND, decoded

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs/schedule.cc"
BIN = DROP_IN = None  # from the command line
CLUSTER = "configs/clusters/dgx-a100-80g-1.topo"
NAMES = {0: "all-reduce", 2: "all-gather", 5: "broadcast", 7: "reduce-scatter"}
# Tensor, pipeline and data parallelism by two, with sequence parallelism and split optimizer states.
SETTINGS = ["model.layers=2", "model.hidden=256", "model.heads=4", "model.ffn=1024", "model.vocab=1000", "model.sequence=128",
            "parallel.tensor=2", "parallel.pipeline=2", "parallel.sequence_parallel=true", "training.micro_batch=1",
            "training.global_batch=8", "training.distributed_optimizer=true", "training.precision=bf16"]
HANG = "; NCCL would hang or mix up data\n"


class RecordedSchedule(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(["c++", "-std=c++17", PROGRAM, "-I", DROP_IN / "include", "-L", DROP_IN / "lib", "-lnccl", "-lcudart",
                        "-o", cls.folder / "schedule"], check=True)
        options = [word for setting in SETTINGS for word in ("--set", setting)]
        cls.call("workload-gen", "configs/models/gpt-22b.yaml", CLUSTER, *options, "-o", cls.folder / "generated")
        cls.groups, cls.ops = cls.exploded(cls.folder / "generated")

    @classmethod
    def call(cls, tool, *arguments, wanted=0):
        done = subprocess.run([BIN / tool, *map(str, arguments), "-q"], cwd=ROOT, text=True, capture_output=True, timeout=200)
        assert done.returncode == wanted, done.stderr
        return done.stderr

    @classmethod
    def exploded(cls, run):
        """The ranks of each group, and of each rank its calls in order: what, group, bytes, place of the peer."""
        out = run.with_suffix(".ets")
        cls.call("workload-gen", "explode", run, "-o", out)
        groups = list(json.loads((out / "workload.json").read_text()).values())
        ops = []
        for rank in range(8):
            ops.append([])
            for node in decoded(out / f"workload.{rank}.et"):
                if node["type"] not in (SEND, RECV, COLL):
                    continue
                attr = node["attr"]
                group = int(attr["pg_name"]) - 1
                size = attr["comm_size"]
                if node["type"] == COLL:
                    name = NAMES[attr["comm_type"]]
                    ops[-1].append([name, group, size * (len(groups[group]) if name == "all-gather" else 1), 0])
                else:
                    sends = node["type"] == SEND
                    peer = groups[group].index(attr["comm_dst" if sends else "comm_src"])
                    ops[-1].append(["send" if sends else "recv", group, size, peer])
        return groups, ops

    def record(self, ops, groups_left_out=None):
        """Exit status and words of recording these calls, and where the recording is. A rank may leave out the first group."""
        calls = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for rank in range(8):
            lines = [f"group {0 if rank in group else -1}" for group in self.groups[1 if rank == groups_left_out else 0:]]
            lines += [" ".join(map(str, op)) for op in ops[rank]]
            (calls / str(rank)).write_text("\n".join(lines) + "\n")
        out = calls / "recorded"
        done = subprocess.run([BIN / "nccl-record", CLUSTER, "-o", out, "-q", "--patience", "5", "--", self.folder / "schedule",
                               calls / "id", calls], cwd=ROOT, text=True, capture_output=True, timeout=300)
        return done.returncode, done.stderr, out

    def test_the_recorder_writes_the_communication_that_was_generated(self):
        status, stderr, out = self.record(self.ops)
        self.assertEqual((status, stderr), (0, ""))
        groups, ops = self.exploded(out)

        def by_communicator(groups, ops):
            # What comes on which stream is the program's; NCCL's order is that of each communicator.
            found = {}
            for rank, of_rank in enumerate(ops):
                for name, group, size, peer in of_rank:
                    way = (name, peer) if name in ("send", "recv") else ("collective", 0)
                    found.setdefault((rank, tuple(groups[group]), *way), []).append((name, size))
            return found

        self.assertEqual(by_communicator(groups, ops), by_communicator(self.groups, self.ops))
        self.assertGreater(sum(map(len, ops)), 500)

    def mistake(self, rank, change):
        """What is said where one rank's list is changed."""
        ops = [[list(op) for op in of_rank] for of_rank in self.ops]
        change(ops[rank])
        status, stderr, _ = self.record(ops)
        self.assertEqual(status, 1)
        return stderr

    def nth(self, ops, name, number, group):
        """Where a rank makes its nth such call of a group of these ranks."""
        index = self.groups.index(group)
        return [i for i, op in enumerate(ops) if op[0] == name and op[1] == index][number]

    def test_a_call_in_the_wrong_group(self):
        def wrong_group(ops):
            ops[self.nth(ops, "all-gather", 3, [2, 3])][1] = self.groups.index([1, 3])
        self.assertRegex(self.mistake(3, wrong_group),
                         r"communicator of ranks 2, 3: collective \d+: rank 3 calls .*, rank 2 calls all-gather of \d+ int8" + HANG)

    def test_sizes_that_differ(self):
        def longer(ops):
            ops[self.nth(ops, "reduce-scatter", 2, [4, 5])][2] += 4
        self.assertRegex(self.mistake(5, longer),
                         r"communicator of ranks 4, 5: collective \d+: rank 5 calls reduce-scatter of 32770 int8 \(sum\), "
                         r"rank 4 calls reduce-scatter of 32768 int8 \(sum\)" + HANG)

    def test_a_member_that_is_missing(self):
        def left_out(ops):
            world = self.groups.index(list(range(8)))
            del ops[max(i for i, op in enumerate(ops) if op[1] == world)]
        self.assertRegex(self.mistake(6, left_out),
                         r"communicator of ranks 0, 1, 2, 3, \.\.\.: collective \d+: rank 6 makes no further one, "
                         r"rank 0 calls all-reduce of \d+ int8 \(sum\)" + HANG)

    def test_a_receive_without_a_send(self):
        def unsent(ops):
            del ops[next(i for i, op in enumerate(ops) if op[0] == "send")]
        self.assertRegex(self.mistake(1, unsent), r"communicator of ranks 1, 5: message \d+ from rank 1 to rank 5: "
                         r"rank 1 does not send it, rank 5 receives \d+ int8" + HANG)

    def test_a_group_that_one_rank_does_not_make(self):
        status, stderr, _ = self.record([[]] * 8, groups_left_out=2)
        self.assertEqual(status, 1)
        self.assertRegex(stderr, r"ncclCommSplit: 7 of 8 ranks are there; 1 has not come: 2\n")


if __name__ == "__main__":
    BIN, DROP_IN = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(2))
    unittest.main()
