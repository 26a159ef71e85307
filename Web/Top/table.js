// The table of `lull top`, with the outcomes of a debouncer below its row.

"use strict";

class DebouncerTable {
    /** How often the busiest come first, in milliseconds: rows that move are hard to read. */
    static settling = 3000;
    static columns = [
        { name: "where", help: "the file and the line that made it" },
        { name: "keys", help: "its keys that are remembered", of: ({ row }) => number(row.keys) },
        { name: "pend", help: "the submits that are pending, or due and waiting to start", of: ({ row }) => number(row.pending) },
        { name: "due", help: "how long until the first of them is due",
            of: ({ row, crowded }, now) => (row.dueIn === null ? "–" : spell(Math.max(0, crowded.due - now))) },
        { name: "run", help: "the executions that are running", of: ({ row }) => number(row.running) },
        { name: "in/s", help: "submits in the last second", of: ({ rates }) => (rates ? shownRate(rates.submits) : "–") },
        { name: "out/s", help: "executions in the last second", of: ({ rates }) => (rates ? shownRate(rates.runs) : "–") },
        { name: "save", help: "the share of all its submits that have needed no execution so far",
            of: ({ saved }) => (saved === null ? "–" : shownShare(saved)) },
        { name: "fail", help: "the submits whose handler has thrown", of: ({ row }) => number(row.failed) },
        { name: "policy", help: "its policy, as options of lull", of: ({ row }) => plain(row.policy).slice(0, 1000) },
    ];
    static outcomes = ["submitted", "started", "executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "restarted",
        "overdue"];

    #program;
    #body = element("table").tBodies[0];
    #filter = element("filter");
    #rows = new Map();
    #sortedAt = -Infinity;

    constructor(program) {
        this.#program = program;
        element("table").tHead.append(make("tr", {}, ...DebouncerTable.columns.map(({ name, help }) =>
            make("th", { scope: "col", title: help, class: name.replace("/", "-") }, name))));
        element("meanings").append(...DebouncerTable.columns.flatMap(({ name, help }) => [make("dt", {}, name), make("dd", {}, help)]));
        this.#filter.addEventListener("input", () => this.show());
    }

    /** Whether the reader is at a row, which must not move then. */
    get #isHeld() {
        return this.#body.matches(":hover") || this.#body.contains(document.activeElement);
    }

    show() {
        const { debouncers, busiest, now, about } = this.#program;
        for (const [id, entry] of this.#rows) {
            if (debouncers.has(id)) continue;
            entry.row.remove();
            entry.more.remove();
            this.#rows.delete(id);
        }
        for (const debouncer of busiest) if (!this.#rows.has(debouncer.row.id)) this.#add(debouncer.row);
        if (!this.#isHeld && performance.now() - this.#sortedAt >= DebouncerTable.settling) this.#sort(busiest);
        const wanted = this.#filter.value.trim().toLowerCase();
        let shown = 0;
        for (const debouncer of debouncers.values()) {
            const entry = this.#rows.get(debouncer.row.id);
            const isShown = wanted === "" || `${debouncer.row.where} ${debouncer.row.policy}`.toLowerCase().includes(wanted);
            shown += isShown;
            entry.row.hidden = !isShown;
            entry.more.hidden = !isShown || !entry.isOpen;
            if (isShown) this.#fill(entry, debouncer, now);
        }
        const left = about.left > 0 ? `; ${number(about.left)} more, with fewer submits, are left out` : "";
        set(element("table-says"), wanted === "" ? `${counted(debouncers.size, "debouncer")}${left}`
            : `${number(shown)} of ${counted(debouncers.size, "debouncer")}`);
        element("table").hidden = shown === 0;
        element("find").hidden = debouncers.size < 8 && wanted === "";
    }

    #add({ id, where }) {
        const entry = { isOpen: false };
        entry.button = make("button", { type: "button", class: "open", "aria-expanded": "false", "aria-controls": `more-${id}`,
            click: () => this.#toggle(id) }, placeElement(where));
        entry.cells = DebouncerTable.columns.slice(1).map(({ name }) => make("td", { class: name.replace("/", "-"), "data-name": name }));
        entry.row = make("tr", {}, make("th", { scope: "row" }, entry.button), ...entry.cells);
        entry.about = make("p", { class: "quiet" });
        entry.figures = make("dl", { class: "counters" });
        entry.more = make("tr", { class: "more", id: `more-${id}`, hidden: true },
            make("td", { colspan: DebouncerTable.columns.length }, entry.about, entry.figures));
        this.#body.append(entry.row, entry.more);
        this.#rows.set(id, entry);
    }

    #sort(busiest) {
        this.#sortedAt = performance.now();
        let next = this.#body.firstChild;
        for (const { row } of busiest) {
            const entry = this.#rows.get(row.id);
            // What is in its place is not moved.
            if (entry.row === next) next = entry.more.nextSibling;
            else {
                this.#body.insertBefore(entry.row, next);
                this.#body.insertBefore(entry.more, next);
            }
        }
    }

    #fill(entry, debouncer, now) {
        const { row } = debouncer;
        DebouncerTable.columns.slice(1).forEach(({ of }, index) => set(entry.cells[index], of(debouncer, now)));
        entry.row.classList.toggle("has-failed", row.failed > 0);
        if (!entry.isOpen) return;
        set(entry.about, `${plain(row.kind)}, made at ${plain(row.where)}`);
        showFigures(entry.figures, DebouncerTable.outcomes.map((name) => ({ name, property: name })), row);
    }

    #toggle(id) {
        const entry = this.#rows.get(id);
        entry.isOpen = !entry.isOpen;
        entry.button.setAttribute("aria-expanded", String(entry.isOpen));
        this.show();
    }

    /** Shows the outcomes of a debouncer, and moves there. */
    open(id) {
        const entry = this.#rows.get(id);
        if (!entry) return;
        this.#filter.value = "";
        if (!entry.isOpen) this.#toggle(id);
        entry.button.focus({ preventScroll: true });
        entry.row.scrollIntoView({ block: "center" });
    }
}
