// A still picture of typing: the keys, what a policy makes of them, and the pauses between them. As SVG with its own colours, so that
// it can be saved.

/** Returns the executions of a policy on keys that come after the given gaps, in milliseconds. */
function executionsOf(policy, gaps) {
    const clock = new Clock();
    clock.hold(0);
    const executions = [];
    const work = new Coalescer(policy, clock, (execution) => { executions.push(execution); });
    gaps.forEach((gap, index) => {
        clock.advance(gap);
        work.submit(index);
    });
    while (work.nextDue() != null) clock.advance(work.nextDue() - clock.now);
    work.dispose();
    return executions;
}

/** Gathers the parts of a picture. */
class Sketch {
    #parts = [];

    constructor(width) {
        this.width = width;
    }

    text(content, x, y, { anchor = "start", colour = theme.ink, size = 13, weight = 400 } = {}) {
        const safe = String(content).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
        this.#parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}" font-size="${size}"
            font-weight="${weight}">${safe}</text>`);
    }

    box(x, y, width, height, colour, opacity = 1) {
        this.#parts.push(`<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${height}"
            fill="${colour}" opacity="${opacity}"/>`);
    }

    /** Draws the mark of a trailing edge. */
    diamond(x, y, colour) {
        this.#parts.push(`<path d="M${x.toFixed(1)} ${y - 6}l5.5 6l-5.5 6l-5.5-6z" fill="${colour}" stroke="${theme.paper}"/>`);
    }

    svg(height, label) {
        return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${height}" width="${this.width}" height="${height}"
            role="img" aria-label="${label}" font-family='${theme.font.replaceAll("'", "")}'>
            <rect width="100%" height="100%" fill="${theme.paper}"/>${this.#parts.join("")}</svg>`;
    }
}

/** Draws keys as dots and executions as bars that end in a mark; those that began more than `limit` milliseconds earlier are late.
 * The strip goes on to `end`, if that is later. */
function sketchStrip(sketch, gaps, executions, top, limit = Infinity, { end = 1, colour: usual = theme.c0 } = {}) {
    const total = gaps.reduce((sum, gap) => sum + gap, 0);
    end = Math.max(end, total, executions.at(-1)?.at ?? 0);
    const x = (at) => 12 + (at / end) * (sketch.width - 30);
    let at = 0;
    let lastText = -Infinity;
    for (const gap of gaps) sketch.box(x(at += gap) - 1, top, 2, 14, theme.ink, 0.75);
    for (const { first, at, count } of executions) {
        const colour = at - first > limit + 1e-6 ? theme.bad : usual;
        sketch.box(x(first), top + 26, x(at) - x(first), 10, colour, 0.3);
        sketch.diamond(x(at), top + 31, colour);
        if (x(at) - lastText < 18) continue;
        lastText = x(at);
        sketch.text(count, x(at), top + 52, { anchor: "middle", weight: 600, colour });
    }
    const step = [100, 200, 500, 1000, 5000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000].find((step) => end <= 12 * step) ?? 3_600_000;
    for (let tick = 0; tick <= end; tick += step) {
        sketch.box(x(tick), top + 60, 1, 5, theme.base);
        sketch.text(`${tick / 1000} s`, Math.max(10, x(tick)), top + 79, { anchor: "middle", colour: theme.quiet, size: 12 });
    }
}

/** Draws how often each pause between two keys comes, and where the wait lies among them. */
function sketchPauses(sketch, gaps, wait, top) {
    const [low, high] = [20, 5000];
    const count = 44;
    const bins = new Array(count).fill(0);
    for (const gap of gaps.slice(1)) {
        const share = Math.log(Math.min(Math.max(gap, low), high) / low) / Math.log(high / low);
        bins[Math.min(count - 1, Math.floor(share * count))] += 1;
    }
    const ticks = sketch.width < 560 ? [20, 100, 500, 2000] : [20, 50, 100, 200, 500, 1000, 2000, 5000];
    sketchBins(sketch, bins, [low, high], wait, top, ticks);
}

/** Draws how many pauses there are of each length, from a shortest to a longest one, evenly on a logarithmic scale. */
function sketchBins(sketch, bins, [low, high], wait, top, ticks) {
    const [left, height] = [12, 60];
    const x = (gap) => left + Math.log(Math.min(Math.max(gap, low), high) / low) / Math.log(high / low) * (sketch.width - 36);
    const most = Math.max(...bins, 1);
    const step = (sketch.width - 36) / bins.length;
    bins.forEach((bin, index) => {
        const tall = Math.round(bin / most * height);
        sketch.box(left + index * step, top + height - tall, step - 1, tall, left + index * step < x(wait) ? theme.c0 : theme.c1);
    });
    sketch.box(left, top + height, sketch.width - 36, 1, theme.base);
    sketch.box(x(wait) - 1, top - 16, 2, height + 16, theme.ink);
    const isRight = x(wait) > sketch.width / 2;
    sketch.text(`a wait of ${shownDuration(wait)}`, x(wait) + (isRight ? -6 : 6), top - 7,
        { weight: 600, anchor: isRight ? "end" : "start" });
    for (const tick of ticks) {
        sketch.text(shownDuration(tick), Math.max(24, x(tick)), top + height + 17, { anchor: "middle", colour: theme.quiet, size: 12 });
    }
}

/** Saves a picture as a PNG, at twice its size. */
async function savePicture(name, svg) {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    const [width, height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
    const canvas = make("canvas", { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    URL.revokeObjectURL(image.src);
    saveFile(name, await new Promise((resolve) => canvas.toBlob(resolve, "image/png")));
}
