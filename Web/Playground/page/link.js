// The link: the policies, the stage's settings and what was done, after the #, as text.

const defaultPolicies = () => [
    makePolicy("debounce", 300), makePolicy("debounce", 300, { maxWait: 1000 }), makePolicy("throttle", 500),
];

/** The fields of the stage that a link has. */
const settingFields = ["key", "delay", "takes", "throws"];

/** The length of a link that most programs pass on without cutting it. */
const longestLink = 8000;
/** More calls than such a link can hold. */
const mostCalls = 5000;

function defaultSetting(field) {
    return field.tagName === "SELECT" ? field.options[0].value : field.defaultValue;
}

/** Returns the part of the link that reproduces the settings. */
function stageLink(stage) {
    const parts = stage.policies.map(policyToLink);
    for (const id of settingFields) {
        const field = element(id);
        if (field.value !== defaultSetting(field) && !field.hasAttribute("aria-invalid")) parts.push(`${id}=${encodeURIComponent(field.value)}`);
    }
    return `#!${parts.join("&")}`;
}

/** Returns a link that also holds the calls, and how many it holds: the latest, if they do not all fit. */
async function linkWithCalls(stage) {
    const start = stageLink(stage);
    let calls = stage.calls.slice(-mostCalls);
    // Not longer than a little after the last event, so that something is to be seen.
    const end = { at: Math.min(stage.clock.now, stage.lastEvent + 2000), do: "end" };
    while (calls.length > 0) {
        const link = `${start}&calls=${await packCalls([...calls, end])}`;
        if (link.length <= longestLink) return { link, count: calls.length };
        calls = calls.slice(Math.ceil(calls.length / 5));
    }
    return { link: start, count: 0 };
}

/** Sets the stage as a link says, with defaults for the rest, if it is still wanted when it has been read. Throws an error that says
 * what is wrong; then nothing has changed. */
async function followLink(fragment, stage, isWanted = () => true) {
    if (!fragment.startsWith("#!")) return false;
    const policies = [];
    const settings = new Map();
    let calls = [];
    for (const part of decodeURI(fragment.slice(2)).split("&").filter(Boolean)) {
        const setting = /^(key|delay|takes|throws|calls)=(.*)$/.exec(part);
        if (part === "embed") continue;
        if (!setting) policies.push(policyFromLink(part));
        else if (setting[1] === "calls") calls = await unpackCalls(setting[2]);
        else settings.set(setting[1], decodeURIComponent(setting[2]));
    }
    if (policies.length > Stage.most) throw new Error(`at most ${Stage.most} policies can be side by side`);
    for (const [id, value] of settings) {
        const { options } = element(id);
        if (options && ![...options].some((option) => option.value === value)) throw new Error(`“${value}” is no ${id}`);
        if (!options && value.trim() !== "") parseDuration(value);
    }
    if (!isWanted()) return false;
    stage.policies = policies.length > 0 ? policies : defaultPolicies();
    for (const id of settingFields) {
        const field = element(id);
        field.value = settings.get(id) ?? defaultSetting(field);
        field.dispatchEvent(new Event("change"));
    }
    // What a link has set must not be hidden.
    if (settings.size > 0) element("settings").open = true;
    if (calls.length > 0) stage.load(calls);
    return true;
}

// MARK: - Calls

/** Returns bytes that a stream of this kind makes of others. */
async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Response(bytes).body.pipeThrough(stream)).arrayBuffer());
}

/** Returns data as text: compressed, in the alphabet of URLs. */
async function pack(data) {
    const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(data)));
    return btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the data of such a text, or null if it is damaged. */
async function unpack(text) {
    try {
        const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
        return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
    } catch {
        return null;
    }
}

/**
 * Returns a value in its short form: for text that extends the last value, how many characters to remove from the end of the last value
 * before the label is appended; -1 for the number that the label shows; `[number]` for another number; otherwise the value itself.
 */
function valueInLink({ value, label }, last) {
    if (typeof value === "number") return String(value) === label ? -1 : [value];
    if (!value.endsWith(label)) return value;
    const start = value.slice(0, value.length - label.length);
    return last.startsWith(start) ? last.length - start.length : value;
}

/** Returns calls as text, with microseconds from call to call. */
async function packCalls(calls) {
    const start = calls[0].at;
    let at = 0;
    let last = "";
    const rows = calls.map((call) => {
        const now = Math.round((call.at - start) * 1000);
        const isSubmit = call.do === "submit";
        const row = [now - at, isSubmit ? call.label : { do: call.do, ...(call.running && { running: true }) }, call.key ?? "", call.wait ?? ""];
        if (isSubmit) row.push(valueInLink(call, last));
        at = now;
        if (isSubmit) last = String(call.value);
        // What is left out of a row is what `unpackCalls` takes for it.
        while (row.length > 1 && row.at(-1) === (row.length === 5 ? 0 : "")) row.pop();
        return row;
    });
    return pack(rows);
}

/** The opposite of `valueInLink`. */
function valueOfLink(change, label, last) {
    if (typeof change === "string") return change;
    const number = Array.isArray(change) ? change[0] : change === -1 ? Number(label) : null;
    if (Number.isFinite(number)) return number;
    if (!Number.isInteger(change) || change < 0) throw new Error("its values are damaged");
    return last.slice(0, Math.max(0, last.length - change)) + label;
}

/** Parses the calls of a link. */
async function unpackCalls(text) {
    const rows = await unpack(text);
    if (!Array.isArray(rows) || !rows.every(Array.isArray)) throw new Error("its calls are damaged");
    if (rows.length > mostCalls + 1) throw new Error(`it has more than ${mostCalls} calls`);
    const kinds = ["touch", "flush", "cancel", "kill -9", "shut down", "release", "end"];
    let at = 0;
    let last = "";
    return rows.map(([pause, what = "", key = "", wait = "", change = 0]) => {
        if (!(Number.isFinite(pause) && pause >= 0)) throw new Error("its calls are not in order");
        at += pause;
        const isDelay = wait === "" || (Number.isFinite(wait) && wait >= 0 && wait <= longestDuration);
        if (!isDelay) throw new Error("the delay of a call is not between 0 and 90 days");
        if (at / 1000 > longestDuration) throw new Error("its calls take more than 90 days");
        const call = { at: at / 1000, key: String(key), wait: wait === "" ? null : wait };
        if (typeof what === "object" && what) {
            if (!kinds.includes(what.do)) throw new Error(`“${what.do}” is no call`);
            return { ...call, do: what.do, running: what.running === true };
        }
        const label = String(what);
        const value = valueOfLink(change, label, last);
        last = String(value);
        return { ...call, do: "submit", label, value };
    });
}
