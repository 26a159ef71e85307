// The verdict on a log or a trace: the wait, what it saves, the code, and a picture to pass on.

class Bill {
    #result = null;
    #policy = null;

    /** @param showOnStage Puts pauses on the stage: `(gaps, policy)`. */
    constructor(showOnStage) {
        element("bill-save").addEventListener("click", async () => {
            await savePicture("my-log.png", this.#picture(760));
            element("bill-done").textContent = "The picture is saved.";
        });
        element("bill-stage").addEventListener("click", () => showOnStage(this.#result.seen.gaps, this.#policy));
        isDark.addEventListener("change", () => this.#draw());
        let width = 0;
        new ResizeObserver(([entry]) => {
            if (Math.abs(entry.contentRect.width - width) < 1) return;
            width = entry.contentRect.width;
            this.#draw();
        }).observe(element("bill-picture"));
    }

    /** Shows the verdict on what a series of waits did, or none if there is none. */
    show(result) {
        this.#result = result;
        const row = result.debounce.find((row) => row.reason);
        element("bill").hidden = !row || result.insufficiency !== null;
        if (element("bill").hidden) return;
        const isWorthwhile = row.saved >= 0.01;
        element("bill-title").textContent = isWorthwhile ? this.#title : "No wait of this series saves anything here";
        element("bill-says").textContent = isWorthwhile ? this.#words
            : `What comes, comes one by one: no wait up to ${shownDuration(result.debounce.at(-1).wait)} saves one of a hundred.`;
        element("bill-rest").hidden = !isWorthwhile;
        element("bill-stage").hidden = result.seen.gaps.length === 0;
        element("bill-done").textContent = "";
        this.#policy = makePolicy("debounce", row.wait, { maxWait: result.maxWait });
        const settings = { hasKeys: result.keys > 1 };
        element("bill-swift").textContent = swiftCode(this.#policy, settings);
        element("bill-shell").textContent = commandLine(this.#policy, settings);
        this.#draw();
    }

    get #row() {
        return this.#result.debounce.find((row) => row.reason);
    }

    /** What a line stands for, and what is left of them. */
    get #nouns() {
        return this.#result.log?.format === "Apache or nginx" ? ["request", "request"] : ["call", "run"];
    }

    get #headline() {
        const [before, after] = this.#nouns;
        return `${counted(this.#result.submits, before)} → ${counted(this.#row.executions, before === after ? "" : after)}`;
    }

    get #title() {
        return `${this.#headline}, ${this.#saved} % saved`;
    }

    get #saved() {
        return percent(this.#result.submits - this.#row.executions, this.#result.submits);
    }

    get #words() {
        const { afterLast, wait, longest, missingMaxWait, reason } = this.#row;
        const why = { knee: "up to here, more waiting saves much; beyond, little", most: "saving grows steadily with the delay",
            target: "it meets the target", nearest: "none meets the target, and this comes nearest" }[reason];
        const [before, after] = this.#nouns;
        return `A wait of ${shownDuration(wait)}, chosen as “lull tune” chooses: ${why}. Nine of ten ${after}s come within `
            + `${shownDuration(afterLast[1])} after the last ${before} of a burst; the longest time from a first one is `
            + `${shownDuration(longest)}.${missingMaxWait ? ` They went on for so long without a pause: try ${shownDuration(missingMaxWait)} `
                + "as the longest wait above." : ""}`;
    }

    #picture(width) {
        const { seen } = this.#result;
        const { wait } = this.#row;
        const [before, after] = this.#nouns;
        const sketch = new Sketch(width);
        const isNarrow = width < 560;
        sketch.text(this.#headline, 12, 32, { size: isNarrow ? 20 : 26, weight: 700 });
        sketch.text(`${this.#saved} % saved by a wait of ${shownDuration(wait)}`, 12, 56,
            { size: isNarrow ? 14 : 16, colour: theme.c0, weight: 600 });
        const isSeen = seen.gaps.length > 1;
        const length = seen.gaps.reduce((sum, gap) => sum + gap, 0);
        if (isSeen) {
            sketch.text(`${shownDuration(length)} of it, each ${before} a line, each ${after} a mark`, 12, 84, { colour: theme.quiet });
            sketchStrip(sketch, seen.gaps, executionsOf(this.#policy, seen.gaps), 96);
        }
        const top = isSeen ? 240 : 126;
        const pauses = isNarrow ? "all the pauses" : `all the pauses between two ${before}s: what is left of the line waits together`;
        sketch.text(pauses, 12, top - 38, { colour: theme.quiet });
        const [low, high] = [wait / 100, wait * 100];
        const ticks = Array.from({ length: 12 }, (_, index) => 10 ** (index - 3)).filter((tick) => tick > low && tick < high);
        sketchBins(sketch, seen.bins, [low, high], wait, top, ticks);
        sketch.text("judged by Lull", width - 12, top + 96, { anchor: "end", colour: theme.quiet, size: 12 });
        return sketch.svg(top + 106, `${this.#title}. ${this.#words}`);
    }

    #draw() {
        if (!this.#policy || element("bill").hidden || element("bill-rest").hidden) return;
        const width = Math.min(760, element("bill-picture").clientWidth);
        if (width > 0) element("bill-picture").innerHTML = this.#picture(width);
    }
}

/** A number with its thousands apart, and the word for what it counts. */
function counted(count, word) {
    const digits = count.toLocaleString("en");
    return word ? `${digits} ${word}${count === 1 ? "" : "s"}` : digits;
}

/** A time that may be long, as people say it. */
function shownSpan(duration) {
    const digits = (number) => String(Number(number.toPrecision(2 + (number >= 100))));
    for (const [unit, length] of [["days", 86_400_000], ["h", 3_600_000], ["min", 60_000]]) {
        if (duration >= 3 * length) return `${digits(duration / length)} ${unit}`;
    }
    return shownDuration(duration);
}

/** What was read of a log, and what was not, in sentences. */
function logWords({ format, lines, without, others, unordered }, count, span) {
    const verb = (count, one, many) => `${counted(count, "line")} ${count === 1 ? one : many}`;
    const parts = [`${counted(count, "line")} with a time stamp (${format}) in ${shownSpan(span)}.`];
    if (others > 0) parts.push(`${verb(others, "is", "are")} without the text that you ask for, of ${counted(lines)}.`);
    if (without > 0) parts.push(`${counted(without, "line")} without a time stamp ${without === 1 ? "does" : "do"} not count.`);
    if (unordered > 0) parts.push(`${verb(unordered, "was", "were")} out of order, and ${unordered === 1 ? "is" : "are"} read in it.`);
    return parts.join(" ");
}
