"""The puzzle: which wait answers every key in time, with the fewest requests?"""

import itertools
import math

from harness import StageCase


class PuzzleTest(StageCase):
    def test_it_knows_the_fewest_requests(self):
        says = "document.getElementById('puzzle-says').textContent"
        self.browser.wait(f"return {says}.includes('That is more than 400 ms')")
        self.browser.run("for (let time = 0; time < 2; time++) document.getElementById('puzzle-tell').click()")
        self.browser.wait(f"return {says}.includes('There is none with fewer')")
        requests = int(self.browser.run(f"return {says}").split(" ")[0])
        # By another way: whenever a key has no answer yet, the latest possible one is 400 ms after it.
        instants = list(itertools.accumulate(self.browser.run("return playground.puzzle.gaps")))
        answered, fewest = -1, 0
        for at in instants:
            if at > answered:
                answered = at + 400
                fewest += 1
        self.assertEqual(requests, fewest)
        why = self.browser.text("#puzzle-why")
        self.assertIn(f"{fewest} requests: a wait of 400 ms with a longest wait of 400 ms", why)
        self.assertIn(f"The best throttle needs {min(self.throttled(instants, wait) for wait in range(50, 401, 25))} requests", why)

    @staticmethod
    def throttled(instants, interval):
        """Returns how often a throttle on both edges executes."""
        executions, following, is_pending = 0, -math.inf, False
        for at in [*instants, math.inf]:
            if is_pending and following <= at:
                executions += 1
                is_pending = False
                following += interval
            if at >= following and at < math.inf:
                executions += 1
                following = at + interval
            elif at < math.inf:
                is_pending = True
        return executions

    def test_answers_that_are_late_are_red(self):
        red = """
            const picture = document.getElementById("puzzle-picture").innerHTML;
            return [theme.bad, theme.c0].map((colour) => picture.includes(`fill="${colour}"`));
        """
        says = "document.getElementById('puzzle-says').textContent"
        self.browser.wait(f"return {says}.includes('That is more than 400 ms')")
        self.assertTrue(self.browser.run(red)[0])
        self.browser.click("#puzzle-tell")
        self.browser.wait(f"return {says}.includes('There is none with fewer')")
        self.assertEqual(self.browser.run(red), [False, True])
