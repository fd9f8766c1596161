"""Draw the rooms and the path of a vote from docs/architecture.md: `python docs/pictures/rooms.py`.

Each room is a band, the upper on top; each step of the path is a box with its file, in the band of
its room, and steps follow each other from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE.parent / "architecture.md"
PICTURE = HERE / "rooms.svg"

NAMES, BOX, GAP, BAND, MARGIN = 92, 92, 10, 50, 8
"""Widths of the names of rooms, of a box and between boxes; height of a band; all in pixels."""
STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #1a1a2e; }
  .room { font-weight: 600; font-size: 13px; }
  .file { fill: #555; font-size: 9.5px; }
  .band { fill: #f2f3fb; stroke: #d5d8ee; }
  .box { fill: #fff; stroke: #3f51b5; stroke-width: 1.3; }
  .path { fill: none; stroke: #3f51b5; stroke-width: 1.6; opacity: .55; marker-end: url(#head); }
"""


class Step(NamedTuple):
    """A step of the path of a vote."""

    number: int
    name: str
    file: str

    @property
    def room(self) -> str:
        """Where it is done."""
        return self.file.split("/")[0]


def rows(page: str, heading: str) -> Iterator[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def steps(page: str) -> list[Step]:
    """The path of a vote."""
    return [Step(int(row[0]), row[1], row[2]) for row in rows(page, "The path of a vote")]


def rooms(page: str) -> list[str]:
    """The rooms from the top down."""
    return [row[0] for row in rows(page, "The rooms")]


def picture(page: str) -> str:
    """The drawing as SVG."""
    path, bands = steps(page), rooms(page)
    width = 2 * MARGIN + NAMES + len(path) * (BOX + GAP)
    height = 2 * MARGIN + len(bands) * BAND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        "<title>The rooms of juryrank, and the path of a vote through them</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="#3f51b5"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(_band(number, name, width) for number, name in enumerate(bands)),
        *_arrows(path, bands),
        *(_box(step, bands) for step in path),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _band(number: int, name: str, width: int) -> str:
    top = MARGIN + number * BAND
    return (
        f'<rect class="band" x="{MARGIN}" y="{top}" width="{width - 2 * MARGIN}" '
        f'height="{BAND - 4}" rx="5"/>'
        f'<text class="room" x="{MARGIN + 10}" y="{top + BAND / 2 + 2:g}">{escape(name)}</text>'
    )


def _corner(step: Step, bands: list[str]) -> tuple[int, int]:
    """Where the box of a step begins."""
    left = MARGIN + NAMES + (step.number - 1) * (BOX + GAP)
    return left, MARGIN + bands.index(step.room) * BAND + 5


def _arrows(path: list[Step], bands: list[str]) -> Iterator[str]:
    for before, after in pairwise(path):
        (x, y), (to, down) = _corner(before, bands), _corner(after, bands)
        middle = (BAND - 14) / 2
        if y == down:
            yield f'<path class="path" d="M{x + BOX} {y + middle:g} H{to - 1}"/>'
            continue
        # From the side of a box to the top or the bottom of the next.
        end = down - 1 if down > y else down + BAND - 13
        yield f'<path class="path" d="M{x + BOX} {y + middle:g} H{to + BOX / 2:g} V{end}"/>'


def _box(step: Step, bands: list[str]) -> str:
    x, y = _corner(step, bands)
    middle, file = x + BOX / 2, re.sub(r"^.*/", "", step.file)
    return (
        f'<rect class="box" x="{x}" y="{y}" width="{BOX}" height="{BAND - 14}" rx="4"/>'
        f'<text text-anchor="middle" x="{middle:g}" y="{y + 15}">{step.number}. '
        f"{escape(step.name)}</text>"
        f'<text class="file" text-anchor="middle" x="{middle:g}" y="{y + 28}">{escape(file)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
