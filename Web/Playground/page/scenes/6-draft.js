scenes.push({
    id: "draft",
    title: "A draft that is saved",
    says: "The draft is saved two seconds after the last key, and at the latest after ten while you keep writing. "
        + "When you leave the screen, unsaved text is saved at once.",
    mount(root, clock) {
        const why = { trailing: "you paused", maxWait: "ten seconds had passed", flush: "you left the screen" };
        const text = make("textarea", { "aria-label": "Draft", placeholder: "Write something" });
        const state = make("output", { "data-fact": "state", "aria-live": "polite" }, "nothing to save");
        const events = new Events(3, "Saves");
        const policy = makePolicy("debounce", 2000, { maxWait: 10_000 });
        const { stage: save, picture } = makeStage(clock, [policy], {
            handle: ({ value, count, edge }) => {
                state.textContent = "saved";
                events.add(`saved ${plural(value.length, "character")} after ${plural(count, "edit")}: ${why[edge]}`);
            },
        }, "edits appear here", 15_000);
        text.addEventListener("input", () => {
            save.submit(text.value, { label: lastLetter(text.value) });
            state.textContent = "not saved yet";
        });
        const leave = make("button", { "data-do": "leave", click: () => save.flush() }, "Leave the screen");
        root.append(text, picture, make("p", {}, leave, " ", state), events.list);
    },
});
