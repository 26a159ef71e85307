// Builds the page.

"use strict";

function begin() {
    readTheme();
    isDark.addEventListener("change", readTheme);
    drawLegend(element("legend"));
    drawOwnLegend(element("legend"));
    const looks = new Looks();
    const actions = new Actions(looks);
    const story = new Story(looks, actions);
    const open = (key) => story.open(key);
    const timeline = new KeyLines(looks, open);
    const rates = new Rates();
    const workers = new Workers(looks, open);
    const dead = new Dead(looks, actions, open);
    const keys = new Keys(looks, actions, open);
    let chosen = null;
    let wantedKey = null;
    let me = null;

    // MARK: - The address: what is looked at, and nothing that is secret

    const readAddress = () => {
        const parts = new URLSearchParams(location.hash.slice(1));
        const key = parts.get("key-base64");
        chosen = parts.get("namespace");
        wantedKey = key !== null ? { base64: key } : parts.get("key");
    };
    const writeAddress = () => {
        const parts = new URLSearchParams();
        if (looks.detail) parts.set("namespace", looks.detail.namespace);
        if (typeof story.key === "string") parts.set("key", story.key);
        else if (story.key !== null) parts.set("key-base64", story.key.base64);
        history.replaceState(null, "", `#${parts}`);
    };
    story.changed = writeAddress;

    // MARK: - What the server says

    const namespaces = new Namespaces(looks, (namespace) => {
        if (namespace === chosen && namespace === looks.detail?.namespace) return;
        chosen = namespace;
        if (story.key !== null) story.close();
        stream.open(namespace);
    });

    const showLive = (state, word) => {
        const since = looks.look?.namespaces ? ` What is shown is from ${timeOfDay(looks.now, looks.now, { second: "2-digit" })}.` : "";
        showState(state, word, state === "away" ? sentence(looks.away) + since : "", looks.detail ? plain(looks.detail.namespace) : null);
    };

    /** Shows what changes with the time alone. */
    const showAges = () => {
        namespaces.show();
        rates.show(looks.detail.rates, looks.now, looks.namespace?.countedSince ?? -Infinity);
        workers.show();
        dead.show();
    };
    setInterval(() => {
        if (looks.away !== null || !looks.detail || document.hidden) return;
        showAges();
        keys.ask();
    }, 1000);

    const showLook = (look) => {
        const shown = looks.detail?.namespace;
        looks.take(look);
        element("main").hidden = false;
        if (looks.away !== null) showLive("away", "The store is away");
        else showLive("live", "Live");
        if (!looks.look?.namespaces) return;
        showNone(looks.look.namespaces.length === 0);
        if (!looks.detail) {
            if (story.key !== null) story.close();
            namespaces.show();
            return;
        }
        chosen = looks.detail.namespace;
        if (shown !== chosen) {
            for (const part of [timeline, dead, keys]) part.forget();
            writeAddress();
        }
        timeline.take();
        showAges();
        keys.take();
        const isPaused = looks.namespace?.paused != null;
        set(element("pause"), isPaused ? "Resume …" : "Pause …");
        if (wantedKey !== null) {
            const key = wantedKey;
            wantedKey = null;
            open(key);
        } else story.take();
        document.body.dataset.ready = "yes";
    };

    const showNone = (isNone) => {
        const place = element("none");
        place.hidden = !isNone;
        if (isNone && place.childElementCount === 0) {
            place.append(make("h2", {}, "No namespaces yet"),
                make("p", {}, "The first process that uses one makes it, for example:"),
                make("pre", {}, `lull submit --store ${me?.store ?? "URL"} --namespace orders --wait 2s KEY VALUE`));
        }
        if (isNone) document.body.dataset.ready = "yes";
    };

    const stream = new Stream((what, about) => {
        if (what === "look") {
            if (me === null) askMe();
            showLook(about);
        } else if (what === "connects") {
            element("next").hidden = element("again").hidden = true;
            if (looks.look === null) showLive("waits", "Connecting …");
        } else if (what === "lost") {
            looks.lose(about);
            element("main").hidden = looks.look === null;
            showLive("away", "Away");
        } else if (what === "ended" && about.status !== 401 && about.status !== 403) {
            looks.lose(about.message);
            element("main").hidden = false;
            showLive("away", "Away");
            // The namespace of the address may be gone.
            if (about.status === 404 && chosen !== null) {
                chosen = null;
                stream.open(null);
            } else element("again").hidden = false;
        }
    }, () => {
        const events = new Events();
        return (event) => events.look(event);
    });

    keepOpen(stream, () => start(), () => me !== null);

    // MARK: - Who may

    const showMe = () => {
        set(element("store"), plain(me.store));
        element("store").title = plain(me.store);
        actions.isAllowed = me.role === "act";
        const may = actions.isAllowed ? "may act" : "looks only";
        set(element("who"), me.name === null ? (actions.isAllowed ? "" : "Looks only") : `${plain(me.name)} ${may}`);
        element("namespace-acts").hidden = !actions.isAllowed;
        set(element("role"), actions.isAllowed ? "" : me.name === null
            ? "This page only looks. To flush, retry or pause from here, its operator starts lull serve with --allow-actions."
            : "Your token only lets you look. To flush, retry or pause from here, you need one with the role act.");
        element("role").hidden = actions.isAllowed;
        set(element("version"), `Lull ${me.version}`);
    };

    door.locked = (status, why, path) => {
        // One that may not do something may still look.
        if (status === 403 && path !== "me" && path !== "events") return;
        stream.close();
        const hadToken = door.token !== "";
        door.token = "";
        element("main").hidden = true;
        if (story.key !== null) story.close();
        element("token-gate").hidden = false;
        element("token-wrong").textContent = hadToken || status === 403 ? sentence(why) : "";
        showLive("waits", "Waits for a token");
        element("live").hidden = true;
        element("token").focus();
        document.body.dataset.ready = "yes";
    };
    element("token-form").addEventListener("submit", (event) => {
        event.preventDefault();
        door.token = element("token").value.trim();
        element("token").value = "";
        element("token-gate").hidden = true;
        start();
    });

    /** Asks who the reader is; returns whether the page may go on. */
    const askMe = async () => {
        try {
            me = await door.get("me");
            showMe();
            return true;
        } catch (error) {
            // The stream says what else is wrong, and tries again.
            return error.status !== 401 && error.status !== 403;
        }
    };
    const start = async () => {
        element("live").hidden = false;
        element("again").hidden = true;
        if (await askMe()) stream.open(chosen);
    };

    element("submit-value").addEventListener("click", () => actions.submit());
    element("pause").addEventListener("click", () => (looks.namespace?.paused != null ? actions.resume() : actions.pause()));
    actions.happened = () => {
        for (const part of [keys, dead, story]) part.refresh();
    };
    addEventListener("hashchange", () => {
        readAddress();
        if (chosen !== looks.detail?.namespace) {
            if (story.key !== null) story.close();
            stream.open(chosen);
        } else {
            if (wantedKey !== null) open(wantedKey);
            wantedKey = null;
        }
    });

    readAddress();
    start();
    /** For tests. */
    globalThis.lull = { looks, stream, timeline, keys, dead, story };
}

begin();
