"""Tests that scripts/check_layer.py compares and judges recorded times of a layer. Needs no GPU.

Usage: check_layer_test.py COMPUTE_SIM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/check_layer.py"
SMALL = ("--sequence", "1024", "--hidden", "2048", "--heads", "16", "--kv-heads", "4", "--ffn", "4096")
HEADER = "# gpu: h100-sxm-80g\n# provenance: made\n# method: a\n# date: never\nkernel,dtype,m,n,k,time\n"
NUMBER = re.compile(r"^(forward|backward|sum) +\d+ us +(\d+) us +[-+][\d.]+% +(\d+) us", re.M)


class CheckLayer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.profile = pathlib.Path(folder.name) / "p.csv"
        # The forward product of the attention's queries, keys and values takes 100 us.
        self.profile.write_text(HEADER + "gemm,bf16,1024,3072,2048,100 us\n")

    def check(self, times, *words):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--gpu", "h100-sxm-80g", "-o", self.profile, "--bin",
                               pathlib.Path(TOOL).parent, "--layer-times", times, *SMALL, *words],
                              text=True, capture_output=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def predicted(self):
        _, table, said = self.check('{"forward_us": 1, "backward_us": 1}')
        self.assertEqual(said, "")
        return {name: (int(rows), int(model)) for name, rows, model in NUMBER.findall(table)}

    def test_rows_and_model_are_compared_with_the_layer(self):
        times = self.predicted()
        self.assertEqual(list(times), ["forward", "backward", "sum"])
        # The model's own time of that product is 24 us.
        self.assertAlmostEqual(times["forward"][0] - times["forward"][1], 76, delta=4)
        self.assertEqual(*times["backward"])
        self.assertGreater(times["backward"][0], 1.5 * times["forward"][1])

    def test_beyond_the_limit_it_fails(self):
        forward, backward = (self.predicted()[name][0] for name in ("forward", "backward"))
        for factor, words, status, verdict in ((1.02, (), 0, "-2.0% off, within 5 %"), (1.1, (), 1, "-9.1% off, beyond 5 %"),
                                               (1.1, ("--limit", "10"), 0, "-9.1% off, within 10 %")):
            times = json.dumps({"forward_us": forward * factor, "backward_us": backward * factor})
            self.assertEqual(self.check(times, *words)[0], status)
            self.assertIn(verdict, self.check(times, *words)[1])

    def test_malformed_times_are_refused(self):
        for times in ("x", "[]", '{"forward_us": 1}', '{"forward_us": "a", "backward_us": 1}'):
            status, stdout, said = self.check(times)
            self.assertEqual((status, stdout), (1, ""))
            self.assertTrue(said.startswith("check_layer.py: error: --layer-times has no forward_us and backward_us: "), said)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
