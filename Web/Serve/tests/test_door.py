"""Tests of the connection: tokens, roles, losing the server and finding it again."""

import scenes
from harness import ENTER, PageTest

TOKEN = "s3cret-token-of-ada"


class TokenTest(PageTest):
    def setUp(self):
        super().setUp()
        self.allowed = ["401 (Unauthorized)", "403 (Forbidden)"]
        self.fake.tokens = {TOKEN: ("ada", "act"), "looker": ("bob", "look")}

    def enter(self, token):
        self.browser.type("#token", token)
        self.browser.keys(ENTER)

    def test_a_server_with_tokens_asks_for_one(self):
        self.open(scenes.one)
        self.assertTrue(self.is_shown("#token-form"))
        self.assertFalse(self.is_shown("#main"))
        self.assertEqual(self.focused(), "token")
        self.assertEqual(self.text("#token-wrong"), "")
        # A wrong one is refused, and another may be tried.
        self.enter("wrong")
        self.until_text("#token-wrong", "This server needs a token.")
        self.enter(TOKEN)
        self.until_text("#name", "orders")
        self.assertFalse(self.is_shown("#token-form"))
        self.assertEqual(self.text("#who"), "ada may act")

    def test_a_token_is_never_in_an_address_or_in_the_page(self):
        self.open(scenes.one)
        self.enter(TOKEN)
        self.until_text("#name", "orders")
        self.open_key("customer/88")
        self.press("#story-acts [data-act=flush]")
        self.until("ask.open && !document.getElementById('ask-yes').disabled")
        self.press("#ask-yes")
        self.until("document.getElementById('said').textContent !== ''")
        for _, address, headers, body in self.fake.requests:
            self.assertNotIn(TOKEN, address)
            self.assertNotIn(TOKEN, str({name: value for name, value in headers.items() if name != "Authorization"}))
            self.assertNotIn(TOKEN.encode(), body)
        self.assertTrue(any(headers.get("Authorization") == f"Bearer {TOKEN}" for _, _, headers, _ in self.fake.requests))
        found = self.browser.run("""
            const fields = [...document.querySelectorAll("input, textarea")].map((field) => field.value).join();
            return [document.documentElement.outerHTML, location.href, fields, document.cookie, JSON.stringify(localStorage), document.title]
                .map((text) => text.includes(arguments[0]));
        """, TOKEN)
        self.assertEqual(found, [False] * 6)

    def test_a_token_is_kept_until_the_tab_is_closed(self):
        self.open(scenes.one)
        self.enter(TOKEN)
        self.until_text("#name", "orders")
        self.browser.run("location.reload()")
        self.until("document.body.dataset.ready === 'yes' && document.getElementById('name').textContent === 'orders'")
        self.assertFalse(self.is_shown("#token-form"))

    def test_a_token_that_is_withdrawn_is_asked_for_again(self):
        self.open(scenes.one)
        self.enter(TOKEN)
        self.until_text("#name", "orders")
        self.open_key("customer/88")
        del self.fake.tokens[TOKEN]
        self.write("#prefix", "c")
        self.until("!document.getElementById('token-gate').hidden")
        self.assertFalse(self.browser.run("return story.open"))
        self.assertIsNone(self.browser.run("return sessionStorage.getItem('token')"))

    def test_a_token_that_may_only_look_shows_no_buttons(self):
        self.open(scenes.one)
        self.enter("looker")
        self.until_text("#name", "orders")
        self.assertEqual(self.text("#who"), "bob looks only")
        self.assertIn("you need one with the role act", self.text("#role"))
        self.assertFalse(self.is_shown("#namespace-acts"))

    def test_a_token_that_may_not_even_look_can_be_replaced(self):
        scenes.one(self.fake)
        self.fake.tokens = {}
        self.fake.failing = {"me": (403, "this token may only submit")}
        self.open()
        self.assertEqual(self.text("#token-wrong"), "This token may only submit.")
        self.fake.failing = {}
        self.enter("any")
        self.until_text("#name", "orders")


