// What there is to say of namespaces, keys and runs. All durations are in seconds, as the server's.

"use strict";

/** Returns since when there are counts: “today” if that is since midnight. */
function sinceWhen(instant, now) {
    const then = new Date(instant * 1000);
    const isMidnight = then.getHours() === 0 && then.getMinutes() === 0;
    return isMidnight && then.toDateString() === new Date(now * 1000).toDateString() ? "today" : `since ${timeOfDay(instant, now)}`;
}

/** Returns what a namespace has saved, as parts of a sentence; every other part is a figure. */
function headline({ since, runs, executed }, now) {
    const when = sinceWhen(since, now);
    if (runs === 0) return [when === "today" ? "Nothing has run today." : `Nothing has run ${when}.`];
    const saved = executed - runs;
    const parts = ["", counted(executed, "submit"), " became ", counted(runs, "run")];
    if (saved <= 0) return [...parts, `, nothing was to be saved, ${when}.`];
    // Cut and not rounded: what is not all of it is never 100.
    const share = saved / executed >= 0.99 ? Math.floor((1000 * saved) / executed) / 10 : Math.floor((100 * saved) / executed);
    return [...parts, ", ", `${share}\u00a0%\u00a0saved`, `, ${when}.`];
}

/** Returns the states of a key, by the words of `lull list`. */
function statesOf({ run, ready, pending }) {
    return [run && run.state, ready > 0 && "ready", pending > 0 && "pending"].filter(Boolean);
}

function submitsOf({ run, ready, pending }) {
    return (run?.submits ?? 0) + ready + pending;
}

/** Returns a worker as its host and process. */
function workerName(id, workers) {
    const worker = workers.find((worker) => worker.worker === id);
    return worker ? `${plain(worker.host)}, process ${worker.process}` : "a worker that is gone";
}

/** Returns the first line of an error that has one. */
function firstLine(error) {
    return plain((error ?? "").split(/\r?\n|\r/).find((line) => line.trim() !== "") ?? "").trim() || "without an error";
}

/** Returns when the submits came that the page has seen. */
function saidOfSubmits(pending, seen, now) {
    if (seen.length === 0) return "";
    const [first, latest] = [seen[0], seen.at(-1)].map((at) => `${spell(now - at)} ago`);
    if (pending === 1) return ` It came ${latest}.`;
    if (seen.length < pending) return ` Of these, ${number(seen.length)} came while this page was open, the latest ${latest}.`;
    return ` The first came ${first}, the latest ${latest}.`;
}

/** Returns how a key that was submitted to is, in sentences of which the first says most. */
function sentences(listing, { workers, due, now, readySince, submitsSeen }) {
    const said = [];
    const { run, ready, pending } = listing;
    if (run?.state === "running") {
        const left = run.leaseFor == null ? null : run.until - now;
        const lease = left === null ? "" : left > 0 ? `; its lease holds for ${spell(left)}` : "; its lease has ended";
        const who = workerName(run.worker, workers);
        said.push(`Run ${run.id} is running, attempt ${run.attempt}, with ${counted(run.submits, "submit")}, by ${who}${lease}.`);
    } else if (run) {
        const left = run.retryAt == null ? 0 : run.retryAt - now;
        const when = left <= 0 ? "waits for a worker" : `is tried again in ${spell(left)}`;
        said.push(`Run ${run.id} has failed and ${when}: attempt ${run.attempt}, with ${counted(run.submits, "submit")}.`);
    }
    if (ready > 0) {
        const since = readySince == null ? "" : `, for ${spell(now - readySince)}`;
        const verbs = ready === 1 ? ["is", "waits"] : ["are", "wait"];
        said.push(`${counted(ready, "submit")} ${verbs[0]} ready and ${verbs[1]} for a worker${since}.`);
    }
    if (pending > 0) {
        const when = due == null ? "" : due > now ? `, due in ${spell(due - now)}` : ", due now";
        const seen = saidOfSubmits(pending, submitsSeen, now);
        said.push(`${counted(pending, "submit")} ${pending === 1 ? "is" : "are"} pending${when}.${seen}`);
    }
    return said;
}
