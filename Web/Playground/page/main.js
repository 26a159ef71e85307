// Builds the page.

/** What the story makes of executions. */
const observer = {};
const stage = new Stage(new Clock(), observer);
const sceneClock = new Clock();

function showNotice(text) {
    element("notice").textContent = text;
    element("notice").hidden = text === "";
}

/** Shows the counters of each policy, at most once per frame. */
function connectCounters(showRows) {
    const body = element("counters").tBodies[0];
    const columns = [...counterNames, "addUp", "executions", "nextDue"];
    const show = () => {
        showRows();
        while (body.rows.length > stage.lanes.length) body.lastChild.remove();
        stage.lanes.forEach((lane, index) => {
            const cells = () => columns.map((name) => make("td", { "data-count": name }));
            const row = body.rows[index] ?? body.appendChild(make("tr", {}, make("th", { scope: "row" }), ...cells()));
            const { counters } = lane;
            const due = lane.coalescer.nextDue();
            const shown = { ...counters, addUp: counters.addUp ? "✓" : "no", executions: lane.executions.length,
                nextDue: due == null ? "–" : `in ${(Math.max(0, due - stage.clock.now) / 1000).toFixed(2)} s` };
            const name = policyName(lane.policy);
            if (row.cells[0].textContent !== name) {
                const swatch = make("span", { class: "swatch" });
                swatch.style.background = `var(--c${index})`;
                row.cells[0].replaceChildren(swatch, name);
            }
            columns.forEach((column, cell) => {
                const text = String(shown[column]);
                if (row.cells[cell + 1].textContent !== text) row.cells[cell + 1].textContent = text;
            });
        });
    };
    let isAsked = false;
    const ask = () => {
        if (isAsked) return;
        isAsked = true;
        const later = wantsLessMotion.matches ? (body) => setTimeout(body, 250) : requestAnimationFrame;
        later(() => {
            isAsked = false;
            show();
            if (stage.lanes.some((lane) => lane.coalescer.nextDue() != null)) ask();
        });
    };
    return ask;
}

/** On a narrow screen, keeps the timeline and its input in sight while the reader scrolls through the rest, if enough of it is left. */
function keepInSight(seen) {
    const measure = () => {
        document.body.classList.toggle("fits", seen.offsetHeight <= 0.7 * innerHeight);
        document.body.style.setProperty("--seen", `${seen.offsetHeight}px`);
    };
    new ResizeObserver(measure).observe(seen);
    addEventListener("resize", measure);
}

/** Returns the part of that length, in milliseconds, which has the most keys. */
function busiest(gaps, length) {
    let best = [];
    for (let from = 0; from < gaps.length; from++) {
        let at = 0;
        let to = from + 1;
        while (to < gaps.length && at + gaps[to] <= length) at += gaps[to++];
        if (to - from > best.length) best = [0, ...gaps.slice(from + 1, to)];
    }
    return best;
}

