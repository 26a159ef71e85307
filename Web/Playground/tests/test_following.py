"""Following a link, to the stage or to a section, and links that are wrong."""

import json
import unittest

from harness import PAGE, StageCase


class FollowingTest(StageCase):
    def test_a_link_that_is_wrong_says_what_is_wrong(self):
        for fragment, why in [
                ("#!debounce,300ms&calls=xx", "damaged"), ("#!debounce,300ms&key=D", "“D” is no key"),
                ("#!debounce,300ms&takes=soon", "not a duration"), ("#!bounce,1s", "neither debounce nor throttle")]:
            self.open(fragment)
            self.browser.wait("return !document.getElementById('notice').hidden")
            self.assertIn(why, self.browser.text("#notice"))
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)

    def test_a_bad_link_is_explained_and_harmless(self):
        self.open("#!debounce,300")
        self.assertIn("has no unit", self.browser.text("#notice"))
        self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)
        self.open("#!debounce,300ms,max-wait=100ms")
        self.assertIn("must be at least the wait", self.browser.text("#notice"))

    def test_a_link_that_is_wrong_leaves_the_page_alive(self):
        self.browser.open(PAGE, "#!bounce,1s")
        self.hold()
        # The burst is played.
        self.play("stage.submits.length === 9")
        self.assertIn("neither debounce nor throttle", self.browser.text("#notice"))
        self.browser.type("#type", "a")
        self.assertTrue(self.browser.run("return document.getElementById('notice').hidden"))

    def test_a_link_with_invalid_contents_changes_nothing(self):
        for calls in ([[0, "a"], [float("inf"), "b"]], [[0, "a", "", 1e300]], [[1e16, "a"]], [[-5, "a"]], [["x", "a"]], [7], {}, None,
                      [[0, "a", "", "", {}]], [[0, "a", "", "", -7]], [[0, "a"]] * 6000, [[0, {"do": "dance"}]]):
            link = self.browser.run("""
                const [text] = arguments;
                const bytes = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
                return new Response(bytes).arrayBuffer().then((packed) => {
                    const code = [...new Uint8Array(packed)].map((byte) => String.fromCharCode(byte)).join("");
                    return "#!throttle,1s&calls=" + btoa(code).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
                });
            """, json.dumps(calls).replace("Infinity", "1e400"))
            self.assertIn("This link was not understood", self.follow(link), calls)
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)
        for fragment in ("#!debounce,1s&delay=5constructor", "#!throttle,1s,max-wait=2s", "#!debounce,1s,edges=leading+up",
                         "#!debounce,1s,max-wait=2s=3s"):
            self.assertIn("This link was not understood", self.follow(fragment), fragment)
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)

    def test_a_link_may_have_letters_that_browsers_escape(self):
        self.open("#!debounce,500µs")
        self.assertEqual(self.browser.run("return playground.stage.policies.map(({ wait }) => wait)"), [0.5])

    def test_a_link_ends_what_is_being_played(self):
        self.browser.run("playground.inputs.replay.play(playground.inputs.gaps, 20)")
        self.browser.wait("return playground.stage.submits.length > 5")
        self.browser.run("""
            const stage = new playground.Stage();
            stage.policies = [playground.policyFromLink("debounce,1s")];
            stage.submit(1);
            return playground.linkWithCalls(stage).then(({ link }) => { location.hash = link; });
        """)
        self.browser.wait("return playground.timeline.isPaused")
        self.browser.run("return new Promise((done) => setTimeout(done, 500))")
        self.assertEqual(self.browser.run("return [playground.stage.submits.length, playground.stage.clock.rate]"), [1, 1])

    def test_of_two_links_that_are_followed_quickly_the_newer_wins(self):
        self.hold()
        self.browser.click("#submit")
        made = self.browser.run("return playground.linkWithCalls(playground.stage)")
        self.open()
        self.browser.run("""
            const unpack = unpackCalls;
            window.unpackCalls = async (text) => {
                await new Promise((done) => { window.finish = done; });
                return unpack(text);
            };
            addEventListener("hashchange", () => { location.hash = "#!throttle,1s"; }, { once: true });
            location.hash = arguments[0];
        """, made["link"])
        self.browser.wait("return window.finish && playground.stage.lanes.length === 1")
        # The older one is read last.
        self.browser.run("finish(); return new Promise((done) => setTimeout(done, 50))")
        self.assertEqual(self.browser.run("return [playground.stage.lanes.length, location.hash]"), [1, "#!throttle,1s"])

    def test_the_way_back_from_a_section_leaves_the_stage_alone(self):
        self.open("#!debounce,1s")
        self.browser.click("#submit")
        self.browser.run("location.hash = '#scenes'")
        self.browser.run("return new Promise((done) => setTimeout(() => { history.back(); setTimeout(done, 500); }, 300))")
        self.assertEqual(self.browser.run("return [location.hash, playground.stage.submits.length]"), ["#!debounce,1s", 1])


if __name__ == "__main__":
    unittest.main()
