"""Below the timeline: what each policy saved, and its wait as a slider."""

from harness import StageCase


class LaneTest(StageCase):
    def test_a_slider_asks_what_another_wait_would_have_done(self):
        self.hold()
        self.browser.click("#burst")
        self.advance(5000)
        headlines = "return [...document.querySelectorAll('#lanes .headline')].map((one) => one.textContent)"
        self.browser.wait("return document.querySelector('#lanes .headline').textContent.startsWith('30 calls')")
        self.assertEqual(self.browser.run(headlines), [
            "30 calls → 1 run, 96.7 % saved", "30 calls → 2 runs, 93.3 % saved", "30 calls → 4 runs, 86.7 % saved"])
        self.browser.run("""
            const range = document.querySelector("#lanes input");
            range.value = 1;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        self.browser.wait("return document.querySelector('#lanes .headline').textContent.startsWith('30 calls → 30 runs')")
        self.assertEqual(len(self.executions(0)), 30)
        self.assertEqual(len(self.executions(2)), 4)
        self.assertIn("#!debounce,11ms&", self.browser.run("return location.hash"))
        # A wait that is longer than the longest wait is not possible, and changes nothing.
        self.browser.run("""
            const range = document.querySelectorAll("#lanes input")[1];
            range.value = 110;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        """)
        refused = """
            const row = document.querySelectorAll("#lanes li")[1];
            const range = row.querySelector("input");
            return [row.querySelector(".refused").textContent, range.getAttribute("aria-invalid"), range.value];
        """
        self.assertEqual(self.browser.run(refused), ["5.6 s is not possible: its longest wait is 1 s.", "true", "110"])
        self.assertEqual(len(self.executions(1)), 2)
        # Let go, the slider goes back; the message stays to be read until something else happens.
        self.browser.run("document.querySelectorAll('#lanes input')[1].dispatchEvent(new Event('change', { bubbles: true }))")
        self.assertEqual(self.browser.run(refused), ["5.6 s is not possible: its longest wait is 1 s.", None, "59"])
        self.assertIn("30 calls", self.browser.run(headlines)[1])
        self.browser.click("#submit")
        self.assertEqual(self.browser.run(refused), ["", None, "59"])

    def test_what_is_pending_counts_as_a_run_and_what_is_refused_as_no_saving(self):
        self.hold()
        headline = "return document.querySelector('#lanes .headline').textContent"
        self.browser.click("#submit")
        self.browser.click("#submit")
        self.browser.wait(headline + " === '2 calls → 0 runs + 1 pending, 50 % saved'")
        self.advance(300)
        self.browser.wait(headline + " === '2 calls → 1 run, 50 % saved'")
        self.browser.click("#submit")
        self.browser.click("#cancel")
        self.browser.click("#shut-down")
        self.browser.click("#submit")
        self.browser.wait(headline + " === '4 calls → 1 run, 50 % saved, 1 dropped by cancel, 1 rejected'")
        # What waits behind a handler is pending, too; and what a cancel takes away saves nothing.
        self.browser.click("#start-over")
        self.set("takes", "2s")
        for _ in range(3):
            self.browser.click("#submit")
            self.advance(400)
        self.browser.wait(headline + " === '3 calls → 1 run + 1 pending, 33.3 % saved'")
        self.browser.click("#cancel")
        self.browser.wait(headline + " === '3 calls → 1 run, 0 % saved, 2 dropped by cancel'")
        self.browser.run("document.getElementById('cancel-running').checked = true")
        self.browser.click("#cancel")
        self.browser.wait(headline + " === '3 calls → 1 run, 3 dropped by cancel'")

    def test_a_saving_is_rounded_but_never_to_all_of_it(self):
        self.assertEqual(
            self.browser.run("return [[8, 9], [1, 2], [2, 3], [9999, 10_000], [0, 7], [7, 7]].map(([part, whole]) => percent(part, whole))"),
            ["88.9", "50", "66.7", "99.9", "0", "100"])
        self.hold()
        for _ in range(9):
            self.browser.click("#submit")
        self.advance(2000)
        self.browser.wait("return document.querySelector('#lanes .headline').textContent === '9 calls → 1 run, 88.9 % saved'")
