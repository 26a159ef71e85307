// The stage: applies what happens to up to four policies at once. It knows nothing of the page.

class Stage {
    static most = 4;

    clock = new Clock();
    lanes = [];
    submits = [];
    /** Flushes, cancels and ends. */
    marks = [];
    keys = [""];
    takes = 0;
    throws = "never";
    longestTakes = 0;
    lastEvent = -Infinity;
    isOver = false;
    origin = this.clock.now;
    /** The last instant handled. */
    #latest = -Infinity;
    /** Called with the name of an event, and its subject. */
    changed = () => {};

    /** Sets the policies, and starts over. Throws a `PolicyError` and changes nothing if one of them breaks a rule. */
    set policies(policies) {
        const lanes = policies.map((policy) => this.#lane(policy));
        for (const lane of this.lanes) lane.coalescer.dispose();
        this.lanes = lanes;
        this.#forget();
    }

    get policies() {
        return this.lanes.map((lane) => lane.policy);
    }

    startOver() {
        this.policies = this.policies;
    }

    #forget() {
        this.submits = [];
        this.marks = [];
        this.keys = [""];
        this.isOver = false;
        this.origin = this.clock.now;
        this.lastEvent = -Infinity;
        this.longestTakes = this.takes;
        this.changed("started over");
    }

    #lane(policy) {
        const lane = { policy, executions: [], drops: [], coalescer: null };
        lane.coalescer = new Coalescer(policy, this.clock, () => this.#handle(lane), {
            started: (execution) => {
                execution.lane = this.lanes.indexOf(lane);
                lane.executions.push(execution);
                this.#latest = Math.max(this.#latest, execution.at);
                this.#happened("started", execution);
            },
            ended: (execution) => this.#happened("ended", execution),
            dropped: (submits, fate, at) => {
                if (fate === "superseded" || (fate === "absorbed" && policy.combine === "first")) return;
                for (const submit of submits) lane.drops.push({ at, key: submit.key, fate });
                this.#happened("dropped", { fate, count: submits.length, lane: this.lanes.indexOf(lane) });
            },
        });
        Object.defineProperties(lane, {
            pending: { get: () => lane.coalescer.pending },
            counters: { get: () => lane.coalescer.counters },
            isBusy: { get: () => lane.counters.pending + lane.counters.running > 0 },
        });
        return lane;
    }

    #handle(lane) {
        this.longestTakes = Math.max(this.longestTakes, this.takes);
        const throws = this.throws === "always" || (this.throws === "third" && lane.executions.length % 3 === 0);
        return { takes: this.takes, throws };
    }

    #happened(name, about) {
        this.lastEvent = this.clock.now;
        this.changed(name, about);
    }

    // MARK: - Calls

    submit(value, { key = "", wait = null, at = this.clock.now, label = String(value) } = {}) {
        if (this.isOver) return this.changed("over");
        // Instants never go back: an event may have been made before what was handled last.
        const instant = Math.max(at, this.#latest);
        this.#latest = instant;
        if (!this.keys.includes(key)) this.keys = this.submits.length === 0 ? [key] : [...this.keys, key].sort();
        this.submits.push({ at: instant, key, value, wait, label: key || label });
        for (const lane of this.lanes) lane.coalescer.submit(value, { key, wait, at: instant });
        this.#happened("submitted", this.submits.at(-1));
    }

    flush() {
        this.#mark("flush");
        for (const lane of this.lanes) lane.coalescer.flush();
        this.#happened("flush");
    }

    cancel(running = false) {
        this.#mark("cancel");
        for (const lane of this.lanes) lane.coalescer.cancel(undefined, { running });
        this.#happened("cancel");
    }

    shutDown() {
        this.#mark("shut down");
        for (const lane of this.lanes) lane.coalescer.shutDown();
        this.#happened("shut down");
    }

    /** Releases the last handle: what is pending ends as each policy says, and no submit is possible any more. */
    releaseHandle() {
        this.#mark("release");
        for (const { coalescer, policy } of this.lanes) {
            if (policy.atEnd === "flush") coalescer.flush();
            if (policy.atEnd === "drop") coalescer.cancel();
        }
        this.isOver = true;
        this.#happened("release");
    }

    #mark(name) {
        this.#latest = Math.max(this.#latest, this.clock.now);
        this.marks.push({ at: this.clock.now, name });
    }

    /** The calls so far, as a trace for `lull simulate`: JSON Lines. */
    get trace() {
        const seconds = (at) => Number(((at - this.origin) / 1000).toFixed(9));
        const lines = this.submits.map(({ at, key, value, wait }) => ({
            at: seconds(at), ...(key && { key }), value, ...(wait != null && { wait: durationText(wait) }),
        }));
        for (const { at, name } of this.marks) {
            if (name === "flush" || name === "cancel") lines.push({ at: seconds(at), op: name });
        }
        lines.sort((one, other) => one.at - other.at);
        return lines.map((line) => JSON.stringify(line) + "\n").join("");
    }
}
