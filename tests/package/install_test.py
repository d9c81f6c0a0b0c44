"""Installs a build and uses it from elsewhere: the tree is moved, and the command runs in another folder.

Usage: install_test.py BUILD
"""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None  # from the command line
TOOLS = ["drydock", "workload-gen", "simccl", "compute-sim", "exec-engine", "report", "collective-perf", "nccl-record",
         "drydock-sweep", "drydock-search", "drydock-goodput"]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        first = cls.folder / "first"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, stdout=subprocess.DEVNULL)
        cls.tree = cls.folder / "moved here"
        first.rename(cls.tree)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def call(self, *words, cwd=None, status=0):
        environment = {"PATH": f"{self.tree}/bin:/usr/bin:/bin", "HOME": str(self.folder)}
        done = subprocess.run(words, cwd=cwd or self.folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stderr}")
        return done

    def test_a_prediction_equals_that_of_the_build_tree(self):
        words = ["gpt-22b", "dgx-a100-80g-1", "--network", "analytical"]
        said = self.call("drydock", "run", *words, "--out", "installed").stderr
        self.assertIn(f"gpt-22b is the shipped {self.tree}/share/drydock/configs/models/gpt-22b.yaml\n", said)
        subprocess.run([BUILD / "bin/drydock", "run", "-q", *words, "--out", self.folder / "built"], check=True, stdout=subprocess.DEVNULL)
        for file in ["summary.txt", "critical-path.csv", "trace.json.gz"]:
            self.assertEqual((self.folder / "installed" / file).read_bytes(), (self.folder / "built" / file).read_bytes(), file)

    def test_nothing_leads_back_to_the_trees_that_it_was_built_from(self):
        said = self.call("drydock", "doctor").stdout
        self.assertNotIn("MISSING", said)
        self.assertIn(f"{self.tree}/lib/drydock/libhacknccl.so", said)
        self.assertIn(f"{self.tree}/share/drydock/configs", said)
        for tool in TOOLS:
            linked = self.call("ldd", self.tree / "bin" / tool).stdout
            self.assertNotIn("not found", linked)
            self.assertNotIn("/.deps/", linked)

    def test_every_tool_has_a_version_and_a_man_page(self):
        for tool in TOOLS:
            self.assertRegex(self.call(tool, "--version").stdout, rf"^{tool} \d+\.\d+\.\d+")
            page = gzip.decompress((self.tree / f"share/man/man1/{tool}.1.gz").read_bytes()).decode()
            self.assertTrue(page.startswith(f'.TH "{tool.upper()}" 1 "" "Drydock '), page[:80])
            self.assertIn("\n.SH NAME\n", page)
        page = gzip.decompress((self.tree / "share/man/man1/simccl-explain.1.gz").read_bytes()).decode()
        self.assertIn(r"\-\-collective NAME", page)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_man_pages_are_well_formed(self):
        for page in (self.tree / "share/man/man1").glob("*.gz"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=gzip.decompress(page.read_bytes()), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), page.name)

    def complete(self, line):
        """What bash offers for the last word of a line."""
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f"source '{self.tree}/share/bash-completion/completions/drydock'; COMP_WORDS=({quoted}); "
                  f"COMP_CWORD={len(words) - 1}; _drydock; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return self.call("bash", "-c", script).stdout.split()

    def test_completion_for_bash(self):
        self.assertIn("what-if", self.complete("drydock wh"))
        self.assertEqual(self.complete("drydock run --hostf"), ["--hostfile"])
        self.assertEqual(self.complete("drydock run gpt-22b-"), ["gpt-22b-sp-selective"])
        self.assertEqual(self.complete("drydock collectives --cluster selen"), ["selene"])
        self.assertEqual(self.complete("simccl explain --collec"), ["--collective"])
        self.assertEqual(self.complete("drydock what-if --bet"), ["--better"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_completion_for_zsh_is_valid(self):
        self.call("zsh", "-n", self.tree / "share/zsh/vendor-completions/_drydock")

    def test_documents_open_by_topic(self):
        self.assertTrue(self.call("drydock", "help", "cluster-file").stdout.startswith("# "))
        self.assertIn("did you mean 'cluster-file'?", self.call("drydock", "help", "cluster-fil", status=2).stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
