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
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _core, _kernels
from juryrank._kernels import AccuracyRule, Effects
from juryrank.model.effects import NO_EFFECTS, EffectModel, Layout
from juryrank.model.list_integrals import ChainedLists
from juryrank.model.noise import Noise
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.types import Floats, WithCore
from juryrank.votes.coded import CodedVotes, Found
from juryrank.votes.lists import Lists, choices
from juryrank.votes.weights import total_weight

LARGEST_ACCURACY = 20.0
"""Without a prior an accuracy is held within this bound (for scores with a spread of about 1)."""


class Slopes(NamedTuple):
    """The objective at one point, with its gradient."""

    value: float
    state: Floats
    accuracy: Floats


class JudgeSlopes(NamedTuple):
    """The likelihood's part of the objective at one point: by judge, and its gradients."""

    value: Floats
    state: Floats
    accuracy: Floats


class _OfJudges(NamedTuple):
    """What a pass over the votes finds of single judges: values, and slopes."""

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
    def rule(self) -> AccuracyRule:
        """What the compiled code must know of the accuracies."""
        bound = LARGEST_ACCURACY if np.isinf(self.prior.accuracy_sd) else 1e6
        return AccuracyRule(self.accuracies_free, 1.0, self.prior.accuracy_precision, float(bound))

    @cached_property
    def core_rule(self) -> _core.AccuracyRule:
        """The same as a value of the compiled code."""
        return _core.AccuracyRule(**self.rule._asdict())

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

    def known_to_kernels(self, state: Floats) -> tuple[Lists | None, Effects | None]:
        """The lists, and what else decides votes, for the compiled code; None for nothing."""
        if self.is_plain:
            return None, None
        return self.votes.lists if self.votes.has_lists else None, self.layout.effects(state)

    def core_known(self, state: Floats) -> tuple[_core.ListVotes | None, _core.Effects | None]:
        """The same as values of the compiled code."""
        if self.is_plain:
            return None, None
        return self.votes.core_lists, self.layout.core_effects(state)

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
        value, slope, _ = self._sum_over_judges(self.rule, state, accuracy)
        value += self.state_penalty(state, slope) + self.accuracy_penalty(accuracy)
        return value, slope

    def slopes(self, state: Floats, accuracy: Floats) -> Slopes:
        """``J(state, accuracy)`` and its partial gradients."""
        held = self.rule._replace(free=False)
        value, slope, of_judges = self._sum_over_judges(held, state, accuracy)
        value += self.state_penalty(state, slope) + self.accuracy_penalty(accuracy)
        if self.accuracies_free:
            of_judges.accuracy[:] += self.prior.accuracy_precision * (accuracy - 1.0)
        return Slopes(value, slope, of_judges.accuracy)

    def votes_alone(self, state: Floats, accuracy: Floats) -> JudgeSlopes:
        """The likelihood's part of ``J(state, accuracy)``, judge by judge, and its gradients.

        That of pairs has the same bits on every CPU: in a sampler, a last bit makes another draw.
        """
        held = self.rule._replace(free=False)
        _, slope, of_judges = self._sum_over_judges(held, state, accuracy, portable=True)
        return JudgeSlopes(of_judges.value, slope, of_judges.accuracy)

    def slopes_by_judge(
        self, first: int, last: int, state: Floats, accuracy: Floats
    ) -> tuple[Floats, Floats]:
        """The partial gradients of single judges' votes: a row for each, and in its accuracy."""
        rule = self.rule._replace(free=False)
        by_judge = self._judge_arrays()
        rows = np.zeros((last - first, self.layout.size))
        lists, effects = self.known_to_kernels(state)
        score = state[: self.n_items]
        if self.chained is not None:
            lists = None
            self._add_chained(rows, first, last, score, accuracy)
        votes_pass = self._votes_pass(rule, lists, effects, state)
        for row, u in zip(rows, range(first, last), strict=True):
            votes_pass(u, u + 1, score, accuracy, row[: self.n_items], *by_judge)
            tie, order = by_judge.tie[u : u + 1], by_judge.order[u : u + 1]
            self.layout.add_slopes(row, tie, order, first=u)
        own = by_judge.accuracy
        if self.chained is not None:
            own += self.chained.by_judge(self.chained.slope * score[self.votes.lists.item])
        return rows, own[first:last]

    def _add_chained(
        self, rows: Floats, first: int, last: int, score: Floats, accuracy: Floats
    ) -> None:
        """Add the slopes of chained lists in the scores, a row for each judge."""
        chained, lists = self.chained, self.votes.lists
        if chained is None:
            return
        own_lists = np.arange(lists.start[first], lists.start[last])
        chained.work_out(chained.places(score, accuracy), own_lists)
        entry = slice(lists.begin[lists.start[first]], lists.begin[lists.start[last]])
        judge = chained.entry_judge[entry]
        weight = lists.weight[chained.entry_list[entry]]
        pull = weight * accuracy[judge] * chained.slope[entry]
        np.add.at(rows, (judge - first, lists.item[entry]), pull)

    def curvature(self, state: Floats, accuracy: Floats) -> Curvature:
        """Second derivatives in each unknown of the state and in each accuracy.

        Those of rankings under noise other than Gumbel are about right, and not exact.
        """
        accuracy_bend, score = np.empty(self.n_judges), state[: self.n_items]
        likeness = None if self.chained is None else self.chained.likeness
        pairs, known = self.votes.for_kernels, self.known_to_kernels(state)

        def one_chunk(first: int, last: int) -> Floats:
            work = np.zeros((self.layout.size + 1, 2))
            _kernels.curvature_pass(
                self.noise.code, self.rule, pairs, *known, self.layout.places, likeness,
                first, last, score, accuracy, work, accuracy_bend,
            )  # fmt: skip
            return work[:-1, 0].copy()

        diagonal = self.sum_over_chunks(one_chunk)
        return Curvature(diagonal + self.state_bend(state), accuracy_bend)

    def over_chunks(self, one_chunk: Callable[[int, int], Found]) -> Iterator[Found]:
        """What `one_chunk` finds for the judges from ... to, one chunk after the other."""
        return self.votes.over_chunks(one_chunk, self.threads)

    def sum_over_chunks(self, one_chunk: Callable[[int, int], Floats]) -> Floats:
        """The sum of what `one_chunk` finds for the judges from ... to, in a fixed order."""
        return _sum(self.over_chunks(one_chunk))

    def scale_bend(self, state: Floats, accuracy: Floats, accuracy_bend: Floats) -> float:
        """The second derivative of the profile in ``c`` where all scores are multiplied by it.

        The likelihood only knows ``b = c a``; with a judge's ``C`` (`accuracy_bend`) and the
        precision ``p`` of the prior, its ``min_b L(b) + p/2 (b/c - 1)^2`` is bent by
        ``p a (3a - 2) - (p (2a - 1))^2 / C`` at ``c = 1``, and the scores' prior by itself.
        """
        p, score = self.prior.accuracy_precision, state[: self.n_items]
        share = np.divide(p, accuracy_bend, out=np.ones(len(accuracy)), where=accuracy_bend > p)
        judges = accuracy * (3.0 * accuracy - 2.0) - share * (2.0 * accuracy - 1.0) ** 2
        bend = self.state_bend(state)[: self.n_items]
        return p * float(judges.sum()) + float(bend @ (score * score))

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
        bend = float(self.noise.terms(0.0)[2])
        found = np.empty(self.layout.size)
        found[: self.n_items] = bend * votes + 2.0 * self.lambda0 * bend
        by_judge = bend * self.choices_per_judge
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

    def _votes_pass(
        self,
        rule: AccuracyRule,
        lists: Lists | None,
        effects: Effects | None,
        state: Floats,
        *,
        portable: bool = False,
    ) -> Callable[..., float]:
        """The compiled pass over the votes of the judges from ... to."""
        if lists is not None:
            known = self.votes.for_kernels, lists, effects
            return partial(_kernels.votes_pass, self.noise.code, rule, *known)
        core_rule = _core.AccuracyRule(**rule._asdict())
        core_effects = None if effects is None else self.layout.core_effects(state)
        return partial(
            _core.pairs_pass, self.noise.core, core_rule, self.votes.core_pairs, core_effects,
            portable=portable,
        )  # fmt: skip

    def _sum_over_judges(
        self, rule: AccuracyRule, state: Floats, accuracy: Floats, *, portable: bool = False
    ) -> tuple[float, Floats, _OfJudges]:
        """The votes' part: value and gradients, summed over chunks in a fixed order."""
        by_judge = self._judge_arrays()
        (lists, effects), score = self.known_to_kernels(state), state[: self.n_items]
        if self.chained is not None:
            self._work_out_chained(rule, effects, score, accuracy)
            lists, rule = None, rule._replace(free=False)
        votes_pass = self._votes_pass(rule, lists, effects, state, portable=portable)

        def one_chunk(first: int, last: int) -> tuple[float, Floats]:
            slope = np.zeros(self.n_items)
            value = votes_pass(first, last, score, accuracy, slope, *by_judge)
            return float(value), slope

        value, slope = 0.0, np.zeros(self.layout.size)
        for part, part_slope in self.over_chunks(one_chunk):
            value += part
            slope[: self.n_items] += part_slope
        if self.chained is not None:
            by_judge.accuracy[:] += self.chained.by_judge(
                self.chained.slope * score[self.votes.lists.item]
            )
            by_judge.value[:] += self.chained.values_by_judge()
            value += self.chained.total()
            slope[: self.n_items] += self.chained.score_slope(accuracy, self.n_items)
        if not self.is_plain:
            self.layout.add_slopes(slope, by_judge.tie, by_judge.order)
        return value, slope, by_judge

    def _work_out_chained(
        self, rule: AccuracyRule, effects: Effects | None, score: Floats, accuracy: Floats
    ) -> None:
        """Find the accuracies, where they are free, and what chained lists say there."""
        chained = self.chained
        if chained is None:
            return
        if not rule.free:
            chained.work_out(chained.places(score, accuracy))
            return

        def pairs(judges: NDArray[np.int64]) -> tuple[Floats, Floats]:
            slope, bend = np.zeros(self.n_judges), np.zeros(self.n_judges)
            wins = self.votes.for_kernels
            _kernels.pair_derivatives(
                self.noise.code, wins, effects, judges, score, accuracy, slope, bend
            )
            return slope, bend

        chained.find_accuracies(rule, score, accuracy, pairs)

    def list_losses(self, state: Floats, accuracy: Floats, taste: Floats) -> Floats:
        """``-log P`` of every list, if judges have a taste (in log-odds) for items."""
        score, chained = state[: self.n_items], self.chained
        if not self.votes.has_lists:
            return np.empty(0)
        if chained is not None:
            chained.work_out(chained.places(score, accuracy) + taste[self.votes.lists.item])
            return chained.value.copy()
        loss = np.empty(self.votes.lists.number)
        effects = self.layout.effects(state)
        _kernels.list_losses(self.votes.lists, effects, score, accuracy, taste, loss)
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

    def state_penalty(self, state: Floats, slope: Floats) -> float:
        """Prior and virtual node of the state: the value; the gradient is added to the slope."""
        pull = self.prior_precision * state
        value = 0.5 * float(state @ pull)
        slope += pull
        if self.lambda0:
            score = state[: self.n_items]
            terms, slopes, _ = self.noise.terms(np.stack((score, -score)))
            value += self.lambda0 * float(terms.sum())
            slope[: self.n_items] += self.lambda0 * (slopes[0] - slopes[1])
        if self.volume:
            value += self._volume_penalty(state[: self.n_items], slope[: self.n_items])
        return value

    def _volume_penalty(self, score: Floats, slope: Floats) -> float:
        """``-volume log |s - mean s|``; the gradient is added to the slope."""
        centred = score - score.mean()
        square = float(centred @ centred)
        if square == 0.0:
            return 0.0
        slope -= self.volume * centred / square
        return -0.5 * self.volume * float(np.log(square))

    def state_bend(self, state: Floats) -> Floats:
        """Second derivatives of prior and virtual node in each unknown of the state."""
        bend = self.prior_precision.copy()
        if self.lambda0:
            score = state[: self.n_items]
            both = self.noise.terms(np.stack((score, -score)))[2].sum(axis=0)
            bend[: self.n_items] += self.lambda0 * both
        return bend

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
