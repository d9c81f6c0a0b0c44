"""Every shipped model at full size, with the cluster that it names: workload-gen builds it, NCCL takes its groups, and
every rank's program is proven to end (workload-gen check)."""

import concurrent.futures
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line


def command(model):
    """The command in the file's comments, as arguments."""
    lines = [line[2:] for line in model.read_text().splitlines() if line.startswith("# workload-gen ")]
    return shlex.split(lines[0])[1:] if len(lines) == 1 else None


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], cwd=ROOT, text=True, capture_output=True, timeout=300)
    return f"{done.returncode} {done.stderr}{done.stdout}"


def without_output(arguments):
    if "-o" not in arguments:
        return arguments
    at = arguments.index("-o")
    return arguments[:at] + arguments[at + 2:]


class ShippedModels(unittest.TestCase):
    def test_each_is_generated_and_proven(self):
        models = sorted(path for path in (ROOT / "configs/models").iterdir() if path.suffix in (".yaml", ".sh"))
        self.assertGreater(len(models), 30)

        def check(model):
            arguments = command(model)
            if arguments is None or f"configs/models/{model.name}" not in arguments[:2]:
                return model, "it names no command, or several, or another file's"
            with tempfile.TemporaryDirectory() as out:
                said = run(*without_output(arguments), "--alike-once", "-q", "-o", out)
                return model, said if said != "0 " else run("check", out)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for model, said in pool.map(check, models):
                with self.subTest(model=model.stem):
                    self.assertRegex(said, r"^0 \d+ ranks, \d+ programs of \d+ ops together: no circle, every op is reached; ")


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
