"""A policy that knows nothing, and judges that are functions of the pair, for tests of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from juryrank.active.display import Display
from juryrank.active.judge import Judges
from juryrank.active.loop import Ended
from juryrank.active.loop_policy import Barred, Known, NoQuestionLeft, Taker
from juryrank.active.running import Terms, begun, conducted, remarks
from juryrank.reading.run_log import History, Label


@dataclass
class RandomPairs:
    """Chooses pairs at random that the judge has not seen; settled after so many votes."""

    items: Sequence[Label]
    settled_after: float = np.inf

    def require_possible(self, judges: Sequence[str]) -> None:
        """Everything is."""

    def look(self, votes: pl.DataFrame) -> Known:
        self.seen = (
            {
                (judge, frozenset((left, right)))
                for judge, left, right in votes.select("judge", "left", "right").rows()
            }
            if len(votes)
            else set()
        )
        self.wins = 0 if not len(votes) else int((votes["outcome"] == "left").sum())
        return Known(settled=len(votes) >= self.settled_after)

    def choose(
        self,
        known: Known,
        n: int,
        takers: Mapping[str, Taker],
        barred: Sequence[Barred],
        seed: int,
    ) -> pl.DataFrame:
        assert known.ranking is None
        shut = self.seen | {(one.judge, frozenset((one.left, one.right))) for one in barred}
        # What comes next depends on the answers.
        rng = np.random.default_rng([seed, self.wins])
        left = {name: taker.questions for name, taker in takers.items()}
        pairs = [(name, *pair) for name in takers for pair in combinations(self.items, 2)]
        rows: list[dict[str, Any]] = []
        for at in rng.permutation(len(pairs)).tolist():
            judge, one, other = pairs[at]
            if len(rows) == n or (judge, frozenset((one, other))) in shut or not left[judge]:
                continue
            left[judge] -= 1
            if rng.random() < 0.5:
                one, other = other, one
            rows.append({"left": one, "right": other, "judge": judge, "gain": 0.5,
                         "chosen": "policy", "propensity": 1.0 / len(pairs)})  # fmt: skip
        if not rows:
            raise NoQuestionLeft("Every pair was asked.")
        return pl.DataFrame(rows)


def terms(items: Sequence[Label], **changed: Any) -> Terms:
    """What is asked for, with a policy that chooses at random."""
    usual: dict[str, Any] = {
        "budget": 20, "spend": None, "log": None, "policy": RandomPairs(items), "settings": {},
    }  # fmt: skip
    return Terms(**(usual | changed))


def by_name(left: str, right: str) -> str:
    """Prefers what comes first in the alphabet, and ties what begins alike."""
    if left[0] == right[0]:
        return "tie"
    return "left" if left < right else "right"


async def by_name_async(left: str, right: str) -> str:
    await asyncio.sleep(0)
    return by_name(left, right)


ITEMS = ["a1", "a2", "b", "c", "d", "e"]
PAIRS = 15


def conduct(judges: Judges, **changed: Any) -> tuple[History, Ended, list[str]]:
    """Run the loop with questions chosen at random; what it knows, how it ended, what it says."""
    with begun(ITEMS, judges, terms(ITEMS, **changed)) as study:
        ended = conducted(study, Display())
        return study.journal.history, ended, list(remarks(study, ended))


def rows(history: History) -> list[tuple[Any, ...]]:
    """The votes, in the order of their questions."""
    return history.votes().select("id", "judge", "left", "right", "outcome").rows()
