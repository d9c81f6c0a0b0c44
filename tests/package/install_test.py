"""Installs a build and uses it from elsewhere: the tree is moved, and the command runs in another folder.

Usage: install_test.py BUILD
"""
import fcntl
import gzip
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None  # from the command line
TOOLS = ["drydock", "workload-gen", "simccl", "compute-sim", "exec-engine", "report", "collective-perf", "nccl-record",
         "drydock-sweep", "drydock-search", "drydock-goodput", "drydock-capture"]


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

    def test_capture_has_its_parts(self):
        self.assertIn("--setup", self.call("drydock", "capture", "--help").stdout)
        for part in ["lib/drydock/hackcuda/libhackcuda.so", "lib/drydock/launch/intercept", "share/drydock/capture/hooks"]:
            self.assertTrue((self.tree / part).exists(), part)
        (self.folder / "train.sh").write_text("torchrun --nproc-per-node=8 train.py\n")
        self.assertIn("train.py", self.call("drydock", "capture", "--arguments-only", "--", "bash", "train.sh").stdout)

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

    def complete_in_zsh(self, line):
        """What zsh, on a terminal, shows and has in its line after TAB."""
        # ^X^P prints the line, so that the test knows when the completion has ended.
        setup = (f"PROMPT=''; fpath=({shlex.quote(str(self.tree))}/share/zsh/vendor-completions $fpath); autoload -U compinit; "
                 "compinit -u -D; bindkey '\\t' complete-word; LISTMAX=1000; "
                 "show() { print; print -r -- \"<$BUFFER>\" }; zle -N show; bindkey '^X^P' show; print rea''dy\n")
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        environment = {"PATH": f"{self.tree}/bin:/usr/bin:/bin", "HOME": str(self.folder), "TERM": "dumb"}
        with subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=self.folder,
                              start_new_session=True) as process:
            os.close(theirs)
            try:
                os.write(ours, setup.encode())
                self.read_until(ours, rb"ready\r")
                os.write(ours, line.encode() + b"\t\x18\x10")
                shown = self.read_until(ours, rb"<[^\r]*>\r")
            finally:
                process.kill()
        os.close(ours)
        shown, _, rest = shown.decode().rpartition("<")
        return shown.split(), rest.partition(">")[0]

    def read_until(self, terminal, pattern):
        text, end = b"", time.monotonic() + 60
        while not re.search(pattern, text):
            self.assertLess(time.monotonic(), end, text)
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 4096)
        return text

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_completion_for_zsh(self):
        try:
            os.close(pty.openpty()[0])
        except OSError as error:
            self.skipTest(f"no terminal can be opened here: {error}")
        for line, completed in [("drydock wh", "drydock what-if "), ("drydock run --hostf", "drydock run --hostfile "),
                                ("drydock run gpt-22b-", "drydock run gpt-22b-sp-selective "),
                                ("drydock collectives --cluster selen", "drydock collectives --cluster selene "),
                                ("drydock what-if --bet", "drydock what-if --better "),
                                ("simccl explain --collec", "simccl explain --collective ")]:
            with self.subTest(line=line):
                self.assertEqual(self.complete_in_zsh(line)[1], completed)
        offered, line = self.complete_in_zsh("drydock ")
        self.assertEqual(line, "drydock ")
        self.assertTrue({"run", "check", "capture", "sweep", "what-if", "collectives", "simccl", "help", "--version"} <= set(offered), offered)

    def test_documents_open_by_topic(self):
        self.assertTrue(self.call("drydock", "help", "cluster-file").stdout.startswith("# "))
        self.assertIn("did you mean 'cluster-file'?", self.call("drydock", "help", "cluster-fil", status=2).stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
