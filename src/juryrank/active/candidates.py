"""The questions worth a closer look, found by the means and variances of the scores alone.

With ``m`` and ``v`` the mean and the variance of a gap, ``a`` the judge's accuracy and ``t^2`` the
variance of tastes, ``x`` has the mean ``m E a``, what can be learnt has the variance
``q = v E a^2 + m^2 var a``, and what blurs it ``r = 2 t^2 E a^2``. So an answer of information
``w`` tells about ``log((1 + w (q + r)) / (1 + w r)) / 2``.

Among up to `MOST_IN_PAIRS` items all pairs are looked at. Of more, pairs that are near each other
in draws of the scores, the more of them the more their items matter to the target.
"""

from __future__ import annotations

import numpy as np

from juryrank.active.answer import fisher
from juryrank.active.beliefs import Beliefs, Questions, blurred
from juryrank.active.rules import Rules
from juryrank.inference.opinions import Codes
from juryrank.types import Floats

MOST_IN_PAIRS = 300
MOST_PAIRS = 12_000
"""Pairs that are drawn, of more items."""
MOST_LOOKED_AT = 200_000
"""Pairs times judges."""
LEAST, PER_QUESTION, MOST = 160, 40, 1_500
"""Candidates: at least, for each question that is wanted, and at most."""
LEAST_OF_JUDGE = 10
ORDERS = 6
"""Draws of the order of the items in which pairs are near each other."""
FAR = 8
"""Ranks apart at most."""


def candidates(
    beliefs: Beliefs, rules: Rules, focus: Floats, wanted: int, rng: np.random.Generator
) -> Questions:
    """Open questions that promise most for their cost; `focus` is how much each item matters."""
    items, judges = rules.items(), rules.judges
    if len(items) < 2 or not len(judges):
        return Questions(*(np.empty(0, dtype=np.int64) for _ in range(3)))
    most = min(max(LEAST, PER_QUESTION * wanted), MOST)
    if len(judges) > most // LEAST_OF_JUDGE:
        judges = rng.choice(judges, most // LEAST_OF_JUDGE, replace=False)
    one, other, variance = _pairs(beliefs, items, focus, MOST_LOOKED_AT // len(judges), rng)
    gap, matter = beliefs.mean[one] - beliefs.mean[other], np.maximum(focus[one], focus[other])
    taste = 2.0 * float(np.mean(beliefs.taste_sd**2))
    each = max(most // len(judges), LEAST_OF_JUDGE)
    found = []
    for judge in judges.tolist():  # one by one: what is worked out for one stays in cache
        asked = Questions(np.full(len(one), judge), one, other)
        promise = _promise(beliefs, asked, gap, variance, taste)
        promise *= matter / rules.limits.cost[judge]
        found.append(_best_open(rules, asked, promise, each))
    return Questions(
        *(
            np.concatenate([getattr(one, part) for one in found])
            for part in ("judge", "one", "other")
        )
    )


def _best_open(rules: Rules, questions: Questions, promise: Floats, most: int) -> Questions:
    """Those of one judge that promise most, of those that it may be asked."""
    if len(questions) > 4 * most:
        first = np.sort(np.argpartition(-promise, 4 * most)[: 4 * most])
        found = _best_open(rules, questions[first], promise[first], most)
        if len(found) == most:
            return found
    open_ones = np.flatnonzero(rules.allowed(questions))
    return questions[open_ones[np.argsort(-promise[open_ones], kind="stable")[:most]]]


def _pairs(
    beliefs: Beliefs, items: Codes, focus: Floats, most: int, rng: np.random.Generator
) -> tuple[Codes, Codes, Floats]:
    """Pairs to look at, and the variances of their gaps."""
    if len(items) <= MOST_IN_PAIRS:
        first, second = np.triu_indices(len(items), 1)
        score = beliefs.scores(items)
        score -= score.mean(axis=1, keepdims=True)
        covariance = score @ score.T / (beliefs.count - 1)
        own = np.diag(covariance)
        variance = own[first] + own[second] - 2.0 * covariance[first, second]
        return items[first], items[second], np.maximum(variance, 0.0)
    one, other = _near_pairs(beliefs, items, focus, min(most, MOST_PAIRS), rng)
    return one, other, beliefs.variance[one] + beliefs.variance[other]


def _near_pairs(
    beliefs: Beliefs, items: Codes, focus: Floats, most: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    n = len(items)
    chance = focus[items] / focus[items].sum()
    found = []
    for _ in range(ORDERS):
        drawn = beliefs.mean[items] + np.sqrt(beliefs.variance[items]) * rng.standard_normal(n)
        order = np.argsort(-drawn, kind="stable")
        at = np.empty(n, dtype=np.int64)
        at[order] = np.arange(n)
        one = rng.choice(n, most // ORDERS, p=chance)
        far = rng.integers(1, FAR + 1, len(one)) * rng.choice((-1, 1), len(one))
        there = at[one] + far
        there = np.where((there < 0) | (there >= n), at[one] - far, there)
        other = order[there]
        found.append(np.column_stack((np.minimum(one, other), np.maximum(one, other))))
    key = np.unique(np.concatenate(found) @ np.array([n, 1]))
    return items[key // n], items[key % n]


def _promise(
    beliefs: Beliefs, asked: Questions, gap: Floats, variance: Floats, taste: float
) -> Floats:
    """About what each pair tells, asked of one judge with tastes of this variance."""
    accuracy = beliefs.accuracy[asked.judge[0]]
    mean, square = float(accuracy.mean()), float(np.mean(accuracy**2))
    blur = taste * square
    spread = square * variance + (square - mean**2) * gap**2 + blur
    weight = fisher(beliefs.noise, blurred(beliefs.noise, mean * gap, spread))
    share = beliefs.pairs_own.share(asked.one, asked.other, square * weight)
    return np.asarray(share * (np.log1p(weight * spread) - np.log1p(weight * blur)))
