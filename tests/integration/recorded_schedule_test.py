"""Generated schedules, played through NCCL's own interface (nccl-record --schedule): the recording equals the generated
workload, byte for byte. A wrong call fails as on a cluster; the message names the rank and the op."""

import filecmp
import json
import pathlib
import subprocess
import sys

from chakra_traces import COLL, RECV, ROOT, SEND, Edited, decoded
from workload_graphs import Graphs, main

# Tensor, pipeline and data parallelism by two, with sequence parallelism and split optimizer states.
TINY = ("model.layers=2", "model.hidden=256", "model.heads=4", "model.ffn=1024", "model.vocab=1000", "model.sequence=128")
THREE_WAYS = ("gpt-22b", "dgx-a100-80g-1", *TINY, "parallel.tensor=2", "parallel.pipeline=2", "parallel.sequence_parallel=true",
              "training.micro_batch=1", "training.global_batch=8", "training.distributed_optimizer=true", "training.precision=bf16")
HANG = "; NCCL would hang or mix up data\n"
WORLD = r"communicator of ranks 0, 1, 2, 3, \.\.\.: "


class Recorded(Graphs):
    def record(self, run, *options, out="recorded"):
        return self.tool("nccl-record", "--schedule", run, "-o", self.folder / out, *options)

    def assert_same(self, run, *options):
        """Expects that the recording equals the run. Returns the output."""
        status, stdout, stderr = self.record(run, *options)
        self.assertEqual((status, stdout), (0, ""), stderr)
        status, told, errors = self.run_tool("diff", run, self.folder / "recorded")
        self.assertEqual((status, errors), (0, ""), told)
        self.assertRegex(told, r"^\d+ ranks compared, as \d+ with different programs; 0 of them differ\n")
        traces = sorted(p.name for p in (run / "1-workload").glob("*.et"))
        same = filecmp.cmpfiles(run / "1-workload", self.folder / "recorded/1-workload", traces, shallow=False)
        self.assertEqual(same, (traces, [], []))
        return stderr


class Schedules(Recorded):
    def test_the_recording_equals_the_generated_workload(self):
        for model, cluster, *settings in [
                THREE_WAYS,
                ("gpt-175b", "dgx-a100-80g-8", "training.global_batch=16"),
                ("mixtral-8x7b", "dgx-h100-1", "model.layers=4", "parallel.pipeline=1", "parallel.virtual_pipeline=1",
                 "training.global_batch=16"),
                ("llama-3-8b", "dgx-h100-1", "model.layers=2", "parallel.context=4", "training.global_batch=16"),
                ("torchtitan-llama-3-8b", "dgx-h100-1"),
                ("torchtitan-llama-3-8b", "dgx-h100-1", "fsdp.replicas=2", "fsdp.offload=cpu"),
                ("simai-llama-7b-zero-2", "dgx-a100-80g-1", "model.layers=2", "training.global_batch=32",
                 "zero.offload_optimizer=cpu"),
                ("simai-llama-7b-zero-2", "dgx-a100-80g-1", "model.layers=2", "training.global_batch=32"),
                ("simai-llama-65b-zero-3", "dgx-a100-80g-1", "model.layers=4", "training.global_batch=16")]:
            with self.subTest(model=model, settings=settings):
                self.assert_same(self.generate(model, model, cluster, *settings), "-q")

    def test_registered_buffers_are_recorded_as_registered(self):
        plain = self.generate("plain", *THREE_WAYS)
        for kind in ("registered", "symmetric"):
            run = self.generate(kind, *THREE_WAYS, f"training.gradient_buffers={kind}")
            self.assertEqual(self.run_tool("diff", plain, run)[0], 1)
            self.assert_same(run)

    def test_calls_that_bypass_nccl_come_from_the_schedule(self):
        run = self.generate("past", *THREE_WAYS, "overlap.tensor=true", "training.kernels=fused")
        self.assertRegex(self.assert_same(run), r"^nccl-record: gpt-22b: .*\nnccl-record: taken from the schedule, since they bypass "
                                                r"NCCL: \d+ calls\n$")

    def test_the_recording_has_the_same_timeline(self):
        run = self.generate("run", *THREE_WAYS)
        stderr = self.assert_same(run)
        self.assertRegex(stderr, r"^nccl-record: gpt-22b: TP2 PP2 DP2, .*, 8 ranks in 2 classes, \d+ calls in \d+ communicators\n$")
        summaries = []
        for folder in (run, self.folder / "recorded"):
            for tool in ("simccl", "compute-sim", "exec-engine", "report"):
                status, _, stderr = self.tool(tool, folder, "-q")
                self.assertEqual(status, 0, stderr)
            summaries.append(json.loads((folder / "summary.json").read_text()))
        self.assertEqual(*summaries)

    def test_threads_as_ranks(self):
        run = self.generate("run", *THREE_WAYS)
        self.assert_same(run, "--gpus-per-process", "8")
        self.assert_same(run, "--gpus-per-process", "3")

    def test_recorded_and_imported_workloads_are_schedules(self):
        goal = self.folder / "ring.goal"
        ranks = range(4)
        goal.write_text("num_ranks 4\n" + "".join(
            f"rank {r} {{\nl1: calc 1000\nl2: send 4096b to {(r + 1) % 4} tag 7\nl3: recv 4096b from {(r + 3) % 4} tag 7\n"
            "l2 requires l1\n}\n" for r in ranks))
        run = self.folder / "imported"
        self.expect_ok("import", "--from", "goal", goal, "--cluster", "configs/clusters/dgx-a100-80g-1.topo", "-o", run, "-q")
        self.assert_same(run)
        again = self.folder / "again"
        (self.folder / "recorded").rename(again)
        self.assert_same(again)

    def test_wrong_usage_and_if_changed(self):
        run = self.generate("run", *THREE_WAYS)
        see = "nccl-record: see nccl-record --help\n"
        self.assertEqual(self.tool("nccl-record", "--schedule", run, "-o", run),
                         (1, "", f"{run}: error: this run directory holds the schedule; write into another\n"))
        self.assertEqual(self.tool("nccl-record", "configs/clusters/dgx-a100-80g-1.topo", "--schedule", run, "--check"),
                         (2, "", "nccl-record: error: --schedule: the workload names its cluster; give neither a cluster nor a "
                                 "program\n" + see))
        self.assertEqual(self.record(run, "--set", "cluster.hosts=2"),
                         (2, "", "nccl-record: error: --schedule: --set cannot change a workload that exists\n" + see))
        self.assertEqual(self.record(run, "--if-changed", "-q")[0], 0)
        self.assertEqual(self.record(run, "--if-changed"), (0, "", "nccl-record: up to date\n"))


