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

    async answer({ id, source, blob, only, series, targets }) {
        this.#latest = id;
        try {
            if (this.#source !== source) {
                lull.lull_tune_forget();
                this.#source = source;
                this.#trace = this.#read(blob, only, source);
            }
            const trace = await this.#trace;
            if (id === this.#latest) this.post({ id, result: await this.#tune(trace, id, series, targets) });
        } catch (error) {
            if (source === this.#source) this.post({ id, error: error.message, isTrace: error instanceof TraceError });
        }
    }

    /** Reads a trace or a log, while no other one is asked for. */
    async #read(blob, only, source) {
        // Byte by byte: what is no text is still a trace, and refused as one.
        const start = new TextDecoder("latin1").decode(await blob.slice(0, 1 << 16).arrayBuffer());
        const isTrace = Log.isTrace(start);
        const trace = isTrace ? new Trace() : new Log(only);
        const decoder = new TextDecoder("utf-8", { fatal: isTrace, ignoreBOM: true });
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

    async #tune(trace, id, asked, targets) {
        // Whole seconds say nothing about shorter waits.
        const series = trace.isWhole && asked.whole ? asked.whole : asked;
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
        const { format, lines, without, others, unordered, isWhole } = trace;
        const log = format && { format: format.name, lines, without, others, unordered, isWhole };
        const chosen = rows.debounce.find((row) => row.reason);
        const seen = chosen && pausesAround(trace.seen ??= trace.stretches(), chosen.wait);
        return { submits, keys, span, insufficiency, log, seen, maxWait: series.maxWait, ...rows };
    }

    /** Reports progress, and lets newer questions in. */
    #report(id, share) {
        this.post({ id, share });
        return new Promise((resolve) => setTimeout(resolve));
    }
}

/** How many pauses there are of each length, in 44 steps from a hundredth of the wait to a hundred times the wait; shorter and longer ones are in
 * the first and in the last. Also the pauses of a stretch that shows bursts. */
function pausesAround(stretches, wait) {
    const bins = new Array(44).fill(0);
    let busiest = [];
    for (const times of stretches) {
        if (times.length > busiest.length) busiest = times;
        for (let index = 1; index < times.length; index++) {
            const share = Math.log10((times[index] - times[index - 1]) / wait) / 4 + 0.5;
            bins[Math.min(43, Math.max(0, Math.floor(44 * share)))] += 1;
        }
    }
    return { bins, gaps: telling(busiest, wait) };
}

/** Returns the pauses of a short part in which there are at least three bursts, or of the longest part tried. */
function telling(times, wait) {
    let best;
    for (const length of [24, 72, 240]) {
        best = busiestPart(times, wait, length * wait);
        if (best.score >= 300) break;
    }
    return Array.from(times.slice(best.from, best.to), (at, index) => (index === 0 ? 0 : at - times[best.from + index - 1]));
}

/** Finds the part of at most a length in which there are most bursts, up to six, and then most submits. */
function busiestPart(times, wait, length) {
    let best = { score: 0, from: 0, to: 0 };
    // The parts begin with bursts.
    for (let from = 0; from < times.length; from++) {
        if (from > 0 && times[from] - times[from - 1] < wait) continue;
        let bursts = 0;
        let to = from;
        for (; to < times.length && to < from + 400 && times[to] - times[from] <= length; to++) {
            const isFirst = to === from || times[to] - times[to - 1] >= wait;
            if (isFirst && times[to + 1] - times[to] < wait) bursts += 1;
        }
        const score = 100 * Math.min(bursts, 6) + Math.min(to - from, 99);
        if (score > best.score) best = { score, from, to };
    }
    return best;
}

/** Returns the results of the series of waits that was tried last. */
function tuneOutcomes(submits, { saving, delay }) {
    lull.lull_tune_outcomes(saving ?? -1, delayNanoseconds(delay));
    const numbers = answer().map(Number);
    const reasons = [null, "knee", "most", "target", "nearest"];
    const rows = { debounce: [], throttle: [] };
    for (let index = 0; index < numbers.length; index += 14) {
        const row = numbers.slice(index, index + 14);
        const times = row.map((number) => number / 1e6);
        rows[row[0] === 0 ? "debounce" : "throttle"].push({
            wait: times[1], executions: row[2], premature: row[3], afterLast: times.slice(4, 7),
            afterFirst: times.slice(7, 10), longest: times[10], missingMaxWait: times[11] || null, isEfficient: row[12] === 1, reason: reasons[row[13]],
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
    #only = "";
    #id = 0;
    #open = null;

    /** Sets the trace or the log to ask about: a text or a file. Of a log, only lines with a text count, if it is given. */
    take(trace, only = "") {
        this.#blob = trace instanceof Blob ? trace : new Blob([trace]);
        this.#only = only;
        this.#source += 1;
    }

    /**
     * Tries a series of waits; a series that has been tried, or targets that change, cost no second try. Returns null if something else
     * is asked meanwhile.
     *
     * @param series `{ first, last, maxWait }` in milliseconds; `maxWait` may be null. `whole`, another series, is tried instead on a log
     *     whose stamps are whole seconds.
     * @param targets `{ saving, delay }`: a share and milliseconds; each may be null.
     * @param progress Called with the share that is done.
     */
    tune(series, targets = {}, progress = () => {}) {
        this.#worker ??= this.#start();
        this.#open?.resolve(null);
        const id = ++this.#id;
        this.#worker.postMessage({ id, source: this.#source, blob: this.#blob, only: this.#only, series, targets });
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
