scenes.push({
    id: "notifications",
    title: "A hundred notifications of three kinds",
    says: "A burst of a hundred notifications arrives, about accounts, messages and settings. Each kind is "
        + "synchronised once, when its own notifications have paused for a second, and none of them waits longer "
        + "than five.",
    mount(root, clock) {
        const kinds = ["accounts", "messages", "settings"];
        const received = Object.fromEntries(kinds.map((kind) => [kind, 0]));
        let syncs = 0;
        const names = Object.fromEntries(kinds.map((kind) => [kind, `${kind} received`]));
        const [facts, set] = makeFacts({ ...names, syncs: "synchronisations" });
        const events = new Events(4, "Synchronisations");
        const { stage: work, picture } = makeStage(clock, [makePolicy("debounce", 1000, { maxWait: 5000 })], {
            handle: ({ key, count }) => {
                set("syncs", ++syncs);
                events.add(`${key}: one synchronisation for ${plural(count, "notification")}`);
            },
        }, "notifications appear here", 5000);
        const button = make("button", { "data-do": "burst", click: () => {
            button.disabled = true;
            for (let index = 0; index < 100; index++) {
                // Messages come most often: 60 of 100, accounts 30, settings 10.
                const kind = kinds[index % 10 === 0 ? 2 : index % 10 < 4 ? 0 : 1];
                clock.after(index * 12, () => {
                    set(kind, ++received[kind]);
                    work.submit(index, { key: kind, label: "" });
                    if (index === 99) button.disabled = false;
                });
            }
        } }, "A hundred notifications");
        root.append(make("p", {}, button), picture, facts, events.list);
    },
});
