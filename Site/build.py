"""Builds the site around the archive of the documentation: the start page, which is the README, the pages of docs/, and the playground.

build.py ARCHIVE OUT: ARCHIVE is what `docc convert` has made for the same base path. ADDRESS is where the site will be, REPOSITORY
where its sources are; without them, the pages name neither.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
ADDRESS = os.environ.get("ADDRESS", "").rstrip("/")
REPOSITORY = os.environ.get("REPOSITORY", "").rstrip("/")

# The pages of docs/ in the order of the footer, and what they are called there.
PAGES = {
    "docs/semantics.md": "Semantics", "docs/command.md": "The command", "docs/choosing-a-wait.md": "Choosing a wait",
    "docs/stores.md": "Stores", "docs/operating.md": "Operating", "docs/firmware.md": "Firmware", "docs/guarantees.md": "Guarantees",
    "docs/faults.md": "Faults", "docs/architecture.md": "Architecture", "docs/decisions.md": "Decisions", "CHANGELOG.md": "Changes",
}

# What folders are called that pages link to.
TITLES = {"docs/api": "The public declarations of each module"}


class Site:
    def __init__(self, archive, out):
        self.out = out
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(archive, out)
        with open(os.path.join(ROOT, "Site/page.html"), encoding="utf-8") as file:
            self.template = file.read()
        self.pages = {page: name for page, name in PAGES.items() if os.path.exists(os.path.join(ROOT, page))}
        # What links have led to, and must be there too: sources and folders.
        self.todo = []
        self.done = set()

    # MARK: - Addresses

    def place(self, path):
        """Returns where the site has a file or folder of the repository."""
        article = re.fullmatch(r"Sources/(\w+)/\w+\.docc/(?:.*/)?(\w+)\.md", path)
        if article:
            module, name = (part.lower() for part in article.groups())
            for place in (f"documentation/lull/{name}", f"documentation/{module}/{name}", f"documentation/{name}"):
                if os.path.exists(os.path.join(self.out, place, "index.html")):
                    return place + "/"
            raise SystemExit(f"site: the documentation has no page for {path}")
        if path == "README.md":
            return ""
        if path == "docs/playground/index.html":
            return "playground/"
        if path.endswith(".md"):
            return path[:-3] + ".html"
        if re.search(r"\.(svg|png|txt)$", path):
            return path
        return path.rstrip("/") + "/" if os.path.isdir(os.path.join(ROOT, path)) else path + ".html"

    def link(self, target, page):
        """Returns a link of a Markdown page as a link of the site."""
        if re.match(r"\w+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if not os.path.exists(os.path.join(ROOT, path)):
            raise SystemExit(f"site: {page} links to {path}, which is not there")
        place = self.place(path)
        if place.startswith("documentation/") and anchor:
            anchor = self.anchor(place, anchor)
        self.todo.append(path)
        relative = os.path.relpath(place or ".", os.path.dirname(self.place(page)) or ".")
        if place == "" or place.endswith("/"):
            relative += "/"
        return relative + ("#" + anchor if anchor else "")

    def anchor(self, place, anchor):
        """Returns an anchor as the documentation spells it."""
        with open(os.path.join(self.out, "data", place.rstrip("/") + ".json"), encoding="utf-8") as file:
            for found in re.findall(r'"anchor":"([^"]*)"', file.read()):
                if found.lower() == anchor.lower():
                    return found
        raise SystemExit(f"site: {place} has no section {anchor}")

    # MARK: - Pages

    def write(self, place, content):
        path = os.path.join(self.out, place, "index.html" if place == "" or place.endswith("/") else "")
        path = path.rstrip("/")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def page(self, place, title, content, description=""):
        root = "../" * place.count("/") or "./"
        pages = "\n        ".join(f'<a href="{root}{self.place(page)}">{name}</a>' for page, name in self.pages.items())
        repository = f'<a href="{html.escape(REPOSITORY)}">Repository</a>' if REPOSITORY else ""
        self.write(place, self.template.format(
            title=html.escape(title), description=html.escape(description or title), root=root, content=content, pages=pages,
            repository=repository, address=self.address(place, title, description)))

    def address(self, place, title, description):
        """Returns what only a page with an address can say of itself."""
        if not ADDRESS:
            return ""
        there = html.escape(f"{ADDRESS}/{place}")
        tags = {"og:url": there, "og:title": html.escape(title), "og:description": html.escape(description or title),
                "og:image": html.escape(f"{ADDRESS}/docs/pictures/preview.png")}
        return "\n".join([f'<link rel="canonical" href="{there}">', '<meta name="twitter:card" content="summary_large_image">',
                          *(f'<meta property="{name}" content="{value}">' for name, value in tags.items())])

    def markdown(self, page):
        """Makes a page of a Markdown file."""
        body = subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", os.path.join(ROOT, page)],
            check=True, capture_output=True, text=True).stdout
        body = re.sub(r'(href|src)="([^"]*)"', lambda match: f'{match[1]}="{self.link(html.unescape(match[2]), page)}"', body)
        body = body.replace("<table>", '<div class="table" tabindex="0" role="region" aria-label="Table"><table>').replace(
            "</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
        seen = {}

        def heading(match):
            words = html.unescape(re.sub(r"<[^>]*>", "", match[2])).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            seen[name] = seen.get(name, -1) + 1
            name += f"-{seen[name]}" if seen[name] else ""
            return f'<h{match[1]} id="{name}">{match[2]}</h{match[1]}>'

        body = re.sub(r"<h(\d)>(.*?)</h\d>", heading, body, flags=re.DOTALL)
        text = re.search(r"<p>(.*?)</p>", body, flags=re.DOTALL)
        description = html.unescape(re.sub(r"<[^>]*>|\n", " ", text[1])).strip() if text else ""
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        title = html.unescape(re.sub(r"<[^>]*>", "", title[1])) if title else page
        self.page(self.place(page), title if title == "Lull" else f"{title} · Lull", body, " ".join(description.split())[:200])

    def source(self, path):
        """Makes a page of a source file."""
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = html.escape(file.read())
        self.page(self.place(path), f"{path} · Lull", f'<h1>{html.escape(path)}</h1>\n<pre tabindex="0"><code>{text}</code></pre>')

    def folder(self, path):
        """Makes a page of what a folder has."""
        names = sorted(os.listdir(os.path.join(ROOT, path)))
        paths = [os.path.join(path, name) for name in names if not name.startswith((".", "__"))]
        items = "".join(f'<li><a href="{html.escape(self.link("/".join(["."] * 1 + [os.path.basename(one)]), path + "/x"))}">'
                        f"{html.escape(os.path.basename(one))}</a></li>\n" for one in paths if not one.endswith(".docc"))
        title = TITLES.get(path, path)
        self.page(self.place(path), f"{title} · Lull", f"<h1>{html.escape(title)}</h1>\n<ul>\n{items}</ul>")

    def follow(self):
        """Makes what the pages link to, and what that links to."""
        while self.todo:
            path = self.todo.pop()
            place = self.place(path)
            if path in self.done or place.startswith(("documentation/", "playground/")):
                continue
            self.done.add(path)
            if path.endswith(".md"):
                self.markdown(path)
            elif os.path.isdir(os.path.join(ROOT, path)):
                self.folder(path)
            elif re.search(r"\.(svg|png|txt)$", path):
                os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
                shutil.copy(os.path.join(ROOT, path), os.path.join(self.out, path))
            else:
                self.source(path)

    def playground(self):
        with open(os.path.join(ROOT, "docs/playground/index.html"), encoding="utf-8") as file:
            page = file.read()
        page = page.replace("<!-- address -->", self.address(
            "playground/", "Lull: work in the lull after a burst", "Try debouncing and throttling in the browser."))
        page = page.replace("<!-- repository -->", f'<a href="{html.escape(REPOSITORY)}">Repository</a>' if REPOSITORY else "")
        self.write("playground/", page)

    def build(self):
        self.todo = ["README.md", "docs/pictures/preview.png", *self.pages]
        self.follow()
        self.playground()
        items = "".join(f'<li><a href="../{self.place(page)}">{name}</a></li>\n' for page, name in self.pages.items())
        self.page("docs/", "Guides · Lull", f"<h1>Guides</h1>\n<ul>\n{items}</ul>")
        # The documentation's pages ask for it.
        self.write("theme-settings.json", "{}\n")
        for name in ("site.css", "icon.svg"):
            shutil.copy(os.path.join(ROOT, "Site", name), self.out)


if __name__ == "__main__":
    Site(*sys.argv[1:3]).build()
