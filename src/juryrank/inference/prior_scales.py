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

from juryrank.inference.opinions import Codes, merged
from juryrank.inference.sampling import Length, Sample, sample
from juryrank.model.objective import LIST_ENTRY_WORK, Objective
from juryrank.model.prior import EFFECT_SD, Prior
from juryrank.solvers.search import ROUGH, search
from juryrank.types import Floats
from juryrank.votes.lists import begins_of, places_of, taken
from juryrank.votes.votes import wins_taken

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
    work, entries = _work(objective), len(objective.lists.item)
    if entries > MOST_CHAINED and not objective.noise.is_gumbel:
        return False
    sparse = objective.n_entries * 2.0 < SPARSE_ITEMS * objective.n_items
    if objective.accuracies_free:
        sparse |= objective.n_entries < SPARSE_JUDGES * objective.n_judges
    return work <= (MOST_SAMPLED_IF_SPARSE if sparse else MOST_SAMPLED)


def _work(objective: Objective) -> int:
    """How much is to be done in a pass: votes of a judge that say the same are done at once."""
    wins, n = objective.wins, objective.n_items
    ways = (2 if len(wins.side) else 1) * (
        n * (n - 1) + (n * (n - 1) // 2 if len(wins.tied) else 0)
    )
    pairs = min(len(wins.winner), objective.n_judges * ways)
    return pairs + LIST_ENTRY_WORK * len(objective.lists.item)


def sampled_part(objective: Objective, *, tastes: bool) -> Sample:
    """Draws from the posterior of some judges' votes, to know the scales by."""
    part = part_of(objective)
    part = replace(part, wins=merged(part.wins))
    return sample(part, search(part, ROUGH), tastes=tastes, length=PART_LENGTH)


def part_of(objective: Objective) -> Objective:
    """The votes of some judges, of the busiest some of them only; only items that are in them."""
    rng = np.random.default_rng(0)
    wins, lists = objective.wins, objective.lists
    entries = np.diff(wins.start) + LIST_ENTRY_WORK * np.diff(lists.begin[lists.start])
    order = rng.permutation(objective.n_judges)
    enough = int(np.searchsorted(np.cumsum(entries[order]), PART)) + 1
    judges = np.sort(order[: max(enough, PART_JUDGES)])
    share = _shares(entries[judges])
    pairs, pair_start = _some(wins.start, judges, share, rng)
    which, list_start = _some(lists.start, judges, share, rng)
    fewer_wins, fewer_lists = wins_taken(wins, pairs, pair_start), taken(lists, which)
    seen = np.unique(np.concatenate((fewer_wins.winner, fewer_wins.loser, fewer_lists.item)))
    code = np.zeros(objective.n_items, dtype=np.int32)
    code[seen] = np.arange(len(seen), dtype=np.int32)
    fixed = None if objective.fixed_accuracy is None else objective.fixed_accuracy[judges]
    objective.give_back(0, objective.n_judges)
    return replace(
        objective,
        wins=fewer_wins._replace(winner=code[fewer_wins.winner], loser=code[fewer_wins.loser]),
        lists=fewer_lists._replace(start=list_start, item=code[fewer_lists.item]),
        n_items=len(seen),
        fixed_accuracy=fixed,
    )


def _shares(entries: Codes) -> Floats:
    """The share of each judge's votes to take, so that none has more than a certain number."""
    low, high = 0.0, float(entries.max(initial=1))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.minimum(entries, middle).sum() < PART else (low, middle)
    return np.minimum(1.0, high / np.maximum(entries, 1))


def _some(
    start: Codes, judges: Codes, share: Floats, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """About such shares of these judges' votes: which, and where each judge's begin."""
    own, begins = places_of(start, judges), begins_of(start, judges)
    drawn = rng.random(len(own)) < np.repeat(share, np.diff(begins))
    return own[drawn], np.concatenate(([0], np.cumsum(drawn)))[begins]


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
