"""Tests that each scene does what its text says, on a clock that the test advances."""

from harness import PageTest


class SceneTest(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.run("playground.sceneClock.hold()")

    def advance(self, milliseconds):
        self.browser.run("playground.sceneClock.advance(arguments[0])", milliseconds)

    def press(self, scene, what, times=1):
        self.browser.run("""
            const button = document.querySelector(`#scene-${arguments[0]} ${arguments[1]}`);
            for (let time = 0; time < arguments[2]; time++) button.click();
        """, scene, what, times)

    def edit(self, scene, field, text):
        self.browser.run("""
            const field = document.querySelector(`#scene-${arguments[0]} ${arguments[1]}`);
            field.value = arguments[2];
            field.dispatchEvent(new Event("input"));
        """, scene, field, text)

    def fact(self, scene, name):
        return self.browser.run("""
            return document.querySelector(`#scene-${arguments[0]} [data-fact=${arguments[1]}]`).textContent;
        """, scene, name)

    def events(self, scene, index=0):
        return self.browser.run("""
            const list = document.querySelectorAll(`#scene-${arguments[0]} .events`)[arguments[1]];
            return [...list.children].map((item) => item.textContent);
        """, scene, index)

    def test_the_stepper_sends_the_device_one_request(self):
        self.press("stepper", "[data-do=more]", 7)
        self.press("stepper", "[data-do=less]", 2)
        self.advance(999)
        self.assertEqual(self.fact("stepper", "sent"), "0")
        self.advance(1)
        self.assertEqual(self.events("stepper"), ["set(5), instead of 9 requests"])
        self.assertEqual([self.fact("stepper", name) for name in ("presses", "sent", "saved")], ["9", "1", "8"])

    def test_three_messages_get_one_answer(self):
        self.press("answer", "[data-do=three]")
        self.advance(8000)
        # The third message was due at 6.5 s; the answer to the first two began at 3 s, and takes four.
        self.assertEqual(self.events("answer")[0], "The bot is interrupted, and begins again")
        self.advance(4000)
        self.assertEqual(self.events("answer")[0], "Bot: an answer to 3 messages")
        self.assertEqual(sum("Bot:" in event for event in self.events("answer")), 1)

    def test_who_is_typing_gets_the_answer_later(self):
        self.press("answer", "[data-do=send]")
        self.advance(1500)
        self.press("answer", "[data-do=typing]")
        # Due two seconds after that, and answered four later.
        self.advance(5999)
        self.assertEqual(self.events("answer"), ["You: Hello!"])
        self.advance(1)
        self.assertEqual(self.events("answer")[0], "Bot: an answer to 1 message")

    def test_stale_answers_are_shown_without_lull_and_not_with_it(self):
        for query in ("l", "lu", "lul", "lull"):
            self.edit("search", "input", query)
            self.advance(120)
        self.advance(3000)
        self.assertEqual(self.fact("search", "without-asked"), "4")
        self.assertEqual(self.fact("search", "without-answer"), "“l”")
        self.assertEqual(self.events("search", 0)[0], "got “l”, stale")
        self.assertEqual(self.fact("search", "with-asked"), "1")
        self.assertEqual(self.fact("search", "with-answer"), "“lull”")
        self.assertFalse(any("stale" in event for event in self.events("search", 1)))

    def test_the_race_can_be_typed_for_the_reader_who_may_take_over(self):
        self.press("search", "[data-do=type]")
        self.advance(5000)
        self.assertEqual([self.fact("search", f"{side}-answer") for side in ("without", "with")], ["“s”", "“swift”"])
        self.press("search", "[data-do=type]")
        self.advance(150)
        self.edit("search", "input", "luck")
        self.advance(5000)
        self.assertEqual([self.fact("search", f"{side}-asked") for side in ("without", "with")], ["8", "2"])
        self.assertEqual(self.fact("search", "with-answer"), "“luck”")

    def test_a_newer_query_cancels_the_one_that_is_asked(self):
        self.edit("search", "input", "lu")
        self.advance(400)
        self.edit("search", "input", "lull")
        self.advance(5000)
        self.assertEqual(
            self.events("search", 1), ["got “lull”", "asked for “lull”", "“lu” cancelled", "asked for “lu”"])

    def delays(self, seconds):
        self.edit("delay", "input", str(seconds))

    def test_a_shorter_delay_never_shortens_a_longer_one(self):
        self.delays(4)
        self.press("delay", "[data-do=submit]")
        self.delays(1)
        self.press("delay", "[data-do=submit]")
        self.advance(3999)
        self.assertEqual([self.fact("delay", name) for name in ("submitted", "executed")], ["2", "–"])
        self.advance(1)
        self.assertEqual(self.fact("delay", "executed"), "2")

    def test_cancel_drops_the_task(self):
        self.press("delay", "[data-do=submit]")
        self.advance(1000)
        self.assertGreater(self.browser.wait("return document.querySelector('#scene-delay progress').value"), 0)
        self.press("delay", "[data-do=cancel]")
        self.advance(10_000)
        facts = [self.fact("delay", name) for name in ("submitted", "executed", "cancelled")]
        self.assertEqual(facts, ["1", "–", "1"])

    def enter(self, code):
        for digit in code:
            self.press("passcode", f"[data-digit='{digit}']")

    def test_three_wrong_codes_in_a_row_lock(self):
        for code, state in (("1111", "wrong code"), ("2222", "wrong code"), ("3333", "locked")):
            self.advance(9999)
            self.enter(code)
            self.assertEqual(self.fact("passcode", "lock"), state)
        self.enter("1234")
        self.assertEqual(self.fact("passcode", "lock"), "locked")
        self.press("passcode", "[data-do=reset]")
        self.enter("1234")
        self.assertEqual(self.fact("passcode", "lock"), "open")

    def test_a_pause_or_the_right_code_resets_the_count(self):
        self.enter("11112222")
        self.advance(10_000)
        self.assertEqual(self.fact("passcode", "memory"), "No wrong code is remembered.")
        self.enter("33334444")
        self.enter("1234")
        self.enter("1111")
        self.assertEqual(self.fact("passcode", "lock"), "wrong code")

    def test_a_hundred_notifications_are_three_synchronisations(self):
        self.press("notifications", "[data-do=burst]")
        self.advance(1200)
        received = [self.fact("notifications", name) for name in ("accounts", "messages", "settings")]
        self.assertEqual(received, ["30", "60", "10"])
        self.assertEqual(self.fact("notifications", "syncs"), "0")
        self.advance(2000)
        self.assertEqual(self.fact("notifications", "syncs"), "3")
        self.assertEqual(sorted(self.events("notifications")), [
            "accounts: one synchronisation for 30 notifications", "messages: one synchronisation for 60 notifications",
            "settings: one synchronisation for 10 notifications"])

    def test_a_draft_is_saved_in_a_pause_after_ten_seconds_and_on_leaving(self):
        self.edit("draft", "textarea", "a")
        self.advance(2000)
        self.assertEqual(self.events("draft"), ["saved 1 character after 1 edit: you paused"])
        for count in range(11):
            self.edit("draft", "textarea", "b" * (count + 1))
            self.advance(1000)
        self.assertEqual(self.events("draft")[0], "saved 10 characters after 10 edits: ten seconds had passed")
        self.press("draft", "[data-do=leave]")
        self.assertEqual(self.events("draft")[0], "saved 11 characters after 1 edit: you left the screen")
        self.assertEqual(self.fact("draft", "state"), "saved")
