"""What the tests of all pages share: a browser, and a console that says nothing."""

import os
import unittest

from webdriver import Browser

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class BrowserTest(unittest.TestCase):
    """Fails if the console shows a warning or an error."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser.shared()

    def setUp(self):
        # What the console may say, such as the status of a request that is refused on purpose.
        self.allowed = []
        self.browser.emulate()
        self.browser.resize(1280, 1000)

    def tearDown(self):
        self.assertEqual([one for one in self.browser.complaints() if not any(part in one for part in self.allowed)], [])

    def set(self, field, value, event="change"):
        """Writes into a field, as a reader does."""
        self.browser.run("""
            const field = document.getElementById(arguments[0]);
            field.value = arguments[1];
            field.dispatchEvent(new Event(arguments[2], { bubbles: true }));
        """, field, value, event)
