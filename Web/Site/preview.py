"""preview.py FILE: draws what other pages show beside a link to the site. PYTHONPATH must have Web/Shared."""

import os
import sys
import tempfile

from webdriver import Browser

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))

PAGE = """
<!doctype html>
<meta name="color-scheme" content="light">
<style>
    body { margin: 0; padding: 52px 64px; width: 1200px; height: 630px; box-sizing: border-box; background: #fff; color: #24292f;
        font: 34px/1.35 system-ui, "DejaVu Sans", sans-serif; }
    h1 { margin: 0; font-size: 84px; line-height: 1.1; } p { margin: 8px 0 20px; color: #57606a; } img { width: 1072px; display: block; }
</style>
<body data-ready="yes"><h1>Lull</h1><p>Many calls, one run: in the lull after a burst.</p><img src="file://%s">
"""

with Browser(1200, 630) as browser, tempfile.NamedTemporaryFile("w", suffix=".html") as page:
    page.write(PAGE % os.path.join(ROOT, "docs/pictures/burst.svg"))
    page.flush()
    browser.resize(1200, 630)
    browser.open(page.name)
    browser.wait("return document.images[0].complete")
    browser.screenshot(sys.argv[1])
