"""What people write instead of Lull, beside it."""

from harness import PageTest

# What is done on how many machines and how slow a server; when the saves of each of the three began and ended, with their values, if that
# says more than the table; the table: saves, lost, stale, doubled, and what the server has; and a part of what is said. One of what is
# the same for all three stands for each.
CASES = {
    "without trouble all three do the same":
        (1, "quick", [[0, "a"], [100, "ab"], [1000, "abc"]], [[400, 500, "ab"], [1300, 1400, "abc"]], "2 0 0 0 “abc”", ""),
    # The loop has taken the value, and is ready at once when its body ends. Lull, too.
    "a slow server lets the task's saves overtake each other":
        (1, "slow", [[0, "a"], [500, "ab"]],
         ([[300, 2500, "a"], [800, 1300, "ab"]], [[300, 2500, "a"], [2500, 3000, "ab"]], [[300, 2500, "a"], [2500, 3000, "ab"]]),
         ("2 0 1 1 “a”", "2 0 0 0 “ab”", "2 0 0 0 “ab”"), "Task.sleep: 1 save began while another ran, 1 of an older draft"),
    "the loop waits anew after its body if more than one value has come":
        (1, "slow", [[0, "a"], [500, "ab"], [600, "abc"]],
         ([[300, 2500, "a"], [900, 1400, "abc"]], [[300, 2500, "a"], [2800, 3300, "abc"]], [[300, 2500, "a"], [2500, 3000, "abc"]]),
         ("2 0 1 1 “a”", "2 0 0 0 “abc”", "2 0 0 0 “abc”"), "saved 300 ms later"),
    "leaving the screen loses what waits, except with Lull":
        (1, "quick", [[0, "a"], [1000, "ab"], [1100, "leave"]], None, ("1 1 0 0 “a”", "1 1 0 0 “a”", "2 0 0 0 “ab”"), "lost 1 edit each"),
    "a kill takes everything from all": (1, "slow", [[0, "a"], [1000, "ab"], [1100, "kill"]], None, "1 2 0 0 nothing", "2 edits, with Lull, too"),
    "a sleeping machine saves when it wakes":
        (1, "quick", [[0, "a"], [100, "sleep"]], [[5100, 5200, "a"]], "1 0 0 0 “a”", "all three save promptly, and nothing is lost"),
    "a key wakes it":
        (1, "quick", [[0, "a"], [100, "sleep"], [2000, "ab"]], [[2000, 2100, "a"], [2300, 2400, "ab"]], "2 0 0 0 “ab”", ""),
    # Each machine has one edit, and knows nothing of the other's.
    "two machines double the saves of all three":
        (2, "quick", [[0, "a"], [100, "ab"]], [[300, 400, "a"], [400, 500, "ab"]], "2 0 0 1 “ab”", "Lull’s saves are doubled, too"),
    "they replace the newer draft when the server is slow": (2, "slow", [[0, "a"], [100, "ab"]], None, "2 0 1 2 “a”", "replaced a newer one"),
    "one that wakes replaces what the other has saved meanwhile":
        (2, "quick", [[0, "a"], [100, "sleep"], [500, "ab"], [700, "abc"]], None, "2 0 1 0 “a”", "Machine A sleeps"),
    "a kill takes one of two machines": (2, "quick", [[0, "a"], [100, "ab"], [200, "kill"]], None, "1 1 0 0 “a”", "machine B’s process"),
}