class Mistakes(Recorded):
    """One rank's trace is changed."""

    def mistake(self, rank, change):
        run, traces, merged = self.generate("run", *THREE_WAYS), self.folder / "traces", self.folder / "merged"
        self.expect_ok("explode", run, "-o", traces, "-q")
        self.groups = json.loads((traces / "workload.json").read_text())
        path = traces / f"workload.{rank}.et"
        edited = Edited(path)
        change(edited, decoded(path))
        edited.write()
        self.assertEqual(self.run_tool("merge", traces, "-o", merged, "-q")[0], 1)
        self.expect_ok("merge", traces, "-o", merged, "-q", "--unproven")
        status, _, stderr = self.record(merged, "-q")
        self.assertEqual(status, 1)
        self.assertFalse((self.folder / "recorded").exists())
        return stderr

    def nth(self, nodes, kind, name, group, number=0):
        """Returns the node that is the rank's nth call of this kind in the group of these ranks."""
        return [n["id"] for n in nodes if n["type"] == kind and name in n["name"]
                and self.groups[n["attr"]["pg_name"]] == group][number]

    def test_a_call_in_the_wrong_group(self):
        def wrong_group(edited, nodes):
            edited.make_like(self.nth(nodes, COLL, "all-gather", [2, 3], 3), self.nth(nodes, COLL, "all-gather", [1, 3]))
        self.assertRegex(self.mistake(3, wrong_group),
                         r"communicator of ranks 2, 3: collective \d+: rank 3 calls .* in op \d+ of class \d \(tp\..*\), rank 2 calls "
                         r"all-gather of \d+ bfloat16 in op \d+ of class 0 \(tp\.all-gather mb\d layer\d, \w+\)" + HANG)

    def test_sizes_that_differ(self):
        def longer(edited, nodes):
            reductions = [n for n in nodes if n["type"] == COLL and "tp.all-reduce" in n["name"]]
            sizes = [n["attr"]["comm_size"] for n in reductions]
            other = next(i for i, size in enumerate(sizes) if size != sizes[0])
            edited.make_like(reductions[0]["id"], reductions[other]["id"])
        self.assertRegex(self.mistake(5, longer),
                         r"communicator of ranks 4, 5: collective \d+: rank 5 calls all-reduce of \d+ float32 \(sum\) in op \d+ of class "
                         r"\d \(tp\.all-reduce.*\), rank 4 calls all-reduce of \d+ float32 \(\w+\) in op \d+ of class 1 "
                         r"\(tp\.all-reduce.*\)" + HANG)

    def test_a_member_that_is_missing(self):
        def left_out(edited, nodes):
            edited.leave_out(self.nth(nodes, COLL, "world.", list(range(8)), -1))
        self.assertRegex(self.mistake(6, left_out), WORLD + r"collective \d+: rank 6 makes no further collective, rank 0 calls all-reduce of "
                         r"\d+ \w+ \(\w+\) in op \d+ of class 0 \(world\.all-reduce, optimizer\)" + HANG)

    def test_a_receive_without_a_send(self):
        def unsent(edited, nodes):
            edited.leave_out(self.nth(nodes, SEND, "pp-next.send", [1, 5]))
        self.assertRegex(self.mistake(1, unsent), r"communicator of ranks 1, 5: message \d+ from rank 1 to rank 5: rank 1 does not send "
                         r"it, rank 5 receives \d+ int8 in op \d+ of class 2 \(pp-prev\.recv mb\d( layer\d)?, \w+\)" + HANG)

    def test_a_send_without_a_receive(self):
        def unreceived(edited, nodes):
            edited.leave_out(self.nth(nodes, RECV, "pp-next.recv", [1, 5]))
        self.assertRegex(self.mistake(1, unreceived), r"communicator of ranks 1, 5: message \d+ from rank 5 to rank 1: rank 5 sends \d+ "
                         r"int8 in op \d+ of class 2 \(pp-prev\.send.*\), rank 1 does not receive it" + HANG)

    def test_a_missing_rank_is_named(self):
        run = self.generate("run", *THREE_WAYS)
        self.assertEqual(self.record(run, "--ranks", "7", "--patience", "2"),
                         (1, "", f"{run}: error: all processes have waited 2 s for ranks that do not arrive; NCCL would hang here\n"
                                 "  ncclCommInitRank: 7 of 8 ranks have arrived; 1 has not: 7\n"))


if __name__ == "__main__":
    main()
