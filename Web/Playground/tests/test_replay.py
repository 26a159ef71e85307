"""Replays, with the clock running: what is executed is what `lull simulate` says, at every speed."""

import json
import os
import subprocess
import tempfile
import unittest

from harness import StageCase


class ReplayTest(StageCase):
    OPTIONS = [["--wait", "300ms"], ["--wait", "300ms", "--max-wait", "1s"], ["--throttle", "500ms"]]

    def simulate(self, trace, options):
        """The values that the command executes, each with its instant in microseconds."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(trace)
            file.flush()
            output = subprocess.run(
                [os.environ["LULL"], "simulate", *options, "--format", "jsonl", file.name], check=True,
                capture_output=True, text=True).stdout
        runs = [json.loads(line) for line in output.splitlines()]
        return [[round(run["at"] * 1e6), run["value"]] for run in runs]

    def test_what_is_executed_is_the_same_at_every_speed(self):
        # Twenty at once, at speeds from 1 to 20, each for about three seconds: the page has much to do, and its timers are late.
        self.browser.run("""
            const gaps = JSON.parse(document.getElementById("typing").textContent);
            window.stages = Array.from({ length: 20 }, (_, index) => {
                const stage = new playground.Stage();
                stage.policies = playground.stage.policies;
                const rate = index + 1;
                let [count, span] = [0, 0];
                while (count < gaps.length && span + gaps[count] < 3000 * rate) span += gaps[count++];
                const replay = new playground.Replay(stage, () => { stage.isPlayed = true; });
                replay.play(gaps.slice(0, count), rate);
                stage.count = count;
                return stage;
            });
        """)
        # Something that keeps the page busy now and then.
        self.browser.run("""
            window.hog = setInterval(() => {
                const end = performance.now() + 60;
                while (performance.now() < end);
            }, 150);
        """)
        self.browser.wait("return stages.every((stage) => stage.isPlayed && !stage.lanes.some((lane) => lane.isBusy))")
        played = self.browser.run("""
            clearInterval(window.hog);
            return stages.map((stage) => ({ count: stage.count, trace: stage.trace, lanes: stage.lanes.map((lane) =>
                lane.executions.map((run) => [Math.round((run.at - stage.origin) * 1000), run.value])) }));
        """)
        for speed, stage in enumerate(played, start=1):
            self.assertGreater(stage["count"], 5)
            for options, lane in zip(self.OPTIONS, stage["lanes"]):
                self.assertEqual(lane, self.simulate(stage["trace"], options), f"{options} at {speed} ×")

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

    def test_the_speed_can_be_changed_while_it_plays(self):
        self.set("speed", "2", "input")
        self.browser.click("#replay")
        self.set("speed", "15", "input")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 15)

    def test_a_second_burst_takes_the_place_of_the_first(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(400)
        self.browser.click("#burst")
        self.advance(5000)
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 41)

    def test_a_release_ends_it(self):
        self.browser.click("#replay")
        self.browser.click("#gone")
        self.assertEqual(self.browser.text("#replay"), "Replay real typing")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 1)

    def test_the_picture_rests_after_it(self):
        self.browser.run("playground.inputs.replay.play([0, 10])")
        self.browser.wait("return !playground.inputs.replay.isPlaying")
        self.hold()
        self.advance(60_000)
        self.assertFalse(self.browser.run("return playground.timeline.isLively"))

    def test_a_policy_can_be_changed_while_a_recording_is_late(self):
        self.browser.run("""
            const { stage, inputs } = playground;
            stage.policies = [playground.policyFromLink("debounce,300ms")];
            inputs.replay.play([0, 200, 200, 200, 200, 200, 200]);
            return new Promise((done) => setTimeout(() => {
                const end = performance.now() + 700;
                while (performance.now() < end);
                stage.replace(0, stage.policies[0]);
                done();
            }, 100));
        """)
        self.browser.wait("return !playground.inputs.replay.isPlaying && playground.stage.lanes[0].executions.length > 0")
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions.map(({ count }) => count)"), [7])


if __name__ == "__main__":
    unittest.main()
