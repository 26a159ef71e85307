// The time line of a program: a line for each debouncer, if there are not too many, else for the busiest.

"use strict";

class ProgramLines extends Lines {
    static tall = 28;
    /** Here more is seen of what has been: most of it is over soon. */
    static past = 0.6;

    #program;
    #open;
    word = "debouncer";

    constructor(program, open) {
        super();
        this.#program = program;
        this.#open = open;
    }

    get now() {
        return this.#program.now;
    }

    get isAway() {
        return this.#program.away !== null;
    }

    get #hasFew() {
        return this.#program.debouncers.size <= this.most;
    }

    isBusy(id) {
        const debouncer = this.#program.debouncers.get(id);
        return debouncer !== undefined && (this.#hasFew || debouncer.isBusy);
    }

    last(id) {
        return this.#program.debouncers.get(id)?.last ?? -Infinity;
    }

    open(id) {
        this.#open(id);
    }

    name(id) {
        return placeElement(this.#program.debouncers.get(id).row.where);
    }

    nothing() {
        return this.#program.debouncers.size === 0
            ? "The program has no debouncer or throttler yet. One that is made appears here." : "Nothing waits or runs.";
    }

    take() {
        const { about, busiest } = this.#program;
        if (!about) return;
        const wanted = this.#hasFew ? busiest : busiest.filter(({ isBusy }) => isBusy);
        const placed = this.place(wanted.map(({ row }) => row.id));
        this.others = wanted.filter(({ row }) => !placed.has(row.id));
        this.show();
    }

    /** The waits of most debouncers, and most of what is due, lie in the window. */
    needed() {
        const all = this.#program.busiest.slice(0, this.most);
        if (all.length === 0) return null;
        const middle = (durations) => durations.sort((one, other) => one - other)[(durations.length - 1) >> 1] ?? 0;
        const wait = middle(all.map(({ row }) => secondsOf(/--(?:wait|throttle) (\S+)/.exec(row.policy)?.[1] ?? "")));
        const due = middle(all.map(({ row }) => row.dueIn).filter((due) => due !== null));
        // What comes later is said at the right end.
        return Math.min(Math.max(1.1 * wait, 1.05 * due), 38) / (1 - ProgramLines.past);
    }

    said(id) {
        const debouncer = this.#program.debouncers.get(id);
        if (!debouncer) return "";
        const { row, rates, isCrowded, crowded, episodes, last } = debouncer;
        const { now } = this;
        const parts = [];
        if (isCrowded && rates) parts.push(`${shownRate(rates.submits)} in/s, ${shownRate(rates.runs)} out/s`);
        if (row.running > 0) parts.push(`${number(row.running)} running`);
        if (row.pending > 0) {
            const count = isCrowded ? row.pending : Math.max(row.pending, episodes.at(-1)?.count ?? 0);
            const when = row.waiting >= row.pending ? ", waiting to start" : crowded.due === null ? ""
                : crowded.due > now ? `, due in ${spell(crowded.due - now)}` : ", due now";
            parts.push(isCrowded ? `${number(count)} pending` : `${counted(count, "submit")}${when}`);
        }
        if (parts.length > 0) return parts.join("; ");
        const ended = episodes.at(-1);
        if (last === -Infinity || !ended) return row.submitted > 0 ? "at rest" : "nothing submitted yet";
        const when = now - last < 1 ? "just now" : `${spell(now - last)} ago`;
        if (last > ended.endedAt) return `ran ${when}`;
        return ended.state === "gone" ? `gone ${when}, without an execution` : `${ended.state === "failed" ? "failed" : "ran"} ${when}`;
    }

    drawLine(id, y, view, passed) {
        const debouncer = this.#program.debouncers.get(id);
        if (!debouncer) return;
        this.#drawColumns(debouncer, y, view);
        this.drawEpisodes(debouncer.episodes, y, view, passed);
        if (debouncer.isCrowded && debouncer.row.pending > 0) {
            const { crowded } = debouncer;
            crowded.first = view.now;
            this.drawEpisodes([crowded], y, view, passed);
        }
        for (const at of debouncer.faults) view.paper.strong("×", view.x(at), y - 8, theme.bad);
    }

    /** Draws the counts of each look: its submits, and before them its executions. */
    #drawColumns({ columns }, y, { paper, x }) {
        const seen = columns.filter(({ at }) => x(at) > 0);
        const most = Math.max(4, ...seen.map(({ submits, starts }) => Math.max(submits, starts)));
        for (const { from, at, submits, starts } of seen) {
            const [left, wide] = [x(from), Math.max(1, x(at) - x(from) - 1)];
            for (const [count, alpha] of [[submits, 0.3], [starts, 1]]) {
                const tall = count > 0 ? Math.max(2, (count / most) * ProgramLines.tall) : 0;
                paper.box(left, y + 14 - tall, left + wide, y + 14, theme.c0, alpha);
            }
        }
    }

    drawOthers(top, view) {
        const dues = this.others.map(({ crowded, row }) => (row.pending > 0 ? crowded.due : null));
        this.drawStrip(top, view, dues, { waiting: "not waiting for an instant" });
    }
}
