// Describes what happens in words: as a list, and from time to time as a sentence for screen readers.

class Words {
    #stage;
    #list;
    #spoken;
    #heard = { submits: 0, executions: [] };
    #timer = 0;
    /** Nothing is spoken of what the page plays by itself. */
    isSilent = true;
    /** The executions of the list, the newest first. */
    #shown = [];

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
        const behind = plural(execution.count, "call");
        const end = { failed: " The handler threw.", superseded: " It was cancelled for a newer value.",
            cancelled: " It was cancelled.", interrupted: " It was interrupted, and began again with a newer value." }[execution.outcome] ?? "";
        return `${policyName(policy)}: ${value}${key} on the ${execution.edge} edge, ${behind} behind it${late}.${end}`;
    }

    happened(name, about) {
        if (name === "started over") {
            this.#list.replaceChildren();
            this.#shown = [];
        }
        if (name === "recomputed") this.#show();
        if (name === "submitted") this.#heard.submits += 1;
        if (name === "started") {
            this.#heard.executions.push(about);
            this.#add(about);
        }
        const shown = this.#shown.find(({ execution }) => execution === about);
        if (name === "ended" && about.outcome !== "executed" && shown) {
            shown.item.textContent = Words.sentence(about, this.#stage.lanes[about.lane].policy);
        }
        if (this.isSilent) {
            this.#heard = { submits: 0, executions: [] };
            return;
        }
        // Not more often than a reader can listen.
        this.#timer ||= setTimeout(() => this.#speak(), 1500);
    }

    /** Shows the latest executions after a policy has changed. */
    #show() {
        const all = this.#stage.lanes.flatMap((lane) => lane.executions.slice(-6)).sort((one, other) => one.at - other.at);
        this.#list.replaceChildren();
        this.#shown = [];
        for (const execution of all.slice(-6)) this.#add(execution);
    }

    #add(execution) {
        const item = make("li", {}, Words.sentence(execution, this.#stage.lanes[execution.lane].policy));
        item.style.borderColor = `var(--c${execution.lane})`;
        this.#shown.unshift({ execution, item });
        this.#list.prepend(item);
        while (this.#shown.length > 6) this.#shown.pop().item.remove();
    }

    #speak() {
        this.#timer = 0;
        const { submits, executions } = this.#heard;
        this.#heard = { submits: 0, executions: [] };
        if (submits + executions.length === 0) return;
        const parts = submits > 0 ? [`${plural(submits, "call")}.`] : [];
        this.#stage.lanes.forEach((lane, index) => {
            const own = executions.filter((execution) => execution.lane === index);
            if (own.length === 1) parts.push(Words.sentence(own[0], lane.policy));
            if (own.length > 1) parts.push(`${policyName(lane.policy)}: ${plural(own.length, "run")}.`);
        });
        this.#spoken.textContent = parts.join(" ");
    }
}
