// Reads a log: the instant of each line that has a time stamp. The format is the first of those below that most lines have.

/** Returns the seconds from 1970 to a day and a time of it, or null if there is no such time. */
const calendar = {
    day: "",
    midnight: 0,
    seconds(year, month, date, hour, minute, second) {
        if (!(month >= 1 && month <= 12 && date >= 1 && date <= 31 && hour < 24 && minute < 60 && second <= 60)) return null;
        const day = `${year}-${month}-${date}`;
        // Most lines are of the day of the line before.
        if (day !== this.day) [this.day, this.midnight] = [day, Date.UTC(year, month - 1, date) / 1000];
        return this.midnight + 3600 * hour + 60 * minute + Number(second);
    },
};

/** The digits after the point of a second, as nanoseconds. */
const fraction = (digits = "") => Number(digits.slice(0, 9).padEnd(9, "0"));

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
const monthNumber = (name) => monthNames.indexOf(name) / 3 + 1;
const aMonth = `(${monthNames.match(/.../g).join("|")})`;

/** How far a zone such as `+01:00` is ahead, in seconds. */
function zoneSeconds(zone) {
    const match = /^([+-])(\d\d):?(\d\d)$/.exec(zone ?? "");
    return match ? (match[1] === "-" ? -60 : 60) * (60 * Number(match[2]) + Number(match[3])) : 0;
}

/** Returns a number of seconds, or of a thousandth, a millionth or a billionth of them if it has so many digits. */
function epoch(whole, digits) {
    const unit = whole.length > 17 ? 9 : whole.length > 14 ? 6 : whole.length > 11 ? 3 : 0;
    const seconds = Number(whole.slice(0, whole.length - unit));
    return [seconds, unit ? fraction(whole.slice(whole.length - unit)) : fraction(digits)];
}

/**
 * Of a stamp that leaves out the year or the day, the instant that is nearest to the last one: so midnight and New Year pass, and a line
 * that is a little late does not jump.
 */
function nearest(candidates, last) {
    return last === null ? candidates[0] : candidates.reduce((best, one) => (Math.abs(one - last) < Math.abs(best - last) ? one : best));
}

