"""The objective: votes x noise x prior. Value, gradient and curvature, as sums over judges.

The objective is the negative log posterior, summed over votes (never averaged):

    J(s, a) = sum_u sum_{k of u} w_k g(a_u (s_winner - s_loser))           pairs
            - sum_u sum_{l of u} w_l log P(list l | a_u s)                 longer lists
            + lambda0 sum_i [g(s_i) + g(-s_i)]                             the paper's virtual node
            + sum_i s_i^2 / (2 score_sd^2)                                 prior on the scores
            + sum_u (a_u - 1)^2 / (2 accuracy_sd^2)                        prior on the accuracies
            - volume log |s - mean s|                                      the scale's own volume

with ``g = -log F`` of the noise, ``s`` the scores and ``a`` the accuracies. Where ties are an
outcome or the left side has an advantage, these are unknowns too: the state is the scores and,
after them, these effects (see `juryrank.model.effects`), with a wide normal prior on those of all
judges and one of their own spread on what sets single judges apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple

import numpy as np

from juryrank import _core
from juryrank.model.effects import NO_EFFECTS, EffectModel, Layout
from juryrank.model.list_integrals import ChainedLists, ReadyLists
from juryrank.model.noise import Noise
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.types import Floats, WithCore
from juryrank.votes.coded import CodedVotes, no_pairs
from juryrank.votes.lists import choices, no_lists
from juryrank.votes.passes import NOTHING_OWN, Found, Own, Pass, sum_of
from juryrank.votes.weights import total_weight

LARGEST_ACCURACY = 20.0
"""Without a prior an accuracy is held within this bound (for scores with a spread of about 1)."""


class Gradients(NamedTuple):
    """The objective at one point, with its gradient."""

    value: float
    state: Floats
    accuracy: Floats


class JudgeGradients(NamedTuple):
    """The likelihood's part of the objective at one point: by judge, and its gradients."""

    value: Floats
    state: Floats
    accuracy: Floats


class Curvature(NamedTuple):
    """Second derivatives at one point, the free accuracies profiled out of those of the state.

    With the blocks ``A``, ``B``, ``C``: `state` is the diagonal of ``A - B C^-1 B'``, `accuracy` is
    ``C``.
    """

    state: Floats
    accuracy: Floats


