// Draws what happened in a store and with its workers: each mark of the timeline.

class WorkerRuns {
    #line;
    #pen;

    constructor(line, pen) {
        [this.#line, this.#pen] = [line, pen];
    }

    /** Draws what a history says, as it is known at an instant. */
    draw(history, now) {
        // What has left the picture costs nothing.
        const { left } = this.#line;
        const holds = history.holds.filter((hold) => StoreHistory.seenUntil(hold) >= left);
        const first = firstIndex(history.effects, "at", left);
        const effects = history.effects.slice(first);
        for (const key of this.#line.view.keys) {
            const last = history.effects.findLast((effect, index) => index < first && effect.key === key && effect.accepted);
            if (last) effects.unshift(last);
        }
        this.#drawPauses(history.pauses, now);
        this.#drawSpans(history.spans, now);
        for (const hold of holds) this.#drawClaim(hold);
        for (const effect of effects) this.#drawWay(effect);
        for (const hold of holds) this.#drawHold(hold, holds, now);
        for (const wait of history.waits) if ((wait.claimedAt ?? Infinity) >= left) this.#drawWait(wait, now);
        for (const rest of history.rests) if ((rest.until ?? Infinity) >= left) this.#drawRest(rest, now);
        for (const submit of history.submits.slice(firstIndex(history.submits, "at", left))) this.#drawSubmit(submit);
        this.#drawServer(effects, now);
        for (const mark of history.marks) this.#drawMark(mark);
    }

    // MARK: - What waits

    #barOf(key) {
        return this.#line.keyTop(key) + 19;
    }

