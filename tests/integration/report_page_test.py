"""report.html in a real browser: Chromium, without a window, opens the page and does what a reader does: sorts, filters,
zooms, pans, points and switches.

Usage: report_page_test.py BIN [--keep FOLDER]      (--keep leaves the page and pictures of it there)
Exit status 77 (skipped) where Chromium, its driver or Selenium is not installed.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.select import Select
except ImportError:
    webdriver = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = KEEP = None  # from the command line
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WIDTHS = [600, 1000, 1400]

# Two stages over four hosts: tensor, pipeline and data parallel, so that every kind of link is used.
SMALL = {"cluster.hosts": 4, "parallel.tensor": 8, "parallel.pipeline": 2, "model.layers": 8, "training.micro_batch": 1,
         "training.global_batch": 16}

# Text that leaves the page, is too small, lies over other text of its picture, or has too little contrast.
FAULTS = r"""
const faults = [], page = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > page) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
for (const picture of document.querySelectorAll("svg")) {
  const boxes = [...picture.querySelectorAll("text")].filter(text => text.textContent).map(text => [text.getBoundingClientRect(), text.textContent]);
  for (const [box, text] of boxes) if (box.left < 0 || box.right > page) faults.push("outside: " + text);
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [a, one] = boxes[i], [b, other] = boxes[j];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 4) faults.push(one + " over " + other);
  }
}
const light = text => {
  const [r, g, b] = text.match(/[\d.]+/g).map(value => value / 255).map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
for (const each of document.querySelectorAll("p, td, th, h1, h2, h3, .tile b, .tile span, .note, label, .bar div")) {
  if (each.getClientRects().length === 0 || !each.textContent.trim()) continue;
  const style = getComputedStyle(each);
  let ground = each;
  while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
  const ratio = contrast(style.color, getComputedStyle(ground || document.body).backgroundColor);
  if (ratio < 4) faults.push(`contrast ${ratio.toFixed(1)}: ${each.className} ${each.textContent.slice(0, 40)}`);
  if (parseFloat(style.fontSize) < 11) faults.push(`small: ${each.textContent.slice(0, 40)}`);
}
return faults;
"""


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


def report(run, *arguments):
    subprocess.run([BIN / "report", run, *map(str, arguments), "-q"], check=True, timeout=300)


def browser(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--user-data-dir={folder}/profile"]:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(DRIVER)
    driver = webdriver.Chrome(service=service, options=options)
    driver.set_page_load_timeout(120)
    return driver


def resize(driver, width, height=1000):
    """Sets the size of the page's window itself, which a window without a screen would bound."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def prefer(driver, theme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})


def screenshot(driver, path):
    resize(driver, driver.execute_script("return innerWidth"), driver.execute_script("return document.body.scrollHeight + 40"))
    time.sleep(0.3)
    driver.save_screenshot(str(path))


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = KEEP or pathlib.Path(tempfile.mkdtemp())
        if not KEEP:
            cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.mkdir(exist_ok=True)
        cls.make_page()
        cls.driver = browser(cls.folder)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        prefer(self.driver, "light")
        resize(self.driver, 1280)
        self.open(self.page)

    def open(self, page):
        self.driver.get(page.as_uri())

    def tearDown(self):
        """No test leaves an error of the script or a breach of the page's security policy."""
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def show(self, element):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        return element

    def click(self, selector):
        self.show(self.find(selector)).click()

    def table(self, heading):
        """The table whose first heading is this."""
        for table in self.find_all("table"):
            if table.find_element(By.CSS_SELECTOR, "th").text.startswith(heading):
                return self.show(table)
        self.fail(f"no table of {heading}")

    def column(self, table, number):
        return self.driver.execute_script(
            "return [...arguments[0].tBodies[0].rows].map(row => row.cells[arguments[1]].dataset.key || row.cells[arguments[1]].textContent)",
            table, number)

    def point(self, element, x, y):
        """Moves the pointer to a place in the element, from its top left corner; returns the tip's text."""
        left, top = self.driver.execute_script("""
          const [element, x, y] = arguments, place = element.getBoundingClientRect();
          scrollBy(0, place.top + y - innerHeight / 2);
          const now = element.getBoundingClientRect();
          return [now.left + x, now.top + y];""", element, x, y)
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": left, "y": top})
        tip = self.find("#tip")
        return tip.text if tip.is_displayed() else ""

    def pixels(self, canvas):
        """A digest of what the canvas shows."""
        return hashlib.sha256(self.driver.execute_script("return arguments[0].toDataURL()", canvas).encode()).hexdigest()

    def notes(self):
        """The time in view of each timeline, as its note says it."""
        return [note.text.split(" · ")[0] for note in self.find_all("#timeline .run > .note")]


class Page(Browser):
    @classmethod
    def make_page(cls):
        run, other = cls.folder / "run", cls.folder / "other"
        make_run(run, SMALL)
        make_run(other, {**SMALL, "parallel.tensor": 4})  # so most calls occur in one of the two runs only
        subprocess.run([BIN / "exec-engine", "what-if", run, "-q"], check=True, timeout=300)
        report(run, "--compare", other)
        cls.page = run / "report.html"

    def test_every_section_is_there(self):
        self.assertEqual([heading.text for heading in self.find_all("h2")],
                         ["Where the time goes", "One iteration", "Compared with the base", "Memory of the fullest rank",
                          "Critical path", "What if", "Communication", "Load of links", "Kernels",
                          "Assumptions and counters"])

    def test_the_page_loads_nothing(self):
        self.assertEqual(self.driver.execute_script("return performance.getEntriesByType('resource').length"), 0)

    def test_a_heading_sorts_the_table_in_both_directions(self):
        table = self.table("kernel")
        each = table.find_elements(By.TAG_NAME, "th")[4]
        before = self.column(table, 4)
        each.click()
        down = list(map(float, self.column(table, 4)))
        self.assertEqual(down, sorted(map(float, before), reverse=True))
        self.assertEqual(each.get_attribute("aria-sort"), "descending")
        each.send_keys(Keys.ENTER)
        self.assertEqual(list(map(float, self.column(table, 4))), down[::-1])
        names = table.find_elements(By.TAG_NAME, "th")[0]
        names.click()
        self.assertEqual(self.column(table, 0)[0], min(self.column(table, 0)))
        self.assertIsNone(each.get_attribute("aria-sort"))

    def test_cells_without_a_value_are_last_in_both_directions(self):
        table = self.table("call, median")
        there = table.find_elements(By.TAG_NAME, "th")[2]
        for _ in range(2):
            there.click()
            values = self.column(table, 2)
            absent = values.count("none")
            self.assertGreater(absent, 0)
            self.assertEqual(values[-absent:], ["none"] * absent)

    def test_the_field_above_filters_the_rows(self):
        table = self.table("kernel")
        tools = table.find_element(By.XPATH, "../preceding-sibling::div[1]")
        field, count = tools.find_element(By.TAG_NAME, "input"), tools.find_element(By.CSS_SELECTOR, ".note")
        everything = len(self.column(table, 0))
        self.assertEqual(count.text, f"{everything} rows")
        field.send_keys("GEMM fp16")
        shown = [row.text for row in table.find_elements(By.CSS_SELECTOR, "tbody tr") if row.is_displayed()]
        self.assertTrue(shown and all("gemm" in text and "fp16" in text for text in shown), shown)
        self.assertLess(len(shown), everything)
        self.assertEqual(count.text, f"{len(shown)} of {everything} rows")

    def test_buttons_zoom_and_pan_both_timelines(self):
        whole = self.notes()
        self.assertEqual(len(whole), 2)
        self.assertEqual(whole[0], whole[1], "both runs show the same time")
        self.assertTrue(whole[0].startswith("0 to "))
        pictures = [self.pixels(canvas) for canvas in self.find_all("#timeline canvas")]
        self.click("#timeline button[title='zoom in']")
        self.click("#timeline button[title='later']")
        later = self.notes()
        self.assertEqual(later[0], later[1])
        self.assertNotEqual(later, whole)
        for before, canvas in zip(pictures, self.find_all("#timeline canvas")):
            self.assertNotEqual(self.pixels(canvas), before)
        self.click("#timeline button[title='show the whole iteration']")
        self.assertEqual(self.notes(), whole)

    def test_the_wheel_zooms_at_the_pointer_and_a_drag_pans(self):
        canvas = self.show(self.find("#timeline canvas"))
        place = "const c = document.querySelector('#timeline canvas'); return view.scale(150, c.clientWidth - 12).invert(600)"
        before = self.driver.execute_script(place)
        box = self.driver.execute_script("const b = arguments[0].getBoundingClientRect(); return [b.left, b.top]", canvas)
        for _ in range(4):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": "mouseWheel", "x": box[0] + 600, "y": box[1] + 60, "deltaX": 0, "deltaY": -240, "modifiers": 2})
        time.sleep(0.3)
        self.assertGreater(self.driver.execute_script("return view.transform.k"), 2)
        length = self.driver.execute_script("return view.length")
        self.assertAlmostEqual(self.driver.execute_script(place), before, delta=length / 500)
        ActionChains(self.driver, duration=50).move_to_element(canvas).click_and_hold().move_by_offset(-200, 0).release().perform()
        self.assertGreater(self.driver.execute_script(place), before)

    def test_keys_zoom_and_pan(self):
        canvas = self.show(self.find("#timeline canvas"))
        canvas.click()
        canvas.send_keys("ww")
        zoomed = self.notes()
        canvas.send_keys("d")
        self.assertNotEqual(self.notes(), zoomed)
        canvas.send_keys("ssss")
        self.assertTrue(self.notes()[0].startswith("0 to "))

    def test_the_tip_names_the_op_under_the_pointer(self):
        lanes = self.driver.execute_script("return runs[0].lanes.map(lane => [lane.rank, lane.stream])")
        canvas = self.find("#timeline canvas")
        tip = self.point(canvas, 500, 8)
        self.assertIn("critical path, on rank", tip)
        self.assertEqual(lanes[0], [0, "compute"])
        tip = self.point(canvas, 500, 15 + 7 + 8)
        self.assertIn("rank 0, stream compute", tip)
        self.assertRegex(tip, r"layer \d+\nmicro-batch \d+\n")
        self.assertEqual(self.point(canvas, 20, 30), "", "no tip over the labels")

    def test_lanes_are_filtered_by_rank_and_stream(self):
        canvas, field = self.find("#timeline canvas"), self.show(self.find("#timeline input[type=search]"))
        height = canvas.size["height"]
        field.send_keys("0 tp")
        self.assertLess(canvas.size["height"], height)
        self.assertIn("rank 0, stream tp", "\n".join(self.point(canvas, x, 8) for x in range(200, 1200, 25)))

    def test_messages_are_drawn_and_can_be_left_out(self):
        note = self.find("#timeline .run > .note")
        self.assertRegex(note.text, r"[1-9]\d* of [1-9]\d* messages")
        canvas = self.find("#timeline canvas")
        before = self.pixels(canvas)
        self.click("#flows")
        self.assertNotEqual(self.pixels(canvas), before)
        self.assertNotIn("messages", note.text)

    def test_the_heat_map_names_the_link_with_peak_and_p99(self):
        canvas = self.show(self.find("#links canvas"))
        tip = self.point(canvas, 700, 27)
        self.assertRegex(tip, r"^rank 0, out of its GPU \([\d.]+ GB/s\)\n")
        self.assertRegex(tip, r"iteration: mean [\d.]+ %, p99 [\d.]+ %, peak [\d.]+ %")
        self.assertRegex(tip, r"[\d.]+ m?s to [\d.]+ m?s:\nmean")
        peak = self.pixels(canvas)
        Select(self.find("#links select[aria-label=show]")).select_by_value("mean")
        self.assertNotEqual(self.pixels(canvas), peak)
        Select(self.find("#links select[aria-label=order]")).select_by_value("peak")
        first = self.point(canvas, 700, 8)
        peaks = self.driver.execute_script("return runs[0].load.flatMap(group => group.rows).map(row => row.whole[2])")
        self.assertEqual(float(re.search(r"peak ([\d.]+) %", first).group(1)), max(peaks) / 10)
        self.find("#links input").send_keys("leaf")
        self.assertIn("leaf", self.point(canvas, 700, 8))

    def test_the_peak_is_at_least_p99_and_the_mean(self):
        rows = self.driver.execute_script("return runs[0].load.flatMap(group => group.rows)")
        self.assertGreater(len(rows), 20)
        for row in rows:
            for mean, p99, peak in zip(row["mean"], row["p99"], row["peak"]):
                self.assertLessEqual(p99, peak)
                self.assertLessEqual(mean, peak)
        self.assertTrue(any(row["whole"][2] > 2 * row["whole"][0] for row in rows), "some link has bursts")

    def test_the_roofline_names_a_kernel_and_hides_those_of_a_bound(self):
        circles = self.find_all("#kernels circle")
        self.assertGreater(len(circles), 10)
        last = self.show(circles[-1])
        ActionChains(self.driver, duration=20).move_to_element(last).perform()
        self.assertRegex(self.find("#tip").text, r"of all kernel time\n")
        bound = self.find("#kernels .tools label")
        self.show(bound).click()
        self.assertLess(len(self.find_all("#kernels circle")), len(circles))
        bound.click()
        self.assertEqual(len(self.find_all("#kernels circle")), len(circles))

    def test_products_lie_below_their_roof(self):
        for name, shape, gpu, flops, size, seconds, *_ in self.driver.execute_script("return runs[0].kernels"):
            roof = self.driver.execute_script("return runs[0].roofs.find(roof => roof.gpu === arguments[0])", gpu)
            self.assertLess(flops / seconds, max(rate for _, rate in roof["rates"]) * 1.001, name + shape)

    def test_memory_follows_the_time_in_view(self):
        curve, reader = self.find("#memory path.curve"), self.find("#memory rect.reader")
        before = curve.get_attribute("d")
        self.assertRegex(self.point(reader, 300, 100), r"^[\d.]+ m?s\nthis run: [\d.]+ GB\nthe base: [\d.]+ GB$")
        self.click("#timeline button[title='zoom in']")
        self.assertNotEqual(self.find("#memory path.curve").get_attribute("d"), before)
        memory = self.driver.execute_script("return runs[0].memory")
        self.assertEqual(max(memory["curve"][1::2]), memory["allocated"])
        self.assertLessEqual(memory["allocated"], memory["needed"])

    def test_every_tile_has_its_change_from_the_base(self):
        for tile in self.find_all(".tile"):
            self.assertRegex(tile.find_element(By.CSS_SELECTOR, ".change").text, r"^[+-][\d.]+ % · base |^base ")
        here, there = self.driver.execute_script("return runs.map(run => run.iteration)")
        shown = float(self.find("#tile-iteration .change").text.split(" %")[0])
        self.assertAlmostEqual(shown, (here / there - 1) * 100, delta=0.01)
        self.assertIn("worse" if here > there else "better", self.find("#tile-iteration .change").get_attribute("class"))

    def test_calls_of_one_run_only_have_no_counterpart(self):
        rows = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
                for row in self.table("call, median").find_elements(By.CSS_SELECTOR, "tbody tr")]
        self.assertTrue(any(here == "none" and there != "none" for _, here, there, _ in rows), rows)
        self.assertTrue(any(here != "none" and there == "none" for _, here, there, _ in rows), rows)
        for name, here, there, change in rows:
            self.assertEqual(change == "", "none" in (here, there), name)

    def ground(self):
        return self.driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    def test_the_theme_is_the_readers_and_the_button_switches_it(self):
        light = self.ground()
        canvas = self.find("#links canvas")
        picture = self.pixels(canvas)
        self.click("#theme")
        self.assertNotEqual(self.ground(), light)
        self.assertNotEqual(self.pixels(canvas), picture, "charts follow")
        prefer(self.driver, "dark")
        self.open(self.page)
        self.assertEqual(self.ground(), "rgb(20, 24, 31)")

    def test_text_is_legible_at_every_width_light_and_dark(self):
        for theme in ["light", "dark"]:
            prefer(self.driver, theme)
            for width in WIDTHS:
                resize(self.driver, width)
                self.open(self.page)
                time.sleep(0.2)
                with self.subTest(theme=theme, width=width):
                    self.assertEqual(self.driver.execute_script(FAULTS), [])
                if KEEP:
                    screenshot(self.driver, KEEP / f"page-{theme}-{width}.png")


