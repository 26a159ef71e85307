"""Tests of the time line: what it draws, how it moves, and what the page has seen of the keys."""

import time

import scenes
from fake import Dead, Key, Run
from harness import ENTER, PageTest

EPISODES = """
    const seen = lull.looks.histories.get("t" + arguments[0]);
    return seen.episodes.map(({ state, count, ticks, due, startedAt, endedAt, id }) =>
        ({ state, count, ticks: ticks.length, due, startedAt, endedAt, id }));
"""

class TimeLineTest(PageTest):
    def look(self, **keys):
        """Makes the store have these keys, and waits until the page has seen it."""
        self.orders.keys = {name.encode(): key for name, key in keys.items()}
        at = time.time()
        self.fake.changed()
        self.browser.wait(f"return lull.looks.look.at >= {at}")

    def episodes(self, key):
        return self.browser.run(EPISODES, key)

    def test_the_first_keys_have_lines_and_the_rest_a_strip(self):
        self.open(scenes.everything, "#namespace=reminders")
        lines = self.texts("#lines button")
        self.assertEqual(len(lines), 20)
        self.assertRegex(lines[0], r"^digest/0001 submit due in \d")
        self.until("picture.getAttribute('aria-label').includes('20 keys in lines, and 120 keys below')")
        self.browser.resize(390, 844)
        self.until("document.querySelectorAll('#lines button:not([hidden])').length === 12")

    def test_it_moves_in_every_frame_unless_nothing_waits_or_it_is_out_of_sight(self):
        self.open(scenes.one)
        self.browser.run("document.getElementById('picture').scrollIntoView()")
        self.frames_become(lambda count: count > 20)
        before = self.text("#lines li:nth-child(5) .state")
        self.browser.wait(f"return document.querySelector('#lines li:nth-child(5) .state').textContent !== {before!r}")
        self.browser.resize(1280, 400)
        self.until("!document.getElementById('keys').hidden")
        self.browser.run("document.getElementById('keys').scrollIntoView({ block: 'start' })")
        self.frames_become(lambda count: count == 0)
        self.browser.resize(1280, 900)
        self.open(scenes.empty)
        self.frames_become(lambda count: count <= 1)

    def test_reduced_motion_draws_one_picture_a_second(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.open(scenes.one)
        self.frames_become(lambda count: count in (1, 2))

    def test_submits_that_come_are_marked_and_the_due_instant_moves(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=1, due=20))
        self.look(lamp=Key(pending=4, due=25))
        [episode] = self.episodes("lamp")
        self.assertEqual((episode["state"], episode["count"], episode["ticks"]), ("pending", 4, 4))
        self.assertAlmostEqual(episode["due"], time.time() + 25, delta=15)
        self.assertIn("4 submits due in 2", self.text("#lines .state"))

    def test_of_what_was_there_before_the_page_the_times_are_those_of_the_store(self):
        self.open(scenes.one)
        at = self.browser.run("return lull.looks.look.at")
        seen = {name: self.episodes(name)[-1] for name in ("draft/7f3a", "warehouse/berlin", "customer/4711", "price-list")}
        first = self.browser.run("return lull.looks.histories.get('tdraft/7f3a').pending.first")
        # Of 23 submits it is known when the first one came.
        self.assertEqual(seen["draft/7f3a"]["ticks"], 1)
        self.assertAlmostEqual(at - first, 48, delta=15)
        self.assertAlmostEqual(at - seen["warehouse/berlin"]["due"], 4.2, delta=15)
        self.assertAlmostEqual(at - seen["customer/4711"]["startedAt"], 6.3, delta=15)
        # It has failed before, and nobody has said when.
        self.assertIsNone(seen["price-list"]["startedAt"])
        self.assertRegex(self.text("#lines li:nth-child(1) .state"), r"^running for \d+(\.\d)? s on ada$")
        self.assertRegex(self.text("#running li"), r"attempt 1, for \d+(\.\d)? s, lease for \d+ s$")
        [ready] = [one for one in self.texts("#lines button") if one.startswith("warehouse/berlin")]
        self.assertRegex(ready, r"has waited \d+(\.\d)? s for a worker$")

    def test_what_is_ready_says_what_it_waits_for(self):
        for scene, line, story in [
                (scenes.one, r"has waited \d+(\.\d)? s for a worker$", "wait for a worker."),
                (scenes.paused, r"paused, ready for \d+(\.\d)? s$", "wait for the end of the pause."),
                (scenes.limited, r"has waited \d+(\.\d)? s for --limit$", "wait for --limit.")]:
            self.open(scene)
            self.until("[...document.querySelectorAll('#lines button')].some((one) => one.textContent.startsWith('warehouse/berlin'))")
            [said] = [one for one in self.texts("#lines button") if one.startswith("warehouse/berlin")]
            self.assertRegex(said, line)
            self.open_key("warehouse/berlin")
            self.until_text("#story-now", story)
        self.orders.next_start = None
        self.fake.changed()
        self.until_text("#story-now", "wait for --max-running.")
        # Another run of the key comes first.
        self.orders.limited = 0
        self.look(lamp=Key(ready=2, ready_age=9, run=Run(7, 3, worker=1)))
        self.open_key("lamp")
        self.until_text("#story-now", "wait for the end of run 7.")

    def test_a_run_takes_over_what_was_pending_and_ends(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=3, due=0.3))
        self.until("lull.looks.now > lull.looks.look.at + 0.4")
        self.look(lamp=Key(run=Run(7, 3, worker=1, lease=30)))
        [episode] = self.episodes("lamp")
        self.assertEqual((episode["state"], episode["id"], episode["count"], episode["ticks"]), ("running", 7, 3, 3))
        self.assertGreaterEqual(episode["startedAt"], episode["due"])
        self.assertRegex(self.text("#lines .state"), r"^running for [\d.]+\s?m?s$")
        self.look()
        [episode] = self.episodes("lamp")
        self.assertEqual(episode["state"], "done")
        self.assertLessEqual(episode["startedAt"], episode["endedAt"])
        self.until_text("#lines .state", "ran ")

    def test_what_is_retried_is_marked_at_its_next_attempt(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.look(lamp=Key(run=Run(7, 3, attempt=1, retry=30, error="no")))
        self.until_text("#lines .state", "retrying in ")
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "done")

    def test_a_run_that_is_dead_has_failed(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.orders.dead.append(Dead(7, b"lamp", "no", age=0))
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "failed")
        self.assertRegex(self.text("#lines .state"), "^failed for good ")

    def test_what_leaves_before_it_is_due_is_not_said_to_have_run(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=2, due=60))
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "gone")
        self.assertEqual(self.text("#lines .state"), "gone before it was due")

    def test_a_newer_value_is_pending_while_an_older_one_runs(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.look(lamp=Key(pending=2, due=20, run=Run(7, 3, worker=1)))
        self.assertEqual([one["state"] for one in self.episodes("lamp")], ["running", "pending"])
        self.assertRegex(self.text("#lines .state"), r"^running; 2 submits due in \d+ s$")

    def test_a_key_keeps_its_line_while_others_come_before_it(self):
        self.open(scenes.empty)
        self.look(b=Key(pending=1, due=30), c=Key(pending=1, due=40))
        self.look(a=Key(pending=1, due=5), b=Key(pending=2, due=50), c=Key(pending=1, due=40))
        self.assertEqual([line[0] for line in self.texts("#lines button")], ["b", "c", "a"])

    def test_the_window_fits_what_is_due_and_can_be_chosen(self):
        self.open(scenes.empty)
        self.assertEqual(self.browser.run("return lull.timeline.span"), 10)
        self.look(lamp=Key(pending=1, due=1000))
        self.assertEqual(self.browser.run("return lull.timeline.span"), 1800)
        self.browser.run("""
            const field = document.getElementById("window");
            field.value = "60";
            field.dispatchEvent(new Event("change"));
        """)
        self.assertEqual(self.browser.run("return lull.timeline.span"), 60)
        self.look(lamp=Key(pending=1, due=1000), other=Key(pending=1, due=5))
        self.assertEqual(self.browser.run("return lull.timeline.span"), 60)

    def test_a_key_opens_with_a_click_on_its_marks_and_with_the_keyboard(self):
        self.open(scenes.one)
        name = self.text("#lines li:nth-child(3) .name")
        self.browser.run("""
            const { left, top } = picture.getBoundingClientRect();
            picture.dispatchEvent(new MouseEvent("click", { clientX: left + 300, clientY: top + 2.5 * 46, bubbles: true }));
        """)
        self.assertEqual(self.text("#story-name"), name)
        self.press("#story-close")
        self.until("!story.open")
        self.browser.run("document.querySelector('#lines li:nth-child(2) button').focus()")
        self.browser.keys(ENTER)
        self.assertEqual(self.text("#story-name"), self.text("#lines li:nth-child(2) .name"))
