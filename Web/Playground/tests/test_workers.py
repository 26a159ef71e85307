"""Workers over a store, on a time line that goes both ways."""

from harness import PageTest

RIGHT, LEFT, HOME = "\ue014", "\ue012", "\ue011"


class WorkersCase(PageTest):
    """What the tests share. Nothing plays by itself: only `advance` and `seek` move the time."""

    renewal = """
        document.querySelector("#stores-which input").click();
        document.getElementById("stores-field").value = "";
        document.getElementById("stores-speed").value = "1";
        const canvas = document.getElementById("stores-timeline");
        for (const name of ["setPointerCapture", "hasPointerCapture"]) delete canvas[name];
        scrollTo(0, 0);
    """

    def setUp(self):
        super().setUp()
        self.browser.emulate(prefers_reduced_motion="reduce")
        self.browser.run("""
            playground.workers.pause();
            document.getElementById("stores-clear").click();
        """)

    def do(self, *steps):
        """Calls at the given milliseconds: each `[at, name, arguments…]`; a number alone only advances."""
        self.browser.run("""
            const { workers } = playground;
            for (const step of arguments[0]) {
                const [at, name, ...args] = Array.isArray(step) ? step : [step];
                workers.advance(at - workers.now);
                if (name) workers.do(name, ...args);
            }
        """, steps)

    def press(self, button):
        self.browser.run("document.getElementById(`stores-${arguments[0]}`).click()", button)

    def choose(self, setting, value):
        self.set(f"stores-{setting}", value)

    def seek(self, at):
        self.browser.run("playground.workers.seek(arguments[0])", at)

    def past(self, script):
        """Evaluates an expression about what has happened by the instant that is shown."""
        return self.browser.run(f"const {{ past, state, results, memory }} = playground.workers.present; return {script};")

    def rows(self):
        """The table: with a store and without, by column."""
        return self.browser.run("""
            return [...document.querySelectorAll("#stores-table tbody tr")].map((row) =>
                Object.fromEntries([...row.querySelectorAll("td")].map((cell) => [cell.dataset.name, cell.textContent])));
        """)

    def bad(self):
        """What is red in each row."""
        return self.browser.run("""
            return [...document.querySelectorAll("#stores-table tbody tr")].map((row) =>
                [...row.querySelectorAll(".bad")].map((cell) => cell.dataset.name));
        """)

    def effects(self):
        return self.past("past.effects.map(({ worker, value, accepted }) => [worker, value, accepted])")

    def words(self):
        return self.browser.run("return [...document.querySelectorAll('#stores-log li')].map((item) => item.textContent)")

    def assertSays(self, part):
        self.assertTrue(any(part in line for line in self.words()), (part, self.words()))

    def assertNothingLost(self):
        store = self.rows()[0]
        self.assertEqual((store["lost"], store["stale"]), ("0", "0"))
        self.assertEqual(self.past("[state.addUp, state.invariants]"), [True, []])


