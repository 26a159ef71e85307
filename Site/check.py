"""Checks every link within the site: that its page is there, and the section that it names.

check.py SITE BASE: BASE is the path under which the site will be, such as /lull/.
"""

import json
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and what links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


class Check:
    def __init__(self, site, base):
        self.site, self.base = site, base
        self.pages = {}
        self.count = 0
        self.wrong = []

    def page(self, path):
        if path not in self.pages:
            self.pages[path] = Page(path)
        return self.pages[path]

    def check(self, link, source):
        """Checks a link that a file contains; source is where that file is in the site."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return
        self.count += 1
        if parts.path.startswith("/"):
            if not (parts.path + "/").startswith(self.base):
                return self.wrong.append(f"{source}: {link} is outside {self.base}")
            path = os.path.join(self.site, unquote(parts.path[len(self.base):]))
        else:
            path = os.path.join(self.site, os.path.dirname(source), unquote(parts.path)) if parts.path else os.path.join(self.site, source)
        if os.path.isdir(path):
            path = os.path.join(path, "index.html")
        if not os.path.isfile(path):
            return self.wrong.append(f"{source}: {link} leads nowhere")
        if parts.fragment and not parts.fragment.startswith("!") and path.endswith(".html"):
            if not self.has_anchor(path, unquote(parts.fragment)):
                self.wrong.append(f"{source}: {link} names no section")

    def has_anchor(self, path, anchor):
        data = os.path.join(self.site, "data", os.path.relpath(os.path.dirname(path), self.site) + ".json")
        if os.path.isfile(data):
            with open(data, encoding="utf-8") as file:
                return f'"anchor":"{anchor}"' in file.read()
        return anchor in self.page(path).anchors

    def references(self, value, source):
        """Checks the links in the data of a page of the documentation."""
        if isinstance(value, dict):
            url = value.get("url")
            # docc names a module that is extended here in the path to its types, without a page of its own and as plain text.
            is_page = value.get("role") != "collection" or not str(url).endswith("/_concurrency")
            if isinstance(url, str) and url.startswith("/") and is_page:
                self.check(self.base.rstrip("/") + url, source)
            for one in value.values():
                self.references(one, source)
        elif isinstance(value, list):
            for one in value:
                self.references(one, source)

    def run(self):
        for folder, _, names in os.walk(self.site):
            for name in names:
                path = os.path.join(folder, name)
                source = os.path.relpath(path, self.site)
                if name.endswith(".html"):
                    for link in self.page(path).links:
                        self.check(link, source)
                elif source.startswith("data/") and name.endswith(".json"):
                    with open(path, encoding="utf-8") as file:
                        self.references(json.load(file), source)
        for line in sorted(set(self.wrong)):
            print(f"site: {line}", file=sys.stderr)
        if self.wrong or self.count < 500:
            raise SystemExit(f"site: {len(set(self.wrong))} wrong of {self.count} links")
        print(f"site: {self.count} links, all of them lead somewhere")


if __name__ == "__main__":
    Check(*sys.argv[1:3]).run()
