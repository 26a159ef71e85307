"""Runs the firmware in QEMU: the panel with contacts that bounce, every conformance case, and the figures of docs/firmware.md."""

import csv
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
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


class Recording:
    """What the pins of the board show: changes at microseconds."""

    def __init__(self):
        self.changes = []
        self.now = 0

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

    def turn(self, detents, pause):
        """Turns the knob, with so many milliseconds between the changes of its contacts."""
        for _ in range(4 * abs(detents)):
            order = (CONTACT_A, CONTACT_B) if detents > 0 else (CONTACT_B, CONTACT_A)
            a = sum(1 for _, pin in self.changes if pin == CONTACT_A) % 2
            b = sum(1 for _, pin in self.changes if pin == CONTACT_B) % 2
            # Forward, A leads: it changes when both are alike.
            self.change(order[0] if a == b else order[1])
            self.wait(pause)
        return self

    def words(self, end=3000):
        """Returns the recording as the port reads it, and the levels at each millisecond."""
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


def expected(recording):
    """What the panel has to report, by the plainest way: counting ticks."""
    lines = []
    level = settled = 0
    changed = pressed_at = None
    quarters, reported, moved = 0, 0, None
    contacts = 0
    steps = {0b00: 0, 0b01: 1, 0b11: 2, 0b10: 3}
    for tick, pins in recording.samples():
        if (pins & 1) != level:
            level, changed = pins & 1, tick
        # What is due in a tick comes before what happens in it: a release is the end of a long press then.
        if pressed_at is not None and tick == pressed_at + 800:
            pressed_at = None
            lines.append(f"{tick} long press")
        if changed is not None and tick == changed + 10:
            changed = None
            if level != settled:
                settled = level
                pressed_at = tick if settled else None
                lines.append(f"{tick} {'press' if settled else 'release'}")
        turned = (steps[pins >> 1 & 3] - steps[contacts]) % 4
        contacts = pins >> 1 & 3
        if turned in (1, 3):
            quarters += 1 if turned == 1 else -1
            moved = tick
        if moved is not None and tick == moved + 500:
            moved = None
            position = int((quarters + (-2 if quarters < 0 else 2)) / 4)
            if position != reported:
                reported = position
                lines.append(f"{tick} the knob has come to rest at {position}")
    return lines


def bounces():
    """Returns the recorded bounces by their names."""
    with open(os.path.join(ROOT, "Firmware/tests/bounces.csv"), encoding="utf-8") as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return {row[0]: [int(gap) for gap in row[1:]] for row in rows}


class PanelTest(unittest.TestCase):
    def check(self, recording):
        lines = [line for line in run("panel", recording.data()) if not line.startswith("deepest stack")]
        self.assertEqual(lines, expected(recording))
        return [line.split(" ", 1)[1] for line in lines]

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
        self.assertEqual(self.check(recording), ["the knob has come to rest at 7"])

    def test_the_knob_may_go_below_zero_and_come_back_unnoticed(self):
        recording = Recording().wait(100).turn(-2, 4).wait(900).turn(1, 4).wait(100).turn(-1, 4).wait(900).turn(2, 4)
        self.assertEqual(self.check(recording), ["the knob has come to rest at -2", "the knob has come to rest at 0"])

    def test_nothing_happens_when_the_counter_of_ticks_wraps_around(self):
        # It does so 4,001 ms after the start.
        for at in (3990, 3996, 4000):
            recording = Recording().wait(at).change(BUTTON, bounces()["tactile"]).wait(100).change(BUTTON)
            self.assertEqual(self.check(recording), ["press", "release"])
        recording = Recording().wait(3300).change(BUTTON).wait(1500).change(BUTTON).turn(5, 2)
        self.assertEqual(self.check(recording), ["press", "long press", "release", "the knob has come to rest at 5"])

    def test_the_smallest_program_and_the_ten_lines_agree_on_contacts_that_bounce(self):
        for gaps in bounces().values():
            recording = Recording().wait(30).change(BUTTON, gaps).wait(100).change(BUTTON, gaps).wait(50)
            for program in ("smallest", "floor"):
                self.assertTrue(run(program, recording.data())[0].startswith("PR"))


class ConformanceTest(unittest.TestCase):
    def test_both_engines_execute_what_every_case_says(self):
        cases = []
        for name in ("scenarios", "spacing"):
            with open(os.path.join(ROOT, f"Tests/LullReference/{name}.json"), encoding="utf-8") as file:
                cases += json.load(file)
        self.assertEqual(len(cases), 288)
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
        for line in run("conformance", text.encode()):
            if line.startswith("deepest"):
                continue
            engine, case, *rest = line.split(" ")
            found.setdefault((int(engine), int(case)), []).append(rest)
        executions = 0
        for number, case in enumerate(cases):
            for engine in (0, 1):
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
        self.assertGreater(executions, 2000)

    def test_an_allocator_that_fails_is_noticed(self):
        self.assertIn("firmware: memory was allocated", run("allocates", b"0 0 10 -1 2 0 -1 -1 0\n", status=71))

    def test_programs_with_the_fixed_engine_contain_no_allocator(self):
        for program in ("panel", "smallest", "smallest-board", "figures"):
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
        for program in ("smallest", "floor", "panel"):
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
