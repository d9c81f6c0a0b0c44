"""Reduction in the switches, from the cluster file to the timeline: NCCL's choice, times over both networks, and
equal bytes on any number of threads."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line: where the executables are
SHARP = "configs/clusters/dgx-h100-8-sharp.topo"
NIC = 50e9  # B/s
MODEL = ["configs/models/gpt-22b.yaml", SHARP, "--set", "model.layers=2", "--set", "cluster.hosts=4",
         "--set", "training.global_batch=16"]


def run(tool, *arguments):
    return subprocess.run([BIN / tool, *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, timeout=240)


def measure(*arguments, collective="all_reduce"):
    """Returns size -> collective-perf's row."""
    done = run("collective-perf", collective, "-d", "bfloat16", "--cluster", SHARP, "--json", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {row["size"]: row for row in json.loads(done.stdout)["results"]}


def time_us(row):
    return row["out_of_place"]["time"]


class Sharp(unittest.TestCase):
    maxDiff = None

    def test_nvls_inside_and_switches_between_hosts(self):
        rows = measure("-b", "1M", "-e", "256M", "-f", "256", "--network", "analytical")
        for row in rows.values():
            self.assertTrue(row["decision"].startswith("nvls Simple"), row)
        # Eight NICs of a host carry an eighth each, once in each direction: a lower bound, and nearly the time.
        least = (256 << 20) / 8 / NIC * 1e6
        self.assertGreater(time_us(rows[256 << 20]), least)
        self.assertLess(time_us(rows[256 << 20]), 2 * least)

    def test_one_gpu_a_host(self):
        size = 64 << 20
        for network in ("analytical", "fluid", "packet"):
            row = measure("-b", "64M", "-e", "64M", "--group", "0,8,16,24", "--network", network)[size]
            self.assertTrue(row["decision"].startswith("collnet-chain Simple"), row)
            # A ring over four hosts would take 1.5 times as long.
            least = size / NIC * 1e6
            self.assertGreater(time_us(row), least)
            self.assertLess(time_us(row), 1.3 * least)

    def test_gathers_and_scatters_use_the_switches(self):
        size = 64 << 20
        for collective in ("all_gather", "reduce_scatter"):
            for network in ("analytical", "fluid", "packet"):
                row = measure("-b", "64M", "-e", "64M", "--group", "0-31", "--network", network, collective=collective)[size]
                self.assertTrue(row["decision"].startswith("collnet-direct Simple"), row)
                # Each NIC carries the parts of its rail, an eighth of the whole, in one direction.
                least = size / 8 / NIC * 1e6
                self.assertGreater(time_us(row), least)
                # Inside the host each GPU takes the seven other rails' parts over NVLink beside its own.
                self.assertLess(time_us(row), 3 * least)

    def test_without_the_setting_nccl_ignores_the_switches(self):
        row = measure("-b", "64M", "-e", "64M", "--network", "analytical", "--set", "nccl.settings.NCCL_COLLNET_ENABLE=0")
        self.assertTrue(row[64 << 20]["decision"].startswith("nvls-tree"), row)

    def test_a_run_over_packets_is_the_same_on_any_number_of_threads(self):
        timelines = []
        for threads in (1, 2):
            with tempfile.TemporaryDirectory() as name:
                for tool, *arguments in (["workload-gen", *MODEL, "-o", name], ["simccl", name], ["compute-sim", name],
                                         ["exec-engine", name, "--threads", threads], ["report", name]):
                    done = run(tool, *arguments)
                    self.assertEqual(done.returncode, 0, f"{tool}: {done.stderr}")
                self.assertIn("collnet-chain/Simple", run("simccl", name, "--dump").stdout)
                timelines.append((pathlib.Path(name) / "4-timeline.pb").read_bytes())
        self.assertEqual(timelines[0] == timelines[1], True)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
