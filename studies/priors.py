"""Are the prior scales that the data choose as good as the best ones? Held-out votes decide.

    python -m studies.priors

Reading Level and Country Population (`juryrank.datasets`), 5-fold cross-validation, the same folds
for all. Scales are standard deviations ``(S, T)`` of scores and accuracies before the data, as in
``rank(prior=(S, T))``. And simulated judges show what a prior is for: one with three right votes
must not stand above one with 300 good ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.asking import PriorChoice
from juryrank.charting import altair
from juryrank.comparing import Fitter, compare_fits
from juryrank.datasets import Dataset, country_population, reading_level
from juryrank.errors import JuryrankWarning
from juryrank.paper.pictures import save_study
from juryrank.terminal import progress
from studies.running import all_results, options

DATA: Mapping[str, Callable[[], Dataset]] = {
    "reading-level": reading_level,
    "country-population": country_population,
}
SCORE_SDS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
ACCURACY_SDS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
NO_LIMIT = (30.0, 30.0)
CHOSEN, WIDE, MAXIMUM = "auto", "hbtl, prior (30, 30)", "hbtl, no prior"
OTHERS = ("btl", "crowdbt")
CLOSE = 0.005
"""The log-loss of the chosen scales should be at most this share above the best of the grid."""


# --- held-out votes ------------------------------------------------------------------------------


def fitters() -> Mapping[str, Fitter]:
    """The chosen scales, every point of the grid, and what else there is."""
    fit = partial(jr.rank, intervals=None)
    priors: dict[str, PriorChoice] = {CHOSEN: "auto", WIDE: NO_LIMIT, MAXIMUM: None}
    priors |= {name_of(point): point for point in product(SCORE_SDS, ACCURACY_SDS)}
    by_prior = {name: partial(fit, prior=prior) for name, prior in priors.items()}
    return by_prior | {model: partial(fit, model=model) for model in OTHERS}


def name_of(point: tuple[float, float]) -> str:
    """A point of the grid in words."""
    return f"{point[0]:g} and {point[1]:g}"


def held_out(name: str, data: Dataset, chosen: Mapping[str, Fitter], seed: int) -> pl.DataFrame:
    """Log-loss of every fit: data, fit, score_sd, accuracy_sd, log_loss, worse_by, ..., note."""
    with progress(name, total=5 * len(chosen)) as say:

        def watch(done: int, total: int, fit: str) -> None:
            if say:
                say(f"{name}: {fit} ({done} of {total})", done)

        table = compare_fits(data.votes, chosen, seed=seed, watch=watch).table
    scales = pl.DataFrame(
        [(name_of(point), *point) for point in product(SCORE_SDS, ACCURACY_SDS)],
        schema=["fit", "score_sd", "accuracy_sd"], orient="row",
    )  # fmt: skip
    return table.rename({"model": "fit"}).select(
        pl.lit(name).alias("data"), pl.all()
    ).join(scales, on="fit", how="left", maintain_order="left")  # fmt: skip


def chosen_scales(data: Dataset) -> tuple[float, float]:
    """What the data choose when all votes are there."""
    prior = jr.rank(data.votes, intervals=None).fit.prior
    if prior is None or prior[0] is None or prior[1] is None:
        raise ValueError("The data chose no prior.")
    return prior[0], prior[1]


@dataclass(frozen=True)
class Verdict:
    """The chosen scales beside the best of the grid."""

    data: str
    chosen: float
    best: float
    best_point: str

    @property
    def above(self) -> float:
        """The share by which the chosen scales are worse; negative if they are better."""
        return self.chosen / self.best - 1.0

    def __str__(self) -> str:
        within = "within" if self.above <= CLOSE else "NOT within"
        return (
            f"{self.data}: {self.chosen:.4f} with the chosen scales, {self.best:.4f} with the best "
            f"of the grid ({self.best_point}): {self.above:+.2%}, {within} {CLOSE:.1%}."
        )


def verdict(table: pl.DataFrame, name: str) -> Verdict:
    """Compare the chosen scales with the grid."""
    rows = table.filter(pl.col("data") == name)
    grid = rows.drop_nulls("score_sd").sort("log_loss")
    chosen = float(rows.row(by_predicate=pl.col("fit") == CHOSEN, named=True)["log_loss"])
    return Verdict(name, chosen, float(grid["log_loss"][0]), str(grid["fit"][0]))


# --- a newcomer ----------------------------------------------------------------------------------

NEWCOMERS = 200
VETERAN_VOTES = 300
NEW_VOTES = 3
VETERANS = (1.5, 1.2, 1.0, 0.8, 0.5)
"""The first is the one the newcomer is set beside."""


def newcomer(number: int, seed: int) -> tuple[bool, bool]:
    """Whether a judge with three right votes outranks the best one: chosen scales, (30, 30)."""
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
    return _outranks(everything, "auto"), _outranks(everything, NO_LIMIT)


def _outranks(votes: pl.DataFrame, prior: PriorChoice) -> bool:
    judges = jr.rank(votes, prior=prior, intervals=None, threads=1).judges
    accuracy = dict(judges.select("judge", "accuracy").iter_rows())
    return bool(accuracy["newcomer"] > accuracy["judge-1"])


def newcomers(count: int, seed: int, jobs: int | None = None) -> tuple[float, float]:
    """How often three right votes outrank 300 good ones: with the chosen scales, with (30, 30)."""
    found = all_results(partial(newcomer, seed=seed), range(count), "Newcomers", jobs)
    chosen, wide = np.mean(found, axis=0)
    return float(chosen), float(wide)


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
    scales: Mapping[str, tuple[float, float]],
    outranked: tuple[float, float],
    command: str,
) -> Iterator[str]:
    """The study in words and tables."""
    yield from (
        "# Prior scales",
        "",
        f"Made by `{command}` (the data are downloaded, or read from the folder that "
        "`JURYRANK_DATA` names). By default the data choose the scales of the priors, `S` for "
        "scores and `T` for accuracies ([how](../model.md)). Held-out log-loss in 5-fold "
        "cross-validation, the same folds for all, says whether other scales would have been "
        "better. Scales are those of `rank(prior=(S, T))`, on the solver's scale.",
        "",
    )
    for name, (score_sd, accuracy_sd) in scales.items():
        yield f"- {verdict(table, name)} Chosen from all votes: {score_sd:.2f} and " + (
            f"{accuracy_sd:.2f}."
        )
    yield from (
        "",
        "![Log-loss over the grid](priors.png)",
        "",
        "| data | fit | log-loss | above the chosen scales |",
        "|---|---|---|---|",
    )
    for name in scales:
        yield from _rows(table, name)
    yield from (
        "",
        f"`{MAXIMUM}` is maximum likelihood. Reading Level has no maximum, because some texts "
        f"never lose and some never win: there it cannot be fitted, and `{WIDE}` comes nearest to "
        "it. Judges whose few votes all agree with the order have no finite accuracy without a "
        "prior; they are held at a bound, and with the wide prior at a limit of its own, which is "
        "why the two differ where both exist. A single held-out vote of theirs against the order "
        "then costs dearly: most votes are predicted as well as before, and log-loss is far worse.",
        "",
        "## Three right votes are no proof",
        "",
        f"{NEWCOMERS} simulated data sets of 10 items: five judges with accuracies "
        f"{', '.join(f'{a:g}' for a in VETERANS)} and {VETERAN_VOTES} votes each, and a newcomer "
        f"with {NEW_VOTES} votes, all in the true order. How often the newcomer gets a higher "
        "accuracy than the best judge:",
        "",
        "| prior | newcomer above the best judge |",
        "|---|---|",
        f"| chosen scales | {outranked[0]:.1%} |",
        f"| (30, 30) | {outranked[1]:.1%} |",
    )


def _rows(table: pl.DataFrame, name: str) -> Iterator[str]:
    """The named fits and the best of the grid, best first."""
    result = verdict(table, name)
    named = [CHOSEN, result.best_point, WIDE, MAXIMUM, *OTHERS]
    for row in table.filter(pl.col("data") == name, pl.col("fit").is_in(named)).to_dicts():
        what = f"best of the grid: {row['fit']}" if row["fit"] == result.best_point else row["fit"]
        if row["log_loss"] is None:
            yield f"| {name} | {what} | - | cannot be fitted |"
        else:
            above = row["log_loss"] / result.chosen - 1.0
            yield f"| {name} | {what} | {row['log_loss']:.4f} | {above:+.2%} |"


def save(
    table: pl.DataFrame,
    scales: Mapping[str, tuple[float, float]],
    outranked: tuple[float, float],
    folder: Path,
    seed: int,
) -> list[Path]:
    """Write priors.csv, .md and .png; the files written."""
    lines = list(page(table, scales, outranked, f"python -m studies.priors --seed {seed}"))
    return save_study(folder, "priors", table, lines, heat_map(table))


def main() -> None:
    """Run the study and write its results."""
    asked = options(__doc__).parse_args()
    data = {name: load() for name, load in DATA.items()}
    table = pl.concat([held_out(name, one, fitters(), asked.seed) for name, one in data.items()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        scales = {name: chosen_scales(one) for name, one in data.items()}
    outranked = newcomers(NEWCOMERS, asked.seed, asked.jobs)
    for path in save(table, scales, outranked, asked.out, asked.seed):
        print(path)


if __name__ == "__main__":
    main()
