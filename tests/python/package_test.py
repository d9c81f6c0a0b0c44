"""The Python package against the executables that it calls.

Usage: package_test.py BIN
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import drydock  # noqa: E402
from drydock import _executables  # noqa: E402

SMALL = {"model.layers": 4, "training.global_batch": 4}


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prediction = drydock.run("gpt-22b", "dgx-a100-80g-1", set=SMALL, network="analytical", out=f"{cls.folder.name}/small")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_summary_is_the_file_that_the_report_wrote(self):
        text = (self.prediction.path / "summary.txt").read_text()
        self.assertTrue(text.startswith("gpt-22b on dgx-a100-80g-1: 8 × a100-sxm-80g"), text)
        self.assertEqual(self.prediction.summary["iteration_time_ps"], max(self.prediction.timeline["end_ps"]))

    def test_the_timeline_has_each_op_of_each_rank(self):
        columns = self.prediction.timeline
        self.assertEqual(list(columns), ["rank", "op", "stream", "name", "start_ps", "ready_ps", "end_ps"])
        self.assertEqual({len(column) for column in columns.values()}, {len(columns["rank"])})
        self.assertEqual(set(columns["rank"]), set(range(8)))
        dumped = subprocess.run([BIN / "exec-engine", self.prediction.path, "--dump"], stdout=subprocess.PIPE, text=True).stdout
        self.assertIn(f"({max(columns['end_ps'])} ps)", dumped)
        for start, ready, end in zip(columns["start_ps"], columns["ready_ps"], columns["end_ps"]):
            self.assertLessEqual(start, end)
        self.assertIn("tp", columns["stream"])

    def test_parquet_becomes_text_that_compute_sim_imports(self):
        from drydock import parquet
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            with self.assertRaisesRegex(drydock.DrydockError, r"Parquet needs pyarrow: pip install 'drydock\[parquet\]'"):
                parquet.to_csv("x", "y")
            self.skipTest("pyarrow is not installed")
        folder = pathlib.Path(self.folder.name)
        columns = {"framework": ["TRTLLM", "a,b"], "gemm_dtype": ["bfloat16"] * 2, "m": [8, 16], "n": [16, 16], "k": [32, 32],
                   "latency": [0.1 + 0.2, None]}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / "gemm_perf.parquet", compression="zstd")
        parquet.to_csv(folder / "gemm_perf.parquet", folder / "gemm_perf.csv")
        self.assertEqual((folder / "gemm_perf.csv").read_text(), "framework,gemm_dtype,m,n,k,latency\n"
                         "TRTLLM,bfloat16,8,16,32,0.30000000000000004\n\"a,b\",bfloat16,16,16,32,\n")
        words = [sys.executable, "-m", "drydock.parquet", folder / "gemm_perf.csv", "-o", folder / "again.csv"]
        done = subprocess.run(words, cwd=ROOT / "python", text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("gemm_perf.csv: this is no Parquet file", done.stderr)
        self.assertFalse((folder / "again.csv").exists())
        pyarrow.parquet.write_table(pyarrow.table({"m": [[1, 2]]}), folder / "lists.parquet")
        with self.assertRaisesRegex(drydock.DrydockError, "the column 'm' has several values in a row"):
            parquet.to_csv(folder / "lists.parquet", folder / "again.csv")

    def test_a_table_is_ready_for_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        table = pandas.DataFrame(self.prediction.timeline)
        self.assertEqual(table.dtypes["end_ps"].kind, "i")
        self.assertEqual(table.groupby("rank").size().nunique(), 1)

    def test_a_finished_run_is_opened_again(self):
        self.assertEqual(drydock.Run(self.prediction.path).summary, self.prediction.summary)
        with self.assertRaisesRegex(drydock.DrydockError, "it has no summary.json"):
            drydock.Run(self.folder.name)

    def test_an_error_has_the_words_of_the_executable(self):
        with self.assertRaises(drydock.DrydockError) as caught:
            drydock.run("gpt-22", "dgx-a100-80g-1", out=f"{self.folder.name}/none")
        self.assertEqual(caught.exception.status, 1)
        self.assertEqual(str(caught.exception), "gpt-22: error: cannot read: No such file or directory; did you mean 'gpt-22b'?")
        with self.assertRaisesRegex(drydock.DrydockError, "layrs.*did you mean"):
            drydock.run("gpt-22b", "dgx-a100-80g-1", set={"model.layrs": 4}, out=f"{self.folder.name}/none")

    def test_collectives(self):
        swept = drydock.collectives("all_reduce", "dgx-a100-80g-1", begin="8M", end="32M", network="analytical")
        self.assertEqual(swept.table["size"], [8 << 20, 16 << 20, 32 << 20])
        times = swept.table["time_us"]
        self.assertEqual(times, sorted(times))
        one = drydock.collectives("all_reduce", "dgx-a100-80g-1", begin="8M", network="analytical",
                                  set={"cluster.hosts": 1}, group=["0-3"])
        self.assertEqual(len(one.table["size"]), 1)

    def test_the_version_is_that_of_the_executables(self):
        self.assertRegex(drydock.version(), r"^drydock \d+\.\d+\.\d+")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    _executables.folder = lambda: BIN
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
