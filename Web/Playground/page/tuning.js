// The section "Your trace": takes a trace from a file, a drop, the recording or the stage, and shows what each wait would have done.

function connectTuning(stage, gaps, showOnStage) {
    const tuner = new Tuner();
    const bill = new Bill(showOnStage);
    let name = null;
    let result = null;
    const status = element("tune-status");
    const bar = element("tune-progress");

    /** Reads a field; marks it if it is wrong. */
    const setting = (id, read) => {
        const field = element(id);
        const text = field.value.trim();
        try {
            const value = text === "" ? null : read(text);
            field.removeAttribute("aria-invalid");
            return value;
        } catch (error) {
            field.setAttribute("aria-invalid", "true");
            throw error;
        }
    };
    const percentage = (text) => {
        const number = Number(text.replace(/\s*%$/, ""));
        if (!(number >= 0 && number <= 100)) throw new Error(`“${text}” is not a percentage: write 80 %`);
        return number / 100;
    };
    const aboveZero = (text) => {
        const duration = parseDuration(text);
        if (duration <= 0) throw new Error("the waits must begin above zero");
        return duration;
    };
    const run = async () => {
        if (name === null) return;
        try {
            const first = setting("waits-first", aboveZero) ?? 50;
            const last = setting("waits-last", (text) => {
                const duration = parseDuration(text);
                if (duration < first) throw new Error("the first wait must be the shorter one");
                return duration;
            }) ?? 5000;
            const series = { first, last, maxWait: setting("waits-max", parseDuration) };
            const isUsual = ["waits-first", "waits-last"].every((id) => element(id).value === element(id).defaultValue);
            if (isUsual) series.whole = { ...series, first: 1000, last: 60_000 };
            const targets = { saving: setting("target-saving", percentage), delay: setting("target-delay", parseDuration) };
            const answered = await tuner.tune(series, targets, (share) => {
                bar.hidden = false;
                bar.value = share;
            });
            if (!answered) return;
            result = answered;
            bar.hidden = true;
            show();
        } catch (error) {
            tuner.forget();
            result = null;
            bar.hidden = true;
            element("tune").hidden = element("log-note").hidden = true;
            status.textContent = error instanceof TraceError ? `${name}, ${error.message}.` : `${error.message}.`;
        }
    };
    const show = () => {
        const { log } = result;
        element("log-note").hidden = !log?.isWhole;
        element("log-note").textContent = "The stamps of this log are whole seconds: two lines of one second may be 1 ms apart, or 999 ms. "
            + (result.debounce[0].wait >= 1000 ? "So it says nothing about waits below a second, and they are not tried."
                : "What is said below of waits below a second takes all lines of a second to be at one instant: do not rely on it.")
            + " For those, log parts of a second: $msec in nginx, %{msec_frac}t in Apache, journalctl -o short-precise.";
        if (log) status.textContent = `${name}: ${logWords(log, result.submits, result.span)}`;
        else status.textContent = result.submits === 0 ? `${name}: there is no submit in it.`
            : `${name}: ${plural(result.submits, "submit")} of ${plural(result.keys, "key")} in ${shownDuration(result.span)}.`;
        element("tune").hidden = result.submits === 0;
        if (result.submits === 0) return;
        bill.show(result);
        const kinds = ["debounce", "throttle"];
        element("suggestions").replaceChildren(...(result.insufficiency
            ? [make("p", {}, `No suggestion: ${result.insufficiency}.`)] : kinds.map((kind) => suggestion(kind, result[kind]))));
        element("tables").replaceChildren(...kinds.map((kind) => tableOf(kind, result[kind])));
        draw();
    };
    const draw = () => {
        if (result) element("chart").innerHTML = drawChart(result, Math.min(900, element("chart").clientWidth || 320));
    };
    let taken = null;
    const take = (title, trace) => {
        name = title;
        taken = trace;
        tuner.take(trace, element("log-only").value);
        status.textContent = `${name} …`;
        run();
    };

    let width = 0;
    new ResizeObserver(([entry]) => {
        if (Math.abs(entry.contentRect.width - width) < 1) return;
        width = entry.contentRect.width;
        draw();
    }).observe(element("chart"));
    element("file").addEventListener("change", (event) => {
        const [file] = event.target.files;
        if (file) take(file.name, file);
        event.target.value = "";
    });
    // Wherever a file is dropped: the browser would leave the page for it.
    const drop = document;
    const hasFiles = (event) => event.dataTransfer.types.includes("Files");
    drop.addEventListener("dragover", (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        element("drop").classList.add("over");
    });
    drop.addEventListener("dragleave", () => element("drop").classList.remove("over"));
    drop.addEventListener("drop", (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        element("drop").classList.remove("over");
        const [file] = event.dataTransfer.files;
        if (!file) return;
        element("trace").scrollIntoView();
        take(file.name, file);
    });
    element("sample").addEventListener("click", () => {
        take("Two minutes of typing", traceOfGaps(gaps));
    });
    element("own").addEventListener("click", () => take("The stage", stage.trace));
    const paste = (text) => {
        if (text.trim() !== "") take("What you pasted", text);
    };
    // Not into the field: a browser lays out a hundred thousand lines slowly.
    addEventListener("paste", (event) => {
        if (event.target !== element("paste") && event.target.closest?.("input, textarea")) return;
        event.preventDefault();
        paste(event.clipboardData.getData("text/plain"));
        if (event.target !== element("paste")) element("trace").scrollIntoView();
    });
    // What comes in another way, such as dropped text.
    element("paste").addEventListener("change", (event) => {
        paste(event.target.value);
        event.target.value = "";
    });
    element("log-only").addEventListener("change", (event) => {
        event.stopPropagation();
        if (taken !== null) take(name, taken);
    });
    element("targets").addEventListener("change", run);
    element("targets").addEventListener("submit", (event) => event.preventDefault());
}

