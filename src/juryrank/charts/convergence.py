"""The chart of how the solver came to its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juryrank.charts.layout import WIDTH, Row, thinned
from juryrank.charts.library import altair


def convergence_chart(steps: Sequence[tuple[int, float, float]]) -> Any:
    """The gradient that is left; if it is not known, how far the objective is above its lowest."""
    alt = altair()
    lowest = min(objective for _, objective, _ in steps)
    by_gradient = all(np.isfinite(gradient) for _, _, gradient in steps)
    rows: list[Row] = []
    stage = 0
    for done, (number, objective, gradient) in enumerate(steps, start=1):
        stage += number == 1 or not rows
        left = gradient if by_gradient else objective - lowest
        rows.append({"step": done, "stage": stage, "objective": objective, "left": left})
    title = "gradient left, in standard errors" if by_gradient else "objective above its lowest"
    powers = alt.Axis(format="~e", tickCount=6)
    return (
        alt.Chart(alt.Data(values=thinned([row for row in rows if row["left"] > 0.0])))
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("left:Q", scale=alt.Scale(type="log"), axis=powers, title=title),
            color=alt.Color("stage:N", legend=alt.Legend(orient="bottom")),
            tooltip=["step:Q", "stage:N", "objective:Q", "left:Q"],
        )
        .properties(width=WIDTH, height=220)
    )
