scenes.push({
    id: "stepper",
    title: "A stepper and its device",
    says: "Press + and − as fast as you like: the number follows at once, and the device gets one request, when your "
        + "hand has paused for a second. Every press that is not sent saves a request.",
    mount(root, clock) {
        let [level, presses, sent] = [0, 0, 0];
        const shown = make("output", { class: "big", "aria-live": "off" }, "0");
        const device = make("output", {}, "0");
        const [facts, set] = makeFacts({ presses: "presses", sent: "requests sent", saved: "requests saved" });
        const events = new Events(3, "Requests to the device");
        const show = () => {
            shown.textContent = level;
            set("presses", presses);
            set("sent", sent);
            set("saved", presses - work.stage.lanes[0].counters.pending - sent);
        };
        const work = makeStage(clock, [makePolicy("debounce", 1000)], {
            handle: ({ value, count }) => {
                sent += 1;
                device.textContent = value;
                events.add(`set(${value}), instead of ${plural(count, "request")}`);
            },
            ended: () => show(),
        }, "presses appear here");
        const step = (by) => {
            level += by;
            presses += 1;
            work.stage.submit(level);
            show();
        };
        root.append(
            make("p", {},
                make("button", { "aria-label": "less", "data-do": "less", click: () => step(-1) }, "−"), " ", shown,
                " ",
                make("button", { "aria-label": "more", "data-do": "more", click: () => step(1) }, "+"),
                "  The device is at ", device, "."),
            work.picture, facts, events.list);
    },
});
