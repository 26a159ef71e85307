"""Tests of every action: that it asks once, with the number of what it changes, does it, and says so."""

import scenes
from harness import ENTER, ESCAPE, PageTest

STORY = "#story-acts [data-act={}]"
# The key that is opened, the button, the question, its answer, what is said then, and what the server is told.
CASES = [
    ("customer/1024", STORY.format("flush"), "Flush customer/1024?", "Flush 1 key", "Flushed 1 key.", "flush", ("key", b"customer/1024")),
    ("draft/7f3a", STORY.format("cancel"), "Cancel draft/7f3a?", "Cancel 1 key", "Cancelled 1 key.", "cancel", ("key", b"draft/7f3a")),
    ("customer/88", STORY.format("touch"), "Touch customer/88", "Touch 1 key", "Touched 1 key.", "touch", ("key", b"customer/88")),
    (None, "#flush", "Flush all keys?", "Flush 9 keys", "Flushed 9 keys.", "flush", ("all", b"1")),
    (None, "#cancel", "Cancel all keys?", "Cancel 9 keys", "Cancelled 9 keys.", "cancel", ("all", b"1")),
    (None, "#retry", "Retry all dead runs?", "Retry 6 dead runs", "Retried 6 dead runs.", "retry", ("all", b"1")),
    (None, "#discard", "Discard all dead runs?", "Discard 6 dead runs", "Discarded 6 dead runs.", "discard", ("all", b"1")),
]


