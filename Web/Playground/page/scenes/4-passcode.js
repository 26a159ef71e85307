scenes.push({
    id: "passcode",
    title: "The passcode lock",
    says: "The code is 1234. Three wrong codes lock the door if there are less than ten seconds from each to the "
        + "next; a longer pause, or the right code, resets the count.",
    mount(root, clock) {
        const dots = make("output", { class: "big", "aria-label": "Digits entered", "data-fact": "digits" }, "○○○○");
        const state = make("output", { "data-fact": "lock", "aria-live": "polite" }, "closed");
        const memory = make("output", { "data-fact": "memory", class: "quiet", "aria-live": "polite" },
            "No wrong code is remembered.");
        let [digits, wrongOnes, isLocked] = ["", 0, false];
        const remember = () => {
            memory.textContent = wrongOnes === 0
                ? "No wrong code is remembered."
                : `${plural(wrongOnes, "wrong code")} remembered, until ten seconds pass.`;
        };
        const { stage: recent, picture, nextDue } = makeStage(clock, [makePolicy("debounce", 10_000)], {
            handle: () => {
                wrongOnes = 0;
                remember();
            },
        }, "wrong codes appear here", 30_000);
        const attempt = () => {
            if (digits === "1234") {
                recent.cancel();
                wrongOnes = 0;
                state.textContent = "open";
            } else {
                wrongOnes = nextDue() == null ? 1 : wrongOnes + 1;
                isLocked = wrongOnes === 3;
                state.textContent = isLocked ? "locked" : "wrong code";
                recent.submit("wrong");
            }
            digits = "";
            remember();
        };
        const show = () => {
            dots.textContent = "●".repeat(digits.length) + "○".repeat(4 - digits.length);
            for (const button of pad.children) button.disabled = isLocked;
            reset.hidden = !isLocked;
        };
        const press = (digit) => {
            digits += digit;
            if (digits.length === 1) state.textContent = "closed";
            if (digits.length === 4) attempt();
            show();
        };
        const pad = make("div", { class: "pad", role: "group", "aria-label": "Digits" });
        for (const digit of "123456") {
            pad.append(make("button", { "data-digit": digit, click: () => press(digit) }, digit));
        }
        const reset = make("button", { "data-do": "reset", hidden: true, click: () => {
            isLocked = false;
            recent.cancel();
            wrongOnes = 0;
            state.textContent = "closed";
            remember();
            show();
        } }, "Call the locksmith");
        root.append(make("p", {}, dots, " ", state), pad, picture, make("p", {}, memory, " ", reset));
    },
});
