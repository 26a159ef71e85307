"""Tests of the page of `lull top`: with a program whose states a test makes, and with a real one. LULL is the path of the command, and
INSPECTION_CHILD that of a program that can be looked into."""

import os
import signal
import subprocess
import tempfile
import time
import unittest

from accessible import NAMELESS, REFERENCES
from harness import DOWN, ENTER, TAB, PageTest
from program import Debouncer, FakeProgram, busy
from real import LULL
from test_accessible import STRUCTURE

CHILD = os.environ.get("INSPECTION_CHILD", "")
EPISODES = """
    const [seen] = [...lull.program.debouncers.values()].filter(({ row }) => row.where === arguments[0]);
    return seen.episodes.map(({ state, count, ticks, due, startedAt, endedAt }) => ({ state, count, ticks: ticks.length, due, startedAt, endedAt }));
"""


@unittest.skipUnless(LULL, "LULL does not name the command")
class TopTest(PageTest):
    def setUp(self):
        super().setUp()
        # Short, since a socket's path may have about 100 bytes only.
        folder = tempfile.TemporaryDirectory(prefix="lull-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/app.sock"
        self.top = None

    def run_program(self, *debouncers, **about):
        program = FakeProgram(self.path, debouncers, **about)
        self.addCleanup(program.close)
        return program

    def show(self):
        """Opens the page of what is at the path."""
        self.top = subprocess.Popen([LULL, "top", "--page", self.path], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end_top)
        line = self.top.stderr.readline()
        self.assertIn(" is shown at http://127.0.0.1:", line)
        self.browser.open(line.split(" at ")[1].strip())
        self.until("lull.program.about !== null")

    def end_top(self):
        self.browser.leave()
        if self.top.poll() is None:
            self.top.terminate()
        self.top.communicate(timeout=20)

    def look(self):
        """Waits until the page has what is so now."""
        now = time.monotonic()
        self.browser.wait(f"return lull.program.about.time > {now}")

    def episodes(self, place):
        return self.browser.run(EPISODES, place)

    def start(self):
        child = subprocess.Popen([CHILD], env={**os.environ, "LULL_INSPECT": self.path})
        self.addCleanup(lambda: (child.kill(), child.wait()))
        end = time.monotonic() + 20
        while not os.path.exists(self.path) and time.monotonic() < end:
            time.sleep(0.02)
        return child

    @unittest.skipUnless(CHILD, "INSPECTION_CHILD does not name a program")
    def test_a_program_is_shown_while_it_lives_and_the_next_one_after_it(self):
        child = self.start()
        self.show()
        self.until_text("#process", f"process {child.pid}: 3 debouncers")
        places = self.texts("#table tbody th")
        self.assertEqual(len(places), 3)
        for place in places:
            self.assertRegex(place, r"^InspectionChild\.swift:\d+$")
        # One gets a value in each millisecond, and waits for a pause that does not come.
        self.browser.wait("return [...document.querySelectorAll('#table .in-s')].some((one) => Number(one.textContent) > 50)")
        self.assertIn("--wait 1h", self.texts("#table .policy"))
        self.until("[...document.querySelectorAll('#lines .state')].some((one) => / submits, due in \\d/.test(one.textContent))")
        child.kill()
        child.wait()
        self.until_text("#away", "the program has ended, or lets nobody look any more")
        self.assertEqual(self.text("#live"), "Away")
        self.assertTrue(self.browser.run("return document.body.classList.contains('stale')"))
        self.assertEqual(len(self.texts("#table tbody th")), 3)
        os.unlink(self.path)
        second = self.start()
        self.until_text("#process", f"process {second.pid}: ")
        self.assertEqual(self.text("#live"), "Live")
        self.assertFalse(self.is_shown("#away"))
        self.until("document.querySelectorAll('#table tbody th').length === 3")

    def test_what_is_pending_comes_to_its_execution(self):
        save = Debouncer("App/Editor.swift:21", "--wait 2s")
        # It goes on, until the test ends it.
        save.takes = 3600
        self.run_program(save)
        self.show()
        self.assertEqual(self.text("#lines .state"), "nothing submitted yet")
        save.submit(3, wait=60)
        self.until("/^3 submits, due in \\d/.test(document.querySelector('#lines .state').textContent)")
        [episode] = self.episodes("App/Editor.swift:21")
        self.assertEqual((episode["state"], episode["count"], episode["ticks"]), ("pending", 3, 3))
        save.start()
        self.until("document.querySelector('#lines .state').textContent === '1 running'")
        save.ends = [(0, False)]
        self.until("document.querySelector('#lines .state').textContent.startsWith('ran ')")
        [episode] = self.episodes("App/Editor.swift:21")
        self.assertEqual((episode["state"], episode["count"]), ("done", 3))
        self.assertLess(episode["startedAt"], episode["endedAt"])
        save.submit(wait=60)
        self.until_text("#lines .state", "1 submit, due in")
        save.cancel()
        self.until_text("#lines .state", ", without an execution")
        self.until_text("#headline", "4 submits became 1 execution, 75 % saved.")

    def test_outcomes_and_failures_are_below_the_row(self):
        upload = Debouncer("Sync/Upload.swift:112", "--wait 10ms", 0.01)
        upload.fails = 1
        self.run_program(upload)
        self.show()
        upload.submit(5)
        self.until_text("#table td.fail", "1")
        self.until_text("#lines .state", "failed")
        self.assertFalse(self.is_shown("#table .more"))
        self.press("#table button")
        shown = self.text("#table .more")
        for part in ("Debouncer, made at Sync/Upload.swift:112", "submitted5", "started1", "superseded4", "failed1", "executed0"):
            self.assertIn(part, shown)
        self.until("document.querySelector('#figures [data-figure=failed] dd').textContent === '1'")

    def test_a_program_without_debouncers_says_so_until_it_has_one(self):
        program = self.run_program()
        self.show()
        self.until_text("#process", "process 4099: 0 debouncers")
        self.assertIn("has no debouncer or throttler yet", self.text("#nothing"))
        self.assertFalse(self.is_shown("#table"))
        program.debouncers.append(Debouncer("A/a.swift:1"))
        self.until("document.querySelectorAll('#table tbody th').length === 1 && document.getElementById('nothing').hidden")

    def test_of_hundreds_the_busiest_have_lines_and_all_a_row(self):
        many = [Debouncer(f"Module{number % 9}/File{number:03}.swift:{number + 1}", "--wait 20s", 20) for number in range(600)]
        for debouncer in many[:400]:
            debouncer.submit()
        many[77].rate = 20
        program = self.run_program(*many)
        program.left = 7
        self.show()
        self.until("document.querySelectorAll('#table tbody tr:not(.more)').length === 600")
        self.until("picture.getAttribute('aria-label').includes('20 debouncers in lines, and 380 debouncers below')")
        self.until("document.querySelector('#lines .name').textContent === 'File077.swift:78' || lull.timeline.take()")
        self.until("document.querySelector('#table tbody th').textContent === 'File077.swift:78'")
        self.assertIn("600 debouncers; 7 more, with fewer submits, are left out", self.text("#table-says"))
        self.write("#filter", "file123")
        self.assertEqual(self.texts("#table tbody th"), ["File123.swift:124"])
        self.until_text("#table-says", "1 of 600 debouncers")
        self.write("#filter", "nothing like it")
        self.assertFalse(self.is_shown("#table"))

    def test_strange_names_are_text(self):
        places = ["<img src=x onerror=alert(1)>", "M/\u202egnp.swift:1", "M/a\r\n\u0000b.swift:2", "M/" + "long" * 500 + ".swift:3", "", "M/"]
        strange = [Debouncer(place, "--wait <b>1s</b>", kind="<i>") for place in places]
        self.run_program(*strange, name="<script>alert(2)</script>\u2066")
        self.show()
        self.until("document.querySelectorAll('#table tbody th').length === 6")
        self.browser.run("for (const one of document.querySelectorAll('#table button')) one.click()")
        self.assertEqual(self.text("#name"), "<script>alert(2)</script>\\u{2066}")
        self.assertEqual(self.browser.run("return document.querySelectorAll('main :is(img, b:not(#headline b), i, script)').length"), 0)
        shown = self.texts("#table tbody th")
        self.assertIn("\\u{202e}gnp.swift:1", shown)
        self.assertIn("a\\r\\n\\u{0}b.swift:2", shown)
        for width in (1280, 768, 390):
            self.browser.resize(width, 844)
            self.assertLessEqual(self.overflow(), 0, width)

    def test_a_command_that_has_ended_is_told(self):
        self.run_program(*busy())
        self.show()
        self.allowed = ["ERR_", "Failed to load resource"]
        self.top.send_signal(signal.SIGINT)
        self.assertEqual(self.top.wait(20), -signal.SIGINT)
        self.until("document.getElementById('live').dataset.state === 'away' && !document.getElementById('again').hidden")
        self.assertIn("What is shown is from", self.text("#away"))
        before = self.browser.run("return lull.program.now")
        time.sleep(0.2)
        self.assertEqual(self.browser.run("return lull.program.now"), before)

    def test_the_page_is_used_with_the_keyboard_alone(self):
        self.run_program(*busy())
        self.show()
        self.until("document.querySelectorAll('#lines button').length === 7")
        reached = []
        for _ in range(17):
            self.browser.keys(TAB)
            reached.append(self.browser.run("""
                const { id, tagName, parentElement, textContent } = document.activeElement;
                const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
                return [id || parentElement.tagName + " " + tagName, `${outlineStyle} ${outlineWidth}`];
            """))
        self.assertEqual([name for name, _ in reached], ["BODY A"] + ["window"] + ["LI BUTTON"] * 7 + ["TH BUTTON"] * 7 + ["DETAILS SUMMARY"])
        self.assertEqual({ring for _, ring in reached}, {"solid 3px"})
        # From a line to what there is to say of it.
        self.browser.run("document.querySelector('#lines button').focus()")
        self.browser.keys(ENTER)
        self.assertEqual(len(self.texts("#table .more")), 1)
        self.assertEqual(self.browser.run("return document.activeElement.getAttribute('aria-expanded')"), "true")
        self.browser.keys(ENTER)
        self.assertEqual(self.texts("#table .more"), [])
        self.browser.run("document.getElementById('window').focus()")
        self.browser.keys(DOWN)
        self.assertEqual(self.browser.run("return lull.timeline.span"), 10)

    def test_everything_has_a_name_and_fits_every_width(self):
        self.run_program(*busy())
        self.show()
        self.press("#table button")
        self.assertEqual(self.browser.run(NAMELESS), [])
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.assertEqual(self.browser.run(REFERENCES), [])
        for width in (390, 768, 1280):
            self.browser.resize(width, 844)
            self.assertLessEqual(self.overflow(), 0, width)

    def test_the_time_line_moves_in_every_frame_or_once_a_second_for_those_who_want_less(self):
        self.run_program(*busy())
        self.show()
        self.until("lull.timeline.span > 0 && document.querySelectorAll('#lines button').length === 7")
        self.frames_become(lambda count: count > 20)
        self.browser.emulate(prefers_reduced_motion="reduce")
        # And with each look that comes, of which there are four.
        self.frames_become(lambda count: count <= 6)
