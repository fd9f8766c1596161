"""The search around the profile solver: where to start, which way is up, how strong a prior.

The objective is not convex in scores and accuracies together: from equal accuracies alone, sparse
votes with many backwards judges can end upside down. So the fit starts from several points, each
is oriented by the votes, and the best objective is kept. With very many votes all this is decided
on a part of them, and only the last steps see everything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juryrank.arrays import Floats
from juryrank.objective import Objective
from juryrank.solvers.profile import ProfileSolver, first_step
from juryrank.solvers.scales import choose_scales, prior_for_more_judges
from juryrank.solvers.solution import Solution, Watcher
from juryrank.solvers.spectral import agreement_accuracy
from juryrank.votes import Wins, wins_per_judge

ROUGH = ProfileSolver(tolerance=1e-2)
"""Good enough to choose between starting points and between prior scales."""
ROUGHER = ProfileSolver(tolerance=0.2)
"""Good enough to go from a sample to all votes."""
MANY_VOTES = 400_000
SAMPLE_VOTES = 100_000
SAMPLE_JUDGES = 300
MOST_OF_MEDIAN = 2.0


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
        if choose_prior:
            objective = replace(objective, prior=prior_for_more_judges(decided, objective.n_judges))
        solution = ROUGHER.solve(objective, on_sample.score, objective.start_accuracy(), watch)
    else:
        solution = _from_best_start(objective, watch)
    evaluations, remark = solution.iterations, ""
    if choose_prior:
        objective, solution, remark = choose_scales(objective, solution, ROUGH)
        evaluations += solution.iterations
    solution = solver.solve(objective, solution.score, solution.accuracy, watch)
    solution = _upright(objective, solver, solution, watch)
    message = " ".join(text for text in (remark, solution.message) if text)
    evaluations += solution.iterations
    return objective, replace(solution, iterations=evaluations, message=message)


def votes_for(wins: Wins, score: Floats) -> float:
    """How far the votes agree with the direction of the scores, in standard errors.

    ``sum w d / sqrt(sum w d^2)`` with ``d`` the score of the winner minus that of the loser, and
    weights under which no judge counts more than twice the median one: most judges, and not one of
    very many votes, say which end is up.
    """
    gap = score[wins.winner] - score[wins.loser]
    weight = _evened(wins)
    size = float(np.sqrt(np.sum(weight * gap * gap)))
    return float(np.sum(weight * gap)) / size if size > 0.0 else 0.0


def _evened(wins: Wins) -> Floats:
    votes = np.diff(wins.start)
    busy = votes > 0
    total = wins_per_judge(wins)
    most = MOST_OF_MEDIAN * float(np.median(total[busy])) if busy.any() else 0.0
    if total.max(initial=0.0) <= most:
        return wins.weight
    share = np.divide(most, total, out=np.ones(len(total)), where=total > most)
    return np.asarray(wins.weight * np.repeat(share, votes))


def mirrored(solution: Solution) -> Solution:
    """The same likelihood with the other end up."""
    return replace(solution, score=-solution.score, accuracy=-solution.accuracy)


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
    return _upright(objective, ROUGH, ROUGH.solve(objective, start, watch=watch), watch)


def _upright(
    objective: Objective, solver: ProfileSolver, solution: Solution, watch: Watcher | None
) -> Solution:
    """Turn a fit round under which most votes count as backwards, and fit again from there."""
    if not objective.accuracies_free or votes_for(objective.wins, solution.score) >= 0.0:
        return solution
    turned = mirrored(solution)
    if np.isinf(objective.prior.accuracy_sd):
        return turned
    refit = solver.solve(objective, turned.score, turned.accuracy, watch)
    refit = replace(refit, iterations=solution.iterations + refit.iterations)
    # The prior can pull it back where hardly any vote speaks for either end.
    return refit if votes_for(objective.wins, refit.score) >= 0.0 else turned


def _thinned(objective: Objective) -> Objective:
    """About `SAMPLE_VOTES` votes: those of some judges and, of these judges, some of the votes."""
    wins = objective.wins
    rng = np.random.default_rng(0)
    excess = len(wins.winner) / SAMPLE_VOTES
    share = max(1.0 / excess, min(1.0, SAMPLE_JUDGES / objective.n_judges))
    chosen = rng.random(objective.n_judges) < share
    kept = np.flatnonzero(np.repeat(chosen, np.diff(wins.start)))
    if len(kept) > SAMPLE_VOTES:
        kept = kept[rng.random(len(kept)) < SAMPLE_VOTES / len(kept)]
    start = np.searchsorted(kept, wins.start[np.append(chosen, True)])
    thinned = Wins(start, wins.winner[kept], wins.loser[kept], wins.weight[kept])
    fixed = None if objective.fixed_accuracy is None else objective.fixed_accuracy[chosen]
    return replace(objective, wins=thinned, fixed_accuracy=fixed)
