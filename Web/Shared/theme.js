// The page's colours for drawing, whether the reader wants reduced motion, and helpers for elements.

"use strict";

const theme = {};
const wantsLessMotion = matchMedia("(prefers-reduced-motion: reduce)");
const isDark = matchMedia("(prefers-color-scheme: dark)");

function readTheme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "raised", "ink", "quiet", "line", "base", "bad", "c0", "c1", "c2", "c3"]) {
        theme[name] = style.getPropertyValue(`--${name}`).trim();
    }
    theme.lanes = [theme.c0, theme.c1, theme.c2, theme.c3];
    theme.font = getComputedStyle(document.body).fontFamily;
}

/** Returns the element with an id. */
function element(id) {
    return document.getElementById(id);
}

/** Makes an element, with attributes, functions for events, and children. */
function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(key, value);
        else if (value === true) made.setAttribute(key, "");
        else if (value !== false && value != null) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
}

/** Returns the last letter of a text, as a reader counts letters. */
function lastLetter(text) {
    if (!Intl.Segmenter) return [...text].at(-1) ?? "";
    // Only the end of the text is segmented: the text may be long, and no letter is.
    return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(-40))].at(-1)?.segment ?? "";
}

function plural(count, word) {
    return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns a share as people read it: `88.9`, without a `.0`. What is not all of it is never `100`. */
function percent(part, whole) {
    const tenths = Math.round((1000 * part) / whole);
    return String((part < whole ? Math.min(tenths, 999) : tenths) / 10);
}

/** Lets the reader save a file. */
function saveFile(name, blob) {
    const link = make("a", { download: name, href: URL.createObjectURL(blob) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
