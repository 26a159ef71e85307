"""Tests of the figures and the sentences about a namespace."""

import re
import time

import scenes
from fake import COUNTERS, FIGURES, Namespace
from harness import DOWN, RIGHT, PageTest


class FiguresTest(PageTest):
    def test_the_figures_have_the_words_and_the_order_of_the_status(self):
        self.open(scenes.one)
        self.assertEqual(self.texts("#figures dt"), [name for property, name, _, _ in FIGURES if property not in COUNTERS])
        self.assertEqual(self.texts("#counters dt"), [name for property, name, _, _ in FIGURES if property in COUNTERS])
        self.assertEqual(self.texts("#figures dd")[:5], ["7", "1", "2", "1", "6"])
        self.assertRegex(self.text("#figures [data-figure=oldestDue] dd"), r"^[\d.]+ s$")
        self.assertEqual(self.texts("#figures dd")[6:], ["–", "0", "–", "0", "–"])
        self.assertEqual(self.texts("#counters dd"), ["1,204", "2", "0", "1,170", "44,310", "38"])
        helped = self.browser.run("return document.querySelector('#figures [data-figure=dead]').title")
        self.assertEqual(helped, "Runs that have failed for good and are kept.")

    def test_a_figure_that_the_page_does_not_know_is_shown_too(self):
        FIGURES.append(("pending", "a new figure", "It is new.", "none"))
        self.addCleanup(FIGURES.pop)
        self.open(scenes.one)
        self.assertEqual(self.texts("#figures dt")[-1], "a new figure")

    def test_the_figures_of_a_server_are_at_the_end(self):
        self.fake.health = [{"name": "dead rows", "value": 1200, "unit": "none", "help": ""},
                            {"name": "oldest transaction", "value": None, "unit": "duration", "help": ""},
                            {"name": "memory", "value": 1_500_000, "unit": "bytes", "help": ""},
                            {"name": "durability", "value": "appendfsync always", "unit": "name", "help": ""}]
        self.open(scenes.one)
        self.assertEqual(self.texts("#health dt"), ["dead rows", "oldest transaction", "memory", "durability"])
        self.assertEqual(self.texts("#health dd"), ["1,200", "–", "1.50 MB", "appendfsync always"])

    def test_the_headline_says_what_was_saved(self):
        self.open(scenes.one)
        midnight = self.orders.today["since"]
        for runs, executed, since, wanted in [
                (61, 2314, midnight, "2,314 submits became 61 runs, 97 % saved, today."),
                (1, 100_000, midnight, "100,000 submits became 1 run, 99.9 % saved, today."),
                (7, 7, midnight, "7 submits became 7 runs, nothing was to be saved, today."),
                (1, 1, midnight, "1 submit became 1 run, nothing was to be saved, today."),
                (0, 0, midnight, "Nothing has run today."),
                (2, 6, midnight + 60, f"6 submits became 2 runs, 66 % saved, since {time.strftime('%H:%M', time.localtime(midnight + 60))}."),
                (0, 0, midnight + 60, f"Nothing has run since {time.strftime('%H:%M', time.localtime(midnight + 60))}."),
                (2, 6, midnight - 7200, r"6 submits became 2 runs, 66 % saved, since \d+ \w+, 22:00."),
        ]:
            self.orders.today.update(runs=runs, executed=executed, since=since)
            at = time.time()
            self.fake.changed()
            self.until(f"lull.looks.look.at >= {at}")
            self.assertRegex(self.text("#headline"), f"^{wanted}$")

    def test_durations_are_said_in_a_suitable_unit(self):
        self.open(scenes.one)
        for seconds, wanted in [(0.0123, "12 ms"), (0.25, "0.3 s"), (4.24, "4.2 s"), (12.4, "12 s"), (119, "119 s"), (130, "2 min"),
                                (7000, "117 min"), (7200, "2 h"), (40_000, "11 h"), (172_800, "2 d"), (9_140_000, "106 d"), (0, "0 s")]:
            self.assertEqual(self.browser.run("return spell(arguments[0])", seconds).replace("\u00a0", " "), wanted, seconds)

    def test_what_waits_gets_older_while_nothing_changes(self):
        self.open(scenes.paused)
        self.until("document.querySelectorAll('#keys .row').length > 7")
        self.orders.next_start, self.orders.oldest = 60, time.time() - 20
        self.orders.workers = {1: ("ada", 4099)}
        self.fake.changed()
        self.until_text("#workers .quiet", "seen")
        asked = len(self.fake.requests)

        def ages():
            shown = self.texts("[data-figure=oldestDue] dd, [data-figure=nextStart] dd, #workers .quiet")
            return [float(re.search(r"[\d.]+(?=\ss)", one)[0]) for one in shown]

        waited, left, unseen = ages()
        self.until(f"parseFloat(document.querySelector('[data-figure=oldestDue] dd').textContent) >= {waited} + 2")
        after = ages()
        self.assertGreaterEqual(waited, 20)
        self.assertLess(after[1], left)
        self.assertGreater(after[2], unseen)
        # The server was not asked for that.
        self.assertLessEqual(len(self.fake.requests) - asked, 1)

    def test_the_rates_have_sums_and_pictures(self):
        self.open(scenes.one)
        rates = self.orders.rates
        executed, runs, failures = (sum(rate[name] for rate in rates) for name in ("executed", "runs", "failures"))
        self.assertEqual(self.texts("#rates .sum"), [f"{executed:,}", f"{runs:,}", f"{failures:,}", f"{executed / runs:.1f}"])
        most = max(rate["runs"] for rate in rates)
        self.assertEqual(self.texts("#rates .most")[1], f"{most} in 10 s")
        drawn = self.browser.run("""
            return [...document.querySelectorAll("#rates canvas")].map((one) =>
                one.getContext("2d").getImageData(0, 0, one.width, one.height - 2).data.some((part) => part > 0));
        """)
        self.assertEqual(drawn, [True] * 4)

    def test_what_runs_and_who_works_is_said(self):
        self.open(scenes.one)
        items = self.texts("#running li")
        self.assertRegex(items[0], r"^customer/4711ada, process 4099, attempt 1, for [\d.]+ s, lease for \d+ s$")
        # How long ago depends on the speed of the browser.
        self.assertEqual([re.sub(r"\d+(\.\d+)? s ago", "… ago", one) for one in self.texts("#workers li")], [
            "ada 40991 running, seen … ago", "grace 171 running, seen … ago", "grace 18idle, seen … ago"])
        self.press("#running button")
        self.until_text("#story-name", "customer/4711")
        self.orders.workers = {}
        self.fake.changed()
        self.until_text("#workers + .note", "No worker is here, and work waits for one: start lull work.")

    def test_namespaces_are_chosen_by_click_and_by_keys(self):
        self.open(scenes.everything)
        self.assertEqual(self.texts("#namespaces .says"), [
            "6 dead, 7 pending, 1 ready, 2 running, 1 retrying", "140 pending", "at rest"])
        self.press("#namespaces .card:nth-child(2)")
        self.until_text("#name", "reminders")
        self.assertEqual(self.text("#rules"), "--wait 5m --collect")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#namespaces [aria-selected=true]').length"), 1)
        self.until("[...document.querySelectorAll('#keys .name')].some((one) => one.textContent === 'digest/000')")
        self.browser.run("document.querySelector('#namespaces [aria-selected=true]').focus()")
        self.browser.keys(RIGHT)
        self.until_text("#name", "thumbnails")
        self.browser.keys(DOWN)
        self.until_text("#name", "orders")
        self.assertIn("namespace=orders", self.browser.run("return location.hash"))

    def test_one_namespace_needs_no_choice_and_many_can_be_found(self):
        self.open(scenes.one)
        self.assertFalse(self.is_shown("#namespaces"))
        self.fake.namespaces.update({f"tenant-{index:03}": Namespace() for index in range(60)})
        self.fake.changed()
        self.until("document.querySelectorAll('#namespaces .card').length === 61")
        self.browser.type("#namespace-filter", "nt-04")
        self.assertEqual(len(self.texts("#namespaces .card")), 10)
        self.assertLessEqual(self.browser.run("return document.getElementById('namespaces').offsetHeight"), 260)

    def test_the_window_has_a_title(self):
        self.open(scenes.one)
        self.assertEqual(self.browser.run("return document.title"), "orders – Lull")
        self.assertEqual(self.text("#store"), "sqlite:/var/lib/orders/orders.db")
        self.assertEqual(self.text("#version"), "Lull 0.1.0")