class BreakTest(PageTest):
    # Another number of machines starts over.
    renewal = """
        const [two, slow, field] = ["two", "slow", "field"].map((name) => document.getElementById(`break-${name}`));
        if (!two.checked) two.click();
        two.click();
        slow.checked = slow.defaultChecked;
        field.value = "";
        scrollTo(0, 0);
    """

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

    def says(self):
        return self.browser.text("#break-says")

    def test_each_does_what_it_does_with_edits_and_incidents(self):
        for name, (machines, server, steps, lanes, rows, says) in CASES.items():
            with self.subTest(name):
                self.browser.run(self.renewal)
                if machines == 2:
                    self.browser.run("document.getElementById('break-two').click()")
                self.slow(server == "slow")
                self.do(*steps)
                if lanes:
                    self.assertEqual(self.lanes(), list(lanes) if isinstance(lanes, tuple) else [lanes] * 3)
                self.assertEqual([" ".join(row) for row in self.rows()], list(rows) if isinstance(rows, tuple) else [rows] * 3)
                self.assertIn(says, self.says())

    def test_what_is_wrong_is_red(self):
        for server, red in (("quick", []), ("slow", ["1", "1", "“a”"])):
            self.slow(server == "slow")
            self.do([0, "a"], [500, "ab"])
            self.assertEqual(self.browser.run("return [...document.querySelectorAll('#break .bad')].map((cell) => cell.textContent)"), red)

    def test_a_slow_server_is_explained_by_what_came_of_it(self):
        self.slow(True)
        self.browser.run("document.getElementById('break-type').click()")
        self.browser.run("playground.breaking.clock.advance(2000)")
        self.assertEqual(self.says(), "")
        self.browser.run("playground.breaking.clock.advance(20_000)")
        self.assertEqual(self.says(), "Task.sleep: 2 saves began while another ran, 1 of an older draft replaced a newer one. Cancelling ends "
                         "the sleep, not a save. debounce(for:) lost nothing here, but saved 300 ms later: it waits anew after a save. Lull ran "
                         "one save at a time, and lost none.")
        # Of a loop that saved the last edit as soon as Lull nothing is said.
        self.do([0, "a"])
        self.assertEqual(self.says(), "Task.sleep: 2 saves began while another ran, 1 of an older draft replaced a newer one. Cancelling ends "
                         "the sleep, not a save. Lull ran one save at a time, and lost none.")

    def test_leaving_the_screen_says_who_loses_what(self):
        self.slow(False)
        self.do([0, "a"], [1000, "ab"], [1100, "abc"], [1150, "leave"])
        self.assertEqual(self.says(), "Task.sleep and debounce(for:) end with the screen, and lost 2 edits each. Lull saves what waits when it ends.")
        # The next edit is on another screen.
        self.do([0, "b"])
        self.assertEqual(self.says(), "")
        self.slow(True)
        # The task has begun its save beside the other; the loop waits for it, and so does Lull.
        self.do([0, "a"], [20_000, "b"], [20_500, "bc"], [21_000, "leave"])
        self.assertEqual([row[1] for row in self.rows()], ["0", "1", "0"])
        self.assertIn("lost 0 and 1 edit. Lull saves what waits", self.says())

    def test_a_kill_says_what_went_and_leads_to_the_stores(self):
        self.slow(True)
        self.do([0, "a"], [1000, "ab"], [1100, "kill"])
        self.assertEqual(self.says(), "kill -9 ended the process, and what it had in memory went with it: 2 edits, with Lull, too. A store "
                         "survives it, and a save that was cut off is done again.")
        self.assertTrue(self.browser.run("return document.querySelector('#break-says a').hash === '#stores'"))
        self.slow(False)
        self.do([0, "a"], [1000, "kill"])
        self.assertIn("nothing was waiting in it: type first", self.says())

    def test_what_is_said_of_an_incident_is_what_the_table_counts(self):
        wrong = self.browser.run("""
            const { breaking } = playground;
            const wrong = [];
            for (const [isTwo, isSlow, does] of [[0, 1, "kill"], [0, 0, "kill"], [0, 1, "leave"], [1, 1, "kill"], [1, 1, "leave"]]) {
                if (document.getElementById("break-two").checked !== Boolean(isTwo)) document.getElementById("break-two").click();
                document.getElementById("break-slow").checked = Boolean(isSlow);
                for (let at = 100; at < 4000; at += 150) {
                    document.getElementById("break-type").click();
                    breaking.clock.advance(at);
                    document.getElementById(`break-${does}`).click();
                    const says = document.getElementById("break-says").textContent;
                    breaking.clock.advance(10_000);
                    const lost = breaking.results().map((result) => result.lost).slice(0, does === "kill" ? 3 : 2);
                    const said = /(?:went with it: |and lost )([^.]*?) edits?\\b/.exec(says)?.[1].match(/\\d+/g).map(Number) ?? [0];
                    if (lost.some((count, index) => count !== (said[index] ?? said[0]))) wrong.push([does, isTwo, isSlow, at, said, lost]);
                }
            }
            return wrong;
        """)
        self.assertEqual(wrong, [])

    def test_an_incident_on_an_empty_stage_says_what_to_do_and_draws_nothing(self):
        for button in ("leave", "kill", "sleep"):
            self.do([0, button])
            self.assertIn("type first, and do it before the 300 ms have passed", self.says(), button)
        self.assertEqual(self.browser.run("return playground.breaking.stage.marks"), [])

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

    def test_it_fits_every_width(self):
        for width in (1280, 768, 390):
            self.browser.resize(width, 900)
            self.do([0, "weather in lisbon"])
            self.assertEqual(self.browser.run("""
                const wide = [...document.querySelectorAll("#break .scroll, #break table")].filter((one) => one.scrollWidth > one.clientWidth + 1);
                return [document.documentElement.scrollWidth, wide.length];
            """), [width, 0], width)
