// What the page shows by itself until the reader does something: a burst, and the lull after it.

class Demo {
    /** Milliseconds from each submit to the next; the lull comes after the last one. */
    static burst = [0, 130, 110, 150, 90, 120, 140, 100, 130];
    static lull = 2200;

    #stage;
    #ended;
    #task = null;
    isOver = false;

    /** @param ended Called when the reader does something. */
    constructor(stage, ended) {
        this.#stage = stage;
        this.#ended = ended;
    }

    /** Begins with a picture of one burst, so that nothing is ever empty, and goes on unless the reader wants less motion. */
    begin() {
        let at = 0;
        const calls = Demo.burst.map((gap, index) => {
            at += gap;
            return { at, do: "submit", value: index + 1, label: String(index + 1), key: "", wait: null };
        });
        this.#stage.load([...calls, { at: at + 1400, do: "end" }]);
        if (!wantsLessMotion.matches) this.#task = this.#stage.clock.after(Demo.lull - 1400, () => this.#play(0));
    }

    #play(index) {
        const { clock } = this.#stage;
        this.#stage.submit(index + 1);
        const isLast = index + 1 === Demo.burst.length;
        // From the present, not from the instant of this call: what was missed while the page was suspended is not made up for.
        const next = clock.present + (isLast ? Demo.lull : Demo.burst[index + 1]);
        // It begins again from time to time, so that its memory stays small.
        this.#task = isLast && this.#stage.submits.length > 1000
            ? clock.at(next, () => this.begin()) : clock.at(next, () => this.#play(isLast ? 0 : index + 1));
    }

    /** Plays no more; what is shown stays. */
    rest() {
        if (this.#task) this.#stage.clock.drop(this.#task);
        this.#task = null;
        if (!this.isOver) this.#ended();
    }

    /** The stage is the reader's: it is cleared, unless it already shows something of theirs. */
    stop({ clearing = true } = {}) {
        if (this.isOver) return;
        this.rest();
        this.isOver = true;
        if (clearing) this.#stage.startOver();
    }
}
