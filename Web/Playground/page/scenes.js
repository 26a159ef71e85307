// The problems that Lull was made for. Each file in `scenes` adds one small working scene, with the Swift that does
// the same.

const scenes = [];

/** A list with the newest entry on top. */
class Events {
    constructor(limit = 4, name = "What happened") {
        this.list = make("ul", { class: "events", "aria-label": name });
        this.limit = limit;
    }

    add(text, kind = "") {
        this.list.prepend(make("li", { class: kind }, text));
        while (this.list.children.length > this.limit) this.list.lastChild.remove();
    }
}

/** Makes a list of named facts; returns the list and a function that sets one of them. */
function makeFacts(names) {
    const values = new Map();
    const list = make("dl", { class: "facts" });
    for (const [id, name] of Object.entries(names)) {
        const value = make("dd", { "data-fact": id }, "0");
        values.set(id, value);
        list.append(make("dt", {}, name), value);
    }
    return [list, (id, value) => { values.get(id).textContent = value; }];
}

/**
 * Makes a stage for a scene, and its small timeline. Returns both, and a function that returns the next due instant.
 *
 * @param observer As that of `Stage`.
 * @param hint What the timeline says while it is empty.
 */
function makeStage(clock, policies, observer, hint, span = 8000) {
    const stage = new Stage(clock, observer);
    stage.policies = policies;
    const canvas = make("canvas", { role: "img", "aria-label": "Timeline of this scene" });
    const picture = make("div", { class: "timeline" }, canvas);
    const timeline = canvas.timeline = new Timeline(canvas, stage, { isSmall: true, hint });
    timeline.span = span;
    stage.changed = () => timeline.ask();
    return { stage, picture, nextDue: () => stage.lanes[0].coalescer.nextDue() };
}

function mountScenes(root, clock) {
    for (const scene of scenes) {
        const template = document.querySelector(`template[data-snippet="${scene.id}"]`);
        const stage = make("div");
        root.append(
            make("article", { class: "scene", id: `scene-${scene.id}`, "aria-labelledby": `scene-${scene.id}-title` },
                make("h3", { id: `scene-${scene.id}-title` }, scene.title), make("p", {}, scene.says), stage,
                make("details", {}, make("summary", {}, "The Swift code"),
                    make("pre", { tabindex: "0", "data-swift": scene.id }, template.content.textContent.trim()))));
        scene.mount(stage, clock);
    }
}
