"""Stores of the tests' own: a file, a PostgreSQL server and a Redis server, in a folder that the test removes."""

import glob
import os
import shutil
import signal
import socket
import subprocess

from real import LULL, free_port, until


def missing(kind):
    """Returns why there can be no store of a kind; None if there can."""
    if kind == "postgres" and not _postgres():
        return "PostgreSQL is not installed"
    if kind == "redis" and not shutil.which("redis-server"):
        return "Redis is not installed"
    return None


def _postgres():
    return sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]


class Store:
    """A store that goes away and comes back with what it had."""

    def __init__(self, test, url):
        (self.test, self.url, self.server) = (test, url, None)

    def run(self, command, **options):
        """Starts the server of the store, which ends with the test."""
        self.begin = lambda: subprocess.Popen(command, **options)
        self.server = self.begin()
        self.test.addCleanup(lambda: _end(self.server))

    def wait(self, *command):
        """Waits until a command on the store succeeds."""
        command = [LULL, command[0], "--store", self.url, *command[1:]]
        until(lambda: subprocess.run(command, capture_output=True, check=False).returncode == 0, 60)

    def leave(self):
        self.end_server()
        self.server.wait(20)

    def come_back(self):
        self.server = self.begin()
        self.wait("status")


class File(Store):
    def __init__(self, test):
        super().__init__(test, f"sqlite:{test.folder}/store.db")
        self.folder = test.folder

    def leave(self):
        os.makedirs(f"{self.folder}/elsewhere")
        self.move(self.folder, f"{self.folder}/elsewhere")

    def come_back(self):
        self.move(f"{self.folder}/elsewhere", self.folder)

    @staticmethod
    def move(here, there):
        for name in glob.glob(f"{here}/store.db*"):
            shutil.move(name, there)


class Postgres(Store):
    def __init__(self, test):
        folder, programs = f"{test.folder}/postgres", _postgres()[0]
        super().__init__(test, f"postgres://lull@localhost/postgres?host={folder}")
        os.makedirs(folder)
        # PostgreSQL refuses to run as root.
        user = []
        if os.geteuid() == 0:
            os.chmod(test.folder, 0o755)
            shutil.chown(folder, "nobody", "nogroup")
            user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run(
            [*user, f"{programs}/initdb", "-D", f"{folder}/data", "-U", "lull", "--auth=trust", "--no-sync", "--encoding=UTF8",
             "--locale=C"], check=True, **quiet)
        self.run(
            [*user, f"{programs}/postgres", "-D", f"{folder}/data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}",
             "-c", "fsync=off"], **quiet)
        self.wait("schema", "--apply")

    def end_server(self):
        # At once, and not when the last client has left.
        self.server.send_signal(signal.SIGINT)


class Redis(Store):
    def __init__(self, test):
        self.port = free_port()
        super().__init__(test, f"redis://127.0.0.1:{self.port}/0?durability=memory")
        self.run(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", test.folder, "--maxmemory-policy",
             "noeviction"], stdout=subprocess.DEVNULL)
        self.wait("status")

    def end_server(self):
        with socket.create_connection(("127.0.0.1", self.port), 20) as connection:
            connection.sendall(b"SHUTDOWN SAVE\r\n")
            # It says nothing, and is gone when the file is written.
            connection.recv(100)


def start(test, kind):
    """Starts a store with what it needs, which ends with the test."""
    return {"file": File, "postgres": Postgres, "redis": Redis}[kind](test)


def _end(server):
    # Of PostgreSQL, the fast way.
    server.send_signal(signal.SIGINT)
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
