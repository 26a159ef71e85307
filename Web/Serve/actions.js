// What can be done about what is shown. Each action asks once, with the number of what it changes, and its answer is said.

"use strict";

const verbs = {
    flush: { title: "Flush", yes: (what) => `Flush ${what}`, of: "key",
        says: "What is pending becomes due now, and is handed to a worker. What is running goes on." },
    cancel: { title: "Cancel", yes: (what) => `Cancel ${what}`, of: "key", isGrave: true,
        says: "What is pending, ready or retrying is dropped, with its values. What is running goes on." },
    retry: { title: "Retry", yes: (what) => `Retry ${what}`, of: "dead run", says: "The runs start again, with all attempts." },
    discard: { title: "Discard", yes: (what) => `Discard ${what}`, of: "dead run", isGrave: true,
        says: "The runs and their values are deleted for good." },
    touch: { title: "Touch", yes: () => "Touch 1 key", says: "What is pending waits as after a submit. It gets no value." },
    pause: { title: "Pause", yes: () => "Pause",
        says: "Workers start nothing new until the namespace is resumed. Nothing is lost, and submits are taken." },
    resume: { title: "Resume", yes: () => "Resume", says: "Workers start again what is ready." },
    submit: { title: "Submit a value", yes: () => "Submit", says: "As if an application had submitted it." },
};

class Actions {
    /** An address has to fit into what servers and proxies take. */
    static longestQuery = 3500;
    /** As have the arguments in it: servers have a limited space for those of a request. */
    static mostArguments = 200;

    #looks;
    #dialog = element("ask");
    #pending = null;
    #counting = null;
    /** Whether the server lets this page act. */
    isAllowed = false;

    constructor(looks) {
        this.#looks = looks;
        element("ask-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#perform();
        });
        element("ask-no").addEventListener("click", () => this.#dialog.close());
        this.#dialog.addEventListener("close", () => {
            // The event may come when the next question has been asked.
            if (this.#dialog.open) return;
            this.#counting?.abort();
            this.#pending = null;
        });
        element("said-close").addEventListener("click", () => this.say(""));
    }

    /** Says what came of something. */
    say(sentence, isWrong = false) {
        // What lies over the page must not hide it from those who hear it.
        const over = element("story");
        (over.matches(":modal") ? over : document.body).append(element("answer"));
        element("answer").classList.toggle("wrong", isWrong);
        element("said").textContent = sentence;
    }

    /**
     * Asks whether to do something.
     *
     * @param selection What it is done to, as lists of pairs of a query; each list is a request of its own.
     * @param about What the reader chose, in words.
     * @param fields Elements of a form; `complete` returns the rest of the query and the body from them, or throws what is wrong.
     */
    async ask(action, selection, about, { fields = [], complete = () => ({}), isCounted = true } = {}) {
        const verb = verbs[action];
        const { namespace } = this.#looks.detail;
        const pending = { action, namespace, selection, complete };
        this.#pending = pending;
        element("ask-title").textContent = `${verb.title}${about ? ` ${about}` : ""}${isCounted ? "?" : ""}`;
        element("ask-what").textContent = verb.says;
        element("ask-where").textContent = plain(namespace);
        element("ask-fields").replaceChildren(...fields);
        element("ask-wrong").textContent = "";
        const yes = element("ask-yes");
        yes.classList.toggle("grave", Boolean(verb.isGrave));
        yes.hidden = false;
        yes.disabled = isCounted;
        yes.textContent = isCounted ? "Counting …" : verb.yes();
        element("ask-no").textContent = "Back";
        if (!this.#dialog.open) this.#dialog.showModal();
        if (!isCounted) return;
        element("ask-no").focus();
        this.#counting = new AbortController();
        try {
            let count = 0;
            for (const part of selection) {
                const query = [["action", action], ["namespace", namespace], ...part];
                count += (await door.get("count", query, this.#counting.signal)).count;
            }
            if (this.#pending !== pending) return;
            yes.disabled = false;
            yes.hidden = count === 0;
            yes.textContent = verb.yes(counted(count, verb.of));
            if (count === 0) {
                const why = verb.of === "key" ? ": what is running is left alone" : "";
                element("ask-what").textContent = `There is nothing to ${action}${why}.`;
                element("ask-no").textContent = "Close";
            } else if (!verb.isGrave && document.activeElement === element("ask-no")) yes.focus();
        } catch (error) {
            if (this.#pending !== pending) return;
            element("ask-wrong").textContent = error.message;
            yes.hidden = true;
        }
    }

    async #perform() {
        const pending = this.#pending;
        if (!pending || element("ask-yes").disabled || element("ask-yes").hidden) return;
        const { action, namespace, selection, complete } = pending;
        element("ask-wrong").textContent = "";
        try {
            const { query = [], body } = complete();
            element("ask-yes").disabled = true;
            const answers = [];
            for (const part of selection) {
                answers.push(await door.post(action, [["namespace", namespace], ...part, ...query], body));
            }
            if (this.#pending === pending) this.#dialog.close();
            const done = answers.map(({ done }) => sentence(plain(done)));
            const notes = [...new Set(answers.flatMap(({ notes }) => notes ?? []))].map((text) => sentence(plain(text)));
            this.say([...done, ...notes].join(" "));
            this.happened(action);
        } catch (error) {
            if (this.#pending !== pending) {
                this.say(error.message, true);
                return;
            }
            element("ask-wrong").textContent = error.message;
            element("ask-yes").disabled = false;
        }
    }

    /** Called after an action, to show what came of it. */
    happened() {}

    /** Divides a selection of keys or runs into requests. */
    static parts(name, chosen) {
        const parts = [[]];
        let length = 0;
        for (const one of chosen) {
            const size = name.length + 2 + (typeof one === "object" || typeof one === "string" ? encoded(one) : String(one)).length;
            if ((length + size > Actions.longestQuery && parts.at(-1).length > 0) || parts.at(-1).length === Actions.mostArguments) {
                parts.push([]);
                length = 0;
            }
            length += size;
            parts.at(-1).push([name, one]);
        }
        return parts;
    }

    pause() {
        const reason = make("input", { id: "ask-reason", maxlength: 200, spellcheck: "true", autocomplete: "off" });
        this.ask("pause", [[]], this.#name, { isCounted: false, fields: [field("Reason, which status shows", reason)],
            complete: () => ({ query: reason.value.trim() === "" ? [] : [["reason", reason.value.trim()]] }) });
        reason.focus();
    }

    resume() {
        this.ask("resume", [[]], this.#name, { isCounted: false });
    }

    touch(key) {
        this.ask("touch", [[["key", key]]], shownKey(key), { isCounted: false });
    }

    /** @param key The key, or null to ask for it too. */
    submit(key = null) {
        const name = make("input", { id: "ask-key", autocomplete: "off", spellcheck: "false" });
        const value = make("textarea", { id: "ask-value", rows: 4, spellcheck: "false" });
        this.ask("submit", [[]], key === null ? "" : `under ${shownKey(key)}`, { isCounted: false,
            fields: [...(key === null ? [field("Key", name)] : []), field("Value", value)],
            complete: () => ({ query: [["key", key ?? name.value]], body: value.value }) });
        (key === null ? name : value).focus();
    }

    get #name() {
        return plain(this.#looks.detail.namespace);
    }
}

function field(label, input) {
    return make("label", { class: "field" }, make("span", {}, label), input);
}
