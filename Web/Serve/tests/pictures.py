"""Takes a picture of the page in each of its states.

pictures.py FOLDER [NAME…]: all, or those whose names begin like one of these.
"""

import os
import subprocess
import sys
import tempfile
import time

import scenes
from fake import ROOT, Fake
from program import Debouncer, FakeProgram, busy
from real import LULL
from webdriver import Browser

ESCAPE = "\ue00c"


def wait(seconds):
    return lambda browser, fake: time.sleep(seconds)


def open_key(browser, _):
    browser.run("document.querySelector('#lines button:not([hidden])').click()")
    time.sleep(1)


def open_dead(browser, _):
    browser.run("document.querySelector('#dead .toggle').click()")
    time.sleep(0.2)
    browser.run("[...document.querySelectorAll('#dead .whole button')].find((one) => one.textContent.startsWith('Show its')).click()")
    time.sleep(0.4)
    browser.run("document.getElementById('dead-title').scrollIntoView()")


def ask(button):
    def perform(browser, _):
        browser.run("document.getElementById(arguments[0]).click()", button)
        time.sleep(0.5)
    return perform


def done(browser, fake):
    ask("retry")(browser, fake)
    browser.run("document.getElementById('ask-yes').click()")
    time.sleep(0.6)
    browser.run("document.getElementById('dead-title').scrollIntoView()")


def go(place):
    return lambda browser, _: browser.run("document.getElementById(arguments[0]).scrollIntoView()", place)


def filtered(browser, _):
    browser.run("""
        document.getElementById("dead-error").value = "HTTP 503";
        document.getElementById("dead-form").dispatchEvent(new Event("input"));
        document.getElementById("dead-title").scrollIntoView();
    """)
    time.sleep(0.8)


def lost(browser, fake):
    fake.is_down = True
    fake.changed()
    browser.wait("return !document.getElementById('again').hidden")


def locked(fake):
    scenes.one(fake)
    fake.tokens = {"secret": ("ada", "look")}


def forbidden(fake):
    scenes.one(fake)
    fake.failing = {"me": (403, "this token may only submit"), "events": (403, "this token may only submit")}


def tenants(fake):
    scenes.everything(fake)
    fake.namespaces.update({f"tenant-{index:03}": scenes.Namespace() for index in range(60)})
    fake.changed()


def looking(fake):
    scenes.one(fake)
    fake.me["role"] = "look"


def full(browser, _):
    """The whole page, however long."""
    tall = browser.run("return document.documentElement.scrollHeight")
    browser.resize(browser.run("return innerWidth"), min(tall, 4000))
    time.sleep(0.3)


# A scene, what is done, and the widths.
STATES = {
    "everything": (scenes.everything, [full], (1280, 768, 390)),
    "top": (scenes.everything, [], (1280, 390)),
    "live": (scenes.live, [wait(14)], (1280, 390)),
    "key": (scenes.everything, [open_key], (1280, 768, 390)),
    "key-live": (scenes.live, [wait(10), open_key, wait(6)], (1280,)),
    "dead": (scenes.everything, [open_dead], (1280, 390)),
    "outage": (scenes.outage, [filtered], (1280, 390)),
    "keys": (scenes.many, [go("keys-title")], (1280, 390)),
    "many": (scenes.many, [], (1280,)),
    "ask-flush": (scenes.everything, [ask("flush")], (1280, 390)),
    "ask-discard": (scenes.everything, [ask("discard")], (1280,)),
    "ask-pause": (scenes.everything, [ask("pause")], (1280, 390)),
    "ask-submit": (scenes.everything, [ask("submit-value")], (1280, 390)),
    "done": (scenes.everything, [done], (1280, 390)),
    "empty": (scenes.empty, [], (1280, 390)),
    "none": (scenes.none, [], (1280, 390)),
    "paused": (scenes.paused, [], (1280, 390)),
    "limited": (scenes.limited, [], (1280,)),
    "away": (scenes.away, [], (1280, 390)),
    "lost": (scenes.everything, [lost], (1280, 390)),
    "token": (locked, [], (1280, 390)),
    "forbidden": (forbidden, [], (1280,)),
    "looking": (looking, [full], (1280,)),
    "tenants": (tenants, [], (1280, 390)),
    "strange": (scenes.strange, [full], (1280, 390)),
    "strange-dead": (scenes.strange, [open_dead], (1280, 390)),
}


def crowd():
    """Returns a debouncer of which many executions overlap."""
    made = Debouncer("App/Crowd.swift:7", "--wait 200ms", 0.2, "KeyedDebouncer", 10_000)
    made.rate, made.bursts, made.takes = 20, (0.3, 0.7), 4
    return made


def top_page(browser, folder):
    """The page of `lull top`; LULL is the path of the command."""
    with tempfile.TemporaryDirectory(prefix="lull-", dir="/tmp") as place:
        program = FakeProgram(f"{place}/app.sock", [*busy(), crowd()])
        with subprocess.Popen([LULL, "top", "--page", program.path], stderr=subprocess.PIPE, text=True) as top:
            address = top.stderr.readline().split(" at ")[1].strip()
            for width in (1280, 390):
                for scheme in ("light", "dark"):
                    browser.emulate(prefers_color_scheme=scheme)
                    browser.resize(width, 1400 if width == 390 else 1000)
                    browser.open(address)
                    time.sleep(12)
                    browser.screenshot(os.path.join(folder, f"program-{width}{'-dark' if scheme == 'dark' else ''}.png"))
            browser.leave()
            top.terminate()
        program.close()


def main(folder, wanted):
    os.makedirs(folder, exist_ok=True)
    with Browser() as browser:
        if LULL and (not wanted or "program" in wanted):
            top_page(browser, folder)
        for name, (scene, steps, widths) in STATES.items():
            if wanted and name not in wanted:
                continue
            for width in widths:
                for scheme in ("light", "dark") if width != 768 else ("light",):
                    fake = Fake()
                    try:
                        scene(fake)
                        browser.emulate(prefers_color_scheme=scheme)
                        browser.resize(width, 844 if width == 390 else 900)
                        browser.open(fake.address)
                        time.sleep(0.5)
                        for step in steps:
                            step(browser, fake)
                        time.sleep(0.3)
                        browser.screenshot(os.path.join(folder, f"{name}-{width}{'-dark' if scheme == 'dark' else ''}.png"))
                        for complaint in browser.complaints():
                            print(name, width, complaint)
                        browser.run("sessionStorage.clear()")
                    finally:
                        fake.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
