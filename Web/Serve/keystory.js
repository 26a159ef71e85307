// The story of one key: what it waits for, and how what came before has ended.

"use strict";

class Story {
    static pause = 2000;

    #looks;
    #actions;
    #dialog = element("story");
    #paper = new Paper(element("story-picture"));
    #opener = null;
    #own = null;
    #isComplete = false;
    #askedAt = -Infinity;
    #ended = [];
    #endedAt = 0;
    #state = "";
    #wants = null;
    #isAsked = false;
    #drawnAt = 0;
    /** The key, or null. */
    key = null;
    /** Called when another key is opened, or none. */
    changed = () => {};

    constructor(looks, actions) {
        this.#looks = looks;
        this.#actions = actions;
        element("story-close").addEventListener("click", () => this.close());
        this.#dialog.addEventListener("close", () => this.#closed());
        this.#dialog.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !element("ask").open) {
                event.preventDefault();
                this.close();
            }
        });
        for (const button of element("story-acts").querySelectorAll("button")) {
            button.addEventListener("click", () => this.#act(button.dataset.act));
        }
        new ResizeObserver(() => this.#draw()).observe(this.#paper.canvas.parentElement);
        isDark.addEventListener("change", () => this.#draw());
        setInterval(() => this.#tick(), 250);
    }

    open(key) {
        if (!this.#dialog.open) this.#opener = document.activeElement;
        this.key = key;
        this.#own = null;
        this.#isComplete = false;
        this.#askedAt = -Infinity;
        this.#state = "";
        element("story-name").replaceChildren(keyElement(key));
        element("story-now").replaceChildren();
        element("ended").replaceChildren();
        set(element("story-says"), "Looking …");
        element("story-acts").hidden = !this.#actions.isAllowed;
        // Beside the page where there is room for both.
        if (!this.#dialog.open) {
            if (matchMedia("(min-width: 70rem)").matches) {
                this.#dialog.show();
                document.body.classList.add("with-story");
            } else this.#dialog.showModal();
        }
        this.#dialog.scrollTop = 0;
        element("story-close").focus({ preventScroll: true });
        this.changed();
        this.#load();
        this.ask();
    }

    close() {
        this.#dialog.close();
        this.#closed();
    }

    #closed() {
        // The event may come when another key has been opened.
        if (this.key === null || this.#dialog.open) return;
        this.key = null;
        this.#wants?.abort();
        document.body.classList.remove("with-story");
        document.body.append(element("answer"));
        if (this.#opener?.isConnected) this.#opener.focus();
        this.#opener = null;
        this.changed();
    }

    #act(action) {
        if (action === "touch") this.#actions.touch(this.key);
        else if (action === "submit") this.#actions.submit(this.key);
        else this.#actions.ask(action, [[["key", this.key]]], shownKey(this.key));
    }

    /** How the page has seen the key: by the looks where they show it, else by questions about it alone. */
    get #history() {
        const seen = this.#looks.history(this.key);
        return seen && (seen.isBusy || !this.#own) ? seen : this.#own;
    }

    async #load() {
        this.#askedAt = performance.now();
        this.#wants?.abort();
        const wants = this.#wants = new AbortController();
        const { key } = this;
        try {
            const query = [["namespace", this.#looks.detail.namespace], ["key", key]];
            const { listing, ended } = await door.get("key", query, wants.signal);
            if (this.#wants !== wants || this.key !== key) return;
            const known = this.#own !== null;
            this.#own ??= new History(key);
            this.#own.update(listing ?? { key, pending: 0, ready: 0, run: null }, this.#looks.now, null, false);
            this.#isComplete = true;
            this.#ended = ended;
            this.#endedAt = this.#looks.now;
            this.#showEnded();
            if (!known) this.show();
            this.ask();
        } catch (error) {
            if (error.name !== "AbortError" && this.key === key) set(element("story-says"), error.message);
        }
    }

    /** Asks again after something has changed. */
    refresh() {
        if (this.key !== null) this.#load();
    }

    /** Takes a look. */
    take() {
        if (this.key === null) return;
        const { run, ready, pending } = this.#history ?? {};
        const state = [run?.id, run?.state, ready !== null, pending !== null].join();
        const isOther = this.#state !== state;
        this.#state = state;
        // What has ended is known only to the store.
        if (isOther || performance.now() - this.#askedAt > Story.pause) this.#load();
        this.show();
        this.ask();
    }

    show() {
        if (this.key === null) return;
        const history = this.#history;
        if (!history?.listing) return;
        const { detail, namespace, now } = this.#looks;
        const said = sentences(history.listing, { workers: detail.workers, namespace, now, history });
        const place = element("story-now");
        const lines = said.length > 0 ? said : this.#isComplete ? ["No work waits under this key."] : [];
        while (place.children.length > lines.length) place.lastChild.remove();
        lines.forEach((line, index) => set(place.children[index] ?? place.appendChild(make("p")), line));
        const { error } = history.listing.run ?? {};
        if (error) {
            lines.push(error);
            const label = "The error of the last attempt";
            if (place.children.length < lines.length) place.append(make("pre", { tabindex: 0, "aria-label": label }));
            set(place.lastChild, error);
        }
    }

    #showEnded() {
        const ended = this.#ended;
        const later = this.#looks.now - this.#endedAt;
        set(element("story-says"), ended.length === 0 ? "The store remembers no run of this key. It keeps what has ended for a day."
            : ended.length >= 100 ? "The latest 100, the newest first." : "");
        element("story-says").hidden = ended.length > 0 && ended.length < 100;
        const create = ({ generations: [from, to], end, error, run }) => {
            const count = to - from + 1;
            const ran = end === "completed" || end === "failed" || end === "dead";
            const what = run === null ? "" : ran ? ` became run ${run}` : `, run ${run}`;
            return make("li", {}, endPicture(count, end), make("span", {},
                make("b", {}, capital(end)), make("span", { class: "age" }),
                make("span", { class: "quiet" }, counted(count, "submit") + what),
                error ? make("span", { class: "error" }, firstLine(error)) : null));
        };
        const id = ({ generations, end }) => `${generations.join("-")} ${end}`;
        const update = (item, { age }) => set(item.querySelector(".age"), ` ${spell(age + later)} ago`);
        reconcile(element("ended"), ended, id, create, update);
    }

    #tick() {
        const isDue = performance.now() - this.#drawnAt >= 1000;
        if (this.key === null || document.hidden || this.#looks.away !== null || (wantsLessMotion.matches && !isDue)) return;
        this.show();
        if (this.#isComplete) this.#showEnded();
        if (wantsLessMotion.matches) this.ask();
    }

    ask() {
        if (this.#isAsked || this.key === null) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            this.#draw();
            if (this.#looks.away === null && !wantsLessMotion.matches) this.ask();
        });
    }

    #draw() {
        if (this.key === null || !theme.ink) return;
        this.#drawnAt = performance.now();
        const history = this.#history;
        const paper = this.#paper;
        const { now, away } = this.#looks;
        paper.begin(92);
        const { due } = history?.pending ?? {};
        const needed = Math.max((due ?? now) - now, (history?.run?.until ?? now) - now, 3) * 1.15;
        const span = spans.find((span) => span >= 2 * needed) ?? spans.at(-1);
        const [past, future] = [span / 2, span / 2];
        const x = (instant) => ((instant - now + past) / span) * paper.width;
        paper.axis({ now, x, past, future });
        const episodes = history?.episodes ?? [];
        for (const episode of episodes) episode.drawnDue ??= episode.due;
        drawEpisodes(episodes, 38, { paper, now, x, isAway: away !== null });
        paper.canvas.setAttribute("aria-label", `What this page has seen of the key in ${exactly(past)}, and what comes`);
    }
}