class ActionsTest(PageTest):
    def choose(self, selector, count):
        self.browser.run("""
            [...document.querySelectorAll(arguments[0])].slice(0, arguments[1]).forEach((one) => one.click());
        """, selector, count)

    def test_each_asks_once_with_what_it_changes_and_says_what_it_has_done(self):
        for key, button, title, yes, said, action, chosen in CASES:
            with self.subTest(title):
                self.fake.done.clear()
                self.open(scenes.one)
                self.until("!document.getElementById('keys-acts').hidden")
                if key:
                    self.open_key(key)
                self.press(button)
                self.assertEqual(self.asked(), (title, yes))
                self.assertIn("orders", self.text("#ask"))
                if not key:
                    # What cannot be undone is not a keystroke away.
                    self.assertEqual(self.focused(), "ask-no" if action in ("cancel", "discard") else "ask-yes")
                self.assertEqual(self.fake.done, [])
                self.assertEqual(self.answer(), said)
                self.assertEqual(self.fake.done, [(action, [chosen], b"")])
                if (key, action) == ("draft/7f3a", "cancel"):
                    self.until_text("#story-now", "No work waits under this key.")
                    self.until_text("#ended li", "Cancelled")
                    self.assertIn("23 submits", self.text("#ended li"))

    def test_a_key_that_runs_has_nothing_to_flush(self):
        self.open(scenes.one)
        self.open_key("customer/4711")
        self.press("#story-acts [data-act=flush]")
        self.asked()
        self.assertEqual(self.text("#ask-what"), "There is nothing to flush: what is running is left alone.")
        self.assertFalse(self.is_shown("#ask-yes"))
        self.assertEqual(self.text("#ask-no"), "Close")

    def test_a_value_is_submitted_under_an_open_key_or_a_new_one(self):
        self.open(scenes.one)
        self.open_key("customer/88")
        self.press("#story-acts [data-act=submit]")
        self.assertEqual(self.asked(), ("Submit a value under customer/88", "Submit"))
        self.assertEqual(self.focused(), "ask-value")
        self.write("#ask-value", '{"a": "é"}')
        self.assertEqual(self.answer(), "Submitted 1 value.")
        self.press("#story-close")
        self.press("#submit-value")
        self.write("#ask-key", "new key/ü&=")
        self.write("#ask-value", "1")
        self.assertEqual(self.answer(), "Submitted 1 value.")
        self.assertEqual(self.fake.done, [("submit", [("key", b"customer/88")], '{"a": "é"}'.encode()),
                                          ("submit", [("key", "new key/ü&=".encode())], b"1")])
        self.until_text("#lines", "new key/ü&=")

    def test_selected_keys_are_flushed(self):
        self.open(scenes.one)
        self.until("document.querySelectorAll('#keys .row').length > 5")
        self.choose("#keys .row .check", 3)
        self.until_text("#keys-say", "3 selected")
        self.press("#flush")
        # One of the three runs, and is left alone.
        self.assertEqual(self.asked(), ("Flush 3 keys?", "Flush 2 keys"))
        self.answer()
        self.assertEqual(self.fake.done[0][1], [("key", b"customer/1024"), ("key", b"customer/4711"), ("key", b"customer/88")])
        self.until_text("#keys-say", "10 keys have work")

    def test_hundreds_of_selected_keys_take_several_requests(self):
        self.open(lambda fake: scenes.many(fake, 2000))
        self.until("document.querySelectorAll('#keys .row').length > 5")
        self.browser.run("document.getElementById('keys').focus()")
        for _ in range(4):
            self.browser.keys(*[" ", "\ue015"] * 60)
            # The next page comes as its end comes near.
            self.until("parseInt(document.getElementById('keys-height').style.height) / 36 > parseInt(document.getElementById('keys-say').textContent) + 260")
        self.until_text("#keys-say", "240 selected")
        self.press("#cancel")
        self.assertEqual(self.asked(), ("Cancel 240 keys?", "Cancel 240 keys"))
        self.answer()
        self.assertGreater(len(self.fake.done), 1)
        self.assertEqual(sum(len(query) for _, query, _ in self.fake.done), 240)
        self.assertLess(max(len(address) for _, address, _, _ in self.fake.requests), 4000)
        self.assertEqual(len(self.orders.keys), 1760)

    def test_all_keys_with_a_beginning_are_cancelled(self):
        self.open(scenes.one)
        self.write("#prefix", "customer/")
        self.until_text("#keys-say", "3 keys with this beginning have work")
        self.press("#cancel")
        self.assertEqual(self.asked(), ("Cancel all keys that begin with customer/?", "Cancel 2 keys"))
        self.answer()
        self.assertEqual(self.fake.done[0][1], [("prefix", b"customer/")])
        self.until_text("#keys-say", "1 key with this beginning has work")

    def test_selected_dead_runs_are_discarded_with_what_was_left_out_said(self):
        self.open(scenes.one)
        self.choose("#dead input[type=checkbox]", 3)
        self.assertEqual(self.text("#discard"), "Discard 3 selected …")
        self.press("#discard")
        self.assertEqual(self.asked(), ("Discard 3 dead runs?", "Discard 3 dead runs"))
        self.assertEqual(self.answer(), "Discarded 3 dead runs. 2 dead runs were not retried: their keys have newer values.")
        self.assertEqual(self.fake.done[0][1], [("run", b"20"), ("run", b"21"), ("run", b"22")])
        self.until_text("#dead-says", "3 dead runs")
        self.assertEqual(self.text("#discard"), "Discard all 3 …")

    def test_dead_runs_that_match_are_retried(self):
        self.open(scenes.outage)
        for field, text in (("error", "HTTP 503"), ("age", "1h"), ("prefix", "customer/1")):
            self.write(f"#dead-{field}", text)
        self.until("document.getElementById('dead-says').textContent.includes('match')")
        count = int(self.text("#dead-says").split()[0])
        self.press("#retry")
        self.assertEqual(self.asked(), ("Retry dead runs with “HTTP 503”, of keys that begin with customer/1, older than 1h?",
                                        f"Retry {count} dead runs"))
        self.answer()
        self.assertEqual(self.fake.done[0][1], [("error", b"HTTP 503"), ("prefix", b"customer/1"), ("older-than", b"1h")])
        self.until_text("#dead-says", "No dead run matches.")

    def test_one_dead_run_is_retried_and_one_discarded(self):
        self.open(scenes.one)
        for action, run in (("Retry", 20), ("Discard", 21)):
            self.press("#dead .toggle")
            self.browser.run("""
                [...document.querySelectorAll("#dead .whole button")].find((one) => one.textContent.startsWith(arguments[0])).click();
            """, f"{action} this run")
            title, yes = self.asked()
            self.assertRegex(title, f"^{action} run {run} of customer/")
            self.assertEqual(yes, f"{action} 1 dead run")
            self.answer()
            self.assertEqual(self.fake.done[-1], (action.lower(), [("run", str(run).encode())], b""))
            self.until(f"document.querySelector('#dead [data-id=\"{run}\"]') === null")

    def test_a_namespace_is_paused_with_a_reason_and_resumed(self):
        self.open(scenes.one)
        self.press("#pause")
        self.assertEqual(self.asked(), ("Pause orders", "Pause"))
        self.assertEqual(self.focused(), "ask-reason")
        self.browser.type("#ask-reason", "moving the API")
        self.browser.keys(ENTER)
        self.until("!ask.open")
        self.assertEqual(self.fake.done[-1], ("pause", [("reason", b"moving the API")], b""))
        # Each request that changes something says that it is from the page.
        [(address, fields)] = [(address, fields) for method, address, fields, _ in self.fake.requests if method == "POST"]
        self.assertEqual((address.split("?")[0], fields["Lull-Page"]), ("/api/pause", "1"))
        self.until_text("#paused", "moving the API")
        self.press("#pause")
        self.assertEqual(self.asked(), ("Resume orders", "Resume"))
        self.assertEqual(self.answer(), "Resumed.")
        self.until("document.getElementById('paused').hidden")

    def test_back_and_escape_change_nothing_and_give_the_focus_back(self):
        self.open(scenes.one)
        for leave in (lambda: self.press("#ask-no"), lambda: self.browser.keys(ESCAPE)):
            self.browser.run("retry.focus()")
            self.browser.keys(ENTER)
            self.asked()
            leave()
            self.until("!ask.open")
            self.assertEqual(self.focused(), "retry")
        self.assertEqual(self.fake.done, [])

    def test_a_failure_is_said_where_it_was_asked_and_can_be_repeated(self):
        self.allowed = ["503 (Service", "429 (Too Many"]
        self.open(scenes.one)
        self.press("#retry")
        self.asked()
        self.fake.failing = {"retry": (503, "the store is away: nothing was changed")}
        self.press("#ask-yes")
        self.until_text("#ask-wrong", "the store is away: nothing was changed")
        self.assertTrue(self.browser.run("return ask.open"))
        self.fake.failing = {}
        self.assertEqual(self.answer(), "Retried 6 dead runs.")
        self.press("#said-close")
        self.assertEqual(self.text("#said"), "")
        # Without the number nothing can be done.
        self.fake.failing = {"count": (429, "too many requests")}
        self.press("#flush")
        self.until_text("#ask-wrong", "too many requests")
        self.assertFalse(self.is_shown("#ask-yes"))

    def test_what_was_said_is_heard_over_the_story_on_a_phone(self):
        self.browser.resize(390, 844)
        self.open(scenes.one)
        self.open_key("customer/88")
        self.press("#story-acts [data-act=touch]")
        self.asked()
        self.answer()
        self.assertTrue(self.browser.run("return story.contains(document.getElementById('said'))"))
        self.press("#story-close")
        self.until("!story.contains(document.getElementById('said'))")
