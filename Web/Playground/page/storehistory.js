// What happened in a store up to an instant, put together for drawing and counting, from the records of a `StoreSimulation`.

class StoreHistory {
    /** `{ at, key, value, number }`: the number counts the submits of the key. */
    submits = [];
    /** What waits: `{ key, first, due, at: the submits, isDue, claimedAt, isLimited }`. */
    waits = [];
    /** Who had which run, and how long: `{ worker, run, key, value, attempt, fence, until, beats, … }`. */
    holds = [];
    /** What reached the server: `{ at, worker, key, value, fence, accepted, slot }`. */
    effects = [];
    /** What workers were: `{ worker, kind, at, until }`; null for still. */
    spans = [];
    pauses = [];
    /** Runs that wait to be tried again: `{ key, at, until }`; and those that are dead: `until` is null. */
    rests = [];
    /** What was done to a worker: `{ worker, at, text }`. */
    marks = [];
    /** What happened in words: `{ at, text, weight }`. */
    words = [];
    #values = new Map();
    /** How many submits each key has had. */
    #counts = new Map();

    /** Adds what has happened, in its order. */
    add(record) {
        const what = this.#what(record);
        if (!Object.hasOwn(storeSentences, record.do)) return;
        this[record.do]?.(record);
        const [weight, text] = storeSentences[record.do](record, what, this);
        this.words.push({ at: record.at, weight, text: text[0].toUpperCase() + text.slice(1) });
    }

    // MARK: - Runs
    // Each of the functions below takes the record of its name.

    /** The value that a record is about. */
    #what({ key, run, value, values }) {
        if (run != null && values) this.#values.set(run, values.at(-1));
        if (run != null && this.#values.has(run)) return this.#values.get(run);
        return value ?? this.submits.findLast(isOf(key))?.value ?? key;
    }

