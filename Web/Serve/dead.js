// Runs that have failed for good: those that match, their errors and values, and what to do about them.

"use strict";

class Dead {
    static page = 100;

    #looks;
    #actions;
    #open;
    #list = element("dead");
    #chosen = new Set();
    /** What the server found for the filter, or null while the newest are shown as they come. */
    #found = null;
    #limit = Dead.page;
    #wants = null;
    #timer = 0;
    #shownCount = null;

    constructor(looks, actions, open) {
        this.#looks = looks;
        this.#actions = actions;
        this.#open = open;
        element("dead-form").addEventListener("submit", (event) => event.preventDefault());
        element("dead-form").addEventListener("input", () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.#search(Dead.page), 250);
        });
        element("dead-more").addEventListener("click", () => this.#search(this.#found ? this.#limit + Dead.page : Dead.page));
        for (const action of ["retry", "discard"]) {
            element(action).addEventListener("click", () => this.#ask(action));
        }
    }

    forget() {
        this.#chosen.clear();
        this.#found = null;
        for (const id of ["dead-error", "dead-prefix", "dead-age"]) element(id).value = "";
        element("dead-wrong").textContent = "";
        this.#list.replaceChildren();
    }

    /** The fields as pairs of a query; throws what is wrong with them. */
    #filter() {
        const [error, prefix, age] = ["dead-error", "dead-prefix", "dead-age"].map((id) => element(id).value);
        if (age.trim() !== "") parseDuration(age.trim(), Infinity);
        return [["error", error], ["prefix", prefix], ["older-than", age.trim()]].filter(([, value]) => value !== "");
    }

