"""Shared by the tests: paths, and a page that is opened afresh for each test."""

import os
import unittest

from webdriver import Browser

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SCRATCH = os.environ.get("SCRATCH", os.path.join(ROOT, ".build"))
PAGE = os.environ.get("PLAYGROUND", os.path.join(ROOT, "docs/playground/index.html"))


class PageTest(unittest.TestCase):
    """Gives each test a freshly opened page, and fails if the console shows a warning or an error."""

    fragment = ""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.emulate()
        self.browser.resize(1280, 1000)
        self.open(self.fragment)

    def open(self, fragment=""):
        """Opens the page without its demonstration, and with every <details> open."""
        self.browser.open(PAGE, fragment)
        self.browser.run("""
            // What is wrong with the link stays to be read.
            if (document.getElementById("notice").hidden) playground.demo.stop();
            for (const details of document.querySelectorAll("details")) details.open = true;
        """)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
