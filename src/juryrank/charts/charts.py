"""Pictures of a ranking: charts of the charting library, to be shown, changed or saved.

``ranking.plot.items().save("items.png")``; also ``.svg``, and ``.html`` (with ``inline=True`` for a
page that needs no network). What is drawn is at most some thousand marks, whatever the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from juryrank.charts.library import altair
from juryrank.errors import InputError, percent
from juryrank.judging.verdict_words import VERDICTS
from juryrank.model.registry import Judges, model_named
from juryrank.text import literal, short
from juryrank.types import Floats

if TYPE_CHECKING:
    from juryrank.model.points import Scale
    from juryrank.ranking.ranking import Ranking
    from juryrank.votes.tallies import Agreement

Row = dict[str, Any]

WIDTH = 620
ROW = 22
"""The height of an item or judge that is named."""
MOST_NAMED = 60
"""More items or judges than that are drawn side by side, without their names."""
ROOM_FOR_TIER = 44
ROOM_FOR_GROUP_AND_TIER = 92
MOST_MARKS = 1_500
MOST_WITH_DRAWS = 20
MOST_DRAWS = 150
"""Of each item, in a picture of draws."""
MOST_IN_MATRIX = 40
MOST_WITH_NUMBERS = 12
"""Rows of a matrix up to which its cells have room for numbers."""
MOST_DOTS = 1_000
LEAST_VOTES_OF_DOT = 5
MANY_TICKS = 8
WIDEST_LABEL, WIDEST_ON_PHONE = 28, 13
"""In letters."""
NARROW_SCREEN = 520
NO_LIMIT = 0
LANDMARKS: dict[Judges, tuple[float, ...]] = {
    "accuracy": (0.0, 1.0),
    "reliability": (0.5, 1.0),
    "equal": (),
}
"""Where a guesser is, and the average judge or one who never errs."""
PLAIN = "#0072B2"
FAINT = "#888888"
LOOK_OF_VERDICT = {
    "one-sided": ("#CC79A7", "diamond"),
    "position-biased": ("#009E73", "cross"),
    "backwards": ("#D55E00", "triangle-down"),
    "inconsistent": ("#B8860B", "triangle-right"),
    "guessing": ("#E69F00", "square"),
    "of another opinion": ("#A89000", "square"),
    "opinions split": ("#A89000", "diamond"),
    "copy": ("#CC79A7", "square"),
    "single-item": ("#CC79A7", "triangle-up"),
    "withheld": ("#999999", "cross"),
    "too few votes to tell": ("#999999", "triangle-up"),
    "ordinary": ("#56B4E9", "circle"),
    "reliable": ("#0072B2", "circle"),
}
"""Colours that the colour-blind can tell apart, on light and dark pages, and a shape for each."""


class Plots:
    """The pictures of one ranking, ``ranking.plot``; every one is an Altair chart."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking

    def items(self, top: int | None = None) -> Any:
        """The scores with their intervals, tier by tier; of many items, the course of them all.

        Args:
            top: Only so many of the best items.
        """
        if top is not None and top < 1:
            raise InputError(f"top={top} must be at least 1.")
        shown = self._ranking.items.head(top or len(self._ranking.items))
        rows = [_item_row(row) for row in shown.iter_rows(named=True)]
        scale = self._ranking.scale
        if len(rows) > MOST_NAMED:
            return _many_items(rows, scale)
        return _few_items(rows, scale, self._interval)

    def posterior(self, top: int = MOST_WITH_DRAWS) -> Any:
        """Draws of the scores of the best items: what is known of them after the votes.

        Args:
            top: How many of the best items.
        """
        if not 1 <= top <= MOST_WITH_DRAWS:
            raise InputError(f"top={top} must be from 1 to {MOST_WITH_DRAWS}.")
        ranking, scale = self._ranking, self._ranking.scale
        rows = [_item_row(row) for row in ranking.items.head(top).iter_rows(named=True)]
        draws = scale.average + scale.unit * ranking.posterior.scores[:, : len(rows)]
        some = draws[:: -(-len(draws) // MOST_DRAWS)]
        return _drawn_items(rows, some, self._interval)

    def judges(self) -> Any:
        """The accuracies with their intervals, the largest first, coloured by verdict."""
        model = model_named(self._ranking.model)
        if not model.judges_differ:
            raise InputError(
                f"The model {self._ranking.model!r} treats all judges alike: there are no "
                "accuracies to draw. hbtl, the default, tells judges apart."
            )
        rows = [_judge_row(row) for row in self._ranking.judges.iter_rows(named=True)]
        if len(rows) > MOST_NAMED:
            return _many_judges(rows, model.judges)
        return _few_judges(rows, model.judges, self._interval)

    def pairs(self) -> Any:
        """How often favourites won, beside how often they should have won."""
        bins = self._ranking.evidence.calibration(self._ranking.fit.confidence)
        return _calibration(bins.to_dicts(), _dots(self._ranking.pairs), self._interval)

    def matrix(self, top: int = MOST_IN_MATRIX) -> Any:
        """The chance that a judge like these prefers the row's item to the column's."""
        if not 2 <= top <= MOST_IN_MATRIX:
            raise InputError(f"top={top} must be from 2 to {MOST_IN_MATRIX}.")
        items = self._ranking.items["item"].head(top)
        chance = np.stack([self._ranking.predict(None, items, [other]) for other in items], axis=1)
        np.fill_diagonal(chance, np.nan)
        if self._ranking.groups:
            group = self._ranking.items["group"].head(top).to_numpy()
            chance[group[:, None] != group[None, :]] = np.nan
        names = [literal(item) for item in items]
        return _heat_map(names, _cells(names, chance, {}), "chance", "chance that the row wins")

    def agreement(self) -> Any:
        """Who agrees with whom: a matrix of few judges, a map of many."""
        votes, judges = self._ranking.evidence.votes, self._ranking.judges
        if len(judges) < 2:
            raise InputError("There is only one judge: nobody to agree with.")
        found = self._ranking.agreement
        labels = votes.judges.gather(found.judge).to_list()
        if len(labels) > MOST_IN_MATRIX:
            what = model_named(self._ranking.model).judges
            return _map_of_judges(found, judges, labels, what)
        order = np.argsort(-found.position[:, 0], kind="stable")
        names = [literal(labels[u]) for u in order]
        shared = {"shared": found.shared[np.ix_(order, order)]}
        cells = _cells(names, found.share[np.ix_(order, order)], shared)
        return _heat_map(names, cells, "agree", "share of shared pairs on which they agree")

    def convergence(self) -> Any:
        """How the solver came to its answer, step by step."""
        if not len(self._ranking.fit.steps):
            raise InputError(
                f"The model {self._ranking.model!r} is computed at once: there is no convergence."
            )
        return _convergence(self._ranking.fit.steps)

    @property
    def _interval(self) -> str:
        return f"{percent(self._ranking.fit.confidence)} interval"


# --- items ---------------------------------------------------------------------------------------


def _item_row(row: Row) -> Row:
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


def _drawn_items(rows: list[Row], draws: Floats, interval: str) -> Any:
    """A tick for each draw, and the score with its interval."""
    alt = altair()
    names = [row["item"] for row in rows]
    placed = _placed(rows)
    y = _named(alt.Y, "place", names)
    ticks = [
        {"place": row["place"], "score": float(draw)}
        for row, own in zip(placed, draws.T, strict=True)
        for draw in own
    ]
    x = alt.X(
        "score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=MANY_TICKS),
        title=f"draws of the score, with {interval}",
    )  # fmt: skip
    drawn = alt.Chart(alt.Data(values=ticks)).encode(y=y)
    strip = drawn.mark_tick(color=PLAIN, opacity=0.18, thickness=1.5, bandSize=ROW - 4).encode(x=x)
    base = alt.Chart(alt.Data(values=placed)).encode(y=y)
    point = base.mark_point(filled=True, opacity=1, size=60, color="black").encode(x=x)
    return _framed(strip, _whisker(base, "black"), point, rows=len(rows))


def _few_items(rows: list[Row], scale: Scale, interval: str) -> Any:
    alt = altair()
    known = rows[0]["low"] is not None
    for before, row in zip([None, *rows], rows, strict=False):
        place, above = ((one["group"], one["tier"]) if one else None for one in (row, before))
        row["opens"] = place != above
        row["said"] = f"tier {row['tier']}"
        if row["group"] is not None:
            row["said"] = f"group {row['group']}, {row['said']}"
    base = alt.Chart(alt.Data(values=_placed(rows))).encode(
        y=_named(alt.Y, "place", [row["item"] for row in rows])
    )
    x = alt.X(
        "score:Q", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=MANY_TICKS),
        title=f"score with {interval}" if known else "score",
    )  # fmt: skip
    point = base.mark_point(filled=True, opacity=1, size=80, color=PLAIN).encode(
        x=x, tooltip=_item_tooltip(alt, rows, scale)
    )
    if not known:
        return _framed(*_average_line(alt, rows, scale), point, rows=len(rows))
    band = base.transform_filter("datum.tier % 2 == 0").mark_rect(color=FAINT, opacity=0.13)
    tier = (
        base.transform_filter("datum.opens")
        .mark_text(align="left", dx=6, fontSize=10, opacity=0.75)
        .encode(text="said:N", x=alt.value("width"))
    )
    layers = (band, *_average_line(alt, rows, scale), _whisker(base, PLAIN), point, tier)
    room = ROOM_FOR_TIER if rows[0]["group"] is None else ROOM_FOR_GROUP_AND_TIER
    beside = {"left": 5, "top": 5, "bottom": 5, "right": room}
    return _framed(*layers, rows=len(rows)).properties(padding=beside)


def _many_items(rows: list[Row], scale: Scale) -> Any:
    alt = altair()
    base = alt.Chart(alt.Data(values=_thinned(rows)), width=WIDTH, height=300).encode(
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


# --- judges --------------------------------------------------------------------------------------


def _judge_row(row: Row) -> Row:
    return {
        "judge": literal(row["judge"]),
        "accuracy": row["accuracy"],
        "low": row["accuracy_low"],
        "high": row["accuracy_high"],
        "votes": row["votes"],
        "verdict": row["verdict"],
        "reason": None if row["reason"] is None else literal(row["reason"]),
    }


def _are_known(rows: Iterable[Row]) -> bool:
    """Whether there are intervals."""
    return any(row["low"] is not None for row in rows)


def _judge_tooltip(alt: Any, what: Judges) -> list[Any]:
    return [
        alt.Tooltip("judge:N"),
        alt.Tooltip("accuracy:Q", format=".3f", title=what),
        alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"),
        alt.Tooltip("votes:Q", format=","),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("reason:N"),
    ]


def _few_judges(rows: list[Row], what: Judges, interval: str) -> Any:
    alt = altair()
    base = alt.Chart(alt.Data(values=_placed(rows))).encode(
        y=_named(alt.Y, "place", [row["judge"] for row in rows])
    )
    known = _are_known(rows)
    title = f"{what} with {interval}" if known else what
    x = alt.X("accuracy:Q", axis=alt.Axis(tickCount=MANY_TICKS), title=title)
    point = base.mark_point(filled=True, opacity=1, size=90).encode(
        x=x, tooltip=_judge_tooltip(alt, what), **_by_verdict(alt, rows)
    )
    below = [_reference(alt, "x", at) for at in LANDMARKS[what]]
    below += [_whisker(base, FAINT)] if known else []
    return _framed(*below, point, rows=len(rows))


def _many_judges(rows: list[Row], what: Judges) -> Any:
    alt = altair()
    base = alt.Chart(alt.Data(values=_thinned(_placed(rows))), width=WIDTH, height=300).encode(
        x=alt.X(
            "place:Q",
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickCount=MANY_TICKS),
            title=f"judges, by their {what}",
        )
    )
    point = base.mark_point(filled=True, opacity=0.9, size=24).encode(
        y=alt.Y("accuracy:Q", title=what),
        tooltip=_judge_tooltip(alt, what),
        **_by_verdict(alt, rows),
    )
    whisker = base.mark_rule(opacity=0.3, color=FAINT).encode(y="low:Q", y2="high:Q")
    below = [_reference(alt, "y", at) for at in LANDMARKS[what]]
    below += [whisker] if _are_known(rows) else []
    return alt.layer(*below, point).properties(width=WIDTH, height=300)


def _by_verdict(alt: Any, rows: Iterable[Row]) -> dict[str, Any]:
    """Colour and shape by verdict; one colour if there are none."""
    present = {row["verdict"] for row in rows}
    shown = [verdict for verdict in reversed(VERDICTS) if verdict in present]
    if not shown:
        return {"color": alt.value(PLAIN)}
    colours, shapes = zip(*(LOOK_OF_VERDICT[verdict] for verdict in shown), strict=True)
    legend = alt.Legend(title=None, orient="bottom", columns=4)
    return {
        "color": alt.Color(
            "verdict:N", scale=alt.Scale(domain=shown, range=colours), legend=legend
        ),
        "shape": alt.Shape("verdict:N", scale=alt.Scale(domain=shown, range=shapes), legend=legend),
    }


def _map_of_judges(found: Agreement, judges: pl.DataFrame, labels: list[Any], what: Judges) -> Any:
    alt = altair()
    known = {row["judge"]: _judge_row(row) for row in judges.iter_rows(named=True)}
    rows = [
        known[label] | {"x": x, "y": y}
        for label, (x, y) in zip(labels, found.position.tolist(), strict=True)
    ]
    bare = alt.Axis(labels=False, ticks=False, grid=False)
    point = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, opacity=0.8)
        .encode(
            x=alt.X("x:Q", axis=bare, title="against most judges \u2190   \u2192 with most judges"),
            y=alt.Y("y:Q", axis=bare, title="what divides them besides"),
            size=alt.Size("votes:Q", scale=alt.Scale(range=[35, 250]), legend=None),
            tooltip=_judge_tooltip(alt, what),
            **_by_verdict(alt, rows),
        )
    )
    lines = _reference(alt, "x", 0.0), _reference(alt, "y", 0.0)
    return alt.layer(*lines, point).properties(width=WIDTH, height=380)


