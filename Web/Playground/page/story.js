// The story above the stage: a paragraph that is read sets the stage, and the engine plays what it says, with the reader's own keys if
// there are some.

/** What is typed for a reader who has not typed: milliseconds before each letter. */
const storyText = "weather in lisbon";
const storyGaps = [0, 120, 100, 140, 90, 110, 130, 400, 120, 110, 350, 130, 100, 120, 90, 110, 140];

/** The edits that a lane has lost, and those it loses if it ends now. */
function unsaved({ withdrawn, pending }) {
    return pending.reduce((sum, { count }) => sum + count, withdrawn);
}

/**
 * For each paragraph that sets the stage, the policies with what they stand for, and more: `server`, whether a slow one answers; `end`, what
 * happens half a second after the last key; `facts`, the numbers of the paragraph.
 */
const storyScenes = {
    keyboard: {
        lanes: [["a request for each key", makePolicy("debounce", 0)]],
        facts: ({ lanes }) => ({ requests: plural(lanes[0].executions.length, "request") }),
    },
    bill: {
        lanes: [["a request for each key", makePolicy("debounce", 0)], ["a request after 300 ms", makePolicy("debounce", 300)]],
        facts: ({ lanes }) => {
            const [each, waiting] = lanes.map((lane) => lane.executions.length + lane.runsToCome);
            return { each, fewer: plural(waiting, "request"), saved: each === 0 ? "0" : percent(each - waiting, each) };
        },
    },
    stale: {
        lanes: [["a request for each key", makePolicy("debounce", 0, { whileRunning: "concurrent" })],
            ["after 300 ms, the latest wins", makePolicy("debounce", 300, { whileRunning: "cancel" })]],
        server: true,
        facts: ({ lanes }) => {
            const [stale, none] = lanes.map((lane) => lane.executions.filter((execution) => execution.isStale).length);
            return { stale: plural(stale, "answer"), none: plural(none, "stale answer") };
        },
    },
    draft: {
        lanes: [["ends with the screen", makePolicy("debounce", 2000, { atEnd: "drop" })],
            ["saves when it ends", makePolicy("debounce", 2000, { atEnd: "flush" })]],
        end: (stage) => stage.releaseHandle("screen left"),
        facts: ({ lanes }) => ({ lost: plural(unsaved(lanes[0]), "edit"), kept: lanes[1].withdrawn }),
    },
    worker: {
        lanes: [["in memory", makePolicy("debounce", 2000, { atEnd: "flush" })],
            ["in a store, with another worker", makePolicy("debounce", 2000, { atEnd: "flush" })]],
        end: (stage) => stage.kill(),
        stored: 1,
        facts: ({ lanes }) => ({ lost: plural(unsaved(lanes[0]), "edit"), kept: lanes[1].withdrawn }),
    },
};

class Story {
    /** Fewer keys tell nothing. */
    static least = 6;
    /** The reader's keys are those since the last pause of this length, in milliseconds, and not more than these. */
    static pause = 3000;
    static most = 80;
    /** From the last key to what ends a scene. */
    static untilEnd = 500;

    #stage;
    #observer;
    #page;
    #steps;
    #step = null;
    #tasks = [];
    /** What the stage had before the story: its policies. Null while the story has not set it. */
    #before = null;
    /** The policies that the story has set, to see whether the reader has changed them. */
    #set = "";
    #own = null;
    /** Whether what is on the stage has been typed by the reader. */
    #isTyped = false;
    #end = null;
    /** The numbers of what is played, when it has been played to its end. */
    #settled = null;

