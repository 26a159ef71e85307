"""Scripts that find what those miss who do not see a page, or do not see it well, or have no mouse: each returns what is wrong."""

# Controls without a name.
NAMELESS = """
    const controls = [...document.querySelectorAll("button, input, select, textarea, canvas, [role=listbox], dialog")].filter((one) => one.checkVisibility());
    const named = (one) => one.getAttribute("aria-label") || document.getElementById(one.getAttribute("aria-labelledby"))?.textContent.trim()
        || one.labels?.[0]?.textContent.trim() || (one.tagName === "BUTTON" && one.textContent.trim());
    return controls.filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 100));
"""
# Identifiers that are referred to and are not there, or are there twice.
REFERENCES = """
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const names = ["for", "aria-describedby", "aria-labelledby", "aria-controls", "aria-activedescendant"];
    const missing = names.flatMap((name) => [...document.querySelectorAll(`[${name}]`)]
        .flatMap((element) => element.getAttribute(name).split(" ")).filter((id) => !ids.includes(id)));
    return [...missing, ...ids.filter((id, index) => ids.indexOf(id) !== index)];
"""
# Controls that a finger does not hit. A box that is ticked is hit with its label.
SMALL = """
    const all = [...document.querySelectorAll("button, select, input, textarea, summary, nav a, label.button")];
    return all.filter((one) => one.checkVisibility() && !one.matches(".visually-hidden")).map((one) => {
        const hit = one.matches("[type=checkbox], [type=radio]") ? one.closest("label") : one;
        const { width, height } = hit?.getBoundingClientRect() ?? { width: 40, height: 40 };
        return [one.outerHTML.slice(0, 90), Math.round(width), Math.round(height)];
    }).filter(([, width, height]) => width < 40 || height < 40);
"""
# Texts that stand out too little from what is behind them.
FAINT = """
    const parts = (colour) => (colour.match(/[0-9.]+/g) ?? []).map(Number);
    const luminance = (colour) => {
        const [red, green, blue] = parts(colour).map((one) => one / 255)
            .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && !one.closest("svg, script, style, .stale main, :disabled")
            && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .map((one) => [luminance(getComputedStyle(one).color), luminance(behind(one)), one.outerHTML.slice(0, 90)])
        .filter(([one, other]) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5);
"""
