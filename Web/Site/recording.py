"""Records docs/pictures/recording.svg, a picture of the README: forty saves in one terminal, and the one build that
`inotifywait | lull run` makes of them in another.

recording.py LULL: LULL is the command. The picture goes to the standard output.

Both are real: two shells in terminals of their own (pty), in a temporary folder with a program of one line and its Makefile. What
they show is read as it comes, with its instant, and the picture shows it at that instant. It needs a C compiler, make and
inotifywait (inotify-tools), and Linux, and takes ten seconds. Another run differs in some milliseconds, so no test repeats it; one
looks whether the commands in the picture are those of the README.
"""

import html
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

SAVES = "for i in $(seq 40); do touch src/app.c; printf .; sleep .06; done"
# Other events of inotifywait come when a build reads a file: without close_write, builds would go on forever.
BUILD = "inotifywait -qm -e close_write src | lull run --wait 300ms -- make"
# In letters, and in the units of the picture.
COLUMNS, SIZE, LETTER = 68, 12.8, 7.71
WIDTH, LINE, TOP = 560, 21, 44
# What is shown together, and how long the picture rests at its end, in seconds.
FRAME, REST = 0.06, 4

PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title">
<title id="title">{title}</title>
<style>
rect {{ fill: #161b22; stroke: #6e7681 }}
text {{ font: {size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }}
.name {{ font: 600 14px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; fill: #9da7b3 }}
.out {{ fill: #56b4e9 }}
@media (prefers-reduced-motion: no-preference) {{
{rules}
}}
</style>
{parts}
</svg>
"""


class Terminal:
    """A shell in a terminal of its own, and what it has shown: pieces of text with their instants."""

    def __init__(self, folder, path):
        self.main, side = pty.openpty()
        termios.tcsetwinsize(side, (24, 200))
        environment = {"PATH": path, "PS1": "$ ", "TERM": "dumb", "LC_ALL": "C"}
        self.shell = subprocess.Popen(["sh", "-i"], cwd=folder, stdin=side, stdout=side, stderr=side, env=environment,
                                      start_new_session=True, preexec_fn=lambda: take(side))
        os.close(side)
        self.pieces = []

    def end(self):
        os.killpg(self.shell.pid, signal.SIGHUP)
        os.close(self.main)
        self.shell.wait()


def take(side):
    """Makes a terminal that of this process."""
    import fcntl  # pylint: disable=import-outside-toplevel
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)


def watch(terminals, seconds, start):
    """Reads what the terminals show for a time."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        for ready in select.select([one.main for one in terminals], [], [], left)[0]:
            text = os.read(ready, 4096).decode().replace("\r", "")
            next(one for one in terminals if one.main == ready).pieces.append((time.monotonic() - start, text))


def record(lull):
    """Returns what two terminals have shown: that of the builds, and that of the saves."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "src"))
        for name, text in {"src/app.c": "int main(void) { return 0; }\n", "Makefile": "app: src/app.c\n\tcc -o app src/app.c\n"}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = f"{os.path.dirname(os.path.abspath(lull))}:{os.environ['PATH']}"
        terminals = build, saves = Terminal(folder, path), Terminal(folder, path)
        start = time.monotonic()
        watch(terminals, 0.5, start)
        for terminal, command in ((build, BUILD), (saves, SAVES)):
            for letter in command + "\n":
                os.write(terminal.main, letter.encode())
                watch(terminals, 0.025, start)
            watch(terminals, 0.6, start)
        watch(terminals, 5, start)
        for terminal in terminals:
            terminal.end()
    return build.pieces, saves.pieces


def frames(pieces):
    """Returns pieces of one line each, those within a frame joined: instant, row, column, text."""
    shown, row, column = [], 0, 0
    for instant, text in pieces:
        for part in re.findall(r"\n|[^\n]+", text):
            if part == "\n":
                row, column = row + 1, 0
                continue
            while part:
                if column == COLUMNS:
                    row, column = row + 1, 0
                here, part = part[:COLUMNS - column], part[COLUMNS - column:]
                if shown and shown[-1][1] == row and instant - shown[-1][0] < FRAME:
                    shown[-1][3] += here
                else:
                    shown.append([instant, row, column, here])
                column += len(here)
    return shown


def draw(panes):
    end = max(instant for _, shown in panes for instant, *_ in shown)
    period = end + REST
    parts, rules, y = [], [], 0
    for name, shown in panes:
        rows = max(row for _, row, *_ in shown) + 1
        height = TOP + rows * LINE
        parts.append(f'<rect x="0.5" y="{y + 0.5}" width="{WIDTH - 1}" height="{height - 9}" rx="8"/>')
        parts.append(f'<text class="name" x="14" y="{y + 22}">{name}</text>')
        commands = {row for _, row, column, text in shown if column == 0 and text.startswith("$")}
        for instant, row, column, text in shown:
            # The prompt after the last dot is left out.
            if not text.strip() or (text == "$ " and column):
                continue
            number = len(rules)
            rules.append(f".t{number} {{ animation: t{number} {period:.2f}s step-end infinite }} @keyframes t{number} "
                         f"{{ 0% {{ visibility: hidden }} {100 * instant / period:.2f}% {{ visibility: visible }} }}")
            kind = "" if row in commands else " out"
            parts.append(f'<text class="t{number}{kind}" x="{14 + column * LETTER:.1f}" y="{y + 24 + (row + 1) * LINE}">'
                         f'{html.escape(text)}</text>')
        y += height
    title = "Forty saves in one terminal, and one build in the other, where inotifywait is piped into lull run"
    return PICTURE.format(width=WIDTH, height=y - 8, size=SIZE, title=title, rules="\n".join(rules), parts="\n".join(parts))


if __name__ == "__main__":
    building, saving = (frames(pieces) for pieces in record(sys.argv[1]))
    text = "".join(part for *_, part in building)
    if text.count("cc -o app src/app.c") != 1:
        raise SystemExit(f"recording: there is not one build: {text}")
    print(draw([("one terminal: the builds", building), ("another: forty saves", saving)]), end="")
