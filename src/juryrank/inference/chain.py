"""A Markov chain whose states are draws from the posterior of everything.

The model, with ``x = g_u (m_ui - m_uj)`` where a pair is voted on and the like for rankings:

    m_ui = s_i + b_ui                                      a judge's opinion of an item
    s_i ~ N(0, S^2)                S ~ Gamma(1, 1/2)       scores
    g_u = k_u (1.5 e^theta_u - .5), theta_u ~ N(0, T^2),   accuracies
          P(k_u = -1) ~ pi         T ~ Gamma(3, 8), pi ~ Beta(1, 9)
    b_ui ~ t_nu(0, w)              w ~ Gamma(1, 2)         tastes
    effects of all judges ~ N(0, 5^2); of one judge ~ N(0, sd^2), sd ~ Gamma(1, 2)

(shape and rate of the gamma distributions).

A judge who only ever votes on one item says next to nothing of which end is up: the prior of
``k_u`` is ``pi^q`` to ``(1 - pi)^q``, with ``q`` (`say`) from 1, for the judges of a jury whose
votes are on the most items, to near 0. A taste is normal given its own precision ``lambda_ui /
w^2`` with ``lambda ~ Gamma(nu/2, nu/2)``. One round is a sequence of moves, each of which leaves
the posterior as it is:

1. **Judges**, given the scores: Hamiltonian steps for theta, tastes and own effects, accepted
   judge by judge.
2. **Scores** and common effects, given the judges: Hamiltonian steps in the metric of the
   information.
3. **Scores, the opinions held**: a score may jump to where another of its judges sees the item;
   then the precisions are drawn, and given them ``s_i`` is normal. This and the move before are
   opposite parametrisations: where one is slow, the other is fast. Between them, one score may
   jump while each of its judges holds either its opinion or its taste.
4. **Units and origins** of the judges: ``(a + c m_u, g_u / c)`` changes no vote of judge ``u``.
5. **Scales**, given what they are scales of.
6. **Everything together**: Hamiltonian steps for the scales and, in units of them, all else. This
   moves the scales where single unknowns are known by little but their priors.
7. **Gauge**: ``(c s, c b, c S, c w, g / c)`` changes no vote.
8. **Sides**: all of ``(-s, -b, -k)``, those of one jury if some have no items in common, or a
   single judge's ``k``, with its opinions or against them.

The moves are compiled: `_core/chain.hpp` and what stands beside it. Votes under Gumbel noise are
gone through there too, all others by `Objective.votes_alone`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.inference.opinions import Codes, Opinions, VoteInformation, juries_of, rounded
from juryrank.model.objective import Objective
from juryrank.model.prior import EFFECT_SD
from juryrank.types import Floats

Value = TypeVar("Value", bound=np.generic)

PRIORS = {"score": (1.0, 0.5), "accuracy": (3.0, 8.0), "taste": (1.0, 2.0), "own": (1.0, 2.0)}
"""Shapes and rates of the gamma priors of the scales. Scores and tastes may have none; judges
differ in accuracy. No tail is heavier than exponential: votes that all agree put no limit on the
scores, and a spread of accuracies without limit would admit juries of which all but one have
``g = -1/2``, the end of the shifted log-normal, at no cost."""
BACKWARDS = (1.0, 9.0)
"""The share of backwards judges is ``Beta(1, 9)``."""
DEGREES = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 50.0])
"""Degrees of freedom that tastes may have, all as likely."""
FIRST_SCALES = {"accuracy": 0.5, "taste": 0.3, "degrees": 3.0, "backwards": 0.1}
"""To begin with; the scale of the scores is that of the start."""
FIRST_OWN_SCALE = 0.5
MOST_DENSE = 500
"""With more items the metric of the scores is diagonal."""
WORK_AT_ONCE = 500_000
"""Rounds times votes and tastes, these three times, between two looks at what the user wants."""


class Draws(NamedTuple):
    """Draws from the posterior, a row for each, in the chain's own scale."""

    score: Floats
    accuracy: Floats
    taste: Floats
    effects: Floats
    scales: Floats
    """Columns: those of scores, accuracies and tastes; the tastes' degrees of freedom; the share of
    backwards judges; those of what sets single judges apart in ties and sides, as far as there are
    such effects."""
    loss: Floats
    """``-log P`` of the votes."""


