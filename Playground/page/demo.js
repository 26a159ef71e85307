// What the page shows by itself until the reader does something: a burst, and the lull after it.

class Demo {
    /** Milliseconds from each submit to the next; the lull comes after the last one. */
    static burst = [0, 130, 110, 150, 90, 120, 140, 100, 130];
    static lull = 2200;

    #stage;
    #ended;
    #task = null;
    isOver = false;

    /** @param ended Called when the reader takes over. */
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
        this.#stage.submit(index + 1);
        const isLast = index + 1 === Demo.burst.length;
        const pause = isLast ? Demo.lull : Demo.burst[index + 1];
        this.#task = this.#stage.clock.after(pause, () => this.#play(isLast ? 0 : index + 1));
    }

    /** The reader does something: the stage is theirs. */
    stop() {
        if (this.isOver) return;
        this.isOver = true;
        if (this.#task) this.#stage.clock.drop(this.#task);
        this.#stage.startOver();
        this.#ended();
    }
}
