"""The results of a trace: the executions of each wait."""

import json
import unittest

from harness import TraceCase


class ResultTest(TraceCase):
    def drop_lines(self, lines):
        self.browser.run("document.getElementById('tune-status').textContent = ''")
        return self.drop("\n".join(json.dumps(line) for line in lines))

    def executions(self):
        """Returns how often a debounce of each wait executes."""
        return self.browser.run("""
            return Object.fromEntries([...document.querySelectorAll("[data-waits=debounce] tbody tr")].map((row) =>
                [row.cells[0].textContent, Number(row.cells[2].textContent)]));
        """)

    def test_flushes_and_cancels_do_what_they_say(self):
        submits = [{"at": 10 * index, "key": "a"} for index in range(30)]
        self.drop_lines(sorted(submits + [{"at": 10 * index + 0.01, "op": "cancel"} for index in range(30)], key=lambda line: line["at"]))
        self.assertEqual(self.executions()["100ms"], 0)
        said = self.drop_lines([{"at": 0, "op": "flush", "key": "b"}]
             + sorted(submits + [{"at": 10 * index + 0.01, "op": "flush"} for index in range(30)], key=lambda line: line["at"]))
        self.assertEqual(self.executions()["100ms"], 30)
        self.assertIn("of 1 key", said)

    def test_all_lines_are_read(self):
        self.drop_lines([{"at": 10 * index} for index in range(2500)])
        self.assertEqual(self.executions()["100ms"], 2500)

    def test_another_trace_takes_the_place_of_the_last_one(self):
        self.drop_lines([{"at": 10 * index} for index in range(30)])
        self.drop_lines([{"at": 10 * index} for index in range(40)])
        self.assertEqual(self.executions()["100ms"], 40)

    def test_a_newer_series_is_not_mixed_with_an_older_one(self):
        found = self.browser.run("""
            const lines = Array.from({ length: 200_000 }, (_, index) => `{"at":${index}}`).join("\\n");
            const tuner = new playground.Tuner();
            tuner.take(lines);
            return new Promise((done) => {
                let isAsked = false;
                tuner.tune({ first: 50, last: 500, maxWait: null }, {}, (share) => {
                    if (share <= 0.7 || isAsked) return;
                    isAsked = true;
                    tuner.tune({ first: 600, last: 900, maxWait: null }).then((result) => done(result.debounce[0].executions), (error) => done(error.message));
                });
            });
        """)
        self.assertEqual(found, 200_000)


if __name__ == "__main__":
    unittest.main()
