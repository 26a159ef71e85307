"""Replays, and the clock of the page, at any speed."""

from harness import PageTest, StageCase


class ReplayTest(StageCase):
    def test_the_recording_gives_the_same_executions_at_every_speed(self):
        found = []
        for speed in (1, 20):
            found.append(self.browser.run("""
                const { stage, inputs } = playground;
                stage.clock.hold();
                stage.startOver();
                inputs.replay.play(inputs.gaps, arguments[0]);
                stage.clock.advance(300_000);
                const start = stage.submits[0].at;
                return stage.lanes.map((lane) => lane.executions.map(({ at, count, edge }) =>
                    [Math.round((at - start) * 1e6), count, edge]));
            """, speed))
        self.assertGreater(len(found[0][0]), 20)
        self.assertEqual(found[0], found[1])

    def test_the_replay_runs_and_stops_with_its_button(self):
        self.set("speed", "20")
        self.browser.click("#replay")
        self.assertEqual(self.browser.text("#replay"), "Stop the replay")
        self.browser.wait("return playground.stage.submits.length > 10")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 20)
        self.browser.click("#replay")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 1)
        self.assertEqual(self.browser.text("#replay"), "Replay real typing")


class ClockTest(PageTest):
    def test_time_goes_on_when_its_speed_changes(self):
        jumps = self.browser.run("""
            const clock = new Clock();
            return new Promise((done) => setTimeout(() => done([20, 1].map((rate) => {
                const before = clock.now;
                clock.rate = rate;
                return clock.now - before;
            })), 300));
        """)
        for jump in jumps:
            self.assertTrue(-1 < jump < 1000, jumps)

    def test_a_timer_follows_the_speed(self):
        for script in ("clock.rate = 20; wait();", "wait(); clock.rate = 20;"):
            took = self.browser.run("""
                return new Promise((done) => {
                    const [clock, begin] = [new Clock(), performance.now()];
                    const wait = () => clock.after(4000, () => done(performance.now() - begin));
                """ + script + "});")
            self.assertLess(took, 3000)

    def test_a_key_lies_where_it_was_pressed_on_a_busy_page_too(self):
        late = self.browser.run("""
            const event = new Event("input", { bubbles: true });
            while (performance.now() < event.timeStamp + 200);
            document.getElementById("type").value = "a";
            document.getElementById("type").dispatchEvent(event);
            return playground.stage.clock.now - playground.stage.submits[0].at;
        """)
        self.assertGreater(late, 190)
