// A stage: applies what happens to up to four policies at once. It knows nothing of the page.

/** Whether a run came to nothing, or to harm. One that made way for a newer one, or goes on with it, did as it should. */
function isBad({ isStale, endedAt, outcome }, policy) {
    const isReplaced = policy.whileRunning === "cancel" && ["cancelled", "superseded"].includes(outcome);
    return isStale || (endedAt !== null && outcome !== "executed" && outcome !== "interrupted" && !isReplaced);
}

class Stage {
    static most = 4;

    clock;
    lanes = [];
    /** Everything that was done, in its order: `{ at, do, … }`. */
    calls = [];
    /** The submits among the calls. */
    submits = [];
    /** The touches among them. */
    touches = [];
    /** The other calls. */
    marks = [];
    /** Who sleeps how long: a key stands for a machine. */
    sleeps = [];
    keys = [""];
    takes = 0;
    throws = "never";
    longestTakes = 0;
    isOver = false;
    /** Whether a recording is being played, which may pause for long. */
    isReplaying = false;
    origin;
    #observer;
    /** The last instant handled. */
    #latest = -Infinity;
    /** Whether calls are played again, for which no events are reported. */
    #isRecomputing = false;
    /** Called with the name of an event, and its subject. */
    changed = () => {};

    /** @param observer The functions `handle`, called with each execution like the handler of a `Coalescer` (`execution.lane` is the
     *     index of its lane), `ended` and `dropped`; all are optional. */
    constructor(clock = new Clock(), observer = {}) {
        this.clock = clock;
        this.origin = clock.now;
        this.#observer = observer;
    }

