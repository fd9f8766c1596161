"""No judge takes over: find judges whose votes on one item cannot be honest, and set those aside.

A judge who always votes for one item gets, in a plain fit, a high accuracy for agreeing with the
order it has made itself. What helps is that one judge's opinion of one item counts once, however
often it is repeated. So

1. fit the model with weights under which no judge has more votes on an item than is usual;
2. for each judge and item with many votes, predict these votes from the scores and from the
   accuracy that the judge shows on all *other* items, and compare: with ``J(b)`` the loss of these
   votes if the judge has a taste ``b`` for the item, and ``v`` the variance of the item's score for
   this judge,

       z^2 = 2 min_b [J(b) + b^2 / (2 (TASTE^2 + v))] - 2 min_b J(b),

   which is how unlikely the taste is that explains the votes best (a gradient at ``b = 0`` would
   not do: it is bounded, however many votes there are); ``2 J(0) - 2 min_b J(b)`` is at least as
   large and sooner found; of very many suspects only the most suspicious of each judge are looked
   at;

3. set the votes of such pairs aside where chance would hardly give so large a ``z`` to any pair in
   the data, and begin again, until nothing more is found.

Honest tastes are allowed for by `TASTE`; a backwards judge is predicted well by its accuracy on
other items and is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from juryrank.inference.normal import quantile
from juryrank.judging.capped_weights import capped, fair_totals
from juryrank.judging.cells import (
    NOBODY,
    OneSided,
    cell_counts,
    heavy_cells,
    without_cells,
)
from juryrank.model.objective import Objective
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import ROUGH, search
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.cells import Cells, pairs_in_cells
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import Lists, without_entries
from juryrank.votes.weights import total_weight

LEAST_VOTES = 10
"""A judge with fewer votes on an item cannot carry it far."""
LEAST_JUDGES = 3
"""With fewer judges nobody can say which of them is odd."""
LEAST_OTHERS = 2
"""So many other judges must have voted on the item."""
TASTE = 0.5
"""Standard deviation, in log-odds, of honest judges' tastes for single items, or more if the votes
say so."""
LARGEST_TASTE = 20.0
CHANCE = 0.01
"""The chance that honest votes, in the whole of the data, are set aside at all."""
SUSPICIOUS = 3.0
"""Standard errors from the usual share of wins that make a closer look worth its while."""
MANY_SUSPECTS = 2_000
MOST_OF_MANY = 3
"""With more suspects than that, only the most suspicious so many items of each judge are looked at
(in every round): with very many votes nearly every judge differs from the others everywhere."""
MANY_TO_A_FEW = 4
NEARLY_NONE = 0.1
MOST_ROUNDS = 10
LEAST_CURVATURE = 1e-12
VOTES_AT_ONCE = 1 << 18
"""A judge's votes are copied as often as it is under suspicion."""
MOST_STEPS = 60
SMALL_STEP = 1e-6


def find_one_sided(
    objective: Objective, taste: float = 0.0, solver: ProfileSolver = ROUGH
) -> OneSided:
    """The pairs of judge and item whose votes should not count.

    `taste` is the standard deviation of tastes on the scale of scores, as far as it is known.
    """
    remaining, found = objective, NOBODY
    if objective.n_judges < LEAST_JUDGES:
        return found
    for _ in range(MOST_ROUNDS):
        cells = _suspects(remaining.votes)
        if not len(cells):
            break
        more = _tested(remaining, cells, taste, solver)
        if not len(more):
            break
        kept = without_cells(objective, _joined(found, more))
        if not kept.votes.n_entries:  # nothing would be left to rank by
            break
        found, remaining = _joined(found, more), kept
    return found


