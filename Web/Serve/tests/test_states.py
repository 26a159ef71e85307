"""Tests of every state: how it reads, in both colours and three widths."""

import time

import scenes
from accessible import FAINT
from harness import PageTest

SCENES = {name: getattr(scenes, name) for name in
          ("everything", "one", "empty", "none", "paused", "limited", "away", "outage", "many", "strange")}

WIDTHS = (1280, 768, 390, 320)


class StatesTest(PageTest):
    def test_no_state_is_wider_than_the_screen_and_its_text_can_be_read_in_light_and_in_dark(self):
        for name, scene in SCENES.items():
            self.browser.resize(1280, 900)
            self.open(scene)
            for scheme in ("light", "dark"):
                self.browser.emulate(prefers_color_scheme=scheme)
                self.assertEqual(self.browser.run(FAINT), [], (scheme, name))
            for width in WIDTHS:
                self.resize(width)
                self.assertLessEqual(self.overflow(), 0, (name, width))
            self.fake.away = None

    def test_the_parts_that_open_are_not_wider_either(self):
        for scene in (scenes.everything, scenes.strange):
            self.browser.resize(1280, 900)
            self.open(scene)
            self.press("#dead .toggle")
            self.press("#dead .whole button")
            self.until("document.querySelector('#dead .value') !== null || [...document.querySelectorAll('#dead .whole button')].length > 3")
            self.press("#lines button")
            self.until("document.querySelectorAll('#ended li').length > 0")
            for width in WIDTHS:
                self.resize(width)
                self.assertLessEqual(self.overflow(), 0, width)
                self.assertLessEqual(self.browser.run("return story.scrollWidth - story.clientWidth"), 0, width)
            self.press("#story-acts [data-act=cancel]")
            self.until("ask.open && !document.getElementById('ask-yes').textContent.includes('Counting')")
            for width in WIDTHS:
                self.resize(width)
                self.assertLessEqual(self.browser.run("return ask.scrollWidth - ask.clientWidth"), 0, width)

    def resize(self, width):
        self.browser.resize(width, 844)
        self.until(f"innerWidth === {width}")

    def test_a_store_without_namespaces_says_how_one_is_made(self):
        self.open(scenes.none)
        self.assertEqual(self.text("#none h2"), "No namespaces yet")
        self.assertIn("lull submit --store sqlite:/var/lib/orders/orders.db --namespace orders", self.text("#none pre"))
        self.assertFalse(self.is_shown("#chosen"))
        # The first one appears by itself.
        scenes.one(self.fake)
        self.until_text("#name", "orders")
        self.assertFalse(self.is_shown("#none"))

    def test_an_empty_namespace_is_calm(self):
        self.open(scenes.empty)
        self.assertEqual(self.text("#headline"), "Nothing has run today.")
        self.assertIn("Nothing waits.", self.text("#nothing"))
        self.assertEqual(self.text("#dead-says"), "No run has failed for good.")
        self.until_text("#keys-say", "No key has work.")
        self.assertFalse(self.is_shown("#keys"))
        self.assertFalse(self.is_shown("#keys-acts"))
        self.assertFalse(self.is_shown("#dead-form"))
        self.assertEqual(self.text("#running + .note"), "Nothing runs at the moment.")
        self.assertEqual(self.text("#rates-note"), "Nothing ran in the last 15 minutes.")

    def test_a_server_that_has_just_started_says_since_when_it_counts(self):
        scenes.empty(self.fake)
        self.orders.counted_since = time.time() - 200
        self.open()
        begun = f"since {time.strftime('%H:%M', time.localtime(self.orders.counted_since))}, when this server began to count"
        self.assertEqual(self.text("#rates-note"), f"Nothing has run {begun}.")
        self.assertEqual(self.text("#rates-title"), begun.capitalize())
        self.assertIn(begun, self.browser.run("return document.querySelector('#rates canvas').ariaLabel"))

    def test_a_pause_says_since_when_and_why(self):
        self.open(scenes.paused)
        self.assertRegex(self.text("#paused"), r"^Paused since .*\d\d:\d\d, for 90 min: the billing API is being moved; ask Grace before resuming$")
        self.assertEqual(self.text("#pause"), "Resume …")
        self.fake.act(self.orders, "resume", [], b"")
        self.fake.changed()
        self.until("document.getElementById('paused').hidden")
        self.assertEqual(self.text("#pause"), "Pause …")

    def test_a_limit_says_when_the_next_start_is(self):
        self.open(scenes.limited)
        self.assertRegex(self.text("#limited"), r"^3 keys wait for --limit; the next start is in [\d.]+ s\.$")
        self.orders.next_start, self.orders.limited, self.orders.rules = None, 1, "--wait 2s --max-running 4"
        self.fake.changed()
        self.until_text("#limited", "1 key waits for --max-running 4.")

    def test_a_store_that_is_away_is_said_and_its_figures_are_grey(self):
        self.open(scenes.everything)
        self.assertEqual(self.text("#live"), "Live")
        self.fake.away = "the file is locked"
        self.fake.changed()
        self.until("document.body.classList.contains('stale')")
        self.assertRegex(self.text("#away"), r"^The file is locked\. What is shown is from \d\d:\d\d:\d\d\.$")
        self.assertEqual(self.text("#live"), "The store is away")
        self.assertTrue(self.browser.run("return document.title").startswith("(away) orders"))
        self.assertIn("grayscale", self.browser.run("return getComputedStyle(chosen).filter"))
        # The time line stands still.
        before, after = self.browser.run("""
            const before = lull.looks.now;
            return new Promise((done) => setTimeout(() => done([before, lull.looks.now]), 300));
        """)
        self.assertEqual(before, after)
        self.fake.away = None
        self.fake.changed()
        self.until("!document.body.classList.contains('stale')")
        self.assertFalse(self.is_shown("#away"))

    def test_a_page_that_opens_while_the_store_is_away_shows_the_last_look(self):
        self.open(scenes.away)
        self.assertEqual(self.text("#name"), "orders")
        self.assertIn("The database does not answer", self.text("#away"))
        self.assertGreater(len(self.texts("#lines button")), 5)
