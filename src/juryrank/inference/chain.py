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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import betaln, gammaln

from juryrank.arrays import Floats
from juryrank.inference import accuracies
from juryrank.inference.hamiltonian import Trajectory, adapted, chances, jittered, leapfrog
from juryrank.inference.opinions import Codes, Opinions, VoteInformation, juries_of
from juryrank.objective import EFFECT_SD, JudgeSlopes
from juryrank.votes import total_weight

PRIORS = {"score": (1.0, 0.5), "accuracy": (3.0, 8.0), "taste": (1.0, 2.0), "own": (1.0, 2.0)}
"""Shapes and rates of the gamma priors of the scales. Scores and tastes may have none; judges
differ in accuracy. No tail is heavier than exponential: votes that all agree put no limit on the
scores, and a spread of accuracies without limit would admit juries of which all but one have
``g = -1/2``, the end of the shifted log-normal, at no cost."""
BACKWARDS = (1.0, 9.0)
"""The share of backwards judges is ``Beta(1, 9)``."""
DEGREES = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 50.0])
"""Degrees of freedom that tastes may have, all as likely."""
FIRST_SCALES = 0.5, 0.3
"""Of accuracies and tastes, to begin with."""
STEPS = 3
"""Of a move of judges or scores,"""
STEPS_TOGETHER = 8
TOGETHER_EVERY = 2
"""and of everything, after so many rounds."""
SCALE_MASS = 4.0
"""The metric of the logarithms of scales, which are known to about a factor of e^(1/2)."""
WANTED_OF_GAUGE = 0.4
FARTHEST = 500.0
"""Accuracy times opinion, in log-odds, beyond which no votes lead."""
MOST_DENSE = 500
"""With more items the metric of the scores is diagonal."""
CAMPS_EVERY = 4
"""Rounds after which a score may jump between camps, once the chain has found its place."""
TURN_EVERY = 5
"""Rounds after which single judges may be turned round."""


class Scales(NamedTuple):
    """The scales of the prior, and what goes with them."""

    score: float
    accuracy: float
    taste: float
    own: Floats
    """Of what sets single judges apart in ties and sides, as far as there are such effects."""
    degrees: float
    backwards: float


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw from the posterior, in the chain's own scale."""

    score: Floats
    accuracy: Floats
    taste: Floats
    effects: Floats
    scales: Scales

    def without_tastes(self) -> Draw:
        """The same, but for the tastes."""
        return replace(self, taste=np.empty(0))


class Metric(NamedTuple):
    """The metric of scores and common effects."""

    root: Floats
    """A Cholesky factor for the scores, or the roots of a diagonal."""
    effects: Floats

    def momentum(self, normal: Floats) -> Floats:
        """A momentum from standard normal numbers."""
        n = len(self.root)
        p = np.empty(len(normal))
        p[:n] = self.root @ normal[:n] if self.root.ndim == 2 else self.root * normal[:n]
        p[n:] = np.sqrt(self.effects) * normal[n:]
        return p

    def velocity(self, p: Floats) -> Floats:
        """The velocity of a momentum."""
        n = len(self.root)
        v = np.empty(len(p))
        if self.root.ndim == 2:
            v[:n] = lapack.dpotrs(self.root, p[:n], lower=1)[0]
        else:
            v[:n] = p[:n] / self.root**2
        v[n:] = p[n:] / self.effects
        return v


