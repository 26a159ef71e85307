"""A log that is dropped on the page, or pasted into it."""

import json
import os
import subprocess
import tempfile
from datetime import datetime, timedelta, timezone

from harness import TraceCase

# Bursts of 2 to 6 lines, 40 to 440 ms apart, and three seconds and more from burst to burst: milliseconds from the first line.
TIMES = []
for burst in range(60):
    for line in range(2 + burst % 5):
        TIMES.append(burst * 6000 + line * (40 + 100 * (burst % 5)))

# Some seconds before midnight, at the end of a month.
START = datetime(2026, 11, 30, 23, 59, 50, tzinfo=timezone.utc)


def written(form):
    """Returns a log whose lines have the stamps that a function makes of a time."""
    return "\n".join(form(START + timedelta(milliseconds=at)) for at in TIMES)


def milliseconds(time):
    return f"{time:%H:%M:%S}.{time.microsecond // 1000:03}"


FORMATS = {
    "Apache or nginx": [lambda time: f'10.0.0.1 - - [{time:%d/%b/%Y}:{milliseconds(time)} +0000] "GET /search?q=2026-01-01 HTTP/1.1" 200 7',
                        lambda time: f'- - [{time + timedelta(hours=1):%d/%b/%Y}:{milliseconds(time + timedelta(hours=1))} +0100] "GET /"'],
    "ISO 8601": [lambda time: f"{time:%Y-%m-%d}T{milliseconds(time)}Z app: saved 1734120255 12:00:00",
                 lambda time: f"{time:%Y-%m-%d} {milliseconds(time).replace('.', ',')} INFO saved",
                 lambda time: f"level=info ts={time:%Y-%m-%d}T{milliseconds(time)}+00:00 saved",
                 lambda time: f"{time - timedelta(hours=7):%Y-%m-%d} {milliseconds(time - timedelta(hours=7))} -0700 saved",
                 lambda time: f"{time:%Y/%m/%d} {milliseconds(time)} [error] 7#7: saved"],
    "syslog": [lambda time: f"{time:%b} {time.day:2} {milliseconds(time)} host app[17]: saved",
               lambda time: f"<34>{time:%b} {time.day} {milliseconds(time)} host app: saved"],
    "seconds or milliseconds since 1970": [
        lambda time: f"{time.timestamp():.3f} saved", lambda time: f"saved,{round(time.timestamp() * 1000)},7",
        lambda time: f"[{round(time.timestamp() * 1000)}000] saved", lambda time: f"{round(time.timestamp() * 1000)}000000 saved"],
    "times of the day": [lambda time: f"{milliseconds(time)} saved", lambda time: f"[{milliseconds(time).replace('.', ',')}] saved"],
    "JSON Lines": [lambda time: json.dumps({"level": "info", "time": time.isoformat(timespec="milliseconds")}),
                   lambda time: json.dumps({"ts": time.timestamp(), "msg": "at 12:00:00"}),
                   lambda time: json.dumps({"timestamp": round(time.timestamp() * 1000)}),
                   lambda time: json.dumps({"@timestamp": f"{time:%Y-%m-%d}T{milliseconds(time)}Z", "value": {"at": 1}})],
}


