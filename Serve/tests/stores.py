"""Stores of the tests' own: a file, a PostgreSQL server and a Redis server, in a folder that the test removes."""

import glob
import os
import shutil
import subprocess
import time

from real import LULL, free_port, until

KINDS = ("file", "postgres", "redis")


def missing(kind):
    """Returns why there can be no store of a kind; None if there can."""
    if kind == "postgres" and not _postgres():
        return "PostgreSQL is not installed"
    if kind == "redis" and not shutil.which("redis-server"):
        return "Redis is not installed"
    return None


def _postgres():
    return sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]


def start(test, kind):
    """Starts what a store needs, which ends with the test, and returns its URL."""
    if kind == "file":
        return f"sqlite:{test.folder}/store.db"
    return _start_postgres(test) if kind == "postgres" else _start_redis(test)


def _start_postgres(test):
    folder, programs = f"{test.folder}/postgres", _postgres()[0]
    os.makedirs(folder)
    # PostgreSQL refuses to run as root.
    user = []
    if os.geteuid() == 0:
        os.chmod(test.folder, 0o755)
        shutil.chown(folder, "nobody", "nogroup")
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run(
        [*user, f"{programs}/initdb", "-D", f"{folder}/data", "-U", "lull", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
        check=True, **quiet)
    server = subprocess.Popen(
        [*user, f"{programs}/postgres", "-D", f"{folder}/data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}",
         "-c", "fsync=off"], **quiet)
    test.addCleanup(_end, server)
    url = f"postgres://lull@localhost/postgres?host={folder}"
    until(lambda: subprocess.run([LULL, "schema", "--store", url, "--apply"], capture_output=True, check=False).returncode == 0, 60)
    return url


def _start_redis(test):
    port = free_port()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", test.folder, "--maxmemory-policy", "noeviction"],
        stdout=subprocess.DEVNULL)
    test.addCleanup(_end, server)
    url = f"redis://127.0.0.1:{port}/0?durability=memory"
    until(lambda: subprocess.run([LULL, "status", "--store", url], capture_output=True, check=False).returncode == 0, 60)
    return url


def _end(server):
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    time.sleep(0.05)
