"""CPU time of a choice of questions: `python -m benchmarks.choices --items 20 200 10000`.

Votes are simulated and ranked, which draws the posterior; then `next_pairs` is called again and
again with another seed, by one thread. The median and the longest CPU time are printed, and that of
the first call, which imports what it needs and works out what later calls find. Beside it stands
what the same ranking took.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.errors import JuryrankWarning
from juryrank.threads import one_blas_thread

JUDGES = [f"judge {number}" for number in range(20)]
NINE = JUDGES[:9]
VOTES_PER_ITEM = {20: 18, 200: 9}
"""Others have `USUAL`."""
USUAL = 6
CALLS = 9


class Wish(NamedTuple):
    """What is asked for."""

    name: str
    n: int
    wishes: dict[str, Any]


WISHES = (
    Wish("one question, for one judge", 1, {"judge": JUDGES[0]}),
    Wish("one question, for nobody in particular", 1, {}),
    Wish("one question, for one of nine judges", 1, {"judges": NINE}),
    Wish("100 questions, for one judge", 100, {"judge": JUDGES[0]}),
    Wish("100 questions, for nine judges", 100, {"judges": NINE}),
    Wish("one question on the best ten, for one judge", 1,
         {"judge": JUDGES[0], "target": "top:10"}),
)  # fmt: skip


def simulated(items: int, votes: int, seed: int = 1) -> pl.DataFrame:
    """Votes of judges of three accuracies on pairs at random, each item being in some."""
    rng = np.random.default_rng(seed)
    score, accuracy = rng.normal(size=items), rng.choice((2.5, 1.0, 0.5), len(JUDGES))
    left = np.arange(votes) % items
    right = (left + rng.integers(1, items, votes)) % items
    judge = rng.integers(0, len(JUDGES), votes)
    gap = accuracy[judge] * (score[left] - score[right])
    won = rng.random(votes) < 1.0 / (1.0 + np.exp(-gap))
    return pl.DataFrame(
        {
            "judge": [JUDGES[code] for code in judge.tolist()],
            "left": [f"item {code:06}" for code in left.tolist()],
            "right": [f"item {code:06}" for code in right.tolist()],
            "winner": np.where(won, "left", "right"),
        }
    )


def rows(items: int, intervals: Any) -> Iterator[tuple[str, ...]]:
    """The rows of the table for so many items."""
    votes = simulated(items, items * VOTES_PER_ITEM.get(items, USUAL))
    ranking, cpu = _timed(lambda: jr.rank(votes, intervals=intervals, threads=1))
    what = (f"{items:,}", f"{len(votes):,}", str(ranking.fit.posterior))
    yield *what, "ranking them", "", f"{1e3 * cpu:,.0f}", ""
    for wish in WISHES:
        took = [1e3 * _cpu(ranking, wish, seed) for seed in range(CALLS)]
        yield *what, wish.name, *(f"{ms:,.1f}" for ms in (np.median(took[1:]), took[0], max(took)))


def _cpu(ranking: jr.Ranking, wish: Wish, seed: int) -> float:
    found, cpu = _timed(lambda: ranking.next_pairs(wish.n, seed=seed, **wish.wishes))
    assert len(found) == wish.n  # noqa: S101
    return cpu


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return work(), time.process_time() - begun


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--items", type=int, nargs="+", default=[20, 200, 10_000])
    parser.add_argument("--intervals", default="posterior", help="posterior or information")
    given = parser.parse_args()
    print("| items | votes | posterior | what | ms | first, ms | longest, ms |")
    print("|---|---|---|---|---|---|---|")
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        for items in given.items:
            for row in rows(items, given.intervals):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
