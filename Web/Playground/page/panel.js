// The policies: a tab for each, all options of the semantics, and the equivalent Swift code, command line and link.

class Panel {
    #stage;
    #chosen = 0;
    #changed;
    #linkTimer = 0;
    #linkCount = 0;

    constructor(stage, changed) {
        this.#stage = stage;
        this.#changed = changed;
        this.#makeForm();
        for (const button of document.querySelectorAll("[data-copy]")) {
            button.addEventListener("click", () => this.#copy(button.dataset.copy));
        }
    }

    get policy() {
        return this.#stage.lanes[this.#chosen].policy;
    }

    choose(index) {
        this.#chosen = Math.max(0, Math.min(index, this.#stage.lanes.length - 1));
        this.show();
    }

    // MARK: - The form

    #makeForm() {
        const text = (name, placeholder) =>
            make("input", {
                name, class: "short", placeholder, "aria-describedby": `${name}-hint`, spellcheck: "false",
            });
        const select = (name, words) =>
            make("select", { name, "aria-describedby": `${name}-hint` },
                ...words.map(([value, shown]) => make("option", { value }, shown ?? value)));
        const row = (name, label, control, hint) => {
            control.id = `option-${name}`;
            const rows = [make("label", { for: control.id }, label), control];
            if (hint) rows.push(make("span", { class: "hint", id: `${name}-hint` }, hint));
            return rows;
        };
        const box = (name) => make("label", { class: "check" }, make("input", { type: "checkbox", name }), ` ${name}`);
        const uses = presets.map(([name], index) => [index, name]);
        element("form").append(
            make("fieldset", {},
                ...row("preset", "Presets", select("preset", [["", "choose …"], ...uses]), " "),
                ...row("kind", "Kind", select("kind", [["debounce"], ["throttle"]]), " "),
                ...row("wait", "Wait", text("wait", "300ms"), " "),
                ...row("maxWait", "Longest wait", text("maxWait", "none"),
                    "No value waits longer than this. With debounce only."),
                ...row("spacing", "Spacing", text("spacing", "none"),
                    "The least time between two due instants of a key. With debounce and the trailing edge only."),
                make("span", { id: "edges-label" }, "Edges"),
                make("span", { role: "group", "aria-labelledby": "edges-label" }, box("leading"), box("trailing")),
                ...row("delayRule", "A shorter delay", select("delayRule", [["restart", "replaces a longer one"],
                    ["extend", "never shortens a longer one"]]), "For the delay of a single call. With debounce only."),
                ...row("maxCount", "At most pending", text("maxCount", "any number"),
                    "Executes as soon as this many submits are pending, but not before the spacing has passed."),
                ...row("combine", "Combine", select("combine", [
                    ["latest", "latest: the last value"], ["first", "first: the first value"],
                    ["collect", "collect: all, in order"], ["merge", "merge: folded by a function"],
                ]),
                "Which of the values behind one execution the handler gets."),
                ...row("whileRunning", "While running", select("whileRunning", [
                    ["queue", "queue: the next one waits"], ["cancel", "cancel: the latest wins"],
                    ["restart", "restart: begins again with both"],
                    ["concurrent", "concurrent: both run"], ["skip", "skip: the next one is dropped"],
                ]),
                "What happens to a value that falls due while its key is busy. To see it, let the handler take time."),
                ...row("maxConcurrent", "Run at once", text("maxConcurrent", "any number"),
                    "The limit of concurrent executions, for all keys together."),
                ...row("capacity", "Open keys", text("capacity", "any number"),
                    "A submit that would open one more is rejected."),
                ...row("atEnd", "At the end", select("atEnd", [
                    ["when-due", "executed when due"], ["flush", "executed at once"], ["drop", "dropped"],
                ]), "What happens to pending values when the last handle is released.")),
            make("p", { id: "wrong", class: "wrong", role: "alert" }));
        element("form").addEventListener("change", (event) => this.#edit(event.target));
        element("form").addEventListener("submit", (event) => event.preventDefault());
    }

    #edit(control) {
        if (control.name === "preset") {
            if (control.value !== "") this.replace(presets[control.value][2]);
            return;
        }
        try {
            this.replace(this.#read(control));
        } catch (error) {
            // The field that cannot be read, or that breaks a rule with the others.
            const field = element("form")[error.field] ?? control;
            const wrong = element("wrong");
            this.#clearErrors();
            (element(`${field.name}-hint`) ?? field.closest("[role=group]")).after(wrong);
            wrong.textContent = `Not applied: ${error.message}.`;
            field.setAttribute("aria-invalid", "true");
            field.setAttribute("aria-errormessage", "wrong");
        }
    }

    #clearErrors() {
        element("wrong").textContent = "";
        for (const field of element("form").querySelectorAll("[aria-invalid]")) {
            field.removeAttribute("aria-invalid");
            field.removeAttribute("aria-errormessage");
        }
    }

