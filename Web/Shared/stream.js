// The looks at the store, as they come. A connection that ends is made again, after a pause that grows.

"use strict";

class Stream {
    /** The server says something every 15 s. */
    static silence = 40_000;
    static shortest = 1000;
    static longest = 30_000;

    #abort = null;
    #reader;
    #timer = 0;
    #watch = 0;
    #pause = Stream.shortest;
    #namespace = null;
    /** The instant of the next attempt, by `performance.now()`. */
    nextAttempt = null;

    /**
     * @param happened Takes "look" with a look, "connects", "lost" with a sentence, and "ended" with a refusal that would come again.
     * @param makeReader Makes for each connection what returns the look of an event; without, an event is a look.
     */
    constructor(happened, makeReader = () => (event) => event) {
        [this.happened, this.makeReader] = [happened, makeReader];
    }

    get isOpen() {
        return this.#abort !== null || this.nextAttempt !== null;
    }

    /** Begins, or begins again: for a namespace, or for the first one. */
    open(namespace = this.#namespace) {
        this.close();
        this.#namespace = namespace;
        this.#abort = new AbortController();
        // The first event of a connection has everything.
        this.#reader = this.makeReader();
        this.#read(this.#abort);
    }

    close() {
        clearTimeout(this.#timer);
        clearTimeout(this.#watch);
        this.nextAttempt = null;
        this.#abort?.abort();
        this.#abort = null;
    }

    async #read(abort) {
        this.happened("connects");
        let sentence = "The connection has ended.";
        try {
            this.#listen(abort);
            const query = this.#namespace === null ? [] : [["namespace", this.#namespace]];
            const response = await door.send("events", query, { signal: abort.signal, headers: { Accept: "text/event-stream" } });
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            let rest = "";
            for (;;) {
                const { done, value } = await reader.read();
                if (done || this.#abort !== abort) break;
                this.#listen(abort);
                const events = (rest + value).split(/\r?\n\r?\n/);
                rest = events.pop();
                for (const event of events) this.#take(event);
            }
        } catch (error) {
            if (this.#abort !== abort) return;
            if (error instanceof Refusal && error.status >= 400 && error.status < 500) {
                this.close();
                this.happened("ended", error);
                return;
            }
            if (error instanceof Refusal) sentence = error.message;
        }
        if (this.#abort === abort) this.#retry(sentence);
    }

    /** Gives up on a connection on which nothing comes. */
    #listen(abort) {
        clearTimeout(this.#watch);
        this.#watch = setTimeout(() => {
            if (this.#abort !== abort) return;
            abort.abort();
            this.#retry("The server has said nothing for a while.");
        }, Stream.silence);
    }

    #retry(sentence) {
        this.close();
        // Pages that lost the same server do not all come back at once.
        const pause = this.#pause * (0.75 + 0.5 * Math.random());
        this.#pause = Math.min(2 * this.#pause, Stream.longest);
        this.nextAttempt = performance.now() + pause;
        this.#timer = setTimeout(() => this.open(), pause);
        this.happened("lost", sentence);
    }

    #take(event) {
        const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
        if (data === "") return;
        this.#pause = Stream.shortest;
        this.happened("look", this.#reader(JSON.parse(data)));
    }
}
