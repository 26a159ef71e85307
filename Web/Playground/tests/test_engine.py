"""Tests that the engine in the page is that of the package."""

import json
import os

from harness import ROOT, StageCase


class EngineTest(StageCase):
    def test_every_conformance_case_gives_its_executions(self):
        scenarios = []
        for name in ["scenarios", "spacing"]:
            with open(os.path.join(ROOT, f"Tests/LullReference/{name}.json"), encoding="utf-8") as file:
                scenarios += json.load(file)
        self.assertEqual(len(scenarios), 294)
        with open(os.path.join(ROOT, "Web/Playground/tests/conformance.js"), encoding="utf-8") as file:
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

    def test_an_execution_has_as_many_submits_behind_it_as_the_engine_counts(self):
        wrong, executions = self.browser.run("""
            let seed = 7;
            const random = (bound) => {
                seed = (seed * 1103515245 + 12345) & 0x7fffffff;
                return (seed >> 8) % bound;
            };
            const any = (...choices) => choices[random(choices.length)];
            const wrong = [];
            let executions = 0;
            for (let trial = 0; trial < 2000; trial++) {
                const isThrottle = random(4) === 0;
                const [leading, trailing] = any([false, true], [true, true], [true, false]);
                const policy = makePolicy(isThrottle ? "throttle" : "debounce", 300, {
                    leading, trailing: trailing || isThrottle, maxWait: isThrottle ? null : any(null, 700),
                    spacing: isThrottle ? null : any(null, 900), combine: any("latest", "first", "collect"),
                    whileRunning: any("queue", "cancel", "restart", "restart", "concurrent", "skip", "skip"), maxConcurrent: any(null, 1),
                });
                if (trailing) policy.maxCount = any(null, 3);
                const clock = new Clock();
                clock.hold(0);
                let coalescer;
                const all = [];
                try {
                    coalescer = new Coalescer(policy, clock, () => ({ takes: any(0, 250, 2000) }), {
                        started: (execution) => all.push(execution),
                    });
                } catch (error) {
                    if (!(error instanceof PolicyError)) throw error;
                    continue;
                }
                for (let call = 0; call < 40; call++) {
                    clock.advance(any(0, 40, 100, 300, 500));
                    const key = any("a", "a", "b");
                    const what = random(12);
                    if (what === 0) coalescer.cancel(any(key, undefined), { running: any(true, false) });
                    else if (what < 4) coalescer.flush(any(key, undefined));
                    else if (what < 5) coalescer.touch(key, { wait: any(null, 500) });
                    else coalescer.submit(call, { key });
                }
                clock.advance(10_000);
                executions += all.length;
                for (const { count, first, behind } of all) {
                    if (behind.length !== count || behind[0].at !== first) wrong.push([policyName(policy), count, behind.length]);
                }
                if (coalescer.runsToCome > 0) wrong.push([policyName(policy), "to come", coalescer.runsToCome]);
                coalescer.dispose();
            }
            return [wrong.slice(0, 5), executions];
        """)
        self.assertEqual(wrong, [])
        self.assertGreater(executions, 10_000)

    def test_values_are_merged_in_their_order(self):
        self.open("#!debounce,300ms,combine=merge")
        self.hold()
        self.browser.run("for (const value of ['a', 'b', 'c']) playground.stage.submit(value)")
        self.advance(1000)
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions[0].value"), "abc")

    def test_the_page_asks_for_nothing_from_the_network(self):
        names = self.browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([name for name in names if not name.startswith(("data:", "blob:"))], [])
