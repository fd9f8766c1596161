"""`rank`: votes in, a `Ranking` out. Which objective, which solver, and what to say about it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from juryrank.arrays import Floats
from juryrank.connect import Connection, connection
from juryrank.errors import InputError, JuryrankWarning, listing
from juryrank.models import DEFAULT_MODEL, Model, model_named
from juryrank.noise import Noise, noise_of
from juryrank.objective import (
    LARGEST_ACCURACY,
    NO_PRIOR,
    Objective,
    Prior,
)
from juryrank.ranking import Fit, Ranking, make_ranking
from juryrank.reading import as_votes
from juryrank.solvers.counting import WinRate
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.scales import FIRST_GUESS
from juryrank.solvers.search import ROUGH, mirrored, search, votes_for
from juryrank.solvers.solution import Solution, Watcher
from juryrank.solvers.spectral import RankCentrality
from juryrank.threads import available_threads, one_blas_thread
from juryrank.votes import NO_JUDGE_COLUMN, Votes, Wins

PriorChoice = Literal["auto"] | tuple[float, float] | None
Solver = Literal["profile", "paper"] | ProfileSolver | PaperSolver | CrowdSolver
_AnySolver = ProfileSolver | PaperSolver | CrowdSolver | RankCentrality | WinRate

CLOSE_CALL = 3.0
"""Standard errors of the votes' agreement with the ranking below which its direction is unsure."""


def rank(
    votes: Votes | object,
    model: str = DEFAULT_MODEL,
    *,
    noise: str | Noise | None = None,
    prior: PriorChoice = "auto",
    lambda0: float = 0.0,
    solver: Solver = "profile",
    threads: int | None = None,
    watch: Watcher | None = None,
) -> Ranking:
    """Rank the items, and say how accurate each judge is.

    Args:
        votes: `Votes`, or a data frame that `votes_from` can read.
        model: One of `juryrank.models.MODELS`.
        noise: For the model ``htm``: a family's name, or your own from `noise_from_log_density`.
        prior: "auto" (scales chosen by the data), None (maximum likelihood), or the standard
            deviations of scores and accuracies.
        lambda0: Weight of the paper's virtual node; it takes the place of the scores' prior.
        solver: "profile" (fast), "paper" (Algorithm 1), or one of these with settings.
        threads: How many threads to use; None for all cores. The answer is the same.
        watch: Called with (evaluation, objective, size of the gradient) while fitting.

    Returns:
        A `Ranking`; everything worth knowing about it stands in its `warnings`, which are also
        issued as `JuryrankWarning`.
    """
    task = _task(as_votes(votes), model, noise, prior, lambda0, solver, threads)
    with one_blas_thread():
        found = _found(task, watch)
    remarks = (*_remarks_on_votes(task), *found.remarks, *found.messages)
    for remark in remarks:
        warnings.warn(remark, JuryrankWarning, stacklevel=2)
    return _ranking(task, found, remarks)


@dataclass(frozen=True, eq=False)
class _Task:
    """What was asked for, checked."""

    votes: Votes
    wins: Wins
    connection: Connection
    model: Model
    noise: Noise
    prior: Prior | None
    """None: to be chosen by the data."""
    lambda0: float
    solver: _AnySolver
    threads: int

    @property
    def regularised(self) -> bool:
        return self.prior is None or np.isfinite(self.prior.score_sd) or self.lambda0 > 0.0

    @property
    def accuracies_free(self) -> bool:
        return self.model.judges == "accuracy" and self.votes.n_judges > 1

    def objective(self) -> Objective:
        return Objective(
            wins=self.wins,
            n_items=self.votes.n_items,
            noise=self.noise,
            prior=self._first_prior(),
            lambda0=self.lambda0,
            fixed_accuracy=None if self.accuracies_free else np.ones(self.votes.n_judges),
            threads=self.threads,
        )

    def _first_prior(self) -> Prior:
        if self.prior is not None:
            return self.prior
        return replace(FIRST_GUESS, score_sd=np.inf) if self.lambda0 else FIRST_GUESS


@dataclass(frozen=True, eq=False)
class _Found:
    """A solution with the prior that was used and what must be said about it."""

    solution: Solution
    prior: Prior = NO_PRIOR
    remarks: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        return (self.solution.message,) if self.solution.message else ()


# --- what was asked for --------------------------------------------------------------------------


