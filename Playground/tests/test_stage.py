"""The stage: inputs, timeline, counters, words, and the link that reproduces it all."""

import json
import unittest

from harness import PAGE, PageTest


class StageTest(PageTest):
    def hold(self):
        self.browser.run("playground.stage.clock.hold()")

    def advance(self, milliseconds):
        self.browser.run("playground.stage.clock.advance(arguments[0])", milliseconds)

    def set(self, field, value):
        self.browser.run("""
            const field = document.getElementById(arguments[0]);
            field.value = arguments[1];
            field.dispatchEvent(new Event("change", { bubbles: true }));
        """, field, value)

    def executions(self, lane):
        return self.browser.run("""
            return playground.stage.lanes[arguments[0]].executions.map(({ value, count, edge, behind }) =>
                [value, count, edge, behind.length]);
        """, lane)

    def counters(self, lane):
        return self.browser.run("""
            const { counters } = playground.stage.lanes[arguments[0]].coalescer;
            return Object.fromEntries(Object.entries(counters).filter(([, count]) => count));
        """, lane)

    def test_clicks_and_keys_and_the_pointer_are_submits(self):
        self.browser.click("#submit")
        self.browser.type("#type", "abc")
        self.assertEqual(
            self.browser.run("return playground.stage.submits.map((submit) => submit.value)"), [1, "a", "ab", "abc"])
        self.browser.run("""
            const event = new PointerEvent("pointermove", { bubbles: true });
            document.getElementById("pointer").dispatchEvent(event);
        """)
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 5)
        # This runs in real time, however long that takes.
        self.browser.wait("return playground.stage.lanes[0].counters.executed === 1")

    def test_a_burst_is_thirty_submits_under_each_policy(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.assertEqual(self.executions(0), [[30, 30, "trailing", 30]])
        self.assertEqual([edge for _, _, edge, _ in self.executions(1)], ["maxWait", "trailing"])
        edges = [edge for _, _, edge, _ in self.executions(2)]
        self.assertEqual(edges, ["leading", "trailing", "trailing", "trailing"])
        for lane in range(3):
            counters = self.counters(lane)
            self.assertTrue(counters["addUp"])
            self.assertEqual(counters["submitted"], 30)
            self.assertEqual(counters["executed"] + counters["superseded"], 30)

    def test_every_outcome_is_counted_and_shown(self):
        self.hold()
        self.browser.run("""
            const { panel } = playground;
            panel.replace({ ...panel.policy, capacity: 2, whileRunning: "skip" });
        """)
        self.set("takes", "1s")
        self.set("throws", "third")
        self.set("key", "*")
        for _ in range(3):
            self.browser.click("#submit")                   # the third key is over capacity
        self.advance(300)
        self.browser.click("#cancel")
        self.set("key", "A")
        self.browser.click("#submit")
        self.advance(300)                                   # A is still running, so this one is skipped
        self.browser.click("#submit")
        self.browser.click("#cancel")
        self.advance(1000)
        self.browser.click("#submit")
        self.browser.click("#submit")
        self.advance(300)
        self.browser.click("#shut-down")
        self.browser.click("#submit")
        self.advance(5000)
        counters = self.counters(0)
        names = ("submitted", "executed", "absorbed", "cancelled", "superseded", "failed", "rejected")
        self.assertEqual(
            {name: counters.get(name) for name in names},
            {"submitted": 8, "executed": 2, "absorbed": 1, "cancelled": 1, "superseded": 1, "failed": 1, "rejected": 2})
        self.browser.wait("return document.querySelector('#counters td[data-count=rejected]').textContent === '2'")
        row = self.browser.run("""
            const row = document.querySelector("#counters tbody tr");
            const cells = [...row.querySelectorAll("td")];
            return Object.fromEntries(cells.map((cell) => [cell.dataset.count, cell.textContent]));
        """)
        self.assertEqual(row["addUp"], "✓")
        outcomes = ("executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "pending", "running")
        self.assertEqual(int(row["submitted"]), sum(int(row[name]) for name in outcomes))

    def test_a_release_ends_what_is_pending_as_each_policy_says(self):
        self.hold()
        self.open("#!debounce,1s&debounce,1s,at-end=flush&debounce,1s,at-end=drop")
        self.hold()
        self.browser.click("#submit")
        self.browser.click("#gone")
        self.advance(2000)
        self.assertEqual([self.executions(lane) for lane in range(3)],
                         [[[1, 1, "trailing", 1]], [[1, 1, "flush", 1]], []])
        self.browser.click("#submit")
        self.assertEqual(self.counters(0)["submitted"], 1)
        self.assertIn("Start over", self.browser.text("#notice"))

    def test_the_recording_gives_the_same_executions_at_every_speed(self):
        found = []
        for speed in (1, 20):
            found.append(self.browser.run("""
                const { stage, inputs } = playground;
                stage.clock.hold();
                stage.startOver();
                inputs.replay.play(inputs.gaps, arguments[0]);
                stage.clock.advance(300_000);
                const start = stage.submits[0].at;
                return stage.lanes.map((lane) => lane.executions.map(({ at, count, edge }) =>
                    [Math.round((at - start) * 1e6), count, edge]));
            """, speed))
        self.assertGreater(len(found[0][0]), 20)
        self.assertEqual(found[0], found[1])

    def test_a_changed_policy_plays_what_was_done(self):
        # Calls of every kind, and one stage that had the policies from the beginning.
        same = self.browser.run("""
            const before = [playground.policyFromLink("debounce,300ms"), playground.policyFromLink("throttle,1s")];
            const after = ["debounce,120ms,max-wait=900ms", "throttle,450ms,edges=trailing", "debounce,700ms,spacing=2s"]
                .map(playground.policyFromLink);
            const stages = [before, after].map((policies) => {
                const stage = new playground.Stage();
                stage.clock.hold(1000);
                stage.policies = policies;
                stage.setHandler(80, "third");
                return stage;
            });
            let seed = 42;
            const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
            for (let index = 0; index < 400; index++) {
                const [call, key, wait] = [random(40), "AB"[random(2)], random(9) === 0 ? 10 + random(500) : null];
                const [pause, running] = [random(8) === 0 ? random(1500) : random(120), random(2) === 0];
                for (const stage of stages) {
                    if (call === 0) stage.flush();
                    else if (call === 1) stage.cancel(running);
                    else stage.submit(index, { key, wait });
                    stage.clock.advance(pause);
                }
            }
            stages[0].replace(0, after[0]);
            stages[0].replace(1, after[1]);
            stages[0].add(after[2]);
            // Handlers that run, and what is pending, go on.
            for (const stage of stages) stage.clock.advance(5000);
            return stages.map((stage) => JSON.stringify(stage.lanes.map((lane) => [lane.counters, lane.drops,
                lane.executions.map(({ at, first, value, count, edge, outcome, startedAt, endedAt }) =>
                    [at - stage.origin, first - stage.origin, value, count, edge, outcome, startedAt, endedAt])])));
        """)
        self.assertEqual(same[0], same[1])
        self.assertGreater(same[0].count("trailing"), 30)

    def test_a_slider_asks_what_another_wait_would_have_done(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        headlines = "return [...document.querySelectorAll('#lanes .headline')].map((one) => one.textContent)"
        self.browser.wait("return document.querySelector('#lanes .headline').textContent.startsWith('30 calls')")
        self.assertEqual(self.browser.run(headlines), [
            "30 calls → 1 run, 96 % saved", "30 calls → 2 runs, 93 % saved", "30 calls → 4 runs, 86 % saved"])
        self.browser.run("""
            const range = document.querySelector("#lanes input");
            range.value = 1;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        self.browser.wait("return document.querySelector('#lanes .headline').textContent.startsWith('30 calls → 30 runs')")
        self.assertEqual(len(self.executions(0)), 30)
        self.assertEqual(len(self.executions(2)), 4)
        self.assertIn("#!debounce,11ms&", self.browser.run("return location.hash"))
        # A wait that is longer than the longest wait is not possible, and changes nothing.
        self.browser.run("""
            const range = document.querySelectorAll("#lanes input")[1];
            range.value = 110;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        refused = """
            const row = document.querySelectorAll("#lanes li")[1];
            const range = row.querySelector("input");
            return [row.querySelector(".refused").textContent, range.getAttribute("aria-invalid"), range.value];
        """
        self.assertEqual(self.browser.run(refused), ["5.6 s is not possible: its longest wait is 1 s.", "true", "110"])
        self.assertEqual(len(self.executions(1)), 2)
        # Let go, the slider goes back; the message stays to be read until something else happens.
        self.browser.run("document.querySelectorAll('#lanes input')[1].dispatchEvent(new Event('change', { bubbles: true }))")
        self.assertEqual(self.browser.run(refused), ["5.6 s is not possible: its longest wait is 1 s.", None, "59"])
        self.assertIn("30 calls", self.browser.run(headlines)[1])
        self.browser.click("#submit")
        self.assertEqual(self.browser.run(refused), ["", None, "59"])

    def test_what_is_pending_counts_as_a_run_and_what_is_refused_as_no_saving(self):
        self.hold()
        headline = "return document.querySelector('#lanes .headline').textContent"
        self.browser.click("#submit")
        self.browser.click("#submit")
        self.browser.wait(headline + " === '2 calls → 0 runs + 1 pending, 50 % saved'")
        self.advance(300)
        self.browser.wait(headline + " === '2 calls → 1 run, 50 % saved'")
        self.browser.click("#submit")
        self.browser.click("#cancel")
        self.browser.click("#shut-down")
        self.browser.click("#submit")
        self.browser.wait(headline + " === '4 calls → 1 run, 50 % saved, 1 dropped by cancel, 1 rejected'")
        # What waits behind a handler is pending, too; and what a cancel takes away saves nothing.
        self.browser.click("#anew")
        self.set("takes", "2s")
        for _ in range(3):
            self.browser.click("#submit")
            self.advance(400)
        self.browser.wait(headline + " === '3 calls → 1 run + 1 pending, 33 % saved'")
        self.browser.click("#cancel")
        self.browser.wait(headline + " === '3 calls → 1 run, 0 % saved, 2 dropped by cancel'")
        self.browser.run("document.getElementById('cancel-running').checked = true")
        self.browser.click("#cancel")
        self.browser.wait(headline + " === '3 calls → 1 run, 3 dropped by cancel'")

    def test_the_page_plays_by_itself_until_it_is_touched(self):
        self.browser.open(PAGE)
        self.assertGreaterEqual(self.browser.run("return playground.stage.submits.length"), 9)
        self.browser.wait("return playground.stage.submits.length > 9")
        # A slider asks about what is shown.
        self.browser.run("""
            const range = document.querySelector("#lanes input");
            range.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
            range.value = 0;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        self.assertGreaterEqual(self.browser.run("return playground.stage.lanes[0].executions.length"), 9)
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
        self.browser.open(PAGE)
        self.browser.run("document.querySelector('.skip').focus()")
        self.browser.keys(*["\ue004"] * 12)                 # tabs, past the timeline
        self.assertEqual(self.browser.text("#turn"), "Try it:")
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")                         # left
        self.assertIn("on the trailing edge, 9 submits behind it", self.browser.text("#detail"))
        self.assertEqual(self.browser.text("#turn"), "Your turn:")
        count = self.browser.run("return playground.stage.submits.length")
        self.browser.click("#pause")
        self.browser.run("return new Promise((done) => setTimeout(done, 2500))")
        self.assertEqual(self.browser.run("return [playground.stage.submits.length, playground.timeline.isPaused]"), [count, True])
        self.browser.click("#submit")
        # There is nothing left of what was paused.
        self.assertEqual(self.browser.run("return [playground.stage.submits.length, playground.timeline.isPaused]"), [1, False])
        # A picture of one's own stays paused.
        self.browser.click("#pause")
        self.browser.click("#submit")
        self.assertEqual(self.browser.run("return [playground.stage.submits.length, playground.timeline.isPaused]"), [2, True])

    def test_a_link_to_other_policies_lets_the_page_play_on(self):
        self.browser.open(PAGE)
        self.browser.run("location.hash = '#!debounce,1s'")
        self.browser.wait("return playground.stage.lanes.length === 1 && playground.stage.submits.length > 3")
        self.assertEqual(self.browser.text("#turn"), "Try it:")

    def test_a_link_that_is_wrong_leaves_the_page_alive(self):
        self.browser.open(PAGE, "#!bounce,1s")
        self.assertGreaterEqual(self.browser.run("return playground.stage.submits.length"), 9)
        self.assertIn("neither debounce nor throttle", self.browser.text("#notice"))
        self.browser.type("#type", "a")
        self.assertTrue(self.browser.run("return document.getElementById('notice').hidden"))

    def test_with_reduced_motion_it_shows_one_burst(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.browser.open(PAGE)
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 9)
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].executions.length"), 1)
        self.browser.run("return new Promise((done) => setTimeout(done, 2500))")
        self.assertEqual(self.browser.run("return playground.stage.submits.length"), 9)

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

    def test_a_call_that_comes_while_a_link_is_packed_is_in_the_next_one(self):
        self.hold()
        self.browser.run("""
            window.packing = 0;
            const pack = linkWithCalls;
            window.linkWithCalls = async (stage) => {
                const packed = await pack(stage);
                packing += 1;
                await new Promise((done) => setTimeout(done, packing === 1 ? 1500 : 0));
                return packed;
            };
        """)
        self.browser.click("#submit")
        self.browser.wait("return packing === 1")
        self.browser.click("#cancel")
        self.browser.wait("return /^It holds 2 calls/.test(document.getElementById('link-note').textContent)")
        # The older one is ready last, and is not shown.
        self.browser.run("return new Promise((done) => setTimeout(done, 1700))")
        self.assertIn("It holds 2 calls", self.browser.text("#link-note"))

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

    def test_a_call_that_is_handled_late_is_recorded_when_it_can_still_be_played(self):
        same = self.browser.run("""
            const runs = (stage) => JSON.stringify(stage.lanes.map((lane) => [lane.counters, lane.drops,
                lane.executions.map(({ at, startedAt, endedAt, value, outcome }) => [at, startedAt, endedAt, value, outcome])]));
            const found = [];
            for (const [policy, takes, calls] of [
                ["debounce,300ms", 0, [[10], [110], [315, 300]]],
                ["debounce,10ms,while-running=skip", 100, [[10], [130, 90]]],
                ["debounce,300ms,edges=leading+trailing,while-running=cancel", 100, [[10], [200, 150], [460, 455]]],
            ]) {
                const stage = new playground.Stage();
                stage.clock.hold(0);
                stage.policies = [playground.policyFromLink(policy)];
                stage.setHandler(takes, "never");
                for (const [handled, at] of calls) {
                    stage.clock.advance(handled - stage.clock.now);
                    stage.submit(handled, { at: at ?? handled });
                }
                stage.clock.advance(3000);
                const live = runs(stage);
                stage.replace(0, stage.policies[0]);
                found.push([live, runs(stage)]);
            }
            return found;
        """)
        for live, again in same:
            self.assertEqual(live, again)

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
            self.open(link)
            self.assertIn("This link was not understood", self.browser.text("#notice"), calls)
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)
        for fragment in ("#!debounce,1s&delay=5constructor", "#!throttle,1s,max-wait=2s", "#!debounce,1s,edges=leading+up",
                         "#!debounce,1s,max-wait=2s=3s"):
            self.open(fragment)
            self.assertIn("This link was not understood", self.browser.text("#notice"), fragment)

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

    def test_a_call_comes_after_what_was_due_before_it_however_late_the_page_is(self):
        self.open("#!debounce,300ms&debounce,300ms,edges=leading+trailing,while-running=cancel&throttle,500ms")
        self.browser.run("""
            document.getElementById("cancel-running").checked = true;
            const { stage, inputs } = playground;
            const hog = (milliseconds) => {
                const end = performance.now() + milliseconds;
                while (performance.now() < end);
            };
            document.getElementById("submit").click();
            hog(400);
            document.getElementById("cancel").click();
            document.getElementById("submit").click();
            hog(50);
            document.getElementById("submit").click();
            hog(400);
            document.getElementById("submit").click();
            // And while a recording is played.
            inputs.replay.play([0, 100, 100, 100, 100, 100, 1000]);
            return new Promise((done) => setTimeout(() => {
                hog(300);
                document.getElementById("flush").click();
                setTimeout(done, 1700);
            }, 150));
        """)
        self.browser.wait("return !playground.stage.lanes.some((lane) => lane.isBusy)")
        runs = """
            return playground.stage.lanes.map((lane) => [lane.counters.submitted, lane.drops,
                lane.executions.map(({ at, value, count, edge }) => [Math.round(1000 * (at - playground.stage.origin)), value, count, edge])]);
        """
        live = self.browser.run(runs)
        self.assertEqual([submitted for submitted, *_ in live], [11, 11, 11])
        self.browser.run("playground.stage.lanes.forEach((lane, index) => playground.stage.replace(index, lane.policy))")
        self.assertEqual(self.browser.run(runs), live)

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
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.browser.wait("return document.getElementById('frame').textContent.includes('calls=')")
        source, height = self.browser.run("""
            const holder = document.createElement("template");
            holder.innerHTML = document.getElementById("frame").textContent;
            const [frame] = holder.content.children;
            return [frame.src, Number(frame.height)];
        """)
        # On a phone the frame scrolls.
        for width in (760, 1200):
            self.browser.resize(width, height)
            self.browser.open(PAGE, source[source.index("#"):])
            seen = self.browser.run("""
                const runs = playground.stage.lanes.map((lane) => lane.executions.length);
                return [document.body.classList.contains("embed"), runs, document.documentElement.scrollHeight];
            """)
            self.assertEqual(seen[:2], [True, [1, 2, 4]])
            self.assertLessEqual(seen[2], height)

    def test_a_frame_stays_one_when_its_policies_change(self):
        self.open("#!embed&debounce,250ms")
        self.browser.run("playground.panel.replace({ ...playground.stage.policies[0], wait: 400 }, 0)")
        self.assertEqual(self.browser.run("return location.hash"), "#!embed&debounce,400ms")
        self.browser.run("location.hash = '#!debounce,400ms'")
        self.browser.wait("return !document.body.classList.contains('embed')")

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

    def test_a_link_that_is_wrong_says_what_is_wrong(self):
        for fragment, why in [
                ("#!debounce,300ms&calls=xx", "damaged"), ("#!debounce,300ms&key=D", "“D” is no key"),
                ("#!debounce,300ms&takes=soon", "not a duration"), ("#!bounce,1s", "neither debounce nor throttle")]:
            self.open(fragment)
            self.browser.wait("return !document.getElementById('notice').hidden")
            self.assertIn(why, self.browser.text("#notice"))
            self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)

    def test_the_replay_runs_and_stops_with_its_button(self):
        self.set("speed", "20")
        self.browser.click("#replay")
        self.assertEqual(self.browser.text("#replay"), "Stop the replay")
        self.browser.wait("return playground.stage.submits.length > 10")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 20)
        self.browser.click("#replay")
        self.assertEqual(self.browser.run("return playground.stage.clock.rate"), 1)
        self.assertEqual(self.browser.text("#replay"), "Replay real typing")

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

    def test_the_time_to_the_next_due_instant_is_shown(self):
        self.hold()
        self.browser.click("#submit")
        self.advance(100)
        self.browser.wait("""
            return document.querySelector("#counters td[data-count=nextDue]").textContent === "in 0.20 s";
        """)

    def test_events_are_described_in_words(self):
        self.hold()
        self.browser.type("#type", "hi")
        self.advance(400)
        self.assertIn("“hi” on the trailing edge, 2 submits behind it", self.browser.text("#log"))
        self.browser.wait("return document.getElementById('spoken').textContent.includes('2 submits.')")

    def test_arrow_keys_visit_the_executions(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        self.browser.run("document.getElementById('timeline').focus()")
        self.browser.keys("\ue012")                         # left
        self.assertIn("“30” on the trailing edge, 30 submits behind it", self.browser.text("#detail"))
        self.browser.keys("\ue015", "\ue012")               # down, left
        self.assertIn("on the maxWait edge", self.browser.text("#detail"))
        self.browser.keys("\ue00c")                         # escape
        self.assertEqual(self.browser.text("#detail"), "")

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

    def test_a_bad_link_is_explained_and_harmless(self):
        self.open("#!debounce,300")
        self.assertIn("has no unit", self.browser.text("#notice"))
        self.assertEqual(self.browser.run("return playground.stage.lanes.length"), 3)
        self.open("#!debounce,300ms,max-wait=100ms")
        self.assertIn("must be at least the wait", self.browser.text("#notice"))

    def test_a_setting_that_the_engine_refuses_is_explained_beside_the_field(self):
        self.set("option-maxWait", "100ms")
        self.assertIn("must be at least the wait of 300ms", self.browser.text("#wrong"))
        self.set("option-wait", "200ms")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#form [aria-invalid]').length"), 1)
        self.set("option-wait", "300ms")
        self.set("option-maxWait", "100ms")
        for width in (390, 1280):
            self.browser.resize(width, 1000)
            field, wrong = self.browser.run("""
                return ["option-maxWait", "wrong"].map((id) => {
                    const { left, top, bottom } = document.getElementById(id).getBoundingClientRect();
                    return [left, top, bottom];
                });
            """)
            self.assertLess(abs(field[0] - wrong[0]), 5)
            self.assertLess(wrong[1] - field[2], 60)
        self.assertIsNone(self.browser.run("return playground.stage.policies[0].maxWait"))

    def test_a_spacing_holds_back_what_comes_to_rest_too_soon(self):
        self.set("option-spacing", "2s")
        self.assertEqual(self.browser.text("#command"), "lull filter --wait 300ms --spacing 2s --at-end wait")
        self.assertIn("options: .init(spacing: .seconds(2))", self.browser.text("#swift"))
        self.assertIn("spacing 2 s", self.browser.text("#tab-0"))
        self.set("option-kind", "throttle")
        self.assertTrue(self.browser.run("return document.getElementById('option-spacing').disabled"))
        self.assertIsNone(self.browser.run("return playground.stage.policies[0].spacing"))

    def test_a_preset_fills_the_form(self):
        self.set("option-preset", "2")
        self.assertEqual(self.browser.text("#command"), "lull filter --wait 2s --max-wait 10s --at-end wait")


if __name__ == "__main__":
    unittest.main()
