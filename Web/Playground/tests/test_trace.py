"""A trace that is dropped on the page."""

import json
import os
import re
import subprocess
import tempfile

from harness import TraceCase


class TraceTest(TraceCase):
    def test_a_dropped_trace_has_a_table_and_a_chart(self):
        lines = [f'{{"at":{second * 10 + tenth / 10},"key":"lamp"}}' for second in range(50) for tenth in range(8)]
        self.assertEqual(self.drop("\n".join(lines)), "mine.jsonl: 400 submits of 1 key in 491 s.")
        rows = self.browser.run("""
            return [...document.querySelectorAll("[data-waits=debounce] tbody tr")].map((row) =>
                [...row.cells].slice(0, 4).map((cell) => cell.textContent));
        """)
        self.assertIn(["100ms", "", "400", "0.0 %"], rows)
        self.assertIn(["120ms", "✓", "50", "87.5 %"], rows)
        self.assertIn("--wait 120ms", self.browser.text("[data-suggested=debounce]"))
        marks = self.browser.run("return document.querySelectorAll('#chart circle, #chart rect').length")
        self.assertGreaterEqual(marks, 2 * len(rows))

    def test_labels_of_the_chart_never_cover_each_other(self):
        for width in (390, 768, 1280):
            self.browser.resize(width, 900)
            for lines in (None, [f'{{"at":{second * 3 + tenth / 20}}}' for second in range(80) for tenth in range(1 + second % 7)]):
                self.browser.run("document.getElementById('tune-status').textContent = ''; document.getElementById('chart').replaceChildren()")
                if lines:
                    self.drop("\n".join(lines))
                else:
                    self.browser.click("#sample")
                self.browser.wait("return document.querySelector('#chart [data-label]')")
                covered, labels, suggested = self.browser.run("""
                    const all = [...document.querySelectorAll("#chart [data-label]")];
                    const boxes = all.map((label) => label.getBoundingClientRect());
                    return [boxes.flatMap((one, index) => boxes.slice(index + 1).filter((other) =>
                        one.left < other.right && one.right > other.left && one.top + 2 < other.bottom && one.bottom - 2 > other.top)
                        .map(() => all[index].textContent)), all.length,
                        all.filter((label) => label.getAttribute("font-weight")).length];
                """)
                self.assertEqual(covered, [])
                self.assertGreater(labels, 8)
                self.assertEqual(suggested, 2)

    def test_targets_choose_another_wait(self):
        self.browser.click("#sample")
        self.browser.wait("return document.querySelector('[data-suggested=debounce]')")
        before = self.browser.text("[data-suggested=debounce]")
        self.set("target-delay", "200ms")
        self.browser.wait("return document.querySelector('[data-suggested=debounce]').textContent.includes('meets')")
        after = self.browser.text("[data-suggested=debounce]")
        self.assertNotEqual(before, after)
        self.assertIn("meets the target", after)

    def test_too_few_submits_allow_no_suggestion(self):
        self.drop("\n".join(f'{{"at":{second}}}' for second in range(19)))
        self.assertEqual(self.browser.text("#suggestions"), "No suggestion: at least 20 submits are needed for one.")
        self.drop('{"at":1}\n' * 20)
        self.assertEqual(self.browser.text("#suggestions"), "No suggestion: all submits came at one instant.")

    def test_a_wrong_setting_is_marked(self):
        self.browser.click("#sample")
        self.browser.wait("return !document.getElementById('tune').hidden")
        self.set("waits-first", "fast")
        self.assertIn("“fast” is not a duration", self.browser.text("#tune-status"))
        self.assertEqual(self.browser.run("return document.getElementById('waits-first').getAttribute('aria-invalid')"), "true")

    def test_a_bad_line_is_named(self):
        self.assertIn("line 2: time runs backwards", self.drop('{"at":2}\n{"at":1}\n'))
        self.assertIn("line 1: “x” is not a time", self.drop('{"at":"x"}\n'))
        self.assertIn("line 3", self.drop('{"at":1}\n\nnonsense\n'))

    def test_instants_are_read_exactly(self):
        read = self.browser.run("""
            const texts = ["0", "1.5", "1734120255.123456789", "1.5e3", "2.5E-3", "12.1234567899", "-0.5"];
            const read = (text) => {
                const trace = new playground.Trace();
                trace.read(`{"at":${text}}`);
                trace.end();
                return trace.at(0).toString();
            };
            return [...texts, '"2024-12-13T20:04:15.5Z"', '"2024-12-13T21:04:15.000000001+01:00"'].map(read);
        """)
        self.assertEqual(read, [
            "0", "1500000000", "1734120255123456789", "1500000000000", "2500000", "12123456789", "-500000000",
            "1734120255500000000", "1734120255000000001"])

    def test_the_page_takes_and_refuses_what_the_command_does(self):
        good = b'{"at":0}\n'
        for data in [
                b"\xef\xbb\xbf" + good, b'{"at":1,"key":"\xff"}', b'{"at":1,"key":"\xc3', b"\xc2\xa0\n" + good, b"\x0c\n" + good, b" \t\r\n" + good,
                b'{"at":{"at":"5"}}', b'{"at":"2024-02-30T00:00:00Z"}', b'{"at":"2024-02-29T00:00:00Z"}', b'{"at":"2023-02-29T00:00:00Z"}',
                b'{"at":"2024-01-01T24:00:00Z"}', b'{"at":"2016-12-31T23:59:60Z"}', b'{"at":"1600-01-01T00:00:00Z"}',
                b'{"at":"2300-01-01T00:00:00Z"}', b'{"at":"0050-01-01T00:00:00Z"}', b'{"at":"2024-01-01T00:00:00+24:00"}',
                b'{"at":"2024-06-30t12:00:00.5-11:30"}', b'{"at":1e-70}', b'{"at":1e70}', b'{"at":9300000000}', b'{"at":1,"wait":" 5 ms "}',
                b'{"at":1,"wait":"3000h"}', b'{"at":1,"wait":"5"}', b'{"at":1,"wait":5}', b'{"at":1,"wait":0}', b'{"at":1,"wait":["5ms"]}',
                b'{"at":0e400}', b'{"at":9223372036}', b'{"at":9223372036.854775806}', b'{"at":9223372036.854775807}',
                b'{"at":-9223372036.854775807}', b'{"at":"2262-04-11T23:47:16.854775806Z"}', b'{"at":"2262-04-11T23:47:16.854775807Z"}',
                '{"at":1,"wait":"5μs"}'.encode(), b'{"at":1,"op":"dance"}', b'{"at":1,"op":7}', b'{"at":1,"op":"touch"}', b'{"at":5,"op":"touch"}\n{"at":1}',
                b'{"at":5,"op":"flush","key":"a"}\n{"at":5}', b"[]", b"7", b""]:
            with self.subTest(data):
                with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
                    file.write(data)
                    file.flush()
                    status = subprocess.run(
                        [os.environ["LULL"], "simulate", "--wait", "1s", file.name], capture_output=True, check=False).returncode
                self.browser.run("document.getElementById('tune-status').textContent = ''")
                said = self.drop_bytes(data)
                self.assertEqual(bool(re.fullmatch(r"mine.jsonl: (\d+ submits? of .*|there is no submit in it)\.", said)), status == 0, said)

    def test_keys_are_told_apart_as_the_command_does(self):
        keys = ["1", "1.0", "1e0", "12345678901234567890", "12345678901234567891", '"1"', '{"a":1}', '{"a":1.0}', '{ "a" : 1 }', '"\\u00e9"', '"é"', "null", "true", '"\\\\u0000number 1"']
        lines = "\n".join(f'{{"at":{index},"key":{key}}}' for index, key in enumerate(keys))
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            found = json.loads(subprocess.run(
                [os.environ["LULL"], "simulate", "--wait", "1s", "--format", "json", file.name], capture_output=True, check=True).stdout)
        self.assertIn(f"of {found['keys']} keys", self.drop(lines))

    def test_the_stage_can_be_taken(self):
        self.browser.run("playground.stage.clock.hold()")
        self.browser.click("#burst")
        self.browser.run("playground.stage.clock.advance(5000)")
        self.browser.click("#own")
        self.browser.wait("return document.getElementById('tune-status').textContent.includes('30 submits of 1 key')")

    def test_a_large_trace_leaves_the_page_alive(self):
        self.browser.run(r"""
            // 15 MB: half a million lines.
            const lines = Array.from({ length: 100_000 }, (_, index) => `{"at":${1e6 + index / 8},"key":"k${index % 97}"}`);
            const parts = Array.from({ length: 5 }, (_, part) => lines.map((line) => line.replace(":1", `:${part + 1}`)));
            const text = parts.map((part) => part.join("\n") + "\n").join("");
            window.size = text.length;
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "large.jsonl"));
            const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer });
            window.shares = new Set();
            const bar = document.getElementById("tune-progress");
            document.getElementById("drop").dispatchEvent(event);
            window.watch = setInterval(() => bar.hidden || shares.add(bar.value), 10);
        """)
        status = "document.getElementById('tune-status').textContent"
        self.browser.wait(f"return {status}.includes('500000 submits of 97 keys')", seconds=120)
        size, shares = self.browser.run("clearInterval(watch); return [size, shares.size]")
        self.assertGreater(size, 14e6)
        self.assertGreater(shares, 5)
        self.set("waits-last", "2s")
        self.browser.wait("return document.querySelectorAll('[data-waits=debounce] tbody tr').length === 17")

    def test_a_newer_question_ends_an_older_one(self):
        found = self.browser.run(r"""
            const tuner = new playground.Tuner();
            const lines = (count, gap) => Array.from({ length: count }, (_, index) => `{"at":${index * gap}}`).join("\n");
            tuner.take(lines(300_000, 0.1));
            const first = tuner.tune({ first: 50, last: 5000, maxWait: null });
            tuner.take(lines(7, 1));
            const second = tuner.tune({ first: 50, last: 5000, maxWait: null });
            return Promise.all([first, second]).then(([first, second]) => [first, second.submits, second.debounce[0].executions]);
        """)
        self.assertEqual(found, [None, 7, 7])

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