def _task(
    votes: Votes,
    model_name: str,
    noise: str | Noise | None,
    prior: PriorChoice,
    lambda0: float,
    solver: Solver,
    threads: int | None,
) -> _Task:
    model = model_named(model_name)
    if not len(votes):
        raise InputError("There are no votes to rank by.")
    if not (isinstance(lambda0, int | float) and np.isfinite(lambda0) and lambda0 >= 0.0):
        raise InputError(f"lambda0={lambda0!r} must be a number that is not negative.")
    if threads is not None and not (isinstance(threads, int) and threads >= 1):
        raise InputError(f"threads={threads!r} must be a whole number of at least 1.")
    chosen = _solver(model, solver)
    return _Task(
        votes=votes,
        wins=votes.wins(),
        connection=connection(votes),
        model=model,
        noise=noise_of(model, noise),
        prior=_prior(model, prior, chosen, lambda0),
        lambda0=lambda0,
        solver=chosen,
        threads=threads or available_threads(),
    )


def _solver(model: Model, solver: Solver) -> _AnySolver:
    if model.method == "likelihood":
        if isinstance(solver, ProfileSolver | PaperSolver):
            return solver
        if solver in ("profile", "paper"):
            return ProfileSolver() if solver == "profile" else PaperSolver()
        raise InputError(f"There is no solver called {solver!r}. Solvers: profile, paper.")
    if isinstance(solver, CrowdSolver) and model.method == "crowd":
        return solver
    if solver != "profile":
        raise InputError(
            f"The model {model.name!r} has a method of its own: leave the solver away."
        )
    own: dict[str, _AnySolver] = {
        "crowd": CrowdSolver(),
        "rank-centrality": RankCentrality(),
        "win-rate": WinRate(),
    }
    return own[model.method]


def _prior(model: Model, prior: PriorChoice, solver: _AnySolver, lambda0: float) -> Prior | None:
    """The prior asked for; None if the data shall choose its scales."""
    if isinstance(solver, RankCentrality | WinRate):
        if prior not in ("auto", None) or lambda0:
            raise InputError(f"The model {model.name!r} takes neither a prior nor lambda0.")
        return NO_PRIOR
    if prior is None:
        return NO_PRIOR
    if prior == "auto":
        by_paper = isinstance(solver, PaperSolver)  # which knows the virtual node alone
        no_scale_left = lambda0 > 0.0 and model.judges != "accuracy"
        return NO_PRIOR if by_paper or no_scale_left else None
    given = _given_prior(prior)
    if lambda0 and np.isfinite(given.score_sd):
        raise InputError(
            f"lambda0={lambda0:g} takes the place of the scores' prior. Use one of the two; to fix "
            "the accuracies' prior alone, give an infinite scale for the scores."
        )
    if model.judges == "accuracy" and np.isinf(given.accuracy_sd) and np.isfinite(given.score_sd):
        raise InputError(
            "With a prior on the scores but none on the accuracies there is no best fit: scores "
            "shrink to 0 while accuracies grow. Give both scales, or use prior='auto' "
            "(--prior auto)."
        )
    return given


def _given_prior(prior: object) -> Prior:
    scales = prior if isinstance(prior, tuple | list) else ()
    if len(scales) != 2 or not all(isinstance(scale, int | float) for scale in scales):
        raise InputError(f"prior={prior!r} is not 'auto', None or (score_sd, accuracy_sd).")
    return Prior(float(scales[0]), float(scales[1]))


# --- the methods ---------------------------------------------------------------------------------


def _found(task: _Task, watch: Watcher | None) -> _Found:
    solver = task.solver
    if isinstance(solver, ProfileSolver):
        return _by_profile(task, solver, watch)
    if isinstance(solver, PaperSolver):
        return _by_paper(task, solver, watch)
    if isinstance(solver, CrowdSolver):
        return _by_crowd(task, solver, watch)
    if isinstance(solver, RankCentrality):
        _require_strong(task)
    return _Found(solver.solve(task.wins, task.votes.n_items))


def _by_profile(task: _Task, solver: ProfileSolver, watch: Watcher | None) -> _Found:
    objective = task.objective()
    _require_connected(task)
    _require_scale(task, objective)
    objective, solution = search(objective, solver, choose_prior=task.prior is None, watch=watch)
    held = _held(objective, solution.accuracy)
    gauged = _gauged(objective, solution, np.where(held, 0.0, task.votes.votes_per_judge))
    remarks = (
        *_remarks_on_direction(task, objective, gauged),
        *_remarks_on_held(task, gauged, held),
    )
    return _Found(gauged, objective.prior, remarks)


def _by_paper(task: _Task, solver: PaperSolver, watch: Watcher | None) -> _Found:
    objective = task.objective()
    solution = solver.solve(objective, watch)
    if objective.accuracies_free and votes_for(task.wins, solution.score) < 0.0:
        solution = mirrored(solution)
    gauged = _gauged(objective, solution, task.votes.votes_per_judge)
    return _Found(gauged, objective.prior, _remarks_on_direction(task, objective, gauged))


def _by_crowd(task: _Task, solver: CrowdSolver, watch: Watcher | None) -> _Found:
    _require_connected(task)
    objective = task.objective()
    if task.prior is None:
        objective, _ = search(objective, ROUGH, choose_prior=True)
    return _Found(solver.solve(objective, watch), objective.prior)