/** Returns a trace with a single key, made of milliseconds from submit to submit. */
function traceOfGaps(gaps) {
    let at = 0;
    return gaps.map((gap) => `{"at":${(at += gap) / 1000},"key":"article"}`).join("\n");
}

function suggestion(kind, rows) {
    const row = rows.find((row) => row.reason);
    if (!row) return make("p", {}, `No ${kind} among these waits.`);
    const option = `${kind === "debounce" ? "--wait" : "--throttle"} ${durationText(row.wait)}`;
    const gain = `saves ${(row.saved * 100).toFixed(1)} %, nine of ten within ${shownDuration(row.afterLast[1])}`;
    const words = {
        knee: [`: ${gain}; more waiting saves little (the knee).`], target: [`: ${gain}, which meets the target.`],
        most: [row.saved === 0
            ? `: no ${kind} among these waits saves anything.` : `: ${gain}; saving grows steadily with the delay.`],
        nearest: [`: none meets the target; this comes nearest, ${gain}.`],
    }[row.reason];
    return make("p", { "data-suggested": kind }, make("code", {}, option), ...words);
}

function tableOf(kind, rows) {
    const columns = ["wait", "", "executions", "saved", "after the last", "premature", "longest"];
    const heads = columns.map((name) => make("th", { scope: "col" }, name));
    const table = make("table", { "data-waits": kind },
        make("caption", {}, kind === "debounce" ? "Debounce" : "Throttle"),
        make("thead", {}, make("tr", {}, ...heads)));
    const body = table.appendChild(make("tbody"));
    const cell = (text) => make("td", {}, text);
    for (const row of rows) {
        body.append(make("tr", { class: row.reason ? "chosen" : "" },
            make("th", { scope: "row" }, durationText(row.wait)),
            make("td", row.isEfficient ? { "aria-label": "efficient" } : {}, row.isEfficient ? "✓" : ""),
            cell(String(row.executions)), cell(`${(row.saved * 100).toFixed(1)} %`),
            cell(row.afterLast.map(shownDuration).join(" / ")), cell(String(row.premature)),
            cell(shownDuration(row.longest))));
    }
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Waits, ${kind}` }, table);
}
