"""The form of a policy, its tabs, and the buttons that copy."""

from harness import StageCase


class PanelTest(StageCase):
    def test_a_preset_fills_the_form(self):
        self.set("option-preset", "2")
        self.assertEqual(self.browser.text("#command"), "lull filter --wait 2s --max-wait 10s --at-end wait")

    def test_each_kind_begins_with_its_own_edges(self):
        edges = "const { leading, trailing } = playground.stage.policies[0]; return [leading, trailing]"
        self.set("option-kind", "throttle")
        self.assertEqual(self.browser.run(edges), [True, True])
        self.set("option-kind", "debounce")
        self.assertEqual(self.browser.run(edges), [False, True])

    def test_a_setting_that_the_engine_refuses_is_explained_beside_the_field(self):
        self.set("option-maxWait", "100ms")
        self.assertIn("must be at least the wait of 300ms", self.browser.text("#wrong"))
        self.set("option-wait", "200ms")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#form [aria-invalid]').length"), 1)
        self.set("option-wait", "300ms")
        self.set("option-maxWait", "100ms")
        for width in (390, 1280):
            self.browser.resize(width, 1000)
            field, wrong = self.browser.run("""
                return ["option-maxWait", "wrong"].map((id) => {
                    const { left, top, bottom } = document.getElementById(id).getBoundingClientRect();
                    return [left, top, bottom];
                });
            """)
            self.assertLess(abs(field[0] - wrong[0]), 5)
            self.assertLess(wrong[1] - field[2], 60)
        self.assertIsNone(self.browser.run("return playground.stage.policies[0].maxWait"))

    def test_the_keyboard_stays_in_place_when_the_last_policy_but_one_is_removed(self):
        self.browser.run("document.getElementById('remove').focus()")
        self.browser.keys(" ", " ")
        self.assertEqual(self.browser.run("return [playground.stage.lanes.length, document.activeElement.id]"), [1, "tab-0"])
