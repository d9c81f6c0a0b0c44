"""Reads the scripts of launch_scripts.py with the reader of launch scripts and runs them with bash.

Usage: launch_script_test.py LAUNCH_WORDS [NUMBER]: only that script, with both answers printed.

A program that prints its arguments stands in place of torchrun. The reader has to find exactly the arguments that bash
passes, or say that a value is not known, at its place.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import launch_scripts

RECORDER = r"""#!/bin/bash
exec 9>> "${0%/*}/calls.txt"
printf '%s\0' "$@" >&9
printf '\1\n' >&9
"""


class LaunchScripts:
    def __init__(self, reader):
        self.reader = reader
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="launch-"))
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        (self.programs / "torchrun").write_text(RECORDER)
        (self.programs / "torchrun").chmod(0o755)

    def write(self, place, script):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, text in launch_scripts.FILES.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)
        (place / "launch.sh").write_text(script, newline="")

    def bash(self, script):
        """Returns the arguments of each call of torchrun."""
        place = self.folder / "bash"
        self.write(place, script)
        calls = self.programs / "calls.txt"
        calls.unlink(missing_ok=True)
        subprocess.run(["/bin/bash", "launch.sh"], cwd=place, env={"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": "/root"},
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        if not calls.exists():
            return []
        return [call.split("\0")[1:] for call in calls.read_text().split("\0\1\n")[:-1]]

    def read(self, script):
        """Returns the arguments, or none and the message."""
        place = self.folder / "read"
        self.write(place, script)
        done = subprocess.run([self.reader, "launch.sh"], cwd=place, capture_output=True, text=True, timeout=20, check=False)
        if done.returncode == 1:
            return None, done.stderr.strip()
        if done.returncode != 0:
            raise AssertionError(f"exit {done.returncode}: {done.stderr}")
        words = []
        for line in done.stdout.split("\n")[:-1]:
            if line[0] == "?":
                return None, line[1:]
            words.append(re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], line[1:]))
        return words, ""


def script_of(entry):
    command = entry[2] if len(entry) > 2 else launch_scripts.COMMAND
    return f"{entry[1]}\n{command}\n"


class LaunchScriptTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scripts = LaunchScripts(READER)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.scripts.folder)

    def test_the_arguments_are_those_of_bash(self):
        for number, entry in enumerate(launch_scripts.SCRIPTS):
            script = script_of(entry)
            with self.subTest(number=number, script=script):
                words, message = self.scripts.read(script)
                if entry[0] == "unknown":
                    self.assertIsNone(words, f"bash: {self.scripts.bash(script)}")
                    self.assertRegex(message, r"^[\w./]*\.sh:\d+:\d+: ")
                    continue
                calls = self.scripts.bash(script)
                self.assertEqual(len({tuple(call) for call in calls}), 1, calls)
                self.assertEqual(words, calls[0], message)


if __name__ == "__main__":
    READER = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        chosen = launch_scripts.SCRIPTS[int(sys.argv[1])]
        both = LaunchScripts(READER)
        print(script_of(chosen), both.read(script_of(chosen)), both.bash(script_of(chosen)), sep="\n")
        sys.exit()
    unittest.main()
