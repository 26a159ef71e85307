// Draws what machines without a store do with the same edits: a thin row for each document.

class MemoryRuns {
    #line;
    #pen;

    constructor(line, pen) {
        [this.#line, this.#pen] = [line, pen];
    }

    #y(machine, key) {
        return this.#line.memoryTop(machine) + 8 + 11 * this.#line.view.keys.indexOf(key);
    }

    draw({ runs, losses, spans, waits }, now) {
        const [line, pen] = [this.#line, this.#pen];
        for (const { worker, kind, at, until } of spans) {
            const [from, to, top] = [line.x(at), line.x(Math.min(until ?? now, now)), line.memoryTop(worker)];
            const bottom = top + WorkerLine.heights.memory - 2;
            if (kind === "asleep") hatch(pen.context, from, top, to, bottom, theme.base);
            if (kind === "killed" || kind === "ended") pen.box(from, top, to, bottom, theme.base, 0.22);
        }
        for (const { machine, key, first, due } of waits) this.#drawWait(machine, key, first, due);
        for (const run of runs) if ((run.endedAt ?? Infinity) >= line.left) this.#drawRun(run, now);
        for (const { machine, key, first, at } of losses) {
            this.#drawWait(machine, key, first, at);
            pen.cross(line.x(at), this.#y(machine, key), 4, theme.bad);
        }
    }

    #drawWait(machine, key, first, until) {
        const [line, pen, y] = [this.#line, this.#pen, this.#y(machine, key)];
        pen.box(line.x(first), y - 3, line.x(until), y + 3, line.colour(key), 0.3);
    }

    /** A save ends at the server. One that is stale or doubled is red. */
    #drawRun({ machine, key, value, first, startedAt, endedAt, outcome, isStale, isDouble }, now) {
        const [line, pen, y] = [this.#line, this.#pen, this.#y(machine, key)];
        const end = line.x(endedAt ?? now);
        this.#drawWait(machine, key, first, startedAt);
        pen.box(line.x(startedAt), y - 3, end, y + 3, line.colour(key));
        if (outcome === "executed") {
            const isBad = isStale || isDouble;
            pen.dot(end, y, 4, isBad ? theme.bad : line.colour(key), theme.paper);
            const text = `${value}, ${isStale ? "older than what is there" : "doubled"}`;
            if (isBad && !line.isNarrow) pen.text(text, end + 7, y + 4, { size: 10, colour: theme.bad, weight: "600" });
        } else if (outcome === "killed" || outcome === "failed") {
            pen.cross(end, y, 4, theme.bad);
        }
    }
}
