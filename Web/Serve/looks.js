// The last look at the store, the present by the store's clock, and the histories of the keys that the looks have shown.

"use strict";

class Looks {
    /** For how long a key without work is remembered, in seconds. */
    static memory = 600;
    static mostKeys = 2000;

    /** The last look, or null. */
    look = null;
    /** Why the figures are old, or null. */
    away = null;
    #clock = new OtherClock();
    #before = null;
    #namespace = null;
    #wasComplete = false;
    histories = new Map();

    /** The present by the store's clock, in seconds since 1970. */
    get now() {
        return this.#clock.now;
    }

    /** Whether the last look had all keys that have work. */
    get isComplete() {
        return this.#wasComplete;
    }

    /** How old the last look is. Events come only when something has changed, but what waits gets older. */
    get elapsed() {
        return Math.max(0, this.now - (this.look?.at ?? this.now));
    }

    get detail() {
        return this.look?.detail ?? null;
    }

    get namespace() {
        return this.look?.namespaces?.find(({ namespace }) => namespace === this.detail?.namespace) ?? null;
    }

    /** Says that the store is away, and why. */
    lose(sentence) {
        if (this.look) this.#clock.freeze();
        this.away = sentence;
    }

    take(look) {
        this.away = look.away ? plain(look.away) : null;
        if (look.away) {
            // It has the last look that there was: new to a page that has just been opened, or that shows another namespace now.
            if (!look.namespaces || (this.look && look.detail?.namespace === this.#namespace)) {
                this.lose(this.away);
                return;
            }
        }
        this.#clock.take(look.at);
        if (look.away) this.#clock.freeze(look.at);
        this.look = look;
        // Also the last namespace may go: what is known of its keys goes with it.
        const shown = look.detail?.namespace ?? null;
        if (shown !== this.#namespace) this.forget(shown);
        if (!look.detail) return;
        // Until then nothing had changed, and no look came.
        if (this.#before !== null && look.since > this.#before) this.#before = look.since;
        this.#follow(look.detail, look.at);
        this.#before = look.at;
    }

    forget(namespace) {
        this.#namespace = namespace;
        this.histories.clear();
        this.#before = null;
        this.#wasComplete = false;
    }

    history(key) {
        return this.histories.get(identity(key)) ?? null;
    }

    #follow({ keys, dead }, at) {
        const deadRuns = new Set(dead.map(({ run }) => run));
        const seen = new Set();
        for (const listing of keys) {
            const id = identity(listing.key);
            seen.add(id);
            let history = this.histories.get(id);
            if (!history) this.histories.set(id, history = new History(listing.key));
            history.update(listing, at, this.#before, this.#before !== null && this.#wasComplete, deadRuns);
        }
        // Of a list that is full, a key that is not in it may have work that comes later.
        const isComplete = keys.length < 200;
        for (const [id, history] of this.histories) {
            if (!seen.has(id) && history.isBusy) {
                const isDone = isComplete || history.run || history.ready || history.pending.due <= at;
                const nothing = { key: history.key, pending: 0, ready: 0, run: null };
                if (isDone) history.update(nothing, at, this.#before, false, deadRuns);
                else this.histories.delete(id);
            } else if (!history.isBusy && history.last < at - Looks.memory) this.histories.delete(id);
        }
        this.#wasComplete = isComplete;
        for (const id of this.histories.keys()) {
            if (this.histories.size <= Looks.mostKeys) break;
            if (!seen.has(id)) this.histories.delete(id);
        }
    }
}