class LogTest(TraceCase):
    ROWS = """
        return [...document.querySelectorAll("[data-waits] tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
    """

    def take(self, text):
        self.browser.run("document.getElementById('tune-status').textContent = ''")
        return self.drop(text)

    def tuned(self, *options):
        """Returns what `lull tune` says of the same times."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(json.dumps({"at": at / 1000}) for at in TIMES))
            file.flush()
            return json.loads(subprocess.run(
                [os.environ["LULL"], "tune", "--format", "json", *options, file.name], check=True, capture_output=True, text=True).stdout)

    def test_every_format_has_the_verdict_of_lull_tune(self):
        tuned = self.tuned()
        counts = [str(row["executions"]) for kind in ("debounce", "throttle") for row in tuned[kind]["waits"]]
        wait = tuned["debounce"]["suggested"]["wait"]
        for name, forms in FORMATS.items():
            for form in forms:
                text = written(form)
                with self.subTest(text.split("\n")[0]):
                    self.assertEqual(self.take(text), f"mine.jsonl: 240 lines with a time stamp ({name}) in 5.9 min.")
                    self.assertEqual([row[2] for row in self.browser.run(self.ROWS)], counts)
                    self.assertIn(f"A wait of {round(wait * 1000)} ms, ", self.browser.text("#bill-says"))

    def test_the_bill_says_what_is_saved_with_the_lines_to_paste(self):
        self.take(written(FORMATS["Apache or nginx"][0]))
        self.assertEqual(self.browser.text("#bill-title"), "240 requests → 60, 75 % saved")
        self.assertIn("Debouncer(for: .milliseconds(500))", self.browser.text("#bill-swift"))
        self.assertEqual(self.browser.text("#bill-shell"), "lull filter --wait 500ms --at-end wait")
        self.take(written(FORMATS["ISO 8601"][0]))
        self.assertEqual(self.browser.text("#bill-title"), "240 calls → 60 runs, 75 % saved")

    def test_the_picture_is_of_the_engine_and_can_be_saved(self):
        self.take(written(FORMATS["ISO 8601"][0]))
        self.assertIn("240 calls → 60 runs", self.browser.text("#bill-picture"))
        saved = self.browser.run("""
            return new Promise((done) => {
                const click = HTMLAnchorElement.prototype.click;
                HTMLAnchorElement.prototype.click = async function () {
                    HTMLAnchorElement.prototype.click = click;
                    const bytes = new Uint8Array(await (await fetch(this.href)).arrayBuffer());
                    done([this.download, bytes.length, ...bytes.slice(1, 4)]);
                };
                document.getElementById("bill-save").click();
            });
        """)
        self.assertEqual(saved[0], "my-log.png")
        self.assertGreater(saved[1], 10_000)
        self.assertEqual(bytes(saved[2:]), b"PNG")
        # The part that is drawn, on the stage.
        self.browser.click("#bill-stage")
        stage = "playground.stage"
        self.assertEqual(self.browser.run(f"return {stage}.lanes[0].policy.wait"), 500)
        shown = self.browser.run(f"return {stage}.lanes[0].executions.map(({{ count }}) => count)")
        self.assertGreaterEqual(len(shown), 3)
        self.assertEqual(sum(shown), self.browser.run(f"return {stage}.submits.length"))

    def test_lines_that_do_not_count_and_disorder_are_said(self):
        lines = written(FORMATS["ISO 8601"][0]).split("\n")
        lines[10], lines[11], lines[200], lines[203] = lines[11], lines[10], lines[203], lines[200]
        lines[100:100] = ["Exception: it failed", "    at main (app.js:12)", ""]
        self.assertEqual(self.take("\r\n".join(lines)), (
            "mine.jsonl: 240 lines with a time stamp (ISO 8601) in 5.9 min. 2 lines without a time stamp do not count."
            " 4 lines were out of order, and are read in it."))
        self.assertEqual(self.browser.text("#bill-title"), "240 calls → 60 runs, 75 % saved")

    def test_only_lines_with_a_text_count_if_it_is_given(self):
        lines = written(FORMATS["ISO 8601"][0]).split("\n")
        for index in range(0, 240, 2):
            lines.insert(index * 3 // 2, lines[index * 3 // 2].replace("saved", "loaded"))
        self.assertIn("360 lines", self.take("\n".join(lines)))
        self.set("log-only", "saved")
        self.browser.wait("return document.getElementById('tune-status').textContent.includes('240 lines with')")
        self.assertTrue(self.browser.text("#tune-status").endswith("120 lines are without the text that you ask for, of 360."))

    def test_whole_seconds_say_nothing_about_shorter_waits(self):
        self.take(written(lambda time: f"{time:%b %d %H:%M:%S} host app: saved"))
        self.assertIn("it says nothing about waits below a second", self.browser.text("#log-note"))
        rows = self.browser.run(self.ROWS)
        self.assertEqual([rows[0][0], rows[len(rows) // 2 - 1][0]], ["1s", "60s"])
        # Who asks for them all the same is warned.
        self.set("waits-first", "100ms")
        self.browser.wait("return document.getElementById('log-note').textContent.includes('do not rely on it')")
        self.assertEqual(self.browser.run(self.ROWS)[0][0], "100ms")
        # nginx can write parts of a second beside them.
        said = self.take(written(lambda time: f"[{time:%d/%b/%Y:%H:%M:%S} +0000] {time.timestamp():.3f} 200"))
        self.assertIn("(seconds or milliseconds since 1970)", said)
        self.assertTrue(self.browser.run("return document.getElementById('log-note').hidden"))

    def test_new_year_passes_without_a_year(self):
        times = [datetime(2026, 12, 31, 23, 59, 30) + timedelta(seconds=2 * index) for index in range(30)]
        self.assertIn("30 lines with a time stamp (syslog) in 58 s.", self.take("\n".join(f"{time:%b %d %H:%M:%S} host app: x" for time in times)))

    def test_text_without_time_stamps_is_refused(self):
        for text in ("Lorem ipsum\ndolor sit amet\n", '{"level":"info"}\n', "10:30 in the morning, at 99:99:99"):
            self.assertEqual(self.take(text), "mine.jsonl, no line of it has a time stamp that this page knows.")
            self.assertTrue(self.browser.run("return document.getElementById('tune').hidden"))

    def test_what_comes_one_by_one_saves_nothing(self):
        self.take("\n".join(f"{(START + timedelta(seconds=20 * index)).isoformat()}.5Z" for index in range(40)).replace("+00:00", ""))
        self.assertEqual(self.browser.text("#bill-title"), "No wait of this series saves anything here")
        self.assertFalse(self.browser.run("return document.getElementById('bill-swift').checkVisibility()"))

    def test_a_log_can_be_pasted(self):
        for target in ("document.getElementById('paste')", "document.body"):
            self.browser.run("""
                document.getElementById("tune-status").textContent = "";
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", arguments[0]);
                %s.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
            """ % target, written(FORMATS["ISO 8601"][0]))
            self.browser.wait("return document.getElementById('tune-status').textContent.startsWith('What you pasted: 240 lines')")
            self.assertEqual(self.browser.run("return document.getElementById('paste').value"), "")

    def test_a_keyed_trace_has_keyed_code(self):
        self.take("\n".join(json.dumps({"at": at / 1000, "key": "ab"[index % 2]}) for index, at in enumerate(TIMES)))
        self.assertIn("KeyedDebouncer(", self.browser.text("#bill-swift"))
        self.assertIn("--key-field 1", self.browser.text("#bill-shell"))
