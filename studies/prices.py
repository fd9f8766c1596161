"""Judges who cost more or less: how near to the truth does money lead?

    python -m studies.prices

20 items, and judges whose questions have a price. Questions are asked in batches until the budget
is spent; what the answers tell is measured after so much money. The answer to the k-th time that a
judge is asked about a pair is the same for every policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.charts.library import altair
from juryrank.paper.pictures import save_study
from studies.active import Oracle, Setting, about, item_name, judge_name, jury, votes_of
from studies.jury import code_of
from studies.pages import markdown
from studies.policies import Question, Random, Rng, Study
from studies.running import kept_results, options

BATCH = 36
BY_PRICE, PRICES_UNKNOWN = "juryrank", "juryrank, prices unknown"
NONE_AT_RANDOM = "juryrank, none at random"
RANDOM, BEST_AT_RANDOM = "random", "random, the best for their price"
POLICIES = (BY_PRICE, NONE_AT_RANDOM, PRICES_UNKNOWN, RANDOM, BEST_AT_RANDOM)


class Market(NamedTuple):
    """Judges, what a question costs each, and the sums after which policies are compared."""

    what: str
    accuracies: tuple[float, ...]
    prices: tuple[float, ...]
    budgets: tuple[int, ...]

    @property
    def best(self) -> list[int]:
        """The judges whose answers have most information for the price, which goes by a^2."""
        worth = np.square(self.accuracies) / np.array(self.prices)
        return np.flatnonzero(worth >= worth.max() - 1e-9).tolist()


MARKETS = {
    "equal": Market(
        "8 judges of accuracy 1, four at a price of 1 and four at 5",
        (1.0,) * 8, (1.0,) * 4 + (5.0,) * 4, (250, 500, 1000),
    ),
    "good and dear": Market(
        "8 judges, four of accuracy 2.5 at a price of 3, four of accuracy 0.5 at 1",
        (2.5,) * 4 + (0.5,) * 4, (3.0,) * 4 + (1.0,) * 4, (250, 500, 1000),
    ),
}  # fmt: skip


class Trial(NamedTuple):
    """One policy on one data set."""

    market: str
    policy: str
    seed: int
    number: int


@dataclass
class Priced:
    """The package's own choice, for judges with prices."""

    prices: tuple[float, ...]
    seed: int
    options: dict[str, Any]

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """A batch."""
        del rng
        first, who = len(study.answers), map(judge_name, range(study.judges))
        judges = {name: (None, price) for name, price in zip(who, self.prices, strict=True)}
        wishes: dict[str, Any] = {"judges": judges, "seed": self.seed + first, **self.options}
        if first:
            chosen = jr.rank(votes_of(study.answers), threads=1).next_pairs(count, **wishes)
        else:
            chosen = jr.next_pairs(list(map(item_name, range(study.items))), count, **wishes)
        rows = chosen.select("judge", "left", "right").iter_rows()
        return [Question(*(code_of(name) for name in row)) for row in rows]


@dataclass
class OfSome:
    """Pairs at random, for some judges in turn."""

    judges: list[int]

    def ask(self, study: Study, count: int, rng: Rng) -> list[Question]:
        """A batch."""
        asked, some = Random().ask(study, count, rng), self.judges
        return [one._replace(judge=some[one.judge % len(some)]) for one in asked]


def _policy(trial: Trial, market: Market) -> Priced | OfSome:
    seed = trial.seed + 1000 * trial.number
    if trial.policy == RANDOM:
        return OfSome(list(range(len(market.prices))))
    if trial.policy == BEST_AT_RANDOM:
        return OfSome(market.best)
    prices = market.prices
    if trial.policy == PRICES_UNKNOWN:
        prices = (1.0,) * len(prices)
    return Priced(prices, seed, {"random_share": 0.0} if trial.policy == NONE_AT_RANDOM else {})


