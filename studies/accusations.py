"""Who is named? Honest juries, and juries with judges who deserve a word.

python -m studies.accusations
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.charts.library import altair
from studies.jury import Floats, Jury, Rng, Setting, asked, drawn, equal, some_times
from studies.naming import Trial, named_judges, run_study, share_with_error
from studies.pages import markdown
from studies.stress import gauge_scale

COMPETENT = 0.5
"""A judge of at least this share of the mean accuracy is not guessing."""
MOST_FALSE = 0.05
WEAK = ("guessing", "inconsistent", "of another opinion")
OPINIONATED = 5
"""How many judges have an opinion of their own where some do."""

SETTINGS = (
    Setting("t0 x 100", "8 honest judges x 100 votes on 12 items", 12, 8, 100),
    Setting("t0 x 300", "8 x 300", 12, 8, 300),
    Setting("t.5 x 100", "8 x 100, tastes of sd .5", 12, 8, 100, taste_sd=0.5),
    Setting("t.5 x 300", "8 x 300, tastes of sd .5", 12, 8, 300, taste_sd=0.5),
    Setting("t1 x 100", "8 x 100, tastes of sd 1", 12, 8, 100, taste_sd=1.0),
    Setting("t1 x 300", "8 x 300, tastes of sd 1", 12, 8, 300, taste_sd=1.0),
    Setting("t1 x 1000", "8 x 1,000, tastes of sd 1", 12, 8, 1_000, taste_sd=1.0),
    Setting("30 x 60", "30 honest judges x 60 votes on 20 items", 20, 30, 60),
    Setting("30 x 60, t1", "the same, tastes of sd 1", 20, 30, 60, taste_sd=1.0),
    Setting("100 x 10", "100 honest judges x 10 votes", 20, 100, 10),
    Setting("uneven", "all alike: 12 judges x 500 votes and 27 x 8, on 50 items", 50, 39,
            np.array([500] * 12 + [8] * 27), accuracies=equal),
    Setting("few items, t1", "30 judges x 30 votes on 4 items each, tastes of sd 1", 20, 30, 30,
            taste_sd=1.0, items_seen=4),
    Setting("guessing", "30 judges x 40 votes, 9 of them guessing", 20, 30, 40,
            accuracies=some_times(0.0, 0.3)),
    Setting("backwards x 20", "30 judges x 20 votes, 6 of them backwards", 20, 30, 20,
            accuracies=some_times(-1.0, 0.2)),
    Setting("backwards x 40", "30 judges x 40 votes, 6 of them backwards", 20, 30, 40,
            accuracies=some_times(-1.0, 0.2)),
    Setting("backwards x 100", "30 judges x 100 votes, 6 of them backwards", 20, 30, 100,
            accuracies=some_times(-1.0, 0.2)),
    Setting("opinions x 100", "30 judges x 100 votes on 12 items, 5 of them with an order of their "
            "own", 12, 30, 100),
)  # fmt: skip
BY_NAME = {setting.name: setting for setting in SETTINGS}


def _with_own_opinions(jury: Jury, rng: Rng) -> Jury:
    """The first judges have scores of their own, as spread as the others'."""
    taste = jury.taste.copy()
    own = rng.normal(0.0, 1.0, (OPINIONATED, len(jury.score)))
    taste[:OPINIONATED] = own - jury.score
    accuracy = jury.accuracy.copy()
    accuracy[:OPINIONATED] = 3.0
    return replace(jury, taste=taste, accuracy=accuracy)


def measured(trial: Trial) -> dict[str, Any]:
    """Who is named in one data set, and who deserves it."""
    setting = BY_NAME[trial.setting]
    rng = np.random.default_rng([trial.seed, trial.number, 200 + SETTINGS.index(setting)])
    jury, votes = drawn(setting, rng)
    opinionated = setting.name.startswith("opinions")
    if opinionated:
        jury = _with_own_opinions(jury, rng)
        votes = asked(jury, votes.judge, None, rng)
    ranking = jr.rank(votes.shown(rng), threads=1)
    named = named_judges(ranking)
    count = np.bincount(votes.judge, minlength=setting.judges).astype(np.float64)
    accuracy: Floats = jury.accuracy / gauge_scale(jury.accuracy, count)
    deserving = set(range(OPINIONATED)) if opinionated else set()
    wrong = {
        "one_sided": [u for u, word in named.items() if word == "one-sided"],
        "guessing": [u for u, word in named.items() if word in WEAK and accuracy[u] >= COMPETENT],
        "backwards": [u for u, word in named.items() if word == "backwards" and accuracy[u] >= 0.0],
        "other": [u for u, word in named.items() if word not in (*WEAK, "one-sided", "backwards")],
    }
    wrong = {kind: [u for u in who if u not in deserving] for kind, who in wrong.items()}
    return {
        "setting": setting.name,
        "number": trial.number,
        **{kind: bool(who) for kind, who in wrong.items()},
        "named": len(named),
        "falsely_named": sum(len(who) for who in wrong.values()),
        "found": _found(named, accuracy, deserving),
        "silent": bool(ranking.judges["verdict"].is_in(["opinions split", "withheld"]).any()),
    }