@dataclass(frozen=True, eq=False)
class Objective(WithCore):
    """Votes, noise and prior together; see the module for the formula."""

    votes: CodedVotes
    noise: Noise
    prior: Prior = NO_PRIOR
    lambda0: float = 0.0
    fixed_accuracy: Floats | None = None
    """Accuracies that are known; None if they are to be estimated."""
    threads: int = 1
    effects: EffectModel = NO_EFFECTS
    volume: float = 0.0
    """What is taken off for every unit of ``log |s|``: see `volume_of`."""

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.votes.n_items

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return self.votes.n_judges

    @cached_property
    def layout(self) -> Layout:
        """What stands where in a state."""
        return Layout(self.effects, self.n_items, self.n_judges)

    @property
    def accuracies_free(self) -> bool:
        """Whether accuracies are estimated."""
        return self.fixed_accuracy is None

    @property
    def has_scale(self) -> bool:
        """Whether something else than the likelihood decides between ``(c s, a / c)``."""
        return not self.accuracies_free or np.isfinite(self.prior.accuracy_sd)

    @cached_property
    def core_rule(self) -> _core.AccuracyRule:
        """What is known of the accuracies before the votes."""
        return self._rule(free=self.accuracies_free)

    @cached_property
    def core_held_rule(self) -> _core.AccuracyRule:
        """The same where accuracies are to stay as they are."""
        return self._rule(free=False)

    def _rule(self, *, free: bool) -> _core.AccuracyRule:
        bound = LARGEST_ACCURACY if np.isinf(self.prior.accuracy_sd) else 1e6
        precision = self.prior.accuracy_precision
        return _core.AccuracyRule(free=free, mean=1.0, precision=precision, bound=float(bound))

    @cached_property
    def choices_per_judge(self) -> Floats:
        """Total weight of each judge's choices: one for a pair, for a list one for each group."""
        return self.votes.choices_per_judge

    @cached_property
    def chained(self) -> ChainedLists | None:
        """The lists, where their probabilities are chains of integrals."""
        if self.noise.is_gumbel or not self.votes.has_lists:
            return None
        return ChainedLists(self.noise, self.votes.lists, self.threads)

    @cached_property
    def is_plain(self) -> bool:
        """Whether there is nothing but pairs that scores and accuracies decide."""
        return not self.votes.has_lists and self.effects == NO_EFFECTS

    def core_known(self, state: Floats) -> tuple[_core.ListVotes | None, _core.Effects | None]:
        """The lists, and what else decides votes, for the compiled code; None for nothing."""
        if self.is_plain:
            return None, None
        return self.votes.core_lists, self.layout.core_effects(state)

    def core_at(
        self,
        state: Floats,
        accuracy: Floats,
        layout: Layout,
        *,
        likeness: Floats | None = None,
        ready: ReadyLists | None = None,
    ) -> _core.LikelihoodAt:
        """All votes at one point, for the compiled code; `layout` is that of what is unknown."""
        lists, effects = self.core_known(state)
        return _core.LikelihoodAt(
            noise=self.noise.core, pairs=self.votes.core_pairs, lists=lists, effects=effects,
            indices=layout.indices, size=layout.size, score=state[: self.n_items],
            accuracy=accuracy, likeness=likeness, ready=ready,
        )  # fmt: skip

    def start_state(self) -> Floats:
        """The state to start from: all scores equal, no effects."""
        return np.zeros(self.layout.size)

    def start_accuracy(self) -> Floats:
        """The accuracies to start from: the known ones, or 1 for everybody."""
        if self.fixed_accuracy is None:
            return np.ones(self.n_judges)
        return self.fixed_accuracy.copy()

    def profile(self, state: Floats, accuracy: Floats) -> tuple[float, Floats]:
        """``min_a J(state, a)`` and its gradient in the state.

        `accuracy` is the guess the search starts from and becomes the minimiser. By the envelope
        theorem the gradient of the minimum is the partial gradient at the minimiser.
        """
        value, gradient, _ = self._sum_over_judges(state, accuracy, held=False)
        value += self.state_penalty(state, gradient) + self.accuracy_penalty(accuracy)
        return value, gradient

    def gradients(self, state: Floats, accuracy: Floats) -> Gradients:
        """``J(state, accuracy)`` and its partial gradients."""
        value, gradient, own = self._sum_over_judges(
            state, accuracy, held=True, wanted=("accuracy_gradient",)
        )
        value += self.state_penalty(state, gradient) + self.accuracy_penalty(accuracy)
        if self.accuracies_free:
            own["accuracy_gradient"][:] += self.prior.accuracy_precision * (accuracy - 1.0)
        return Gradients(value, gradient, own["accuracy_gradient"])

    def votes_alone(self, state: Floats, accuracy: Floats) -> JudgeGradients:
        """The likelihood's part of ``J(state, accuracy)``, judge by judge, and its gradients.

        It has the same bits on every CPU: in a sampler, a last bit makes another draw.
        """
        _, gradient, own = self._sum_over_judges(
            state, accuracy, held=True, portable=True, wanted=("value", "accuracy_gradient")
        )
        return JudgeGradients(own["value"], gradient, own["accuracy_gradient"])

    def gradients_by_judge(
        self, first: int, last: int, state: Floats, accuracy: Floats
    ) -> tuple[Floats, Floats]:
        """The partial gradients of single judges' votes: a row for each, and in its accuracy."""
        own = self._own_arrays(accuracy)
        rows = np.zeros((last - first, self.layout.size))
        add_votes = self._votes_pass(state, own, held=True)
        for row, u in zip(rows, range(first, last), strict=True):
            add_votes(u, u + 1, row[: self.n_items])
            tie, order = own["tie"][u : u + 1], own["order"][u : u + 1]
            self.layout.add_gradients(row, tie, order, first=u)
        return rows, own["accuracy_gradient"][first:last]

    def curvature(self, state: Floats, accuracy: Floats) -> Curvature:
        """Second derivatives in each unknown of the state and in each accuracy.

        Those of rankings under noise other than Gumbel are about right, and not exact.
        """
        own = {"accuracy": accuracy, "curvature": np.empty(self.n_judges)}
        diagonal = self.sum_over_chunks(_CurvaturePass(state), own)
        return Curvature(diagonal + self.state_curvature(state), own["curvature"])

    def over_chunks(
        self, one_chunk: ObjectivePass[Found], own: Own = NOTHING_OWN
    ) -> Iterator[Found]:
        """What a pass finds of all judges, one chunk of them after the other."""
        return self.votes.over_chunks(*self._on_votes(one_chunk, own), self.threads)

    def over_shards(
        self, one_shard: ObjectivePass[Found], own: Own = NOTHING_OWN
    ) -> Iterator[Found]:
        """What a pass finds of the judges of each place where votes are."""
        return self.votes.over_shards(*self._on_votes(one_shard, own))

    def sum_over_chunks(self, one_chunk: ObjectivePass[Floats], own: Own = NOTHING_OWN) -> Floats:
        """The sum of what a pass finds of all judges, in a fixed order."""
        return self.votes.sum_over_chunks(*self._on_votes(one_chunk, own), self.threads)

    def sum_over_shards(self, one_shard: ObjectivePass[Floats], own: Own = NOTHING_OWN) -> Floats:
        """The sum of what a pass finds in each place where votes are, in a fixed order."""
        return self.votes.sum_over_shards(*self._on_votes(one_shard, own))

    def _on_votes(self, one: ObjectivePass[Found], own: Own) -> tuple[OnVotes[Found], Own]:
        """The pass as one of the votes, which makes this objective again where they are."""
        fixed = {} if self.fixed_accuracy is None else {FIXED: self.fixed_accuracy}
        return OnVotes(self, one), own | fixed

    def of_votes(self, votes: CodedVotes, fixed_accuracy: Floats | None) -> Objective:
        """The same of the votes of some judges."""
        return replace(self, votes=votes, fixed_accuracy=fixed_accuracy, threads=1)

    def scale_curvature(self, state: Floats, accuracy: Floats, accuracy_curvature: Floats) -> float:
        """The second derivative of the profile in ``c`` where all scores are multiplied by it.

        The likelihood only knows ``b = c a``; with a judge's ``C`` (`accuracy_curvature`) and the
        precision ``p`` of the prior, its ``min_b L(b) + p/2 (b/c - 1)^2`` has the curvature
        ``p a (3a - 2) - (p (2a - 1))^2 / C`` at ``c = 1``, and the scores' prior by itself.
        """
        p, score = self.prior.accuracy_precision, state[: self.n_items]
        share = np.divide(
            p, accuracy_curvature, out=np.ones(len(accuracy)), where=accuracy_curvature > p
        )
        judges = accuracy * (3.0 * accuracy - 2.0) - share * (2.0 * accuracy - 1.0) ** 2
        curvature = self.state_curvature(state)[: self.n_items]
        return p * float(judges.sum()) + float(curvature @ (score * score))

    @cached_property
    def start_stiffness(self) -> Floats:
        """That for the accuracies to begin with."""
        return self.stiffness(self.start_accuracy())

    def stiffness(self, accuracy: Floats) -> Floats:
        """About the second derivative in each unknown where all scores are equal.

        For pairs of equal items it is ``g''(0) sum w a_u^2`` over the votes of the item, for a
        choice from r items a share ``4 / r (1 - 1/r)`` of that; plus the prior.
        """
        lists = self.votes.lists
        votes = self.sum_over_chunks(_StiffnessPass(), {"square": accuracy**2})
        size = np.maximum(lists.length, 2)
        share = choices(lists) * 4.0 / size * (1.0 - 1.0 / size)
        of_list = lists.weight * accuracy[lists.judge] ** 2 * share
        votes += total_weight(lists.item, of_list[lists.entry_list], self.n_items)
        curvature = float(self.noise.terms(0.0)[2])
        found = np.empty(self.layout.size)
        found[: self.n_items] = curvature * votes + 2.0 * self.lambda0 * curvature
        by_judge = curvature * self.choices_per_judge
        found[self.n_items :] = by_judge.sum()
        for own in (self.layout.own_tie, self.layout.own_order):
            if own.stop > own.start:
                found[own] = by_judge
        return found + self.prior_precision

    def _own_arrays(self, accuracy: Floats) -> Own:
        """The accuracies, and room for what a pass over the votes finds of single judges."""
        m = self.n_judges
        return {
            "accuracy": accuracy, "value": np.empty(m), "accuracy_gradient": np.empty(m),
            "tie": np.zeros((m, len(self.effects.sizes))),
            "order": np.zeros(m if self.effects.order else 0),
        }  # fmt: skip

    def _sum_over_judges(
        self,
        state: Floats,
        accuracy: Floats,
        *,
        held: bool,
        portable: bool = False,
        wanted: tuple[str, ...] = (),
    ) -> tuple[float, Floats, Own]:
        """The votes' part: value and gradients, summed over chunks in a fixed order.

        `wanted` names what of single judges is looked at, beside what the sums need.
        """
        own = self._own_arrays(accuracy)
        if self.chained is None:
            found = self.sum_over_chunks(_VotesPass(state, held, portable, wanted), own)
        else:
            one_chunk = self._votes_pass(state, own, held=held, portable=portable)
            one = partial(_gradient_and_value, self.n_items, one_chunk)
            found = sum_of(self.chained.over_judges(one))
        value, gradient = float(found[-1]), np.zeros(self.layout.size)
        gradient[: self.n_items] = found[:-1]
        if self.chained is not None:
            self.chained.check(gradient[: self.n_items], state[: self.n_items], accuracy)
        if not self.is_plain:
            self.layout.add_gradients(gradient, own["tie"], own["order"])
        return value, gradient, own

    def _votes_pass(
        self, state: Floats, own: Own, *, held: bool, portable: bool = False
    ) -> Callable[[int, int, Floats], float]:
        """The compiled pass over the votes of the judges from ... to.

        It adds to the gradient in the scores, and gives the value.
        """
        lists, effects = self.core_known(state)
        likeness = None if self.chained is None else self.chained.likeness
        known: dict[str, Any] = {
            "noise": self.noise.core, "rule": self.core_held_rule if held else self.core_rule,
            "pairs": self.votes.core_pairs, "effects": effects, "score": state[: self.n_items],
            "accuracy": own["accuracy"], "judge_value": own["value"],
            "accuracy_gradient": own["accuracy_gradient"], "tie_gradient": own["tie"],
            "order_gradient": own["order"], "portable": portable,
        }  # fmt: skip

        def one_pass(first: int, last: int, score_gradient: Floats) -> float:
            here: dict[str, Any] = {
                "first": first, "last": last, "score_gradient": score_gradient,
            }  # fmt: skip
            if lists is None:
                return _core.pairs_pass(**known, **here)
            return _core.lists_pass(**known, **here, lists=lists, likeness=likeness)

        return one_pass

    def list_losses(self, state: Floats, accuracy: Floats, taste: Floats) -> Floats:
        """``-log P`` of every list, if judges have a taste (in log-odds) for items."""
        score, chained, lists = state[: self.n_items], self.chained, self.votes.core_lists
        if lists is None:
            return np.empty(0)
        if chained is not None:
            chained.work_out(chained.locations(score, accuracy) + taste[self.votes.lists.item])
            return chained.value.copy()
        loss = np.empty(self.votes.lists.number)
        _core.list_losses(
            lists, self.layout.core_effects(state),
            score=score, accuracy=accuracy, taste=taste, loss=loss,
        )  # fmt: skip
        return loss

    @cached_property
    def prior_precision(self) -> Floats:
        """Of every unknown of the state."""
        prior, layout = self.prior, self.layout
        precision = np.full(layout.size, 1.0 / prior.effect_sd**2)
        precision[: self.n_items] = prior.score_precision
        precision[layout.own_tie] = 1.0 / prior.tie_sd**2
        precision[layout.own_order] = 1.0 / prior.order_sd**2
        return precision

    def state_penalty(self, state: Floats, gradient: Floats) -> float:
        """Prior and virtual node of the state: the value; its gradient is added to `gradient`."""
        pull = self.prior_precision * state
        value = 0.5 * float(state @ pull)
        gradient += pull
        if self.lambda0:
            score = state[: self.n_items]
            terms, gradients, _ = self.noise.terms(np.stack((score, -score)))
            value += self.lambda0 * float(terms.sum())
            gradient[: self.n_items] += self.lambda0 * (gradients[0] - gradients[1])
        if self.volume:
            value += self._volume_penalty(state[: self.n_items], gradient[: self.n_items])
        return value

    def _volume_penalty(self, score: Floats, gradient: Floats) -> float:
        """``-volume log |s - mean s|``; its gradient is added to `gradient`."""
        centred = score - score.mean()
        square = float(centred @ centred)
        if square == 0.0:
            return 0.0
        gradient -= self.volume * centred / square
        return -0.5 * self.volume * float(np.log(square))

    def state_curvature(self, state: Floats) -> Floats:
        """Second derivatives of prior and virtual node in each unknown of the state."""
        curvature = self.prior_precision.copy()
        if self.lambda0:
            score = state[: self.n_items]
            both = self.noise.terms(np.stack((score, -score)))[2].sum(axis=0)
            curvature[: self.n_items] += self.lambda0 * both
        return curvature

    def accuracy_penalty(self, accuracy: Floats) -> float:
        """Prior of the accuracies, where they are free."""
        if not self.accuracies_free:
            return 0.0
        distance = accuracy - 1.0
        return 0.5 * self.prior.accuracy_precision * float(distance @ distance)


