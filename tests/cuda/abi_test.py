"""Tests that capture/hackcuda takes CUDA's interface for what CUDA's own headers say, of CUDA 12 and 13.

The headers are those of third_party/cuda/headers.txt (3.2 MB); the test fetches them with pip and keeps them nowhere. If
that fails, the test is skipped and says so.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tests/cuda/abi_check.cc"
SKIPPED = 77
OPTIONS = None  # from the command line
RELEASES = {}  # folders of headers, by wheel


def fetch(folder):
    done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                           "--only-binary=:all:", "--require-hashes", "--no-cache-dir", "--dest", folder, "--requirement",
                           ROOT / "third_party/cuda/headers.txt"], timeout=300)
    if done.returncode != 0:
        print("SKIPPED: CUDA's interface is NOT compared on this machine: its headers cannot be fetched", file=sys.stderr)
        sys.exit(SKIPPED)
    for wheel in sorted(folder.glob("*.whl")):
        unpacked = folder / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked, [name for name in archive.namelist() if "/include/" in name])
        RELEASES[wheel.name] = next(unpacked.rglob("cuda_runtime_api.h")).parent


def compile_check(headers, text):
    return subprocess.run([OPTIONS.compiler, "-std=c++20", "-fsyntax-only", "-I", ROOT, "-isystem", headers, "-x", "c++", "-"],
                          input=text, text=True, capture_output=True, timeout=120)


class Interface(unittest.TestCase):
    def test_of_each_release(self):
        self.assertEqual(len(RELEASES), 2)
        for name, headers in RELEASES.items():
            with self.subTest(name):
                done = compile_check(headers, CHECK.read_text())
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_difference_is_seen(self):
        wrong = CHECK.read_text().replace("SAME_ATTRIBUTE(kSms, MULTIPROCESSOR_COUNT)", "SAME_ATTRIBUTE(kSms, WARP_SIZE)")
        done = compile_check(next(iter(RELEASES.values())), wrong)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hackcuda::kSms", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    OPTIONS, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        fetch(pathlib.Path(scratch))
        unittest.main(argv=[sys.argv[0], *rest])
