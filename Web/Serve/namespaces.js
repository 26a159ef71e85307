// The namespaces of the store, and of the chosen one its policy, what it has saved, and its figures.

"use strict";

class Namespaces {
    #looks;
    #choose;
    #cards = new Map();
    #list = element("namespaces");
    #filter = element("namespace-filter");

    constructor(looks, choose) {
        this.#looks = looks;
        this.#choose = choose;
        this.#list.addEventListener("keydown", (event) => this.#key(event));
        this.#filter.addEventListener("input", () => this.show());
    }

    show() {
        const { look, detail, namespace, now, elapsed } = this.#looks;
        const all = look.namespaces;
        element("namespaces-frame").hidden = all.length < 2;
        element("find-namespace").hidden = all.length <= 12;
        this.#showCards(all, detail?.namespace);
        element("chosen").hidden = !namespace;
        if (!namespace) return;
        set(element("name"), plain(namespace.namespace));
        set(element("rules"), namespace.rules);
        const parts = namespace.today ? headline(namespace.today, now) : [];
        if (element("headline").textContent !== parts.join("")) {
            element("headline").replaceChildren(...parts.map((part, index) => (index % 2 ? make("b", {}, part) : part)));
        }
        const sooner = (time) => (time == null ? null : Math.max(0, time - elapsed));
        const [left, pauseEndsIn] = [sooner(namespace.nextStart), sooner(namespace.pauseEndsIn)];
        this.#showPause({ ...namespace, pauseEndsIn }, now);
        this.#showLimit(namespace, left);
        const figures = look.figures ?? [];
        const later = (age) => (age == null ? null : age + elapsed);
        showFigures(element("figures"), figures.filter(({ counter }) => !counter),
            { ...namespace, oldestDue: later(namespace.oldestDue), oldestEntry: later(namespace.oldestEntry),
                paused: later(namespace.paused), nextStart: left, pauseEndsIn });
        showFigures(element("counters"), figures.filter(({ counter }) => counter), namespace);
        const health = look.health ?? [];
        showFigures(element("health"), health.map((measure) => ({ ...measure, property: measure.name })),
            Object.fromEntries(health.map(({ name, value }) => [name, value])));
    }

    #showPause({ paused, pausedAt, pauseReason, pauseEndsIn }, now) {
        const banner = element("paused");
        banner.hidden = paused == null;
        if (paused == null) return;
        const since = pausedAt == null ? "" : ` since ${timeOfDay(pausedAt, now)},`;
        const age = spell(pausedAt == null ? paused : Math.max(0, now - pausedAt));
        const end = pauseEndsIn == null ? "" : `, ends in ${spell(pauseEndsIn)}`;
        set(banner, `Paused${since} for ${age}${end}${pauseReason ? `: ${plain(pauseReason)}` : "."}`);
    }

    /** Says what the limits hold back, as `lull status` does. */
    #showLimit({ limited, rules }, nextStart) {
        const banner = element("limited");
        banner.hidden = !(limited > 0);
        if (banner.hidden) return;
        const most = /--max-running (\S+)/.exec(rules)?.[1];
        const what = nextStart == null ? `--max-running ${most ?? ""}`.trim() : `--limit; the next start is in ${spell(nextStart)}`;
        set(banner, `${counted(limited, "key")} ${limited === 1 ? "waits" : "wait"} for ${what}.`);
    }

    #showCards(all, chosen) {
        const names = new Set(all.map(({ namespace }) => namespace));
        for (const [name, { card }] of this.#cards) {
            if (names.has(name)) continue;
            card.remove();
            this.#cards.delete(name);
        }
        const wanted = this.#filter.value.toLowerCase();
        all.forEach((one, index) => {
            let entry = this.#cards.get(one.namespace);
            if (!entry) {
                const [dead, rest] = [make("span", { class: "dead-of" }), make("span")];
                const click = () => this.#choose(one.namespace);
                const card = make("button", { role: "tab", class: "card", "aria-controls": "chosen", click },
                    make("bdi", { class: "key" }, plain(one.namespace)), make("span", { class: "says" }, dead, rest));
                this.#cards.set(one.namespace, entry = { card, dead, rest });
            }
            const { card, dead, rest } = entry;
            if (this.#list.children[index] !== card) this.#list.insertBefore(card, this.#list.children[index] ?? null);
            card.setAttribute("aria-selected", String(one.namespace === chosen));
            card.tabIndex = one.namespace === chosen ? 0 : -1;
            card.hidden = wanted !== "" && !one.namespace.toLowerCase().includes(wanted);
            const parts = ["pending", "ready", "running", "retrying"].filter((state) => one[state] > 0)
                .map((state) => `${number(one[state])} ${state}`);
            if (one.paused != null) parts.unshift("paused");
            set(dead, one.dead > 0 ? `${number(one.dead)} dead${parts.length > 0 ? ", " : ""}` : "");
            set(rest, parts.join(", ") || (one.dead > 0 ? "" : "at rest"));
        });
    }

    #key(event) {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const cards = [...this.#list.children].filter((card) => !card.hidden);
        const from = cards.indexOf(document.activeElement);
        if (!step || from < 0) return;
        event.preventDefault();
        const card = cards[(from + step + cards.length) % cards.length];
        card.focus();
        card.click();
    }
}
