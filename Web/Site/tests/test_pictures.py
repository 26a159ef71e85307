"""Tests the pictures of the README and of the guides that scripts draw."""

import os
import re

from pagetest import ROOT, BrowserTest


# Puts a picture on a paper; the styles of the picture are its own.
HOLDER = """
    const [picture, paper] = arguments;
    document.body.replaceChildren(document.createElement("div"));
    const holder = document.body.firstChild;
    holder.attachShadow({ mode: "open" }).innerHTML = picture;
    holder.style.color = paper;
"""
FAINT = HOLDER + """
    const light = (colour) => {
        const parts = colour.match(/\\d+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const behind = light(getComputedStyle(holder).color);
    const contrast = (colour) => {
        const [low, high] = [light(colour), behind].sort((one, other) => one - other);
        return (high + 0.05) / (low + 0.05);
    };
    const drawn = [...holder.shadowRoot.querySelectorAll("path, circle, rect, text")].map((one) => {
        const { fill, stroke } = getComputedStyle(one);
        const colour = stroke === "none" ? fill : stroke;
        return [one.getAttribute("class"), colour === "none" ? 21 : contrast(colour)];
    });
    return drawn.filter(([, contrast]) => contrast < 3);
"""
MOVING = HOLDER + """
    return [...holder.shadowRoot.querySelectorAll("svg *")].filter((one) => one.getAnimations().length > 0).length;
"""


def picture(name):
    with open(os.path.join(ROOT, "docs/pictures", name), encoding="utf-8") as file:
        return file.read()


class PictureTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser.open("data:text/html,<body>", ready="true")

    def test_every_line_can_be_seen_in_light_and_in_dark(self):
        # GitHub's papers.
        for scheme, paper in (("light", "#ffffff"), ("dark", "#0d1117")):
            for name in ("burst.svg", "lanes.svg", "parts.svg", "store.svg"):
                self.browser.emulate(prefers_color_scheme=scheme)
                self.assertEqual(self.browser.run(FAINT, picture(name), paper), [], f"{name}, {scheme}")

    def test_they_move_unless_the_reader_wants_less_motion(self):
        for name in ("lanes.svg", "recording.svg"):
            for motion, moves in (("no-preference", True), ("reduce", False)):
                self.browser.emulate(prefers_reduced_motion=motion)
                self.assertEqual(self.browser.run(MOVING, picture(name), "#fff") > 0, moves, f"{name}, {motion}")

    def test_the_recording_shows_the_command_of_the_readme_and_forty_saves(self):
        shown = "".join(re.findall(r"<text class=\"t\d+[^>]*>([^<]*)</text>", picture("recording.svg")))
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            command = re.search(r"^inotifywait [^#\n]*", file.read(), re.M)[0].strip()
        self.assertIn(command, shown)
        self.assertEqual(shown.count("cc -o app src/app.c"), 1)
        self.assertEqual(len(re.findall(r"\.", shown.rsplit("done", 1)[1])), 40)
