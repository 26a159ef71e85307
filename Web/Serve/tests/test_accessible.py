"""Tests of what does not depend on a mouse, on seeing, or on names that are harmless."""

import os
import re
import unittest

import scenes
from accessible import NAMELESS, REFERENCES, SMALL
from harness import DOWN, ENTER, ESCAPE, TAB, PageTest
from pagetest import ROOT


def source(name, folder="Serve"):
    with open(os.path.join(ROOT, "Web", folder, name), encoding="utf-8") as file:
        return file.read()


# What screen readers go by: one main part that holds all but the header, headings without gaps, terms in lists of terms; and nothing that
# is to be read is made paler.
STRUCTURE = """
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    const faults = [];
    if (shown("main").length !== 1) faults.push(`${shown("main").length} main parts`);
    let level = 0;
    for (const one of shown("h1, h2, h3, h4")) {
        const next = Number(one.tagName[1]);
        if (next > level + 1) faults.push(`h${level} → h${next} ${one.textContent}`);
        level = next;
    }
    for (const one of document.querySelectorAll("dt, dd")) {
        if (!one.matches("dl > *, dl > div > *")) faults.push(one.outerHTML);
    }
    for (const one of shown("h2, label, button, p")) {
        if (!one.matches("header *, main *, footer *, dialog *, .answer *, noscript *")) faults.push(one.outerHTML);
    }
    for (const one of shown("*")) if (one.matches(":not(:disabled, svg *)") && getComputedStyle(one).opacity < 1) faults.push(one.outerHTML.slice(0, 80));
    return faults;
"""


