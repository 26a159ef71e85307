// A clock in milliseconds, with fractions. It runs at the machine's speed, or faster, or only when it is advanced.

class Clock {
    #at = 0;
    #anchor = performance.now();
    #rate = 1;
    #tasks = [];
    #timer = 0;
    #isManual = false;
    /** The instant of the task or call that runs now. */
    #current = null;
    /** The instant of the last one. */
    handled = -Infinity;

    /** For a task it is the instant at which it is due, however late it runs: what happens then is the same at every speed. */
    get now() {
        return this.#current ?? this.present;
    }

    /** The instant itself, also while a task runs late. */
    get present() {
        return this.#isManual ? this.#at : this.#at + (performance.now() - this.#anchor) * this.#rate;
    }

    /** Returns the instant of an event, which may be a little before the instant at which the page handles it. */
    instant(event) {
        const late = performance.now() - event.timeStamp;
        // The time stamps of events that a script creates are not reliable.
        return this.#isManual || !(late > 0 && late < 1000) ? this.now : this.now - late * this.#rate;
    }

    get rate() {
        return this.#rate;
    }

    set rate(rate) {
        this.#at = this.present;
        this.#anchor = performance.now();
        this.#rate = rate;
        this.#arm();
    }

    /** The instant until which every task has been run: timers may be late. */
    get settled() {
        return Math.min(this.now, this.#tasks[0]?.at ?? Infinity);
    }

    /** Stops time at a whole millisecond, or at an instant; from now on only `advance` moves it. */
    hold(instant = Math.ceil(this.present)) {
        this.#at = instant;
        this.#isManual = true;
        this.#arm();
    }

    /** Runs every task that is due within that time, each at its instant. */
    advance(duration) {
        const end = this.#at + duration;
        while (this.#tasks.length > 0 && this.#tasks[0].at <= end) {
            const task = this.#tasks.shift();
            this.#at = Math.max(this.#at, task.at);
            this.#perform(task);
        }
        this.#at = end;
    }

    /** Runs every task that is due by an instant that has come: before a call at that instant, whether or not a timer is late. */
    catchUp(instant) {
        while (this.#tasks.length > 0 && this.#tasks[0].at <= instant) this.#perform(this.#tasks.shift());
    }

    /** Calls `body` with `now` set to an instant that has already come. */
    during(instant, body) {
        this.#perform({ at: instant, body });
    }

    /** Calls `body` at an instant, with that instant. Equal instants keep their order. */
    at(instant, body) {
        const task = { at: instant, body };
        let [low, high] = [0, this.#tasks.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#tasks[middle].at <= instant) low = middle + 1; else high = middle;
        }
        this.#tasks.splice(low, 0, task);
        if (low === 0) this.#arm();
        return task;
    }

    after(duration, body) {
        return this.at(this.now + duration, body);
    }

    drop(task) {
        const index = this.#tasks.indexOf(task);
        if (index >= 0) this.#tasks.splice(index, 1);
    }

    #perform(task) {
        const outer = this.#current;
        this.#current = this.handled = task.at;
        try {
            task.body(task.at);
        } finally {
            this.#current = outer;
        }
    }

    #arm() {
        clearTimeout(this.#timer);
        if (this.#isManual || this.#tasks.length === 0) return;
        // `setTimeout` treats a longer delay as zero.
        const pause = Math.min((this.#tasks[0].at - this.present) / this.#rate, 2 ** 31 - 1);
        this.#timer = setTimeout(() => this.#run(), Math.max(0, pause));
    }

    #run() {
        while (this.#tasks.length > 0 && this.#tasks[0].at <= this.present) this.#perform(this.#tasks.shift());
        this.#arm();
    }
}
