"""The real data for people: as Markdown, as CSV, as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.charts.library import altair
from juryrank.model.registry import DEFAULT_MODEL
from juryrank.paper.pictures import save_study
from juryrank.paper.real import (
    LAMBDAS,
    MEANING,
    METHODS,
    OURS,
    RealStudy,
    best_of_each,
    held_out_verdict,
    real_verdict,
    unsettled,
)
from juryrank.writing.atomic import write_whole

Rows = tuple[list[str], list[list[str]]]
"""Header and rows of a table."""


def save_real(found: RealStudy, folder: Path, command: str) -> list[Path]:
    """Write NAME.csv, .md and .png, NAME-settings.csv and NAME-held-out.csv; the files written."""
    name = found.study.name
    paths = save_study(folder, name, found.cells, list(_page(found, command)), _chart(found))
    for part, table in (("settings", found.variants), ("held-out", found.held_out.table)):
        path = folder / f"{name}-{part}.csv"
        write_whole(path, partial(table.write_csv, float_precision=6))
        paths.append(path)
    return paths


# --- tables --------------------------------------------------------------------------------------


def cell_rows(found: RealStudy) -> Rows:
    """A row for each method, a column for each lambda0: ours, and the published in brackets."""
    rows = [
        [method, *(_beside_published(row) for row in found.cells.filter(method=method).to_dicts())]
        for method in METHODS
    ]
    return ["method", *(f"lambda0 = {lambda0}" for lambda0 in LAMBDAS)], rows


def best_rows(found: RealStudy) -> Rows:
    """The paper's summary, and our default."""
    rows = [
        [row["method"], _number(row["tau"]), _number(row["published"])]
        for row in best_of_each(found).iter_rows(named=True)
    ]
    return ["method", "best tau", "published"], rows


def note_rows(found: RealStudy) -> Rows:
    """Every cell that is not reached, and why."""
    off = found.cells.filter(pl.col("note") != "")
    columns = off.select("method", "lambda0", "tau", "published", "difference", "note")
    header = ["method", "lambda0", "tau", "published", "difference", "why"]
    return header, [
        [method, str(lambda0), _number(tau), _number(published), f"{difference:+.4f}", note]
        for method, lambda0, tau, published, difference, note in columns.iter_rows()
    ]


def variant_rows(found: RealStudy) -> Rows:
    """Algorithm 1 with other settings, a row for each method and lambda0."""
    wide = found.variants.pivot("settings", index=["method", "lambda0"], values="tau")
    here = found.cells.select("method", "lambda0", here="tau")
    names = [name for name in MEANING if name in wide.columns]
    table = wide.join(here, on=["method", "lambda0"], how="left", maintain_order="left")
    columns = ["here", *names]
    rows = [
        [method, str(lambda0), *map(_number, taus)]
        for method, lambda0, *taus in table.select("method", "lambda0", *columns).iter_rows()
    ]
    return ["method", "lambda0", *columns], rows


def held_out_rows(found: RealStudy) -> Rows:
    """The models by held-out log-loss, the best first."""
    header = ["model", "log-loss", "predicted right", "worse by"]
    rows = []
    for row in found.held_out.table.iter_rows(named=True):
        model = f"{row['model']} (default)" if row["model"] == DEFAULT_MODEL else row["model"]
        if row["log_loss"] is None:
            rows.append([model, "-", "-", "cannot be fitted to these votes"])
            continue
        worse = f"{row['worse_by']:.4f} ± {row['worse_by_se']:.4f}" if row["worse_by"] else "best"
        rows.append([model, _number(row["log_loss"]), f"{row['correct']:.1%}", worse])
    return header, rows


def unsettled_sentence(found: RealStudy) -> str:
    """Which cells hang on the parity of the iterations or on rounding."""
    table = unsettled(found)
    if not len(table):
        return "One iteration more, or a start moved by 1e-14, changes no cell of Algorithm 1."
    cells = ", ".join(f"{method} at {lambda0}" for method, lambda0, _ in table.iter_rows())
    largest = max(table["change"].to_list())
    return (
        "One iteration more, or a start moved by 1e-14, changes these cells of Algorithm 1, by up "
        f"to {largest:.4f}: {cells}. Their steps are too long for the iteration to "
        "settle, so they can come out otherwise on another machine."
    )


def _beside_published(row: dict[str, Any]) -> str:
    return f"{_number(row['tau'])} ({_number(row['published'])})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


# --- the page ------------------------------------------------------------------------------------


