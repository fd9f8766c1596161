"""Charts of the pairs: how often favourites won, beside how often they should have won."""

from __future__ import annotations

from typing import Any

import polars as pl

from juryrank.charts.layout import FAINT, PLAIN, WIDTH, Row
from juryrank.charts.library import altair
from juryrank.text import literal

MOST_DOTS = 1_000
LEAST_VOTES_OF_DOT = 5


def pairs_with_dots(pairs: pl.DataFrame) -> list[Row]:
    """Pairs of items with enough votes; none if there are too many to draw."""
    some = pairs.filter(pl.col("votes") >= LEAST_VOTES_OF_DOT)
    return some.to_dicts() if len(some) <= MOST_DOTS else []


def dots_of(pairs: pl.DataFrame) -> list[Row]:
    """Pairs to draw, the favourite first."""
    rows = []
    for row in pairs_with_dots(pairs):
        favourite = row["expected"] >= 0.5
        one, other = ("item", "other") if favourite else ("other", "item")
        rows.append(
            {
                "pair": literal(f"{row[one]} against {row[other]}"),
                "votes": row["votes"],
                "observed": row["observed"] if favourite else 1.0 - row["observed"],
                "expected": row["expected"] if favourite else 1.0 - row["expected"],
            }
        )
    return rows


def calibration_chart(bins: list[Row], dots: list[Row], interval: str) -> Any:
    """Votes in bins by how sure the model is of them, and single pairs as pale dots."""
    alt = altair()
    lowest = min([0.5, *(row["low"] for row in bins), *(row["observed"] for row in dots)])
    percent = {"axis": alt.Axis(format=".0%", tickCount=6)}
    x = alt.X("expected:Q", scale=alt.Scale(domain=[0.5, 1.0]), **percent).title(
        "chance of the favourite, by the model"
    )
    y = alt.Y("observed:Q", scale=alt.Scale(domain=[lowest, 1.0]), **percent).title(
        "share of votes it won"
    )
    votes = alt.Tooltip("votes:Q", format=",.4~f")
    shares = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("expected", "observed")]
    ends_told = [
        alt.Tooltip("low:Q", format=".1%", title=f"{interval} from"),
        alt.Tooltip("high:Q", format=".1%", title="to"),
    ]
    ends = [{"expected": 0.5, "observed": 0.5}, {"expected": 1.0, "observed": 1.0}]
    just = alt.Chart(alt.Data(values=ends)).mark_line(strokeDash=[4, 4], color=FAINT)
    base = alt.Chart(alt.Data(values=bins))
    whisker = base.mark_rule(strokeWidth=2, color=PLAIN, opacity=0.6).encode(
        x=x, y="low:Q", y2="high:Q"
    )
    point = base.mark_point(filled=True, size=80, opacity=1, color=PLAIN).encode(
        x=x, y=y, tooltip=[votes, *shares, *ends_told]
    )
    layers = [just.encode(x=x, y=y), whisker, point]
    if dots:
        size = alt.Size("votes:Q", scale=alt.Scale(range=[12, 160]), legend=None)
        pair = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, opacity=0.25, color=FAINT)
        told = [alt.Tooltip("pair:N"), votes, *shares]
        layers.insert(1, pair.encode(x=x, y=y, size=size, tooltip=told))
    return alt.layer(*layers).properties(width=WIDTH, height=320)
