"""The stage alone, in a frame of another page."""

import unittest

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

    def test_a_narrow_frame_has_one_row_for_each_policy_whose_name_is_still_read(self):
        self.browser.resize(375, 700)
        self.browser.open(PAGE, "#!embed&debounce,300ms&debounce,300ms,max-wait=1s")
        self.browser.wait("return document.querySelectorAll('#lanes li').length === 2")
        rows = self.browser.run("""
            return [...document.querySelectorAll("#lanes li")].map((row) => {
                const middles = [...row.querySelectorAll(".swatch, .headline, .wait")].map((one) => {
                    const { top, bottom } = one.getBoundingClientRect();
                    return (top + bottom) / 2;
                });
                const name = row.querySelector("b");
                return [Math.max(...middles) - Math.min(...middles) < 8, name.offsetWidth, name.textContent];
            });
        """)
        self.assertEqual(rows, [[True, 1, "debounce 300 ms"], [True, 1, "debounce 300 ms, longest wait 1 s"]])

    def test_a_frame_is_high_enough_for_every_key(self):
        self.set("key", "*")
        source, height = self.written()
        self.browser.resize(1200, height)
        self.browser.open(PAGE, source[source.index("#"):])
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollHeight"), height)

    def test_a_frame_stays_one_when_its_policies_change(self):
        self.open("#!embed&debounce,250ms")
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 400 }, 0)")
        self.assertEqual(self.browser.run("return location.hash"), "#!embed&debounce,400ms")
        self.browser.run("location.hash = '#!debounce,400ms'")
        self.browser.wait("return !document.body.classList.contains('embed')")

    def test_the_way_out_of_a_frame_leads_to_the_same_policies(self):
        self.open("#!embed&debounce,250ms")
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 400 }, 0)")
        self.assertTrue(self.browser.run("return document.getElementById('whole').href").endswith("#!debounce,400ms"))


if __name__ == "__main__":
    unittest.main()
