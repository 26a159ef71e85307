"""Drives a headless Chromium over HTTP with the WebDriver protocol, without a library."""

import atexit
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window of a separate browser."""

    common = None

    def __init__(self, width=1280, height=1000):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.profile = tempfile.mkdtemp(prefix="playground-")
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        try:
            self._wait_for_driver()
            arguments = [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "--force-device-scale-factor=1",
            ]
            answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": arguments},
            }}})
            self.session = "/session/" + answer["sessionId"]
            self._post("/timeouts", {"script": 120000, "pageLoad": 60000})
        except BaseException:
            self.close()
            raise

    def _wait_for_driver(self):
        end = time.monotonic() + 30
        while True:
            try:
                if self._send("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            if self.driver.poll() is not None or time.monotonic() > end:
                raise RuntimeError("chromedriver does not answer")
            time.sleep(0.05)

    def close(self):
        try:
            if self.session:
                self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    @classmethod
    def shared(cls):
        """Returns the browser of all tests of this process: it ends with the process."""
        if cls.common is None:
            cls.common = cls()
            atexit.register(cls.common.close)
        return cls.common

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, method, path, body=None):
        request = urllib.request.Request(
            self.address + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=180) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _post(self, path, body):
        return self._send("POST", self.session + path, body)

    # MARK: - Actions of a test

    def open(self, path, fragment="", ready="document.body.dataset.ready === 'yes'"):
        """Opens a page from disk, or of a server, and waits until it is ready."""
        self.leave()
        address = path if "://" in path else "file://" + urllib.request.pathname2url(os.path.abspath(path))
        self._post("/url", {"url": address + fragment})
        self.wait("return " + ready)

    def leave(self):
        """Leaves the page."""
        self._post("/url", {"url": "about:blank"})

    def run(self, script, *arguments):
        """Returns the value of a JavaScript function body; awaits a promise."""
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=30):
        """Waits until a script returns something true."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script}")
            time.sleep(0.02)

    def find(self, selector):
        return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._post(f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self._post(f"/element/{self.find(selector)}/value", {"text": text})

    def keys(self, *keys):
        """Presses keys on the focused element."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, origin, *points, kind="mouse"):
        """Presses at one point, moves to others, and lets go."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 60 * index} for index, (x, y) in enumerate([origin, *points])]
        self._post("/actions", {"actions": [{"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": [
            moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]}]})

    def hold_key(self, held, *keys):
        """Presses keys while another one is held."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        actions = [{"type": "keyDown", "value": held}, *actions, {"type": "keyUp", "value": held}]
        self._post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def text(self, selector):
        return self._send("GET", f"{self.session}/element/{self.find(selector)}/text")

    def resize(self, width, height):
        """Sets the size of the page; a narrow one is like that of a phone."""
        self._send("POST", self.session + "/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}})

    def screenshot(self, path):
        picture = self._send("GET", self.session + "/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def emulate(self, **features):
        """Emulates settings of the reader, such as prefers_color_scheme="dark"."""
        self._send("POST", self.session + "/goog/cdp/execute", {
            "cmd": "Emulation.setEmulatedMedia",
            "params": {"features": [
                {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]}})

    def complaints(self):
        """Returns the warnings and errors that the console has shown since the last call."""
        entries = self._post("/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