class IncidentTest(WorkersCase):
    def test_a_value_is_saved_once_by_one_worker(self):
        self.do([100, "submit", "letter"], [300, "submit", "letter"], 6000)
        self.assertEqual([effect[1:] for effect in self.effects()], [["letter 2", True]])
        wait = self.past("past.waits")[0]
        self.assertEqual((wait["first"], wait["due"], wait["at"]), (100, 1300, [100, 300]))
        self.assertEqual(self.rows()[0], {"edits": "2", "saves": "1", "waiting": "0", "lost": "0", "stale": "0", "doubled": "0",
                                          "refused": "0", "dead": "0", "the server has": "letter 2"})
        self.assertEqual(self.bad()[0], [])

    def test_when_a_worker_is_killed_its_lease_runs_out_and_another_one_takes_over(self):
        self.do([100, "submit", "letter"], 1800)
        worker = self.past("past.holds[0].worker")
        self.do([1800, "kill", worker], 3000)
        # Nobody may take it yet: its lease still holds.
        self.assertEqual(self.past("[past.holds.length, past.spans.map(({ kind }) => kind), past.holds[0].cutAt]"), [1, ["killed"], 1800])
        self.assertEqual(self.rows()[0]["waiting"], "1")
        self.do(9000)
        first, second = self.past("past.holds")
        self.assertEqual((second["worker"], second["attempt"], second["run"]), (1 - worker, 2, first["run"]))
        self.assertGreater(second["fence"], first["fence"])
        self.assertGreaterEqual(second["claimedAt"], first["until"])
        self.assertEqual(self.effects(), [[1 - worker, "letter 1", True]])
        self.assertNothingLost()
        # Without a store, the machine that was killed had it, or the other one.
        self.assertEqual(self.rows()[1]["lost"], "1" if worker == 0 else "0")
        self.assertSays("is killed by kill -9")
        self.assertSays(f"Worker {2 - worker} takes over letter 1, attempt 2")

    def test_who_sleeps_past_its_lease_is_refused_by_the_server(self):
        # Its handler does not ask whether it is cancelled.
        self.choose("ignores", "true")
        self.do([100, "submit", "letter"], 1800)
        worker = self.past("past.holds[0].worker")
        self.do([1800, "sleep", worker, 7000], 12_000)
        self.assertEqual(self.effects(), [[1 - worker, "letter 1", True], [worker, "letter 1", False]])
        store = self.rows()[0]
        self.assertEqual((store["saves"], store["refused"], store["doubled"]), ("1", "1", "0"))
        self.assertNothingLost()
        self.assertSays("refuses letter 1")
        self.assertEqual(self.past("past.spans.map(({ kind, at, until }) => [kind, until - at])"), [["asleep", 7000]])

    def test_a_machine_that_wakes_without_a_store_replaces_what_is_newer(self):
        # The first edit is in the memory of the first machine, which falls asleep, the second one in that of the other.
        self.do([100, "submit", "letter"], [200, "sleep", 0, 6000], [300, "submit", "letter"], 12_000)
        memory = self.rows()[1]
        self.assertEqual((memory["stale"], memory["the server has"]), ("1", "letter 1"))
        self.assertIn("stale", self.bad()[1])
        self.assertEqual(self.rows()[0]["the server has"], "letter 2")
        self.assertNothingLost()

    def test_who_cannot_reach_the_store_saves_and_cannot_say_so(self):
        self.do([100, "submit", "letter"], 1800)
        worker = self.past("past.holds[0].worker")
        self.do([1800, "cutOff", worker, 7000], 14_000)
        # At least once: the run is done again by the other one, and that counts as doubled, with a store, too.
        self.assertEqual(self.effects(), [[worker, "letter 1", True], [1 - worker, "letter 1", True]])
        self.assertEqual(self.rows()[0]["doubled"], "1")
        self.assertIn("doubled", self.bad()[0])
        self.assertNothingLost()

    def test_in_a_pause_what_is_due_waits(self):
        self.do([100, "submit", "letter"], [500, "pause"], 5000)
        self.assertEqual(self.past("[past.holds.length, past.waits[0].isDue, past.pauses.length]"), [0, True, 1])
        self.assertEqual(self.browser.text("#stores-pause"), "Resume")
        self.press("pause")
        self.do(9000)
        self.assertEqual([effect[1] for effect in self.effects()], ["letter 1"])
        self.assertGreaterEqual(self.past("past.holds[0].claimedAt"), 5000)
        self.assertEqual(self.past("past.pauses"), [{"at": 500, "until": 5000}])

    def test_a_limit_holds_back_what_is_ready(self):
        self.choose("limit", 2000)
        self.do([100, "submit", "letter"], [100, "submit", "list"], [100, "submit", "plan"], 12_000)
        claims = self.past("past.holds.map(({ claimedAt }) => claimedAt)")
        self.assertEqual(len(claims), 3)
        for one, other in zip(claims, claims[1:]):
            self.assertGreaterEqual(other - one, 1900)
        self.assertTrue(self.past("past.waits.some(({ isLimited }) => isLimited)"))
        self.assertSays("The limit holds back")
        self.assertNothingLost()

    def test_what_is_newer_makes_a_slow_save_begin_again(self):
        self.choose("whileRunning", "restart")
        self.do([50, "takes", 3000], [100, "submit", "letter"], [1500, "submit", "letter"], 12_000)
        self.assertEqual([effect[1:] for effect in self.effects()], [["letter 2", True]])
        self.assertTrue(self.past("past.holds[0].isPutBack"))
        self.assertSays("goes back to the store")
        self.assertNothingLost()

    def test_a_save_that_fails_is_tried_again(self):
        self.do([100, "submit", "letter"], [200, "fail", 1], 9000)
        holds = self.past("past.holds.map(({ attempt, how }) => [attempt, how])")
        self.assertEqual(holds, [[1, "threw"], [2, "returned"]])
        self.assertEqual(self.past("past.rests.map(({ isDead }) => isDead)"), [False])
        self.assertNothingLost()
        self.assertEqual(self.rows()[1]["lost"], "1")

    def test_what_fails_too_often_is_dead_until_it_is_retried(self):
        self.do([100, "submit", "letter"], [200, "fail", 4], 16_000)
        self.assertEqual(self.rows()[0]["dead"], "1")
        self.assertEqual(self.past("state.dead.length"), 1)
        self.assertNothingLost()
        # Without a store it is tried once.
        self.assertEqual(self.rows()[1]["lost"], "1")
        self.press("retry")
        self.do(22_000)
        self.assertEqual(self.rows()[0]["dead"], "0")
        self.assertEqual(self.rows()[0]["the server has"], "letter 1")
        self.assertTrue(self.browser.run("return document.getElementById('stores-retry').disabled"))

    def test_a_worker_that_is_stopped_ends_what_it_has(self):
        self.do([100, "submit", "letter"], 1800)
        worker = self.past("past.holds[0].worker")
        self.do([1800, "stop", worker], 6000)
        self.assertEqual(self.effects(), [[worker, "letter 1", True]])
        self.assertEqual(self.past("past.spans.map(({ kind }) => kind)"), ["ended"])
        self.assertSays("SIGTERM")

    def test_four_workers_share_the_work(self):
        self.choose("workers", 4)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#stores-which input').length"), 4)
        self.do([100, "submit", "letter"], [100, "submit", "list"], [100, "submit", "plan"], 5000)
        self.assertEqual(self.rows()[0]["saves"], "3")
        self.assertEqual(self.browser.text("#stores-table tbody tr th"), "4 workers, one store")

    def test_what_is_given_up_for_something_newer_is_not_lost(self):
        self.do([100, "submit", "letter"], [200, "fail", 1], [2000, "submit", "letter"])
        for at in range(2000, 9000, 250):
            self.do(at)
            self.assertEqual(self.rows()[0]["lost"], "0", at)
        self.assertSays("Letter 1 is given up, since something newer is due")
        self.assertEqual(self.rows()[0]["the server has"], "letter 2")
        # It waits no more to be tried again.
        rest = self.past("past.rests[0]")
        self.assertLessEqual(rest["until"], 3000)

    def test_what_is_dead_and_outdated_cannot_be_retried_but_discarded(self):
        self.choose("story", 6)
        self.browser.run("playground.workers.seek(12000)")
        self.do([12_000, "submit", "letter"], 18_000)
        self.press("retry")
        self.assertSays("stays dead: something newer of its document")
        self.assertEqual((self.rows()[0]["dead"], self.past("past.rests.at(-1).until")), ("2", None))
        self.press("discard")
        self.assertSays("was dead, and is discarded")
        self.assertEqual((self.rows()[0]["dead"], self.rows()[0]["lost"]), ("0", "0"))

    def test_an_incident_takes_the_place_of_later_ones_and_an_edit_does_not(self):
        self.choose("story", 0)
        killed = "past.spans.some(({ kind }) => kind === 'killed')"
        for edit in (True, False):
            self.press("tell")
            self.browser.run("playground.workers.pause(); playground.workers.seek(0)")
            self.do([1000, "submit", "plan"] if edit else [1000, "fail", 1], 5000)
            self.assertEqual(self.past(killed), edit)


