"""The tables of an answer: items, judges, effects, and their standard errors, with labels again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import counted
from juryrank.inference.intervals import item_columns
from juryrank.inference.posterior import Posterior
from juryrank.model.effects import Layout
from juryrank.model.noise import Noise
from juryrank.ranking.labels import Codes
from juryrank.ranking.misfit import MeanSquares
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.votes import Votes

SAME_SCORE = 1e-6
"""Scores closer than this part of their range share a rank: the solver cannot tell them apart."""
NO_RANGE = 1e-9
"""Scores that lie within this are all the same."""


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Standard errors of scores and of accuracies, in the order of the ranking.

    `items` has the columns item and standard_error, `judges` judge and standard_error; null where
    nothing is known. Those of a sampled posterior are the standard deviations of its draws.
    """

    items: pl.DataFrame
    judges: pl.DataFrame

    def __repr__(self) -> str:
        items, judges = counted(len(self.items), "item"), counted(len(self.judges), "judge")
        return f"StandardErrors(of {items} and {judges})"


def items_frame(
    votes: Votes,
    score: Floats,
    posterior: Posterior | None,
    groups: Sequence[Codes],
    confidence: float,
    *,
    direction_is_sure: bool,
) -> tuple[pl.DataFrame, Codes]:
    """The items, best first, within groups that were never compared; and their codes."""
    orders = [_best_first(score, items) for items in groups]
    order = np.concatenate(orders)
    rank = np.concatenate([_shared_ranks(score[items]) for items in orders])
    group = np.repeat(np.arange(len(orders)) + 1, [len(items) for items in orders])
    known = item_columns(posterior, orders, rank, confidence, direction_is_sure=direction_is_sure)
    frame = pl.DataFrame(
        {
            **({"group": group} if len(orders) > 1 else {}),
            "rank": rank,
            "item": votes.items.gather(order),
            "score": score[order],
            **known,
        }
    )
    return frame, order


def judges_frame(
    votes: Votes, accuracy: Floats, known: dict[str, pl.Series]
) -> tuple[pl.DataFrame, Codes]:
    """The judges, the most accurate first; and their codes."""
    order = np.argsort(-accuracy, kind="stable")
    frame = pl.DataFrame(
        {
            "judge": votes.judges,
            "accuracy": accuracy,
            "accuracy_low": known["accuracy_low"],
            "accuracy_high": known["accuracy_high"],
            "votes": _counts(votes.votes_per_judge),
            "verdict": known["verdict"],
            "reason": known["reason"],
        }
    )
    return frame[order], order


def errors_frame(labels: pl.Series, error: Floats | None) -> pl.DataFrame:
    """Standard errors beside the labels that they belong to; null where nothing is known."""
    known = np.full(len(labels), np.nan) if error is None else error
    finite = np.where(np.isfinite(known), known, np.nan)
    return pl.DataFrame(
        {labels.name: labels, "standard_error": pl.Series(finite, nan_to_null=True)}
    )


def misfit_frame(labels: pl.Series, code: Codes, found: MeanSquares) -> pl.DataFrame:
    """Infit and outfit beside the labels that they belong to."""
    numbers = {"infit": found.infit[code], "outfit": found.outfit[code]}
    return pl.DataFrame(
        {
            labels.name: labels,
            "votes": _counts(found.votes)[code],
            **{name: pl.Series(values, nan_to_null=True) for name, values in numbers.items()},
        }
    )


def effects_frame(
    layout: Layout,
    votes: Votes,
    noise: Noise,
    solution: Solution,
    posterior: Posterior | None,
    confidence: float,
) -> pl.DataFrame:
    """The effects by name: "tie" is ``t``, "tie of 3" ``t_3``, "left side" is added to ``x``."""
    total = layout.totals(solution.effects)
    below = above = np.full(len(total), np.nan)
    if posterior is not None and len(total):
        total, below, above = posterior.effects(layout, confidence)
    names, judges = _effect_names(layout, votes)
    sides = np.array([name == "left side" for name in names], dtype=np.bool_)
    with np.errstate(over="ignore"):  # ties that nothing limits
        value, low, high = (
            np.where(sides, x, np.exp(np.where(sides, 0.0, x))) for x in (total, below, above)
        )
    chance = np.where(sides, noise.cdf(value), value / (2.0 + value))
    of_two = sides | np.array([name == "tie" for name in names], dtype=np.bool_)
    numbers = (value, low, high, np.where(of_two, chance, np.nan))
    return pl.DataFrame(
        {
            "effect": pl.Series(names, dtype=pl.String),
            "judge": pl.Series(judges, dtype=votes.judges.dtype),
            **{
                name: pl.Series(column, nan_to_null=True)
                for name, column in zip(("value", "low", "high", "chance"), numbers, strict=True)
            },
        }
    )


def _effect_names(layout: Layout, votes: Votes) -> tuple[list[str], list[object]]:
    """Name and judge (None for all) of each effect, in the order of the state."""
    model, judges = layout.model, votes.judges.to_list()
    common = ["tie" if size == 2 else f"tie of {size}" for size in model.sizes]
    names = common + common[:1] * (len(judges) * model.ties_by_judge)
    whose: list[object] = [None] * len(common) + judges * model.ties_by_judge
    names += ["left side"] * (model.order + len(judges) * model.order_by_judge)
    return names, whose + [None] * model.order + judges * model.order_by_judge


def _best_first(score: Floats, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """These items by score, and by label (that is, by code) where scores are the same."""
    by_score = items[np.argsort(-score[items], kind="stable")]
    same = np.cumsum(_drops(score[by_score]))
    return by_score[np.lexsort((by_score, same))]


def _drops(descending: Floats) -> NDArray[np.bool_]:
    """Where a score is really below the one before it."""
    same = max(SAME_SCORE * float(descending[0] - descending[-1]), NO_RANGE)
    return np.concatenate(([False], -np.diff(descending) > same))


def _shared_ranks(descending: Floats) -> NDArray[np.int64]:
    """Ranks 1, 2, 2, 4: items of the same score share the best rank among them."""
    index = np.arange(len(descending))
    return np.maximum.accumulate(np.where(_drops(descending), index, 0)) + 1


def _counts(total: Floats) -> NDArray[Any]:
    """Numbers of votes: whole numbers unless the weights are not."""
    whole = np.rint(total)
    return whole.astype(np.int64) if np.array_equal(whole, total) else total
