// How much ran in the last minutes: a small picture of each figure, with its sum.

"use strict";

class Rates {
    static span = 900;
    static step = 10;
    static kinds = [
        { name: "submits executed", of: (rate) => rate.executed, colour: "c0", alpha: 0.45 },
        { name: "runs", of: (rate) => rate.runs, colour: "c0", alpha: 1 },
        { name: "failures", of: (rate) => rate.failures, colour: "bad", alpha: 1 },
        { name: "submits per run", of: (rate) => (rate.runs > 0 ? rate.executed / rate.runs : 0), colour: "c2", alpha: 1 },
    ];

    #rows;
    #drawn = null;

    constructor() {
        this.#rows = Rates.kinds.map((kind) => {
            const [sum, most] = [make("td", { class: "sum" }), make("td", { class: "most quiet" })];
            const canvas = make("canvas", { role: "img" });
            const picture = make("td", { class: "picture" }, canvas);
            element("rates").tBodies[0].append(make("tr", {}, make("th", { scope: "row" }, kind.name), sum, picture, most));
            return { kind, sum, most, paper: new Pen(canvas) };
        });
        new ResizeObserver(() => this.#drawn && this.show(...this.#drawn)).observe(element("rates"));
        isDark.addEventListener("change", () => this.#drawn && this.show(...this.#drawn));
    }

    /** @param since When the server began to count. */
    show(rates, at, since) {
        this.#drawn = [rates, at, since];
        const isYoung = since > at - Rates.span;
        const begun = `since ${timeOfDay(since, at)}, when this server began to count`;
        set(element("rates-title"), isYoung ? capital(begun) : "The last 15 minutes");
        const sum = (of) => rates.reduce((sum, rate) => sum + of(rate), 0);
        const [executed, runs] = [sum((rate) => rate.executed), sum((rate) => rate.runs)];
        for (const { kind, sum: cell, most: mostCell, paper } of this.#rows) {
            const isFactor = kind.colour === "c2";
            set(cell, isFactor ? (runs > 0 ? (executed / runs).toFixed(1) : "–") : number(sum(kind.of)));
            const most = Math.max(...rates.map(kind.of), 0);
            const shown = isFactor ? String(Number(most.toPrecision(2))) : number(most);
            set(mostCell, most === 0 ? "" : isFactor ? `at most ${shown}` : `${shown} in 10 s`);
            const says = most === 0 ? "none" : `at most ${shown}`;
            paper.canvas.setAttribute("aria-label", `${kind.name} in each 10 s ${isYoung ? begun : "of the last 15 minutes"}: ${says}`);
            this.#draw(paper, kind, rates, at, most);
        }
        set(element("rates-note"), runs > 0 ? "" : isYoung ? `Nothing has run ${begun}.` : "Nothing ran in the last 15 minutes.");
        element("rates-note").hidden = runs > 0;
    }

    #draw(paper, { of, colour, alpha }, rates, at, most) {
        const height = 30;
        paper.begin(height);
        const wide = (Rates.step / Rates.span) * paper.width;
        paper.box(0, height - 1, paper.width, height, theme.line);
        // The last part is not over yet, and has its whole place.
        const end = Math.max(at, ...rates.map((rate) => rate.at + Rates.step));
        for (const rate of rates) {
            const value = of(rate);
            if (value <= 0) continue;
            const tall = Math.max(2, (value / most) * (height - 3));
            const left = paper.width - ((end - rate.at) / Rates.span) * paper.width;
            paper.box(left, height - 1 - tall, left + Math.max(1.5, wide - 1), height - 1, theme[colour], alpha);
        }
    }
}
