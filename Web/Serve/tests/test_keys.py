"""Tests of the list of keys, and of the story of one."""

import time
from urllib.parse import unquote_to_bytes

import scenes
from fake import Key, Run
from harness import DOWN, END, ENTER, ESCAPE, HOME, TAB, UP, PageTest


class KeysTest(PageTest):
    def enter_list(self):
        self.until("document.querySelectorAll('#keys .row').length > 8")
        self.browser.run("document.getElementById('keys').focus()")

    def read_to_the_end(self, said):
        """Goes to the end again and again, until the list says this."""
        end = time.monotonic() + 20
        while said not in self.text("#keys-say") and time.monotonic() < end:
            self.browser.keys(END)
        self.until_text("#keys-say", said)

    def rows(self):
        return self.browser.run("""
            return [...document.querySelectorAll("#keys .row")].filter((one) => !one.hidden)
                .sort((one, other) => one.getAttribute("aria-posinset") - other.getAttribute("aria-posinset"))
                .map((one) => one.querySelector(".name").textContent);
        """)

    def test_a_key_is_listed_with_the_words_of_the_command(self):
        self.open(scenes.one)
        self.until("document.querySelectorAll('#keys .row').length > 8")
        row = self.browser.run("""
            const row = [...document.querySelectorAll("#keys .row")].find((one) => one.textContent.startsWith("search-index"));
            return [...row.querySelectorAll("span")].map((one) => one.textContent);
        """)
        self.assertEqual(row[:2] + row[3:], ["search-index", "running, pending", "44", "3"])
        self.assertRegex(row[2], r"^\d(\.\d)?\ss$")

    def test_keys_are_found_by_their_beginning(self):
        self.open(lambda fake: scenes.many(fake, 5000))
        self.browser.type("#prefix", "user/0041")
        self.until_text("#keys-say", "100 keys with this beginning have work")
        self.assertEqual(self.rows()[0], "user/004100")
        self.browser.type("#prefix", "x")
        self.until_text("#keys-say", "No key with this beginning has work.")
        # Not a question for each letter.
        self.assertLess(len(self.sent("keys")), 8)

    def test_of_a_hundred_thousand_keys_only_those_in_sight_have_elements(self):
        self.open(scenes.many)
        self.enter_list()
        self.browser.run("""
            const frame = document.getElementById("keys");
            frame.scrollIntoView({ block: "center" });
            return new Promise((done) => {
                let steps = 0;
                const step = () => {
                    frame.scrollTop += 400;
                    if (++steps < 60) requestAnimationFrame(step);
                    else done();
                };
                requestAnimationFrame(step);
            });
        """)
        self.assertGreater(self.browser.run("return document.getElementById('keys').scrollTop"), 10_000)
        self.assertLess(self.browser.run("return document.querySelectorAll('#keys .row').length"), 40)
        self.assertEqual(len(self.rows()), len(set(self.rows())))
        # No page was asked for twice on the way.
        self.assertEqual(len(self.sent("keys")), len(set(self.sent("keys"))))

    def test_the_list_is_used_with_the_keyboard(self):
        self.open(scenes.one)
        self.until("document.querySelectorAll('#keys .row').length > 8")
        self.browser.run("prefix.focus()")
        self.browser.keys(TAB, TAB, TAB)
        self.assertEqual(self.focused(), "keys")
        self.browser.keys(DOWN, DOWN, UP)
        self.until("document.getElementById(keys.getAttribute('aria-activedescendant'))?.textContent.startsWith('customer/4711')")
        self.browser.keys(ENTER)
        self.assertEqual(self.text("#story-name"), "customer/4711")
        self.browser.keys(ESCAPE)
        self.until("!story.open")
        self.assertEqual(self.focused(), "keys")
        self.browser.keys(HOME, " ")
        self.until_text("#keys-say", "1 selected")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#keys [aria-selected=true]').length"), 1)

    def test_what_changes_is_seen_in_the_list(self):
        self.open(scenes.one)
        self.until("document.querySelectorAll('#keys .row').length > 8")
        self.orders.keys[b"aaa"] = Key(pending=1, due=9)
        del self.orders.keys[b"report/weekly"]
        self.browser.run("Keys.fresh = 0")
        self.fake.changed()
        self.until("[...document.querySelectorAll('#keys .row:not([hidden]) .name')].some((one) => one.textContent === 'aaa')")
        self.assertNotIn("report/weekly", self.rows())

    def test_keys_that_come_in_between_leave_no_gap(self):
        self.open(lambda fake: scenes.many(fake, 450))
        self.enter_list()
        self.read_to_the_end("450 keys have work")
        for index in range(5):
            self.orders.keys[f"user/000100-{index}".encode()] = Key(pending=1, due=900)
        self.browser.keys(HOME)
        self.browser.run("Keys.fresh = 0")
        self.fake.changed()
        self.until("document.getElementById('keys-say').textContent.includes('first')")
        self.read_to_the_end("455 keys have work")

    def test_keys_of_any_bytes_are_asked_for_as_they_are(self):
        self.open(scenes.strange)
        for name in self.orders.keys:
            index = sorted(self.orders.keys).index(name)
            self.enter_list()
            self.browser.keys(HOME, *[DOWN] * index, ENTER)
            self.until("document.querySelectorAll('#ended li').length > 0")
            query = self.sent("key?")[-1].split("&key=")[1]
            self.assertEqual(unquote_to_bytes(query), name)
            self.assertNotIn("looking", self.text("#story-says").lower())
            self.press("#story-close")
            self.until("!story.open")

    def test_a_failure_is_said(self):
        self.allowed = ["503 (Service"]
        self.fake.failing = {"keys": (503, "the store is busy")}
        self.open(scenes.one)
        self.until_text("#keys-say", "the store is busy")