    #read(changed) {
        const form = element("form");
        /** Reads a field; an error says which. */
        const read = (name, parse) => {
            try {
                return parse(form[name].value);
            } catch (error) {
                throw Object.assign(error, { field: name });
            }
        };
        const number = (name) => read(name, (text) => {
            if (text.trim() === "") return null;
            if (!/^\s*\d{1,9}\s*$/.test(text)) throw new Error(`“${text}” is not a number`);
            return Number(text);
        });
        const isThrottle = form.kind.value === "throttle";
        const duration = (name) =>
            read(name, (text) => (isThrottle || text.trim() === "" ? null : parseDuration(text)));
        const policy = {
            kind: form.kind.value, wait: read("wait", (text) => parseDuration(text)),
            maxWait: duration("maxWait"), spacing: duration("spacing"),
            leading: form.leading.checked, trailing: form.trailing.checked,
            delayRule: isThrottle ? "restart" : form.delayRule.value, maxCount: number("maxCount"),
            combine: form.combine.value, whileRunning: form.whileRunning.value, maxConcurrent: number("maxConcurrent"),
            capacity: number("capacity"), atEnd: form.atEnd.value,
        };
        // Each kind has its own default edges.
        if (changed.name === "kind") Object.assign(policy, { leading: isThrottle, trailing: true });
        return policy;
    }

    /** Replaces the chosen policy; throws the engine's error if it breaks a rule. */
    replace(policy, index = this.#chosen) {
        this.#stage.replace(index, policy);
        this.show();
        this.#changed();
    }

    add() {
        this.#stage.add(makePolicy("throttle", 1000));
        this.choose(this.#stage.lanes.length - 1);
        this.#changed();
        if (element("add").disabled) this.#focusTab();
    }

    remove() {
        this.#stage.remove(this.#chosen);
        this.choose(this.#chosen);
        this.#changed();
        if (element("remove").disabled) this.#focusTab();
    }

    #focusTab() {
        element("tabs").querySelector("[aria-selected=true]").focus();
    }

    // MARK: - Display

    show() {
        this.#showTabs();
        const form = element("form");
        const { policy } = this;
        for (const name of ["kind", "delayRule", "combine", "whileRunning", "atEnd"]) form[name].value = policy[name];
        for (const name of ["leading", "trailing"]) form[name].checked = policy[name];
        for (const name of ["wait", "maxWait", "spacing"]) {
            form[name].value = policy[name] == null ? "" : durationText(policy[name]);
        }
        for (const name of ["maxCount", "maxConcurrent", "capacity"]) form[name].value = policy[name] ?? "";
        this.#clearErrors();
        for (const name of debounceOnly) form[name].disabled = policy.kind === "throttle";
        const preset = presets.findIndex(([, , preset]) => policyToLink(preset) === policyToLink(policy));
        form.preset.value = preset < 0 ? "" : preset;
        element("preset-hint").textContent = preset < 0 ? "" : presets[preset][1];
        element("kind-hint").textContent = policy.kind === "debounce"
            ? "Executes when no submit has come for the wait." : "Executes at most once per interval.";
        form.querySelector("[for=option-wait]").textContent = policy.kind === "debounce" ? "Wait" : "Interval";
        element("wait-hint").textContent = "A number with a unit: 300ms, 1.5s, 2m.";
        this.showCode();
    }

    #showTabs() {
        const { lanes } = this.#stage;
        const move = (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (!step) return;
            this.choose((this.#chosen + step + lanes.length) % lanes.length);
        };
        const hasFocus = element("tabs").contains(document.activeElement);
        const tabs = lanes.map((lane, index) => {
            const isChosen = index === this.#chosen;
            const tab = make("button", {
                type: "button", role: "tab", id: `tab-${index}`, "aria-selected": String(isChosen),
                "aria-controls": "panel", tabindex: isChosen ? "0" : "-1", click: () => this.choose(index),
                keydown: move,
            }, `${index + 1}  ${policyName(lane.policy)}`);
            tab.style.setProperty("--tab", `var(--c${index})`);
            return tab;
        });
        element("tabs").replaceChildren(...tabs);
        if (hasFocus) this.#focusTab();
        element("panel").setAttribute("aria-labelledby", `tab-${this.#chosen}`);
        element("add").disabled = lanes.length === Stage.most;
        element("remove").disabled = lanes.length === 1;
    }

    showCode() {
        const hasKeys = element("key").value !== "";
        let delay = null;
        try {
            if (element("delay").value.trim() !== "") delay = parseDuration(element("delay").value);
        } catch { /* The field shows the error itself. */ }
        element("swift").textContent = swiftCode(this.policy, { hasKeys, delay });
        element("command").textContent = commandLine(this.policy, { hasKeys });
        element("command-note").textContent = commandNote(this.policy);
        this.showLink();
    }

    /** Shows the link, including the calls, at most once in 300 ms. */
    showLink() {
        const base = location.href.split("#")[0];
        if (this.#stage.calls.length === 0) {
            this.#setLink(base + stageLink(this.#stage));
            element("link-note").textContent = "";
            return;
        }
        this.#linkTimer ||= setTimeout(async () => {
            // Calls that come while the link is packed are for the next one.
            this.#linkTimer = 0;
            const number = ++this.#linkCount;
            const { link, count } = await linkWithCalls(this.#stage);
            if (number !== this.#linkCount) return;
            this.#setLink(base + link);
            const all = this.#stage.calls.length;
            element("link-note").textContent = all === 0 ? "" : count < all
                ? `It holds the latest ${count} of ${plural(all, "call")}.` : `It holds ${plural(all, "call")}: it shows others what you see.`;
        }, 300);
    }

    /** Shows a link, and the frame in which another page shows the stage alone. */
    #setLink(link) {
        element("link").textContent = link;
        const source = link.replace("#!", "#!embed&").replaceAll("&", "&amp;");
        const { keys, lanes } = this.#stage;
        const height = 280 + (140 + 30 * (keys.length - 1)) * lanes.length;
        element("frame").textContent = `<iframe src="${source}" title="Lull" width="100%" height="${height}"></iframe>`;
    }

    async #copy(id) {
        const button = document.querySelector(`[data-copy=${id}]`);
        const name = button.dataset.name ??= button.textContent;
        let done = "Copied";
        try {
            await navigator.clipboard.writeText(element(id).textContent);
        } catch {
            // Some browsers refuse the clipboard to pages from disk; then the text is selected instead.
            getSelection().selectAllChildren(element(id));
            done = "Selected: copy it with the keyboard";
        }
        button.textContent = done;
        element("copied").textContent = `${done}.`;
        setTimeout(() => { button.textContent = name; }, 2000);
    }
}
