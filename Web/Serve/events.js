// Events say only what has changed, and instants instead of durations, so that what waits costs nothing. A look has all of it.

"use strict";

class Events {
    /** What there was at the last event, as it came. */
    #known = null;

    /** Returns the look that an event makes of the last one. */
    look(event) {
        // Without lists, nothing is new but that the store is away.
        if (event.away && !event.namespaces) return event;
        const { at, away, since = null } = event;
        const lists = (names, news, old) => Object.fromEntries(names.map((name) => [name, Events.#list(news[name], old?.[name])]));
        const { detail } = event;
        this.#known = {
            ...lists(["figures", "health", "namespaces"], event, this.#known),
            detail: detail && { namespace: detail.namespace, ...lists(["keys", "workers", "dead", "rates"], detail, this.#known?.detail) },
        };
        const { figures, health, namespaces, detail: shown } = this.#known;
        const until = (instant) => (instant == null ? null : Math.max(0, instant - at));
        const ago = (instant) => (instant == null ? null : Math.max(0, at - instant));
        return {
            at, away, since, figures, health,
            namespaces: namespaces.map((one) => ({ ...one, oldestDue: ago(one.oldestDue), paused: ago(one.paused),
                oldestEntry: ago(one.oldestEntry), nextStart: until(one.nextStart) })),
            detail: shown && {
                namespace: shown.namespace, rates: shown.rates,
                keys: shown.keys.map(({ first, due, readySince, run, ...rest }) => ({ ...rest, pendingFor: ago(first), dueIn: until(due),
                    readyFor: ago(readySince),
                    run: run && { ...run, runningFor: ago(run.since), retryIn: until(run.retry), leaseFor: until(run.lease) } })),
                workers: shown.workers.map((one) => ({ ...one, seen: ago(one.seenAt) })),
                dead: shown.dead.map((one) => ({ ...one, age: ago(one.at) })),
            },
        };
    }

    /** Puts elements that were there before, of which a list has the first and their number, in their places. */
    static #list(news, old = []) {
        return news?.flatMap((one) => (Array.isArray(one) ? old.slice(one[0], one[0] + one[1]) : [one])) ?? old;
    }
}
