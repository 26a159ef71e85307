"""A server with the interface of `lull serve` and a store of its own, whose states a test makes."""

import base64
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from pagetest import ROOT

# Where the files of the page are, as Pages.c embeds them.
PAGE = [os.path.join(ROOT, folder) for folder in ("Web/Serve", "Web/Shared")]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")

COUNTERS = ("attempts", "lostLeases", "restarted", "runs", "executed", "failures")
FIGURES = [
    ("pending", "pending", "Keys with a value or a run in a state; a key can be in several.", "none"),
    ("ready", "ready", "Keys with a value or a run in a state; a key can be in several.", "none"),
    ("running", "running", "Keys with a value or a run in a state; a key can be in several.", "none"),
    ("retrying", "retrying", "Keys with a value or a run in a state; a key can be in several.", "none"),
    ("dead", "dead", "Runs that have failed for good and are kept.", "none"),
    ("oldestDue", "oldest", "How long the oldest work that waits for a worker has waited; 0 if none waits.", "duration"),
    ("paused", "paused", "For how long the namespace has been paused; 0 if it is not.", "duration"),
    ("limited", "limited", "Keys with a value that is ready, and that --limit or --max-running holds back.", "none"),
    ("nextStart", "next start", "How long until --limit allows a start; 0 if it allows one now.", "duration"),
    ("entries", "entries", "Calls of programs in other languages that wait in the inbox to be made.", "none"),
    ("oldestEntry", "oldest entry", "How long the oldest of them has waited; 0 if there is none.", "duration"),
    ("attempts", "attempts", "Attempts at runs that have started.", "none"),
    ("lostLeases", "lost leases", "Runs that were taken from a worker whose lease had expired.", "none"),
    ("restarted", "restarted", "Runs that a newer value has interrupted, and whose values went back.", "none"),
    ("runs", "runs", "Runs that have begun.", "none"),
    ("executed", "executed", "Submits behind the runs that have begun.", "none"),
    ("failures", "failures", "Attempts that have failed.", "none"),
]


