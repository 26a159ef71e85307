"""Tries the examples that scripts/examples has built in the folder EXAMPLES."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

EXAMPLES = os.environ["EXAMPLES"]


def program(name):
    return os.path.join(EXAMPLES, name, "debug", name)


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError("it never came")
        time.sleep(0.05)
    return value


class ChatBotTest(unittest.TestCase):
    def test_answers_once_to_several_messages_of_each_person(self):
        with subprocess.Popen([program("ChatBot"), "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bot:
            for line in ["ada: hello", "ada: are you there?", "max: hi", "ada: I have a question"]:
                bot.stdin.write(line + "\n")
                bot.stdin.flush()
                time.sleep(0.05)
            time.sleep(2.5)
            bot.stdin.write("ada: bye\n")
            # Standard input ends while an answer is pending: it is given before the program ends.
            bot.stdin.close()
            answers = bot.stdout.read().splitlines()
            self.assertEqual(bot.wait(30), 0)
        self.assertEqual(sorted(answers[:2]), [
            'bot to ada: 3 messages, "hello are you there? I have a question"', 'bot to max: one message, "hi"'])
        self.assertEqual(answers[2:], ['bot to ada: one message, "bye"'])


class Database:
    """A PostgreSQL server of its own, which listens in a folder."""

    def __init__(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.programs = programs[-1] if programs else os.path.dirname(shutil.which("initdb"))
        self.folder = tempfile.mkdtemp(prefix="lull-example-", dir="/tmp")
        # It does not run as root.
        self.user = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = os.path.join(self.folder, "data")
        subprocess.run([f"{self.programs}/initdb", "-D", data, "-U", "lull", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/", **self.user)
        self.server = subprocess.Popen(
            [f"{self.programs}/postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **self.user)
        until(lambda: subprocess.run([f"{self.programs}/pg_isready", "-h", self.folder], check=False,
                                     stdout=subprocess.DEVNULL).returncode == 0)
        self.url = f"postgres://lull@/postgres?host={self.folder}"

    def close(self):
        self.server.terminate()
        self.server.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


class OrderServerTest(unittest.TestCase):
    def setUp(self):
        self.database = Database()
        self.addCleanup(self.database.close)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def start(self, wait):
        environment = {**os.environ, "DATABASE": self.database.url, "PORT": str(self.port), "WAIT": str(wait)}
        # Unbuffered output: lines of a process that is killed are not lost.
        server = subprocess.Popen(["stdbuf", "-oL", program("OrderServer")], env=environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.kill)
        until(self.answers)
        return server

    def answers(self):
        try:
            return self.send("GET", "/")
        except OSError:
            return None

    def send(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, data=body)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()

    def test_mails_once_about_an_order_that_has_come_to_rest(self):
        server = self.start(wait=1)
        for status in (b"packed", b"sent", b"delivered"):
            self.assertEqual(self.send("PUT", "/orders/17", status)[0], 202)
        self.assertEqual(self.send("GET", "/"), (200, "pending: 1"))
        self.assertRegex(server.stdout.readline(), r"^mail \d+: order 17 is delivered$")
        until(lambda: self.send("GET", "/") == (200, "pending: 0"))
        server.terminate()
        self.assertEqual(server.stdout.read(), "")
        self.assertEqual(server.wait(30), 0)

    def test_loses_nothing_when_it_is_killed(self):
        server = self.start(wait=2)
        self.assertEqual(self.send("PUT", "/orders/18", b"packed")[0], 202)
        server.kill()
        self.assertEqual(server.stdout.read(), "")
        again = self.start(wait=2)
        self.assertRegex(again.stdout.readline(), r"^mail \d+: order 18 is packed$")
        again.terminate()
        self.assertEqual(again.wait(30), 0)


if __name__ == "__main__":
    unittest.main()
