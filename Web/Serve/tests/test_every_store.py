"""The page's actions and states on the real `lull serve`, on each store: a file, PostgreSQL and Redis.

The tests of a class share a store and a server; each has a namespace of its own.
"""

import os
import subprocess
import sys
import unittest
from urllib.parse import quote

import stores
from harness import PageTest
from real import LULL, ServeTest


class StoreHelper(ServeTest):
    """Starts a store and a server for a kind."""

    def serve_kind(self, kind):
        self.source = stores.start(self, kind)
        self.store = self.source.url
        self.run_lull("submit", "--wait", "1h", "first", "1")
        self.run_lull("cancel", "first")
        return self.serve("--allow-actions")[1]


class StoreCase(PageTest):
    """Starts a store of a kind, and a server for it."""

    kind = None

    @classmethod
    def setUpClass(cls):
        if not LULL:
            raise unittest.SkipTest("LULL does not name the command")
        if why := stores.missing(cls.kind):
            raise unittest.SkipTest(why)
        super().setUpClass()
        cls.helper = StoreHelper()
        cls.addClassCleanup(cls.helper.doCleanups)
        cls.helper.setUp()
        cls.place = cls.helper.serve_kind(cls.kind)

    def tearDown(self):
        super().tearDown()
        # What a test has started ends with it, and not with the class.
        self.doCleanups()

    def until(self, condition, seconds=60):
        return super().until(condition, seconds)

    def until_text(self, selector, part, seconds=60):
        super().until_text(selector, part, seconds)

    def lull(self, command, namespace, *arguments):
        return self.helper.run_lull(command, "--namespace", namespace, *arguments)

    def submit(self, namespace, values, *policy):
        """Submits values by their keys, of which each is due at once."""
        for index, (key, value) in enumerate(values.items()):
            self.lull("submit", namespace, *(["--wait", "1h", *policy] if index == 0 else []), key, value)
        self.lull("flush", namespace)

    def run_ready(self, namespace, *command):
        """Runs a command for what is ready."""
        worker = ServeTest.start(self, LULL, "run", "--store", self.helper.store, "--namespace", namespace, "--at-end", "flush", *command)
        return worker.communicate(timeout=60)

    end = staticmethod(ServeTest.end)

    def show(self, namespace):
        self.browser.leave()
        self.browser.open(f"http://{self.place}/", f"#namespace={quote(namespace)}")
        self.until("document.getElementById('live').dataset.state === 'live'")

    def act(self, button, title, yes, said):
        """Presses a button, is asked this, says yes, and is told that."""
        self.press(button)
        self.assertEqual(self.asked(), (title, yes))
        self.assertEqual(self.answer(), said)

    def figure(self, name):
        return self.text(f"[data-figure={name}] dd")

    def until_figure(self, name, value):
        self.until(f"document.querySelector('[data-figure={name}] dd')?.textContent === {value!r}")

    def use(self, key, label):
        """Opens the dead run of a key, and presses one of its buttons."""
        self.browser.run("""
            const item = [...document.querySelectorAll("#dead > li")].find((one) => one.querySelector(".key").textContent === arguments[0]);
            if (item.querySelector(".whole").hidden) item.querySelector(".toggle").click();
            [...item.querySelectorAll(".whole button")].find((one) => one.textContent.startsWith(arguments[1])).click();
        """, key, label)

    def choose(self, selector, *names):
        """Selects the lines of some keys."""
        self.browser.run("""
            for (const name of arguments[1]) {
                [...document.querySelectorAll(arguments[0])].find((one) => one.querySelector(".key").textContent === name)
                    .querySelector("input, .check").click();
            }
        """, selector, names)


