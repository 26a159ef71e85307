"""The first picture of the README."""

import os
import unittest

from harness import ROOT, PageTest


class BurstTest(PageTest):
    def test_every_line_can_be_seen_in_light_and_in_dark(self):
        with open(os.path.join(ROOT, "docs/pictures/burst.svg"), encoding="utf-8") as file:
            picture = file.read()
        # GitHub's papers.
        for scheme, paper in (("light", "#ffffff"), ("dark", "#0d1117")):
            self.browser.emulate(prefers_color_scheme=scheme)
            faint = self.browser.run("""
                const [picture, paper] = arguments;
                const holder = document.createElement("div");
                // The styles of the picture are its own.
                holder.attachShadow({ mode: "open" }).innerHTML = picture;
                document.body.append(holder);
                const light = (colour) => {
                    const parts = colour.match(/\\d+/g).slice(0, 3).map((part) => part / 255)
                        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
                    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
                };
                holder.style.color = paper;
                const behind = light(getComputedStyle(holder).color);
                const contrast = (colour) => {
                    const [low, high] = [light(colour), behind].sort((one, other) => one - other);
                    return (high + 0.05) / (low + 0.05);
                };
                const drawn = [...holder.shadowRoot.querySelectorAll("path, circle, rect, text")].map((one) => {
                    const { fill, stroke } = getComputedStyle(one);
                    return [one.getAttribute("class"), contrast(stroke === "none" ? fill : stroke)];
                });
                holder.remove();
                return drawn.filter(([, contrast]) => contrast < 3);
            """, picture, paper)
            self.assertEqual(faint, [], scheme)


if __name__ == "__main__":
    unittest.main()
