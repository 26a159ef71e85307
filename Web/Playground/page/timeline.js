// The timeline: a marble diagram that scrolls. Only what is visible is drawn, and events that share the same pixels are
// drawn once.

/** Returns the first index in a list, ordered by a member, at which the member is at least `least`. */
function firstIndex(list, member, least) {
    let [low, high] = [0, list.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle][member] < least) low = middle + 1; else high = middle;
    }
    return low;
}

class Timeline {
    /** The pixels from one submit to the next, in the median, at which they can be told apart. */
    static legible = 5;
    /** Fewer submits than these say little: then it is better to see more, though less clearly. */
    static few = 5;
    /** How long the picture goes on after the last thing that happened, in milliseconds. */
    static rest = 1000;

    #canvas;
    #pen;
    #stage;
    #isAsked = false;
    #isVisible = true;
    #pausedAt = null;
    /** The right end of a picture that is held while calls are moved. */
    #heldAt = null;
    /** The present of the last picture. */
    #drawn = null;
    span = 10_000;
    /** The name of the row of calls. */
    caller = "calls";
    /** The selected execution, and the selected call. */
    selected = null;
    call = null;
    /** Whether to say that calls can be dragged. */
    invites = () => false;
    #isSmall;
    #hint;
    /** Called after each picture. */
    drawn = () => {};
    /** Where the first policy begins, in pixels. */
    top;

