"""Tests of the dashboard and the alert rules: against the metrics that there are, with promtool, and on a Prometheus that scrapes."""

import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from pagetest import ROOT
from real import LULL, ServeTest, ask, free_port, path, until

MONITORING = os.path.join(ROOT, "docs/monitoring")
# Of servers of stores; StoreServerTests has them all.
SERVERS_ONLY = {"lull_dead_rows", "lull_oldest_transaction_seconds", "lull_memory_bytes", "lull_memory_limit_bytes",
                "lull_clock_behind_seconds", "lull_reopenings"}
# Of these, too: their label says it all, and they are in no panel.
NAMES_ONLY = {"lull_durability_info", "lull_maxmemory_policy_info"}
# What Prometheus adds.
TARGET = {"instance", "job"}


def dashboard():
    with open(os.path.join(MONITORING, "lull-dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def dashboard_queries():
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]


def rules():
    """Returns the text of the rules without comments and texts."""
    with open(os.path.join(MONITORING, "lull-alerts.yml"), encoding="utf-8") as file:
        return "\n".join(line for line in file.read().split("\n") if not re.match(r"\s*(#|summary:|description:|- alert:)", line))


def selectors(text):
    """Returns the names of the metrics in some queries, with the labels that are asked for, and the labels of groups."""
    metrics = [(name, set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', labels or "")))
               for name, labels in re.findall(r"\b(lull_\w+|up)\b(?:\{([^}]*)\})?", text)]
    groups = {label.strip() for found in re.findall(r"\b(?:by|on) ?\(([^)]*)\)", text) for label in found.split(",")}
    return metrics, groups


class QueryTest(ServeTest):
    """What the queries name is there, with its labels."""

    def setUp(self):
        super().setUp()
        for _ in range(2):
            self.run_lull("submit", "--wait", "1h", "k", "v")

    def metrics(self, place):
        """Returns the labels of each metric."""
        found = {}
        for line in ask(place, "GET", "/metrics").text.splitlines():
            if not line.startswith("#"):
                name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
                found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels or ""))
        return found

    def check(self, text):
        _, place = self.serve()
        ask(place, "POST", path("default", "k"), "v")
        known = {**self.metrics(place), "up": set(), **{name: set() for name in SERVERS_ONLY}, **{name: {"name"} for name in NAMES_ONLY}}
        metrics, groups = selectors(text)
        self.assertGreater(len(metrics), 10)
        for name, labels in metrics:
            self.assertIn(name, known)
            self.assertLessEqual(labels, known[name] | TARGET, name)
        self.assertLessEqual(groups, set().union(*known.values()) | TARGET)
        return {name for name, _ in metrics}, set(known)

    def test_the_dashboard_asks_for_what_there_is(self):
        asked, known = self.check("\n".join(dashboard_queries()))
        # And shows all of it.
        self.assertEqual(known - asked, {"up"} | NAMES_ONLY)

    def test_the_rules_ask_for_what_there_is(self):
        self.check(rules())

    def test_the_metrics_of_servers_are_those_that_the_command_has(self):
        with open(os.path.join(ROOT, "docs/operating.md"), encoding="utf-8") as file:
            rows = [line for line in file if line.startswith("| `lull_") and "only" in line]
        self.assertEqual(set(re.findall(r"`(lull_\w+)`", "".join(rows))), SERVERS_ONLY | NAMES_ONLY)


class DashboardTest(unittest.TestCase):
    def test_panels_have_places_titles_and_the_variables(self):
        board = dashboard()
        self.assertEqual([one["name"] for one in board["templating"]["list"]], ["datasource", "instance", "namespace"])
        taken = set()
        for panel in board["panels"]:
            self.assertTrue(panel["title"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, f"{panel['title']} lies on another panel")
            taken |= cells
            for target in panel.get("targets", []):
                self.assertEqual(target["datasource"]["uid"], "${datasource}")
                self.assertIn('instance="$instance"', target["expr"])
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(set(ids)), len(ids))


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed: scripts/install-missing serve")
class RulesTest(ServeTest):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_rules_alert_when_they_should(self):
        shutil.copy(os.path.join(MONITORING, "lull-alerts.yml"), self.folder)
        shutil.copy(os.path.join(os.path.dirname(__file__), "lull-alerts-test.yml"), self.folder)
        self.assertIn("SUCCESS", self.promtool("check", "rules", "lull-alerts.yml"))
        self.assertIn("SUCCESS", self.promtool("test", "rules", "lull-alerts-test.yml"))
        # Each is tried.
        with open(f"{self.folder}/lull-alerts.yml", encoding="utf-8") as file, \
                open(f"{self.folder}/lull-alerts-test.yml", encoding="utf-8") as test:
            names, tried = re.findall(r"- alert: (\w+)", file.read()), test.read()
        self.assertEqual([name for name in names if f"alertname: {name}\n" not in tried], [])

    def test_the_configuration_in_the_page_is_one(self):
        with open(os.path.join(ROOT, "docs/serving.md"), encoding="utf-8") as file:
            [text] = re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
        shutil.copy(os.path.join(MONITORING, "lull-alerts.yml"), self.folder)
        with open(f"{self.folder}/prometheus.yml", "w", encoding="utf-8") as file:
            file.write(text)
        self.assertIn("SUCCESS", self.promtool("check", "config", "--syntax-only", "prometheus.yml"))

    def test_the_page_has_all_alerts_with_their_severities(self):
        with open(os.path.join(ROOT, "docs/serving.md"), encoding="utf-8") as file:
            told = set(re.findall(r"^\| `(Lull\w+)` \| (\w+) \|", file.read(), re.M))
        with open(os.path.join(MONITORING, "lull-alerts.yml"), encoding="utf-8") as file:
            there = set(re.findall(r"- alert: (\w+)\n.*?severity: (\w+)", file.read(), re.S))
        self.assertEqual(told, there)

    def test_promtool_finds_nothing_to_mend_in_the_metrics(self):
        self.run_lull("submit", "--wait", "1h", "k", "v")
        _, place = self.serve()
        ask(place, "POST", path("default", "k"), "v")
        for text in (ask(place, "GET", "/metrics").text, self.run_lull("status", "--format", "openmetrics")):
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
            # It minds a counter without a type, which the text for both formats has.
            complaints = [line for line in done.stderr.splitlines() if 'non-counter metrics should not have "_total" suffix' not in line]
            self.assertEqual(complaints, [])
        self.assertIn("# TYPE lull_runs_total counter\n", ask(place, "GET", "/metrics").text)


