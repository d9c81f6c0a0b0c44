"""Compares docs/ and README.md with --help, with the output of runs, and with recorded figures.

Usage: documents_test.py BIN [--update]

--update writes docs/reference/commands/ from --help, and the pages that a tool prints from its tables.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/validation")]

import figures  # noqa: E402
import help_texts  # noqa: E402
import rooms  # noqa: E402
import validation_page  # noqa: E402

BIN = None  # from the command line
SCRIPTS = ["run_pipeline.sh", "run_tests.sh", "run_validation.sh", "scripts/setup.sh"]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md",
         *(ROOT / folder / "README.md" for folder in ("patches", "third_party", "tests/fuzz"))]
COLUMNS = 100
OPTION = help_texts.OPTION
# Pages of docs/reference/ -> the command that prints them.
PRINTED = {"model-keys.md": ("workload-gen", "keys", "--markdown"),
           "transport-attributes.md": ("exec-engine", "--transport-attributes")}
# Options in pages that belong to other programs, or to scripts that only tests call.
FOREIGN = {
    "cmake": ["--build", "--install", "--prefix", "--preset", "--target"],
    "mpirun": ["--allow-run-as-root", "--bind-to", "--oversubscribe", "--map-by", "--host", "--mca"],
    "protoc": ["--decode"],
    "sbatch": ["--wrap"],
    "ASTRA-sim": ["--comm-group-configuration", "--workload-configuration"],
    "launchers of ranks": ["--nnodes", "--nproc-per-node"],
    "pip": ["--no-deps", "--python"],
    "programs": ["--layers"],
    "Megatron-LM": ["--delay-wgrad-compute", "--hybrid-attention-ratio", "--hybrid-layer-pattern",
                    "--overlap-moe-expert-parallel-comm", "--spec", "--use-nccl-ub"],
    "tests/validation": ["--bin", "--docs", "--milliseconds", "--ways"],
    "tests/bench": ["--record"],
    "tests/integration/documents_test.py": ["--update"],
    "tests/cuda/check_layer_test.py": ["--layer-times", "--limit", "--run"],
    "tests/oracle": ["--full"],
    "tests/capture/oracle": ["--libraries"],
}


def without_code(text):
    """`text` without its blocks of code."""
    return re.sub(r"^( *)```.*?^ *```", "", text, flags=re.M | re.S)


def prose_of(page):
    """A page without its blocks of code and its comments."""
    return re.sub(r"<!--.*?-->", "", without_code(page.read_text()))


def anchors_of(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = []
    for title in re.findall(r"^#+ (.*)$", without_code(page.read_text()), re.M):
        anchor = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")
        found.append(anchor if anchor not in found else f"{anchor}-{sum(a.startswith(anchor) for a in found)}")
    return found


def all_helps():
    """(name, [(command, help text)]) of every tool and script that exists."""
    yield from help_texts.all_helps(BIN)
    for script in SCRIPTS:
        yield script, [(script, help_texts.help_of(ROOT / script))]


def page_name(tool):
    return ROOT / "docs/reference/commands" / f"{pathlib.Path(tool).stem.replace('_', '-')}.md"


def page_of(helps):
    """The reference page of a tool: what --help prints."""
    first, *rest = helps
    parts = [f"# {first[0]}\n\n```\n{first[1]}\n```\n"]
    return "\n".join(parts + [f"## {name}\n\n```\n{text}\n```\n" for name, text in rest])


def printed(page):
    """Returns the output of the tool of a PRINTED page."""
    tool, *words = PRINTED[page]
    return subprocess.run([BIN / tool, *words], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {name: help_texts.offered(text) for _, helps in all_helps() for name, text in helps}

    def test_every_help_lists_options(self):
        for name, options in self.helps.items():
            self.assertIn("--help", {word for names in options for word in names}, name)
        self.assertIn("--iterations", {word for names in self.helps["exec-engine"] for word in names})
        self.assertIn("workload-gen explode", self.helps)

    def test_the_reference_equals_the_help_texts(self):
        for tool, helps in all_helps():
            self.assertEqual(page_name(tool).read_text(), page_of(helps), f"{tool}: run documents_test.py BIN --update")

    def test_printed_pages_equal_the_output_of_their_tools(self):
        for page in PRINTED:
            self.assertEqual((ROOT / "docs/reference" / page).read_text(), printed(page), f"{page}: run documents_test.py BIN --update")

    def test_documented_options_exist(self):
        known = {word for options in self.helps.values() for names in options for word in names}
        known |= {option for options in FOREIGN.values() for option in options}
        if "gpu-profiler" not in self.helps:
            known |= {"--cudnn", "--device", "--dtype", "--gpu", "--grid", "--list", "--rows", "--submodules", "--widths"}
        known |= self.megatron()
        said = {(page.name, word) for page in PAGES for quoted in re.findall(r"`[^`\n]*`|^[^`\n]+$", re.sub(r"<!--.*?-->", "", page.read_text()), re.M)
                for word in OPTION.findall(quoted) if word.startswith("--")}
        self.assertEqual(sorted((page, word) for page, word in said if word not in known), [])

    @staticmethod
    def megatron():
        """Compares the page with the arguments of Megatron-LM in workload-gen's tables."""
        tables = [ROOT / "workload-gen/job/key_table.cc", *(ROOT / "workload-gen/import/megatron").glob("*.cc")]
        return {word for table in tables for word in re.findall(r"--[a-z][a-z0-9-]+", table.read_text())}