class StoryTest(PageTest):
    def test_what_waits_is_said_in_sentences(self):
        self.open(scenes.one)
        said = {
            "customer/4711": r"^Run 61 has been running for [\d.]+ s, attempt 1, with 12 submits, by ada, process 4099; its lease holds for [\d.]+ s\.$",
            "search-index": r"^Run 62 has been running for [\d.]+ s, attempt 3, .*\.3 submits are pending, due in [\d.]+ s\. The first came [\d.]+ s ago\.$",
            "price-list": r"^Run 57 has failed and is tried again in [\d.]+ s: attempt 4, with 19 submits\.HTTP 503 from https",
            "warehouse/berlin": r"^5 submits have been ready for [\d.]+ s and wait for a worker\.$",
            "report/weekly": r"^1 submit is pending, due in 90 min\. It came 30 min ago\.$",
        }
        for key, pattern in said.items():
            self.open_key(key)
            self.until("document.getElementById('story-now').textContent !== ''")
            self.assertRegex(self.text("#story-now"), pattern)

    def test_how_earlier_ones_ended_is_drawn_and_said_newest_first(self):
        self.open(scenes.one)
        self.open_key("customer/4711")
        ended = self.orders.ended[b"customer/4711"]
        items = self.texts("#ended li")
        self.assertEqual(len(items), len(ended))
        for item, end in zip(items, ended):
            self.assertTrue(item.lower().startswith(end["end"]), item)
        failed = [item for item in items if item.startswith("Failed")][0]
        self.assertRegex(failed, r"^Failed \d+ (s|min) ago\d+ submits? became run \d+exit status 1$")
        marks = self.browser.run("return [...document.querySelectorAll('#ended li')].map((one) => one.querySelectorAll('.tick').length)")
        counts = [min(12, end["generations"][1] - end["generations"][0] + 1) for end in ended]
        self.assertEqual(marks, counts)

    def test_a_run_that_ends_while_the_story_is_open_appears_in_it(self):
        self.open(scenes.one)
        self.open_key("customer/4711")
        count = len(self.texts("#ended li"))
        self.orders.keys.pop(b"customer/4711")
        self.orders.end(b"customer/4711", "completed", 12, 61)
        self.fake.changed()
        self.until(f"document.querySelectorAll('#ended li').length === {count + 1}")
        self.until_text("#story-now", "No work waits under this key.")
        self.assertRegex(self.texts("#ended li")[0], r"^Completed .* ago12 submits became run 61$")

    def test_a_key_that_is_not_among_the_nearest_is_told_too(self):
        self.open(lambda fake: scenes.many(fake, 3000))
        far = max(self.orders.keys, key=lambda name: self.orders.keys[name].due).decode()
        self.browser.run("location.hash = arguments[0]", f"namespace=orders&key={far}")
        self.until_text("#story-name", far)
        self.until_text("#story-now", "pending, due in")
        self.orders.keys[far.encode()] = Key(run=Run(9, 4, worker=1))
        self.fake.changed()
        self.until_text("#story-now", "Run 9 has been running for")

    def test_a_key_without_a_past_says_so(self):
        self.open(scenes.empty, "#namespace=orders&key=nothing")
        self.until_text("#story-says", "The store remembers no run of this key.")
        self.assertEqual(self.text("#story-now"), "No work waits under this key.")

    def test_it_lies_beside_the_page_where_there_is_room_and_over_it_elsewhere(self):
        self.open(scenes.one)
        self.open_key("customer/88")
        self.assertFalse(self.browser.run("return story.matches(':modal')"))
        over = self.browser.run("return document.querySelector('.lines').getBoundingClientRect().right - story.getBoundingClientRect().left")
        self.assertLessEqual(over, 0)
        # Another key takes its place.
        self.open_key("price-list")
        self.until_text("#story-name", "price-list")
        self.press("#story-close")
        self.browser.resize(390, 844)
        self.open_key("customer/88")
        self.assertTrue(self.browser.run("return story.matches(':modal')"))
