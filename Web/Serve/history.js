// What the page has seen of a key since it was opened: the looks say how a key is, and the differences what has happened.

"use strict";

class History {
    static longest = 40;

    episodes = [];
    #pending = null;
    #ready = null;
    #run = null;
    #lookedAt = null;
    #dead = new Set();
    listing = null;
    key;

    constructor(key) {
        this.key = key;
    }

    get isBusy() {
        return this.#pending !== null || this.#ready !== null || this.#run !== null;
    }

    get pending() {
        return this.#pending;
    }

    get ready() {
        return this.#ready;
    }

    get run() {
        return this.#run;
    }

    /** The instant of the last thing that happened. */
    get last() {
        return this.isBusy ? Infinity : this.episodes.at(-1)?.endedAt ?? -Infinity;
    }

    /**
     * Takes how the key is at an instant.
     *
     * @param before The instant of the look before.
     * @param wasIdle Whether the key had no work then. If that is not known, what it has may be old.
     * @param dead The numbers of dead runs.
     */
    update(listing, at, before, wasIdle, dead = new Set()) {
        this.#dead = dead;
        const known = this.#lookedAt === null ? (wasIdle ? before : null) : Math.max(this.#lookedAt, before);
        this.#lookedAt = at;
        this.listing = listing;
        const { run, ready, pending } = listing;
        // What fell due since the last look has gone on: to a run, to what is ready, or, if it was fast, to its end.
        let fallen = null;
        const waited = this.#pending;
        if (waited && (pending < waited.count || this.#isLater(listing, at))) {
            fallen = waited;
            this.#pending = null;
        }
        this.#updateRun(run, at, known, fallen);
        this.#updateReady(listing, at, known, fallen);
        if (fallen && fallen.state === "pending") this.#end(fallen, at);
        // What is pending now came after what has fallen due.
        this.#updatePending(listing, at, known !== null && fallen?.due ? Math.min(at, Math.max(known, fallen.due)) : known);
        if (this.episodes.length > History.longest) this.episodes.splice(0, this.episodes.length - History.longest);
    }

    /** Whether what was pending has fallen due, and what is pending now came later. */
    #isLater({ pending, dueIn }, at) {
        const { due } = this.#pending;
        return pending > 0 && due !== null && due <= at - 0.002 && dueIn !== null && at + dueIn > due + 0.05;
    }

    #add(episode) {
        this.episodes.push(episode);
        return episode;
    }

    #end(episode, at) {
        const wasDue = episode.state !== "pending" || (episode.due !== null && episode.due <= at + 0.05);
        if (episode.startedAt === null && wasDue) episode.startedAt = episode.due ?? at;
        episode.state = !wasDue ? "gone" : this.#dead.has(episode.id) ? "failed" : "done";
        episode.endedAt = at;
    }

    #updateRun(run, at, known, fallen) {
        if (this.#run && this.#run.id !== run?.id) {
            this.#end(this.#run, at);
            this.#run = null;
        }
        if (!run) return;
        if (!this.#run) {
            const from = this.#ready ?? fallen;
            if (from === this.#ready) this.#ready = null;
            const began = run.runningFor == null ? null : at - run.runningFor;
            const episode = from ?? this.#add(new Episode("running", began ?? known ?? at));
            episode.id = run.id;
            // If that is not known, it began after the last look, and not before it was due.
            episode.startedAt = began ?? (known === null ? null : Math.max(known, Math.min(episode.due ?? at, at)));
            if (known !== null && from && from === fallen) from.addTicks(run.submits - from.count, known, episode.startedAt);
            episode.due ??= episode.startedAt;
            this.#run = episode;
        }
        if (run.state === "running") this.#run.stoppedAt = null;
        else this.#run.stoppedAt ??= at;
        Object.assign(this.#run, { state: run.state, isSnoozed: run.isSnoozed, count: run.submits, attempt: run.attempt,
            until: run.leaseFor == null ? null : at + run.leaseFor, retryAt: run.retryIn == null ? null : at + run.retryIn });
        run.until = this.#run.until;
        run.retryAt = this.#run.retryAt;
        run.since = run.runningFor == null ? null : at - run.runningFor;
    }

    #updateReady({ ready, readyFor }, at, known, fallen) {
        if (ready === 0) {
            if (this.#ready) this.#end(this.#ready, at);
            this.#ready = null;
            return;
        }
        if (!this.#ready) {
            const due = readyFor == null ? known : at - readyFor;
            this.#ready = fallen?.state === "pending" ? fallen : this.#add(new Episode("ready", due ?? at));
            this.#ready.due = due ?? this.#ready.due;
        }
        this.#ready.state = "ready";
        this.#ready.count = ready;
    }

    #updatePending({ pending, pendingFor, dueIn }, at, known) {
        if (pending === 0) {
            if (this.#pending) this.#end(this.#pending, at);
            this.#pending = null;
            return;
        }
        if (!this.#pending) {
            this.#pending = this.#add(new Episode("pending", pendingFor == null ? null : at - pendingFor));
            // Of the first submit it is known when it came, of others only that they came between two looks.
            if (pendingFor != null) [this.#pending.ticks, this.#pending.count] = [[this.#pending.first], 1];
        }
        const waits = this.#pending;
        if (known !== null) waits.addTicks(pending - waits.count, Math.max(known, waits.first ?? known), at);
        waits.first ??= waits.ticks[0] ?? at;
        waits.count = pending;
        waits.due = dueIn == null ? null : at + dueIn;
    }
}