def _page(found: RealStudy, command: str) -> Iterator[str]:
    steps = found.study.steps
    name = found.study.name
    yield from (f"# {name}", "", f"Made by `{command}`. {real_verdict(found)}", "")
    yield (
        "Kendall's tau-b between estimated scores and the truth; in brackets the published number. "
        "BTL and TCV are converged fits (at lambda0 = 0 with a vanishing virtual node, as a best "
        "fit need not exist without one), CrowdBT and CrowdTCV 15 rounds of alternation, HBTL and "
        f"HTCV {steps.iterations} iterations of Algorithm 1, scores first, with steps "
        f"{steps.score:g} for the scores and {steps.accuracy:g} for the accuracies."
    )
    yield from ("", f"![Kendall's tau against lambda0, and held-out log-loss]({name}.png)", "")
    yield from _markdown(cell_rows(found))
    yield from ("", "## Best over lambda0", "")
    yield (
        "The paper's summary takes the best tau over lambda0, so that the truth chooses it. "
        f"`{OURS}` is our `rank` as it comes, which has no lambda0 to choose."
    )
    yield ""
    yield from _markdown(best_rows(found))
    yield from ("", "## Not reached", "")
    yield from _markdown(note_rows(found))
    yield from ("", "## What the settings decide", "", unsettled_sentence(found), "")
    used = [key for key in MEANING if key in found.variants["settings"].unique()]
    yield "- `here`: as above;"
    yield from (f"- `{key}`: {MEANING[key]};" for key in used[:-1])
    yield f"- `{used[-1]}`: {MEANING[used[-1]]}, where there is one."
    yield ""
    yield from _markdown(variant_rows(found))
    yield from ("", "## Held-out votes", "")
    yield (
        f"{found.held_out.folds}-fold cross-validation, every model with the prior that the data "
        "choose; the standard errors are those of the difference, vote by vote. "
        f"{held_out_verdict(found.held_out)}"
    )
    yield ""
    yield from _markdown(held_out_rows(found))


def _markdown(table: Rows) -> Iterator[str]:
    header, rows = table
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    yield from ("| " + " | ".join(row) + " |" for row in rows)


# --- the picture ---------------------------------------------------------------------------------


def _chart(found: RealStudy) -> Any:
    alt = altair()
    return alt.vconcat(_tau_chart(found), _held_out_chart(found), spacing=30)


def _tau_chart(found: RealStudy) -> Any:
    """Tau against lambda0, ours as a line, the published as points, one panel per method."""
    alt = altair()
    methods = found.cells.filter(pl.col("method").is_in(METHODS))
    default = found.cells.filter(method=OURS)["tau"][0]
    table = pl.concat(
        methods.select("method", "lambda0", tau=column, what=pl.lit(what))
        for what, column in (
            ("ours", "tau"),
            ("published", "published"),
            ("our default", pl.lit(default)),
        )
    )
    colours = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(
            domain=["ours", "published", "our default"], range=["#4c78a8", "#e45756", "#999999"]
        ),
    )
    taus = table["tau"].to_list()
    low, high = min(taus), max(taus)
    margin = 0.1 * (high - low)
    base = alt.Chart(table, width=170, height=130).encode(
        x=alt.X("lambda0:Q", axis=alt.Axis(values=list(LAMBDAS))),
        y=alt.Y(
            "tau:Q",
            title="Kendall's tau-b",
            scale=alt.Scale(domain=[low - margin, high + margin], nice=False),
        ),
        color=colours,
    )
    default_line = base.mark_line(strokeDash=[4, 3]).transform_filter("datum.what == 'our default'")
    ours = base.mark_line().transform_filter("datum.what == 'ours'")
    published = base.mark_point(size=50, filled=True, opacity=1).transform_filter(
        "datum.what == 'published'"
    )
    return (
        alt.layer(default_line, ours, published)
        .facet(alt.Facet("method:N", title=None, sort=list(METHODS)), columns=3)
        .properties(title=f"{found.study.name}: ours and published")
    )


def _held_out_chart(found: RealStudy) -> Any:
    """Held-out log-loss, with two standard errors of the difference from the best."""
    alt = altair()
    table = found.held_out.table.drop_nulls("log_loss").with_columns(
        low=pl.col("log_loss") - 2.0 * pl.col("worse_by_se"),
        high=pl.col("log_loss") + 2.0 * pl.col("worse_by_se"),
    )
    base = alt.Chart(
        table, width=560, height=170,
        title="Held-out log-loss, and two standard errors of the difference from the best",
    ).encode(y=alt.Y("model:N", title=None, sort=table["model"].to_list()))  # fmt: skip
    bars = base.mark_rule(strokeWidth=2, color="#4c78a8").encode(
        x=alt.X("low:Q", title="log-loss", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    points = base.mark_point(size=60, filled=True, opacity=1, color="#4c78a8").encode(
        x=alt.X("log_loss:Q", title="log-loss")
    )
    return bars + points
