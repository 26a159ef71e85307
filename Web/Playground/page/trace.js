// Reads a trace as `lull simulate` does: JSON Lines, ordered by time, instants in exact nanoseconds.

class TraceError extends Error {}

/** Returns a decimal number of seconds as nanoseconds, exactly; digits after the ninth are cut off. */
function exactNanoseconds(text) {
    const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
    if (!match) throw new Error(`“${text}” is not a time`);
    const [, sign, whole, fraction = "", exponent = "0"] = match;
    if (!/[1-9]/.test(whole + fraction)) return 0n;
    const shift = Number(exponent) + 9;
    if (shift < -60) return 0n;
    if (shift > 60) throw new Error(`“${text}” is too far away`);
    const digits = whole + fraction;
    const point = whole.length + shift;
    const count = BigInt((digits + "0".repeat(Math.max(0, point - digits.length))).slice(0, Math.max(0, point)) || "0");
    // The last instant of 64 bits means "never".
    if (count >= 2n ** 63n || (!sign && count === 2n ** 63n - 1n)) throw new Error(`“${text}” is too far away`);
    return sign ? -count : count;
}

/** Returns an RFC 3339 time in nanoseconds since 1970. */
function calendarNanoseconds(text) {
    const match = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
    if (!match) throw new Error(`“${text}” is not a time`);
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
    const [, , , , , , , fraction = "", sign = "+", ahead = "0", more = "0"] = match;
    // The day before the first of the next month is the last. A second 60 is a leap second: the first one of the next minute.
    const isTime = month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
        && hour < 24 && minute < 60 && second <= 60 && Number(ahead) < 24 && Number(more) < 60;
    if (!isTime) throw new Error(`“${text}” is not a time`);
    const offset = (sign === "-" ? -60 : 60) * (60 * Number(ahead) + Number(more));
    const seconds = BigInt(Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - offset);
    const nanoseconds = seconds * 1_000_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
    if (year < 100 || nanoseconds !== BigInt.asIntN(64, nanoseconds + 1n) - 1n) throw new Error(`“${text}” is too far away`);
    return nanoseconds;
}

/** A number as it is written, which a number of the browser may not keep. */
class Digits {
    constructor(text) {
        this.text = text;
    }

    toString() {
        return this.text;
    }

    toJSON() {
        return JSON.rawJSON?.(this.text) ?? Number(this.text);
    }
}

const operations = ["submit", "touch", "flush", "cancel"];

/** A trace in memory: for each line an instant, the number of its key (-1 for all), an operation, and a wait (-1 for none). */
class Trace {
    /** Fewer allow no suggestion. */
    static leastSubmits = 20;
    static longestLine = 16 << 20;

    #at = new BigInt64Array(1024);
    #key = new Int32Array(1024);
    #op = new Uint8Array(1024);
    #wait = new BigInt64Array(1024);
    #keys = new Map();
    #lines = 0;
    #rest = "";
    /** The instants of the first line and of the last, also of one that does nothing. */
    #span = null;
    /** The number of calls. */
    count = 0;
    submits = 0;

    get keys() {
        return this.#keys.size;
    }

    /** Milliseconds from the first line to the last. */
    get span() {
        return this.submits ? Number(this.#span[1] - this.#span[0]) / 1e6 : 0;
    }

    at(index) {
        return this.#at[index];
    }

    /** Reads a part of the text, which may end within a line. Throws a `TraceError`, which names the line. */
    read(text) {
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop();
        for (const line of lines) this.#read(line);
        if (this.#rest.length > Trace.longestLine) throw new TraceError(`line ${this.#lines + 1}: it is longer than 16 MiB`);
    }

    /** Throws the error of bytes that are no text, somewhere after the lines that were read. */
    refuse() {
        throw new TraceError(`line ${this.#lines + 1} or later: this is not text in UTF-8`);
    }

    /** Reads what is left. */
    end() {
        this.#read(this.#rest);
        this.#rest = "";
    }

    /** Calls the engine with the calls of a range. */
    play(from, to) {
        for (let index = from; index < to; index++) {
            const [at, key, op] = [this.#at[index], this.#key[index], this.#op[index]];
            if (op === 0) lull.lull_tune_submit(key, at, this.#wait[index]);
            else if (op === 1) lull.lull_tune_touch(key, at, this.#wait[index]);
            else if (op === 2) lull.lull_tune_flush(key, at);
            else lull.lull_tune_cancel(key, at);
        }
    }

    /** Returns the instants of the submits of each key, in milliseconds from the first line on; nothing if there are other calls. */
    stretches() {
        const keys = Array.from({ length: this.keys }, () => []);
        for (let index = 0; index < this.count; index++) {
            if (this.#op[index] !== 0 || this.#wait[index] >= 0n) return [];
            keys[this.#key[index]].push(Number(this.#at[index] - this.#at[0]) / 1e6);
        }
        return keys;
    }

    #read(line) {
        this.#lines += 1;
        if (/^[ \t\r]*$/.test(line)) return;
        try {
            this.#parse(line);
        } catch (error) {
            throw new TraceError(`line ${this.#lines}: ${error.message}`);
        }
    }

    #parse(line) {
        // Numbers keep their exact digits where the browser provides the source text.
        const entry = JSON.parse(line, (_, value, context) =>
            (typeof value === "number" ? new Digits(context?.source ?? String(value)) : value));
        if (typeof entry !== "object" || entry === null || Array.isArray(entry)) throw new Error("this is not an object");
        const { at, key = null, op, wait } = entry;
        if (at == null) throw new Error("“at” is missing");
        const instant = typeof at === "string" ? calendarNanoseconds(at) : exactNanoseconds(at instanceof Digits ? at.text : "");
        if (this.#span && instant < this.#span[1]) throw new Error("time runs backwards here");
        const operation = operations.indexOf(op ?? "submit");
        if (operation < 0) throw new Error(`“${op}” is not an operation`);
        const delay = wait == null ? -1n : Trace.#delay(wait);
        this.#span = [this.#span?.[0] ?? instant, instant];
        const name = JSON.stringify(key);
        let number = key === null && operation > 1 ? -1 : this.#keys.get(name);
        // Another call on a key that has no submit yet does nothing.
        if (number === undefined && operation > 0) return;
        if (number === undefined) this.#keys.set(name, number = this.#keys.size);
        if (operation === 0) this.submits += 1;
        if (this.count === this.#at.length) this.#grow();
        this.#at[this.count] = instant;
        this.#key[this.count] = number;
        this.#op[this.count] = operation;
        this.#wait[this.count] = delay;
        this.count += 1;
    }

    static #delay(text) {
        if (typeof text !== "string" || /\s/.test(text)) throw new Error(`“${text}” is not a duration: write 300ms, 1.5s or 2m`);
        const delay = parseDuration(text, Infinity);
        return delay < 9.2e12 ? nanoseconds(delay) : 2n ** 63n - 1n;
    }

    #grow() {
        const twice = (numbers) => {
            const more = new numbers.constructor(2 * numbers.length);
            more.set(numbers);
            return more;
        };
        [this.#at, this.#key, this.#op, this.#wait] = [this.#at, this.#key, this.#op, this.#wait].map(twice);
    }
}