class Chain:
    """The chain: where it is, how long its steps are."""

    def __init__(
        self,
        opinions: Opinions,
        n_items: int,
        score: Floats,
        effects: Floats,
        accuracy: Floats,
        say: Floats,
        seed: int,
        backwards: tuple[float, float] = BACKWARDS,
        degrees: Floats = DEGREES,
    ) -> None:
        self.objective = opinions.objective
        self.juries = juries_of(opinions, n_items)
        self.n_items = n_items
        self.information = VoteInformation(opinions, n_items)
        self._own = _own_effects(self.objective)
        # The optimiser's last digits differ from CPU to CPU, and the draws would with them.
        score, effects, accuracy = (rounded(part) for part in (score, effects, accuracy))
        m, votes = self.objective.n_judges, votes_of(opinions)
        self.core = _core.Chain(
            votes=votes,
            opinions=_core.Opinions(opinions.item, opinions.judge, n_items, m),
            juries=_core.Juries(self.juries.item, self.juries.judge, self.juries.number),
            layout=_effect_layout(self.objective, self._own),
            fixed_accuracy=self.objective.fixed_accuracy,
            say=rounded(say / self.juries.most(say)),
            priors=_core.Priors(
                **PRIORS, backwards=backwards, degrees=degrees, effect_sd=EFFECT_SD
            ),
            score=score,
            effects=effects,
            accuracy=accuracy,
            scales=_core.Scales(
                score=float(np.std(score)) or 1.0,
                own=np.full(len(self._own), FIRST_OWN_SCALE),
                **FIRST_SCALES,
            ),
            seed=seed,
        )
        work = self.objective.votes.n_entries + 3 * opinions.tastes
        compiled = isinstance(votes, (_core.Pairs, _core.Rankings))
        self.at_once = max(1, WORK_AT_ONCE // max(1, work)) if compiled else 1
        """Rounds that take some 50 ms."""
        self.measure()

    @property
    def number(self) -> int:
        """Of the rounds until now."""
        return self.core.number

    def measure(self) -> None:
        """Choose the metric by what votes tell where the chain is."""
        dense = self.n_items <= MOST_DENSE
        told = self.information.at(self.core.opinion, self.core.accuracy, dense=dense)
        layout, free = self.objective.layout, self.objective.accuracies_free
        of_own = {"own_tie": told.tie, "own_order": told.order}
        common = [float(told.tie.sum())] * len(layout.model.sizes)
        common += [float(told.order.sum())] * layout.model.order
        tastes = told.opinion[: len(self.information.opinions.judge)]
        self.core.measure(
            np.concatenate(
                [tastes, *[told.accuracy] * free, *(of_own[name] for name in self._own)]
            ),
            np.array(common),
            told.score,
        )

    def rounds(self, count: int) -> None:
        """So many rounds of all moves, one after the other."""
        self.core.rounds(count)

    def draws(self, count: int) -> Draws:
        """So many rounds, and where the chain is after each."""
        return Draws(*self.core.draws(count))

    def stop_adapting(self) -> None:
        """Keep steps as long as they are: only then are states draws from the posterior."""
        self.core.stop_adapting()


def votes_of(opinions: Opinions) -> _core.Pairs | _core.Rankings | _core.VotesCallable:
    """What the chain asks for the likelihood: the core itself where it knows such votes."""
    objective = opinions.objective
    if not objective.noise.is_gumbel:
        return objective.votes_alone
    lists = objective.votes.core_lists
    if lists is None:
        return _pairs_of(opinions)
    model = objective.effects
    return _core.Rankings(
        lists=lists,
        pairs=_pairs_of(opinions) if objective.votes.pairs.number else None,
        n_effects=objective.layout.size - len(opinions),
        sizes=np.array(model.sizes, dtype=np.int64),
        as_one=model.as_one,
        effects=objective.layout.indices,
    )


def _pairs_of(opinions: Opinions) -> _core.Pairs:
    objective, pairs = opinions.objective, opinions.objective.votes.pairs
    return _core.Pairs(
        start=np.ascontiguousarray(pairs.start),
        winner=np.ascontiguousarray(pairs.winner),
        loser=np.ascontiguousarray(pairs.loser),
        weight=_contiguous(pairs.given_weight),
        tied=_contiguous(pairs.tied),
        side=_contiguous(pairs.side),
        n_opinions=len(opinions),
        n_effects=objective.layout.size - len(opinions),
        effects=objective.layout.indices,
    )


def _contiguous(column: NDArray[Value] | None) -> NDArray[Value] | None:
    return None if column is None else np.ascontiguousarray(column)


def _own_effects(objective: Objective) -> list[str]:
    """Which effects single judges have."""
    layout = objective.layout
    names = ("own_tie", "own_order")
    return [name for name in names if len(range(layout.size)[getattr(layout, name)])]


def _effect_layout(objective: Objective, own: list[str]) -> _core.EffectLayout:
    """What stands where among the effects of a state."""
    layout, size = objective.layout, objective.n_items
    index: Codes = np.arange(layout.size) - size
    common = np.concatenate((index[layout.tie], index[layout.order]))
    first = np.array([getattr(layout, name).start - size for name in own], dtype=np.int64)
    return _core.EffectLayout(layout.size - size, common, first, objective.n_judges)
