// The module: LullCore itself. Instants and durations are BigInt nanoseconds here, and values and keys are numbers.

const never = 9223372036854775807n;
const record = { start: 1, cancel: 2, resolve: 3, submitted: 4, verdict: 5 };
const edges = ["leading", "trailing", "maxWait", "maxCount", "flush"];
const fates = ["superseded", "absorbed", "cancelled", "shut down", "over capacity", "rejected"];
const verdicts = ["executed", "failed", "superseded", "cancelled", "interrupted"];
const counterNames =
    ["submitted", "executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "pending", "running"];

let lull;

/** Unpacks the module, which the page contains as gzip in Base64. */
async function loadModule(text) {
    const packed = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
    const unpacked = new Response(packed).body.pipeThrough(new DecompressionStream("gzip"));
    const { instance } = await WebAssembly.instantiate(await new Response(unpacked).arrayBuffer(), {});
    lull = instance.exports;
}

/** Returns the numbers that the last call has written. */
function answer() {
    return Array.from(new BigInt64Array(lull.memory.buffer, lull.lull_answer(), lull.lull_answer_count()));
}

/** A duration in milliseconds as the module takes it; none is negative. */
function delayNanoseconds(milliseconds) {
    return milliseconds == null ? -1n : nanoseconds(milliseconds);
}

/** A setting that breaks a rule; the message is the engine's own. */
class PolicyError extends Error {}

/** One engine of LullCore. Each call returns a list of actions to perform. */
class Engine {
    constructor(policy) {
        const count = (number) => number ?? -1;
        this.session = lull.lull_create(
            policy.kind === "throttle" ? 1 : 0, nanoseconds(policy.wait),
            delayNanoseconds(policy.maxWait),
            (policy.leading ? 1 : 0) | (policy.trailing ? 2 : 0), policy.delayRule === "extend" ? 1 : 0,
            count(policy.maxCount), delayNanoseconds(policy.spacing), { latest: 0, first: 1, collect: 2, merge: 2 }[policy.combine],
            { queue: 0, cancel: 1, restart: 2, concurrent: 3, skip: 4 }[policy.whileRunning], count(policy.maxConcurrent),
            count(policy.capacity));
        if (this.session < 0) {
            const bytes = answer().slice(1).map(Number);
            throw new PolicyError(new TextDecoder().decode(Uint8Array.from(bytes)));
        }
    }

    destroy() {
        lull.lull_destroy(this.session);
    }

    submit(value, key, now, wait = -1n) {
        lull.lull_submit(this.session, key, BigInt(value), now, wait);
        return this.actions();
    }

    advance(now) {
        lull.lull_advance(this.session, now);
        return this.actions();
    }

    flush(key, now) {
        lull.lull_flush(this.session, key ?? -1, now);
        return this.actions();
    }

    touch(key, now, wait) {
        lull.lull_touch(this.session, key, now, wait);
        return this.actions();
    }

    cancel(key, running, now) {
        lull.lull_cancel(this.session, key ?? -1, running ? 1 : 0, now);
        return this.actions();
    }

    shutDown(flushing, now) {
        lull.lull_shut_down(this.session, flushing ? 1 : 0, now);
        return this.actions();
    }

    ended(run, threw) {
        if (!lull.lull_ended(this.session, BigInt(run), threw ? 1 : 0)) throw new Error(`there is no execution ${run}`);
        return this.actions();
    }

    get alarm() {
        return lull.lull_alarm(this.session);
    }

    nextDue(key, now) {
        return lull.lull_next_due(this.session, key ?? -1, now);
    }

    get counters() {
        lull.lull_counters(this.session);
        const numbers = answer().map(Number);
        const counters = Object.fromEntries(counterNames.map((name, index) => [name, numbers[index]]));
        return { ...counters, openKeys: numbers[9], addUp: numbers[10] === 1 };
    }

    actions() {
        const numbers = answer();
        const actions = [];
        let index = 0;
        const next = () => Number(numbers[index++]);
        const values = () => Array.from({ length: next() }, next);
        while (index < numbers.length) {
            switch (next()) {
            case record.start: {
                const [run, key, count, edge] = [next(), next(), next(), edges[next()]];
                const [at, first] = [numbers[index++], numbers[index++]];
                actions.push({ do: "start", run, key, count, edge, at, first, values: values() });
                break;
            }
            case record.cancel: actions.push({ do: "cancel", run: next() }); break;
            case record.resolve:
                actions.push({ do: "resolve", key: next(), fate: fates[next()], values: values() });
                break;
            case record.submitted: {
                const [key, displaced, fate] = [next(), next(), fates[next()]];
                actions.push({ do: "submitted", key, displaced: displaced < 0 ? null : displaced, fate });
                break;
            }
            case record.verdict: actions.push({ do: "verdict", run: next(), verdict: verdicts[next()] }); break;
            }
        }
        return actions;
    }
}