class StoreTests:
    """What holds for each store."""

    def test_a_run_fails_waits_dies_is_retried_and_ends(self):
        self.submit("story", {"report": "1"})
        # The pause before the next attempt grows: that after the sixth takes long enough to be seen.
        for attempt in range(6):
            if attempt > 0:
                self.lull("flush", "story")
            self.run_ready("story", "--", "sh", "-c", "echo no paper >&2; exit 3")
        self.show("story")
        self.until_figure("retrying", "1")
        self.open_key("report")
        self.until_text("#story-now", "has failed and is tried again in")
        self.assertIn("attempt 6, with 1 submit", self.text("#story-now"))
        self.assertIn("no paper", self.text("#story-now pre"))
        # The next attempt comes at once.
        self.act("#story-acts [data-act=flush]", "Flush report?", "Flush 1 key", "Flushed 1 key.")
        self.run_ready("story", "--attempts", "7", "--", "sh", "-c", "echo no ink >&2; exit 4")
        self.until_text("#ended", "Dead")
        self.until_text("#story-now", "No work waits under this key.")
        self.assertIn("became run", self.text("#ended"))
        self.until_text("#dead", "1 submit, 7 attempts")
        self.use("report", "Retry this run")
        self.assertEqual(self.asked()[1], "Retry 1 dead run")
        self.assertEqual(self.answer(), "Retried 1 dead run.")
        self.until_text("#dead-says", "No run has failed for good.")
        self.until_text("#story-now", "waits for a worker")
        self.run_ready("story", "--", "true")
        self.until_text("#ended", "Completed")
        self.until_text("#story-now", "No work waits under this key.")

    def test_dead_runs_are_retried_and_discarded_one_some_and_all(self):
        self.submit("dead", dict.fromkeys(["a/1", "a/2", "b/1", "b/2", "c/1", "c/2"], "v"))
        self.run_ready("dead", "--jobs", "6", "--attempts", "1", "--", "sh", "-c", "echo broken at $1 >&2; exit 1", "-", "{key}")
        self.show("dead")
        self.until("document.querySelectorAll('#dead > li').length === 6")
        self.choose("#dead > li", "a/1", "a/2", "b/1")
        self.act("#retry", "Retry 3 dead runs?", "Retry 3 dead runs", "Retried 3 dead runs.")
        self.until_figure("retrying", "3")
        self.write("#dead-error", "broken at b")
        self.until_text("#dead-says", "1 dead run that match")
        self.act("#discard", "Discard dead runs with “broken at b”?", "Discard 1 dead run", "Discarded 1 dead run.")
        self.until_text("#dead-says", "No dead run matches.")
        self.write("#dead-error", "")
        self.until("document.querySelectorAll('#dead > li').length === 2")
        # A run whose key has a newer value is not retried, and this is said.
        self.lull("submit", "dead", "c/1", "w")
        self.act("#retry", "Retry all dead runs?", "Retry 2 dead runs",
                 "Retried 1 dead run. 1 dead run was not retried: its key has a newer value.")
        self.until_text("#dead-says", "1 dead run")
        self.assertEqual(self.helper.run_lull("dead", "list", "--namespace", "dead", "--json").count('"key":"c/1"'), 1)

    def test_keys_are_flushed_and_cancelled_some_and_all(self):
        for index, key in enumerate(["a/1", "a/2", "b/1", "b/2"]):
            self.lull("submit", "keys", *(["--wait", "1h"] if index == 0 else []), key, "v")
        self.show("keys")
        self.until_text("#keys-say", "4 keys have work")
        self.choose("#keys .row", "a/1", "b/1")
        self.until_text("#keys-say", "2 selected")
        self.act("#flush", "Flush 2 keys?", "Flush 2 keys", "Flushed 2 keys.")
        self.until_figure("ready", "2")
        self.write("#prefix", "a/")
        self.until_text("#keys-say", "2 keys with this beginning have work")
        self.act("#cancel", "Cancel all keys that begin with a/?", "Cancel 2 keys", "Cancelled 2 submits.")
        self.until_text("#keys-say", "No key with this beginning has work.")
        self.write("#prefix", "")
        self.until_text("#keys-say", "2 keys have work")
        self.act("#flush", "Flush all keys?", "Flush 1 key", "Flushed 1 key.")
        self.until_figure("ready", "2")

    def test_a_namespace_is_empty_runs_waits_for_a_limit_and_is_paused(self):
        self.lull("submit", "states", "--wait", "1h", "--limit", "1/1h", "first", "v")
        self.lull("cancel", "states")
        self.show("states")
        self.assertRegex(self.text("#headline"), "^Nothing has run ")
        self.assertIn("Nothing waits.", self.text("#nothing"))
        self.assertEqual(self.text("#dead-says"), "No run has failed for good.")
        self.until_text("#keys-say", "No key has work.")
        self.assertEqual(self.text("#workers + .note"), "No worker is here.")
        # A worker runs one of two keys until it is told that it may end; the limit holds back the other.
        gate = f"{self.helper.folder}/gate-{self.kind}"
        os.mkfifo(gate)
        self.submit("states", {"one": "v", "two": "v"})
        worker = ServeTest.start(
            self, LULL, "work", "--store", self.helper.store, "--namespace", "states", "--", "sh", "-c", 'read -r word < "$1"', "-", gate)
        self.until_text("#running", "attempt 1, for ")
        self.assertIn(f"process {worker.pid}", self.text("#running"))
        self.until_figure("running", "1")
        self.until_text("#workers", "1 running, seen")
        self.until_text("#limited", "1 key waits for --limit; the next start is in 60 min.")
        self.press("#running button")
        self.until_text("#story-now", ", attempt 1, with 1 submit, by")
        self.assertIn("its lease holds for", self.text("#story-now"))
        self.lull("pause", "states", "--reason", "stocktaking")
        self.until("!document.getElementById('paused').hidden")
        self.assertRegex(self.text("#paused"), r"^Paused since \d\d:\d\d, for .*: stocktaking$")
        with open(gate, "w", encoding="utf-8") as file:
            file.write("end\n")
        self.until_text("#ended", "Completed")
        self.until_text("#running + .note", "Nothing runs at the moment.")
        self.until_text("#headline", "1 submit became 1 run")
        self.until_figure("ready", "1")
        self.press("#story-close")
        self.act("#pause", "Resume states", "Resume", "Resumed.")
        self.until("document.getElementById('paused').hidden")

    def test_the_store_goes_away_and_comes_back(self):
        # A call to a server that is away waits for as long.
        _, self.place = self.helper.serve("--allow-actions", "--patience", "1s")
        self.lull("submit", "away", "--wait", "1h", "key", "v")
        self.allowed = ["503 (Service"]
        self.show("away")
        self.until_figure("pending", "1")
        self.helper.source.leave()
        self.until("document.body.classList.contains('stale')")
        self.assertEqual(self.text("#live"), "The store is away")
        self.assertRegex(self.text("#away"), r"\. What is shown is from \d\d:\d\d:\d\d\.$")
        self.assertEqual(self.figure("pending"), "1")
        # An action says that it was not done.
        self.press("#submit-value")
        self.write("#ask-key", "key")
        self.press("#ask-yes")
        self.until("document.getElementById('ask-wrong').textContent !== ''")
        self.press("#ask-no")
        # A page that opens now says so, too.
        self.browser.leave()
        self.browser.open(f"http://{self.place}/", "#namespace=away", ready="document.getElementById('live').dataset.state === 'away'")
        self.helper.source.come_back()
        self.until("document.getElementById('live').dataset.state === 'live'", 30)
        self.until_text("#name", "away")
        self.until_figure("pending", "1")
        self.press("#submit-value")
        self.write("#ask-key", "other")
        self.assertIn("Submitted generation", self.answer())
        self.until_figure("pending", "2")

    def test_large_numbers_stay_as_they_are(self):
        # JavaScript's numbers would make one of them.
        keys = ["9007199254740992", "9007199254740993"]
        self.submit("numbers", {key: f'{{"id":{key}}}' for key in keys})
        self.run_ready("numbers", "--attempts", "1", "--", "false")
        for key in keys:
            self.lull("submit", "numbers", key, key)
        self.show("numbers")
        self.until("document.querySelectorAll('#keys .row .name').length === 2")
        self.assertEqual(sorted(self.texts("#keys .row .name")), keys)
        self.assertEqual(sorted(self.texts("#lines .name")), keys)
        for key in keys:
            self.use(key, "Show its value")
        self.until("document.querySelectorAll('#dead .value pre').length === 2")
        self.assertEqual(sorted(self.texts("#dead .value pre")), [f'{{"id":{key}}}' for key in keys])
        # An action on one of them leaves the other.
        self.open_key(keys[1])
        self.until_text("#story-now", "1 submit is pending")
        self.press("#story-acts [data-act=cancel]")
        self.assertEqual(self.asked()[0], f"Cancel {keys[1]}?")
        self.assertEqual(self.answer(), "Cancelled 1 submit.")
        self.assertEqual([line.split()[0] for line in self.lull("list", "numbers").splitlines()[1:]], keys[:1])


class FileTest(StoreTests, StoreCase):
    kind = "file"


class PostgresTest(StoreTests, StoreCase):
    kind = "postgres"


class RedisTest(StoreTests, StoreCase):
    kind = "redis"


class EveryStore(unittest.TestCase):
    """Runs the tests of all stores side by side: for the most part they wait for the next look at their store."""

    def test_the_page_on_every_store(self):
        kinds = ("FileTest", "PostgresTest", "RedisTest")
        runs = {kind: subprocess.Popen(
            [sys.executable, "-m", "unittest", f"test_every_store.{kind}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=os.path.dirname(os.path.abspath(__file__))) for kind in kinds}
        said = {kind: run.communicate()[0] for kind, run in runs.items()}
        for kind, run in runs.items():
            with self.subTest(kind):
                self.assertEqual(run.returncode, 0, said[kind])
                if "skipped" in said[kind]:
                    print(f"{kind}: {said[kind]}")


def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(EveryStore)
