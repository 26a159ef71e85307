"""Makes pages of what `docc convert` writes: one JSON file for each page, with the text in it as a tree."""

import glob
import html
import json
import os
from urllib.parse import quote

from highlight import colour


class Documentation:
    """The pages of an archive. `pages` has what each file says, by the page's place in the site."""

    def __init__(self, archive):
        self.pages = {}
        folder = os.path.join(archive, "data")
        for path in glob.glob(glob.escape(folder) + "/documentation/**/*.json", recursive=True):
            with open(path, encoding="utf-8") as file:
                self.pages[os.path.relpath(path, folder)[:-5] + "/"] = json.load(file)
        self.places = {page["identifier"]["url"]: place for place, page in self.pages.items()}
        modules = [place for place, page in self.pages.items() if page["metadata"].get("symbolKind") == "module"]
        # The module with which to begin is first.
        self.modules = {place: self.title(place) for place in sorted(modules, key=lambda place: (self.rank(place), place))}

    def rank(self, place):
        order = ["lull", "lulltesting", "lulldispatch", "lulldurable", "lullsqlite", "lullpostgres", "lullredis", "lullcore"]
        name = place.split("/")[1]
        return order.index(name) if name in order else len(order)

    # MARK: - What there is to say about a page

    def title(self, place):
        return self.pages[place]["metadata"]["title"]

    def abstract(self, place):
        page = self.pages[place]
        return Text(page["references"], "").plain(page.get("abstract", [])).strip()

    def description(self, place):
        """Returns one sentence about a page, also for one that has none of its own."""
        kind = self.pages[place]["metadata"].get("roleHeading", "Part").lower()
        return self.abstract(place) or f"{self.title(place)}: {kind} of {self.title(self.ancestors(place)[-1])}."

    def ancestors(self, place):
        """Returns the pages above one, that of its module first."""
        paths = self.pages[place]["hierarchy"]["paths"]
        # docc names a module that is extended here without a page of its own.
        above = [self.places[one] for one in (paths[0] if paths else []) if one in self.places]
        return above or [place]

    def module(self, place):
        return self.ancestors(place)[0]

    def topics(self, place):
        """Returns groups of a page: each a title, and pages with their titles."""
        page = self.pages[place]
        for section in page.get("topicSections", []):
            yield section.get("title", ""), [
                (self.places[one], page["references"][one]["title"]) for one in section["identifiers"] if one in self.places]

    def headings(self, place):
        sections = self.pages[place].get("primaryContentSections", [])
        blocks = [block for section in sections if section["kind"] == "content" for block in section["content"]]
        # docc itself puts the heading "Overview" where an article begins.
        headings = [(block["anchor"], block["text"]) for block in blocks if block["type"] == "heading" and block["level"] == 2]
        return [one for one in headings if one[1] != "Overview"]

    def words(self, place):
        """Returns the text of an article, to be searched; of a declaration its abstract says enough."""
        page = self.pages[place]
        if page["kind"] != "article" and page["metadata"].get("symbolKind") != "module":
            return ""
        text = Text(page["references"], "")
        sections = page.get("primaryContentSections", [])
        return " ".join(text.words(block) for section in sections for block in section.get("content", []))

    def anchor(self, place, name):
        """Returns an anchor as the documentation spells it; None if there is none."""
        sections = self.pages[place].get("topicSections", [])
        anchors = [anchor for anchor, _ in self.anchors(self.pages[place])] + [one.get("anchor") for one in sections]
        return next((anchor for anchor in anchors if anchor and anchor.lower() == name.lower()), None)

    def anchors(self, value):
        if isinstance(value, dict):
            if value.get("type") == "heading":
                yield value["anchor"], value["text"]
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                yield from self.anchors(one)

    # MARK: - A page as HTML

    def content(self, place, root):
        page = self.pages[place]
        metadata, text = page["metadata"], Text(page["references"], root)
        above = self.ancestors(place) if self.ancestors(place) != [place] else []
        role = metadata.get("roleHeading", "Collection").replace("Framework", "Module")
        crumbs = "".join(f'<a href="{root}{quote(one)}">{html.escape(self.title(one))}</a> ' for one in above)
        title = html.escape(metadata["title"])
        is_code = page["kind"] == "symbol" and metadata.get("symbolKind") != "module" and metadata.get("role") != "collectionGroup"
        parts = [f'<p class="crumbs">{crumbs}<span>{html.escape(role)}</span></p>']
        parts.append(f'<h1 class="code">{wrap(title)}</h1>' if is_code else f"<h1>{title}</h1>")
        if page.get("abstract"):
            parts.append(f'<p class="abstract">{text.inline(page["abstract"])}</p>')
        for section in page.get("primaryContentSections", []):
            parts.append(self.section(section, text))
        for key, level in [("topicSections", 3), ("defaultImplementationsSections", 3), ("relationshipsSections", 3),
                           ("seeAlsoSections", 3)]:
            if page.get(key):
                heading = {"topicSections": "Topics", "relationshipsSections": "Relationships", "seeAlsoSections": "See also",
                           "defaultImplementationsSections": "Default implementations"}[key]
                anchor = heading.lower().replace(" ", "-")
                parts.append(f'<h2 id="{anchor}">{heading}</h2>')
                parts += [self.topic(section, text, level, key == "topicSections") for section in page[key]]
        return "\n".join(parts)

    def section(self, section, text):
        kind = section["kind"]
        if kind == "declarations":
            return "".join(text.declaration(one["tokens"]) for one in section["declarations"])
        if kind == "content":
            return text.blocks(section["content"])
        if kind == "parameters":
            rows = "".join(f"<dt><code>{html.escape(one['name'])}</code></dt><dd>{text.blocks(one['content'])}</dd>"
                           for one in section["parameters"])
            return f'<h2 id="parameters">Parameters</h2><dl class="parameters">{rows}</dl>'
        if kind == "mentions":
            names = ", ".join(text.reference(one) for one in section["mentions"])
            return f'<p class="quiet">Mentioned in: {names}</p>'
        raise SystemExit(f"site: unknown section of a documentation page: {kind}")

    def topic(self, section, text, level, is_named):
        anchor = f' id="{html.escape(section["anchor"])}"' if is_named and section.get("anchor") else ""
        items = "".join(text.item(one) for one in section["identifiers"])
        heading = f"<h{level}{anchor}>{html.escape(section['title'])}</h{level}>" if section.get("title") else ""
        return f'{heading}\n<dl class="topics">{items}</dl>'


