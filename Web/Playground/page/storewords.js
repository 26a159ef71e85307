// What happens in a store, in plain words: a sentence for each record of a `StoreSimulation`.

/** An instant of the section: `3.2 s`. */
function clockText(instant) {
    return `${(instant / 1000).toFixed(1)} s`;
}

/** How many submits are behind a run. */
function behindText(count) {
    return count === 1 ? "" : `, with ${plural(count, "submit")} behind it`;
}

/**
 * For each kind of record its sentence, and how much it is worth to be said aloud: 0 only to be read, 1 what comes of it, 2 what went wrong or
 * was done on purpose.
 *
 * @param record As the simulation gives it.
 * @param what The name of the value that it is about, such as `letter 3`.
 * @param history The `StoreHistory` with the record.
 */
const storeSentences = {
    submitted: ({ key, value, due }, what, { waits }) => {
        const after = `${waits.findLast(isOf(key)).at.length > 1 ? ", in place of the one before" : ""}${due === null ? "" : `, due at ${clockText(due)}`}`;
        return [0, `${value} is submitted: it is in the store${after}.`];
    },
    due: (_, what) => [0, `${what} is due, and ready for a worker.`],
    claimed: ({ worker, attempt, fence, until, count }, what, { holds }) => attempt > 1
        ? [2, `Worker ${worker + 1} ${(holds.at(-1).from?.worker ?? worker) === worker ? "tries" : "takes over"} ${what}, attempt ${attempt}: `
            + `its fence is ${fence}, its lease ends at ${clockText(until)}.`]
        : [1, `Worker ${worker + 1} takes ${what}${behindText(count)}: its fence is ${fence}, its lease ends at ${clockText(until)}.`],
    started: ({ worker }, what) => [0, `Worker ${worker + 1} begins to save ${what}.`],
    cancelling: ({ worker }, what) => [1, `Worker ${worker + 1} cancels its handler of ${what}.`],
    ended: ({ worker, how }, what) => how === "threw" ? [2, `The handler of ${what} throws on worker ${worker + 1}.`]
        : [0, `The handler of ${what} ${how === "returned" ? "returns" : how} on worker ${worker + 1}.`],
    effect: ({ worker, fence, accepted }, what) => accepted ? [1, `The server takes ${what} from worker ${worker + 1}, with fence ${fence}.`]
        : [2, `The server refuses ${what} from worker ${worker + 1}: its fence ${fence} is older than the newest.`],
    reported: ({ worker, report, answer, until }, what) => answer === "lease lost"
        ? [2, `Worker ${worker + 1} hears that its lease of ${what} is lost: another one has the run.`]
        : report === "heartbeat" && answer === "already done" ? [2, `Worker ${worker + 1} hears that ${what} is done: another one had the run.`]
        : report === "heartbeat" ? [0, `Worker ${worker + 1} still works on ${what}: its lease now ends at ${clockText(until)}.`]
        : [0, `Worker ${worker + 1} reports ${what} as ${report}${answer === "accepted" ? "" : `: ${answer}`}.`],
    interrupted: (_, what) => [1, `Something newer than ${what} has fallen due: its run is interrupted.`],
    expired: ({ worker }, what) => [2, `The lease of worker ${worker + 1} on ${what} has run out, without a report.`],
    putBack: (_, what) => [2, `${what} goes back to the store, to begin again with what is newer.`],
    dead: (_, what) => [2, `${what} has failed too often: it is dead, and kept until somebody retries or discards it.`],
    backoff: ({ until }, what) => [2, `${what} is tried again at ${clockText(until)}.`],
    killed: ({ at, worker }, what, { holds }) => [2, `Worker ${worker + 1} is killed by kill -9, and could report nothing. `
        + (holds.some((hold) => hold.worker === worker && hold.cutAt === at) ? "Its lease goes on until it runs out." : "It had nothing in hand.")],
    began: ({ worker, at }) => at === 0 ? [0, `Worker ${worker + 1} starts.`]
        : [2, `Worker ${worker + 1} starts again: a new process, with nothing in memory.`],
    stopping: ({ worker }) => [2, `SIGTERM: worker ${worker + 1} takes nothing more, and has a while to end what it has.`],
    gone: ({ worker }) => [1, `Worker ${worker + 1} has ended.`],
    slept: ({ worker, until }) => [2, `The machine of worker ${worker + 1} sleeps until ${clockText(until)}: nothing of it moves, and its leases run out.`],
    woke: ({ worker }) => [2, `The machine of worker ${worker + 1} wakes, and goes on with what it had in hand.`],
    cutOff: ({ worker, until }) => [2, `Worker ${worker + 1} cannot reach the store until ${clockText(until)}: it works on, but can neither extend its `
        + "leases nor report."],
    reachable: ({ worker }) => [2, `Worker ${worker + 1} reaches the store again.`],
    paused: () => [2, "Paused: what is submitted and due is kept, and nobody takes anything new."],
    resumed: () => [2, "Resumed: what has become due meanwhile is taken now."],
    limited: ({ until }) => [1, `The limit holds back what is ready${until === null ? "" : `, until ${clockText(until)}`}.`],
    retried: ({ accepted }, what) => [2, accepted ? `${what} was dead, and is to be tried again.`
        : `${what} stays dead: something newer of its document has been saved, or waits. Discard it.`],
    discarded: (_, what) => [2, `${what} was dead, and is discarded.`],
    gaveUp: (_, what) => [2, `${what} is given up, since something newer is due: that has all that it had.`],
};
