"""report.html in a real browser: headless Chromium draws it, and the test inspects the picture.

Usage: report_page_test.py BIN [--keep FOLDER]      (--keep leaves page and picture there)
Exit status 77 (skipped) where no Chromium is installed.
"""

import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = KEEP = None  # from the command line
BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
WIDTH, HEIGHT, SCALE = 1280, 4600, 0.5  # of the picture; half the size is enough to see colors
# Inserted into a copy of the page, which has no script. Finds text that overflows the page or other text.
MEASURE = r"""<script>
const faults = [], page = document.documentElement.clientWidth;
for (const picture of document.querySelectorAll("svg")) {
  const boxes = [...picture.querySelectorAll(":scope > text")].map(text => [text.getBoundingClientRect(), text.textContent]);
  for (const [box, text] of boxes) if (box.left < 0 || box.right > page) faults.push("outside: " + text);
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [a, one] = boxes[i], [b, other] = boxes[j];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 3) faults.push(one + " over " + other);
  }
}
if (document.documentElement.scrollWidth > page) faults.push("the page is wider than the window");
document.body.insertAdjacentHTML("beforeend", `<pre id="faults">${document.querySelectorAll("svg text").length} texts\n` +
  faults.join("\n").replaceAll("<", "&lt;") + "</pre>");
</script>"""


# Two stages over four hosts: tensor, pipeline and data parallel, so that every kind of link is used.
SMALL = {"cluster.hosts": 4, "parallel.tensor": 8, "parallel.pipeline": 2, "model.layers": 8, "training.micro_batch": 1,
         "training.global_batch": 16}


def make_run(run, settings, cluster="dgx-a100-80g-8"):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    for tool, *arguments in (
        ["workload-gen", "configs/models/gpt-7.5b.yaml", f"configs/clusters/{cluster}.topo", "-o", run, "--alike-once",
         *words],
        ["simccl", run],
        ["compute-sim", run],
        ["exec-engine", run, "--network", "analytical"],
    ):
        subprocess.run([BIN / tool, *arguments, "-q"], cwd=ROOT, check=True, timeout=300)


def browse(*arguments, folder):
    """Returns the output of headless Chromium, which has its profile in a separate folder."""
    return subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
         f"--user-data-dir={folder}/profile", *map(str, arguments)],
        check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240).stdout


