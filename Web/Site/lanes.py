"""Draws docs/pictures/lanes.svg, the first picture of the README: a stretch of recorded typing, and the runs that `lull simulate` makes of it.

lanes.py LULL: LULL is the command. The picture goes to the standard output. It moves as the typing did, and stands still where the
reader wants less motion.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
TRACE = os.path.join(ROOT, "Tests/data/typing-article.jsonl")
# The stretch, in seconds of the trace: some four sentences with pauses between them.
FROM, TO = 23627.5, 23637.2
WAIT, EVERY = "500ms", "1s"
# Small and with large letters, for a phone.
WIDTH, HEIGHT, LEFT, RIGHT = 560, 206, 16, 544
LANES = {"calls": 46, "debounced": 112, "throttled": 178}
# How long the picture rests at its end, in seconds.
REST = 3

PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title">
<title id="title">{title}</title>
<style>
text {{ font: 16px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; fill: #57606a }}
tspan {{ font-weight: 600; fill: #24292f }}
.base {{ stroke: #8c959f }}
.call {{ fill: #24292f }}
.wait {{ fill: #0072b2; opacity: .35 }}
.run {{ fill: #0072b2 }}
.now {{ stroke: #0072b2; visibility: hidden }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #9da7b3 }}
tspan, .call {{ fill: #e6edf3 }}
.base {{ stroke: #6e7681 }}
.wait, .run {{ fill: #56b4e9 }}
.now {{ stroke: #56b4e9 }}
}}
@media (prefers-reduced-motion: no-preference) {{
.seen {{ animation: seen {period}s linear infinite }}
.now {{ animation: now {period}s linear infinite }}
@keyframes seen {{ 0% {{ clip-path: inset(0 100% 0 0) }} {moving}%, 100% {{ clip-path: inset(0 0 0 0) }} }}
@keyframes now {{ 0% {{ visibility: visible; transform: none }} {moving}% {{ visibility: visible; transform: translateX({way}px) }}
{after}%, 100% {{ visibility: hidden; transform: translateX({way}px) }} }}
}}
</style>
{parts}
</svg>
"""


def x(instant):
    return round(LEFT + (instant - FROM) / (TO - FROM) * (RIGHT - LEFT), 1)


def runs(lull, option, duration, trace):
    """Returns what a policy makes of the stretch."""
    output = subprocess.run([lull, "simulate", option, duration, "--format", "jsonl", "-"],
                            input=trace, capture_output=True, check=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def label(lane, name, text):
    return f'<text x="{LEFT}" y="{LANES[lane] - 22}"><tspan>{name}</tspan> {text}</text>'


def marks(lane, executions):
    """Returns a diamond for each run, behind a bar for the time for which its value was pending."""
    y = LANES[lane]
    bars = (f'<rect class="wait" x="{x(one["first"])}" y="{y - 5}" width="{round(x(one["at"]) - x(one["first"]), 1)}" height="10" rx="2"/>'
            for one in executions if one["at"] > one["first"])
    return [*bars, *(f'<path class="run" d="M{x(one["at"])} {y - 10}l7 10l-7 10l-7-10Z"/>' for one in executions)]


def draw(calls, debounced, throttled):
    moving = round(100 * (TO - FROM) / (TO - FROM + REST), 1)
    parts = [
        label("calls", f"{len(calls)} calls,", "as somebody types"),
        label("debounced", f"debounced: {len(debounced)} runs,", "when no call has come for half a second"),
        label("throttled", f"throttled: {len(throttled)} runs,", "at once, then at most one a second"),
        *(f'<path class="base" d="M{LEFT} {y}H{RIGHT}"/>' for y in LANES.values()),
        '<g class="seen">',
        # As wide as the picture, since the clip is a part of what the group covers.
        f'<path fill="none" d="M{LEFT} 0H{RIGHT}V{HEIGHT}H{LEFT}Z"/>',
        *(f'<circle class="call" cx="{x(call)}" cy="{LANES["calls"]}" r="4.5"/>' for call in calls),
        *marks("debounced", debounced),
        *marks("throttled", throttled),
        "</g>",
        f'<path class="now" d="M{LEFT} {LANES["calls"] - 12}V{LANES["throttled"] + 14}"/>',
    ]
    title = (f"{len(calls)} calls in {TO - FROM:.0f} seconds of typing. Debounced by {WAIT}, they are {len(debounced)} runs, each with "
             f"the last value; throttled to one a second, {len(throttled)}.")
    return PICTURE.format(width=WIDTH, height=HEIGHT, title=title, parts="\n".join(parts), way=RIGHT - LEFT, moving=moving,
                          after=moving + 0.1, period=round(TO - FROM + REST, 1))


if __name__ == "__main__":
    with open(TRACE, encoding="utf-8") as file:
        stretch = [line for line in file if FROM <= json.loads(line)["at"] < TO]
    instants = [json.loads(line)["at"] for line in stretch]
    lanes = [runs(sys.argv[1], option, duration, "".join(stretch)) for option, duration in (("--wait", WAIT), ("--throttle", EVERY))]
    for lane in lanes:
        if sum(one["count"] for one in lane) != len(instants) or lane[-1]["at"] > TO:
            raise SystemExit(f"site: a run is missing in the stretch: {lane}")
    print(draw(instants, *lanes), end="")
