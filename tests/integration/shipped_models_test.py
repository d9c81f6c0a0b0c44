"""Every shipped model with the cluster that it names: workload-gen builds it and NCCL takes its groups."""

import concurrent.futures
import pathlib
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = None  # from the command line


def command(model):
    """The command in the file's comments, as arguments."""
    lines = [line[2:] for line in model.read_text().splitlines() if line.startswith("# workload-gen ")]
    return shlex.split(lines[0])[1:] if len(lines) == 1 else None


class ShippedModels(unittest.TestCase):
    def test_each_is_generated(self):
        models = sorted(path for path in (ROOT / "configs/models").iterdir() if path.suffix in (".yaml", ".sh"))
        self.assertGreater(len(models), 30)

        def check(model):
            arguments = command(model)
            if arguments is None or f"configs/models/{model.name}" not in arguments[:2]:
                return model, "it names no command, or several, or another file's"
            done = subprocess.run([TOOL, *arguments, "--check", "--alike-once", "-q"], cwd=ROOT, text=True,
                                  capture_output=True, timeout=300)
            return model, f"{done.returncode} {done.stderr}{done.stdout}"

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for model, said in pool.map(check, models):
                with self.subTest(model=model.stem):
                    self.assertEqual(said, "0 ")


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
