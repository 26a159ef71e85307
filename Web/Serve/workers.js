// What runs at the moment, and on which worker.

"use strict";

/** Shows items in a list, each once: those that stay keep their elements. */
function reconcile(list, items, id, create, update) {
    const old = new Map([...list.children].map((item) => [item.dataset.id, item]));
    items.forEach((item, index) => {
        const name = id(item);
        let shown = old.get(name);
        if (shown) old.delete(name);
        else {
            shown = create(item);
            shown.dataset.id = name;
        }
        if (list.children[index] !== shown) list.insertBefore(shown, list.children[index] ?? null);
        update(shown, item);
    });
    for (const item of old.values()) item.remove();
}

class Workers {
    static most = 20;
    #looks;
    #open;

    constructor(looks, open) {
        this.#looks = looks;
        this.#open = open;
    }

    show() {
        const { detail, namespace, now, elapsed } = this.#looks;
        const running = detail.keys.filter(({ run }) => run?.state === "running").slice(0, Workers.most);
        const create = ({ key }) => make("li", {}, make("button", { class: "open", click: () => this.#open(key) }, keyElement(key)),
            make("span", { class: "quiet" }));
        reconcile(element("running"), running, ({ run }) => String(run.id), create, (item, { run }) => {
            const left = run.leaseFor == null ? null : run.until - now;
            const lease = left === null ? "" : left > 0 ? `, lease for ${spell(left)}` : ", its lease has ended";
            const age = run.since == null ? "" : `, for ${spell(now - run.since)}`;
            set(item.lastChild, `${workerName(run.worker, detail.workers)}, attempt ${run.attempt}${age}${lease}`);
        });
        const more = Math.max(namespace?.running ?? 0, running.length) - running.length;
        note(element("running"), running.length === 0 ? "Nothing runs at the moment." : more > 0 ? `${number(more)} more` : "");
        const workers = [...detail.workers].sort((one, other) => other.running - one.running).slice(0, Workers.most);
        reconcile(element("workers"), workers, ({ worker }) => String(worker),
            ({ host, process }) => make("li", {}, make("b", {}, make("bdi", {}, plain(host)), ` ${process}`),
                make("span", { class: "quiet" })), (item, { running, seen }) => {
                const what = running === 0 ? "idle" : `${number(running)} running`;
                set(item.lastChild, `${what}, seen ${spell(seen + elapsed)} ago`);
            });
        const away = detail.workers.length - workers.length;
        const none = `No worker is here${namespace?.ready > 0 ? ", and work waits for one: start lull work" : ""}.`;
        note(element("workers"), workers.length === 0 ? none : away > 0 ? `${number(away)} more` : "");
    }
}

/** Shows a sentence below a list, or nothing. */
function note(list, sentence) {
    let shown = list.nextElementSibling;
    if (!shown?.matches(".note")) {
        shown = make("p", { class: "note quiet" });
        list.after(shown);
    }
    set(shown, sentence);
    shown.hidden = sentence === "";
}
