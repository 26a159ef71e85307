// The section "Break it": what people write, beside Lull, with the same input and the same server.

class Break {
    static policies = () => [
        makePolicy("debounce", 300, { atEnd: "drop", whileRunning: "concurrent", engine: SleepingTask }),
        makePolicy("debounce", 300, { atEnd: "drop", engine: DebouncedLoop }),
        makePolicy("debounce", 300),
    ];
    static names = ["a sleeping task", "a loop over debounce(for:)", "Lull"];
    /** How long a save takes, in milliseconds: usually; and if the server is slow, each in turn. */
    static usual = 100;
    static slow = [2200, 500];

    clock = new Clock();
    #typing = [];
    #rows;

    constructor() {
        const canvas = element("break-timeline");
        this.stage = new Stage(this.clock, { handle: (execution) => this.#save(execution), ended: (execution) => this.#saved(execution) });
        const timeline = new Timeline(canvas, this.stage, { hint: "edits appear here" });
        [timeline.span, timeline.caller] = [8000, "edits"];
        this.#rows = Break.names.map(() => element("break-table").tBodies[0].appendChild(make("tr")));
        this.stage.changed = () => {
            this.stage.lanes.forEach((lane, index) => Object.assign(lane, { name: Break.names[index], isCrowded: true }));
            this.#show();
            timeline.ask();
        };
        this.stage.policies = Break.policies();
        const field = element("break-field");
        const edit = (event) => {
            this.#stop();
            this.#edit(field.value, this.clock.instant(event));
        };
        field.addEventListener("input", edit);
        element("break-type").addEventListener("click", () => this.#type());
        element("break-leave").addEventListener("click", () => this.#end(() => this.stage.releaseHandle()));
        element("break-kill").addEventListener("click", () => this.#end(() => this.stage.kill()));
        for (const name of ["task", "lull"]) {
            element(`break-${name}`).textContent = document.querySelector(`template[data-snippet="break${name}"]`).content.textContent.trim();
        }
    }

    #edit(value, at = this.clock.now) {
        // After the end, another screen or another process begins.
        if (this.#isOver) this.stage.startOver();
        this.stage.submit(value, { at, label: lastLetter(value) });
    }

    get #isOver() {
        return this.stage.isOver || this.stage.marks.length > 0;
    }

    #stop() {
        for (const task of this.#typing) this.clock.drop(task);
        this.#typing = [];
    }

    #type() {
        this.#stop();
        this.stage.startOver();
        let at = this.clock.now;
        this.#typing = storyGaps.map((gap, index) => this.clock.at(at += gap, () => {
            element("break-field").value = storyText.slice(0, index + 1);
            this.#edit(storyText.slice(0, index + 1));
        }));
    }

    #end(body) {
        this.#stop();
        if (this.#isOver) return;
        body();
        this.#show();
    }

    #save(execution) {
        const { executions } = this.stage.lanes[execution.lane];
        execution.isDouble = executions.some((other) => other !== execution && other.outcome === "running");
        const takes = element("break-slow").checked ? Break.slow[(executions.length - 1) % Break.slow.length] : Break.usual;
        this.stage.longestTakes = Math.max(this.stage.longestTakes, takes);
        return { takes };
    }

    #saved(execution) {
        const { executions } = this.stage.lanes[execution.lane];
        execution.isStale = execution.outcome === "executed" && executions.some((other) =>
            other.startedAt > execution.startedAt && other.outcome === "executed" && other.endedAt <= execution.endedAt && other !== execution);
    }

    /** What came of the edits: how many are in no save, which saves replaced a newer one, which began while another ran, what the server has. */
    results() {
        const { lanes, submits } = this.stage;
        return lanes.map((lane) => {
            const saved = lane.executions.filter(({ outcome }) => outcome === "executed");
            const covered = Math.max(0, ...saved.map(({ behind }) => submits.findIndex(({ at, value }) => {
                const last = behind.at(-1);
                return at === last.at && value === last.value;
            }) + 1));
            const last = saved.reduce((last, one) => (!last || one.endedAt >= last.endedAt ? one : last), null);
            return { saves: lane.executions.length, lost: lane.isBusy ? null : submits.length - covered,
                stale: saved.filter(({ isStale }) => isStale).length, double: lane.executions.filter(({ isDouble }) => isDouble).length,
                server: last?.value ?? "", isOld: !lane.isBusy && last?.value !== submits.at(-1)?.value };
        });
    }

    #show() {
        if (this.stage.lanes.length < this.#rows.length) return;
        this.results().forEach(({ saves, lost, stale, double, server, isOld }, index) => {
            const cell = (name, text, isBad = false) => make("td", { class: isBad ? "bad" : "", "data-name": name }, String(text));
            const swatch = make("span", { class: "swatch" });
            swatch.style.background = `var(--c${index})`;
            this.#rows[index].replaceChildren(make("th", { scope: "row" }, swatch, Break.names[index]), cell("saves", saves),
                cell("lost", lost ?? "…", lost > 0), cell("stale", stale, stale > 0), cell("doubled", double, double > 0),
                cell("the server has", server ? `“${server}”` : "nothing", isOld));
        });
    }
}
