"""What was asked of `rank`, checked before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from juryrank.errors import InputError, counted
from juryrank.model.effects import EffectModel
from juryrank.model.noise import Noise, noise_of
from juryrank.model.objective import Objective
from juryrank.model.prior import EFFECT_SD, FIRST_GUESS, NO_PRIOR, Prior
from juryrank.model.registry import Model, model_named
from juryrank.model.tie_readiness import judges_differ
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.spectral import RankCentrality
from juryrank.solvers.win_rate import WinRate
from juryrank.threads import available_threads
from juryrank.votes.coded import CodedVotes
from juryrank.votes.connectivity import Connection, connection
from juryrank.votes.lists import MOST_ORDERS, Lists, orders_of_ties, tie_sizes
from juryrank.votes.votes import Votes

USUAL_SPREAD = 0.5
"""Of accuracies, where the virtual node holds the scores."""
PriorChoice = Literal["auto"] | tuple[float, float] | None
Ties = Literal["davidson", "davidson-by-judge", "half"]
Order = Literal["none", "common", "by-judge"]
Solver = Literal["profile", "paper"] | ProfileSolver | PaperSolver | CrowdSolver
AnySolver = ProfileSolver | PaperSolver | CrowdSolver | RankCentrality | WinRate


@dataclass(frozen=True, eq=False)
class Task:
    """What was asked for, checked."""

    votes: Votes
    coded: CodedVotes
    """The votes as the model counts them."""
    effects: EffectModel
    connection: Connection
    model: Model
    noise: Noise
    prior: Prior | None
    """None: to be chosen by the data."""
    lambda0: float
    solver: AnySolver
    guard: bool
    tastes: bool
    """Whether judges may have tastes of their own."""
    unasked_ties: bool
    """Whether the data decide if judges differ in how readily they tie."""
    unasked_half: bool
    """Whether ties count half for each side though nobody has asked for it."""
    threads: int

    @property
    def regularised(self) -> bool:
        """Whether something keeps the scores finite."""
        return self.prior is None or np.isfinite(self.prior.score_sd) or self.lambda0 > 0.0

    @property
    def accuracies_free(self) -> bool:
        """Whether accuracies are estimated."""
        return self.model.judges == "accuracy" and self.votes.n_judges > 1

    def objective(self) -> Objective:
        """The objective to begin with."""
        return Objective(
            votes=self.coded,
            noise=self.noise,
            prior=self._first_prior(),
            lambda0=self.lambda0,
            fixed_accuracy=None if self.accuracies_free else np.ones(self.votes.n_judges),
            threads=self.threads,
            effects=self.effects,
        )

    @property
    def chooses_scales(self) -> bool:
        """Whether the data say how strong the prior is."""
        return self.prior is None and not self.lambda0

    def _first_prior(self) -> Prior:
        if self.prior is not None:
            return self.prior
        if self.lambda0:
            return replace(FIRST_GUESS, score_sd=np.inf, accuracy_sd=USUAL_SPREAD)
        return FIRST_GUESS


def task_of(
    votes: Votes,
    model_name: str,
    noise: str | Noise | None = None,
    prior: PriorChoice = "auto",
    lambda0: float = 0.0,
    solver: Solver = "profile",
    *,
    guard: bool = True,
    tastes: bool | None = None,
    ties: Ties | None = None,
    order: Order = "none",
    threads: int | None = None,
) -> Task:
    """Check what was asked for; with `tastes` of None, there are tastes where there can be."""
    model = model_named(model_name)
    if not len(votes):
        raise InputError("There are no votes to rank by.")
    if not (isinstance(lambda0, int | float) and np.isfinite(lambda0) and lambda0 >= 0.0):
        raise InputError(f"lambda0={lambda0!r} must be a number that is not negative.")
    if threads is not None and not (isinstance(threads, int) and threads >= 1):
        raise InputError(f"threads={threads!r} must be a whole number of at least 1.")
    chosen, kind = _solver(model, solver), noise_of(model, noise)
    require_takes(model, votes)
    effects = _effects(votes, model, chosen, kind, ties, order)
    asked_prior = _prior(model, prior, chosen, lambda0)
    return Task(
        votes=votes,
        coded=_coded(votes, effects),
        effects=effects,
        connection=connection(votes),
        model=model,
        noise=kind,
        prior=asked_prior,
        lambda0=lambda0,
        solver=chosen,
        guard=guard,
        tastes=_tastes(model, votes, tastes, sampled=asked_prior is None and not lambda0),
        unasked_ties=ties is None,
        unasked_half=ties is None and not effects.sizes,
        threads=threads or available_threads(),
    )


def takes(model: Model, votes: Votes) -> bool:
    """Whether a model knows what to do with all these votes."""
    return model.method == "likelihood" or not votes.lists.number


def require_takes(model: Model, votes: Votes) -> None:
    """Refuse rankings that a model does not know."""
    if not takes(model, votes):
        raise InputError(
            f"The model {model.name!r} is for pairs, and {counted(votes.lists.number, 'vote')} "
            "are rankings of, or choices from, more items. Use hbtl, htcv, htm, btl or tcv; or "
            "break them into pairs, knowing that these are not independent: votes.in_pairs() "
            "(--in-pairs)."
        )


def _tastes(model: Model, votes: Votes, tastes: bool | None, *, sampled: bool) -> bool:
    """Whether judges may have tastes."""
    possible = model.judges == "accuracy" and sampled
    if tastes and not possible:
        raise InputError(
            "Tastes are for hbtl, htcv and htm with prior='auto' (--prior auto) and without "
            "lambda0: their size is found together with the other scales of the prior."
        )
    return possible and tastes is not False and votes.n_judges > 1


# --- ties and order ------------------------------------------------------------------------------


def _effects(
    votes: Votes, model: Model, solver: AnySolver, noise: Noise, ties: Ties | None, order: Order
) -> EffectModel:
    """Which effects are estimated."""
    for name, value, known in (("ties", ties, Ties), ("order", order, Order)):
        if value is not None and value not in get_args(known):
            raise InputError(f"{name}={value!r} is not one of {', '.join(get_args(known))}.")
    if not isinstance(solver, ProfileSolver):
        if ties not in (None, "half") or order != "none":
            raise InputError(
                "Ties as an outcome and the advantage of a side are for hbtl, htcv, htm, btl and "
                "tcv with the profile solver. Elsewhere a tie is half a win for each side."
            )
        return EffectModel()
    if order != "none" and not (votes.sides_known and votes.n_pairs):
        raise InputError(
            f"order={order!r} needs to know which item was on the left, and these votes do not "
            "say: give them as left, right and winner, or leave the order away."
        )
    sizes = () if ties == "half" else _sizes(votes, noise, ties)
    as_one = ties is None and bool(sizes) and votes.lists.number > 0 and noise.is_gumbel
    return EffectModel(
        sizes=(2,) if as_one else sizes,
        ties_by_judge=bool(sizes) and _ties_by_judge(votes, model, ties),
        order=order != "none",
        order_by_judge=order == "by-judge" and votes.n_judges > 1,
        as_one=as_one,
    )


def _ties_by_judge(votes: Votes, model: Model, ties: Ties | None) -> bool:
    """Whether judges have tie weights of their own: as asked for, else as the data say."""
    if ties is not None or votes.n_judges == 1:
        return ties == "davidson-by-judge" and votes.n_judges > 1
    return model.judges == "accuracy" and judges_differ(votes)


def _sizes(votes: Votes, noise: Noise, ties: Ties | None) -> tuple[int, ...]:
    """Sizes of groups that are tied; none where ties must count as every order of their items."""
    in_lists = tie_sizes(votes.lists)
    if len(in_lists) and not noise.is_gumbel:
        if ties is not None:
            raise InputError(
                f"Ties among three items or more are an outcome with Gumbel noise only, not with "
                f"{noise.name} noise. Use hbtl or btl, or ties='half' (--ties half)."
            )
        return ()
    of_pairs = {2} if votes.has_tied_pairs else set()
    return tuple(sorted(of_pairs | set(in_lists.tolist())))


def _coded(votes: Votes, effects: EffectModel) -> CodedVotes:
    """The votes as the model counts them; if ties are no outcome, every order counts alike."""
    coded = votes.for_model(ties=2 in effects.sizes, sides=effects.order)
    if effects.sizes:
        return coded
    _require_few_orders(votes.lists)
    return coded.in_every_order()


def _require_few_orders(lists: Lists) -> None:
    """Refuse ties of so many items that not every order can be gone through."""
    many = np.flatnonzero(orders_of_ties(lists) > MOST_ORDERS)
    if len(many):
        raise InputError(
            f"{counted(len(many), 'ranking')} can be brought into more than {MOST_ORDERS} orders, "
            f"so many items are tied; the first is ranking {many[0] + 1:,} by judge. Ties of this "
            "size need Gumbel noise (hbtl, btl) and ties='davidson' (--ties davidson); or, if the "
            "items at the end are not tied but unranked, give the set and leave them out of the "
            "ranking."
        )


def _solver(model: Model, solver: Solver) -> AnySolver:
    if model.method == "likelihood":
        if isinstance(solver, ProfileSolver | PaperSolver):
            return solver
        if solver in ("profile", "paper"):
            return ProfileSolver() if solver == "profile" else PaperSolver()
        raise InputError(f"There is no solver called {solver!r}. Solvers: profile, paper.")
    if isinstance(solver, CrowdSolver) and model.method == "crowd":
        return solver
    if solver != "profile":
        raise InputError(f"The model {model.name!r} has a method of its own: omit the solver.")
    own: dict[str, AnySolver] = {
        "crowd": CrowdSolver(),
        "rank-centrality": RankCentrality(),
        "win-rate": WinRate(),
    }
    return own[model.method]


def _prior(model: Model, prior: PriorChoice, solver: AnySolver, lambda0: float) -> Prior | None:
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
    regular = np.isfinite(scales[0]) or np.isfinite(scales[1])
    return Prior(float(scales[0]), float(scales[1]), effect_sd=EFFECT_SD if regular else np.inf)


# --- when the votes alone cannot decide ----------------------------------------------------------


def require_scale(task: Task, objective: Objective) -> None:
    """Refuse a fit whose scores would shrink for ever."""
    if task.lambda0 and not objective.has_scale:
        raise InputError(
            f"lambda0={task.lambda0:g} pulls all scores to 0 while the accuracies, which have no "
            "prior, can grow without end: there is no best fit. Use prior='auto' (--prior auto), "
            "or solver='paper' (--solver paper), which stops early."
        )


def require_strong(task: Task) -> None:
    """Refuse votes that Rank Centrality cannot rank."""
    if not task.connection.is_strong:
        raise InputError(
            "Rank Centrality needs every item to have beaten every other one, if only through "
            f"others, and here {groups_in_words(task)}. Use another model, or collect votes that "
            "link them."
        )


def require_connected(task: Task) -> None:
    """Refuse votes that maximum likelihood cannot rank."""
    if not task.regularised and not task.connection.is_strong:
        raise InputError(
            f"Without a prior these votes cannot rank the items: {groups_in_words(task)}. Their "
            "distance would be infinite or arbitrary. Use prior='auto' (--prior auto), or collect "
            "votes that link them."
        )


def groups_in_words(task: Task) -> str:
    """What keeps the votes from ranking all items."""
    return "; ".join(task.connection.sentences(task.votes.items))
