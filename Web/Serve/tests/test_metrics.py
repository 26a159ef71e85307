"""Tests of the metrics: what `lull serve` and `lull status` print is read by a parser of another make, that of prometheus_client."""

import os
import shutil
import subprocess
import unittest

from real import LULL, ServeTest, ask, path, until

try:
    from prometheus_client import parser
    from prometheus_client.openmetrics import parser as openmetrics_parser
except ImportError:
    parser = None

NEW = "application/openmetrics-text"
# What Prometheus sends.
ACCEPT = f"{NEW};version=1.0.0,{NEW};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

# The second newline is part of a character that ends with it, and the accents stand above what has to be escaped.
NAMES = ["orders", 'a "quoted" one', "back\\slash\\", "new\nline", "return\r\nnewline", '"\u0301\\\u0301', "{namespace=\"x\"} 1 # EOF", "Straße 雨"]

GAUGES = {
    "lull_keys": "", "lull_dead_runs": "", "lull_oldest_due_seconds": "seconds", "lull_paused_seconds": "seconds",
    "lull_pause_ends_seconds": "seconds",
    "lull_limited_keys": "", "lull_next_start_seconds": "seconds",
    "lull_entries": "", "lull_oldest_entry_seconds": "seconds",
}
COUNTERS = ["lull_attempts", "lull_lost_leases", "lull_runs", "lull_executed", "lull_failures", "lull_restarts", "lull_snoozes",
            "lull_given_up", "lull_overdue"]
OWN_GAUGES = ["lull_up", "lull_serve_connections", "lull_serve_pages"]
OWN_COUNTERS = ["lull_serve_answers", "lull_serve_submits"]


def read(text, as_openmetrics):
    """Returns the families of a text, by their names."""
    if as_openmetrics:
        families = list(openmetrics_parser.text_string_to_metric_families(text))
    else:
        families = list(parser.text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families), "a family comes twice"
    return {family.name: family for family in families}


def values(families, name, **labels):
    """Returns the values of the samples with a name, by what their other labels say."""
    found = {}
    for family in families.values():
        for sample in family.samples:
            if sample.name == name and all(sample.labels.get(label) == value for label, value in labels.items()):
                rest = tuple(value for label, value in sorted(sample.labels.items()) if label not in labels)
                assert rest not in found, f"{name} {sample.labels} comes twice"
                found[rest[0] if len(rest) == 1 else rest] = sample.value
    return found