class PlayheadTest(WorkersCase):
    def story(self):
        self.do([100, "submit", "letter"], 1800)
        worker = self.past("past.holds[0].worker")
        self.do([1800, "kill", worker], 9000)
        return worker

    def test_the_past_is_shown_as_it_was(self):
        self.story()
        after = self.rows()
        self.seek(1700)
        self.assertEqual(self.past("[past.holds.length, past.holds[0].cutAt, past.effects.length]"), [1, None, 0])
        self.assertEqual(self.past("state.workers.map(({ state }) => state)"), ["alive", "alive"])
        self.assertEqual(self.rows()[0]["waiting"], "1")
        self.assertEqual(self.past("state.keys[0].run?.attempt ?? null"), 1)
        self.seek(9000)
        self.assertEqual(self.rows(), after)

    def test_an_incident_at_an_earlier_instant_makes_another_future(self):
        worker = self.story()
        self.seek(1700)
        self.browser.run("document.querySelector(`#stores-which input[value='${arguments[0]}']`).click()", 1 - worker)
        self.press("kill")
        self.assertEqual(self.browser.run("return playground.workers.end"), 1700)
        self.do(9000)
        # The later kill is gone: the worker that has the run ends it.
        self.assertEqual(self.effects(), [[worker, "letter 1", True]])
        self.assertEqual(self.past("past.marks.map(({ worker, at }) => [worker, at])"), [[1 - worker, 1700]])

    def test_the_input_stays_when_an_incident_is_put_in_before_it(self):
        self.do([100, "submit", "letter"], [3000, "submit", "letter"], 8000)
        self.seek(1000)
        self.press("pause")
        self.do(8000)
        self.assertEqual(self.past("past.submits.map(({ at, value }) => [at, value])"), [[100, "letter 1"], [3000, "letter 2"]])
        self.assertEqual(self.effects(), [])

    def test_other_settings_show_what_would_have_happened(self):
        self.story()
        before = self.past("past.holds[1].claimedAt")
        self.choose("lease", 2000)
        self.assertLess(self.past("past.holds[1].claimedAt"), before)

    def test_the_keyboard_moves_the_playhead(self):
        self.story()
        self.browser.run("document.getElementById('stores-at').focus()")
        self.browser.keys(HOME)
        self.assertEqual(self.browser.run("return playground.workers.now"), 0)
        self.browser.keys(RIGHT, RIGHT, RIGHT)
        now = self.browser.run("return playground.workers.now")
        self.assertEqual(now, 150)
        self.assertEqual(self.past("past.submits.length"), 1)
        self.assertTrue(self.browser.run("return document.getElementById('stores-at').getAttribute('aria-valuetext')").startswith("0.1 s: "))
        self.browser.keys(LEFT, LEFT)
        self.assertEqual(self.past("past.submits.length"), 0)

    def test_a_pointer_drags_it(self):
        self.story()
        self.browser.run("""
            const canvas = document.getElementById("stores-timeline");
            canvas.scrollIntoView();
            const { left, top, width } = canvas.getBoundingClientRect();
            canvas.setPointerCapture = () => {};
            canvas.hasPointerCapture = () => true;
            for (const [name, share] of [["pointerdown", 0.6], ["pointermove", 0.3]]) {
                canvas.dispatchEvent(new PointerEvent(name, { clientX: left + share * width, clientY: top + 50, pointerId: 1 }));
            }
        """)
        now = self.browser.run("return playground.workers.now")
        self.assertGreater(now, 2500)
        self.assertLess(now, 5500)

    def test_steps_go_from_one_thing_that_happens_to_the_next(self):
        self.do([100, "submit", "letter"])
        self.press("next")
        self.assertEqual(self.browser.run("return playground.workers.now >= 1100 && playground.workers.now < 1200"), True)
        self.press("next")
        self.press("back")
        self.press("back")
        self.assertEqual(self.browser.run("return playground.workers.now"), 100)
        self.press("back")
        self.assertEqual(self.browser.run("return playground.workers.now"), 0)


