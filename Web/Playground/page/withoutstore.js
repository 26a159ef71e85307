// The same input to machines without a store: each has a debouncer in its memory, the engine of the page, and the edits go to them in turn.

class WithoutStore {
    #clock = new Clock();
    #policy;
    /** The process of each machine, also while it ends; null for none. */
    #machines;
    #takes;
    #fails = 0;
    #turn = 0;
    #submitted = new Map();
    /** What the server got: `{ at, key, number, isStale, isDouble }`. It takes everything, as it gets no fences. */
    effects = [];
    #runs = [];
    /** What was in memory, and is gone: `{ machine, key, first, at }`. */
    #losses = [];
    /** As those of a `StoreHistory`. */
    #spans = [];

    constructor({ policy, whileRunning, workers, takes }) {
        this.#clock.hold(0);
        this.#policy = { ...policy, whileRunning };
        this.#takes = takes;
        this.#machines = Array.from({ length: workers }, (_, machine) => this.#process(machine));
    }

    #process(machine) {
        const clock = new MachineClock(this.#clock);
        // For each key, the numbers of the edits that it has not saved yet, and when each came.
        const process = { machine, clock, alive: new Map(), running: new Map(), isStopping: false };
        process.coalescer = new Coalescer(this.#policy, clock, (execution) => this.#begin(process, execution), {
            ended: (execution) => this.#end(process, execution),
        });
        return process;
    }

    get #living() {
        return this.#machines.filter((process) => process !== null);
    }

    #begin(process, execution) {
        const { key, value } = execution;
        const others = this.#living.filter((other) => other !== process);
        const due = process.alive.get(key).get(value) + this.#policy.wait;
        // One debouncer would have waited for the newer edit, or for the other's end. Of two saves in the place of one, one is too many.
        execution.isDouble = others.some((other) => other.running.get(key)?.isDouble === false
            || [...other.alive.get(key) ?? []].some(([number, at]) => number > value && at < due));
        process.running.set(key, execution);
        execution.machine = process.machine;
        this.#runs.push(execution);
        const throws = this.#fails > 0;
        this.#fails -= throws ? 1 : 0;
        return { takes: this.#takes, throws };
    }

    #end(process, execution) {
        const { key, value, outcome, isDouble } = execution;
        process.running.delete(key);
        if (outcome === "interrupted") return;
        const alive = process.alive.get(key);
        for (const number of alive.keys()) if (number <= value) alive.delete(number);
        this.#leave(process);
        if (outcome !== "executed") return;
        const newest = Math.max(0, ...this.effects.filter(isOf(key)).map(({ number }) => number));
        execution.isStale = value < newest;
        this.effects.push({ at: this.#clock.now, key, number: value, isStale: execution.isStale, isDouble });
    }

    // MARK: - Calls, which have the names of those of a `StoreSimulation`

    submit(key) {
        const number = (this.#submitted.get(key) ?? 0) + 1;
        this.#submitted.set(key, number);
        // The next machine that is awake gets it; if none is, it is lost before it is anywhere.
        for (let left = this.#machines.length; left > 0; left--) {
            const process = this.#machines[this.#turn++ % this.#machines.length];
            if (!process || process.isStopping || process.clock.wakesAt > this.#clock.now) continue;
            if (!process.alive.has(key)) process.alive.set(key, new Map());
            process.alive.get(key).set(number, this.#clock.now);
            process.coalescer.submit(number, { key });
            return;
        }
        this.#losses.push({ machine: 0, key, first: this.#clock.now, at: this.#clock.now });
    }

    kill(index) {
        const process = this.#machines[index];
        if (!process) return;
        const { now } = this.#clock;
        for (const { key, first } of process.coalescer.pending) this.#losses.push({ machine: index, key, first, at: now });
        for (const execution of process.running.values()) Object.assign(execution, { endedAt: now, outcome: "killed" });
        process.coalescer.dispose();
        this.#machines[index] = null;
        this.#endSpans(index);
        this.#spans.push({ worker: index, kind: "killed", at: now, until: null });
    }

    start(index) {
        // With other settings there may be no such machine.
        if (this.#machines[index] !== null) return;
        this.#machines[index] = this.#process(index);
        this.#endSpans(index);
    }

    #endSpans(index) {
        for (const span of this.#spans) if (span.worker === index) span.until = Math.min(span.until ?? Infinity, this.#clock.now);
    }

    /** A process that was asked to end is gone when it has nothing left. */
    #leave(process) {
        if (!process.isStopping || [...process.alive.values()].some(({ size }) => size > 0)) return;
        this.#machines[process.machine] = null;
        this.#spans.push({ worker: process.machine, kind: "ended", at: this.#clock.now, until: null });
    }

    /** It ends as Lull ends in memory when it is asked: what waits is saved at once. */
    stop(index) {
        const process = this.#machines[index];
        if (!process || process.isStopping) return;
        process.isStopping = true;
        process.coalescer.shutDown();
        this.#leave(process);
    }

    sleep(index, duration) {
        if (!this.#machines[index]) return;
        const at = this.#clock.now;
        this.#machines[index].clock.sleep(at + duration);
        this.#spans.push({ worker: index, kind: "asleep", at, until: at + duration });
    }

    fail(count) {
        this.#fails = count;
    }

    set takes(takes) {
        this.#takes = takes;
    }

    advance(to) {
        this.#clock.advance(to - this.#clock.now);
    }

    destroy() {
        for (const { coalescer } of this.#living) coalescer.dispose();
    }

    /** What there is to draw: what runs and ran, what was lost, and what waits. */
    get picture() {
        const waits = this.#living.flatMap(({ coalescer, machine }) => coalescer.pending.map((wait) => ({ ...wait, machine })));
        return { runs: this.#runs, losses: this.#losses, spans: this.#spans, waits };
    }

    /** What came of the edits of each key. */
    results() {
        return [...this.#submitted].map(([key, count]) => {
            const effects = this.effects.filter(isOf(key));
            const saved = Math.max(0, ...effects.map(({ number }) => number));
            const alive = Math.max(0, ...this.#living.flatMap(({ alive }) => [...alive.get(key)?.keys() ?? []]));
            const waiting = Math.max(0, alive - saved);
            return { key, edits: count, saves: effects.length, waiting, lost: count - saved - waiting,
                stale: effects.filter(({ isStale }) => isStale).length, doubled: effects.filter(({ isDouble }) => isDouble).length,
                refused: 0, dead: 0, server: effects.at(-1)?.number ?? 0,
                isAtRest: this.#living.every(({ alive }) => !alive.get(key)?.size) };
        });
    }
}
