"""The search around the profile solver: where to start, which way is up.

The objective is not convex in scores and accuracies together: from equal accuracies alone, sparse
votes with many backwards judges can end upside down. So the fit starts from several points, each
is oriented by the votes, and the best objective is kept. With very many votes all this is decided
on a part of them, and only the last steps see everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.model.effects import NO_EFFECTS
from juryrank.model.noise import GUMBEL
from juryrank.model.objective import Objective, ObjectivePass
from juryrank.progress import Watcher, part_of
from juryrank.solvers.profile import COARSE, ProfileSolver, first_step
from juryrank.solvers.solution import Solution
from juryrank.solvers.spectral import agreement_accuracy
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.passes import Own

Voice = Literal["fair", "judges", "votes"]
"""Who says which end is up."""

ROUGH = ProfileSolver(tolerance=1e-2)
"""Good enough to choose between starting points."""
ROUGHER = ProfileSolver(tolerance=0.2)
"""Good enough to go from a sample to all votes."""
ROUGHEST = ProfileSolver(tolerance=COARSE)
"""Good enough to see whether two starting points lead to the same optimum."""
NEAR = 0.7
"""About the part of the evaluations after which a fit is near the best one."""
ALIKE = 0.98
"""The correlation of scores on the way to the same optimum."""
MANY_VOTES = 100_000
"""From so many on, a part of the votes decides where to start."""
SAMPLE_SHARE = 8
SAMPLE_VOTES = (25_000, 100_000)
"""An eighth of the votes, but within these bounds, and so many of each item:"""
SAMPLE_OF_ITEM = 20
SAMPLE_JUDGES = 300
MOST_OF_TYPICAL = 2.0
"""A judge says no more about which end is up than one with so many times the typical votes."""
LEAST_SAY = 0.01
"""What a vote says about that if all votes of the judge are on one item."""
WORTH_MERGING = 4
"""Votes for each ordered pair of items from which it pays to count equal votes as one."""


def search(objective: Objective, solver: ProfileSolver, watch: Watcher | None = None) -> Solution:
    """The best fit found."""
    if _worth_merging(objective):
        solution = search(_merged(objective), solver, watch)
        return replace(solution, accuracy=objective.start_accuracy())
    begun = _begun(objective, replace(ROUGHER, journal=solver.journal), part_of(watch, 0.0, NEAR))
    rest = part_of(watch, NEAR, 1.0)
    solution = solver.solve(objective, begun.state, begun.accuracy, rest)
    solution = _upright(objective, solver, solution, rest)
    return replace(solution, iterations=begun.iterations + solution.iterations)


def _begun(objective: Objective, rougher: ProfileSolver, watch: Watcher | None) -> Solution:
    """A fit that is near the best one."""
    if objective.votes.has_lists and not objective.noise.is_gumbel:
        guess = _guided(objective)
        return rougher.solve(objective, guess.state, guess.accuracy, watch)
    if _is_large(objective):
        thinned = _thinned(objective)
        state = objective.layout.extended(search(thinned, ROUGH).state, thinned.layout)
        return rougher.solve(objective, state, objective.start_accuracy(), watch)
    return _from_best_start(objective, watch)


def _worth_merging(objective: Objective) -> bool:
    """Whether it does not matter who voted, and many votes say the same."""
    known = objective.fixed_accuracy
    return (
        known is not None
        and len(known) > 1
        and bool((known == 1.0).all())
        and not objective.votes.has_lists
        and objective.effects == NO_EFFECTS
        and objective.votes.pairs.number >= WORTH_MERGING * objective.n_items**2
    )


@dataclass(frozen=True, eq=False)
class _WinsPass(ObjectivePass[Floats]):
    """How often every item has won against every other one."""

    def numbers(self, n_items: int) -> int:
        """A matrix."""
        return n_items**2

    def __call__(self, here: Objective, first: int, last: int, _own: Own) -> Floats:
        """The compiled pass."""
        some = np.zeros((here.n_items, here.n_items))
        _core.count_wins(here.votes.core_pairs, first, last, some)
        return some


def _merged(objective: Objective) -> Objective:
    """One judge with a weighted win for each pair of winner and loser."""
    n, counts = objective.n_items, objective.sum_over_chunks(_WinsPass())
    winner, loser = (codes.astype(np.int32) for codes in np.nonzero(counts))
    merged = Pairs(np.array([0, len(winner)]), winner, loser, counts[winner, loser])
    votes = CodedVotes.of_pairs(n, merged)
    return replace(objective, votes=votes, fixed_accuracy=np.ones(1), effects=NO_EFFECTS)


def _guided(objective: Objective) -> Solution:
    """Where the same votes lead with Gumbel noise, under which rankings cost far less.

    Scores are multiplied so that close items are told apart alike.
    """
    found = search(replace(objective, noise=GUMBEL), ROUGH)
    ratio = float(GUMBEL.terms(0.0)[1] / objective.noise.terms(0.0)[1])
    return replace(found, score=found.score * ratio)


def votes_for(objective: Objective, score: Floats, by: Voice = "fair") -> float:
    """How far the votes agree with the direction of the scores, in standard errors.

    ``sum c q w d / sqrt(sum c q^2 w d^2)`` with ``d`` the score of the winner minus that of the
    loser. (In a list, ``d`` is the score of what was chosen minus the mean of what it was chosen
    from, twice that in a pair, and ``d^2`` the variance of scores there.) By "votes", all of them
    count alike, ``c = q = 1``. By "judges", a share ``c`` of each judge's votes counts, of no judge
    more than twice the typical number, the geometric mean. And in a "fair" way a judge says less,
    ``q``, the more of its votes on pairs are on one item: neither one judge of very many votes nor
    many accounts that push an item shall say which end is up. (Of lists ``q`` is 1: in rankings of
    the same items, every item is in every vote of an honest judge too.)
    """
    lists = objective.votes.lists
    counts = np.ones(objective.n_judges) if by == "votes" else _shares_that_count(objective)
    say = on_many_items(objective) if by == "fair" else np.ones(objective.n_judges)
    own = {"counts": counts, "say": say}
    agreement, variance = objective.sum_over_chunks(_AgreementPass(score), own).tolist()
    core_lists = objective.votes.core_lists
    if core_lists is not None:
        of_list, its_variance = np.empty(lists.number), np.empty(lists.number)
        _core.list_agreement(core_lists, np.ascontiguousarray(score), of_list, its_variance)
        weight = lists.weight * counts[lists.judge]
        agreement += float(weight @ of_list)
        variance += float(weight @ its_variance)
    return agreement / float(np.sqrt(variance)) if variance > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class _AgreementPass(ObjectivePass[Floats]):
    """How far pairs agree with scores, and the variance of that."""

    score: Floats

    @property
    def reads(self) -> tuple[str, ...]:
        """How much of each judge's votes counts."""
        return ("counts", "say")

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        pairs, counts, say = here.votes.core_pairs, own["counts"], own["say"]
        return np.array(_core.pair_agreement(pairs, first, last, counts, say, self.score))


