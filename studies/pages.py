"""Tables and pictures of coverage, as the pages of studies show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from juryrank.charts.library import altair
from studies.covered import CONFIDENCE, LEAST, MOST, RANKS

LOWEST_SHOWN = 0.89


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table, line by line."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def accepted(what: str) -> tuple[float, float]:
    """The coverage of a quantity that is not called out."""
    return (CONFIDENCE, 1.0) if what in RANKS else (LEAST, MOST)


def percent(cell: dict[str, Any]) -> str:
    """Coverage and its standard error; set in bold outside the limits."""
    text = f"{cell['coverage']:.1%} ± {100 * cell['se']:.1f}"
    least, most = accepted(cell["what"])
    return text if least <= cell["coverage"] <= most else f"**{text}**"


def outside(table: pl.DataFrame) -> Iterator[str]:
    """Every coverage outside its limits, as a line of a list."""
    found = 0
    for row in table.iter_rows(named=True):
        least, most = accepted(row["what"])
        if not least <= row["coverage"] <= most:
            found += 1
            yield f"- {row['setting']}, {row['model']}, {row['what']}: {percent(row)}"
    if not found:
        yield "- none."


def coverage_chart(
    table: pl.DataFrame, settings: Sequence[str], quantities: Sequence[str]
) -> object:
    """Coverage of each quantity in each setting, two standard errors to either side."""
    alt = altair()
    shown = table.filter(pl.col("what").is_in(quantities))
    shown = shown.with_columns(
        low=pl.col("coverage") - 2.0 * pl.col("se"),
        high=pl.min_horizontal(pl.col("coverage") + 2.0 * pl.col("se"), 1.0),
        least=pl.Series([accepted(what)[0] for what in shown["what"]]),
        most=pl.Series([accepted(what)[1] for what in shown["what"]]),
        wanted=pl.lit(CONFIDENCE),
    )  # fmt: skip
    base = alt.Chart(shown, width=150, height=230)
    tilted = alt.Axis(labelAngle=-45)
    x = alt.X("setting:N", title=None, sort=list(settings), axis=tilted)
    ticks = alt.Axis(format=".0%", values=[0.91, 0.93, 0.95, 0.97, 0.99])
    scale = alt.Scale(domain=[LOWEST_SHOWN, 1.0], nice=False, zero=False)

    def y(name: str) -> object:
        return alt.Y(f"{name}:Q", title="coverage", scale=scale, axis=ticks)

    side, colour = alt.XOffset("model:N"), alt.Color("model:N", title=None)
    limits = base.transform_aggregate(least="min(least)", most="max(most)", groupby=["what"])
    band = limits.mark_rect(opacity=0.25, color="green").encode(y=y("least"), y2="most:Q")
    rule = base.mark_rule(strokeDash=[4, 3]).encode(y=y("wanted"))
    bars = base.mark_rule(strokeWidth=2, clip=True).encode(
        x=x, xOffset=side, y=y("low"), y2="high:Q", color=colour
    )
    dots = base.mark_circle(size=60, opacity=1.0, clip=True).encode(
        x=x, xOffset=side, y=y("coverage"), color=colour
    )
    column = alt.Column("what:N", title=None, sort=list(quantities))
    title = f"Coverage of {CONFIDENCE:.0%} intervals, with two standard errors"
    return alt.layer(band, rule, bars, dots).facet(column=column, title=title)
