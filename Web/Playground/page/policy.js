// Policies with all settings of an engine, presets, and their form in links.

const defaultPolicy = {
    kind: "debounce", wait: 300, maxWait: null, leading: false, trailing: true, delayRule: "restart", maxCount: null,
    spacing: null, combine: "latest", whileRunning: "queue", maxConcurrent: null, capacity: null, atEnd: "when-due",
};

/** Makes a policy of a kind, with the given differences from the defaults. */
function makePolicy(kind, wait, changes = {}) {
    return { ...defaultPolicy, kind, wait, leading: kind === "throttle", ...changes };
}

const presets = [
    ["A search field", "sends the query when typing pauses; a newer query cancels the older one",
        makePolicy("debounce", 300, { whileRunning: "cancel" })],
    ["A search that costs money", "asks when typing pauses, at most every two seconds",
        makePolicy("debounce", 300, { spacing: 2000 })],
    ["A draft that is saved", "two seconds after the last key, at the latest after ten",
        makePolicy("debounce", 2000, { maxWait: 10_000 })],
    ["A knob and its device", "the device gets one value, when the hand has stopped", makePolicy("debounce", 2000)],
    ["A button pressed twice", "counts the first press and ignores the rest",
        makePolicy("debounce", 500, { leading: true, trailing: false })],
    ["A delay that may only grow", "a shorter delay never shortens a longer one that is running",
        makePolicy("debounce", 1000, { delayRule: "extend" })],
    ["A position that is followed", "at once, then ten times a second, the last one included",
        makePolicy("throttle", 100)],
    ["A server that counts calls", "at most one call a second", makePolicy("throttle", 1000, { leading: false })],
    ["A log sent in batches", "all lines together: after a pause, after five seconds, or when there are 50",
        makePolicy("debounce", 1000, { maxWait: 5000, maxCount: 50, combine: "collect" })],
    ["A bot that answers once", "all messages together; what comes while it answers makes it begin again",
        makePolicy("debounce", 2000, { maxWait: 30_000, combine: "collect", whileRunning: "restart" })],
];

const choices = {
    kind: ["debounce", "throttle"], delayRule: ["restart", "extend"], combine: ["latest", "first", "collect", "merge"],
    whileRunning: ["queue", "cancel", "restart", "concurrent", "skip"], atEnd: ["when-due", "flush", "drop"],
};

// The names in links are those of the command's options.
const linkNames = {
    maxWait: "max-wait", maxCount: "max-count", spacing: "spacing", delayRule: "delay-rule", combine: "combine",
    whileRunning: "while-running", maxConcurrent: "jobs", capacity: "max-keys", atEnd: "at-end",
};

// The options that only a debounce has.
const debounceOnly = ["maxWait", "spacing", "delayRule"];

// The options that are durations.
const durations = ["maxWait", "spacing"];

/** A policy in a link: `debounce,300ms,max-wait=2s`. */
function policyToLink(policy) {
    const edges = hasOtherEdges(policy) ? ["edges=" + edgeNames(policy).join("+")] : [];
    return [policy.kind, durationText(policy.wait), ...edges, ...otherOptions(policy).map((option) => option.join("="))].join(",");
}

/** Returns the options that are other than those of a new policy of its kind, with their values as links and the command have them. */
function otherOptions(policy) {
    const defaults = makePolicy(policy.kind, policy.wait);
    return Object.entries(linkNames).filter(([member]) => policy[member] !== defaults[member])
        .map(([member, name]) => [name, durations.includes(member) ? durationText(policy[member]) : policy[member]]);
}

/** Parses the policy of a link; throws an error that says what is wrong. */
function policyFromLink(text) {
    const [kind, wait, ...rest] = text.split(",");
    if (!choices.kind.includes(kind)) throw new Error(`“${kind}” is neither debounce nor throttle`);
    const policy = makePolicy(kind, parseDuration(wait ?? ""));
    for (const part of rest) {
        const [, name, value = ""] = /^([^=]*)(?:=(.*))?$/.exec(part);
        if (name === "edges") {
            const names = value.split(/[+ ]/);
            const wrong = names.find((name) => name !== "leading" && name !== "trailing");
            if (wrong !== undefined) throw new Error(`“${wrong}” is no edge`);
            policy.leading = names.includes("leading");
            policy.trailing = names.includes("trailing");
            continue;
        }
        const member = Object.keys(linkNames).find((member) => linkNames[member] === name);
        if (!member) throw new Error(`“${name}” is not an option of a policy`);
        if (kind === "throttle" && debounceOnly.includes(member)) throw new Error(`a throttle has no ${name}`);
        if (durations.includes(member)) {
            policy[member] = parseDuration(value);
        } else if (member in choices) {
            if (!choices[member].includes(value)) throw new Error(`“${value}” is not a value for ${name}`);
            policy[member] = value;
        } else {
            if (!/^\d{1,9}$/.test(value)) throw new Error(`“${value}” is not a number for ${name}`);
            policy[member] = Number(value);
        }
    }
    return policy;
}

/** Whether a policy has other edges than a new one of its kind. */
function hasOtherEdges(policy) {
    const { leading, trailing } = makePolicy(policy.kind, policy.wait);
    return policy.leading !== leading || policy.trailing !== trailing;
}

function edgeNames(policy) {
    return [policy.leading && "leading", policy.trailing && "trailing"].filter(Boolean);
}

/** Returns a policy's name: its kind and wait, and what else differs from the defaults. */
function policyName(policy) {
    const parts = [`${policy.kind} ${shownDuration(policy.wait)}`];
    if (policy.maxWait != null) parts.push(`longest wait ${shownDuration(policy.maxWait)}`);
    if (policy.spacing != null) parts.push(`spacing ${shownDuration(policy.spacing)}`);
    if (hasOtherEdges(policy)) {
        parts.push(edgeNames(policy).join(" and "));
    }
    if (policy.maxCount != null) parts.push(`at most ${policy.maxCount} pending`);
    if (policy.delayRule === "extend") parts.push("extending");
    if (policy.combine !== "latest") parts.push(policy.combine);
    if (policy.whileRunning !== "queue") {
        parts.push(policy.whileRunning === "cancel" ? "latest wins" : policy.whileRunning);
    }
    if (policy.maxConcurrent != null) parts.push(`${policy.maxConcurrent} at once`);
    if (policy.capacity != null) parts.push(`at most ${plural(policy.capacity, "open key")}`);
    return parts.join(", ");
}