# --- passes over the votes -----------------------------------------------------------------------

FIXED = "fixed accuracy"
"""What known accuracies are called among the arrays with a row for each judge."""


@dataclass(frozen=True, eq=False)
class ObjectivePass(Pass["Objective", Found]):
    """What is to be found out at an objective, judge by judge."""

    def for_layout(self, _layout: Layout, _judges: slice) -> ObjectivePass[Found]:
        """The same for the objective of these judges alone, whose state is shorter."""
        return self

    def in_layout(self, found: Found, _layout: Layout, _judges: slice) -> Found:
        """What was found of these judges alone, as part of all."""
        return found


@dataclass(frozen=True, eq=False)
class OnVotes(Pass[CodedVotes, Found], Generic[Found]):
    """A pass of an objective, as one of its votes."""

    objective: Objective
    one: ObjectivePass[Found]

    @property
    def reads(self) -> tuple[str, ...]:
        """Those of the pass, and known accuracies."""
        return (*self.one.reads, *(() if self.objective.accuracies_free else (FIXED,)))

    @property
    def writes(self) -> tuple[str, ...]:
        """Those of the pass."""
        return self.one.writes

    def numbers(self, n_items: int) -> int:
        """As many as in the pass."""
        return self.one.numbers(n_items)

    def __call__(self, here: CodedVotes, first: int, last: int, own: Own) -> Found:
        """Make the objective for these votes, if it is not there."""
        objective = self.objective
        if here is not objective.votes:
            objective = objective.of_votes(here, own.get(FIXED))
        return self.one(objective, first, last, own)

    def for_judges(self, judges: slice) -> OnVotes[Found]:
        """The same, unless states have something of single judges in them."""
        one = self.one.for_layout(self.objective.layout, judges)
        return self if one is self.one else replace(self, one=one)

    def in_whole(self, found: Found, judges: slice) -> Found:
        """By the layout of all judges."""
        return self.one.in_layout(found, self.objective.layout, judges)

    def __getstate__(self) -> dict[str, object]:
        """The objective goes without votes: these are where it is sent to."""
        nobody = CodedVotes(self.objective.n_items, no_pairs(0), no_lists(0))
        fixed = None if self.objective.accuracies_free else np.empty(0)
        return vars(self) | {"objective": self.objective.of_votes(nobody, fixed)}


