"""A word for every judge, and the reason for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank.arrays import Floats
from juryrank.errors import counted, number
from juryrank.guard import OneSided
from juryrank.inference.posterior import half_width
from juryrank.labels import WIDEST_NAME, short
from juryrank.mapped import give_back, ranges
from juryrank.models import VERDICTS, Model, Verdict
from juryrank.noise import Noise
from juryrank.normal import quantile
from juryrank.solvers.solution import Solution
from juryrank.votes import Votes, given, weight_per_judge

RELIABLE = 0.5
"""A reliable judge is surely more accurate than this share of the average judge."""
LARGEST_OWN_ERROR = 0.5
"""With a larger error the votes cannot tell a guesser from an average judge; only a prior could."""
LEAST_POSITION_BIAS = 0.1
"""The share of votes moved to one side that is worth a word."""
LEAST_SKEW = 1e-5
LEAST_TYPICAL = 0.05
"""How far above one half the average reliability must be to compare with it."""
MANY_PERFECT = 100.0
"""So many votes in line with the order, or its reverse, are as good as any number."""
MISTAKEN = 0.05
"""The chance that any honest judge at all is called backwards, or position-biased."""


class Allowances(NamedTuple):
    """What has been allowed for with each judge, beside scores and accuracies."""

    order: Floats
    """The advantage of the left side."""
    tie: Floats
    """The logarithm of the weight of a tie of two items; minus infinity if ties are no outcome."""


@dataclass(frozen=True, eq=False)
class Positions:
    """How each judge's votes lean to the left or the right side, beyond what the items explain."""

    left_share: Floats
    bias: Floats
    """The log-odds (for Gumbel noise) that the left side gains: one step towards the best fit."""
    z: Floats
    moved: Floats
    """The share of votes that went left (or, if negative, right) without reason."""


def positions(
    votes: Votes, noise: Noise, solution: Solution, allowed: Allowances
) -> Positions | None:
    """Measure the lean of every judge; None if it is not known which item was on the left."""
    if not votes.sides_known:
        return None
    excess, information, third, won = (np.empty(votes.n_judges) for _ in range(4))
    ties_count = bool(np.isneginf(allowed.tie).all())
    for first, end in ranges(votes.start):
        own, some = slice(votes.start[first], votes.start[end]), slice(first, end)
        _kernels.position_sums(
            noise.code, votes.start[first : end + 1] - votes.start[first], votes.left[own],
            votes.right[own], votes.outcome[own], given(votes.weight[own]),
            solution.score, solution.accuracy[some], allowed.order[some], ties_count,
            excess[some], information[some], third[some], won[some],
        )  # fmt: skip
        give_back(votes.left[own], votes.right[own], votes.outcome[own], votes.weight[own])
    count = weight_per_judge(votes.start, votes.weight)
    share = np.divide(won, count, out=np.full(len(count), np.nan), where=count > 0.0)
    # One vote's worth of information at even odds keeps the bias of few votes near 0.
    bias = excess / (information + float(noise.terms(0.0)[1]) ** 2)
    z = unlikely_excess(excess, information, third)
    # At even odds a win adds |g'(0)| to the slope and is half a vote more than expected.
    half_votes = -2.0 * float(noise.terms(0.0)[1]) * count
    moved = np.divide(excess, half_votes, out=np.zeros(len(count)), where=count > 0.0)
    return Positions(share, bias, z, moved)


def unlikely_excess(excess: Floats, variance: Floats, third: Floats) -> Floats:
    """How far an excess is from 0, in standard errors of a normal number that is as unlikely.

    With ``u = third excess / variance^2`` it is

        excess / sqrt(variance) x sqrt(2 ((1 + u) log(1 + u) - u)) / u,

    which is what large deviations of a Poisson count are worth. Else a single vote for the worse
    of two items would count as many standard errors. Where the excess is on the short side of the
    distribution (``u < 0``) the first factor is left as it is.
    """
    known = variance > 0.0
    z = np.divide(excess, np.sqrt(variance), out=np.zeros(len(excess)), where=known)
    u = np.divide(third * excess, variance**2, out=np.zeros(len(excess)), where=known)
    u = np.maximum(u, LEAST_SKEW)  # near 0 the second factor is 1, but for rounding
    return np.asarray(z * np.sqrt(2.0 * ((1.0 + u) * np.log1p(u) - u)) / u)


def surely(z: Floats, judges: int) -> NDArray[np.bool_]:
    """Which of so many judges are so far off that chance would hardly do it to any of them."""
    return np.asarray(np.abs(z) > -quantile(0.5 * MISTAKEN / max(judges, 1)))


@dataclass(frozen=True, eq=False)
class Standing:
    """Accuracies and how sure they are."""

    value: Floats
    low: Floats
    high: Floats
    sd: Floats
    """NaN where an accuracy has no finite estimate."""
    own_sd: Floats
    """What the error would be if the judge's votes were all that is known."""

    def measured(self, zero: float, unit: float) -> Standing:
        """The same from another zero and in another unit."""
        value, low, high = ((part - zero) / unit for part in (self.value, self.low, self.high))
        return Standing(value, low, high, self.sd / unit, self.own_sd / unit)


