"""sweep.html in a real browser: Chromium, without a window, opens the page and does what a reader does.

Usage: sweep_page_test.py BIN
Exit status 77 (skipped) where Chromium, its driver or Selenium is not installed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select
except ImportError:
    webdriver = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None  # from the command line


class SweepPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        # Four layouts of which one does not exist, two sizes of which one does not fit.
        subprocess.run(
            [BIN / "drydock-sweep", "gpt-1.7b", "dgx-a100-80g-1", "--network", "analytical", "--set", "training.micro_batch=1",
             "--set", "training.global_batch=16", "--over", "parallel.tensor=1,2,3,4", "--over", "model.layers=4,800",
             "-o", cls.folder], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = webdriver.ChromeOptions()
        for word in ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage"]:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.browser.set_window_size(1200, 1600)
        self.browser.get(f"file://{self.folder}/sweep.html")

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [], "the script of the page complains")

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def test_every_point_is_a_line_a_dot_and_a_row(self):
        self.assertEqual(len(self.all("#parallel path.line")), 3)
        self.assertEqual(len(self.all("#front circle.dot")), 3)
        rows = self.all("#points tbody tr")
        self.assertEqual(len(rows), 8)
        self.assertIn("does NOT fit", " ".join(row.text for row in rows))
        self.assertIn("8 points: 3 done, ", self.one("header").text)

    def test_a_row_opens_its_run(self):
        self.one("#points tbody tr a").click()
        self.assertRegex(self.browser.current_url, r"/points/\w{16}/report\.html$")
        self.assertEqual(self.one("h1").text, "gpt-1.7b on dgx-a100-80g-1")

    def test_dragging_along_an_axis_keeps_what_crosses_it(self):
        axis = self.all("#parallel .brush .overlay")[0]  # tensor: 1 is at the bottom, 4 at the top
        high = axis.size["height"]
        ActionChains(self.browser).move_to_element_with_offset(axis, 0, high // 2 - 2).click_and_hold().move_by_offset(
            0, -high // 4).release().perform()
        self.assertEqual(self.one("#kept").text, "1 of 3 points")
        self.assertEqual(len(self.all("#front circle.dot")), 1)
        pale = [row for row in self.all("#points tbody tr") if "out" in row.get_attribute("class")]
        self.assertEqual(len(pale), 6, "those of another tensor parallelism")
        ActionChains(self.browser).move_to_element_with_offset(self.all("#parallel .brush .overlay")[0], 0, -high // 2 + 8).click().perform()
        self.assertEqual(self.one("#kept").text, "3 of 3 points")

    def test_the_grid_shows_any_two_axes_and_any_metric(self):
        across, down, metric = (Select(each) for each in self.all("#grid select"))
        self.assertEqual([cell.text for cell in self.all("#grid thead th")][1:], ["1", "2", "3", "4"])
        fastest = self.one("#grid td.cell a").text
        metric.select_by_visible_text("memory_gb")
        self.assertNotEqual(self.one("#grid td.cell a").text, fastest)
        across = Select(self.all("#grid select")[0])
        across.select_by_visible_text("model.layers")
        self.assertEqual([cell.text for cell in self.all("#grid thead th")][1:], ["4", "800"])
        self.assertIn("does not fit", [cell.text for cell in self.all("#grid td.why")])

    def test_the_front_has_what_nothing_beats(self):
        best = len(self.all("#front circle.best"))
        self.assertGreaterEqual(best, 1)
        self.assertLessEqual(best, 3)
        across, up = (Select(each) for each in self.all("#front select"))
        across.select_by_visible_text("iteration_s")
        up.select_by_visible_text("tokens_per_s")
        self.assertEqual(len(self.all("#front circle.best")), 1, "the fastest beats all others in both")

    def test_it_reads_well_at_any_width_and_in_the_dark(self):
        for width in [600, 1000, 1400]:
            self.browser.set_window_size(width, 1200)
            self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
        light = self.one("body").value_of_css_property("background-color")
        self.one("#theme").click()
        self.assertNotEqual(self.one("body").value_of_css_property("background-color"), light)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("Chromium, chromedriver or Selenium is not installed")
        sys.exit(77)
    unittest.main(verbosity=2)
