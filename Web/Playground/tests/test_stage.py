"""The stage: what is done to it, what each policy executes of it, and its trace."""

from harness import StageCase


class StageTest(StageCase):
    def test_clicks_and_keys_and_the_pointer_are_submits(self):
        self.browser.click("#submit")
        self.browser.type("#type", "abc")
        self.assertEqual(
            self.browser.run("return playground.stage.submits.map((submit) => submit.value)"), [1, "a", "ab", "abc"])
        self.browser.run("""
            const event = new PointerEvent("pointermove", { bubbles: true });
            document.getElementById("pointer").dispatchEvent(event);
        """)
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 5)
        # This runs in real time, however long that takes.
        self.browser.wait("return playground.stage.lanes[0].counters.executed === 1")

    def test_a_burst_is_thirty_submits_under_each_policy(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.assertEqual(self.executions(0), [[30, 30, "trailing", 30]])
        self.assertEqual([edge for _, _, edge, _ in self.executions(1)], ["maxWait", "trailing"])
        edges = [edge for _, _, edge, _ in self.executions(2)]
        self.assertEqual(edges, ["leading", "trailing", "trailing", "trailing"])
        for lane in range(3):
            counters = self.counters(lane)
            self.assertTrue(counters["addUp"])
            self.assertEqual(counters["submitted"], 30)
            self.assertEqual(counters["executed"] + counters["superseded"], 30)

    def test_every_outcome_is_counted_and_shown(self):
        self.hold()
        self.browser.run("""
            const { panel } = playground;
            panel.replace({ ...panel.policy, capacity: 2, whileRunning: "skip" });
        """)
        self.set("takes", "1s")
        self.set("throws", "third")
        self.set("key", "*")
        for _ in range(3):
            self.browser.click("#submit")                   # the third key is over capacity
        self.advance(300)
        self.browser.click("#cancel")
        self.set("key", "A")
        self.browser.click("#submit")
        self.advance(300)                                   # A is still running, so this one is skipped
        self.browser.click("#submit")
        self.browser.click("#cancel")
        self.advance(1000)
        self.browser.click("#submit")
        self.browser.click("#submit")
        self.advance(300)
        self.browser.click("#shut-down")
        self.browser.click("#submit")
        self.advance(5000)
        counters = self.counters(0)
        names = ("submitted", "executed", "absorbed", "cancelled", "superseded", "failed", "rejected")
        self.assertEqual(
            {name: counters.get(name) for name in names},
            {"submitted": 8, "executed": 2, "absorbed": 1, "cancelled": 1, "superseded": 1, "failed": 1, "rejected": 2})
        self.browser.wait("return document.querySelector('#counters td[data-count=rejected]').textContent === '2'")
        row = self.browser.run("""
            const row = document.querySelector("#counters tbody tr");
            const cells = [...row.querySelectorAll("td")];
            return Object.fromEntries(cells.map((cell) => [cell.dataset.count, cell.textContent]));
        """)
        self.assertEqual(row["addUp"], "✓")
        outcomes = ("executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "pending", "running")
        self.assertEqual(int(row["submitted"]), sum(int(row[name]) for name in outcomes))

    def test_a_release_ends_what_is_pending_as_each_policy_says(self):
        self.hold()
        self.open("#!debounce,1s&debounce,1s,at-end=flush&debounce,1s,at-end=drop")
        self.hold()
        self.browser.click("#submit")
        self.browser.click("#gone")
        self.advance(2000)
        self.assertEqual([self.executions(lane) for lane in range(3)],
                         [[[1, 1, "trailing", 1]], [[1, 1, "flush", 1]], []])
        self.browser.click("#submit")
        self.assertEqual(self.counters(0)["submitted"], 1)
        self.assertIn("Start over", self.browser.text("#notice"))

    def test_a_changed_policy_plays_what_was_done(self):
        # Calls of every kind, and one stage that had the policies from the beginning.
        same = self.browser.run("""
            const before = [playground.policyFromLink("debounce,300ms"), playground.policyFromLink("throttle,1s")];
            const after = ["debounce,120ms,max-wait=900ms", "throttle,450ms,edges=trailing", "debounce,700ms,spacing=2s"]
                .map(playground.policyFromLink);
            const stages = [before, after].map((policies) => {
                const stage = new playground.Stage();
                stage.clock.hold(1000);
                stage.policies = policies;
                stage.setHandler(80, "third");
                return stage;
            });
            let seed = 42;
            const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
            for (let index = 0; index < 400; index++) {
                const [call, key, wait] = [random(40), "AB"[random(2)], random(9) === 0 ? 10 + random(500) : null];
                const [pause, running] = [random(8) === 0 ? random(1500) : random(120), random(2) === 0];
                for (const stage of stages) {
                    if (call === 0) stage.flush();
                    else if (call === 1) stage.cancel(running);
                    else if (call < 5) stage.touch({ key, wait });
                    else stage.submit(index, { key, wait });
                    stage.clock.advance(pause);
                }
            }
            stages[0].replace(0, after[0]);
            stages[0].replace(1, after[1]);
            stages[0].add(after[2]);
            // Handlers that run, and what is pending, go on.
            for (const stage of stages) stage.clock.advance(5000);
            return stages.map((stage) => JSON.stringify(stage.lanes.map((lane) => [lane.counters, lane.drops,
                lane.executions.map(({ at, first, value, count, edge, outcome, startedAt, endedAt }) =>
                    [at - stage.origin, first - stage.origin, value, count, edge, outcome, startedAt, endedAt])])));
        """)
        self.assertEqual(same[0], same[1])
        self.assertGreater(same[0].count("trailing"), 30)

    def test_a_policy_that_is_removed_executes_nothing_more_and_is_nowhere_shown(self):
        self.hold()
        self.browser.click("#submit")
        self.browser.run("playground.panel.choose(0)")
        self.browser.click("#remove")
        for rows in ("#lanes li", "#counters tbody tr"):
            self.browser.wait(f"return document.querySelectorAll('{rows}').length === 2")
        self.advance(5000)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#log li').length"), 2)

    def test_a_stage_that_starts_over_is_as_new(self):
        self.hold()
        self.set("key", "*")
        for _ in range(3):
            self.browser.click("#submit")
        self.browser.click("#gone")
        self.advance(5000)
        self.browser.click("#start-over")
        self.set("key", "A")
        self.browser.click("#submit")
        self.assertEqual(self.browser.run("""
            const { stage } = playground;
            return [stage.keys, stage.marks, stage.submits.length, JSON.parse(stage.trace.split("\\n")[0]).at];
        """), [["A"], [], 1, 0])

    def test_a_call_that_is_handled_late_is_recorded_when_it_can_still_be_played(self):
        same = self.browser.run("""
            const runs = (stage) => JSON.stringify(stage.lanes.map((lane) => [lane.counters, lane.drops,
                lane.executions.map(({ at, startedAt, endedAt, value, outcome }) => [at, startedAt, endedAt, value, outcome])]));
            const found = [];
            for (const [policy, takes, calls] of [
                ["debounce,300ms", 0, [[10], [110], [315, 300]]],
                ["debounce,10ms,while-running=skip", 100, [[10], [130, 90]]],
                ["debounce,300ms,edges=leading+trailing,while-running=cancel", 100, [[10], [200, 150], [460, 455]]],
            ]) {
                const stage = new playground.Stage();
                stage.clock.hold(0);
                stage.policies = [playground.policyFromLink(policy)];
                stage.setHandler(takes, "never");
                for (const [handled, at] of calls) {
                    stage.clock.advance(handled - stage.clock.now);
                    stage.submit(handled, { at: at ?? handled });
                }
                stage.clock.advance(3000);
                const live = runs(stage);
                stage.replace(0, stage.policies[0]);
                found.push([live, runs(stage)]);
            }
            return found;
        """)
        for live, again in same:
            self.assertEqual(live, again)

    def test_events_are_described_in_words(self):
        self.hold()
        self.browser.type("#type", "hi")
        self.advance(400)
        self.assertIn("“hi” on the trailing edge, 2 calls behind it", self.browser.text("#log"))
        self.browser.wait("return document.getElementById('spoken').textContent.includes('2 calls.')")
