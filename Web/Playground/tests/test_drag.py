"""The calls of the stage are dragged, and every row is computed anew."""

from harness import PAGE, StageCase

SHIFT, LEFT, UP, DOWN = "\ue008", "\ue012", "\ue013", "\ue015"


class DragTest(StageCase):
    RUNS = """
        const { stage } = playground;
        return stage.lanes.map((lane) => lane.executions.map(({ at, value, count }) => [Math.round(at - stage.submits[0].at), value, count]));
    """
    TIMES = "const { submits } = playground.stage; return submits.map(({ at, value }) => [value, Math.round(at - submits[0].at)])"

    def rest(self):
        """Lets the page show its burst until nothing moves."""
        self.browser.open(PAGE)
        self.hold()
        self.play("stage.submits.length === 9 && !timeline.isLively")
        self.frame()

    def point(self, index, later=0):
        return self.browser.run("""
            const { timeline, stage } = playground;
            const { left, top, width } = document.getElementById("timeline").getBoundingClientRect();
            const at = stage.submits[arguments[0]].at + arguments[1];
            return [left + (at - timeline.bounds.left) / timeline.span * width, top + timeline.top - 15];
        """, index, later)

    def test_a_dragged_call_comes_later_and_each_policy_does_what_it_does_with_such_calls(self):
        for kind, width in (("mouse", 1280), ("touch", 390)):
            with self.subTest(kind):
                self.browser.resize(width, 800)
                self.rest()
                self.browser.drag(self.point(8), self.point(8, 150), self.point(8, 350), kind=kind)
                times = self.browser.run(self.TIMES)
                self.assertAlmostEqual(times[8][1], 850 + 350, delta=25)
                self.assertEqual(times[:8], [[1, 0], [2, 110], [3, 210], [4, 340], [5, 420], [6, 530], [7, 650], [8, 740]])
                runs = self.browser.run(self.RUNS)
                self.assertEqual([[run[1:] for run in lane] for lane in runs[:2]], [[[8, 8], [9, 1]], [[8, 8], [9, 1]]])
                self.assertEqual(runs[0][0][0], 740 + 300)
                self.assertEqual(self.browser.text("#turn"), "Your turn:")
                # And what one stage makes of such calls from the beginning.
                self.assertEqual(runs, self.browser.run("""
                    const [times, policies] = [arguments[0], playground.stage.policies];
                    const stage = new playground.Stage();
                    stage.clock.hold(0);
                    stage.policies = policies;
                    const exact = playground.stage.submits.map(({ at }) => at - playground.stage.submits[0].at);
                    times.forEach(([value], index) => {
                        stage.clock.advance(exact[index] - stage.clock.now);
                        stage.submit(value);
                    });
                    stage.clock.advance(5000);
                    return stage.lanes.map((lane) => lane.executions.map(({ at, value, count }) => [Math.round(at), value, count]));
                """, times))

    def test_a_call_goes_past_others_but_not_before_the_beginning(self):
        self.rest()
        self.browser.drag(self.point(4), self.point(0, -150))
        self.assertEqual([value for value, _ in self.browser.run(self.TIMES)], [5, 1, 2, 3, 4, 6, 7, 8, 9])
        self.browser.drag(self.point(0), self.point(0, -200), (self.point(0)[0] - 300, self.point(0)[1]))
        self.assertGreaterEqual(self.browser.run("return playground.stage.submits[0].at - playground.stage.origin"), 0)
        self.assertEqual(len(self.browser.run(self.TIMES)), 9)

    def test_the_address_carries_the_calls_until_another_is_made(self):
        self.rest()
        self.browser.drag(self.point(8), self.point(8, 500))
        self.browser.wait("return location.hash.includes('calls=')")
        # A policy that changes leaves them there.
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 200 }, 0)")
        self.browser.wait("return /200ms.*calls=/.test(location.hash)")
        times, runs, link = self.browser.run(self.TIMES), self.browser.run(self.RUNS), self.browser.run("return location.hash")
        self.open(link)
        self.assertEqual([self.browser.run(self.TIMES), self.browser.run(self.RUNS)], [times, runs])
        self.browser.click("#submit")
        self.assertNotIn("calls=", self.browser.run("return location.hash"))

    def test_keys_choose_a_call_and_move_it(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.browser.open(PAGE)
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys(UP, LEFT)
        self.assertIn("“8” comes at 1.14 s. 1: 1 run, 2: 1 run, 3: 3 runs.", self.browser.text("#detail"))
        self.browser.hold_key(SHIFT, *[LEFT] * 21)
        self.assertEqual([value for value, _ in self.browser.run(self.TIMES)], [1, 2, 3, 8, 4, 5, 6, 7, 9])
        self.assertIn("“8” comes at 0.72 s.", self.browser.text("#detail"))
        # The runs are below.
        self.browser.keys(DOWN)
        self.assertIn("on the trailing edge, 9 calls behind it", self.browser.text("#detail"))

    def test_what_is_dragged_in_a_story_is_the_readers(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.browser.open(PAGE)
        self.browser.run("document.querySelector('[data-scene=bill]').scrollIntoView(); scrollBy(0, -80)")
        self.browser.wait("return playground.story.isTold && document.querySelector('[data-fact=fewer]').textContent === '3 requests'")
        self.browser.drag(self.point(6), self.point(6, 150))
        self.browser.wait("return document.querySelector('[data-fact=fewer]').textContent === '2 requests'")
        self.assertEqual(self.browser.run("return playground.stage.lanes.map(({ name }) => name)"),
                         ["a request for each key", "a request after 300 ms"])
