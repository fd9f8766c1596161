"""`simulate`: votes from any model, together with the truth they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.arrays import Floats, finite_numbers
from juryrank.errors import InputError, require_seed
from juryrank.models import DEFAULT_MODEL, Model, model_named
from juryrank.noise import Noise, noise_of

Codes = NDArray[np.int64]

DEFAULT_ITEMS = 20
DEFAULT_JUDGES = 10
DEFAULT_VOTES = 100


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated votes (judge, left, right, winner) and what they were made from."""

    votes: pl.DataFrame
    items: pl.DataFrame
    """The true item and score, best first."""
    judges: pl.DataFrame
    """The true judge and accuracy (for CrowdBT and CrowdTCV: the chance to vote as meant)."""


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
    seed: int = 0,
) -> Simulation:
    """Draw votes on random pairs.

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
        votes_per_judge: Votes on pairs drawn with replacement (100 if nothing is said).
        density: Instead, each judge answers every ordered pair with this probability.
        seed: The same seed gives the same votes.
    """
    require_seed(seed)
    items = _count(items, scores, DEFAULT_ITEMS)
    judges = _count(judges, accuracies, DEFAULT_JUDGES)
    kind = _checked(model, items, judges, adversaries, votes_per_judge, density)
    if not (np.isfinite(score_sd) and score_sd >= 0.0):
        raise InputError(f"score_sd={score_sd} must be a number that is not negative.")
    chosen = noise_of(kind, noise)
    rng = np.random.default_rng(seed)
    score = finite_numbers(scores, items, "scores") if scores is not None else rng.normal(
        0.0, score_sd, items
    )  # fmt: skip
    accuracy = _accuracies(kind, accuracies, judges, adversaries, rng)
    judge, left, right = _questions(items, judges, votes_per_judge, density, rng)
    left_won = _answers(kind, chosen, score[left], score[right], accuracy[judge], rng)
    item_names, judge_names = _names("item", items), _names("judge", judges)
    votes = pl.DataFrame(
        {
            "judge": judge_names.gather(judge),
            "left": item_names.gather(left),
            "right": item_names.gather(right),
            "winner": np.where(left_won, "left", "right"),
        }
    )
    true_items = pl.DataFrame({"item": item_names, "score": score})
    return Simulation(
        votes,
        true_items.sort("score", descending=True),
        pl.DataFrame({"judge": judge_names, "accuracy": accuracy}),
    )


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
    if kind.method not in ("likelihood", "crowd"):
        raise InputError(f"The model {model!r} does not say how votes arise: simulate btl instead.")
    if items < 2 or judges < 1:
        raise InputError(f"Cannot simulate {items} items and {judges} judges: need 2 and 1.")
    if not 0 <= adversaries <= judges:
        raise InputError(f"{adversaries} adversaries among {judges} judges is impossible.")
    if kind.judges == "equal" and adversaries:
        raise InputError(f"In the model {model!r} all judges are equal: it has no adversaries.")
    if votes_per_judge is not None and density is not None:
        raise InputError("Give votes per judge or a density, not both.")
    if votes_per_judge is not None and votes_per_judge < 1:
        raise InputError(f"votes_per_judge={votes_per_judge} must be at least 1.")
    if density is not None and not 0.0 < density <= 1.0:
        raise InputError(f"density={density:g} must lie above 0 and not above 1.")
    return kind


def _accuracies(
    model: Model,
    given: Sequence[float] | None,
    judges: int,
    adversaries: int,
    rng: np.random.Generator,
) -> Floats:
    if given is not None:
        accuracy = finite_numbers(given, judges, "accuracies")
        if model.judges == "reliability" and not ((accuracy >= 0) & (accuracy <= 1)).all():
            raise InputError(f"In the model {model.name!r} accuracies lie between 0 and 1.")
        if model.judges == "equal" and np.ptp(accuracy) > 0.0:
            raise InputError(f"In the model {model.name!r} all judges have the same accuracy.")
    elif model.judges == "equal":
        accuracy = np.ones(judges)
    elif model.judges == "reliability":
        accuracy = rng.uniform(0.6, 1.0, judges)
    else:
        accuracy = rng.lognormal(0.0, 0.5, judges)
    backwards = np.arange(judges) < adversaries
    mirrored = 1.0 - accuracy if model.judges == "reliability" else -accuracy
    return np.where(backwards, mirrored, accuracy)


def _questions(
    items: int,
    judges: int,
    votes_per_judge: int | None,
    density: float | None,
    rng: np.random.Generator,
) -> tuple[Codes, Codes, Codes]:
    """Which judge is asked about which ordered pair."""
    if density is None:
        count = votes_per_judge or DEFAULT_VOTES
        judge = np.repeat(np.arange(judges), count)
        left = rng.integers(0, items, len(judge))
        return judge, left, (left + rng.integers(1, items, len(judge))) % items
    pairs = items * (items - 1)
    asked = [np.flatnonzero(rng.random(pairs) < density) for _ in range(judges)]
    judge = np.repeat(np.arange(judges), [len(some) for some in asked])
    left, rest = np.divmod(np.concatenate(asked), items - 1)
    return judge, left, rest + (rest >= left)


def _answers(
    model: Model,
    noise: Noise,
    left: Floats,
    right: Floats,
    accuracy: Floats,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Whether the left item wins: the judge compares what it sees, noise included."""
    seen = noise.draw(rng, (2, len(left)))
    if model.judges == "reliability":
        as_meant = rng.random(len(left)) < accuracy
        return np.asarray((left + seen[0] > right + seen[1]) == as_meant)
    return np.asarray(accuracy * (left - right) + seen[0] > seen[1])


def _names(word: str, count: int) -> pl.Series:
    width = len(str(count))
    return pl.Series([f"{word}-{number:0{width}d}" for number in range(1, count + 1)])