def _suspects(votes: CodedVotes) -> OneSided:
    """Pairs with many votes, and with a share of wins far from the item's usual one.

    The usual share counts every judge once, so that it is not made by the suspect.
    """
    judge, item, won, number = heavy_cells(votes, float(LEAST_VOTES))
    if not len(judge):
        return NOBODY
    up, all_votes, judges = fair_totals(votes)
    share = (up[item] + 1.0) / (all_votes[item] + 2.0)
    z = (won - number * share) / np.sqrt(number * share * (1.0 - share))
    odd = np.flatnonzero((np.abs(z) > SUSPICIOUS) & (judges[item] > LEAST_OTHERS))
    if len(odd) > MANY_SUSPECTS:
        odd = odd[_first_of_each(judge[odd], -np.abs(z[odd]), MOST_OF_MANY)]
    return OneSided(judge[odd], item[odd], number[odd], won[odd], (number * share)[odd], z[odd])


def _first_of_each(group: NDArray[np.int64], key: Floats, count: int) -> NDArray[np.int64]:
    """The indices of those of each group with the lowest keys, in order."""
    order = np.lexsort((key, group))
    begins = np.searchsorted(group[order], group[order])
    return np.sort(order[np.arange(len(order)) - begins < count])


def _tested(objective: Objective, cells: OneSided, taste: float, solver: ProfileSolver) -> OneSided:
    """Those of the cells that chance can hardly explain."""
    fair = replace(objective, votes=capped(objective.votes))
    solution = search(fair, solver)
    accuracy = _accuracy_elsewhere(fair, solution, cells)
    needed = -quantile(0.5 * CHANCE / int(cell_counts(objective.votes, 1)[1]))
    worth = np.flatnonzero(largest_z(objective, solution, accuracy, cells) > needed)
    cells, accuracy = _some(cells, worth), accuracy[worth]
    curvature = fair.curvature(solution.state, solution.accuracy).state
    variance = 1.0 / np.maximum(curvature, LEAST_CURVATURE)
    expected, z = _residual(objective, solution, variance, accuracy, cells, taste)
    odd = np.flatnonzero(np.abs(z) > needed)
    odd = odd[np.argsort(-np.abs(z[odd]), kind="stable")]
    return _some(replace(cells, expected=expected, z=z), odd)


def _some(cells: OneSided, which: NDArray[np.int64]) -> OneSided:
    """Some of the cells."""
    return OneSided(*(getattr(cells, name)[which] for name in OneSided.__dataclass_fields__))


def _each_by_itself(objective: Objective, judges: NDArray[np.int64]) -> Objective:
    """The votes of these judges, each as often as it is named, and as a judge of its own.

    Effects have no say here.
    """
    return replace(
        objective,
        votes=objective.votes.of_judges(judges).without_sides(),
        fixed_accuracy=None if objective.accuracies_free else np.ones(len(judges)),
        effects=replace(objective.effects, ties_by_judge=False, order=False, order_by_judge=False),
    )


def _batches(votes: CodedVotes, cells: OneSided, votes_at_once: int) -> Iterator[slice]:
    """Cells one after the other whose judges, each counted with each cell, have not many votes."""
    batch = np.cumsum(votes.entries_per_judge[cells.judge]) // votes_at_once
    ends = np.flatnonzero(np.diff(batch, append=-1)) + 1
    yield from (slice(a, b) for a, b in zip(np.append(0, ends), ends, strict=False))


def _accuracy_elsewhere(
    objective: Objective, solution: Solution, cells: OneSided, votes_at_once: int = VOTES_AT_ONCE
) -> Floats:
    """Each judge's accuracy from its votes on all other items than the one in question.

    Where a judge has hardly any votes but on a few items, all of these are in question.
    """
    if not objective.accuracies_free:
        return objective.start_accuracy()[cells.judge]
    accuracy = np.ones(len(cells))
    judges, judge = np.unique(cells.judge, return_inverse=True)
    own = objective.votes.of_judges(judges)
    behind = [_behind_all_votes(own.of_range(k, k + 1)) for k in range(len(judges))]
    for some in _batches(objective.votes, cells, votes_at_once):
        by_cell = _each_by_itself(objective, cells.judge[some])
        in_question = [
            np.append(behind[u], i) for u, i in zip(judge[some], cells.item[some], strict=True)
        ]
        index = np.repeat(np.arange(len(in_question)), list(map(len, in_question)))
        cells_of = Cells(index, np.concatenate(in_question))
        elsewhere = replace(by_cell, votes=by_cell.votes.without(cells_of))
        elsewhere.profile(solution.state[: elsewhere.layout.size], accuracy[some])
    return accuracy


