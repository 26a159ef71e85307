"""A program that `lull top` can look into, whose states a test makes: the socket of LullInspection, with what a test says of it."""

import json
import os
import random
import socket
import threading
import time

COUNTS = ("submitted", "executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "restarted", "overdue")


class Debouncer:
    """A debouncer that is submitted to as a test likes. `step` moves its time on."""

    numbers = iter(range(1, 1 << 40))

    def __init__(self, place, policy="--wait 2s", wait=2.0, kind="Debouncer", keys=1):
        self.number, self.place, self.policy, self.wait, self.kind, self.keys = next(self.numbers), place, policy, wait, kind, keys
        self.pending = self.waiting = self.running = self.started = 0
        self.due = None
        self.counts = dict.fromkeys(COUNTS, 0)
        # When each execution ends, and whether it fails.
        self.ends = []
        self.takes = 0.0
        self.rate = 0.0
        self.fails = 0.0
        # For how long it is submitted to, and rests.
        self.bursts = None

    def submit(self, count=1, wait=None):
        """Submits values: a newer one takes the place of an older one."""
        self.counts["submitted"] += count
        self.counts["superseded"] += count - 1 + self.pending
        self.pending = 1
        self.due = time.monotonic() + (self.wait if wait is None else wait)

    def start(self):
        """Executes what is pending."""
        self.pending, self.due = 0, None
        self.started += 1
        self.running += 1
        self.ends.append((time.monotonic() + self.takes, random.random() < self.fails))
        self.finish()

    def finish(self):
        now = time.monotonic()
        for end in [end for end in self.ends if end[0] <= now]:
            self.ends.remove(end)
            self.running -= 1
            self.counts["failed" if end[1] else "executed"] += 1

    def cancel(self):
        self.counts["cancelled"] += self.pending
        self.pending, self.due = 0, None

    def step(self, seconds):
        now = time.monotonic()
        is_on = self.bursts is None or now % sum(self.bursts) < self.bursts[0]
        count = int(self.rate * seconds + random.random()) if is_on else 0
        if count > 0 and (self.pending == 0 or "throttle" not in self.policy):
            self.submit(count)
        elif count > 0:
            self.submit(count, self.due - now)
        if self.due is not None and self.due <= now:
            self.start()
        self.finish()

    @property
    def row(self):
        due = None if self.due is None else max(0, self.due - time.monotonic())
        return {"id": self.number, "where": self.place, "kind": self.kind, "policy": self.policy, "keys": self.keys,
                "pending": self.pending, "waiting": self.waiting, "dueIn": due, "running": self.running, "started": self.started,
                **self.counts}


class FakeProgram:
    """The program. It sends a snapshot four times a second, and at once to whoever connects."""

    def __init__(self, path, debouncers=(), name="Editor", process=4099):
        self.path, self.debouncers, self.name, self.process, self.left = path, list(debouncers), name, process, 0
        self.is_open = True
        self.connections = 0
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.live, daemon=True).start()

    def live(self):
        while self.is_open:
            time.sleep(0.05)
            for debouncer in self.debouncers:
                debouncer.step(0.05)

    def accept(self):
        while self.is_open:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.send, args=(connection,), daemon=True).start()

    def send(self, connection):
        self.connections += 1
        try:
            with connection:
                while self.is_open:
                    connection.sendall(json.dumps(self.snapshot).encode() + b"\n")
                    time.sleep(0.25)
                # What comes after the end would be another program's.
                connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        finally:
            self.connections -= 1

    @property
    def snapshot(self):
        return {"lull": 1, "process": self.process, "name": self.name, "time": time.monotonic(), "left": self.left,
                "debouncers": [debouncer.row for debouncer in self.debouncers]}

    def close(self):
        """Ends the program: its connections are closed, and nobody listens."""
        self.is_open = False
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        end = time.monotonic() + 5
        while self.connections and time.monotonic() < end:
            time.sleep(0.02)


def busy():
    """Returns debouncers in which everything occurs."""
    save = Debouncer("App/Editor.swift:21", "--wait 1s --max-wait 10s", 1.0)
    save.rate, save.bursts, save.takes = 6, (2.5, 3), 0.4
    search = Debouncer("App/Search.swift:58", "--wait 300ms --while-running cancel", 0.3)
    search.rate, search.bursts = 9, (1.2, 2)
    hub = Debouncer("Devices/Hub.swift:40", "--throttle 1s", 0.25, "KeyedThrottler", 5)
    hub.rate, hub.takes = 22, 0.05
    upload = Debouncer("Sync/Upload.swift:112", "--wait 2s --combine collect --while-running restart", 2.0)
    upload.rate, upload.bursts, upload.takes, upload.fails = 3, (3, 5), 2.0, 0.5
    report = Debouncer("Sync/Report.swift:9", "--wait 1h", 3600)
    report.submit()
    telemetry = Debouncer("Telemetry/Batch.swift:77", "--wait 5s --max-count 100 --combine collect", 5.0, "KeyedDebouncer", 1204)
    telemetry.rate, telemetry.bursts = 40, (4, 6)
    idle = Debouncer("App/Window.swift:303", "--throttle 16ms", 0.016, "Throttler")
    return [save, search, hub, upload, report, telemetry, idle]