def _shares_that_count(objective: Objective) -> Floats:
    """The share of each judge's votes that counts if none may have many more than the others."""
    total = objective.choices_per_judge
    busy = total[total > 0.0]
    most = MOST_OF_TYPICAL * float(np.exp(np.log(busy).mean())) if len(busy) else 0.0
    return np.divide(most, total, out=np.ones(len(total)), where=total > most)


def on_many_items(objective: Objective) -> Floats:
    """Near 1 for judges whose votes are on many items, next to nothing if all are on one."""
    own = {"elsewhere": np.ones(objective.n_judges)}
    for _ in objective.over_chunks(_ElsewherePass(), own):
        pass
    return np.asarray(LEAST_SAY + own["elsewhere"])


@dataclass(frozen=True, eq=False)
class _ElsewherePass(ObjectivePass[None]):
    """The share of each judge's votes that are not on the item most of them are on."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it is for judges without pairs, which stays."""
        return ("elsewhere",)

    @property
    def writes(self) -> tuple[str, ...]:
        """The share."""
        return ("elsewhere",)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> None:
        """The compiled pass."""
        _core.set_elsewhere(here.votes.core_pairs, first, last, own["elsewhere"])


def mirrored(solution: Solution) -> Solution:
    """The same likelihood with the other end up."""
    return replace(solution, score=-solution.score, accuracy=-solution.accuracy)


