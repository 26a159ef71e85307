// Builds the page of `lull top`.

"use strict";

function begin() {
    readTheme();
    isDark.addEventListener("change", readTheme);
    drawLegend(element("legend"));
    drawOwnLegend(element("legend"));
    const program = new Program();
    const table = new DebouncerTable(program);
    const timeline = new ProgramLines(program, (id) => table.open(id));
    let isLooking = false;
    /** When the last look came, and when the figures were shown. */
    let [heard, shownAt] = [-Infinity, -Infinity];
    /** The time of day of the last look: the program's clock tells none. */
    let seenAt = null;

    const showLive = (state, word) => {
        const since = program.about ? ` What is shown is from ${seenAt.toLocaleTimeString("en-GB")}.` : "";
        // The command waits for another program, as long as it runs itself.
        const more = stream.nextAttempt === null ? " The page goes on when a program answers there." : "";
        showState(state, word, state === "away" ? sentence(program.away) + since + more : "", program.about ? plain(program.about.name) : null);
    };

    const showFiguresOf = () => {
        const { totals, about } = program;
        set(element("name"), plain(about.name) || "A program");
        set(element("process"), `process ${about.process}: ${counted(totals.debouncers, "debouncer")}`);
        const { submitted, started } = totals;
        const parts = submitted === 0 ? ["Nothing has been submitted yet."]
            : ["", counted(submitted, "submit"), " became ", counted(started, "execution")];
        if (started > 0 && submitted > started) parts.push(", ", `${shownShare(1 - started / submitted)}\u00a0saved`);
        if (submitted > 0) parts.push(".", "");
        if (element("headline").textContent !== parts.join("")) {
            element("headline").replaceChildren(...parts.map((part, index) => (index % 2 ? make("b", {}, part) : part)));
        }
        const rate = (rate) => (rate === null ? "–" : shownRate(rate));
        showFigures(element("figures"), [
            { name: "keys", property: "keys", help: "The keys that are remembered." },
            { name: "pending", property: "pending", help: "The submits that are pending, or due and waiting to start." },
            { name: "running", property: "running", help: "The executions that are running." },
            { name: "in/s", property: "submits", help: "Submits in the last second." },
            { name: "out/s", property: "runs", help: "Executions in the last second." },
            { name: "failed", property: "failed", help: "The submits whose handler has thrown." },
        ], { ...totals, submits: rate(totals.submits), runs: rate(totals.runs) });
        table.show();
        shownAt = performance.now();
    };

    const showLook = (look) => {
        const process = program.about?.process;
        program.take(look);
        set(element("path"), plain(look.path));
        element("path").title = plain(look.path);
        set(element("version"), `Lull ${look.version}`);
        element("main").hidden = false;
        if (program.away !== null) showLive("away", "Away");
        else {
            [heard, seenAt] = [performance.now(), new Date()];
            if (process !== undefined && process !== program.about.process) timeline.forget();
            showLive("live", "Live");
        }
        element("program").hidden = program.about === null;
        if (program.about) {
            timeline.take();
            // Figures that change four times a second cannot be read.
            if (performance.now() - shownAt >= 900 || program.away !== null || process !== program.about.process) showFiguresOf();
        }
        document.body.dataset.ready = "yes";
    };

    const lose = (why) => {
        program.lose(why);
        element("main").hidden = false;
        element("program").hidden = program.about === null;
        showLive("away", "Away");
    };

    const stream = new Stream((what, about) => {
        if (what === "look") {
            element("next").hidden = element("again").hidden = true;
            showLook(about);
        } else if (what === "connects") {
            element("next").hidden = element("again").hidden = true;
            if (program.about === null && program.away === null) showLive("waits", "Connecting …");
        } else if (what === "lost") {
            lose(about === "The server does not answer." ? "lull top has ended, or does not answer" : about);
        } else {
            lose(about.message);
            element("again").hidden = false;
        }
        if (what === "lost" || what === "ended") document.body.dataset.ready = "yes";
    });

    const start = () => {
        isLooking = true;
        element("again").hidden = true;
        stream.open();
    };
    keepOpen(stream, start, () => isLooking);
    addEventListener("resize", () => program.about && timeline.take());
    start();
    /** For tests. */
    globalThis.lull = { program, stream, timeline, table };
}

begin();