def read_png(path):
    """Width and rows of (r, g, b); 8 bits a channel, not interlaced, as Chromium writes them."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and not interlaced
            size = {2: 3, 6: 4}[colour]
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, before, rows = zlib.decompress(packed), bytes(width * size), []
    for y in range(height):
        line = raw[y * (width * size + 1):(y + 1) * (width * size + 1)]
        before = unfilter(line[0], bytearray(line[1:]), before, size)
        rows.append(before)
    return width, size, rows


def unfilter(kind, line, above, size):
    for x in range(len(line)):
        left = line[x - size] if x >= size else 0
        if kind == 1:
            line[x] = line[x] + left & 255
        elif kind == 2:
            line[x] = line[x] + above[x] & 255
        elif kind == 3:
            line[x] = line[x] + (left + above[x]) // 2 & 255
        elif kind == 4:
            corner = above[x - size] if x >= size else 0
            guess = left + above[x] - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above[x]), 1, above[x]), (abs(guess - corner), 2, corner))
            line[x] = line[x] + near[2] & 255
    return bytes(line)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = KEEP or pathlib.Path(tempfile.mkdtemp())
        if not KEEP:
            cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.mkdir(exist_ok=True)
        run, other = cls.folder / "run", cls.folder / "other"
        make_run(run, SMALL)
        make_run(other, {**SMALL, "parallel.tensor": 4})  # so most calls occur in one of the two runs only
        subprocess.run([BIN / "exec-engine", "what-if", run, "-q"], check=True, timeout=300)
        subprocess.run([BIN / "report", run, "--compare", other, "-q"], check=True, timeout=300)
        cls.page = run / "report.html"
        cls.picture = cls.folder / "page.png"
        browse(f"--window-size={WIDTH},{HEIGHT}", f"--force-device-scale-factor={SCALE}", f"--screenshot={cls.picture}",
               cls.page.as_uri(), folder=cls.folder)
        cls.dom = browse("--dump-dom", cls.page.as_uri(), folder=cls.folder)
        cls.width, cls.size, cls.rows = read_png(cls.picture)

    def test_the_browser_repairs_no_element_of_the_page(self):
        """The browser's tree has the elements of the file, so the browser repaired nothing."""
        text = self.page.read_text()
        for tag in ["h2", "h3", "table", "tr", "td", "svg", "path", "rect", "text", "title"]:
            self.assertEqual(len(re.findall(f"<{tag}[ >]", self.dom)), len(re.findall(f"<{tag}[ >]", text)), tag)

    def test_every_section_is_there(self):
        self.assertEqual(re.findall("<h2>(.*?)</h2>", self.dom),
                         ["Where the time goes", "One iteration", "Critical path", "What if", "Communication",
                          "Utilization of links", "Kernels", "Assumptions and counters", "Compared with another run"])
        self.assertEqual(re.findall("<h3>(.*?)</h3>", self.dom),
                         ["Scale-up links of GPUs", "NICs", "The busiest cables"])

    def test_calls_of_one_run_only_have_no_counterpart(self):
        comparison = self.dom[self.dom.index("<h2>Compared with another run"):]
        rows = re.findall(r'<tr><td>(tp all-reduce [^<]*)</td><td class="n">(.*?)</td><td class="n">(.*?)</td><td class="n">(.*?)</td>',
                          comparison)
        self.assertTrue(any(here == "none" and there != "none" for _, here, there, _ in rows), rows)
        self.assertTrue(any(here != "none" and there == "none" for _, here, there, _ in rows), rows)
        for name, here, there, change in rows:
            self.assertEqual(change == "", "none" in (here, there), name)

    def colours(self):
        seen = {}
        for row in self.rows:
            for x in range(0, len(row), self.size):
                colour = row[x:x + 3].hex()
                seen[colour] = seen.get(colour, 0) + 1
        return seen

    def test_the_pictures_are_drawn(self):
        """Pixels of the colours in which compute, the backward pass, dimensions and full links are drawn."""
        self.assertEqual((self.width, len(self.rows)), (WIDTH * SCALE, HEIGHT * SCALE))
        seen = self.colours()
        for what, colour in [("compute", "3f7fbf"), ("backward", "4f9d69"), ("tensor communication", "f28e2b"),
                             ("pipeline communication", "d1495b"), ("a link up to 12.5 %", "fff3c4")]:
            self.assertGreater(seen.get(colour, 0), 100, what)

    def test_no_text_overflows_the_page_or_other_text(self):
        self.assertEqual(faults_of(self.page, self.folder), [])


def faults_of(page, folder):
    """Returns the output of MEASURE in a copy of the page."""
    measured = folder / "measured.html"
    measured.write_text(page.read_text().replace("</body>", MEASURE + "</body>"))
    dom = browse(f"--window-size={WIDTH},{HEIGHT}", "--dump-dom", measured.as_uri(), folder=folder)
    count, *faults = re.findall(r'<pre id="faults">(.*?)</pre>', dom, re.S)[-1].strip().splitlines()
    assert int(count.split()[0]) > 50
    return faults


class LargePage(unittest.TestCase):
    def test_1024_ranks_make_a_page_that_loads(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run = folder / "run"
            make_run(run, {**SMALL, "cluster.hosts": 128, "parallel.pipeline": 4, "training.global_batch": 64},
                     "dgx-h100-8")
            for ranks, most in [([], 200_000), (["--ranks", "0-1023"], 600_000)]:
                subprocess.run([BIN / "report", run, *ranks, "-q"], check=True, timeout=300)
                self.assertLess((run / "report.html").stat().st_size, most)
                self.assertIn("1024 GPUs in 128 hosts", (run / "report.html").read_text())
                self.assertEqual(faults_of(run / "report.html", folder), [])


if __name__ == "__main__":
    if BROWSER is None:
        print("no Chromium here")
        sys.exit(77)
    BIN = pathlib.Path(sys.argv[1]).resolve()
    arguments = sys.argv[2:]
    if arguments[:1] == ["--keep"]:
        KEEP, arguments = pathlib.Path(arguments[1]).resolve(), arguments[2:]
    unittest.main(argv=sys.argv[:1] + arguments)
