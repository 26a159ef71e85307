// A duel: who types one sentence with the fewest requests? A link carries the run of the challenger.

class Duel {
    static sentence = "The quick brown fox jumps over the lazy dog.";
    static policy = makePolicy("debounce", 300);
    /** More keys than the sentence needs, with every mistake mended. */
    static most = 500;
    /** The longest run, in milliseconds. */
    static longest = 300_000;

    clock = new Clock();
    #gaps = [];
    #last = null;
    /** Counts the requests while the reader types. */
    #live = null;
    #requests = 0;
    /** The runs that are shown, as `{ gaps, executions, length }`: of the sender of the link, and of the reader. */
    theirs = null;
    own = null;

    constructor() {
        const field = element("duel-field");
        field.addEventListener("input", (event) => this.#key(this.clock.instant(event)));
        // Each key counts.
        for (const name of ["paste", "drop"]) field.addEventListener(name, (event) => event.preventDefault());
        element("duel-again").addEventListener("click", () => {
            this.#begin();
            field.focus();
        });
        element("duel-link").addEventListener("click", () => this.#copyLink());
        element("duel-save").addEventListener("click", async () => {
            await savePicture("duel.png", this.#picture(760));
            element("duel-done").textContent = "The picture is saved.";
        });
        isDark.addEventListener("change", () => this.#draw());
        new ResizeObserver(() => this.#draw()).observe(element("duel"));
        this.#begin();
    }

    /** Shows the run of a link, and asks the reader to beat it. */
    async showLink(packed) {
        const gaps = await unpack(packed);
        const isRun = Array.isArray(gaps) && gaps.length >= 2 && gaps.length <= Duel.most
            && gaps.every((gap) => Number.isInteger(gap) && gap >= 0) && gaps[0] === 0
            && gaps.reduce((sum, gap) => sum + gap, 0) <= Duel.longest;
        if (!isRun) throw new Error("its run is damaged");
        this.theirs = Duel.#run(gaps);
        this.own = null;
        this.#begin();
        element("duel").scrollIntoView();
    }

    static #run(gaps) {
        return { gaps, executions: executionsOf(Duel.policy, gaps), length: gaps.reduce((sum, gap) => sum + gap, 0) };
    }

    static #words({ gaps, executions }) {
        return `${plural(gaps.length, "key")} → ${plural(executions.length, "request")}`;
    }

    #begin() {
        this.#live?.dispose();
        [this.#live, this.#requests, this.#gaps, this.#last, this.own] = [null, 0, [], null, null];
        const field = element("duel-field");
        field.value = "";
        field.readOnly = false;
        field.removeAttribute("aria-invalid");
        element("duel-title").textContent = this.theirs ? `${Duel.#words(this.theirs)}. Beat it.` : "A duel";
        element("duel-says").textContent = "The time starts with the first key."
            + (this.theirs ? ` The sender of the link took ${Duel.#seconds(this.theirs)}.` : "");
        element("duel-done").textContent = "";
        element("duel-buttons").hidden = true;
        this.#showProgress();
        this.#draw();
    }

    static #seconds({ length }) {
        return `${(length / 1000).toFixed(1)} s`;
    }

    #key(at) {
        const field = element("duel-field");
        if (field.readOnly) return;
        const gap = this.#last === null ? 0 : Math.max(0, Math.round(at - this.#last));
        this.#last = this.#last === null ? at : this.#last + gap;
        this.#gaps.push(gap);
        // The same instants as those of the link, so that both count the same.
        this.#live ??= new Coalescer(Duel.policy, this.clock, () => {
            this.#requests += 1;
            this.#say();
        });
        this.#live.submit(this.#gaps.length, { at: this.#last });
        const total = this.#gaps.reduce((sum, gap) => sum + gap, 0);
        if (this.#gaps.length > Duel.most || total > Duel.longest) {
            this.#begin();
            element("duel-says").textContent = "That took too long. The time starts with the first key.";
            return;
        }
        this.#showProgress();
        if (Duel.#plain(field.value.trim()) === Duel.#plain(Duel.sentence)) this.#finish();
        else this.#say();
    }

