"""The durable core in the page: a store and workers in virtual time."""

import json
import os
import random
import subprocess
import tempfile
import unittest

from harness import ROOT, PageTest


class StoreTest(PageTest):
    # Each test has a store of its own.
    renewal = ""

    # A worker that is always there, whose handlers take no time, beside the store.
    PROMPT = "{ policy, workers: 1, maxConcurrent: 1000, lease: 3_600_000, latency: 0, takes: 0, ...more }"
    PLAY = """
        const play = (policy, calls, more = {}) => {
            const simulation = new StoreSimulation(%s);
            const found = [];
            const take = (to) => found.push(...simulation.advance(to).filter(({ do: name }) => name === "claimed"));
            for (const { at, op = "submit", key, value, wait = null } of calls) {
                take(at);
                if (op === "submit") simulation.submit(key, value, { wait });
                else if (op === "touch") simulation.touch(key, { wait });
                else simulation[op](key);
                take(at);
            }
            const isBusy = () => Object.entries(simulation.state.outcomes).some(([name, count]) =>
                ["pending", "ready", "running", "waiting"].includes(name) && count > 0);
            while (isBusy()) take(simulation.alarm);
            const { addUp, invariants } = simulation.state;
            if (!addUp || invariants.length > 0) throw new Error(`the accounts: ${JSON.stringify(simulation.state)}`);
            simulation.destroy();
            return found;
        };
    """ % PROMPT

    def test_every_conformance_case_gives_its_executions(self):
        scenarios = []
        for name in ["scenarios", "spacing"]:
            with open(os.path.join(ROOT, f"Tests/LullReference/{name}.json"), encoding="utf-8") as file:
                scenarios += json.load(file)
        script = self.PLAY + """
            const different = [];
            const byKey = (executions) => {
                const keys = {};
                for (const { at, key, value, count, edge, first } of executions) (keys[key] ??= []).push([at, value, count, edge, first]);
                return JSON.stringify(Object.entries(keys).sort(([one], [other]) => (one < other ? -1 : 1)));
            };
            for (const { id, policy: { kind, wait, interval, edges, ...more }, ops, expected } of arguments[0]) {
                const policy = { ...more, kind, wait: wait ?? interval, leading: edges.includes("leading"),
                    trailing: edges.includes("trailing"), combine: "latest" };
                const found = play(policy, ops).map(({ due, values, ...run }) => ({ ...run, at: due, value: values[0] }));
                if (byKey(found) !== byKey(expected)) different.push([id, byKey(expected), byKey(found)]);
            }
            return different;
        """
        self.assertEqual(len(scenarios), 294)
        self.assertEqual(self.browser.run(script, scenarios), [])
        # The check itself can fail.
        scenarios[0]["expected"][0]["at"] += 1
        self.assertEqual(len(self.browser.run(script, scenarios[:1])), 1)

    def test_a_worker_hears_of_what_was_submitted_while_it_was_busy(self):
        claims = self.browser.run("""
            const simulation = new StoreSimulation({ policy: makePolicy("debounce", 1000), workers: 1, maxConcurrent: 1, takes: 1500, lease: 30_000 });
            simulation.submit("a", 1);
            const records = simulation.advance(1500);
            simulation.submit("b", 2);
            records.push(...simulation.advance(10_000));
            simulation.destroy();
            return records.filter(({ do: name }) => name === "claimed").map(({ at, key }) => [key, at]);
        """)
        # At once when the first one has ended: the second one was not due before 2.5 s.
        self.assertEqual(claims, [["a", 1020], ["b", 2550]])

    def test_a_prompt_worker_executes_what_lull_simulate_says(self):
        chance = random.Random(46)
        executions = 0
        for arguments, policy in [
            ("--wait 300ms", ["debounce", 300, {}]),
            ("--wait 300ms --max-wait 700ms", ["debounce", 300, {"maxWait": 700}]),
            ("--wait 300ms --combine collect --max-count 4", ["debounce", 300, {"combine": "collect", "maxCount": 4}]),
            ("--wait 300ms --combine first --edges leading,trailing", ["debounce", 300, {"combine": "first", "leading": True}]),
            ("--wait 300ms --spacing 900ms", ["debounce", 300, {"spacing": 900}]),
            ("--wait 300ms --delay-rule extend", ["debounce", 300, {"delayRule": "extend"}]),
            ("--throttle 500ms", ["throttle", 500, {"trailing": True}]),
        ]:
            calls, at = [], 0
            for value in range(300):
                at += chance.choice([1, 20, 90, 90, 200, 400, 1500])
                op = chance.choice(["submit"] * 12 + ["touch", "flush", "cancel"])
                calls.append({"at": at, "op": op, "key": chance.choice("ab")})
                if op == "submit":
                    calls[-1]["value"] = value
                if op in ("submit", "touch") and chance.random() < 0.1:
                    calls[-1]["wait"] = chance.randrange(1, 800)
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as trace:
                for call in calls:
                    line = {**call, "at": call["at"] / 1000}
                    if "wait" in call:
                        line["wait"] = f"{call['wait']}ms"
                    trace.write(json.dumps(line) + "\n")
                trace.flush()
                said = subprocess.run(
                    [os.environ["LULL"], "simulate", *arguments.split(), "--format", "jsonl", trace.name],
                    capture_output=True, check=True, text=True).stdout
            expected = [json.loads(line) for line in said.splitlines()]
            found = self.browser.run(
                self.PLAY + "return play(makePolicy(...arguments[0]), arguments[1])", policy, calls)
            for key in "ab":
                self.assertEqual(
                    [(run["due"], run["values"], run["count"], run["edge"]) for run in found if run["key"] == key],
                    [(round(run["at"] * 1000), run["value"] if "collect" in arguments else [run["value"]], run["count"], run["edge"])
                     for run in expected if run["key"] == key], arguments)
            executions += len(expected)
        self.assertGreater(executions, 500)

    SCENE = """
        // What happens if the calls are made at their instants, up to the last.
        const scene = (calls, options = {}) => {
            const simulation = new StoreSimulation({ policy: makePolicy("debounce", 300), ...options });
            simulation.ignoresCancellation = options.ignoresCancellation ?? false;
            const records = [];
            for (const [at, name, ...more] of calls) {
                records.push(...simulation.advance(at));
                if (name) simulation[name](...more);
            }
            const { state } = simulation;
            simulation.destroy();
            return { records, state, of: (...names) => records.filter(({ do: name }) => names.includes(name)) };
        };
    """

    def test_a_run_whose_worker_is_killed_is_taken_over_when_its_lease_has_expired(self):
        claims, effects, expired, outcomes = self.browser.run(self.SCENE + """
            const { of, state } = scene([[0, "submit", "a", "x"], [500, "kill", 0], [600, "start", 0], [9000]], { workers: 1 });
            return [of("claimed").map(({ at, run, attempt, fence, until }) => [at, run, attempt, fence, until]),
                of("effect").map(({ at, accepted, values }) => [at, accepted, values]), of("expired").map(({ at, run }) => [at, run]),
                state.outcomes];
        """)
        (first, run, attempt, fence, until), (second, again, next_attempt, next_fence, _) = claims
        self.assertEqual((run, attempt, until), (again, 1, first + 5000))
        self.assertEqual(next_attempt, 2)
        self.assertGreater(next_fence, fence)
        self.assertGreaterEqual(second, until)
        self.assertLess(second, until + 100)
        self.assertEqual(expired, [[second, run]])
        self.assertEqual(effects, [[second + 10 + 600, True, ["x"]]])
        self.assertEqual((outcomes["submitted"], outcomes["completed"]), (1, 1))

    def test_a_machine_that_wakes_finds_its_run_taken_over_and_the_server_refuses_what_it_writes(self):
        polite, stubborn = self.browser.run(self.SCENE + """
            const sleeper = scene([[0, "submit", "a", "x"], [400]]).of("claimed")[0].worker;
            return [false, true].map((ignoresCancellation) => {
                const { of, state } = scene(
                    [[0, "submit", "a", "x"], [400, "sleep", sleeper, 5000], [9000]], { lease: 2000, ignoresCancellation });
                return { effects: of("effect").map(({ worker, accepted }) => [worker === sleeper, accepted]),
                    cancelled: of("cancelling").map(({ at, worker }) => [at >= 5400, worker === sleeper]),
                    accepted: of("reported").filter(({ worker, at, answer }) => worker === sleeper && at > 5400 && answer === "accepted"),
                    woke: of("woke").map(({ at, worker }) => [at, worker === sleeper]), completed: state.outcomes.completed };
            });
        """)
        for one in (polite, stubborn):
            self.assertEqual(one["cancelled"], [[True, True]])
            self.assertEqual(one["woke"], [[5400, True]])
            self.assertEqual(one["accepted"], [])
            self.assertEqual(one["completed"], 1)
        # A handler that asks whether it is cancelled writes nothing any more.
        self.assertEqual(polite["effects"], [[False, True]])
        self.assertEqual(stubborn["effects"], [[False, True], [True, False]])

    def test_a_report_whose_answer_is_lost_is_repeated_and_counts_once(self):
        reports, effects, outcomes = self.browser.run(self.SCENE + """
            const options = { workers: 1, latency: 400 };
            const calls = [[0, "submit", "a", "x"]];
            const [{ at }] = scene([...calls, [3000]], options).of("ended");
            // The report arrives after half of the latency; its answer would after the other half.
            const { of, state } = scene([...calls, [at + 300, "cutOff", 0, 500], [9000]], options);
            return [of("reported").filter(({ report }) => report === "completed").map((record) => [record.at - at, record.answer]),
                of("effect").length, state.outcomes];
        """)
        self.assertEqual([answer for _, answer in reports], ["accepted", "already done"])
        self.assertEqual(reports[0][0], 200)
        self.assertGreaterEqual(reports[1][0], 800)
        self.assertEqual((effects, outcomes["completed"]), (1, 1))

    def test_a_worker_learns_that_its_run_is_interrupted_unless_it_is_cut_off(self):
        prompt, late = self.browser.run(self.SCENE + """
            const options = { workers: 1, whileRunning: "restart", takes: 9000 };
            const calls = (...cut) => [[0, "submit", "a", "x"], ...cut, [500, "submit", "a", "y"], [3500]];
            return [calls(), calls([400, "cutOff", 0, 2000])].map((calls) => {
                const { of } = scene(calls, options);
                return of("interrupted", "cancelling").map(({ at, do: name }) => [name, at]);
            });
        """)
        self.assertEqual([name for name, _ in prompt], ["interrupted", "cancelling"])
        self.assertEqual([name for name, _ in late], ["interrupted", "cancelling"])
        self.assertLess(prompt[1][1] - prompt[0][1], 50)
        self.assertEqual(late[0][1], prompt[0][1])
        self.assertGreaterEqual(late[1][1], 2400)

    def test_a_limit_and_a_pause_hold_back_what_is_ready(self):
        starts, limited, during, after = self.browser.run(self.SCENE + """
            const { of } = scene([[0, "submit", "a", 1], [0, "submit", "b", 2], [5000]], { limit: { starts: 1, per: 1000 } });
            const calls = [[0, "submit", "a", 1], [100, "pause", "deploy"], [2000]];
            const paused = scene(calls);
            return [of("claimed").map(({ at }) => at), of("limited").map(({ until }) => until),
                [paused.of("claimed").length, paused.state.pause, paused.state.outcomes.ready + paused.state.outcomes.pending],
                scene([...calls, [2000, "resume"], [4000]]).of("claimed").map(({ at }) => at)];
        """)
        self.assertEqual(len(starts), 2)
        self.assertEqual(limited[0], starts[0] + 1000)
        self.assertTrue(limited[0] <= starts[1] < limited[0] + 50, (starts, limited))
        self.assertEqual(during, [0, {"reason": "deploy"}, 1])
        self.assertEqual(len(after), 1)
        self.assertTrue(2000 <= after[0] < 2050, after)

    def test_a_run_that_has_failed_for_good_is_dead_until_it_is_retried(self):
        dead, attempts, outcomes, effects = self.browser.run(self.SCENE + """
            const options = { workers: 1, retry: { initialDelay: 100, maxAttempts: 2 } };
            const calls = [[0, "fail", 2], [0, "submit", "a", "x"], [5000]];
            const { state: { dead } } = scene(calls, options);
            const { of, state } = scene([...calls, [5000, "retry", dead[0].run], [9000]], options);
            return [dead.map(({ key, error }) => [key, error]), of("claimed").map(({ attempt }) => attempt), state.outcomes,
                of("effect").map(({ values }) => values)];
        """)
        self.assertEqual(dead, [["a", "it threw"]])
        self.assertEqual(attempts[:2], [1, 2])
        self.assertEqual(len(attempts), 3)
        self.assertEqual((outcomes["dead"], outcomes["completed"]), (0, 1))
        self.assertEqual(effects, [["x"]])

    TROUBLE = """
        // A storm of everything that can happen, and then peace. Returns what is wrong, and how much there was of what.
        const storm = (seed) => {
            const random = (below) => Math.floor((seed = (seed * 48271) % 2147483647) / 97) % below;
            const any = (...choices) => choices[random(choices.length)];
            const whileRunning = any("queue", "restart");
            const limit = any(null, null, { starts: 3, per: 2000 });
            const maxRunning = any(null, null, 2);
            const combine = any("latest", "collect");
            const maxBatch = combine === "collect" ? any(null, 2) : null;
            const simulation = new StoreSimulation({
                policy: makePolicy("debounce", 300, { maxWait: any(null, 900), combine }),
                whileRunning, limit, maxRunning, maxBatch, workers: 3, lease: 2000, latency: any(0, 20, 300), takes: 500,
                retry: { initialDelay: 200, maxAttempts: any(2, 4) },
            });
            simulation.ignoresCancellation = random(2) === 0;
            const wrong = [];
            const records = [];
            const look = (to) => {
                records.push(...simulation.advance(to));
                const { addUp, invariants, outcomes } = simulation.state;
                if (!addUp) wrong.push(["does not add up", to, outcomes]);
                wrong.push(...invariants);
            };
            for (let index = 0; index < 150; index++) {
                const worker = random(3);
                const deed = random(30);
                if (deed < 15) simulation.submit(any("a", "b", "c"), index);
                else if (deed < 17) simulation.kill(worker);
                else if (deed < 20) simulation.start(worker);
                else if (deed < 21) simulation.sleep(worker, 1000 + random(4000));
                else if (deed < 22) simulation.cutOff(worker, 500 + random(4000));
                else if (deed < 23) simulation.stop(worker);
                else if (deed < 24) simulation.fail(1 + random(3));
                else if (deed < 25) simulation.takes = any(0, 500, 500, 3000);
                else if (deed < 26) random(2) ? simulation.pause() : simulation.resume();
                else if (deed < 27) simulation.flush(any("a", undefined));
                else if (deed < 28) simulation.cancel(any("a", "b"));
                else if (deed < 29) simulation.touch("c");
                else for (const { run } of simulation.state.dead) random(2) ? simulation.retry(run) : simulation.discard(run);
                look(simulation.now + random(random(4) === 0 ? 3000 : 300));
            }
            simulation.resume();
            simulation.fail(0);
            simulation.takes = 100;
            for (let round = 0; round < 60; round++) {
                for (const worker of [0, 1, 2]) simulation.start(worker);
                look(simulation.now + 1000);
            }
            const { outcomes } = simulation.state;
            for (const name of ["pending", "ready", "running", "waiting"]) {
                if (outcomes[name] > 0) wrong.push([`${name} at the end`, outcomes]);
            }
            // A dead run that is retried may be older than what came after it: whoever retries it wants that.
            const retried = new Set(records.filter(({ do: name }) => name === "retried").map(({ run }) => run));
            const last = {};
            const done = new Map();
            const taken = new Set();
            for (const record of records) {
                if (record.do === "effect" && record.accepted) {
                    const newest = Math.max(...record.values);
                    if (newest < (last[record.key] ?? 0) && !retried.has(record.run)) wrong.push(["an older value was accepted", record]);
                    last[record.key] = newest;
                    done.set(record.run, record.values);
                }
                if (record.do === "reported" && record.report === "completed" && record.answer === "accepted" && !done.has(record.run)) {
                    wrong.push(["completed without an effect", record]);
                }
                // A run that is collected carries the value of each submit: one completes it, once.
                if (record.do === "reported" && record.report === "completed" && record.answer === "accepted") {
                    for (const value of done.get(record.run) ?? []) {
                        if (taken.has(value)) wrong.push(["completed twice", value, record]);
                        taken.add(value);
                    }
                }
            }
            if (combine === "collect" && taken.size !== outcomes.completed) wrong.push(["other values than submits", taken.size, outcomes]);
            const starts = records.filter(({ do: name }) => name === "claimed").map(({ at }) => at);
            if (limit) starts.forEach((at, index) => {
                if (index >= limit.starts && at - starts[index - limit.starts] < limit.per) wrong.push(["too many starts", at]);
            });
            simulation.destroy();
            const counts = {};
            for (const { do: name, accepted } of records) {
                const kind = name === "effect" && !accepted ? "refused" : name;
                counts[kind] = (counts[kind] ?? 0) + 1;
            }
            return { wrong, counts, records };
        };
    """

    def test_nothing_is_lost_whatever_happens_to_the_workers(self):
        found = self.browser.run(self.TROUBLE + """
            const wrong = [];
            const counts = {};
            for (let seed = 1; seed <= 150; seed++) {
                const one = storm(seed * 7919);
                if (one.wrong.length > 0) wrong.push([seed, one.wrong[0]]);
                for (const [name, count] of Object.entries(one.counts)) counts[name] = (counts[name] ?? 0) + count;
            }
            return { wrong, counts };
        """)
        self.assertEqual(found["wrong"][:3], [])
        # All of it has happened.
        for name in ["killed", "slept", "cutOff", "stopping", "gone", "expired", "refused", "putBack", "interrupted", "backoff", "dead",
                     "retried", "discarded", "limited", "paused", "effect", "cancelled", "flushed"]:
            self.assertGreater(found["counts"].get(name, 0), 5, (name, found["counts"]))

    def test_the_same_calls_have_the_same_outcome(self):
        self.assertTrue(self.browser.run(self.TROUBLE + """
            return [1, 2, 3].every((seed) => JSON.stringify(storm(seed).records) === JSON.stringify(storm(seed).records));
        """))

    def test_a_setting_that_breaks_a_rule_is_refused_in_the_words_of_the_engine(self):
        self.assertEqual(self.browser.run("""
            try { new StoreSimulation({ policy: makePolicy("debounce", 300, { maxWait: 100 }) }); } catch (error) { return error.message; }
        """), "the maxWait is 100ms, but must be at least the wait of 300ms")


if __name__ == "__main__":
    unittest.main()
