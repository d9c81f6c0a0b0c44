"""Tests that nvcc compiles gpu-profiler, and that it plans, refuses and continues as documented. Needs no GPU.

If the machine has no CUDA toolkit, third_party/cuda/fetch.sh fetches the compiler and its libraries first; if that fails
too, the test is skipped and says so.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line
SKIPPED = 77
SEE = "gpu-profiler: see gpu-profiler --help\n"
OTHER = "p.csv: error: gpu-profiler did not begin this file, or another version did; name another file\n"


def prepare(build, toolkit):
    if toolkit is not None:
        fetched = subprocess.run([ROOT / "third_party/cuda/fetch.sh", toolkit], timeout=1500)
        if fetched.returncode != 0:
            print("SKIPPED: gpu-profiler is NOT compiled on this machine: there is no CUDA toolkit, and none can be "
                  "fetched", file=sys.stderr)
            sys.exit(SKIPPED if fetched.returncode == SKIPPED else 1)
    subprocess.run(["cmake", "--build", build, "--target", "gpu-profiler", "workload-gen"], check=True, timeout=1500)


class GpuProfiler(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_a_grid_of_products_is_listed(self):
        self.assertEqual(self.run_tool("--rows", "1024,2048", "--widths", "4096,8192", "--list", "-q"),
                         (0, "".join(f"gemm {m}x{n}x{k} bf16\n" for n in (4096, 8192) for k in (4096, 8192)
                                     for m in (1024, 2048)), ""))

    def test_a_grid_of_memory_bound_kernels_is_listed(self):
        status, listed, said = self.run_tool("--rows", "1024", "--widths", "4096", "--grid", "memory", "--list")
        self.assertEqual((status, said), (0, "gpu-profiler: 23 kernels to measure, 0 measured earlier\n"))
        for kernel in ("fused-norm 1024x4096 bf16", "swiglu-backward 1024x4096 bf16", "adam 1x4194304 bf16",
                       "elementwise 1024x4096 bf16 8 B each", "quantise 1024x4096 bf16"):
            self.assertIn(kernel + "\n", listed)

    def test_kernels_without_an_implementation_are_named(self):
        status, listed, said = self.run_tool("--submodules", ROOT / "configs/submodules/deepseek-v3-moe-layer.yaml",
                                             "--list")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"^gpu-profiler: \d+ kernels to measure, 0 measured earlier; left out for lack of a kernel: "
                               r"1 elementwise, 1 permute, 2 scatter, 1 top-k\n$")
        for kernel in ("permute 32768x7168 bf16 2.25 B each", "attention-forward 1x4096x128x128x192 value 128 causal bf16",
                       "grouped-gemm-accumulate 4x4096x7168x8192 fp8"):
            self.assertIn(kernel + "\n", listed)

    def test_a_runs_kernels_are_listed(self):
        subprocess.run([pathlib.Path(TOOL).parent / "workload-gen", ROOT / "configs/models/gpt-22b.yaml",
                        ROOT / "configs/clusters/dgx-a100-80g-1.topo", "-q", "-o", "run"], cwd=self.folder, check=True,
                       timeout=120)
        status, listed, said = self.run_tool("run", "--list")
        self.assertEqual(status, 0, said)
        # Queries, keys and values of 8192 tokens and an eighth of 64 heads of 96: forward pass and input gradient.
        for kernel in ("gemm 8192x2304x6144 fp16", "gemm 8192x6144x2304 fp16", "batched-gemm 32x2048x2048x96 fp16"):
            self.assertIn(kernel + "\n", listed)
        # With an additional grid, each kernel is listed once.
        _, both, _ = self.run_tool("run", "--rows", "8192", "--widths", "2304,6144", "--dtype", "fp16", "--list", "-q")
        self.assertEqual(sorted(set(both.splitlines())), sorted(both.splitlines()))
        self.assertEqual(set(listed.splitlines()) - set(both.splitlines()), set())
        self.assertIn("gemm 8192x6144x6144 fp16\n", both)

    def test_wrong_usage(self):
        for arguments, message in (([], "RUN, --submodules, or --rows with --widths is required"),
                                   (["--rows", "8"], "--widths is required"),
                                   (["--rows", "8", "--widths", "8"], "--gpu is required"),
                                   (["--rows", "8", "--widths", "8", "--gpu", "x"], "--output is required")):
            self.assertEqual(self.run_tool(*arguments), (2, "", f"gpu-profiler: error: {message}\n{SEE}"))
        self.assertEqual(self.run_tool("--rows", "0", "--widths", "8", "--list")[0], 2)
        self.assertEqual(self.run_tool("--rows", "8", "--widths", "8", "--grid", "memry", "--list")[0], 2)

    def test_a_file_of_another_tool_stays_unchanged(self):
        text = "# gpu: g\n# provenance: by hand\n# method: a\n# date: b\nkernel,dtype,m,n,k,time\ngemm,bf16,1,2,3,4 us\n"
        path = self.folder / "p.csv"
        for content in (text, "", "notes\n"):
            path.write_text(content)
            self.assertEqual(self.run_tool("--rows", "8", "--widths", "8", "--gpu", "g", "-o", "p.csv", "-q"), (1, "", OTHER))
            self.assertEqual(path.read_text(), content)
        self.assertEqual(self.run_tool("--rows", "8", "--widths", "8", "--gpu", "g", "-o", ".", "-q"),
                         (1, "", ".: error: cannot write: Is a directory\n"))

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "there is a GPU")
    def test_without_a_gpu_nothing_is_written(self):
        status, stdout, said = self.run_tool("--rows", "8", "--widths", "8", "--gpu", "g", "-o", "p.csv", "-q")
        self.assertEqual((status, stdout), (1, ""))
        self.assertRegex(said, r"^--device 0: error: .+\n$")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build tree")
    parser.add_argument("--tool", required=True, help="where it puts gpu-profiler")
    parser.add_argument("--toolkit", help="where the CUDA toolkit is fetched to")
    options, rest = parser.parse_known_args()
    prepare(options.build, options.toolkit)
    TOOL = options.tool
    unittest.main(argv=sys.argv[:1] + rest)
