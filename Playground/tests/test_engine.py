"""Tests that the engine in the page is that of the package."""

import json
import os
import unittest

from harness import PAGE, ROOT, PageTest


class EngineTest(PageTest):
    def test_every_conformance_case_gives_its_executions(self):
        scenarios = []
        for name in ["scenarios", "spacing"]:
            with open(os.path.join(ROOT, f"Tests/LullReference/{name}.json"), encoding="utf-8") as file:
                scenarios += json.load(file)
        self.assertEqual(len(scenarios), 288)
        with open(os.path.join(ROOT, "Playground/tests/conformance.js"), encoding="utf-8") as file:
            script = file.read()
        self.assertEqual(self.browser.run(script, scenarios), [])
        # The check itself can fail.
        scenarios[0]["expected"][0]["at"] += 1
        self.assertEqual(len(self.browser.run(script, scenarios[:1])), 1)

    def test_a_policy_that_breaks_a_rule_is_refused_in_the_words_of_the_engine(self):
        message = self.browser.run("""
            try {
                new playground.Engine({ kind: "debounce", wait: 300, maxWait: 100, trailing: true });
            } catch (error) { return error.message; }
        """)
        self.assertEqual(message, "the maxWait is 100ms, but must be at least the wait of 300ms")

    def test_the_page_is_small_and_asks_for_nothing_from_the_network(self):
        self.assertLessEqual(os.path.getsize(PAGE), 250_000)
        names = self.browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([name for name in names if not name.startswith(("data:", "blob:"))], [])


if __name__ == "__main__":
    unittest.main()
