"""The durable core in the page: a store and workers in virtual time."""

import json
import os

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
