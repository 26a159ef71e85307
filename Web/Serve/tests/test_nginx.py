"""Tests of `lull serve` behind nginx, with packaging/nginx/lull.conf."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import threading
import time
import unittest

from pagetest import ROOT
from real import Answer, Connection, Events, ServeTest, ask, free_port, path, until

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
CONFIGURATION = os.path.join(ROOT, "packaging/nginx/lull.conf")
HOST = "lull.example.org"
TOKEN = "act-0123456789abcdef"


LARGEST = 16 << 20


@unittest.skipUnless(NGINX, "nginx is not installed: scripts/install-missing serve")
class NginxTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.run_lull("submit", "--wait", "1h", "first", "v")
        self.socket = f"unix:{self.folder}/serve.sock"
        self.port = free_port()
        self.place = f"127.0.0.1:{self.port}"
        self.origin = f"https://{HOST}:{self.port}"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext",
             f"subjectAltName=DNS:{HOST}", "-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem"],
            check=True, capture_output=True)
        self.tls = ssl.create_default_context(cafile=f"{self.folder}/cert.pem")

    def proxy(self, upstream=None):
        """Starts nginx in front of the socket, or of a port."""
        with open(CONFIGURATION, encoding="utf-8") as file:
            text = file.read()
        for old, new in [
                ("unix:/run/lull/serve.sock", upstream or self.socket), ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
                ("/etc/ssl/lull.pem", f"{self.folder}/cert.pem"), ("/etc/ssl/private/lull.key", f"{self.folder}/key.pem")]:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        with open(f"{self.folder}/lull.conf", "w", encoding="utf-8") as file:
            file.write(text)
        paths = "".join(f"{name}_temp_path {self.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{self.folder}/nginx.conf", "w", encoding="utf-8") as file:
            file.write(f"""
                {"user root;" if os.geteuid() == 0 else ""}
                daemon off;
                pid {self.folder}/nginx.pid;
                error_log stderr;
                events {{}}
                http {{ access_log off; {paths} include {self.folder}/lull.conf; }}
            """)
        log = open(f"{self.folder}/nginx.log", "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        nginx = subprocess.Popen([NGINX, "-p", self.folder, "-c", f"{self.folder}/nginx.conf"], stderr=log)
        self.addCleanup(self.end, nginx)

        def answers():
            with open(log.name, encoding="utf-8") as said:
                self.assertIsNone(nginx.poll(), said.read())
            try:
                return self.ask("GET", "/health")
            except ConnectionRefusedError:
                return None

        until(answers)
        return nginx

    def ask(self, method, target, body=None, fields=None):
        fields = {"Host": f"{HOST}:{self.port}", **(fields or {})}
        return ask(self.place, method, target, body, fields, self.tls, HOST)

    def submit(self, key, body=b"v", **fields):
        return self.ask("POST", path("default", key), body, {name.replace("_", "-"): value for name, value in fields.items()})

    def stored(self):
        """Returns the keys that have work, with their numbers of submits."""
        return {one["key"]: one for one in map(json.loads, self.run_lull("list", "--json").splitlines())}

    def test_a_submit_through_tls(self):
        self.serve("--origin", self.origin, listen=self.socket)
        self.proxy()
        # No proxy may change the path of a key.
        keys = ["plain", "a/b//c/../d", "%2F ? #", "Straße 雨", "new\nline"]
        for key in keys:
            answer = self.submit(key, b"\x00\xff")
            self.assertEqual(answer.status, 202, answer.body)
            self.assertEqual(json.loads(answer.text)["key"], key)
        self.assertEqual(set(self.stored()), {"first", *keys})
        again = [json.loads(self.submit("again", Idempotency_Key="one").text)["generation"] for _ in range(2)]
        self.assertEqual(len(set(again)), 1, again)
        self.assertEqual(self.ask("GET", "/").fields["Content-Type"], "text/html; charset=utf-8")
        self.assertEqual(self.ask("GET", "/metrics").status, 200)

    def test_events_come_live(self):
        self.serve("--origin", self.origin, listen=self.socket)
        self.proxy()
        begun = time.monotonic()
        events = Events(self.place, fields={"Host": f"{HOST}:{self.port}"}, tls=self.tls, host=HOST)
        self.addCleanup(events.close)
        self.assertEqual(events.status, 200)
        first = events.next()
        self.assertEqual(first[0], "event: look")
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(self.submit("live").status, 202)
        begun = time.monotonic()
        while not any('"live"' in line for line in events.next()):
            pass
        self.assertLess(time.monotonic() - begun, 5)

    def test_pages_of_other_sites_are_refused(self):
        self.serve("--origin", self.origin, "--allow-actions", listen=self.socket)
        self.proxy()
        pause = "/api/pause?namespace=default"
        for fields in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"https://{HOST}.evil.example:{self.port}"},
                       {"Origin": self.origin, "Sec-Fetch-Site": "cross-site"}):
            self.assertEqual(self.submit("evil", **{name.replace("-", "_"): value for name, value in fields.items()}).status, 403)
            self.assertEqual(self.ask("POST", pause, b"", {"Lull-Page": "1", **fields}).status, 403)
            self.assertEqual(self.ask("GET", "/metrics", fields=fields).status, 403)
        self.assertEqual(set(self.stored()), {"first"})
        self.assertEqual(self.ask("POST", pause, b"", {"Lull-Page": "1", "Origin": self.origin}).status, 200)

    def test_tokens_pass(self):
        with open(f"{self.folder}/tokens", "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"act {TOKEN} ada\n")
        self.serve("--token-file", f"{self.folder}/tokens", listen=self.socket)
        self.proxy()
        self.assertEqual(self.submit("a").status, 401)
        self.assertEqual(self.submit("a", Authorization=f"Bearer {TOKEN}").status, 202)
        me = self.ask("GET", "/api/me", fields={"Authorization": f"Bearer {TOKEN}"})
        self.assertEqual(json.loads(me.text)["name"], "ada")

    def test_the_largest_value_passes_and_a_larger_one_does_not(self):
        self.serve("--origin", self.origin, listen=self.socket)
        self.proxy()
        value = os.urandom(LARGEST)
        self.assertEqual(self.submit("large", value).status, 202)
        self.assertEqual(self.submit("larger", value + b"x", Expect="100-continue").status, 413)
        refused = self.submit("larger", value + b"x")
        self.assertEqual((refused.status, refused.fields["Content-Type"]), (413, "application/json"))
        self.assertIn("16 MiB", json.loads(refused.text)["error"])
        # Without a length that is known at first.
        connection = Connection(self.place, tls=self.tls, host=HOST)
        self.addCleanup(connection.close)
        parts = (value[start:start + (1 << 16)] for start in range(0, LARGEST, 1 << 16))
        connection.request("POST", path("default", "chunked"), parts, {"Host": f"{HOST}:{self.port}"}, encode_chunked=True)
        self.assertEqual(Answer(connection.getresponse()).status, 202)
        self.assertEqual(set(self.stored()), {"first", "large", "chunked"})

    def test_restarts_lose_nothing_that_was_answered(self):
        process, _ = self.serve("--origin", self.origin, listen=self.socket)
        self.proxy()
        answered, refused, errors, end = set(), [], [], threading.Event()

        def submit_all(thread):
            number = 0
            while not end.is_set():
                key = f"{thread}-{number}"
                number += 1
                while True:
                    try:
                        answer = self.submit(key, Idempotency_Key=key)
                    except OSError as error:
                        errors.append(error)
                        return
                    if answer.status == 202:
                        answered.add(key)
                        break
                    if answer.status != 503 or answer.fields["Content-Type"] != "application/json":
                        errors.append((answer.status, answer.body))
                        return
                    refused.append(json.loads(answer.text))
                    time.sleep(0.05)

        threads = [threading.Thread(target=submit_all, args=[thread]) for thread in range(4)]
        for thread in threads:
            thread.start()
        try:
            for number in [signal.SIGTERM, signal.SIGKILL, signal.SIGTERM]:
                count = len(answered)
                until(lambda wanted=count + 40: len(answered) >= wanted or errors)
                count = len(refused)
                process.send_signal(number)
                process.communicate(timeout=20)
                until(lambda wanted=count: len(refused) > wanted or errors)
                process, _ = self.serve("--origin", self.origin, listen=self.socket)
            count = len(answered)
            until(lambda: len(answered) >= count + 40 or errors)
        finally:
            end.set()
            for thread in threads:
                thread.join()
        self.assertEqual(errors, [])
        stored = self.stored()
        self.assertEqual(set(stored) - {"first"}, answered)
        # A repeated submit counts once.
        self.assertEqual({one["pending"] for one in stored.values()}, {1})

    def test_what_nginx_says_itself_has_the_same_form(self):
        self.proxy()
        answer = self.submit("a")
        self.assertEqual((answer.status, answer.fields["Retry-After"]), (503, "1"))
        self.assertEqual(json.loads(answer.text)["unknown"], True)
