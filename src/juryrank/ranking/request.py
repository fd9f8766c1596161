"""What was asked of `rank`, checked before anything is computed."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from juryrank.errors import InputError, counted
from juryrank.inference.sampling import WHOLE, Length
from juryrank.model.effects import EffectModel
from juryrank.model.noise import Noise, noise_of
from juryrank.model.prior import EFFECT_SD, NO_PRIOR, Prior
from juryrank.model.registry import DEFAULT_SOLVER, Model, model_named, models_that
from juryrank.model.tie_readiness import judges_differ
from juryrank.ranking.methods import METHODS
from juryrank.ranking.task import Method, Task
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.threads import available_threads
from juryrank.votes.coded import CodedVotes
from juryrank.votes.connectivity import connection
from juryrank.votes.lists import MOST_ORDERS, Lists, orders_of_ties, tie_sizes
from juryrank.votes.votes import Votes

PriorChoice = Literal["auto"] | tuple[float, float] | Prior | None
Ties = Literal["davidson", "davidson-by-judge", "half"]
Order = Literal["none", "common", "by-judge"]
Solver = Literal["profile", "paper"] | ProfileSolver | PaperSolver | CrowdSolver


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
    of_mode: bool = False,
    length: Length = WHOLE,
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
    method, kind = _method(model, solver), noise_of(model, noise)
    require_takes(model, votes)
    effects = _effects(votes, model, method, kind, ties, order)
    asked_prior = _prior(model, prior, method, lambda0)
    return Task(
        votes=votes,
        coded=_coded(votes, effects),
        effects=effects,
        connection=connection(votes),
        model=model,
        noise=kind,
        prior=asked_prior,
        lambda0=lambda0,
        method=method,
        guard=guard,
        tastes=_tastes(model, votes, tastes, sampled=asked_prior is None and not lambda0),
        unasked_ties=ties is None,
        unasked_half=ties is None and not effects.sizes,
        of_mode=of_mode,
        length=length,
        threads=threads or available_threads(),
    )


def takes(model: Model, votes: Votes) -> bool:
    """Whether a model knows what to do with all these votes."""
    return model.lists or not votes.lists.number


def require_takes(model: Model, votes: Votes) -> None:
    """Refuse rankings that a model does not know."""
    if not takes(model, votes):
        raise InputError(
            f"The model {model.name!r} is for pairs, and {counted(votes.lists.number, 'vote')} "
            "are rankings of, or choices from, more items. Use "
            f"{models_that(lambda other: other.lists, 'or')}; or break them into pairs, knowing "
            "that these are not independent: votes.in_pairs() (--in-pairs)."
        )


def _tastes(model: Model, votes: Votes, tastes: bool | None, *, sampled: bool) -> bool:
    """Whether judges may have tastes."""
    possible = model.tastes and sampled
    if tastes and not possible:
        raise InputError(
            f"Tastes are for {models_that(lambda other: other.tastes, 'and')} with prior='auto' "
            "(--prior auto) and without lambda0: their size is found together with the other "
            "scales of the prior."
        )
    return possible and tastes is not False and votes.n_judges > 1


# --- ties and order ------------------------------------------------------------------------------


def _effects(
    votes: Votes, model: Model, method: Method, noise: Noise, ties: Ties | None, order: Order
) -> EffectModel:
    """Which effects are estimated."""
    for name, value, known in (("ties", ties, Ties), ("order", order, Order)):
        if value is not None and value not in get_args(known):
            raise InputError(f"{name}={value!r} is not one of {', '.join(get_args(known))}.")
    can_tie, can_lean = (can and method.estimates_effects for can in (model.ties, model.order))
    if (ties not in (None, "half") and not can_tie) or (order != "none" and not can_lean):
        with_effects = models_that(lambda other: other.ties and other.order, "and")
        raise InputError(
            f"Ties as an outcome and the advantage of a side are for {with_effects} with the "
            "profile solver. Elsewhere a tie is half a win for each side."
        )
    if order != "none" and not (votes.sides_known and votes.n_pairs):
        raise InputError(
            f"order={order!r} needs to know which item was on the left, and these votes do not "
            "say: give them as left, right and winner, or omit the order (--order)."
        )
    sizes = _sizes(votes, noise, ties) if can_tie and ties != "half" else ()
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
    return model.has_accuracies and judges_differ(votes)


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
            f"{counted(len(many), 'ranking')} can be put into more than {MOST_ORDERS} orders, "
            f"because so many items are tied; the first is ranking {many[0] + 1:,} by judge. Ties "
            "of this size need Gumbel noise (hbtl, btl) and ties='davidson' (--ties davidson); or, "
            "if the items at the end are not tied but unranked, give the set and leave them out of "
            "the ranking."
        )


def _method(model: Model, solver: Solver) -> Method:
    """How the model is fitted: as asked for, else in the usual way."""
    ways = {name: METHODS[name] for name in model.solvers}
    for name, way in ways.items():
        if isinstance(solver, way.settings):
            return way(solver)
        if solver == name:
            return way(way.settings())
    usual = ways[model.solvers[0]]
    if solver == DEFAULT_SOLVER:
        return usual(usual.settings())
    if len(ways) == 1:
        raise InputError(f"The model {model.name!r} has a method of its own: omit the solver.")
    raise InputError(f"There is no solver called {solver!r}. Solvers: {', '.join(ways)}.")


def _prior(model: Model, prior: PriorChoice, method: Method, lambda0: float) -> Prior | None:
    """The prior asked for; None if the data should choose its scales."""
    if not model.prior:
        if prior not in ("auto", None) or lambda0:
            raise InputError(f"The model {model.name!r} takes neither a prior nor lambda0.")
        return NO_PRIOR
    if prior is None:
        return NO_PRIOR
    if prior == "auto":
        no_scale_left = lambda0 > 0.0 and not model.has_accuracies
        return None if method.chooses_prior and not no_scale_left else NO_PRIOR
    given = _given_prior(prior)
    if lambda0 and np.isfinite(given.score_sd):
        raise InputError(
            f"lambda0={lambda0:g} takes the place of the scores' prior. Use one of the two; to fix "
            "the accuracies' prior alone, give an infinite scale for the scores."
        )
    if model.has_accuracies and np.isinf(given.accuracy_sd) and np.isfinite(given.score_sd):
        raise InputError(
            "With a prior on the scores but none on the accuracies there is no best fit: scores "
            "shrink to 0 while accuracies grow. Give both scales, or use prior='auto' "
            "(--prior auto)."
        )
    return given


def _given_prior(prior: object) -> Prior:
    if isinstance(prior, Prior):
        return prior
    scales = prior if isinstance(prior, tuple | list) else ()
    if len(scales) != 2 or not all(isinstance(scale, int | float) for scale in scales):
        raise InputError(
            f"prior={prior!r} is not 'auto', None, (score_sd, accuracy_sd) or a Prior."
        )
    regular = np.isfinite(scales[0]) or np.isfinite(scales[1])
    return Prior(float(scales[0]), float(scales[1]), effect_sd=EFFECT_SD if regular else np.inf)