def wrap(title):
    """Lets a long name be broken where its parts begin."""
    return title.replace("(", "(<wbr>").replace(":", ":<wbr>").replace(".", ".<wbr>")


class Text:
    """Trees of text as HTML, with links for a page whose way to the start page is `root`."""

    def __init__(self, references, root):
        self.references, self.root = references, root

    def plain(self, inline):
        return "".join(
            one.get("text") or one.get("code") or self.plain(one.get("inlineContent", []))
            or self.references.get(one.get("identifier"), {}).get("title", "") for one in inline)

    def words(self, block):
        if isinstance(block, list):
            return " ".join(self.words(one) for one in block)
        if "inlineContent" in block:
            return self.plain(block["inlineContent"])
        if block.get("type") == "codeListing":
            return " ".join(block["code"])
        return " ".join([block.get("text", ""), *(self.words(block[key]) for key in ("content", "items", "rows") if key in block)])

    def inline(self, inline):
        return "".join(self.span(one) for one in inline)

    def span(self, one):
        kind = one["type"]
        if kind == "text":
            return html.escape(one["text"], quote=False)
        if kind == "codeVoice":
            return f"<code>{html.escape(one['code'], quote=False)}</code>"
        if kind == "reference":
            return self.reference(one["identifier"])
        if kind in ("emphasis", "strong", "newTerm"):
            tag = "strong" if kind == "strong" else "em"
            return f"<{tag}>{self.inline(one['inlineContent'])}</{tag}>"
        if kind == "image":
            image = self.references[one["identifier"]]
            path = self.root + quote(image["variants"][0]["url"].lstrip("/"))
            return f'<img src="{path}" alt="{html.escape(image.get("alt", ""))}">'
        raise SystemExit(f"site: unknown text in a documentation page: {kind}")

    def reference(self, identifier):
        target = self.references.get(identifier, {"title": identifier, "type": "unresolvable"})
        title = html.escape(target.get("title", ""), quote=False)
        title = f"<code>{wrap(title)}</code>" if target.get("role") in ("symbol", None) and target["type"] != "link" else title
        return f'<a href="{self.address(target["url"])}">{title}</a>' if "url" in target else title.replace("Swift.", "")

    def address(self, url):
        if not url.startswith("/"):
            return html.escape(url)
        path, _, anchor = url.partition("#")
        # docc names a module that is extended here in the path to its types, without a page of its own.
        return self.root + quote(path.lstrip("/")) + "/" + ("#" + anchor if anchor else "")

    def item(self, identifier):
        """Returns what a list of pages says about one."""
        target = self.references.get(identifier, {"title": identifier, "type": "unresolvable"})
        abstract = self.inline(target.get("abstract", []))
        if "url" not in target:
            return f"<dt>{self.reference(identifier)}</dt><dd></dd>"
        name = html.escape(target["title"], quote=False)
        fragments = target.get("fragments", [])
        if fragments:
            # A long declaration is easier to find by its name.
            is_short = sum(len(token["text"]) for token in fragments) <= 90
            name = f"<code>{self.tokens(fragments, has_links=False) if is_short else wrap(name)}</code>"
        return f'<dt><a href="{self.address(target["url"])}">{name}</a></dt><dd>{abstract}</dd>'

    # MARK: - Declarations

    def tokens(self, tokens, has_links=True):
        classes = {"keyword": "keyword", "attribute": "attribute", "typeIdentifier": "type", "number": "number", "string": "string"}
        parts = []
        for token in tokens:
            text, name = html.escape(token["text"], quote=False), classes.get(token["kind"])
            target = self.references.get(token.get("identifier"), {}) if has_links else {}
            if "url" in target:
                text = f'<a href="{self.address(target["url"])}">{text}</a>'
            parts.append(f'<span class="{name}">{text}</span>' if name else text)
        return "".join(parts)

    def declaration(self, tokens):
        """Returns a declaration; a long one with a line for each parameter."""
        if sum(len(token["text"]) for token in tokens) > 72 and any(token["kind"] == "externalParam" for token in tokens):
            tokens = list(self.broken(tokens))
        return f'<pre tabindex="0" class="declaration"><code>{self.tokens(tokens)}</code></pre>'

    def broken(self, tokens):
        depth, is_list = 0, False
        for token in tokens:
            if token["kind"] == "externalParam" and depth == 1:
                is_list = True
                yield {"kind": "text", "text": "\n    "}
            text = token["text"]
            if token["kind"] in ("text", "attribute"):
                for index, character in enumerate(text):
                    depth += {"(": 1, ")": -1}.get(character, 0)
                    if character == ")" and depth == 0 and is_list:
                        text, is_list = text[:index] + "\n" + text[index:], False
                        break
                else:
                    yield {**token, "text": text}
                    continue
                rest = text.split("\n", 1)[1][1:]
                depth += rest.count("(") - rest.count(")")
            yield {**token, "text": text}

    # MARK: - Blocks

    def blocks(self, blocks):
        return "\n".join(self.block(one) for one in blocks)

    def block(self, one):
        kind = one["type"]
        if kind == "paragraph":
            return f"<p>{self.inline(one['inlineContent'])}</p>"
        if kind == "heading":
            return f'<h{one["level"]} id="{html.escape(one["anchor"])}">{html.escape(one["text"])}</h{one["level"]}>'
        if kind == "codeListing":
            code = colour("\n".join(one["code"]), one.get("syntax"))
            return f'<pre tabindex="0"><code>{code}</code></pre>'
        if kind in ("unorderedList", "orderedList"):
            tag = kind[0] + "l"
            items = "".join(f"<li>{self.blocks(item['content'])}</li>" for item in one["items"])
            return f"<{tag}>{items}</{tag}>"
        if kind == "aside":
            name = one.get("name") or one["style"].capitalize()
            return f'<aside class="{one["style"]}"><p class="label">{html.escape(name)}</p>{self.blocks(one["content"])}</aside>'
        if kind == "table":
            head = one.get("header") in ("row", "both")
            rows = [(index == 0 and head, row) for index, row in enumerate(one["rows"])]
            lines = ["".join(self.cell(cell, "th" if is_head else "td") for cell in row) for is_head, row in rows]
            return table("<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>")
        if kind == "thematicBreak":
            return "<hr>"
        raise SystemExit(f"site: unknown block in a documentation page: {kind}")

    def cell(self, cell, tag):
        is_line = len(cell) == 1 and cell[0]["type"] == "paragraph"
        return f"<{tag}>{self.inline(cell[0]['inlineContent']) if is_line else self.blocks(cell)}</{tag}>"


def table(content):
    """Returns a table that scrolls where it is too wide."""
    return f'<div class="table" tabindex="0" role="group" aria-label="Table">{content}</div>'
