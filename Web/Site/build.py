"""Builds the site: the start page, which is the README, the pages of docs/, those of the documentation, and the playground.

build.py ARCHIVE PLAYGROUND OUT: ARCHIVE is what `docc convert` has made, PLAYGROUND the page of `make playground`. ADDRESS is where the site will be, REPOSITORY where its sources are;
without them, the pages name neither.
"""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import quote, urlsplit

from documentation import Documentation, table
from highlight import colour

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
ADDRESS = os.environ.get("ADDRESS", "").rstrip("/")
REPOSITORY = os.environ.get("REPOSITORY", "").rstrip("/")

# Pages of docs/ with which to begin; any others follow in the order of their titles.
FIRST = ["how-it-works", "choosing-a-wait", "command", "stores", "operating", "serving", "job-queues", "troubleshooting"]
# For those who change Lull, and not on this site. A link to them becomes its words.
NOT_HERE = ("docs/architecture.md", "docs/decisions", "docs/releasing.md")
# What folders are called that pages link to.
TITLES = {"docs/api": "The public declarations of each module"}
# The languages of files, by the ends of their names.
LANGUAGES = {"swift": "swift", "py": "python", "js": "javascript", "sql": "sql", "lua": "lua", "sh": "sh", "json": "json", "c": "c",
             "h": "c", "yml": "yaml", "jsonl": "json"}
# Pictures, and what readers install somewhere.
COPIED = re.compile(r"\.(svg|png|gif|webp|txt)$|^(docs/monitoring|packaging)/.*\.")


def is_here(path):
    return not path.startswith(NOT_HERE)


def words(markup):
    """Returns the text of some HTML. Only what begins a block begins a word."""
    markup = re.sub(r"</?(a|b|code|del|em|i|img|span|strong|sup|wbr)\b[^>]*>", "", markup)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def excerpt(markup, title):
    """Returns what a section of a page says first, in sentences: no tables, and no code."""
    text = words(re.sub(r"<(table|pre)\b.*?</\1>", " ", markup, flags=re.DOTALL))
    return sentence(text or f"A section of “{title}”.")


