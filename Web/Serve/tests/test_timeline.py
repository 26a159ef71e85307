"""Tests of the time line: what it draws, how it moves, and what the page has seen of the keys."""

import time
import unittest

import scenes
from fake import Dead, Key, Run
from harness import ENTER, PageTest

# The colours of a column of the canvas, on a line.
FRAMES = """
    return new Promise((done) => {
        let frames = 0;
        const draw = lull.timeline.draw.bind(lull.timeline);
        lull.timeline.draw = () => { frames += 1; draw(); };
        setTimeout(() => { delete lull.timeline.draw; done(frames); }, 1000);
    });
"""
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

    def test_what_is_due_comes_towards_the_present_in_every_frame(self):
        self.open(scenes.one)
        self.browser.run("document.getElementById('picture').scrollIntoView()")
        self.assertGreater(self.browser.run(FRAMES), 20)
        before = self.text("#lines li:nth-child(5) .state")
        self.browser.wait(f"return document.querySelector('#lines li:nth-child(5) .state').textContent !== {before!r}")

    def test_submits_after_a_long_silence_stand_where_they_came(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=1, due=60), other=Key(pending=1, due=60))
        at = self.browser.run("return lull.looks.look.at")
        self.browser.wait(f"return lull.looks.now > {at} + 1")
        # The server has looked since then, and has said nothing, since nothing was new.
        self.fake.seen = at + 0.9
        self.look(lamp=Key(pending=4, due=60), other=Key(pending=1, due=60), new=Key(pending=2, due=60))
        lamp, new = [self.browser.run(f"return lull.looks.histories.get('t{name}').episodes.at(-1).ticks") for name in ("lamp", "new")]
        self.assertEqual((len(lamp), len(new)), (4, 2))
        self.assertLessEqual(lamp[0], at)
        self.assertGreater(min(lamp[1], new[0]), at + 0.9)

    def test_nothing_is_drawn_that_is_not_in_sight(self):
        self.open(scenes.one)
        self.browser.resize(1280, 400)
        self.until("!document.getElementById('keys').hidden")
        self.browser.run("document.getElementById('keys').scrollIntoView({ block: 'start' })")
        time.sleep(0.3)
        self.assertEqual(self.browser.run(FRAMES), 0)

    def test_reduced_motion_draws_one_picture_a_second(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.open(scenes.one)
        time.sleep(0.5)
        self.assertIn(self.browser.run(FRAMES), (1, 2))

    def test_an_empty_time_line_rests(self):
        self.open(scenes.empty)
        time.sleep(0.3)
        self.assertLessEqual(self.browser.run(FRAMES), 1)

    def test_submits_that_come_are_marked_and_the_due_instant_moves(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=1, due=20))
        self.look(lamp=Key(pending=4, due=25))
        [episode] = self.episodes("lamp")
        self.assertEqual((episode["state"], episode["count"], episode["ticks"]), ("pending", 4, 4))
        self.assertAlmostEqual(episode["due"], time.time() + 25, delta=2)
        self.assertIn("4 submits due in 2", self.text("#lines .state"))

    def test_of_what_was_there_before_the_page_the_times_are_those_of_the_store(self):
        self.open(scenes.one)
        at = self.browser.run("return lull.looks.look.at")
        seen = {name: self.episodes(name)[-1] for name in ("draft/7f3a", "warehouse/berlin", "customer/4711", "price-list")}
        first = self.browser.run("return lull.looks.histories.get('tdraft/7f3a').pending.first")
        # Of 23 submits it is known when the first one came.
        self.assertEqual(seen["draft/7f3a"]["ticks"], 1)
        self.assertAlmostEqual(at - first, 48, delta=5)
        self.assertAlmostEqual(at - seen["warehouse/berlin"]["due"], 4.2, delta=4)
        self.assertAlmostEqual(at - seen["customer/4711"]["startedAt"], 6.3, delta=4)
        # It has failed before, and nobody has said when.
        self.assertIsNone(seen["price-list"]["startedAt"])
        self.assertRegex(self.text("#lines li:nth-child(1) .state"), r"^running for \d+(\.\d)? s on ada$")
        self.assertRegex(self.text("#running li"), r"attempt 1, for \d+(\.\d)? s, lease for 2\d s$")
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
        time.sleep(0.4)
        self.look(lamp=Key(run=Run(7, 3, worker=1, lease=30)))
        [episode] = self.episodes("lamp")
        self.assertEqual((episode["state"], episode["id"], episode["count"], episode["ticks"]), ("running", 7, 3, 3))
        self.assertGreaterEqual(episode["startedAt"], episode["due"])
        self.assertRegex(self.text("#lines .state"), r"^running for [\d.]+\s?m?s$")
        self.look()
        [episode] = self.episodes("lamp")
        self.assertEqual(episode["state"], "done")
        self.assertLessEqual(episode["startedAt"], episode["endedAt"])
        self.until_text("#lines .state", "ran just now")

    def test_submits_lie_before_the_run_that_they_are_behind_and_later_ones_after_it(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=2, due=0.6))
        time.sleep(1.2)
        self.look(lamp=Key(pending=3, due=9, run=Run(7, 4, worker=1)))
        run, pending = self.browser.run("return lull.looks.histories.get('tlamp').episodes.map(({ ticks, due, startedAt }) => [ticks, due, startedAt])")
        self.assertEqual((len(run[0]), len(pending[0])), (4, 3))
        self.assertLessEqual(max(run[0]), run[2])
        self.assertGreaterEqual(min(pending[0]), run[1])

    def test_what_waits_for_a_worker_says_for_how_long(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=2, due=0.2))
        time.sleep(0.3)
        self.look(lamp=Key(ready=2))
        self.assertRegex(self.text("#lines .state"), r"^has waited [\d.]+\sm?s for a worker$")
        self.assertEqual(self.episodes("lamp")[0]["state"], "ready")

    def test_what_is_retried_is_marked_at_its_next_attempt(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.look(lamp=Key(run=Run(7, 3, attempt=1, retry=30, error="no")))
        self.until_text("#lines .state", "retrying in 30 s")
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "done")

    def test_a_run_that_is_dead_has_failed(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.orders.dead.append(Dead(7, b"lamp", "no", age=0))
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "failed")
        self.assertRegex(self.text("#lines .state"), "^failed for good just now$")

    def test_what_leaves_before_it_is_due_is_not_said_to_have_run(self):
        self.open(scenes.empty)
        self.look(lamp=Key(pending=2, due=60))
        self.look()
        self.assertEqual(self.episodes("lamp")[0]["state"], "gone")
        self.assertEqual(self.text("#lines .state"), "gone before it was due")

    def test_a_run_says_on_which_host_it_is(self):
        self.open(scenes.one)
        self.assertRegex(self.text("#lines .state"), r"^running for [\d.]+\sm?s on ada$")

    def test_a_line_that_nothing_needs_is_given_back(self):
        self.open(scenes.empty)
        self.browser.run("lull.timeline.constructor.rest = 0.5; lull.timeline.span = 1")
        self.look(a=Key(pending=1, due=30), b=Key(pending=1, due=40))
        self.look(b=Key(pending=1, due=40))
        self.assertEqual(len(self.texts("#lines li")), 2)
        self.browser.wait("lull.timeline.span = 1; lull.timeline.take(); return document.querySelectorAll('#lines li').length === 1", 60)
        self.assertTrue(self.texts("#lines button")[0].startswith("b"))

    def test_a_newer_value_is_pending_while_an_older_one_runs(self):
        self.open(scenes.empty)
        self.look(lamp=Key(run=Run(7, 3, worker=1)))
        self.look(lamp=Key(pending=2, due=20, run=Run(7, 3, worker=1)))
        self.assertEqual([one["state"] for one in self.episodes("lamp")], ["running", "pending"])
        self.assertRegex(self.text("#lines .state"), "^running; 2 submits due in (20|19) s$")

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

    def test_the_marks_have_the_colours_of_the_playground(self):
        self.open(scenes.one)
        # The bar of a run, below the line, just before the present.
        for scheme, wanted in (("light", [0, 114, 178]), ("dark", [86, 180, 233])):
            self.browser.emulate(prefers_color_scheme=scheme)
            time.sleep(0.3)
            # A copy: a browser complains of a canvas that is read twice.
            colour = self.browser.run("""
                lull.timeline.draw();
                const x = Math.round(picture.width * 0.36) - 3;
                const copy = new OffscreenCanvas(1, 1).getContext("2d");
                copy.drawImage(picture, x, 25 + 10, 1, 1, 0, 0, 1, 1);
                return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
            """)
            self.assertEqual(colour, wanted, scheme)

    def test_a_busy_namespace_goes_on_without_a_complaint(self):
        self.open(scenes.live)
        self.browser.wait("""
            const states = [...lull.looks.histories.values()].flatMap((one) => one.episodes.map(({ state }) => state));
            return ["pending", "running", "done"].every((state) => states.includes(state));
        """, 60)
        self.assertGreater(len(self.texts("#lines button:not([hidden])")), 3)


if __name__ == "__main__":
    unittest.main()
