"""How well do the default and priors of fixed scales predict held-out votes?

    python -m studies.priors

Reading Level and Country Population (`juryrank.datasets`), 5-fold cross-validation, the same folds
for all. By default votes are predicted by the sampled posterior, which allows for any scales and
for tastes. Beside it are the posterior without tastes, best fits with fixed standard deviations
``(S, T)`` of scores and accuracies, as in ``rank(prior=(S, T))``, and plain Bradley-Terry. And
simulated judges show what a prior is for: how often does one with three right votes stand above one
with 300 good ones? And how far does the order of plain Bradley-Terry depend on the prior of the
scores: the one that is found, or one so wide that it hardly holds anything?
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

import juryrank as jr
from juryrank.charts.library import altair
from juryrank.cli.terminal.progress import progress
from juryrank.datasets import Dataset, country_population, reading_level
from juryrank.errors import JuryrankWarning
from juryrank.paper.pictures import save_study
from juryrank.ranking.comparison import Fitter, compare_fits
from juryrank.ranking.request import PriorChoice
from juryrank.types import Floats
from studies.pages import markdown
from studies.running import all_results, options

DATA: Mapping[str, Callable[[], Dataset]] = {
    "reading-level": reading_level,
    "country-population": country_population,
}
SCORE_SDS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
ACCURACY_SDS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
WIDE = (30.0, 30.0)
"""Scales that hardly hold anything."""
Codes = NDArray[np.int64]
DEFAULT, NO_TASTES, EQUAL = SAMPLED = ("default", "no tastes", "btl")


# --- held-out votes ------------------------------------------------------------------------------


def fitters() -> Mapping[str, Fitter]:
    """The default, the same without tastes, plain Bradley-Terry, and every point of the grid."""
    fit = partial(jr.rank, intervals=None)
    grid = {name_of(point): partial(fit, prior=point) for point in product(SCORE_SDS, ACCURACY_SDS)}
    sampled = {
        DEFAULT: fit,
        NO_TASTES: partial(fit, tastes=False),
        EQUAL: partial(fit, model=EQUAL),
    }
    return sampled | grid


def name_of(point: tuple[float, float]) -> str:
    """A point of the grid in words."""
    return f"{point[0]:g} and {point[1]:g}"


def held_out(name: str, data: Dataset, fits: Mapping[str, Fitter], seed: int) -> pl.DataFrame:
    """Log-loss of every fit: data, fit, log_loss, correct, ..., score_sd and accuracy_sd."""
    with progress(name) as say:

        def watch(done: int, total: int, fit: str) -> None:
            say(f"{name}: {fit} ({done} of {total})", done, total)

        table = compare_fits(data.votes, fits, seed=seed, watch=watch).table
    scales = pl.DataFrame(
        [(name_of(point), *point) for point in product(SCORE_SDS, ACCURACY_SDS)],
        schema=["fit", "score_sd", "accuracy_sd"], orient="row",
    )  # fmt: skip
    return table.rename({"model": "fit"}).select(
        pl.lit(name).alias("data"), pl.all()
    ).join(scales, on="fit", how="left", maintain_order="left")  # fmt: skip


def best_of_grid(table: pl.DataFrame, name: str) -> str:
    """The point of the grid that predicts best."""
    grid = table.filter(pl.col("data") == name).drop_nulls(("score_sd", "log_loss"))
    return str(grid.sort("log_loss")["fit"][0])


@dataclass(frozen=True)
class Found:
    """The scales that the posterior of all votes found, by the median."""

    score_sd: float
    accuracy_sd: float
    taste_sd: float


def scales_found(data: Dataset) -> Found:
    """What `rank` says of the scales when all votes are there."""
    fit = jr.rank(data.votes, intervals=None).fit
    if fit.prior is None or fit.prior[0] is None or fit.prior[1] is None or fit.taste_sd is None:
        raise ValueError("The scales are not known.")
    return Found(fit.prior[0], fit.prior[1], fit.taste_sd)


# --- a newcomer ----------------------------------------------------------------------------------

NEWCOMERS = 200
VETERAN_VOTES = 300
NEW_VOTES = 3
VETERANS = (1.5, 1.2, 1.0, 0.8, 0.5)
"""The first is the one the newcomer is set beside."""


def newcomer(number: int, seed: int) -> tuple[bool, bool]:
    """Whether a judge with three right votes outranks the best one: by default, with `WIDE`."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, number]))
    made = jr.simulate(
        10, accuracies=VETERANS, votes_per_judge=VETERAN_VOTES, seed=int(rng.integers(2**31))
    )
    best_first = made.items["item"].to_list()
    pairs = [np.sort(rng.choice(len(best_first), 2, replace=False)) for _ in range(NEW_VOTES)]
    votes = pl.DataFrame(
        {
            "judge": ["newcomer"] * NEW_VOTES,
            "left": [best_first[pair[0]] for pair in pairs],
            "right": [best_first[pair[1]] for pair in pairs],
            "winner": ["left"] * NEW_VOTES,
        }
    )
    everything = pl.concat((made.votes, votes))
    return _outranks(everything, "auto"), _outranks(everything, WIDE)


