// What happens, in words: a list to read, and now and then a sentence for who listens.

class Words {
    #stage;
    #list;
    #spoken;
    #heard = { submits: 0, executions: [] };
    #timer = 0;

    constructor(stage, list, spoken) {
        this.#stage = stage;
        this.#list = list;
        this.#spoken = spoken;
    }

    /** An execution in a sentence. */
    static sentence(execution, policy) {
        const values = Array.isArray(execution.value) ? execution.value : [execution.value];
        const value = values.length > 3
            ? `${plural(values.length, "value")}, the last one “${values.at(-1)}”` : `“${values.join("”, “")}”`;
        const waited = execution.at - execution.first;
        const key = execution.key ? ` of ${execution.key}` : "";
        const late = waited > 0 ? `, ${shownDuration(waited)} after the first of them` : ", at once";
        const behind = plural(execution.count, "submit");
        const end = { failed: " The handler threw.", superseded: " It was told to stop for a newer value.",
            cancelled: " It was cancelled." }[execution.outcome] ?? "";
        return `${policyName(policy)}: ${value}${key} on the ${execution.edge} edge, ${behind} behind it${late}.${end}`;
    }

    happened(name, about) {
        if (name === "anew") this.#list.replaceChildren();
        if (name === "submitted") this.#heard.submits += 1;
        if (name === "started") {
            this.#heard.executions.push(about);
            const item = make("li", {}, Words.sentence(about, this.#stage.lanes[about.lane].policy));
            item.style.borderColor = theme.lanes[about.lane];
            about.item = item;
            this.#list.prepend(item);
            while (this.#list.children.length > 6) this.#list.lastChild.remove();
        }
        if (name === "ended" && about.outcome !== "executed" && about.item?.isConnected) {
            about.item.textContent = Words.sentence(about, this.#stage.lanes[about.lane].policy);
        }
        // Not more often than one can listen.
        this.#timer ||= setTimeout(() => this.#speak(), 1500);
    }

    #speak() {
        this.#timer = 0;
        const { submits, executions } = this.#heard;
        this.#heard = { submits: 0, executions: [] };
        if (submits + executions.length === 0) return;
        const parts = submits > 0 ? [`${plural(submits, "submit")}.`] : [];
        this.#stage.lanes.forEach((lane, index) => {
            const own = executions.filter((execution) => execution.lane === index);
            if (own.length === 1) parts.push(Words.sentence(own[0], lane.policy));
            if (own.length > 1) parts.push(`${policyName(lane.policy)}: ${plural(own.length, "execution")}.`);
        });
        this.#spoken.textContent = parts.join(" ");
    }
}
