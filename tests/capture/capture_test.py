"""Tests that unmodified programs of PyTorch run without a GPU, and that what they ask of it is recorded.

PyTorch is the one of third_party/pytorch/wheels.txt; the test fetches it first. If that fails, the test is skipped and says so.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/capture/programs"
SKIPPED = 77
OPTIONS = None  # from the command line


class Captures(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def capture(self, program, *arguments, rank=0, world=1, iteration=0, after=()):
        """Returns exit status, what the program printed, its errors, and the lines of the log, or of the tape of an iteration."""
        text = pathlib.Path(self.folder.name) / "log.txt"
        text.unlink(missing_ok=True)
        done = subprocess.run(
            [OPTIONS.tool, ROOT / "configs/clusters/eos.topo", "--rank", str(rank), "--world", str(world), "--iteration",
             str(iteration), *[f"--after={first}" for first in after], "--cache",
             pathlib.Path(self.folder.name) / "cache", "--libraries", OPTIONS.libraries, "--sources", ROOT, "-o", text, "--",
             sys.executable, PROGRAMS / program, *arguments],
            env={**os.environ, "PYTHONPATH": str(OPTIONS.pytorch), "OMP_NUM_THREADS": "1"}, text=True, capture_output=True,
            timeout=600)
        lines = text.read_text().splitlines() if text.exists() else []
        return done.returncode, done.stdout, done.stderr, lines

    @staticmethod
    def line_of(program, text):
        lines = (PROGRAMS / program).read_text().splitlines()
        return f"{program}:{next(number for number, line in enumerate(lines, 1) if text in line)}"

    @staticmethod
    def reads(lines):
        """How often the log has a read of values that nobody computed, by line and origin."""
        found = (re.search(r" read line=(.*) origin=(.*) bytes=", line) for line in lines)
        return collections.Counter(read.groups() for read in found if read)

    def test_values_that_the_host_reads(self):
        status, said, errors, lines = self.capture("values.py")
        self.assertEqual(status, 0, errors)
        self.assertEqual(said.splitlines(), [
            "8 (9, 0) 132",
            "[3.0, 1.0, 2.0] [7.0, 3.0, 5.0] 6.0 0 [1, 2, 0]",
            "[0.0, 0.0] [7, 7] [0, 1, 2, 3]",
            "[0, 2, 3] [0, 2, 3] 3",
            "[1, 2, 0, 0, 0, 1] [2, 4] [1, 1, 2, 2, 2]",
            "[1, 2, 0, 1]",
            "True False False [3.0, 1.0, 2.0] [3.0, 1.0, 2.0]",
            "3.5 7.0",
            "1.9648 5.2447",
            "32768.0",
            "0.0 2 2",
            "91002",
            "No module named 'amp_C'",
        ])
        # Only what depends on something large is not what a GPU would give.
        line, choice = self.line_of("values.py", "(large @ large).sum()"), "aten::topk of Float[4096,4096]"
        self.assertEqual(self.reads(lines), {
            (self.line_of("values.py", "minlength=4096"), choice): 2, (line, choice): 2, (line, "aten::sum of Float[4096,4096]"): 1})

    def test_reads_of_values_that_nobody_computed(self):
        status, said, errors, lines = self.capture("reads.py")
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "".join(
            f"{step} {[64] * 8} 0.0 0.0 {256 * (step + 1)} True torch.Size([2])\n" for step in range(3)))
        loss, norm = "aten::nll_loss_forward of Float[256,32000]", "aten::_foreach_norm of Float[512,512]"
        found_inf = "aten::_amp_foreach_non_finite_check_and_unscale_ of Float[512,512]"
        of_step = {(".bincount(", "aten::addmm of Half[256,512]"): 3, ("loss.item() > 1e4", loss): 1, ("isfinite(norm)", norm): 1,
                   ("scaler.step(", found_inf): 1, ("print(step", loss): 1, ("print(step", norm): 1}
        self.assertEqual(self.reads(lines), {
            (self.line_of("reads.py", text), origin): 3 * count for (text, origin), count in of_step.items()})
        again = self.capture("reads.py")
        self.assertEqual(again[3], lines, "two captures differ")

    def test_tokens_of_experts_are_balanced(self):
        status, said, errors, lines = self.capture("experts.py", rank=1, world=4)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "".join(f"{step} {[256] * 4} {[256] * 4} 4\n" for step in range(3)))
        origin = "aten::addmm of Float[1024,512]"
        self.assertEqual(self.reads(lines), {(self.line_of("experts.py", "bincount("), origin): 6,
                                             (self.line_of("experts.py", ".tolist()"), origin): 6})

    def test_a_library_that_launches_kernels_without_an_operator(self):
        status, said, errors, tape = self.capture("extension.py", iteration=3)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, 3 * "0.0 True\n")
        # It reads 4,000 bytes and writes as many; of its arguments, one is written.
        self.assertIn("estimated: 1 x ? of scaling::scale, 12000 B", tape)
        line = self.line_of("extension.py", "total.item()")
        self.assertEqual([text for text in tape if text.startswith("read ")],
                         [f"read 3 times: fp32[] at {line}, of scaling::scale: 0"])

    def test_memory_is_that_of_the_gpu(self):
        status, said, errors, _ = self.capture("memory.py")
        self.assertEqual(status, 0, errors)
        self.assertEqual(said.splitlines(), [
            "100 100", "0", "79 True", "CUDA out of memory"])

    def test_a_rank_of_many(self):
        status, said, errors, lines = self.capture("data_parallel.py", rank=2, world=16)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said.splitlines(), ["2 16 [16.0, 16.0, 16.0, 16.0]", "16 True"])
        groups = [line for line in lines if "mark what=ranks" in line]
        self.assertEqual(groups[0].split("ranks ")[1], "0-15 0")
        self.assertEqual(groups[1].split("ranks ")[1].split()[0], "0,2")
        # DDP reduces all 525,568 gradients, of 2 bytes, in one bucket for each of three steps.
        reduces = [line for line in lines if " call function=0 type=9 " in line]
        self.assertEqual([word for line in reduces for word in line.split() if word.startswith("count=")],
                         ["count=525568"] * 3)
        # Two products forward. Backward, the first layer's input needs no gradient.
        products = [line for line in lines if " product " in line]
        self.assertEqual(len(products), 3 * (2 + 3))
        again = self.capture("data_parallel.py", rank=2, world=16)
        self.assertEqual(again[3], lines, "two captures differ")

    def test_the_tape_of_an_iteration(self):
        status, _, errors, tape = self.capture("decoder.py", iteration=3)
        self.assertEqual(status, 0, errors)
        self.assertEqual(tape[0], "rank 0 of 1, iteration 3 of 3")
        work = collections.Counter()
        for line in tape:
            found = re.fullmatch(r"\[(.*)\] stream 0: (\S+): ((linear|attention|norm|embedding) .*)", line)
            if found:
                work[found[1], found[2], found[3]] += 1
        def linear(name, turn, n, k):
            return f"{name}.mm", f"linear {turn} bf16 rows=256 n={n} k={k}"
        attention = "attention {} bf16 batch=2 sequence=128 heads=4 kv_heads=4 head_dim=64 causal fused"
        norm = "norm {} bf16 rows=256 n=256 bias"
        layers = {"qkv": (768, 256), "projection": (256, 256), "up": (1024, 256), "down": (256, 1024)}
        expected = collections.Counter()
        for batch in "micro-batch 0", "micro-batch 1":
            for layer, repeats in ("layer 0", False), ("layer 1", True):
                forward = ["forward", "recompute"] if repeats else ["forward"]
                for phase in forward:
                    place = f"{phase} {layer} {batch}"
                    for name, (n, k) in layers.items():
                        expected[(place, *linear(name, "fwd", n, k))] += 1
                    expected[place, "_scaled_dot_product_flash_attention", attention.format("fwd")] += 1
                    expected[place, "norm.native_layer_norm", norm.format("fwd")] += 1
                place = f"backward {layer} {batch}"
                for name, (n, k) in layers.items():
                    expected[(place, *linear(name, "dgrad", n, k))] += 1
                    expected[(place, *linear(name, "wgrad", n, k))] += 1
                expected[place, "_scaled_dot_product_flash_attention_backward", attention.format("bwd")] += 1
                expected[place, "norm.native_layer_norm_backward", norm.format("bwd")] += 1
            expected[f"forward {batch}", "embedding.embedding", "embedding fwd bf16 rows=256 n=256 k=1000"] += 1
            expected[(f"forward {batch}", *linear("head", "fwd", 1000, 256))] += 1
            for turn in "dgrad", "wgrad":
                expected[(f"backward {batch}", *linear("head", turn, 1000, 256))] += 1
        self.assertEqual(work, expected)
        parameters = 2 * (4 * 256 * 256 + 2 * 256 * 1024 + 2 * 256) + 2 * 1000 * 256
        # Four lists of tensors of 2 bytes are read, and three written: an add reads and writes 2 bytes of each element.
        adam = [line for line in tape if "_fused_adamw_" in line and line.startswith("[optimizer]")]
        self.assertEqual([line.split(": ", 1)[1] for line in adam],
                         [f"_fused_adamw_: add fwd bf16 rows=1 n={parameters * 14 // 4} top_k=1"])
        self.assertFalse([line for line in tape if "nothing known" in line])
        self.assertEqual(self.capture("decoder.py", iteration=3)[3], tape, "two captures differ")

    def test_the_tape_of_a_rank_of_many(self):
        status, _, errors, tape = self.capture("data_parallel.py", rank=2, world=16, iteration=2)
        self.assertEqual(status, 0, errors)
        self.assertEqual(tape[0], "rank 2 of 16, iteration 2 of 3")
        self.assertEqual([line for line in tape if line.startswith("communicator")],
                         ["communicator 0: 16 of 16 ranks of group 0 default_pg", "communicator 1: 2 of 2 ranks of group 1 "])
        calls = [line for line in tape if "reduce of" in line]
        self.assertEqual(calls, ["[gradient-sync] stream 1: all-reduce of 525568 bfloat16 (sum) on communicator 0"])

    def test_a_program_of_too_few_steps(self):
        status, _, errors, _ = self.capture("data_parallel.py", world=16, iteration=5)
        self.assertEqual(status, 1)
        self.assertIn("rank 0 makes 3 iterations, and the tape is of iteration 5", errors)

    def calls(self, lines):
        """How often the log has a call of NCCL, by function, type and count. 0 all-reduce, 1 all-gather, 2 reduce-scatter, 9 send."""
        found = collections.Counter()
        for line in lines:
            if " call function=" in line:
                words = dict(word.split("=") for word in line.split() if "=" in word)
                found[tuple(int(words[name]) for name in ("function", "type", "count"))] += 1
        return found

    def test_groups_split_off_the_world(self):
        status, _, errors, lines = self.capture("splits.py", rank=2, world=8)
        self.assertEqual(status, 0, errors)
        self.assertEqual([line.partition("ranks ")[2] for line in lines if "mark what=ranks" in line], ["0-7 0", "0-7 1", "0-6:2 2"])

    def test_a_decoder_in_two_dimensions(self):
        status, said, errors, lines = self.capture("sharded.py", rank=5, world=16)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "5 [2, 1] True 0\n")
        self.assertEqual([line.partition("ranks ")[2] for line in lines if "mark what=ranks" in line],
                         ["4,5 5", "1-15:2 2"])
        calls = self.calls(lines)
        bf16, fp32, tokens, block = 9, 7, 2 * 256 * 512, 512 * 512 * 12 // 2 // 8
        # Of each block and step: two results, four gradients of inputs, and one result when it is computed again. Besides,
        # those of the embedding and the head.
        self.assertEqual(calls[0, bf16, tokens], 3 * (4 * 7 + 2))
        # A block is gathered forward and backward, and its gradients are scattered.
        self.assertEqual((calls[1, bf16, block], calls[2, fp32, block]), (3 * 4 * 2, 3 * 4))

    def test_a_recommender(self):
        status, said, errors, lines = self.capture("recommender.py", rank=5, world=16)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "5 (1024, 2, 64) (64, 528)\n")
        # Each step exchanges what was looked up and its gradients: a sixteenth with each rank.
        self.assertEqual(self.calls(lines)[9, 7, 64 * 2 * 64], 3 * 2 * 16)

    def test_a_convolutional_network(self):
        status, said, errors, lines = self.capture("vision.py", rank=5, world=16)
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "5 2 True\n")
        self.assertIn("libhackcuda: libcupti: work of the GPU in a profile is not available in a capture\n", errors)
        # Of each of two steps: five convolutions forward, five gradients of weights, and four of inputs, all channels last.
        found = collections.Counter(direction for direction, _, _, _ in self.convolutions(lines))
        self.assertEqual(found, {0: 2 * 5, 1: 2 * 4, 2: 2 * 5})
        # Four norms share their means, variances and counts, and the sums of their gradients.
        calls = self.calls(lines)
        self.assertEqual((calls[1, 7, 65], calls[0, 7, 64]), (2 * 4, 2 * 4))

    def test_ranks_that_run_later_know_what_the_first_one_told(self):
        alone = self.capture("broadcasts.py", rank=2, world=8)
        self.assertEqual(alone[:2], (0, "0 [None] 2.0\n"), alone[2])
        self.assertTrue(any("mark what=unknown broadcast of 8 bytes from member 0" in line for line in alone[3]))
        status, said, errors, lines = self.capture("broadcasts.py", rank=2, world=8, after=[0])
        self.assertEqual((status, said), (0, 2 * "7 [{'layers': 3, 'names': ['a', 'b']}] 0.0\n"), errors)
        self.assertFalse(any("unknown broadcast" in line for line in lines))

    def test_what_the_first_rank_sends_to_one_that_runs_later(self):
        status, said, errors, lines = self.capture("messages.py", rank=2, world=8, after=[0])
        self.assertEqual((status, said), (0, "[{'shape': [3, 4]}] [10, 10]\n[{'shape': [3, 4]}] [12, 12]\n"), errors)
        self.assertFalse(any("unknown broadcast" in line for line in lines))

    def test_a_graph_is_recorded_once_and_launched_twice(self):
        status, _, errors, lines = self.capture("graphs.py")
        self.assertEqual(status, 0, errors)
        words = [line.split()[1] for line in lines]
        begin, end = words.index("begin-capture"), words.index("end-capture")
        self.assertEqual(words[begin:end].count("product"), 3)
        self.assertEqual(words[end:].count("product"), 0)
        self.assertEqual(words[end:].count("launch-graph"), 2)

    def test_what_is_not_known_fails_with_its_name(self):
        status, said, errors, lines = self.capture("refused.py")
        self.assertEqual(status, 0, errors)
        self.assertIn("CUFFT_NOT_SUPPORTED", said)
        self.assertIn("libhackcuda: libcufft.so.11: cufftCreate is not available in a capture\n", errors)
        self.assertIn("t0 refuse library=libcufft.so.11 function=cufftCreate", lines)

    def test_every_function_that_is_not_known_refuses(self):
        status, said, errors, lines = self.capture("refusals.py")
        self.assertEqual(status, 0, errors)
        libraries = dict(line.split(" ", 1) for line in said.splitlines())
        self.assertEqual(libraries.pop("other-version"), "cannot be loaded")
        for name in ("libcublas", "libcudart", "libcufft", "libcusolver", "libcusparse", "libnvidia-ml"):
            self.assertEqual(libraries.pop(name), "refuses []", name)
        for name, answer in libraries.items():
            self.assertIn(answer, ("refuses []", "knows all []"), name)
        refused = {line.rpartition("function=")[2] for line in lines if " refuse " in line}
        self.assertGreater(len(refused), 700)

    def test_attention_of_cudnn(self):
        status, said, errors, lines = self.capture("cudnn.py", "attention")
        self.assertEqual(status, 0, errors)
        self.assertEqual(said.splitlines(),
                         ["torch.Size([2, 8, 256, 64]) torch.Size([2, 8, 256, 64]) torch.Size([2, 2, 256, 64])"])
        self.assertEqual([line.partition(" ")[2] for line in lines if " attention library=" in line],
                         [f"attention library=cudnn backward={backward} batch=2 heads=8 heads_kv=2 queries=256 keys=256 depth=64 "
                          "depth_v=64 type=14 causal=1 dropout=0 stream=0" for backward in (0, 1)])

    def convolutions(self, lines):
        """Direction, types of input and of computing, and layout of each convolution."""
        found = []
        for line in lines:
            if " convolution library=" in line:
                words = dict(word.split("=") for word in line.split() if "=" in word)
                found.append(tuple(int(words[name]) for name in ("direction", "type_in", "compute", "channels_last")))
        return found

    def test_convolutions_of_cudnn(self):
        expected = [(0, 14, 68, 0), (1, 14, 68, 0), (2, 14, 68, 0), (0, 14, 68, 1), (0, 0, 77, 0), (0, 0, 68, 0)]
        status, _, errors, lines = self.capture("cudnn.py", "convolution")
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.convolutions(lines), expected)
        # The older interface, with which PyTorch does no convolution of bf16.
        with unittest.mock.patch.dict(os.environ, {"TORCH_CUDNN_V8_API_DISABLED": "1"}):
            status, _, errors, lines = self.capture("cudnn.py", "convolution")
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.convolutions(lines), expected[-2:])
        # A program that tries all engines settles on the one that is faster on a GPU.
        status, _, errors, lines = self.capture("cudnn.py", "convolution", "benchmark")
        self.assertEqual(status, 0, errors)
        last = self.convolutions(lines)
        self.assertEqual([last[i] for i in range(len(last)) if i + 1 == len(last) or last[i + 1][:2] != last[i][:2]],
                         [(0, 14, 68, 0), (1, 14, 68, 0), (2, 14, 68, 0), (0, 14, 68, 1), (0, 0, 68, 0)])

    def test_norms_and_recurrent_layers_of_cudnn(self):
        status, said, errors, lines = self.capture("cudnn.py", "others")
        self.assertEqual(status, 0, errors)
        self.assertEqual(said, "torch.Size([5, 3, 128])\n")
        self.assertEqual([line.partition("operation=")[2] for line in lines if " traffic " in line],
                         ["batch-norm bytes=3145728 stream=0", "batch-norm-backward bytes=5242880 stream=0",
                          "batch-norm bytes=2097152 stream=0"])
        # Two layers in two directions: a product for all inputs, five for the steps; the same for the gradients of the data,
        # and two for those of the weights.
        self.assertEqual(sum(" product library=cudnn " in line for line in lines), 4 * (1 + 5) + 4 * (1 + 5) + 4 * 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("--pytorch", required=True, type=pathlib.Path)
    OPTIONS, rest = parser.parse_known_args()
    fetched = subprocess.run([sys.executable, ROOT / "third_party/pytorch/fetch.py", OPTIONS.pytorch], timeout=1500)
    if fetched.returncode != 0:
        print("SKIPPED: no program is captured on this machine: PyTorch cannot be fetched", file=sys.stderr)
        sys.exit(SKIPPED if fetched.returncode == SKIPPED else 1)
    unittest.main(argv=[sys.argv[0], *rest])
