// Submits that stand together on a time line.

"use strict";

/**
 * Submits that stand together, and what becomes of them. `ticks` are the instants of those that were seen to come. `state` is
 * pending, ready, running, retrying, done, failed, or gone if they left before they were due.
 */
class Episode {
    id = null;
    ticks = [];
    count = 0;
    due = null;
    startedAt = null;
    endedAt = null;
    until = null;
    retryAt = null;
    attempt = 0;
    drawnDue = null;

    constructor(state, since) {
        this.state = state;
        /** From when on it is drawn: the first submit that was seen, or the look that showed it. */
        this.first = since;
    }
}
