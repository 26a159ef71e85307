// The section "Break it, with a store": workers over one store, which one can kill, put to sleep and cut off, on a time line that goes both ways.

class Workers {
    /** What was done at once, or is to be done: `{ at, do, args }`. What is submitted is the input, the rest are incidents. */
    #calls = [];
    #done = 0;
    #simulation;
    #memory;
    #records = [];
    #history;
    /** Until when it has been simulated, and the instant that is shown. */
    #end = 0;
    #now = 0;
    #line;
    #frame = 0;
    #settings = { wait: 1000, whileRunning: "queue", limit: null, lease: 4000, workers: 2, takes: 1500, ignores: false };

    constructor() {
        this.#line = new WorkerLine(element("stores-timeline"), (at) => this.seek(at));
        drawLegend(element("stores-legend"));
        this.controls = new WorkerControls(this);
        addEventListener("beforeprint", () => this.#line.draw());
        addEventListener("afterprint", () => this.#line.draw());
        this.tell(storeStories[0]);
        this.seek(storeStories[0].until);
    }

    // MARK: - Time

    get now() {
        return this.#now;
    }

    get end() {
        return this.#end;
    }

    /** How long a handler that starts at the instant shown takes. */
    get takes() {
        return this.#calls.findLast(({ at, do: name }) => name === "takes" && at <= this.#now)?.args[0] ?? this.#settings.takes;
    }

    /** What has happened until the end, as the simulation tells it. */
    get records() {
        return this.#records;
    }

    get isPlaying() {
        return this.#frame !== 0;
    }

    /** Shows an instant, which may lie before or after what has been simulated. */
    seek(at) {
        this.pause();
        this.#go(at);
    }

    /** Goes on by that many milliseconds. */
    advance(duration) {
        this.#go(this.#now + duration);
    }

    /** Goes to the next instant at which something happens, or back to the last one. */
    step(direction) {
        this.pause();
        const isWorth = ({ report }) => report !== "heartbeat";
        const words = this.#records.filter(isWorth);
        if (direction < 0) return this.#go(words.findLast(({ at }) => at < this.#now)?.at ?? 0);
        let next = words.find(({ at }) => at > this.#now)?.at;
        const limit = this.#end + 10_000;
        for (let at = this.#end; next === undefined && at < limit && !this.isAtRest;) {
            const { length } = this.#records;
            this.#simulate(at += 20);
            next = this.#records.slice(length).find(isWorth)?.at;
        }
        this.#go(next ?? Math.max(this.#end, this.#now + 1000));
    }

    play() {
        if (this.isPlaying) return;
        let last = performance.now();
        const frame = (time) => {
            // A page that was hidden does not make up for it.
            const passed = Math.min(100, Math.max(0, time - last));
            last = time;
            this.#frame = requestAnimationFrame(frame);
            this.#go(this.#now + passed * this.controls.speed);
            if (this.#now >= this.#end && this.isAtRest) this.pause();
        };
        this.#frame = requestAnimationFrame(frame);
        this.controls.show();
    }

    pause() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.controls?.show();
    }

    /** Whether nothing is to come, since a while. */
    get isAtRest() {
        const { keys } = this.#simulation.state;
        return this.#done === this.#calls.length && keys.every(({ pending, ready, run }) => !pending && !ready && !run)
            && this.#end - (this.#records.at(-1)?.at ?? 0) > 1500;
    }

    #go(at) {
        at = Math.max(0, at);
        if (at > this.#end) this.#simulate(at);
        this.#now = at;
        this.#show();
    }

    // MARK: - What is simulated

    get settings() {
        return this.#settings;
    }

    #options() {
        const { wait, whileRunning, limit, lease, workers, takes } = this.#settings;
        return { policy: makePolicy("debounce", wait), whileRunning, maxBatch: null, limit: limit && { starts: 1, per: limit }, maxRunning: null,
            workers, maxConcurrent: 1, lease, retry: { initialDelay: 500, maxDelay: 4000, maxAttempts: 4 }, takes, latency: 20 };
    }

    /** Begins at 0 with the calls made so far, and goes to an instant. */
    #replay(to) {
        this.#simulation?.destroy();
        this.#memory?.dispose();
        this.#simulation = new StoreSimulation(this.#options());
        this.#simulation.ignoresCancellation = this.#settings.ignores;
        this.#memory = new WithoutStore(this.#options());
        [this.#records, this.#history, this.#end, this.#done] = [[], new StoreHistory(), 0, 0];
        this.#simulate(to);
    }

    #simulate(to) {
        for (; this.#done < this.#calls.length && this.#calls[this.#done].at <= to; this.#done++) {
            const call = this.#calls[this.#done];
            this.#advance(call.at);
            Workers.#perform(call, this.#simulation, this.#simulation.state);
            Workers.#perform(call, this.#memory, this.#simulation.state);
        }
        this.#advance(to);
        this.#end = Math.max(this.#end, to);
    }

    #advance(to) {
        const records = this.#simulation.advance(to);
        this.#records.push(...records);
        for (const record of records) this.#history.add(record);
        this.#memory.advance(to);
    }

