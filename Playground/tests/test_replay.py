"""Replays, with the clock running: what is executed is what `lull simulate` says, at every speed."""

import json
import os
import subprocess
import tempfile
import unittest

from harness import PageTest


class ReplayTest(PageTest):
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


if __name__ == "__main__":
    unittest.main()
