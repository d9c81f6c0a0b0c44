"""Every shipped model at full size, with the cluster that it names: workload-gen builds it, NCCL accepts its groups,
workload-gen check proves that every rank's program ends, its calls are planned, and its kernels have times."""

import concurrent.futures
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/validation"))
import training_records

BIN = None  # the folder of the tools; from the command line


def command(model):
    """The command in the file's comments, as arguments."""
    lines = [line[2:] for line in model.read_text().splitlines() if line.startswith("# workload-gen ")]
    return shlex.split(lines[0])[1:] if len(lines) == 1 else None


def run(tool, *arguments):
    done = subprocess.run([BIN / tool, *arguments], cwd=ROOT, text=True, capture_output=True, timeout=300)
    return f"{done.returncode} {done.stderr}{done.stdout}"


def without_output(arguments):
    if "-o" not in arguments:
        return arguments
    at = arguments.index("-o")
    return arguments[:at] + arguments[at + 2:]


def generate_and_prove(arguments, *more):
    """Returns the message of the proof, or of the first tool that prints one."""
    with tempfile.TemporaryDirectory() as out:
        for tool, *words in (["workload-gen", *arguments, "--alike-once", "-o", out], *([tool, out] for tool in more)):
            said = run(tool, *words, "-q")
            if said != "0 ":
                return f"{tool}: {said}"
        return run("workload-gen", "check", out)


class ShippedModels(unittest.TestCase):
    def assert_all_proven(self, said):
        for name, text in said:
            with self.subTest(name):
                self.assertRegex(text, r"^0 \d+ ranks, \d+ programs? of \d+ ops together: no cycle, every op is reached; ")

    # The rows of the validation's tables without those of tiers C and D, which are many and similar.
    def test_each_published_run_is_generated_and_proven(self):
        rows = [row for source in training_records.sources() if training_records.head(source)["tier"] not in "CD"
                for row in training_records.records(source)]
        self.assertGreater(len(rows), 25)

        def check(row):
            settings = [word for setting in row.settings for word in ("--set", setting)]
            return f"{row.source} {row.name}", generate_and_prove([str(row.model), str(row.cluster), *settings])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assert_all_proven(pool.map(check, rows))

    def test_each_is_generated_and_proven(self):
        models = sorted(path for path in (ROOT / "configs/models").iterdir() if path.suffix in (".yaml", ".sh"))
        self.assertGreater(len(models), 30)

        def check(model):
            arguments = command(model)
            if arguments is None or f"configs/models/{model.name}" not in arguments[:2]:
                return model.stem, "it names no command, or several, or another file's"
            return model.stem, generate_and_prove(without_output(arguments), "simccl", "compute-sim")

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assert_all_proven(pool.map(check, models))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
