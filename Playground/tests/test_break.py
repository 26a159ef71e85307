"""What people write instead of Lull, beside it."""

import unittest

from harness import PageTest


class BreakTest(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.run("playground.breaking.clock.hold()")

    def do(self, *steps):
        """Edits at the given milliseconds; a name instead of a text presses that button."""
        self.browser.run("""
            const { breaking } = playground;
            const start = breaking.clock.now;
            for (const [at, text] of arguments[0]) {
                breaking.clock.advance(start + at - breaking.clock.now);
                const button = document.getElementById(`break-${text}`);
                if (button) { button.click(); continue; }
                const field = document.getElementById("break-field");
                field.value = text;
                field.dispatchEvent(new Event("input"));
            }
            breaking.clock.advance(20_000);
        """, steps)

    def slow(self, is_slow):
        self.browser.run("document.getElementById('break-slow').checked = arguments[0]", is_slow)

    def lanes(self):
        """When each save began and ended, in milliseconds since the first edit, and its value."""
        return self.browser.run("""
            const { lanes, calls } = playground.breaking.stage;
            return lanes.map((lane) => lane.executions.map(({ startedAt, endedAt, value }) =>
                [...[startedAt, endedAt].map((at) => Math.round(at - calls[0].at)), value]));
        """)

    def rows(self):
        return self.browser.run("""
            return [...document.querySelectorAll("#break-table tbody tr")].map((row) =>
                [...row.querySelectorAll("td")].map((cell) => cell.textContent));
        """)

    def test_without_trouble_all_three_do_the_same(self):
        self.slow(False)
        self.do([0, "a"], [100, "ab"], [1000, "abc"])
        self.assertEqual(self.lanes(), [[[400, 500, "ab"], [1300, 1400, "abc"]]] * 3)
        self.assertEqual(self.rows(), [["2", "0", "0", "0", "“abc”"]] * 3)
        self.assertIsNone(self.browser.run("return document.querySelector('#break .bad')?.textContent ?? null"))

    def test_a_slow_server_lets_the_tasks_saves_overtake_each_other(self):
        self.slow(True)
        self.do([0, "a"], [500, "ab"])
        task, loop, lull = self.lanes()
        self.assertEqual(task, [[300, 2500, "a"], [800, 1300, "ab"]])
        # The loop has taken the value, and is ready at once when its body ends. Lull, too.
        self.assertEqual(loop, [[300, 2500, "a"], [2500, 3000, "ab"]])
        self.assertEqual(lull, loop)
        self.assertEqual(self.rows(), [["2", "0", "1", "1", "“a”"], ["2", "0", "0", "0", "“ab”"], ["2", "0", "0", "0", "“ab”"]])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#break .bad')].map((cell) => cell.textContent)"), ["1", "1", "“a”"])

    def test_the_loop_waits_anew_after_its_body_if_more_than_one_value_has_come(self):
        self.slow(True)
        self.do([0, "a"], [500, "ab"], [600, "abc"])
        self.assertEqual(self.lanes()[1:], [
            [[300, 2500, "a"], [2800, 3300, "abc"]], [[300, 2500, "a"], [2500, 3000, "abc"]]])

    def test_leaving_the_screen_loses_what_waits_except_with_lull(self):
        self.slow(False)
        self.do([0, "a"], [1000, "ab"], [1100, "leave"])
        self.assertEqual(self.rows(), [["1", "1", "0", "0", "“a”"], ["1", "1", "0", "0", "“a”"], ["2", "0", "0", "0", "“ab”"]])

    def test_a_save_that_has_begun_goes_on_when_the_screen_is_left(self):
        self.slow(True)
        self.do([0, "a"], [1000, "leave"])
        self.assertEqual(self.lanes(), [[[300, 2500, "a"]]] * 3)

    def test_a_kill_takes_everything_from_all(self):
        self.slow(True)
        self.do([0, "a"], [1000, "ab"], [1100, "kill"])
        self.assertEqual(self.rows(), [["1", "2", "0", "0", "nothing"]] * 3)

    def test_the_next_edit_begins_anew(self):
        self.slow(False)
        for button in ("leave", "kill"):
            self.do([0, "a"], [100, button])
            self.do([0, "b"], [900, "bc"])
            self.assertEqual(self.rows(), [["2", "0", "0", "0", "“bc”"]] * 3)

    def test_random_edits_are_never_lost_stale_or_doubled_with_lull(self):
        self.browser.run("""
            let seed = 46;
            const random = (below) => Math.floor((seed = (seed * 48271) % 2147483647) / 97) % below;
            const { breaking } = playground;
            for (let index = 0; index < 400; index++) {
                document.getElementById("break-slow").checked = random(2) === 1;
                const field = document.getElementById("break-field");
                field.value = `edit ${index}`;
                field.dispatchEvent(new Event("input"));
                breaking.clock.advance(random(5) === 0 ? random(3000) : random(280));
            }
            breaking.clock.advance(20_000);
        """)
        task, loop, lull = self.rows()
        self.assertEqual(lull[1:], ["0", "0", "0", "“edit 399”"])
        self.assertEqual(loop[1:], ["0", "0", "0", "“edit 399”"])
        self.assertGreater(int(task[2]), 5)
        self.assertGreater(int(task[3]), 5)

    def test_it_can_be_typed_for_the_reader(self):
        self.slow(True)
        self.browser.run("""
            document.getElementById("break-type").click();
            playground.breaking.clock.advance(20_000);
        """)
        self.assertEqual([row[4] for row in self.rows()], ["“weather in lisbon”"] * 3)
        self.assertEqual(self.rows()[0], ["3", "0", "1", "2", "“weather in lisbon”"])

    def test_the_code_is_shown(self):
        self.assertIn("Task.sleep(for: .milliseconds(300))", self.browser.text("#break-task"))
        self.assertIn("Debouncer(for: .milliseconds(300))", self.browser.text("#break-lull"))

    def test_it_fits_every_width(self):
        for width in (1280, 768, 390):
            self.browser.resize(width, 900)
            self.do([0, "weather in lisbon"])
            self.assertEqual(self.browser.run("""
                const wide = [...document.querySelectorAll("#break .scroll, #break table")].filter((one) => one.scrollWidth > one.clientWidth + 1);
                return [document.documentElement.scrollWidth, wide.length];
            """), [width, 0], width)


if __name__ == "__main__":
    unittest.main()
