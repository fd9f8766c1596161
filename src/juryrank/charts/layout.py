"""What charts of all kinds share: sizes, colours, axes with names, and lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from juryrank.charts.library import altair
from juryrank.text import short

Row = dict[str, Any]

WIDTH = 620
ROW = 22
"""The height of an item or judge that is named."""
MOST_NAMED = 60
"""More items or judges than that are drawn side by side, without their names."""
MOST_MARKS = 1_500
MANY_TICKS = 8
WIDEST_LABEL, WIDEST_ON_PHONE = 28, 13
"""In letters."""
NARROW_SCREEN = 520
NO_LIMIT = 0
PLAIN = "#0072B2"
FAINT = "#888888"


def indexed(rows: list[Row]) -> list[Row]:
    """Rows with their indices, from 1 on."""
    return [row | {"index": index} for index, row in enumerate(rows, start=1)]


def named_axis(channel: Any, field: str, names: Sequence[str]) -> Any:
    """An axis of indices from 1 on, with a name at each.

    The charting library takes labels, and even single texts in expressions, for properties of its
    own objects ("constructor"). With indices and one text of all names there is nothing to mistake;
    there are no line breaks in names (see `literal`).
    """
    narrow, wide = (
        json.dumps("\n".join(["", *(short(name, most) for name in names)]))
        for most in (WIDEST_ON_PHONE, WIDEST_LABEL)
    )
    lines = f"windowSize()[0] < {NARROW_SCREEN} ? {narrow} : {wide}"
    axis = altair().Axis(
        labelExpr=f"split({lines}, '\\n')[datum.value]",
        labelLimit=NO_LIMIT,  # where that cuts a sign in two, no picture can be saved
        labelOverlap=False,
        title=None,
        ticks=False,
    )
    indices = list(range(1, len(names) + 1))
    return channel(f"{field}:O", scale=altair().Scale(domain=indices), axis=axis)


def whisker(base: Any, colour: str) -> Any:
    """A line from the low to the high end of an interval."""
    return base.mark_rule(strokeWidth=3, opacity=0.7, color=colour).encode(x="low:Q", x2="high:Q")


def reference_line(alt: Any, axis: str, value: float) -> Any:
    """A dashed line across the chart at a value."""
    line = alt.Chart(alt.Data(values=[{"at": value}]))
    return line.mark_rule(strokeDash=[4, 4], color=FAINT).encode(**{axis: "at:Q"})


def framed(*layers: Any, rows: int) -> Any:
    """Layers in one frame that has room for so many rows."""
    return altair().layer(*layers).properties(width=WIDTH, height=max(ROW * rows, 3 * ROW))


def thinned(rows: list[Row]) -> list[Row]:
    """At most so many rows, evenly spaced, the first and the last among them."""
    if len(rows) <= MOST_MARKS:
        return rows
    kept = np.unique(np.linspace(0, len(rows) - 1, MOST_MARKS).round().astype(int))
    return [rows[index] for index in kept]
