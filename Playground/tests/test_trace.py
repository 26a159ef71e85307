"""A trace that is dropped on the page."""

import unittest

from harness import PageTest


class TraceTest(PageTest):
    def drop(self, text):
        self.browser.run("""
            const transfer = new DataTransfer();
            transfer.items.add(new File([arguments[0]], "mine.jsonl"));
            const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer });
            document.getElementById("drop").dispatchEvent(event);
        """, text)
        self.browser.wait("return /\\.$/.test(document.getElementById('tune-status').textContent)")
        return self.browser.text("#tune-status")

    def test_a_dropped_trace_has_a_ladder_and_a_chart(self):
        lines = [f'{{"at":{second * 10 + tenth / 10},"key":"lamp"}}' for second in range(50) for tenth in range(8)]
        self.assertEqual(self.drop("\n".join(lines)), "mine.jsonl: 400 submits of 1 key in 491 s.")
        rows = self.browser.run("""
            return [...document.querySelectorAll("[data-ladder=debounce] tbody tr")].map((row) =>
                [...row.cells].slice(0, 4).map((cell) => cell.textContent));
        """)
        self.assertIn(["100ms", "", "400", "0.0 %"], rows)
        self.assertIn(["120ms", "✓", "50", "87.5 %"], rows)
        self.assertIn("--wait 120ms", self.browser.text("[data-suggested=debounce]"))
        marks = self.browser.run("return document.querySelectorAll('#chart circle, #chart rect').length")
        self.assertGreaterEqual(marks, 2 * len(rows))

    def test_targets_choose_another_wait(self):
        self.browser.click("#sample")
        before = self.browser.text("[data-suggested=debounce]")
        self.browser.run("""
            const field = document.getElementById("target-delay");
            field.value = "200ms";
            field.dispatchEvent(new Event("change", { bubbles: true }));
        """)
        after = self.browser.text("[data-suggested=debounce]")
        self.assertNotEqual(before, after)
        self.assertIn("meets the target", after)

    def test_a_bad_line_is_named(self):
        self.assertIn("line 2: time runs backwards", self.drop('{"at":2}\n{"at":1}\n'))
        self.assertIn("line 1: “x” is not a time", self.drop('{"at":"x"}\n'))
        self.assertIn("line 3", self.drop('{"at":1}\n\nnonsense\n'))

    def test_instants_are_read_exactly(self):
        read = self.browser.run("""
            const texts = ["0", "1.5", "1734120255.123456789", "1.5e3", "2.5E-3", "12.1234567899", "-0.5"];
            return [...texts.map((text) => [...playground.readTrace(`{"at":${text}}`)][0].at.toString()),
                ...["2024-12-13T20:04:15.5Z", "2024-12-13T21:04:15.000000001+01:00"].map((text) =>
                    [...playground.readTrace(`{"at":"${text}"}`)][0].at.toString())];
        """)
        self.assertEqual(read, [
            "0", "1500000000", "1734120255123456789", "1500000000000", "2500000", "12123456789", "-500000000",
            "1734120255500000000", "1734120255000000001"])

    def test_the_stage_can_be_taken(self):
        self.browser.run("playground.stage.clock.hold()")
        self.browser.click("#burst")
        self.browser.run("playground.stage.clock.advance(5000)")
        self.browser.click("#own")
        self.assertIn("The stage: 30 submits of 1 key", self.browser.text("#tune-status"))


if __name__ == "__main__":
    unittest.main()