class LargePage(Browser):
    @classmethod
    def make_page(cls):
        cls.run_folder = cls.folder / "large"
        make_run(cls.run_folder, {**SMALL, "cluster.hosts": 128, "parallel.pipeline": 4, "training.global_batch": 64},
                 "dgx-h100-8")
        cls.page = cls.run_folder / "report.html"
        report(cls.run_folder)

    def test_1024_ranks_make_a_page_that_loads(self):
        for ranks, most in [([], 3_000_000), (["--ranks", "0-1023"], 4_000_000)]:
            report(self.run_folder, *ranks)
            self.assertLess(self.page.stat().st_size, most)
            self.open(self.page)
            self.assertIn("1024 GPUs in 128 hosts", self.find("header").text)
            self.assertEqual(self.driver.execute_script(FAULTS), [])

    def test_a_drag_shows_more_ranks(self):
        report(self.run_folder, "--ranks", "0-1023")
        self.open(self.page)
        canvas = self.show(self.find("#timeline canvas"))
        self.assertEqual(len(self.driver.execute_script("return [...new Set(runs[0].lanes.map(lane => lane.rank))]")), 32)
        before = self.pixels(canvas)
        ActionChains(self.driver, duration=50).move_to_element(canvas).click_and_hold().move_by_offset(0, -150).release().perform()
        self.assertNotEqual(self.pixels(canvas), before)
        self.assertTrue(self.notes()[0].startswith("0 to "), "the time stays")


del Browser  # it has no tests of its own

if __name__ == "__main__":
    if webdriver is None or BROWSER is None or DRIVER is None:
        print("no Chromium, no chromedriver or no Selenium here")
        sys.exit(77)
    BIN = pathlib.Path(sys.argv[1]).resolve()
    arguments = sys.argv[2:]
    if arguments[:1] == ["--keep"]:
        KEEP, arguments = pathlib.Path(arguments[1]).resolve(), arguments[2:]
    unittest.main(argv=sys.argv[:1] + arguments)
