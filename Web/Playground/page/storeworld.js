// One course of events: the workers over a store and the machines without one, from the beginning to an instant.

class StoreWorld {
    #simulation;
    #memory;
    #calls;
    /** How many of the calls have been made. */
    #done = 0;
    records = [];
    history = new StoreHistory();
    /** Until when it has been simulated. */
    end = 0;

    /** @param calls `{ at, do, args }` in their order; more may be put in after those that have been made. */
    constructor({ wait, whileRunning, limit, lease, workers, takes, ignores }, calls) {
        const options = { policy: makePolicy("debounce", wait), whileRunning, limit: limit && { starts: 1, per: limit },
            workers, maxConcurrent: 1, lease, takes, latency: 20, retry: { initialDelay: 500, maxDelay: 4000, maxAttempts: 4 } };
        this.#calls = calls;
        this.#simulation = new StoreSimulation(options);
        this.#simulation.ignoresCancellation = ignores;
        this.#memory = new WithoutStore(options);
    }

    destroy() {
        this.#simulation.destroy();
        this.#memory.destroy();
    }

    /** Goes to an instant, and makes the calls until then. */
    simulate(to) {
        for (; this.#done < this.#calls.length && this.#calls[this.#done].at <= to; this.#done++) {
            const call = this.#calls[this.#done];
            this.#advance(call.at);
            // Both know the worker of a key by what happens in the store.
            const { state } = this.#simulation;
            for (const one of [this.#simulation, this.#memory]) StoreWorld.#perform(call, one, state);
        }
        this.#advance(to);
        this.end = Math.max(this.end, to);
    }

    #advance(to) {
        const records = this.#simulation.advance(to);
        this.records.push(...records);
        for (const record of records) this.history.add(record);
        this.#memory.advance(to);
    }

    static #perform({ do: name, args, number }, simulation, { keys, dead }) {
        const values = args.map((value) => value?.workerOf ? keys.find(isOf(value.workerOf))?.run?.worker
            : value?.deadOf ? dead.find(isOf(value.deadOf))?.run : value);
        // With other settings nobody may have the key, or it may not be dead.
        if (values[0] === undefined && args.length > 0) return;
        if (name === "submit") simulation.submit(args[0], `${args[0]} ${number}`);
        else if (name === "takes") [simulation.takes] = values;
        else simulation[name]?.(...values);
    }

    /** Whether nothing is to come. */
    get hasNothingToCome() {
        return this.#done === this.#calls.length && this.#simulation.state.keys.every(({ pending, ready, run }) => !pending && !ready && !run);
    }

    /** What there is now, with a store and without. */
    get present() {
        const { state } = this.#simulation;
        return { state, past: this.history, results: [storeResults(this.history, state), this.#memory.results()], memory: this.#memory.picture };
    }
}
