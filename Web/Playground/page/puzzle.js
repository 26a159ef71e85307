// The puzzle: which wait answers every key within 400 ms, with the fewest requests?

class Puzzle {
    static limit = 400;
    /** The waits of the sliders, in milliseconds; the last position of the longest wait is none. */
    static waits = Array.from({ length: 39 }, (_, index) => 50 + 25 * index);

    gaps;
    #tuner = new Tuner();
    /** A tuner of its own: a newer question to one ends the older one. */
    #searcher = new Tuner();
    #best = null;
    /** The search for it, once it has begun. */
    #search = null;
    /** The fewest requests that the reader has found. */
    #own = Infinity;

    constructor(gaps) {
        this.gaps = gaps;
        for (const tuner of [this.#tuner, this.#searcher]) tuner.take(traceOfGaps(gaps));
        for (const id of ["puzzle-kind", "puzzle-wait", "puzzle-max"]) {
            element(id).addEventListener("input", () => {
                this.#agree(id);
                this.show();
            });
        }
        element("puzzle-tell").addEventListener("click", () => this.tell());
        isDark.addEventListener("change", () => this.show());
        new ResizeObserver(() => this.show()).observe(element("puzzle-picture"));
    }

    /** The longest wait is not shorter than the wait: the slider that is not moved follows. */
    #agree(moved) {
        const [wait, longest] = [element("puzzle-wait"), element("puzzle-max")];
        if (element("puzzle-kind").value === "throttle" || Number(wait.value) <= Number(longest.value)) return;
        if (moved === "puzzle-wait") longest.value = wait.value; else wait.value = longest.value;
    }

    get #policy() {
        const wait = Puzzle.waits[element("puzzle-wait").value];
        if (element("puzzle-kind").value === "throttle") return makePolicy("throttle", wait);
        return makePolicy("debounce", wait, { maxWait: Puzzle.waits[element("puzzle-max").value] ?? null });
    }

    async show() {
        const policy = this.#policy;
        const isThrottle = policy.kind === "throttle";
        element("puzzle-max").disabled = isThrottle;
        const wait = shownDuration(policy.wait);
        const longest = isThrottle || policy.maxWait == null ? "no limit" : shownDuration(policy.maxWait);
        element("puzzle-wait-shown").textContent = wait;
        element("puzzle-max-shown").textContent = longest;
        element("puzzle-wait").setAttribute("aria-valuetext", wait);
        element("puzzle-max").setAttribute("aria-valuetext", longest);
        const executions = executionsOf(policy, this.gaps);
        const width = Math.min(900, element("puzzle-picture").clientWidth);
        if (width === 0) return;
        const sketch = new Sketch(width);
        sketchStrip(sketch, this.gaps, executions, 8, Puzzle.limit);
        element("puzzle-picture").innerHTML = sketch.svg(94, `${policyName(policy)}: ${plural(executions.length, "request")}`);
        const result = await this.#tuner.tune({ first: policy.wait, last: policy.wait, maxWait: policy.maxWait });
        if (result) this.#say(result[policy.kind][0]);
    }

    #say({ executions, longest }) {
        const isGood = longest <= Puzzle.limit;
        if (isGood) this.#own = Math.min(this.#own, executions);
        const parts = [`${plural(executions, "request")}; the slowest answer takes ${shownDuration(longest)}.`];
        if (!isGood) parts.push(`That is more than ${Puzzle.limit} ms.`);
        if (this.#best && isGood && executions <= this.#best.executions) parts.push("There is none with fewer.");
        else if (this.#own < Infinity) parts.push(`Your best so far: ${this.#own}.`);
        element("puzzle-says").textContent = parts.join(" ");
    }

    /** Tries every wait, and sets the sliders to the best. */
    async tell() {
        this.#search ??= this.#searchBest();
        this.#best = await this.#search;
        const { wait, maxWait, executions, throttle } = this.#best;
        element("puzzle-kind").value = "debounce";
        element("puzzle-wait").value = Puzzle.waits.indexOf(wait);
        element("puzzle-max").value = Puzzle.waits.indexOf(maxWait);
        element("puzzle-why").textContent = `${plural(executions, "request")}: a wait of ${shownDuration(wait)} with a longest wait of `
            + `${shownDuration(maxWait)}. Without a longest wait, a burst holds back its first keys as long as it goes on; with one, nothing `
            + `is gained by a shorter wait. The best throttle needs ${plural(throttle, "request")}: it runs at once, too, when there is `
            + "little to say yet.";
        await this.show();
    }

    async #searchBest() {
        const best = { executions: Infinity, throttle: Infinity };
        // A longer wait is too late for the last key of a burst.
        for (const wait of Puzzle.waits.filter((wait) => wait <= Puzzle.limit).reverse()) {
            for (const maxWait of [...Puzzle.waits.filter((longest) => longest >= wait), null]) {
                const { debounce: [row], throttle: [throttle] } = await this.#searcher.tune({ first: wait, last: wait, maxWait });
                if (row.longest <= Puzzle.limit && row.executions < best.executions) {
                    Object.assign(best, { wait, maxWait, executions: row.executions });
                }
                if (throttle.longest <= Puzzle.limit) best.throttle = Math.min(best.throttle, throttle.executions);
            }
        }
        return best;
    }
}
