// Numbers, durations and sentences. All durations are in seconds, as the server's.

"use strict";

function number(count) {
    return count.toLocaleString("en");
}

function counted(count, word) {
    return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns a duration in a suitable unit, with two to three digits. */
function spell(seconds) {
    if (seconds == null) return "–";
    const digits = (value) => String(Number(value.toPrecision(value >= 100 ? 3 : 2)));
    const shown = Math.abs(seconds);
    const [count, unit] = shown < 0.0005 ? ["0", "s"] : shown < 0.1 ? [digits(shown * 1000), "ms"] : shown < 9.95 ? [shown.toFixed(1), "s"]
        : shown < 119.5 ? [Math.round(shown), "s"] : shown < 7170 ? [Math.round(shown / 60), "min"]
        : shown < 172_800 ? [digits(shown / 3600), "h"] : [Math.round(shown / 86_400), "d"];
    return `${count}\u00a0${unit}`;
}

function bytes(count) {
    if (count < 1000) return counted(count, "byte");
    return count < 1e6 ? `${(count / 1000).toPrecision(3)} kB` : `${(count / 1e6).toPrecision(3)} MB`;
}

/** Returns the time of day of an instant, with the date where that is not today's. */
function timeOfDay(instant, now, { second } = {}) {
    const [then, today] = [new Date(instant * 1000), new Date(now * 1000)];
    const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second });
    if (then.toDateString() === today.toDateString()) return time;
    return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "long" })}, ${time}`;
}

function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns what the server says as a sentence. */
function sentence(text) {
    return capital(text).replace(/\.?$/, ".");
}

/** Returns a duration of an option in seconds. */
function secondsOf(text) {
    try {
        return parseDuration(text) / 1000;
    } catch {
        return 0;
    }
}

/** Sets a text, if it is another. */
function set(item, text) {
    if (item.textContent !== text) item.textContent = text;
}
