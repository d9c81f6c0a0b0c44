"""Tests that third_party/pytorch/fetch.py makes a folder of packages, whole or not at all, from an index of this test's."""
import hashlib
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Index(http.server.BaseHTTPRequestHandler):
    """An index of packages that breaks the first transfer of each file in the middle."""
    files, served = {}, []

    def do_GET(self):
        name = self.path.strip("/").split("/")
        if name[0] == "simple":
            file = next(file for file in self.files if file.startswith(name[1]))
            body = f'<a href="/files/{file}#sha256={hashlib.sha256(self.files[file]).hexdigest()}">{file}</a>'.encode()
            return self.answer(200, body, len(body))
        body = self.files[name[1]]
        first = int(self.headers.get("Range", "bytes=0-").split("=")[1].rstrip("-"))
        self.served.append(first)
        rest = body[first:]
        return self.answer(206 if first else 200, rest if first else rest[:len(rest) // 2], len(rest))

    def do_HEAD(self):
        self.answer(200, b"", len(self.files[self.path.rpartition("/")[2]]))

    def answer(self, status, body, length):
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Wheels(unittest.TestCase):
    SCRIPT = ROOT / "third_party/pytorch/fetch.py"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with zipfile.ZipFile(self.folder / "thing.whl", "w") as wheel:
            wheel.writestr("thing/__init__.py", "x = 1\n" * 100000)
            wheel.writestr("thing-1.0.data/purelib/other.py", "y = 2\n")
            program = zipfile.ZipInfo("thing/program")
            program.external_attr = 0o100755 << 16
            wheel.writestr(program, "#!/bin/sh\n")
        Index.files = {"thing-1.0-py3-none-any.whl": (self.folder / "thing.whl").read_bytes()}
        Index.served = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.index = f"http://127.0.0.1:{server.server_port}/simple"
        self.packages = self.folder / "packages"
        self.list = self.folder / "wheels.txt"
        self.list.write_text(f"# a list\nthing==1.0 --hash=sha256:{hashlib.sha256(*Index.files.values()).hexdigest()}\n")

    def start(self, *arguments):
        return subprocess.Popen([sys.executable, self.SCRIPT, "--list", self.list, self.packages, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "PIP_INDEX_URL": self.index, "no_proxy": "127.0.0.1"})

    def run_script(self, *arguments):
        script = self.start(*arguments)
        said = script.communicate(timeout=60)[1]
        return script.returncode, said

    def test_a_transfer_goes_on_where_it_stopped_and_sizes_are_shown(self):
        size = len(*Index.files.values())
        status, said = self.run_script()
        self.assertEqual(status, 0, said)
        self.assertEqual(Index.served, [0, size // 2])
        self.assertRegex(said, fr"""^looks up 1 of 1 packages in {self.index}
fetches 0.6 MB into {self.packages}.downloads
fetches thing 1.0: 0.6 MB, \d s
unpacks the packages: 0.6 MB, \d s
$""")
        self.assertEqual(sorted(path.name for path in self.packages.iterdir()), ["other.py", "thing", "wheels.txt"])
        self.assertTrue(os.access(self.packages / "thing/program", os.X_OK))
        self.assertFalse(os.access(self.packages / "thing/__init__.py", os.X_OK))
        self.assertFalse(self.packages.with_name("packages.downloads").exists())
        self.assertEqual(self.run_script(), (0, ""))
        self.assertEqual(len(Index.served), 2, "it was fetched again")

    def test_what_was_fetched_is_kept_until_all_is_there(self):
        downloads = self.packages.with_name("packages.downloads")
        downloads.mkdir()
        with zipfile.ZipFile(downloads / "old-0.9-py3-none-any.whl", "w") as wheel:  # of an older list
            wheel.writestr("old.py", "")
        file, = Index.files
        (downloads / (file + ".part")).write_bytes(Index.files[file][:200000])
        status, said = self.run_script()
        self.assertEqual(status, 0, said)
        self.assertEqual(Index.served[0], 200000)
        self.assertIn("; 0.2 MB of it are there already\n", said)
        self.assertEqual(sorted(path.name for path in self.packages.iterdir()), ["other.py", "thing", "wheels.txt"])

    def test_two_at_once(self):
        both = [self.start(), self.start()]
        said = "".join(script.communicate(timeout=60)[1] for script in both)
        self.assertEqual([script.returncode for script in both], [0, 0], said)
        self.assertEqual(len(Index.served), 2, "one of them fetched what the other did")

    def test_another_file_is_refused(self):
        self.list.write_text(f"thing==1.0 --hash=sha256:{'0' * 64}\n")
        status, said = self.run_script("--quiet")
        self.assertEqual((status, said), (
            77, f"error: {self.index}/thing/: it has no file of thing 1.0 with the hash of the list\n"))

    def test_a_folder_of_something_else_stays(self):
        self.packages.mkdir()
        mine = self.packages / "mine"
        mine.write_text("")
        status, said = self.run_script()
        self.assertEqual((status, said), (
            1, f"error: {self.packages}: is there already, and this script has not made it; give another folder, or remove it\n"))
        self.assertTrue(mine.exists())

    def test_no_index(self):
        self.index = "http://127.0.0.1:9/simple"
        status, said = self.run_script()
        self.assertEqual(status, 77)
        self.assertIn("cannot be read", said)


if __name__ == "__main__":
    unittest.main()
