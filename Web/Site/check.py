"""Checks the site as it would be served: that every link within it leads to a page, and to the section that it names; that every page
says what it is; and that every module can be reached, and every page found, from each of them.

check.py SITE BASE: BASE is the path under which the site will be, such as /lull/.
"""

import json
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, what links can lead to, and what it says of itself."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.title, self.description, self.level_one = "", "", 0
        self.is_title = False
        # What readers of the screen trip over.
        self.faults, self.level, self.lists = [], 0, []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.is_title = tag == "title"
        self.level_one += tag == "h1"
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            if int(tag[1]) > self.level + 1:
                self.faults.append(f"{self.get_starttag_text()} comes after a heading of level {self.level}")
            self.level = int(tag[1])
        if tag == "dl":
            self.lists.append("")
        if tag in ("dt", "dd"):
            if not self.lists or tag == "dd" and not self.lists[-1]:
                self.faults.append(f"{tag} where none can be")
            self.lists[-1:] = [tag]
        if named.get("role") == "region" and "aria-label" in named:
            name = "region " + named["aria-label"]
            if name in self.anchors:
                self.faults.append(f"two regions are called {named['aria-label']}")
            self.anchors.add(name)
        if tag == "meta" and named.get("name") == "description":
            self.description = named.get("content") or ""
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)

    def handle_endtag(self, tag):
        if tag == "dl" and self.lists.pop() != "dd":
            self.faults.append("a list ends without a description")

    def handle_data(self, data):
        if self.is_title:
            self.title += data
            self.is_title = False


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

    def target(self, link, source):
        """Returns the file to which a link of a page leads; None if it leads elsewhere, or nowhere, which is noted."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        self.count += 1
        if parts.path.startswith("/"):
            if not (parts.path + "/").startswith(self.base):
                return self.wrong.append(f"{source}: {link} is outside {self.base}")
            path = os.path.join(self.site, unquote(parts.path[len(self.base):]))
        else:
            path = os.path.join(self.site, os.path.dirname(source), unquote(parts.path)) if parts.path else os.path.join(self.site, source)
        path = os.path.normpath(os.path.join(path, "index.html") if os.path.isdir(path) else path)
        if not os.path.isfile(path):
            return self.wrong.append(f"{source}: {link} leads nowhere")
        fragment = unquote(parts.fragment)
        # The playground keeps its state behind `#!`.
        if fragment and not fragment.startswith("!") and path.endswith(".html") and fragment not in self.page(path).anchors:
            self.wrong.append(f"{source}: {link} names no section")
        return path

    def run(self):
        sources = [os.path.relpath(os.path.join(folder, name), self.site)
                   for folder, _, names in os.walk(self.site) for name in names if name.endswith(".html")]
        modules = [os.path.join(self.site, "documentation", name, "index.html")
                   for name in os.listdir(os.path.join(self.site, "documentation")) if name.startswith("lull")]
        titles, reached = {}, set()
        for source in sources:
            page = self.page(os.path.join(self.site, source))
            targets = {self.target(link, source) for link in page.links}
            reached |= targets
            self.wrong += [f"{source} does not link to {os.path.relpath(module, self.site)}" for module in modules if module not in targets]
            if not page.title.strip() or not page.description.strip():
                self.wrong.append(f"{source} has no title, or no description")
            self.wrong += [f"{source}: {fault}" for fault in page.faults]
            if page.level_one != 1:
                self.wrong.append(f"{source} has {page.level_one} headings of level one")
            if source.startswith("docs/"):
                if page.title in titles:
                    self.wrong.append(f"{source} has the title of {titles[page.title]}: {page.title}")
                titles[page.title] = source
        self.wrong += [f"{source} cannot be reached" for source in sources
                       if source != "404.html" and os.path.join(self.site, source) not in reached]
        self.check_missing()
        self.check_index(sources)
        for line in sorted(set(self.wrong)):
            print(f"site: {line}", file=sys.stderr)
        if self.wrong or self.count < 500 or len(modules) < 9:
            raise SystemExit(f"site: {len(set(self.wrong))} faults in {len(sources)} pages, {self.count} links, {len(modules)} modules")
        print(f"site: {len(sources)} pages with {self.count} links, all of which lead somewhere; {len(modules)} modules linked from each")

    def check_missing(self):
        """The page for what is not there is shown at any path: its links must not depend on it."""
        if "404.html" not in os.listdir(self.site):
            return self.wrong.append("404.html is not there")
        for link in self.page(os.path.join(self.site, "404.html")).links:
            if not urlsplit(link).netloc and not link.startswith((self.base, "#")):
                self.wrong.append(f"404.html: {link} depends on where the page is shown")
        return None

    def check_index(self, sources):
        """Every page of the documentation and every guide can be found, and what is found is there."""
        with open(os.path.join(self.site, "index.js"), encoding="utf-8") as file:
            entries = json.loads(file.read().strip()[len("lullIndex("):-1])
        places = {self.target(("./" if place else ".") + quoted(place), "index.html") for _, _, place, _, _ in entries}
        for source in sources:
            if source.startswith(("documentation/lull", "docs/")) and os.path.join(self.site, source) not in places:
                if source.endswith("index.html") and not source.startswith("documentation/"):
                    continue
                self.wrong.append(f"{source} cannot be found by the search")
        self.wrong += [f"the search has nothing to say about {place}" for title, _, place, about, _ in entries if not title or not about]
        hidden = [source for source in sources if source.startswith(("docs/decisions", "docs/architecture", "docs/releasing"))]
        self.wrong += [f"{source} is for those who change Lull, and not for this site" for source in hidden]


def quoted(place):
    return place.replace("%", "%25").replace("?", "%3F")


if __name__ == "__main__":
    Check(*sys.argv[1:3]).run()