    /** Sets the policies, and starts over. Throws a `PolicyError` and changes nothing if one of them breaks a rule. */
    set policies(policies) {
        const lanes = policies.map((policy) => this.#lane(policy));
        for (const lane of this.lanes) lane.coalescer.dispose();
        this.lanes = lanes;
        this.#forget();
    }

    /** Replaces one policy, and plays all calls so far through the new one. Throws a `PolicyError` as above. */
    replace(index, policy) {
        const lane = this.#lane(policy);
        this.lanes[index].coalescer.dispose();
        this.lanes[index] = lane;
        this.#play(lane);
        this.changed("recomputed", lane);
    }

    /** Records submits that are still to come; `makeRoom` comes next. */
    schedule(submits) {
        for (const submit of submits) this.#record({ do: "submit", key: "", wait: null, ...submit });
    }

    /** Plays all calls so far anew, through the same policies. */
    #playAgain() {
        this.lanes = this.lanes.map(({ policy, coalescer, name, isStored, isCrowded, lines }) => {
            coalescer.dispose();
            return Object.assign(this.#lane(policy), { name, isStored, isCrowded, lines });
        });
        for (const lane of this.lanes) this.#play(lane);
        this.changed("recomputed");
    }

    /**
     * Moves the past back, so that everything until an instant, and what comes of it, has happened: calls can then be moved until there, and a
     * little before the first one. Returns by how much.
     */
    makeRoom(until) {
        const longest = Math.max(...this.policies.map(({ wait, maxWait, spacing }) => Math.max(wait, maxWait ?? 0, spacing ?? 0)));
        const back = Math.max(0, Math.max(until, this.calls.at(-1).at) + longest + this.longestTakes - this.clock.now);
        for (const one of [...this.calls, ...this.marks]) one.at -= back;
        this.origin = Math.min(this.origin - back, this.calls[0].at - Demo.start);
        this.#latest -= back;
        this.#playAgain();
        return back;
    }

    /** Moves a call to another instant, though not behind the end. */
    move(call, at) {
        const end = this.calls.find(({ do: name }) => name === "release" || name === "kill -9")?.at ?? Infinity;
        call.at = Math.max(this.origin, Math.min(at, end - 1));
        for (const list of [this.calls, this.submits, this.touches]) list.sort((one, other) => one.at - other.at || (one === call) - (other === call));
        this.#playAgain();
    }

    /** Adds a policy, and plays all calls so far through it. */
    add(policy) {
        this.lanes.push(this.#lane(policy));
        this.#play(this.lanes.at(-1));
        this.changed("recomputed", this.lanes.at(-1));
    }

    remove(index) {
        const [lane] = this.lanes.splice(index, 1);
        lane.coalescer.dispose();
        this.changed("recomputed", lane);
    }

    /** Sets how long handlers take, in milliseconds, and when they throw; for what has been executed, too. */
    setHandler(takes, throws) {
        if (takes === this.takes && throws === this.throws) return;
        this.takes = takes;
        this.throws = throws;
        this.longestTakes = takes;
        this.lanes.forEach((lane, index) => this.replace(index, lane.policy));
    }

    /** Starts over with calls that have been made before: `{ at, do, key, value, wait, label, running }`, `at` from the first one on. The
     * last one may be the end, which is the present. */
    load(calls) {
        this.startOver();
        this.origin = this.clock.now - (calls.at(-1)?.at ?? 0);
        for (const call of calls) if (call.do !== "end") this.#record({ ...call, at: this.origin + call.at });
        this.lanes.forEach((lane, index) => this.replace(index, lane.policy));
    }

    /** The instant of the last call, or of the last thing that came of one. */
    get lastEvent() {
        return Math.max(this.calls.at(-1)?.at ?? -Infinity, ...this.lanes.map((lane) => lane.lastEvent));
    }

    get policies() {
        return this.lanes.map((lane) => lane.policy);
    }

    startOver() {
        this.policies = this.policies;
    }

    #forget() {
        this.calls = [];
        this.submits = [];
        this.touches = [];
        this.marks = [];
        this.sleeps = [];
        this.keys = [""];
        this.isOver = false;
        this.origin = this.clock.now;
        this.#latest = -Infinity;
        this.longestTakes = this.takes;
        this.changed("started over");
    }

    #lane(policy) {
        const lane = { policy, executions: [], drops: [], touches: [], lastEvent: -Infinity, coalescer: null, lines: 0, latest: new Map() };
        const note = (at) => { lane.lastEvent = Math.max(lane.lastEvent, at); };
        // To compare, something else may do its work.
        lane.coalescer = new (policy.engine ?? Coalescer)(policy, this.clock, (execution) => this.#handle(lane, execution), {
            started: (execution) => {
                Object.defineProperty(execution, "lane", { get: () => this.lanes.indexOf(lane) });
                lane.executions.push(execution);
                note(execution.startedAt);
                this.#latest = Math.max(this.#latest, execution.at);
                this.#happened("started", execution);
            },
            ended: (execution) => {
                note(execution.endedAt);
                this.#observer.ended?.(execution);
                this.#happened("ended", execution);
            },
            dropped: (submits, fate, at, behind = submits) => {
                note(at);
                this.#observer.dropped?.(submits, fate);
                if (fate === "superseded" || (fate === "absorbed" && policy.combine === "first")) return;
                submits.forEach(({ key }, index) => lane.drops.push({ at, key, fate,
                    ...(fate === "cancelled" && index === 0 && { behind: behind.map(({ at }) => ({ at })) }) }));
                this.#happened("dropped", { fate, count: submits.length, lane: this.lanes.indexOf(lane) });
            },
        });
        Object.defineProperties(lane, {
            pending: { get: () => lane.coalescer.pending },
            withdrawn: { get: () => lane.coalescer.withdrawn },
            runsToCome: { get: () => lane.coalescer.runsToCome },
            counters: { get: () => lane.coalescer.counters },
            isBusy: { get: () => lane.counters.pending + lane.counters.running > 0 },
        });
        return lane;
    }

    #handle(lane, execution) {
        let result = this.#observer.handle?.(execution);
        if (!this.#observer.handle) {
            this.longestTakes = Math.max(this.longestTakes, this.takes);
            result = { takes: this.takes, throws: this.throws === "always" || (this.throws === "third" && lane.executions.length % 3 === 0) };
        }
        if (result?.takes > 0) Stage.#place(lane, execution);
        return result;
    }

    /** Gives a run the first line below its key on which no other one is drawn: runs at once have a line each. */
    static #place(lane, execution) {
        const { key, startedAt } = execution;
        if (!lane.latest.has(key)) lane.latest.set(key, []);
        const latest = lane.latest.get(key);
        // After what failed there is room for its mark.
        const isFree = (one) => one.endedAt !== null && one.endedAt + (isBad(one, lane.policy) ? 200 : 0) <= startedAt;
        const free = latest.findIndex(isFree);
        execution.line = free < 0 ? latest.length : free;
        latest[execution.line] = execution;
        lane.lines = Math.max(lane.lines, latest.length);
    }

    /** Plays all calls so far through a new lane, by a clock of its own, up to the present. */
    #play(lane) {
        const clock = new Clock();
        clock.hold(this.origin);
        this.#isRecomputing = true;
        lane.coalescer.continueOn(clock);
        for (const call of this.calls) {
            clock.advance(Math.max(0, call.at - clock.now));
            this.#perform(call, lane);
        }
        clock.advance(Math.max(0, this.clock.settled - clock.now));
        lane.coalescer.continueOn(this.clock);
        this.#isRecomputing = false;
    }

    #happened(name, about) {
        if (this.#isRecomputing) return;
        this.changed(name, about);
    }

    // MARK: - Calls

    submit(value, { key = "", wait = null, at = this.clock.now, label = String(value) } = {}) {
        this.#call({ at, do: "submit", key, value, wait, label });
    }

    /** "Still busy", without a value: what is pending waits as after a submit. */
    touch({ key = "", wait = null, at = this.clock.now } = {}) {
        this.#call({ at, do: "touch", key, wait });
    }

    flush() {
        this.#call({ at: this.clock.now, do: "flush" });
    }

    cancel(running = false) {
        this.#call({ at: this.clock.now, do: "cancel", running });
    }

    /** The process dies, on one machine or on all: what is in its memory is gone. */
    kill(key) {
        this.#call({ at: this.clock.now, do: "kill -9", key });
    }

    /** A machine sleeps until an instant. */
    sleep(key, until) {
        this.sleeps.push({ key, at: this.clock.now, until });
        this.#call({ at: this.clock.now, do: "sleep", key, until });
    }

    /** It wakes earlier: what was due runs at once. */
    wake(sleep, at = this.clock.now) {
        sleep.until = at;
        this.#call({ at, do: "wake", key: sleep.key, until: at });
        this.clock.catchUp(at);
    }

    shutDown() {
        this.#call({ at: this.clock.now, do: "shut down" });
    }

    /** Releases the last handle: what is pending ends as each policy says, and no submit is possible any more. */
    releaseHandle(label = "release") {
        this.#call({ at: this.clock.now, do: "release", label });
    }

    #call(call) {
        if (this.isOver) return this.changed("over");
        this.clock.catchUp(call.at);
        // Instants never go back: an event may have been made before what was handled last.
        call.at = Math.max(call.at, this.#latest, this.clock.handled);
        this.#record(call);
        this.clock.during(call.at, () => {
            for (const lane of this.lanes) this.#perform(call, lane);
        });
        this.#happened(call.do === "submit" ? "submitted" : call.do, call);
    }

    #record(call) {
        this.#latest = Math.max(this.#latest, call.at);
        this.calls.push(call);
        if (call.do === "touch") return this.touches.push(call);
        if (call.do === "sleep" || call.do === "wake") return;
        if (call.do !== "submit") {
            this.marks.push({ at: call.at, name: call.label ?? call.do });
            this.isOver ||= call.do === "release";
            return;
        }
        if (!this.keys.includes(call.key)) {
            this.keys = this.submits.length === 0 ? [call.key] : [...this.keys, call.key].sort();
        }
        this.submits.push(call);
    }

    #perform(call, { coalescer, policy, touches, isStored }) {
        const { at } = call;
        switch (call.do) {
        case "touch": return coalescer.touch(call.key, { wait: call.wait, at }) && touches.push(call);
        case "submit": return coalescer.submit(call.value, { key: call.key, wait: call.wait, at });
        case "flush": return coalescer.flush(undefined, at);
        case "cancel": return coalescer.cancel(undefined, { running: call.running, at });
        case "kill -9": return isStored ? undefined : coalescer.cancel(call.key, { running: true, at });
        case "sleep":
        case "wake": return coalescer.sleep(call.key, call.until);
        case "shut down": return coalescer.shutDown({ at });
        case "release":
            if (policy.atEnd === "flush") coalescer.flush(undefined, at);
            if (policy.atEnd === "drop") coalescer.cancel(undefined, { at });
        }
    }

    /**
     * The calls so far, as a trace for `lull simulate`: JSON Lines. A shut-down ends the trace with a flush. A release ends it with a flush,
     * a cancel, or neither, as the first policy's "at the end" says.
     */
    get trace() {
        const lines = [];
        for (const { at, do: name, key, value, wait } of this.calls) {
            const line = { at: Number(((at - this.origin) / 1000).toFixed(9)) };
            const end = name === "shut down" ? "flush" : name === "release" ? { flush: "flush", drop: "cancel" }[this.policies[0].atEnd] : null;
            if (name === "submit" || name === "touch") {
                lines.push({ ...line, ...(name === "touch" && { op: name }), ...(key && { key }), value,
                    ...(wait != null && { wait: durationText(wait) }) });
            } else if (end || name === "flush" || name === "cancel" || name === "kill -9") {
                lines.push({ ...line, op: end ?? (name === "kill -9" ? "cancel" : name) });
            }
            if (name === "shut down" || name === "release") break;
        }
        return lines.map((line) => JSON.stringify(line) + "\n").join("");
    }
}
