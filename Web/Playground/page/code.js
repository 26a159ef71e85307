// Writes the Swift code and the command for exactly one policy.

/** Returns Swift code that makes a policy, and calls it. */
function swiftCode(policy, { hasKeys = false, delay = null } = {}) {
    const isKeyed = hasKeys || policy.maxConcurrent != null || policy.capacity != null;
    const collects = policy.combine === "collect";
    const type = (isKeyed ? "Keyed" : "") + (policy.kind === "debounce" ? "Debouncer" : "Throttler");
    const [plain, collecting] = policy.kind === "debounce" ? ["for", "collectingFor"] : ["every", "collectingEvery"];
    const first = collects ? collecting : plain;
    const list = [`${first}: ${durationCode(policy.wait)}`];
    if (policy.maxWait != null) list.push(`maxWait: ${durationCode(policy.maxWait)}`);
    if (hasOtherEdges(policy)) {
        const names = edgeNames(policy).map((name) => `.${name}`);
        list.push(`edges: ${names.length === 1 ? names[0] : `[${names.join(", ")}]`}`);
    }
    if (policy.maxCount != null) list.push(`maxCount: ${policy.maxCount}`);
    if (policy.combine === "first") list.push("combining: .first");
    if (policy.combine === "merge") list.push("combining: .merge { pending, value in pending += value }");
    if (policy.whileRunning !== "queue") {
        list.push(`whileRunning: .${policy.whileRunning === "cancel" ? "cancelRunning" : policy.whileRunning}`);
    }
    const options = [];
    if (policy.delayRule === "extend") options.push("delayRule: .extend");
    if (policy.spacing != null) options.push(`spacing: ${durationCode(policy.spacing)}`);
    if (policy.maxConcurrent != null) options.push(`maxConcurrent: ${policy.maxConcurrent}`);
    if (policy.capacity != null) options.push(`capacity: ${policy.capacity}`);
    if (policy.atEnd !== "when-due") options.push(`atEnd: .${policy.atEnd}`);
    if (options.length > 0) list.push(`options: .init(${options.join(", ")})`);

    const value = collects ? "values: [String]" : "value: String";
    const parameters = isKeyed ? `(key: String, ${value})` : `(${value})`;
    const one = `let work = ${type}(${list.join(", ")}) { ${parameters} in`;
    const head = one.length <= 80 ? one : `let work = ${type}(\n    ${list.join(",\n    ")}\n) { ${parameters} in`;
    const call = `try await handle(${collects ? "values" : "value"}${isKeyed ? ", for: key" : ""})`;
    const rest = [isKeyed ? ", for: \"A\"" : "", delay == null ? "" : `, after: ${durationCode(delay)}`].join("");
    // A throttle ignores the delay of a call, and has no such parameter.
    const submit = `work.submit("a"${policy.kind === "throttle" ? (isKeyed ? ", for: \"A\"" : "") : rest})`;
    return `import Lull\n\n${head}\n    ${call}\n}\n${submit}\n`;
}

/** Returns what a command line cannot express of a policy; empty if nothing is missing. */
function commandNote(policy) {
    const notes = [];
    if (policy.combine === "merge") {
        notes.push("A merge is code: the command passes on all values, and its reader has to merge them.");
    }
    if (policy.whileRunning !== "queue" && policy.maxConcurrent == null) {
        notes.push("Without --jobs, at most as many commands run at once as the machine has cores.");
    }
    return notes.join(" ");
}

/** Returns the command line for a policy: a filter, or `lull run` where the rule while running matters. */
function commandLine(policy, { hasKeys = false } = {}) {
    const runs = policy.whileRunning !== "queue" || policy.maxConcurrent != null;
    const words = ["lull", runs ? "run" : "filter", policy.kind === "debounce" ? "--wait" : "--throttle",
        durationText(policy.wait)];
    if (hasOtherEdges(policy)) words.push("--edges", edgeNames(policy).join(","));
    for (const [name, value] of otherOptions(policy)) if (name !== "at-end") words.push(`--${name}`, value === "merge" ? "collect" : value);
    if (hasKeys || policy.capacity != null || policy.maxConcurrent != null) words.push("--key-field", 1);
    words.push("--at-end", { "when-due": "wait", flush: "flush", drop: "drop" }[policy.atEnd]);
    if (runs) words.push("--", "cat");
    return words.join(" ");
}