class Chain:
    """The chain: where it is, how long its steps are.

    Two vectors hold the unknowns but for the scales: `own` those of judges (tastes, then theta if
    accuracies are free, then own effects), `common` the scores and the effects of all judges.
    """

    def __init__(
        self,
        opinions: Opinions,
        n_items: int,
        score: Floats,
        effects: Floats,
        accuracy: Floats,
        say: Floats,
        rng: np.random.Generator,
    ) -> None:
        self.opinions = opinions
        self.juries = juries_of(opinions, n_items)
        self.say = say / self.juries.most(say)
        self.objective = opinions.objective
        self.rng = rng
        self.n, self.m, self.cells = n_items, self.objective.n_judges, opinions.tastes
        self.free = self.objective.accuracies_free
        self._lay_out()
        self.side = np.where(accuracy < 0.0, -1.0, 1.0)
        theta = accuracies.theta_of(np.abs(accuracy))
        self.own = np.concatenate(
            [np.zeros(self.cells), *[theta] * self.free, *(effects[at] for at in self.own_effects)]
        )
        self.common = np.concatenate((score - score.mean(), effects[self.common_effects]))
        self.mixing = np.ones(self.cells)
        """``lambda``: precisions of single tastes, in units of ``1 / w^2``."""
        spread = float(np.std(score)) if np.any(score) else 1.0
        first = Scales(spread, *FIRST_SCALES, np.full(self.n_own, 0.5), 3.0, 0.1)
        self.scales = first
        self.information = VoteInformation(opinions, n_items)
        self.cells_of_items = _CellsOfItems(opinions.item, n_items)
        self.step_of_judges = np.full(self.m, 0.7)
        self.step_of_scores, self.step_together = np.array(0.5), np.array(0.2)
        self.step_of_gauge, self.step_of_units = np.array(0.3), np.full(self.m, 0.3)
        self.rounds, self.adapting = 0, True
        self.here = self._votes(self.own, self.common)
        self.measure()

    def _lay_out(self) -> None:
        """Where what stands in the vectors, and in the effects of a state."""
        layout, size = self.objective.layout, len(self.opinions)
        index = np.arange(layout.size) - size
        self.common_effects = np.concatenate((index[layout.tie], index[layout.order]))
        parts = (index[layout.own_tie], index[layout.own_order])
        self.own_effects = [part for part in parts if len(part)]
        self.n_own = len(self.own_effects)
        self.n_effects = layout.size - size
        self.theta_at = slice(self.cells, self.cells + self.m * self.free)
        judges = [np.arange(self.m)] * (self.free + self.n_own)
        self.owner = np.concatenate([self.opinions.judge, *judges])
        """The judge of each of its own unknowns."""

    # --- the unknowns ----------------------------------------------------------------------------

    @property
    def score(self) -> Floats:
        """The scores."""
        return self.common[: self.n]

    @property
    def taste(self) -> Floats:
        """The tastes."""
        return self.own[: self.cells]

    @property
    def theta(self) -> Floats:
        """What the accuracies are made of."""
        return self.own[self.theta_at]

    def _accuracy(self, theta: Floats) -> Floats:
        if not self.free:
            return self.objective.start_accuracy()
        return self.side * accuracies.magnitude(theta)

    def _effects(self, own: Floats, common: Floats) -> Floats:
        effects = np.empty(self.n_effects)
        effects[self.common_effects] = common[self.n :]
        at = self.theta_at.stop
        for part in self.own_effects:
            effects[part], at = own[at : at + self.m], at + self.m
        return effects

    def _opinion(self, own: Floats, common: Floats) -> Floats:
        score = common[: self.n]
        return score[self.opinions.item] + own[: self.cells] if self.cells else score

    def _votes(self, own: Floats, common: Floats) -> JudgeSlopes:
        """The likelihood, judge by judge, and its slopes."""
        opinion, accuracy = self._opinion(own, common), self._accuracy(own[self.theta_at])
        if not np.abs(accuracy).max() * np.abs(opinion).max() < FARTHEST:
            return self._nowhere()
        if self.n_effects:
            opinion = np.concatenate((opinion, self._effects(own, common)))
        return self.objective.votes_alone(opinion, accuracy)

    def _nowhere(self) -> JudgeSlopes:
        """What is known where a move has lost its way: nothing, so that it is not accepted."""
        lost = np.full(self.m, np.nan)
        return JudgeSlopes(lost, np.full(self.objective.layout.size, np.nan), lost)

    def _own_slope(self, votes: JudgeSlopes, own: Floats) -> Floats:
        """Of the likelihood in the judges' unknowns."""
        size = len(self.opinions)
        parts = [votes.state[: self.cells]]
        if self.free:
            theta = own[self.theta_at]
            parts.append(votes.accuracy * self.side * accuracies.slope(theta))
        parts += [votes.state[size + part] for part in self.own_effects]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _common_slope(self, votes: JudgeSlopes) -> Floats:
        """Of the likelihood in the common unknowns."""
        size = len(self.opinions)
        of_scores = votes.state[:size]
        if self.cells:
            of_scores = total_weight(self.opinions.item, of_scores, self.n)
        if not len(self.common_effects):
            return of_scores
        return np.concatenate((of_scores, votes.state[size + self.common_effects]))

    def _own_precision(self) -> Floats:
        """Of the prior of the judges' unknowns."""
        scales = self.scales
        spread = [np.full(self.m, scales.accuracy**-2)] * self.free
        own = [np.full(self.m, sd**-2) for sd in scales.own]
        return np.concatenate([self.mixing / scales.taste**2, *spread, *own])

    def _common_precision(self, of_scores: float) -> Floats:
        """Of the prior of the common unknowns."""
        prior = np.full(len(self.common), EFFECT_SD**-2)
        prior[: self.n] = of_scores
        return prior

    # --- the metric ------------------------------------------------------------------------------

    def measure(self) -> None:
        """Choose the metric by what votes tell where the chain is."""
        opinion = self._opinion(self.own, self.common)
        dense = self.n <= MOST_DENSE
        told = self.information.at(opinion, self._accuracy(self.theta), dense=dense)
        layout, scales = self.objective.layout, self.scales
        of_own = {"own_tie": told.tie, "own_order": told.order}
        effects = [
            told for name, told in of_own.items() if len(range(layout.size)[getattr(layout, name)])
        ]
        accuracy = [told.accuracy * accuracies.slope(self.theta) ** 2] if self.free else []
        self.told_of_own = np.concatenate([told.opinion[: self.cells], *accuracy, *effects])
        common = [float(told.tie.sum())] * len(layout.model.sizes)
        common += [float(told.order.sum())] * layout.model.order
        of_effects = np.array(common) + EFFECT_SD**-2
        self.metric = Metric(_root(told.score, scales.score**-2), of_effects)
        in_units = _root(scales.score**2 * told.score, 1.0)
        self.metric_in_units = Metric(in_units, of_effects)
        self.told_in_units = np.concatenate(
            [
                scales.taste**2 * self.told_of_own[: self.cells],
                scales.accuracy**2 * self.told_of_own[self.theta_at],
                self.told_of_own[self.theta_at.stop :],
            ]
        )

    # --- one round -------------------------------------------------------------------------------

    def round(self) -> None:
        """All moves, one after the other."""
        with np.errstate(all="ignore"):  # a move that leads nowhere is not accepted
            if len(self.owner):
                self._move_judges()
            self._move_scores()
            if self.cells:
                self._jump_with_opinions_held()
                if self.adapting or self.rounds % CAMPS_EVERY == 0:
                    self._jump_between_camps()
                if self.free:
                    self._move_units_of_judges()
                self._draw_precisions()
                self._move_origins_of_judges()
                self._move_scores_with_opinions_held()
            self._draw_scales()
            if self.rounds % TOGETHER_EVERY == 0:
                self._move_together()
            if self.free:
                self._move_gauge()
                self._draw_sides()
        self.rounds += 1

    def draw(self) -> Draw:
        """Where the chain is."""
        return Draw(
            self.score.copy(), self._accuracy(self.theta), self.taste.copy(),
            self._effects(self.own, self.common), self.scales,
        )  # fmt: skip

    # --- judges, and scores ----------------------------------------------------------------------

    def _move_judges(self) -> None:
        prior, common = self._own_precision(), self.common
        mass = self.told_of_own + prior

        def evaluate(own: Floats) -> tuple[JudgeSlopes, Floats]:
            votes = self._votes(own, common)
            return votes, self._own_slope(votes, own) + prior * own

        def energy(votes: JudgeSlopes, at: Trajectory) -> Floats:
            parts = prior * at.position**2 + at.momentum**2 / mass
            return np.asarray(votes.value + 0.5 * np.bincount(self.owner, parts, self.m))

        normal = self.rng.standard_normal(len(self.own))
        start = Trajectory(self.own, np.sqrt(mass) * normal)
        slope = self._own_slope(self.here, self.own) + prior * self.own
        step = jittered(self.step_of_judges, self.rng)[self.owner]
        end, votes = leapfrog(start, slope, step, STEPS, lambda p: p / mass, evaluate)
        chance = chances(energy(votes, end) - energy(self.here, start))
        accepted = self.rng.random(self.m) < chance
        self.own = np.where(accepted[self.owner], end.position, self.own)
        self.here = self._mixed(votes, accepted)
        if self.adapting:
            self.step_of_judges = adapted(self.step_of_judges, chance, self.rounds)

    def _mixed(self, votes: JudgeSlopes, accepted: NDArray[np.bool_]) -> JudgeSlopes:
        """The likelihood after some judges have moved."""
        if accepted.all():
            return votes
        if not accepted.any():
            return self.here
        if not self.cells or self.n_effects:  # slopes in what judges have in common are sums
            return self._votes(self.own, self.common)
        old, cell = self.here, accepted[self.opinions.judge]
        return JudgeSlopes(
            np.where(accepted, votes.value, old.value),
            np.where(cell, votes.state, old.state),
            np.where(accepted, votes.accuracy, old.accuracy),
        )

    def _move_scores(self) -> None:
        prior, own, metric = self._common_precision(self.scales.score**-2), self.own, self.metric

        def evaluate(common: Floats) -> tuple[JudgeSlopes, Floats]:
            votes = self._votes(own, common)
            return votes, self._common_slope(votes) + prior * common

        def energy(votes: JudgeSlopes, at: Trajectory) -> float:
            potential = float(at.position @ (prior * at.position))
            kinetic = float(at.momentum @ metric.velocity(at.momentum))
            return float(votes.value.sum()) + 0.5 * (potential + kinetic)

        normal = self.rng.standard_normal(len(self.common))
        start = Trajectory(self.common, metric.momentum(normal))
        slope = self._common_slope(self.here) + prior * self.common
        step = jittered(self.step_of_scores, self.rng)
        end, votes = leapfrog(start, slope, step, STEPS, metric.velocity, evaluate)
        chance = chances(np.array(energy(votes, end) - energy(self.here, start)))
        if self.rng.random() < chance:
            self.common, self.here = end.position, votes
        if self.adapting:
            self.step_of_scores = adapted(self.step_of_scores, chance, self.rounds)

    def _jump_with_opinions_held(self) -> None:
        """Let scores jump to where one of their judges sees the item, the opinions held.

        Whose taste is odd, that of a few judges or that of all others? Given the opinions,

            p(s_i) ~ N(s_i; 0, S^2) prod_u t_nu(m_ui - s_i; w),

        the precisions integrated out, has a maximum wherever some opinions are close to each other.
        A jump is proposed from the mixture of Cauchy distributions around all of them.
        """
        item, opinion = self.opinions.item, self._opinion(self.own, self.common)
        scales = self.scales
        chosen = self.cells_of_items.chosen(self.rng)
        proposed = opinion[chosen] + scales.taste * self.rng.standard_cauchy(self.n)

        def weight(score: Floats) -> Floats:
            taste = opinion - score[item]
            of_tastes = np.bincount(item, self._log_density(taste), self.n)
            proposal = np.bincount(item, 1.0 / (1.0 + (taste / scales.taste) ** 2), self.n)
            of_score = -0.5 * (score / scales.score) ** 2
            return np.asarray(of_tastes + of_score - np.log(proposal))

        gain = weight(proposed) - weight(self.score)
        score = np.where(np.log(self.rng.random(self.n)) < gain, proposed, self.score)
        self._set_scores(score, opinion)

    def _jump_between_camps(self) -> None:
        """Let one score jump by ``d``, each of its judges holding its opinion or its taste.

        Where a few judges see an item quite differently, votes that tell little are taken to agree
        with either side, so that no judge can leave alone. Judges are independent given the score,
        and each chooses by its votes ``L`` and its taste,

            L(m) t_nu(m - s - d; w)  or  L(m + d) t_nu(m - s; w).
        """
        item = self._item_to_jump()
        cells = self.cells_of_items.of(item)
        judge, taste = self.opinions.judge[cells], self.taste[cells]
        jump = self.scales.score * float(self.rng.standard_normal())
        as_is = -self.here.value[judge]
        up, down = (-self._votes_if_seen(cells, by).value[judge] for by in (jump, -jump))
        held, above, below = (self._log_density(taste + by) for by in (0.0, jump, -jump))
        forth = np.logaddexp(as_is + below, up + held)
        keeps_taste = np.log(self.rng.random(len(cells))) < up + held - forth
        back = np.where(
            keeps_taste,
            np.logaddexp(up + above, as_is + held),
            np.logaddexp(as_is + held, down + below),
        )
        score = float(self.score[item])
        of_score = 0.5 * (score**2 - (score + jump) ** 2) / self.scales.score**2
        gain = float(np.sum(forth - back)) + of_score
        if self.rng.random() < chances(np.array(-gain)):
            self.own, self.common = self.own.copy(), self.common.copy()
            self.own[cells] -= np.where(keeps_taste, 0.0, jump)
            self.common[item] += jump
            self.here = self._votes(self.own, self.common)

    def _item_to_jump(self) -> int:
        """Any item; while the chain finds its place, rather one about which tastes differ."""
        if not self.adapting:
            return int(self.rng.integers(self.n))
        # Before anything has moved there is no dispute at all.
        dispute = 1e-12 + np.bincount(self.opinions.item, -self._log_density(self.taste), self.n)
        return int(self.rng.choice(self.n, p=dispute / dispute.sum()))

    def _votes_if_seen(self, cells: Codes, higher: float) -> JudgeSlopes:
        """The likelihood if these opinions were so much higher."""
        own = self.own.copy()
        own[cells] += higher
        return self._votes(own, self.common)

    def _set_scores(self, score: Floats, opinion: Floats) -> None:
        """Divide opinions into scores and tastes anew."""
        self.common = np.concatenate((score, self.common[self.n :]))
        self.own = np.concatenate((opinion - score[self.opinions.item], self.own[self.cells :]))

    def _move_scores_with_opinions_held(self) -> None:
        precision = self.mixing / self.scales.taste**2
        item, opinion = self.opinions.item, self._opinion(self.own, self.common)
        total = np.bincount(item, precision, self.n) + self.scales.score**-2
        mean = np.bincount(item, precision * opinion, self.n) / total
        score = mean + self.rng.standard_normal(self.n) / np.sqrt(total)
        self._set_scores(score, opinion)

    # --- what a judge's votes leave open ----------------------------------------------------------

    def _move_units_of_judges(self) -> None:
        """``(a_u + c (m_ui - a_u), g_u / c)``: votes stay as likely as they are.

        ``a_u`` is the mean score of the judge's items; the precisions are integrated out. Whether a
        judge of many votes is accurate or has strong tastes is hardly learnt without this move.
        """
        judge, scales = self.opinions.judge, self.scales
        log_c = self.step_of_units * self.rng.standard_normal(self.m)
        c = np.exp(log_c)
        taste = (c[judge] - 1.0) * self._from_centre() + c[judge] * self.taste
        gain = self._log_density(taste) - self._log_density(self.taste)
        theta = accuracies.theta_of(accuracies.magnitude(self.theta) / c)
        of_theta = 0.5 * (self.theta**2 - theta**2) / scales.accuracy**2
        of_theta += self.theta - theta - log_c
        chance = chances(-of_theta - np.bincount(judge, gain + log_c[judge], self.m))
        accepted = self.rng.random(self.m) < chance
        there, factor = accepted[judge], np.where(accepted, c, 1.0)
        self.own = self.own.copy()
        self.own[: self.cells][there] = taste[there]
        self.own[self.theta_at] = np.where(accepted, theta, self.theta)
        self._stretch_slopes(factor)
        if self.adapting:
            self.step_of_units = _adapted_to_gauge(self.step_of_units, chance, self.rounds)

    def _move_origins_of_judges(self) -> None:
        """``m_ui + a_u``: votes are about differences; given the precisions ``a_u`` is normal."""
        judge, precision = self.opinions.judge, self.mixing / self.scales.taste**2
        total = np.bincount(judge, precision, self.m)
        mean = -np.bincount(judge, precision * self.taste, self.m) / total
        origin = mean + self.rng.standard_normal(self.m) / np.sqrt(total)
        self.own = self.own.copy()
        self.own[: self.cells] += origin[judge]

    def _from_centre(self) -> Floats:
        """Scores of the judges' items, less the mean of those of the same judge."""
        judge, score = self.opinions.judge, self.score[self.opinions.item]
        centre = np.bincount(judge, score, self.m) / np.bincount(judge, minlength=self.m)
        return np.asarray(score - centre[judge])

    def _stretch_slopes(self, factor: Floats) -> None:
        """After opinions of judges were multiplied so, and their accuracies divided."""
        state = self.here.state.copy()
        state[: self.cells] /= factor[self.opinions.judge]
        self.here = JudgeSlopes(self.here.value, state, factor * self.here.accuracy)

    # --- scales ----------------------------------------------------------------------------------

    def _draw_precisions(self) -> None:
        """Degrees of freedom, then the precisions of single tastes, given the tastes."""
        square = (self.taste / self.scales.taste) ** 2
        likely = _student_sums(square)
        likely = np.exp(likely - likely.max())
        degrees = float(self.rng.choice(DEGREES, p=likely / likely.sum()))
        self.scales = self.scales._replace(degrees=degrees)
        self.mixing = self._drawn_mixing()

    def _draw_scales(self) -> None:
        scales = self.scales
        score = self._scale("score", self.score, scales.score)
        taste, accuracy = scales.taste, scales.accuracy
        if self.cells:
            taste = self._scale("taste", np.sqrt(self.mixing) * self.taste, taste)
        if self.free:
            accuracy = self._scale("accuracy", self.theta, accuracy)
        effects = self.own[self.theta_at.stop :].reshape(self.n_own, self.m)
        own = [self._scale("own", *both) for both in zip(effects, scales.own, strict=True)]
        own_scales = np.array(own)
        self.scales = scales._replace(score=score, accuracy=accuracy, taste=taste, own=own_scales)

    def _scale(self, name: str, values: Floats, old: float) -> float:
        """A scale given normal values of it: proposed as without a prior, accepted by it."""
        square = 0.5 * float(values @ values)
        proposed = float(np.sqrt(square / self.rng.standard_gamma(0.5 * len(values))))
        gain = _prior_gain(name, old, proposed / old)
        return proposed if np.log(self.rng.random()) < gain else old

    def _move_together(self) -> None:
        """The scales and, in units of them, everything else."""
        space = _InUnits(self)
        start = Trajectory(space.position(), space.momentum(self.rng))
        slope = space.slope(self.here, start.position)
        step = jittered(self.step_together, self.rng)
        end, votes = leapfrog(start, slope, step, STEPS_TOGETHER, space.velocity, space.evaluate)
        change = space.energy(votes, end) - space.energy(self.here, start)
        chance = chances(np.array(change))
        if self.rng.random() < chance:
            self.own, self.common, log_scale = space.unknowns(end.position)
            moved = dict(zip(space.names, np.exp(log_scale).tolist(), strict=True))
            self.scales, self.here = self.scales._replace(**moved), votes
        if self.adapting:
            self.step_together = adapted(self.step_together, chance, self.rounds)

    def _move_gauge(self) -> None:
        """``(c s, c b, c S, c w, g / c)``: votes stay as likely as they are."""
        scales = self.scales
        log_c = float(self.step_of_gauge * self.rng.standard_normal())
        c = float(np.exp(log_c))
        theta = accuracies.theta_of(accuracies.magnitude(self.theta) / c)
        change = -np.inf
        if np.isfinite(theta).all():
            square = float(self.theta @ self.theta - theta @ theta)
            volume = float(np.sum(self.theta - theta)) - self.m * log_c
            change = 0.5 * square / scales.accuracy**2 + volume
            change += _prior_gain("score", scales.score, c)
            change += _prior_gain("taste", scales.taste, c) if self.cells else 0.0
        chance = chances(np.array(-change))
        if self.rng.random() < chance:
            self._rescale(c, theta)
        if self.adapting:
            self.step_of_gauge = _adapted_to_gauge(self.step_of_gauge, chance, self.rounds)

    def _rescale(self, c: float, theta: Floats) -> None:
        self.own = self.own.copy()
        self.own[: self.cells] *= c
        self.own[self.theta_at] = theta
        self._stretch_scores(c)
        taste = self.scales.taste * (c if self.cells else 1.0)
        self.scales = self.scales._replace(score=c * self.scales.score, taste=taste)

    def _stretch_scores(self, c: float) -> None:
        """Multiply scores, and divide the slopes in opinions, which votes see times accuracies."""
        self.common = self.common.copy()
        self.common[: self.n] *= c
        state = self.here.state.copy()
        state[: len(self.opinions)] /= c
        self.here = JudgeSlopes(self.here.value, state, c * self.here.accuracy)

    # --- which end is up -------------------------------------------------------------------------

    def _draw_sides(self) -> None:
        """Which judges vote backwards, and with them which end is up."""
        self._relabel()
        backwards, forwards = self._sides()
        a, b = BACKWARDS
        turned = betaln(a + forwards, b + backwards)
        as_it_is = betaln(a + backwards, b + forwards)
        if np.log(self.rng.random()) < turned - as_it_is:
            self.side = -self.side
            self.own = self.own.copy()
            self.own[: self.cells] *= -1.0
            self._stretch_scores(-1.0)
            backwards, forwards = forwards, backwards
        # The turn was drawn with pi integrated out, so that pi must be drawn before it is used.
        share = float(self.rng.beta(a + backwards, b + forwards))
        self.scales = self.scales._replace(backwards=share)
        if self.juries.number > 1:
            self._turn_juries()
        if self.cells:
            self._turn_with_votes_held()
        if self.rounds % TURN_EVERY == 0:
            self._turn_judges()

    def _turn_juries(self) -> None:
        """Turn ``(-s, -b, -k)`` of the judges and items of one jury."""
        juries, share = self.juries, self.scales.backwards
        gain = np.bincount(juries.judge, self.say * self.side, juries.number)
        gain *= np.log(share / (1.0 - share))
        sign = np.where(np.log(self.rng.random(juries.number)) < gain, -1.0, 1.0)
        of_judge, of_item = sign[juries.judge], sign[juries.item]
        self.side = of_judge * self.side
        self.own, self.common = self.own.copy(), self.common.copy()
        self.own[: self.cells] *= of_judge[self.opinions.judge]
        self.common[: self.n] *= of_item
        state = self.here.state.copy()
        state[: len(self.opinions)] *= of_item[self.opinions.item]
        self.here = JudgeSlopes(self.here.value, state, of_judge * self.here.accuracy)

    def _sides(self) -> tuple[float, float]:
        """How many judges vote backwards, and how many do not, each as far as it has a say."""
        backwards = float(self.say @ (self.side < 0.0))
        return backwards, float(self.say.sum()) - backwards

    def _relabel(self) -> None:
        """Whether a judge near 0 is a backwards one, its accuracy being what it is."""
        size, scales = accuracies.magnitude(self.theta), self.scales
        near = np.flatnonzero(np.abs(size) < accuracies.SHIFT)
        if not len(near):
            return
        odds = np.log(scales.backwards / (1.0 - scales.backwards))
        gain = self.say[near] * odds * self.side[near]
        as_it_is = accuracies.log_density(size[near], scales.accuracy)
        other = gain + accuracies.log_density(-size[near], scales.accuracy)
        turned = near[self.rng.random(len(near)) < 1.0 / (1.0 + np.exp(as_it_is - other))]
        self.side, self.own = self.side.copy(), self.own.copy()
        self.side[turned] *= -1.0
        self.own[self.cells + turned] = accuracies.theta_of(-size[turned])

    def _turn_with_votes_held(self) -> None:
        """Turn single judges round together with their opinions, so that votes stay as likely.

        ``m'_ui = 2 c_u - m_ui`` with ``c_u`` the mean score of the judge's items; the precisions of
        its tastes are integrated out, and drawn anew.
        """
        judge, scales = self.opinions.judge, self.scales
        turned = -2.0 * self._from_centre() - self.taste
        gain = self._log_density(turned) - self._log_density(self.taste)
        odds = self.say * np.log(scales.backwards / (1.0 - scales.backwards)) * self.side
        accepted = np.log(self.rng.random(self.m)) < np.bincount(judge, gain, self.m) + odds
        there = accepted[judge]
        self.side = np.where(accepted, -self.side, self.side)
        self.own = self.own.copy()
        self.own[: self.cells][there] = turned[there]
        self.mixing = np.where(there, self._drawn_mixing(), self.mixing)
        self._stretch_slopes(np.where(accepted, -1.0, 1.0))

    def _log_density(self, taste: Floats) -> Floats:
        """Of single tastes, but for a constant."""
        nu, square = self.scales.degrees, (taste / self.scales.taste) ** 2
        return np.asarray(-0.5 * (nu + 1.0) * np.log1p(square / nu))

    def _drawn_mixing(self) -> Floats:
        """Precisions of single tastes, drawn given the tastes."""
        nu, square = self.scales.degrees, (self.taste / self.scales.taste) ** 2
        return np.asarray(
            self.rng.standard_gamma(0.5 * (nu + 1.0), self.cells) * 2.0 / (nu + square)
        )

    def _turn_judges(self) -> None:
        """Turn single judges round, their opinions held."""
        old, share = self.side, self.scales.backwards
        self.side = -old
        votes = self._votes(self.own, self.common)
        gain = self.here.value - votes.value + self.say * np.log(share / (1.0 - share)) * old
        accepted = np.log(self.rng.random(self.m)) < gain
        self.side = np.where(accepted, -old, old)
        if accepted.any():
            self.here = self._votes(self.own, self.common)


