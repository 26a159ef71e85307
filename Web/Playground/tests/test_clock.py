"""The clock of the page, at any speed."""

import unittest

from harness import PageTest


class ClockTest(PageTest):
    def test_time_goes_on_when_its_speed_changes(self):
        jumps = self.browser.run("""
            const clock = new Clock();
            return new Promise((done) => setTimeout(() => done([20, 1].map((rate) => {
                const before = clock.now;
                clock.rate = rate;
                return clock.now - before;
            })), 300));
        """)
        for jump in jumps:
            self.assertTrue(-1 < jump < 1000, jumps)

    def test_a_timer_follows_the_speed(self):
        for script in ("clock.rate = 20; wait();", "wait(); clock.rate = 20;"):
            took = self.browser.run("""
                return new Promise((done) => {
                    const [clock, begin] = [new Clock(), performance.now()];
                    const wait = () => clock.after(4000, () => done(performance.now() - begin));
                """ + script + "});")
            self.assertLess(took, 3000)

    def test_an_event_lies_as_far_back_as_time_has_run_since(self):
        late = self.browser.run("""
            const clock = new Clock();
            clock.rate = 20;
            const event = { timeStamp: performance.now() };
            while (performance.now() < event.timeStamp + 50);
            return clock.now - clock.instant(event);
        """)
        self.assertGreater(late, 900)

    def test_a_key_lies_where_it_was_pressed_on_a_busy_page_too(self):
        late = self.browser.run("""
            const event = new Event("input", { bubbles: true });
            while (performance.now() < event.timeStamp + 200);
            document.getElementById("type").value = "a";
            document.getElementById("type").dispatchEvent(event);
            return playground.stage.clock.now - playground.stage.submits[0].at;
        """)
        self.assertGreater(late, 190)

    def test_equal_instants_keep_their_order(self):
        self.assertEqual(self.browser.run("""
            const [clock, order] = [new Clock(), []];
            clock.hold(0);
            for (const number of [1, 2, 3]) clock.at(5, () => order.push(number));
            clock.advance(5);
            return order;
        """), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
