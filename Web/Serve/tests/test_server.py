"""Tests the page's main path on a server: one of `lull serve` that LULL_SERVE is the address of, else the one of these tests.

The server must have a namespace and allow actions, and no worker may take what is submitted. LULL_TOKEN is a token with the role act,
if the server asks for one. What the test submits has keys that begin with `page-test/`, and is gone at its end.
"""

import os
import unittest

import scenes
from harness import ENTER, PageTest


class ServerTest(PageTest):
    # The address of a server that another test has started.
    address = None

    def setUp(self):
        super().setUp()
        if address := self.address or os.environ.get("LULL_SERVE"):
            self.fake.address = address
        else:
            scenes.empty(self.fake)
        if token := os.environ.get("LULL_TOKEN"):
            self.allowed = ["401 (Unauthorized)"]
            self.browser.open(self.fake.address)
            self.browser.type("#token", token)
            self.browser.keys(ENTER)
        else:
            self.open()
        self.until("document.getElementById('live').dataset.state === 'live' && document.getElementById('name').textContent !== ''")

    def do(self, button, done):
        """Presses a button, and says yes to the question; returns what is said."""
        self.press("#said-close")
        self.press(button)
        self.until("ask.open && !document.getElementById('ask-yes').disabled && !document.getElementById('ask-yes').hidden")
        self.press("#ask-yes")
        self.until("document.getElementById('said').textContent !== ''")
        self.assertIn(done, self.text("#said").lower())

    def submit(self, key, value):
        self.press("#said-close")
        self.press("#submit-value")
        self.write("#ask-key", key)
        self.write("#ask-value", value)
        self.press("#ask-yes")
        self.until("document.getElementById('said').textContent !== ''")

    def test_a_value_goes_its_way(self):
        key = "page-test/ü<b>&%"
        for value in ("1", "2", "3"):
            self.submit(key, value)
        self.submit("page-test/other", "x")
        self.write("#prefix", "page-test/")
        self.until_text("#keys-say", "2 keys with this beginning have work")
        self.assertIn(key, self.texts("#keys .row .name"))
        self.browser.run("document.getElementById('keys').focus()")
        self.browser.keys("\ue010", ENTER)
        self.until_text("#story-name", key)
        self.until_text("#story-now", "3 submits")
        self.do("#story-acts [data-act=touch]", "touched")
        self.do("#story-acts [data-act=flush]", "flushed")
        self.until_text("#story-now", "ready")
        self.do("#story-acts [data-act=cancel]", "cancelled")
        self.until_text("#story-now", "No work waits under this key.")
        self.until_text("#ended", "Cancelled")
        self.press("#story-close")
        self.do("#cancel", "cancelled")
        self.until_text("#keys-say", "No key with this beginning has work.")

    def test_a_pause_is_made_and_ended(self):
        self.press("#pause")
        self.write("#ask-reason", "a test of the page")
        self.press("#ask-yes")
        self.until_text("#paused", "a test of the page")
        self.do("#pause", "resumed")
        self.until("document.getElementById('paused').hidden")


if __name__ == "__main__":
    unittest.main()