class ShownTest(WorkersCase):
    def test_at_first_a_story_is_shown(self):
        self.open()
        store, memory = self.rows()
        self.assertEqual((store["lost"], store["stale"], store["doubled"]), ("0", "0", "0"))
        self.assertNotEqual(memory["doubled"], "0")
        self.assertEqual(self.browser.run("return playground.workers.isPlaying"), False)
        self.assertGreater(len(self.words()), 15)

    def test_every_story_can_be_told_and_loses_nothing_with_a_store(self):
        stories = self.browser.run("return document.getElementById('stores-story').options.length")
        for story in range(stories):
            self.choose("story", story)
            for lease in (4000, 8000, 1000):
                self.choose("lease", lease)
                self.seek(0)
                lost = self.browser.run("""
                    const { workers } = playground;
                    const lost = [];
                    for (let at = 0; at < 15_000; at += 500) {
                        workers.advance(at - workers.now);
                        lost.push(document.querySelector("#stores-table tbody [data-name=lost]").textContent);
                    }
                    return lost;
                """)
                self.assertEqual(lost, ["0"] * 30, (story, lease))
            self.press("tell")
            self.do(30_000)
            self.assertNothingLost()
            self.assertEqual(self.rows()[0]["waiting"], "0", story)
            self.assertNotEqual(self.browser.text("#stores-story-says"), "")
            self.assertNotIn("undefined", " ".join(self.words()))

    def test_random_incidents_lose_nothing_with_a_store(self):
        self.browser.run("""
            let seed = 46;
            const random = (below) => Math.floor((seed = (seed * 48271) % 2147483647) / 97) % below;
            const { workers } = playground;
            for (let index = 0; index < 120; index++) {
                const worker = random(2);
                const { state } = workers.present.state.workers[worker];
                const incidents = [["kill", worker], ["sleep", worker, 500 + random(8000)], ["cutOff", worker, 500 + random(8000)], ["stop", worker],
                    [workers.present.state.isPaused ? "resume" : "pause", "test"], ["fail", 1], ["takes", 200 + random(3000)]];
                if (state === "gone") workers.do("start", worker);
                else if (random(4) === 0) workers.do(...incidents[random(incidents.length)]);
                else workers.do("submit", ["letter", "list", "plan"][random(3)]);
                workers.advance(random(1500));
            }
            if (workers.present.state.isPaused) workers.do("resume");
            for (const worker of [0, 1]) if (workers.present.state.workers[worker].state === "gone") workers.do("start", worker);
            workers.advance(60_000);
        """)
        self.assertNothingLost()
        self.assertEqual(self.rows()[0]["waiting"], "0")

    def test_the_accounting_adds_up(self):
        self.do([100, "submit", "letter"], [300, "submit", "letter"], [2000, "submit", "list"], 2500)
        self.assertIn("Of 3 submits in the store: ", self.browser.text("#stores-sum"))
        self.assertIn("It adds up.", self.browser.text("#stores-sum"))
        for row in self.rows():
            self.assertEqual(row["edits"], "3")

    def test_it_plays_and_pauses(self):
        self.browser.emulate()
        self.do([100, "submit", "letter"])
        self.assertEqual(self.browser.text("#stores-play"), "Pause")
        self.browser.wait("return playground.workers.now > 300")
        self.press("play")
        self.assertEqual(self.browser.text("#stores-play"), "Play")
        now = self.browser.run("return playground.workers.now")
        self.assertEqual(self.browser.run("return new Promise((done) => requestAnimationFrame(() => done(playground.workers.now)))"), now)

    def test_play_at_the_end_of_a_story_plays_it_again(self):
        self.choose("story", 0)
        self.assertLess(self.browser.run("document.getElementById('stores-play').click(); return playground.workers.now"), 1000)
        self.press("play")
        self.press("clear")
        self.assertTrue(self.browser.run("return document.getElementById('stores-tell').disabled"))

    def test_starting_over_takes_the_usual_settings(self):
        self.choose("lease", 1000)
        self.choose("wait", 300)
        self.press("clear")
        fields = "return ['lease', 'wait', 'story'].map((name) => document.getElementById(`stores-${name}`).value)"
        self.assertEqual(self.browser.run(fields)[:2], ["4000", "1000"])
        self.assertEqual(self.browser.run("return document.getElementById('stores-story').selectedOptions[0].textContent"), "your own")

    def test_buttons_say_what_can_be_done(self):
        disabled = """return [...document.querySelectorAll("#stores .does button")].filter(({ disabled }) => disabled).map(({ id }) => id)"""
        self.assertEqual(self.browser.run(disabled), ["stores-start", "stores-retry", "stores-discard"])
        self.press("kill")
        self.assertEqual(self.browser.run(disabled), ["stores-kill", "stores-stop", "stores-sleep", "stores-cut", "stores-retry", "stores-discard"])
        self.press("start")
        self.assertEqual(self.browser.run(disabled), ["stores-start", "stores-retry", "stores-discard"])
        self.press("slow")
        self.assertEqual(self.browser.run("return document.getElementById('stores-slow').getAttribute('aria-pressed')"), "true")

    def test_what_is_written_is_submitted(self):
        self.browser.type("#stores-field", "abc")
        self.assertEqual(self.past("past.submits.map(({ value }) => value)"), ["letter 1", "letter 2", "letter 3"])

    def test_it_fits_every_width(self):
        for width in (1280, 768, 390):
            self.browser.resize(width, 900)
            self.open()
            self.assertEqual(self.browser.run("""
                const wide = [...document.querySelectorAll("#stores .scroll, #stores table")].filter((one) => one.scrollWidth > one.clientWidth + 1);
                return [document.documentElement.scrollWidth, wide.length];
            """), [width, 0], width)
