"""A synthetic table for people: as Markdown, as CSV, as a picture of the differences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from juryrank.paper.synthetic import CELL, gap_closed, published_methods, summary, verdict

WORST_SHOWN = 4.0
"""Differences beyond so many standard errors have the same colour."""


def save_table(trials: pl.DataFrame, folder: Path, command: str) -> list[Path]:
    """Write a table as NAME.csv, NAME.md and NAME.png; the files written."""
    table = summary(trials)
    name = str(table["table"][0])
    return save_study(folder, name, table, list(_page(table, command)), _chart(table))


def table_rows(table: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Header and rows for a page: everything."""
    published = published_methods(table)
    header = [*CELL, *published, "juryrank", "oracle", "gap closed", "upside down"]
    gaps = gap_closed(table)["gap_closed"].to_list()
    rows = []
    for (cell, found), gap in zip(_cells(table), gaps, strict=True):
        down = [found[method]["upside_down"] for method in (published[-1], "juryrank", "oriented")]
        theirs = [_beside_published(found[method]) for method in published]
        ours = [_mean(found["juryrank"]), _mean(found["oracle"])]
        rows.append([*cell, *theirs, *ours, _percent(gap), ", ".join(map(_percent, down))])
    return header, rows


def short_table_rows(table: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Header and rows for a terminal: means, and differences in standard errors."""
    published = published_methods(table)
    rows = [
        [*cell, *(_with_difference(found[method]) for method in published),
         *(f"{found[method]['tau_mean']:.3f}" for method in ("juryrank", "oracle"))]
        for cell, found in _cells(table)
    ]  # fmt: skip
    return [*CELL, *published, "juryrank", "oracle"], rows


def _cells(table: pl.DataFrame) -> Iterator[tuple[list[str], dict[str, dict[str, Any]]]]:
    """Each cell of the table, and the rows of its methods."""
    for key, rows in table.group_by(CELL, maintain_order=True):
        yield [f"{value:g}" for value in key], {row["method"]: row for row in rows.to_dicts()}


def _page(table: pl.DataFrame, command: str) -> Iterator[str]:
    name = str(table["table"][0])
    header, rows = table_rows(table)
    yield f"# {name}"
    yield ""
    yield f"Made by `{command}`. {verdict(table)}"
    yield ""
    yield (
        f"Kendall's tau, mean ± standard deviation over {table['trials'][0]} trials; in brackets "
        "the paper's mean and the difference in standard errors. `juryrank` is our `rank` as it "
        "comes, `oracle` is told the true accuracies, `gap closed` is how far `juryrank` gets from "
        "equal judges to the oracle. The last column is the share of trials that end upside down "
        "for the paper's algorithm, for `juryrank`, and for a fit that starts from the true scores."
    )
    yield ""
    yield f"![Differences from the paper]({name}.png)"
    yield ""
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _mean(row: dict[str, Any]) -> str:
    return f"{row['tau_mean']:.3f} ± {row['tau_std']:.3f}"


def _beside_published(row: dict[str, Any]) -> str:
    return f"{_mean(row)} ({row['published_mean']:.3f}, {row['difference_in_se']:+.1f})"


def _with_difference(row: dict[str, Any]) -> str:
    return f"{row['tau_mean']:.3f} {row['difference_in_se']:+.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _chart(table: pl.DataFrame) -> Any:
    """A heat-map of the differences from the paper, in standard errors."""
    alt = altair()
    compared = table.filter(pl.col("published_mean").is_not_null()).with_columns(
        row=pl.format("alpha={} gamma_b={}", "alpha", "gamma_b")
    )
    published = published_methods(table)
    base = alt.Chart(compared, width=160, height=300).encode(
        x=alt.X("gamma_a:O", title="gamma_a"), y=alt.Y("row:O", title=None, sort=None)
    )
    limits = [-WORST_SHOWN, WORST_SHOWN]
    colour = alt.Color(
        "difference_in_se:Q",
        title="standard errors",
        scale=alt.Scale(scheme="blueorange", domain=limits, clamp=True),
    )
    squares = base.mark_rect().encode(color=colour)
    numbers = base.mark_text().encode(text=alt.Text("difference_in_se:Q", format="+.1f"))
    return (
        (squares + numbers)
        .facet(column=alt.Column("method:N", title=None, sort=list(published)))
        .properties(title=f"{table['table'][0]}: our mean tau minus the paper's")
    )
