// The server: the shorter a query, the longer the answer takes, so that answers overtake each other.
const searchTakes = (query) => Math.max(300, 2100 - 300 * query.length);

scenes.push({
    id: "search",
    title: "A search field with a slow server",
    says: "Type “swift” quickly: this server takes longer for short queries, so answers overtake each other. Without "
        + "Lull a stale answer stays. With Lull the query is sent when typing pauses, and a newer query cancels the "
        + "older one.",
    mount(root, clock) {
        const field = make("input",
            { type: "search", "aria-label": "Search", placeholder: "search" });
        const side = (name, title) => {
            const asked = make("output", { "data-fact": `${name}-asked` }, "0");
            const answer = make("output", { "data-fact": `${name}-answer`, "aria-live": "polite" }, "nothing yet");
            const events = new Events(4, title);
            root.querySelector(".pair").append(
                make("div", {}, make("h4", {}, title), "Shows ", answer, make("br"), "Queries sent: ", asked, events.list));
            let count = 0;
            return {
                ask(query) { asked.textContent = ++count; events.add(`asked for “${query}”`); },
                answer(query, isStale) {
                    answer.textContent = `“${query}”`;
                    answer.className = isStale ? "stale" : "";
                    events.add(`got “${query}”${isStale ? ", stale" : ""}`, isStale ? "stale" : "");
                },
                stop(query) { events.add(`“${query}” cancelled`); },
            };
        };
        const button = make("button", { "data-do": "type" }, "Type it for me");
        root.append(
            make("div", { class: "inputs" }, make("label", { class: "grow" }, field), button), make("div", { class: "pair" }));
        const without = side("without", "Without Lull");
        const having = side("with", "With Lull");
        const sides = [without, having];
        // Without Lull every key asks at once, and nothing is ever cancelled.
        const policies = [
            makePolicy("debounce", 0, { whileRunning: "concurrent" }), makePolicy("debounce", 300, { whileRunning: "cancel" }),
        ];
        const { stage, picture } = makeStage(clock, policies, {
            handle: ({ value, lane }) => {
                sides[lane].ask(value);
                return { takes: searchTakes(value) };
            },
            ended: (execution) => {
                const { value, lane, outcome } = execution;
                if (outcome !== "executed") return sides[lane].stop(value);
                // Compared with the last call, not with the field: an answer may be handled late, after the next key.
                execution.isStale = value !== stage.submits.at(-1).value;
                sides[lane].answer(value, execution.isStale);
            },
        }, "keys appear here", 5000);
        [stage.lanes[0].name, stage.lanes[1].name] = ["without Lull", "with Lull"];
        // As many as there are for what is typed here.
        stage.lanes[0].lines = 5;
        root.append(picture);
        const ask = () => stage.submit(field.value, { label: lastLetter(field.value) });
        let typing = null;
        const type = (text, length) => {
            field.value = text.slice(0, length);
            ask();
            typing = length < text.length ? clock.after(130, () => type(text, length + 1)) : null;
        };
        // A key of the reader ends what is typed for them.
        const stop = () => { if (typing) clock.drop(typing); };
        button.addEventListener("click", () => { stop(); type("swift", 1); });
        field.addEventListener("input", () => { stop(); ask(); });
    },
});