def _found(named: dict[int, str], accuracy: Floats, opinionated: set[int]) -> float | None:
    """The share of those who deserve a word that have got it."""
    words: dict[int, tuple[str, ...]] = {}
    words |= dict.fromkeys(np.flatnonzero(accuracy < 0.0).tolist(), ("backwards",))
    words |= dict.fromkeys(np.flatnonzero(accuracy == 0.0).tolist(), WEAK)
    words |= dict.fromkeys(opinionated, ("of another opinion", "one-sided", "backwards"))
    return float(np.mean([named.get(u) in of for u, of in words.items()])) if words else None


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each setting: means over data sets."""
    means = ("one_sided", "guessing", "backwards", "other", "found", "silent")
    return rows.group_by("setting", maintain_order=True).agg(
        pl.len().alias("data_sets"),
        *(pl.col(name).cast(pl.Float64).mean() for name in means),
        pl.col("named").mean(),
        (pl.col("falsely_named").sum() / pl.col("named").sum()).alias("false_share"),
    )


def _table_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for row in table.iter_rows(named=True):
        count = row["data_sets"]
        is_honest = row["found"] is None
        shares = [
            f"**{share_with_error(row[kind], count)}**"
            if is_honest and row[kind] > MOST_FALSE
            else share_with_error(row[kind], count)
            for kind in ("one_sided", "guessing", "backwards", "other")
        ]
        false = row["false_share"]
        text = "-" if false is None or np.isnan(false) else f"{100 * false:.1f}"
        yield [
            row["setting"],
            *shares,
            f"{row['named']:.2f}",
            f"**{text}**" if not is_honest and text != "-" and false > MOST_FALSE else text,
            "-" if is_honest else f"{100 * row['found']:.0f}",
            f"{100 * row['silent']:.1f}",
        ]


def page(_rows: pl.DataFrame, table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Accusations"
    yield ""
    yield (
        f"Made by `{command}`. Juries from a simulator apart from the package's own "
        "(`studies/jury.py`), scores from N(0, 1), log-normal(.5) accuracies; `jr.rank` is called "
        "with no argument but the votes."
    )
    yield ""
    yield from markdown(("setting", "what"), ((one.name, one.what) for one in SETTINGS))
    yield ""
    yield (
        "The share of data sets, in %, ± one standard error, in which somebody has a verdict that "
        "is not deserved: one-sided, guessing (or inconsistent, or of another opinion) with at "
        "least half of the mean accuracy, backwards with an accuracy above 0, or another bad word. "
        "Bold: more than 5 % where all are honest. Named: judges with a bad verdict in a data set; "
        "false: the share of them, in %, who do not deserve it (bold above 5 %, where somebody "
        "does). Found: the share of those who deserve a word that have it. Silent: the share of "
        "data sets in which opinions split or verdicts are withheld."
    )
    yield ""
    yield "![Honest judges who are named](accusations.png)"
    yield ""
    head = (
        "setting", "one-sided", "guessing", "backwards", "other", "named", "false", "found",
        "silent",
    )  # fmt: skip
    yield from markdown(head, _table_rows(table))
    yield ""


def chart(table: pl.DataFrame) -> object:
    """The share of data sets with an undeserved verdict, by kind."""
    alt = altair()
    kinds = ["one_sided", "guessing", "backwards"]
    long = table.select("setting", *kinds).unpivot(index="setting", variable_name="verdict")
    base = alt.Chart(long, width=560, height=360)
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title="data sets with an undeserved verdict", stack=None,
                axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0.0, 0.2], clamp=True)),
        y=alt.Y("setting:N", sort=[one.name for one in SETTINGS], title=None),
        yOffset="verdict:N",
        color=alt.Color("verdict:N", title=None),
    )  # fmt: skip
    return alt.layer(bars, base.mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(MOST_FALSE)))


def main() -> None:
    """Run the study and write its page."""
    run_study("accusations", __doc__, measured, list(BY_NAME), summary, page, chart)


if __name__ == "__main__":
    main()
