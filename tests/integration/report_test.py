"""report as a program, on a run made by the real tools: its output, which two runs give equally; the exact message of every error."""

import csv
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # the folder of the tools; from the command line
OUTPUTS = ["summary.json", "summary.txt", "critical-path.csv", "trace.json.gz", "report.html"]


def make_run(run):
    """GPT 22B on one DGX A100, as published."""
    for tool, *arguments in (
        ["workload-gen", "configs/models/gpt-22b.yaml", "configs/clusters/dgx-a100-80g-1.topo", "-o", run],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", "analytical"],
    ):
        subprocess.run([BIN / tool, *arguments, "-q"], cwd=ROOT, check=True, timeout=120)


class Report(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        make_run(cls.shared / "run")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.run_folder = self.folder / "run"
        shutil.copytree(self.shared / "run", self.run_folder)

    def report(self, *arguments):
        done = subprocess.run([BIN / "report", *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def expect_error(self, message, *arguments, status=1):
        self.assertEqual(self.report(*arguments), (status, "", message))
        for name in OUTPUTS:
            self.assertFalse((self.run_folder / name).exists(), f"{name} was written")

    def summary(self):
        return json.loads((self.run_folder / "summary.json").read_text())

    def test_prints_the_summary_and_the_names_of_its_files(self):
        status, stdout, stderr = self.report("run")
        self.assertEqual((status, stderr),
                         (0, "report: run: summary.json, critical-path.csv, report.html, trace.json.gz of 8 of 8 ranks\n"))
        self.assertEqual(stdout, (self.run_folder / "summary.txt").read_text())
        self.assertRegex(stdout, r"^gpt-22b on dgx-a100-80g-1: 8 × a100-sxm-80g in 1 host, network analytical\n")
        self.assertRegex(stdout, r"\niteration time   [\d.]+ m?s\n")
        self.assertTrue(all(len(line) <= 100 for line in stdout.splitlines()), "wider than a terminal")

    def test_parts_of_the_mean_iteration_add_up_to_it(self):
        self.report("run")
        summary = self.summary()
        parts = sum(part["mean_s"] for part in summary["time"].values())
        self.assertAlmostEqual(parts, summary["iteration_time_s"], delta=1e-9)

    def test_the_critical_path_has_no_gap_and_takes_the_iteration(self):
        self.report("run")
        with (self.run_folder / "critical-path.csv").open() as file:
            steps = list(csv.DictReader(file))
        ends = [round(float(step["end_us"]) * 1e6) for step in steps]
        self.assertEqual([round(float(step["begin_us"]) * 1e6) for step in steps], [0] + ends[:-1])
        self.assertEqual(ends[-1], self.summary()["iteration_time_ps"])
        path = self.summary()["critical_path"]
        self.assertEqual(path["steps"], len(steps))
        self.assertAlmostEqual(sum(path["parts"].values()), self.summary()["iteration_time_s"], delta=1e-9)
        moved = [step for step in steps if step["kind"] == "transfer"]
        self.assertTrue(moved)
        self.assertTrue(all(re.match(r"host 0/GPU \d to GPU \d", step["links"]) for step in moved))

    def test_a_run_is_compared_with_another(self):
        status, stdout, _ = self.report("run", "--compare", "run", "-q", "--no-html")
        self.assertEqual(status, 0)
        status, stdout, _ = self.report("run", "--compare", "run")
        self.assertRegex(stdout, r"\ncompared with the base run:\n  gpt-22b on dgx-a100-80g-1, TP8 .*\n")
        self.assertRegex(stdout, r"\n  iteration  .* \+0\.00 %\n")
        self.assertTrue(all(len(line) <= 100 for line in stdout.splitlines()), "wider than a terminal")
        compared = self.summary()["comparison"]["iteration_time_s"]
        self.assertEqual(compared["here"], compared["there"])

    def tool(self, name, *arguments):
        done = subprocess.run([BIN / name, *map(str, arguments)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_what_if_answers_are_replayed_and_reported(self):
        status, asked, _ = self.tool("exec-engine", "what-if", "run", "--only", "compute,nic")
        self.assertEqual(status, 0)
        self.assertRegex(asked, r"^iteration 1\.4\d+ s over the analytical network; 10 % better:\n"
                                r"  compute +1\.3\d* s +-7\.\d+ %  all kernels of compute ops\n"
                                r"  nic +1\.4\d+ s +[+-]0\.00 %  rate of NICs and of all cables\n$")
        self.assertEqual(self.tool("exec-engine", "what-if", "run", "--dump"), (0, asked, ""))
        self.assertIn("\nwhat if this were 10 % better (analytical network, 1.4", self.report("run")[1])
        what_if = self.summary()["what_if"]
        self.assertEqual(what_if["iteration_time_s"], self.summary()["iteration_time_s"])
        compute = what_if["answers"][0]["iteration_time_s"]
        # The saved time is limited by the compute time of the rank that computes longest.
        saved = what_if["iteration_time_s"] - compute
        self.assertTrue(0 < saved <= self.summary()["time"]["compute"]["max_s"] * (1 - 1 / 1.1) + 1e-9)
        self.assertEqual(self.tool("exec-engine", "run", "--network", "fluid", "-q"), (0, "", ""))
        self.assertFalse((self.run_folder / "4-what-if.pb").exists(), "of another timeline")

    def test_what_if_refuses_wrong_usage(self):
        self.assertEqual(self.tool("exec-engine", "what-if", "run", "--better", "0"),
                         (2, "", "exec-engine: error: --better '0' is not a percentage above 0 and at most "
                                 "1000\nexec-engine: see exec-engine what-if --help\n"))

    def test_chosen_ranks_are_shown(self):
        self.report("run", "--ranks", "1,5-6")
        trace = json.loads(gzip.decompress((self.run_folder / "trace.json.gz").read_bytes()))
        shown = {e["pid"] - 1 for e in trace["traceEvents"] if e["ph"] == "X"}
        self.assertEqual(shown, {1, 5, 6, 8})  # 8: the critical path
        page = (self.run_folder / "report.html").read_text()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page).group(1))
        self.assertEqual({lane["rank"] for lane in data["runs"][0]["lanes"]}, {1, 5, 6})

    def test_mfu_is_model_flops_over_the_dense_peak(self):
        self.report("run")
        s = self.summary()
        peak = s["gpus"] * s["peak_tflops_per_s_per_gpu"] * 1e12
        self.assertAlmostEqual(s["mfu"], s["model_flops_per_iteration"] / s["iteration_time_s"] / peak, places=12)

    def test_every_op_of_every_rank_can_be_in_the_trace(self):
        self.report("run", "--trace-ranks", "all")
        trace = json.loads(gzip.decompress((self.run_folder / "trace.json.gz").read_bytes()))
        ops = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"] != "wait" and e["cat"] != "critical path"]
        self.assertEqual(len(ops), self.summary()["network_counters"]["ops"])
        end = max(e["ts"] + e["dur"] for e in ops)
        self.assertAlmostEqual(end * 1e-6, self.summary()["iteration_time_s"], delta=1e-6)

    def test_ops_of_one_stream_do_not_overlap(self):
        self.report("run")
        trace = json.loads(gzip.decompress((self.run_folder / "trace.json.gz").read_bytes()))
        free = {}
        for e in trace["traceEvents"]:
            if e["ph"] != "X":
                continue
            stream = (e["pid"], e["tid"])
            self.assertGreaterEqual(round(e["ts"] * 1e6), free.get(stream, 0), e)
            free[stream] = round(e["ts"] * 1e6) + round(e["dur"] * 1e6)

    def test_two_reports_are_equal_byte_for_byte(self):
        self.report("run")
        first = [(self.run_folder / name).read_bytes() for name in OUTPUTS]
        self.report("run")
        self.assertEqual([(self.run_folder / name).read_bytes() for name in OUTPUTS], first)

    def test_if_changed_prints_the_same_summary_again(self):
        shown = self.report("run", "--if-changed")[1]
        self.assertEqual(self.report("run", "--if-changed"), (0, shown, "report: up to date\n"))

    def test_check_writes_nothing(self):
        self.assertEqual(self.report("run", "--check"), (0, "", "report: the run is complete and consistent\n"))
        self.assertFalse((self.run_folder / "summary.json").exists())

    def test_quiet_says_nothing(self):
        self.assertEqual(self.report("run", "-q", "--no-html"), (0, "", ""))
        self.assertFalse((self.run_folder / "report.html").exists())

    def test_an_old_page_is_removed(self):
        self.report("run", "-q")
        self.assertTrue((self.run_folder / "report.html").exists())
        self.assertEqual(self.report("run", "-q", "--no-html"), (0, "", ""))
        self.assertFalse((self.run_folder / "report.html").exists())

    def test_a_missing_run_is_refused(self):
        self.expect_error("nowhere/1-workload/manifest.pb: error: there is no workload manifest yet; run workload-gen "
                          "first\n", "nowhere")

    def test_an_unfinished_run_is_refused(self):
        (self.run_folder / "4-timeline.pb").unlink()
        self.expect_error("run/4-timeline.pb: error: there is no timeline yet; run exec-engine first\n", "run")

    def test_a_timeline_of_an_older_workload_is_refused(self):
        subprocess.run([BIN / "workload-gen", "configs/models/gpt-22b-sp-selective.yaml",
                        "configs/clusters/dgx-a100-80g-1.topo", "-o", self.run_folder, "-q"], cwd=ROOT, check=True)
        self.expect_error("run/2-flows.pb: error: stale: it was made from another 1-workload/manifest.pb; run simccl "
                          "again\n", "run")

    def test_wrong_usage(self):
        self.expect_error("report: error: --trace-ranks: '0' is neither a number of ranks, at least 1, nor 'all'\n"
                          "report: see report --help\n", "run", "--trace-ranks", "0", status=2)
        self.expect_error("report: error: --ranks and --trace-ranks exclude each other\nreport: see report --help\n",
                          "run", "--trace-ranks", "1", "--ranks", "1", status=2)
        self.expect_error("report: error: '3-1' is not a list of ranks: '3-1' runs backwards\nreport: see report --help\n",
                          "run", "--ranks", "3-1", status=2)
        self.expect_error("report: error: The following argument was not expected: --trace-rank; did you mean "
                          "'--trace-ranks'?\nreport: see report --help\n", "run", "--trace-rank", status=2)

    def test_an_output_that_cannot_be_written_is_refused(self):
        (self.run_folder / "trace.json.gz").mkdir()
        status, stdout, stderr = self.report("run")
        self.assertEqual((status, stdout, stderr),
                         (1, "", "run/trace.json.gz: error: cannot write: Is a directory\n"))
        self.assertEqual([p.name for p in self.run_folder.iterdir() if ".tmp-" in p.name], [])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
