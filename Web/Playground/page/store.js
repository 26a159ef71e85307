// A store in memory and its workers, in virtual time: the durable core itself. Instants are in milliseconds since the beginning.

/** The records by their numbers, with the names of what they say; `…` stands for the values behind a run. */
const storeRecords = [
    ["submitted", "key", "value", "generation", "due"], ["due", "key", "count"],
    ["claimed", "worker", "run", "key", "attempt", "fence", "until", "count", "first", "due", "edge", "from", "to", "…"],
    ["started", "worker", "run"], ["cancelling", "worker", "run"], ["ended", "worker", "run", "how"],
    ["effect", "worker", "run", "key", "fence", "accepted", "…"], ["reported", "worker", "run", "report", "answer", "until"],
    ["expired", "run", "worker", "key"], ["putBack", "run", "key", "worker"], ["dead", "run", "key"], ["backoff", "run", "key", "until"],
    ["interrupted", "run", "key"], ["killed", "worker"], ["began", "worker"], ["slept", "worker", "until"], ["woke", "worker"],
    ["cutOff", "worker", "until"], ["reachable", "worker"], ["paused"], ["resumed"], ["limited", "until"], ["stopping", "worker"],
    ["gone", "worker"], ["flushed", "key", "count"], ["cancelled", "key", "count"], ["touched", "key", "wasOpen"],
    ["retried", "run", "accepted"], ["discarded", "run", "accepted"], ["gaveUp", "run", "key"],
];
const storeWords = {
    edge: edges, how: ["returned", "threw", "was cancelled"],
    report: ["heartbeat", "completed", "failed", "released", "interrupted"], answer: ["accepted", "interrupted", "already done", "lease lost"],
};
const storeInstants = ["due", "until", "first"];
const storeFlags = ["accepted", "wasOpen"];
const workerStates = ["gone", "alive", "asleep", "stopping"];
const storeOutcomes = ["completed", "failed", "cancelled", "absorbed", "dead", "pending", "ready", "running", "waiting", "discarded"];

/** An instant of the module in milliseconds; none is null. */
function storeInstant(number) {
    return number < 0n || number === never ? null : Number(number) / 1e6;
}

class StoreSimulation {
    #keys = [];
    #values = [];
    #number;
    #takes;
    #ignoresCancellation = false;
    #seen = [];
    #reason = null;
    /** The present instant. */
    now = 0;