def _from_best_start(objective: Objective, watch: Watcher | None) -> Solution:
    """Fit from equal scores and from the judges' agreement; the better objective wins.

    The second fit is abandoned as soon as it is on its way to the same optimum.
    """
    best = _oriented(objective, ROUGH, None, watch)
    if not objective.accuracies_free:
        return best
    accuracy = agreement_accuracy(objective.votes)
    if accuracy is None:
        return best
    other = _oriented(objective, ROUGHEST, first_step(objective, accuracy), watch)
    evaluations = best.iterations + other.iterations
    if not _alike(best.score, other.score):
        further = ROUGH.solve(objective, other.state, other.accuracy, watch)
        other = _upright(objective, ROUGH, further, watch)
        evaluations += other.iterations
        best = min(best, other, key=lambda solution: solution.value or 0.0)
    return replace(best, iterations=evaluations)


def _alike(one: Floats, other: Floats) -> bool:
    """Whether scores differ by little but their scale."""
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return size > 0.0 and float(one @ other) >= ALIKE * size


def _oriented(
    objective: Objective, solver: ProfileSolver, start: Floats | None, watch: Watcher | None
) -> Solution:
    return _upright(objective, solver, solver.solve(objective, start, watch=watch), watch)


def _upright(
    objective: Objective, solver: ProfileSolver, solution: Solution, watch: Watcher | None
) -> Solution:
    """Turn a fit round under which most votes count as backwards, and fit again from there."""
    if not objective.accuracies_free or votes_for(objective, solution.score) >= 0.0:
        return solution
    turned = mirrored(solution)
    if np.isinf(objective.prior.accuracy_sd):
        return turned
    refit = solver.solve(objective, turned.state, turned.accuracy, watch)
    refit = replace(refit, iterations=solution.iterations + refit.iterations)
    # The prior can pull it back where hardly any vote speaks for either end.
    return refit if votes_for(objective, refit.score) >= 0.0 else turned


def _is_large(objective: Objective) -> bool:
    """Whether to decide on a part of the votes first."""
    enough = objective.votes.n_entries >= max(MANY_VOTES, 2 * _sample_size(objective))
    return enough and bool(np.isfinite(objective.prior.score_sd))


def _sample_size(objective: Objective) -> int:
    """How many votes decide where to start."""
    least, most = SAMPLE_VOTES
    wanted = max(objective.votes.n_entries // SAMPLE_SHARE, SAMPLE_OF_ITEM * objective.n_items)
    return min(max(wanted, least), most)


def _thinned(objective: Objective) -> Objective:
    """A sample of the votes: those of some judges and, of these judges, some of the votes."""
    votes = objective.votes
    rng = np.random.default_rng(0)
    size = _sample_size(objective)
    share = max(size / votes.n_entries, min(1.0, SAMPLE_JUDGES / votes.n_judges))
    chosen = rng.random(votes.n_judges) < share
    if not chosen.any():
        chosen[0] = True
    pairs = np.where(chosen, votes.pairs.per_judge, 0)
    lists = np.flatnonzero(chosen[votes.lists.judge])
    entries = int(votes.entries_per_judge[chosen].sum())
    some = _drawn(int(pairs.sum()), min(size / max(entries, 1), 1.0), rng)
    lists = lists[_drawn(len(lists), min(size / max(entries, 1), 1.0), rng)]
    before = np.concatenate(([0], np.cumsum(pairs)))
    judge = np.searchsorted(before, some, side="right") - 1
    rows = votes.pairs.start[judge] + some - before[judge]
    fixed = None if objective.fixed_accuracy is None else objective.fixed_accuracy[chosen]
    return replace(
        objective,
        votes=votes.taken(rows, lists, np.flatnonzero(chosen)),
        fixed_accuracy=fixed,
    )


def _drawn(count: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The indices of about such a share of so many, in order."""
    if share == 1.0 or not count:
        return np.arange(count)
    return np.unique(rng.integers(0, count, round(share * count)))
