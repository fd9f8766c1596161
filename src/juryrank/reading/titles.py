"""Lines above the header of a table: a title, a date, a blank line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from juryrank.errors import listing
from juryrank.reading.names import NAMES, known_names, plain, without_scale
from juryrank.reading.outcome_words import number_in

MOST_ABOVE_HEADER = 20
MOST_IN_TITLE = 2
"""Cells that a line above the header may have, if the header has at least twice as many."""
_KNOWN = frozenset().union(*(known_names(role) for role in NAMES))
Line = Sequence[str | None]


def lines_above_header(lines: Sequence[Line]) -> int:
    """Count the lines above the header: those with hardly a cell, if a full header follows.

    A full header has no empty cell between its names, no name twice, no number, and no name that
    stands again below it. Nothing is above it if the first line may be a header by itself.
    """
    for number, line in enumerate(lines[: MOST_ABOVE_HEADER + 1]):
        if _is_full(lines, number):
            titles = _are_titles(lines[:number], len(_filled(line)))
            return number if titles and _is_header(lines, number) else 0
    return 0


def _is_full(lines: Sequence[Line], number: int) -> bool:
    """Whether a line has a cell for each column of the lines below it, but perhaps one."""
    names = len(_filled(lines[number])) if number < len(lines) else 0
    return (
        names >= 2
        and names >= max((len(_filled(row)) for row in lines[number + 1 :]), default=0) - 1
    )


def _filled(line: Line) -> list[str]:
    return [cell.strip() for cell in line if cell and cell.strip()]


def _are_titles(lines: Sequence[Line], width: int) -> bool:
    cells = [_filled(line) for line in lines]
    most = MOST_IN_TITLE if width >= 2 * MOST_IN_TITLE else 1
    return all(len(line) <= most for line in cells) and not any(
        plain(without_scale(cell)) in _KNOWN for line in cells for cell in line[:1]
    )


def _is_header(lines: Sequence[Line], number: int) -> bool:
    names = [(cell or "").strip() for cell in lines[number]]
    while names and not names[-1]:
        names.pop()
    if not all(names[1:]) or len(set(names)) < len(names):
        return False
    # Years and numbers of rounds may be names of columns, but not of most.
    if 2 * sum(number_in(name) is not None for name in names) > len(names):
        return False
    below = lines[number + 1 :]
    return bool(below) and not any(
        at < len(row) and name and (row[at] or "").strip() == name
        for row in below
        for at, name in enumerate(names)
    )


def said_of_titles(lines: Sequence[Line]) -> str:
    """Say which lines above the header were passed over."""
    shown = [repr(" ".join(cells)[:60]) for line in lines if (cells := _filled(line))]
    what = f"{len(lines)} lines" if len(lines) > 1 else "a line"
    return f"passed over {what} above the header" + (f" ({listing(shown, 2)})" if shown else "")


class Below(NamedTuple):
    """Where a header begins that has lines above it, in letters, and what to say of these."""

    start: int
    separator: str
    remark: str


def header_below(text: str, guess: str, separators: Iterable[str]) -> Below | None:
    """Find the header of delimited text below its titles; None if the first line is the header.

    Args:
        text: The first lines of the text.
        guess: The separator that the first line has most of.
        separators: Those that the lines below may have.
    """
    for separator in (guess, *separators):
        source = io.StringIO(text, newline="")
        reader = csv.reader(iter(source.readline, ""), delimiter=separator)
        lines: list[list[str]] = []
        ends: list[int] = []
        try:
            for line in reader:
                lines.append(line)
                ends.append(source.tell())
        except csv.Error:
            continue
        whole = lines[:-1] if len(lines) > 2 else lines  # the last may be cut off
        if above := lines_above_header(whole):
            return Below(ends[above - 1], separator, said_of_titles(lines[:above]))
        if separator == guess and _is_full(whole, 0):
            return None
    return None
