"""The timeline: what it shows, how it is visited, and how fast it is drawn."""

import unittest

from harness import StageCase


class TimelineTest(StageCase):
    def go_left(self):
        """Visits an execution with the left arrow key."""
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")

    def test_the_picture_moves_while_a_recording_pauses(self):
        self.browser.run("""
            playground.inputs.replay.play([0, 60_000]);
            window.drawn = 0;
            const { timeline } = playground;
            const draw = timeline.draw.bind(timeline);
            timeline.draw = () => { drawn += 1; draw(); };
            timeline.span = 500;
        """)
        self.browser.run("return new Promise((done) => setTimeout(done, 1500))")
        before = self.browser.run("return drawn")
        self.browser.wait(f"return drawn > {before} + 3")
        # Another recording takes its place.
        self.browser.click("#replay")
        self.assertEqual(self.browser.text("#replay"), "Stop the replay")

    def test_the_picture_moves_as_long_as_something_is_pending(self):
        self.open("#!debounce,1m")
        self.hold()
        self.browser.click("#submit")
        self.advance(40_000)
        self.assertTrue(self.browser.run("return playground.timeline.isLively"))
        self.advance(40_000)
        self.assertFalse(self.browser.run("return playground.timeline.isLively"))

    def test_a_value_is_written_as_long_as_it_fits(self):
        self.open("#!debounce,100ms")
        self.hold()
        written = """
            const texts = [];
            const fill = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text) { texts.push(text); };
            playground.timeline.draw();
            CanvasRenderingContext2D.prototype.fillText = fill;
            return texts.filter((text) => text.endsWith("lisbon") || text.endsWith("vienna"));
        """
        self.set("type", "weather in lisbon", "input")
        self.advance(500)
        self.assertEqual(self.browser.run(written), ["weather in lisbon"])
        # The next one comes too soon, and has room itself.
        self.set("type", "tomorrow in vienna", "input")
        self.browser.run("playground.timeline.span = 20_000")
        self.advance(200)
        self.assertEqual(self.browser.run(written)[0], "…n lisbon")
        self.advance(5000)
        self.set("type", "what will be the weather in vienna", "input")
        self.advance(500)
        self.assertEqual(self.browser.run(written)[-1], "…e weather in vienna")

    def test_a_run_that_makes_way_for_a_newer_one_is_not_red(self):
        self.hold()
        reds = []
        for rule in ("cancel", "concurrent"):
            self.browser.run("""
                const { stage } = playground;
                stage.policies = [makePolicy("debounce", 100, { whileRunning: arguments[0] })];
                stage.setHandler(2000, "never");
                for (const at of [0, 500]) {
                    stage.submit("a", { at: stage.clock.now });
                    stage.clock.advance(500);
                }
                if (arguments[0] === "concurrent") stage.cancel(true);
                stage.clock.advance(100);
            """, rule)
            reds.append(self.browser.run("""
                const { timeline } = playground;
                const fill = CanvasRenderingContext2D.prototype.fill;
                let count = 0;
                CanvasRenderingContext2D.prototype.fill = function (...all) { count += this.fillStyle === theme.bad; fill.apply(this, all); };
                timeline.draw();
                CanvasRenderingContext2D.prototype.fill = fill;
                return count;
            """))
        self.assertEqual(reds[0], 0)
        self.assertGreater(reds[1], 0)

    def test_time_stops_a_second_after_the_last_run_so_that_it_stays_in_sight(self):
        self.hold()
        for _ in range(9):
            self.browser.click("#submit")
            self.advance(120)
        self.advance(60_000)
        self.assertTrue(self.browser.run("""
            const { timeline, stage } = playground;
            const last = Math.max(...stage.lanes.map((lane) => lane.executions.at(-1).at));
            return timeline.now === last + 1000 && timeline.bounds.left < stage.calls[0].at;
        """))
        # It goes on with the next call, at its true instant.
        self.browser.click("#submit")
        self.assertTrue(self.browser.run("return playground.timeline.now === playground.stage.clock.now"))

    def test_arrow_keys_visit_the_executions(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")                         # left
        self.assertIn("“30” on the trailing edge, 30 calls behind it", self.browser.text("#detail"))
        self.browser.keys("\ue015", "\ue012")               # down, left
        self.assertIn("on the maxWait edge", self.browser.text("#detail"))
        self.browser.keys("\ue00c")                         # escape
        self.assertEqual(self.browser.text("#detail"), "")

    def test_what_the_arrow_keys_choose_is_in_sight(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(60_000)
        self.go_left()
        self.assertTrue(self.browser.run("""
            const { bounds, selected } = playground.timeline;
            return bounds.left <= selected.first && selected.at <= bounds.right;
        """))

    def test_a_click_chooses_the_execution_and_the_lane_that_it_hits(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(1000)
        self.browser.run("""
            const { timeline, stage } = playground;
            const canvas = document.getElementById("timeline");
            const { left, top } = canvas.getBoundingClientRect();
            const [{ at }] = stage.lanes[1].executions;
            const x = (at - timeline.bounds.left) / timeline.span * canvas.clientWidth;
            const y = timeline.rows[2] - 5;
            canvas.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: left + x, clientY: top + y }));
        """)
        selected = "const { selected } = playground.timeline; return selected && selected.lane"
        self.assertEqual(self.browser.run(selected), 1)
        self.go_left()
        self.assertEqual(self.browser.run(selected), 1)

    def test_the_description_of_an_execution_stands_below_the_picture(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(1000)
        for width, height in [(1280, 800), (390, 844)]:
            with self.subTest(width=width):
                self.browser.resize(width, height)
                self.go_left()
                self.assertNotEqual(self.browser.text("#detail"), "")
                picture, top, bottom = self.browser.run("""
                    const { top, bottom } = document.getElementById("detail").getBoundingClientRect();
                    return [document.getElementById("timeline").getBoundingClientRect().bottom, top, bottom];
                """)
                self.assertLess(top - picture, 30)
                self.assertLessEqual(bottom, height)
        self.browser.resize(1280, 1000)

    def test_the_description_of_an_execution_goes_with_it(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(1000)
        self.go_left()
        self.assertNotEqual(self.browser.text("#detail"), "")
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 700 }, 0)")
        self.assertEqual(self.browser.text("#detail"), "")
        self.assertIsNone(self.browser.run("return playground.timeline.selected"))

    def test_a_handler_that_began_before_the_window_is_drawn(self):
        self.hold()
        self.set("takes", "1m")
        self.browser.click("#submit")
        self.advance(30_000)
        self.assertGreater(self.browser.run("""
            let bars = 0;
            const line = CanvasRenderingContext2D.prototype.lineTo;
            CanvasRenderingContext2D.prototype.lineTo = function (x, y) {
                if (x > 0) bars += this.startsOutside;
                return line.call(this, x, y);
            };
            const move = CanvasRenderingContext2D.prototype.moveTo;
            CanvasRenderingContext2D.prototype.moveTo = function (x, y) {
                this.startsOutside = x < 0 ? 1 : 0;
                return move.call(this, x, y);
            };
            playground.timeline.draw();
            return bars;
        """), 0)

    def test_the_timeline_stays_quick_with_ten_thousand_events(self):
        # The same picture with a hundred events and with ten thousand, in turn, so that the machine is the same for both.
        few, many = self.browser.run("""
            const { stage, timeline } = playground;
            const fill = (count) => {
                stage.startOver();
                for (let index = 0; index < count; index++) {
                    stage.submit(index);
                    stage.clock.advance(900);
                }
            };
            const measure = () => {
                const start = performance.now();
                for (let frame = 0; frame < 30; frame++) timeline.draw();
                return (performance.now() - start) / 30;
            };
            stage.clock.hold();
            fill(100);
            const few = measure();
            fill(10_000);
            return [few, measure()];
        """)
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions.length"), 10_000)
        self.assertLess(many, 5 * few + 5)

    def test_ten_thousand_events_in_the_window_fit_in_one_frame(self):
        drawn = self.browser.run("""
            const { stage, timeline } = playground;
            stage.clock.hold();
            for (let index = 0; index < 10_000; index++) {
                stage.submit(index);
                stage.clock.advance(0.5);
            }
            const calls = { count: 0 };
            for (const name of ["fillRect", "fill", "fillText", "stroke", "strokeRect"]) {
                const original = CanvasRenderingContext2D.prototype[name];
                CanvasRenderingContext2D.prototype[name] = function (...values) {
                    calls.count += 1;
                    return original.apply(this, values);
                };
            }
            timeline.draw();
            return calls.count;
        """)
        # At most a few per pixel of the width, rather than some per event.
        self.assertLess(drawn, 6000)

    # MARK: - The link


if __name__ == "__main__":
    unittest.main()
