// Drives the engine, as `Debouncer` does in Swift: it owns the alarm, stores the values, and runs the handlers.

class Coalescer {
    #engine;
    #clock;
    #handler;
    #observer;
    #values = new Map();
    #keys = [];
    #running = new Map();
    /** For each key, the submits that are pending or waiting, oldest first. */
    #queues = [];
    /** For each key, how many of them wait since a flush: `skip` loses only what comes after them. */
    #flushed = [];
    #next = 0;
    #alarm = null;
    #todo = [];
    /** How many submits a cancel has taken away: those that it dropped, and those behind what it dropped or ended. */
    withdrawn = 0;
    #isBusy = false;

    /**
     * @param handler Called with each execution. It may return how long it takes, and whether it throws at its end:
     *     `{ takes: 500, throws: false }`; without a result it takes no time.
     * @param observer Functions `started`, `ended` and `dropped`, all optional.
     */
    constructor(policy, clock, handler, observer = {}) {
        this.policy = policy;
        this.#engine = new Engine(policy);
        this.#clock = clock;
        this.#handler = handler;
        this.#observer = observer;
    }

    /** Submits a value; returns the record of the submit. */
    submit(value, { key = "", wait = null, at = this.#clock.now } = {}) {
        const submit = { id: this.#next++, value, key, at, outcome: "pending" };
        this.#values.set(submit.id, submit);
        this.#perform(this.#engine.submit(submit.id, this.#number(key), nanoseconds(at), delayNanoseconds(wait)), at, submit);
        return submit;
    }

    /** Says "still busy" of a key. Returns whether something that is pending waits longer for it. */
    touch(key, { wait = null, at = this.#clock.now } = {}) {
        const [number, now] = [this.#number(key), nanoseconds(at)];
        const due = this.#engine.nextDue(number, now);
        this.#perform(this.#engine.touch(number, now, delayNanoseconds(wait)), at);
        return this.#engine.nextDue(number, now) !== due;
    }

    /** Executes what is pending. The clock has run what was due by then. */
    flush(key, at = this.#clock.now) {
        const number = this.#existing(key);
        this.#perform([{ do: "flushed", key: number }, ...this.#engine.flush(number, nanoseconds(at))], at);
    }

    cancel(key, { running = false, at = this.#clock.now } = {}) {
        this.#perform(this.#engine.cancel(this.#existing(key), running, nanoseconds(at)), at);
    }

    shutDown({ flushing = true, at = this.#clock.now } = {}) {
        this.#perform(this.#engine.shutDown(flushing, nanoseconds(at)), at);
    }

    /** Goes on by another clock: what is due, and the handlers that run, end at the same instants. */
    continueOn(clock) {
        const last = this.#clock;
        this.#clock = clock;
        if (this.#alarm) last.drop(this.#alarm);
        this.#alarm = null;
        for (const execution of this.#running.values()) {
            if (!execution.timer) continue;
            last.drop(execution.timer);
            execution.timer = clock.at(execution.timer.at, execution.timer.body);
        }
        this.#setAlarm();
    }

    /** Destroys the engine; nothing is called any more. */
    dispose() {
        if (this.#alarm) this.#clock.drop(this.#alarm);
        for (const execution of this.#running.values()) if (execution.timer) this.#clock.drop(execution.timer);
        this.#running.clear();
        this.#engine.destroy();
        this.#engine = null;
    }

    get counters() {
        return this.#engine.counters;
    }

    get runningExecutions() {
        return [...this.#running.values()];
    }

    /** Returns when something falls due next, in milliseconds; null for never. */
    nextDue(key) {
        const due = this.#engine.nextDue(this.#existing(key), nanoseconds(this.#clock.now));
        return due === never ? null : Number(due) / 1e6;
    }

    /** How many executions are to come of what is pending or waiting: one for each such key. */
    get runsToCome() {
        return this.#queues.filter((queue) => queue.length > 0).length;
    }

    /** For each key with a value that is pending, or due and waiting to start, the instants of its oldest submit and at which it is due. */
    get pending() {
        return this.#keys.flatMap((key, number) => {
            const queue = this.#queues[number];
            return queue.length === 0 ? [] : [{ key, first: queue[0].at, due: this.nextDue(key) ?? this.#clock.now, count: queue.length }];
        });
    }

    // MARK: - Parts

    #number(key) {
        let number = this.#keys.indexOf(key);
        if (number < 0) {
            number = this.#keys.push(key) - 1;
            this.#queues.push([]);
            this.#flushed.push(0);
        }
        return number;
    }

    #existing(key) {
        return key === undefined ? null : this.#number(key);
    }

    /** Performs the engine's actions in order, even if a handler makes calls meanwhile. */
    #perform(actions, at, submit = null) {
        this.#todo.push(...actions.map((action) => ({ action, at, submit })));
        if (this.#isBusy) return;
        this.#isBusy = true;
        try {
            while (this.#engine && this.#todo.length > 0) {
                const { action, at, submit } = this.#todo.shift();
                this.#performOne(action, at, submit);
            }
        } finally {
            this.#isBusy = false;
        }
        this.#setAlarm();
    }

    #performOne(action, at, submit) {
        switch (action.do) {
        case "submitted": return this.#submitted(action, submit);
        case "flushed": return this.#noteFlush(action.key);
        case "start": return this.#start(action);
        case "resolve": return this.#resolve(action, at);
        case "cancel": return this.#stop(action.run);
        case "verdict": return this.#ended(action);
        }
    }

    #submitted(action, submit) {
        const lost = action.displaced == null ? null : this.#values.get(action.displaced);
        if (lost) this.#conclude(lost, action.fate);
        const isKept = lost !== submit || (action.fate === "absorbed" && this.policy.trailing);
        // Under `first`, a value that is not kept still counts as one behind the execution.
        if (isKept) this.#queues[action.key].push(submit);
        if (lost === submit) this.#observer.dropped?.([submit], submit.outcome, submit.at);
    }

    #isRunning(number) {
        return this.runningExecutions.some(({ key }) => key === this.#keys[number]);
    }

    #noteFlush(key) {
        this.#queues.forEach((queue, number) => {
            if (key === null || key === number) this.#flushed[number] = queue.length;
        });
    }

    #start(action) {
        const queue = this.#queues[action.key];
        const submits = action.values.map((id) => this.#values.get(id));
        const execution = {
            run: action.run, key: this.#keys[action.key], count: action.count, edge: action.edge,
            at: Number(action.at) / 1e6, first: Number(action.first) / 1e6, startedAt: this.#clock.now, endedAt: null,
            outcome: "running", ids: action.values, behind: queue.splice(0, action.count),
            values: submits.map((submit) => submit.value), takes: 0, timer: null, isOver: false,
            continues: submits.some(({ isBack }) => isBack),
        };
        // A key's waiting values start together.
        this.#flushed[action.key] = 0;
        execution.value = this.#combine(execution.values);
        for (const submit of submits) submit.outcome = "running";
        this.#running.set(action.run, execution);
        this.#observer.started?.(execution);
        const { takes = 0, throws = false } = this.#handler?.(execution) ?? {};
        execution.takes = takes;
        if (takes <= 0) return this.#end(execution, throws);
        execution.timer = this.#clock.at(this.#clock.now + takes, () => this.#end(execution, throws));
    }

    #combine(values) {
        if (this.policy.combine === "collect") return values;
        return this.policy.combine === "merge" ? values.reduce((pending, value) => pending + value) : values.at(-1);
    }

    /** Cancels an execution: its handler ends at once, by throwing. */
    #stop(run) {
        const execution = this.#running.get(run);
        if (!execution) return;
        this.#clock.drop(execution.timer);
        this.#end(execution, true);
    }

    #end(execution, threw) {
        // One answer of the engine may start an execution that takes no time, and cancel it.
        if (execution.isOver) return;
        execution.isOver = true;
        if (this.#engine) this.#perform(this.#engine.ended(execution.run, threw), this.#clock.now);
    }

    #ended(action) {
        const execution = this.#running.get(action.run);
        this.#running.delete(action.run);
        execution.endedAt = this.#clock.now;
        execution.outcome = action.verdict;
        if (action.verdict === "interrupted") {
            // Its values go back in front of the newer ones, and start with them.
            for (const id of execution.ids) Object.assign(this.#values.get(id), { outcome: "pending", isBack: true });
            this.#queues[this.#number(execution.key)].unshift(...execution.behind);
        } else {
            for (const id of execution.ids) this.#conclude(this.#values.get(id), action.verdict);
        }
        if (action.verdict === "cancelled") this.withdrawn += execution.behind.length;
        this.#observer.ended?.(execution);
    }

    #resolve(action, at) {
        const lost = action.values.map((id) => this.#values.get(id));
        for (const submit of lost) this.#conclude(submit, action.fate);
        const queue = this.#queues[action.key];
        let behind;
        if (action.fate === "cancelled") {
            behind = queue.splice(0);
            this.withdrawn += behind.length;
            this.#flushed[action.key] = 0;
        } else if (this.policy.whileRunning === "skip" && this.#isRunning(action.key)) {
            queue.length = this.#flushed[action.key];
        }
        // Otherwise a later value has replaced it, or joined it, and its submit still counts as one behind the execution.
        this.#observer.dropped?.(lost, action.fate, at, behind);
    }

    #conclude(submit, outcome) {
        submit.outcome = outcome;
        this.#values.delete(submit.id);
    }

    #setAlarm() {
        if (!this.#engine) return;
        const alarm = this.#engine.alarm;
        const instant = alarm === never ? null : Number(alarm) / 1e6;
        if (this.#alarm?.at === instant) return;
        if (this.#alarm) this.#clock.drop(this.#alarm);
        this.#alarm = instant == null ? null : this.#clock.at(instant, (due) => {
            this.#alarm = null;
            // Not the clock's instant: submits that were recorded before it may still have to be played.
            this.#perform(this.#engine.advance(alarm), due);
        });
    }
}
