// What the page has seen of a debouncer or throttler since it was opened: each look says how it is, and the differences what has
// happened. Few executions are shown one by one, with the submits behind them; of many, each look has a column of counts.

"use strict";

class Debouncer {
    /** The executions a second from which, and below which, they are many. */
    static many = { from: 2, below: 0.8 };
    /** So many in one look are many at once. */
    static crowd = 3;
    static mostEpisodes = 60;
    /** For how long columns are kept, in seconds, and how many. */
    static memory = 700;
    static mostColumns = 2000;

    /** What the last look said. */
    row = null;
    #at = null;
    /** The looks of the last second, for the rates. */
    #samples = [];
    episodes = [];
    columns = [];
    /** The instants at which handlers have thrown, or submits were cancelled or rejected, as far as no episode shows it. */
    faults = [];
    isCrowded = false;
    /** What is pending where there are many. */
    crowded = new Episode("pending", null);
    #pending = null;
    #running = [];
    /** The submits since the last execution that may be behind the next one. */
    #gathered = 0;

    get isBusy() {
        return this.row.pending > 0 || this.row.running > 0 || this.isCrowded;
    }

    /** The instant of the last thing that happened. */
    get last() {
        if (this.isBusy) return Infinity;
        return Math.max(this.episodes.at(-1)?.endedAt ?? -Infinity, this.columns.at(-1)?.at ?? -Infinity);
    }

    /** Submits and executions a second; null if that is not known yet. */
    get rates() {
        const [first, last] = [this.#samples[0], this.#samples.at(-1)];
        const seconds = last.at - first.at;
        if (seconds <= 0) return null;
        return { submits: (last.submitted - first.submitted) / seconds, runs: (last.started - first.started) / seconds };
    }

    /** The share of all submits that have needed no execution; null before the first one, which may be for all of them. */
    get saved() {
        const { submitted, started } = this.row;
        return started > 0 ? Math.max(0, 1 - started / submitted) : null;
    }

    /** Takes how it is at an instant. */
    update(row, at) {
        const [before, from] = [this.row, this.#at];
        [this.row, this.#at] = [row, at];
        this.#samples.push({ at, submitted: row.submitted, started: row.started });
        while (this.#samples.length > 1 && this.#samples[1].at <= at - 0.95) this.#samples.shift();
        const more = (name) => Math.max(0, row[name] - (before ?? row)[name]);
        const look = { from: from ?? at, at, submits: more("submitted"), starts: more("started"), failed: more("failed"),
            left: more("absorbed"), dropped: more("cancelled") + more("rejected") };
        const wasCrowded = this.isCrowded;
        // One execution soon after the page was opened is not many.
        const rate = (row.started - this.#samples[0].started) / Math.max(1, at - this.#samples[0].at);
        this.isCrowded = look.starts >= Debouncer.crowd || rate >= Debouncer.many.from || (wasCrowded && rate >= Debouncer.many.below);
        if (this.isCrowded) {
            if (!wasCrowded) this.#gather(look);
            this.#addColumn(look);
        } else {
            if (!before || wasCrowded) this.#gathered = row.pending;
            this.#follow(look);
        }
        Object.assign(this.crowded, { due: row.dueIn === null ? null : at + row.dueIn, count: row.pending, first: at });
    }

    #addColumn({ from, at, submits, starts, failed, dropped }) {
        if (submits > 0 || starts > 0) this.columns.push({ from, at, submits, starts });
        if (failed + dropped > 0) this.#addFault(at);
        while (this.columns.length > Debouncer.mostColumns || this.columns[0]?.at < at - Debouncer.memory) this.columns.shift();
    }

    #addFault(at) {
        this.faults.push(at);
        if (this.faults.length > Debouncer.mostEpisodes) this.faults.shift();
    }

    /** Ends what is shown one by one. */
    #gather(look) {
        if (this.#pending) {
            this.#begin(this.#pending, look);
            this.#end(this.#pending, this.#pending.startedAt, false);
            look.starts = Math.max(0, look.starts - 1);
        }
        for (const episode of this.#running) this.#end(episode, look.at, false);
        [this.#pending, this.#running] = [null, []];
    }

    #add(episode) {
        this.episodes.push(episode);
        if (this.episodes.length > Debouncer.mostEpisodes) this.episodes.shift();
        return episode;
    }

    #end(episode, at, hasFailed) {
        episode.state = hasFailed ? "failed" : "done";
        episode.endedAt = at;
    }

    /** An execution of what was pending has begun in a look: not before it was due, if that is known. */
    #begin(episode, { from, at, submits }) {
        const { row } = this;
        episode.startedAt = Math.min(at, Math.max(from, episode.due ?? at));
        episode.addTicks(Math.max(0, submits - row.pending), from, episode.startedAt);
        episode.first ??= episode.ticks[0] ?? episode.startedAt;
        episode.due = episode.startedAt;
        episode.count = Math.max(1, this.#gathered - row.pending);
        this.#gathered = row.pending;
    }

    #follow(look) {
        const { row } = this;
        let { failed } = look;
        this.#gathered += Math.max(0, look.submits - look.left - look.dropped);
        if (look.starts > 0) {
            const episode = this.#pending ?? this.#add(new Episode("pending", null));
            this.#begin(episode, look);
            this.#pending = null;
            if (row.running > 0) {
                episode.state = "running";
                this.#running.push(episode);
            } else {
                this.#end(episode, episode.startedAt, failed > 0);
                failed = Math.max(0, failed - 1);
            }
        }
        while (this.#running.length > row.running) {
            this.#end(this.#running.shift(), look.at, failed > 0);
            failed = Math.max(0, failed - 1);
        }
        const hasLeft = this.#updatePending(look);
        if (failed > 0 || (look.dropped > 0 && !hasLeft)) this.#addFault(look.at);
    }

    /** Returns whether what was pending has left without an execution. */
    #updatePending({ from, at, submits, starts }) {
        const { row } = this;
        if (row.pending === 0) {
            const left = this.#pending;
            if (left) [left.state, left.endedAt] = ["gone", at];
            [this.#pending, this.#gathered] = [null, 0];
            return left !== null;
        }
        this.#pending ??= this.#add(new Episode("pending", null));
        const waits = this.#pending;
        waits.addTicks(starts > 0 ? Math.min(submits, row.pending) : submits, from, at);
        waits.first ??= waits.ticks[0] ?? at;
        waits.count = Math.max(row.pending, this.#gathered);
        waits.due = row.dueIn === null ? null : at + row.dueIn;
        waits.state = row.waiting > 0 && row.waiting >= row.pending ? "ready" : "pending";
        return false;
    }
}
