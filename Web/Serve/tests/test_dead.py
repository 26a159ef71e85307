"""Tests of the dead runs: finding them, their errors and their values."""

import scenes
from fake import Dead
from harness import PageTest


class DeadTest(PageTest):
    def item(self, run):
        return f"#dead [data-id='{run}']"

    def use(self, run, label):
        self.browser.run("""
            [...document.querySelectorAll(`${arguments[0]} .whole button`)].find((one) => one.textContent.startsWith(arguments[1])).click();
        """, self.item(run), label)

    def test_a_dead_run_has_its_first_line_and_all_of_it_on_demand(self):
        self.open(scenes.one)
        self.assertRegex(self.text(self.item(20)), r"^customer/4711exit status 11 submit, 20 attempts, 7 min ago$")
        self.press(f"{self.item(20)} .toggle")
        self.assertEqual(self.browser.run("return document.querySelector('#dead pre').textContent"), scenes.ERRORS[0])
        self.assertEqual(self.browser.run("return document.querySelector('#dead .toggle').ariaExpanded"), "true")
        self.press(f"{self.item(20)} .toggle")
        self.assertFalse(self.is_shown("#dead pre"))

    def test_what_is_open_and_selected_stays_while_others_come(self):
        self.open(scenes.one)
        self.press(f"{self.item(21)} .toggle")
        self.press(f"{self.item(22)} input")
        self.orders.dead.append(Dead(99, b"newest", "no", age=1))
        self.fake.changed()
        self.until("document.querySelector(\"#dead > :first-child\").dataset.id === '99'")
        self.assertTrue(self.is_shown(f"{self.item(21)} pre"))
        self.assertTrue(self.browser.run("return document.querySelector(arguments[0]).checked", f"{self.item(22)} input"))
        self.assertEqual(self.text("#retry"), "Retry 1 selected …")

    def test_values_are_shown_on_demand_and_can_be_downloaded(self):
        self.open(scenes.strange)
        self.press(f"{self.item(1)} .toggle")
        self.assertEqual(self.sent("value"), [])
        self.use(1, "Show its values")
        self.until("document.querySelectorAll('#dead .value').length === 4")
        says = self.texts(f"{self.item(1)} .value p")
        self.assertEqual([one.removesuffix(" Download") for one in says], [
            f"Value 1: {len(scenes.MARKUP)} bytes", "Value 2: 512 bytes, not a text", "Value 3: 0 bytes",
            "Value 4: 70.0 kB; its first 64 KiB are shown"])
        values = self.browser.run("return [...document.querySelectorAll('#dead .value pre')].map((one) => one.textContent)")
        self.assertEqual(values[0], scenes.MARKUP)
        self.assertTrue(values[1].startswith("00000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ················\n00010  "))
        self.assertIn("00040  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO", values[1])
        self.assertEqual(len(values[3]), 65_536)
        self.browser.run("""
            URL.createObjectURL = (blob) => { globalThis.saved = blob; return "data:,"; };
            HTMLAnchorElement.prototype.click = function () { globalThis.savedAs = this.download; };
            [...document.querySelectorAll("#dead .value button")][3].click();
        """)
        self.until("globalThis.savedAs !== undefined")
        self.assertEqual(self.browser.run("return [savedAs, saved.size, saved.type]"), ["run-1-value-3", 70_000, "application/octet-stream"])

    def test_they_are_found_by_error_key_and_age(self):
        self.open(scenes.outage)
        self.browser.type("#dead-error", "HTTP 503")
        self.until_text("#dead-says", "that match")
        found = len([run for run in self.orders.dead if "HTTP 503" in run.error])
        self.assertEqual(self.text("#dead-says"), f"{found} dead runs that match, of which the oldest 100 are shown")
        self.press("#dead-more")
        self.until("document.querySelectorAll('#dead > li').length === 200")
        self.write("#dead-age", "3")
        self.until_text("#dead-wrong", "“3” has no unit")
        self.write("#dead-age", "3h")
        self.until("document.querySelectorAll('#dead > li').length < 100")
        self.assertEqual(self.text("#dead-wrong"), "")
        self.write("#dead-error", "nothing like it")
        self.until_text("#dead-says", "No dead run matches.")
        for field in ("#dead-error", "#dead-age"):
            self.write(field, "")
        self.until("document.querySelectorAll('#dead > li').length >= 50 && !document.getElementById('dead-says').textContent.includes('match')")

    def test_all_of_them_can_be_shown(self):
        self.open(scenes.outage)
        self.assertEqual(self.text("#dead-more"), "Show all, the oldest first")
        self.press("#dead-more")
        self.until_text("#dead-says", "3,120 dead runs, of which the oldest 100 are shown")

    def test_one_error_leads_to_all_like_it(self):
        self.open(scenes.outage)
        run = next(run for run in sorted(self.orders.dead, key=lambda run: -run.at) if run.error == scenes.ERRORS[2])
        self.press(f"{self.item(run.number)} .toggle")
        self.use(run.number, "Only this error")
        self.until_text("#dead-says", "that match")
        count = len([one for one in self.orders.dead if one.error == scenes.ERRORS[2]])
        self.assertIn(f"{count} dead runs that match", self.text("#dead-says"))
        self.assertEqual(self.focused(), "dead-error")

    def test_a_dead_run_leads_to_its_key(self):
        self.open(scenes.one)
        self.press(f"{self.item(22)} .toggle")
        self.use(22, "Open its key")
        self.until_text("#story-name", "customer/88")

    def test_what_is_found_is_asked_for_again_when_there_are_others(self):
        self.open(scenes.one)
        self.write("#dead-error", "exit status")
        self.until_text("#dead-says", "2 dead runs that match")
        self.orders.dead.append(Dead(99, b"other", "exit status 7"))
        self.fake.changed()
        self.until_text("#dead-says", "3 dead runs that match")
