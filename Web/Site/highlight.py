"""Colours code: words of a language, strings, numbers and comments. What a language lacks here stays plain."""

import html
import re

SWIFT = """actor any as associatedtype async await borrowing break case catch class consuming continue convenience default defer
    deinit do else enum extension fallthrough false fileprivate final for func guard if import in indirect init inout internal is
    isolated let mutating nil nonisolated open operator override package private protocol public repeat required rethrows return
    self Self sending some static struct subscript super switch throw throws true try typealias unowned var weak where while"""
SQL = """add all alter and as asc begin between by case check commit conflict constraint create cross database default delete
    desc distinct do drop else end exists false for from full function grant group having if in index inner insert into is join
    key language left like limit not nothing null offset on or order outer primary references returning returns right rollback
    schema select set table temporary then to transaction true truncate union unique update using values view when where with"""
PYTHON = """and as assert async await break class continue def del elif else except False finally for from global if import in is
    lambda None nonlocal not or pass raise return True try while with yield"""
LUA = "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"
SHELL = "case do done elif else esac exec export fi for function if in local read return set then trap until wait while"
C = """break case char const continue default do double else enum extern float for if int long return short signed sizeof static
    struct switch typedef uint8_t uint32_t uint64_t union unsigned void volatile while bool"""
SCRIPT = """async await break case catch class const continue default delete do else export extends false finally for from function
    if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield"""

DOUBLE, SINGLE, BACK = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'", r"`(?:\\.|[^`\\])*`"
TRIPLE = r'"""[\s\S]*?"""'
NUMBER = r"(?<![\w.])(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?)"
SLASHES, HASH, DASHES = r"//[^\n]*|/\*[\s\S]*?\*/", r"(?<![^\s;(])\#[^\n]*", r"--[^\n]*"

# Comments, strings, words, and what else stands out.
LANGUAGES = {
    "swift": (SLASHES, f"#?{TRIPLE}#?|{DOUBLE}", SWIFT, r"(?P<attribute>[@#][A-Za-z]\w*)|(?P<type>\b[A-Z]\w*)"),
    "sql": (DASHES, rf"\$\$|{SINGLE}", SQL, None),
    "python": (r"\#[^\n]*", rf"{TRIPLE}|{DOUBLE}|{SINGLE}", PYTHON, r"(?P<attribute>@\w+)"),
    "lua": (DASHES, rf"{DOUBLE}|{SINGLE}", LUA, None),
    "sh": (HASH, rf"{DOUBLE}|'[^']*'", SHELL, r"(?P<type>\$\{?\w+\}?|(?<![\w-])--?[a-zA-Z][\w-]*)"),
    "json": (r"(?!)", DOUBLE, "true false null", None),
    "c": (SLASHES, rf"{DOUBLE}|{SINGLE}", C, r"(?P<attribute>\#\w+)"),
    "javascript": (SLASHES, rf"{DOUBLE}|{SINGLE}|{BACK}", SCRIPT, None),
    "ini": (r"^[#;][^\n]*", rf"{DOUBLE}", "", r"(?P<attribute>^\[[^\]\n]*\])|(?P<type>^\w+(?==))"),
    "yaml": (HASH, rf"{DOUBLE}|{SINGLE}", "true false null", r"(?P<type>^[ -]*[\w.-]+(?=:))"),
    "makefile": (HASH, rf"{DOUBLE}|{SINGLE}", "", r"(?P<type>^[\w-]+(?=:)|\$\(\w+\))"),
}
NAMES = {"bash": "sh", "shell": "sh", "console": "sh", "zsh": "sh", "py": "python", "js": "javascript", "yml": "yaml", "h": "c",
         "toml": "ini", "service": "ini", "jsonl": "json"}
# What the commands of a sample without a language begin with.
COMMAND = re.compile(r"(\$ |lull |make\b|swift |scripts/|printf |cat |echo |inotifywait |tail |git |export |[A-Z_]+=\S* \w)")
# A list of commands, beside words that explain them, is no code.
COLUMNS = re.compile(r"\S {3,}[^\s#]")


def rule(language):
    comment, string, words, more = LANGUAGES[language]
    parts = [f"(?P<comment>{comment})", f"(?P<string>{string})", f"(?P<number>{NUMBER})"]
    if words:
        case = "(?i:" if language == "sql" else "(?:"
        # In Swift also a label of an argument, such as `for:`, which is none.
        after = r"(?!(?<!default)(?<!case):)" if language == "swift" else ""
        parts.append(rf"(?P<keyword>(?<![\w.]){case}{'|'.join(words.split())})\b{after})")
    return re.compile("|".join([*parts, *([more] if more else [])]), re.M)


RULES = {language: rule(language) for language in LANGUAGES}


def colour(code, language):
    """Returns code as HTML. Without a language, lines that are commands have the shell's colours."""
    language = (language or "").lower()
    language = NAMES.get(language, language)
    if language in RULES:
        return spans(code, RULES[language])
    if language:
        return html.escape(code, quote=False)
    lines, continues = [], False
    for line in code.split("\n"):
        is_command = (continues or COMMAND.match(line.lstrip()) or "| lull " in line) and not COLUMNS.search(line.lstrip())
        continues = bool(is_command) and line.endswith("\\")
        lines.append(spans(line, RULES["sh"]) if is_command else html.escape(line, quote=False))
    return "\n".join(lines)


def spans(code, rule):
    parts, last = [], 0
    for match in rule.finditer(code):
        if match.start() == match.end():
            continue
        parts.append(html.escape(code[last:match.start()], quote=False))
        parts.append(f'<span class="{match.lastgroup}">{html.escape(match[0], quote=False)}</span>')
        last = match.end()
    return "".join(parts) + html.escape(code[last:], quote=False)