class Documents(unittest.TestCase):
    def test_the_readme_shows_lines_of_the_golden_summary(self):
        """The README shows lines of the golden summary; "..." marks omitted lines."""
        golden = (ROOT / "tests/golden/gpt-22b.txt").read_text().splitlines()
        for page in (ROOT / "README.md",):
            sample = re.search(r"^gpt-22b on .*?(?=^```)", page.read_text(), re.M | re.S)[0]
            lines = [line for line in sample.splitlines() if line.strip() not in ("", "...")]
            self.assertGreater(len(lines), 10)
            self.assertEqual([line for line in lines if line not in golden], [], page.name)

    def test_links_have_targets(self):
        for page in PAGES:
            for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", without_code(page.read_text())):
                there = (page.parent / target).resolve() if target else page
                self.assertTrue(there.exists(), f"{page}: {target}")
                if anchor and there.suffix == ".md":
                    self.assertIn(anchor, anchors_of(there), f"{page}: {target}#{anchor}")

    def test_files_that_pages_name_exist(self):
        path = re.compile(r"`((?:core|workload-gen|simccl|compute-sim|exec-engine|ns3-backend|report|configs|tests|scripts|"
                          r"third_party|patches|docs)/[\w./*-]+)`")
        missing = {(page.name, name) for page in PAGES for name in path.findall(without_code(page.read_text()))
                   if not any(ROOT.glob(name))}
        self.assertEqual(sorted(missing), [])

    def test_pages_that_the_source_names_exist(self):
        # Rows name pages of the repositories that published them.
        rows = [":!tests/validation/training", ":!docs/figures/validation.json", ":!docs/explanation/validation.md"]
        listed = subprocess.run(["git", "grep", "-ohE", r"docs/[a-z/-]+\.md", "--", ".", *rows], cwd=ROOT,
                                stdout=subprocess.PIPE, text=True)
        missing = {name for name in listed.stdout.split() if not (ROOT / name).exists()}
        self.assertEqual(sorted(missing), [])

    def test_prose_wraps_at_100_columns(self):
        """Tables, code, links to pictures and addresses may be longer."""
        long = [f"{page.relative_to(ROOT)}: {line}" for page in PAGES
                if page.name not in PRINTED for line in prose_of(page).splitlines()
                if len(line) > COLUMNS and not re.match(r"\s*(\||!\[|<)", line) and " " in line.strip("- ")]
        self.assertEqual(long, [])

    def test_cells_of_the_readme_are_short(self):
        for line in (ROOT / "README.md").read_text().splitlines():
            for cell in line.split("|") if line.startswith("|") else []:
                self.assertLessEqual(len(cell.split()), 20, cell)

    def test_every_page_is_reached_from_the_index(self):
        seen, waiting = set(), [ROOT / "docs/README.md"]
        while waiting:
            page = waiting.pop()
            if page in seen or page.suffix != ".md":
                continue
            seen.add(page)
            for target in re.findall(r"\]\(([^)#:\s]+)", without_code(page.read_text())):
                waiting.append((page.parent / target).resolve())
        self.assertEqual([page for page in PAGES if ROOT / "docs" in page.parents and page not in seen], [])


class Figures(unittest.TestCase):
    """Pages against the data files that benchmarks and validation wrote."""

    def test_figures_in_pages_equal_the_data_files(self):
        known = figures.read()
        for page in figures.pages():
            text = page.read_text()
            self.assertEqual(figures.quoted(text, known), text, f"{page.name}: run scripts/update_figures")

    def test_the_validation_page_is_made_from_its_data_file(self):
        made = {name.removeprefix("validation."): figure for name, figure in figures.read().items()
                if name.startswith("validation.")}
        self.assertEqual((ROOT / "docs/explanation/validation.md").read_text(), validation_page.page(made))
        self.assertEqual((ROOT / "docs/figures/validation-training.svg").read_text(), validation_page.picture(made))

    def test_the_rooms_equal_those_of_check_layering(self):
        text = (ROOT / "docs/explanation/architecture.md").read_text()
        self.assertIn("<!--rooms-->", text)
        self.assertEqual(rooms.quoted(text, rooms.table()), text, "run scripts/update_figures")

    def test_every_record_names_its_command_and_commit(self):
        for path in (ROOT / "docs/figures").glob("*.json"):
            for record in json.loads(path.read_text())["records"]:
                self.assertRegex(record["commit"], r"^[0-9a-f]{7,}\+?$", path.name)
                self.assertTrue(record["command"], path.name)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2:] == ["--update"]:
        for tool, helps in all_helps():
            page_name(tool).parent.mkdir(exist_ok=True)
            page_name(tool).write_text(page_of(helps))
        for page in PRINTED:
            (ROOT / "docs/reference" / page).write_text(printed(page))
        sys.exit()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
