// What one does to the workers, and what came of it: buttons, settings, the playhead, the table, and words.

class WorkerControls {
    static names = [(count) => `${plural(count, "worker")}, one store`, (count) => `${plural(count, "machine")}, no store`];
    static settings = ["wait", "limit", "lease", "workers", "whileRunning", "ignores"];
    static columns = ["edits", "saves", "waiting", "lost", "stale", "doubled", "refused", "dead"];
    /** More than none of them is bad, and these are only with a store. */
    static bad = ["lost", "stale", "doubled"];
    static stored = ["refused", "dead"];
    /** How much longer than a lease a machine sleeps, or is cut off. */
    static longer = 2500;
    static slow = 6000;
    static usual = 1500;

    #workers;
    #rows;
    #heard = { count: 0, timer: 0 };
    #shown = [];

    constructor(workers) {
        this.#workers = workers;
        this.#rows = WorkerControls.names.map(() => element("stores-table").tBodies[0].appendChild(make("tr")));
        for (const [index, { name }] of storeStories.entries()) element("stores-story").append(make("option", { value: index }, name));
        const on = (id, body, event = "click") => element(`stores-${id}`).addEventListener(event, body);
        const tell = () => {
            const story = this.#story;
            workers.tell(story);
            if (story.calls.length === 0) return;
            if (wantsLessMotion.matches) workers.seek(story.until);
            else workers.play();
        };
        on("tell", tell);
        on("story", tell, "change");
        on("clear", () => workers.tell(storeStories.at(-1)));
        on("play", () => this.#play());
        on("back", () => workers.step(-1));
        on("next", () => workers.step(1));
        const slider = element("stores-at");
        // Its last step ends before the end.
        on("at", () => workers.seek(slider.value > slider.max - slider.step ? workers.end : Number(slider.value)), "input");
        for (const key of storeKeys) element("stores-keys").append(make("button", { click: () => workers.do("submit", key) }, key));
        on("field", () => workers.do("submit", storeKeys[0]), "input");
        on("kill", () => workers.do("kill", this.#worker));
        on("stop", () => workers.do("stop", this.#worker));
        on("sleep", () => workers.do("sleep", this.#worker, this.#pastLease));
        on("cut", () => workers.do("cutOff", this.#worker, this.#pastLease));
        on("start", () => workers.do("start", this.#worker));
        on("pause", () => workers.do(workers.present.state.isPaused ? "resume" : "pause"));
        on("fail", () => workers.do("fail", 1));
        on("slow", () => workers.do("takes", this.#isSlow ? WorkerControls.usual : WorkerControls.slow));
        for (const name of ["retry", "discard"]) on(name, () => workers.do(name, { deadOf: workers.present.state.dead[0].key }));
        for (const name of WorkerControls.settings) on(name, () => this.#set(name), "change");
    }

    get speed() {
        return Number(element("stores-speed").value);
    }

    get #worker() {
        return Number(document.querySelector("#stores-which input:checked")?.value ?? 0);
    }

    get #story() {
        return storeStories[element("stores-story").value];
    }

    get #pastLease() {
        return this.#workers.settings.lease + WorkerControls.longer;
    }

    get #isSlow() {
        return this.#workers.takes > WorkerControls.usual;
    }

    /** At the end, where nothing is to come, it plays from the beginning. */
    #play() {
        const workers = this.#workers;
        if (workers.isPlaying) return workers.pause();
        if (workers.now >= workers.end && workers.hasNothingToCome) workers.seek(0);
        workers.play();
    }

    #set(name) {
        const { value } = element(`stores-${name}`);
        this.#workers.set({ [name]: name === "whileRunning" ? value : name === "ignores" ? value === "true" : Number(value) || null });
    }

    takeSettings() {
        for (const name of WorkerControls.settings) element(`stores-${name}`).value = this.#workers.settings[name] ?? "";
    }

    // MARK: - What is shown

    show() {
        const workers = this.#workers;
        if (!workers.present) return;
        const { state, past } = workers.present;
        element("stores-tell").disabled = this.#story.calls.length === 0;
        element("stores-play").textContent = workers.isPlaying ? "Pause" : "Play";
        const at = element("stores-at");
        at.max = Math.ceil(workers.end);
        at.value = workers.now;
        const last = past.words.findLast(({ weight }) => weight > 0)?.text ?? "nothing has happened yet";
        at.setAttribute("aria-valuetext", `${clockText(workers.now)}: ${last}`);
        element("stores-clock").textContent = clockText(workers.now);
        element("stores-pause").textContent = state.isPaused ? "Resume" : "Pause all";
        element("stores-slow").setAttribute("aria-pressed", this.#isSlow);
        for (const name of ["retry", "discard"]) element(`stores-${name}`).disabled = state.dead.length === 0;
        element("stores-sleep").textContent = `Machine sleeps ${clockText(this.#pastLease)}`;
        element("stores-cut").textContent = `Cut off from the store for ${clockText(this.#pastLease)}`;
        this.#showWorkers(state);
        this.#showResults();
        this.#showWords(past.words);
        const { submitted, waiting, failed, ...outcomes } = state.outcomes;
        const parts = Object.entries({ ...outcomes, "in backoff": waiting, "given up for a newer one": failed })
            .filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
        element("stores-sum").textContent = submitted === 0 ? "" : `Of ${plural(submitted, "submit")} in the store: ${parts.join(", ")}. `
            + (state.addUp && state.invariants.length === 0 ? "It adds up." : `It does not add up: ${state.invariants.join(", ")}.`);
    }

    /** The choice of a worker, and what can be done to it. */
    #showWorkers({ workers: all }) {
        const which = element("stores-which");
        if (which.childElementCount !== all.length) {
            const chosen = Math.min(this.#worker, all.length - 1);
            const radio = (index) => make("input", { type: "radio", name: "stores-worker", value: index, checked: index === chosen,
                change: () => this.show() });
            which.replaceChildren(...all.map((_, index) => make("label", { class: "check" }, radio(index), ` ${index + 1}`)));
        }
        const { state } = all[this.#worker];
        const isGone = state === "gone";
        element("stores-kill").disabled = isGone;
        for (const name of ["stop", "sleep", "cut"]) element(`stores-${name}`).disabled = state !== "alive";
        element("stores-start").disabled = !isGone;
    }

    #showResults() {
        this.#workers.present.results.forEach((keys, index) => {
            const cell = (name, text, isBad = false) => make("td", { class: isBad ? "bad" : "", "data-name": name }, String(text));
            const sum = (name) => keys.reduce((sum, one) => sum + one[name], 0);
            const has = keys.filter(({ server }) => server > 0).map(({ key, server }) => `${key} ${server}`).join(", ");
            const isOld = keys.some(({ isAtRest, server, edits, dead }) => isAtRest && dead === 0 && server < edits);
            const name = WorkerControls.names[index](this.#workers.settings.workers);
            this.#rows[index].replaceChildren(make("th", { scope: "row" }, name),
                ...WorkerControls.columns.map((name) => index === 1 && WorkerControls.stored.includes(name) ? cell(name, "–")
                    : cell(name, sum(name), WorkerControls.bad.includes(name) && sum(name) > 0)),
                cell("the server has", has || "nothing", isOld));
        });
    }

    #showWords(words) {
        const last = words.findLast(({ weight }) => weight > 0);
        const says = element("stores-says");
        const lost = this.#workers.present.results.map((keys) => keys.reduce((sum, one) => sum + one.lost, 0));
        const sum = lost.some((count) => count > 0) ? ` Lost so far: ${lost[0]} with the store, ${lost[1]} without.` : "";
        const text = last ? `${clockText(last.at)}: ${last.text}${sum}`
            : this.#workers.hasNothingToCome ? "Edit something, or let a story be played." : "Nothing is due yet.";
        if (says.textContent !== text) says.textContent = text;
        const list = element("stores-log");
        const isSame = (one, index) => one.at === words[index]?.at && one.text === words[index]?.text;
        let same = 0;
        while (same < this.#shown.length && isSame(this.#shown[same], same)) same += 1;
        if (same === words.length && same === this.#shown.length) return;
        while (list.childElementCount > same) list.lastChild.remove();
        for (const { at, text, weight } of words.slice(same)) {
            list.append(make("li", { class: weight > 1 ? "weighty" : "" }, make("b", {}, clockText(at)), ` ${text}`));
        }
        list.scrollTop = list.scrollHeight;
        this.#shown = [...words];
        this.#speak(words);
    }

    /** Says the latest of what weighs most, not more often than a reader can listen; only of what goes on by itself. */
    #speak(words) {
        // With reduced motion nothing goes on by itself, and what is done is said.
        if (!this.#workers.isPlaying && !wantsLessMotion.matches) {
            this.#heard.count = words.length;
            return;
        }
        this.#heard.timer ||= setTimeout(() => {
            this.#heard.timer = 0;
            const { words: all } = this.#workers.present.past;
            const heard = all.slice(this.#heard.count);
            this.#heard.count = all.length;
            const most = Math.max(1, ...heard.map(({ weight }) => weight));
            const said = heard.filter(({ weight }) => weight === most).slice(-2);
            if (said.length > 0) element("stores-spoken").textContent = said.map(({ text }) => text).join(" ");
        }, 1500);
    }
}
