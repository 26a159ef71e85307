// Figures with their names.

"use strict";

const ruler = document.createElement("canvas").getContext("2d");

/** Shows figures with their names, in place. */
function showFigures(list, figures, values) {
    while (list.children.length > figures.length) list.lastChild.remove();
    figures.forEach((figure, index) => {
        const item = list.children[index] ?? list.appendChild(make("div", {}, make("dt"), make("dd")));
        const value = values[figure.property];
        item.dataset.figure = figure.property;
        item.title = figure.help ?? "";
        item.classList.toggle("nothing-of-it", !value);
        set(item.firstChild, figure.name);
        const shown = shownFigure(figure, value);
        if (item.lastChild.textContent === shown) return;
        item.lastChild.textContent = shown;
        // What is long gets smaller letters: it must not run into the figure beside it.
        ruler.font = `600 100px ${theme.font}`;
        item.lastChild.style.setProperty("--wide", ruler.measureText(shown).width / 100);
    });
}

/** Returns a value of the status in its unit. */
function shownFigure({ unit }, value) {
    if (value == null) return unit === "duration" ? "–" : "none";
    if (unit === "duration") return spell(value);
    if (unit === "bytes") return bytes(value);
    return typeof value === "number" ? number(value) : String(value);
}
