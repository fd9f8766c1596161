"""`simulate`: votes from any model, together with the truth they came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from juryrank.errors import InputError, counted, require_seed
from juryrank.model.noise import Noise, noise_of
from juryrank.model.registry import DEFAULT_MODEL, Judges, Model, model_named
from juryrank.simulation.outcomes import (
    DrawnLists,
    DrawnPairs,
    Truth,
    answered_lists,
    answered_pairs,
    pairs_by_density,
    pairs_per_judge,
    without_replacement,
)
from juryrank.types import Floats, finite_numbers
from juryrank.votes.votes import Votes

DEFAULT_ITEMS = 20
DEFAULT_JUDGES = 10
DEFAULT_VOTES = 100
MOST_VOTES, MOST_NAMES = 1_000_000_000, 100_000_000
LARGEST, MOST_SPREAD = 1e6, 100.0
"""Of scores and effects, and of the spread of logarithms: with more, chances are no numbers."""
USUAL_ACCURACIES: dict[Judges, Callable[[np.random.Generator, int], Floats]] = {
    "equal": lambda _rng, judges: np.ones(judges),
    "accuracy": lambda rng, judges: rng.lognormal(0.0, 0.5, judges),
    "reliability": lambda rng, judges: rng.uniform(0.6, 1.0, judges),
}
"""What judges have unless it is said."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated votes and what they were made from."""

    votes: pl.DataFrame
    """Pairs: judge, left, right, winner (left, right or tie). Votes on more items: judge, ranking
    (``a > b = c``, best first) and, if not all are ranked, options (``c | a | b | d``)."""
    items: pl.DataFrame
    """The true item and score, best first."""
    judges: pl.DataFrame
    """The true judge and accuracy (for CrowdBT and CrowdTCV: the chance to vote as meant), and tie
    and left where judges differ in these."""
    effects: pl.DataFrame
    """The true effect and value, named as in `Ranking.effects`: those of a typical judge."""
    _drawn: DrawnPairs | DrawnLists = field(repr=False)

    def __repr__(self) -> str:
        beside = "".join(
            f", {row['effect']} {row['value']:g}" for row in self.effects.iter_rows(named=True)
        )
        votes, judges = counted(len(self.votes), "vote"), counted(len(self.judges), "judge")
        return f"Simulation({votes} by {judges} on {counted(len(self.items), 'item')}{beside})"

    def coded(self) -> Votes:
        """The votes as `rank` has them once they are read, without the detour over text."""
        return self._drawn.coded(self.items["item"].sort(), self.judges["judge"])


