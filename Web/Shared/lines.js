// The lines of a time line: the present stands still, and what is due comes towards it. What has work keeps its line while it has.
// Beside the picture a list says the same in words. Whose lines they are is known to those that extend this.

"use strict";

class Lines {
    static most = 20;
    static mostNarrow = 12;
    /** For how long a line that has become free stays, in seconds: those below it move then. */
    static rest = 8;
    /** The part of the width that is past. */
    static past = 0.36;

    #list = element("lines");
    #paper = new Paper(element("picture"));
    #select = element("window");
    /** What has which line: identities, or null. */
    #lines = [];
    /** When each line was last in use, to give back the height of what is not. */
    #usedAt = [];
    #items = [];
    #isVisible = true;
    #isAsked = false;
    #drawnAt = 0;
    #chosen = "auto";
    span = 30;
    /** What has work and no line. */
    others = [];

    constructor() {
        this.#select.append(make("option", { value: "auto" }, "that fits"),
            ...spans.map((span) => make("option", { value: span }, exactly(span))));
        this.#select.addEventListener("change", () => {
            this.#chosen = this.#select.value;
            this.fit(true);
            this.ask();
        });
        const { canvas } = this.#paper;
        canvas.addEventListener("click", (event) => {
            const id = this.#lines[Math.floor(event.offsetY / this.#row)];
            if (id != null) this.open(id);
        });
        watchCanvas(canvas, () => this.ask(), (isVisible) => { this.#isVisible = isVisible; });
        new ResizeObserver(() => this.take()).observe(canvas.parentElement);
        setInterval(() => this.#tick(), 250);
    }

    // MARK: - What those say that extend this

    /** The present, in seconds. */
    get now() {}

    /** Whether nothing is known for now. */
    get isAway() {}

    /** Whether something has work. */
    isBusy(id) {}

    /** The instant of the last thing that happened to something that has no work. */
    last(id) {}

    /** Takes what is new: calls `place`. */
    take() {}

    /** Opens what there is to say of something. */
    open(id) {}

    /** Returns an element with a name. */
    name(id) {}

    /** Returns how something is, in words. */
    said(id) {}

    /** Returns what is said where no line has anything. */
    nothing() {}

    /** Returns how many seconds a window needs that fits; null if that is not known. */
    needed() {}

    /**
     * Draws something on the line at `y`.
     *
     * @param passed The milliseconds since the last picture.
     */
    drawLine(id, y, view, passed) {}

    /** Draws those that have no line, in a strip below them. */
    drawOthers(top, view) {}

    /** What is counted: “key”. */
    word = "";

    // MARK: - Lines

    get isNarrow() {
        return innerWidth < 704;
    }

    get #row() {
        return this.isNarrow ? 80 : 46;
    }

    get most() {
        return this.isNarrow ? Lines.mostNarrow : Lines.most;
    }

    /** Forgets all lines. */
    forget() {
        this.#lines = [];
        this.#usedAt = [];
        this.fit(true);
    }

    /** Gives what has work its lines: `ids` in the order in which they need one. Returns those that have one. */
    place(ids) {
        const { now } = this;
        const near = new Set(ids.slice(0, 3 * this.most));
        this.#lines.length = Math.min(this.#lines.length, this.most);
        // What has ended stays until it has left the picture, unless its line is needed.
        const left = now - this.constructor.past * this.span;
        this.#lines = this.#lines.map((id) => (id !== null && (this.isBusy(id) ? near.has(id) : this.last(id) > left) ? id : null));
        const placed = new Set(this.#lines);
        for (const id of ids.slice(0, this.most)) {
            if (placed.has(id)) continue;
            let line = this.#lines.indexOf(null);
            if (line < 0 && this.#lines.length < this.most) line = this.#lines.length;
            if (line < 0) line = this.#lines.findIndex((id) => !this.isBusy(id));
            if (line < 0) break;
            placed.delete(this.#lines[line]);
            this.#lines[line] = id;
            placed.add(id);
        }
        this.#lines.forEach((id, line) => { if (id !== null) this.#usedAt[line] = now; });
        // A line that nothing needs is given back.
        for (let line = this.#lines.length - 1; line >= 0; line--) {
            if (this.#lines[line] !== null || now - this.#usedAt[line] < this.constructor.rest) continue;
            this.#lines.splice(line, 1);
            this.#usedAt.splice(line, 1);
        }
        return placed;
    }

    /** Shows what has been placed. */
    show() {
        this.fit(false);
        this.#showItems();
        this.ask();
    }

    /** Chooses the window. */
    fit(isNew) {
        if (this.#chosen !== "auto") {
            this.span = Number(this.#chosen);
            return;
        }
        const needed = this.needed();
        if (needed === null) return;
        const span = spans.find((span) => span >= needed) ?? spans.at(-1);
        // It does not shrink for a moment's sake.
        if (isNew || span > this.span || span < this.span / 5) this.span = span;
    }

    #showItems() {
        while (this.#items.length > this.#lines.length) this.#items.pop().item.remove();
        while (this.#items.length < this.#lines.length) {
            const [name, state] = [make("span", { class: "name" }), make("span", { class: "state" })];
            const button = make("button", { type: "button", click: () => entry.id !== null && this.open(entry.id) }, name, state);
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
            entry.name.replaceChildren(id === null ? "" : this.name(id));
        });
        const isEmpty = this.#lines.every((id) => id === null);
        element("nothing").hidden = !isEmpty;
        if (isEmpty) set(element("nothing"), this.nothing());
        this.#showStates();
    }

    /** Says in words how each is. */
    #showStates() {
        for (const { id, state } of this.#items) if (id !== null) set(state, this.said(id));
    }

    // MARK: - The picture

    #tick() {
        const isDue = performance.now() - this.#drawnAt >= 1000;
        if (!this.#isVisible || document.hidden || this.isAway || (wantsLessMotion.matches && !isDue)) return;
        this.#showStates();
        if (wantsLessMotion.matches) this.ask();
    }

    get #isLively() {
        return !this.isAway && (this.others.length > 0 || this.#lines.some((id) => id !== null));
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
        const { now, isAway } = this;
        const paper = this.#paper;
        const strip = this.others.length > 0 ? 46 : 0;
        const rows = Math.max(this.#lines.length, 2);
        const passed = performance.now() - this.#drawnAt;
        this.#drawnAt = performance.now();
        paper.begin(rows * this.#row + strip + 22);
        const [past, future] = [this.constructor.past * this.span, (1 - this.constructor.past) * this.span];
        const x = (instant) => ((instant - now + past) / this.span) * paper.width;
        paper.axis({ now, x, past, future });
        const view = { paper, now, x, isAway };
        this.#lines.forEach((id, line) => {
            const top = line * this.#row;
            if (line > 0) paper.box(0, top, paper.width, top + 1, theme.line, 0.7);
            if (id === null) return;
            // Where the words stand above the marks, nothing goes through them.
            if (this.isNarrow) paper.box(0, top + (line > 0 ? 1 : 0), paper.width, top + 42, theme.paper);
            this.drawLine(id, top + (this.isNarrow ? 62 : 25), view, passed);
        });
        if (strip > 0) this.drawOthers(rows * this.#row, view);
        const busy = this.#lines.filter((id) => id !== null).length;
        paper.canvas.setAttribute("aria-label", `Time line of ${exactly(this.span)}: ${counted(busy, this.word)} in lines${
            strip > 0 ? `, and ${counted(this.others.length, this.word)} below` : ""}. The list beside it says the same in words.`);
    }

    /** Draws what becomes of submits, on one line. */
    drawEpisodes(episodes, y, view, passed) {
        for (const episode of episodes) this.#ease(episode, passed);
        drawEpisodes(episodes, y, view);
    }

    /** A due instant that a newer submit has put off glides there. */
    #ease(episode, passed) {
        const { due, drawnDue, state } = episode;
        const isGliding = state === "pending" && due !== null && drawnDue !== null && passed <= 500 && !wantsLessMotion.matches
            && Math.abs(due - drawnDue) >= 0.003 * this.span;
        episode.drawnDue = isGliding ? due + (drawnDue - due) * Math.exp(-passed / 90) : due;
    }

    /** Draws how many are due when: an instant for each, or null. */
    drawStrip(top, { paper, x }, dues, { later = 0, waiting }) {
        const wide = 5;
        const bins = new Array(Math.ceil(paper.width / wide)).fill(0);
        let rest = 0;
        for (const due of dues) {
            if (due === null) {
                rest += 1;
                continue;
            }
            const bin = Math.floor(x(due) / wide);
            if (bin >= bins.length) later += 1;
            else bins[Math.max(0, bin)] += 1;
        }
        const most = Math.max(...bins, 3);
        bins.forEach((bin, index) => {
            if (bin === 0) return;
            const tall = Math.max(2, Math.round((bin / most) * 24));
            paper.box(index * wide, top + 44 - tall, (index + 1) * wide - 1, top + 44, theme.c0, 0.6);
        });
        const parts = [counted(dues.length, `more ${this.word}`), later > 0 && `${number(later)} later`,
            rest > 0 && `${number(rest)} ${waiting}`];
        paper.box(0, top, paper.width, top + 1, theme.line);
        paper.text(parts.filter(Boolean).join(", "), paper.width - 8, top + 15, { align: "right" });
    }
}
