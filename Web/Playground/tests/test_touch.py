"""Touches: "still busy", without a value."""

from harness import StageCase


class TouchTest(StageCase):
    RANDOM = """
        let seed = 19;
        const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
        const { stage } = playground;
        stage.policies = arguments[0].map(playground.policyFromLink);
        const takes = document.getElementById("takes");
        takes.value = "170ms";
        takes.dispatchEvent(new Event("change"));
        for (let index = 0; index < 400; index++) {
            const options = { key: ["", "B"][random(2)], wait: random(9) === 0 ? random(700) : null };
            if (random(3) === 0) stage.touch(options); else stage.submit(index, options);
            stage.clock.advance(random(8) === 0 ? random(1500) : random(150));
        }
        stage.clock.advance(60_000);
    """
    EXECUTIONS = """
        return playground.stage.lanes.map((lane) => lane.executions.map(({ at, startedAt, endedAt, key, value, count, edge, outcome }) =>
            [...[at, startedAt, endedAt].map((instant) => Math.round((instant - playground.stage.calls[0].at) * 1000)),
                key || null, value, count, edge, outcome]));
    """

    def touches(self, lane):
        """Returns when touches made something wait longer, in milliseconds since the first call."""
        return self.browser.run("""
            const { lanes, calls } = playground.stage;
            return lanes[arguments[0]].touches.map(({ at }) => Math.round(at - calls[0].at));
        """, lane)

    def test_a_touch_postpones_what_is_pending_and_is_marked_where_it_did(self):
        self.open("#!debounce,300ms&debounce,300ms,max-wait=400ms&throttle,500ms,edges=trailing")
        self.hold()
        self.browser.click("#submit")
        for _ in range(2):
            self.advance(200)
            self.browser.click("#touch")
        self.advance(1000)
        self.browser.click("#touch")
        # Of nothing that is pending, of what cannot wait longer, and of a throttle, it changes nothing.
        self.assertEqual([self.touches(lane) for lane in range(3)], [[200, 400], [200], []])
        due = [[run[0] for run in lane] for lane in self.browser.run(self.EXECUTIONS)]
        self.assertEqual(due, [[700_000], [400_000], [500_000]])
        self.assertEqual(self.executions(0), [[1, 1, "trailing", 1]])
        self.assertEqual(self.counters(0)["submitted"], 1)

    def test_a_touch_has_the_key_and_the_delay_of_the_fields(self):
        self.set("key", "B")
        self.set("delay", "2s")
        self.browser.click("#touch")
        self.assertEqual(self.browser.run("""
            const [{ do: name, key, wait }] = playground.stage.calls;
            return [name, key, wait, playground.stage.submits.length];
        """), ["touch", "B", 2000, 0])
        self.browser.click("#start-over")
        self.assertEqual(self.browser.run("return playground.stage.touches"), [])

    def test_a_link_brings_touches_back(self):
        self.hold()
        self.browser.run(self.RANDOM, ["debounce,300ms", "debounce,300ms,max-wait=1s,combine=collect,while-running=restart"])
        touches = "return playground.stage.touches.map(({ key, wait }) => [key, wait])"
        sent = [self.browser.run(self.EXECUTIONS), self.browser.run(touches), self.touches(0)]
        self.assertGreater(len(sent[1]), 80)
        link = self.browser.run("return playground.linkWithCalls(playground.stage)")
        self.assertEqual(link["count"], 400)
        self.open(link["link"])
        self.assertEqual([self.browser.run(self.EXECUTIONS), self.browser.run(touches), self.touches(0)], sent)
