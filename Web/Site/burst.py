"""Draws docs/pictures/burst.svg, a picture of the guides: a burst of calls, and the run that `lull simulate` makes of it.

burst.py LULL: LULL is the command. The picture goes to the standard output.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
TRACE = os.path.join(ROOT, "docs/pictures/burst.jsonl")
WAIT = 300
# Small and with large letters, for a phone.
WIDTH, HEIGHT = 540, 182
LEFT, RIGHT, SECONDS = 80, 524, 1.75
CALLS, QUIET, RUN = 50, 96, 142

PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title">
<title id="title">{title}</title>
<style>
text {{ font: 17px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; fill: #24292f }}
.name {{ font-weight: 600 }}
.quiet {{ fill: #57606a; font-size: 15px }}
.middle {{ text-anchor: middle }}
.base {{ stroke: #8c959f }}
.guide {{ stroke: #8c959f; stroke-dasharray: 3 3 }}
.span {{ fill: none; stroke: #57606a }}
.call {{ fill: #24292f }}
.wait {{ fill: #0072b2; opacity: .35 }}
.run {{ fill: #0072b2 }}
.runs {{ fill: #0072b2; font-weight: 600; text-anchor: end }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }}
.quiet {{ fill: #9da7b3 }}
.base, .guide {{ stroke: #6e7681 }}
.span {{ stroke: #9da7b3 }}
.call {{ fill: #e6edf3 }}
.wait, .run, .runs {{ fill: #56b4e9 }}
}}
</style>
{parts}
</svg>
"""


def x(instant):
    return round(LEFT + instant / SECONDS * (RIGHT - LEFT), 1)


def draw(calls, run):
    start, last, due = x(calls[0]), x(calls[-1]), x(run["at"])
    parts = [
        f'<text class="name" x="16" y="{CALLS + 6}">calls</text>',
        f'<path class="base" d="M{LEFT} {CALLS}H{RIGHT}"/>',
        *(f'<circle class="call" cx="{x(call)}" cy="{CALLS}" r="6"/>' for call in calls),
        f'<text class="quiet middle" x="{x(calls[0] + (calls[-1] - calls[0]) / 2)}" y="{CALLS - 18}">a burst of {len(calls)}</text>',
        f'<path class="guide" d="M{last} {CALLS + 10}V{RUN - 10}M{due} {CALLS - 8}V{RUN - 14}"/>',
        f'<path class="span" d="M{last + 3} {QUIET}H{due - 3}m-6 -4l6 4-6 4M{last + 9} {QUIET - 4}l-6 4 6 4"/>',
        f'<text class="quiet" x="{due + 10}" y="{QUIET + 5}">{WAIT} ms</text>',
        f'<text class="name" x="16" y="{RUN + 6}">runs</text>',
        f'<path class="base" d="M{LEFT} {RUN}H{RIGHT}"/>',
        f'<rect class="wait" x="{start}" y="{RUN - 6}" width="{round(due - start, 1)}" height="12" rx="2"/>',
        f'<path class="run" d="M{due} {RUN - 11}l8 11l-8 11l-8-11Z"/>',
        f'<text class="runs" x="{due + 8}" y="{RUN + 34}">one run, with the last value</text>',
    ]
    title = f"A burst of {len(calls)} calls, and one run: when no call has come for {WAIT} ms"
    return PICTURE.format(width=WIDTH, height=HEIGHT, title=title, parts="\n".join(parts))


if __name__ == "__main__":
    with open(TRACE, encoding="utf-8") as file:
        submits = [json.loads(line) for line in file]
    output = subprocess.run(
        [sys.argv[1], "simulate", "--wait", f"{WAIT}ms", "--format", "jsonl", TRACE], capture_output=True, check=True, text=True).stdout
    [execution] = [json.loads(line) for line in output.splitlines()]
    if (execution["count"], execution["value"]) != (len(submits), submits[-1]["value"]):
        raise SystemExit(f"site: the burst has another execution than it says: {execution}")
    print(draw([submit["at"] for submit in submits], execution), end="")
