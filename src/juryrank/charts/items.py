"""Charts of the items: their scores with intervals, or draws of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from juryrank.charts.layout import (
    FAINT,
    MANY_TICKS,
    PLAIN,
    ROW,
    WIDTH,
    Row,
    framed,
    indexed,
    named_axis,
    reference_line,
    thinned,
    whisker,
)
from juryrank.charts.library import altair
from juryrank.text import literal
from juryrank.types import Floats

if TYPE_CHECKING:
    from juryrank.model.points import Scale

ROOM_FOR_TIER = 44
ROOM_FOR_GROUP_AND_TIER = 92


def item_row(row: Row) -> Row:
    """What is drawn of an item."""
    known = row["score_low"] is not None
    return {
        "item": literal(row["item"]),
        "group": row.get("group"),
        "rank": row["rank"],
        "score": row["score"],
        "low": row["score_low"],
        "high": row["score_high"],
        "tier": row["tier"],
        "ranks": f"{row['rank_low']:,} to {row['rank_high']:,}" if known else None,
        "best": row["p_best"],
    }


def few_items(rows: list[Row], scale: Scale, interval: str) -> Any:
    """A row for each item: its score with its interval, tier by tier."""
    alt = altair()
    known = rows[0]["low"] is not None
    base = alt.Chart(alt.Data(values=indexed(_with_tier_labels(rows)))).encode(
        y=named_axis(alt.Y, "index", [row["item"] for row in rows])
    )
    x = alt.X(
        "score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=MANY_TICKS),
        title=f"score with {interval}" if known else "score",
    )  # fmt: skip
    point = base.mark_point(filled=True, opacity=1, size=80, color=PLAIN).encode(
        x=x, tooltip=_item_tooltip(alt, rows, scale)
    )
    if not known:
        return framed(*_average_line(alt, rows, scale), point, rows=len(rows))
    band = base.transform_filter("datum.tier % 2 == 0").mark_rect(color=FAINT, opacity=0.13)
    tier = (
        base.transform_filter("datum.opens")
        .mark_text(align="left", dx=6, fontSize=10, opacity=0.75)
        .encode(text="said:N", x=alt.value("width"))
    )
    layers = (band, *_average_line(alt, rows, scale), whisker(base, PLAIN), point, tier)
    room = ROOM_FOR_TIER if rows[0]["group"] is None else ROOM_FOR_GROUP_AND_TIER
    beside = {"left": 5, "top": 5, "bottom": 5, "right": room}
    return framed(*layers, rows=len(rows)).properties(padding=beside)


def _with_tier_labels(rows: list[Row]) -> list[Row]:
    """Rows with what is said of their tier, and whether they are its first."""
    labelled: list[Row] = []
    above: tuple[object, object] | None = None
    for row in rows:
        group, tier = own = row["group"], row["tier"]
        label = f"tier {tier}" if group is None else f"group {group}, tier {tier}"
        labelled.append(row | {"opens": own != above, "said": label})
        above = own
    return labelled


def many_items(rows: list[Row], scale: Scale) -> Any:
    """The course of the scores by rank, with their intervals as a band."""
    alt = altair()
    base = alt.Chart(alt.Data(values=thinned(rows)), width=WIDTH, height=300).encode(
        x=alt.X(
            "rank:Q", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=MANY_TICKS)
        )
    )
    y = alt.Y("score:Q", scale=alt.Scale(zero=False), title="score")
    point = base.mark_point(filled=True, opacity=0.9, size=14, color=PLAIN).encode(
        y=y, tooltip=_item_tooltip(alt, rows, scale)
    )
    if rows[0]["low"] is None:
        return point
    band = base.mark_area(opacity=0.25, color=PLAIN).encode(
        y="low:Q", y2="high:Q", detail="group:N"
    )
    return band + point


def drawn_items(rows: list[Row], draws: Floats, interval: str) -> Any:
    """A tick for each draw, and the score with its interval."""
    alt = altair()
    names = [row["item"] for row in rows]
    with_index = indexed(rows)
    y = named_axis(alt.Y, "index", names)
    ticks = [
        {"index": row["index"], "score": float(draw)}
        for row, own in zip(with_index, draws.T, strict=True)
        for draw in own
    ]
    x = alt.X(
        "score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=MANY_TICKS),
        title=f"draws of the score, with {interval}",
    )  # fmt: skip
    drawn = alt.Chart(alt.Data(values=ticks)).encode(y=y)
    strip = drawn.mark_tick(color=PLAIN, opacity=0.18, thickness=1.5, bandSize=ROW - 4).encode(x=x)
    base = alt.Chart(alt.Data(values=with_index)).encode(y=y)
    point = base.mark_point(filled=True, opacity=1, size=60, color="black").encode(x=x)
    return framed(strip, whisker(base, "black"), point, rows=len(rows))


def _average_line(alt: Any, rows: Sequence[Row], scale: Scale) -> list[Any]:
    """A line at the score of the average item, if that is anywhere near."""
    ends = [row[name] for row in rows for name in ("score", "low", "high")]
    known = [end for end in ends if end is not None]
    near = min(known) <= scale.average <= max(known)
    return [reference_line(alt, "x", scale.average)] if near else []


def _item_tooltip(alt: Any, rows: Sequence[Row], scale: Scale) -> list[Any]:
    number = f".{scale.decimals + 1}f" if scale.decimals else ".0f"
    shown = [alt.Tooltip("item:N"), alt.Tooltip("rank:Q"), alt.Tooltip("score:Q", format=number)]
    if rows[0]["low"] is None:
        return shown
    return [
        *shown,
        alt.Tooltip("low:Q", format=number),
        alt.Tooltip("high:Q", format=number),
        alt.Tooltip("ranks:N", title="plausible ranks"),
        alt.Tooltip("best:Q", title="chance to be the best", format=".1%"),
        alt.Tooltip("tier:Q"),
    ]
