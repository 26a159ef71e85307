// Whether what is shown is how it is, at the top of the page.

"use strict";

/** For how long a page that nobody sees goes on looking, in milliseconds. A browser has six connections to a server for all tabs. */
const unseenFor = 30_000;

/**
 * Shows a state: waits, live or away.
 *
 * @param why Why it is away, and of when what is shown is.
 * @param name What is shown, for the title of the window; null if that is not known.
 */
function showState(state, word, why, name) {
    const live = element("live");
    live.dataset.state = state;
    set(live.lastChild, word);
    document.body.classList.toggle("stale", state !== "live");
    element("away").hidden = state !== "away";
    set(element("away"), why);
    document.title = `${state === "live" ? "" : "(away) "}${name === null ? "" : `${name} – `}Lull`;
}

/**
 * Keeps a stream open while the page is seen, and says when the next attempt is.
 *
 * @param start Opens it.
 * @param isBegun Whether it has been opened before.
 */
function keepOpen(stream, start, isBegun) {
    setInterval(() => {
        if (stream.nextAttempt === null) return;
        const left = Math.max(0, Math.ceil((stream.nextAttempt - performance.now()) / 1000));
        set(element("next"), `next attempt in ${left} s`);
        element("next").hidden = element("again").hidden = false;
    }, 500);
    element("again").addEventListener("click", () => start());
    addEventListener("pagehide", () => stream.close());
    addEventListener("pageshow", ({ persisted }) => persisted && start());
    let unseen = 0;
    document.addEventListener("visibilitychange", () => {
        clearTimeout(unseen);
        if (document.hidden) unseen = setTimeout(() => stream.close(), unseenFor);
        else if (!stream.isOpen && isBegun()) start();
    });
}