def largest_z(
    objective: Objective, solution: Solution, accuracy: Floats, cells: OneSided
) -> Floats:
    """What ``|z|`` is at most, ``sqrt(2 J(0) - 2 min_b J(b))``; infinite where there are lists."""
    found = np.full(len(cells), np.inf)
    if objective.votes.has_lists:
        return found
    for some in _batches(objective.votes, cells, VOTES_AT_ONCE):
        own = _each_by_itself(objective, cells.judge[some])
        losses = _losses_by_taste(own, solution.score, accuracy[some], cells.item[some])
        taste = _best_tastes(losses, own.n_judges)
        gain = losses(np.zeros(len(taste)))[0] - losses(taste)[0]
        found[some] = np.sqrt(2.0 * np.maximum(gain, 0.0))
    return found


Losses = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""The loss of each judge as a function of its taste, with its first and second derivative."""


def _losses_by_taste(
    own: Objective, score: Floats, accuracy: Floats, item: NDArray[np.int64]
) -> Losses:
    """Those of the pairs of each judge that have an item of its own in them."""
    pairs = own.votes.pairs
    asked = Cells(np.arange(len(item)), item)
    on = np.flatnonzero(pairs_in_cells(pairs.start, pairs.winner, pairs.loser, asked))
    if pairs.tied is not None:  # half a win for each side
        on = np.concatenate((on, on[pairs.tied[on]]))
    judge = (np.searchsorted(pairs.start, on, side="right") - 1).astype(np.int32)
    pairs = pairs.taken(on, pairs.start)
    is_half = np.zeros(len(on), dtype=np.bool_) if pairs.tied is None else pairs.tied
    weight = pairs.weight * np.where(is_half, 0.5, 1.0)
    side = np.where(pairs.winner == item[judge], 1.0, -1.0)
    x = accuracy[judge] * (score[pairs.winner] - score[pairs.loser])
    again = slice(len(on) - np.count_nonzero(is_half) // 2, None)
    side[again], x[again] = -side[again], -x[again]

    def losses(taste: Floats) -> tuple[Floats, Floats, Floats]:
        value, gradient, curvature = (
            weight * term for term in own.noise.terms(x + side * taste[judge])
        )
        value, gradient, curvature = (
            total_weight(judge, part, len(item)) for part in (value, side * gradient, curvature)
        )
        return value, gradient, curvature

    return losses


def _best_tastes(losses: Losses, count: int) -> Floats:
    """The tastes of the least losses: Newton steps within a bracket, else its middle."""
    low, high = np.full(count, -LARGEST_TASTE), np.full(count, LARGEST_TASTE)
    taste = np.zeros(count)
    for _ in range(MOST_STEPS):
        _, gradient, curvature = losses(taste)
        low, high = np.where(gradient < 0.0, taste, low), np.where(gradient > 0.0, taste, high)
        step = taste - gradient / np.maximum(curvature, LEAST_CURVATURE)
        inside = (step > low) & (step < high)
        before, taste = taste, np.where(inside, step, 0.5 * (low + high))
        if np.abs(taste - before).max() < SMALL_STEP:
            break
    return taste


def _behind_all_votes(own: CodedVotes) -> NDArray[np.int64]:
    """Items, a few of many, one of which is in nearly every pair, or at an end of every list.

    A judge who pushes two items would else be measured on the one by the other.
    """
    pairs = own.pairs
    pair = np.tile(np.arange(pairs.number), 2)
    both = np.concatenate((pairs.winner, pairs.loser))
    few = len(np.unique(both)) // MANY_TO_A_FEW
    found = _few_of_all(pair, both, pairs.weight, few)
    for first in (True, False):
        found += _at_an_end(own.lists, first=first)
    return np.array(found, dtype=np.int64)


def _at_an_end(lists: Lists, *, first: bool) -> list[int]:
    """Items, a few of many, first (or last) in nearly every list, or next to such items."""
    few = len(np.unique(lists.item)) // MANY_TO_A_FEW
    found: list[int] = []
    while len(found) < few:
        end = lists.begin[:-1] if first else lists.begin[1:] - 1
        entry = lists.entry_list
        there = (lists.level == lists.level[end][entry]) & lists.is_ranked
        more = _few_of_all(entry[there], lists.item[there], lists.weight, few - len(found))
        if not more:
            break
        found += more
        lists = without_entries(lists, np.isin(lists.item, more))
    return found


def _few_of_all(
    vote: NDArray[np.int64], item: NDArray[np.int32], weight: Floats, few: int
) -> list[int]:
    """At most `few` items, one of which is in nearly every vote; none if there are no such items.

    ``item[k]`` is in ``vote[k]``.
    """
    left = np.ones(len(weight), dtype=np.bool_)
    found: list[int] = []
    votes_of = np.sort(np.bincount(item, weight[vote]))
    if few and votes_of[-few:].sum() < (1.0 - NEARLY_NONE) * weight.sum():
        return found
    while len(found) < few and left[vote].any():
        votes = np.bincount(item[left[vote]], weight[vote[left[vote]]])
        found.append(int(votes.argmax()))
        left[vote[item == found[-1]]] = False
        if weight[left].sum() <= NEARLY_NONE * weight.sum():
            return found
    return []


def _residual(
    objective: Objective,
    solution: Solution,
    variance: Floats,
    accuracy: Floats,
    cells: OneSided,
    taste: float,
) -> tuple[Floats, Floats]:
    """How many votes the items should have won, and ``z``."""
    expected, z = np.empty(len(cells)), np.empty(len(cells))
    for index, (u, i) in enumerate(zip(cells.judge, cells.item, strict=True)):
        own = _each_by_itself(objective, np.array([u]))
        own = replace(own, votes=own.votes.on_item(i))
        expected[index] = _expected(own, solution.state, accuracy[index], i)
        honest = max(TASTE, abs(float(accuracy[index])) * taste)
        spread = float(np.sqrt(honest**2 + accuracy[index] ** 2 * variance[i]))
        loss = _loss_by_taste(own, solution.state, accuracy[index], i)
        z[index] = _unlikely_taste(loss, spread)
    return expected, z


def _expected(own: Objective, state: Floats, accuracy: float, item: int) -> float:
    """How many of the votes the item should win; in a list, the share of others below it.

    A tie is half a win.
    """
    pairs, lists, score = own.votes.pairs, own.votes.lists, state[: own.n_items]
    other = np.where(pairs.winner == item, pairs.loser, pairs.winner)
    tie = -np.inf if pairs.tied is None else state[own.n_items]
    won = float(pairs.weight @ own.noise.share(accuracy * (score[item] - score[other]), tie))
    above = own.noise.cdf(accuracy * (score[item] - score[lists.item]))
    above = np.where(lists.item == item, 0.0, above)
    share = np.bincount(lists.entry_list, above, lists.number) / np.maximum(lists.length - 1, 1)
    return won + float(lists.weight @ share)


def _loss_by_taste(
    own: Objective, state: Floats, accuracy: float, item: int
) -> Callable[[float], float]:
    """The loss of votes on one item as a function of the judge's taste for it."""
    lists, n, its_accuracy = own.votes.lists, own.n_items, np.array([accuracy])
    of_pairs = _losses_by_taste(own, state[:n], its_accuracy, np.array([item]))
    taste = np.zeros(n)

    def loss_with(amount: float) -> float:
        taste[item] = amount
        of_lists = lists.weight @ own.list_losses(state, its_accuracy, taste)
        return float(of_pairs(np.array([amount]))[0][0] + of_lists)

    return loss_with


def _unlikely_taste(loss: Callable[[float], float], spread: float) -> float:
    """``z`` of votes with such a loss for every taste."""
    from scipy.optimize import minimize_scalar  # slow to import, and most votes raise no suspicion

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