@unittest.skipUnless(parser, "prometheus_client is not installed: scripts/install-missing serve")
class MetricsTest(ServeTest):
    def setUp(self):
        super().setUp()
        for number, name in enumerate(NAMES):
            for key in range(number):
                self.run_lull("submit", "--namespace", name, "--wait", "1h", f"key {key}", "v")
            if number == 0:
                self.run_lull("submit", "--namespace", name, "--wait", "0", "--after", "1h", "later", "v")
        self.run_lull("submit", "--namespace", "orders", "ready", "v")
        # Three submits become one run, which fails for good.
        for _ in range(3):
            self.run_lull("submit", "--namespace", "failing", "--wait", "1h", "k", "v")
        self.run_lull("flush", "--namespace", "failing")
        subprocess.run(
            [LULL, "run", "--store", self.store, "--namespace", "failing", "--attempts", "1", "--", "false"],
            stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.run_lull("pause", "--namespace", "Straße 雨", "--reason", "a \"reason\"")
        self.all = NAMES + ["failing"]

    def check_values(self, families):
        for number, name in enumerate(NAMES[1:], 1):
            keys = values(families, "lull_keys", namespace=name)
            self.assertEqual(keys, {"pending": number, "ready": 0, "running": 0, "retrying": 0}, name)
        self.assertEqual(values(families, "lull_keys", namespace="orders"), {"pending": 1, "ready": 1, "running": 0, "retrying": 0})
        oldest = values(families, "lull_oldest_due_seconds")
        self.assertEqual(set(oldest), set(self.all))
        self.assertEqual({name for name, value in oldest.items() if value > 0}, {"orders"})
        self.assertEqual({name for name, value in values(families, "lull_paused_seconds").items() if value > 0}, {"Straße 雨"})
        for name, value in [("lull_dead_runs", 1), ("lull_runs_total", 1), ("lull_executed_total", 3), ("lull_failures_total", 1),
                            ("lull_attempts_total", 1), ("lull_lost_leases_total", 0)]:
            self.assertEqual(values(families, name), {one: value if one == "failing" else 0 for one in self.all}, name)

    def check_gauges(self, families, units):
        for name, unit in GAUGES.items():
            self.assertEqual((families[name].type, families[name].unit), ("gauge", unit if units else ""), name)
        for family in families.values():
            self.assertTrue(family.documentation.endswith("."), family.name)
            self.assertTrue(family.samples, family.name)

    def test_openmetrics(self):
        _, place = self.serve()
        self.assertEqual(ask(place, "POST", path("orders", "new"), "v").status, 202)
        self.assertEqual(ask(place, "POST", path("orders", "new"), "w").status, 202)
        self.assertEqual(ask(place, "POST", path("nowhere", "k"), "v").status, 404)
        self.run_lull("cancel", "--namespace", "orders", "new")
        answer = ask(place, "GET", "/metrics", fields={"Accept": ACCEPT})
        self.assertEqual((answer.status, answer.fields["Content-Type"]), (200, f"{NEW}; version=1.0.0; charset=utf-8"))
        families = read(answer.text, True)
        self.assertEqual(set(families), {*GAUGES, *COUNTERS, *OWN_GAUGES, *OWN_COUNTERS})
        for name in COUNTERS + OWN_COUNTERS:
            self.assertEqual(families[name].type, "counter", name)
            self.assertEqual({sample.name for sample in families[name].samples}, {f"{name}_total"})
        self.check_gauges(families, True)
        self.check_values(families)
        self.assertEqual(values(families, "lull_serve_answers_total"), {"202": 2, "404": 1, "429": 0, "503": 0})
        self.assertEqual(values(families, "lull_serve_submits_total"), {(): 2})
        self.assertEqual(values(families, "lull_serve_pages"), {(): 0})
        self.assertEqual(values(families, "lull_up"), {(): 1})
        self.assertGreaterEqual(values(families, "lull_serve_connections")[()], 1)

    def test_the_older_text(self):
        _, place = self.serve()
        for fields in ({"Accept": "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"}, {}):
            answer = ask(place, "GET", "/metrics", fields=fields)
            self.assertEqual((answer.status, answer.fields["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
            families = read(answer.text, False)
            # The parser names a counter without its ending in both.
            for name in COUNTERS:
                self.assertEqual(families[name].type, "counter", name)
                self.assertEqual({sample.name for sample in families[name].samples}, {f"{name}_total"})
                self.assertIn(f"# TYPE {name}_total counter\n", answer.text)
            self.assertNotIn("# UNIT", answer.text)
            self.check_gauges(families, False)
            self.check_values(families)

    def test_status_is_valid_in_both(self):
        text = self.run_lull("status", "--format", "openmetrics")
        for as_openmetrics in (True, False):
            families = read(text, as_openmetrics)
            self.check_gauges(families, as_openmetrics)
            self.check_values(families)
            # Their type would have to be declared under another name in each format.
            self.assertEqual({families[f"{name}_total"].type for name in COUNTERS}, {"unknown"})
        self.assertEqual(set(families), {*GAUGES, *(f"{name}_total" for name in COUNTERS)})

    def test_a_store_that_is_away_has_a_metric_and_the_server_goes_on_to_have_its_own(self):
        _, place = self.serve()
        self.assertEqual(ask(place, "POST", path("orders", "new"), "v").status, 202)
        os.mkdir(f"{self.folder}/elsewhere")
        files = [name for name in os.listdir(self.folder) if name.startswith("store.db")]
        for name in files:
            os.rename(f"{self.folder}/{name}", f"{self.folder}/elsewhere/{name}")
        until(lambda: ask(place, "POST", path("orders", "new"), "v").status == 503)
        # It looks twice a second whether its file is still there.
        until(lambda: values(read(ask(place, "GET", "/metrics").text, False), "lull_up") == {(): 0})
        for as_openmetrics, fields in ((True, {"Accept": ACCEPT}), (False, {})):
            answer = ask(place, "GET", "/metrics", fields=fields)
            self.assertEqual(answer.status, 200)
            families = read(answer.text, as_openmetrics)
            self.assertEqual(values(families, "lull_up"), {(): 0})
            self.assertEqual(values(families, "lull_serve_submits_total"), {(): 1})
            self.assertGreaterEqual(values(families, "lull_serve_answers_total", status="503")[()], 1)
            self.assertGreaterEqual(values(families, "lull_serve_connections")[()], 1)
            # What was known last would look as if it were so.
            self.assertEqual(values(families, "lull_keys"), {})
        until(lambda: ask(place, "GET", "/health").status == 503)
        for name in files:
            os.rename(f"{self.folder}/elsewhere/{name}", f"{self.folder}/{name}")
        until(lambda: values(read(ask(place, "GET", "/metrics").text, False), "lull_up") == {(): 1})


@unittest.skipUnless(parser, "prometheus_client is not installed: scripts/install-missing serve")
@unittest.skipUnless(shutil.which("redis-server"), "Redis is not installed: scripts/install-missing servers")
class RedisMetricsTest(ServeTest):
    """What the server of a store adds: bytes, and a word."""

    def test_both_formats(self):
        socket = f"{self.folder}/redis.sock"
        redis = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--maxmemory", "64mb", "--maxmemory-policy", "noeviction"],
            cwd=self.folder, stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, redis)
        until(lambda: os.path.exists(socket))
        self.store = f"redis+unix://{socket}?db=0&durability=memory"
        self.run_lull("submit", "--wait", "1h", "k", "v")
        _, place = self.serve()
        new = read(ask(place, "GET", "/metrics", fields={"Accept": ACCEPT}).text, True)
        old = read(ask(place, "GET", "/metrics").text, False)
        both = self.run_lull("status", "--format", "openmetrics")
        for families, unit in ((new, "bytes"), (old, ""), (read(both, True), "bytes"), (read(both, False), "")):
            self.assertEqual(values(families, "lull_memory_limit_bytes"), {(): 64 << 20})
            self.assertGreater(values(families, "lull_memory_bytes")[()], 0)
            self.assertEqual((families["lull_memory_bytes"].type, families["lull_memory_bytes"].unit), ("gauge", unit))
            self.assertEqual(values(families, "lull_durability_info"), {"memory": 1})
        self.assertEqual(new["lull_durability"].type, "info")
        self.assertEqual(old["lull_durability_info"].type, "gauge")
