"use strict";
/* Searches the titles, descriptions and words of all pages, in an index that is read when the field is first used.
   "/" leads to the field; arrows choose, Enter opens, Escape closes. */
{
    const root = document.currentScript.dataset.root;
    const form = document.getElementById("search"), list = document.getElementById("found");
    const field = form.querySelector("input");
    let entries = null, isAsked = false, chosen = -1;

    /** Called by the index. */
    window.lullIndex = (index) => {
        entries = index.map(([title, group, place, description, more]) => ({
            title, group, place, description,
            name: title.toLowerCase().replace(/\(.*/, ""), labels: title.toLowerCase(), all: ` ${group} ${description} `.toLowerCase(),
            more: ` ${more} `, isCommon: !/^documentation\/(?!lull\/)/.test(place),
        }));
        show();
    };

    function load() {
        if (isAsked) return;
        isAsked = true;
        // A script, as files on disk may not be fetched.
        const script = document.createElement("script");
        script.src = `${root}index.js`;
        document.head.append(script);
    }

    /** Says how well an entry fits one word; 0 if it does not have it. */
    function fit(entry, word) {
        if (entry.name === word) return 120;
        if (entry.name.startsWith(word)) return 75;
        if (entry.name.includes(" " + word)) return 40;
        // In the middle of a word only in a declaration, where another one may begin.
        if (entry.name.includes(word)) return entry.more.trim() ? 6 : 25;
        // Labels of arguments are in the names of many declarations.
        if (entry.labels.includes(word)) return 5;
        if (entry.all.includes(" " + word)) return 8;
        if (entry.more.includes(` ${word} `)) return 4;
        return entry.all.includes(word) || entry.more.includes(word) ? 1 : 0;
    }

    function find(text) {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        if (!entries || words.length === 0) return [];
        const found = [];
        for (const entry of entries) {
            const values = words.map((word) => fit(entry, word));
            if (values.includes(0)) continue;
            // Pages that are about it come before declarations, if more than their text has it; and what everybody uses before the rest.
            const isAbout = entry.more.trim() && Math.min(...values) >= 8;
            const score = values.reduce((sum, value) => sum + value, entry.name.includes(text.toLowerCase().trim()) ? 20 : 0)
                + (isAbout ? 60 : entry.more.trim() ? 15 : 0) + (entry.isCommon ? 60 : 0);
            // Of equals, the page before its parts.
            found.push({ entry, score: score - entry.place.split(/[/#]/).length - entry.title.length / 100 });
        }
        return found.sort((one, other) => other.score - one.score).slice(0, 12).map(({ entry }) => entry);
    }

    function show() {
        const found = find(field.value);
        list.replaceChildren(...found.map((entry, index) => {
            const item = document.createElement("li"), link = document.createElement("a");
            const title = document.createElement("b"), group = document.createElement("i"), text = document.createElement("span");
            [title.textContent, group.textContent, text.textContent] = [entry.title, entry.group, entry.description];
            link.href = root + entry.place.split("#").map((part) => part.split("/").map(encodeURIComponent).join("/")).join("#");
            link.tabIndex = -1;
            link.append(title, " ", group, text);
            item.id = `found-${index}`;
            item.setAttribute("role", "option");
            item.append(link);
            return item;
        }));
        if (entries && field.value.trim() && found.length === 0) {
            const item = document.createElement("li");
            item.textContent = "Nothing found.";
            list.append(item);
        }
        list.hidden = list.children.length === 0;
        field.setAttribute("aria-expanded", String(!list.hidden));
        choose(found.length ? 0 : -1);
    }

    function choose(index) {
        chosen = index;
        [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
        if (index >= 0) {
            field.setAttribute("aria-activedescendant", `found-${index}`);
            list.children[index].scrollIntoView({ block: "nearest" });
        } else {
            field.removeAttribute("aria-activedescendant");
        }
    }

    function close() {
        list.hidden = true;
        field.setAttribute("aria-expanded", "false");
    }

    form.hidden = false;
    field.addEventListener("focus", () => { load(); show(); });
    field.addEventListener("input", () => { load(); show(); });
    field.addEventListener("keydown", (event) => {
        const links = list.querySelectorAll("a");
        if (event.key === "Escape") {
            close();
            field.blur();
        } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && links.length) {
            event.preventDefault();
            list.hidden = false;
            choose((chosen + (event.key === "ArrowDown" ? 1 : links.length - 1)) % links.length);
        }
    });
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        list.querySelectorAll("a")[chosen]?.click();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
        event.preventDefault();
        field.focus();
        field.select();
    });
    document.addEventListener("pointerdown", (event) => { if (!form.contains(event.target)) close(); });
    // A link to a section of the same page leads there without a new page.
    list.addEventListener("click", () => setTimeout(close));
}