def _outranks(votes: pl.DataFrame, prior: PriorChoice) -> bool:
    judges = jr.rank(votes, prior=prior, intervals=None, threads=1).judges
    accuracy = dict(judges.select("judge", "accuracy").iter_rows())
    return bool(accuracy["newcomer"] > accuracy["judge-1"])


def newcomers(count: int, seed: int, jobs: int | None = None) -> tuple[float, float]:
    """How often three right votes outrank 300 good ones: by default, and with wide scales."""
    found = all_results(partial(newcomer, seed=seed), range(count), "Newcomers", jobs)
    usual, wide = np.mean(found, axis=0)
    return float(usual), float(wide)


# --- the order of plain Bradley-Terry ------------------------------------------------------------

WIDE_SCORES = (20.0, 1.0)
"""Scales under which scores are hardly held."""
ORDERED = 60
"""Items of a data set in which the orders are compared,"""
DESIGNS = tuple(product((1.0, 2.5), (5, 10, 20, 40)))
"""with these standard deviations of scores, and so many votes on each item."""
ORDERS = 20
"""Data sets of each design."""


def orders(number: int, seed: int) -> dict[str, float]:
    """The order with the prior that is found, with a wide one, and the true one."""
    spread, per_item = DESIGNS[number % len(DESIGNS)]
    rng = np.random.default_rng([seed, number])
    score = rng.normal(0.0, spread, ORDERED)
    one, other = _rounds(per_item, rng)
    wins = rng.random(len(one)) < 1.0 / (1.0 + np.exp(score[other] - score[one]))
    names = np.array([f"{code:02}" for code in range(ORDERED)])
    winner, loser = np.where(wins, (one, other), (other, one))
    votes = pl.DataFrame({"winner": names[winner], "loser": names[loser]})
    found, wide = (_scores(votes, prior) for prior in ("auto", WIDE_SCORES))
    return {
        "spread": spread,
        "per_item": per_item,
        "agreement": float(spearmanr(found, wide).statistic),
        "found": float(kendalltau(found, score).statistic),
        "wide": float(kendalltau(wide, score).statistic),
    }


