"""The data sets on which two commits must agree: small, of every kind, each with a seed of its own.

They are drawn here, with numpy alone, and not by the code that is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

Options = dict[str, Any]
Table = Callable[[np.random.Generator], pl.DataFrame]

ITEMS, JUDGES, VOTES_PER_JUDGE = 8, 9, 40
OWN_NOISE = "logistic"
"""The name under which the worker knows a noise that is not one of juryrank's."""
MODELS = (
    "hbtl", "htcv", "btl", "tcv", "crowdbt", "crowdtcv", "rank-centrality", "win-rate",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Votes, and what is done with them."""

    name: str
    tables: tuple[Table, ...]
    """One for each file; several are joined."""
    rank: Options = field(default_factory=dict)
    read: Options = field(default_factory=dict)
    call: str = "rank"
    """rank, judges, compare or check."""


# --- votes ---------------------------------------------------------------------------------------


def pairs(
    rng: np.random.Generator,
    items: int = ITEMS,
    judges: int = JUDGES,
    votes: int = VOTES_PER_JUDGE,
    *,
    tie: float = 0.0,
    left: float = 0.0,
    backwards: int = 0,
    guessing: int = 0,
) -> pl.DataFrame:
    """Pairs by Bradley-Terry with ties after Davidson; the first judges are backwards or guess."""
    score = rng.normal(0.0, 1.0, items)
    accuracy = np.exp(rng.normal(0.0, 0.4, judges))
    accuracy[:backwards] *= -1.0
    accuracy[backwards : backwards + guessing] = 0.0
    judge = np.repeat(np.arange(judges), votes)
    one = rng.integers(0, items, len(judge))
    other = (one + rng.integers(1, items, len(judge))) % items
    odds = np.exp(accuracy[judge] * (score[one] - score[other]) + left)
    tied = tie * np.sqrt(odds)
    drawn = rng.random(len(judge)) * (1.0 + odds + tied)
    winner = np.where(drawn < odds, "left", np.where(drawn < odds + tied, "tie", "right"))
    return pl.DataFrame(
        {
            "judge": [f"judge {u}" for u in judge],
            "left": [f"item {i}" for i in one],
            "right": [f"item {i}" for i in other],
            "winner": winner,
        }
    )


def with_weights(rng: np.random.Generator, table: Table) -> pl.DataFrame:
    """Votes, each of which counts as often as it says."""
    votes = table(rng)
    return votes.with_columns(weight=pl.Series(rng.choice([0.5, 1.0, 2.0, 3.5], len(votes))))


def pushing(rng: np.random.Generator, judges: int = 1) -> pl.DataFrame:
    """Votes among which the first judges prefer one item to whatever it is compared with."""
    votes = pairs(rng, votes=60)
    pushes = pl.col("judge").is_in([f"judge {u}" for u in range(judges)])
    for side in ("left", "right"):
        mine = pushes & (pl.col(side) == "item 0")
        votes = votes.with_columns(winner=pl.when(mine).then(pl.lit(side)).otherwise("winner"))
    return votes


def copied(rng: np.random.Generator) -> pl.DataFrame:
    """Votes among which three accounts say what another says."""
    votes = pairs(rng, items=10, votes=60)
    original = votes.filter(pl.col("judge") == "judge 0")
    copies = [original.with_columns(judge=pl.lit(f"copy {k}")) for k in range(3)]
    return pl.concat([votes, *copies])


def leaning(rng: np.random.Generator) -> pl.DataFrame:
    """Votes among which one judge nearly always takes the left item."""
    votes = pairs(rng, votes=60)
    leans = (pl.col("judge") == "judge 3") & pl.Series(rng.random(len(votes)) < 0.9)
    return votes.with_columns(winner=pl.when(leans).then(pl.lit("left")).otherwise("winner"))


def in_two_groups(rng: np.random.Generator) -> pl.DataFrame:
    """Votes on items of which some were never compared with the others."""
    one, other = pairs(rng, items=5), pairs(rng, items=4)
    names = (pl.col(side).str.replace("item", "thing") for side in ("left", "right"))
    return pl.concat([one, other.with_columns(*names)])


def with_an_unbeaten_item(rng: np.random.Generator) -> pl.DataFrame:
    """Votes that cannot be ranked without a prior."""
    votes = pairs(rng)
    for side in ("left", "right"):
        mine = pl.col(side) == "item 0"
        votes = votes.with_columns(winner=pl.when(mine).then(pl.lit(side)).otherwise("winner"))
    return votes


def in_languages(rng: np.random.Generator, table: Table = pairs) -> pl.DataFrame:
    """Votes with a column that tells their language."""
    votes = table(rng)
    return votes.with_columns(language=pl.Series(rng.choice(["de", "en"], len(votes))))


def rankings(
    rng: np.random.Generator,
    per_vote: int = 4,
    top: int | None = None,
    *,
    tie: float = 0.0,
    judges: int = JUDGES,
    votes: int = 15,
) -> pl.DataFrame:
    """Rankings by Plackett-Luce; neighbours are tied with a fixed chance, whatever they are."""
    score, accuracy = rng.normal(0.0, 1.0, ITEMS), np.exp(rng.normal(0.0, 0.4, judges))
    rows = []
    for judge in np.repeat(np.arange(judges), votes):
        shown = rng.permutation(ITEMS)[:per_vote]
        seen = accuracy[judge] * score[shown] + rng.gumbel(size=per_vote)
        order = [f"item {i}" for i in shown[np.argsort(-seen)]][: top or per_vote]
        signs = np.where(rng.random(len(order) - 1) < tie, " = ", " > ")
        said = order[0] + "".join(map("".join, zip(signs, order[1:], strict=True)))
        options = " | ".join(f"item {i}" for i in shown)
        rows.append((f"judge {judge}", said, options))
    return pl.DataFrame(rows, schema=["judge", "ranking", "options"], orient="row")


def choices(rng: np.random.Generator) -> pl.DataFrame:
    """Choices of one item from sets of three."""
    found = rankings(rng, per_vote=3, top=1, votes=30)
    return found.rename({"ranking": "choice"})


def ratings(rng: np.random.Generator) -> pl.DataFrame:
    """Ratings from 1 to 5."""
    score = rng.normal(3.0, 1.0, ITEMS)
    judge, item = np.divmod(np.arange(JUDGES * ITEMS), ITEMS)
    seen = np.clip(np.rint(score[item] + rng.normal(0.0, 0.7, len(item))), 1, 5).astype(int)
    return pl.DataFrame(
        {
            "judge": [f"judge {u}" for u in judge],
            "item": [f"item {i}" for i in item],
            "rating": seen,
        }
    )


def numbered(rng: np.random.Generator) -> pl.DataFrame:
    """Votes whose labels are numbers."""
    votes = pairs(rng)
    return votes.with_columns(
        pl.col(name).str.extract(r"(\d+)").cast(pl.Int64) for name in ("judge", "left", "right")
    )


def without_judges(rng: np.random.Generator) -> pl.DataFrame:
    """Votes that do not say whose they are."""
    return pairs(rng).drop("judge")


# --- the cases -----------------------------------------------------------------------------------


def cases() -> list[Case]:
    """All cases, each with a name of its own."""
    return [*_of_models(), *_of_settings(), *_of_kinds(), *_of_judges(), *_of_reading()]


def _of_models() -> Iterator[Case]:
    for model in MODELS:
        yield Case(f"pairs, {model}", (pairs,), {"model": model})
    for noise in ("gumbel", "normal", "exponential", OWN_NOISE):
        yield Case(f"htm, {noise}", (pairs,), {"model": "htm", "noise": noise, "prior": (1.0, 0.5)})
    for model in ("hbtl", "htcv", "btl"):
        paper = {"model": model, "solver": "paper", "lambda0": 0.5}
        yield Case(f"Algorithm 1, {model}", (pairs,), paper)
    yield Case("Algorithm 1, rankings", (rankings,), {"solver": "paper"})


def _of_settings() -> Iterator[Case]:
    for intervals in ("information", "sandwich", "bootstrap", None):
        yield Case(f"intervals {intervals}", (pairs,), {"intervals": intervals})
    yield Case("bootstrap, crowdbt", (pairs,), {"model": "crowdbt", "intervals": "bootstrap"})
    yield Case("prior (1, 1)", (pairs,), {"prior": (1.0, 1.0)})
    yield Case("no prior", (pairs,), {"prior": None, "intervals": "information"})
    virtual = {"lambda0": 1.0, "model": "btl"}
    yield Case("virtual node", (pairs,), virtual)
    yield Case("no tastes", (pairs,), {"tastes": False})
    yield Case("confidence 80%", (pairs,), {"confidence": 0.8})
    few = partial(pairs, items=5, judges=3, votes=12)
    yield Case("few votes", (few,))
    many = partial(pairs, items=80, judges=300, votes=110)
    yield Case("too many votes to sample", (many,))
    yield Case("many votes of equal judges", (many,), {"model": "btl"})


def _of_kinds() -> Iterator[Case]:
    tied = partial(pairs, tie=0.8)
    for ties in (None, "davidson", "davidson-by-judge", "half"):
        yield Case(f"ties, {ties}", (tied,), {"ties": ties})
    yield Case("ties, normal noise", (tied,), {"model": "htcv"})
    sided = partial(pairs, left=0.5)
    for order in ("common", "by-judge"):
        yield Case(f"order {order}", (sided,), {"order": order})
    both = partial(pairs, tie=0.5, left=0.5)
    yield Case("ties and order", (both,), {"order": "common", "intervals": "information"})
    for model in ("hbtl", "btl", "htcv"):
        yield Case(f"rankings, {model}", (rankings,), {"model": model, "prior": (1.0, 0.5)})
    yield Case("rankings", (rankings,))
    tied_lists = partial(rankings, tie=0.3)
    for ties in (None, "davidson", "half"):
        yield Case(f"rankings with ties, {ties}", (tied_lists,), {"ties": ties})
    yield Case("best two of five", (partial(rankings, per_vote=5, top=2),))
    yield Case("choices", (choices,))
    yield Case("pairs and rankings", (pairs, rankings))
    yield Case("weights", (partial(with_weights, table=pairs),))
    yield Case("weights of ties", (partial(with_weights, table=tied),), {"prior": (1.0, 0.5)})
    yield Case("weights of rankings", (partial(with_weights, table=rankings),))
    yield Case("ratings", (ratings,))


def _of_judges() -> Iterator[Case]:
    yield Case("one-sided judge", (pushing,))
    for judges in (1, 2):
        pushed = partial(pushing, judges=judges)
        yield Case(f"set aside, {judges}", (pushed,), {"tastes": False, "prior": (1.0, 0.5)})
    yield Case("one-sided, unguarded", (pushing,), {"tastes": False, "guard": False})
    yield Case("copies", (copied,))
    yield Case("copies, best fit", (copied,), {"intervals": "information"})
    yield Case("copies, unguarded", (copied,), {"guard": False})
    yield Case("position-biased judge", (leaning,))
    odd = partial(pairs, votes=60, backwards=2, guessing=1)
    yield Case("backwards and guessing", (odd,))
    yield Case("backwards, best fit", (odd,), {"intervals": "information"})
    yield Case("close call", (partial(pairs, backwards=4),))
    yield Case("one judge", (partial(pairs, judges=1),))
    yield Case("no judges", (without_judges,))
    yield Case("report on judges", (odd,), {"prior": (1.0, 0.5)}, call="judges")
    yield Case("comparison", (tied_and_odd,), {"models": ["hbtl-no-tastes", "btl", "tcv"]},
               call="compare")  # fmt: skip
    yield Case("comparison on rankings", (rankings,), {"models": ["btl", "hbtl-no-tastes"]},
               call="compare")  # fmt: skip


def tied_and_odd(rng: np.random.Generator) -> pl.DataFrame:
    """Votes with ties by judges of whom some are backwards."""
    return pairs(rng, tie=0.4, backwards=2)


def _of_reading() -> Iterator[Case]:
    for model in ("hbtl", "btl", "win-rate"):
        yield Case(f"groups, {model}", (in_two_groups,), {"model": model})
    yield Case("unbeaten item", (with_an_unbeaten_item,))
    yield Case("unbeaten item, no prior", (with_an_unbeaten_item,), {"prior": None})
    memory = {"memory": "1MB"}
    yield Case("memory", (pairs,), read=memory)
    both = partial(pairs, tie=0.5, left=0.5)
    settings = {"order": "common", "prior": (1.0, 0.5)}
    yield Case("memory, ties and order", (both,), settings, memory)
    yield Case("memory, weights", (partial(with_weights, table=pairs),), read=memory)
    yield Case("memory, Algorithm 1", (pairs,), {"solver": "paper"}, memory)
    many = partial(pairs, items=80, judges=300, votes=110)
    yield Case("memory, many votes", (many,), read=memory)
    apart = {"by": "language"}
    yield Case("by language", (in_languages,), {**apart, "model": "btl"}, apart)
    lists = partial(in_languages, table=rankings)
    yield Case("rankings by language", (lists,), {**apart, "prior": (1.0, 0.5)}, apart)
    yield Case("some rows", (in_languages,), read={"where": "language == 'de'"})
    yield Case("numbers for names", (numbered,))
    yield Case("check", (tied_and_odd,), call="check")
    yield Case("check of groups", (in_two_groups,), call="check")


def written(folder: Path, some: list[Case]) -> list[dict[str, Any]]:
    """Write the votes of the cases as CSV files; what the worker is to do with each."""
    jobs = []
    for seed, case in enumerate(some):
        files = []
        for part, table in enumerate(case.tables):
            path = folder / f"votes-{seed}-{part}.csv"
            table(np.random.default_rng((seed, part))).write_csv(path)
            files.append(path.name)
        jobs.append(
            {"name": case.name, "files": files, "read": case.read, "rank": case.rank,
             "call": case.call}
        )  # fmt: skip
    return jobs
