// The section "Break it, with a store": workers over one store, which one can kill, put to sleep and cut off, on a time line that goes both
// ways.

class Workers {
    static usual = { wait: 1000, whileRunning: "queue", limit: null, lease: 4000, takes: 1500, ignores: false, workers: 2 };

    /** What was done, and what is to be done: `{ at, do, args }`. What is submitted is the input, the rest are incidents. */
    #calls = [];
    /** What has come of it, until the latest instant that was seen. */
    #world = null;
    /** What had come of it by an instant before that. */
    #earlier = null;
    /** The instant that is shown. */
    #now = 0;
    #line;
    #frame = 0;
    #settings = { ...Workers.usual };
    /** What there is at the instant that is shown. */
    present = null;

    constructor() {
        this.#line = new WorkerLine(element("stores-timeline"), (at) => this.seek(at));
        drawLegend(element("stores-legend"));
        this.controls = new WorkerControls(this);
        addEventListener("beforeprint", () => this.#line.draw());
        addEventListener("afterprint", () => this.#line.draw());
        this.tell(storeStories[0]);
        this.seek(storeStories[0].until);
    }

    get settings() {
        return this.#settings;
    }

    /** What has happened until the end, as the simulation tells it. */
    get records() {
        return this.#world.records;
    }

    /** How long a handler takes that starts at the instant shown. */
    get takes() {
        return this.#calls.findLast(({ at, do: name }) => name === "takes" && at <= this.#now)?.args[0] ?? this.#settings.takes;
    }

    // MARK: - Time

    get now() {
        return this.#now;
    }

    /** Until when it has been simulated. */
    get end() {
        return this.#world.end;
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
        const { records } = this.#world;
        const isWorth = ({ at, report }) => report !== "heartbeat" && (direction < 0 ? at < this.#now : at > this.#now);
        if (direction < 0) return this.#go(records.findLast(isWorth)?.at ?? 0);
        const limit = this.end + 10_000;
        let next = records.find(isWorth)?.at;
        for (let at = this.end; next === undefined && at < limit && !this.#world.hasNothingToCome;) {
            const { length } = records;
            this.#world.simulate(at += 20);
            next = records.slice(length).find(isWorth)?.at;
        }
        this.#go(next ?? Math.max(this.end, this.#now + 1000));
    }

    play() {
        if (this.isPlaying) return;
        let last = performance.now();
        const frame = (time) => {
            // A page that was hidden does not make up for it.
            const passed = Math.min(100, Math.max(0, time - last));
            last = time;
            this.#frame = requestAnimationFrame(frame);
            try {
                this.#go(this.#now + passed * this.controls.speed);
            } catch (error) {
                this.pause();
                throw error;
            }
            if (this.#now >= this.end && this.isAtRest) this.pause();
        };
        this.#frame = requestAnimationFrame(frame);
        this.controls.show();
    }

    pause() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.controls.show();
    }

    /** Whether nothing is to come. */
    get hasNothingToCome() {
        return this.#world.hasNothingToCome;
    }

    /** Whether nothing is to come, since a while. */
    get isAtRest() {
        return this.hasNothingToCome && this.end - (this.records.at(-1)?.at ?? 0) > 1500;
    }

    #go(at) {
        this.#now = Math.max(0, at);
        if (this.#now > this.end) this.#world.simulate(this.#now);
        this.#show();
    }

    // MARK: - What happens

    /** Begins at 0, and goes to an instant. */
    #replay(to) {
        this.#world?.destroy();
        this.#forgetEarlier();
        this.#world = new StoreWorld(this.#settings, this.#calls);
        this.#world.simulate(to);
    }

    /** Something happens at the instant that is shown. An incident takes the place of all later ones; the input stays. */
    do(name, ...args) {
        const at = this.#now;
        const isEarlier = at < this.end;
        if (name !== "submit") {
            this.#calls.splice(0, Infinity, ...this.#calls.filter((call) => call.at <= at || call.do === "submit"));
        }
        this.#calls.splice(this.#calls.filter((call) => call.at <= at).length, 0, { at, do: name, args });
        this.#number();
        if (isEarlier) this.#replay(at);
        else this.#world.simulate(at);
        this.#show();
        if (!wantsLessMotion.matches) this.play();
    }

    /** Numbers the submits of each key. */
    #number() {
        const counts = {};
        for (const call of this.#calls) if (call.do === "submit") call.number = counts[call.args[0]] = (counts[call.args[0]] ?? 0) + 1;
    }

    /** Changes settings: the same calls, in another world. */
    set(changes) {
        this.pause();
        Object.assign(this.#settings, changes);
        this.#replay(this.end);
        this.#show();
    }

    /** Tells a story from its beginning. */
    tell(story) {
        const { calls, settings, says } = story;
        this.pause();
        element("stores-story").value = storeStories.indexOf(story);
        element("stores-story-says").textContent = says;
        Object.assign(this.#settings, Workers.usual, settings);
        this.#calls = calls.map(([at, name, ...args]) => ({ at, do: name, args })).sort((one, other) => one.at - other.at);
        this.#number();
        this.#now = 0;
        this.#replay(0);
        this.controls.takeSettings();
        this.#show();
    }

    // MARK: - What is shown

    /** At an earlier instant it is what another world has come to by then, which goes on with the instants that are shown. */
    #presentAt(now) {
        if (now >= this.end) return this.#world.present;
        if (!(this.#earlier?.end <= now)) {
            this.#forgetEarlier();
            this.#earlier = new StoreWorld(this.#settings, this.#calls);
        }
        this.#earlier.simulate(now);
        return this.#earlier.present;
    }

    #forgetEarlier() {
        this.#earlier?.destroy();
        this.#earlier = null;
    }

    #show() {
        const now = this.#now;
        this.present = this.#presentAt(now);
        const { past, memory } = this.present;
        // What is still to be submitted; in the pale part it is drawn already.
        const planned = this.#calls.filter(({ at, do: name }) => name === "submit" && at > now && at > this.end);
        this.#line.view = { now, end: this.end, keys: storeKeys, workers: this.#settings.workers, past, all: this.#world.history, memory,
            memoryAll: this.#world.present.memory, planned: planned.map(({ at, args }) => ({ at, key: args[0] })) };
        this.#line.draw();
        this.controls.show();
    }
}
