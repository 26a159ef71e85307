"""Tests that each scene does what its text says, on a clock that the test advances."""

from harness import PageTest

# Of each scene, what is pressed and written and how much time passes, and what it shows then: facts by their names, and the events of a
# list, of which the newest comes first.
CASES = {
    "the stepper sends the device one request": ("stepper", [
        ("press", "[data-do=more]", 7), ("press", "[data-do=less]", 2), ("pass", 999), ("facts", {"sent": "0"}), ("pass", 1),
        ("events", ["set(5), instead of 9 requests"]), ("facts", {"presses": "9", "sent": "1", "saved": "8"})]),
    # The third message is due at 6.5 s; the answer to the first two begins at 3 s, and takes four.
    "three messages get one answer": ("answer", [
        ("press", "[data-do=three]"), ("pass", 8000), ("newest", "The bot is interrupted, and begins again"), ("pass", 4000),
        ("newest", "Bot: an answer to 3 messages"), ("count", "Bot:", 1)]),
    # Due two seconds after that, and answered four later.
    "who is typing gets the answer later": ("answer", [
        ("press", "[data-do=send]"), ("pass", 1500), ("press", "[data-do=typing]"), ("pass", 5999), ("events", ["You: Hello!"]), ("pass", 1),
        ("newest", "Bot: an answer to 1 message")]),
    "stale answers are shown without Lull and not with it": ("search", [
        *[step for length in range(1, 5) for step in (("write", "input", "lull"[:length]), ("pass", 120))], ("pass", 3000),
        ("facts", {"without-asked": "4", "without-answer": "“l”", "with-asked": "1", "with-answer": "“lull”"}),
        ("newest", "got “l”, stale"), ("count", "stale", 0, 1)]),
    "the race can be typed for the reader, who may take over": ("search", [
        ("press", "[data-do=type]"), ("pass", 5000), ("facts", {"without-answer": "“s”", "with-answer": "“swift”"}),
        ("press", "[data-do=type]"), ("pass", 150), ("write", "input", "luck"), ("pass", 5000),
        ("facts", {"without-asked": "8", "with-asked": "2", "with-answer": "“luck”"})]),
    "a newer query cancels the one that is asked": ("search", [
        ("write", "input", "lu"), ("pass", 400), ("write", "input", "lull"), ("pass", 5000),
        ("events", ["got “lull”", "asked for “lull”", "“lu” cancelled", "asked for “lu”"], 1)]),
    "a shorter delay never shortens a longer one": ("delay", [
        ("write", "input", "4"), ("press", "[data-do=submit]"), ("write", "input", "1"), ("press", "[data-do=submit]"), ("pass", 3999),
        ("facts", {"submitted": "2", "executed": "–"}), ("pass", 1), ("facts", {"executed": "2"})]),
    "cancel drops the task": ("delay", [
        ("press", "[data-do=submit]"), ("pass", 1000), ("press", "[data-do=cancel]"), ("pass", 10_000),
        ("facts", {"submitted": "1", "executed": "–", "cancelled": "1"})]),
    "three wrong codes in a row lock": ("passcode", [
        *[step for code, lock in (("1111", "wrong code"), ("2222", "wrong code"), ("3333", "locked"))
          for step in (("pass", 9999), ("enter", code), ("facts", {"lock": lock}))],
        ("enter", "1234"), ("facts", {"lock": "locked"}), ("press", "[data-do=reset]"), ("enter", "1234"), ("facts", {"lock": "open"})]),
    "a pause or the right code resets the count": ("passcode", [
        ("enter", "11112222"), ("pass", 10_000), ("facts", {"memory": "No wrong code is remembered."}), ("enter", "33334444"),
        ("enter", "1234"), ("enter", "1111"), ("facts", {"lock": "wrong code"})]),
    "a hundred notifications are three synchronisations": ("notifications", [
        ("press", "[data-do=burst]"), ("pass", 1200), ("facts", {"accounts": "30", "messages": "60", "settings": "10", "syncs": "0"}),
        ("pass", 2000), ("facts", {"syncs": "3"}), *[("count", f"{kind}: one synchronisation for {count} notifications", 1)
                                                      for kind, count in (("accounts", 30), ("messages", 60), ("settings", 10))]]),
    "a draft is saved in a pause, after ten seconds, and on leaving": ("draft", [
        ("write", "textarea", "a"), ("pass", 2000), ("events", ["saved 1 character after 1 edit: you paused"]),
        *[step for count in range(1, 12) for step in (("write", "textarea", "b" * count), ("pass", 1000))],
        ("newest", "saved 10 characters after 10 edits: ten seconds had passed"), ("press", "[data-do=leave]"),
        ("newest", "saved 11 characters after 1 edit: you left the screen"), ("facts", {"state": "saved"})]),
}


class SceneTest(PageTest):
    def test_each_does_what_its_text_says(self):
        for name, (scene, steps) in CASES.items():
            with self.subTest(name):
                self.open()
                self.browser.run("playground.sceneClock.hold()")
                for verb, *about in steps:
                    self.step(scene, verb, *about)

    def step(self, scene, verb, what, *more):
        if verb == "pass":
            self.browser.run("playground.sceneClock.advance(arguments[0])", what)
        elif verb == "enter":
            for digit in what:
                self.step(scene, "press", f"[data-digit='{digit}']")
        elif verb == "press":
            self.browser.run("""
                const button = document.querySelector(`#scene-${arguments[0]} ${arguments[1]}`);
                for (let time = 0; time < arguments[2]; time++) button.click();
            """, scene, what, *(more or [1]))
        elif verb == "write":
            self.browser.run("""
                const field = document.querySelector(`#scene-${arguments[0]} ${arguments[1]}`);
                field.value = arguments[2];
                field.dispatchEvent(new Event("input"));
            """, scene, what, *more)
        elif verb == "facts":
            shown = "return arguments[1].map((name) => document.querySelector(`#scene-${arguments[0]} [data-fact=${name}]`).textContent)"
            self.assertEqual(dict(zip(what, self.browser.run(shown, scene, list(what)))), what)
        elif verb == "events":
            self.assertEqual(self.events(scene, *more), what)
        elif verb == "newest":
            self.assertEqual(self.events(scene)[0], what)
        else:
            self.assertEqual(sum(what in event for event in self.events(scene, *more[1:])), more[0])

    def events(self, scene, index=0):
        return self.browser.run("""
            const list = document.querySelectorAll(`#scene-${arguments[0]} .events`)[arguments[1]];
            return [...list.children].map((item) => item.textContent);
        """, scene, index)