class _CellsOfItems:
    """Where the opinions of each item stand."""

    def __init__(self, item: Codes, n_items: int) -> None:
        self.order = np.argsort(item, kind="stable")
        self.count = np.bincount(item, minlength=n_items)
        self.begin = np.cumsum(self.count) - self.count

    def of(self, item: int) -> Codes:
        """Those of one item."""
        return self.order[self.begin[item] : self.begin[item] + self.count[item]]

    def chosen(self, rng: np.random.Generator) -> Codes:
        """One opinion of each item; any of another where nobody has one, which leads nowhere."""
        which = (rng.random(len(self.count)) * self.count).astype(np.int64)
        return np.asarray(self.order[np.minimum(self.begin + which, len(self.order) - 1)])


class _InUnits:
    """Everything in units of the scales, and the logarithms of the scales.

    A position is the judges' unknowns, the common ones, and the logarithms.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        own, n_own, n_common = chain.scales.own, len(chain.own), len(chain.common)
        self.names = ["score", *["taste"] * bool(chain.cells), *["accuracy"] * chain.free]
        self.shape, self.rate = np.array([PRIORS[name] for name in self.names]).T
        self.own_at, self.common_at = slice(0, n_own), slice(n_own, n_own + n_common)
        self.scores_at = slice(n_own, n_own + chain.n)
        self.scales_at = slice(n_own + n_common, n_own + n_common + len(self.names))
        spread, effects = np.ones(chain.m * chain.free), np.repeat(own**-2, chain.m)
        of_own = np.concatenate((chain.mixing, spread, effects))
        of_common = chain._common_precision(1.0)
        self.prior = np.concatenate((of_own, of_common, np.zeros(len(self.names))))
        of_scales = np.full(len(self.names), SCALE_MASS)
        self.own_mass = np.concatenate((chain.told_in_units + of_own, of_scales))

    def position(self) -> Floats:
        """Where the chain is."""
        scales = np.array([float(getattr(self.chain.scales, name)) for name in self.names])
        unit = self._units(scales)
        place = np.concatenate((self.chain.own, self.chain.common, np.log(scales)))
        return np.asarray(place / unit)

    def _units(self, scales: Floats) -> Floats:
        """What everything is measured in."""
        chain, scale = self.chain, dict(zip(self.names, scales.tolist(), strict=True))
        unit = np.empty(len(self.prior))
        unit[: chain.cells] = scale.get("taste", 1.0)
        unit[chain.theta_at] = scale.get("accuracy", 1.0)
        unit[chain.theta_at.stop :] = 1.0
        unit[self.scores_at] = scale["score"]
        return unit

    def unknowns(self, position: Floats) -> tuple[Floats, Floats, Floats]:
        """The judges' and the common unknowns, and the logarithms of the scales."""
        place = position * self._units(np.exp(position[self.scales_at]))
        return place[self.own_at], place[self.common_at], place[self.scales_at]

    def momentum(self, rng: np.random.Generator) -> Floats:
        """A momentum, drawn."""
        own = np.sqrt(self.own_mass) * rng.standard_normal(len(self.own_mass))
        normal = rng.standard_normal(len(self.chain.common))
        return self._joined(own, self.chain.metric_in_units.momentum(normal))

    def velocity(self, momentum: Floats) -> Floats:
        """The velocity of a momentum."""
        own = np.concatenate((momentum[self.own_at], momentum[self.scales_at])) / self.own_mass
        return self._joined(own, self.chain.metric_in_units.velocity(momentum[self.common_at]))

    def _joined(self, own_and_scales: Floats, common: Floats) -> Floats:
        count = self.own_at.stop
        return np.concatenate((own_and_scales[:count], common, own_and_scales[count:]))

    def evaluate(self, position: Floats) -> tuple[JudgeSlopes, Floats]:
        """The likelihood at a position, and the slope of the potential."""
        unit = self._units(np.exp(position[self.scales_at]))
        place = position * unit
        votes = self.chain._votes(place[self.own_at], place[self.common_at])
        return votes, self._slope(votes, position, place, unit)

    def slope(self, votes: JudgeSlopes, position: Floats) -> Floats:
        """Of the potential at a position whose likelihood is known."""
        unit = self._units(np.exp(position[self.scales_at]))
        return self._slope(votes, position, position * unit, unit)

    def _slope(self, votes: JudgeSlopes, position: Floats, place: Floats, unit: Floats) -> Floats:
        chain = self.chain
        slope = np.empty(len(position))
        slope[self.own_at] = chain._own_slope(votes, place[self.own_at])
        slope[self.common_at] = chain._common_slope(votes)
        parts = (self.scores_at, *[slice(0, chain.cells)] * bool(chain.cells))
        parts += (chain.theta_at,) * chain.free
        pulls = [float(slope[part] @ place[part]) for part in parts]
        of_prior = self.rate * np.exp(position[self.scales_at]) - self.shape
        slope[self.scales_at] = np.array(pulls) + of_prior
        slope *= unit
        slope += self.prior * position
        return slope

    def energy(self, votes: JudgeSlopes, at: Trajectory) -> float:
        """Potential and kinetic energy."""
        log_scale = at.position[self.scales_at]
        scales = float(np.sum(self.rate * np.exp(log_scale) - self.shape * log_scale))
        kinetic = float(at.momentum @ self.velocity(at.momentum))
        potential = float(at.position @ (self.prior * at.position))
        return float(votes.value.sum()) + scales + 0.5 * (potential + kinetic)


