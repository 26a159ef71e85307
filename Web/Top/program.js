// The program that is looked into, as the looks tell it.

"use strict";

class Program {
    #clock = new OtherClock();
    /** What the last look said of the program itself, or null. */
    about = null;
    path = "";
    version = "";
    /** Why the figures are old, or null. */
    away = null;
    debouncers = new Map();

    /** The present by the program's clock, in seconds. */
    get now() {
        return this.#clock.now;
    }

    /** All, the busiest first, as in the table of `lull top`. */
    get busiest() {
        const rate = (debouncer) => debouncer.rates?.submits ?? 0;
        return [...this.debouncers.values()].sort((one, other) => rate(other) - rate(one) || other.row.submitted - one.row.submitted
            || (one.row.where < other.row.where ? -1 : 1));
    }

    /** Says that nothing comes, and why. */
    lose(why) {
        if (this.about) this.#clock.freeze();
        this.away = why;
    }

    take({ path, version, away, program }) {
        [this.path, this.version] = [path, version];
        if (program === null) {
            this.lose(plain(away ?? ""));
            return;
        }
        this.away = null;
        // Another program at the path begins anew.
        if (this.about?.process !== program.process || program.time < this.about.time) this.debouncers.clear();
        this.about = program;
        this.#clock.take(program.time);
        const seen = new Set();
        for (const row of program.debouncers) {
            seen.add(row.id);
            let debouncer = this.debouncers.get(row.id);
            if (!debouncer) this.debouncers.set(row.id, debouncer = new Debouncer());
            debouncer.update(row, program.time);
        }
        for (const id of this.debouncers.keys()) if (!seen.has(id)) this.debouncers.delete(id);
    }

    /** All together. */
    get totals() {
        const totals = { debouncers: this.debouncers.size + (this.about?.left ?? 0), keys: 0, pending: 0, running: 0, submitted: 0,
            started: 0, failed: 0, submits: null, runs: null };
        for (const { row, rates } of this.debouncers.values()) {
            for (const name of ["keys", "pending", "running", "submitted", "started", "failed"]) totals[name] += row[name];
            if (rates === null) continue;
            totals.submits = (totals.submits ?? 0) + rates.submits;
            totals.runs = (totals.runs ?? 0) + rates.runs;
        }
        return totals;
    }
}

/** Returns the file and the line of a place: its module is in the title. */
function shownPlace(where) {
    return plain(where.split("/").at(-1) || where);
}

function placeElement(where) {
    return make("bdi", { class: "key", title: plain(where).slice(0, 1000) }, shownPlace(where).slice(0, 300));
}

/** Returns a rate with a digit after the point where that says something, as `lull top` has it. */
function shownRate(rate) {
    const tenths = Math.round(Math.max(0, rate) * 10);
    return tenths >= 100 || tenths === 0 ? number(Math.round(tenths / 10)) : String(tenths / 10);
}

/** Returns a share, cut and not rounded: what is not all of it is never 100. */
function shownShare(share) {
    return `${Math.floor(share * 100)}\u00a0%`;
}
