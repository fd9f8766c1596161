"""The search around the profile solver: where to start, which way is up, how strong a prior.

The objective is not convex in scores and accuracies together: from equal accuracies alone, sparse
votes with many backwards judges can end upside down. So the fit starts from several points, each
is oriented by the votes, and the best objective is kept. With very many votes all this is decided
on a part of them, and only the last steps see everything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from juryrank.objective import Objective
from juryrank.solvers.profile import ProfileSolver, first_step
from juryrank.solvers.scales import choose_scales, prior_for_more_judges
from juryrank.solvers.solution import Solution, Watcher
from juryrank.solvers.spectral import agreement_accuracy
from juryrank.votes import Wins

Floats = NDArray[np.float64]

ROUGH = ProfileSolver(tolerance=1e-2)
"""Good enough to choose between starting points and between prior scales."""
ROUGHER = ProfileSolver(tolerance=0.2)
"""Good enough to go from a sample to all votes."""
MANY_VOTES = 400_000
SAMPLE_VOTES = 100_000
SAMPLE_JUDGES = 300


def search(
    objective: Objective,
    solver: ProfileSolver,
    *,
    choose_prior: bool,
    watch: Watcher | None = None,
) -> tuple[Objective, Solution]:
    """The best fit found, and the objective with the prior it was found for."""
    if len(objective.wins.winner) > MANY_VOTES and np.isfinite(objective.prior.score_sd):
        decided, on_sample = search(_thinned(objective), ROUGH, choose_prior=choose_prior)
        objective = replace(objective, prior=prior_for_more_judges(decided, objective.n_judges))
        accuracy = objective.start_accuracy()
        solution = ROUGHER.solve(objective, on_sample.score, accuracy, watch)
    else:
        solution = _from_best_start(objective, watch)
    evaluations = solution.iterations
    if choose_prior:
        objective, solution = choose_scales(objective, solution, ROUGH)
        evaluations += solution.iterations
    solution = solver.solve(objective, solution.score, solution.accuracy, watch)
    return objective, replace(solution, iterations=evaluations + solution.iterations)


def votes_for(wins: Wins, score: Floats) -> float:
    """How far the votes agree with the direction of the scores, in standard errors.

    ``sum w d / sqrt(sum w^2 d^2)`` with ``d`` the score of the winner minus that of the loser.
    """
    pull = wins.weight * (score[wins.winner] - score[wins.loser])
    size = float(np.sqrt(pull @ pull))
    return float(pull.sum()) / size if size > 0.0 else 0.0


def _from_best_start(objective: Objective, watch: Watcher | None) -> Solution:
    """Fit from equal scores and from the judges' agreement; the better objective wins."""
    best = _oriented(objective, None, watch)
    if not objective.accuracies_free:
        return best
    accuracy = agreement_accuracy(objective.wins, objective.n_items)
    if accuracy is None:
        return best
    other = _oriented(objective, first_step(objective, accuracy), watch)
    better = min(best, other, key=lambda solution: solution.value or 0.0)
    return replace(better, iterations=best.iterations + other.iterations)


def _oriented(objective: Objective, start: Floats | None, watch: Watcher | None) -> Solution:
    """Fit, and if most votes then count as backwards, fit again from the mirror image."""
    solution = ROUGH.solve(objective, start, watch=watch)
    if not objective.accuracies_free or votes_for(objective.wins, solution.score) >= 0.0:
        return solution
    mirrored = ROUGH.solve(objective, -solution.score, watch=watch)
    return replace(mirrored, iterations=solution.iterations + mirrored.iterations)


def _thinned(objective: Objective) -> Objective:
    """About `SAMPLE_VOTES` votes: those of every k-th judge and, of these, every l-th vote."""
    wins = objective.wins
    excess = len(wins.winner) // SAMPLE_VOTES
    judge_stride = max(1, min(excess, objective.n_judges // SAMPLE_JUDGES))
    chosen = np.zeros(objective.n_judges, dtype=np.bool_)
    chosen[::judge_stride] = True
    kept = np.flatnonzero(np.repeat(chosen, np.diff(wins.start)))
    vote_stride = max(1, len(kept) // SAMPLE_VOTES)
    votes = np.diff(wins.start)[chosen]
    start = -(-np.concatenate(([0], np.cumsum(votes))) // vote_stride)
    kept = kept[::vote_stride]
    thinned = Wins(start, wins.winner[kept], wins.loser[kept], wins.weight[kept])
    fixed = None if objective.fixed_accuracy is None else objective.fixed_accuracy[chosen]
    return replace(objective, wins=thinned, fixed_accuracy=fixed)
