// The section "Break it": what people write, beside Lull, with the same input and the same server.

class Break {
    static policies = () => [
        makePolicy("debounce", Break.wait, { atEnd: "drop", whileRunning: "concurrent", engine: Machines, does: SleepingTask }),
        makePolicy("debounce", Break.wait, { atEnd: "drop", engine: Machines, does: DebouncedLoop }),
        makePolicy("debounce", Break.wait, { engine: Machines }),
    ];
    static names = ["Task.sleep, cancelled by the next edit", "AsyncAlgorithms debounce(for:)", "Lull"];
    /** All three wait so long, in milliseconds. */
    static wait = 300;
    /** How long a save takes, in milliseconds: usually; and if the server is slow, each in turn. */
    static usual = 100;
    static slow = [2200, 500];
    /** How long a machine sleeps. */
    static sleep = 5000;
    static machines = ["A", "B"];

    clock = new Clock();
    #typing = [];
    #rows;
    /** What is said of the last incident, until something else begins. */
    #note = null;

    constructor() {
        const canvas = element("break-timeline");
        this.stage = new Stage(this.clock, { handle: (execution) => this.#save(execution), ended: (execution) => this.#saved(execution) });
        const timeline = this.timeline = new Timeline(canvas, this.stage, { hint: "edits appear here" });
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
            if (!this.#isTwo) this.#stop();
            this.#edit(field.value, this.clock.instant(event));
        };
        field.addEventListener("input", edit);
        element("break-type").addEventListener("click", () => this.#type());
        element("break-two").addEventListener("change", () => {
            this.#stop();
            this.#startOver();
        });
        element("break-sleep").addEventListener("click", () => this.#sleep());
        element("break-leave").addEventListener("click", () => this.#end(incidents.leave, () => this.stage.releaseHandle("screen left")));
        element("break-kill").addEventListener("click", () => this.#end(incidents.kill, () => this.stage.kill(this.#last), this.#last));
        for (const name of ["task", "lull"]) {
            element(`break-${name}`).textContent = document.querySelector(`template[data-snippet="break${name}"]`).content.textContent.trim();
        }
    }

    get #isTwo() {
        return element("break-two").checked;
    }

    /** The machine that got the last edit. */
    get #last() {
        return this.stage.submits.at(-1)?.key ?? this.#next;
    }

    /** The machine that gets the next edit: a sleeping one gets none, if there is another. */
    get #next() {
        if (!this.#isTwo) return "";
        const [first, second] = Break.machines;
        const next = this.stage.submits.at(-1)?.key === first ? second : first;
        return this.#asleep?.key === next ? Break.machines.find((machine) => machine !== next) : next;
    }

    /** The sleep of a machine that has not woken. */
    get #asleep() {
        const sleep = this.stage.sleeps.at(-1);
        return sleep?.until > this.clock.now ? sleep : null;
    }

    #wake(at) {
        if (this.#asleep) this.stage.wake(this.#asleep, at);
    }

    #startOver() {
        this.#note = null;
        this.stage.startOver();
        if (this.#isTwo) this.stage.keys = [...Break.machines];
        this.stage.changed();
    }

    #edit(value, at = this.clock.now) {
        // After the end, another screen or another process begins. A key wakes its machine.
        if (this.#isOver) this.#startOver();
        if (!this.#isTwo) {
            this.#note = null;
            this.#wake(at);
        }
        this.stage.submit(value, { key: this.#next, at, label: lastLetter(value) });
    }

    get #isOver() {
        return this.stage.isOver || this.stage.marks.length > 0;
    }

    /** Returns whether something was being typed for the reader. */
    #stop() {
        const { length } = this.#typing;
        for (const task of this.#typing) this.clock.drop(task);
        this.#typing = [];
        return length > 0;
    }

    #type() {
        this.#stop();
        this.#startOver();
        let at = this.clock.now;
        this.#typing = storyGaps.map((gap, index) => this.clock.at(at += gap, () => {
            if (index === storyGaps.length - 1) this.#typing = [];
            element("break-field").value = storyText.slice(0, index + 1);
            this.#edit(storyText.slice(0, index + 1));
        }));
    }

    /** Closes the lid of the machine that got the last edit. The keys of one machine stop with it; those of two go to the other one. */
    #sleep() {
        if (this.#isOver || this.#asleep) return;
        const wasTyping = !this.#isTwo && this.#stop();
        const last = this.#last;
        this.#note = [Break.#stopped(wasTyping), incidents.sleep(last, Break.machines.find((machine) => machine !== last), !this.#isBusy)];
        this.stage.sleep(last, this.clock.now + Break.sleep);
    }

