// Tries waits on traces, with the engine: what `lull tune` prints, as numbers. All but `Tuner` runs in a worker, so that the page
// stays alive, however large the trace.

/** Answers what `Tuner` asks. A newer question ends the work on an older one. */
class TuningWorker {
    #latest = 0;
    #trace = null;
    #source = 0;

    /** @param post Called with each answer: `{ id, share }`, `{ id, result }` or `{ id, error, isTrace }`. */
    constructor(post) {
        this.post = post;
    }

    async answer({ id, source, blob, series, targets }) {
        this.#latest = id;
        try {
            if (this.#source !== source) {
                lull.lull_tune_forget();
                this.#source = source;
                this.#trace = this.#read(blob, source);
            }
            const trace = await this.#trace;
            if (id === this.#latest) this.post({ id, result: await this.#tune(trace, id, series, targets) });
        } catch (error) {
            if (source === this.#source) this.post({ id, error: error.message, isTrace: error instanceof TraceError });
        }
    }

    /** Reads a trace, while no other one is asked for. */
    async #read(blob, source) {
        const trace = new Trace();
        const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
        const decode = (...bytes) => {
            try {
                return decoder.decode(...bytes);
            } catch {
                return trace.refuse();
            }
        };
        const part = 1 << 20;
        for (let from = 0; from < blob.size; from += part) {
            trace.read(decode(await blob.slice(from, from + part).arrayBuffer(), { stream: true }));
            await this.#report(this.#latest, 0.6 * from / blob.size);
            if (source !== this.#source) throw new Error("another trace is read");
        }
        trace.read(decode());
        trace.end();
        return trace;
    }

    async #tune(trace, id, series, targets) {
        const isNew = lull.lull_tune_begin(nanoseconds(series.first), nanoseconds(series.last),
            delayNanoseconds(series.maxWait)) > 0;
        if (isNew) {
            const part = 20_000;
            for (let from = 0; from < trace.count; from += part) {
                trace.play(from, Math.min(from + part, trace.count));
                await this.#report(id, 0.6 + 0.4 * from / trace.count);
                if (id !== this.#latest) return null;
            }
            lull.lull_tune_finish();
        }
        const { submits, keys, span } = trace;
        const rows = tuneOutcomes(submits, targets);
        // As `lull tune` does: too little allows no suggestion.
        const insufficiency = submits < Trace.leastSubmits ? `at least ${Trace.leastSubmits} submits are needed for one`
            : span === 0 ? "all submits came at one instant" : null;
        if (insufficiency) for (const row of [...rows.debounce, ...rows.throttle]) row.reason = null;
        return { submits, keys, span, insufficiency, ...rows };
    }

    /** Reports progress, and lets newer questions in. */
    #report(id, share) {
        this.post({ id, share });
        return new Promise((resolve) => setTimeout(resolve));
    }
}

/** Returns the results of the series of waits that was tried last. */
function tuneOutcomes(submits, { saving, delay }) {
    lull.lull_tune_outcomes(saving ?? -1, delayNanoseconds(delay));
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

if (typeof document === "undefined") {
    const worker = new TuningWorker((message) => postMessage(message));
    let isLoaded = null;
    addEventListener("message", async ({ data }) => {
        isLoaded ??= loadModule(data.module);
        await isLoaded;
        if (!data.module) worker.answer(data);
    });
}

/** Asks a worker of its own about one trace after another. */
class Tuner {
    #worker = null;
    #source = 0;
    #blob = null;
    #id = 0;
    #open = null;

    /** Sets the trace to ask about: a text or a file. */
    take(trace) {
        this.#blob = trace instanceof Blob ? trace : new Blob([trace]);
        this.#source += 1;
    }

    /**
     * Tries a series of waits; a series that has been tried, or targets that change, cost no second try. Returns null if something else
     * is asked meanwhile.
     *
     * @param series `{ first, last, maxWait }` in milliseconds; `maxWait` may be null.
     * @param targets `{ saving, delay }`: a share and milliseconds; each may be null.
     * @param progress Called with the share that is done.
     */
    tune(series, targets = {}, progress = () => {}) {
        this.#worker ??= this.#start();
        this.#open?.resolve(null);
        const id = ++this.#id;
        this.#worker.postMessage({ id, source: this.#source, blob: this.#blob, series, targets });
        return new Promise((resolve, reject) => { this.#open = { resolve, reject, progress }; });
    }

    /** Leaves the question that is open without an answer. */
    forget() {
        this.#open?.resolve(null);
        this.#open = null;
        this.#id += 1;
    }

    #start() {
        const code = URL.createObjectURL(new Blob([element("engine").textContent], { type: "text/javascript" }));
        const worker = new Worker(code);
        worker.postMessage({ module: element("module").textContent });
        worker.addEventListener("message", ({ data }) => {
            if (data.id !== this.#id) return;
            if (data.share != null) return this.#open.progress(data.share);
            if (data.error == null) this.#open.resolve(data.result);
            else this.#open.reject(new (data.isTrace ? TraceError : Error)(data.error));
        });
        worker.addEventListener("error", (event) => this.#open?.reject(new Error(event.message || "no worker could be started")));
        return worker;
    }
}
