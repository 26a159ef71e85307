// The section "Your typing, judged": fifteen seconds of typing, the wait that suits them, and what it saves.

class TypingJudge {
    /** Milliseconds of typing, from the first key on. */
    static length = 15_000;
    /** More keys than any hand types in that time. */
    static most = 2000;
    /** The waits that are tried: shorter ones of a search field answer within words. */
    static waits = { first: 200, last: 2000, maxWait: null };
    /** The longest delay, in milliseconds, that a search field may have. */
    static bound = 400;

    clock = new Clock();
    #tuner = new Tuner();
    #gaps = [];
    #last = null;
    #end = null;
    #tick = null;
    /** What is shown: the times between the keys, the wait, the longer wait that would be chosen without the bound, if any, and more. */
    verdict = null;

    /** @param showOnStage Puts typing on the stage: `(gaps, policy)`. */
    constructor(showOnStage) {
        const field = element("typed");
        field.addEventListener("input", (event) => this.#key(this.clock.instant(event)));
        element("typed-again").addEventListener("click", () => {
            this.#begin();
            field.focus();
        });
        element("typed-link").addEventListener("click", () => this.#copyLink());
        element("typed-save").addEventListener("click", () => this.#save());
        element("typed-stage").addEventListener("click", () => showOnStage(this.verdict.gaps, makePolicy("debounce", this.verdict.row.wait)));
        isDark.addEventListener("change", () => this.#draw());
        new ResizeObserver(() => this.#draw()).observe(element("verdict-picture"));
    }

    /** Shows the verdict on typing that came with a link. */
    async showLink(packed) {
        const gaps = await unpack(packed);
        const isTyping = Array.isArray(gaps) && gaps.length >= Trace.leastSubmits && gaps.length <= TypingJudge.most
            && gaps.every((gap) => Number.isInteger(gap) && gap >= 0)
            && gaps.reduce((sum, gap) => sum + gap, 0) <= TypingJudge.length + gaps.length && gaps.some((gap) => gap > 0);
        if (!isTyping) throw new Error("its typing is damaged");
        this.#stop();
        element("typed-says").textContent = "This is how the sender of the link typed. How do you?";
        await this.#judge(gaps);
        element("typing-judged").scrollIntoView();
    }

    /** Ends a try that is under way. */
    #stop() {
        for (const task of [this.#end, this.#tick]) if (task) this.clock.drop(task);
        [this.#end, this.#tick, this.#last] = [null, null, null];
    }

    #begin() {
        this.#stop();
        const field = element("typed");
        field.value = "";
        field.readOnly = false;
        element("verdict").hidden = true;
        element("typed-says").textContent = "The time starts with the first key.";
        element("typed-left").value = 0;
    }

    #key(at) {
        // The fifteen seconds may be over before the clock has said so.
        this.clock.catchUp(at);
        if (element("typed").readOnly) return;
        if (this.#last === null) {
            this.#gaps = [];
            this.#last = at;
            const start = at;
            this.#end = this.clock.after(TypingJudge.length, () => this.#finish());
            const tick = () => {
                const left = Math.max(0, TypingJudge.length - (this.clock.now - start));
                element("typed-left").value = TypingJudge.length - left;
                element("typed-says").textContent = `${Math.ceil(left / 1000)} s left`;
                this.#tick = this.clock.after(200, tick);
            };
            tick();
        }
        this.#gaps.push(Math.max(0, Math.round(at - this.#last)));
        this.#last = at;
    }

    async #finish() {
        // Still focused, if it was: what is typed on must not press a button, or go anywhere else.
        element("typed").readOnly = true;
        this.#stop();
        element("typed-left").value = TypingJudge.length;
        if (this.#gaps.length < Trace.leastSubmits) {
            this.#begin();
            element("typed-says").textContent = "That was too little to judge. Write a sentence or two, at your own speed.";
            return;
        }
        element("typed-says").textContent = "The fifteen seconds are over.";
        await this.#judge(this.#gaps);
    }

    async #judge(gaps) {
        this.#tuner.take(traceOfGaps(gaps));
        const choose = async (targets) => (await this.#tuner.tune(TypingJudge.waits, targets))?.debounce.find((row) => row.reason);
        const free = await choose({});
        const row = free?.wait > TypingJudge.bound ? await choose({ delay: TypingJudge.bound }) : free;
        // Something else has been asked meanwhile.
        if (!row) return;
        const sorted = gaps.slice(1).sort((one, other) => one - other);
        this.verdict = { gaps, row, longer: free.wait > row.wait ? free : null, median: sorted[sorted.length >> 1], executions: executionsOf(makePolicy("debounce", row.wait), gaps) };
        element("verdict").hidden = false;
        element("verdict-title").textContent = this.#title;
        element("verdict-says").textContent = this.#words;
        this.#draw();
    }

    #percent(row) {
        const { gaps } = this.verdict;
        return percent(gaps.length - row.executions, gaps.length);
    }

    get #title() {
        const { row } = this.verdict;
        const does = row.missingMaxWait ? `saves ${this.#percent(row)} %, but sends nothing for ${shownDuration(row.longest)}`
            : `suits this typing and saves ${this.#percent(row)} %`;
        return row.saved > 0 ? `A wait of ${shownDuration(row.wait)} ${does}`
            : `No wait up to ${shownDuration(TypingJudge.bound)} saves anything on this typing`;
    }

    get #words() {
        const { gaps, row, median, longer } = this.verdict;
        const burst = (gaps.length / row.executions).toFixed(1).replace(/\.0$/, "");
        return `${gaps.length} keys, one every ${shownDuration(median)} (median), in ${plural(row.executions, "burst")} of ${burst} on average: `
            + `${plural(row.executions, "request")} instead of ${gaps.length}.`
            + this.#limit
            + (longer ? ` A wait of more than ${shownDuration(TypingJudge.bound)} is felt. Without that bound, ${shownDuration(longer.wait)} would save `
                + `${this.#percent(longer)} %: ${plural(row.executions - longer.executions, "request")} fewer.` : "");
    }

    /** Who types on and on gets no answer: when the first one comes, and how that is with a longest wait. */
    get #limit() {
        const { gaps, row, executions } = this.verdict;
        if (!row.missingMaxWait) return "";
        const limited = executionsOf(makePolicy("debounce", row.wait, { maxWait: row.missingMaxWait }), gaps);
        const [late, early] = [executions, limited].map(([first]) => shownDuration(Math.round(first.at - first.first)));
        return ` The first answer comes after ${late}, as the keys do not pause before. With a longest wait of ${shownDuration(row.missingMaxWait)} `
            + `it comes after ${early}, and there are ${plural(limited.length, "request")}.`;
    }