def _rounds(count: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """So many rounds in which every item is on one pair, drawn at random."""
    drawn = np.array([rng.permutation(ORDERED) for _ in range(count)])
    return drawn[:, 0::2].ravel(), drawn[:, 1::2].ravel()


def _scores(votes: pl.DataFrame, prior: PriorChoice) -> Floats:
    """The scores of plain Bradley-Terry, by name."""
    ranking = jr.rank(votes, "btl", prior=prior, intervals=None, threads=1)
    return ranking.items.sort("item")["score"].to_numpy()


def agreement(seed: int, jobs: int | None = None) -> pl.DataFrame:
    """A row for each design: how far the orders agree with each other and with the truth."""
    numbers = range(ORDERS * len(DESIGNS))
    rows = all_results(partial(orders, seed=seed), numbers, "Orders", jobs)
    by = ("spread", "per_item")
    return pl.DataFrame(rows).group_by(by).agg(pl.all().mean()).sort(by)


# --- the page ------------------------------------------------------------------------------------


def heat_map(table: pl.DataFrame) -> object:
    """How far each point of the grid is above the best one, in per cent."""
    alt = altair()
    grid = table.drop_nulls("score_sd").with_columns(
        above=100.0 * (pl.col("log_loss") / pl.col("log_loss").min().over("data") - 1.0)
    )
    base = alt.Chart(grid, width=330, height=300).encode(
        x=alt.X("accuracy_sd:O", title="prior scale of accuracies", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score_sd:O", title="prior scale of scores", sort="descending"),
    )
    colour = alt.Color(
        "above:Q", title="% above the best",
        scale=alt.Scale(scheme="viridis", domain=[0, 5], clamp=True, reverse=True),
    )  # fmt: skip
    dark = alt.condition(alt.datum.above > 2.5, alt.value("white"), alt.value("black"))
    cells = base.mark_rect().encode(color=colour)
    words = base.mark_text(fontSize=12).encode(text=alt.Text("above:Q", format=".2f"), color=dark)
    title = "Held-out log-loss, % above the best of the grid"
    return alt.layer(cells, words).facet(column=alt.Column("data:N", title=None), title=title)


def page(
    table: pl.DataFrame,
    scales: Mapping[str, Found],
    outranked: tuple[float, float],
    ordered: pl.DataFrame,
    command: str,
) -> Iterator[str]:
    """The study in words and tables."""
    yield from (
        "# Prior scales",
        "",
        f"Made by `{command}` (the data are downloaded, or read from the folder that "
        "`JURYRANK_DATA` names). By default the scales of scores, accuracies and tastes are part "
        "of the posterior that is sampled ([how](../model.md)), and predictions are means over its "
        "draws. Held-out log-loss in 5-fold cross-validation, the same folds for all, compares "
        "this with:",
        "",
        "- the posterior without tastes (`tastes=False`);",
        "- the best fit of the plain model with fixed scales `S` of scores and `T` of accuracies "
        f"(`prior=(S, T)`), over a grid of {len(SCORE_SDS)} x {len(ACCURACY_SDS)}. The table has "
        "the best of the grid, which is chosen by these same held-out votes;",
        "- plain Bradley-Terry (`btl`), in which all judges are alike.",
        "",
        *markdown(("data", "fit", "log-loss", "above the default", "correct"),
                  chain.from_iterable(_rows(table, name) for name in scales)),
        "",
        "Every point of the grid, in % above the best of them:",
        "",
        "![Log-loss over the grid](priors.png)",
        "",
        "Scales found by default from all votes, medians over the draws, in the gauge of the "
        "answer: the standard deviation of scores, the root mean square of the accuracies' "
        "distances from 1, and the typical size of tastes:",
        "",
        *markdown(("data", "scores", "accuracies", "tastes"), _scale_rows(scales)),
        "",
        "## A newcomer with three right votes",
        "",
        f"{NEWCOMERS} simulated data sets of 10 items: five judges with accuracies "
        f"{', '.join(f'{a:g}' for a in VETERANS)} and {VETERAN_VOTES} votes each, and a newcomer "
        f"with {NEW_VOTES} votes, all in the true order. How often the newcomer gets a higher "
        "accuracy than the best judge, by default and as a best fit with a prior that hardly holds "
        "anything:",
        "",
        *markdown(("prior", "newcomer above the best judge"),
                  (("default", f"{outranked[0]:.1%}"), (str(WIDE), f"{outranked[1]:.1%}"))),
        "",
        "## The order of plain Bradley-Terry",
        "",
        f"{ORDERS} simulated data sets of each design: {ORDERED} items, every one in as many votes "
        "as every other, on pairs drawn at random. The order of `btl` by default and with the "
        f"wide prior `{WIDE_SCORES}`: their rank correlation (Spearman), and Kendall's tau of each "
        "to the true order. Where votes are few the two differ, because the wide prior takes the "
        "strength of a few opponents at face value; the order by default is the better one.",
        "",
        *markdown(("scores' sd", "votes on an item", "correlation", "tau by default", "tau, wide"),
                  _order_rows(ordered)),
    )  # fmt: skip


def _order_rows(ordered: pl.DataFrame) -> Iterator[list[str]]:
    for spread, per_item, correlation, *tau in ordered.iter_rows():
        yield [f"{spread:g}", f"{per_item}", f"{correlation:.3f}", *(f"{one:.3f}" for one in tau)]


def _rows(table: pl.DataFrame, name: str) -> Iterator[list[str]]:
    """The named fits and the best of the grid, best first."""
    best = best_of_grid(table, name)
    rows = table.filter(pl.col("data") == name, pl.col("fit").is_in((*SAMPLED, best)))
    usual = rows.row(by_predicate=pl.col("fit") == DEFAULT, named=True)["log_loss"]
    for row in rows.iter_rows(named=True):
        what = f"best of the grid: {best}" if row["fit"] == best else row["fit"]
        above = f"{row['log_loss'] / usual - 1.0:+.2%}"
        yield [name, what, f"{row['log_loss']:.4f}", above, f"{row['correct']:.1%}"]


def _scale_rows(scales: Mapping[str, Found]) -> Iterator[list[str]]:
    for name, found in scales.items():
        numbers = (found.score_sd, found.accuracy_sd, found.taste_sd)
        yield [name, *(f"{number:.2f}" for number in numbers)]


def save(
    table: pl.DataFrame,
    scales: Mapping[str, Found],
    outranked: tuple[float, float],
    ordered: pl.DataFrame,
    folder: Path,
    seed: int,
) -> list[Path]:
    """Write priors.csv, .md and .png; the files written."""
    command = f"python -m studies.priors --seed {seed}"
    lines = list(page(table, scales, outranked, ordered, command))
    return save_study(folder, "priors", table, lines, heat_map(table))


def main() -> None:
    """Run the study and write its results."""
    asked = options(__doc__).parse_args()
    data = {name: load() for name, load in DATA.items()}
    table = pl.concat([held_out(name, one, fitters(), asked.seed) for name, one in data.items()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        scales = {name: scales_found(one) for name, one in data.items()}
    outranked = newcomers(NEWCOMERS, asked.seed, asked.jobs)
    ordered = agreement(asked.seed, asked.jobs)
    for path in save(table, scales, outranked, ordered, asked.out, asked.seed):
        print(path)


if __name__ == "__main__":
    main()