def measured(trial: Trial) -> list[dict[str, Any]]:
    """What is known after each sum."""
    market = MARKETS[trial.market]
    key = (trial.seed, trial.number, list(MARKETS).index(trial.market))
    setting = Setting(trial.market, market.what, jury(*market.accuracies), (), ())
    truth = setting.truth(np.random.default_rng(key))
    study, rng = Study(len(truth.score), len(truth.accuracy)), np.random.default_rng([*key, 1])
    policy, oracle, found = _policy(trial, market), Oracle(setting, truth, key), []
    spent: list[float] = []
    for budget in market.budgets:
        while sum(spent) < budget:
            questions = policy.ask(study, BATCH, rng)
            study.answers += [oracle.answer(question) for question in questions]
            spent += [market.prices[question.judge] for question in questions]
        votes = int(np.searchsorted(np.cumsum(spent), budget, side="right"))
        told = about(setting, truth, study.answers[:votes])
        found.append(
            {"market": trial.market, "policy": trial.policy, "number": trial.number,
             "budget": budget, "votes": votes, "tau": told["tau"], "rmse": told["rmse"]}
        )  # fmt: skip
    return found


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Means over data sets, and their standard errors."""
    return rows.group_by("market", "policy", "budget", maintain_order=True).agg(
        pl.len().alias("data_sets"),
        pl.col("votes").mean(),
        *(pl.col(name).mean() for name in ("tau", "rmse")),
        *((pl.col(name).std() / pl.len().sqrt()).alias(f"{name}_se") for name in ("tau", "rmse")),
    )


def page(table: pl.DataFrame, command: str) -> Iterator[str]:
    """The page, line by line."""
    yield "# Judges with prices"
    yield ""
    yield (
        f"Made by `{command}`: 20 items with scores drawn from N(0, 1), {table['data_sets'][0]} "
        f"data sets. Questions are asked in batches of {BATCH}. `juryrank` is told the prices "
        "(`judges={name: (None, price)}`), and asks 15 % of its questions at random, as long as it "
        'does not say "none at random". "random" has any pairs for judges in turn; "the best for '
        'their price" knows whose answers tell most for the price, and asks these alone. Of each '
        "after so much money: the votes, Kendall's tau to the true order, and the root mean square "
        "error of standardised scores, ± one standard error."
    )
    for name, market in MARKETS.items():
        yield ""
        yield f"## {name}"
        yield ""
        yield f"{market.what}."
        yield ""
        head = ("policy", "money", "votes", "tau", "rmse")
        rows = table.filter(pl.col("market") == name)
        yield from markdown(head, map(_row, rows.iter_rows(named=True)))


def _row(row: dict[str, Any]) -> list[str]:
    shown = (f"{row[name]:.3f} ± {row[f'{name}_se'] or 0.0:.3f}" for name in ("tau", "rmse"))
    return [row["policy"], f"{row['budget']:,}", f"{row['votes']:,.0f}", *shown]


def chart(table: pl.DataFrame) -> object:
    """Kendall's tau against money."""
    alt = altair()
    line = alt.Chart(table, width=360, height=240).mark_line(point=True)
    line = line.encode(
        x=alt.X("budget:Q", title="money", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("tau:Q", title="Kendall's tau", scale=alt.Scale(zero=False)),
        color=alt.Color("policy:N", title=None),
    )
    return line.facet(facet=alt.Facet("market:N", title=None), columns=2)


def main() -> None:
    """Run the study and write its page."""
    parser = options(__doc__)
    parser.add_argument("--data-sets", type=int, default=8)
    parser.add_argument("--trials", default="", help="a file that keeps what each trial found")
    given = parser.parse_args()
    trials = [
        Trial(market, policy, given.seed, number)
        for market in MARKETS
        for policy in POLICIES
        for number in range(given.data_sets)
    ]
    found = kept_results(measured, trials, "Prices", given.jobs, given.trials)
    table = summary(pl.DataFrame([row for one in found for row in one]))
    command = f"python -m studies.prices --data-sets {given.data_sets} --seed {given.seed}"
    for path in save_study(given.out, "prices", table, list(page(table, command)), chart(table)):
        print(path)


if __name__ == "__main__":
    main()
