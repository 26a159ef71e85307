// The calls of the stage can be dragged, with a pointer or with keys: the engine computes every row anew while one moves.

class Drag {
    /** Milliseconds by which a key moves a call. */
    static step = 20;
    /** How far a pointer moves before it drags, in pixels: less is a click. */
    static least = 3;

    #stage;
    #timeline;
    #page;
    /** The call under the pointer that is down, and where it is held. */
    #held = null;
    /** Whether a call has been dragged: nobody need be told any more that it can be. */
    isKnown = false;

    /** @param page `begin()` is called before a call is moved, `ended()` after. */
    constructor(stage, timeline, page) {
        [this.#stage, this.#timeline, this.#page] = [stage, timeline, page];
        const canvas = element("timeline");
        canvas.addEventListener("pointerdown", (event) => {
            const call = event.button === 0 ? this.callAt(event) : null;
            const { offsetX: from, pointerId } = event;
            this.#held = call && { call, from, to: from, offset: call.at - timeline.instantAt(from), isMoving: false, isAsked: false };
            if (call) canvas.setPointerCapture(pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            canvas.style.cursor = this.#held?.isMoving ? "grabbing" : this.callAt(event) ? "grab" : "";
            if (this.#held) this.#follow(this.#held, event.offsetX);
        });
        for (const name of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(name, () => {
                const held = this.#held;
                this.#held = null;
                if (!held?.isMoving) return;
                this.#move(held.call, held.offset + timeline.instantAt(held.to));
                this.#page.ended();
            });
        }
    }

    /** Moves a call with the pointer, at most once in a frame. */
    #follow(held, to) {
        held.to = to;
        if (!held.isMoving) {
            if (Math.abs(to - held.from) < Drag.least) return;
            held.isMoving = true;
            // All instants are moved back, that of the call as well.
            this.#begin(held.call);
        }
        if (held.isAsked) return;
        held.isAsked = true;
        requestAnimationFrame(() => {
            held.isAsked = false;
            if (this.#held === held) this.#move(held.call, held.offset + this.#timeline.instantAt(held.to));
        });
    }

    callAt({ offsetX, offsetY, pointerType }) {
        return this.#timeline.callAt(offsetX, offsetY, pointerType === "touch" ? 24 : 12);
    }

    #begin(call) {
        this.isKnown = true;
        this.#page.begin();
        this.#timeline.call = call;
        const { right } = this.#timeline.bounds;
        this.#timeline.hold(right - this.#stage.makeRoom(right));
    }

    #move(call, at) {
        this.#stage.move(call, Math.min(at, this.#timeline.bounds.right));
        this.#say(call);
    }

    choose(call, more = "") {
        this.#timeline.call = call;
        this.#say(call, more);
        this.#timeline.ask();
    }

    #say({ label, value, at, do: name }, more = "") {
        const runs = this.#stage.lanes.map((lane, index) => `${index + 1}: ${plural(lane.executions.length + lane.runsToCome, "run")}`);
        element("detail").textContent = `${name === "touch" ? "A touch" : `“${label || value}”`} comes at ${
            ((at - this.#stage.origin) / 1000).toFixed(2)} s. ${runs.join(", ")}.${more}`;
    }

    /** Goes to another call, or moves the chosen one. */
    visit(direction, isMoving) {
        const { submits } = this.#stage;
        const { call } = this.#timeline;
        if (isMoving && call && direction !== 0) {
            this.#begin(call);
            this.#move(call, call.at + Math.sign(direction) * Drag.step);
            return this.#page.ended();
        }
        const index = call ? submits.indexOf(call) : submits.length - 1;
        this.choose(submits[Math.min(Math.max(index + direction, 0), submits.length - 1)], " Shift with ← or → moves it.");
    }
}
