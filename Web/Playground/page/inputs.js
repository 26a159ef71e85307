// The inputs of the stage: buttons, keys, the pointer, and the recording.

function connectInputs(stage, timeline, drag) {
    let clicks = 0;
    let turn = 0;
    const key = () => {
        const chosen = element("key").value;
        return chosen === "*" ? "ABC"[turn++ % 3] : chosen;
    };
    const duration = (id, none) => {
        const field = element(id);
        try {
            const value = field.value.trim() === "" ? none : parseDuration(field.value);
            field.removeAttribute("aria-invalid");
            return value;
        } catch (error) {
            field.setAttribute("aria-invalid", "true");
            field.dataset.wrong = error.message;
            return none;
        }
    };
    const checkFields = () => {
        duration("delay", null);
        duration("takes", 0);
        const wrong = document.querySelector("#settings [aria-invalid]");
        element("setting-wrong").textContent = wrong ? `Not used: ${wrong.dataset.wrong}.` : "";
    };
    for (const id of ["delay", "takes"]) element(id).addEventListener("change", checkFields);
    const wait = () => duration("delay", null);
    const submit = (value, event, label) => {
        stage.submit(value, { key: key(), wait: wait(), at: stage.clock.instant(event), label });
    };

    element("submit").addEventListener("click", (event) => submit(++clicks, event));
    // Enter in the field presses its button, too.
    element("submit").form.addEventListener("submit", (event) => event.preventDefault());
    element("type").addEventListener("input", (event) => {
        const { value } = event.target;
        submit(value, event, lastLetter(value));
    });
    element("pointer").addEventListener("pointermove", (event) => {
        submit(`${event.offsetX},${event.offsetY}`, event, "");
    });

    if (innerWidth < 600) element("window").value = "3000";
    timeline.span = Number(element("window").value);

    const replay = new Replay(stage, () => {
        element("replay").textContent = "Replay real typing";
        timeline.ask();
    });
    replay.key = key;
    replay.wait = wait;
    const gaps = JSON.parse(element("typing").textContent);
    const speed = element("speed");
    let playing = null;
    element("burst").addEventListener("click", () => {
        playing = "burst";
        element("replay").textContent = "Replay real typing";
        replay.play(Array.from({ length: 30 }, (_, index) => (index === 0 ? 0 : 40)));
    });
    element("replay").addEventListener("click", () => {
        if (replay.isPlaying && playing === "typing") return replay.stop();
        playing = "typing";
        replay.stop();
        element("replay").textContent = "Stop the replay";
        replay.play(gaps, Number(speed.value));
    });
    speed.addEventListener("input", () => {
        element("speed-shown").textContent = `${speed.value}×`;
        if (replay.isPlaying) stage.clock.rate = Number(speed.value);
    });

    element("touch").addEventListener("click", (event) => {
        stage.touch({ key: key(), wait: wait(), at: stage.clock.instant(event) });
    });
    element("flush").addEventListener("click", () => stage.flush());
    element("cancel").addEventListener("click", () => stage.cancel(element("cancel-running").checked));
    element("shut-down").addEventListener("click", () => stage.shutDown());
    element("gone").addEventListener("click", () => { replay.stop(); stage.releaseHandle(); });
    element("start-over").addEventListener("click", () => {
        element("type").value = "";
        stage.startOver();
    });
    const setHandler = () => stage.setHandler(duration("takes", 0), element("throws").value);
    element("takes").addEventListener("change", setHandler);
    element("throws").addEventListener("change", setHandler);

    element("window").addEventListener("change", (event) => {
        timeline.span = Number(event.target.value);
        if (!timeline.selected) element("detail").textContent = "";
        timeline.ask();
    });
    element("save-trace").addEventListener("click", () => {
        saveFile("trace.jsonl", new Blob([stage.trace], { type: "application/jsonl" }));
    });
    connectVisits(stage, timeline, drag);
    return { replay, gaps };
}

/** Lets the reader select single executions, and calls, with the arrow keys and the pointer. The row of the calls is above the first lane. */
function connectVisits(stage, timeline, drag) {
    const canvas = element("timeline");
    let lane = 0;
    const select = (execution) => {
        timeline.selected = execution;
        timeline.call = null;
        element("detail").textContent = execution ? Words.sentence(execution, stage.lanes[execution.lane].policy) : "";
        timeline.ask();
    };
    canvas.addEventListener("keydown", (event) => {
        const steps = {
            ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0],
            End: [Infinity, 0],
        };
        if (event.key === "Escape") return select(null);
        const step = steps[event.key];
        if (!step || stage.lanes.length === 0) return;
        event.preventDefault();
        const current = timeline.selected;
        lane = Math.min(Math.max(lane + step[1], stage.submits.length > 0 ? -1 : 0), stage.lanes.length - 1);
        if (lane < 0) {
            timeline.selected = null;
            return drag.visit(step[0], event.shiftKey);
        }
        timeline.call = null;
        const { executions } = stage.lanes[lane];
        if (executions.length === 0) {
            select(null);
            element("detail").textContent = `${policyName(stage.lanes[lane].policy)}: no run yet.`;
            return;
        }
        // Between lanes, selects the execution nearest in time; without a selection, the latest.
        const last = executions.length - 1;
        let index = current ? Math.min(firstIndex(executions, "at", current.at), last) : executions.length;
        if (step[1] === 0) index = Math.max(index + step[0], 0);
        select(executions[Math.min(index, last)]);
    });
    canvas.addEventListener("click", (event) => {
        // It ends a drag, or chooses a call.
        const call = event.detail > 0 && (timeline.call ?? drag.callAt(event));
        if (call && event.offsetY < timeline.top) {
            lane = -1;
            return drag.choose(call);
        }
        const execution = timeline.executionAt(event.offsetX, event.offsetY);
        if (execution) lane = execution.lane;
        select(execution);
    });
}
