// Draws what becomes of submits, with the marks of the playground: on a time line, and small before words.

"use strict";

/** The windows of a time line, in seconds. */
const spans = [10, 30, 60, 300, 1800, 10_800, 86_400, 604_800];

/** Draws the parts of a time line. */
class Paper extends Pen {
    text(text, x, y, { align = "center", colour = theme.quiet, ...more } = {}) {
        // At the edge the whole of it is still to be read.
        const half = align === "center" && x >= 0 ? this.measure(text, more) / 2 + 2 : -Infinity;
        super.text(text, Math.max(x, half), y, { align, colour, ...more });
    }

    /** Draws the mark of something due: filled, or hollow while it is pending. */
    diamond(x, y, size, colour, isHollow) {
        if (isHollow) this.mark("trailing", x, y, size, theme.paper, colour, 2);
        else this.mark("trailing", x, y, size, colour);
    }

    dashes(left, y, right, colour) {
        this.frame(left, y - 5, Math.max(left, right), y + 5, colour, { width: 1.5, dash: [4, 3] });
    }

    /** A number, or a sign, that is read before the rest. */
    strong(text, x, y, colour) {
        this.text(text, x, y, { colour, weight: "600" });
    }

    /** Draws the axis: the past on a ground of its own, the present, and how far away the ticks are. */
    axis({ now, x, past, future }) {
        const { width, height } = this;
        const bottom = height - 22;
        this.box(0, 0, x(now), bottom, theme.raised);
        const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800]
            .find((step) => (step / (past + future)) * width >= 72) ?? 172_800;
        for (let away = step * Math.ceil(-past / step); away <= future; away += step) {
            if (away === 0) continue;
            const px = Math.round(x(now + away));
            this.box(px, 0, px + 1, bottom, theme.line);
            if (px > 34 && px < width - 30) this.text(away < 0 ? `${exactly(-away)} ago` : `in ${exactly(away)}`, px, height - 6);
        }
        this.box(0, bottom, width, bottom + 1, theme.line);
        this.box(Math.round(x(now)) - 0.5, 0, Math.round(x(now)) + 1, bottom, theme.quiet);
        this.strong("now", x(now), height - 6, theme.ink);
    }
}

/** Returns a whole duration of an axis in its largest unit. */
function exactly(seconds) {
    const [unit, length] = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]]
        .find(([, length]) => seconds >= length && seconds % (length / 2) === 0);
    return `${seconds / length} ${unit}`;
}

/**
 * Draws episodes on the line at `y`.
 *
 * @param view The paper, the present and the place of an instant.
 */
function drawEpisodes(episodes, y, view) {
    placeBars(episodes.filter(({ endedAt }) => endedAt === null || view.x(endedAt) > -40));
    const numbers = [];
    for (const episode of episodes) drawEpisode(episode, y, view, numbers);
    // Of numbers that would lie over each other the newest is shown.
    let left = Infinity;
    for (const [text, x, height] of numbers.reverse()) {
        const wide = 8 * text.length;
        if (x + wide / 2 > left) continue;
        view.paper.strong(text, x, height, theme.ink);
        left = x - wide / 2;
    }
}