    /**
     * @param observer The one of the stage.
     * @param page `begin()` is called before the stage is set, `changed(isStill)` after.
     */
    constructor(stage, observer, page) {
        [this.#stage, this.#observer, this.#page] = [stage, observer, page];
        this.#steps = [...element("story").children];
        this.#step = this.#steps[0];
        let isAsked = false;
        const ask = () => {
            if (isAsked) return;
            isAsked = true;
            requestAnimationFrame(() => {
                isAsked = false;
                this.#read();
            });
        };
        addEventListener("scroll", ask, { passive: true });
        addEventListener("resize", ask);
        addEventListener("beforeprint", () => {
            document.documentElement.classList.add("paper");
            readTheme();
            this.#print();
        });
        addEventListener("afterprint", () => {
            document.documentElement.classList.remove("paper");
            readTheme();
        });
        // Before the stage takes the call.
        for (const name of ["input", "click"]) element("stage").addEventListener(name, (event) => this.#call(event), { capture: true });
    }

    /** The numbers of a paragraph are those of what is played, from its beginning on; they follow the stage when it is the reader's. */
    show() {
        const scene = storyScenes[this.#step?.dataset.scene];
        if (!scene || this.#before === null || this.#stage.submits.length === 0) return;
        const facts = this.isTold ? this.#settled : Story.#facts(scene, this.#stage);
        for (const [name, value] of Object.entries(facts)) {
            const place = this.#step.querySelector(`[data-fact=${name}]`);
            if (place && place.textContent !== String(value)) place.textContent = value;
        }
    }

    static #facts(scene, stage) {
        return { keys: plural(stage.submits.length, "key"), ...scene.facts(stage) };
    }

    /** Whether a paragraph has set the stage, and nobody has changed what it plays. */
    get isTold() {
        return this.#settled !== null && this.#policies === this.#set;
    }

    /** Whether keys of it are to come. */
    get isPlaying() {
        return this.#stage.submits.length < this.#tasks.length;
    }

    /** Stops the keys that are to come. */
    pause() {
        for (const task of this.#tasks) this.#stage.clock.drop(task);
        this.#tasks = [];
        if (this.#end) this.#stage.clock.drop(this.#end);
        this.#end = null;
    }

    /** The reader moves calls: what is on the stage is theirs. What ends the scene comes at once. */
    arrange() {
        if (this.#end) storyScenes[this.#step.dataset.scene].end(this.#stage);
        this.#drop();
        // The numbers of the page's own burst are no text to tell it with.
        this.#isTyped ||= this.#before !== null;
    }

    /** Plays the paragraph from its beginning. */
    play() {
        this.pause();
        const scene = storyScenes[this.#step.dataset.scene];
        this.#perform(scene.lanes.map(([, policy]) => policy), scene, false);
    }

    /** Sets the stage for the paragraph that is read: the last one that has come up to the middle of what is free above the stage. */
    #read() {
        const free = innerHeight - (document.body.classList.contains("fits") ? document.querySelector(".seen").offsetHeight : 0);
        const isSeen = element("story").offsetHeight > 0;
        const step = isSeen ? this.#steps.findLast((step) => step.getBoundingClientRect().top < 0.55 * free) ?? this.#steps[0] : null;
        if (step === this.#step) return;
        this.#step?.classList.remove("read");
        this.#step = step;
        step?.classList.add("read");
        this.#play();
    }

    get #policies() {
        return this.#stage.policies.map(policyToLink).join();
    }

    #drop() {
        this.pause();
        this.#settled = null;
    }

    #play() {
        const stage = this.#stage;
        const scene = storyScenes[this.#step?.dataset.scene];
        this.#drop();
        // A reader's own policies stay.
        const usual = this.#before === null ? defaultPolicies().map(policyToLink).join() : this.#set;
        if (this.#policies !== usual) return;
        this.#keep();
        if (!scene) {
            if (this.#before === null) return;
            Story.#serve(stage, this.#observer, null);
            this.#perform(this.#before, null);
            this.#before = null;
            return;
        }
        this.#before ??= stage.policies;
        Story.#serve(stage, this.#observer, scene);
        this.#perform(scene.lanes.map(([, policy]) => policy), scene);
    }

    /** Takes what the reader has typed. */
    #keep() {
        const { submits } = this.#stage;
        if (!this.#isTyped || submits.length < Story.least) return;
        let from = submits.length - 1;
        while (from > 0 && submits[from].at - submits[from - 1].at < Story.pause && submits.length - from < Story.most) from -= 1;
        if (submits.length - from < Story.least) return;
        this.#own = submits.slice(from).map(({ at, value, label }) => ({ at: at - submits[from].at, value, label }));
    }

    /** The keys, from 0 on. */
    get #keys() {
        let at = 0;
        return this.#own ?? storyGaps.map((gap, index) =>
            ({ at: at += gap, value: storyText.slice(0, index + 1), label: storyText[index] }));
    }

    /** A slow server: the shorter a question, the longer its answer takes. An answer is stale if a newer one has come before it. */
    static #serve(stage, observer, scene) {
        observer.handle = scene?.server ? ({ value }) => {
            const takes = searchTakes(String(value));
            stage.longestTakes = Math.max(stage.longestTakes, takes);
            return { takes };
        } : undefined;
        observer.ended = scene?.server ? (execution) => {
            if (execution.outcome !== "executed") return;
            execution.isStale = stage.lanes[execution.lane].executions.some((other) =>
                other.startedAt > execution.startedAt && other.outcome === "executed" && other.endedAt < execution.endedAt);
        } : undefined;
    }

    #perform(policies, scene, isStill = wantsLessMotion.matches) {
        const stage = this.#stage;
        this.#page.begin();
        stage.policies = policies;
        this.#set = this.#policies;
        Story.#name(this.#stage, scene);
        this.#isTyped = false;
        const keys = this.#keys;
        const last = keys.at(-1).at;
        const settled = scene && Story.#settle(scene, keys);
        this.#settled = settled && Story.#facts(scene, settled);
        // The picture does not grow while it is watched.
        stage.lanes.forEach((lane, index) => { lane.lines = settled?.lanes[index].lines ?? 0; });
        if (isStill || !scene) {
            // The stage is set as after the last that comes of it.
            const calls = keys.map((key) => ({ do: "submit", key: "", wait: null, ...key }));
            stage.load([...calls, { at: last + (scene?.end ? Story.untilEnd : 2500), do: "end" }]);
            Story.#name(this.#stage, scene);
            scene?.end?.(stage);
        } else {
            const from = stage.clock.now + 200;
            this.#tasks = keys.map(({ at, value, label }) => stage.clock.at(from + at, () => stage.submit(value, { label })));
            if (scene.end) this.#end = stage.clock.at(from + last + Story.untilEnd, () => scene.end(stage));
        }
        this.#page.changed(scene?.end || last > 4000 ? 10_000 : 5000);
        this.show();
    }

    /** Plays keys through a stage of its own, until all that comes of them has happened. */
    static #settle(scene, keys) {
        const clock = new Clock();
        clock.hold(0);
        const observer = {};
        const stage = new Stage(clock, observer);
        Story.#serve(stage, observer, scene);
        stage.policies = scene.lanes.map(([, policy]) => policy);
        Story.#name(stage, scene);
        for (const { at, value, label } of keys) {
            clock.advance(at - clock.now);
            stage.submit(value, { label });
        }
        clock.advance(Story.untilEnd);
        scene.end?.(stage);
        clock.advance(3000);
        return stage;
    }

    /** Draws each scene on a stage of its own, as a picture that only paper shows. */
    #print() {
        const last = this.#keys.at(-1).at;
        for (const step of this.#steps) {
            const scene = storyScenes[step.dataset.scene];
            if (!scene) continue;
            const stage = Story.#settle(scene, this.#keys);
            const canvas = make("canvas", { class: "drawn-for-paper" });
            step.append(make("div", {}, canvas));
            const timeline = new Timeline(canvas, stage);
            timeline.span = scene.end || last > 4000 ? 10_000 : 5000;
            timeline.draw();
            step.querySelector("img")?.remove();
            canvas.parentElement.replaceWith(make("img", { class: "on-paper", alt: "", src: canvas.toDataURL() }));
        }
    }

    /** Says what each policy stands for, and which one a dying process leaves alone. */
    static #name(stage, scene) {
        stage.lanes.forEach((lane, index) => {
            lane.name = scene?.lanes[index][0];
            lane.isStored = scene?.stored === index;
            lane.isCrowded = scene?.server === true;
        });
    }

    /** The first key of the reader begins on an empty stage; and half a second after the last one comes what ends the scene. */
    #call(event) {
        if (!event.isTrusted || event.target.closest("[data-call]")?.dataset.call !== event.type) return;
        const scene = storyScenes[this.#step?.dataset.scene];
        if (!["type", "submit"].includes(event.target.id)) return this.#drop();
        if (this.#before === null || !scene || this.#policies !== this.#set) {
            this.#isTyped = true;
            return;
        }
        const { clock } = this.#stage;
        if (!this.#isTyped || this.#stage.marks.length > 0) {
            this.#drop();
            if (this.#isTyped) element("type").value = lastLetter(element("type").value);
            this.#stage.startOver();
            Story.#name(this.#stage, scene);
        }
        this.#isTyped = true;
        if (!scene.end) return;
        if (this.#end) clock.drop(this.#end);
        this.#end = clock.after(2 * Story.untilEnd, () => scene.end(this.#stage));
    }
}