    static #stopped(wasTyping) {
        return wasTyping ? "The typing stopped. " : "";
    }

    get #isBusy() {
        return this.stage.lanes.some((lane) => lane.isBusy);
    }

    /** Ends one machine's process, or all. One must be awake to end. */
    #end(say, body, machine) {
        if (this.#isOver) return;
        const wasTyping = this.#stop();
        if (machine === undefined || this.#asleep?.key === machine) this.#wake(this.clock.now);
        const { lanes } = this.stage;
        const waited = lanes.map(({ runsToCome }) => runsToCome > 0);
        // There is nothing to end before the first edit.
        if (this.stage.submits.length > 0) body();
        // As the table counts when all that goes on has ended.
        const lost = lanes.map((lane) => this.#uncovered(lane, ["executed", "running"], lane.pending.map(({ key }) => this.stage.submits.findLast((one) =>
            one.key === key))));
        const about = { machine, waited, isSaving: lanes.some(({ counters }) => counters.running > 0),
            isCut: lanes.some(({ executions }) => executions.some(({ outcome }) => outcome === "cancelled")) };
        this.#note = [Break.#stopped(wasTyping), say(lost, about)].flat();
        this.#show();
    }

    #say(results) {
        const isSettled = this.stage.submits.length > 0 && this.#typing.length === 0 && !this.#isBusy;
        const note = this.#note ?? [this.#isTwo ? incidents.two(results) : isSettled ? incidents.edits(results) : ""];
        const says = element("break-says");
        const text = note.map((part) => part.textContent ?? part).join("");
        if (says.textContent !== text) says.replaceChildren(...note);
    }

    /** Whether the server works on a save at an instant: it does so while the machine sleeps, too. */
    static #isSaving({ outcome, startedAt, takes }, at) {
        return (outcome === "running" || outcome === "executed") && startedAt <= at && at < startedAt + takes;
    }

    #save(execution) {
        const { executions, policy } = this.stage.lanes[execution.lane];
        const { submits, calls } = this.stage;
        const { now } = this.clock;
        const last = execution.behind.at(-1).at;
        execution.isDouble = executions.some((other) => other !== execution && Break.#isSaving(other, now))
            // One debouncer would have waited for the newer edit.
            || submits.some(({ key, at }) => key !== execution.key && at > last && at > now - policy.wait
                && !calls.some((call) => call.do === "kill -9" && call.key === key));
        const takes = element("break-slow").checked ? Break.slow[(executions.length - 1) % Break.slow.length] : Break.usual;
        this.stage.longestTakes = Math.max(this.stage.longestTakes, takes);
        return { takes };
    }

    /** A save is stale if the server had a newer edit before. */
    #saved(execution) {
        if (execution.outcome !== "executed") return;
        execution.edit = execution.behind.at(-1).at;
        execution.servedAt = execution.startedAt + execution.takes;
        for (const other of this.stage.lanes[execution.lane].executions) {
            if (other === execution || other.outcome !== "executed") continue;
            const [older, newer] = other.edit > execution.edit ? [execution, other] : [other, execution];
            older.isStale ||= newer.servedAt <= older.servedAt;
        }
    }

    /** How many edits are newer than each that is in a save with such an outcome, or among others: a save has all edits before it. */
    #uncovered({ executions }, outcomes, others = []) {
        const { submits } = this.stage;
        const last = [...executions.filter(({ outcome }) => outcomes.includes(outcome)).map(({ behind }) => behind.at(-1)), ...others];
        return submits.length - Math.max(0, ...last.map((edit) => submits.findIndex(({ at, value }) => at === edit.at && value === edit.value) + 1));
    }

    /** What came of the edits: how many are in no save, which saves replaced a newer one, which began while another ran, what the server has. */
    results() {
        const { lanes, submits } = this.stage;
        return lanes.map((lane) => {
            const saved = lane.executions.filter(({ outcome }) => outcome === "executed");
            const last = saved.reduce((last, one) => (!last || one.servedAt >= last.servedAt ? one : last), null);
            return { servedAt: last?.servedAt, saves: lane.executions.length, lost: lane.isBusy ? null : this.#uncovered(lane, ["executed"]),
                stale: saved.filter(({ isStale }) => isStale).length, double: lane.executions.filter(({ isDouble }) => isDouble).length,
                server: last?.value ?? "", isOld: !lane.isBusy && last?.value !== submits.at(-1)?.value };
        });
    }

    #show() {
        if (this.stage.lanes.length < this.#rows.length) return;
        const results = this.results();
        this.#say(results);
        results.forEach(({ saves, lost, stale, double, server, isOld }, index) => {
            const cell = (name, text, isBad = false) => make("td", { class: isBad ? "bad" : "", "data-name": name }, String(text));
            const swatch = make("span", { class: "swatch" });
            swatch.style.background = `var(--c${index})`;
            this.#rows[index].replaceChildren(make("th", { scope: "row" }, swatch, Break.names[index]), cell("saves", saves),
                cell("lost", lost ?? "…", lost > 0), cell("stale", stale, stale > 0), cell("doubled", double, double > 0),
                cell("the server has", server ? `“${server}”` : "nothing", isOld));
        });
    }
}