    #hold({ worker, run }) {
        return this.holds.findLast((hold) => hold.run === run && (worker == null || hold.worker === worker));
    }

    submitted({ at, key, value, due }) {
        const number = (this.#counts.get(key) ?? 0) + 1;
        this.#counts.set(key, number);
        this.submits.push({ at, key, value, number });
        let wait = this.waits.findLast((wait) => wait.key === key && !wait.isDue);
        if (!wait) this.waits.push(wait = { key, first: at, at: [], isDue: false, claimedAt: null, isLimited: false });
        wait.at.push(at);
        wait.due = due ?? at;
    }

    due({ at, key }) {
        const wait = this.waits.findLast((wait) => wait.key === key && !wait.isDue);
        if (wait) Object.assign(wait, { isDue: true, due: at });
    }

    claimed(record) {
        const { at, worker, run, key, attempt, fence, until, count } = record;
        const before = this.#hold({ run });
        // What is handed out again was taken before.
        if (!before) for (const wait of this.waits) if (wait.key === key && wait.isDue && wait.claimedAt === null) wait.claimedAt = at;
        const from = before?.closedAt === null ? before : null;
        const last = this.rests.findLast((rest) => rest.run === run);
        if (last) last.until = Math.min(last.until ?? at, at);
        // The lower slot only if something is still seen in the upper one.
        const isTaken = (slot) => this.holds.some((hold) => hold.worker === worker && hold.slot === slot && StoreHistory.seenUntil(hold) > at);
        this.holds.push({ worker, run, key, value: this.#values.get(run), attempt, fence, until, count, claimedAt: at, startedAt: null,
            endedAt: null, how: null, cutAt: null, closedAt: null, takenAt: null, isLost: false, isPutBack: false, beats: [],
            slot: isTaken(0) ? 1 : 0, from });
        if (from) from.takenAt = at;
    }

    /** Until when something of a run is drawn in a worker's lane: a lease that nobody gives back is seen until it ends. */
    static seenUntil({ closedAt, cutAt, endedAt, takenAt, until }) {
        if (closedAt !== null) return closedAt;
        if (cutAt !== null) return Math.max(cutAt, until);
        return endedAt !== null && takenAt !== null ? Math.max(endedAt, takenAt) : Infinity;
    }

    started(record) {
        const hold = this.#hold(record);
        if (hold) hold.startedAt = record.at;
    }

    ended(record) {
        const hold = this.#hold(record);
        if (hold) Object.assign(hold, { endedAt: record.at, how: record.how });
    }

    reported(record) {
        const { at, report, answer, until } = record;
        const hold = this.#hold(record);
        if (!hold) return;
        if (report !== "heartbeat") hold.closedAt = at;
        else if (answer === "accepted" || answer === "interrupted") Object.assign(hold, { until, beats: [...hold.beats, at] });
        // Another one has the run, or has done it.
        hold.isLost = answer === "lease lost" || (report === "heartbeat" && answer === "already done");
    }

    effect(record) {
        const { at, worker, key, run, fence, accepted } = record;
        const { slot, count } = this.#hold(record);
        const value = this.#values.get(run);
        const isAgain = accepted && this.effects.some((effect) => effect.accepted && effect.run === run);
        this.effects.push({ at, worker, key, run, fence, accepted, value, slot, count, isAgain });
    }

    putBack(record) {
        const hold = this.#hold(record);
        if (hold) hold.isPutBack = true;
    }

    backoff({ at, run, until }) {
        this.rests.push({ run, key: this.#hold({ run }).key, at, until, isDead: false });
    }

    dead({ at, run, key }) {
        this.rests.push({ run, key, at, until: null, isDead: true });
    }

    retried({ at, run, accepted }) {
        if (!accepted) return;
        const rest = this.rests.findLast((rest) => rest.run === run && rest.isDead);
        if (rest) rest.until = at;
    }

    discarded(record) {
        this.retried(record);
    }

    gaveUp({ at, run }) {
        const rest = this.rests.findLast((rest) => rest.run === run);
        if (rest) rest.until = Math.min(rest.until ?? at, at);
        const hold = this.#hold({ run });
        if (hold && hold.endedAt !== null) hold.closedAt ??= at;
    }

    limited({ at }) {
        for (const wait of this.waits) if (wait.isDue && wait.claimedAt === null && wait.due <= at) wait.isLimited = true;
    }

    paused({ at }) {
        this.pauses.push({ at, until: null });
    }

    resumed({ at }) {
        const pause = this.pauses.at(-1);
        if (pause) pause.until ??= at;
    }

    // MARK: - Workers

    /** What a worker has in hand. */
    openHolds(worker) {
        return this.holds.filter((hold) => hold.worker === worker && hold.closedAt === null && hold.cutAt === null && hold.endedAt === null);
    }

    #begin(worker, kind, at) {
        this.spans.push({ worker, kind, at, until: null });
    }

    #end(worker, kind, at) {
        for (const span of this.spans) if (span.worker === worker && span.kind === kind) span.until ??= at;
    }

    killed({ at, worker }) {
        for (const kind of ["asleep", "ended"]) this.#end(worker, kind, at);
        this.#begin(worker, "killed", at);
        this.marks.push({ worker, at, text: "kill -9" });
        for (const hold of this.openHolds(worker)) hold.cutAt = at;
    }

    began({ at, worker }) {
        if (at === 0) return;
        for (const kind of ["killed", "ended"]) this.#end(worker, kind, at);
        this.marks.push({ worker, at, text: "starts", isGood: true });
    }

    stopping({ at, worker }) {
        this.marks.push({ worker, at, text: "SIGTERM" });
    }

    gone({ at, worker }) {
        this.#begin(worker, "ended", at);
        for (const hold of this.openHolds(worker)) hold.closedAt = at;
    }

    slept({ at, worker }) {
        this.#begin(worker, "asleep", at);
    }

    woke({ at, worker }) {
        this.#end(worker, "asleep", at);
    }

    cutOff({ at, worker }) {
        this.#begin(worker, "cut off", at);
    }

    reachable({ at, worker }) {
        this.#end(worker, "cut off", at);
    }
}

/** Whether something is of a key. */
function isOf(key) {
    return (one) => one.key === key;
}

/** What came of the edits of each key, with a store: what waits, in whatever way, is not lost. */
function storeResults(history, state) {
    const keys = [...new Set(history.submits.map(({ key }) => key))];
    return keys.map((key) => {
        const submits = history.submits.filter(isOf(key));
        const numbers = new Map(submits.map(({ value, number }) => [value, number]));
        const number = (value) => numbers.get(value) ?? 0;
        const effects = history.effects.filter(isOf(key));
        const taken = effects.filter(({ accepted }) => accepted);
        let [saved, stale] = [0, 0];
        for (const { value } of taken) {
            if (number(value) < saved) stale += 1;
            saved = Math.max(saved, number(value));
        }
        const { pending, ready, run } = state.keys.find(isOf(key)) ?? {};
        const holdOf = (id) => history.holds.findLast((hold) => hold.run === id);
        const ofDead = state.dead.filter(isOf(key)).map(({ run }) => holdOf(run));
        // An edit is in each later one of its document.
        const newest = pending || ready ? submits.length : run ? number(holdOf(run.id)?.value) : 0;
        const waiting = Math.max(0, newest - saved);
        const kept = Math.max(saved, newest, ...ofDead.map((hold) => number(hold?.value)));
        const dead = ofDead.reduce((sum, hold) => sum + (hold?.count ?? 0), 0);
        return { key, edits: submits.length, saves: taken.length, waiting, lost: submits.length - kept,
            stale, doubled: taken.filter(({ isAgain }) => isAgain).length, refused: effects.length - taken.length, dead,
            server: number(taken.at(-1)?.value), isAtRest: waiting === 0 };
    });
}
