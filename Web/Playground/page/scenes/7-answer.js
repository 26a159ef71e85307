scenes.push({
    id: "answer",
    title: "Three messages, one answer",
    says: "The bot answers two seconds after the last message. A message that comes while it is answering makes it begin again, with all "
        + "of them; but not forever: after ten seconds it finishes what it has begun.",
    mount(root, clock) {
        const messages = ["Hello!", "Where is my order?", "It is number 17.", "Are you there?"];
        let sent = 0;
        const slider = make("input", { type: "range", min: "1", max: "8", value: "4", id: "answer-slider" });
        const shown = make("output", { for: "answer-slider" }, "4 s");
        slider.addEventListener("input", () => { shown.textContent = `${slider.value} s`; });
        const events = new Events(6, "The conversation");
        const policy = makePolicy("debounce", 2000, { maxWait: 10_000, combine: "collect", whileRunning: "restart" });
        const { stage: answer, picture } = makeStage(clock, [policy], {
            handle: () => ({ takes: Number(slider.value) * 1000 }),
            ended: ({ value, outcome }) => events.add(outcome === "executed"
                ? `Bot: an answer to ${plural(value.length, "message")}` : "The bot is interrupted, and begins again"),
        }, "messages appear here", 15_000);
        const send = () => {
            const text = messages[sent++ % messages.length];
            events.add(`You: ${text}`);
            answer.submit(text, { label: "" });
        };
        const three = make("button", { "data-do": "three", class: "primary", click: () => {
            for (const pause of [0, 1000, 4500]) clock.after(pause, send);
        } }, "Three messages");
        const typing = make("button", { "data-do": "typing", click: () => answer.touch() }, "Typing …");
        root.append(make("p", {}, make("label", { for: "answer-slider" }, "An answer takes "), slider, " ", shown),
            make("p", {}, three, " ", make("button", { "data-do": "send", click: send }, "One more"), " ", typing), picture, events.list);
    },
});
