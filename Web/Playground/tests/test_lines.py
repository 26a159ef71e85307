"""Runs at once have a line each: nothing that is drawn lies over a run, or over the name of a row."""

from harness import PageTest

# Draws a timeline, and returns which of its runs and texts lie over each other.
OVERLAPS = """
    const names = ["beginPath", "moveTo", "lineTo", "fill", "fillText"];
    const prototype = CanvasRenderingContext2D.prototype;
    const kept = names.map((name) => prototype[name]);
    let points = [];
    const drawn = [];
    prototype.beginPath = function () { points = []; kept[0].call(this); };
    prototype.moveTo = prototype.lineTo = function (x, y) { points.push([x, y]); kept[1].call(this, x, y); };
    prototype.fill = function () {
        const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
        // Not the marks: the bars of runs.
        if (points.length === 4 && Math.max(...ys) - Math.min(...ys) <= 6) {
            drawn.push({ name: "run", left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) });
        }
    };
    prototype.fillText = function (text, x, y) {
        const { width } = this.measureText(text);
        const left = this.textAlign === "left" ? x : x - width / 2;
        const [up, down] = text === "×" ? [6, 1] : [8, 0];
        drawn.push({ name: text, left, right: left + width, top: y - up, bottom: y - down });
    };
    try {
        picture.draw();
    } finally {
        names.forEach((name, index) => { prototype[name] = kept[index]; });
    }
    // Nor do the names of rows.
    const runs = drawn.filter(({ name }) => name === "run" || /Lull$/.test(name));
    const over = runs.flatMap((run) => drawn.filter((other) => other !== run && other.left < run.right - 1 && run.left < other.right - 1
        && other.top < run.bottom && run.top < other.bottom).map(({ name }) => [name, Math.round(run.left), run.top]));
    return [runs.length, over];
"""


class LinesTest(PageTest):
    def assert_apart(self, picture, least):
        count, over = self.browser.run(f"const picture = {picture};" + OVERLAPS)
        self.assertGreaterEqual(count, least)
        self.assertEqual(over, [])

    def test_of_the_story(self):
        self.browser.emulate(prefers_reduced_motion="reduce")
        for width in (1280, 390):
            self.browser.resize(width, 900)
            self.open()
            self.browser.run("document.querySelector('[data-scene=stale]').scrollIntoView(); scrollBy(0, -60)")
            self.browser.wait("return playground.story.isTold && playground.stage.lanes[0].executions.some(({ isStale }) => isStale)")
            self.assert_apart("playground.timeline", 20)

    def test_of_two_machines(self):
        for width in (1280, 390):
            self.browser.resize(width, 900)
            self.open()
            self.browser.run("""
                const { breaking } = playground;
                breaking.clock.hold();
                document.getElementById("break-two").click();
                document.getElementById("break-type").click();
                breaking.clock.advance(8000);
            """)
            self.assert_apart("playground.breaking.timeline", 14)

    def test_of_the_search(self):
        self.browser.run("""
            const { sceneClock } = playground;
            sceneClock.hold();
            document.querySelector("#scene-search [data-do=type]").click();
            sceneClock.advance(3000);
        """)
        self.assert_apart("document.querySelector('#scene-search canvas').timeline", 6)