    async #search(limit) {
        let filter;
        element("dead-wrong").textContent = "";
        element("dead-age").removeAttribute("aria-invalid");
        try {
            filter = this.#filter();
        } catch (error) {
            element("dead-age").setAttribute("aria-invalid", "true");
            element("dead-wrong").textContent = `${capital(error.message)}.`;
            return;
        }
        this.#limit = limit;
        this.#wants?.abort();
        const wants = this.#wants = new AbortController();
        const { namespace } = this.#looks.detail;
        const isAll = filter.length === 0 && (this.#looks.namespace?.dead ?? 0) <= this.#looks.detail.dead.length;
        if (isAll) {
            this.#found = null;
            this.show();
            return;
        }
        try {
            const found = await door.get("dead", [["namespace", namespace], ["limit", limit], ...filter], wants.signal);
            if (this.#looks.detail.namespace !== namespace) return;
            this.#found = { ...found, at: this.#looks.now, isFiltered: filter.length > 0 };
            this.#chosen.clear();
            this.show();
        } catch (error) {
            if (error.name !== "AbortError") element("dead-wrong").textContent = error.message;
        }
    }

    /** Asks again after something has changed. */
    refresh() {
        this.#chosen.clear();
        if (this.#found) this.#search(this.#limit);
    }

    show() {
        const { detail, namespace } = this.#looks;
        const all = this.#found?.count ?? namespace?.dead ?? detail.dead.length;
        // A filter shows what there was when it was asked; it asks again when there is something else.
        if (this.#found && this.#shownCount !== null && this.#shownCount !== namespace?.dead) this.#search(this.#limit);
        this.#shownCount = namespace?.dead ?? null;
        const runs = this.#found?.dead ?? detail.dead;
        const seen = new Set(runs.map(({ run }) => run));
        for (const run of this.#chosen) if (!seen.has(run)) this.#chosen.delete(run);
        element("dead-form").hidden = !(namespace?.dead > 0 || this.#found);
        reconcile(this.#list, runs, ({ run }) => String(run), (run) => this.#item(run), (item, run) => this.#update(item, run));
        element("dead-more").hidden = runs.length >= all;
        set(element("dead-more"), this.#found ? "Show more" : "Show all, the oldest first");
        this.#say(all, runs.length);
    }

    #say(all, shown) {
        const kind = this.#found?.isFiltered ? " that match" : "";
        const part = shown < all ? `, of which the ${this.#found ? "oldest" : "newest"} ${number(shown)} are shown` : "";
        const none = kind ? "No dead run matches." : "No run has failed for good.";
        set(element("dead-says"), all === 0 ? none : `${counted(all, "dead run")}${kind}${part}`);
        element("dead-acts").hidden = !this.#actions.isAllowed || all === 0;
        const count = this.#chosen.size;
        const which = count > 0 ? `${number(count)} selected` : all === 1 && !kind ? "it" : `all ${number(all)}${kind}`;
        set(element("retry"), `Retry ${which} …`);
        set(element("discard"), `Discard ${which} …`);
    }

    #ask(action) {
        if (this.#chosen.size > 0) {
            this.#actions.ask(action, Actions.parts("run", this.#chosen), counted(this.#chosen.size, "dead run"));
            return;
        }
        let filter;
        try {
            filter = this.#filter();
        } catch {
            return;
        }
        const words = { error: (text) => `with “${text}”`, prefix: (text) => `of keys that begin with ${text}`,
            "older-than": (text) => `older than ${text}` };
        const about = filter.map(([name, value]) => words[name](plain(value))).join(", ");
        this.#actions.ask(action, [about ? filter : [["all", 1]]], about ? `dead runs ${about}` : "all dead runs");
    }

    #item(run) {
        const more = make("div", { class: "whole", hidden: true });
        const toggle = make("button", { class: "toggle", "aria-expanded": "false", click: () => {
            more.hidden = !more.hidden;
            toggle.setAttribute("aria-expanded", String(!more.hidden));
            if (!more.hidden && more.childElementCount === 0) this.#fill(more, run);
        } }, keyElement(run.key), make("span", { class: "error" }, firstLine(run.error)),
        make("span", { class: "facts-of quiet" }));
        const check = make("input", { type: "checkbox", "aria-label": `Select run ${run.run}`, change: () => {
            if (check.checked) this.#chosen.add(run.run); else this.#chosen.delete(run.run);
            this.show();
        } });
        return make("li", {}, check, toggle, more);
    }

    #update(item, { run, age, submits, attempts }) {
        const later = this.#found ? this.#looks.now - this.#found.at : this.#looks.elapsed;
        const [check, toggle] = item.children;
        check.hidden = !this.#actions.isAllowed;
        check.checked = this.#chosen.has(run);
        set(toggle.lastChild, `${counted(submits, "submit")}, ${counted(attempts, "attempt")}, ${spell(age + later)} ago`);
    }

    #fill(place, run) {
        const values = make("div");
        const show = make("button", { click: () => this.#showValues(values, run, show) },
            run.submits === 1 ? "Show its value" : "Show its values");
        const ask = (action) => this.#actions.ask(action, [[["run", run.run]]], `run ${run.run} of ${shownKey(run.key)}`);
        const acts = !this.#actions.isAllowed ? [] : ["retry", "discard"].map((action) =>
            make("button", { class: verbs[action].isGrave && "grave", click: () => ask(action) },
                `${verbs[action].title} this run …`));
        const alike = run.error ? [make("button", { click: () => {
            element("dead-error").value = (run.error.split(/\r?\n|\r/).find((line) => line.trim() !== "") ?? "").trim();
            this.#search(Dead.page);
            element("dead-error").focus();
        } }, "Only this error")] : [];
        place.append(make("pre", { tabindex: 0, "aria-label": "The whole error" }, run.error ?? "It has no error."),
            make("div", { class: "inputs" }, make("span", { class: "quiet" }, `Run ${run.run}`), show,
                make("button", { click: () => this.#open(run.key) }, "Open its key"), ...alike, ...acts), values);
    }

    async #showValues(place, { run }, button) {
        button.disabled = true;
        const { namespace } = this.#looks.detail;
        try {
            const { values } = await door.get("value", [["namespace", namespace], ["run", run]]);
            button.hidden = true;
            place.replaceChildren(...values.map((value, index) => this.#value(namespace, run, value, index)));
            if (values.length === 0) place.append("It has no values.");
            if (values.length >= 100) place.append(make("p", { class: "quiet" }, "The first 100 values are shown."));
        } catch (error) {
            button.disabled = false;
            place.replaceChildren(make("p", { class: "wrong", role: "alert" }, error.message));
        }
    }

    #value(namespace, run, { bytes: size, value, cut }, index) {
        const isText = typeof value === "string";
        const download = make("button", { click: async () => {
            try {
                const response = await door.send("value", [["namespace", namespace], ["run", run], ["index", index]]);
                const data = new Blob([await response.arrayBuffer()], { type: "application/octet-stream" });
                saveFile(`run-${run}-value-${index}`, data);
            } catch (error) {
                this.#actions.say(error.message, true);
            }
        } }, "Download");
        const says = `${bytes(size)}${isText ? "" : ", not a text"}${cut ? "; its first 64 KiB are shown" : ""}`;
        return make("div", { class: "value" },
            make("p", { class: "quiet" }, `Value ${index + 1}: ${says} `, download),
            make("pre", { tabindex: 0, "aria-label": `Value ${index + 1}` }, isText ? value : dump(bytesOf(value.base64))));
    }
}