def judge_columns(
    votes: Votes,
    model: Model,
    noise: Noise,
    solution: Solution,
    own: Standing | None,
    allowed: Allowances,
    one_sided: OneSided,
    confidence: float,
) -> dict[str, pl.Series]:
    """What is known of the judges beyond their accuracies, by code; nulls where nothing is."""
    empty = pl.Series([None] * votes.n_judges, dtype=pl.Float64)
    no_word = pl.Series([None] * votes.n_judges, dtype=pl.String)
    if own is None or np.isnan(own.sd).all():
        return {
            "accuracy_low": empty, "accuracy_high": empty, "verdict": no_word, "reason": no_word,
        }  # fmt: skip
    lean = None
    if model.judges == "accuracy":
        lean = positions(votes, noise, solution, allowed)
    standing = _standing(votes, model, own)
    words, reasons = verdicts(votes, standing, lean, one_sided, confidence)
    low, high = own.low, own.high
    if model.judges == "reliability":
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return {
        "accuracy_low": _or_null(low),
        "accuracy_high": _or_null(high),
        "verdict": pl.Series(words, dtype=pl.String),
        "reason": pl.Series(reasons, dtype=pl.String),
    }


def _or_null(values: Floats) -> pl.Series:
    return pl.Series(np.where(np.isfinite(values), values, np.nan), nan_to_null=True)


def by_attention(judges: pl.DataFrame) -> pl.DataFrame:
    """Sort judges by what needs attention, and then by votes."""
    place = pl.col("verdict").replace_strict(VERDICTS, range(len(VERDICTS)), default=len(VERDICTS))
    return judges.sort(place, -pl.col("votes"), maintain_order=True)


def _standing(votes: Votes, model: Model, own: Standing) -> Standing:
    """Accuracies with a guesser at 0 and the average judge at 1."""
    if model.judges != "reliability":
        return own
    count = votes.votes_per_judge
    typical = float(np.average(own.value, weights=count)) - 0.5
    return own.measured(0.5, max(typical, LEAST_TYPICAL))


def verdicts(
    votes: Votes,
    standing: Standing,
    lean: Positions | None,
    one_sided: OneSided,
    confidence: float,
) -> tuple[list[Verdict], list[str]]:
    """A verdict and a reason for every judge, by code.

    The standing is such that a guesser has 0 and the average judge 1.
    """
    words, reasons = _by_accuracy(votes, standing, confidence)
    if lean is not None:
        for u in np.flatnonzero(_position_biased(lean)).tolist():
            words[u], reasons[u] = "position-biased", _position_reason(lean, u)
    for place, u in reversed(list(enumerate(one_sided.judge.tolist()))):
        words[u], reasons[u] = "one-sided", one_sided_reason(votes.items, one_sided, place)
    return words, reasons


def _position_biased(lean: Positions) -> NDArray[np.bool_]:
    return surely(lean.z, len(lean.z)) & (np.abs(lean.moved) >= LEAST_POSITION_BIAS)


def _position_reason(lean: Positions, u: int) -> str:
    side, share = ("left", lean.left_share[u]) if lean.z[u] > 0.0 else (
        "right", 1.0 - lean.left_share[u],
    )  # fmt: skip
    return f"chose the {side} side in {share:.0%} of votes, more than the items explain"


def one_sided_reason(items: pl.Series, found: OneSided, place: int) -> str:
    """What a judge did for, or to, one item."""
    item = short(items[int(found.item[place])], WIDEST_NAME)
    won, votes, expected = found.won[place], found.votes[place], found.expected[place]
    for_or_against = "for" if won > expected else "against"
    times = won if won > expected else votes - won
    usual = expected if won > expected else votes - expected
    halves = "" if times == int(times) else " (ties: halves)"
    return (
        f"voted {for_or_against} {item} in {number(round(float(times), 1))} of "
        f"{counted(round(float(votes), 1), 'vote')}{halves}, where {usual:,.0f} would be usual"
    )


def _by_accuracy(
    votes: Votes, standing: Standing, confidence: float
) -> tuple[list[Verdict], list[str]]:
    value, sd, held = standing.value, standing.sd.copy(), np.isnan(standing.sd)
    low, high = standing.low.copy(), standing.high.copy()
    if held.any():
        sd[held] = _sd_of_perfect(votes.votes_per_judge[held], value[held])
        half = half_width(confidence) * sd[held]
        low[held], high[held] = value[held] - half, value[held] + half
    below = np.maximum(-value, 0.0)
    far = np.divide(below, sd, out=np.where(below > 0.0, np.inf, 0.0), where=sd > 0.0)
    backwards = surely(far, votes.n_judges)
    told = np.isnan(standing.sd) | ~(standing.own_sd > LARGEST_OWN_ERROR)
    choices: list[tuple[NDArray[np.bool_], Verdict, str]] = [
        (backwards, "backwards", "votes against the order"),
        (high < 0.0, "guessing", "does not follow the order, and may vote backwards"),
        ((low <= 0.0) & (high < 1.0) & told, "guessing", "hardly follows the order"),
        ((low <= 0.0) | ~told, "too few votes to tell", "could be guessing, could be average"),
        (low < RELIABLE, "ordinary", "follows the order"),
    ]
    masks = [mask for mask, _, _ in choices]
    default = len(choices)
    chosen = np.select(masks, range(default), default)
    known = [*((word, reason) for _, word, reason in choices), _RELIABLE]
    words, reasons = [], []
    for kind in chosen:
        words.append(known[kind][0])
        reasons.append(known[kind][1])
    return words, reasons


def _sd_of_perfect(votes: Floats, value: Floats) -> Floats:
    """An error for judges without a finite accuracy: all votes follow the order, or its reverse.

    A guesser does so with a chance of ``2^-votes``.
    """
    from scipy.special import ndtri  # slow to import, and with a prior there are no such judges

    far = -ndtri(0.5 ** np.clip(votes, 1.0, MANY_PERFECT))
    found = np.divide(np.abs(value), far, out=np.full(len(value), np.inf), where=far > 0.0)
    return np.asarray(found)


_RELIABLE: tuple[Verdict, str] = ("reliable", "follows the order well")
