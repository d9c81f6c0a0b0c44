"""What docs/ and README.md say: the options that --help offers, links that lead somewhere, figures as runs print them.

Usage: documents_test.py BIN
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line
TOOLS = ["workload-gen", "nccl-record", "simccl", "compute-sim", "gpu-profiler", "exec-engine", "collective-perf", "report"]
SCRIPTS = ["run_pipeline.sh", "run_tests.sh", "run_validation.sh", "scripts/setup.sh"]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-zA-Z](?![\w-]))")
# Options that pages name and that are of other people's programs, or of scripts that only tests call.
FOREIGN = {
    "cmake": ["--build", "--preset", "--target"],
    "mpirun": ["--allow-run-as-root", "--bind-to", "--oversubscribe", "--map-by", "--host", "--mca"],
    "protoc": ["--decode"],
    "ASTRA-sim": ["--comm-group-configuration", "--workload-configuration"],
    "Megatron-LM": ["--delay-wgrad-compute", "--overlap-moe-expert-parallel-comm", "--use-nccl-ub"],
    "tests/validation": ["--docs", "--milliseconds", "--ways"],
    "tests/cuda/check_layer_test.py": ["--layer-times", "--limit", "--run"],
    "third_party/nccl/build.sh": ["--full"],
}


def help_of(*command):
    done = subprocess.run([*map(str, command), "--help"], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, command
    return done.stdout


def offered(text):
    """The names of each option that a help text lists: one line, "  -o,--out FILE  ..."."""
    lines = re.findall(r"^ {1,8}((?:-[\w-]+(?:, ?)?)+)(?= |$)", text, re.M)
    return [OPTION.findall(line) for line in lines]


def commands_of(text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    return [name for name in re.findall(r"^  ([a-z][\w-]*)", listed[1], re.M) if name != "help"] if listed else []


def all_helps():
    """(command, its help text)."""
    for tool in TOOLS:
        if tool == "gpu-profiler" and not (BIN / tool).exists():
            continue  # built where nvcc is
        text = help_of(BIN / tool)
        yield tool, text
        for command in commands_of(text):
            yield f"{tool} {command}", help_of(BIN / tool, command)
    for script in SCRIPTS:
        yield script, help_of(ROOT / script)


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {name: offered(text) for name, text in all_helps()}
        cls.documented = {option for page in PAGES for option in OPTION.findall(page.read_text())}

    def test_every_help_lists_options(self):
        for name, options in self.helps.items():
            self.assertIn("--help", {word for names in options for word in names}, name)
        self.assertIn("--iterations", {word for names in self.helps["exec-engine"] for word in names})
        self.assertIn("workload-gen explode", self.helps)

    def test_what_help_offers_is_documented(self):
        missing = [f"{name}: {' or '.join(names)}" for name, options in self.helps.items() for names in options
                   if not set(names) & self.documented]
        self.assertEqual(missing, [])

    def test_what_is_documented_is_offered(self):
        known = {word for options in self.helps.values() for names in options for word in names}
        known |= {option for options in FOREIGN.values() for option in options}
        if "gpu-profiler" not in self.helps:
            known |= {"--cudnn", "--device", "--dtype", "--gpu", "--grid", "--list", "--rows", "--submodules", "--widths"}
        known |= self.megatron()
        said = {(page.name, word) for page in PAGES for quoted in re.findall(r"`[^`\n]*`|^[^`\n]+$", page.read_text(), re.M)
                for word in OPTION.findall(quoted) if word.startswith("--")}
        self.assertEqual(sorted((page, word) for page, word in said if word not in known), [])

    @staticmethod
    def megatron():
        """Megatron's arguments that workload-gen reads stand in its own table."""
        table = "".join(path.read_text() for path in (ROOT / "workload-gen").glob("megatron*.cc")
                        if not path.stem.endswith("_test"))
        return {f"--{name}" for name in re.findall(r'"-?-?([a-z][a-z0-9-]+)"', table)}


class Documents(unittest.TestCase):
    def test_the_first_answer_is_the_one_that_a_run_gives(self):
        """README shows parts of what the golden run prints; "..." stands for the rest."""
        sample = re.search(r"^gpt-22b on .*?(?=^```)", (ROOT / "README.md").read_text(), re.M | re.S)[0]
        golden = (ROOT / "tests/golden/gpt-22b.txt").read_text().splitlines()
        lines = [line for line in sample.splitlines() if line.strip() not in ("", "...")]
        self.assertGreater(len(lines), 10)
        self.assertEqual([line for line in lines if line not in golden], [])

    def test_links_between_pages_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
