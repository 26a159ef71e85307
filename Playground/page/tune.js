// Tries a ladder of waits on a trace, with the engine: what `lull tune` prints, as numbers.

/**
 * @param ladder `{ first, last, maxWait }` in milliseconds; `maxWait` may be null.
 * @param targets `{ saving, delay }`: a share and milliseconds; each may be null.
 */
function tuneTrace(text, ladder, targets) {
    lull.lull_tune_begin(nanoseconds(ladder.first), nanoseconds(ladder.last),
        ladder.maxWait == null ? -1n : nanoseconds(ladder.maxWait));
    const keys = new Map();
    let [submits, first, last] = [0, null, null];
    for (const { at, key, hasKey, op, wait } of readTrace(text)) {
        first ??= at;
        last = at;
        if (op === "submit") {
            if (!keys.has(key)) keys.set(key, keys.size);
            lull.lull_tune_submit(keys.get(key), at, wait);
            submits += 1;
        } else if (!hasKey || keys.has(key)) {
            lull[op === "flush" ? "lull_tune_flush" : "lull_tune_cancel"](hasKey ? keys.get(key) : -1, at);
        }
    }
    lull.lull_tune_finish();
    const span = submits ? Number(last - first) / 1e6 : 0;
    return { submits, keys: keys.size, span, ...tuneOutcomes(submits, targets) };
}

/** Returns the results of the ladder that was tried last; other targets need no second try. */
function tuneOutcomes(submits, { saving, delay }) {
    lull.lull_tune_outcomes(saving ?? -1, delay == null ? -1n : nanoseconds(delay));
    const numbers = answer().map(Number);
    const reasons = [null, "knee", "most", "target", "nearest"];
    const rows = { debounce: [], throttle: [] };
    for (let index = 0; index < numbers.length; index += 13) {
        const row = numbers.slice(index, index + 13);
        const times = row.map((number) => number / 1e6);
        rows[row[0] === 0 ? "debounce" : "throttle"].push({
            wait: times[1], executions: row[2], premature: row[3], afterLast: times.slice(4, 7),
            afterFirst: times.slice(7, 10), longest: times[10], isEfficient: row[11] === 1, reason: reasons[row[12]],
            saved: submits === 0 ? 0 : (submits - row[2]) / submits,
        });
    }
    return rows;
}
