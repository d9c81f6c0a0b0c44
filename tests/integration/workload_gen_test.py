"""workload-gen as a program: its output, which two runs give equally; the exact message and exit status of every error."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line
MODEL = "configs/models/gpt-22b.yaml"
CLUSTER = "configs/clusters/dgx-a100-80g-1.topo"
H100 = "configs/clusters/dgx-h100-8.topo"
# Root can read everywhere unless it drops this capability.
MORTAL = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


class WorkloadGen(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "run"

    def run_tool(self, *arguments):
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def expect_error(self, message, *arguments, status=1):
        self.assertEqual(self.run_tool(*arguments, "-o", self.out, "-q"), (status, "", message))
        self.assertFalse(self.out.exists(), "something was written")

    def test_writes_a_manifest_and_a_trace_per_class(self):
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "-o", self.out)
        self.assertEqual((status, stdout), (0, ""), stderr)
        self.assertEqual(stderr, "workload-gen: gpt-22b: TP8 PP1 DP1, 1 micro-batch, 8 ranks in 1 class, 837 ops, "
                                 "43 submodules, 7 calls\n"
                                 "workload-gen: memory of the fullest ranks (class 0): 57.3 GB of 85.9 GB: fits "
                                 "(parameters 5.54, gradients 11.09, optimizer states 33.26, library buffers 0.29, "
                                 "activations 6.11, working tensors 0.30, nccl 0.15, cuda context 0.60); PyTorch: "
                                 "max_memory_allocated 56.59 GB, max_memory_reserved 61.00 GB\n"
                                 "workload-gen: 1 process group, 1 NCCL communicator created\n")
        names = sorted(p.name for p in (self.out / "1-workload").iterdir())
        self.assertEqual(names, ["class-0.et", "manifest.pb", "topology.pb"])

    def test_two_runs_are_equal_byte_for_byte(self):
        arguments = ["configs/models/llama-3-70b.yaml", "configs/clusters/dgx-h100-8.topo", "-q", "-o"]
        for run in "ab":
            self.assertEqual(self.run_tool(*arguments, self.folder / run), (0, "", ""))
        names = sorted(p.name for p in (self.folder / "a/1-workload").iterdir())
        self.assertEqual(names, ["class-0.et", "class-1.et", "class-2.et", "class-3.et", "manifest.pb", "topology.pb"])
        same = filecmp.cmpfiles(self.folder / "a/1-workload", self.folder / "b/1-workload", names, shallow=False)
        self.assertEqual(same, (names, [], []))

    def test_check_and_dump_write_nothing(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "--check", "-q", "--alike-once"), (0, "", ""))
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "--dump", "-q")
        self.assertEqual((status, stderr), (0, ""))
        self.assertIn("\nclass 0: 837 ops\n", stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def launch_script(self, more=""):
        script = self.folder / "train.sh"
        script.write_text("#!/bin/bash\nLAYERS=${1:-48}\nMODEL=(\n    --num-layers $LAYERS\n    --hidden-size 6144\n"
                          "    --num-attention-heads 64\n    --seq-length 2048 --max-position-embeddings 2048\n)\n"
                          "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py ${MODEL[@]} \\\n"
                          "    --micro-batch-size 4 --bf16 --tensor-model-parallel-size 8 --lr 1e-4 \\\n"
                          f"    --padded-vocab-size 51200 {more}\n")
        return script

    def test_a_launch_script_in_place_of_the_model(self):
        script = self.launch_script()
        status, stdout, stderr = self.run_tool("--megatron-args", script, CLUSTER, "-o", self.out)
        self.assertEqual((status, stdout), (0, ""), stderr)
        self.assertTrue(stderr.startswith(
            f"workload-gen: {script}: 1 ignored, no effect: --lr\nworkload-gen: train: TP8 PP1 DP1, 1 micro-batch, "
            "8 ranks in 1 class, "), stderr)
        status, stdout, _ = self.run_tool("--megatron-args", script, "--print-model", "--variable", "LAYERS=24",
                                          "--set", "training.recompute=full")
        self.assertEqual(status, 0)
        self.assertIn("  layers: 24\n", stdout)
        self.assertIn("  recompute: full\n", stdout)
        again = self.folder / "again.yaml"
        again.write_text(stdout)
        self.assertEqual(self.run_tool(again, "--print-model"), (0, stdout, ""))

    def test_mistakes_in_a_launch_script(self):
        script = self.launch_script("--qk-layernorm --swiglu yes")
        self.expect_error(f"{script}:11:55: error: unexpected 'yes': '--swiglu' takes no value\n"
                          "      --padded-vocab-size 51200 --qk-layernorm --swiglu yes\n" + " " * 56 + "^\n",
                          "--megatron-args", script, CLUSTER)
        script = self.launch_script("--num-layer 3")
        self.expect_error(f"{script}:11:31: error: Megatron-LM has no argument '--num-layer'; did you mean "
                          "'--num-layers'?; --ignore-unknown leaves it out\n      --padded-vocab-size 51200 --num-layer 3\n" + " " * 32 + "^\n",
                          "--megatron-args", script, CLUSTER)
        status, _, stderr = self.run_tool("--megatron-args", script, CLUSTER, "--check", "--ignore-unknown")
        self.assertEqual(status, 0)
        self.assertIn("1 unknown and ignored: --num-layer (did you mean '--num-layers'?)\n", stderr)
        for option in (["--ignore-unknown"], ["--variable", "A=1"]):
            self.expect_error(f"workload-gen: error: {option[0]} is for a launch script; give it with --megatron-args\n"
                              "workload-gen: see workload-gen --help\n", MODEL, CLUSTER, *option, status=2)
        self.expect_error("workload-gen: error: --megatron-args takes the place of configs/models/gpt-22b.yaml; give one "
                          "of them\nworkload-gen: see workload-gen --help\n",
                          "--megatron-args", script, MODEL, CLUSTER, status=2)

    def test_a_model_from_a_config_json(self):
        (self.folder / "config.json").write_text(
            '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 4096, "num_attention_heads": 32,\n'
            ' "intermediate_size": 11008, "vocab_size": 32000, "num_hops": 3}')
        model = self.folder / "model.yaml"
        rest = (ROOT / "configs/models/llama-3-8b.yaml").read_text().split("training:")[1]
        model.write_text("model: {from: config.json, sequence: 4096}\ntraining:" + rest)
        status, _, stderr = self.run_tool(model, "--print-model")
        self.assertEqual(status, 1)
        self.assertTrue(stderr.startswith(
            f"{self.folder}/config.json:2:51: error: 'num_hops' would change the shape of the model; it is not supported for a "
            "llama\n"), stderr)

    LLAMA_8B = ('{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,\n'
                ' "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,\n'
                ' "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}')

    def config(self, text=LLAMA_8B):
        config = self.folder / "config.json"
        config.write_text(text)
        return config

    def test_a_config_json_in_place_of_the_model(self):
        run = self.folder / "run"
        status, _, stderr = self.run_tool(self.config(), H100, "-o", run)
        self.assertEqual(status, 0, stderr)
        self.assertRegex(stderr, r"config.json: \d+ assumed; --set replaces each: model.sequence=4096, .*parallel.tensor=\d")
        self.assertRegex(stderr, r"TP\d+ .*PP\d+ DP\d+")
        self.assertIn(": fits", stderr)
        self.assertTrue((run / "1-workload/manifest.pb").exists())

    def test_what_is_given_is_not_assumed(self):
        status, stdout, stderr = self.run_tool(
            self.config(), H100, "--print-model", "--sequence", "2048", "--set", "parallel.pipeline=2", "--set",
            "training.global_batch=256")
        self.assertEqual(status, 0, stderr)
        for line in ("  sequence: 2048", "  pipeline: 2", "  global_batch: 256"):
            self.assertIn(line + "\n", stdout)
        for key in ("model.sequence=", "parallel.pipeline=", "training.global_batch="):
            self.assertNotIn(key, stderr)
        self.assertIn("parallel.tensor=", stderr)

    def test_a_printed_model_is_the_same_run(self):
        status, stdout, stderr = self.run_tool(self.config(), H100, "--print-model")
        self.assertEqual(status, 0, stderr)
        model = self.folder / "model.yaml"
        model.write_text(stdout)
        _, first, _ = self.run_tool(self.folder / "config.json", H100, "--dump")
        _, second, _ = self.run_tool(model, H100, "--dump")
        self.assertEqual(first, second)

    def test_a_config_json_that_fits_nowhere(self):
        huge = self.LLAMA_8B.replace('"num_hidden_layers": 32', '"num_hidden_layers": 4000')
        status, _, stderr = self.run_tool(self.config(huge), H100, "--check")
        self.assertEqual(status, 1)
        self.assertRegex(stderr, r"no layout of \S+ on these 64 GPUs fits their memory; the last of the \d+ that were tried, TP\d+ ")

    def test_a_known_model_with_a_part_that_is_not_modeled(self):
        status, _, stderr = self.run_tool(self.config('{"model_type": "deepseek_v4"}'), H100, "--check")
        self.assertEqual(status, 1)
        self.assertIn("config.json:1:16: error: model_type 'deepseek_v4' needs what Drydock does not model: attention to "
                      "compressed keys (compress_ratios)", stderr)

    def test_missing_files(self):
        self.expect_error("no.yaml: error: cannot read: No such file or directory\n", "no.yaml", CLUSTER)
        self.expect_error("no.topo: error: cannot read: No such file or directory\n", MODEL, "no.topo")

    def test_an_unreadable_file(self):
        secret = self.folder / "secret.yaml"
        shutil.copy(ROOT / MODEL, secret)
        secret.chmod(0o000)
        done = subprocess.run([*MORTAL, TOOL, secret, CLUSTER, "-o", self.out, "-q"], cwd=ROOT, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, f"{secret}: error: cannot read: Permission denied\n"))

    def changed(self, path, old, new):
        """A copy of the file with one place changed."""
        text = (ROOT / path).read_text()
        self.assertEqual(text.count(old), 1)
        copy = self.folder / pathlib.Path(path).name
        copy.write_text(text.replace(old, new))
        return copy

    def test_errors_in_a_file_are_reported_with_their_place(self):
        for path, old, new, message in [
            (MODEL, "  heads: 64\n", "  heads: 64\n  hiden: 3\n",
             "10:3: error: unknown key 'hiden' in 'model'; did you mean 'hidden'?; valid keys are architecture, name, layers,"),
            (MODEL, "  heads: 64\n", "  heads: 64\n  layers: 49\n",
             "10:3: error: duplicate key 'layers'; it is already given in line 7\n"),
            (MODEL, "hidden: 6144", "hidden: [6144", "9:8: error: not valid YAML: end of sequence flow not found\n"),
            (MODEL, "layers: 48", "layers: many", "7:11: error: 'many' is not a whole number\n"),
            (CLUSTER, "bandwidth: 300 GB/s, latency: 600 ns", "bandwidth: 300 GB/s, latency: 600 GB",
             "9:75: error: 'GB' is not a time unit; valid units are ps, ns, us, ms, s\n"),
        ]:
            with self.subTest(new=new):
                copy = self.changed(path, old, new)
                inputs = [copy, CLUSTER] if path == MODEL else [MODEL, copy]
                status, stdout, stderr = self.run_tool(*inputs, "-o", self.out, "-q")
                self.assertEqual((status, stdout, self.out.exists()), (1, "", False))
                self.assertTrue(stderr.startswith(f"{copy}:{message}"), stderr)

    def test_an_impossible_layout_is_refused(self):
        big, eight = "configs/models/gpt-175b.yaml", "configs/clusters/dgx-a100-80g-8.topo"
        for inputs, settings, message in [
            ([MODEL, CLUSTER], ["parallel.data=2"],
             "tensor 8 x pipeline 1 x context 1 x data 2 = 16 GPUs, but the cluster has 8; the nearest layout that works: "
             "--set parallel.data=auto"),
            ([MODEL, eight], ["parallel.tensor=16", "training.global_batch=20"],
             "global_batch 20 is not divisible by micro_batch 4 x data 4 = 16; the nearest layout that works: --set "
             "training.global_batch=16"),
            ([MODEL, CLUSTER], ["parallel.tensor=4", "model.layers=47", "parallel.pipeline=2"],
             "layers 47 is not divisible by pipeline 2; the nearest layout that works: --set parallel.tensor=8 --set "
             "parallel.pipeline=1"),  # on 4 tensor ranks it needs more memory than a GPU has
            ([MODEL, CLUSTER], ["training.global_batch=5"],
             "global_batch 5 is not divisible by micro_batch 4 x data 1 = 4; the nearest layout that works: --set "
             "training.global_batch=4"),
            ([big, eight], ["fabric={kind: explicit, switches: [{name: s, latency: 1 us, buffer: 1 MB}], links: []}"],
             "the fabric is disconnected: NIC 0 of host 0 cannot reach NIC 0 of host 1"),
        ]:
            with self.subTest(settings=settings):
                sets = [word for setting in settings for word in ("--set", setting)]
                self.expect_error(f"--set {settings[-1]}: error: {message}\n", *inputs, *sets)

    def test_nccl_settings(self):
        with open(self.folder / "set.topo", "w") as file:
            file.write((ROOT / CLUSTER).read_text() +
                       "nccl:\n  settings:\n    NCCL_ALGOS: ring\n    NCCL_PROTO: LL129\n"
                       "    NCCL_HOSTID: me\n    NCCL_DEBUG: INFO\n")
        lines = (self.folder / "set.topo").read_text().splitlines()
        first = lines.index("    NCCL_ALGOS: ring") + 1
        status, stdout, stderr = self.run_tool(MODEL, self.folder / "set.topo", "--check", "-q")
        path = self.folder / "set.topo"
        self.assertEqual((status, stdout), (1, ""))
        self.assertEqual(stderr,
            f"{path}:{first}:5: error: NCCL 2.29.7 has no setting 'NCCL_ALGOS'; did you mean 'NCCL_ALGO'?\n"
            "      NCCL_ALGOS: ring\n      ^\n"
            f"{path}:{first + 2}:5: error: NCCL_HOSTID: hosts and their NICs are those of the cluster file\n"
            "      NCCL_HOSTID: me\n      ^\n"
            f"{path}:{first + 1}:17: error: NCCL_PROTO: Unrecognized element token \"LL129\" when parsing \"LL129\"\n"
            "      NCCL_PROTO: LL129\n                  ^\n")
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "--check", "--set", "nccl.settings.NCCL_DEBUG=INFO",
                                               "--set", "nccl.settings.NCCL_IB_SL=3")
        self.assertEqual((status, stdout), (0, ""))
        self.assertIn("workload-gen: 2 NCCL settings change nothing here: NCCL_DEBUG (NCCL's log is not written), "
                      "NCCL_IB_SL (the network between hosts is described by the cluster file)\n", stderr)

    def test_an_unknown_gpu(self):
        status, _, stderr = self.run_tool(MODEL, CLUSTER, "--set", "hosts.dgx-a100-80g.gpu=a100-sxm-80", "-o", self.out)
        self.assertEqual(status, 1)
        self.assertTrue(stderr.startswith(
            "--set hosts.dgx-a100-80g.gpu=a100-sxm-80: error: there is no specification of the GPU 'a100-sxm-80'; "
            "did you mean 'a100-sxm-80g'?; known are a100-pcie-80g, a100-sxm-40g,"), stderr)

    def test_a_folder_is_not_a_file(self):
        self.expect_error(f"{self.folder}: error: cannot read: Is a directory\n", self.folder, CLUSTER)

    def test_unknown_sections(self):
        self.expect_error(
            "workload-gen: error: --set modle.layers=2: no such section; sections are model, training, parallel, overlap, fsdp, megatron_fsdp, zero, memory "
            "(model.yaml) and cluster, hosts, fabric, transport, faults, jitter, nccl, cost, storage (cluster.topo)\n"
            "workload-gen: see workload-gen --help\n", MODEL, CLUSTER, "--set", "modle.layers=2", status=2)

    def test_inference_is_refused_as_out_of_scope(self):
        self.expect_error("workload-gen: error: --set inference.batch=8: inference is out of scope: Drydock rehearses iterations of "
                          "training\nworkload-gen: see workload-gen --help\n", MODEL, CLUSTER, "--set", "inference.batch=8", status=2)
        self.expect_error("--set training.framework=vllm: error: 'vllm': inference is out of scope: Drydock rehearses iterations of "
                          "training\n", MODEL, CLUSTER, "--set", "training.framework=vllm")

    def test_a_run_directory_that_cannot_be_made(self):
        self.out.parent.mkdir(parents=True, exist_ok=True)
        (self.out.parent / "file").touch()
        out = self.out.parent / "file/run"
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "-o", out),
                         (1, "", f"{out}/1-workload/manifest.pb: error: cannot write: Not a directory\n"),
                         "said before any work is done")

    def test_no_run_directory(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER),
                         (2, "", "workload-gen: error: -o RUN is required\nworkload-gen: see workload-gen --help\n"))

    def test_only_regular_files_are_read(self):
        pipe = self.folder / "model.yaml"
        os.mkfifo(pipe)
        for path, kind in [(pipe, "pipe"), ("/dev/zero", "device")]:
            self.assertEqual(self.run_tool(path, CLUSTER, "-o", self.out),
                             (1, "", f"{path}: error: cannot read: it is a {kind}; copy its content to a file and give "
                              "that file\n"))

    def test_files_of_the_user_stay(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "-q", "-o", self.out), (0, "", ""))
        own = pathlib.Path(self.out) / "1-workload" / "notes.txt"
        own.write_text("mine")
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "-q", "-o", self.out), (0, "", ""))
        self.assertEqual(own.read_text(), "mine")

    def test_if_changed_skips_unchanged_inputs(self):
        self.assertEqual(self.run_tool(MODEL, CLUSTER, "-q", "-o", self.out), (0, "", ""))
        again = self.run_tool(MODEL, CLUSTER, "-o", self.out, "--if-changed")
        self.assertEqual(again, (0, "", "workload-gen: up to date\n"))
        changed = self.run_tool(MODEL, CLUSTER, "-o", self.out, "--if-changed", "-q", "--set",
                                "training.recompute=none")
        self.assertEqual(changed, (0, "", ""))

    def test_a_file_that_is_not_an_nccl_library_is_refused(self):
        status, stdout, stderr = self.run_tool(MODEL, CLUSTER, "-o", self.out, "-q", "--nccl-library", MODEL)
        self.assertEqual((status, stdout), (1, ""))
        self.assertIn(MODEL, stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
