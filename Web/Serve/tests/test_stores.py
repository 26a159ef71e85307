"""The page on the real `lull serve`, on each store: its main path, and a hundred thousand keys that wait."""

import subprocess
import unittest

import stores
from harness import PageTest
from real import LULL, ServeTest
from test_server import ServerTest


class StoresTest(ServeTest):
    """Starts a store and a server for a kind."""

    def serve_kind(self, kind, *arguments):
        if why := stores.missing(kind):
            self.skipTest(why)
        self.source = stores.start(self, kind)
        self.store = self.source.url
        self.run_lull("submit", "--wait", "1h", "first", "1")
        self.run_lull("cancel", "first")
        _, place = self.serve("--allow-actions", *arguments)
        return place


class MainPath(unittest.TestCase):
    """Runs the cases of `ServerTest` on each store."""

    @unittest.skipUnless(LULL, "LULL does not name the command")
    def test_the_main_path_on_every_store(self):
        for kind in stores.KINDS:
            with self.subTest(kind):
                helper = StoresTest()
                helper.setUp()
                try:
                    place = helper.serve_kind(kind)
                    result = unittest.TestResult()
                    ServerTest.address = f"http://{place}/"
                    unittest.defaultTestLoader.loadTestsFromTestCase(ServerTest).run(result)
                    self.assertGreater(result.testsRun, 0)
                    self.assertEqual([text for _, text in result.errors + result.failures], [])
                finally:
                    ServerTest.address = None
                    helper.doCleanups()


class ManyKeys(PageTest):
    """A hundred thousand keys wait, on each store."""

    COUNT = 100_000

    @unittest.skipUnless(LULL, "LULL does not name the command")
    def test_the_first_picture_comes_within_a_second(self):
        for kind in stores.KINDS:
            with self.subTest(kind):
                helper = StoresTest()
                helper.setUp()
                try:
                    place = helper.serve_kind(kind)
                    lines = "".join(f"key-{number:06} {number}\n" for number in range(self.COUNT))
                    subprocess.run(
                        [LULL, "filter", "--store", helper.store, "--key-field", "1", "--at-end", "keep"], input=lines, text=True,
                        check=True, stdout=subprocess.DEVNULL)
                    self.browser.leave()
                    self.browser.open(f"http://{place}/")
                    self.until("performance.getEntriesByName('keys').length > 0")
                    # In milliseconds; generous, since others may use the machine.
                    painted = self.browser.run("return performance.getEntriesByName('keys')[0].startTime")
                    self.assertLess(painted, 3000)
                    print(f"{kind}: {self.COUNT} keys, shown after {painted:.0f} ms")
                    self.until_text("#figures", "100,000")
                    self.until("document.querySelectorAll('#lines button').length > 0")
                finally:
                    # Before the server ends, which the page would complain of.
                    self.open()
                    helper.doCleanups()


if __name__ == "__main__":
    unittest.main()
