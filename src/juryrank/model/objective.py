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
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juryrank import _core
from juryrank.model.effects import NO_EFFECTS, EffectModel, Layout
from juryrank.model.list_integrals import ChainedLists, ReadyLists
from juryrank.model.noise import Noise
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.types import Floats, WithCore
from juryrank.votes.coded import CodedVotes, Found
from juryrank.votes.lists import choices
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


class _OfJudges(NamedTuple):
    """What a pass over the votes finds of single judges: values, and gradients."""

    value: Floats
    accuracy: Floats
    tie: Floats
    """A column for each size of groups that can be tied."""
    order: Floats


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
        value, gradient, _ = self._sum_over_judges(self.core_rule, state, accuracy)
        value += self.state_penalty(state, gradient) + self.accuracy_penalty(accuracy)
        return value, gradient

    def gradients(self, state: Floats, accuracy: Floats) -> Gradients:
        """``J(state, accuracy)`` and its partial gradients."""
        value, gradient, of_judges = self._sum_over_judges(self.core_held_rule, state, accuracy)
        value += self.state_penalty(state, gradient) + self.accuracy_penalty(accuracy)
        if self.accuracies_free:
            of_judges.accuracy[:] += self.prior.accuracy_precision * (accuracy - 1.0)
        return Gradients(value, gradient, of_judges.accuracy)

    def votes_alone(self, state: Floats, accuracy: Floats) -> JudgeGradients:
        """The likelihood's part of ``J(state, accuracy)``, judge by judge, and its gradients.

        It has the same bits on every CPU: in a sampler, a last bit makes another draw.
        """
        _, gradient, of_judges = self._sum_over_judges(
            self.core_held_rule, state, accuracy, portable=True
        )
        return JudgeGradients(of_judges.value, gradient, of_judges.accuracy)

    def gradients_by_judge(
        self, first: int, last: int, state: Floats, accuracy: Floats
    ) -> tuple[Floats, Floats]:
        """The partial gradients of single judges' votes: a row for each, and in its accuracy."""
        by_judge = self._judge_arrays()
        rows = np.zeros((last - first, self.layout.size))
        votes_pass = self._votes_pass(self.core_held_rule, state, accuracy, by_judge)
        for row, u in zip(rows, range(first, last), strict=True):
            votes_pass(u, u + 1, row[: self.n_items])
            tie, order = by_judge.tie[u : u + 1], by_judge.order[u : u + 1]
            self.layout.add_gradients(row, tie, order, first=u)
        return rows, by_judge.accuracy[first:last]

    def curvature(self, state: Floats, accuracy: Floats) -> Curvature:
        """Second derivatives in each unknown of the state and in each accuracy.

        Those of rankings under noise other than Gumbel are about right, and not exact.
        """
        accuracy_curvature = np.empty(self.n_judges)
        likeness = None if self.chained is None else self.chained.likeness
        at = self.core_at(state, accuracy, self.layout, likeness=likeness)

        def one_chunk(first: int, last: int) -> Floats:
            diagonal = np.zeros(self.layout.size)
            _core.add_curvature(at, self.core_rule, first, last, diagonal, accuracy_curvature)
            return diagonal

        diagonal = self.sum_over_chunks(one_chunk)
        return Curvature(diagonal + self.state_curvature(state), accuracy_curvature)

    def over_chunks(self, one_chunk: Callable[[int, int], Found]) -> Iterator[Found]:
        """What `one_chunk` finds for the judges from ... to, one chunk after the other."""
        return self.votes.over_chunks(one_chunk, self.threads)

    def sum_over_chunks(self, one_chunk: Callable[[int, int], Floats]) -> Floats:
        """The sum of what `one_chunk` finds for the judges from ... to, in a fixed order."""
        return _sum(self.over_chunks(one_chunk))

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

    def stiffness(self, accuracy: Floats) -> Floats:
        """About the second derivative in each unknown where all scores are equal.

        For pairs of equal items it is ``g''(0) sum w a_u^2`` over the votes of the item, for a
        choice from r items a share ``4 / r (1 - 1/r)`` of that; plus the prior.
        """
        pairs, lists, square = self.votes.core_pairs, self.votes.lists, accuracy**2

        def one_chunk(first: int, last: int) -> Floats:
            total = np.zeros(self.n_items)
            _core.add_to_both(pairs, first, last, square, total)
            return total

        votes = self.sum_over_chunks(one_chunk)
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

    def _judge_arrays(self) -> _OfJudges:
        """Room for what belongs to single judges."""
        m = self.n_judges
        order = np.zeros(m if self.effects.order else 0)
        return _OfJudges(np.empty(m), np.empty(m), np.zeros((m, len(self.effects.sizes))), order)

    def _sum_over_judges(
        self,
        rule: _core.AccuracyRule,
        state: Floats,
        accuracy: Floats,
        *,
        portable: bool = False,
    ) -> tuple[float, Floats, _OfJudges]:
        """The votes' part: value and gradients, summed over chunks in a fixed order."""
        by_judge = self._judge_arrays()
        votes_pass = self._votes_pass(rule, state, accuracy, by_judge, portable=portable)

        def one_chunk(first: int, last: int) -> tuple[float, Floats]:
            gradient = np.zeros(self.n_items)
            return votes_pass(first, last, gradient), gradient

        value, gradient = 0.0, np.zeros(self.layout.size)
        over_chunks = self.over_chunks if self.chained is None else self.chained.over_judges
        for part, part_gradient in over_chunks(one_chunk):
            value += part
            gradient[: self.n_items] += part_gradient
        if self.chained is not None:
            self.chained.check(gradient[: self.n_items], state[: self.n_items], accuracy)
        if not self.is_plain:
            self.layout.add_gradients(gradient, by_judge.tie, by_judge.order)
        return value, gradient, by_judge

    def _votes_pass(
        self,
        rule: _core.AccuracyRule,
        state: Floats,
        accuracy: Floats,
        by_judge: _OfJudges,
        *,
        portable: bool = False,
    ) -> Callable[[int, int, Floats], float]:
        """The compiled pass over the votes of the judges from ... to.

        It adds to the gradient in the scores, and gives the value.
        """
        lists, effects = self.core_known(state)
        likeness = None if self.chained is None else self.chained.likeness
        known: dict[str, Any] = {
            "noise": self.noise.core, "rule": rule, "pairs": self.votes.core_pairs,
            "effects": effects, "score": state[: self.n_items], "accuracy": accuracy,
            "judge_value": by_judge.value, "accuracy_gradient": by_judge.accuracy,
            "tie_gradient": by_judge.tie, "order_gradient": by_judge.order, "portable": portable,
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


def _sum(parts: Iterator[Floats]) -> Floats:
    """The sum of the parts, each forgotten as soon as it is added; the first is overwritten."""
    total = next(parts)
    for part in parts:
        total += part
    return total
