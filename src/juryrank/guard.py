"""No judge takes over: find judges whose votes on one item cannot be honest, and set those aside.

A judge who always votes for one item gets, in a plain fit, a high accuracy for agreeing with the
order it has made itself. What helps is that one judge's opinion of one item counts once, however
often it is repeated. So

1. fit the model with weights under which no judge has more votes on an item than is usual;
2. for each judge and item with many votes, foretell these votes from the scores and from the
   accuracy that the judge shows on all *other* items, and compare: with ``J(b)`` the loss of these
   votes if the judge has a taste ``b`` for the item, and ``v`` the variance of the item's score for
   this judge,

       z^2 = 2 min_b [J(b) + b^2 / (2 (TASTE^2 + v))] - 2 min_b J(b),

   which is how unlikely the taste is that explains the votes best (a slope at ``b = 0`` would not
   do: it is bounded, however many votes there are);

3. set the votes of such pairs aside where chance would hardly give so large a ``z`` to any pair in
   the data, and begin again, until nothing more is found.

Honest tastes are allowed for by `TASTE`; a backwards judge is foretold well by its accuracy on
other items and is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from juryrank import _kernels
from juryrank.arrays import Floats
from juryrank.noise import Noise
from juryrank.objective import Objective
from juryrank.solvers.search import ROUGH, search
from juryrank.solvers.solution import Solution
from juryrank.votes import Wins, judge_codes

LEAST_VOTES = 10
"""A judge with fewer votes on an item cannot carry it far."""
LEAST_JUDGES = 3
"""With fewer judges nobody can say which of them is odd."""
LEAST_OTHERS = 2
"""So many other judges must have voted on the item."""
TASTE = 0.5
"""Standard deviation, in log-odds, of honest judges' tastes for single items."""
LARGEST_TASTE = 20.0
CHANCE = 0.01
"""The chance that honest votes, in the whole of the data, are set aside at all."""
SUSPICIOUS = 3.0
"""Standard errors from the usual share of wins that make a closer look worth its while."""
MANY_TO_A_FEW = 4
NEARLY_NONE = 0.1
MOST_ROUNDS = 10
LEAST_CURVATURE = 1e-12
LONGEST_COUNT = 1000

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class OneSided:
    """Judges and items (by code) whose votes do not go together, the clearest first."""

    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    votes: Floats
    won: Floats
    expected: Floats
    """How many of the votes the item should have won."""
    z: Floats

    def __len__(self) -> int:
        return len(self.judge)


NOBODY = OneSided(*(np.empty(0, dtype=np.int64),) * 2, *(np.empty(0),) * 4)


def find_one_sided(objective: Objective, *, choose_prior: bool) -> OneSided:
    """The pairs of judge and item whose votes should not count."""
    wins, found = objective.wins, NOBODY
    if objective.n_judges < LEAST_JUDGES:
        return found
    for _ in range(MOST_ROUNDS):
        cells = _suspects(wins, objective.n_items)
        if not len(cells):
            break
        more = _tested(replace(objective, wins=wins), cells, choose_prior)
        if not len(more):
            break
        kept = without_cells(objective.wins, _joined(found, more))
        if not len(kept.winner):  # nothing would be left to rank by
            break
        found, wins = _joined(found, more), kept
    return found


def without_cells(wins: Wins, found: OneSided) -> Wins:
    """The wins that remain when those of these judges on these items are set aside."""
    if not len(found):
        return wins
    keep = ~in_cells(wins.start, wins.winner, wins.loser, found)
    kept_before = np.concatenate(([0], np.cumsum(keep)))
    return Wins(kept_before[wins.start], wins.winner[keep], wins.loser[keep], wins.weight[keep])


def in_cells(
    start: NDArray[np.int64], one: NDArray[np.int32], other: NDArray[np.int32], found: OneSided
) -> Mask:
    """Which votes are those of these judges on these items."""
    inside = np.zeros(len(one), dtype=np.bool_)
    for u, i in zip(found.judge, found.item, strict=True):
        own = slice(start[u], start[u + 1])
        inside[own] |= (one[own] == i) | (other[own] == i)
    return inside


def _suspects(wins: Wins, n_items: int) -> OneSided:
    """Pairs with many votes, and with a share of wins far from the item's usual one.

    The usual share counts every judge once, so that it is not made by the suspect.
    """
    judge, item, won, votes = _kernels.heavy_cells(wins, n_items, float(LEAST_VOTES))
    if not len(judge):
        return NOBODY
    capped = _capped(wins, n_items)
    up = np.bincount(capped.winner, weights=capped.weight, minlength=n_items)
    all_votes = up + np.bincount(capped.loser, weights=capped.weight, minlength=n_items)
    share = (up[item] + 1.0) / (all_votes[item] + 2.0)
    z = (won - votes * share) / np.sqrt(votes * share * (1.0 - share))
    odd = (np.abs(z) > SUSPICIOUS) & (_judges_on(wins, n_items)[item] > LEAST_OTHERS)
    return OneSided(judge[odd], item[odd], votes[odd], won[odd], (votes * share)[odd], z[odd])


def _capped(wins: Wins, n_items: int) -> Wins:
    """The wins with weights under which no judge has more on an item than is usual."""
    return wins._replace(weight=_kernels.capped_weights(wins, n_items, _usual(wins, n_items)))


def _usual(wins: Wins, n_items: int) -> float:
    """The median number of votes of a judge on an item it has voted on, times a full weight.

    Nine tenths of the weights are at most a full one: halves of ties are below it.
    """
    counts = _kernels.cell_counts(wins, n_items, LONGEST_COUNT)
    median = max(np.searchsorted(np.cumsum(counts), 0.5 * counts.sum()), 1)
    return float(median) * float(np.quantile(wins.weight, 0.9))


