// What the page shows by itself until the reader does something: a burst, slowly and again and again, or as a picture.

class Demo {
    /** How fast time runs meanwhile: every call can be followed. */
    static rate = 0.4;
    /** Milliseconds before the first submit. These, and those below, are of the stage: two fifths of the reader's. */
    static start = 400;
    /** Milliseconds from each submit to the next. In all less than a second, so that a little delay changes no number. */
    static burst = [0, 110, 100, 130, 80, 110, 120, 90, 110];
    /** More lateness than a timer's own: the page was suspended. */
    static late = 100;
    /** Milliseconds after the last submit in which what comes of it is seen. */
    static lull = 1400;
    /** And more, in which the picture stays before the burst comes again. */
    static stay = 1200;

    #stage;
    #changed;
    #task = null;
    /** Whether the reader wants to look at what is shown. */
    #isHeld = false;
    /** Whether the reader has done something. */
    isTouched = false;
    isOver = false;

    /** @param changed Called when it plays, rests or ends. */
    constructor(stage, changed) {
        this.#stage = stage;
        this.#changed = changed;
    }

    /** Whether something is to come. */
    get isPlaying() {
        return this.#task !== null;
    }

    /** The submits of the burst that are to come. */
    get toCome() {
        const { submits } = this.#stage;
        let { at } = submits.at(-1);
        return !this.isPlaying ? [] : Demo.burst.slice(submits.length).map((gap, index) => {
            const value = submits.length + index + 1;
            return { at: at += gap, value, label: String(value) };
        });
    }

    /** Plays the burst, or shows its picture if the reader wants less motion. */
    begin() {
        this.#drop();
        if (!this.#isHeld && !wantsLessMotion.matches) return this.play();
        let at = Demo.start;
        const calls = Demo.burst.map((gap, index) => {
            at += gap;
            return { at, do: "submit", value: index + 1, label: String(index + 1), key: "", wait: null };
        });
        this.#stage.load([...calls, { at: at + Demo.lull, do: "end" }]);
        this.#changed();
    }

    /** Plays the burst on an empty stage, and again. */
    play() {
        this.#drop();
        this.#isHeld = false;
        this.#stage.startOver();
        this.#stage.clock.rate = Demo.rate;
        this.#task = this.#stage.clock.after(Demo.start, () => this.#submit(0));
        this.#changed();
    }

    #submit(index) {
        const { clock } = this.#stage;
        this.#stage.submit(index + 1);
        const isLast = index + 1 === Demo.burst.length;
        // What was missed while the page was suspended is not made up for.
        const from = clock.present - clock.now > Demo.late ? clock.present : clock.now;
        this.#task = isLast ? clock.at(from + Demo.lull + Demo.stay, () => this.play())
            : clock.at(from + Demo.burst[index + 1], () => this.#submit(index + 1));
    }

    #drop() {
        if (!this.#task) return;
        this.#stage.clock.drop(this.#task);
        this.#stage.clock.rate = 1;
        this.#task = null;
    }

    /** Plays no more until it is asked to; what is shown stays. */
    pause() {
        this.#drop();
        this.#isHeld = true;
        this.#changed();
    }

    /** The reader does something that leaves what is shown. */
    rest() {
        this.isTouched = true;
        this.pause();
    }

    /** The stage is the reader's: it is cleared, unless it already shows something of theirs. */
    stop({ clearing = true } = {}) {
        if (this.isOver) return;
        this.isOver = true;
        this.rest();
        if (clearing) this.#stage.startOver();
    }
}
