// The time line of a namespace: a line for each key that has work.

"use strict";

class KeyLines extends Lines {
    #looks;
    #open;
    word = "key";

    constructor(looks, open) {
        super();
        this.#looks = looks;
        this.#open = open;
    }

    get now() {
        return this.#looks.now;
    }

    get isAway() {
        return this.#looks.away !== null;
    }

    isBusy(id) {
        return this.#looks.histories.get(id)?.isBusy ?? false;
    }

    last(id) {
        return this.#looks.histories.get(id)?.last ?? -Infinity;
    }

    open(id) {
        const history = this.#looks.histories.get(id);
        if (history) this.#open(history.key);
    }

    name(id) {
        return keyElement(this.#looks.histories.get(id).key);
    }

    nothing() {
        const more = this.#looks.namespace?.paused != null ? "" : " What is submitted appears here, and comes towards the present.";
        return `Nothing waits.${more}`;
    }

    /** Takes a look: gives keys their lines. */
    take() {
        const { detail } = this.#looks;
        if (!detail) return;
        const placed = this.place(detail.keys.map(({ key }) => identity(key)));
        this.others = detail.keys.filter(({ key }) => !placed.has(identity(key)));
        this.show();
    }

    /** The longest wait of the policy, and most of what is due, lie in the window. */
    needed() {
        const { detail, namespace } = this.#looks;
        if (!detail) return null;
        const waits = [...(namespace?.rules ?? "").matchAll(/--(?:wait|interval) (\S+)/g)].map(([, text]) => secondsOf(text));
        const dues = detail.keys.slice(0, this.most).map(({ dueIn, run }) => run?.retryIn ?? dueIn)
            .filter((due) => due !== null).sort((one, other) => one - other);
        // Of a long wait most keys with a line are near its end.
        const least = Math.min(1.1 * Math.max(0, ...waits), dues.length > 0 ? 40 : Infinity);
        return Math.max(least, 1.05 * (dues[Math.floor(0.8 * dues.length)] ?? 0)) / (1 - KeyLines.past);
    }

    said(id) {
        const { histories, namespace, now } = this.#looks;
        const history = histories.get(id);
        if (!history) return "";
        const what = awaited(history.listing, namespace);
        const { run, ready, pending } = history;
        const parts = [];
        if (run?.state === "running") {
            const worker = this.#looks.detail.workers.find(({ worker }) => worker === history.listing.run?.worker);
            const more = `${worker ? ` on ${plain(worker.host)}` : ""}${run.attempt > 1 ? `, attempt ${run.attempt}` : ""}`;
            const { since } = history.listing.run ?? {};
            parts.push(pending || ready ? "running" : `running${since == null ? "" : ` for ${spell(now - since)}`}${more}`);
        } else if (run) {
            const word = run.isSnoozed ? "snoozed, again" : "retrying";
            parts.push(run.retryAt > now ? `${word} in ${spell(run.retryAt - now)}` : `retrying, waits for ${what}`);
        }
        if (ready) {
            const age = ready.due === null ? null : spell(now - ready.due);
            const since = age === null ? "ready" : `ready for ${age}`;
            if (namespace?.paused != null) parts.push(`paused, ${since}`);
            else parts.push(run || pending || age === null ? since : `has waited ${age} for ${what}`);
        }
        if (pending) {
            const due = pending.due === null ? "" : pending.due > now ? ` due in ${spell(pending.due - now)}` : " due now";
            parts.push(`${counted(pending.count, "submit")}${due}`);
        }
        const last = history.episodes.at(-1);
        if (parts.length > 0 || !last) return parts.join("; ");
        const when = now - last.endedAt < 1 ? "just now" : `${spell(now - last.endedAt)} ago`;
        return last.state === "gone" ? "gone before it was due" : `${last.state === "failed" ? "failed for good" : "ran"} ${when}`;
    }

    drawLine(id, y, view, passed) {
        this.drawEpisodes(this.#looks.histories.get(id)?.episodes ?? [], y, view, passed);
    }

    drawOthers(top, view) {
        const { look, detail, namespace } = this.#looks;
        const dues = this.others.map(({ dueIn, run }) => {
            const due = run?.retryIn ?? dueIn;
            return due === null ? null : look.at + due;
        });
        const later = Math.max(0, (namespace?.pending ?? 0) - detail.keys.filter(({ pending }) => pending > 0).length);
        this.drawStrip(top, view, dues, { later, waiting: "not waiting for an instant" });
    }
}
