"""Who can buy a rank? Juries under attack, and what becomes of the item that is pushed.

python -m studies.attacks
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.charts.library import altair
from studies.jury import Asked, Codes, Floats, Jury, Rng, asked, code_of
from studies.naming import Trial, is_said, named_judges, run_study, share_with_error
from studies.pages import markdown

ITEMS = 15
MIDDLE = 7
"""The rank, from 0, of an item that is pushed up; one that is pushed down is the best."""
TOP = 3
MOST_AT_TOP = 0.10
LEAST_NAMED = 0.80
PERFECT = 50.0
"""An accuracy without noise."""
OFTEN = 0.7


@dataclass(frozen=True)
class Attack:
    """A way to attack a jury on fifteen items; of honest judges, accuracies are log-normal(.5)."""

    name: str
    what: str
    kind: str
    attackers: int
    votes: int
    """Of each judge."""
    honest: int = 12
    own_votes: int | None = None
    """Of each attacker, if not as many."""
    is_goal: bool = False
    """Whether the item must stay out of the top three,"""
    must_be_named: bool = False
    """and attackers be named."""


ATTACKS = (
    Attack("none x 100", "12 honest judges x 100 votes", "none", 0, 100),
    Attack("none x 300", "12 honest judges x 300 votes", "none", 0, 300),
    Attack("camouflage 3 x 300", "3 of 12 vote without noise, but always for one item",
           "camouflage", 3, 300, 9, is_goal=True, must_be_named=True),
    Attack("camouflage 4 x 300", "4 of 12", "camouflage", 4, 300, 8),
    Attack("camouflage 3 x 100", "3 of 12, 100 votes each", "camouflage", 3, 100, 9),
    Attack("push 4 x 300", "4 of 12 always vote for one item", "push", 4, 300, 8, is_goal=True,
           must_be_named=True),
    Attack("push 5 x 300", "5 of 12", "push", 5, 300, 7),
    Attack("push 6 x 300", "6 of 12", "push", 6, 300, 6),
    Attack("push 3 x 100", "3 of 12, 100 votes each", "push", 3, 100, 9),
    Attack("push 4 x 100", "4 of 12, 100 votes each", "push", 4, 100, 8),
    Attack("push down 4 x 100", "4 of 12 always vote against the best item", "down", 4, 100, 8),
    Attack("often 6 x 100", "6 of 12 vote for one item in 70 % of the votes it would lose",
           "often", 6, 100, 6),
    Attack("30 accounts x 3", "12 honest judges; 30 accounts with 3 votes for one item",
           "accounts", 30, 100, own_votes=3, is_goal=True),
    Attack("60 accounts x 3", "60 such accounts, 13 % of the votes", "accounts", 60, 100,
           own_votes=3, is_goal=True),
    Attack("100 accounts x 2", "100 accounts with 2 votes, 14 % of the votes", "accounts", 100, 100,
           own_votes=2, is_goal=True),
    Attack("200 accounts x 1", "200 accounts with 1 vote, 14 % of the votes", "accounts", 200, 100,
           own_votes=1),
    Attack("5 copies", "7 honest judges and 5 exact copies of one of them", "copies", 5, 100, 7),
    Attack("11 copies", "12 honest judges and 11 exact copies of one of them", "copies", 11, 100),
)  # fmt: skip
BY_NAME = {attack.name: attack for attack in ATTACKS}


@dataclass(frozen=True, eq=False)
class Case:
    """An attacked jury: its votes, who attacks, and the item in question."""

    jury: Jury
    votes: Asked
    attackers: Codes
    target: int


def attacked(attack: Attack, rng: Rng) -> Case:
    """A jury under such an attack."""
    h, k = attack.honest, attack.attackers
    order = rng.permutation(ITEMS)
    score = np.sort(rng.normal(0.0, 1.0, ITEMS))[::-1][order].copy()
    target = int(np.flatnonzero(order == (0 if attack.kind == "down" else MIDDLE))[0])
    accuracy = np.exp(rng.normal(0.0, 0.5, h + k))
    if attack.kind == "camouflage":
        accuracy[h:] = PERFECT
    jury = Jury(score, accuracy, np.zeros((h + k, ITEMS)), "gumbel")
    own = attack.votes if attack.own_votes is None else attack.own_votes
    votes = asked(jury, np.repeat(np.arange(h + k), [attack.votes] * h + [own] * k), None, rng)
    attackers = np.arange(h, h + k)
    return Case(jury, _rigged(attack, votes, attackers, target, rng), attackers, target)


def _rigged(attack: Attack, votes: Asked, attackers: Codes, target: int, rng: Rng) -> Asked:
    """The votes after the attackers have done what they do."""
    if attack.kind == "copies":
        return _copied(votes, attackers)
    winner, loser, theirs = votes.winner.copy(), votes.loser.copy(), np.isin(votes.judge, attackers)
    if attack.kind == "accounts":
        other = (target + rng.integers(1, ITEMS, len(winner))) % ITEMS
        winner[theirs], loser[theirs] = target, other[theirs]
        return Asked(votes.judge, winner, loser)
    turned = theirs & ((winner if attack.kind == "down" else loser) == target)
    if attack.kind == "often":
        turned &= rng.random(len(turned)) < OFTEN
    winner[turned], loser[turned] = votes.loser[turned], votes.winner[turned]
    return Asked(votes.judge, winner, loser)


def _copied(votes: Asked, copies: Codes) -> Asked:
    """The first judge's votes again under other names."""
    honest, first = ~np.isin(votes.judge, copies), votes.judge == 0
    parts = [(votes.judge[honest], votes.winner[honest], votes.loser[honest])]
    parts += [
        (np.full(int(first.sum()), u), votes.winner[first], votes.loser[first]) for u in copies
    ]
    return Asked(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def measured(trial: Trial) -> dict[str, Any]:
    """What one attacked jury comes to."""
    attack = BY_NAME[trial.setting]
    rng = np.random.default_rng([trial.seed, trial.number, 100 + ATTACKS.index(attack)])
    case = attacked(attack, rng)
    ranking = jr.rank(case.votes.frame(), threads=1)
    items = np.array([code_of(name) for name in ranking.items["item"]])
    index = int(np.flatnonzero(items == case.target)[0])
    draws = ranking.posterior.scores
    above = (draws > draws[:, index, None]).sum(axis=1)
    others, truth = items != case.target, case.jury.score[items]
    named, ring = named_judges(ranking), set(case.attackers.tolist())
    if attack.kind == "copies":
        ring.add(0)
    score: Floats = ranking.items["score"].to_numpy()
    return {
        "setting": attack.name,
        "number": trial.number,
        "rank": index + 1,
        "top": index < TOP,
        "said_top": float(np.mean(above < TOP)),
        "named": len(named.keys() & ring) / len(ring) if ring else None,
        "told": (len(named.keys() & ring) > 0 or is_said(ranking)) if ring else None,
        "false": bool(named.keys() - ring),
        "tau": float(kendalltau(score[others], truth[others]).statistic),
    }


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each attack: means over data sets."""
    means = ("rank", "top", "said_top", "named", "told", "false", "tau")
    return rows.group_by("setting", maintain_order=True).agg(
        pl.len().alias("data_sets"), *(pl.col(name).cast(pl.Float64).mean() for name in means)
    )


def _table_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for row in table.iter_rows(named=True):
        attack, count = BY_NAME[row["setting"]], row["data_sets"]
        top = share_with_error(row["top"], count)
        told = "-" if row["told"] is None else share_with_error(row["told"], count)
        yield [
            attack.name,
            f"{row['rank']:.1f}",
            f"**{top}**" if attack.is_goal and row["top"] > MOST_AT_TOP else top,
            f"{100 * row['said_top']:.0f}",
            "-" if row["named"] is None else f"{100 * row['named']:.0f}",
            f"**{told}**" if attack.must_be_named and row["told"] < LEAST_NAMED else told,
            share_with_error(row["false"], count),
            f"{row['tau']:.3f}",
        ]


def page(_rows: pl.DataFrame, table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Attacks"
    yield ""
    yield (
        f"Made by `{command}`. Twelve judges, unless said, with log-normal(.5) accuracies vote on "
        "random pairs of 15 items with scores from N(0, 1). Some of them push one item whose true "
        "rank is 8 (or, pushed down, 1). `jr.rank` is called with no argument but the votes."
    )
    yield ""
    yield from markdown(("attack", "what"), ((one.name, one.what) for one in ATTACKS))
    yield ""
    yield (
        "Rank: the mean rank of the item. In the top 3: the share of data sets, in %, ± one "
        "standard error; bold where it should be at most 10 %. Said: the chance, in %, that the "
        "answer gives the item of being there. Named: the share of attackers with a verdict that "
        "needs attention; told: the share of data sets in which one of them has such a verdict, or "
        "a warning speaks of accounts that count as one or of opinions that split; bold where it "
        "should be at least 80 %. Honest named: the share of data sets in which an honest judge "
        "has a bad verdict. Tau: Kendall's tau of the other items' scores to the truth."
    )
    yield ""
    yield "![Where the pushed item ends up](attacks.png)"
    yield ""
    head = ("attack", "rank", "in the top 3", "said", "named", "told", "honest named", "tau")
    yield from markdown(head, _table_rows(table))
    yield ""
    yield "## What it cannot do"
    yield ""
    yield (
        "Judges who vote without any noise are, by their votes, far more accurate than the others, "
        "and where they agree on an item it takes many votes of the others to outweigh them: three "
        "such judges of twelve are held with 300 votes each, four, or three with 100, not always. "
        "With 100 votes each, pushers of one item are seldom named, and may lift it by a rank or "
        "two. Half of the jury with a moderate bias is a camp like any other, and is not found. "
        "Accounts with a single vote cannot be told from judges who were asked once; 200 of them "
        "beside 12 judges with 100 votes each did no harm."
    )
    yield ""


def chart(table: pl.DataFrame) -> object:
    """The share of data sets in which an item that is pushed up is in the top three."""
    alt = altair()
    order = [attack.name for attack in ATTACKS if attack.kind != "down"]
    base = alt.Chart(table.filter(pl.col("setting").is_in(order)), width=560, height=340)
    bars = base.mark_bar().encode(
        x=alt.X("top:Q", title="in the top 3", axis=alt.Axis(format=".0%")),
        y=alt.Y("setting:N", sort=order, title=None),
    )
    return alt.layer(bars, base.mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(MOST_AT_TOP)))


def main() -> None:
    """Run the study and write its page."""
    run_study("attacks", __doc__, measured, list(BY_NAME), summary, page, chart)


if __name__ == "__main__":
    main()
