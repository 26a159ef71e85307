scenes.push({
    id: "delay",
    title: "A delay for each call",
    says: "Each Submit sets a delay and a task: the last task runs when all the delays have passed. A shorter delay "
        + "never shortens a longer one, and Cancel drops them all.",
    mount(root, clock) {
        let submitted = 0;
        let range = null;
        const slider = make("input",
            { type: "range", min: "0", max: "5", step: "0.5", value: "2", id: "delay-slider" });
        const shown = make("output", { for: "delay-slider" }, "2 s");
        slider.addEventListener("input", () => { shown.textContent = `${slider.value} s`; });
        const bar = make("progress", { max: "1", value: "0", "aria-label": "Until the task runs" });
        const [facts, set] = makeFacts({
            submitted: "task submitted last", executed: "task executed last", cancelled: "task cancelled last",
        });
        for (const name of ["submitted", "executed", "cancelled"]) set(name, "–");
        const { stage: delay, picture, nextDue } = makeStage(clock, [makePolicy("debounce", 0, { delayRule: "extend" })], {
            handle: ({ value }) => {
                set("executed", value);
                range = null;
                bar.value = 1;
            },
            dropped: ([task], fate) => {
                if (fate === "cancelled") set("cancelled", task.value);
            },
        }, "tasks appear here");
        const tick = () => {
            if (!range) return;
            bar.value = Math.min(1, (clock.now - range.from) / Math.max(1, range.to - range.from));
            if (wantsLessMotion.matches) setTimeout(tick, 500); else requestAnimationFrame(tick);
        };
        const submit = () => {
            submitted += 1;
            set("submitted", submitted);
            delay.submit(submitted, { wait: Number(slider.value) * 1000 });
            const due = nextDue();
            if (due == null) return;
            const isNew = !range;
            range = { from: range?.from ?? clock.now, to: due };
            if (isNew) tick();
        };
        const cancel = () => {
            delay.cancel();
            range = null;
            bar.value = 0;
        };
        root.append(
            make("p", {}, make("label", { for: "delay-slider" }, "Delay "), slider, " ", shown),
            make("p", {}, make("button", { "data-do": "submit", class: "primary", click: submit }, "Submit"), " ",
                make("button", { "data-do": "cancel", click: cancel }, "Cancel")),
            bar, picture, facts);
    },
});
