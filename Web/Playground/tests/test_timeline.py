"""The timeline: what it shows, how it is visited, and how fast it is drawn."""

from harness import StageCase


class TimelineTest(StageCase):
    def go_left(self):
        """Visits an execution with the left arrow key."""
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")

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