@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed: scripts/install-missing serve")
class PrometheusTest(ServeTest):
    """A Prometheus that scrapes evaluates all queries and rules."""

    def test_all_queries_have_answers(self):
        for _ in range(4):
            self.run_lull("submit", "--wait", "1h", "k", "v")
        _, place = self.serve()
        self.prometheus(place)
        until(lambda: self.query('up{job="lull"} == 1'), 60)
        ask(place, "POST", path("default", "k"), "v")
        worker = self.start(LULL, "work", "--store", self.store, "--", "true")
        self.run_lull("flush")
        until(lambda: self.query('increase(lull_executed_total{namespace="default"}[1m]) > 0'), 60)
        self.end(worker)
        ask(place, "POST", path("default", "k"), "v")
        variables = {"$instance": place, "$namespace": ".*", "$__range": "5m", "$__rate_interval": "1m"}
        until(lambda: self.query("rate(lull_serve_submits_total[1m]) > 0"), 60)
        for expression in dashboard_queries():
            names = {name for name, _ in selectors(expression)[0]}
            for name, value in variables.items():
                expression = expression.replace(name, value)
            if names & SERVERS_ONLY:
                self.assertEqual(self.query(expression), [])
            else:
                until(lambda asked=expression: self.query(asked))
        joined = self.query('sum(increase(lull_executed_total[5m])) / sum(increase(lull_runs_total[5m]))')
        self.assertAlmostEqual(float(joined[0]["value"][1]), 5)
        types = {name: one[0]["type"] for name, one in self.api("metadata").items() if name.startswith("lull_")}
        # Prometheus names a family of OpenMetrics without the ending of its samples.
        self.assertEqual({types[f"lull_{name}"] for name in ("runs", "executed", "failures", "serve_answers")}, {"counter"})
        self.assertEqual({types[name] for name in ("lull_keys", "lull_oldest_due_seconds", "lull_serve_pages")}, {"gauge"})
        groups = until(lambda: [group for group in self.api("rules")["groups"] if all(rule["health"] != "unknown" for rule in group["rules"])], 60)
        self.assertEqual({rule["health"] for rule in groups[0]["rules"]}, {"ok"})
        self.assertEqual(self.query('ALERTS{alertname="LullDown"}'), [])

    def prometheus(self, place):
        shutil.copy(os.path.join(MONITORING, "lull-alerts.yml"), self.folder)
        with open(f"{self.folder}/prometheus.yml", "w", encoding="utf-8") as file:
            file.write(f"""
                global: {{scrape_interval: 1s, evaluation_interval: 1s}}
                rule_files: [{self.folder}/lull-alerts.yml]
                scrape_configs:
                  - job_name: lull
                    static_configs: [{{targets: ["{place}"]}}]
            """)
        self.port = free_port()
        with open(f"{self.folder}/prometheus.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stderr=log)
        self.addCleanup(self.end, process)

        def is_ready():
            with open(f"{self.folder}/prometheus.log", encoding="utf-8") as log:
                self.assertIsNone(process.poll(), log.read())
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5).status == 200
            except OSError:
                return False

        until(is_ready, 60)

    def api(self, name, **arguments):
        address = f"http://127.0.0.1:{self.port}/api/v1/{name}?{urllib.parse.urlencode(arguments)}"
        try:
            with urllib.request.urlopen(address, timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{arguments}: {error.read().decode()}") from error

    def query(self, expression):
        return self.api("query", query=expression)["result"]
