// Durations in milliseconds, and as text: 300ms, 1.5s, 2m.

"use strict";

const units = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const longestDuration = 90 * 24 * units.h;

/** Returns milliseconds as nanoseconds, the unit of the engine. */
function nanoseconds(milliseconds) {
    return BigInt(Math.round(milliseconds * 1e6));
}

/** Parses a duration; throws an error that says what is wrong. */
function parseDuration(text, longest = longestDuration) {
    const match = /^\s*(\d+(?:\.\d+)?)\s*([a-zµμ]*)\s*$/.exec(text);
    if (!match) throw new Error(`“${text}” is not a duration: write 300ms, 1.5s or 2m`);
    const number = Number(match[1]);
    if (match[2] === "" && number !== 0) throw new Error(`“${text}” has no unit: write ${match[1]}ms or ${match[1]}s`);
    if (match[2] !== "" && !Object.hasOwn(units, match[2])) throw new Error(`“${match[2]}” is not a unit: write ms, s, m or h`);
    const duration = match[2] === "" ? 0 : number * units[match[2]];
    if (duration > longest) throw new Error("this page waits for at most 90 days");
    return Math.round(duration * 1e6) / 1e6;
}

/** Returns a duration as the command line reads it, exactly. */
function durationText(duration) {
    const count = Math.round(duration * 1e6);
    if (count === 0) return "0ms";
    for (const [unit, length] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
        if (count >= length && (count * 1000) % length === 0) return `${count / length}${unit}`;
    }
    return `${count}ns`;
}

/** Returns a duration as Swift code, exactly. */
function durationCode(duration) {
    const count = Math.round(duration * 1e6);
    for (const [unit, length] of [["seconds", 1e9], ["milliseconds", 1e6], ["microseconds", 1e3]]) {
        if (count % length === 0) return count === 0 ? ".zero" : `.${unit}(${count / length})`;
    }
    return `.nanoseconds(${count})`;
}

/** Returns a duration for display, to about three digits. */
function shownDuration(duration) {
    const digits = (number) => String(Number(number.toPrecision(3)));
    if (duration >= 100_000) return `${Math.round(duration / 1000)} s`;
    if (duration >= 1000) return `${digits(duration / 1000)} s`;
    if (duration >= 1 || duration === 0) return `${digits(duration)} ms`;
    return duration >= 1e-3 ? `${digits(duration * 1000)} µs` : `${digits(duration * 1e6)} ns`;
}