function drawEpisode(episode, y, { paper, now, x, isAway }, numbers) {
    const { state, first, due, count, startedAt, endedAt } = episode;
    const { width } = paper;
    const waits = state === "pending" || state === "ready";
    const colour = state === "retrying" || state === "failed" ? theme.c1 : state === "gone" ? theme.base : theme.c0;
    const left = Math.max(-20, x(first));
    if (waits) {
        const target = state === "ready" ? (due ?? first) : (due ?? now);
        const at = x(episode.drawnDue ?? target);
        const to = Math.min(at, width + 20);
        paper.dashes(left, y, to, colour);
        drawTicks(episode, y, colour, true, { paper, x });
        // What is ready waits on, until the present.
        if (state === "ready") paper.box(Math.max(to, -20), y - 1, x(now), y + 1, theme.c1);
        if (at > width - 8) {
            paper.text(`in ${spell(target - now)} ›`, width - 6, y - 10, { align: "right" });
            return;
        }
        const mark = Math.max(at, 8);
        paper.diamond(mark, y, 6.5, state === "ready" ? theme.c1 : colour, true);
        numbers.push([number(count), mark, y - 11]);
        return;
    }
    const began = startedAt ?? first;
    const start = x(due ?? began);
    if (x(endedAt ?? now) < -40 && state !== "running" && state !== "retrying") return;
    paper.box(left, y - 5, start, y + 5, colour, 0.3);
    drawTicks(episode, y, colour, false, { paper, x });
    if (state === "gone") {
        paper.strong("×", x(endedAt), y + 4, theme.bad);
        return;
    }
    // The work: from its start to the present, and how long its lease still holds. Of an attempt that was over when the page was
    // opened it is not known when it was.
    const isUnknown = state === "retrying" && startedAt === null;
    const end = x(endedAt ?? (isUnknown ? now : episode.stoppedAt ?? now));
    const work = Math.max(-2, x(began));
    const { top, tall } = episode.bar;
    if (!isUnknown) paper.box(work, y + top, Math.max(work + 2, end), y + top + tall, colour);
    if (state === "running" && episode.until !== null && !isAway) {
        const until = Math.min(x(episode.until), width + 4);
        paper.box(end, y + top, until, y + top + tall, colour, 0.22);
        paper.box(until - 1, y + top - 2, until + 1, y + top + tall + 2, colour);
    }
    if (state === "retrying" && episode.retryAt !== null) {
        const at = x(Math.max(episode.retryAt, now));
        paper.dashes(end, y, Math.min(at, width + 20), colour);
        if (!isUnknown) paper.strong("×", end - 4, y + 4, theme.bad);
        if (at > width - 8) paper.text(`in ${spell(episode.retryAt - now)} ›`, width - 6, y - 10, { align: "right" });
        else {
            paper.diamond(at, y, 6.5, colour, true);
            numbers.push([number(count), at, y - 11]);
        }
    }
    if (state === "failed") paper.strong("×", end + 5, y + top + tall / 2 + 4, theme.bad);
    const mark = state === "running" || state === "retrying" ? Math.max(start, 8) : start;
    if (startedAt !== null || state === "running") paper.diamond(mark, y, 7, colour, false);
    if (state !== "retrying") numbers.push([number(count), mark, y - 11]);
}

function drawTicks({ ticks }, y, colour, isHollow, { paper, x }) {
    let last = -Infinity;
    for (const at of ticks) {
        const px = x(at);
        if (px - last < 3 || px < -10) continue;
        last = px;
        if (isHollow) paper.dot(px, y, 3.5, theme.paper, colour, 1.75);
        else paper.box(px - 0.75, y - 5, px + 0.75, y + 5, colour);
    }
}

/** Makes a small picture of how submits ended: as many of them as can be told apart, and the mark of the run. */
function endPicture(count, end) {
    const drawing = (name, attributes) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        return made;
    };
    const svg = drawing("svg", { viewBox: "0 0 92 18", width: 92, height: 18, "aria-hidden": "true", class: `end ${end}` });
    const shown = Math.min(count, 12);
    const left = 76 - 5 * shown - 2;
    const ran = end !== "cancelled" && end !== "absorbed";
    if (ran) svg.append(drawing("path", { d: `M${left} 4H77V14H${left}Z`, class: "bar" }));
    for (let index = shown; index > 0; index--) {
        const x = 76 - 5 * index;
        svg.append(ran ? drawing("path", { d: `M${x + 1} 4v10`, class: "tick" })
            : drawing("circle", { cx: x - 2, cy: 9, r: 3, class: "tick" }));
    }
    svg.append(drawing("path", ran ? { d: "M77 2l6.3 7-6.3 7-6.3-7z", class: "mark" }
        : { d: "M74 5.5l7 7m0-7l-7 7", class: "cross" }));
    if (end === "failed" || end === "dead") svg.append(drawing("path", { d: "M85 5.5l6 6m0-6l-6 6", class: "cross" }));
    return svg;
}

/** Puts the marks that the playground does not have before their words in a legend. */
function drawOwnLegend(legend) {
    const drawings = {
        run: '<path d="M7 1l5.4 6L7 13 1.6 7z"/><path d="M7 12h13v4H7z"/>'
            + '<path d="M20 12h10v4H20z" opacity=".25"/><path d="M29.5 10v8" stroke="currentColor" stroke-width="2"/>',
        work: '<path d="M7 1l5.4 6L7 13 1.6 7z"/><path d="M7 12h20v4H7z"/>',
        columns: '<path d="M2 2h7v14H2zM11 5h7v11h-7zM20 1h7v15h-7z" opacity=".3"/><path d="M2 12h7v4H2zM11 13h7v3h-7zM20 10h7v6h-7z"/>',
        retry: '<path d="M1 4h22v10H1z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="4 3"/>'
            + '<path class="hollow" d="M24 3l5.4 6-5.4 6-5.4-6z" stroke="currentColor" stroke-width="2"/>',
    };
    for (const part of legend.querySelectorAll("[data-own]")) {
        part.insertAdjacentHTML("afterbegin",
            `<svg viewBox="0 0 32 18" width="32" height="18" fill="currentColor" aria-hidden="true">${drawings[part.dataset.own]}</svg> `);
    }
}