/** The formats, each with a function that returns `[seconds, nanoseconds]`, or null if the line has no stamp of this format. */
const logFormats = [
    {
        name: "JSON Lines",
        read(line, last) {
            if (!/^\s*\{/.test(line)) return null;
            let entry;
            try {
                entry = JSON.parse(line);
            } catch {
                return null;
            }
            const member = ["time", "ts", "timestamp", "@timestamp", "datetime", "date", "t"].find((name) => entry[name] != null);
            if (!member) return null;
            const text = String(entry[member]);
            const number = /^(\d+)(?:\.(\d+))?$/.exec(text);
            if (number) return epoch(number[1], number[2]);
            return logFormats.slice(1).reduce((found, format) => found ?? format.read(text, last), null);
        },
    },
    {
        name: "Apache or nginx",
        pattern: new RegExp(`\\[(\\d\\d)/${aMonth}/(\\d{4}):(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?(?: ([+-]\\d{4}))?\\]`),
        read(line) {
            const match = this.pattern.exec(line);
            const seconds = match && calendar.seconds(match[3], monthNumber(match[2]), match[1], match[4], match[5], match[6]);
            return seconds == null ? null : [seconds - zoneSeconds(match[8]), fraction(match[7])];
        },
    },
    {
        name: "ISO 8601",
        pattern: /(?<!\d)(\d{4})[-/](\d\d)[-/](\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?: ?([+-]\d\d:?\d\d)(?!\d))?/,
        read(line) {
            const match = this.pattern.exec(line);
            const seconds = match && calendar.seconds(match[1], match[2], match[3], match[4], match[5], match[6]);
            return seconds == null ? null : [seconds - zoneSeconds(match[8]), fraction(match[7])];
        },
    },
    {
        name: "syslog",
        pattern: new RegExp(`(?<!\\w)${aMonth} +(\\d{1,2}) (\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?`),
        read(line, last) {
            const match = this.pattern.exec(line);
            if (!match) return null;
            // The first line is of a year that has a 29th of February.
            const year = last === null ? 2000 : new Date(last * 1000).getUTCFullYear();
            const at = [year, year - 1, year + 1].map((year) =>
                calendar.seconds(year, monthNumber(match[1]), match[2], match[3], match[4], match[5]));
            return at[0] == null ? null : [nearest(at, last), fraction(match[6])];
        },
    },
    {
        name: "seconds or milliseconds since 1970",
        pattern: /(?<![\w.-])(1\d{9}|1\d{12}|1\d{15}|1\d{18})(?:\.(\d+))?(?![\w.-])/,
        read(line) {
            const match = this.pattern.exec(line);
            return match && epoch(match[1], match[2]);
        },
    },
    {
        name: "times of the day",
        pattern: /(?<![\d:.])(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?![\d:])/,
        read(line, last) {
            const match = this.pattern.exec(line);
            const time = match && calendar.seconds(1970, 1, 1, match[1], match[2], match[3]);
            if (time == null) return null;
            const today = last === null ? 0 : last - (last % 86_400);
            return [nearest([today + time, today + time - 86_400, today + time + 86_400], last), fraction(match[4])];
        },
    },
];

/** A log in memory: the instants of the lines that count. It plays like a trace whose submits all have one key. */
class Log {
    /** The lines by which the format is told. */
    static sample = 1000;

    /** Whether a text is a trace, which has rules of its own, and not a log. An empty text is an empty trace. */
    static isTrace(text) {
        const lines = text.split("\n");
        return /^\s*$/.test(text) || lines.some((line) => {
            const object = line.replace(/^\W*(?=\{)/, "");
            if (!object.startsWith("{") || !object.includes('"at"')) return false;
            try {
                return "at" in JSON.parse(object);
            } catch {
                return /^\{\s*"at"/.test(object);
            }
        });
    }

    #at = new Float64Array(4096);
    #rest = "";
    #only;
    #base = null;
    #last = null;
    /** The latest line so far: an earlier one is out of order. */
    #latest = -Infinity;
    format = null;
    lines = 0;
    /** Lines without a stamp, without the text that is asked for, and before an earlier line. */
    without = 0;
    others = 0;
    unordered = 0;
    /** Whether no stamp has a part of a second. */
    isWhole = true;
    count = 0;
    keys = 1;

    /** @param only A text: lines without it do not count. */
    constructor(only = "") {
        this.#only = only;
    }

    get submits() {
        return this.count;
    }

    /** Milliseconds from the first line to the last. */
    get span() {
        return this.count ? (this.#at[this.count - 1] - this.#at[0]) / 1e6 : 0;
    }

    read(text) {
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop();
        this.#readAll(lines);
        if (this.#rest.length > Trace.longestLine) throw new TraceError(`line ${this.lines + 1}: it is longer than 16 MiB`);
    }

    /** Reads what is left, and puts the lines in order. */
    end() {
        this.#readAll(this.#rest ? [this.#rest] : []);
        this.#rest = "";
        if (!this.format) throw new TraceError("no line of it has a time stamp that this page knows");
        if (this.unordered > 0) this.#at.subarray(0, this.count).sort();
    }

    /** Returns the time stamps of the lines, in milliseconds from some instant on. */
    stretches() {
        return [this.#at.subarray(0, this.count).map((at) => at / 1e6)];
    }

    /** Calls the engine with the lines of a range. */
    play(from, to) {
        for (let index = from; index < to; index++) lull.lull_tune_submit(0, BigInt(this.#at[index] - this.#at[0]), -1n);
    }

    #readAll(lines) {
        this.format ??= Log.#formatOf(lines);
        for (const line of lines) {
            if (line === "" || line === "\r") continue;
            this.lines += 1;
            if (!line.includes(this.#only)) this.others += 1;
            else if (!this.#take(this.format?.read(line, this.#last))) this.without += 1;
        }
    }

    #take(stamp) {
        if (!stamp) return false;
        const [seconds, rest] = stamp;
        this.#last = seconds;
        // From the first line on, so that nanoseconds keep their digits.
        this.#base ??= seconds;
        const at = (seconds - this.#base) * 1e9 + rest;
        if (rest > 0) this.isWhole = false;
        if (at < this.#latest) this.unordered += 1;
        else this.#latest = at;
        if (this.count === this.#at.length) {
            const more = new Float64Array(2 * this.count);
            more.set(this.#at);
            this.#at = more;
        }
        this.#at[this.count++] = at;
        return true;
    }

    /** The first format that at least half as many lines have as the one that most have. */
    static #formatOf(lines) {
        const sample = lines.filter((line) => line.trim() !== "").slice(0, Log.sample);
        const counts = logFormats.map((format) => sample.filter((line) => format.read(line, null)).length);
        const most = Math.max(...counts);
        if (most === 0) return null;
        const likely = logFormats.filter((_, index) => 2 * counts[index] >= most);
        // nginx's $msec says more than the time beside it. A time of the day may be anything.
        const hasFraction = (format) => sample.some((line) => format.read(line, null)?.[1] > 0);
        return likely.find((format) => format.name !== "times of the day" && hasFraction(format)) ?? likely[0];
    }
}
