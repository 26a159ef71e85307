// Below the timeline, a row for each policy: what it saved, and its wait as a slider.

/** The waits of the slider: from 10 ms to 10 s, each a little longer than the one before it. */
const slider = {
    steps: 120,

    wait(position) {
        const exact = 10 * 1000 ** (position / this.steps);
        const unit = 10 ** (Math.floor(Math.log10(exact)) - 1);
        return Math.round(exact / unit) * unit;
    },

    position(wait) {
        return Math.round(this.steps * Math.log(Math.max(10, Math.min(wait, 10_000)) / 10) / Math.log(1000));
    },
};

/** How many runs a policy made of the calls: “9 calls → 1 run”. What is pending or waiting is a run to come. */
function callsAndRuns({ counters: { submitted }, executions, runsToCome }) {
    return `${plural(submitted, "call")} → ${plural(executions.length, "run")}${runsToCome > 0 ? ` + ${runsToCome} pending` : ""}`;
}

class LaneRows {
    #list;
    #stage;
    #replace;
    #rows = [];

    /** @param replace Replaces the policy of a lane; throws the engine's error if it breaks a rule. */
    constructor(list, stage, replace) {
        this.#list = list;
        this.#stage = stage;
        this.#replace = replace;
    }

    /**
     * What a policy made of the calls: “9 calls → 1 run, 88.9 % saved”. What is pending or waiting counts as the run that it will be, and
     * calls that were refused or cancelled save nothing.
     */
    static headline(lane) {
        const { counters: { submitted, rejected }, executions, runsToCome, withdrawn } = lane;
        if (submitted === 0) return "no call yet";
        const counted = submitted - withdrawn - rejected;
        const parts = [callsAndRuns(lane)];
        if (counted > 0) parts.push(`${percent(Math.max(0, counted - executions.length - runsToCome), counted)} % saved`);
        for (const [count, name] of [[withdrawn, "dropped by cancel"], [rejected, "rejected"]]) {
            if (count > 0) parts.push(`${count} ${name}`);
        }
        return parts.join(", ");
    }

    show() {
        const { lanes } = this.#stage;
        while (this.#rows.length > lanes.length) this.#rows.pop().item.remove();
        while (this.#rows.length < lanes.length) this.#rows.push(this.#row(this.#rows.length));
        lanes.forEach((lane, index) => {
            const { policy } = lane;
            const row = this.#rows[index];
            const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
            set(row.name, policyName(policy));
            set(row.headline, LaneRows.headline(lane));
            // While it is dragged, the slider is where the reader holds it, also where that is refused.
            const wait = shownDuration(row.asked ?? policy.wait);
            set(row.output, shownDuration(policy.wait));
            if (row.asked === null && slider.wait(Number(row.range.value)) !== policy.wait) row.range.value = slider.position(policy.wait);
            row.range.setAttribute("aria-valuetext", wait);
            row.range.setAttribute("aria-label", `${policy.kind === "throttle" ? "Interval" : "Wait"} of policy ${index + 1}`);
            if (row.refusedBy && row.refusedBy !== policy) this.#accept(row);
        });
    }

    /** Clears the errors of the sliders that are not being dragged, since something else has happened. */
    forget() {
        for (const row of this.#rows) if (row.asked === null) this.#accept(row);
    }

    #row(index) {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = `var(--c${index})`;
        const name = make("b");
        const headline = make("span", { class: "headline" });
        const output = make("output");
        const range = make("input", { type: "range", min: 0, max: slider.steps, step: 1, class: "wait",
            input: () => this.#change(index, slider.wait(Number(range.value))) });
        const refused = make("span", { class: "refused", role: "alert" });
        const item = make("li", {}, make("span", { class: "lane-name" }, swatch, name), headline,
            make("span", { class: "lane-wait" }, range, output), refused);
        this.#list.append(item);
        const row = { item, name, headline, range, output, refused, asked: null, refusedBy: null };
        range.addEventListener("change", () => this.#letGo(row));
        return row;
    }

    #change(index, wait) {
        const row = this.#rows[index];
        const { policy } = this.#stage.lanes[index];
        try {
            this.#replace({ ...policy, wait }, index);
            row.asked = null;
            this.#accept(row);
        } catch (error) {
            const why = policy.maxWait != null && policy.maxWait < wait
                ? `its longest wait is ${shownDuration(policy.maxWait)}` : error.message;
            Object.assign(row, { asked: wait, refusedBy: policy });
            row.refused.textContent = `${shownDuration(wait)} is not possible: ${why}.`;
            row.range.setAttribute("aria-invalid", "true");
        }
        this.show();
    }

    /** The reader lets go of the slider, which goes back to what holds. */
    #letGo(row) {
        row.asked = null;
        row.range.removeAttribute("aria-invalid");
        this.show();
    }

    /** Clears the error of a slider. */
    #accept(row) {
        row.refusedBy = null;
        row.refused.textContent = "";
        row.range.removeAttribute("aria-invalid");
    }
}
