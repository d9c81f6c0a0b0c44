"""compute-sim as a program: its output, which two runs give equally; the exact message and exit status of every error."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # both from the command line
WORKLOAD_GEN = None
HEADER = "# gpu: a100-sxm-80g\n# provenance: a test\n# method: none\n# date: never\nkernel,dtype,m,n,k,time\n"


def generate(run, *extra, model="gpt-22b", cluster="dgx-a100-80g-1"):
    subprocess.run([WORKLOAD_GEN, f"configs/models/{model}.yaml", f"configs/clusters/{cluster}.topo", "-q", "-o", run,
                    *extra], cwd=ROOT, check=True, timeout=120)


class ComputeSim(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp())
        generate(cls.shared / "run")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.run_folder = self.folder / "run"
        shutil.copytree(self.shared / "run", self.run_folder)
        self.times = self.run_folder / "3-times.pb"

    def run_tool(self, *arguments):
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def expect_error(self, message, *arguments, status=1):
        self.assertEqual(self.run_tool(*arguments, "-q"), (status, "", message))
        self.assertFalse(self.times.exists(), "something was written")

    def profile(self, rows):
        (self.folder / "p.csv").write_text(HEADER + rows)
        return "--gpu-profile", "p.csv"

    def test_writes_its_artefact_and_counts_the_sources_of_times(self):
        status, stdout, stderr = self.run_tool("run")
        self.assertEqual((status, stdout), (0, ""), stderr)
        self.assertRegex(stderr, r"^compute-sim: \d+ kernels: [1-9]\d* profile, [1-9]\d* model, 0 scaled; 6 as measured; "
                                 r"4 between rows, up to x1\.92 off\n$")
        self.assertTrue(self.times.exists())

    def test_two_runs_are_equal_byte_for_byte(self):
        self.assertEqual(self.run_tool("run", "-q"), (0, "", ""))
        first = self.times.read_bytes()
        self.assertEqual(self.run_tool("run", "-q"), (0, "", ""))
        self.assertEqual(self.times.read_bytes(), first)

    def test_check_and_explain(self):
        status, explained, stderr = self.run_tool("run", "--check", "--explain", "-q")
        self.assertEqual((status, stderr), (0, ""))
        self.assertFalse(self.times.exists())
        self.assertRegex(explained, r"gemm +8192x6144x768 fp16 +tensor cores profile  a100-sxm-80g.csv:\d+, slowest of 8 x1.011\n")
        self.assertRegex(explained, r"dropout +65536x2048 fp16 +memory +model ")
        self.run_tool("run", "-q")
        self.assertEqual(self.run_tool("run", "--dump")[1].splitlines()[:-1], explained.splitlines())

    def test_explain_a_run_writes_nothing(self):
        status, explained, stderr = self.run_tool("explain", "run")
        self.assertEqual(status, 0, stderr)
        self.assertRegex(stderr, r"^compute-sim explain: \d+ kernels: ")
        self.assertFalse(self.times.exists())
        self.run_tool("run", "-q")
        self.assertEqual(self.run_tool("run", "--dump")[1].splitlines()[:-1], explained.splitlines())

    def test_explain_submodules_without_a_run(self):
        status, explained, stderr = self.run_tool(
            "explain", "--gpu", "h100-sxm-80g", "--gpu", "a100-sxm-80g", "--submodules",
            ROOT / "configs/submodules/deepseek-v3-moe-layer.yaml", "-q", "--submodule", "kind: cast, elements: 4096")
        self.assertEqual((status, stderr), (1, f"{ROOT}/configs/gpus/a100-sxm-80g.yaml: error: submodule 'attention.query-down': there is no time for gemm "
                                               "4096x1536x7168 fp8 on the GPU 'a100-sxm-80g':\n"
                                               "  profile: no row of that kernel and type in 1 profile\n"
                                               "  model: " + str(ROOT) + "/configs/gpus/a100-sxm-80g.yaml has no gemm "
                                               "parameters for fp8\n"
                                               "  scaled: " + str(ROOT) + "/configs/gpus/a100-sxm-80g.yaml states no fp8 "
                                               "rate\n" + stderr.partition("no fp8 rate\n")[2]))
        status, explained, stderr = self.run_tool(
            "explain", "--gpu", "h100-sxm-80g", "--submodules",
            ROOT / "configs/submodules/deepseek-v3-moe-layer.yaml", "-q", "--submodule", "kind: cast, elements: 4096")
        self.assertEqual((status, stderr), (0, ""))
        for kernel in ("grouped-gemm +4x8192x4096x7168 fp8 +tensor cores model ",
                       "attention-forward +1x4096x128x128x192 value 128 causal bf16 +tensor cores model +cudnn-9",
                       "top-k +4096x256 bf16 ", r"permute +32768x7168 bf16 2\.25 B each +memory ", "cast +1x4096 bf16 +launch "):
            self.assertRegex(explained, kernel)

    def test_explain_mistakes(self):
        see = "compute-sim: see compute-sim explain --help\n"
        self.expect_error("compute-sim: error: RUN, --submodules or --submodule is required\n" + see, "explain", status=2)
        self.expect_error("compute-sim: error: --gpu is required\n" + see, "explain", "--submodule", "kind: norm",
                          status=2)
        self.expect_error("compute-sim: error: RUN has its own GPUs and submodules: give RUN alone, or leave it out\n" + see,
                          "explain", "run", "--gpu", "h100-sxm-80g", status=2)
        status, stdout, stderr = self.run_tool("explain", "--gpu", "h100-sxm-80g", "--submodule", "kind: nrom")
        self.assertEqual((status, stdout), (1, ""))
        self.assertRegex(stderr, r"^--submodule:1:21: error: 'nrom' is not a valid kind; did you mean 'norm'\?; valid values are ")

    def test_imported_times_can_be_used_and_fitted(self):
        header = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
        (self.folder / "gemm_perf.txt").write_text(header + "".join(
            f"a,1,b,gemm,c,{dtype},{m},4096,{k},{2e-8 * m * k + 0.01:.6f}\n"
            for dtype in ("bfloat16", "int8_wo") for m in (1024, 2048, 4096, 8192) for k in (1024, 2048, 4096, 8192)))
        self.assertEqual(self.run_tool("import", "--from", "aiconfigurator", "--gpu", "h100-sxm-80g", "gemm_perf.txt",
                                       "-o", "p.csv"),
                         (0, "", "compute-sim import: 16 times; left out 16 gemm in int8_wo\n"))
        (self.folder / "twice.txt").write_text("gemm_dtype,m,n,k,latency\nbfloat16,8,16,32,1\nbfloat16,8,16,32,900\n")
        self.assertEqual(self.run_tool("import", "--from", "aiconfigurator", "--gpu", "g", "twice.txt", "--check"),
                         (0, "", "compute-sim import: 2 times; the times of 1 kernels differ by more than a factor of two, "
                                 "the profile has their median\n"))
        status, explained, stderr = self.run_tool("explain", "--gpu", "h100-sxm-80g", "--gpu-profile", "p.csv", "-q",
                                                  "--submodule", "kind: linear, pass: fwd, rows: 4096, n: 4096, k: 2048")
        self.assertEqual((status, stderr), (0, ""))
        self.assertRegex(explained, r"gemm +4096x4096x2048 bf16 +tensor cores profile  p.csv:\d+\n")
        status, residuals, stderr = self.run_tool("fit", "--gpu", "h100-sxm-80g", "--gpu-profile", "p.csv", "-o",
                                                  "my.yaml", "--evaluations", "200")
        self.assertEqual((status, stderr), (0, ""))
        self.assertRegex(residuals, r"gemm bf16, fitted half +\d+ rows  mean +\d+\.\d %  p95 ")
        self.assertIn("no rows for gemm fp8, gemm fp8-block, flash-2, flash-3, cudnn-9 forward, cudnn-9 backward, "
                      "cudnn-9-fp8 forward, cudnn-9-fp8 backward, trtllm, memory\n",
                      residuals)
        status, explained, stderr = self.run_tool("explain", "--gpu", "./my.yaml", "--no-shipped-profiles", "-q",
                                                  "--submodule", "kind: linear, pass: fwd, rows: 4096, n: 4096, k: 2048")
        self.assertEqual((status, stderr), (0, ""))
        self.assertIn("model ", explained)

    def test_import_and_fit_mistakes(self):
        see = "compute-sim: see compute-sim {} --help\n"
        self.expect_error("compute-sim: error: there is no importer 'kinto'; did you mean 'kineto'?; valid are "
                          "aiconfigurator, vidur, aiob, kineto, nsys\n" + see.format("import"),
                          "import", "--from", "kinto", status=2)
        self.expect_error("compute-sim: error: --gpu-profile is required\n" + see.format("fit"), "fit", "--gpu", "x",
                          status=2)
        for importer, words in (("kineto", ("--dtype", "bf16")), ("aiconfigurator", ("--dtype", "fp16"))):
            self.expect_error(f"compute-sim: error: --dtype is not valid for '{importer}': its files state their types\n"
                              + see.format("import"), "import", "--from", importer, *words, status=2)
        for importer in ("kineto", "vidur", "nsys"):
            self.expect_error(f"compute-sim: error: --model is not valid for '{importer}': its files have shapes\n"
                              + see.format("import"), "import", "--from", importer, "--model", "hidden: 1", status=2)
        self.expect_error("compute-sim: error: --model is required\n" + see.format("import"), "import", "--from", "aiob",
                          status=2)
        self.expect_error("compute-sim: error: there is no data type 'bf61'; did you mean 'bf16'?; valid values are fp32, "
                          "tf32, fp16, bf16, fp8, int8, int32, int64, fp64, fp8-e5m2, uint8, uint32, uint64\n"
                          + see.format("import"), "import", "--from", "vidur", "--dtype", "bf61", status=2)
        (self.folder / "g.txt").write_text("gemm_dtype,m,n,k,latency\nbfloat16,8,16,32,1.5\n")
        self.expect_error("run: error: cannot write: Is a directory\n", "import", "--from", "aiconfigurator", "--gpu",
                          "h100-sxm-80g", "g.txt", "--check", "-o", "run")
        self.expect_error("compute-sim: error: --date must be one line: it becomes a line of the header\n" + see.format("import"),
                          "import", "--from", "kineto", "--gpu", "g", "--date", "a\n# gpu: b", "t.json", status=2)
        self.expect_error("compute-sim: error: --model-order names 'model' twice\n" + see.format("explain"), "explain",
                          "run", "--model-order", "model,profile,model", status=2)
        (self.folder / "t.json").write_text('{"traceEvents": []}')
        self.expect_error("t.json: error: a profile can hold no kernel of t.json\n", "import", "--from", "kineto", "--gpu",
                          "h100-sxm-80g", "t.json")
        self.profile("gemm,fp16,1,2,3,4 us\n")
        self.expect_error("p.csv: error: this profile was measured on 'a100-sxm-80g', not on 'h100-sxm-80g'\n", "fit", "--gpu",
                          "h100-sxm-80g", "--gpu-profile", "p.csv")

    def test_if_changed_skips_an_unchanged_run(self):
        self.run_tool("run", "-q")
        self.assertEqual(self.run_tool("run", "--if-changed"), (0, "", "compute-sim: up to date\n"))
        for change in (self.profile("gemm,fp16,8192,2304,6144,1 ms\n"), ("--model-order", "model")):
            status, _, stderr = self.run_tool("run", "--if-changed", *change)
            self.assertEqual(status, 0)
            self.assertIn(" kernels: ", stderr)

    def test_the_users_rows_come_before_the_shipped_ones(self):
        _, explained, _ = self.run_tool("run", "--check", "--explain", *self.profile("gemm,fp16,8192,6144,768,1 ms\n"))
        self.assertRegex(explained,
                         r" 1.011 ms +gemm +8192x6144x768 fp16 +tensor cores profile  p.csv:6, slowest of 8 x1.011\n")

    def test_a_gpu_without_kernels_is_scaled_from_its_reference(self):
        generate(self.folder / "b300", "--set", "cluster.hosts=1", model="llama-3-8b", cluster="dgx-b300-8")
        status, explained, stderr = self.run_tool("b300", "--explain", "--no-shipped-profiles")
        self.assertEqual(status, 0, stderr)
        self.assertRegex(stderr, r": 0 profile, 0 model, [1-9]\d* scaled; scaled times \+- \d+\.\d %\n$")
        self.assertRegex(explained, r" gemm .* tensor cores scaled   b200-sxm-180g, FLOPS x1.000, bandwidth x1.006, "
                                    r"slowest of 8 x1.017, \+- \d+\.\d %\n")
        self.assertRegex(explained, r" swiglu .* memory +scaled   b200-sxm-180g, bandwidth x1.006, \+- \d+\.\d %\n")

    def test_models_can_be_listed_without_a_run(self):
        status, stdout, stderr = self.run_tool("--model-order", "help")
        self.assertEqual((status, stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in stdout.splitlines()], ["profile", "model", "scaled"])

    def test_wrong_usage(self):
        self.expect_error("compute-sim: error: RUN is required\ncompute-sim: see compute-sim --help\n", status=2)
        self.assertEqual(self.run_tool("run", "--gpu-profil", "x")[0], 2)

    def test_no_workload(self):
        self.expect_error("no/1-workload/manifest.pb: error: there is no workload manifest yet; run workload-gen first\n",
                          "no")

    def test_bad_profiles(self):
        self.expect_error("no.csv: error: cannot read: No such file or directory\n", "run", "--gpu-profile", "no.csv")
        self.expect_error("p.csv:6:17: error: 'uss' is not a time unit; did you mean 'us'?; valid units are ps, ns, "
                          "us, ms, s\n  gemm,fp16,1,2,3,4 uss\n                  ^\n",
                          "run", *self.profile("gemm,fp16,1,2,3,4 uss\n"))
        status, _, stderr = self.run_tool("run", *self.profile("gem,fp16,1,2,3,4 us\n"))
        self.assertEqual(status, 1)
        self.assertIn("p.csv:6:1: error: unknown kernel 'gem'; did you mean 'gemm'?; valid are gemm, ", stderr)

    def test_unknown_names(self):
        self.expect_error("compute-sim: error: unknown compute model 'modl'; did you mean 'model'?; valid are profile, "
                          "model, scaled\ncompute-sim: see compute-sim --help\n", "run", "--model-order", "modl", status=2)
        self.expect_error("gpus/a100-sxm-80g.yaml: error: the GPU 'a100-sxm-80g' has no attention library 'flash2'; did you mean 'flash-2'?; "
                          "valid are transformer-engine, pytorch, flash-2, trtllm, flash, cudnn\n", "run", "--attention-library", "flash2")

    def test_an_unknown_kernel(self):
        status, _, stderr = self.run_tool("run", "--model-order", "scaled", "-q")
        self.assertEqual(status, 1)
        self.assertFalse(self.times.exists())
        self.assertTrue(stderr.startswith("gpus/a100-sxm-80g.yaml: error: submodule "), stderr)

    def test_an_interrupted_or_refused_write_leaves_the_old_artefact(self):
        self.run_tool("run", "-q")
        before = self.times.read_bytes()
        # ThreadSanitizer writes a file before main if it finds a folder for temporary files.
        done = subprocess.run(["bash", "-c", f"ulimit -f 0; exec {TOOL} run -q --model-order model"], cwd=self.folder,
                              env={**os.environ, "TMPDIR": "/nowhere"}, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("3-times.pb", done.stderr)
        self.assertEqual(self.times.read_bytes(), before)
        self.assertEqual([p.name for p in self.run_folder.iterdir() if "tmp" in p.name.lower()], [])


if __name__ == "__main__":
    TOOL, WORKLOAD_GEN = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