class RoleTest(PageTest):
    def test_without_the_role_nothing_can_be_done_and_the_page_says_why(self):
        self.fake.me["role"] = "look"
        self.open(scenes.everything)
        self.press("#dead .toggle")
        self.press("#lines button")
        self.until("document.querySelectorAll('#ended li').length > 0")
        words = " ".join(self.texts("button"))
        for word in ("Flush", "Cancel", "Retry", "Discard", "Touch", "Submit", "Pause"):
            self.assertNotIn(word, words)
        self.assertEqual(self.texts("input[type=checkbox]"), [])
        self.assertFalse(self.is_shown(".check"))
        self.assertIn("lull serve with --allow-actions", self.text("#role"))
        # The space bar selects nothing either.
        self.browser.run("document.getElementById('keys').focus()")
        self.browser.keys(" ")
        self.assertEqual(self.text("#keys-say"), "10 keys have work")


class ConnectionTest(PageTest):
    def setUp(self):
        super().setUp()
        self.allowed = ["net::ERR", "500 (Internal", "503 (Service", "404 (Not Found)"]

    def test_a_server_that_goes_away_is_tried_again_with_longer_and_longer_pauses(self):
        self.open(scenes.everything)
        self.fake.is_down = True
        self.fake.changed()
        self.until("document.getElementById('live').dataset.state === 'away'")
        self.assertEqual(self.text("#live"), "Away")
        self.assertTrue(self.is_shown("#name"))
        self.until_text("#next", "next attempt in")
        pauses = self.browser.run("""
            const { stream } = lull;
            const { happened } = stream;
            return new Promise((done) => {
                const pauses = [];
                stream.happened = (what, about) => {
                    happened(what, about);
                    if (what === "lost") pauses.push(stream.nextAttempt - performance.now());
                    if (pauses.length === 2) done(pauses);
                };
            });
        """)
        self.assertGreater(pauses[1], pauses[0])
        self.fake.is_down = False
        self.press("#again")
        self.until("document.getElementById('live').dataset.state === 'live'")
        self.assertFalse(self.is_shown("#again"))
        self.assertFalse(self.is_shown("#away"))

    def test_a_connection_that_says_nothing_is_given_up(self):
        self.open(scenes.everything)
        self.browser.run("lull.stream.constructor.silence = 300; lull.stream.open()")
        self.until_text("#away", "The server has said nothing for a while.")

    def test_a_server_that_is_down_at_first_is_found_later(self):
        self.fake.failing = {"me": (503, "the store is being opened"), "events": (503, "the store is being opened")}
        scenes.one(self.fake)
        self.browser.open(self.fake.address, ready="!document.getElementById('away').hidden || document.getElementById('live').dataset.state === 'away'")
        self.assertFalse(self.is_shown("#chosen"))
        self.fake.failing = {}
        self.until("document.body.dataset.ready === 'yes'")
        self.until_text("#store", "orders.db")

    def test_a_namespace_of_the_address_that_is_gone_gives_way_to_the_first(self):
        self.open(scenes.everything, "#namespace=gone")
        self.assertEqual(self.text("#name"), "orders")

    def test_the_address_has_the_namespace_and_the_key(self):
        self.open(scenes.everything, "#namespace=reminders&key=digest%2F004")
        self.assertEqual(self.text("#name"), "reminders")
        self.until_text("#story-name", "digest/004")
        self.assertIn("namespace=reminders&key=digest%2F004", self.browser.run("return location.hash"))
        self.press("#story-close")
        self.until("location.hash === '#namespace=reminders'")
        self.assertEqual([one for one in self.sent("events")], ["/api/events?namespace=reminders"])

    def test_the_stream_ends_while_nobody_sees_the_page(self):
        self.open(scenes.one)
        is_open = self.browser.run("""
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            const later = window.setTimeout;
            window.setTimeout = (body, pause) => later(body, pause === 30000 ? 10 : pause);
            document.dispatchEvent(new Event("visibilitychange"));
            window.setTimeout = later;
            return new Promise((done) => later(() => done(lull.stream.isOpen), 200));
        """)
        self.assertFalse(is_open)
        self.browser.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        self.until("lull.stream.isOpen")
