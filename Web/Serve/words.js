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

/** Returns what work waits for that is ready, or that is tried again now. */
function awaited({ run }, namespace) {
    if (namespace?.paused != null) return "the end of the pause";
    if (run?.state === "running") return `the end of run ${run.id}`;
    if (!(namespace?.limited > 0 && namespace.limited >= namespace.ready)) return "a worker";
    return namespace.nextStart == null ? "--max-running" : "--limit";
}

/** Returns when the submits came, as far as that is known: the first, and those that the page has seen. */
function saidOfSubmits(pending, first, seen, now) {
    if (first == null) return "";
    const came = `came ${spell(now - first)} ago`;
    if (pending === 1) return ` It ${came}.`;
    return ` The first ${came}${seen.length > 1 ? `, the latest ${spell(now - seen.at(-1))} ago` : ""}.`;
}

/** Returns how a key that was submitted to is, in sentences of which the first says most. */
function sentences(listing, { workers, namespace, now, history }) {
    const said = [];
    const { run, ready, pending } = listing;
    const { due = null, first = null, ticks = [] } = history.pending ?? {};
    if (run?.state === "running") {
        const left = run.leaseFor == null ? null : run.until - now;
        const lease = left === null ? "" : left > 0 ? `; its lease holds for ${spell(left)}` : "; its lease has ended";
        const who = workerName(run.worker, workers);
        const since = run.since == null ? "is running" : `has been running for ${spell(now - run.since)}`;
        said.push(`Run ${run.id} ${since}, attempt ${run.attempt}, with ${counted(run.submits, "submit")}, by ${who}${lease}.`);
    } else if (run) {
        const left = run.retryAt == null ? 0 : run.retryAt - now;
        const when = left <= 0 ? `waits for ${awaited(listing, namespace)}` : `is tried again in ${spell(left)}`;
        const what = run.isSnoozed ? "was snoozed" : "has failed";
        said.push(`Run ${run.id} ${what} and ${when}: attempt ${run.attempt}, with ${counted(run.submits, "submit")}.`);
    }
    if (ready > 0) {
        const since = history.ready?.due == null ? "" : ` for ${spell(now - history.ready.due)}`;
        const verbs = ready === 1 ? ["has", "waits"] : ["have", "wait"];
        said.push(`${counted(ready, "submit")} ${verbs[0]} been ready${since} and ${verbs[1]} for ${awaited(listing, namespace)}.`);
    }
    if (pending > 0) {
        const when = due == null ? "" : due > now ? `, due in ${spell(due - now)}` : ", due now";
        const seen = saidOfSubmits(pending, first, ticks, now);
        said.push(`${counted(pending, "submit")} ${pending === 1 ? "is" : "are"} pending${when}.${seen}`);
    }
    return said;
}