def simulate(
    items: int | None = None,
    judges: int | None = None,
    *,
    model: str = DEFAULT_MODEL,
    noise: str | Noise | None = None,
    scores: Sequence[float] | None = None,
    score_sd: float = 1.0,
    accuracies: Sequence[float] | None = None,
    adversaries: int = 0,
    votes_per_judge: int | None = None,
    density: float | None = None,
    per_vote: int = 2,
    top: int | None = None,
    tie: float = 0.0,
    tie_sd: float = 0.0,
    left: float = 0.0,
    left_sd: float = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draw votes on random pairs, or on random sets of more items.

    Args:
        items: Number of items; None for as many as there are scores, else 20.
        judges: Number of judges; None for as many as there are accuracies, else 10.
        model: hbtl, htcv, htm, btl, tcv, crowdbt or crowdtcv.
        noise: For the model htm, as in `rank`.
        scores: The items' scores; None draws them from ``N(0, score_sd^2)``.
        score_sd: Their spread, if they are drawn.
        accuracies: One per judge; None draws them from a log-normal around 1 (``eta`` from
            [0.6, 1] for CrowdBT and CrowdTCV; 1 where the model takes all judges as equal).
        adversaries: The first so many judges vote backwards.
        votes_per_judge: Votes on pairs or sets drawn with replacement (100 if nothing is said).
        density: Instead, each judge answers every ordered pair with this probability.
        per_vote: How many items each vote is about; more than 2 gives rankings.
        top: How many of them are ranked, the best; None for all, 1 for a choice from the set. (If
            the last of them are tied, one more.)
        tie: The weight ``t`` of ties: two equal items are tied with chance ``t / (2 + t)``. At most
            two items are tied with each other. In votes on more items, for Gumbel noise only.
        tie_sd: Judges differ: ``log t_u ~ N(log t, tie_sd^2)``.
        left: What the left item of a pair gains, in log-odds for Gumbel noise.
        left_sd: Judges differ: ``left_u ~ N(left, left_sd^2)``.
        seed: The same seed gives the same votes.
    """
    require_seed(seed)
    items = _count(items, scores, DEFAULT_ITEMS)
    judges = _count(judges, accuracies, DEFAULT_JUDGES)
    kind = _checked(model, items, judges, adversaries, votes_per_judge, density)
    if not 0.0 <= score_sd <= LARGEST:
        raise InputError(f"score_sd={score_sd} must be a number from 0 to {LARGEST:,.0f}.")
    chosen = noise_of(kind, noise)
    habits = _Habits(tie, tie_sd, left, left_sd)
    _check_effects(kind, habits)
    _check_lists(kind, chosen, habits, items, per_vote, top, density)
    rng = np.random.default_rng(seed)
    score = finite_numbers(scores, items, "scores") if scores is not None else rng.normal(
        0.0, score_sd, items
    )  # fmt: skip
    accuracy = _accuracies(kind, accuracies, judges, adversaries, rng)
    truth = Truth(score, accuracy, *habits.drawn(judges, rng))
    count = votes_per_judge or DEFAULT_VOTES
    drawn: DrawnPairs | DrawnLists
    if per_vote > 2:
        judge = np.repeat(np.arange(judges), count)
        shown = without_replacement(items, per_vote, len(judge), rng)
        drawn = answered_lists(chosen, truth, judge, shown, top or per_vote, rng)
    else:
        asked = (
            pairs_per_judge(items, judges, count, rng)
            if density is None
            else pairs_by_density(items, judges, density, rng)
        )
        drawn = answered_pairs(kind, chosen, truth, asked, rng)
    item_names, judge_names = _names("item", items), _names("judge", judges)
    true_items = pl.DataFrame({"item": item_names, "score": score})
    true_judges = {"judge": judge_names, "accuracy": pl.Series(accuracy)}
    return Simulation(
        drawn.frame(item_names, judge_names),
        true_items.sort("score", descending=True),
        pl.DataFrame(true_judges | habits.by_judge(truth)),
        habits.common(),
        drawn,
    )


@dataclass(frozen=True)
class _Habits:
    """What decides votes beside scores and accuracies."""

    tie: float
    tie_sd: float
    left: float
    left_sd: float

    @property
    def any_left(self) -> bool:
        return self.left != 0.0 or self.left_sd > 0.0

    def drawn(self, judges: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The weight of ties and the left side's advantage with each judge."""
        tie, left = np.full(judges, self.tie), np.full(judges, self.left)
        if self.tie_sd:
            tie = tie * rng.lognormal(0.0, self.tie_sd, judges)
        if self.left_sd:
            left = left + rng.normal(0.0, self.left_sd, judges)
        return tie, left

    def by_judge(self, truth: Truth) -> dict[str, pl.Series]:
        """The columns in which judges differ."""
        columns = {}
        if self.tie_sd:
            columns["tie"] = pl.Series(truth.tie)
        if self.left_sd:
            columns["left"] = pl.Series(truth.left)
        return columns

    def common(self) -> pl.DataFrame:
        """Effect and value."""
        rows = [("tie", self.tie)] if self.tie else []
        rows += [("left side", self.left)] if self.any_left else []
        schema = {"effect": pl.String(), "value": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")


def _count(asked: int | None, given: Sequence[float] | None, default: int) -> int:
    if asked is not None:
        return asked
    return default if given is None else len(np.atleast_1d(given))


def _checked(
    model: str,
    items: int,
    judges: int,
    adversaries: int,
    votes_per_judge: int | None,
    density: float | None,
) -> Model:
    kind = model_named(model)
    if not kind.odds:
        raise InputError(f"The model {model!r} does not say how votes arise: simulate btl instead.")
    if items < 2 or judges < 1:
        raise InputError(
            f"Cannot simulate {items} items and {judges} judges: need at least 2 and 1."
        )
    _check_size(items, judges, votes_per_judge, density)
    if not 0 <= adversaries <= judges:
        raise InputError(f"{adversaries} adversaries among {judges} judges is impossible.")
    if adversaries and not kind.judges_differ:
        raise InputError(f"In the model {model!r} all judges are equal: it has no adversaries.")
    if votes_per_judge is not None and density is not None:
        raise InputError("Give votes per judge or a density, not both.")
    if votes_per_judge is not None and votes_per_judge < 1:
        raise InputError(f"votes_per_judge={votes_per_judge} must be at least 1.")
    if density is not None and not 0.0 < density <= 1.0:
        raise InputError(f"density={density:g} must be above 0 and at most 1.")
    return kind


def _check_size(
    items: int, judges: int, votes_per_judge: int | None, density: float | None
) -> None:
    """Refuse what no memory would hold, before hours are spent on it."""
    each = votes_per_judge or DEFAULT_VOTES
    votes = judges * (each if density is None else density * items * (items - 1))
    if max(items, judges) > MOST_NAMES or votes > MOST_VOTES:
        raise InputError(
            f"{items:,} items and {judges:,} judges would make {votes:,.0f} votes. At most "
            f"{MOST_VOTES:,} votes, and {MOST_NAMES:,} items and judges, are simulated at once: "
            "simulate fewer, or several times with different seeds."
        )


def _check_effects(model: Model, habits: _Habits) -> None:
    for name in ("tie", "tie_sd", "left_sd"):
        value, most = getattr(habits, name), MOST_SPREAD if name == "tie_sd" else LARGEST
        if not 0.0 <= value <= most:
            raise InputError(f"{name}={value} must be a number from 0 to {most:,.0f}.")
    if not abs(habits.left) <= LARGEST:
        raise InputError(f"left={habits.left} must be a finite number, of at most {LARGEST:,.0f}.")
    if habits.tie_sd and not habits.tie:
        raise InputError(
            f"tie_sd={habits.tie_sd:g} says how judges differ in ties, but tie=0 says that there "
            "are none: give a tie above 0, such as 0.5."
        )
    if (habits.tie and not model.ties) or (habits.any_left and not model.order):
        raise InputError(f"The model {model.name!r} has no ties and no sides: simulate hbtl.")


def _check_lists(
    model: Model,
    noise: Noise,
    habits: _Habits,
    items: int,
    per_vote: int,
    top: int | None,
    density: float | None,
) -> None:
    if not 2 <= per_vote <= items:
        raise InputError(
            f"per_vote={per_vote} must lie between 2 and the number of items, {items}."
        )
    if top is not None and not 1 <= top <= per_vote:
        raise InputError(f"top={top} must lie between 1 and the items of each vote, {per_vote}.")
    if per_vote == 2:
        return
    if not model.lists:
        raise InputError(f"The model {model.name!r} is for pairs: simulate hbtl.")
    if density is not None:
        raise InputError("A density is for pairs: give the votes per judge.")
    if habits.any_left:
        raise InputError("Only pairs have a left side: omit left and left_sd.")
    if habits.tie and not noise.is_gumbel:
        raise InputError(
            f"In votes on more than two items there are ties with Gumbel noise only, not with "
            f"{noise.name} noise: simulate hbtl or btl."
        )


def _accuracies(
    model: Model,
    given: Sequence[float] | None,
    judges: int,
    adversaries: int,
    rng: np.random.Generator,
) -> Floats:
    scale = model.judge_scale
    if given is None:
        accuracy = USUAL_ACCURACIES[model.judges](rng, judges)
    else:
        accuracy = finite_numbers(given, judges, "accuracies")
        if not ((accuracy >= scale.lowest) & (accuracy <= scale.highest)).all():
            raise InputError(
                f"In the model {model.name!r} accuracies lie between {scale.lowest:g} and "
                f"{scale.highest:g}."
            )
        if not scale.differ and np.ptp(accuracy) > 0.0:
            raise InputError(f"In the model {model.name!r} all judges have the same accuracy.")
    backwards = np.arange(judges) < adversaries
    return np.where(backwards, 2.0 * scale.guessing - accuracy, accuracy)


def _names(word: str, count: int) -> pl.Series:
    width = len(str(count))
    return pl.Series([f"{word}-{number:0{width}d}" for number in range(1, count + 1)])
