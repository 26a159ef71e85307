// The timeline of the workers: what waits, which worker has it and how long, and what reaches the server. Left of the playhead is what has
// happened by then; right of it, pale, what came after it.

class WorkerLine {
    static heights = { key: 32, slot: 33, server: 23, memory: 40, head: 20, axis: 22 };

    #canvas;
    #pen;
    #runs;
    #memory;
    #isVisible = true;
    /** The instant at the left end while the playhead is dragged: the picture stands still then. */
    #held = null;
    /** What is drawn: `{ now, end, keys, workers, past, all, planned, memory, memoryAll }`. */
    view = null;

    /** @param seek Called with the instant at which a pointer is, while it is down. */
    constructor(canvas, seek) {
        this.#canvas = canvas;
        this.#pen = new Pen(canvas);
        this.#runs = new WorkerRuns(this, this.#pen);
        this.#memory = new MemoryRuns(this, this.#pen);
        watchCanvas(canvas, () => this.draw(), (isVisible) => { this.#isVisible = isVisible; });
        const move = (event) => seek(Math.min(this.left + this.span, Math.max(this.left, this.#instant(event.offsetX))));
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            this.#held = this.left;
            move(event);
        });
        canvas.addEventListener("lostpointercapture", () => {
            this.#held = null;
            this.draw();
        });
        canvas.addEventListener("pointermove", (event) => canvas.hasPointerCapture(event.pointerId) && move(event));
    }

    // MARK: - Where things are

    get isNarrow() {
        return this.#canvas.clientWidth < 640;
    }

    get #gutter() {
        return this.isNarrow ? 54 : 92;
    }

    get #width() {
        return this.#canvas.clientWidth - this.#gutter;
    }

    /** How many milliseconds are seen: as many as can be read. */
    get span() {
        return Math.max(11_000, Math.min(16_000, this.#width * 14));
    }

    /** The instant at the left end: the playhead stays in sight, with something of what is to come. */
    get left() {
        return this.#held ?? Math.max(0, this.view.now - 0.85 * this.span);
    }

    x(instant) {
        return this.#gutter + ((instant - this.left) / this.span) * this.#width;
    }

    #instant(x) {
        return this.left + ((x - this.#gutter) / this.#width) * this.span;
    }

    /** The top of what waits of a key. */
    keyTop(key) {
        const { heights } = WorkerLine;
        return heights.head + heights.key * this.view.keys.indexOf(key);
    }

    /** The top of a worker's lane, which has two slots. */
    workerTop(worker) {
        const { heights } = WorkerLine;
        return 2 * heights.head + heights.key * this.view.keys.length + worker * (2 * heights.slot + 6);
    }

    workerBottom(worker) {
        return this.workerTop(worker) + 2 * WorkerLine.heights.slot;
    }

    /** The top of the bar of a run. */
    barTop({ worker, slot }) {
        return this.workerTop(worker) + 15 + slot * WorkerLine.heights.slot;
    }

    serverTop(key) {
        const { heights } = WorkerLine;
        return this.workerTop(this.view.workers) + heights.head + heights.server * this.view.keys.indexOf(key);
    }

    memoryTop(machine) {
        const { heights } = WorkerLine;
        return this.serverTop(this.view.keys[0]) + heights.server * this.view.keys.length + heights.head + machine * heights.memory;
    }

    /** Where the part of the workers begins, where that of the server, and where that without a store. */
    get borders() {
        return [this.workerTop(0), this.serverTop(this.view.keys[0]), this.memoryTop(0)].map((top) => top - WorkerLine.heights.head);
    }

    get #bottom() {
        return this.memoryTop(this.view.workers);
    }

    colour(key) {
        return [theme.c0, theme.c3, theme.c2][this.view.keys.indexOf(key)] ?? theme.ink;
    }

    // MARK: - Drawing

    draw() {
        if (!this.view || !this.#isVisible || this.#canvas.clientWidth === 0) return;
        const pen = this.#pen;
        const right = this.#canvas.clientWidth;
        pen.begin(this.#bottom + WorkerLine.heights.axis);
        this.#drawGrid(right);
        const { now, end, past, all, memory, memoryAll } = this.view;
        const playhead = Math.round(this.x(now));
        if (now < end) {
            pen.within(playhead, right, () => {
                this.#runs.draw(all, end);
                this.#memory.draw(memoryAll, end);
            });
            pen.box(playhead, 0, right, this.#bottom, theme.paper, 0.72);
        }
        pen.within(this.#gutter, right, () => {
            this.#runs.draw(past, now);
            this.#memory.draw(memory, now);
            for (const { at, key } of this.view.planned) pen.dot(this.x(at), this.keyTop(key) + 19, 3.5, theme.paper, this.colour(key));
        });
        this.#drawNames();
        pen.box(playhead - 1, 0, playhead + 1, this.#bottom, theme.ink);
        pen.shape([[-6, 0], [6, 0], [6, 5], [0, 11], [-6, 5]], playhead, 0, theme.ink);
    }

    #drawGrid(right) {
        const pen = this.#pen;
        const step = [500, 1000, 2000, 5000].find((step) => (step / this.span) * this.#width >= 60);
        for (let at = Math.ceil(this.left / step) * step; at <= this.left + this.span; at += step) {
            const x = Math.round(this.x(at));
            pen.box(x, 0, x + 1, this.#bottom, theme.line);
            pen.text(`${at / 1000} s`, Math.min(x, right - 14), this.#bottom + 15, { align: "center", colour: theme.quiet });
        }
        for (const y of [...this.borders, this.#bottom]) pen.box(0, y, right, y + 1, theme.base);
        for (let worker = 1; worker < this.view.workers; worker++) {
            for (const y of [this.workerTop(worker) - 4, this.memoryTop(worker) - 1]) pen.box(0, y, right, y + 1, theme.line);
        }
    }

    /** Draws what each row is, over its left end. */
    #drawNames() {
        const pen = this.#pen;
        const { keys, workers, past } = this.view;
        const tops = [0, ...this.borders];
        tops.forEach((top, index) => pen.box(0, top + 1, this.#gutter - 4, tops[index + 1] ?? this.#bottom, theme.paper));
        const heading = (text, y) => {
            const style = { colour: theme.quiet, weight: "600", size: 11 };
            pen.box(4, y + 3, 14 + pen.measure(text, style), y + 18, theme.paper, 0.9);
            pen.text(text, 8, y + 14, style);
        };
        const headings = ["Submitted, and waiting in the store", "Workers: runs and their leases", "What the server gets",
            `Without a store${this.isNarrow ? ": machines in turn" : ": the same edits go to machines in turn, and wait in their memory"}`];
        headings.forEach((text, index) => heading(text, tops[index]));
        for (const key of keys) {
            pen.text(key, 8, this.keyTop(key) + 23, { colour: this.colour(key), weight: "600" });
            pen.text(key, 8, this.serverTop(key) + 15, { colour: this.colour(key), weight: "600" });
        }
        for (let worker = 0; worker < workers; worker++) {
            const kind = past.spans.findLast((span) => span.worker === worker && span.until === null)?.kind ?? "";
            pen.text(this.isNarrow ? `no. ${worker + 1}` : `worker ${worker + 1}`, 8, this.workerTop(worker) + 25, { weight: "600" });
            pen.text(kind, 8, this.workerTop(worker) + 41, { colour: theme.bad, size: 11 });
            pen.text(this.isNarrow ? `no. ${worker + 1}` : `machine ${worker + 1}`, 8, this.memoryTop(worker) + 23, { weight: "600" });
        }
    }
}
