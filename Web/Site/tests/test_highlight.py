"""Tests the colours of code."""

import glob
import html
import os
import re
import unittest

from highlight import colour
from pagetest import ROOT


def plain(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


class HighlightTest(unittest.TestCase):
    def test_loses_nothing_of_any_source(self):
        count = 0
        for end, language in {"swift": "swift", "sql": "sql", "lua": "lua", "py": "python", "js": "javascript", "c": "c"}.items():
            for path in glob.glob(os.path.join(ROOT, f"[EWS]*/**/*.{end}"), recursive=True):
                with open(path, encoding="utf-8") as file:
                    code = file.read()
                self.assertEqual(plain(colour(code, language)), code, path)
                count += 1
        self.assertGreater(count, 100)

    def test_has_words_strings_and_comments_of_each_language(self):
        samples = {
            "swift": 'let a = "b" // c', "sh": "if true; then echo 'b'; fi # c", "sql": "select 'b' -- c", "lua": "local a = 'b' -- c",
            "python": "return 'b' # c", "c": 'return "b"; // c', "javascript": "const a = 'b'; // c",
        }
        for language, code in samples.items():
            with self.subTest(language):
                for name in ("keyword", "string", "comment"):
                    self.assertIn(f'<span class="{name}">', colour(code, language))

    def test_takes_no_label_for_a_word_of_the_language(self):
        self.assertNotIn("keyword", colour("Debouncer(for: wait)", "swift"))
        self.assertIn("keyword", colour("default: 1", "swift"))

    def test_colours_commands_but_not_what_they_print(self):
        markup = colour("lull run --wait 1s\nfor 3 of 4", None)
        self.assertIn('<span class="type">--wait</span>', markup)
        self.assertTrue(markup.endswith("\nfor 3 of 4"))

    def test_leaves_prose_alone(self):
        # As in a list of commands, or in a license.
        text = "lull work     --store URL -- COMMAND…    runs COMMAND for values that are due"
        self.assertEqual(colour(text, None), text)
        self.assertIn("keyword", colour("if true; then make; fi  # for two", "sh"))
        self.assertIn('"type">--wait', colour("lull run --wait 1s -- make    # forty saves", None))
