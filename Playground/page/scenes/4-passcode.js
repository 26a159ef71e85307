scenes.push({
    id: "passcode",
    title: "The passcode lock",
    says: "The code is 1234: four digits are tried at once, and whoever stops before that finds the lock cleared after a second and a "
        + "half. One policy does both, by its wait and its limit of pending digits.",
    mount(root, clock) {
        const dots = make("output", { class: "big", "aria-label": "Digits entered", "data-fact": "digits" }, "○○○○");
        const state = make("output", { "data-fact": "lock", "aria-live": "polite" }, "locked");
        let entered = 0;
        const show = () => { dots.textContent = "●".repeat(entered) + "○".repeat(4 - entered); };
        const lock = new Coalescer(makePolicy("debounce", 1500, { maxCount: 4, combine: "collect" }), clock, ({ value, edge }) => {
            const code = value.join("");
            state.textContent = code === "1234" ? "open" : edge === "maxCount" ? "wrong code" : "cleared: too slow";
            entered = 0;
        }, { ended: show });
        const press = (digit) => {
            entered += 1;
            state.textContent = "locked";
            lock.submit(digit);
            show();
        };
        const pad = make("div", { class: "pad", role: "group", "aria-label": "Digits" });
        for (const digit of "123456789") pad.append(make("button", { "data-digit": digit, click: () => press(digit) }, digit));
        root.append(make("p", {}, dots, " ", state), pad);
    },
});
