// Figures with their names.

"use strict";

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
        set(item.lastChild, shownFigure(figure, value));
        item.lastChild.classList.toggle("long", item.lastChild.textContent.length > 7);
    });
}

/** Returns a value of the status in its unit. */
function shownFigure({ unit }, value) {
    if (value == null) return unit === "duration" ? "–" : "none";
    if (unit === "duration") return spell(value);
    if (unit === "bytes") return bytes(value);
    return typeof value === "number" ? number(value) : String(value);
}
