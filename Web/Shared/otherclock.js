// The clock of another process, as far as what it sends says what time it is there.

"use strict";

class OtherClock {
    #offset = -Infinity;
    #frozen = null;

    /** The present there, in seconds. It stands still while nothing comes. */
    get now() {
        return this.#frozen ?? performance.now() / 1000 + this.#offset;
    }

    freeze(at = this.now) {
        this.#frozen ??= at;
    }

    /** Takes the time of what has come. */
    take(at) {
        this.#frozen = null;
        // What took the shortest way says best what time it is there.
        const offset = at - performance.now() / 1000;
        if (offset > this.#offset || offset < this.#offset - 2) this.#offset = offset;
    }
}
