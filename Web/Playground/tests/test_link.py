"""The link: policies, settings and calls, for others to see; and following one, also one that is wrong."""

import json

from harness import PAGE, StageCase


class LinkTest(StageCase):
    def test_the_link_reproduces_the_setting(self):
        self.browser.run("""
            const { panel } = playground;
            panel.replace({ ...panel.policy, wait: 1500, maxWait: 4000, leading: true, maxCount: 7, delayRule: "extend",
                spacing: 2500, combine: "collect", whileRunning: "concurrent", maxConcurrent: 2, capacity: 3, atEnd: "drop" });
            panel.add();
            panel.choose(0);
        """)
        self.set("key", "B")
        self.set("delay", "2s")
        self.set("takes", "700ms")
        self.set("throws", "third")
        state = """
            const { stage } = playground;
            const fields = ["key", "delay", "takes", "throws"].map((id) => document.getElementById(id).value);
            return [JSON.stringify(stage.policies), stage.takes, stage.throws, fields,
                document.getElementById("swift").textContent, document.getElementById("command").textContent];
        """
        before = self.browser.run(state)
        self.assertEqual(len(json.loads(before[0])), 4)
        link = self.browser.text("#link")
        self.assertEqual(link, self.browser.run("return location.href"))
        self.open("#" + link.split("#")[1])
        self.assertEqual(self.browser.run(state), before)

    def test_a_link_shows_what_its_sender_saw(self):
        self.hold()
        self.set("key", "*")
        self.set("takes", "40ms")
        self.browser.type("#type", "abc")
        self.advance(220)
        self.browser.click("#submit")
        self.advance(700)
        self.browser.click("#cancel")
        self.browser.click("#submit")
        self.advance(2000)
        seen = """
            return playground.stage.lanes.map((lane) => [lane.counters, lane.executions.map((run) =>
                [Math.round((run.at - playground.stage.calls[0].at) * 1000), run.key, run.count, run.edge, run.outcome])]);
        """
        seen = seen.replace("run.count,", "run.value, run.count,")
        sent = self.browser.run(seen)
        self.browser.run("window.link = null; playground.linkWithCalls(playground.stage).then((made) => { link = made; })")
        self.browser.wait("return link !== null")
        made = self.browser.run("return link")
        self.assertEqual(made["count"], 6)
        self.browser.wait("return /It holds 6 calls/.test(document.getElementById('link-note').textContent)")
        self.open(made["link"])
        self.assertEqual(self.browser.run(seen), sent)
        # It stays in the address, and can be passed on.
        self.assertEqual(self.browser.run("return location.hash"), made["link"])
        again = self.browser.run("return playground.linkWithCalls(playground.stage)")
        self.open(again["link"])
        self.assertEqual(self.browser.run(seen), sent)
        self.assertTrue(self.browser.run("return playground.timeline.isPaused && document.getElementById('settings').open"))
        # It goes on when something is done.
        self.browser.click("#submit")
        self.assertFalse(self.browser.run("return playground.timeline.isPaused"))

    def test_a_link_brings_every_value_and_delay_back(self):
        self.hold()
        values = ["h", "he", "hé", "h", "hello", "hello 👩‍👩‍👧", "x,y", "", 7, 12, 12, "12", 1.5]
        self.browser.run("""
            const { stage } = playground;
            arguments[0].forEach((value, index) => {
                stage.submit(value, { key: ["", "B"][index % 2], wait: [null, 0, 250][index % 3], label: [...String(value)].at(-1) ?? "" });
                stage.clock.advance(1000 * Math.random());
            });
        """, values)
        calls = "return playground.stage.submits.map(({ value, key, wait, label }) => [value, key, wait, label])"
        sent = self.browser.run(calls)
        self.assertEqual([value for value, *_ in sent], values)
        self.open(self.browser.run("return playground.linkWithCalls(playground.stage)")["link"])
        self.assertEqual(self.browser.run(calls), sent)

    def test_a_link_opens_on_a_window_in_which_its_calls_can_be_told_apart(self):
        self.hold()
        self.browser.run("""
            for (let index = 0; index < 400; index++) {
                playground.stage.submit("x");
                playground.stage.clock.advance(index % 8 === 7 ? 700 : 150);
            }
        """)
        link = self.browser.run("return playground.linkWithCalls(playground.stage)")["link"]
        for width, window in ((1280, 30), (375, 10)):
            self.browser.resize(width, 900)
            self.open(link)
            self.assertEqual(self.browser.run("return document.getElementById('window').value"), str(window * 1000))
            seen = self.browser.run("""
                const { timeline, stage } = playground;
                return stage.submits.filter(({ at }) => at >= timeline.bounds.left).length;
            """)
            self.assertGreater(seen, 20)
            self.assertEqual(self.browser.text("#detail"),
                             f"The picture shows the last {seen} calls of 400: a longer window shows more, less clearly.")
        self.browser.click("#submit")
        self.assertEqual(self.browser.text("#detail"), "")

    def test_a_link_holds_the_latest_calls_if_there_are_too_many(self):
        self.hold()
        self.browser.run("""
            window.link = null;
            for (let index = 0; index < 5000; index++) {
                playground.stage.submit(index, { label: String(Math.random()) });
                playground.stage.clock.advance(Math.random() * 50);
            }
            playground.linkWithCalls(playground.stage).then((made) => { link = made; });
        """)
        self.browser.wait("return link !== null")
        made = self.browser.run("return link")
        self.assertLessEqual(len(made["link"]), 8000)
        self.assertTrue(100 < made["count"] < 5000)
        # As many as a pointer makes in an hour.
        count = self.browser.run("""
            const { stage } = playground;
            stage.policies = [stage.policies[0]];
            for (let index = 0; index < 100_000; index++) {
                stage.submit(`${index},${index % 7}`, { label: "" });
                stage.clock.advance(Math.random() * 50);
            }
            return playground.linkWithCalls(stage).then((made) => made.count);
        """)
        self.assertTrue(100 < count < 5000)

    def test_a_wrong_field_is_in_no_link_until_it_is_corrected(self):
        self.set("delay", "soon")
        self.assertIn("Not used", self.browser.text("#setting-wrong"))
        self.assertNotIn("delay", self.browser.text("#link"))
        self.set("delay", "2s")
        self.assertEqual(self.browser.text("#setting-wrong"), "")
        self.assertIn("delay=2s", self.browser.text("#link"))


class FollowingTest(StageCase):
    def test_a_link_that_is_wrong_says_what_is_wrong(self):
        for fragment, why in [
                ("#!debounce,300ms&calls=xx", "damaged"), ("#!debounce,300ms&key=D", "“D” is no key"),
                ("#!debounce,300ms&takes=soon", "not a duration"), ("#!bounce,1s", "neither debounce nor throttle")]:
            self.open(fragment)
            self.browser.wait("return !document.getElementById('notice').hidden")
            self.assertIn(why, self.browser.text("#notice"))
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)

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

    def test_the_way_back_from_a_section_leaves_the_stage_alone(self):
        self.open("#!debounce,1s")
        self.browser.click("#submit")
        self.browser.run("location.hash = '#scenes'")
        self.browser.run("return new Promise((done) => setTimeout(() => { history.back(); setTimeout(done, 500); }, 300))")
        self.assertEqual(self.browser.run("return [location.hash, playground.stage.submits.length]"), ["#!debounce,1s", 1])
