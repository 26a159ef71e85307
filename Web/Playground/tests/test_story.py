"""The story above the stage: each paragraph sets the stage."""

from harness import PAGE, StageCase

SCENES = ["keyboard", "bill", "stale", "draft", "worker"]


class StoryTest(StageCase):
    count = "return playground.stage.submits.length"
    label = "return document.getElementById('pause').textContent"

    def begin(self, motion="reduce", fragment=""):
        self.browser.emulate(prefers_reduced_motion=motion)
        self.browser.open(PAGE, fragment)

    def read(self, index):
        """Scrolls to a paragraph: 0 is the opening, 6 the end."""
        self.browser.run("""
            const step = document.getElementById("story").children[arguments[0]];
            scrollTo(0, step.getBoundingClientRect().top + scrollY - 16);
        """, index)
        self.browser.wait(f"return document.getElementById('story').children[{index}].classList.contains('read')")

    def facts(self, scene):
        return self.browser.run("""
            return Object.fromEntries([...document.querySelectorAll(`[data-scene=${arguments[0]}] [data-fact]`)]
                .map((fact) => [fact.dataset.fact, fact.textContent]));
        """, scene)

    POLICIES = "return playground.stage.policies.map(playground.policyToLink)"
    LABELS = "return playground.stage.submits.map(({ label }) => label).join('')"

    def test_the_numbers_are_those_of_the_engine(self):
        self.begin()
        written = {scene: self.facts(scene) for scene in SCENES}
        self.assertEqual(written["bill"], {"fewer": "3 requests", "each": "17", "saved": "82.4"})
        for index, scene in enumerate(SCENES, 1):
            self.browser.run("""
                for (const fact of document.querySelectorAll(`[data-scene=${arguments[0]}] [data-fact]`)) fact.textContent = "?";
            """, scene)
            self.read(index)
            self.assertEqual(self.browser.run(self.LABELS), "weather in lisbon")
            self.assertEqual(self.facts(scene), written[scene], scene)

    def test_a_paragraph_plays_on_the_live_stage(self):
        self.begin(motion="no-preference")
        self.read(2)
        # The first keys come by themselves; the others in time that is held.
        self.browser.wait("const { submits, clock } = playground.stage; if (submits.length > 2) clock.hold(); return submits.length > 2")
        self.assertLess(self.browser.run(self.count), 17)
        self.play("stage.lanes[1].executions.length === 3")
        self.assertEqual(self.facts("bill")["saved"], "82.4")
        # It is the demonstration still: a key begins on an empty stage.
        self.assertEqual(self.browser.text("#turn"), "Try it:")
        self.browser.type("#type", "ab")
        self.assertEqual(self.browser.run(self.LABELS), "ab")
        self.assertEqual(self.browser.run("return playground.stage.lanes[0].name"), "a request for each key")

    def test_the_button_says_what_moves(self):
        self.begin(motion="no-preference")
        self.hold()
        self.read(2)
        self.play("stage.submits.length === 3")
        self.frame()
        self.assertEqual(self.browser.run(self.label), "Pause")
        self.browser.click("#pause")
        self.assertEqual(self.browser.run(self.label), "Play")
        self.advance(60_000)
        self.frame()
        self.assertEqual(self.browser.run(self.count), 3)
        self.assertEqual(self.browser.run(self.label), "Play")
        # It plays the paragraph again, not the opening.
        self.browser.click("#pause")
        self.assertEqual(self.browser.run(self.label), "Pause")
        self.play("stage.submits.length === 17")
        self.play("!timeline.isLively")
        self.browser.wait(self.label + " === 'Play'")
        self.assertFalse(self.browser.run("return playground.timeline.isLively"))
        self.assertEqual(self.browser.run(self.LABELS), "weather in lisbon")
        # Also for a reader who wants less motion, until they ask for it.
        self.begin()
        self.hold()
        self.read(2)
        self.browser.wait(self.label + " === 'Play'")
        self.browser.click("#pause")
        self.play("stage.submits.length === 1")

    def test_the_readers_keys_become_its_data(self):
        self.begin()
        self.read(1)
        self.browser.type("#type", "my own words")
        self.assertEqual(self.facts("keyboard"), {"keys": "12 keys", "requests": "12 requests"})
        for index, scene in enumerate(SCENES[1:], 2):
            self.read(index)
            self.assertEqual(self.browser.run(self.LABELS), "my own words", scene)
        self.assertEqual(self.facts("worker")["lost"], "12 edits")
        # And stay on the stage when the story is over.
        self.read(6)
        self.assertEqual(self.browser.run(self.LABELS), "my own words")

    def test_a_store_outlives_the_process(self):
        self.begin()
        self.read(5)
        self.browser.wait("return playground.stage.lanes[1].executions.length === 1")
        memory, store = self.browser.run("""
            return playground.stage.lanes.map(({ counters, executions }) => [counters.cancelled, executions.map(({ value }) => value)]);
        """)
        self.assertEqual([memory, store], [[1, []], [0, ["weather in lisbon"]]])

    def test_the_stage_has_its_policies_again_when_the_story_is_over(self):
        self.begin()
        before = self.browser.run(self.POLICIES)
        for end in (6, 0):
            self.read(3)
            self.assertEqual(self.browser.run(self.POLICIES), ["debounce,0ms,while-running=concurrent", "debounce,300ms,while-running=cancel"])
            self.read(end)
            self.assertEqual(self.browser.run(self.POLICIES), before)
        # No slow server is left.
        self.assertEqual(self.browser.run("""
            const { stage } = playground;
            stage.startOver();
            stage.clock.hold();
            stage.submit(1);
            stage.clock.advance(400);
            return stage.lanes[0].executions.map(({ takes, outcome }) => [takes, outcome]);
        """), [[0, "executed"]])

    def test_who_comes_for_a_stage_finds_no_story_before_it_and_can_have_it(self):
        self.begin(fragment="#!debounce,1s")
        shown = "return document.getElementById('story').checkVisibility()"
        self.assertFalse(self.browser.run(shown))
        self.browser.click(".to-story")
        self.browser.wait(shown)

    def test_paragraphs_are_not_covered_by_the_stage(self):
        for width, height in ((1280, 800), (768, 1024), (390, 844)):
            self.browser.resize(width, height)
            self.begin()
            for index in range(6):
                self.read(index)
                self.frame()
                below, above, bottom = self.browser.run("""
                    const [stage, last] = [document.querySelector(".seen"), document.querySelector(".read").lastElementChild];
                    return [last.getBoundingClientRect().bottom, stage.getBoundingClientRect().top, stage.getBoundingClientRect().bottom];
                """)
                self.assertLessEqual(below, above, (width, index))
                self.assertLessEqual(bottom, height)

    def test_on_paper_each_scene_has_its_picture(self):
        self.begin()
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        kinds = self.browser.run("""
            return Promise.all([...document.querySelectorAll("#story img")].map(async (image) => {
                await image.decode();
                return [image.parentElement.dataset.scene, image.naturalWidth > 300, image.checkVisibility()];
            }));
        """)
        self.assertEqual(kinds, [[scene, True, False] for scene in SCENES])
