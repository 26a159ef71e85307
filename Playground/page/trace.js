// Reads a trace as `lull simulate` does: JSON Lines, ordered by time, instants in exact nanoseconds.

class TraceError extends Error {}

/** Returns a decimal number of seconds as nanoseconds, exactly; digits after the ninth are cut off. */
function exactNanoseconds(text) {
    const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
    if (!match) throw new Error(`“${text}” is not a time`);
    const [, sign, whole, fraction = "", exponent = "0"] = match;
    const shift = Number(exponent) + 9;
    if (Math.abs(shift) > 60) throw new Error(`“${text}” is too far away`);
    const digits = whole + fraction;
    const point = whole.length + shift;
    const count = BigInt((digits + "0".repeat(Math.max(0, point - digits.length))).slice(0, Math.max(0, point)) || "0");
    if (count > 9_200_000_000_000_000_000n) throw new Error(`“${text}” is too far away`);
    return sign ? -count : count;
}

/** Returns an RFC 3339 time in nanoseconds since 1970. */
function calendarNanoseconds(text) {
    const match = /^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/.exec(text);
    const milliseconds = match ? Date.parse(match[1].replace(" ", "T").toUpperCase() + match[3].toUpperCase()) : NaN;
    if (Number.isNaN(milliseconds)) throw new Error(`“${text}” is not a time`);
    return BigInt(milliseconds) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0").slice(0, 9));
}

/** Reads lines. Numbers keep their exact digits where the browser provides the source text. */
function* readTrace(text) {
    const written = (name, value, context) =>
        (typeof value === "number" && name === "at" ? { at: context?.source ?? String(value) } : value);
    let number = 0;
    let last = null;
    for (const line of text.split("\n")) {
        number += 1;
        if (line.trim() === "") continue;
        try {
            const entry = JSON.parse(line, written);
            if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
                throw new Error("this is not an object");
            }
            const { at, key = null, op, wait } = entry;
            if (at == null) throw new Error("“at” is missing");
            const instant = typeof at === "string" ? calendarNanoseconds(at) : exactNanoseconds(at.at ?? "");
            if (last !== null && instant < last) throw new Error("time runs backwards here");
            last = instant;
            if (op != null && !["submit", "flush", "cancel"].includes(op)) throw new Error(`“${op}” is not an operation`);
            yield { at: instant, key: JSON.stringify(key), hasKey: "key" in entry && key !== null, op: op ?? "submit",
                wait: wait == null ? -1n : nanoseconds(parseDuration(String(wait))) };
        } catch (error) {
            throw new TraceError(`line ${number}: ${error.message}`);
        }
    }
}
