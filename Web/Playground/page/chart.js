// Draws saving over delay, with a point for each wait: the chart of `lull tune`, in the colours of the page.

function drawChart(result, width) {
    const isNarrow = width < 560;
    const [height, left, right, top, bottom] = isNarrow ? [372, 52, 14, 72, 316] : [400, 52, 90, 40, 344];
    const series = ["debounce", "throttle"].filter((kind) => result[kind].length > 0);
    const points = series.flatMap((kind) => result[kind]);
    const shortest = Math.min(...points.map((row) => row.wait));
    const delay = (row) => Math.max(row.afterLast[1], shortest / 5, 1e-6);
    const delays = points.map(delay);
    const [low, high] = [Math.min(...delays) / 1.15, Math.max(...delays) * 1.15];
    const x = (value) => left + (Math.log(value / low) / Math.log(high / low)) * (width - left - right);
    const y = (share) => bottom - Math.max(0, share) * (bottom - top);
    const parts = [];
    const text = (content, x, y, anchor = "middle", extra = "") =>
        parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${extra}>${content}</text>`);
    text("submits that needed no execution", 4, 20, "start", 'font-weight="600"');
    for (let share = 0; share <= 1.001; share += 0.2) {
        parts.push(`<line class="grid" x1="${left}" x2="${width - right}" y1="${y(share)}" y2="${y(share)}"/>`);
        text(`${Math.round(share * 100)} %`, left - 8, y(share) + 4.5, "end", 'class="faint"');
    }
    parts.push(`<line class="axis" x1="${left}" x2="${width - right}" y1="${bottom}" y2="${bottom}"/>`);
    const ticks = [];
    for (let decade = 1e-6; decade <= high; decade *= 10) ticks.push(...[1, 2, 5].map((factor) => factor * decade));
    let lastTick = -Infinity;
    for (const tick of ticks.filter((tick) => tick >= low && tick <= high)) {
        if (x(tick) - lastTick < 52) continue;
        lastTick = x(tick);
        parts.push(`<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="${bottom}" y2="${bottom + 5}"/>`);
        text(shownDuration(tick), x(tick), bottom + 20, "middle", 'class="faint"');
    }
    const across = isNarrow
        ? "delay after the last submit (p90)" : "delay from the last submit to the execution (nine of ten are shorter)";
    text(across, (left + width - right) / 2, bottom + 42, "middle", 'font-weight="600"');

    // Keeps the names at the ends apart.
    const ends = series.map((kind) => y(result[kind].at(-1).saved));
    if (ends.length === 2 && Math.abs(ends[0] - ends[1]) < 18) {
        const [upper, lower] = ends[0] <= ends[1] ? [0, 1] : [1, 0];
        const middle = (ends[0] + ends[1]) / 2;
        [ends[upper], ends[lower]] = [middle - 9, middle + 9];
    }
    // Labels never cover each other, nor a mark: the suggested waits come first, and what finds no place is left out.
    const marks = points.map((row) => [x(delay(row)) - 4, x(delay(row)) + 4, y(row.saved) - 4, y(row.saved) + 4]);
    const taken = [];
    const overlaps = ([left, right, top, bottom]) => (other) =>
        left < other[1] && right > other[0] && top < other[3] && bottom > other[2];
    const place = (label, px, py, isAbove, isSuggested) => {
        const length = 9 * label.length;
        // On its own side; a suggested wait must have its label, wherever there is room, and else over marks.
        const sides = isSuggested ? [[isAbove, isAbove], [isAbove, !isAbove], [!isAbove, isAbove],
            [!isAbove, !isAbove], [isAbove, isAbove, true], [isAbove, !isAbove, true]] : [[isAbove, isAbove]];
        for (const [above, before, mayCover] of sides) {
            const end = before ? px - 9 : px + 9;
            const box = [before ? end - length : end - 4, before ? end + 4 : end + length, py + (above ? -22 : 4), py + (above ? -5 : 22)];
            const isInside = box[0] > left - 20 && box[1] < width && box[3] < bottom + 4;
            if (!isInside || [...(mayCover ? [] : marks), ...taken].some(overlaps(box))) continue;
            taken.push(box);
            return { x: end, y: py + (above ? -9 : 18), anchor: before ? "end" : "start" };
        }
        return null;
    };
    const dots = series.flatMap((kind, index) => result[kind].map((row) => ({ x: x(delay(row)), y: y(row.saved), row, index })));
    series.forEach((kind, index) => {
        const own = dots.filter((dot) => dot.index === index);
        parts.push(`<path d="M${own.map((dot) => `${dot.x.toFixed(1)},${dot.y.toFixed(1)}`).join("L")}"
            fill="none" stroke="var(--c${index})" stroke-width="2.25" stroke-linejoin="round"/>`);
    });
    for (const dot of [...dots].sort((one, other) => Boolean(other.row.reason) - Boolean(one.row.reason))) {
        const colour = `var(--c${dot.index})`;
        const [px, py] = [dot.x.toFixed(1), dot.y.toFixed(1)];
        parts.push(dot.index === 0
            ? `<circle cx="${px}" cy="${py}" r="4.5" fill="${colour}" stroke="var(--paper)"/>`
            : `<rect x="${dot.x - 4}" y="${dot.y - 4}" width="8" height="8" fill="${colour}" stroke="var(--paper)"/>`);
        if (dot.row.reason) {
            parts.push(`<circle cx="${px}" cy="${py}" r="9.5" fill="none" stroke="${colour}" stroke-width="2"/>`);
        }
        const label = durationText(dot.row.wait);
        const at = place(label, dot.x, dot.y, dot.index === 0, Boolean(dot.row.reason));
        if (at) text(label, at.x, at.y, at.anchor, `data-label ${dot.row.reason ? 'font-weight="600"' : 'class="faint"'}`);
    }
    series.forEach((kind, index) => {
        if (!isNarrow) {
            text(kind, width - right + 14, ends[index] + 4.5, "start", `style="fill:var(--c${index})" font-weight="600"`);
        } else {
            text(kind, left + index * 90, 46, "start", `style="fill:var(--c${index})" font-weight="600"`);
        }
    });
    const summary = series.map((kind) => {
        const [first, last] = [result[kind][0], result[kind].at(-1)];
        return `${kind}: from ${(first.saved * 100).toFixed(0)} % saved at ${shownDuration(first.wait)} to `
            + `${(last.saved * 100).toFixed(0)} % at ${shownDuration(last.wait)}`;
    }).join("; ");
    const label = `What each wait costs and saves. ${summary}.`;
    return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${parts.join("")}</svg>`;
}