    /** A small one has no names, except those that lanes bring, and says what to do while it is empty. */
    constructor(canvas, stage, { isSmall = false, hint = "" } = {}) {
        this.#isSmall = isSmall;
        this.#hint = hint;
        this.top = isSmall ? 40 : 54;
        this.#canvas = canvas;
        this.#pen = new Pen(canvas);
        this.#stage = stage;
        watchCanvas(canvas, () => this.ask(), (isVisible) => { this.#isVisible = isVisible; });
        // With reduced motion the picture is drawn once a second instead, and at every event.
        setInterval(() => wantsLessMotion.matches && this.#drawn !== this.now && this.ask(), 1000);
    }

    get isPaused() {
        return this.#pausedAt !== null;
    }

    set isPaused(isPaused) {
        // A picture that is paused again shows the present again.
        this.#pausedAt = this.#heldAt = null;
        if (isPaused) this.#pausedAt = this.now;
        this.ask();
    }

    /** Ends at that instant, whatever comes after it. */
    hold(right) {
        this.#heldAt = this.#pausedAt = right;
        this.ask();
    }

    /**
     * Chooses the shortest window in which everything that was done is seen, or the longest in which what is seen can be read if that is
     * shorter, and shows its end. Returns how many submits are seen.
     */
    showAll(windows) {
        const { calls, submits } = this.#stage;
        const spans = [...windows.options].map((option) => Number(option.value));
        const needed = (this.now - calls[0].at) / 0.75;
        const longest = spans.find((span) => span >= needed) ?? spans.at(-1);
        let count = null;
        for (const span of spans.filter((span) => span <= longest).reverse()) {
            const seen = submits.slice(firstIndex(submits, "at", this.now - 0.82 * span));
            if (count !== null && seen.length < Timeline.few) break;
            this.span = span;
            count = seen.length;
            const gaps = seen.slice(1).map(({ at }, index) => at - seen[index].at).sort((one, other) => one - other);
            if (gaps.length === 0 || gaps[gaps.length >> 1] * this.#canvas.clientWidth / span >= Timeline.legible) break;
        }
        windows.value = this.span;
        return count;
    }

    /** Whether anything moves. */
    get isLively() {
        const { clock, lanes, lastEvent, sleeps } = this.#stage;
        if (this.isPaused) return false;
        if (this.#stage.isReplaying || sleeps.at(-1)?.until > clock.now) return true;
        return clock.now - lastEvent < Timeline.rest || lanes.some((lane) => lane.isBusy);
    }

    /** The present of the picture. Its time stops soon after the last event, so that what was done stays to be seen. */
    get now() {
        if (this.#pausedAt !== null) return this.#pausedAt;
        const { clock, lastEvent, origin } = this.#stage;
        return this.isLively ? clock.now : Math.min(clock.now, Math.max(lastEvent + Timeline.rest, origin));
    }

    /** The instants at both ends. Due instants lie at the right. */
    get bounds() {
        let right = this.#heldAt ?? this.now + 0.18 * this.span;
        if (this.selected && this.selected.first < right - this.span) right = this.selected.at + this.span / 2;
        return { left: right - this.span, right };
    }

    /** The pixels from one line of runs to the next. */
    static line = 6;

    /** What is below the first bar of a policy for each further key: its bar, and below that of the key before it a line for each run at once. */
    #pitch({ lines }) {
        return lines > 0 ? 32 + Timeline.line * lines : 30;
    }

    /** Where the first bar is in a row: below the counts of the runs, and these below the name. */
    #first({ name }) {
        return this.#isSmall && !name ? 34 : 47;
    }

    /** The height of a policy's row: each key has its own bar. */
    #height(lane) {
        return this.#first(lane) + (this.#isSmall ? 22 : 33) + this.#pitch(lane) * (this.#stage.keys.length - 1) + Timeline.line * Math.max(0, lane.lines - 1);
    }

    /** Where each policy's row begins, and where the last one ends. */
    get rows() {
        const tops = [this.top];
        for (const lane of this.#stage.lanes) tops.push(tops.at(-1) + this.#height(lane));
        return tops;
    }

    /** Requests a new picture with the next frame. */
    ask() {
        if (this.#isAsked || !this.#isVisible) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            this.draw();
            if (this.isLively && !wantsLessMotion.matches) this.ask();
            this.drawn();
        });
    }

    draw() {
        const { lanes } = this.#stage;
        this.#drawn = this.now;
        const { rows } = this;
        this.#pen.begin(rows.at(-1) + 22);
        const { width, height } = this.#pen;
        const { left, right } = this.bounds;
        const view = { left, right, width, height, x: (instant) => ((instant - left) / (right - left)) * width };
        this.#drawGrid(view);
        this.#drawSubmits(view);
        lanes.forEach((lane, index) => this.#drawLane(lane, index, { ...view, top: rows[index], bottom: rows[index + 1] }));
        if (this.#hint && this.#stage.submits.length === 0) this.#text(this.#hint, width / 2, this.top - 16, "center", theme.quiet);
        if (this.#heldAt !== null) return;
        const now = view.x(this.now);
        this.#pen.box(Math.round(now), 0, Math.round(now) + 1, height - 20, theme.quiet);
        this.#text("now", now, height - 6, "center", theme.quiet);
    }

    #text(text, x, y, align, colour, weight = "") {
        this.#pen.text(text, x, y, { align, colour, weight });
    }

    #drawGrid({ left, right, width, height, x }) {
        const step = [250, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000]
            .find((step) => (step / (right - left)) * width >= 70) ?? 60_000;
        const { origin } = this.#stage;
        for (let at = Math.ceil((left - origin) / step) * step; origin + at <= right; at += step) {
            if (at < 0) continue;
            const px = Math.round(x(origin + at));
            this.#pen.box(px, 0, px + 1, height - 20, theme.line);
            // Not where "now" stands.
            if (this.#heldAt !== null || Math.abs(px - x(this.now)) > 34) {
                this.#text(`${at / 1000} s`, Math.min(Math.max(14, px), width - 14), height - 6, "center", theme.quiet);
            }
        }
    }

    #drawSubmits({ left, x, right }) {
        const { submits, touches, marks } = this.#stage;
        const y = this.top - 15;
        let last = -Infinity;
        let lastText = -Infinity;
        for (let index = firstIndex(submits, "at", left - 100); index < submits.length; index++) {
            const submit = submits[index];
            const px = x(submit.at);
            if (px - last < 1) continue;
            // Dense submits are drawn as a band, which costs less than many circles on top of each other.
            if (px - last < 3) this.#pen.box(last, y - 4.5, px, y + 4.5, theme.ink);
            else this.#pen.dot(px, y, 4.5, theme.ink);
            last = px;
            const label = submit.key || submit.label;
            const next = submits[index + 1];
            if (px - lastText >= 6 + 6 * label.length && (!next || x(next.at) - px >= 5)) {
                lastText = px;
                this.#text(label, px, y - 9, "center", theme.quiet);
            }
        }
        this.#drawTouches(touches, () => y, theme.ink, left, x);
        if (this.call) this.#pen.dot(x(this.call.at), y, 8, null, theme.lanes[0], 2);
        if (this.invites() && last > 0 && last + 120 < x(right)) this.#text("← drag a call →", last + 14, y + 4, "left", theme.ink, "600");
        for (let index = firstIndex(marks, "at", left); index < marks.length; index++) {
            const px = x(marks[index].at);
            this.#pen.box(px, 3, px + 1.5, this.top - 7, theme.bad);
            this.#text(marks[index].name, px + 4, 12, "left", theme.bad);
        }
        this.#pen.box(0, this.top - 0.5, x(right), this.top + 0.5, theme.base);
        if (!this.#isSmall) this.#label(this.caller, 2, theme.ink);
    }

    #drawLane(lane, index, view) {
        const { top, bottom } = view;
        const colour = theme.lanes[index];
        const keys = this.#stage.keys;
        const first = top + this.#first(lane);
        const pitch = this.#pitch(lane);
        const bar = (key) => ({ y: first + pitch * Math.max(0, keys.indexOf(key)) });
        this.#pen.box(0, bottom - 0.5, view.width, bottom + 0.5, theme.line);
        for (const { key, at, until } of this.#stage.sleeps) {
            hatch(this.#pen.context, view.x(at), bar(key).y - 9, view.x(until), bar(key).y + 16, theme.base);
        }
        this.#drawExecutions(lane, colour, bar, view);
        this.#drawDrops(lane, colour, bar, view);
        this.#drawPending(lane, colour, bar, view);
        this.#drawTouches(lane.touches, (key) => bar(key).y, colour, view.left, view.x);
        const name = this.#isSmall ? lane.name : `${index + 1}  ${lane.name ?? policyName(lane.policy)}`;
        if (!name) return;
        const end = this.#label(name, top + 3, colour);
        // On a phone it is below the timeline only.
        if (!this.#isSmall && lane.counters.submitted > 0 && view.width > 600) {
            this.#label(callsAndRuns(lane), top + 3, theme.quiet, { left: end + 8, weight: "" });
        }
    }

    /** Draws a name, at the left end unless it follows another, over everything else and with its own background. Returns where it ends. */
    #label(name, top, colour, { left = 4, weight = "600" } = {}) {
        const right = left + this.#pen.measure(name, { weight }) + 8;
        this.#pen.box(left, top, right, top + 17, theme.paper, 0.88);
        this.#text(name, left + 4, top + 13, "left", colour, weight);
        return right;
    }

    #drawExecutions(lane, colour, bar, view) {
        const { executions } = lane;
        const start = firstIndex(executions, "startedAt", view.left - this.#stage.longestTakes - 100);
        const last = new Map();
        const lastText = new Map();
        // Where the last value shown ends.
        let lastValue = -Infinity;
        for (let index = start; index < executions.length; index++) {
            const execution = executions[index];
            const { y } = bar(execution.key);
            const [first, at] = [view.x(execution.first), view.x(execution.at)];
            const isSelected = execution === this.selected;
            if (!isSelected && at - (last.get(execution.key) ?? -Infinity) < 1) continue;
            last.set(execution.key, at);
            this.#drawWait(execution.behind, first, at, y, colour, view, isSelected);
            this.#drawWork(execution, y + Timeline.line * (execution.line ?? 0), colour, view, lane.policy);
            this.#pen.mark(execution.edge, at, y, isSelected ? 9 : 7, colour);
            if (isSelected) this.#pen.dot(at, y, 13, null, theme.ink, 2);
            const text = this.#stage.keys.length > 1 ? `${execution.key} ${execution.count}` : String(execution.count);
            if (at - (lastText.get(execution.key) ?? -Infinity) > Math.max(22, 8 + 7 * text.length)) {
                lastText.set(execution.key, at);
                this.#text(text, at, y - 11, "center", theme.ink, "600");
            }
            // A longer part of the value, if it fits before that of the next.
            const next = executions[index + 1] ? view.x(executions[index + 1].at) : Infinity;
            let value = Timeline.shownValue(execution.value, 20);
            let half = this.#pen.measure(value) / 2;
            if (at - half <= lastValue + 4 || at + 2 * half > next || at + half > view.width) {
                value = Timeline.shownValue(execution.value);
                half = this.#pen.measure(value) / 2;
            }
            if (this.#stage.keys.length === 1 && !this.#isSmall && !lane.isCrowded && at - half > lastValue + 4) {
                lastValue = at + half;
                this.#text(value, at, y + 23 + Timeline.line * Math.max(0, lane.lines - 1), "center", theme.quiet);
            }
        }
    }

    /** A value in a few characters, of a long one the end. */
    static shownValue(value, most = 9) {
        if (Array.isArray(value)) return plural(value.length, "value");
        const text = String(value);
        return text.length > most ? `…${text.slice(1 - most)}` : text;
    }

    /** Draws submits on their bar; for the selected one with a line from each of them. */
    #drawTicks(submits, y, colour, view, isSelected) {
        const ink = isSelected ? theme.ink : colour;
        let last = -Infinity;
        for (const submit of submits) {
            const px = view.x(submit.at);
            if (px - last < 1.5) continue;
            last = px;
            this.#pen.box(px - 0.75, y - 5, px + 0.75, y + 5, ink);
            if (isSelected) this.#pen.box(px - 0.25, this.top - 12, px + 0.75, y - 5, ink);
        }
    }

    /** Draws how long the handler runs. */
    #drawWork(execution, y, colour, view, policy) {
        const { context } = this.#pen;
        if (execution.takes === 0 && execution.outcome === "executed") return;
        // Who sleeps hears later of its end.
        const end = Math.min(execution.endedAt ?? this.#stage.clock.now, execution.startedAt + (execution.takes || Infinity));
        const [from, to] = [view.x(execution.startedAt), view.x(end)];
        const isCut = execution.outcome === "interrupted";
        const isWrong = isBad(execution, policy);
        const isDone = execution.endedAt === null || execution.outcome === "executed" || isCut;
        // An execution that was interrupted is cut off, and the one that goes on with its values begins at the cut.
        const slant = (isSlanted) => isSlanted ? 4 : 0;
        const ends = [from + slant(execution.continues), from - slant(execution.continues),
            Math.max(from + 1, to - 2) - slant(isCut), Math.max(from + 1, to - 2) + slant(isCut)];
        context.globalAlpha = isCut ? 0.45 : 1;
        this.#pen.shape([[ends[0], 8], [ends[3], 8], [ends[2], 13], [ends[1], 13]], 0, y, isWrong ? theme.bad : isDone ? colour : theme.base);
        context.globalAlpha = 1;
        if (isWrong) this.#text("×", to + 5, y + 14, "center", theme.bad, "600");
    }

    /** Draws how long submits waited. */
    #drawWait(submits, first, at, y, colour, view, isSelected = false) {
        this.#pen.box(first, y - 5, at, y + 5, colour, isSelected ? 0.6 : 0.3);
        this.#drawTicks(submits, y, colour, view, isSelected);
    }

    /** Draws submits that were not executed, except those that a later one superseded. */
    #drawDrops(lane, laneColour, bar, view) {
        const { left, x } = view;
        let last = -Infinity;
        for (let index = firstIndex(lane.drops, "at", left); index < lane.drops.length; index++) {
            const drop = lane.drops[index];
            const px = x(drop.at);
            if (px - last < 4) continue;
            last = px;
            const colour = drop.fate === "absorbed" ? theme.quiet : theme.bad;
            if (drop.behind?.length) this.#drawWait(drop.behind, x(drop.behind[0].at), px, bar(drop.key).y, laneColour, view);
            this.#text("×", px, bar(drop.key).y + 4, "center", colour, "600");
        }
    }

