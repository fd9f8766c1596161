"""The scales of the prior, for fits that take them as known: from draws of the posterior.

A mode has no gauge of its own: ``(c s, a / c)`` is as likely for every ``c``, and the joint mode of
scores and accuracies under ``s ~ N(0, S^2)``, ``a ~ N(1, T^2)`` is where

    |s|^2 / S^2 = sum a (a - 1) / T^2.

Of ``n`` scores and ``m`` accuracies that would be right only for ``n = m``: along ``c`` there is a
volume of ``c^(n - m)``, which a mode does not see. So it is added to the objective (`volume_of`),
for as many scores and accuracies as the votes determine; then the balance is where it should be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juryrank.inference.opinions import Codes
from juryrank.inference.sampling import Length, Sample, sample
from juryrank.model.objective import Objective
from juryrank.model.prior import EFFECT_SD, Prior
from juryrank.progress import Progress, Watcher
from juryrank.solvers.search import ROUGH, search
from juryrank.types import Floats
from juryrank.votes.coded import LIST_ENTRY_WORK, CodedVotes
from juryrank.votes.lists import indices_of

MOST_SAMPLED = 30_000
"""Work (votes on pairs; an entry of a list is as much as several) up to which all is sampled,"""
MOST_SAMPLED_IF_SPARSE = 200_000
SPARSE_ITEMS, SPARSE_JUDGES = 50.0, 30.0
"""or up to here, if there are fewer votes for each item, or by each judge."""
MOST_CHAINED = 400
"""Entries of rankings under noise other than Gumbel, whose probabilities take far longer."""
PART = 3_000
"""Else so much work is sampled,"""
PART_JUDGES = 40
"""by so many judges at least, if there are as many."""
BISECTIONS = 40
PART_LENGTH = Length(warm_up=100, kept=80, most=80)
LEAST_TIE_SD = 0.2
"""Judges whose tie weights differ by no more than such a spread of their logarithms tie alike."""
SCALE_RANGE = (0.02, 50.0)
ACCURACY_SD_RANGE = (0.03, 5.0)


def can_be_sampled(objective: Objective) -> bool:
    """Whether the posterior of all votes can be sampled in good time."""
    votes = objective.votes
    if len(votes.lists.item) > MOST_CHAINED and not objective.noise.is_gumbel:
        return False
    sparse = votes.n_entries * 2.0 < SPARSE_ITEMS * votes.n_items
    if objective.accuracies_free:
        sparse |= votes.n_entries < SPARSE_JUDGES * votes.n_judges
    return _work(votes) <= (MOST_SAMPLED_IF_SPARSE if sparse else MOST_SAMPLED)


def _work(votes: CodedVotes) -> int:
    """How much is to be done in a pass: votes of a judge that say the same are done at once."""
    pairs, n = votes.pairs, votes.n_items
    outcomes = n * (n - 1) + (n * (n - 1) // 2 if pairs.can_tie else 0)
    ways = 2 * outcomes if pairs.has_sides else outcomes
    different = min(pairs.number, votes.n_judges * ways)
    return different + LIST_ENTRY_WORK * len(votes.lists.item)


def sampled_part(objective: Objective, *, tastes: bool, watch: Watcher | None = None) -> Sample:
    """Draws from the posterior of some judges' votes, to know the scales by."""
    part = part_of(objective)
    part = replace(part, votes=part.votes.merged())
    start = search(part, ROUGH, _of_a_part(watch))
    return sample(part, start, tastes=tastes, length=PART_LENGTH, watch=watch)


def _of_a_part(watch: Watcher | None) -> Watcher | None:
    """Tell of the steps of a fit that is not the answer's: these do not count as its steps."""
    if watch is None:
        return None
    return lambda event: watch(Progress("sampling", "Fitting some of the votes", event.done))


def part_of(objective: Objective) -> Objective:
    """The votes of some judges, of the busiest some of them only; only items that are in them."""
    rng = np.random.default_rng(0)
    votes = objective.votes
    work = np.diff(votes.work_before)
    order = rng.permutation(votes.n_judges)
    enough = int(np.searchsorted(np.cumsum(work[order]), PART)) + 1
    judges = np.sort(order[: max(enough, PART_JUDGES)])
    share = _shares(work[judges])
    pairs = _some(votes.pairs.start, judges, share, rng)
    fewer = votes.taken(pairs, _some(votes.lists.start, judges, share, rng), judges)
    item = fewer.judges_and_items()[1]
    seen = np.unique(item)
    code = np.zeros(votes.n_items, dtype=np.int32)
    code[seen] = np.arange(len(seen), dtype=np.int32)
    fixed = None if objective.fixed_accuracy is None else objective.fixed_accuracy[judges]
    return replace(objective, votes=fewer.recoded(code[item], len(seen)), fixed_accuracy=fixed)


def _shares(entries: Codes) -> Floats:
    """The share of each judge's votes to take, so that none has more than a certain number."""
    low, high = 0.0, float(entries.max(initial=1))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.minimum(entries, middle).sum() < PART else (low, middle)
    return np.minimum(1.0, high / np.maximum(entries, 1))


def _some(start: Codes, judges: Codes, share: Floats, rng: np.random.Generator) -> Codes:
    """About such shares of these judges' votes: which."""
    own = indices_of(start, judges)
    number = start[judges + 1] - start[judges]
    return own[rng.random(len(own)) < np.repeat(share, number)]


def prior_of(found: Sample, objective: Objective) -> Prior:
    """The scales of the prior: medians over the draws."""
    layout = objective.layout
    names = [
        name
        for name, part in (("tie_sd", layout.own_tie), ("order_sd", layout.own_order))
        if part.stop > part.start
    ]
    own = dict(zip(names, np.median(found.own_sd, axis=0).tolist(), strict=True)) if names else {}
    off = np.sqrt(np.mean((found.accuracy - 1.0) ** 2, axis=1))
    return Prior(
        score_sd=float(np.clip(np.median(found.score_sd), *SCALE_RANGE)),
        accuracy_sd=float(np.clip(np.median(off), *ACCURACY_SD_RANGE)),
        effect_sd=EFFECT_SD,
        **own,
    )


def without_small_tie_effects(objective: Objective) -> Objective:
    """The objective with one weight of ties for all judges, if theirs hardly differ.

    Many votes make every spread significant, and then tie weights of single judges cost time.
    """
    if objective.prior.tie_sd > LEAST_TIE_SD:
        return objective
    return replace(objective, effects=replace(objective.effects, ties_by_judge=False))


def volume_of(objective: Objective, state: Floats, accuracy: Floats) -> float:
    """How many more scores than accuracies the votes determine: the power of the scale's volume."""
    if not objective.accuracies_free:
        return 0.0
    curvature, prior = objective.curvature(state, accuracy), objective.prior
    scores = curvature.state[: objective.n_items]
    return _determined(scores, prior.score_precision) - _determined(
        curvature.accuracy, prior.accuracy_precision
    )


def _determined(curvature: Floats, precision: float) -> float:
    """How many of the unknowns the votes determine rather than the prior."""
    return float(np.sum(1.0 - precision / np.maximum(curvature, precision)))
