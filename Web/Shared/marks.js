// The marks of the timeline, and the legend that explains them.

"use strict";

/** The corners of the mark of each edge, for a size of one. */
const edgeMarks = {
    leading: [[-0.8, -1], [1, 0], [-0.8, 1]], trailing: [[0, -1], [0.9, 0], [0, 1], [-0.9, 0]],
    maxWait: [[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]], flush: [[-1, -0.8], [1, -0.8], [0, 1]],
    maxCount: [[0, -1], [1, 0.8], [-1, 0.8]],
};

/** Hatches a rectangle: a machine that sleeps does nothing. */
function hatch(context, left, top, right, bottom, colour) {
    context.save();
    context.beginPath();
    context.rect(left, top, Math.max(0, right - left), bottom - top);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    const height = bottom - top;
    // Lines that start outside are not drawn, however long the sleep.
    const [from, to] = [Math.max(left - height, -height), Math.min(right, context.canvas.width)];
    for (let x = from - (from - left) % 6; x < to; x += 6) {
        context.moveTo(x, bottom);
        context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
}

/** Puts before each part of a legend what the timeline draws for it. */
function drawLegend(legend) {
    const bar = '<path d="M1 3h22v10H1z" ';
    const drawings = {
        submit: [12, '<circle cx="6" cy="8" r="4.5"/>'],
        wait: [24, `${bar}opacity=".35"/><path d="M4 3v10M9 3v10M15 3v10" stroke="currentColor" stroke-width="1.5"/>`],
        pending: [32, `${bar}fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="4 3"/>
            <path class="hollow" d="M23 2l5.4 6-5.4 6-5.4-6z" stroke="currentColor" stroke-width="2"/>`],
        cut: [32, '<path d="M1 5h19l-5 6H1z" opacity=".45"/><path d="M24 5h7v6H19z"/>'],
        run: [24, '<path d="M1 4h22v8H1z"/>'],
        lease: [32, '<path d="M1 3h30v10H1z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="3 2"/><path d="M3 5h12v6H3z"/>'],
        beat: [12, '<path d="M1 10h10" stroke="currentColor" stroke-dasharray="3 2"/><path d="M6 3v8" stroke="currentColor" stroke-width="2"/>'],
        took: [24, '<circle cx="6" cy="8" r="5"/><path d="M11 8h13" stroke="currentColor" stroke-width="3" opacity=".4"/>'],
        touch: [12, '<circle cx="6" cy="8" r="3.5" fill="none" stroke="currentColor" stroke-width="2"/>'],
        drop: [12, '<path d="M2.5 4.5l7 7m0-7l-7 7" stroke="currentColor" stroke-width="2"/>'],
    };
    for (const [edge, corners] of Object.entries(edgeMarks)) {
        drawings[edge] = [16, `<polygon points="${corners.map(([x, y]) => `${8 + 7 * x},${8 + 7 * y}`).join(" ")}"/>`];
    }
    for (const part of legend.querySelectorAll("[data-glyph]")) {
        const [width, drawing] = drawings[part.dataset.glyph];
        part.insertAdjacentHTML("afterbegin",
            `<svg viewBox="0 0 ${width} 16" width="${width}" height="16" fill="currentColor" aria-hidden="true">${drawing}</svg> `);
    }
}