    #picture(width) {
        const { gaps, row, executions, median } = this.verdict;
        const sketch = new Sketch(width);
        const isNarrow = width < 560;
        sketch.text(isNarrow ? `A wait of ${shownDuration(row.wait)} saves ${this.#percent(row)} %` : this.#title, 12, 26,
            { size: isNarrow ? 16 : 18, weight: 700 });
        sketch.text(`${gaps.length} keys → ${plural(row.executions, "request")} · a key every ${shownDuration(median)}`, 12, 48, { colour: theme.quiet });
        sketchStrip(sketch, gaps, executions, 68);
        sketch.text("pauses between the keys", 12, 174, { colour: theme.quiet });
        sketchPauses(sketch, gaps, row.wait, 206);
        sketch.text("judged by Lull", width - 12, 302, { anchor: "end", colour: theme.quiet, size: 12 });
        return sketch.svg(312, `${this.#title}. ${this.#words}`);
    }

    #draw() {
        if (!this.verdict || element("verdict").hidden) return;
        const width = Math.min(760, element("verdict-picture").clientWidth);
        if (width > 0) element("verdict-picture").innerHTML = this.#picture(width);
    }

    /** The link has the times between the keys, not the text. */
    async link() {
        return `${location.href.replace(/#.*/, "")}#!typing=${await pack(this.verdict.gaps)}`;
    }

    async #copyLink() {
        const link = await this.link();
        try {
            await navigator.clipboard.writeText(link);
            element("typed-done").textContent = "The link is copied. It has the times between the keys, not the text.";
        } catch {
            history.replaceState(null, "", link);
            element("typed-done").textContent = "The link is in the address bar: copy it from there.";
        }
    }

    async #save() {
        await savePicture("my-typing.png", this.#picture(760));
        element("typed-done").textContent = "The picture is saved.";
    }
}
