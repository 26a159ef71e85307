"""The real `lull serve`, for tests of what is around it. LULL is the path of the command."""

import http.client
import os
import socket
import subprocess
import tempfile
import time
import unittest
from urllib.parse import quote

LULL = os.environ.get("LULL", "")


def until(condition, seconds=60):
    """Waits until something holds, and returns it."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError("it did not come true in time")
        time.sleep(0.02)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Connection(http.client.HTTPConnection):
    """A connection to an address `HOST:PORT` or `unix:PATH`, with TLS if there is a context."""

    def __init__(self, place, timeout=20, tls=None, host="localhost"):
        super().__init__(host, timeout=timeout)
        (self.place, self.tls) = (place, tls)

    def connect(self):
        if self.place.startswith("unix:"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(self.place[len("unix:"):])
        else:
            name, port = self.place.rsplit(":", 1)
            self.sock = socket.create_connection((name, int(port)), self.timeout)
        if self.tls:
            self.sock = self.tls.wrap_socket(self.sock, server_hostname=self.host)


class Answer:
    def __init__(self, response):
        (self.status, self.fields, self.body) = (response.status, response.headers, response.read())

    @property
    def text(self):
        return self.body.decode()


def ask(place, method, path, body=None, fields=None, tls=None, host="localhost"):
    """Makes a request, and returns its answer."""
    connection = Connection(place, tls=tls, host=host)
    try:
        connection.request(method, path, body, fields or {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Events:
    """A stream of events that is read while it comes."""

    def __init__(self, place, path="/api/events", fields=None, tls=None, host="localhost"):
        self.connection = Connection(place, tls=tls, host=host)
        self.connection.request("GET", path, headers=fields or {})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def next(self):
        """Returns the lines of the next event."""
        lines = []
        while True:
            line = self.response.readline().decode()
            if not line:
                raise AssertionError("the stream has ended")
            line = line.rstrip("\n")
            if line and not line.startswith(":"):
                lines.append(line)
            elif lines:
                return lines

    def close(self):
        self.connection.close()


@unittest.skipUnless(LULL, "LULL does not name the command")
class ServeTest(unittest.TestCase):
    """Gives each test a folder, a store in it, and servers that end with the test."""

    def setUp(self):
        # Short, since a socket's path may have about 100 bytes only.
        folder = tempfile.TemporaryDirectory(prefix="lull-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = f"sqlite:{self.folder}/store.db"

    def run_lull(self, *arguments, status=0):
        """Runs a command on the store, and returns what it prints."""
        done = subprocess.run([LULL, arguments[0], "--store", self.store, *arguments[1:]], capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout.decode()

    def start(self, *arguments):
        """Starts a process that ends with the test."""
        process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Ends a process if it still runs, and returns its status."""
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return process.returncode

    def serve(self, *arguments, listen="127.0.0.1:0"):
        """Starts a server, waits until it answers, and returns its process and its place."""
        process = self.start(LULL, "serve", "--store", self.store, "--listen", listen, *arguments)
        line = process.stderr.readline()
        self.assertIn(" at ", line)
        place = line.strip().rsplit(" at ", 1)[1].removeprefix("http://").rstrip("/")
        return process, place


def path(namespace, key):
    """Returns the path of a submit."""
    return f"/v1/{quote(namespace, safe='')}/{quote(key, safe='')}"