def _root(information: Floats, prior: float) -> Floats:
    """The root of information and prior: a Cholesky factor, or roots of a diagonal."""
    if information.ndim == 1:
        return np.asarray(np.sqrt(information + prior))
    return np.asarray(np.linalg.cholesky(information + prior * np.eye(len(information))))


def _adapted_to_gauge(step: Floats, chance: Floats, rounds: int) -> Floats:
    """Steps along what votes leave open, as `hamiltonian.adapted` has them for what they tell."""
    rate = 2.0 / np.sqrt(1.0 + 0.2 * rounds)
    grown = step * np.exp(rate * (chance - WANTED_OF_GAUGE))
    return np.asarray(np.clip(grown, 0.01, 3.0))


def _prior_gain(name: str, scale: float, factor: float) -> float:
    """What the log-density of the logarithm of a scale gains if the scale is multiplied."""
    shape, rate = PRIORS[name]
    return float(shape * np.log(factor) - rate * scale * (factor - 1.0))


def _student_sums(square: Floats) -> Floats:
    """The log-likelihood of standardised tastes for each of the `DEGREES`."""
    constant = gammaln(0.5 * (DEGREES + 1.0)) - gammaln(0.5 * DEGREES) - 0.5 * np.log(DEGREES)
    sums = np.array([np.log1p(square / nu).sum() for nu in DEGREES])
    return np.asarray(len(square) * constant - 0.5 * (DEGREES + 1.0) * sums)
