"""The stage alone, in a frame of another page."""

from harness import PAGE, StageCase


class FrameTest(StageCase):
    def written(self):
        """Returns the source and the height of the frame that the page writes, with a burst on the stage."""
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.browser.wait("return document.getElementById('frame').textContent.includes('calls=')")
        return self.browser.run("""
            const holder = document.createElement("template");
            holder.innerHTML = document.getElementById("frame").textContent;
            const [frame] = holder.content.children;
            return [frame.src, Number(frame.height)];
        """)

    def test_a_link_for_a_frame_shows_the_stage_alone(self):
        self.browser.open(PAGE, "#!embed&debounce,1s")
        shown = self.browser.run("""
            return [...document.querySelectorAll("header, section, footer, details, #timeline, #type, #lanes")]
                .filter((one) => one.checkVisibility()).map((one) => one.id);
        """)
        self.assertEqual(shown, ["stage", "timeline", "type", "lanes"])
        self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 1)
        self.assertTrue(self.browser.run("return document.getElementById('whole').href").endswith("#!debounce,1s"))

    def test_the_frame_that_the_page_writes_shows_the_stage(self):
        source, height = self.written()
        for width in (375, 560, 700, 760, 1200):
            self.browser.resize(width, height)
            self.browser.open(PAGE, source[source.index("#"):])
            seen = self.browser.run("""
                const runs = playground.stage.lanes.map((lane) => lane.executions.length);
                return [document.body.classList.contains("embed"), runs, document.documentElement.scrollHeight];
            """)
            self.assertEqual(seen[:2], [True, [1, 2, 4]])
            self.assertLessEqual(seen[2], height, width)

    def test_a_frame_stays_one_when_its_policies_change(self):
        self.open("#!embed&debounce,250ms")
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 400 }, 0)")
        self.assertEqual(self.browser.run("return location.hash"), "#!embed&debounce,400ms")
        self.browser.run("location.hash = '#!debounce,400ms'")
        self.browser.wait("return !document.body.classList.contains('embed')")