# --- pairs ---------------------------------------------------------------------------------------


def pairs_with_dots(pairs: pl.DataFrame) -> list[Row]:
    """Pairs of items with enough votes; none if there are too many to draw."""
    some = pairs.filter(pl.col("votes") >= LEAST_VOTES_OF_DOT)
    return some.to_dicts() if len(some) <= MOST_DOTS else []


def _dots(pairs: pl.DataFrame) -> list[Row]:
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


def _calibration(bins: list[Row], dots: list[Row], interval: str) -> Any:
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


def _cells(names: list[str], value: Floats, more: dict[str, Floats]) -> list[Row]:
    """The cells of a matrix that have a value, row by row."""
    return [
        {"row": one, "column": other, "i": i + 1, "j": j + 1, "value": float(value[i, j])}
        | {name: float(numbers[i, j]) for name, numbers in more.items()}
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if np.isfinite(value[i, j])
    ]


def _heat_map(names: list[str], cells: list[Row], what: str, title: str) -> Any:
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
    ).encode(x=_named(alt.X, "j", names), y=_named(alt.Y, "i", names))
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


# --- convergence ---------------------------------------------------------------------------------


def _convergence(steps: Sequence[tuple[int, float, float]]) -> Any:
    """The slope that is left, or if it is not known, how far the objective is above its lowest."""
    alt = altair()
    lowest = min(objective for _, objective, _ in steps)
    by_slope = all(np.isfinite(slope) for _, _, slope in steps)
    rows: list[Row] = []
    stage = 0
    for done, (number, objective, slope) in enumerate(steps, start=1):
        stage += number == 1 or not rows
        left = slope if by_slope else objective - lowest
        rows.append({"step": done, "stage": stage, "objective": objective, "left": left})
    title = "slope left, in standard errors" if by_slope else "objective above its lowest"
    powers = alt.Axis(format="~e", tickCount=6)
    return (
        alt.Chart(alt.Data(values=_thinned([row for row in rows if row["left"] > 0.0])))
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("left:Q", scale=alt.Scale(type="log"), axis=powers, title=title),
            color=alt.Color("stage:N", legend=alt.Legend(orient="bottom")),
            tooltip=["step:Q", "stage:N", "objective:Q", "left:Q"],
        )
        .properties(width=WIDTH, height=220)
    )


