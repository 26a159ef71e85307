// Draws on a canvas in pixels: text, lines and shapes, each in one call.

"use strict";

class Pen {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
    }

    /** Begins an empty picture of the canvas's width, and of a height. */
    begin(height) {
        const { canvas, context } = this;
        const scale = devicePixelRatio || 1;
        [this.width, this.height] = [canvas.clientWidth, height];
        const [width, pixels] = [this.width * scale, height * scale].map(Math.round);
        if (canvas.width !== width || canvas.height !== pixels) {
            [canvas.width, canvas.height] = [width, pixels];
            canvas.style.height = `${height}px`;
        }
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, this.width, height);
    }

    /** Draws only between two sides. */
    within(left, right, body) {
        const { context } = this;
        context.save();
        context.beginPath();
        context.rect(left, 0, Math.max(0, right - left), this.canvas.height);
        context.clip();
        body();
        context.restore();
    }

    measure(text, { weight = "", size = 12 } = {}) {
        this.context.font = `${weight} ${size}px ${theme.font}`;
        return this.context.measureText(text).width;
    }

    text(text, x, y, { align = "left", colour = theme.ink, weight = "", size = 12 } = {}) {
        const { context } = this;
        context.font = `${weight} ${size}px ${theme.font}`;
        [context.textAlign, context.fillStyle] = [align, colour];
        context.fillText(text, x, y);
    }

    box(left, top, right, bottom, colour, alpha = 1) {
        const { context } = this;
        [context.globalAlpha, context.fillStyle] = [alpha, colour];
        context.fillRect(left, top, Math.max(0, right - left), bottom - top);
        context.globalAlpha = 1;
    }

    line(points, colour, { width = 1, dash = [], alpha = 1 } = {}) {
        const { context } = this;
        [context.strokeStyle, context.lineWidth, context.globalAlpha] = [colour, width, alpha];
        context.setLineDash(dash);
        context.beginPath();
        points.forEach(([x, y], index) => context[index ? "lineTo" : "moveTo"](x, y));
        context.stroke();
        context.setLineDash([]);
        context.globalAlpha = 1;
    }

    /** The edge of a rectangle. */
    frame(left, top, right, bottom, colour, style) {
        this.line([[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], colour, style);
    }

    /** Fills a shape, and draws its edge. */
    shape(corners, x, y, fill, edge = null, width = 1.5) {
        const { context } = this;
        context.beginPath();
        corners.forEach(([dx, dy], index) => context[index ? "lineTo" : "moveTo"](x + dx, y + dy));
        context.closePath();
        this.#paint(fill, edge, width);
    }

    /** The mark of an edge. */
    mark(name, x, y, size, fill, edge = theme.paper, width = 1.25) {
        this.shape(edgeMarks[name].map(([dx, dy]) => [dx * size, dy * size]), x, y, fill, edge, width);
    }

    /** A circle that is not filled if there is no colour for that. */
    dot(x, y, radius, fill, edge = null, width = 1.5) {
        this.context.beginPath();
        this.context.arc(x, y, radius, 0, 7);
        this.#paint(fill, edge, width);
    }

    #paint(fill, edge, width) {
        const { context } = this;
        if (fill) {
            context.fillStyle = fill;
            context.fill();
        }
        if (!edge) return;
        [context.strokeStyle, context.lineWidth] = [edge, width];
        context.stroke();
    }

    cross(x, y, size, colour) {
        this.line([[x - size, y - size], [x + size, y + size]], colour, { width: 2.5 });
        this.line([[x - size, y + size], [x + size, y - size]], colour, { width: 2.5 });
    }
}

/** Calls `draw` when a canvas gets another size or other colours, and when it comes into sight or goes out of it, which `see` takes. */
function watchCanvas(canvas, draw, see) {
    new ResizeObserver(draw).observe(canvas.parentElement);
    isDark.addEventListener("change", draw);
    new IntersectionObserver((entries) => {
        // Where it has come into sight soon after it was made, there are two.
        see(entries.at(-1).isIntersecting);
        draw();
    }).observe(canvas);
}
