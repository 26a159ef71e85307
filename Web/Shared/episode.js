// Submits that stand together on a time line.

"use strict";

/**
 * Submits that stand together, and what becomes of them. `ticks` are the instants of those that were seen to come. `state` is
 * pending, ready, running, retrying, done, failed, or gone if they left before they were due.
 */
class Episode {
    /** Dense submits are a band; more instants would show nothing more. */
    static mostTicks = 200;

    id = null;
    ticks = [];
    count = 0;
    due = null;
    startedAt = null;
    /** When it was seen that an attempt has failed and the next one has not begun. */
    stoppedAt = null;
    endedAt = null;
    until = null;
    retryAt = null;
    attempt = 0;
    drawnDue = null;
    /** Where its work is drawn below the line, and how tall. */
    bar = { top: 7, tall: 6 };

    constructor(state, since) {
        this.state = state;
        /** From when on it is drawn: the first submit that was seen, or the look that showed it. */
        this.first = since;
    }

    /** Marks submits that came somewhere between two instants: apart, so that each can be seen. */
    addTicks(count, from, to) {
        const shown = Math.min(count, Episode.mostTicks - this.ticks.length);
        for (let index = 1; index <= shown; index++) this.ticks.push(from + ((to - from) * index) / shown);
    }
}

/** Gives work that overlaps bars below each other: of many executions at once, each can be seen. */
function placeBars(episodes) {
    const ends = [];
    const lanes = new Map();
    for (const episode of episodes) {
        if (episode.startedAt === null) continue;
        const free = ends.findIndex((end) => end <= episode.startedAt);
        const lane = free < 0 ? ends.length : free;
        ends[lane] = episode.endedAt ?? Infinity;
        lanes.set(episode, lane);
    }
    // As much as there is between two lines.
    const tall = Math.max(1, Math.min(6, Math.floor(15 / ends.length) - 1));
    for (const [episode, lane] of lanes) episode.bar = { top: 7 + lane * (tall + 1), tall };
}