@dataclass(frozen=True, eq=False)
class AtState(ObjectivePass[Found]):
    """A pass at one state."""

    state: Floats

    def for_layout(self, layout: Layout, judges: slice) -> AtState[Found]:
        """With the part of the state that is about these judges."""
        if not layout.model.by_judge:
            return self
        return replace(self, state=layout.for_judges(self.state, judges))


@dataclass(frozen=True, eq=False)
class _VotesPass(AtState[Floats]):
    """The gradient in the scores and, after it, the value."""

    held: bool
    portable: bool
    wanted: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies, from which the search for better ones starts."""
        return ("accuracy",)

    @property
    def writes(self) -> tuple[str, ...]:
        """The accuracies, if they are sought, and the gradients in effects."""
        return (*(() if self.held else ("accuracy",)), "tie", "order", *self.wanted)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        one_chunk = here._votes_pass(self.state, own, held=self.held, portable=self.portable)
        return _gradient_and_value(here.n_items, one_chunk, first, last)


def _gradient_and_value(
    n_items: int, one_chunk: Callable[[int, int, Floats], float], first: int, last: int
) -> Floats:
    found = np.zeros(n_items + 1)
    found[-1] = one_chunk(first, last, found[:-1])
    return found


@dataclass(frozen=True, eq=False)
class _CurvaturePass(AtState[Floats]):
    """The diagonal of the curvature in the state; that in the accuracies is written."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies."""
        return ("accuracy",)

    @property
    def writes(self) -> tuple[str, ...]:
        """The curvature in the accuracies."""
        return ("curvature",)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        likeness = None if here.chained is None else here.chained.likeness
        at = here.core_at(self.state, own["accuracy"], here.layout, likeness=likeness)
        diagonal = np.zeros(here.layout.size)
        _core.add_curvature(at, here.core_rule, first, last, diagonal, own["curvature"])
        return diagonal

    def in_layout(self, found: Floats, layout: Layout, judges: slice) -> Floats:
        """Zeros for what is about other judges."""
        return layout.from_judges(found, judges)


@dataclass(frozen=True, eq=False)
class _StiffnessPass(ObjectivePass[Floats]):
    """The squared accuracies of votes, summed by item."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The squares."""
        return ("square",)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        total = np.zeros(here.n_items)
        _core.add_to_both(here.votes.core_pairs, first, last, own["square"], total)
        return total
