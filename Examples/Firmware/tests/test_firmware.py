"""Runs the firmware in QEMU: the panel with contacts that bounce, every conformance case, and the figures of docs/firmware.md."""

import csv
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
OUT = os.path.join(os.environ.get("SCRATCH", os.path.join(ROOT, ".build")), "firmware")
BUTTON, CONTACT_A, CONTACT_B = 1, 2, 4


SIZES = ""


def setUpModule():
    global SIZES
    SIZES = subprocess.run([os.path.join(ROOT, "scripts/firmware")], capture_output=True, text=True, check=True).stdout


def run(program, data=b"", status=0):
    """Returns the lines that a program writes, to the host and over the serial line."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        result = subprocess.run(
            [os.path.join(ROOT, "scripts/firmware"), "run", program, file.name], capture_output=True, text=True, timeout=300,
            check=False)
    if result.returncode != status:
        raise AssertionError(f"{program}: status {result.returncode}, not {status}\n{result.stdout[-2000:]}{result.stderr}")
    return result.stdout.splitlines()


def serial(lines):
    """Returns what came over the serial line without line ends, before what the program tells the host at its end."""
    return lines[0].split("deepest stack")[0]


class Recording:
    """What the pins of the board show: changes at microseconds."""

    def __init__(self):
        self.changes = []
        self.now = 0
        # The detents at which the hand rested, and since when.
        self.detent = 0
        self.rests = []

    def wait(self, milliseconds):
        self.now += int(milliseconds * 1000)
        return self

    def change(self, pin, bounce=()):
        """A pin changes, and its contact bounces."""
        self.changes.append((self.now, pin))
        at = self.now
        for gap in bounce:
            at += gap
            self.changes.append((at, pin))
        return self

    def turn(self, detents, pause, *bounces):
        """Turns the knob, with so many milliseconds between the changes of its contacts, which bounce: A, and B, which may differ."""
        bounces = {CONTACT_A: bounces[0], CONTACT_B: bounces[-1]} if bounces else {CONTACT_A: (), CONTACT_B: ()}
        order = (CONTACT_A, CONTACT_B) if detents > 0 else (CONTACT_B, CONTACT_A)
        for step in range(4 * abs(detents)):
            # At a detent, both contacts are open; forward, A leads.
            self.change(order[step % 2], bounces[order[step % 2]])
            self.wait(pause)
        self.detent += detents
        self.rests.append((self.now, self.detent))
        return self

    def words(self, end=3000):
        """Returns the recording as the port reads it: pairs of a microsecond and the levels."""
        level, words = 0, []
        for at, pin in sorted(self.changes):
            level ^= pin
            words.append((at, level))
        words.append((self.now + end * 1000, level))
        return words

    def data(self):
        return b"".join(struct.pack("<II", *word) for word in self.words())

    def samples(self):
        """Returns what the pins show at each tick."""
        words = self.words()
        level, index = 0, 0
        for tick in range(1, words[-1][0] // 1000 + 1):
            while index < len(words) and words[index][0] <= tick * 1000:
                level = words[index][1]
                index += 1
            yield tick, level


def settled(recording, pin, ticks):
    """Yields each tick at which a pin has been quiet for so many ticks after a change, and the level, by counting."""
    level, changed = 0, None
    for tick, pins in recording.samples():
        # What is due in a tick comes before what happens in it.
        if changed is not None and tick == changed + ticks:
            changed = None
            yield tick, level
        if bool(pins & pin) != level:
            level, changed = not level, tick


def expected(recording):
    """What the panel has to report: the button by counting ticks, the knob by what the hand did."""
    lines = []
    down = pressed_at = None
    for tick, level in [*settled(recording, BUTTON, 10), (1 << 60, None)]:
        # A release in the same tick comes after the end of the long press.
        if pressed_at is not None and pressed_at + 800 <= tick:
            lines.append((pressed_at + 800, "long press"))
            pressed_at = None
        if level is not None and level != bool(down):
            down = level
            pressed_at = tick if level else None
            lines.append((tick, "press" if level else "release"))
    # The hand rests from when the last contact has been quiet for 3 ms; nothing is reported if it is back at the detent reported last.
    moves = []
    for pin in (CONTACT_A, CONTACT_B):
        shown = False
        for tick, level in settled(recording, pin, 3):
            if level != shown:
                shown = level
                moves.append(tick)
    moves.sort()
    reported = 0
    for at, detent in recording.rests:
        tick = max(move for move in moves if move * 1000 < at + 20_000)
        following = [move for move in moves if move > tick]
        if (not following or following[0] >= tick + 500) and detent != reported:
            reported = detent
            lines.append((tick + 500, f"the knob has stopped at {detent}"))
    return [f"{tick} {text}" for tick, text in sorted(lines, key=lambda line: line[0])]


def bounces():
    """Returns the recorded bounces by their names."""
    with open(os.path.join(ROOT, "Examples/Firmware/tests/bounces.csv"), encoding="utf-8") as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return {row[0]: [int(gap) for gap in row[1:]] for row in rows}


class PanelTest(unittest.TestCase):
    def check(self, recording):
        lines = [line for line in run("panel", recording.data()) if not line.startswith(("deepest stack", "woken"))]
        self.assertEqual(lines, expected(recording))
        return [line.split(" ", 1)[1] for line in lines]

    def test_it_sleeps_until_something_changes_or_falls_due(self):
        recording = Recording().wait(50).change(BUTTON, bounces()["worn"]).wait(1500).change(BUTTON).wait(500).turn(7, 5)
        [woken] = [line for line in run("panel", recording.data()) if line.startswith("woken")]
        changes = len({at // 1000 for at, _ in recording.changes})
        # An alarm for each thing that settles or ends: contacts, the long press, the rest.
        self.assertLess(int(re.search(r"(\d+) times", woken)[1]), changes + 40)
        self.assertGreater(recording.words()[-1][0] // 1000, 5000)

    def test_every_contact_gives_one_press_and_one_release(self):
        for name, gaps in bounces().items():
            with self.subTest(name):
                recording = Recording().wait(50).change(BUTTON, gaps).wait(200).change(BUTTON, gaps)
                self.assertEqual(self.check(recording), ["press", "release"])

    def test_a_glitch_is_no_event(self):
        recording = Recording().wait(50).change(BUTTON).wait(3).change(BUTTON).wait(400).change(BUTTON).wait(9).change(BUTTON)
        self.assertEqual(self.check(recording), [])

    def test_a_long_press_comes_while_the_button_is_held_and_a_shorter_one_has_none(self):
        gaps = bounces()["worn"]
        recording = Recording().wait(20).change(BUTTON, gaps).wait(700).change(BUTTON, gaps).wait(300)
        recording.change(BUTTON, gaps).wait(1500).change(BUTTON, gaps)
        self.assertEqual(self.check(recording), ["press", "release", "press", "long press", "release"])

    def test_a_release_in_the_tick_of_the_long_press_is_told_in_one_order(self):
        for milliseconds in (799, 800, 801):
            recording = Recording().wait(20).change(BUTTON).wait(milliseconds).change(BUTTON)
            self.check(recording)

    def test_the_knob_comes_to_rest_at_seven(self):
        recording = Recording().wait(100).turn(10, 3).wait(200).turn(-3, 8)
        self.assertEqual(self.check(recording), ["the knob has stopped at 7"])

    def test_a_knob_whose_contacts_bounce_into_each_others_changes_comes_to_rest_where_it_is(self):
        for name, gaps in bounces().items():
            # At the slowest of these speeds no contact bounces as long as its next change is away.
            for pause in (3, 4, 5, 8) if sum(gaps) < 1000 else (5, 6, 8):
                with self.subTest(name, pause=pause):
                    recording = Recording().wait(100.3).turn(10, pause, gaps).wait(200).turn(-3, pause, gaps)
                    self.assertEqual(self.check(recording), ["the knob has stopped at 7"])

    def test_the_contacts_of_a_knob_may_bounce_for_different_times(self):
        for a, gaps in bounces().items():
            for b, others in bounces().items():
                if a != b:
                    with self.subTest(a=a, b=b):
                        # From one change of a contact to its next one, it settles just in time.
                        pause = round((max(sum(gaps), sum(others)) / 1000 + 4.2) / 2, 1)
                        recording = Recording().wait(100).turn(5, pause, gaps, others).wait(900).turn(-3, pause, gaps, others)
                        self.assertEqual(self.check(recording)[1:], ["the knob has stopped at 2"])

    def test_the_knob_may_go_below_zero_and_come_back_unnoticed(self):
        recording = Recording().wait(100).turn(-2, 4).wait(900).turn(1, 4).wait(100).turn(-1, 4).wait(900).turn(2, 4)
        self.assertEqual(self.check(recording), ["the knob has stopped at -2", "the knob has stopped at 0"])

    def test_the_wrap_of_the_tick_counter_changes_nothing(self):
        # It does so 4,001 ms after the start.
        for at in (3990, 3996, 4000):
            recording = Recording().wait(at).change(BUTTON, bounces()["tactile"]).wait(100).change(BUTTON)
            self.assertEqual(self.check(recording), ["press", "release"])
        recording = Recording().wait(3300).change(BUTTON).wait(1500).change(BUTTON).turn(5, 2)
        self.assertEqual(self.check(recording), ["press", "long press", "release", "the knob has stopped at 5"])

    def test_the_smallest_program_and_the_ten_lines_agree_on_contacts_that_bounce(self):
        for gaps in bounces().values():
            recording = Recording().wait(30).change(BUTTON, gaps).wait(100).change(BUTTON, gaps)
            # A glitch of 3 ms, and a press that ends with the power.
            recording.wait(100).change(BUTTON).wait(3).change(BUTTON).wait(100).change(BUTTON, gaps)
            for program in ("smallest", "floor"):
                self.assertEqual(serial(run(program, recording.data())), "PRP")

    def test_sixteen_switches_are_keys_of_one_engine(self):
        recording = Recording().wait(20)
        for pin in (3, 0, 15, 7):
            recording.change(1 << pin, bounces()["tactile"]).wait(2)
        recording.wait(100).change(1 << 15).wait(1).change(1 << 3)
        # Glitches of one that is open, and of one that is closed.
        for pin in (5, 0):
            recording.wait(50).change(1 << pin).wait(3).change(1 << pin)
        self.assertEqual(serial(run("sixteen", recording.data())), "DAPHpd")

    def test_a_program_as_it_would_be_flashed_runs(self):
        # QEMU's board reads 0 where it has no pins: a button that closes to ground, and is held. It has no end.
        for program, wanted in (("smallest-board", rb"P"), ("panel-board", rb"\d+ press\r?\n\d+ long press\r?\n")):
            process = subprocess.Popen(
                [os.path.join(ROOT, "scripts/firmware"), "run", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                written = b""
                while not re.fullmatch(wanted, written):
                    self.assertLess(len(written), 100, written)
                    byte = process.stdout.read(1)
                    self.assertNotEqual(byte, b"", written)
                    written += byte
            finally:
                process.kill()
                process.communicate()

    def test_an_image_to_flash_is_as_large_as_its_figure(self):
        sizes = re.findall(r"firmware: (\S+-board): (\d+) bytes of flash", SIZES)
        self.assertEqual(len(sizes), 3)
        for program, flash in sizes:
            with tempfile.NamedTemporaryFile() as image:
                subprocess.run(["llvm-objcopy", "-O", "binary", os.path.join(OUT, f"{program}.elf"), image.name], check=True)
                # Between its sections there are a few bytes more.
                self.assertLess(os.path.getsize(image.name) - int(flash), 16)
                self.assertGreaterEqual(os.path.getsize(image.name), int(flash))


class StepTest(unittest.TestCase):
    """The panel at ticks that the test chooses."""

    def steps(self, hertz, start, *steps):
        """Returns what the panel reports, and for each step how many ticks it would sleep."""
        numbers = [hertz, start, *(number for tick, pins in steps for number in ((start + tick) % 2**32, pins))]
        lines = [line for line in run("steps", " ".join(map(str, numbers)).encode() + b"\n") if not line.startswith("deepest")]
        self.sleeps = [int(line.split(" ")[1]) for line in lines if line.startswith("sleep ")]
        return [line for line in lines if not line.startswith("sleep ")]

    def test_it_sleeps_until_what_is_due_next_and_not_longer_than_the_clock_allows(self):
        self.steps(1000, 2**32 - 300, (0, 0), (100, 1), (104, 3), (106, 3), (110, 3), (400, 3), (607, 3), (910, 3), (1000, 3))
        # The contact of the button, of the knob, the long press, the hand's rest, and nothing.
        self.assertEqual(self.sleeps, [2**30, 10, 3, 1, 497, 207, 303, 2**30, 2**30])
        # Woken late after the longest sleep, it still knows the time.
        late = 2**30 + 5000
        self.assertEqual(self.steps(1000, 7, (0, 0), (late, 1), (late + 10, 1)), [f"{late + 10} press"])

    def test_a_loop_that_is_late_says_when_it_was_due(self):
        self.assertEqual(
            self.steps(1000, 5, (100, 1), (3000, 1), (3001, 0), (9000, 0)), ["110 press", "910 long press", "3011 release"])
        # Closed and opened again while the loop was away: what was settled is told, with the instants at which it was due.
        self.assertEqual(
            self.steps(1000, 2**32 - 50, (100, 1), (200, 0), (5000, 1), (5001, 1), (7000, 1)),
            ["110 press", "210 release", "5010 press", "5810 long press"])
        # 810 ms after the press is due before the release that has settled later.
        self.assertEqual(self.steps(1000, 0, (0, 1), (805, 0), (2000, 0)), ["10 press", "810 long press", "815 release"])

    def test_a_reading_that_is_older_than_the_last_changes_no_time(self):
        self.assertEqual(self.steps(1000, 0, (100, 1), (99, 1), (5, 1), (109, 1), (110, 1)), ["110 press"])

    def test_a_rest_that_ended_between_two_readings_is_reported_before_later_changes(self):
        found = self.steps(1000, 0, (0, 0), (5, 2), (10, 6), (15, 4), (20, 0), (100, 0), (522, 2), (1000, 2), (2000, 2))
        self.assertEqual(found, ["523 the knob has stopped at 1"])

    def test_a_knob_is_where_it_is_found(self):
        for contacts in (0, 2, 4, 6):
            self.assertEqual(self.steps(1000, 0, (0, contacts), (5000, contacts)), [])
        self.assertEqual(self.steps(1000, 0, (0, 6), (5, 4), (10, 0), (2000, 0), (2005, 2), (5000, 2)), [])

    def test_a_clock_of_an_odd_frequency_does_not_drift(self):
        # Thirty days at 32,768 Hz, read about once a minute, after each of which a part of a nanosecond is left; then a press at a whole
        # millisecond, of which nothing may be missing.
        day = 86_400 * 32_768
        steps = [(tick, 0) for tick in range(0, 30 * day, 60 * 32_768 + 1)]
        at = 30 * day + 4096
        found = self.steps(32_768, 12_345, *steps, (at, 1), (at + 32_768, 1))
        exact = 30 * 86_400_000 + 125
        self.assertEqual(found, [f"{exact + 10} press", f"{exact + 810} long press"])

    def test_a_knob_that_turns_too_fast_loses_whole_detents_only(self):
        forward = (2, 6, 4, 0)
        at, steps = 0, [(0, 0)]

        def turn(contacts):
            nonlocal at
            for pins in contacts:
                at += 5
                steps.append((at, pins))

        def rest():
            nonlocal at
            at += 1000
            steps.append((at, steps[-1][1]))

        turn(forward * 3)
        rest()
        turn([4, 6, 2, 0])
        rest()
        # Half of the steps are not seen: it goes on in the same direction.
        turn([6, 0])
        rest()
        turn(forward)
        rest()
        # Between detents, the nearest counts, and of two that are as near the one farther out.
        turn([2, 6, 4])
        rest()
        turn([6])
        rest()
        turn([2])
        rest()
        turn([0] + [4, 6, 2, 0] * 2 + [4])
        rest()
        turn([6])
        rest()
        found = [line.split(" at ")[1] for line in self.steps(1000, 0, *steps)]
        self.assertEqual(found, ["3", "2", "1", "2", "3", "2", "0", "-1"])


class ConformanceTest(unittest.TestCase):
    def test_both_engines_execute_what_every_case_says(self):
        cases = []
        for name in ("scenarios", "spacing"):
            with open(os.path.join(ROOT, f"Tests/LullReference/{name}.json"), encoding="utf-8") as file:
                cases += json.load(file)
        self.assertEqual(len(cases), 294)
        numbers, wanted = [], []
        for number, case in enumerate(cases):
            policy, calls = case["policy"], case["ops"]
            keys = sorted({call["key"] for call in calls if call.get("key") is not None})
            self.assertLessEqual(len(keys), 8)
            edges = sum({"leading": 1, "trailing": 2}[edge] for edge in policy["edges"])
            numbers += [
                number, int(policy["kind"] == "throttle"), policy.get("wait", policy.get("interval")), policy.get("maxWait"), edges,
                int(policy.get("delayRule") == "extend"), policy.get("maxCount"), policy.get("spacing"), len(calls)]
            values = []
            for call in calls:
                key = call.get("key")
                numbers += [
                    call["at"], ["submit", "flush", "cancel"].index(call["op"]), None if key is None else keys.index(key),
                    call.get("wait")]
                if call["op"] == "submit":
                    values.append(call.get("value"))
            wanted.append([(one, keys, values) for one in case["expected"]])
        text = " ".join("-1" if number is None else str(number) for number in numbers) + "\n"
        found = {}
        # `FixedEngine` once beside `Engine`, and once in a program whose allocator fails.
        for program, name in (("conformance-both", 0), ("conformance", 2)):
            for line in run(program, text.encode()):
                if not line.startswith("deepest"):
                    engine, case, *rest = line.split(" ")
                    found.setdefault((int(engine) + name, int(case)), []).append(rest)
        executions = 0
        for number, case in enumerate(cases):
            for engine in (0, 1, 2):
                got = [
                    (int(at), int(key), int(value), int(count), int(first), edge)
                    for at, key, value, count, first, edge in found.get((engine, number), [])]
                expected_ones = [
                    (one["at"], keys.index(one["key"]), one["value"], one["count"], one["first"], one["edge"])
                    for one, keys, _ in wanted[number]]
                values = wanted[number][0][2] if wanted[number] else []
                shown = [(at, key, values[value], count, first, edge) for at, key, value, count, first, edge in got]
                self.assertEqual(shown, expected_ones, f"engine {engine}, {case['id']}")
                executions += len(got)
        self.assertGreater(executions, 3000)

    def test_an_allocator_that_fails_is_noticed(self):
        self.assertIn("firmware: memory was allocated", run("allocates", b"0 0 10 -1 2 0 -1 -1 1 0 0 -1 -1\n", status=71))

    def test_programs_with_the_fixed_engine_contain_no_allocator(self):
        for program in ("panel", "panel-board", "smallest", "smallest-board", "sixteen", "figures", "conformance"):
            names = subprocess.run(
                ["llvm-nm", os.path.join(OUT, f"{program}.elf")], capture_output=True, text=True, check=True).stdout
            self.assertIn("main", names)
            self.assertNotRegex(names, "posix_memalign|swift_alloc|swift_retain|swift_slowAlloc")


class FiguresTest(unittest.TestCase):
    def test_the_page_has_the_figures(self):
        """The tables of docs/firmware.md, up to what another compiler may change."""
        with open(os.path.join(ROOT, "docs/firmware.md"), encoding="utf-8") as file:
            page = file.read()
        measured = {}
        for name, flash, ram in re.findall(r"firmware: (\S+): (\d+) bytes of flash, (\d+) bytes of RAM", SIZES):
            measured[f"flash of `{name}`"], measured[f"RAM of `{name}`"] = int(flash), int(ram)
        recording = Recording().wait(30).change(BUTTON, bounces()["worn"]).wait(1500).change(BUTTON).turn(7, 2).data()
        for program in ("smallest", "floor", "panel", "sixteen"):
            [depth] = [line for line in run(program, recording) if "deepest stack" in line]
            measured[f"deepest stack of `{program}`"] = int(re.search(r"(\d+) bytes", depth)[1])
        for line in run("figures"):
            if not line.startswith("deepest"):
                name, count = line.rsplit(": ", 1)
                measured[name] = int(count)
        shown = {name: int(figure) for name, figure in re.findall(r"^\| ([^|]+?) \| (\d+) \|", page, re.MULTILINE)}
        self.assertGreater(len(shown), 20)
        for name, figure in shown.items():
            with self.subTest(name):
                self.assertIn(name, measured)
                self.assertGreaterEqual(measured[name], 0.9 * figure - 4)
                self.assertLessEqual(measured[name], 1.05 * figure + 4)


if __name__ == "__main__":
    unittest.main()