    #drawSubmit({ at, key, number }) {
        const [line, pen] = [this.#line, this.#pen];
        pen.dot(line.x(at), this.#barOf(key), 4.5, theme.ink, theme.paper);
        pen.text(String(number), line.x(at), this.#barOf(key) - 9, { align: "center", colour: theme.quiet, size: 11 });
    }

    /** Until it is due it is a bar, dashed as long as a submit can move its end; then a line, until a worker takes it. */
    #drawWait({ key, first, due, isDue, claimedAt, isLimited }, now) {
        const [line, pen] = [this.#line, this.#pen];
        const [y, colour] = [this.#barOf(key), line.colour(key)];
        const [from, to] = [line.x(first), line.x(due)];
        if (isDue) pen.box(from, y - 5, to, y + 5, colour, 0.3);
        else pen.frame(from, y - 5, to, y + 5, colour, { width: 1.5, dash: [4, 3] });
        const taken = line.x(claimedAt ?? now);
        if (isDue && taken > to + 8) {
            pen.line([[to, y], [taken, y]], colour, { width: 3, dash: [2, 3] });
            const text = isLimited ? "held back by the limit" : "ready, not taken";
            const style = { colour: theme.quiet, size: 11 };
            if (taken - to > pen.measure(text, style) + 16) pen.text(text, to + 10, y - 7, style);
        }
        pen.mark("trailing", to, y, 7, isDue ? colour : theme.paper, isDue ? theme.paper : colour, 1.5);
    }

    /** A run that waits to be tried again, or that is dead. */
    #drawRest({ key, at, until, isDead }, now) {
        const [line, pen] = [this.#line, this.#pen];
        const [y, colour] = [this.#barOf(key), isDead ? theme.bad : line.colour(key)];
        const [from, to] = [line.x(at), line.x(until ?? now)];
        pen.line([[from, y + 8], [Math.max(from + 6, to), y + 8]], colour, { width: 2, dash: [5, 3] });
        if (isDead) pen.cross(from, y + 8, 4, theme.bad);
        const [text, style] = [isDead ? "dead" : "tried again", { colour, size: 11, weight: "600" }];
        const width = pen.measure(text, style);
        if (to - from < width + 24) return;
        pen.box(from + 8, y + 5, from + 14 + width, y + 13, theme.paper);
        pen.text(text, from + 11, y + 12, style);
    }

    // MARK: - Workers

    #drawPauses(pauses, now) {
        const [line, pen] = [this.#line, this.#pen];
        const [top, bottom] = line.borders;
        for (const { at, until } of pauses) {
            const [from, to] = [line.x(at), line.x(until ?? now)];
            pen.box(from, top, to, bottom, theme.c1, 0.15);
            pen.line([[from, top], [from, bottom]], theme.c1, { width: 2 });
            pen.text("paused: nobody takes anything new", from + 6, bottom - 5, { colour: theme.c1, weight: "600", size: 11 });
        }
    }

    #drawSpans(spans, now) {
        const [line, pen] = [this.#line, this.#pen];
        for (const { worker, kind, at, until } of spans) {
            const [from, to] = [line.x(at), line.x(until ?? now)];
            const [top, bottom] = [line.workerTop(worker) - 2, line.workerBottom(worker)];
            if (kind === "asleep") hatch(pen.context, from, top, to, bottom, theme.base);
            if (kind === "cut off") pen.line([[from, top + 1], [to, top + 1]], theme.bad, { width: 3, dash: [7, 5] });
            if (kind === "killed" || kind === "ended") pen.box(from, top, to, bottom, theme.base, 0.22);
            if (kind === "asleep") this.#drawTag("asleep", from + 4, bottom);
            if (kind === "cut off") this.#drawTag("cut off from the store", from + 4, bottom);
        }
    }

    /** What was done to a worker. */
    #drawMark({ worker, at, text, isGood }) {
        const [line, pen] = [this.#line, this.#pen];
        const x = line.x(at);
        pen.line([[x, line.workerTop(worker) - 2], [x, line.workerBottom(worker)]], isGood ? theme.ink : theme.bad, { width: 2 });
        this.#drawTag(text, x + 4, line.workerBottom(worker), isGood ? theme.ink : theme.bad);
    }

    #drawTag(text, x, bottom, colour = theme.quiet) {
        const style = { colour, weight: "600", size: 11 };
        this.#pen.box(x - 2, bottom - 13, x + this.#pen.measure(text, style) + 3, bottom, theme.paper, 0.9);
        this.#pen.text(text, x, bottom - 3, style);
    }

    /** From what waits, or from the worker that had it, to the worker that takes it. */
    #drawClaim(hold) {
        const [line, pen] = [this.#line, this.#pen];
        const x = line.x(hold.claimedAt);
        const from = hold.from ? line.barTop(hold.from) + 7 : this.#barOf(hold.key) + 6;
        pen.line([[x, from], [x, line.barTop(hold)]], hold.from ? theme.bad : line.colour(hold.key),
            { width: hold.from ? 2 : 1, dash: hold.from ? [4, 3] : [], alpha: hold.from ? 1 : 0.5 });
    }

    /** A run: its work is a bar, its lease an outline that reaches to where it ends, heartbeats are ticks on it. */
    #drawHold(hold, holds, now) {
        const [line, pen] = [this.#line, this.#pen];
        const { key, worker, slot, claimedAt, startedAt, endedAt, cutAt, closedAt, until, beats, attempt, fence, value } = hold;
        const [top, colour] = [line.barTop(hold), line.colour(key)];
        const lease = closedAt === null ? until : Math.min(until, closedAt);
        const isOver = closedAt === null && until <= now;
        const [from, to] = [line.x(claimedAt), line.x(lease)];
        pen.box(from, top, to, top + 14, colour, 0.1);
        pen.frame(from, top, to, top + 14, isOver ? theme.bad : colour, { width: 1.25, dash: [3, 2] });
        if (isOver) pen.line([[to, top - 2], [to, top + 16]], theme.bad, { width: 2.5 });
        for (const beat of beats) pen.line([[line.x(beat), top - 3], [line.x(beat), top + 3]], theme.ink, { width: 2 });
        if (startedAt !== null) {
            const end = Math.min(cutAt ?? Infinity, endedAt ?? closedAt ?? now);
            this.#drawBar(line.x(startedAt), line.x(end), top + 2, colour, hold);
        }
        const style = { size: 11, weight: "600", colour };
        const next = holds.find((other) => other.worker === worker && other.slot === slot && other.claimedAt > claimedAt);
        const room = (next ? line.x(next.claimedAt) : pen.canvas.clientWidth) - from - 4;
        const text = [`${value} · fence ${fence}${attempt > 1 ? ` · attempt ${attempt}` : ""}`, `${value} · fence ${fence}`, value, ""]
            .find((text) => pen.measure(text, style) <= room);
        pen.text(text, from, top - 4, style);
        if (!isOver || cutAt === null) return;
        const [over, right] = ["its lease runs out", { align: "right", colour: theme.bad, size: 11 }];
        if (to - line.x(cutAt) > pen.measure(over, right) + 16) pen.text(over, to - 4, top + 11, right);
    }

    #drawBar(from, to, top, colour, { key, cutAt, how, isPutBack, isLost }) {
        const pen = this.#pen;
        const isBad = cutAt !== null || (how !== null && how !== "returned" && !isPutBack) || isLost;
        const slant = cutAt !== null || isPutBack ? 4 : 0;
        const end = Math.max(from + 2, to);
        pen.context.globalAlpha = isPutBack ? 0.5 : 1;
        pen.shape([[from, 0], [end + slant, 0], [end - slant, 10], [from, 10]], 0, top, colour);
        pen.context.globalAlpha = 1;
        if (isBad && cutAt === null) pen.cross(end + 6, top + 5, 3.5, theme.bad);
        if (!isPutBack) return;
        // Back to what waits.
        pen.line([[end, top], [end, this.#barOf(key) + 6]], colour, { width: 2, dash: [2, 3] });
        pen.shape([[-5, 6], [0, -2], [5, 6]], end, this.#barOf(key) + 8, colour);
        pen.text("back", end + 6, this.#barOf(key) + 19, { size: 11, colour, weight: "600" });
    }

    // MARK: - The server

    #serverOf(key) {
        return this.#line.serverTop(key) + 11;
    }

    /** From a worker to the server. */
    #drawWay({ at, worker, slot, key, accepted }) {
        const [line, pen] = [this.#line, this.#pen];
        pen.line([[line.x(at), line.barTop({ worker, slot }) + 12], [line.x(at), this.#serverOf(key)]], accepted ? line.colour(key) : theme.bad,
            { width: accepted ? 1 : 1.5, alpha: accepted ? 0.6 : 1, dash: accepted ? [] : [4, 3] });
    }

    #drawServer(effects, now) {
        const [line, pen] = [this.#line, this.#pen];
        effects.forEach((effect, index) => {
            const { at, key, value, accepted, fence, isAgain } = effect;
            const [x, y] = [line.x(at), this.#serverOf(key)];
            const next = effects.find((other, later) => later > index && other.key === key);
            const nextAccepted = effects.find((other, later) => later > index && other.key === key && other.accepted);
            const style = { size: 11, weight: "600", colour: accepted && !isAgain ? line.colour(key) : theme.bad };
            if (accepted) pen.line([[x, y], [line.x(nextAccepted?.at ?? now), y]], line.colour(key), { width: 3, alpha: 0.35 });
            const texts = !accepted ? [`refused: fence ${fence} is older`, "refused", ""]
                : isAgain ? [`${value}, saved again`, `${value} again`, "again", ""] : [value, ""];
            const room = (next ? line.x(next.at) - 8 : Infinity) - x - 9;
            const text = texts.find((text) => pen.measure(text, style) <= room);
            if (accepted) pen.dot(x, y, 5.5, line.colour(key), theme.paper);
            else pen.cross(x, y, 4.5, theme.bad);
            if (text) pen.box(x + 8, y - 7, x + 12 + pen.measure(text, style), y + 6, theme.paper, 0.85);
            pen.text(text, x + 10, y + 4, style);
        });
    }
}
