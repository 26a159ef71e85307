// Plays a list of gaps as submits, at the instants of the recording. To speed it up, time itself runs faster.

class Replay {
    #stage;
    #task = null;
    #ended;

    constructor(stage, ended) {
        this.#stage = stage;
        this.#ended = ended;
    }

    get isPlaying() {
        return this.#task !== null;
    }

    /** @param gaps Milliseconds from each submit to the next, the first one from now. */
    play(gaps, rate = 1, value = (index) => index + 1) {
        this.stop();
        const { clock } = this.#stage;
        clock.rate = rate;
        this.#stage.isReplaying = true;
        let at = clock.now;
        let index = 0;
        const next = () => {
            if (index === gaps.length) return this.stop();
            at += gaps[index];
            this.#task = clock.at(at, () => {
                this.#stage.submit(value(index), { key: this.key?.() ?? "", wait: this.wait?.() ?? null, at });
                index += 1;
                next();
            });
        };
        next();
    }

    stop() {
        if (!this.#task) return;
        this.#stage.clock.drop(this.#task);
        this.#task = null;
        this.#stage.clock.rate = 1;
        this.#stage.isReplaying = false;
        this.#ended();
    }
}
