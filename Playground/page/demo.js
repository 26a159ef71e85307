// What the page shows by itself until the reader does something: a burst, as a picture and once live.

class Demo {
    /** Milliseconds from each submit to the next. In all less than a second, so that a little delay changes no number. */
    static burst = [0, 110, 100, 130, 80, 110, 120, 90, 110];
    /** More lateness than a timer's own: the page was suspended. */
    static late = 100;
    /** Milliseconds after the last submit in which what comes of it is seen. */
    static lull = 1400;
    /** How long the picture stands before the burst is played. */
    static before = 1500;

    #stage;
    #ended;
    #task = null;
    /** Whether the reader wants to look at what is shown. */
    #isHeld = false;
    isOver = false;

    /** @param ended Called when the reader does something. */
    constructor(stage, ended) {
        this.#stage = stage;
        this.#ended = ended;
    }

    /** Shows the picture of the burst, so that nothing is ever empty, and plays it soon, unless the reader wants less motion. */
    begin() {
        this.#drop();
        let at = 0;
        const calls = Demo.burst.map((gap, index) => {
            at += gap;
            return { at, do: "submit", value: index + 1, label: String(index + 1), key: "", wait: null };
        });
        this.#stage.load([...calls, { at: at + Demo.lull, do: "end" }]);
        if (!this.#isHeld && !wantsLessMotion.matches) this.#task = this.#stage.clock.after(Demo.before, () => this.play());
    }

    /** Plays the burst once, on an empty stage. Its picture stays. */
    play() {
        this.#drop();
        this.#stage.startOver();
        this.#submit(0);
    }

    #submit(index) {
        const { clock } = this.#stage;
        this.#stage.submit(index + 1);
        const isLast = index + 1 === Demo.burst.length;
        // What was missed while the page was suspended is not made up for.
        const from = clock.present - clock.now > Demo.late ? clock.present : clock.now;
        this.#task = isLast ? null : clock.at(from + Demo.burst[index + 1], () => this.#submit(index + 1));
    }

    #drop() {
        if (this.#task) this.#stage.clock.drop(this.#task);
        this.#task = null;
    }

    /** Plays no more; what is shown stays. */
    rest() {
        this.#drop();
        this.#isHeld = true;
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
