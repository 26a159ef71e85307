// The keys that have work, in their order. However many there are, only those in sight have elements; pages of them are asked for
// as the reader comes near.

"use strict";

class Keys {
    static row = 36;
    static page = 200;
    /** For how long a page in sight is taken as it was, in milliseconds. */
    static fresh = 3000;
    /** And where no look would say that it is another one. */
    static unheard = 10_000;

    #looks;
    #actions;
    #open;
    #frame = element("keys");
    #height = element("keys-height");
    #rows = [];
    /** Pages of listings: the first key wanted, the listings, and when they came. */
    #pages = [];
    #next = null;
    #count = 0;
    #active = 0;
    #chosen = new Map();
    #wants = null;
    #isLoading = false;
    #timer = 0;
    #problem = "";
    #isAsked = false;
    #wasDrawn = false;

    constructor(looks, actions, open) {
        this.#looks = looks;
        this.#actions = actions;
        this.#open = open;
        element("prefix").addEventListener("input", () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.restart(), 200);
        });
        this.#frame.addEventListener("scroll", () => this.ask(), { passive: true });
        this.#frame.addEventListener("keydown", (event) => this.#key(event));
        this.#frame.addEventListener("focus", () => this.ask());
        this.#frame.addEventListener("blur", () => this.ask());
        this.#frame.addEventListener("click", (event) => this.#click(event));
        new ResizeObserver(() => this.ask()).observe(this.#frame);
        for (const action of ["flush", "cancel"]) element(action).addEventListener("click", () => this.#ask(action));
    }

    get prefix() {
        return element("prefix").value;
    }

    forget() {
        element("prefix").value = "";
        this.restart();
    }

    /** Begins with the first page. */
    restart() {
        this.#wants?.abort();
        this.#wants = new AbortController();
        this.#isLoading = false;
        this.#pages = [];
        this.#next = null;
        this.#count = 0;
        this.#active = 0;
        this.#problem = "";
        this.#chosen.clear();
        this.#frame.scrollTop = 0;
        this.#load(0);
    }

    /** Asks for a page, once more or for the first time. */
    async #load(index) {
        if (this.#isLoading || !this.#looks.detail) return;
        this.#isLoading = true;
        const wants = this.#wants;
        const from = index < this.#pages.length ? this.#pages[index].from : this.#next;
        const query = [["namespace", this.#looks.detail.namespace], ["limit", Keys.page]];
        if (this.prefix !== "") query.push(["prefix", this.prefix]);
        if (from !== null) query.push(["from", from]);
        try {
            const { keys, next } = await door.get("keys", query, wants.signal);
            if (this.#wants !== wants) return;
            const following = this.#pages[index + 1];
            this.#pages[index] = { from, keys, at: performance.now(), seen: this.#looks.now };
            // Where keys have come or gone, the next page begins elsewhere, and is asked for again.
            if (!following || next === null || identity(next) !== identity(following.from)) {
                this.#pages.length = index + 1;
                this.#next = next;
            }
            this.#problem = "";
        } catch (error) {
            if (this.#wants !== wants || error.name === "AbortError") return;
            this.#problem = error.message;
        }
        this.#isLoading = false;
        this.#count = this.#pages.reduce((count, { keys }) => count + keys.length, 0);
        this.#active = Math.max(0, Math.min(this.#active, this.#count - 1));
        this.ask();
    }

    /** Takes a look: what is in sight may have changed. */
    take() {
        if (this.#pages.length === 0 && !this.#isLoading && this.#problem === "") this.#load(0);
        this.ask();
    }

    #listing(index) {
        let first = 0;
        for (const [page, { keys }] of this.#pages.entries()) {
            if (index < first + keys.length) return { listing: keys[index - first], page };
            first += keys.length;
        }
        return null;
    }

    ask() {
        if (this.#isAsked) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            this.#draw();
        });
    }

    #draw() {
        const { scrollTop, clientHeight } = this.#frame;
        const isMore = this.#next !== null;
        const tall = `${(this.#count + (isMore ? Keys.page : 0)) * Keys.row}px`;
        if (this.#height.style.height !== tall) this.#height.style.height = tall;
        const first = Math.max(0, Math.floor(scrollTop / Keys.row) - 4);
        const last = Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / Keys.row) + 4);
        while (this.#rows.length < last - first) this.#rows.push(this.#row());
        this.#frame.removeAttribute("aria-activedescendant");
        const pages = new Set();
        for (const row of this.#rows) row.isUsed = false;
        for (let index = first; index < last; index++) {
            // A row keeps its place while it is in sight, so that nothing is written that was there.
            const row = this.#rows[index % this.#rows.length];
            const { listing, page } = this.#listing(index);
            pages.add(page);
            row.isUsed = true;
            // A look says more lately how a key is than a page.
            const history = this.#looks.history(listing.key);
            if (history?.isBusy) this.#fill(row, index, history.listing, this.#looks.elapsed);
            else this.#fill(row, index, listing, this.#looks.now - this.#pages[page].seen);
        }
        for (const row of this.#rows) row.item.hidden = !row.isUsed;
        this.#say();
        if (last > 0 && !this.#wasDrawn) {
            this.#wasDrawn = true;
            performance.mark("keys");
        }
        const near = (scrollTop + clientHeight) / Keys.row > this.#count - 60;
        if (isMore && near) this.#load(this.#pages.length);
        else {
            const old = [...pages].find((page) => this.#isOld(this.#pages[page]));
            if (old !== undefined && this.#looks.away === null && !document.hidden) this.#load(old);
        }
    }

    /** Whether a page may be other by now: something has changed since it came, and not only just; or a key that no look has. */
    #isOld({ at, seen, isStale }) {
        const age = performance.now() - at;
        return isStale || (seen < this.#looks.look.at && age > Keys.fresh) || (!this.#looks.isComplete && age > Keys.unheard);
    }

    #row() {
        const cells = ["name", "state", "due", "submits", "attempt"].map((name) => make("span", { class: name }));
        const check = make("i", { class: "check", "aria-hidden": "true" });
        const item = make("div", { role: "option", class: "row" }, check, ...cells);
        this.#height.append(item);
        return { item, cells, check, id: null, index: -1 };
    }

    /** @param age How old the listing is, in seconds. */
    #fill(row, index, listing, age) {
        const { item, cells } = row;
        const id = identity(listing.key);
        if (row.index !== index) {
            row.index = index;
            item.id = `key-${index}`;
            item.style.transform = `translateY(${index * Keys.row}px)`;
            item.setAttribute("aria-posinset", index + 1);
        }
        if (row.id !== id) {
            row.id = id;
            cells[0].replaceChildren(keyElement(listing.key));
        }
        const { run, ready } = listing;
        const due = run?.retryIn ?? (ready > 0 ? null : listing.dueIn);
        set(cells[1], statesOf(listing).join(", "));
        set(cells[2], due === null ? "–" : spell(Math.max(0, due - age)));
        set(cells[3], number(submitsOf(listing)));
        set(cells[4], run ? String(run.attempt) : "–");
        const isChosen = this.#chosen.has(id);
        item.setAttribute("aria-selected", String(isChosen));
        item.setAttribute("aria-setsize", this.#next === null ? this.#count : -1);
        item.classList.toggle("active", index === this.#active);
        if (index === this.#active) this.#frame.setAttribute("aria-activedescendant", item.id);
    }

    #say() {
        const chosen = this.#chosen.size;
        const kind = this.prefix === "" ? "" : " with this beginning";
        const says = this.#problem !== "" ? this.#problem
            : this.#count === 0 ? (this.#isLoading ? "Looking …" : `No key${kind} has work.`)
            : this.#next === null ? `${counted(this.#count, "key")}${kind} ${this.#count === 1 ? "has" : "have"} work`
            : `The first ${number(this.#count)} keys${kind} that have work; more come as you scroll`;
        set(element("keys-say"), chosen > 0 ? `${number(chosen)} selected` : says);
        this.#frame.hidden = this.#count === 0;
        element("keys-acts").hidden = !this.#actions.isAllowed || this.#count === 0;
        element("keys-help").hidden = this.#count === 0;
        element("keys-help-acts").hidden = !this.#actions.isAllowed;
        this.#frame.setAttribute("aria-multiselectable", String(this.#actions.isAllowed));
        this.#frame.classList.toggle("may-act", this.#actions.isAllowed);
        const which = chosen > 0 ? `${number(chosen)} selected` : this.prefix !== "" ? "all with this beginning" : "all";
        set(element("flush"), `Flush ${which} …`);
        set(element("cancel"), `Cancel ${which} …`);
    }

    #toggle(index) {
        const found = this.#listing(index);
        if (!this.#actions.isAllowed || !found) return;
        const id = identity(found.listing.key);
        if (!this.#chosen.delete(id)) this.#chosen.set(id, found.listing.key);
        this.ask();
    }

    #openAt(index) {
        const found = this.#listing(index);
        if (found) this.#open(found.listing.key);
    }

    #click(event) {
        const row = this.#rows.find(({ item }) => item.contains(event.target));
        if (!row) return;
        this.#active = row.index;
        this.ask();
        if (row.check.contains(event.target)) this.#toggle(row.index);
        else this.#openAt(row.index);
    }

    #key(event) {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const inSight = Math.max(1, Math.floor(this.#frame.clientHeight / Keys.row) - 1);
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: inSight, PageUp: -inSight, Home: -Infinity, End: Infinity };
        if (event.key in steps) this.#moveTo(this.#active + steps[event.key]);
        else if (event.key === "Enter") this.#openAt(this.#active);
        else if (event.key === " ") this.#toggle(this.#active);
        else return;
        event.preventDefault();
    }

    #moveTo(index) {
        this.#active = Math.max(0, Math.min(index, this.#count - 1));
        const top = this.#active * Keys.row;
        const { scrollTop, clientHeight } = this.#frame;
        if (top < scrollTop) this.#frame.scrollTop = top;
        else if (top + Keys.row > scrollTop + clientHeight) this.#frame.scrollTop = top + Keys.row - clientHeight;
        this.ask();
    }

    #ask(action) {
        if (this.#chosen.size > 0) {
            this.#actions.ask(action, Actions.parts("key", this.#chosen.values()), counted(this.#chosen.size, "key"));
        } else if (this.prefix !== "") {
            this.#actions.ask(action, [[["prefix", this.prefix]]], `all keys that begin with ${plain(this.prefix)}`);
        } else {
            this.#actions.ask(action, [[["all", 1]]], "all keys");
        }
    }

    /** Asks again after something has changed. */
    refresh() {
        this.#chosen.clear();
        for (const page of this.#pages) page.isStale = true;
        this.ask();
    }
}
