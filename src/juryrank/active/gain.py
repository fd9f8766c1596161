"""What an answer is expected to tell: the mutual information between it and what is asked for.

With ``p_k`` the chance of an answer in draw ``k`` of the posterior,

    gain = H(mean of p_k) - mean of H(p_k),

the entropy of the answer less what is left of it when the draw is known. With ties an answer is one
of three. A draw has the scores ``s``, the accuracy ``a`` and the judge's tastes ``b``, of which
``x = a (s_i + b_i - s_j - b_j)`` is made: those known from its votes, and new ones for what it has
not seen. The more often a judge was asked about a pair, the surer its opinion of that pair is, and
the less another answer tells.

Nobody in particular is a judge of average accuracy, of whom nothing is learnt: its tastes only blur
what it sees (see `Beliefs.accuracy`).

For a target that is an event, such as an item's being among the best three, the gain is
``H(mean p) - P H(mean p if so) - (1 - P) H(mean p if not)``, and for several the sum of these.
Tastes then only blur what an answer tells.

The information in an answer about ``x`` (see `juryrank.active.answer`) is taken where the blurred
``x`` is: for a normal ``e``, ``E F(x + e) = F(x / sqrt(1 + c var e))`` with ``c = 2 pi F'(0)^2``,
exactly for normal noise and about so for others.

What a pair has of its own (see `juryrank.active.pairs_own`) is not asked for, and the gain is only
that part which tells of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.active.answer import chances_of, fisher
from juryrank.active.beliefs import Beliefs, Questions, blurred
from juryrank.types import Floats

LEAST_GAIN = 1e-12
OF_ALL = 1e-3
"""Of what a question tells of everything, so much counts for every target: questions that tell
nothing of it otherwise are then chosen by that."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is expected of the answers to some questions."""

    gain: Floats
    """Of each alone, in nats; nothing of it is about what the pair has of its own."""
    deviation: Floats
    """``x - mean x``, over the square root of the number of draws: questions x draws; inner
    products are covariances."""
    weight: Floats
    """The information in an answer about its ``x``, as far as that is about the scores."""


def outlook(beliefs: Beliefs, questions: Questions, events: NDArray[np.bool_] | None) -> Outlook:
    """What the answers tell of everything or, given draws of events, of these (rows)."""
    noise, tie = beliefs.noise, None if beliefs.tie is None else beliefs.tie[questions.judge]
    x = beliefs.accuracy[questions.judge] * _opinion_gaps(beliefs, questions)
    chances = chances_of(noise, x, tie)
    expected = blurred(noise, x.mean(axis=1), x.var(axis=1))
    weight = fisher(noise, expected, None if tie is None else tie.mean(axis=1))
    deviation = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(beliefs.count)
    gain = information(chances)
    if events is not None:
        gain = np.maximum(of_events(chances, events), OF_ALL * gain)
    square = np.mean(beliefs.accuracy**2, axis=1)[questions.judge]
    share = beliefs.pairs_own.share(questions.one, questions.other, square * weight)
    return Outlook(np.maximum(share * gain, LEAST_GAIN), deviation, share * weight)


def _opinion_gaps(beliefs: Beliefs, questions: Questions) -> Floats:
    """How far above the other item the judge sees the one, in each draw."""
    items, at = np.unique(np.concatenate((questions.one, questions.other)), return_inverse=True)
    score, half = beliefs.scores(items), len(questions)
    gap = score[at[:half]] - score[at[half:]]
    for item, sign in ((questions.one, 1.0), (questions.other, -1.0)):
        gap += sign * beliefs.tastes(questions.judge, item)
    return np.asarray(gap)


def entropy(chances: Floats) -> Floats:
    """``-sum p log p`` over the outcomes, the first axis."""
    return np.asarray(scipy.special.entr(chances).sum(axis=0))


def information(chances: Floats) -> Floats:
    """What each answer tells of the draws."""
    return np.asarray(entropy(chances.mean(axis=2)) - entropy(chances).mean(axis=1))


def of_events(chances: Floats, events: NDArray[np.bool_]) -> Floats:
    """What each answer tells of events, the sum over these.

    From draws it comes out too large, by about ``sum var p / mean p`` over twice their number for
    each event, which is taken off.
    """
    count = chances.shape[2]
    share = events.mean(axis=1)
    sure = (share == 0.0) | (share == 1.0)
    events, share = events[~sure], share[~sure]
    mean = chances.mean(axis=2)
    if_so = chances @ events.T.astype(np.float64) / (share * count)
    if_not = (mean[:, :, None] - share * if_so) / (1.0 - share)
    left = share * entropy(if_so) + (1.0 - share) * entropy(np.clip(if_not, 0.0, 1.0))
    excess = (chances.var(axis=2) / np.maximum(mean, LEAST_GAIN)).sum(axis=0) / (2.0 * count)
    told = entropy(mean)[:, None] - left - excess[:, None]
    return np.asarray(np.maximum(told, 0.0).sum(axis=1))