def _judges_on(wins: Wins, n_items: int) -> NDArray[np.int64]:
    """How many judges have voted on each item."""
    judge = judge_codes(wins.start).astype(np.int64)
    pairs = np.concatenate((judge * n_items + wins.winner, judge * n_items + wins.loser))
    return np.bincount(np.unique(pairs) % n_items, minlength=n_items)


def _tested(objective: Objective, cells: OneSided, choose_prior: bool) -> OneSided:
    """Those of the cells that chance can hardly explain."""
    wins, n = objective.wins, objective.n_items
    fair = replace(objective, wins=_capped(wins, n))
    fair, solution = search(fair, ROUGH, choose_prior=choose_prior)
    accuracy = _accuracy_elsewhere(fair, solution, cells)
    curvature = fair.curvature(solution.score, solution.accuracy).score
    variance = 1.0 / np.maximum(curvature, LEAST_CURVATURE)
    expected, z = _surprise(objective, solution.score, variance, accuracy, cells)
    pairs = int(_kernels.cell_counts(wins, n, 1)[1])
    odd = np.flatnonzero(np.abs(z) > norm.isf(0.5 * CHANCE / pairs))
    odd = odd[np.argsort(-np.abs(z[odd]), kind="stable")]
    return OneSided(
        cells.judge[odd], cells.item[odd], cells.votes[odd], cells.won[odd],
        expected[odd], z[odd],
    )  # fmt: skip


def _accuracy_elsewhere(objective: Objective, solution: Solution, cells: OneSided) -> Floats:
    """Each judge's accuracy from its votes on all other items than the one in question.

    Where a judge has hardly any votes but on a few items, all of these are in question.
    """
    if not objective.accuracies_free:
        return objective.start_accuracy()[cells.judge]
    wins = objective.wins
    accuracy = np.ones(len(cells))
    # One by one: all at once would copy a judge's votes as often as it is under suspicion.
    for place, (u, i) in enumerate(zip(cells.judge, cells.item, strict=True)):
        own = slice(wins.start[u], wins.start[u + 1])
        pair = np.stack((wins.winner[own], wins.loser[own]))
        in_question = np.append(_behind_all_votes(pair, wins.weight[own], objective.n_items), i)
        rows = wins.start[u] + np.flatnonzero(~np.isin(pair, in_question).any(axis=0))
        elsewhere = Wins(
            np.array([0, len(rows)]), wins.winner[rows], wins.loser[rows], wins.weight[rows]
        )
        replace(objective, wins=elsewhere).profile(solution.score, accuracy[place : place + 1])
    return accuracy


def _behind_all_votes(pair: NDArray[np.int32], weight: Floats, n_items: int) -> NDArray[np.int64]:
    """Items, a few of many, one of which is in nearly every pair; none if there are no such items.

    A judge who pushes two items would else be measured on the one by the other.
    """
    left = np.ones(len(weight), dtype=np.bool_)
    few = len(np.unique(pair)) // MANY_TO_A_FEW
    found: list[int] = []
    while len(found) < few:
        votes = np.bincount(pair[:, left].ravel(), np.tile(weight[left], 2), n_items)
        found.append(int(votes.argmax()))
        left &= (pair != found[-1]).all(axis=0)
        if weight[left].sum() <= NEARLY_NONE * weight.sum():
            return np.array(found, dtype=np.int64)
    return np.empty(0, dtype=np.int64)


def _surprise(
    objective: Objective, score: Floats, variance: Floats, accuracy: Floats, cells: OneSided
) -> tuple[Floats, Floats]:
    """How many votes the items should have won, and ``z``."""
    wins = objective.wins
    expected, z = np.empty(len(cells)), np.empty(len(cells))
    for place, (u, i) in enumerate(zip(cells.judge, cells.item, strict=True)):
        own = slice(wins.start[u], wins.start[u + 1])
        won, lost = wins.winner[own] == i, wins.loser[own] == i
        on = won | lost
        other = np.where(won, wins.loser[own], wins.winner[own])[on]
        weight = wins.weight[own][on]
        x = accuracy[place] * (score[i] - score[other])
        expected[place] = float(weight @ objective.noise.cdf(x))
        spread = np.sqrt(TASTE**2 + accuracy[place] ** 2 * variance[i])
        z[place] = _unlikely_taste(
            objective.noise, np.where(won[on], x, -x), won[on], weight, spread
        )
    return expected, z


def _unlikely_taste(noise: Noise, x: Floats, won: Mask, weight: Floats, spread: float) -> float:
    """``z`` of votes with arguments ``x``, to which a taste for the item adds where it won."""
    side = np.where(won, 1.0, -1.0)

    def loss(taste: float) -> float:
        return float(weight @ noise.terms(x + side * taste)[0])

    def with_prior(taste: float) -> float:
        return loss(taste) + 0.5 * (taste / spread) ** 2

    bounds = (-LARGEST_TASTE, LARGEST_TASTE)
    free = minimize_scalar(loss, bounds=bounds, method="bounded")
    at_most = np.sqrt(2.0 * max(loss(0.0) - free.fun, 0.0))
    if at_most < SUSPICIOUS:
        return float(np.sign(free.x) * at_most)
    held = minimize_scalar(with_prior, bounds=bounds, method="bounded")
    return float(np.sign(free.x) * np.sqrt(2.0 * max(held.fun - free.fun, 0.0)))


def _joined(first: OneSided, second: OneSided) -> OneSided:
    return OneSided(
        *(
            np.concatenate((getattr(first, name), getattr(second, name)))
            for name in OneSided.__dataclass_fields__
        )
    )
