"""Fifteen seconds of typing that are judged."""

import json

from harness import PageTest


class TypingTest(PageTest):
    def type(self, gaps, rest=15000):
        """Types keys with the given milliseconds before each, and lets the fifteen seconds pass."""
        self.browser.run("""
            const { judge } = playground;
            judge.clock.hold();
            const field = document.getElementById("typed");
            for (const gap of arguments[0]) {
                judge.clock.advance(gap);
                field.value += "x";
                field.dispatchEvent(new Event("input"));
            }
            judge.clock.advance(arguments[1]);
        """, gaps, rest)

    def verdict(self):
        self.browser.wait("return !document.getElementById('verdict').hidden")
        return [self.browser.text("#verdict-title"), self.browser.text("#verdict-says")]

    # Ten bursts of eight keys, 100 ms apart, and 700 ms from burst to burst.
    bursts = ([0] + [100] * 7) + ([700] + [100] * 7) * 9

    def test_fifteen_seconds_of_typing_have_a_verdict(self):
        self.type(self.bursts)
        self.assertEqual(self.verdict(), [
            "A wait of 200 ms suits this typing and saves 87.5 %",
            "80 keys, one every 100 ms (median), in 10 bursts of 8 on average: 10 requests instead of 80."
            " A wait of more than 400 ms is felt. Without that bound, 800 ms would save 98.8 %: 9 requests fewer."])
        self.assertEqual(self.browser.run("return document.getElementById('typed').readOnly"), True)

    def test_a_wait_within_the_bound_costs_nothing(self):
        self.type(([0] + [100] * 7) + ([350] + [100] * 7) * 9)
        title, says = self.verdict()
        # Nobody waits for an answer so long.
        self.assertEqual(title, "A wait of 400 ms saves 98.8 %, but sends nothing for 10.6 s")
        self.assertTrue(says.endswith(
            ": 1 request instead of 80. The first answer comes after 10.6 s, as the keys do not pause before. With a longest wait of 2 s it comes "
            "after 2 s, and there are 5 requests."), says)

    def test_typing_that_is_too_slow_for_the_bound_is_told_so(self):
        self.type([0] + [700] * 20)
        title, says = self.verdict()
        self.assertEqual(title, "No wait up to 400 ms saves anything on this typing")
        self.assertIn("Without that bound, 800 ms would save 95.2 %: 20 requests fewer.", says)

    def test_too_little_typing_is_not_judged(self):
        self.type([0] + [200] * 18)
        self.browser.wait("return document.getElementById('typed-says').textContent.startsWith('That was too little')")
        self.assertTrue(self.browser.run("return document.getElementById('verdict').hidden"))
        # And the next try begins from nothing.
        self.type(self.bursts)
        self.assertIn("80 keys", self.verdict()[1])

    def test_the_end_of_a_try_moves_no_focus(self):
        self.browser.run("document.getElementById('typed').focus()")
        self.type([0] + [200] * 5)
        self.browser.wait("return document.getElementById('typed-says').textContent.startsWith('That was too little')")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "typed")
        self.browser.run("document.getElementById('type').focus()")
        self.type(self.bursts)
        said = self.verdict()
        # What is typed on leaves the verdict alone.
        self.browser.run("document.getElementById('typed').focus()")
        self.browser.keys(" ", "\ue007", "x")
        self.assertEqual(self.verdict(), said)
        self.browser.run("document.getElementById('type').focus()")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "type")

    def test_a_link_shows_the_verdict_and_has_no_text(self):
        self.type(self.bursts)
        said = self.verdict()
        link = self.browser.run("return playground.judge.link()")
        self.open(link[link.index("#"):])
        self.assertEqual(self.verdict(), said)
        self.assertLess(len(link), 600)
        self.open("#!typing=nonsense")
        self.assertIn("its typing is damaged", self.browser.text("#notice"))

    def test_a_link_that_is_no_typing_is_refused_and_another_one_can_follow(self):
        follow = """
            const [data, fragment] = arguments;
            const bytes = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate-raw"));
            return new Response(bytes).arrayBuffer().then((packed) => {
                const text = btoa(String.fromCharCode(...new Uint8Array(packed)));
                location.hash = fragment ?? "#!typing=" + text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
            });
        """
        for gaps in ([0] * 30, [-1] * 30, ["1"] * 30, [0.5] * 30, [1] * 200_000, [1000] * 30, [[1]], {}, 7, None):
            self.browser.run(follow, json.dumps(gaps))
            self.browser.wait("return document.getElementById('notice').textContent.includes('typing is damaged')")
            self.browser.run(follow, "", "#!debounce,700ms")
            self.browser.wait("return document.getElementById('notice').hidden")
        self.assertTrue(self.browser.run("return document.getElementById('verdict').hidden"))
        self.browser.run(follow, json.dumps(self.bursts))
        self.assertIn("80 keys", self.verdict()[1])
        self.assertIn("#!typing=", self.browser.run("return location.hash"))

    def test_the_stage_can_show_it(self):
        self.type(self.bursts)
        self.verdict()
        self.browser.click("#typed-stage")
        counts = self.browser.run("return [playground.stage.submits.length, playground.stage.lanes[0].executions.length]")
        self.assertEqual(counts, [80, 10])

    def test_another_try_begins_at_once(self):
        self.type(self.bursts)
        self.verdict()
        self.browser.click("#typed-again")
        self.assertEqual(self.browser.run("return [document.getElementById('verdict').hidden, document.activeElement.id]"), [True, "typed"])
