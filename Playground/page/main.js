// Builds the page.

const stage = new Stage();
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
    // Opened from disk, the page stands alone.
    element("way-out").hidden = location.protocol === "file:";
    const timeline = new Timeline(element("timeline"), stage);
    drawLegend(element("timeline-help"));
    const words = new Words(stage, element("log"), element("spoken"));
    let panel = null;
    const demo = new Demo(stage, () => { element("turn").textContent = "Your turn:"; });
    const setPaused = (isPaused) => {
        timeline.isPaused = isPaused;
        element("pause").setAttribute("aria-pressed", isPaused);
    };
    const showCounters = connectCounters(() => rows.show());
    stage.changed = (name, about) => {
        if (name === "over") return showNotice("The last handle is released. Start over to continue.");
        if (name === "started over") {
            timeline.selected = null;
            element("detail").textContent = "";
            showNotice("");
        }
        const { selected } = timeline;
        if (selected && !stage.lanes.some((lane) => lane.executions.includes(selected))) {
            timeline.selected = null;
            element("detail").textContent = "";
        }
        // A picture that came with a link stands still until something is done.
        if (name === "submitted" && timeline.isPaused && demo.isOver) setPaused(false);
        words.happened(name, about);
        panel?.showLink();
        showCounters();
        timeline.ask();
    };
    stage.policies = usualPolicies();
    const inputs = connectInputs(stage, timeline);
    let lastLink = null;
    let linkCount = 0;
    const judge = new TypingJudge((gaps, policy) => {
        demo.stop();
        let at = 0;
        stage.policies = [policy, ...usualPolicies().slice(1)];
        stage.load([...gaps.map((gap, index) => ({ at: at += gap, do: "submit", value: index + 1, label: "", key: "", wait: null })),
            { at: at + 2 * policy.wait, do: "end" }]);
        timeline.showAll(element("window"));
        setPaused(true);
        panel.choose(0);
        element("stage").scrollIntoView();
    });
    const rows = new LaneRows(element("lanes"), stage, (policy, index) => panel.replace(policy, index));
    const presentLink = () =>
        stageLink(stage).replace("#!", document.body.classList.contains("embed") ? "#!embed&" : "#!");
    panel = new Panel(stage, () => {
        lastLink = presentLink();
        history.replaceState(null, "", lastLink);
        panel.showCode();
    });
    element("add").addEventListener("click", () => panel.add());
    element("remove").addEventListener("click", () => panel.remove());
    const follow = async () => {
        const link = location.hash;
        // A newer link may be followed before an older one has been read.
        const number = ++linkCount;
        const isWanted = () => number === linkCount;
        showNotice("");
        if (link === lastLink) return;
        const isEmbedded = /[!&]embed(&|$)/.test(link);
        document.body.classList.toggle("embed", isEmbedded);
        element("whole").href = location.href.replace(/embed&?/, "");
        const typing = /^#!typing=(.*)$/.exec(link);
        try {
            if (typing) await judge.showLink(typing[1]);
            else if (await followLink(link, stage, isWanted)) lastLink = link;
            if (isWanted() && !typing && stage.calls.length > 0) {
                timeline.showAll(element("window"));
                setPaused(true);
            }
        } catch (error) {
            if (isWanted()) showNotice(`This link was not understood: ${error.message}.`);
        }
        panel.choose(0);
    };
    addEventListener("hashchange", follow);
    panel.choose(0);
    const isFollowed = follow();
    for (const id of ["takes", "throws", "key", "delay"]) {
        element(id).addEventListener("change", () => {
            lastLink = presentLink();
            if (location.hash.startsWith("#!")) history.replaceState(null, "", lastLink);
            panel.showCode();
        });
    }
    // Whatever the reader does on the stage makes it theirs. Scrolling does not, and a slider asks about what is shown.
    const takeOver = (event) => { if (!element("lanes").contains(event.target)) demo.stop(); };
    for (const name of ["pointerdown", "keydown", "input", "change"]) {
        element("stage").addEventListener(name, takeOver, { capture: true });
    }
    mountScenes(element("scene-list"), sceneClock);
    connectTuning(stage, inputs.gaps);
    const puzzle = new Puzzle(busiest(inputs.gaps, 20_000));
    timeline.ask();
    isFollowed.then(() => {
        if (stage.calls.length === 0 && element("notice").hidden) demo.begin(); else demo.isOver = true;
    });
    return { judge, puzzle, timeline, panel, inputs, demo, isFollowed };
}

loadModule(element("module").textContent).then(async () => {
    const { isFollowed, ...parts } = begin();
    /** For the tests, and for use in the console. */
    window.playground = {
        Engine, Coalescer, Clock, presets, swiftCode, commandLine, policyToLink, policyFromLink, Trace, TraceError, Tuner,
        Stage, Replay, stage, sceneClock, linkWithCalls, ...parts,
    };
    await isFollowed;
    document.body.dataset.ready = "yes";
}, (error) => showNotice(`The engine does not start in this browser: ${error.message}`));