def shown(data):
    """Returns bytes as the interface has them."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def seconds(text):
    """Reads a duration of an option."""
    for unit, length in (("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)):
        if text.endswith(unit) and text[:-len(unit)].replace(".", "", 1).isdigit():
            return float(text[:-len(unit)]) * length
    raise ValueError(text)


class Run:
    """A run that a worker has, or that is tried again."""

    def __init__(self, number, submits, worker=None, lease=30.0, attempt=1, retry=None, error=None, age=0.0):
        self.number, self.submits, self.worker, self.attempt, self.error = number, submits, worker, attempt, error
        now = time.time()
        self.until = now + lease if worker is not None else None
        self.retry = now + retry if retry is not None else None
        # When its attempt began.
        self.began = now - age
        self.ends = None


class Key:
    """The work of one key."""

    def __init__(self, pending=0, due=None, ready=0, run=None, age=0.0, ready_age=0.0):
        self.pending, self.ready, self.run = pending, ready, run
        now = time.time()
        self.due = now + due if due is not None else None
        # When the first pending submit came, and when what is ready fell due.
        self.first, self.ready_at = now - age, now - ready_age

    @property
    def is_idle(self):
        return not (self.pending or self.ready or self.run)

    @property
    def changes(self):
        """The instant at which it changes next."""
        if self.ready or (self.run and self.run.retry is None):
            return 0
        return min(instant for instant in (self.run and self.run.retry, self.due) if instant is not None)

    def listing(self, name, now):
        run = self.run and {
            "id": self.run.number, "state": "running" if self.run.worker is not None else "retrying",
            "attempt": self.run.attempt, "submits": self.run.submits,
            "runningFor": now - self.run.began if self.run.worker is not None else None,
            "retryIn": None if self.run.retry is None else max(0, self.run.retry - now), "error": self.run.error,
            "worker": self.run.worker, "leaseFor": None if self.run.until is None else self.run.until - now}
        return {"key": shown(name), "pending": self.pending, "pendingFor": now - self.first if self.pending else None,
                "dueIn": max(0, self.due - now) if self.pending else None, "ready": self.ready,
                "readyFor": now - self.ready_at if self.ready else None, "run": run}


class Dead:
    """A run that has failed for good."""

    def __init__(self, number, key, error, age=60.0, submits=1, attempts=20, values=(b"1",)):
        self.number, self.key, self.error, self.submits, self.attempts = number, key, error, submits, attempts
        self.at, self.values = time.time() - age, list(values)

    def listing(self, now):
        return {"run": self.number, "key": shown(self.key), "submits": self.submits, "attempts": self.attempts,
                "age": now - self.at, "error": self.error}


class Namespace:
    """A namespace with its keys."""

    def __init__(self, rules="--wait 2s"):
        self.rules = rules
        self.keys, self.dead, self.ended, self.workers, self.rates = {}, [], {}, {}, []
        self.paused = self.reason = self.oldest = self.next_start = None
        self.limited = 0
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.counted_since = time.time() - 86_400
        midnight = list(time.localtime())
        midnight[3:6] = (0, 0, 0)
        self.today = {"since": time.mktime(tuple(midnight)), "runs": 0, "executed": 0}

    def figures(self, name, now):
        keys = list(self.keys.values())
        return {
            "namespace": name, "rules": self.rules, "pending": sum(key.pending > 0 for key in keys),
            "ready": sum(key.ready > 0 for key in keys),
            "running": sum(key.run is not None and key.run.worker is not None for key in keys),
            "retrying": sum(key.run is not None and key.run.worker is None for key in keys), "dead": len(self.dead),
            "oldestDue": None if self.oldest is None else now - self.oldest,
            "paused": None if self.paused is None else now - self.paused, "pausedAt": self.paused, "pauseReason": self.reason,
            "limited": self.limited, "nextStart": self.next_start, "entries": 0, "oldestEntry": None, **self.counters, "today": self.today,
            "countedSince": self.counted_since}

    def detail(self, name, now):
        nearest = sorted(self.keys.items(), key=lambda item: (item[1].changes, item[0]))[:200]
        running = [key.run.worker for key in self.keys.values() if key.run]
        return {
            "namespace": name, "keys": [key.listing(name, now) for name, key in nearest],
            "workers": [{"worker": number, "host": host, "process": process, "running": running.count(number), "seen": 1.5}
                        for number, (host, process) in self.workers.items()],
            "dead": [run.listing(now) for run in sorted(self.dead, key=lambda run: -run.at)[:50]],
            "rates": [rate for rate in self.rates if rate["at"] > now - 900]}

    def end(self, name, how, submits, run=None, error=None, age=0.0):
        ended = self.ended.setdefault(name, [])
        first = ended[0]["generations"][1] + 1 if ended else 1
        ended.insert(0, {"end": how, "at": time.time() - age, "generations": [first, first + submits - 1], "run": run, "error": error})

    # MARK: - Selections

    def select_keys(self, query):
        names = [value for name, value in query if name == "key"]
        given = dict(query)
        if names:
            found = [name for name in names if name in self.keys]
        elif "prefix" in given:
            found = [name for name in self.keys if name.startswith(given["prefix"])]
        elif "all" in given:
            found = list(self.keys)
        else:
            raise LookupError("a selection is needed: key, prefix, older-than, error or all")
        return [name for name in found if not (self.keys[name].run and self.keys[name].run.worker is not None) or self.keys[name].pending]

    def select_dead(self, query, now):
        runs = [int(value) for name, value in query if name == "run"]
        given = dict(query)
        return [dead for dead in sorted(self.dead, key=lambda dead: dead.at)
                if (not runs or dead.number in runs)
                and dead.key.startswith(given.get("prefix", b""))
                and given.get("error", b"").decode() in (dead.error or "")
                and now - dead.at >= seconds(given.get("older-than", b"0s").decode())]


class Fake:
    """The server. A test changes what it has, and calls `changed`."""

    def __init__(self):
        self.lock = threading.RLock()
        self.condition = threading.Condition(self.lock)
        self.version = 0
        self.namespaces = {}
        self.me = {"name": None, "role": "act", "store": "sqlite:/var/lib/orders/orders.db", "version": "0.1.0"}
        self.health = []
        # A token and its name and role.
        self.tokens = {}
        self.away = None
        # A status and a sentence for each path that fails.
        self.failing = {}
        # The last instant at which nothing had changed; None for that of the event before.
        self.seen = None
        self.is_down = False
        # What was asked for: method, address, headers, body.
        self.requests = []
        self.done = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                fake.answer(self)

            def do_POST(self):
                fake.answer(self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.is_open = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.is_open = False
        self.changed()
        self.server.shutdown()
        self.server.server_close()

    def changed(self):
        with self.condition:
            self.version += 1
            self.condition.notify_all()

    # MARK: - Answers

    def answer(self, request):
        parts = urlsplit(request.path)
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.requests.append((request.command, request.path, dict(request.headers), body))
        if self.is_down:
            request.close_connection = True
            return
        if parts.path == "/" or parts.path.startswith("/page/"):
            self.page(request, parts.path.removeprefix("/").removeprefix("page/") or "index.html")
            return
        query = [(name, value.encode("latin-1")) for name, value in parse_qsl(parts.query, keep_blank_values=True, encoding="latin-1")]
        name = parts.path.removeprefix("/api/")
        me = self.who(request)
        if me is None:
            self.send(request, 401, {"error": "this server needs a token"})
        elif name in self.failing:
            self.send(request, self.failing[name][0], {"error": self.failing[name][1]})
        elif request.command == "POST" and me["role"] != "act":
            self.send(request, 403, {"error": "this page may only look"})
        elif request.command == "POST" and request.headers.get("Lull-Page") != "1":
            self.send(request, 403, {"error": "the request is not from the page"})
        elif name == "events":
            self.events(request, query)
        else:
            try:
                with self.lock:
                    answer = self.data(request.command, name, query, body, me)
            except LookupError as error:
                self.send(request, 404, {"error": str(error.args[0])})
                return
            self.send(request, 200, answer)

    def who(self, request):
        if not self.tokens:
            return self.me
        given = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        if given not in self.tokens:
            return None
        name, role = self.tokens[given]
        return {**self.me, "name": name, "role": role}

    @staticmethod
    def write(request, status, kind, data, fields=()):
        request.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(data))), *fields]:
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)

    def send(self, request, status, answer):
        if isinstance(answer, bytes):
            self.write(request, status, "application/octet-stream", answer)
        else:
            self.write(request, status, "application/json", json.dumps(answer).encode())

    def page(self, request, name):
        with open(next(path for path in (os.path.join(folder, name) for folder in PAGE) if os.path.exists(path)), "rb") as file:
            data = file.read()
        kind = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}[os.path.splitext(name)[1]]
        self.write(request, 200, f"{kind}; charset=utf-8", data,
                   [("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", POLICY)])

    @staticmethod
    def instants(look):
        """Returns a copy with instants instead of durations, as events have: before the look (-1), or after it (1)."""
        look = json.loads(json.dumps(look))

        def turn(ones, **names):
            for one in ones:
                for name, (new, sign) in names.items():
                    duration = one.pop(name)
                    one[new] = None if duration is None else look["at"] + sign * duration

        turn(look["namespaces"], oldestDue=("oldestDue", -1), paused=("paused", -1), oldestEntry=("oldestEntry", -1), nextStart=("nextStart", 1))
        detail = look["detail"] or {"keys": [], "workers": [], "dead": []}
        turn(detail["keys"], pendingFor=("first", -1), dueIn=("due", 1), readyFor=("readySince", -1))
        turn([one["run"] for one in detail["keys"] if one["run"]], runningFor=("since", -1), retryIn=("retry", 1), leaseFor=("lease", 1))
        turn(detail["workers"], seen=("seenAt", -1))
        turn(detail["dead"], age=("at", -1))
        return look

    def change(self, look, before):
        """Leaves out what a look has in common with the one before: elements are places of it, and equal lists are missing."""
        def lists(new, old):
            changed = {}
            for name, value in new.items():
                was = (old or {}).get(name)
                if not isinstance(value, list) or not isinstance(was, list):
                    changed[name] = value
                elif value != was:
                    changed[name] = [[was.index(one), 1] if one in was else one for one in value]
            return changed

        return {**lists(look, before), "since": self.seen or before["at"], "detail": look["detail"] and lists(look["detail"], before["detail"])}

    def look(self, wanted):
        now = time.time()
        names = sorted(self.namespaces)
        chosen = wanted if wanted in self.namespaces else names[0] if names else None
        return {
            "at": now, "away": self.away,
            "figures": [{"property": property, "name": name, "help": help, "unit": unit, "counter": property in COUNTERS}
                        for property, name, help, unit in FIGURES],
            "health": self.health,
            "namespaces": [self.namespaces[name].figures(name, now) for name in names],
            "detail": None if chosen is None else self.namespaces[chosen].detail(chosen, now)}

    def events(self, request, query):
        wanted = dict(query).get("namespace", b"").decode() or None
        if wanted is not None and wanted not in self.namespaces:
            self.send(request, 404, {"error": f"there is no namespace {wanted}"})
            return
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.send_header("Cache-Control", "no-store")
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        seen, before = -1, None
        try:
            while self.is_open and not self.is_down:
                with self.condition:
                    if self.version == seen:
                        self.condition.wait(15)
                    if self.version == seen:
                        text = ": still here\n\n"
                    else:
                        seen = self.version
                        look = self.instants(self.look(wanted))
                        # Each test sees both forms.
                        text = f"event: look\ndata: {json.dumps(self.change(look, before) if before else look)}\n\n"
                        before = look
                if self.is_down:
                    break
                request.wfile.write(text.encode())
                request.wfile.flush()
        except OSError:
            pass

    def data(self, method, name, query, body, me):
        now = time.time()
        given = dict(query)
        if name == "me":
            return me
        namespace = self.namespaces.get(given.get("namespace", b"").decode())
        if namespace is None:
            raise LookupError("there is no such namespace")
        if method == "POST":
            answer = self.act(namespace, name, query, body)
            self.done.append((name, [(name, value) for name, value in query if name != "namespace"], body))
            self.changed()
            return answer
        if name == "keys":
            limit = int(given.get("limit", b"200"))
            names = sorted(key for key in namespace.keys if key.startswith(given.get("prefix", b"")) and key >= given.get("from", b""))
            return {"keys": [namespace.keys[key].listing(key, now) for key in names[:limit]],
                    "next": shown(names[limit]) if len(names) > limit else None}
        if name == "key":
            key = namespace.keys.get(given["key"])
            ended = [{**{name: value for name, value in end.items() if name != "at"}, "age": now - end["at"]}
                     for end in namespace.ended.get(given["key"], [])[:100]]
            return {"listing": key and key.listing(given["key"], now), "ended": ended}
        if name == "dead":
            found = namespace.select_dead(query, now)
            return {"count": len(found), "dead": [run.listing(now) for run in found[:int(given.get("limit", b"100"))]]}
        if name == "value":
            run = next(run for run in namespace.dead if run.number == int(given["run"]))
            if "index" in given:
                return run.values[int(given["index"])]
            return {"values": [{"bytes": len(value), "value": shown(value[:65536]), "cut": len(value) > 65536} for value in run.values[:100]]}
        if name == "count":
            count, what = self.count(namespace, given["action"].decode(), query)
            return {"count": count, "what": what}
        raise LookupError(f"there is no {name}")

    @staticmethod
    def count(namespace, action, query):
        if action in ("retry", "discard"):
            count = len(namespace.select_dead(query, time.time()))
            return count, f"{count:,} dead run{'' if count == 1 else 's'}"
        count = len(namespace.select_keys(query))
        return count, f"{count:,} key{'' if count == 1 else 's'}"

    def act(self, namespace, action, query, body):
        given = dict(query)
        past = {"flush": "flushed", "cancel": "cancelled", "retry": "retried", "discard": "discarded"}
        notes = []
        if action in past:
            count, what = self.count(namespace, action, query)
            if action in ("retry", "discard"):
                runs = namespace.select_dead(query, time.time())
                namespace.dead = [run for run in namespace.dead if run not in runs]
                if action == "retry":
                    for run in runs:
                        namespace.keys.setdefault(run.key, Key()).ready += run.submits
            else:
                for name in namespace.select_keys(query):
                    key = namespace.keys[name]
                    if action == "flush":
                        key.ready, key.pending, key.due, key.ready_at = key.ready + key.pending, 0, None, time.time()
                    elif key.run and key.run.worker is not None:
                        key.pending, key.ready, key.due = 0, 0, None
                    else:
                        namespace.end(name, "cancelled", key.pending + key.ready)
                        del namespace.keys[name]
            if count == 3:
                notes.append("2 dead runs were not retried: their keys have newer values")
            return {"done": f"{past[action]} {what}", "notes": notes}
        if action == "touch":
            key = namespace.keys[given["key"]]
            key.due = time.time() + 60
            return {"done": "touched 1 key", "notes": []}
        if action == "submit":
            key = namespace.keys.setdefault(given["key"], Key())
            key.pending, key.due = key.pending + 1, time.time() + 60
            return {"done": "submitted 1 value", "notes": []}
        if action == "pause":
            namespace.paused, namespace.reason = time.time(), given.get("reason", b"").decode() or None
            return {"done": "paused", "notes": []}
        namespace.paused = namespace.reason = None
        return {"done": "resumed", "notes": []}
