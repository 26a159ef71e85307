"""What the page plays by itself, until the reader does something."""

from harness import PAGE, StageCase


class DemoTest(StageCase):
    played = "stage.submits.length === 9 && !timeline.isLively"
    count = "return playground.stage.submits.length"

    def begin(self, until=None):
        """Opens the page, and lets it play in time that is held."""
        self.browser.open(PAGE)
        self.hold()
        if until:
            self.play(until)
            self.frame()

    def test_the_page_begins_after_a_second_plays_a_burst_slowly_and_again(self):
        shown = "return [...document.querySelectorAll('.headline')].map((one) => one.textContent)"
        picture = ["9 calls → 1 run, 88.9 % saved", "9 calls → 1 run, 88.9 % saved", "9 calls → 3 runs, 66.7 % saved"]
        for width in (1280, 375):
            self.browser.resize(width, 812)
            self.browser.open(PAGE)
            origin = self.browser.run("return playground.stage.origin")
            # The first call comes by itself; the others in time that is held.
            self.browser.wait("return playground.stage.submits.length > 0")
            first = self.browser.run("return [playground.stage.submits[0].at - playground.stage.origin, playground.stage.clock.rate]")
            self.assertAlmostEqual(first[0] / first[1], 1000, delta=30)
            self.hold()
            self.play(self.played)
            self.frame()
            self.assertEqual(self.browser.run(shown), picture)
            self.assertTrue(self.browser.run("""
                const { timeline, stage } = playground;
                const pixels = (stage.calls[8].at - stage.calls[0].at) / timeline.span * document.getElementById("timeline").clientWidth;
                // Each of the nine circles stands alone.
                return timeline.bounds.left < stage.calls[0].at && pixels > 8 * 10;
            """))
            # It is there long enough to be read, and comes again.
            self.assertGreater(self.browser.run("return (Demo.burst.reduce((sum, gap) => sum + gap) + Demo.lull + Demo.stay) / Demo.rate"), 6000)
            self.play(f"stage.origin !== {origin} && stage.submits.length === 9")

    def test_the_page_plays_by_itself_until_it_is_touched(self):
        self.begin(self.played)
        # A slider asks about what is shown.
        self.browser.run("""
            const range = document.querySelector("#lanes input");
            range.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
            range.value = 0;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions.length"), 9)
        self.assertEqual(self.browser.text("#turn"), "Try it:")
        # A screen reader is not told of it, and a link to a section changes nothing.
        self.assertEqual(self.browser.run("return document.getElementById('spoken').textContent"), "")
        self.browser.run("location.hash = '#scenes'")
        self.browser.run("return new Promise((done) => setTimeout(done, 200))")
        self.assertFalse(self.browser.run("return playground.timeline.isPaused"))
        self.browser.type("#type", "ab")
        self.assertEqual(self.browser.text("#turn"), "Your turn:")
        self.assertEqual(self.browser.run("return playground.stage.submits.map((submit) => submit.label)"), ["a", "b"])

    def test_a_look_at_the_picture_leaves_it_there(self):
        self.begin(self.played)
        self.browser.run("document.querySelector('.skip').focus()")
        self.browser.keys(*["\ue004"] * 12)                 # tabs, past the timeline
        self.assertEqual(self.browser.text("#turn"), "Try it:")
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")                         # left
        self.assertIn("on the trailing edge, 9 calls behind it", self.browser.text("#detail"))
        self.assertEqual(self.browser.text("#turn"), "Your turn:")
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 9)
        self.assertEqual(self.browser.text("#pause"), "Play")

    state = "return [playground.stage.submits.length, playground.timeline.isPaused, document.getElementById('pause').textContent]"

    def test_the_button_pauses_the_burst_and_plays_it_again(self):
        self.begin("stage.submits.length === 3")
        self.assertEqual(self.browser.text("#pause"), "Pause")
        self.browser.run("document.getElementById('pause').focus()")
        self.browser.keys(" ")
        self.assertEqual(self.browser.run(self.state), [3, True, "Play"])
        self.advance(60_000)
        self.assertEqual(self.browser.run(self.state), [3, True, "Play"])
        self.browser.click("#pause")
        self.play("stage.submits.length === 2")
        self.assertEqual(self.browser.run(self.state)[1:], [False, "Pause"])
        self.play(self.played)
        # It plays on, until that is paused, too.
        self.browser.click("#pause")
        self.assertEqual(self.browser.run(self.state)[1:], [True, "Play"])
        # None of this was the reader's turn.
        self.assertEqual(self.browser.text("#turn"), "Try it:")

    def test_enter_in_the_field_makes_one_call_as_its_button_does(self):
        self.begin(self.played)
        self.assertEqual(self.browser.text("#submit"), "One call")
        self.browser.type("#type", "\ue007")
        self.assertEqual(self.browser.run("return playground.stage.submits.map(({ value }) => value)"), [1])
        self.assertEqual(self.browser.text("#turn"), "Your turn:")
        self.browser.type("#type", "a\ue007")
        self.browser.click("#submit")
        self.assertEqual(self.browser.run("return playground.stage.submits.map(({ value }) => value)"), [1, "a", 2, 3])
        # The page has not been left.
        self.assertEqual(self.browser.run("return location.search"), "")

    def test_with_reduced_motion_it_shows_one_burst(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.begin()
        self.assertEqual(self.browser.run(self.count), 9)
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions.length"), 1)
        self.advance(60_000)
        self.frame()
        self.assertEqual(self.browser.run(self.state), [9, False, "Play"])
        # A reader who asks for motion gets it.
        self.browser.click("#pause")
        self.play("playground.demo.isPlaying && stage.submits.length === 1")

    def test_a_link_to_other_policies_lets_the_page_play_on(self):
        self.begin()
        self.browser.run("location.hash = '#!debounce,1s'")
        self.browser.wait("return playground.stage.lanes.length === 1 && playground.demo.isPlaying")
        self.play(self.played)
        self.assertEqual(self.browser.text("#turn"), "Try it:")