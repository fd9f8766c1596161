"""Matrices of items or of judges: a coloured square for each pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.charts.layout import ROW, WIDTH, Row, named_axis
from juryrank.charts.library import altair
from juryrank.types import Floats

MOST_IN_MATRIX = 40
MOST_WITH_NUMBERS = 12
"""Rows of a matrix up to which its cells have room for numbers."""


def matrix_cells(names: list[str], value: Floats, more: dict[str, Floats]) -> list[Row]:
    """The cells of a matrix that have a value, row by row."""
    return [
        {"row": one, "column": other, "i": i + 1, "j": j + 1, "value": float(value[i, j])}
        | {name: float(numbers[i, j]) for name, numbers in more.items()}
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if np.isfinite(value[i, j])
    ]


def heat_map(names: list[str], cells: list[Row], what: str, title: str) -> Any:
    """A matrix of chances or shares as coloured squares, with numbers where there is room."""
    alt = altair()
    scale = alt.Scale(scheme="blueorange", domain=[0.0, 1.0], reverse=True)
    legend = alt.Legend(
        format=".0%",
        orient="bottom",
        title=title,
        gradientLength=200,
        titleLimit=300,
        values=[0.0, 0.5, 1.0],
    )
    tooltip = [
        alt.Tooltip("row:N"),
        alt.Tooltip("column:N"),
        alt.Tooltip("value:Q", format=".1%", title=what),
    ]
    if cells and "shared" in cells[0]:
        tooltip.append(alt.Tooltip("shared:Q", title="shared pairs"))
    base = alt.Chart(
        alt.Data(values=cells), width=WIDTH, height=min(ROW * len(names) + 40, WIDTH)
    ).encode(x=named_axis(alt.X, "j", names), y=named_axis(alt.Y, "i", names))
    squares = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, legend=legend), tooltip=tooltip
    )
    if len(names) > MOST_WITH_NUMBERS:
        return squares
    far = "abs(datum.value - 0.5) > 0.32"
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".0%"),
        color=alt.condition(far, alt.value("white"), alt.value("#222222")),
    )
    return squares + numbers