function begin() {
    readTheme();
    isDark.addEventListener("change", readTheme);
    // Apart from the site, the page stands alone.
    for (const name of ["way-out", "modules"]) element(name).hidden = !element(name).querySelector("a");
    const timeline = new Timeline(element("timeline"), stage);
    for (const name of ["first-legend", "timeline-help"]) drawLegend(element(name));
    keepInSight(document.querySelector(".seen"));
    const words = new Words(stage, element("log"), element("spoken"));
    let panel = null;
    const demo = new Demo(stage, () => {
        showPause();
        timeline.caller = demo.isOver ? "you" : "calls";
        timeline.ask();
        if (!demo.isTouched) return;
        element("turn").textContent = "Your turn:";
        words.isSilent = false;
    });
    let story = null;
    /** The button says what it does next. */
    const showPause = () => {
        const moves = story?.isTold ? story.isPlaying || timeline.isLively : demo.isPlaying || demo.isOver;
        const text = timeline.isPaused || !moves ? "Play" : "Pause";
        if (element("pause").textContent !== text) element("pause").textContent = text;
    };
    timeline.drawn = showPause;
    /** Whether the address has the calls, too: they have been dragged. */
    let isArranged = false;
    const drag = new Drag(stage, timeline, {
        begin() {
            const { toCome } = demo;
            demo.stop({ clearing: false });
            stage.schedule(toCome);
            inputs.replay.stop();
            story.arrange();
        },
        ended() {
            isArranged = resumesOnSubmit = true;
            showPause();
            showAddress();
        },
    });
    timeline.invites = () => !drag.isKnown && (!demo.isOver || !timeline.isLively);
    /** Whether the timeline resumes at the next submit: a link or a restart has paused it, not the reader. */
    let resumesOnSubmit = false;
    const setPaused = (isPaused) => {
        timeline.isPaused = resumesOnSubmit = isPaused;
        showPause();
    };
    /** Shows calls that have been made, up to their end, and says so if these are not all. */
    const showCalls = () => {
        setPaused(true);
        const seen = timeline.showAll(element("window"));
        const { length } = stage.submits;
        const isLongest = element("window").selectedIndex === element("window").options.length - 1;
        element("detail").textContent = seen === length ? "" : `The picture shows the last ${plural(seen, "call")} of ${length}: `
            + (isLongest ? "the arrow keys go back to earlier executions." : "a longer window shows more, less clearly.");
    };
    const showCounters = connectCounters(() => rows.show());
    let inputs = null;
    stage.changed = (name, about) => {
        if (name === "over") return showNotice("The last handle is released. Start over to continue.");
        if (name === "started over") {
            inputs?.replay.stop();
            if (demo.isOver) showNotice("");
            // A paused picture would show calls that are gone.
            if (timeline.isPaused) setPaused(true);
        }
        if (demo.isOver && (name === "started over" || name === "submitted")) rows.forget();
        const { selected } = timeline;
        if (selected && !stage.lanes.some((lane) => lane.executions.includes(selected))) {
            timeline.selected = null;
            element("detail").textContent = "";
        }
        // What it says about the calls of a link holds no longer.
        if (name === "submitted" && !timeline.selected) element("detail").textContent = "";
        if (name === "submitted" && resumesOnSubmit && demo.isOver) setPaused(false);
        if (!stage.calls.includes(timeline.call)) timeline.call = null;
        if (isArranged && (name === "started over" || name === "submitted")) {
            isArranged = false;
            showAddress();
        }
        words.happened(name, about);
        panel?.showLink();
        story?.show();
        showCounters();
        timeline.ask();
    };
    stage.policies = defaultPolicies();
    inputs = connectInputs(stage, timeline, drag);
    element("pause").addEventListener("click", () => {
        if (story.isTold) {
            if (element("pause").textContent === "Play") return story.play();
            story.pause();
            return setPaused(true);
        }
        if (!demo.isOver && !demo.isPlaying) {
            setPaused(false);
            demo.play();
            return;
        }
        if (!demo.isOver) demo.pause();
        setPaused(!timeline.isPaused);
        resumesOnSubmit = false;
    });
    let lastLink = null;
    let linkCount = 0;
    const showGaps = (gaps, policy) => {
        demo.stop({ clearing: false });
        let at = 0;
        stage.policies = [policy, ...defaultPolicies().slice(1)];
        stage.load([...gaps.map((gap, index) => ({ at: at += gap, do: "submit", value: index + 1, label: "", key: "", wait: null })),
            { at: at + 2 * policy.wait, do: "end" }]);
        showCalls();
        panel.choose(0);
        element("lanes").scrollIntoView();
    };
    const judge = new TypingJudge(showGaps);
    const duel = new Duel();
    const rows = new LaneRows(element("lanes"), stage, (policy, index) => panel.replace(policy, index));
    /** Writes the stage into the address. */
    const setAddress = (link) => {
        lastLink = link.replace("#!", document.body.classList.contains("embed") ? "#!embed&" : "#!");
        history.replaceState(null, "", lastLink);
    };
    const showAddress = async () => {
        setAddress(stageLink(stage));
        if (!isArranged) return;
        const number = ++linkCount;
        const { link } = await linkWithCalls(stage);
        if (isArranged && number === linkCount) setAddress(link);
    };
    const showWhole = () => { element("whole").href = location.href.split("#")[0] + stageLink(stage); };
    panel = new Panel(stage, () => {
        showWhole();
        showAddress();
        panel.showCode();
    });
    element("add").addEventListener("click", () => panel.add());
    element("remove").addEventListener("click", () => panel.remove());
    const follow = async () => {
        const link = location.hash;
        // A link to a section of the page leaves everything as it is.
        if (link === "#story") document.body.classList.remove("linked");
        if (!link.startsWith("#!")) return;
        // A newer link may be followed before an older one has been read.
        const number = ++linkCount;
        const isWanted = () => number === linkCount;
        showNotice("");
        document.body.classList.toggle("embed", /[!&]embed(&|$)/.test(link));
        // A visitor who follows a link to a stage finds it at the top.
        document.body.classList.add("linked");
        if (link === lastLink) return;
        const typing = /^#!(typing|duel)=(.*)$/.exec(link);
        try {
            if (typing) await { typing: judge, duel }[typing[1]].showLink(typing[2]);
            else if (await followLink(link, stage, isWanted)) lastLink = link;
            if (!isWanted()) return;
            isArranged = !typing && stage.calls.length > 0;
            // The settings that it brought have written themselves into the address.
            history.replaceState(null, "", link);
            if (!typing && stage.calls.length > 0) {
                demo.stop({ clearing: false });
                showCalls();
            } else if (!typing && !demo.isOver) {
                // Other policies have cleared the stage.
                setPaused(false);
                demo.begin();
            }
            panel.choose(0);
            showWhole();
        } catch (error) {
            if (isWanted()) showNotice(`This link was not understood: ${error.message}.`);
        }
    };
    addEventListener("hashchange", follow);
    panel.choose(0);
    showWhole();
    const isFollowed = follow();
    for (const id of ["takes", "throws", "key", "delay"]) {
        element(id).addEventListener("change", () => {
            if (location.hash.startsWith("#!")) showAddress();
            panel.showCode();
        });
    }
    // A call of the reader's own begins with an empty stage. Whatever else they do there, such as looking at an execution, ends the
    // demonstration and leaves its picture. Scrolling does nothing, and a slider asks about what is shown.
    const take = (event) => {
        // A link that is followed sets fields as well. Pausing and playing are about the demonstration itself.
        if (!event.isTrusted || element("lanes").contains(event.target) || event.target === element("pause")) return;
        if (event.target.closest("[data-call]")?.dataset.call === event.type) demo.stop();
        else if (!["pointermove", "input"].includes(event.type) && !["Tab", "Shift"].includes(event.key)) demo.rest();
    };
    for (const name of ["click", "input", "pointermove", "keydown", "change"]) {
        element("stage").addEventListener(name, take, { capture: true });
    }
    mountScenes(element("scene-list"), sceneClock);
    connectTuning(stage, inputs.gaps, showGaps);
    story = new Story(stage, observer, {
        begin() {
            demo.pause();
            setPaused(false);
        },
        changed(span) {
            timeline.span = element("window").value = span;
            panel.choose(0);
            showPause();
            timeline.ask();
        },
    });
    const breaking = new Break();
    const workers = new Workers();
    const puzzle = new Puzzle(busiest(inputs.gaps, 20_000));
    timeline.ask();
    isFollowed.then(() => {
        if (stage.calls.length === 0 && !demo.isOver) demo.begin();
    });
    return { judge, duel, story, breaking, workers, puzzle, timeline, panel, inputs, demo, isFollowed };
}

loadModule(element("module").textContent).then(async () => {
    const { isFollowed, ...parts } = begin();
    /** For the tests, and for use in the console. */
    window.playground = {
        Engine, Coalescer, Clock, StoreSimulation, presets, swiftCode, commandLine, policyToLink, policyFromLink, Trace, Log, TraceError, Tuner,
        Stage, Replay, stage, sceneClock, linkWithCalls, ...parts,
    };
    await isFollowed;
    document.body.dataset.ready = "yes";
}, (error) => showNotice(`The engine does not start in this browser: ${error.message}`));
