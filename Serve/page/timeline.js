// The time line: the present stands still, and what is due comes towards it. A key keeps its line while it has work.

class TimeLine {
    static most = 20;
    static mostNarrow = 12;
    /** For how long a line that has become free stays, in seconds: those below it move then. */
    static rest = 8;
    /** The part of the width that is past. */
    static past = 0.36;

    #looks;
    #open;
    #list = element("lines");
    #paper = new Paper(element("picture"));
    #select = element("window");
    /** What has which line: identities, or null. */
    #lines = [];
    /** When each line was last in use, to give back the height of what is not. */
    #usedAt = [];
    #items = [];
    #others = [];
    #isVisible = true;
    #isAsked = false;
    #drawnAt = 0;
    #chosen = "auto";
    span = 30;

    constructor(looks, open) {
        this.#looks = looks;
        this.#open = open;
        this.#select.append(make("option", { value: "auto" }, "that fits"),
            ...spans.map((span) => make("option", { value: span }, exactly(span))));
        this.#select.addEventListener("change", () => {
            this.#chosen = this.#select.value;
            this.#fit(true);
            this.ask();
        });
        const { canvas } = this.#paper;
        canvas.addEventListener("click", (event) => this.#click(event));
        new ResizeObserver(() => {
            this.take();
            this.ask();
        }).observe(canvas.parentElement);
        isDark.addEventListener("change", () => this.ask());
        new IntersectionObserver(([entry]) => {
            this.#isVisible = entry.isIntersecting;
            this.ask();
        }).observe(canvas);
        setInterval(() => this.#tick(), 250);
    }

    get isNarrow() {
        return innerWidth < 704;
    }

    get #row() {
        return this.isNarrow ? 80 : 46;
    }

    get #most() {
        return this.isNarrow ? TimeLine.mostNarrow : TimeLine.most;
    }

    /** Forgets the lines of another namespace. */
    forget() {
        this.#lines = [];
        this.#usedAt = [];
        this.#fit(true);
    }

    /** Takes a look: gives keys their lines. */
    take() {
        const { detail, histories, now } = this.#looks;
        if (!detail) return;
        const ids = detail.keys.map(({ key }) => identity(key));
        const near = new Set(ids.slice(0, 3 * this.#most));
        this.#lines.length = Math.min(this.#lines.length, this.#most);
        // What has ended stays until it has left the picture, unless its line is needed.
        const left = now - TimeLine.past * this.span;
        this.#lines = this.#lines.map((id) => {
            const history = histories.get(id);
            return history && (history.isBusy ? near.has(id) : history.last > left) ? id : null;
        });
        const placed = new Set(this.#lines);
        for (const id of ids.slice(0, this.#most)) {
            if (placed.has(id)) continue;
            let line = this.#lines.indexOf(null);
            if (line < 0 && this.#lines.length < this.#most) line = this.#lines.length;
            if (line < 0) line = this.#lines.findIndex((id) => !histories.get(id).isBusy);
            if (line < 0) break;
            this.#lines[line] = id;
            placed.add(id);
        }
        this.#lines.forEach((id, line) => { if (id !== null) this.#usedAt[line] = now; });
        // A line that nothing needs is given back.
        for (let line = this.#lines.length - 1; line >= 0; line--) {
            if (this.#lines[line] !== null || now - this.#usedAt[line] < TimeLine.rest) continue;
            this.#lines.splice(line, 1);
            this.#usedAt.splice(line, 1);
        }
        this.#others = detail.keys.filter(({ key }) => !placed.has(identity(key)));
        this.#fit(false);
        this.#showItems();
        this.ask();
    }

    /** Chooses the window: the longest wait of the policy, and most of what is due, lie in it. */
    #fit(isNew) {
        if (this.#chosen !== "auto") {
            this.span = Number(this.#chosen);
            return;
        }
        const { detail, namespace } = this.#looks;
        if (!detail) return;
        const waits = [...(namespace?.rules ?? "").matchAll(/--(?:wait|interval) (\S+)/g)].map(([, text]) => secondsOf(text));
        const dues = detail.keys.slice(0, this.#most).map(({ dueIn, run }) => run?.retryIn ?? dueIn)
            .filter((due) => due !== null).sort((one, other) => one - other);
        // Of a long wait most keys with a line are near its end.
        const least = Math.min(1.1 * Math.max(0, ...waits), dues.length > 0 ? 40 : Infinity);
        const needed = Math.max(least, 1.05 * (dues[Math.floor(0.8 * dues.length)] ?? 0)) / (1 - TimeLine.past);
        const span = spans.find((span) => span >= needed) ?? spans.at(-1);
        // It does not shrink for a moment's sake.
        if (isNew || span > this.span || span < this.span / 5) this.span = span;
    }

    #showItems() {
        while (this.#items.length > this.#lines.length) this.#items.pop().item.remove();
        while (this.#items.length < this.#lines.length) {
            const [name, state] = [make("span", { class: "name" }), make("span", { class: "state" })];
            const button = make("button", { type: "button", click: () => {
                const history = this.#looks.histories.get(entry.id);
                if (history) this.#open(history.key);
            } }, name, state);
            const item = make("li", {}, button);
            const entry = { item, button, name, state, id: undefined };
            this.#items.push(entry);
            this.#list.append(item);
        }
        this.#lines.forEach((id, line) => {
            const entry = this.#items[line];
            if (entry.id === id) return;
            entry.id = id;
            entry.button.hidden = id === null;
            entry.name.replaceChildren(id === null ? "" : keyElement(this.#looks.histories.get(id).key));
        });
        const isEmpty = this.#lines.every((id) => id === null);
        const { detail, namespace } = this.#looks;
        element("nothing").hidden = !isEmpty;
        const more = namespace?.paused != null ? "" : " What is submitted appears here, and comes towards the present.";
        if (isEmpty && detail) set(element("nothing"), `Nothing waits.${more}`);
        this.#showStates();
    }

    /** Says in words how each key is. */
    #showStates() {
        const { histories, now } = this.#looks;
        for (const { id, state } of this.#items) {
            const history = id && histories.get(id);
            if (history) set(state, this.#said(history, now));
        }
    }

    #said(history, now) {
        const { run, ready, pending } = history;
        const parts = [];
        if (run?.state === "running") {
            const worker = this.#looks.detail.workers.find(({ worker }) => worker === history.listing.run?.worker);
            const more = `${worker ? ` on ${plain(worker.host)}` : ""}${run.attempt > 1 ? `, attempt ${run.attempt}` : ""}`;
            parts.push(`running${pending || ready ? "" : more}`);
        } else if (run) parts.push(run.retryAt > now ? `retrying in ${spell(run.retryAt - now)}` : "retrying, waits for a worker");
        if (ready) parts.push(ready.due === null ? "ready, waits for a worker" : `ready for ${spell(now - ready.due)}`);
        if (pending) {
            const due = pending.due === null ? "" : pending.due > now ? ` due in ${spell(pending.due - now)}` : " due now";
            parts.push(`${counted(pending.count, "submit")}${due}`);
        }
        const last = history.episodes.at(-1);
        if (parts.length > 0 || !last) return parts.join("; ");
        const when = now - last.endedAt < 1 ? "just now" : `${spell(now - last.endedAt)} ago`;
        return last.state === "gone" ? "gone before it was due" : `${last.state === "failed" ? "failed for good" : "ran"} ${when}`;
    }

    #tick() {
        const isDue = performance.now() - this.#drawnAt >= 1000;
        if (!this.#isVisible || document.hidden || this.#looks.away !== null || (wantsLessMotion.matches && !isDue)) return;
        this.#showStates();
        if (wantsLessMotion.matches) this.ask();
    }

    get #isLively() {
        return this.#looks.away === null && (this.#others.length > 0 || this.#lines.some((id) => id !== null));
    }

    /** Requests a new picture with the next frame. */
    ask() {
        if (this.#isAsked || !this.#isVisible) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            this.draw();
            if (this.#isLively && !wantsLessMotion.matches) this.ask();
        });
    }

    draw() {
        const { histories, now, away } = this.#looks;
        const paper = this.#paper;
        const strip = this.#others.length > 0 ? 46 : 0;
        const rows = Math.max(this.#lines.length, 2);
        const passed = performance.now() - this.#drawnAt;
        this.#drawnAt = performance.now();
        paper.begin(rows * this.#row + strip + 22);
        const [past, future] = [TimeLine.past * this.span, (1 - TimeLine.past) * this.span];
        const x = (instant) => ((instant - now + past) / this.span) * paper.width;
        paper.axis({ now, x, past, future });
        const view = { paper, now, x, isAway: away !== null };
        this.#lines.forEach((id, line) => {
            const top = line * this.#row;
            if (line > 0) paper.box(0, top, paper.width, 1, theme.line, 0.7);
            const history = id && histories.get(id);
            if (!history) return;
            // Where the words stand above the marks, nothing goes through them.
            if (this.isNarrow) paper.box(0, top + (line > 0 ? 1 : 0), paper.width, 41, theme.paper);
            const y = top + (this.isNarrow ? 62 : 25);
            for (const episode of history.episodes) {
                this.#ease(episode, passed);
                drawEpisode(episode, y, view);
            }
        });
        if (strip > 0) this.#drawOthers(rows * this.#row, view);
        const busy = this.#lines.filter((id) => id !== null).length;
        paper.canvas.setAttribute("aria-label", `Time line of ${exactly(this.span)}: ${counted(busy, "key")} in lines${
            strip > 0 ? `, and ${counted(this.#others.length, "key")} below` : ""}. The list beside it says the same in words.`);
    }

    /** A due instant that a newer submit has put off glides there. */
    #ease(episode, passed) {
        const { due, drawnDue, state } = episode;
        const isGliding = state === "pending" && due !== null && drawnDue !== null && passed <= 500 && !wantsLessMotion.matches
            && Math.abs(due - drawnDue) >= 0.003 * this.span;
        episode.drawnDue = isGliding ? due + (drawnDue - due) * Math.exp(-passed / 90) : due;
    }

    /** Draws the keys that have no line: how many are due when. */
    #drawOthers(top, { paper, now, x }) {
        const wide = 5;
        const bins = new Array(Math.ceil(paper.width / wide)).fill(0);
        let later = 0;
        let waiting = 0;
        for (const { dueIn, run } of this.#others) {
            const due = run?.retryIn ?? dueIn;
            if (due === null) waiting += 1;
            else {
                const bin = Math.floor(x(this.#looks.look.at + due) / wide);
                if (bin >= bins.length) later += 1;
                else bins[Math.max(0, bin)] += 1;
            }
        }
        const most = Math.max(...bins, 3);
        bins.forEach((bin, index) => {
            if (bin === 0) return;
            const tall = Math.max(2, Math.round((bin / most) * 24));
            paper.box(index * wide, top + 44 - tall, wide - 1, tall, theme.c0, 0.6);
        });
        const known = this.#looks.namespace?.pending ?? 0;
        const all = Math.max(0, known - this.#looks.detail.keys.filter(({ pending }) => pending > 0).length);
        const parts = [counted(this.#others.length, "more key"), later + all > 0 && `${number(later + all)} later`,
            waiting > 0 && `${number(waiting)} not waiting for an instant`];
        paper.box(0, top, paper.width, 1, theme.line);
        paper.text(parts.filter(Boolean).join(", "), paper.width - 8, top + 15, "right");
    }

    #click(event) {
        const line = Math.floor(event.offsetY / this.#row);
        const history = this.#looks.histories.get(this.#lines[line]);
        if (history) this.#open(history.key);
    }
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
