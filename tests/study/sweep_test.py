"""drydock-sweep as a program: points equal those of the five tools, a killed sweep goes on where it was, the table does
not depend on the number of processes, and every mistake is said.

Usage: sweep_test.py BIN
"""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
MODEL, CLUSTER = "configs/models/gpt-1.7b.yaml", "configs/clusters/dgx-a100-80g-1.topo"
SETS = ["--set", "model.layers=4", "--set", "training.micro_batch=1", "--set", "training.global_batch=16"]
SMALL = [*SETS, "--network", "analytical"]
LAYOUTS = ["--over", "parallel.tensor=1,2,4", "--over", "parallel.pipeline=1,2"]


def small(*arguments):
    """The settings of SMALL and the arguments; a key that is an axis has no setting."""
    axes = {str(word).split("=")[0] for word in arguments if "=" in str(word)}
    sets = [each for each in SETS if each != "--set" and each.split("=")[0] not in axes]
    return [*(word for each in sets for word in ("--set", each)), "--network", "analytical", *arguments]


def command(*arguments):
    return [BIN / "drydock-sweep", *map(str, arguments)]


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.out = self.folder / "sweep"

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_words(self, words):
        done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, timeout=240)
        return done.returncode, done.stdout, done.stderr

    def sweep(self, *arguments, out=None):
        status, text, error = self.run_words(command(MODEL, CLUSTER, *small(*arguments), "-o", out or self.out))
        self.assertEqual(status, 0, error)
        return text, error

    def rows(self, out=None):
        with open((out or self.out) / "sweep.csv") as table:
            return list(csv.DictReader(table))

    def refused(self, *arguments, words=(MODEL, CLUSTER)):
        """Returns the status and the message of a sweep that must write nothing."""
        status, text, error = self.run_words(command(*words, *arguments, "-o", self.out))
        self.assertEqual(text, "")
        self.assertFalse(self.out.exists(), "something was written")
        return status, error

    def test_points_are_those_of_the_tools(self):
        self.sweep(*LAYOUTS, "--jobs", 2)
        rows = self.rows()
        self.assertEqual(len(rows), 6)
        for row in rows[1::3]:
            run = self.folder / "run"
            sets = SETS + [word for key in ["parallel.tensor", "parallel.pipeline"] for word in ("--set", f"{key}={row[key]}")]
            status, _, error = self.run_words([BIN / "drydock", "run", MODEL, CLUSTER, *sets, "--network", "analytical", "--out", run])
            self.assertEqual(status, 0, error)
            whole = json.loads((run / "summary.json").read_text())
            whole.pop("notes", None)  # those on values of --set, which a sweep tries anyway
            point = json.loads((self.out / "points" / row["point"] / "summary.json").read_text())
            self.assertEqual(point, whole)
            self.assertAlmostEqual(float(row["iteration_s"]), whole["iteration_time_s"], places=6)
            shutil.rmtree(run)

    def test_the_table_does_not_depend_on_the_processes(self):
        tables = []
        for jobs in [1, 3]:
            out = self.folder / str(jobs)
            self.sweep(*LAYOUTS, "--jobs", jobs, out=out)
            files = {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
            tables.append(files)
        self.assertEqual(tables[0].keys(), tables[1].keys())
        for path, content in tables[0].items():
            self.assertEqual(content, tables[1][path], path)

    def test_a_second_call_does_what_is_missing_and_no_more(self):
        self.sweep("--over", "parallel.tensor=1,2")
        times = {path: path.stat().st_mtime_ns for path in self.out.glob("points/*/point.json")}
        _, error = self.sweep("--over", "parallel.tensor=1,2,4")
        self.assertIn("2 of 3 points are known from an earlier call", error)
        for path, time_written in times.items():
            self.assertEqual(path.stat().st_mtime_ns, time_written)
        # A record that is damaged counts as missing.
        next(iter(times)).write_text("{")
        _, error = self.sweep("--over", "parallel.tensor=1,2,4")
        self.assertIn("2 of 3 points are known", error)

    def test_a_change_of_the_model_makes_other_points(self):
        model = self.folder / "model.yaml"
        model.write_text((ROOT / MODEL).read_text())
        words = command(model, CLUSTER, *SMALL, "--over", "parallel.tensor=1,2", "-o", self.out)
        self.assertEqual(self.run_words(words)[0], 0)
        before = [row["point"] for row in self.rows()]
        model.write_text(model.read_text().replace("hidden: 2304", "hidden: 4608"))
        self.assertEqual(self.run_words(words)[0], 0)
        self.assertNotEqual(before[0], self.rows()[0]["point"])

    def test_a_killed_sweep_goes_on(self):
        expected = self.folder / "expected"
        self.sweep(*LAYOUTS, out=expected)
        for kill in [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]:
            out = self.folder / f"killed-{kill.value}"
            process = subprocess.Popen(command(MODEL, CLUSTER, *SMALL, *LAYOUTS, "--jobs", 2, "-o", out), cwd=ROOT,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            end = time.monotonic() + 60
            while not list(out.glob("points/*/point.json")) and process.poll() is None and time.monotonic() < end:
                time.sleep(0.005)
            os.kill(process.pid, kill)
            process.wait()
            # Its processes end with it.
            end = time.monotonic() + 10
            while subprocess.run(["pgrep", "-f", str(out)], capture_output=True).returncode == 0:
                self.assertLess(time.monotonic(), end, "a process of the sweep is left")
                time.sleep(0.05)
            self.assertFalse((out / "sweep.csv").exists())
            self.sweep(*LAYOUTS, out=out)
            self.assertEqual((out / "sweep.csv").read_bytes(), (expected / "sweep.csv").read_bytes())
            self.assertEqual([path.name for path in out.glob("points/*.tmp*")], [])

    def test_points_that_cannot_be_are_rows(self):
        text, _ = self.sweep("--over", "parallel.tensor=1,3", "--over", "model.layers=4,800")
        states = [row["state"] for row in self.rows()]
        self.assertEqual(states, ["done", "does not fit", "refused", "refused"])
        self.assertIn("4 points: 1 done, 1 do not fit, 2 refused", text)
        rows = self.rows()
        self.assertRegex(rows[1]["reason"], r"^[\d.]+ GB of 85\.9 GB: does NOT fit$")
        self.assertNotEqual(rows[1]["memory_gb"], "")
        self.assertEqual(rows[1]["iteration_s"], "")
        self.assertIn("3", rows[2]["reason"])

    def test_a_study_file_is_the_same(self):
        study = self.folder / "study.yaml"
        study.write_text(f"""model: {ROOT / MODEL}
cluster: {ROOT / CLUSTER}
network: analytical
set: {{model.layers: 4, training.micro_batch: 1, training.global_batch: 16}}
over:
  parallel.tensor: [1, 2, 4]
  parallel.pipeline: 1..2
constraints: tensor * pipeline <= 4
metrics: [mfu]
""")
        status, text, error = self.run_words(command(study, "-o", self.out))
        self.assertEqual(status, 0, error)
        self.assertIn("5 points: 5 done", text)
        self.assertIn("mfu", text.splitlines()[0])
        self.sweep(*LAYOUTS, "--constraint", "tensor * pipeline <= 4", out=self.folder / "words")
        tables = [(out / "sweep.csv").read_text().splitlines() for out in [self.out, self.folder / "words"]]
        # The model's path differs, and with it the points' names.
        self.assertEqual([line.split(",")[1:] for line in tables[0]], [line.split(",")[1:] for line in tables[1]])

    def test_settings_of_nccl_are_an_axis(self):
        self.sweep("--over", "nccl.settings={NCCL_PROTO: Simple},{NCCL_PROTO: LL}", "--set", "parallel.tensor=8", "--jobs", 1)
        first, second = self.rows()
        self.assertNotEqual(first["iteration_s"], second["iteration_s"])
        run = self.folder / "run"
        for row in [first, second]:
            status, _, error = self.run_words(
                [BIN / "drydock", "run", MODEL, CLUSTER, *SMALL, "--set", "parallel.tensor=8", "--set",
                 f"nccl.settings={row['nccl.settings']}", "--out", run])
            self.assertEqual(status, 0, error)
            self.assertEqual(float(row["iteration_s"]),
                             float(f"{json.loads((run / 'summary.json').read_text())['iteration_time_s']:.7g}"))

    def test_a_sweep_without_an_answer_fails(self):
        status, text, error = self.run_words(command(MODEL, CLUSTER, *SMALL, "--over", "parallel.tensor=3,5", "-o", self.out))
        self.assertEqual(status, 1)
        self.assertIn("2 points: 0 done, 2 refused", text)
        self.assertIn("no point could be simulated; the first one: ", error)
        self.assertEqual(len(self.rows()), 2)

    def test_mistakes_write_nothing(self):
        status, error = self.refused("--over", "parallel.tensro=1,2")
        self.assertEqual(status, 1)
        self.assertIn("unknown key 'tensro' in 'parallel'; did you mean 'tensor'?", error)
        status, error = self.refused("--over", "paralel.tensor=1,2")
        self.assertEqual(status, 1)
        self.assertIn("no such section", error)
        status, error = self.refused("--over", "parallel.tensor=1,2", "--constraint", "tensor > 8")
        self.assertEqual(status, 1)
        self.assertIn("no point is left: none of 2 fulfills the constraints; 'tensor > 8' refuses 2", error)
        status, error = self.refused("--over", "cluster.hosts=1..1000", "--over", "training.global_batch=1..1000")
        self.assertEqual((status, error.strip()), (1, f"{MODEL}: error: 1000000 points: if you mean that, add --yes"))
        status, error = self.refused("--over", "parallel.tensor=1,2", "--network", "packet")
        self.assertEqual(status, 1)
        self.assertIn("a study has no --network packet; use fluid, and 'drydock run' for a point of interest", error)
        status, error = self.refused("--over", "parallel.tensor=1", "--metric", "speed")
        self.assertEqual(status, 2)
        self.assertIn("there is no metric 'speed'", error)
        status, error = self.refused("--over", "parallel.tensor=1", words=("nothing.yaml", CLUSTER))
        self.assertEqual(status, 1)
        self.assertIn("nothing.yaml", error)
        status, error = self.refused()
        self.assertEqual(status, 1)
        self.assertIn("no axis: give --over KEY=VALUES", error)
        status, error = self.refused("--set", "parallel.tensor=2", "--over", "parallel.tensor=1,2")
        self.assertEqual(status, 1)
        self.assertIn("--set parallel.tensor=2 and the axis parallel.tensor: leave one of them out", error)
        status, error = self.refused(words=("gpt-1.7b",))
        self.assertEqual(status, 1)
        self.assertIn("gpt-1.7b is a model; it needs a cluster: drydock sweep gpt-1.7b CLUSTER --over KEY=VALUES", error)
        status, error = self.refused(words=(ROOT / MODEL,))
        self.assertEqual(status, 1)
        self.assertIn("this is not a study file, which has 'model', 'cluster' and 'over'", error)

    def test_one_sweep_at_a_time(self):
        process = subprocess.Popen(command(MODEL, CLUSTER, *small("--over", "training.global_batch=16..4000*2"), "-o", self.out),
                                   cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not list(self.out.glob("points/*")) and time.monotonic() < end:
            time.sleep(0.01)
        status, _, error = self.run_words(command(MODEL, CLUSTER, *SMALL, *LAYOUTS, "-o", self.out))
        process.terminate()
        process.wait()
        self.assertEqual(status, 1)
        self.assertRegex(error, rf"{self.out}: error: process {process.pid} \(drydock-sweep .*\) is writing into this directory; "
                                "wait for its end, or give another directory\n")

    def test_a_worker_that_dies_loses_its_point_alone(self):
        process = subprocess.Popen(command(MODEL, CLUSTER, "--set", "training.global_batch=16384", "--network", "fluid", "--over",
                                           "parallel.tensor=1,2,4", "--jobs", 1, "-o", self.out), cwd=ROOT, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child, end = "", time.monotonic() + 60
        while not child and time.monotonic() < end:
            child = subprocess.run(["pgrep", "-P", str(process.pid)], text=True, capture_output=True).stdout.strip()
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(int(child.split()[0]), signal.SIGKILL)
        _, error = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(error, r"a point is not in the table, the first is \w{16}: its process was ended by signal 9 \(Killed\), "
                                r"as for want of memory; the same command tries them again")
        self.assertEqual(len(self.rows()), 2)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
