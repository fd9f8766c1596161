"""The study of the theory as tables for the terminal and as a page with its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from juryrank.charts.library import altair
from juryrank.paper.growth import WHATS, Grid, mean_errors
from juryrank.paper.pictures import save_study
from juryrank.paper.theory import Theory

BOUND = "slope of the bound"
SHOWN = (*WHATS, BOUND)
COLOURS = ("#4c78a8", "#f58518", "#333333", "#e45756")
POWERS = (0.001, 0.01, 0.1, 1.0, 10.0)
SHORT = {"paper_holds": "paper ok", "corrected_holds": "corrected ok"}
TITLES = {"n": "items n", "m": "judges m", "k": "votes per judge k"}


class Section(NamedTuple):
    """A part of the study: its title, what to know about it, its table."""

    title: str
    words: str
    table: pl.DataFrame


def sections(found: Theory) -> Iterator[Section]:
    """The parts of the study, in the paper's order."""
    words = _about_constants(_either(case.points for case in found.cases))
    for (setting, noise), table in found.constants.group_by(
        ["setting", "noise"], maintain_order=True
    ):
        yield Section(
            f"constants with {setting} and {noise} noise",
            words,
            _readable(table.drop("setting", "noise").rename(SHORT)),
        )
        words = "As above."
    yield Section(
        "contraction of Algorithm 1",
        "By what part the squared distance to the truth shrinks per iteration: promised, "
        "`1 - rho`, and observed with the theorem's step on the expected loss (so that there is no "
        "statistical error), over "
        f"{_either(case.iterations for case in found.cases)} iterations from half the radius away. "
        "The start differs from the truth in the scores (at random), in the accuracies (those of "
        "two equal judges pulled apart, the slowest direction that is not along the ridge), or "
        "along the ridge, where (c s, a / c) has the same loss for every c.",
        _readable(found.contraction),
    )
    yield Section(
        "slopes of log squared error",
        "Slopes of the log of the squared error of the unregularised fit, summed over items and "
        "judges as in the theorem, on log n, log m and log k, with 95 % intervals (bootstrap over "
        "trials); `bound`: the slope of n^2 log(m n^2) / (m k) on the same grid; `expected`: that "
        "of the trace of the inverse information. Errors are taken at the scale c of (c s, a / c) "
        "that makes them smallest.",
        _readable(found.slopes),
    )
    yield Section(
        "convexity",
        "The smallest eigenvalue of the Hessian in the scores, in the accuracies and in both, over "
        "random votes, scores and accuracies (negative ones too), each in parts of the largest at "
        "the same point. Convex in either with the other held, never in both; a noise that is not "
        "log-concave shows that the check can fail.",
        _readable(found.convexity),
    )


def _about_constants(points: str) -> str:
    return (
        "`paper`: as the paper states them. `corrected`: as its proofs give them once slips are "
        "mended. `observed`: the smallest (mu) or largest (the others) value within the radius, "
        "over the expected loss and, where judges are few, one sample of it, at the truth and at "
        f"{points} random points; for eps1, eps2 and the statistical error the largest over the "
        "trials; for M / sqrt(mu1 mu2) the value of the expected loss at the truth. A constant is "
        "ok if it is a bound of what is observed. The theorem assumes that M / sqrt(mu1 mu2) is at "
        "most 1/4; `judges needed` says with how many judges, everything else the same, that would "
        "be so, beside how many there are."
    )


def _either(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, dict.fromkeys(numbers)))


def _readable(frame: pl.DataFrame) -> pl.DataFrame:
    """Every number with four digits, yes and no, and nothing where nothing can be said."""
    rows = [[_cell(value) for value in row] for row in frame.iter_rows()]
    return pl.DataFrame(rows, schema=frame.columns, orient="row")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def save_theory(found: Theory, folder: Path, command: str) -> list[Path]:
    """Write theory.csv (all parts below one another), .md and .png; the files written."""
    trials = found.errors["trial"].n_unique()
    page = [
        "# theory",
        "",
        f"Made by `{command}`. What the paper's conditions, theorem and corollaries say, beside "
        "what is observed. Growth of the error: "
        + ", ".join(f"{axis} = {value}" for axis, value in found.grid.base.items())
        + f", one of them varied at a time, {trials} trials each; scores evenly between -1 and 1, "
        "accuracies evenly between 0.5 and 1.5.",
        "",
        "![Squared error against items, judges and votes](theory.png)",
    ]
    for section in sections(found):
        page += ["", f"## {section.title[0].upper()}{section.title[1:]}", "", section.words, ""]
        page += _markdown(section.table)
    means = mean_errors(found.errors, found.grid)
    return save_study(folder, "theory", _tidy(found, means), page, _chart(means, found.grid))


def _markdown(table: pl.DataFrame) -> list[str]:
    lines = ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in table.iter_rows()]


def _tidy(found: Theory, means: pl.DataFrame) -> pl.DataFrame:
    """All parts below one another; a column that a part lacks is empty there."""
    parts = {
        "constants": found.constants,
        "contraction": found.contraction,
        "error": means,
        "slope": found.slopes,
        "convexity": found.convexity,
    }
    named = [frame.select(pl.lit(name).alias("part"), pl.all()) for name, frame in parts.items()]
    whole = pl.concat(named, how="diagonal_relaxed")
    # As text: a fixed number of decimals would turn the smallest constants into 0.
    digits = pl.selectors.float().map_elements(lambda value: f"{value:.6g}", pl.String)
    return whole.with_columns(digits)


def _chart(means: pl.DataFrame, grid: Grid) -> Any:
    """Errors along each axis, and the slope of the bound from where the scores' error starts."""
    alt = altair()
    lines = _with_bound(means)
    return alt.vconcat(
        *(
            alt.hconcat(
                *(_panel(of_noise, str(noise), axis, values) for axis, values in grid.axes.items())
            ).resolve_scale(y="shared")
            for (noise,), of_noise in lines.group_by(["noise"], maintain_order=True)
        )
    )


def _panel(lines: pl.DataFrame, noise: str, axis: str, values: Sequence[int]) -> Any:
    alt = altair()
    base = alt.Chart(lines.filter(axis=axis), width=210, height=190, title=f"{noise} noise").encode(
        x=alt.X(
            f"{axis}:Q",
            title=TITLES[axis],
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=alt.Axis(values=list(values), format="d", grid=False),
        ),
        y=alt.Y(
            "error:Q",
            title="squared error" if axis == "n" else None,
            scale=alt.Scale(type="log"),
            axis=alt.Axis(values=list(POWERS), format="~g"),
        ),
        color=alt.Color("what:N", title=None, scale=alt.Scale(domain=SHOWN, range=COLOURS)),
    )
    observed = base.transform_filter(alt.datum.what != BOUND).mark_line(point=True)
    bound = base.transform_filter(alt.datum.what == BOUND).mark_line(strokeDash=[5, 4])
    return observed + bound


def _with_bound(means: pl.DataFrame) -> pl.DataFrame:
    of_scores = means.filter(what="scores")
    group = ["noise", "axis"]
    scale = pl.col("error").first().over(group) / pl.col("rate").first().over(group)
    bound = of_scores.with_columns(what=pl.lit(BOUND), error=pl.col("rate") * scale)
    return pl.concat([means, bound])
