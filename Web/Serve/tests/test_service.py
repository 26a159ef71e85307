"""Tests of the services of systemd: what systemd says of them, and that their commands do what they say."""

import glob
import os
import re
import shlex
import shutil
import stat
import subprocess
import unittest

from pagetest import ROOT
from real import LULL, ServeTest, ask, path, until

UNITS = os.path.join(ROOT, "packaging/systemd")
TOKENS = "act act-0123456789abcdef ada\nlook look-0123456789abcdef\n"


def settings(unit):
    """Returns the values of each setting of a unit, in their order."""
    found = {}
    with open(os.path.join(UNITS, unit), encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"(\w+)=(.*)", line):
                found.setdefault(match[1], []).append(match[2])
    return found


def command(unit, changes, instance=""):
    """Returns the command of a unit as systemd would start it, with the values of some variables."""
    variables = dict(one.split("=", 1) for one in settings(unit)["Environment"])
    assert set(changes) <= {*variables, "CREDENTIALS_DIRECTORY"}, "the unit has no such variable"
    variables.update(changes)
    [text] = settings(unit)["ExecStart"]
    words = []
    for word in text.replace("%i", instance).split():
        # A variable without braces is split into words.
        if match := re.fullmatch(r"\$(\w+)", word):
            words += shlex.split(variables[match[1]])
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda one: variables[one[1]], word))
    assert words[0] == "/usr/local/bin/lull"
    return [LULL, *words[1:]]


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed: scripts/install-missing serve")
class UnitTest(ServeTest):
    def setUp(self):
        super().setUp()
        # A machine in a folder, with the units and what they start.
        self.root = os.path.join(self.folder, "root")
        for folder in ("etc/systemd/system", "usr/local/bin"):
            os.makedirs(os.path.join(self.root, folder))
        for unit in glob.glob(f"{UNITS}/*.service"):
            shutil.copy(unit, os.path.join(self.root, "etc/systemd/system"))
        program = os.path.join(self.root, "usr/local/bin/lull")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(program, 0o755)

    def analyze(self, *arguments):
        done = subprocess.run(
            ["systemd-analyze", "--no-pager", f"--root={self.root}", *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        return done.returncode, done.stdout + done.stderr

    def test_systemd_understands_all_of_it(self):
        for unit in ("lull-serve.service", "lull-work@hooks.service"):
            status, said = self.analyze("verify", "--man=no", unit)
            # Only the units of systemd itself are missing in the folder.
            said = [line for line in said.splitlines() if not re.search(r"Failed to (add dependency on|load) |not found", line)]
            self.assertEqual(said, [], unit)
            self.assertIn(status, (0, 1))

    def test_what_the_page_says_to_change_is_understood(self):
        with open(os.path.join(ROOT, "docs/serving.md"), encoding="utf-8") as file:
            [text] = re.findall(r"```ini\n(.*?)```", file.read(), re.S)
        folder = os.path.join(self.root, "etc/systemd/system/lull-serve.service.d")
        os.mkdir(folder)
        with open(os.path.join(folder, "override.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        _, said = self.analyze("verify", "--man=no", "lull-serve.service")
        self.assertNotIn("override.conf", said)
        # Variables and credentials are those that the unit has, and that the page names.
        names = {line.split("=")[1].strip('"') for line in text.splitlines() if line.startswith("Environment=")}
        self.assertEqual(names, {one.split("=")[0] for one in settings("lull-serve.service")["Environment"]})

    def test_a_mistake_would_be_found(self):
        name = os.path.join(self.root, "etc/systemd/system/lull-serve.service")
        with open(name, encoding="utf-8") as file:
            text = file.read()
        with open(name, "w", encoding="utf-8") as file:
            file.write(text.replace("ProtectSystem=", "ProtectSistem="))
        self.assertIn("ProtectSistem", self.analyze("verify", "--man=no", "lull-serve.service")[1])

    def test_the_services_stay_closed(self):
        """The greatest exposure is 10."""
        for unit, most in (("lull-serve.service", 13), ("lull-work@hooks.service", 18)):
            status, said = self.analyze("security", "--offline=yes", f"--threshold={most}", unit)
            self.assertIn("Overall exposure level", said)
            self.assertEqual(status, 0, said.splitlines()[-1])


class CommandTest(ServeTest):
    def test_the_server_runs_as_its_service_says(self):
        credentials = os.path.join(self.folder, "credentials")
        os.mkdir(credentials)
        # systemd makes credentials readable for the owner, or with a list of access rights, which shows as the group.
        for mode in (0o400, 0o440):
            tokens = os.path.join(credentials, "tokens")
            with open(tokens, "w", encoding="utf-8") as file:
                file.write(TOKENS)
            os.chmod(tokens, mode)
            self.run_lull("submit", "--wait", "1h", "k", "v")
            place = f"unix:{self.folder}/serve.sock"
            process = subprocess.Popen(
                command("lull-serve.service", {
                    "LULL_STORE": self.store, "LULL_LISTEN": place, "CREDENTIALS_DIRECTORY": credentials,
                    "LULL_SERVE": "--origin https://lull.example.org --allow-actions"}),
                stderr=subprocess.PIPE, text=True, umask=int(settings("lull-serve.service")["UMask"][0], 8))
            self.addCleanup(self.end, process)
            self.assertIn(" at unix:", process.stderr.readline())
            # The group may connect, and others may not.
            self.assertEqual(stat.S_IMODE(os.stat(place.removeprefix("unix:")).st_mode), 0o770)
            self.assertEqual(ask(place, "GET", "/metrics").status, 401)
            may = {"Authorization": "Bearer act-0123456789abcdef"}
            self.assertEqual(ask(place, "POST", path("default", "k"), "v", may).status, 202)
            self.assertEqual(ask(place, "POST", "/api/touch?namespace=default&key=k", "", {**may, "Lull-Page": "1"}).status, 200)
            self.assertEqual(self.end(process), -15)
            os.remove(tokens)

    def test_a_token_file_that_others_can_read_is_refused(self):
        tokens = os.path.join(self.folder, "tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write(TOKENS)
        os.chmod(tokens, 0o444)
        self.run_lull("submit", "--wait", "1h", "k", "v")
        done = subprocess.run(
            command("lull-serve.service", {
                "LULL_STORE": self.store, "LULL_LISTEN": f"unix:{self.folder}/serve.sock", "CREDENTIALS_DIRECTORY": self.folder}),
            capture_output=True, text=True, check=False, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("can be read or written by other users", done.stderr)

    def test_a_server_that_starts_before_its_store_is_started_again(self):
        tokens = os.path.join(self.folder, "tokens")
        with open(tokens, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(TOKENS)
        self.assertEqual(settings("lull-serve.service")["Restart"], ["always"])
        self.assertEqual(settings("lull-serve.service")["StartLimitIntervalSec"], ["0"])
        words = command("lull-serve.service", {
            "LULL_STORE": self.store, "LULL_LISTEN": f"unix:{self.folder}/serve.sock", "CREDENTIALS_DIRECTORY": self.folder,
            "LULL_SERVE": "--namespace hooks"})
        for reason in ("there is no file", "there is no namespace hooks"):
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(reason, done.stderr)
            self.run_lull("submit", "--wait", "1h", "k", "v")
        self.run_lull("submit", "--namespace", "hooks", "--wait", "1h", "k", "v")
        self.assertIn(" at unix:", self.start(*words).stderr.readline())

    def test_the_worker_creates_the_namespace_and_runs_the_command(self):
        # The unit names the command by the namespace.
        words = command("lull-work@.service", {"LULL_STORE": self.store, "LULL_WORK": "--wait 10ms --jobs 2"}, "hooks")
        self.assertEqual(words[-2:], ["/etc/lull/work/hooks", "{key}"])
        done = os.path.join(self.folder, "done")
        process = self.start(*words[:-2], "sh", "-c", 'cat >"$1.new" && echo " $0" >>"$1.new" && mv "$1.new" "$1"', "{key}", done)
        status = [LULL, "status", "--store", self.store]
        until(lambda: b"hooks" in subprocess.run(status, capture_output=True, check=False).stdout)
        self.run_lull("submit", "--namespace", "hooks", "k", "value")
        until(lambda: os.path.exists(done))
        with open(done, encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["value", "k"])
        self.end(process)
