"""The link: policies, settings and calls, for others to see."""

import json
import unittest

from harness import StageCase


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

    def test_a_link_has_a_cancel_of_what_is_running(self):
        self.hold()
        self.set("takes", "2s")
        self.browser.click("#submit")
        self.advance(600)
        self.browser.run("document.getElementById('cancel-running').checked = true")
        self.browser.click("#cancel")
        self.advance(3000)
        self.open(self.browser.run("return playground.linkWithCalls(playground.stage)")["link"])
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions[0].outcome"), "cancelled")

    def test_a_call_that_comes_while_a_link_is_packed_is_in_the_next_one(self):
        self.hold()
        self.browser.run("""
            window.packing = 0;
            const pack = linkWithCalls;
            window.linkWithCalls = async (stage) => {
                const packed = await pack(stage);
                packing += 1;
                if (packing === 1) await new Promise((done) => { window.finish = done; });
                return packed;
            };
        """)
        self.browser.click("#submit")
        self.browser.wait("return packing === 1")
        self.browser.click("#cancel")
        self.browser.wait("return /^It holds 2 calls/.test(document.getElementById('link-note').textContent)")
        # The older one is ready last, and is not shown.
        self.browser.run("finish(); return new Promise((done) => setTimeout(done))")
        self.assertIn("It holds 2 calls", self.browser.text("#link-note"))

    def test_a_link_without_calls_says_nothing_of_them(self):
        self.browser.click("#submit")
        self.browser.run("document.getElementById('start-over').click(); return new Promise((done) => setTimeout(done, 800))")
        self.assertEqual(self.browser.text("#link-note"), "")

    def test_a_link_of_a_link_ends_where_the_first_one_ended(self):
        self.hold()
        self.set("takes", "6s")
        self.browser.click("#submit")
        self.advance(20_000)
        ends = []
        for _ in range(3):
            made = self.browser.run("return playground.linkWithCalls(playground.stage)")
            # Where the link ends, rather than the clock, which has gone on since the link was followed.
            ends.append(self.browser.run("""
                const calls = await unpackCalls(arguments[0].split("&calls=")[1]);
                return calls.at(-1).at;
            """, made["link"]))
            self.open(made["link"])
            self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions[0].outcome"), "executed")
        for end in ends:
            self.assertAlmostEqual(end, 8300, delta=1)

    def test_the_calls_of_a_link_are_in_the_picture(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(20_000)
        self.browser.click("#submit")
        self.open(self.browser.run("return playground.linkWithCalls(playground.stage)")["link"])
        self.assertTrue(self.browser.run("""
            const { timeline, stage } = playground;
            return timeline.span === Number(document.getElementById("window").value) && timeline.bounds.left <= stage.calls[0].at;
        """))

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

    def test_what_counts_for_the_window_are_the_calls_that_it_shows(self):
        self.hold()
        self.browser.run("""
            for (let index = 0; index < 400; index++) playground.stage.clock.advance(20), playground.stage.submit("x");
            for (let index = 0; index < 10; index++) playground.stage.clock.advance(1500), playground.stage.submit("x");
        """)
        link = self.browser.run("return playground.linkWithCalls(playground.stage)")["link"]
        self.open(link)
        self.assertEqual(self.browser.run("return document.getElementById('window').value"), "10000")
        self.assertEqual(self.browser.text("#detail"), "The picture shows the last 6 calls of 410: a longer window shows more, less clearly.")

    def test_a_link_that_follows_another_one_shows_its_own_calls(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(2000)
        first = self.browser.run("return playground.linkWithCalls(playground.stage)")["link"]
        self.browser.click("#submit")
        self.advance(2000)
        second = self.browser.run("return playground.linkWithCalls(playground.stage)")["link"]
        self.open(first)
        self.hold()
        self.advance(60_000)
        self.browser.run("location.hash = arguments[0]", second)
        self.browser.wait("return playground.stage.submits.length === 2 && playground.timeline.isPaused")
        self.assertTrue(self.browser.run("""
            const { timeline, stage } = playground;
            return timeline.bounds.left <= stage.calls[0].at && timeline.now > stage.calls[1].at;
        """))

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

    def test_of_too_many_calls_the_last_one_is_in_the_link(self):
        self.hold()
        last = self.browser.run("""
            const { stage } = playground;
            for (let index = 0; index < 3000; index++) {
                stage.submit(index, { label: String(Math.random()) });
                stage.clock.advance(10);
            }
            return playground.linkWithCalls(stage).then(({ link }) => unpackCalls(link.split("&calls=")[1])).then((calls) => calls.at(-2).value);
        """)
        self.assertEqual(last, 2999)

    def test_a_wrong_field_is_in_no_link_until_it_is_corrected(self):
        self.set("delay", "soon")
        self.assertIn("Not used", self.browser.text("#setting-wrong"))
        self.assertNotIn("delay", self.browser.text("#link"))
        self.set("delay", "2s")
        self.assertEqual(self.browser.text("#setting-wrong"), "")
        self.assertIn("delay=2s", self.browser.text("#link"))


if __name__ == "__main__":
    unittest.main()