    /** Draws touches as rings: above, those that were made, and on a policy's bars those for which something waits longer. */
    #drawTouches(touches, height, colour, left, x) {
        let last = -Infinity;
        for (let index = firstIndex(touches, "at", left - 100); index < touches.length; index++) {
            const px = x(touches[index].at);
            if (px - last < 3) continue;
            last = px;
            this.#pen.dot(px, height(touches[index].key), 3.5, theme.paper, colour, 2);
        }
    }

    #drawPending(lane, colour, bar, view) {
        for (const { key, first, due, count } of lane.pending) {
            const { y } = bar(key);
            const [from, to] = [view.x(first), Math.min(view.x(due), view.width + 20)];
            this.#pen.frame(from, y - 5, Math.max(from, to), y + 5, colour, { width: 1.5, dash: [4, 3] });
            this.#pen.mark("trailing", to, y, 6, theme.paper, colour, 2);
            if (to < view.width - 10) this.#text(String(count), to, y - 11, "center", theme.quiet, "600");
        }
    }

    instantAt(x) {
        const { left, right } = this.bounds;
        return left + (x / this.#canvas.clientWidth) * (right - left);
    }

    /** Returns the call at a point of the canvas, or as near as that. */
    callAt(x, y, near) {
        if (y < this.top - 40 || y > this.top) return null;
        const distance = ({ at }) => Math.abs(at - this.instantAt(x));
        const calls = [...this.#stage.submits, ...this.#stage.touches].sort((one, other) => distance(one) - distance(other));
        return calls.length > 0 && distance(calls[0]) <= (near / this.#canvas.clientWidth) * this.span ? calls[0] : null;
    }

    /** Returns the execution at a point of the canvas. */
    executionAt(x, y) {
        const lane = this.#stage.lanes[this.rows.findLastIndex((top) => top <= y)];
        if (!lane) return null;
        const { left, right } = this.bounds;
        const instant = this.instantAt(x);
        const near = (12 / this.#canvas.clientWidth) * (right - left);
        const index = firstIndex(lane.executions, "startedAt", instant - near - this.#stage.longestTakes);
        let best = null;
        for (const execution of lane.executions.slice(index, index + 500)) {
            if (execution.first - near > instant || execution.at + near < instant) continue;
            if (!best || Math.abs(execution.at - instant) < Math.abs(best.at - instant)) best = execution;
        }
        return best;
    }
}
