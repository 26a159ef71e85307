// What the page shows by itself until the reader does something: a burst, as a picture and once live.

class Demo {
    /** Milliseconds from each submit to the next. In all less than a second, so that a little delay changes no number. */
    static burst = [0, 110, 100, 130, 80, 110, 120, 90, 110];
    /** More lateness than a timer's own: the page was suspended. */
    static late = 100;
    /** Milliseconds after the last submit in which what comes of it is seen. */
    static lull = 1400;

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

    /** Plays the burst once, or shows its picture if the reader wants less motion. */
    begin() {
        this.#drop();
        if (!this.#isHeld && !wantsLessMotion.matches) return this.play();
        let at = 0;
        const calls = Demo.burst.map((gap, index) => {
            at += gap;
            return { at, do: "submit", value: index + 1, label: String(index + 1), key: "", wait: null };
        });
        this.#stage.load([...calls, { at: at + Demo.lull, do: "end" }]);
        this.#changed();
    }

    /** Plays the burst once, on an empty stage. Its picture stays. */
    play() {
        this.#drop();
        this.#isHeld = false;
        this.#stage.startOver();
        this.#submit(0);
        this.#changed();
    }

    #submit(index) {
        const { clock } = this.#stage;
        this.#stage.submit(index + 1);
        const isLast = index + 1 === Demo.burst.length;
        // What was missed while the page was suspended is not made up for.
        const from = clock.present - clock.now > Demo.late ? clock.present : clock.now;
        this.#task = isLast ? clock.at(from + Demo.lull, () => this.#rest())
            : clock.at(from + Demo.burst[index + 1], () => this.#submit(index + 1));
    }

    #rest() {
        this.#task = null;
        this.#changed();
    }

    #drop() {
        if (this.#task) this.#stage.clock.drop(this.#task);
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