    /** Throws a `PolicyError` if a setting breaks a rule. */
    constructor({ policy, whileRunning = "queue", maxBatch = null, limit = null, maxRunning = null, workers = 2, maxConcurrent = 2,
        lease = 5000, retry = {}, takes = 600, latency = 20 }) {
        const count = (number) => number ?? -1;
        const { initialDelay = 500, maxDelay = 4000, maxAttempts = 4 } = retry;
        this.#takes = takes;
        this.#number = lull.lull_store_create(
            policy.kind === "throttle" ? 1 : 0, nanoseconds(policy.wait), delayNanoseconds(policy.maxWait),
            (policy.leading ? 1 : 0) | (policy.trailing ? 2 : 0), policy.delayRule === "extend" ? 1 : 0, count(policy.maxCount),
            delayNanoseconds(policy.spacing), { latest: 0, first: 1, collect: 2, merge: 2 }[policy.combine],
            whileRunning === "restart" ? 1 : 0, count(maxBatch), limit ? limit.starts : -1, limit ? nanoseconds(limit.per) : 0n,
            count(maxRunning), workers, maxConcurrent, nanoseconds(lease), nanoseconds(initialDelay), nanoseconds(maxDelay), maxAttempts,
            nanoseconds(latency), nanoseconds(takes));
        if (this.#number < 0) {
            throw new PolicyError(new TextDecoder().decode(Uint8Array.from(answer().slice(1).map(Number))));
        }
        this.#take(() => lull.lull_store_advance(this.#number, 0n));
    }

    destroy() {
        lull.lull_store_destroy(this.#number);
    }

    // What producers and operators do, at the present instant.

    submit(key, value, { wait = null } = {}) {
        this.#take(() => lull.lull_store_submit(this.#number, this.#key(key), BigInt(this.#values.push(value) - 1), delayNanoseconds(wait)));
    }

    touch(key, { wait = null } = {}) {
        this.#take(() => lull.lull_store_touch(this.#number, this.#key(key), delayNanoseconds(wait)));
    }

    /** Flushes a key, or all. */
    flush(key) {
        this.#take(() => lull.lull_store_flush(this.#number, key === undefined ? -1 : this.#key(key)));
    }

    /** Cancels a key, or all. */
    cancel(key) {
        this.#take(() => lull.lull_store_cancel(this.#number, key === undefined ? -1 : this.#key(key)));
    }

    /** A second pause keeps the reason of the first unless it has one. */
    pause(reason = null) {
        this.#reason = reason || (this.state.isPaused ? this.#reason : null);
        this.#take(() => lull.lull_store_pause(this.#number, 1));
    }

    resume() {
        this.#take(() => lull.lull_store_pause(this.#number, 0));
    }

    retry(run) {
        this.#take(() => lull.lull_store_dead(this.#number, BigInt(run), 1));
    }

    discard(run) {
        this.#take(() => lull.lull_store_dead(this.#number, BigInt(run), 0));
    }

    // What happens to workers.

    addWorker() {
        this.#take(() => lull.lull_store_worker(this.#number, -1, 0));
    }

    /** A new process in the place of one that is gone. */
    start(worker) {
        this.#take(() => lull.lull_store_worker(this.#number, worker, 1));
    }

    kill(worker) {
        this.#take(() => lull.lull_store_worker(this.#number, worker, 2));
    }

    /** The signal TERM: handlers may end in time. */
    stop(worker) {
        this.#take(() => lull.lull_store_worker(this.#number, worker, 3));
    }

    /** The machine is suspended: nothing of it moves for so long. */
    sleep(worker, milliseconds) {
        this.#take(() => lull.lull_store_trouble(this.#number, worker, 1, nanoseconds(this.now + milliseconds)));
    }

    /** The calls of the worker do not reach the store for so long. */
    cutOff(worker, milliseconds) {
        this.#take(() => lull.lull_store_trouble(this.#number, worker, 0, nanoseconds(this.now + milliseconds)));
    }

    /** Lets that many of the next handlers throw. */
    fail(count) {
        this.#set(count);
    }

    /** How long handlers take that start from now on. */
    get takes() {
        return this.#takes;
    }

    set takes(milliseconds) {
        this.#takes = milliseconds;
        this.#set();
    }

    /** Whether handlers go on when they are cancelled, as work does that does not ask. */
    get ignoresCancellation() {
        return this.#ignoresCancellation;
    }

    set ignoresCancellation(isIgnored) {
        this.#ignoresCancellation = isIgnored;
        this.#set();
    }

    #set(failing = -1) {
        lull.lull_store_handlers(this.#number, nanoseconds(this.#takes), failing, this.#ignoresCancellation ? 1 : 0);
    }

    /** Moves the time to an instant. Returns what has happened since the last call, in its order, as `{ at, do, … }`. */
    advance(to) {
        this.#take(() => lull.lull_store_advance(this.#number, nanoseconds(to)));
        this.now = Math.max(this.now, to);
        return this.#seen.splice(0);
    }

    /** When something happens next; null for never. */
    get alarm() {
        return storeInstant(lull.lull_store_alarm(this.#number));
    }

    /** What there is now. */
    get state() {
        lull.lull_store_state(this.#number);
        const numbers = answer();
        let index = 0;
        const next = () => Number(numbers[index++]);
        const instant = () => storeInstant(numbers[index++]);
        const list = (body) => Array.from({ length: next() }, body);
        const text = () => new TextDecoder().decode(Uint8Array.from(list(next)));
        const waiting = () => {
            const [count, first, due] = [next(), instant(), instant()];
            return count > 0 ? { count, first, due } : null;
        };
        const isPaused = next() === 1;
        const keys = list(() => {
            const [key, pending, ready, id] = [this.#keys[next()], waiting(), waiting(), next()];
            return { key, pending, ready, run: id < 0 ? null : { id, attempt: next(), fence: next(), worker: next(), until: instant(),
                isInBackoff: next() === 1, isInterrupted: next() === 1, count: next() } };
        });
        const workers = list(() => ({ state: workerStates[next()], asleepUntil: instant(), cutOffUntil: instant(), running: list(next) }));
        const dead = list(() => ({ run: next(), key: this.#keys[next()], error: text() }));
        const submitted = next();
        const outcomes = Object.fromEntries(storeOutcomes.map((name) => [name, next()]));
        const invariants = list(text);
        const sum = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
        const pause = isPaused ? { reason: this.#reason } : null;
        return { now: this.now, isPaused, pause, keys, workers, dead, outcomes: { submitted, ...outcomes }, addUp: sum === submitted, invariants };
    }

    #key(key) {
        const number = this.#keys.indexOf(key);
        return number < 0 ? this.#keys.push(key) - 1 : number;
    }

    /** Makes a call, and reads what it has recorded. */
    #take(call) {
        call();
        const numbers = answer();
        for (let index = 0; index < numbers.length;) {
            const [name, ...fields] = storeRecords[Number(numbers[index])];
            const [at, count] = [storeInstant(numbers[index + 1]), Number(numbers[index + 2])];
            const rest = numbers.slice(index + 3, index + 3 + count);
            index += 3 + count;
            const record = { at, do: name };
            for (const [place, field] of fields.entries()) record[field] = this.#field(field, rest, place);
            if ("…" in record) [record.values, record["…"]] = [record["…"], undefined];
            delete record["…"];
            this.#seen.push(record);
        }
    }

    #field(field, numbers, place) {
        const number = Number(numbers[place]);
        if (field === "…") return numbers.slice(place).map((value) => this.#values[Number(value)]);
        if (field === "key") return number < 0 ? null : this.#keys[number];
        if (field === "value") return this.#values[number];
        if (storeInstants.includes(field)) return storeInstant(numbers[place]);
        if (storeFlags.includes(field)) return number === 1;
        return storeWords[field]?.[number] ?? number;
    }
}
