"""Shared by the tests: paths, and a page that is opened afresh for each test."""

import os

from pagetest import ROOT, BrowserTest

SCRATCH = os.environ.get("SCRATCH", os.path.join(ROOT, ".build"))
PAGE = os.path.join(SCRATCH, "playground/index.html")


class PageTest(BrowserTest):
    """Gives each test a freshly opened page.

    A class whose part of the page can begin anew has a script for that, its `renewal`: then its tests share a page.
    """

    fragment = ""
    renewal = None
    is_open = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.is_open = False

    def setUp(self):
        super().setUp()
        if self.is_open:
            self.browser.run(self.renewal)
            return
        self.open(self.fragment)
        type(self).is_open = self.renewal is not None

    def open(self, fragment=""):
        """Opens the page without its demonstration, and with every <details> open."""
        self.browser.open(PAGE, fragment)
        self.browser.run("""
            // What is wrong with the link stays to be read.
            if (document.getElementById("notice").hidden) playground.demo.stop();
            for (const details of document.querySelectorAll("details")) details.open = true;
        """)

    def follow(self, fragment):
        """Follows a link of the page that is open, which is wrong; returns what the page says of it."""
        self.browser.run("""
            document.getElementById("notice").textContent = "";
            location.hash = arguments[0];
        """, fragment)
        return self.browser.wait("return document.getElementById('notice').textContent")

    def frame(self):
        """Waits until what has happened is drawn."""
        self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")



class StageCase(PageTest):
    """What the tests of the stage share."""

    def hold(self):
        """Stops the time of the stage: only `advance` moves it."""
        self.browser.run("playground.stage.clock.hold()")

    def advance(self, milliseconds):
        self.browser.run("playground.stage.clock.advance(arguments[0])", milliseconds)

    def play(self, condition):
        """Lets the time of the stage go on, once it is held, until something holds."""
        self.browser.run("""
            const { stage, timeline } = playground;
            const { clock } = stage;
            const end = clock.now + 60_000;
            while (!(%s)) {
                if (clock.now > end) throw new Error("it does not come");
                clock.advance(10);
            }
        """ % condition)

    def executions(self, lane):
        return self.browser.run("""
            return playground.stage.lanes[arguments[0]].executions.map(({ value, count, edge, behind }) =>
                [value, count, edge, behind.length]);
        """, lane)

    def counters(self, lane):
        return self.browser.run("""
            const { counters } = playground.stage.lanes[arguments[0]].coalescer;
            return Object.fromEntries(Object.entries(counters).filter(([, count]) => count));
        """, lane)


class TraceCase(PageTest):
    """What the tests of traces share."""

    def drop(self, text):
        return self.drop_bytes(text.encode())

    def drop_bytes(self, data):
        self.browser.run("""
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(arguments[0])], "mine.jsonl"));
            const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer });
            document.getElementById("drop").dispatchEvent(event);
        """, list(data))
        self.browser.wait("return /\\.$/.test(document.getElementById('tune-status').textContent)")
        return self.browser.text("#tune-status")
