"""Tests what only a browser shows of the site: the search, and how pages fit. SITE is the folder that scripts/site has made."""

import functools
import glob
import http.server
import json
import os
import threading
from urllib.parse import quote, unquote

from accessible import FAINT
from pagetest import BrowserTest

SITE = os.path.abspath(os.environ["SITE"])

ENTER, ESCAPE, DOWN, UP = "\ue007", "\ue00c", "\ue015", "\ue013"
MEMBER = "documentation/lull/debouncer/init(for:maxwait:edges:maxcount:combining:removingduplicates:whilerunning:options:clock:onfailure:fileid:line:handler:)"
KINDS = ["", "docs", "documentation", "documentation/lull", "documentation/lull/gettingstarted", "documentation/lull/debouncer", MEMBER,
         "documentation/lulldurable/durabledebouncer", "documentation/lullpostgres", "documentation/lull/semantics", "playground"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class SiteTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever).start()
        cls.address = f"http://127.0.0.1:{server.server_port}/"
        super().setUpClass()

    def open(self, place):
        path = place if place == "" or place.endswith(".html") else place + "/"
        self.browser.open(self.address + quote(path), ready="document.readyState === 'complete'")

    def search(self, text):
        """Types into the field, and returns the titles of what is found."""
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("/")
        self.assertEqual(self.browser.run("return document.activeElement.type"), "search")
        self.browser.run("document.activeElement.value = ''")
        self.browser.type("#search input", text)
        self.browser.wait("return !document.getElementById('found').hidden")
        return self.browser.run("return [...document.querySelectorAll('#found b')].map((one) => one.textContent)")

    def place(self):
        return unquote(self.browser.run("return location.pathname")).lstrip("/")

    # MARK: - The search

    def test_finds_modules_types_members_articles_and_guides_first(self):
        self.open("")
        first = {"LullRedis": "LullRedis", "debouncer": "Debouncer", "flushandwait": "flushAndWait()",
                 "getting": "Getting started", "keyedthrottler": "KeyedThrottler", "operating": "Operating a store",
                 "changing wait": "Changing the wait"}
        for text, title in first.items():
            with self.subTest(text):
                self.assertEqual(self.search(text)[0], title)

    def test_finds_what_everybody_uses_before_the_rest_and_articles_about_it_first(self):
        self.open("")
        groups = """return [...document.querySelectorAll("#found a")].map((one) => [one.getAttribute("href").split("/").slice(-4, -2).join("/"),
            one.querySelector("i").textContent])"""
        self.assertEqual(self.search("cancel")[0], "cancel(includingRunning:)")
        self.assertIn("Coalescer", self.browser.run(groups)[0])
        self.assertEqual(self.search("throttle")[:2], ["Throttler", "ThrottleOptions"])
        self.assertEqual(self.search("wait")[0], "Choosing the wait")
        found = self.search("debounce")
        self.assertLess(found.index("Testing code that debounces"), found.index("Debouncer"))

    def test_its_excerpts_are_sentences(self):
        with open(os.path.join(SITE, "index.js"), encoding="utf-8") as file:
            entries = json.loads(file.read().strip()[len("lullIndex("):-1])
        for title, _, place, description, _ in entries:
            with self.subTest(place):
                self.assertNotRegex(title, r" [,;)]")
                self.assertNotRegex(description, r"\w [,;)]( |$)")
        told = {place: description for _, _, place, description, _ in entries}
        # Sections that begin with a table, and with code.
        self.assertTrue(told["docs/operating.html#messages"].startswith("Each message is one line"))
        self.assertNotIn("meaning, and what to do", told["docs/operating.html#messages"])
        self.assertNotIn("{", " ".join(told[place] for place in told if place.startswith("docs/firmware")))

    def test_finds_words_of_the_text_and_all_of_several_words(self):
        self.open("")
        self.assertIn("Which store", self.search("valkey"))
        self.assertGreater(len(self.search("lease heartbeat")), 0)
        self.assertEqual(self.search("debouncer zzzz"), [])

    def test_is_used_with_keys_alone_from_a_page_at_any_depth(self):
        for place in ["", "docs/stores.html", MEMBER]:
            with self.subTest(place):
                self.open(place)
                self.search("LullPostgres")
                self.browser.keys(DOWN, UP, ENTER)
                self.browser.wait("return location.pathname.endsWith('/lullpostgres/') && document.readyState === 'complete'")
                self.assertEqual(self.place(), "documentation/lullpostgres/")

    def test_closes_with_escape(self):
        self.open("")
        self.search("lull")
        self.browser.keys(ESCAPE)
        self.assertTrue(self.browser.run("return document.getElementById('found').hidden"))

    def test_names_the_chosen_one_for_readers_of_the_screen(self):
        self.open("")
        self.search("store")
        self.browser.keys(DOWN)
        chosen = self.browser.run("""
            const field = document.querySelector("#search input");
            return [field.getAttribute("aria-expanded"), document.getElementById(field.getAttribute("aria-activedescendant"))
                .getAttribute("aria-selected"), document.querySelectorAll("#found [aria-selected=true]").length];
        """)
        self.assertEqual(chosen, ["true", "true", 1])

    # MARK: - Pages

    def test_fit_a_phone_and_a_wide_screen(self):
        guides = [os.path.relpath(path, SITE) for path in glob.glob(os.path.join(SITE, "docs/*.html"))]
        for width in (390, 1280):
            self.browser.resize(width, 1000)
            for place in [*KINDS, *guides, "CHANGELOG.html"]:
                with self.subTest(place, width=width):
                    self.open(place)
                    self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)

    def test_can_be_read_in_both_colours(self):
        for scheme in ("light", "dark"):
            self.browser.emulate(prefers_color_scheme=scheme)
            for place in KINDS[:-1]:
                with self.subTest(place, scheme=scheme):
                    self.open(place)
                    self.assertEqual(self.browser.run(FAINT), [])

    def test_have_colours_for_code_alone(self):
        self.open("LICENSE.html")
        self.assertEqual(self.browser.run("return document.querySelectorAll('pre span').length"), 0)
        self.open("scripts/firmware.html")
        self.assertGreater(self.browser.run("return document.querySelectorAll('pre .keyword').length"), 0)

    def test_ask_no_other_host(self):
        for place in ["", "docs/stores.html", "documentation/lull", "playground"]:
            self.open(place)
            names = self.browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
            self.assertEqual([name for name in names if not name.startswith((self.address, "data:", "blob:"))], [])
