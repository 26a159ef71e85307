"""A sentence that two people type, for the fewest requests."""

from harness import PageTest

SENTENCE = "The quick brown fox jumps over the lazy dog."


class DuelTest(PageTest):
    def type(self, gaps, texts=None):
        """Types the sentence, or texts that come one after another, with the given milliseconds before each."""
        self.browser.run("""
            const { duel } = playground;
            duel.clock.hold();
            const field = document.getElementById("duel-field");
            arguments[0].forEach((gap, index) => {
                duel.clock.advance(gap);
                field.value = arguments[1][index];
                field.dispatchEvent(new Event("input"));
            });
        """, gaps, texts or [SENTENCE[:length + 1] for length in range(len(SENTENCE))])

    def challenge(self, gaps):
        """Opens the link that carries a run."""
        self.type(gaps)
        link = self.browser.run("return playground.duel.link()")
        self.open(link[link.index("#"):])

    def said(self):
        return [self.browser.text("#duel-title"), self.browser.text("#duel-says")]

    one = [0] + [100] * 43
    two = [0] + [100] * 20 + [300] + [100] * 22

    def test_a_run_counts_keys_and_requests(self):
        self.type(self.two)
        self.assertEqual(self.said(), ["44 keys → 2 requests in 4.5 s", "1 pause of 300 ms or more has cost a request."])
        self.browser.click("#duel-again")
        self.type([0] + [100] * 20 + [299] + [100] * 22)
        self.assertEqual(self.said(), ["44 keys → 1 request in 4.5 s", "No pause reached 300 ms: nobody needs fewer."])

    def test_requests_are_counted_while_one_types(self):
        self.type([0, 100, 400], ["T", "Th", "The"])
        self.assertEqual(self.said()[1], "3 keys → 1 request so far")
        self.browser.run("playground.duel.clock.advance(300)")
        self.assertEqual(self.said()[1], "3 keys → 2 requests so far")

    def test_a_mistake_is_seen_and_its_mending_counts(self):
        invalid = "return document.getElementById('duel-field').getAttribute('aria-invalid')"
        self.type([0, 100], ["T", "Tg"])
        self.assertEqual(self.browser.run(invalid), "true")
        self.assertEqual(self.browser.text("#duel-sentence span"), "T")
        self.type([100] + [100] * 43, ["T"] + [SENTENCE[:length] for length in range(2, 45)] + [SENTENCE])
        self.assertIsNone(self.browser.run(invalid))
        self.assertTrue(self.said()[0].startswith("46 keys → 1 request"), self.said())
        self.assertIn("2 keys more than the sentence has", self.said()[1])

    def test_a_link_carries_the_run_and_the_fewest_requests_win(self):
        self.challenge(self.two)
        self.assertEqual(self.said(), ["44 keys → 2 requests. Beat it.", "The time starts with the first key. The sender of the link took 4.5 s."])
        self.assertIn("the sender: 44 keys → 2 requests in 4.5 s", self.browser.text("#duel-picture"))
        self.type([0] + [200] * 43)
        # Slower, but with one request.
        self.assertEqual(self.said()[0], "You win: 1 request, not 2")
        self.assertIn("you: 44 keys → 1 request in 8.6 s", self.browser.text("#duel-picture"))
        self.browser.click("#duel-again")
        self.assertEqual(self.said()[0], "44 keys → 2 requests. Beat it.")
        self.type([0] + [400] * 43)
        self.assertEqual(self.said()[0], "The sender wins: 2 requests, not 44")

    def test_of_as_many_requests_the_faster_run_wins(self):
        self.challenge(self.one)
        for gaps, verdict in (([0] + [90] * 43, "You win: as many requests, 430 ms faster"),
                              ([0] + [110] * 43, "The sender wins: as many requests, 430 ms faster"), (self.one, "A draw")):
            self.type(gaps)
            self.assertEqual(self.said()[0], verdict)
            self.browser.click("#duel-again")

    def test_the_challenge_is_copied_with_its_words(self):
        self.type(self.two)
        copied = self.browser.run("""
            return new Promise((done) => {
                Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => done(text) } });
                document.getElementById("duel-link").click();
            });
        """)
        self.assertRegex(copied, r"^44 keys → 2 requests\. Beat it: .*#!duel=[\w-]+$")

    def test_damaged_links_are_refused(self):
        for gaps in ("7", "[0]", "[5,100]", "[0,-1]", "[0,1.5]", "[0,400000]", '["0",1]', str([0] * 501)):
            link = self.browser.run("""
                const packed = new Response(arguments[0]).body.pipeThrough(new CompressionStream("deflate-raw"));
                return new Response(packed).arrayBuffer().then((bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
                    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
            """, gaps)
            self.assertEqual(self.follow(f"#!duel={link}"), "This link was not understood: its run is damaged.", gaps)

    def test_nothing_can_be_pasted(self):
        self.assertFalse(self.browser.run("""
            return document.getElementById("duel-field").dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true }));
        """))