class AccessibleTest(PageTest):
    def everything_open(self):
        self.open(scenes.everything)
        self.press("#dead .toggle")
        self.browser.run("[...document.querySelectorAll('#dead .whole button')].find((one) => one.textContent.startsWith('Show')).click()")
        self.until("document.querySelector('#dead .value') !== null")
        self.open_key("search-index")
        self.press("#story-acts [data-act=submit]")

    def test_everything_that_can_be_used_has_a_name(self):
        self.everything_open()
        self.assertEqual(self.browser.run(NAMELESS), [])
        self.assertEqual(self.browser.run(REFERENCES), [])

    def test_the_page_has_a_structure_in_every_state(self):
        self.allowed = ["401 (Unauthorized)"]
        for scene in (scenes.everything, scenes.none, scenes.empty, scenes.paused, scenes.away):
            self.fake.away = None
            self.open(scene)
            self.assertEqual(self.browser.run(STRUCTURE), [], scene.__name__)
        self.fake.away = None
        self.everything_open()
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.fake.tokens = {"secret": ("ada", "act")}
        self.open(scenes.one)
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.assertEqual(self.browser.run(NAMELESS), [])

    def test_the_page_is_used_with_the_keyboard_alone(self):
        self.open(scenes.one)
        self.until("document.querySelectorAll('#keys .row').length > 8")
        self.browser.run("document.body.focus()")
        reached = []
        for _ in range(60):
            self.browser.keys(TAB)
            reached.append(self.browser.run("""
                const one = document.activeElement;
                const { outlineStyle, outlineWidth } = getComputedStyle(one);
                const ring = one.id === "keys" ? getComputedStyle(document.querySelector("#keys .active")) : { outlineStyle, outlineWidth };
                return [one.id || one.textContent.trim(), one === document.body || (ring.outlineStyle === "solid" && ring.outlineWidth === "3px")];
            """))
            if reached[-1][0] == "keys":
                break
        names = [name for name, _ in reached]
        self.assertEqual(names[0], "To the figures")
        for name in ("submit-value", "pause", "window", "dead-error", "retry", "discard", "prefix", "flush", "cancel", "keys"):
            self.assertIn(name, names)
        self.assertEqual([name for name, is_ringed in reached if not is_ringed], [])
        # From a key of the list to an action, and back.
        self.browser.keys(DOWN, DOWN, ENTER)
        self.until("document.getElementById('story-says').textContent !== 'Looking …'")
        self.assertEqual(self.text("#story-name"), "customer/88")
        self.assertEqual(self.focused(), "story-close")
        self.browser.keys(TAB, ENTER)
        self.until("ask.open && document.activeElement.id === 'ask-yes'")
        self.browser.keys(ENTER)
        self.until_text("#said", "Flushed 1 key.")
        self.browser.keys(ESCAPE)
        self.until("!story.open")
        self.assertEqual(self.focused(), "keys")

    def test_a_finger_hits_what_it_is_meant_to(self):
        self.browser.resize(390, 844)
        self.everything_open()
        self.assertEqual(self.browser.run(SMALL), [])

    def test_markup_in_names_values_and_errors_is_text(self):
        self.open(scenes.strange)
        for toggle in range(3):
            self.browser.run("document.querySelectorAll('#dead .toggle')[arguments[0]].click()", toggle)
        self.browser.run("""
            for (const button of document.querySelectorAll("#dead .whole button")) if (button.textContent.startsWith("Show its")) button.click();
        """)
        self.until("document.querySelectorAll('#dead .value').length === 6")
        self.open_key("again")
        self.press("#story-close")
        self.open_key(scenes.MARKUP)
        self.assertIn(scenes.MARKUP, self.text("#ended"))
        self.press("#story-acts [data-act=flush]")
        self.until("ask.open && !document.getElementById('ask-yes').disabled")
        self.assertEqual(self.text("#ask-title"), f"Flush {scenes.MARKUP}?")
        self.press("#ask-yes")
        self.until("!ask.open")
        self.press("#story-close")
        for index in (2, 3):
            self.press(f"#namespaces .card:nth-child({index})")
            self.until(f"document.querySelector('#namespaces .card:nth-child({index})').ariaSelected === 'true'")
        found = self.browser.run("return [document.images.length, document.scripts.length, document.querySelectorAll('[onerror]').length]")
        self.assertEqual(found, [0, len(re.findall("<script ", source("index.html"))), 0])
        self.assertIn(scenes.MARKUP, self.text("#store"))

    def test_what_would_hide_or_turn_text_is_escaped(self):
        self.open(scenes.strange)
        names = self.texts("#lines .name")
        self.assertIn('""', names)
        self.assertIn("\\xff\\xfe\\u{0}café", names)
        self.assertIn("\\u{202e}gnp.exe\\nline two\\ttab", names)
        self.assertIn("日本語のキー", names)

    def test_the_policy_lets_nothing_in_but_the_page(self):
        self.open(scenes.one)
        blocked = self.browser.run("""
            return new Promise((done) => {
                addEventListener("securitypolicyviolation", ({ violatedDirective }) => done(violatedDirective), { once: true });
                const script = document.createElement("script");
                script.textContent = "globalThis.injected = true";
                document.body.append(script);
            });
        """)
        self.assertEqual(blocked, "script-src-elem")
        self.assertIsNone(self.browser.run("return globalThis.injected ?? null"))
        self.assertTrue(any("Content Security Policy" in one for one in self.browser.complaints()))

    def test_the_page_asks_only_its_own_server(self):
        self.everything_open()
        self.assertEqual(self.browser.run("""
            return performance.getEntriesByType("resource").map(({ name }) => name)
                .filter((name) => !["/api/", "/page/"].some((folder) => name.startsWith(location.origin + folder)));
        """), [])


class SourcesTest(unittest.TestCase):
    def test_the_sources_put_no_data_into_markup(self):
        for folder in ("Serve", "Shared", "Top"):
            for name in filter(re.compile(r"\.(js|css|html)$").search, os.listdir(os.path.join(ROOT, "Web", folder))):
                text = source(name, folder)
                for word in ("innerHTML", "outerHTML", "document.write", "eval(", "style=", "onclick"):
                    self.assertNotIn(word, text, name)
                if name.endswith(".js"):
                    self.assertIn('\n\n"use strict";\n', text, name)