class Site:
    def __init__(self, archive, playground, out):
        self.made_playground = playground
        self.out = out
        shutil.rmtree(out, ignore_errors=True)
        with open(os.path.join(ROOT, "Web/Site/page.html"), encoding="utf-8") as file:
            self.template = file.read()
        self.documentation = Documentation(archive)
        self.guides = self.find_guides()
        # What links have led to, and must be there too: sources and folders.
        self.todo = []
        self.done = set()
        # What can be found: title, where it belongs, place, description, and further words.
        self.index = []

    def find_guides(self):
        """Returns the pages of docs/ with their titles, in the order of the sidebar."""
        paths = [os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs/*.md"))]
        titles = {}
        for path in filter(is_here, paths):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                titles[path] = re.sub(r"[`*]", "", re.search(r"^# (.*)", file.read(), re.M)[1])
        order = {f"docs/{name}.md": index for index, name in enumerate(FIRST)}
        return dict(sorted(titles.items(), key=lambda one: (order.get(one[0], len(order)), one[1])))

    # MARK: - Addresses

    def place(self, path):
        """Returns where the site has a file or folder of the repository."""
        article = re.fullmatch(r"Sources/(\w+)/\w+\.docc/(?:.*/)?(\w+)\.md", path)
        if article:
            module, name = (part.lower() for part in article.groups())
            for place in (f"documentation/lull/{name}/", f"documentation/{module}/{name}/", f"documentation/{name}/"):
                if place in self.documentation.pages:
                    return place
            raise SystemExit(f"site: the documentation has no page for {path}")
        if path == "README.md":
            return ""
        # It says how to get the page, which the site has.
        if path == "Web/Playground/README.md":
            return "playground/"
        if path.endswith(".md"):
            return path[:-3] + ".html"
        if COPIED.search(path):
            return path
        return path.rstrip("/") + "/" if os.path.isdir(os.path.join(ROOT, path)) else path + ".html"

    def link(self, target, page):
        """Returns a link of a Markdown page as a link of the site; None for what is not on it."""
        if re.match(r"\w+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if not os.path.exists(os.path.join(ROOT, path)):
            raise SystemExit(f"site: {page} links to {path}, which is not there")
        if not is_here(path):
            return None
        place = self.place(path)
        if place in self.documentation.pages and anchor:
            anchor = self.documentation.anchor(place, anchor)
            if not anchor:
                raise SystemExit(f"site: {page} links to a section of {place} that is not there: {target}")
        self.todo.append(path)
        relative = os.path.relpath(place or ".", os.path.dirname(self.place(page)) or ".")
        if place == "" or place.endswith("/"):
            relative += "/"
        return relative + ("#" + anchor if anchor else "")

    # MARK: - What all pages have

    def write(self, place, content):
        path = os.path.join(self.out, place, "index.html" if place == "" or place.endswith("/") else "").rstrip("/")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def page(self, place, title, content, description, root=None, headings=()):
        if root is None:
            root = "../" * place.count("/") or "./"
        self.write(place, self.template.format(
            title=html.escape(title if title == "Lull" else f"{title} · Lull"), description=html.escape(description), root=root,
            content=content, top=self.top(root), side=self.side(place, root, headings),
            address=self.address(place, title, description)))

    def top(self, root):
        """Returns the links at the top of each page."""
        links = {"": "Lull", "documentation/lull/gettingstarted/": "Getting started", "docs/": "Guides",
                 "documentation/": "Modules", "playground/": "Playground"}
        items = [f'<a href="{root}{place}">{name}</a>' for place, name in links.items()]
        if REPOSITORY:
            items.append(f'<a href="{html.escape(REPOSITORY)}">Sources</a>')
        return "\n        ".join(items)

    def side(self, place, root, headings):
        """Returns the sidebar: every guide and module, and what is in the module of this page."""
        docs = self.documentation

        def item(target, name, inner=""):
            current = ' aria-current="page"' if target == place else ""
            return f'<li><a href="{root}{quote(target)}"{current}>{html.escape(name)}</a>{inner}</li>'

        def sections(target):
            if target != place or not headings:
                return ""
            items = (f'<li><a href="#{html.escape(anchor)}">{html.escape(name)}</a></li>' for anchor, name in headings)
            return f"<ul>{''.join(items)}</ul>"

        above = [place, *docs.ancestors(place)] if place in docs.pages else []

        def tree(module):
            parts = []
            for title, pages in docs.topics(module):
                parts.append(f'<li class="group">{html.escape(title)}</li>')
                for target, name in pages:
                    inner = sections(target)
                    # Collections of articles, such as the cookbook, show them.
                    if target in above and docs.pages[target]["metadata"].get("role") == "collectionGroup":
                        articles = (item(*one, sections(one[0])) for _, group in docs.topics(target) for one in group)
                        inner += f"<ul>{''.join(articles)}</ul>"
                    parts.append(item(target, name, inner))
            return f"<ul>{''.join(parts)}</ul>"

        guides = [item(self.place(path), name, sections(self.place(path))) for path, name in self.guides.items()]
        modules = [item(one, name, tree(one) if one in above else "") for one, name in docs.modules.items()]
        more = [item(self.place("CHANGELOG.md"), "Changes"), item("playground/", "Playground")]
        groups = {"Guides": guides, "Modules": modules, "More": more}
        return "\n".join(f"<p>{name}</p><ul>{''.join(items)}</ul>" for name, items in groups.items())

    def address(self, place, title, description):
        """Returns what only a page with an address can say of itself."""
        if not ADDRESS:
            return ""
        there = html.escape(f"{ADDRESS}/{quote(place)}")
        tags = {"og:url": there, "og:title": html.escape(title), "og:description": html.escape(description),
                "og:image": html.escape(f"{ADDRESS}/preview.png")}
        return "\n".join([f'<link rel="canonical" href="{there}">', '<meta name="twitter:card" content="summary_large_image">',
                          *(f'<meta property="{name}" content="{value}">' for name, value in tags.items())])

    # MARK: - Pages

    def markdown(self, page):
        """Makes a page of a Markdown file."""
        body = subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink", os.path.join(ROOT, page)],
            check=True, capture_output=True, text=True).stdout

        def linked(match):
            target = self.link(html.unescape(match[2]), page)
            return f'<a {match[1]}href="{html.escape(target)}"{match[3]}>{match[4]}</a>' if target else match[4]

        body = re.sub(r'<a ([^>]*?)href="([^"]*)"([^>]*)>(.*?)</a>', linked, body, flags=re.DOTALL)
        body = re.sub(r'(src|srcset)="([^"]*)"', lambda match: f'{match[1]}="{self.link(html.unescape(match[2]), page)}"', body)
        body = re.sub(r"<table>.*?</table>", lambda match: table(match[0]), body, flags=re.DOTALL)
        body = re.sub(
            r'<pre><code(?: class="language-([\w-]+)")?>(.*?)</code></pre>', lambda match:
            f'<pre tabindex="0"><code>{colour(html.unescape(match[2]), match[1])}</code></pre>', body, flags=re.DOTALL)
        seen = {}

        def heading(match):
            name = re.sub(r"[^\w\- ]", "", html.unescape(re.sub(r"<[^>]*>", "", match[2])).lower()).replace(" ", "-")
            seen[name] = seen.get(name, -1) + 1
            name += f"-{seen[name]}" if seen[name] else ""
            return f'<h{match[1]} id="{name}">{match[2]}</h{match[1]}>'

        body = re.sub(r"<h(\d)>(.*?)</h\d>", heading, body, flags=re.DOTALL)
        paragraphs = [words(text) for text in re.findall(r"<p>(.*?)</p>", body, flags=re.DOTALL)]
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        title = words(title[1]) if title else page
        description = sentence(next(filter(None, paragraphs), title))
        # A page is found by each of its sections.
        top, *sections = re.split(r'<h2 id="([^"]*)">(.*?)</h2>', body, flags=re.DOTALL)
        place = self.place(page)
        self.found(title, "Guide", place, description, words(top))
        for anchor, name, text in zip(sections[0::3], sections[1::3], sections[2::3]):
            self.found(words(name), title, f"{place}#{anchor}", excerpt(text, title), words(text))
        headings = [(anchor, words(name)) for anchor, name in zip(sections[0::3], sections[1::3])]
        self.page(place, title, body, description, headings=headings if page != "CHANGELOG.md" else ())

    def found(self, title, group, place, description, more=""):
        # Every word of the page once.
        more = " ".join(dict.fromkeys(re.findall(r"[\w.]*\w", more.lower())))
        self.index.append([title, group, place, description, more])

    def source(self, path):
        """Makes a page of a source file."""
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        # A file without an ending is a script if it says so.
        language = LANGUAGES.get(os.path.splitext(path)[1][1:], "sh" if text.startswith("#!") else "text")
        text = colour(text, "makefile" if path.endswith("Makefile") else language)
        content = f'<h1 class="path">{html.escape(path)}</h1>\n<pre tabindex="0"><code>{text}</code></pre>'
        self.page(self.place(path), path, content, f"A source file of Lull: {path}.")

    def folder(self, path):
        """Makes a page of what a folder has."""
        names = sorted(os.listdir(os.path.join(ROOT, path)))
        paths = [os.path.join(path, name) for name in names if not name.startswith((".", "__")) and not name.endswith(".docc")]
        links = {os.path.basename(one): self.link(f"./{os.path.basename(one)}", path + "/x") for one in filter(is_here, paths)}
        items = "".join(f'<li><a href="{html.escape(link)}">{html.escape(name)}</a></li>\n' for name, link in links.items())
        title = TITLES.get(path, path)
        self.page(self.place(path), title, f"<h1>{html.escape(title)}</h1>\n<ul>\n{items}</ul>", f"A folder of Lull's sources: {path}.")

    def follow(self):
        """Makes what the pages link to, and what that links to."""
        while self.todo:
            path = self.todo.pop()
            place = self.place(path)
            if path in self.done or place.startswith(("documentation/", "playground/")) or path == "docs":
                continue
            self.done.add(path)
            if path.endswith(".md"):
                self.markdown(path)
            elif os.path.isdir(os.path.join(ROOT, path)):
                self.folder(path)
            elif COPIED.search(path):
                os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
                shutil.copy(os.path.join(ROOT, path), os.path.join(self.out, path))
            else:
                self.source(path)

    def documented(self):
        """Makes the pages of the documentation, and the one that lists the modules."""
        docs = self.documentation
        for place, page in docs.pages.items():
            root = "../" * place.count("/")
            is_article = page["kind"] == "article" or place in docs.modules
            title = docs.title(place)
            above = docs.title(docs.ancestors(place)[-1])
            long = title if is_article or above == title else f"{title} · {above}"
            description = docs.description(place)
            headings = docs.headings(place) if is_article else ()
            self.page(place, long, docs.content(place, root), sentence(description), root, headings)
            self.found(title, "Module" if place in docs.modules else above, place, description, docs.words(place))
        items = "".join(f'<dt><a href="../{place}">{name}</a></dt><dd>{html.escape(docs.description(place))}</dd>'
                        for place, name in docs.modules.items())
        self.page("documentation/", "Modules", f'<h1>Modules</h1>\n<dl class="topics">{items}</dl>',
                  "The modules of Lull, each with its articles and declarations.")

    def listed(self):
        """Makes the page that lists the guides."""
        items = "".join(f'<dt><a href="../{self.place(page)}">{html.escape(name)}</a></dt><dd>{html.escape(description)}</dd>\n'
                        for page, name in self.guides.items() for _, group, place, description, _ in self.index
                        if place == self.place(page) and group == "Guide")
        self.page("docs/", "Guides", f'<h1>Guides</h1>\n<dl class="topics">{items}</dl>', "The guides to Lull, its command and its stores.")

    def playground(self):
        with open(self.made_playground, encoding="utf-8") as file:
            page = file.read()
        description = "Try debouncing and throttling in the browser."
        page = page.replace("<!-- address -->", self.address("playground/", "Lull: work in the lull after a burst", description))
        modules = "\n".join(f'<a href="../{place}">{name}</a>' for place, name in self.documentation.modules.items())
        for name, links in {"navigation": self.top("../"), "modules": modules}.items():
            if f"<!-- {name} -->" not in page:
                raise SystemExit(f"site: the playground has no place for its {name}")
            page = page.replace(f"<!-- {name} -->", links)
        self.found("Playground", "Page", "playground/", description)
        self.write("playground/", page)

    def missing(self):
        """Makes the page that a host shows in place of one that is not there, at any path."""
        base = urlsplit(ADDRESS).path.rstrip("/") + "/"
        self.page("404.html", "No such page", "<h1>No such page</h1>\n<p>It may have moved. Search for it, choose a page from the list, or go "
                  f'to <a href="{base}">the first page</a>.</p>', "This page does not exist.", root=base)

    def build(self):
        self.todo = ["README.md", "CHANGELOG.md", *self.guides]
        self.follow()
        self.documented()
        self.playground()
        self.listed()
        self.missing()
        self.write("index.js", "lullIndex(" + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ")\n")
        for name in ("site.css", "icon.svg", "search.js"):
            shutil.copy(os.path.join(ROOT, "Web/Site", name), self.out)


def sentence(text, limit=200):
    """Returns the beginning of a text, as far as whole words fit."""
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0].rstrip(",;:") + " …"


if __name__ == "__main__":
    Site(*sys.argv[1:4]).build()