# --- when the votes alone cannot decide ----------------------------------------------------------


def _require_scale(task: _Task, objective: Objective) -> None:
    if task.lambda0 and not objective.has_scale:
        raise InputError(
            f"lambda0={task.lambda0:g} pulls all scores to 0 while the accuracies, which have no "
            "prior, can grow without end: there is no best fit. Use prior='auto' (--prior auto), "
            "or solver='paper' (--solver paper), which stops early."
        )


def _require_strong(task: _Task) -> None:
    if not task.connection.is_strong:
        raise InputError(
            "Rank Centrality needs every item to have beaten every other one, if only through "
            f"others, and here {_groups(task)}. Use another model, or collect votes that link them."
        )


def _require_connected(task: _Task) -> None:
    if not task.regularised and not task.connection.is_strong:
        raise InputError(
            f"Without a prior these votes cannot rank the items: {_groups(task)}. Their distance "
            "would be infinite or arbitrary. Use prior='auto' (--prior auto), or collect "
            "votes that link them."
        )


def _groups(task: _Task) -> str:
    return "; ".join(task.connection.sentences(task.votes.items))


# --- what must be said ---------------------------------------------------------------------------


def _remarks_on_votes(task: _Task) -> tuple[str, ...]:
    votes = task.votes
    remarks = [*votes.left_out.sentences, *votes.notices]
    if not votes.judges_known:
        remarks.append(NO_JUDGE_COLUMN)
    elif votes.n_judges == 1 and task.model.judges == "accuracy":
        remarks.append("There is only one judge: its accuracy is 1 by definition.")
    if not task.connection.is_strong and task.model.method in ("likelihood", "crowd"):
        who = "the prior" if task.regularised else "nothing"
        remarks.append(
            f"The votes do not link all items, so {who} decides how far apart some of them are: "
            f"{_groups(task)}."
        )
    return tuple(remarks)


def _remarks_on_direction(task: _Task, objective: Objective, solution: Solution) -> tuple[str, ...]:
    agreement = votes_for(task.wins, solution.score)
    if not objective.accuracies_free or agreement >= CLOSE_CALL:
        return ()
    return (
        "Which end is up is a close call: the votes agree with this ranking by only "
        f"{agreement:.1f} standard errors. If most judges vote backwards it is upside down.",
    )


def _remarks_on_held(task: _Task, solution: Solution, held: NDArray[np.bool_]) -> tuple[str, ...]:
    if not held.any():
        return ()
    names = task.votes.judges.gather(np.flatnonzero(held)).to_list()
    at = float(np.abs(solution.accuracy[held]).max())
    return (
        f"Without a prior the accuracy of {len(names):,} of {task.votes.n_judges:,} judges has no "
        f"finite estimate (their votes fit the order, or its reverse, too well): {listing(names)}. "
        f"It was held at {at:.3g}. Use prior='auto' (--prior auto).",
    )


def _held(objective: Objective, accuracy: Floats) -> NDArray[np.bool_]:
    """Which accuracies stand at the bound that replaces a missing prior."""
    if np.isfinite(objective.prior.accuracy_sd):
        return np.zeros(len(accuracy), dtype=np.bool_)
    return np.asarray(np.abs(accuracy) >= LARGEST_ACCURACY)


def _gauged(objective: Objective, solution: Solution, counts: Floats) -> Solution:
    """Scores that sum to 0, and a mean |accuracy| of 1, weighted by the counts of votes."""
    score = solution.score - solution.score.mean()
    if not objective.accuracies_free:
        return replace(solution, score=score)
    size = np.abs(solution.accuracy)
    scale = float(np.average(size, weights=counts)) if counts.any() else float(size.mean())
    if scale == 0.0:
        return replace(solution, score=score)
    return replace(solution, score=score * scale, accuracy=solution.accuracy / scale)


def _ranking(task: _Task, found: _Found, remarks: tuple[str, ...]) -> Ranking:
    solution = found.solution
    fit = Fit(
        converged=solution.converged,
        iterations=solution.iterations,
        objective=solution.value,
        votes=len(task.votes),
        left_out=task.votes.left_out.total,
        prior=_scales(found.prior, accuracies_free=task.accuracies_free),
        lambda0=task.lambda0,
        trace=solution.trace,
    )
    return make_ranking(task.votes, task.model, task.noise, solution, fit, remarks)


def _scales(prior: Prior, *, accuracies_free: bool) -> tuple[float | None, float | None] | None:
    """The scales of a prior; None for a part that is not there."""
    scales = [
        sd if np.isfinite(sd) else None
        for sd in (prior.score_sd, prior.accuracy_sd if accuracies_free else np.inf)
    ]
    return None if scales == [None, None] else (scales[0], scales[1])
