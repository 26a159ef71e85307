// What people write instead of Lull, step by step in JavaScript. Each has the members of a `Coalescer` that a stage uses.

/**
 * A task that sleeps, is cancelled by the next call, and does its work when it has slept: the work itself is not cancelled, as most work does
 * not ask whether it is.
 */
class SleepingTask {
    #clock;
    #handler;
    #observer;
    #timer = null;
    #running = new Map();
    #runs = 0;
    /** The calls that are not done, oldest first. */
    waiting = [];
    withdrawn = 0;
    counters = { ...Object.fromEntries(counterNames.map((name) => [name, 0])), addUp: true };

    constructor(policy, clock, handler, observer) {
        [this.policy, this.#clock, this.#handler, this.#observer] = [policy, clock, handler, observer];
    }

    submit(value, { key = "", at = this.#clock.now } = {}) {
        this.waiting.push({ id: this.counters.submitted, value, key, at, outcome: "pending" });
        this.counters.submitted += 1;
        this.counters.superseded += this.waiting.length > 1 ? 1 : 0;
        this.counters.pending = 1;
        this.submitted(at);
    }

    /** A call cancels the task before it. */
    submitted(at) {
        this.sleep(at + this.policy.wait);
    }

    /** The work has ended. */
    ended() {}

    /** Sleeps until an instant, and not until an earlier one any more. */
    sleep(until) {
        if (this.#timer) this.#clock.drop(this.#timer);
        this.#timer = this.#clock.at(until, (due) => this.#start(due));
    }

    get isBusy() {
        return this.#running.size > 0;
    }

    get now() {
        return this.#clock.now;
    }

    /** Starts what was due at an instant, which may have passed: the machine may have slept. */
    #start(at) {
        this.#timer = null;
        const { now } = this;
        const behind = this.waiting;
        this.waiting = [];
        const execution = { run: this.#runs++, key: behind[0].key, count: behind.length, edge: "trailing", at, first: behind[0].at, startedAt: now,
            endedAt: null, outcome: "running", behind, value: behind.at(-1).value, takes: 0, continues: false };
        this.counters.pending = 0;
        this.counters.running += 1;
        this.#observer.started(execution);
        execution.takes = this.#handler(execution).takes;
        this.#running.set(execution, this.#clock.at(now + execution.takes, () => this.#end(execution, "executed")));
    }

    #end(execution, outcome) {
        this.#running.delete(execution);
        execution.endedAt = this.#clock.now;
        execution.outcome = outcome;
        this.counters.running -= 1;
        this.counters[outcome] += 1;
        this.#observer.ended(execution);
        if (outcome === "executed") this.ended();
    }

    cancel(key, { running = false, at = this.#clock.now } = {}) {
        this.dispose({ running });
        if (this.waiting.length > 0) this.#observer.dropped(this.waiting, "cancelled", at);
        this.withdrawn += this.waiting.length;
        this.counters.cancelled += this.counters.pending;
        this.counters.pending = 0;
        this.waiting = [];
        if (!running) return;
        for (const execution of [...this.#running.keys()]) {
            this.withdrawn += execution.count;
            this.#end(execution, "cancelled");
        }
    }

    /** Calls nothing any more. */
    dispose({ running = true } = {}) {
        if (this.#timer) this.#clock.drop(this.#timer);
        this.#timer = null;
        if (running) for (const timer of this.#running.values()) this.#clock.drop(timer);
    }

    nextDue() {
        return this.#timer?.at ?? null;
    }

    get runsToCome() {
        return this.counters.pending;
    }

    get pending() {
        if (this.waiting.length === 0) return [];
        const due = this.#timer?.at ?? Math.max(...[...this.#running.values()].map(({ at }) => at)) + this.policy.wait;
        return [{ key: this.waiting[0].key, first: this.waiting[0].at, due, count: this.waiting.length }];
    }
}

/**
 * A loop over `debounce(for:)` of AsyncAlgorithms, by its state machine. While the loop's body runs, the sequence takes one value and no more;
 * when the body has ended, it takes the others, and waits anew. Where its tasks race, the last value is assumed to win.
 */
class DebouncedLoop extends SleepingTask {
    submitted(at) {
        if (!this.isBusy) super.submitted(at);
    }

    ended() {
        const { waiting, now, policy } = this;
        if (waiting.length > 0) this.sleep(waiting.length === 1 ? Math.max(now, waiting[0].at + policy.wait) : now + policy.wait);
    }
}
