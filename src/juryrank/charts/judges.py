"""Charts of the judges: their accuracies by verdict, and a map of who agrees with whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import polars as pl

from juryrank.charts.layout import (
    FAINT,
    MANY_TICKS,
    PLAIN,
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
from juryrank.judging.verdict_words import VERDICTS
from juryrank.model.registry import Judges
from juryrank.text import literal

if TYPE_CHECKING:
    from juryrank.votes.tallies import Agreement

LANDMARKS: dict[Judges, tuple[float, ...]] = {
    "accuracy": (0.0, 1.0),
    "reliability": (0.5, 1.0),
    "equal": (),
}
"""Where a guesser is, and the average judge or one who never errs."""
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


def judge_row(row: Row) -> Row:
    """What is drawn of a judge."""
    return {
        "judge": literal(row["judge"]),
        "accuracy": row["accuracy"],
        "low": row["accuracy_low"],
        "high": row["accuracy_high"],
        "votes": row["votes"],
        "verdict": row["verdict"],
        "reason": None if row["reason"] is None else literal(row["reason"]),
    }


def few_judges(rows: list[Row], what: Judges, interval: str) -> Any:
    """A row for each judge: the accuracy with its interval."""
    alt = altair()
    base = alt.Chart(alt.Data(values=indexed(rows))).encode(
        y=named_axis(alt.Y, "index", [row["judge"] for row in rows])
    )
    known = _are_known(rows)
    title = f"{what} with {interval}" if known else what
    x = alt.X("accuracy:Q", axis=alt.Axis(tickCount=MANY_TICKS), title=title)
    point = base.mark_point(filled=True, opacity=1, size=90).encode(
        x=x, tooltip=_judge_tooltip(alt, what), **_by_verdict(alt, rows)
    )
    below = [reference_line(alt, "x", at) for at in LANDMARKS[what]]
    below += [whisker(base, FAINT)] if known else []
    return framed(*below, point, rows=len(rows))


def many_judges(rows: list[Row], what: Judges) -> Any:
    """The accuracies side by side, with their intervals."""
    alt = altair()
    base = alt.Chart(alt.Data(values=thinned(indexed(rows))), width=WIDTH, height=300).encode(
        x=alt.X(
            "index:Q",
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
    interval = base.mark_rule(opacity=0.3, color=FAINT).encode(y="low:Q", y2="high:Q")
    below = [reference_line(alt, "y", at) for at in LANDMARKS[what]]
    below += [interval] if _are_known(rows) else []
    return alt.layer(*below, point).properties(width=WIDTH, height=300)


def map_of_judges(found: Agreement, judges: pl.DataFrame, labels: list[Any], what: Judges) -> Any:
    """Judges who agree lie close together."""
    alt = altair()
    known = {row["judge"]: judge_row(row) for row in judges.iter_rows(named=True)}
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
            y=alt.Y("y:Q", axis=bare, title="what else divides them"),
            size=alt.Size("votes:Q", scale=alt.Scale(range=[35, 250]), legend=None),
            tooltip=_judge_tooltip(alt, what),
            **_by_verdict(alt, rows),
        )
    )
    lines = reference_line(alt, "x", 0.0), reference_line(alt, "y", 0.0)
    return alt.layer(*lines, point).properties(width=WIDTH, height=380)


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
