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
     * What a policy made of the calls: “18 calls → 1 run, 94 % saved”. What is pending counts as the run that it will be, and calls that
     * were refused or dropped save nothing.
     */
    static headline({ submitted, cancelled, rejected }, runs, pending) {
        if (submitted === 0) return "nothing submitted yet";
        const counted = submitted - cancelled - rejected;
        const parts = [`${plural(submitted, "call")} → ${plural(runs, "run")}${pending > 0 ? ` + ${pending} pending` : ""}`];
        if (counted > 0) parts.push(`${Math.max(0, Math.floor((100 * (counted - runs - pending)) / counted))} % saved`);
        for (const [count, name] of [[cancelled, "cancelled"], [rejected, "rejected"]]) {
            if (count > 0) parts.push(`${count} ${name}`);
        }
        return parts.join(", ");
    }

    show() {
        const { lanes } = this.#stage;
        while (this.#rows.length > lanes.length) this.#rows.pop().item.remove();
        while (this.#rows.length < lanes.length) this.#rows.push(this.#row(this.#rows.length));
        lanes.forEach(({ policy, executions, counters, pending }, index) => {
            const row = this.#rows[index];
            const { name, headline, range, output } = row;
            if (row.refused && row.refused.policy !== policy) this.#accept(row);
            const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
            set(name, policyName(policy));
            set(headline, row.refused?.why ?? LaneRows.headline(counters, executions.length, pending.length));
            const wait = shownDuration(policy.wait);
            set(output, wait);
            // While it is dragged, or what it asks for is refused, the slider is where the reader holds it.
            if (!row.refused && slider.wait(Number(range.value)) !== policy.wait) range.value = slider.position(policy.wait);
            range.setAttribute("aria-valuetext", wait);
            range.setAttribute("aria-label", `${policy.kind === "throttle" ? "Interval" : "Wait"} of policy ${index + 1}`);
        });
    }

    #row(index) {
        const swatch = make("span", { class: "swatch" });
        swatch.style.background = `var(--c${index})`;
        const name = make("b");
        const headline = make("span", { class: "headline" });
        const output = make("output");
        const range = make("input", { type: "range", min: 0, max: slider.steps, step: 1, class: "wait",
            input: () => this.#change(index, slider.wait(Number(range.value))) });
        const item = make("li", {}, make("span", { class: "lane-name" }, swatch, name), headline,
            make("span", { class: "lane-wait" }, range, output));
        this.#list.append(item);
        return { item, name, headline, range, output, refused: null };
    }

    #change(index, wait) {
        const row = this.#rows[index];
        const { policy } = this.#stage.lanes[index];
        try {
            this.#replace({ ...policy, wait }, index);
            this.#accept(row);
        } catch (error) {
            const why = policy.maxWait < wait && policy.maxWait != null
                ? `its longest wait is ${shownDuration(policy.maxWait)}` : error.message;
            row.refused = { policy, why: `${shownDuration(wait)} is not possible: ${why}` };
            row.range.setAttribute("aria-invalid", "true");
        }
        this.show();
    }

    /** What the slider asked for last is not refused, or is over. */
    #accept(row) {
        row.refused = null;
        row.range.removeAttribute("aria-invalid");
    }
}