    /** Phones write capitals by themselves. */
    static #plain(text) {
        return text.toLowerCase();
    }

    #say() {
        if (this.own || !this.#live) return;
        element("duel-says").textContent = `${plural(this.#gaps.length, "key")} → ${plural(this.#requests, "request")} so far`;
    }

    #showProgress() {
        const { value } = element("duel-field");
        let count = 0;
        while (count < value.length && Duel.#plain(value[count]) === Duel.#plain(Duel.sentence[count] ?? "")) count += 1;
        const isWrong = count < value.trimEnd().length;
        element("duel-sentence").replaceChildren(make("span", { class: "quiet" }, Duel.sentence.slice(0, count)), Duel.sentence.slice(count));
        if (isWrong) element("duel-field").setAttribute("aria-invalid", "true");
        else element("duel-field").removeAttribute("aria-invalid");
    }

    #finish() {
        // Still focused: what is typed on must go nowhere else.
        element("duel-field").readOnly = true;
        this.#live.dispose();
        this.#live = null;
        this.own = Duel.#run(this.#gaps);
        element("duel-title").textContent = this.theirs ? this.#verdict
            : `${Duel.#words(this.own)} in ${Duel.#seconds(this.own)}`;
        element("duel-says").textContent = this.#says;
        element("duel-buttons").hidden = false;
        this.#draw();
    }

    /** Who wins. Fewer requests do; of as many, the faster run. */
    get #verdict() {
        const [own, theirs] = [this.own.executions.length, this.theirs.executions.length];
        if (own !== theirs) {
            return `${own < theirs ? "You win" : "The sender wins"}: ${plural(Math.min(own, theirs), "request")}, not ${Math.max(own, theirs)}`;
        }
        const ahead = this.theirs.length - this.own.length;
        if (ahead === 0) return "A draw";
        return `${ahead > 0 ? "You win" : "The sender wins"}: as many requests, ${shownDuration(Math.abs(ahead))} faster`;
    }

    get #says() {
        const { executions, gaps } = this.own;
        const pauses = executions.length - 1;
        const parts = this.theirs ? [`You: ${Duel.#words(this.own)} in ${Duel.#seconds(this.own)}.`] : [];
        if (pauses === 0) parts.push("No pause reached 300 ms: nobody needs fewer.");
        if (pauses === 1) parts.push("1 pause of 300 ms or more has cost a request.");
        if (pauses > 1) parts.push(`${pauses} pauses of 300 ms or more have cost a request each.`);
        const more = gaps.length - Duel.sentence.length;
        if (more > 0) parts.push(`${plural(more, "key")} more than the sentence has went into mending it.`);
        return parts.join(" ");
    }

    #picture(width) {
        const runs = [[this.theirs, "the sender", theme.c1], [this.own, "you", theme.c0]].filter(([run]) => run);
        const sketch = new Sketch(width);
        const end = Math.max(...runs.map(([run]) => run.executions.at(-1).at));
        const title = this.own && this.theirs ? this.#verdict : `${Duel.#words(runs[0][0])}${this.own ? "" : ". Beat it."}`;
        sketch.text(title, 12, 28, { size: width < 560 ? 16 : 20, weight: 700 });
        runs.forEach(([run, name, colour], index) => {
            const top = 66 + 124 * index;
            const own = this.theirs ? `${name}: ${Duel.#words(run)} in ${Duel.#seconds(run)}` : `in ${Duel.#seconds(run)}`;
            sketch.text(own, 12, top - 12, { colour: this.theirs ? colour : theme.quiet, weight: this.theirs ? 600 : 400 });
            sketchStrip(sketch, run.gaps, run.executions, top, Infinity, { end, colour });
        });
        const height = 66 + 124 * runs.length - 20;
        sketch.text(`${width < 560 ? "" : "“The quick brown fox …”, "}a request after each pause of 300 ms`, 12, height - 8, { colour: theme.quiet, size: 12 });
        if (width >= 560) sketch.text("judged by Lull", width - 12, height - 8, { anchor: "end", colour: theme.quiet, size: 12 });
        return sketch.svg(height, title);
    }

    #draw() {
        const picture = element("duel-picture");
        const width = Math.min(760, element("duel").clientWidth - 2);
        if (!this.theirs && !this.own) picture.replaceChildren();
        else if (width > 0) picture.innerHTML = this.#picture(width);
    }

    /** The link has the times between the keys. */
    async link() {
        return `${location.href.replace(/#.*/, "")}#!duel=${await pack(this.own.gaps)}`;
    }

    async #copyLink() {
        const link = await this.link();
        try {
            await navigator.clipboard.writeText(`${Duel.#words(this.own)}. Beat it: ${link}`);
            element("duel-done").textContent = "The challenge is copied. Its link has the times between your keys.";
        } catch {
            history.replaceState(null, "", link);
            element("duel-done").textContent = "The link is in the address bar: copy it from there.";
        }
    }
}