    static #perform({ do: name, args, number }, simulation, { keys }) {
        const values = args.map((value) => value?.workerOf ? keys.find(isOf(value.workerOf))?.run?.worker ?? 0 : value);
        if (name === "submit") simulation.submit(args[0], `${args[0]} ${number}`);
        else if (name === "takes") [simulation.takes] = values;
        else simulation[name]?.(...values);
    }

    /** Something happens at the instant that is shown. At an earlier instant it takes the place of the later incidents; the input stays. */
    do(name, ...args) {
        const at = this.#now;
        if (at < this.#end) this.#calls = this.#calls.filter((call) => call.at <= at || call.do === "submit");
        const index = this.#calls.filter((call) => call.at <= at).length;
        this.#calls.splice(index, 0, { at, do: name, args });
        this.#number();
        if (at < this.#end) this.#replay(at);
        else this.#simulate(at);
        this.#show();
        if (!wantsLessMotion.matches) this.play();
    }

    #number() {
        const counts = {};
        for (const call of this.#calls) if (call.do === "submit") call.number = counts[call.args[0]] = (counts[call.args[0]] ?? 0) + 1;
    }

    /** Changes settings: the same calls, in another world. */
    set(changes) {
        this.pause();
        Object.assign(this.#settings, changes);
        this.#replay(Math.max(this.#now, this.#end));
        this.#show();
    }

    /** Tells a story from its beginning. */
    tell({ calls, settings, says = "" }) {
        this.pause();
        element("stores-story-says").textContent = says;
        Object.assign(this.#settings, { wait: 1000, whileRunning: "queue", limit: null, lease: 4000, takes: 1500, ignores: false }, settings);
        this.#calls = calls.map(([at, name, ...args]) => ({ at, do: name, args })).sort((one, other) => one.at - other.at);
        this.#number();
        this.#now = 0;
        this.#replay(0);
        this.#show();
    }

    /** Nothing has happened yet. */
    clear() {
        this.tell({ calls: [], says: "Edit the letter, the list and the plan, and do something to the workers meanwhile. Time goes on as long as something is to come." });
    }

    // MARK: - What is shown

    /** The simulation at the instant that is shown. */
    #present() {
        if (this.#now >= this.#end) return { state: this.#simulation.state, past: this.#history, results: this.#memory.results(), memory: this.#memory.picture };
        const [records, history, end, done, simulation, memory] = [this.#records, this.#history, this.#end, this.#done, this.#simulation, this.#memory];
        [this.#simulation, this.#memory] = [null, null];
        this.#replay(this.#now);
        const present = { state: this.#simulation.state, past: this.#history, results: this.#memory.results(), memory: this.#memory.picture };
        this.#simulation.destroy();
        this.#memory.dispose();
        [this.#records, this.#history, this.#end, this.#done, this.#simulation, this.#memory] = [records, history, end, done, simulation, memory];
        return present;
    }

    #show() {
        const { state, past, results, memory } = this.#present();
        const planned = this.#calls.filter(({ at, do: name }) => at > this.#now && name === "submit").map(({ at, args }) => ({ at, key: args[0] }));
        this.#line.view = { now: this.#now, end: this.#end, keys: storeKeys, workers: this.#settings.workers, past, all: this.#history,
            planned: planned.filter(({ at }) => at > this.#end || this.#now >= this.#end), memory, memoryAll: this.#memory.picture };
        this.#line.draw();
        this.present = { state, past, results: [storeResults(past, state), results] };
        this.controls.show();
    }
}
