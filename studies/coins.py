"""Judges who toss coins, watched after every batch: is anything ever called sure?

    python -m studies.coins --studies 500

All items are equal, and every answer is a coin's. Questions are chosen by `next_pairs`, after the
opening with repeats; after each batch the votes are ranked, and it is noted whether the order or
the best item is called settled, whether there is a second tier, and how many of the intervals of
scores hold the truth, which is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.pages import markdown
from studies.running import kept_results, options

ITEMS = [f"item {number}" for number in range(8)]
JUDGES = [f"judge {number}" for number in range(5)]
OPENING, BATCH, LOOKS = 40, 20, 4


class Watched(NamedTuple):
    """One study, watched at every look."""

    seed: int
    number: int


def looks(study: Watched) -> list[dict[str, Any]]:
    """What is said after the opening and after each batch."""
    rng = np.random.default_rng(study)
    seed = int(rng.integers(2**31))
    asked = jr.next_pairs(ITEMS, OPENING, judges=JUDGES, seed=seed)
    votes, found = _tossed(asked, rng), []
    for look in range(LOOKS):
        ranking = jr.rank(votes, threads=1)
        low, high = ranking.items["score_low"], ranking.items["score_high"]
        found.append(
            {
                "number": study.number,
                "votes": len(votes),
                "order settled": bool(ranking.settled("order")),
                "best item settled": bool(ranking.settled("top:1")),
                "a pair settled": bool(ranking.settled("order").pairs["settled"].any()),
                "second tier": ranking.items["tier"].n_unique() > 1,
                "covered": float(((low <= 0.0) & (high >= 0.0)).mean()),  # type: ignore[arg-type]
            }
        )
        if look + 1 < LOOKS:
            asked = ranking.next_pairs(BATCH, judges=JUDGES, repeats=True, seed=seed + look)
            votes = pl.concat((votes, _tossed(asked, rng)))
    return found


def _tossed(questions: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    side = np.where(rng.random(len(questions)) < 0.5, "left", "right")
    return questions.select("judge", "left", "right", winner=pl.Series(side))


EVENTS = ("order settled", "best item settled", "a pair settled", "second tier")


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """How often each was said at a look, and at this or an earlier one."""
    ever = rows.sort("number", "votes").with_columns(
        pl.col(name).cum_max().over("number").alias(f"{name} so far") for name in EVENTS
    )
    return ever.group_by("votes", maintain_order=True).agg(
        pl.len().alias("studies"),
        *(pl.col(name).mean() for name in EVENTS),
        *(pl.col(f"{name} so far").mean() for name in EVENTS),
        pl.col("covered").mean(),
        (pl.col("covered").std() / pl.len().sqrt()).alias("covered_se"),
    )


def page(table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    studies = table["studies"][0]
    yield "# Judges who toss coins"
    yield ""
    yield (
        f"Made by `{command}`: {studies:,} studies of {len(ITEMS)} items and {len(JUDGES)} judges "
        f"who toss coins. The first {OPENING} questions are from `jr.next_pairs` without votes; "
        f"then batches of {BATCH} are chosen by `Ranking.next_pairs`, with repeats and with the "
        "usual random share. After each, somebody looks. In how many studies, in %, was something "
        "called sure at this look, and (in brackets) at this or an earlier one? And how many of "
        "the intervals of 95 % hold the truth?"
    )
    yield ""
    yield from markdown(("votes", *EVENTS, "covered"), map(_row, table.iter_rows(named=True)))
    yield ""
    yield (
        "`settled` is meant to hold at all looks together, in 95 % of studies. Tiers and intervals "
        "are meant for one look. One standard error of a share of 5 % is "
        f"{100.0 * np.sqrt(0.05 * 0.95 / studies):.1f} %."
    )


def _row(row: dict[str, Any]) -> list[str]:
    shares = [f"{100 * row[name]:.1f} ({100 * row[f'{name} so far']:.1f})" for name in EVENTS]
    covered = f"{100 * row['covered']:.1f} ± {100 * row['covered_se']:.1f}"
    return [f"{row['votes']:,}", *shares, covered]


def chart(table: pl.DataFrame) -> object:
    """How often something was called sure until each look."""
    alt = altair()
    names = [f"{name} so far" for name in EVENTS]
    shown = table.unpivot(names, index="votes", variable_name="what", value_name="share")
    base = alt.Chart(shown, width=420, height=240)
    line = base.mark_line(point=True).encode(
        x=alt.X("votes:Q", scale=alt.Scale(zero=False)),
        y=alt.Y("share:Q", title="studies", axis=alt.Axis(format=".0%")),
        color=alt.Color("what:N", title=None),
    )
    limit = alt.Chart(pl.DataFrame({"share": [0.05]})).mark_rule(strokeDash=[4, 3])
    return line + limit.encode(y="share:Q")


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--trials", default="", help="a file that keeps what each trial found")
    given = parser.parse_args()
    keys = [Watched(given.seed, number) for number in range(given.studies)]
    found = kept_results(looks, keys, "Coins", given.jobs, given.trials)
    rows = [row for one in found for row in one]
    table = summary(pl.DataFrame(rows))
    command = f"python -m studies.coins --studies {given.studies} --seed {given.seed}"
    for path in save_study(given.out, "coins", table, list(page(table, command)), chart(table)):
        print(path)


if __name__ == "__main__":
    main()
