"""Accessibility tests: keyboard, screen reader, narrow screens, reduced motion."""

from accessible import FAINT, NAMELESS, REFERENCES, SMALL
from harness import PageTest


class AccessibilityTest(PageTest):
    def test_everything_that_can_be_used_has_a_name_and_what_is_referred_to_exists(self):
        self.assertEqual(self.browser.run(NAMELESS), [])
        self.assertEqual(self.browser.run(REFERENCES), [])

    def test_no_heading_is_two_levels_below_the_one_before_it(self):
        for width, fragment in ((1280, ""), (390, ""), (1280, "#!debounce,1s"), (390, "#!debounce,1s")):
            self.browser.resize(width, 900)
            self.open(fragment)
            levels = self.browser.run("""return [...document.querySelectorAll("h1, h2, h3, h4")].filter((one) => one.getClientRects().length)
                .map((one) => Number(one.tagName[1]))""")
            self.assertEqual([pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1], [])

    def test_the_page_can_be_used_by_keyboard(self):
        # From the top through every control, until the input of the stage: the links, the timeline and its three tools.
        self.browser.run("document.querySelector('.skip').focus()")
        self.browser.keys(*["\ue004"] * 8)
        self.assertEqual(self.browser.run("return document.activeElement.id"), "timeline")
        self.browser.keys(*["\ue004"] * 4)
        self.assertEqual(self.browser.run("return document.activeElement.id"), "type")
        self.browser.keys("\ue004", " ", " ")
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 2)
        self.browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
        self.browser.keys("\ue014")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "tab-1")

    def test_a_phone_needs_no_scrolling_sideways(self):
        for width in (390, 320):
            self.browser.resize(width, 800)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)

    def test_the_timeline_stays_in_sight_where_enough_is_left_of_the_screen(self):
        for width, height, stays in [(390, 844, True), (375, 667, True), (667, 375, False), (640, 400, False), (1280, 800, False)]:
            self.browser.resize(width, height)
            self.browser.wait(f"return innerWidth === {width}")
            self.browser.run("""
                document.getElementById("flush").focus();
                document.getElementById("flush").scrollIntoView({ block: "center" });
                return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            """)
            top, seen, reached = self.browser.run("""
                const { top, left, width, height } = document.getElementById("flush").getBoundingClientRect();
                return [document.querySelector(".seen").getBoundingClientRect().top, document.querySelector(".seen").offsetHeight,
                    document.elementFromPoint(left + width / 2, top + height / 2)?.id];
            """)
            self.assertEqual(top == 0, stays, (width, height, top, seen))
            if not stays:
                self.assertEqual(reached, "flush", (width, height))

    def test_a_finger_hits_what_it_is_meant_to(self):
        self.browser.resize(390, 800)
        self.assertEqual(self.browser.run(SMALL), [])

    def test_text_can_be_read_in_light_and_in_dark(self):
        for scheme in ("light", "dark"):
            self.browser.emulate(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.open()
            self.assertEqual(self.browser.run(FAINT), [], scheme)

    def test_reduced_motion_draws_one_picture_a_second(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.open()
        frames = self.browser.run("""
            return new Promise((done) => {
                let frames = 0;
                const draw = playground.timeline.draw.bind(playground.timeline);
                playground.timeline.draw = () => { frames += 1; draw(); };
                document.getElementById("submit").click();
                setTimeout(() => done(frames), 1500);
            });
        """)
        self.assertLess(frames, 20)
        self.assertGreater(frames, 0)