# --- parts ---------------------------------------------------------------------------------------


def _placed(rows: list[Row]) -> list[Row]:
    return [row | {"place": place} for place, row in enumerate(rows, start=1)]


def _named(channel: Any, field: str, names: Sequence[str]) -> Any:
    """An axis of places from 1 on, with a name at each.

    The charting library takes labels, and even single texts in expressions, for properties of its
    own objects ("constructor"). With places and one text of all names there is nothing to mistake;
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
    places = list(range(1, len(names) + 1))
    return channel(f"{field}:O", scale=altair().Scale(domain=places), axis=axis)


def _whisker(base: Any, colour: str) -> Any:
    return base.mark_rule(strokeWidth=3, opacity=0.7, color=colour).encode(x="low:Q", x2="high:Q")


def _reference(alt: Any, axis: str, value: float) -> Any:
    line = alt.Chart(alt.Data(values=[{"at": value}]))
    return line.mark_rule(strokeDash=[4, 4], color=FAINT).encode(**{axis: "at:Q"})


def _average_line(alt: Any, rows: Sequence[Row], scale: Scale) -> list[Any]:
    """A line at the score of the average item, if that is anywhere near."""
    ends = [row[name] for row in rows for name in ("score", "low", "high")]
    known = [end for end in ends if end is not None]
    near = min(known) <= scale.average <= max(known)
    return [_reference(alt, "x", scale.average)] if near else []


def _framed(*layers: Any, rows: int) -> Any:
    return altair().layer(*layers).properties(width=WIDTH, height=max(ROW * rows, 3 * ROW))


def _thinned(rows: list[Row]) -> list[Row]:
    """At most so many rows, evenly spaced, the first and the last among them."""
    if len(rows) <= MOST_MARKS:
        return rows
    places = np.unique(np.linspace(0, len(rows) - 1, MOST_MARKS).round().astype(int))
    return [rows[place] for place in places]
