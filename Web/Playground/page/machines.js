// The machines of "Break it": each has a process with a debouncer of its own, and may sleep.

/** The clock of a machine. While it sleeps none of its timers fires; what was due meanwhile fires when it wakes, in its order. */
class MachineClock {
    #clock;
    #tasks = new Set();
    wakesAt = -Infinity;

    constructor(clock) {
        this.#clock = clock;
    }

    get now() {
        return this.#clock.now;
    }

    at(instant, body) {
        const task = { at: instant, body };
        this.#tasks.add(task);
        this.#arm(task);
        return task;
    }

    drop(task) {
        if (this.#tasks.delete(task)) this.#clock.drop(task.timer);
    }

    /** Sleeps until an instant; the present wakes it. */
    sleep(until) {
        this.wakesAt = until;
        const tasks = [...this.#tasks].sort((one, other) => one.at - other.at);
        for (const task of tasks) this.#clock.drop(task.timer);
        for (const task of tasks) this.#arm(task);
    }

    #arm(task) {
        task.timer = this.#clock.at(Math.max(task.at, this.wakesAt), () => {
            this.#tasks.delete(task);
            task.body(task.at);
        });
    }
}

/** Does on each machine, which is the key of a call, what one policy says. It has the members of a `Coalescer` that a stage uses. */
class Machines {
    #make;
    #machines = new Map();

    constructor(policy, clock, handler, observer) {
        this.#make = () => {
            const own = new MachineClock(clock);
            return { clock: own, coalescer: new (policy.does ?? Coalescer)(policy, own, handler, observer) };
        };
    }

    #machine(key) {
        if (!this.#machines.has(key)) this.#machines.set(key, this.#make());
        return this.#machines.get(key);
    }

    get #all() {
        return [...this.#machines.values()].map(({ coalescer }) => coalescer);
    }

    #sum(member) {
        return this.#all.reduce((sum, coalescer) => sum + member(coalescer), 0);
    }

    submit(value, { key, at }) {
        this.#machine(key).coalescer.submit(value, { key, at });
    }

    sleep(key, until) {
        this.#machine(key).clock.sleep(until);
    }

    /** Cancels on one machine, or on all. */
    cancel(key, options) {
        for (const coalescer of key === undefined ? this.#all : [this.#machine(key).coalescer]) coalescer.cancel(key, options);
    }

    dispose() {
        for (const coalescer of this.#all) coalescer.dispose();
    }

    get counters() {
        const names = Object.keys(this.#machine("").coalescer.counters);
        return Object.fromEntries(names.map((name) => [name, name === "addUp" ? this.#all.every(({ counters }) => counters.addUp)
            : this.#sum(({ counters }) => counters[name])]));
    }

    get withdrawn() {
        return this.#sum(({ withdrawn }) => withdrawn);
    }

    get runsToCome() {
        return this.#sum(({ runsToCome }) => runsToCome);
    }

    get pending() {
        return this.#all.flatMap(({ pending }) => pending);
    }
}
