"""Shared by the tests: a server with states of their own, and the page, opened afresh for each test."""

import time

from fake import Fake
from pagetest import BrowserTest

TAB, ENTER, ESCAPE, SPACE, DOWN, UP, RIGHT, END, HOME = "\ue004", "\ue007", "\ue00c", " ", "\ue015", "\ue013", "\ue014", "\ue010", "\ue011"
# Counts how often the time line is drawn in a second.
FRAMES = """
    return new Promise((done) => {
        let frames = 0;
        const draw = lull.timeline.draw.bind(lull.timeline);
        lull.timeline.draw = () => { frames += 1; draw(); };
        setTimeout(() => { delete lull.timeline.draw; done(frames); }, 1000);
    });
"""


class PageTest(BrowserTest):
    """Gives each test a page on a server of its own."""

    def setUp(self):
        super().setUp()
        self.fake = Fake()
        self.addCleanup(self.fake.close)
        self.browser.resize(1280, 900)

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            self.browser.run("sessionStorage.clear()")
            self.browser.leave()

    def open(self, scene=None, fragment=""):
        """Opens the page, once a scene has been made."""
        if scene:
            scene(self.fake)
        self.browser.open(self.fake.address, fragment)

    @property
    def orders(self):
        return self.fake.namespaces["orders"]

    def text(self, selector):
        """Returns the text that is there, whether or not it is in sight."""
        return self.browser.run("return document.querySelector(arguments[0])?.textContent.replace(/\\s+/g, ' ').trim() ?? null", selector)

    def texts(self, selector):
        return self.browser.run("""
            return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility())
                .map((one) => one.textContent.replace(/\\s+/g, " ").trim());
        """, selector)

    def is_shown(self, selector):
        return self.browser.run("return document.querySelector(arguments[0])?.checkVisibility() ?? false", selector)

    def press(self, selector):
        """Clicks, wherever it is."""
        self.browser.run("document.querySelector(arguments[0]).click()", selector)

    def write(self, selector, text):
        self.browser.run("""
            const field = document.querySelector(arguments[0]);
            field.value = arguments[1];
            field.dispatchEvent(new Event("input", { bubbles: true }));
        """, selector, text)

    def open_key(self, name):
        """Opens the story of a key that has a line."""
        self.browser.run("""
            [...document.querySelectorAll("#lines button")].find((one) => one.querySelector(".name").textContent === arguments[0]).click();
        """, name)
        self.until("document.getElementById('story-says').textContent !== 'Looking …'")

    def until(self, condition, seconds=10):
        """Waits for a condition. One about an element that is not there yet does not hold."""
        script = f"try {{ return {condition}; }} catch (error) {{ if (error instanceof TypeError) return null; throw error; }}"
        return self.browser.wait(script, seconds)

    def until_text(self, selector, part, seconds=10):
        self.browser.wait(f"return (document.querySelector({selector!r})?.textContent ?? '').replace(/\\s+/g, ' ').includes({part!r})", seconds)

    def focused(self):
        return self.browser.run("return document.activeElement.id || document.activeElement.tagName")

    def sent(self, path):
        """Returns the addresses that were asked for under a path."""
        return [address for _, address, _, _ in self.fake.requests if address.startswith(f"/api/{path}")]

    def overflow(self):
        """Returns by how much the page is wider than the screen."""
        return self.browser.run("return document.documentElement.scrollWidth - innerWidth")

    def frames_become(self, is_wanted):
        """Counts the frames of a second, until their number is as wanted."""
        end = time.monotonic() + 20
        while not is_wanted(count := self.browser.run(FRAMES)):
            self.assertLess(time.monotonic(), end, f"{count} frames in a second")

    def asked(self):
        """Waits until the question has its number; returns its title and its answer."""
        self.until("ask.open && !document.getElementById('ask-yes').textContent.includes('Counting')")
        return self.text("#ask-title"), self.text("#ask-yes")

    def answer(self):
        """Says yes, and returns what is said then."""
        self.press("#ask-yes")
        self.until("!ask.open")
        self.assertEqual(self.browser.run("return document.getElementById('said').getAttribute('aria-live')"), "polite")
        return self.text("#said")
