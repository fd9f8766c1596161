"""Which end is up? Juries whose accurate judges are a minority that votes backwards.

python -m studies.orientation
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.charts.library import altair
from studies.jury import Floats, Rng, Setting, code_of, drawn, some_times
from studies.naming import Trial, run_study
from studies.pages import markdown


def minority(share: float, backwards: float) -> Callable[[Rng, int], Floats]:
    """A share of accurate judges who vote backwards, among honest ones of .2 to .4."""

    def accuracies(rng: Rng, count: int) -> Floats:
        first = np.arange(count) < round(share * count)
        return np.where(first, backwards, rng.uniform(0.2, 0.4, count))

    return accuracies


SETTINGS = (
    Setting("30 % at -2", "20 judges x 60 votes, 6 at -2, the others at .2 to .4", 20, 20, 60,
            accuracies=minority(0.3, -2.0)),
    Setting("30 % at -3", "6 at -3", 20, 20, 60, accuracies=minority(0.3, -3.0)),
    Setting("40 % at -2", "8 at -2", 20, 20, 60, accuracies=minority(0.4, -2.0)),
    Setting("40 % at -3", "8 at -3", 20, 20, 60, accuracies=minority(0.4, -3.0)),
    Setting("40 % at -3 x 200", "8 at -3, 200 votes each", 20, 20, 200,
            accuracies=minority(0.4, -3.0)),
    Setting("40 % at -3 x 20", "8 at -3, 20 votes each", 20, 20, 20,
            accuracies=minority(0.4, -3.0)),
    Setting("30 % backwards", "30 judges x 40 votes, 9 of them backwards", 20, 30, 40,
            accuracies=some_times(-1.0, 0.3)),
    Setting("45 % backwards", "30 judges x 40 votes, 14 of them backwards", 20, 30, 40,
            accuracies=some_times(-1.0, 0.45)),
    Setting("honest", "30 judges x 40 votes", 20, 30, 40),
    Setting("honest x 5", "100 judges x 5 votes", 20, 100, 5),
    Setting("30 % guessing", "30 judges x 40 votes, 9 of them guessing", 20, 30, 40,
            accuracies=some_times(0.0, 0.3)),
    Setting("60 % guessing", "30 judges x 40 votes, 18 of them guessing", 20, 30, 40,
            accuracies=some_times(0.0, 0.6)),
)  # fmt: skip
BY_NAME = {setting.name: setting for setting in SETTINGS}


def measured(trial: Trial) -> dict[str, Any]:
    """Whether one ranking is upside down, and whether that was said."""
    setting = BY_NAME[trial.setting]
    rng = np.random.default_rng([trial.seed, trial.number, 300 + SETTINGS.index(setting)])
    jury, votes = drawn(setting, rng)
    ranking = jr.rank(votes.frame(), threads=1)
    items = np.array([code_of(name) for name in ranking.items["item"]])
    tau = float(kendalltau(ranking.items["score"].to_numpy(), jury.score[items]).statistic)
    warned = any("end is up" in text for text in ranking.warnings)
    return {
        "setting": setting.name,
        "number": trial.number,
        "upside_down": tau < 0.0,
        "warned": warned,
        "silent": tau < 0.0 and not warned,
        "withheld": bool((ranking.judges["verdict"] == "withheld").any()),
        "tiers": int(ranking.items["tier"].max()),  # type: ignore[arg-type]
    }


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each setting: how many data sets."""
    counts = ("upside_down", "warned", "silent", "withheld")
    return rows.group_by("setting", maintain_order=True).agg(
        pl.len().alias("data_sets"), *(pl.col(name).sum() for name in counts)
    )


def page(_rows: pl.DataFrame, table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Which end is up"
    yield ""
    yield (
        f"Made by `{command}`. Nothing in votes says which end is up, but that most judges can be "
        "trusted. A minority of judges who agree well with each other and vote backwards turns the "
        "ranking round; then it must be said that many judges, by their number, disagree."
    )
    yield ""
    yield from markdown(("setting", "what"), ((one.name, one.what) for one in SETTINGS))
    yield ""
    yield (
        "Of so many data sets: in how many the ranking is upside down, in how many it is warned "
        "that it may be (and verdicts are withheld), and in how many it is upside down without a "
        "warning (bold if there are any)."
    )
    yield ""
    yield "![Upside down, with and without a warning](orientation.png)"
    yield ""
    head = ("setting", "data sets", "upside down", "warned", "withheld", "without a warning")
    yield from markdown(head, _table_rows(table))
    yield ""
    yield (
        "With 20 votes of accuracy .3, and now and then with 60, a judge cannot be told from one "
        "who guesses; where that is so for all of the majority, nothing is left that could "
        "disagree."
    )
    yield ""


def _table_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for row in table.iter_rows(named=True):
        silent = f"**{row['silent']}**" if row["silent"] else "0"
        counts = [str(row[name]) for name in ("data_sets", "upside_down", "warned", "withheld")]
        yield [row["setting"], *counts, silent]


def chart(table: pl.DataFrame) -> object:
    """Shares of data sets that are upside down, and that are warned about."""
    alt = altair()
    shares = [
        (pl.col(name) / pl.col("data_sets")).alias(name) for name in ("upside_down", "warned")
    ]
    long = table.select("setting", *shares).unpivot(index="setting", variable_name="what")
    return alt.Chart(long, width=560, height=300).mark_bar().encode(
        x=alt.X("value:Q", title="data sets", stack=None, axis=alt.Axis(format=".0%")),
        y=alt.Y("setting:N", sort=[one.name for one in SETTINGS], title=None),
        yOffset="what:N",
        color=alt.Color("what:N", title=None),
    )  # fmt: skip


def main() -> None:
    """Run the study and write its page."""
    run_study("orientation", __doc__, measured, list(BY_NAME), summary, page, chart)


if __name__ == "__main__":
    main()
