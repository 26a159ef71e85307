"""What the tests share: where things lie, and a page that is opened anew for each of them."""

import os
import unittest

from webdriver import Browser

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SCRATCH = os.environ.get("SCRATCH", os.path.join(ROOT, ".build"))
PAGE = os.environ.get("PLAYGROUND", os.path.join(ROOT, "docs/playground/index.html"))


class PageTest(unittest.TestCase):
    """Each test has the page as it is when it is opened, and fails if anything is complained of on the console."""

    fragment = ""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.emulate()
        self.browser.resize(1280, 1000)
        self.browser.open(PAGE, self.fragment)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
