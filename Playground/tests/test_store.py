"""The durable core in the page: a store and workers in virtual time."""

import json
import os
import random
import subprocess
import tempfile
import unittest

from harness import ROOT, PageTest


class StoreTest(PageTest):
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
        self.assertEqual(len(scenarios), 288)
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

    TROUBLE = """
        // A storm of everything that can happen, and then peace. Returns what is wrong, and how much there was of what.
        const storm = (seed) => {
            const random = (below) => Math.floor((seed = (seed * 48271) % 2147483647) / 97) % below;
            const any = (...choices) => choices[random(choices.length)];
            const whileRunning = any("queue", "restart");
            const limit = any(null, null, { starts: 3, per: 2000 });
            const maxRunning = any(null, null, 2);
            const simulation = new StoreSimulation({
                policy: makePolicy("debounce", 300, { maxWait: any(null, 900), combine: any("latest", "collect") }),
                whileRunning, limit, maxRunning, workers: 3, lease: 2000, latency: any(0, 20, 300), takes: 500,
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
            const last = {};
            const claims = {};
            const done = new Set();
            for (const record of records) {
                if (record.do === "claimed") claims[record.run] = record;
                if (record.do === "effect" && record.accepted) {
                    if (record.fence < (last[record.key] ?? 0)) wrong.push(["an older fence was accepted", record]);
                    last[record.key] = record.fence;
                    done.add(record.run);
                }
                if (record.do === "reported" && record.report === "completed" && record.answer === "accepted" && !done.has(record.run)) {
                    wrong.push(["completed without an effect", record]);
                }
            }
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
