"""The posterior by sampling: a chain from the best fit, its draws in the gauge of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.inference.chain import BACKWARDS, DEGREES, Chain, Draws
from juryrank.inference.opinions import Codes, Juries, opinions_of
from juryrank.model.gauge import gauge_scales
from juryrank.model.objective import Objective
from juryrank.progress import Progress, Watcher
from juryrank.solvers.search import on_many_items
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

MEASURED_AT = (20, 50, 100)
"""Rounds of the warm-up after which the metric is chosen anew."""
MOST_TASTES = 20_000_000
"""Numbers kept of the draws of tastes; of more, fewer draws are kept."""
MOST_SCORES = 54_000_000
"""The same, of scores: all draws of 30,000 items, and every fourth of 100,000."""
CLOSE_CALL = 0.05
"""The chance that the ranking is upside down from which on it is a close call."""
FEW_EFFECTIVE = 40.0
"""Effective draws of a score below which the chain goes on, and in the end complains."""


@dataclass(frozen=True)
class Length:
    """How long a chain is."""

    warm_up: int = 150
    kept: int = 450
    most: int = 1_800
    """Draws at most, where the first are too few."""


WHOLE = Length()
BRIEF = Length(warm_up=120, kept=200, most=800)
"""Enough for means."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws from the posterior, a row for each, in the gauge of the answer; all by code."""

    score: Floats
    accuracy: Floats
    effects: Floats
    taste: NDArray[np.float32]
    """Of every `every`-th draw: a column for each pair of `taste_judge` and `taste_item`."""
    every: int
    taste_judge: Codes
    taste_item: Codes
    score_sd: Floats
    accuracy_sd: Floats
    taste_sd: Floats
    """The scale ``w`` of the tastes, in the gauge; empty in the plain model."""
    degrees: Floats
    own_sd: Floats
    """Of what sets judges apart in ties and sides, a column for each that there is."""
    loss: float
    """``-log P`` of the votes, its mean over the draws."""
    effective: float
    """Effective number of draws of a score, of those that have the fewest."""
    rounds: int
    juries: Juries
    upside_down: float = 0.0
    """The share of draws with the other end up."""

    @property
    def is_close_call(self) -> bool:
        """Whether it is doubtful which end is up; then the draws hold both."""
        return self.upside_down >= CLOSE_CALL

    @property
    def has_tastes(self) -> bool:
        """Whether judges may have tastes of their own."""
        return len(self.taste_sd) > 0

    @property
    def typical_tastes(self) -> Floats:
        """Draw by draw, the standard deviation of normal tastes whose middle half is as wide."""
        return np.asarray(
            self.taste_sd
            * scipy.special.stdtrit(self.degrees, 0.75)
            / scipy.special.stdtrit(np.inf, 0.75)
        )

    @property
    def typical_taste(self) -> float:
        """The median of these."""
        return float(np.median(self.typical_tastes))

    @property
    def settled(self) -> bool:
        """Whether there are enough effective draws of every score."""
        return self.effective >= FEW_EFFECTIVE


def sample(
    objective: Objective,
    start: Solution,
    *,
    tastes: bool,
    length: Length = WHOLE,
    watch: Watcher | None = None,
    backwards: tuple[float, float] = BACKWARDS,
    degrees: Floats = DEGREES,
) -> Sample:
    """Draw from the posterior, beginning at a solution; the objective's own prior has no part."""
    opinions = opinions_of(objective, tastes=tastes)
    chain = Chain(
        opinions,
        objective.n_items,
        start.score,
        start.effects,
        start.accuracy,
        on_many_items(objective),
        seed=0,
        backwards=backwards,
        degrees=degrees,
    )
    _warm_up(chain, length, watch)
    step = max(1, -(-length.most * objective.n_items // MOST_SCORES))
    every = max(1, -(-length.most * len(opinions) // (step * MOST_TASTES))) if tastes else 1
    kept = _Kept(objective.choices_per_judge, step, every)
    wanted = length.kept
    while True:
        for count in _runs(wanted - len(kept), chain.at_once):
            _tell(watch, length.warm_up + len(kept), length.warm_up + wanted)
            kept.add(chain.draws(count))
        effective = least_effective(kept.scores())
        left = length.warm_up + length.most - chain.number
        if effective >= FEW_EFFECTIVE or not left:
            return kept.sample(opinions.judge, opinions.item, effective, chain)
        if effective < least_effective(kept.scores()[len(kept) // (2 * step) :]):
            kept.leave_out_first_half()  # the chain had not converged
        wanted = min(max(length.kept, 2 * len(kept)), len(kept) + left)


def _tell(watch: Watcher | None, done: int, total: int) -> None:
    if watch:
        watch(Progress("sampling", "Sampling the posterior", done, total))


def _warm_up(chain: Chain, length: Length, watch: Watcher | None) -> None:
    """Let the chain converge, and find its metric and its steps."""
    bounds = [0, *(at for at in MEASURED_AT if at < length.warm_up), length.warm_up]
    for first, last in pairwise(bounds):
        if first:
            chain.measure()
        for count in _runs(last - first, chain.at_once):
            _tell(watch, chain.number, length.warm_up + length.kept)
            chain.rounds(count)
    chain.stop_adapting()


def _runs(rounds: int, most: int) -> Iterator[int]:
    """So many rounds in runs, between which progress is told and interrupts are heard."""
    for done in range(0, rounds, most):
        yield min(most, rounds - done)


class _Kept:
    """The draws that are kept: every `step`-th, and the tastes of every `every`-th of these."""

    def __init__(self, counts: Floats, step: int, every: int) -> None:
        self.counts = counts
        self.step = step
        self.every = every
        self.runs: list[Draws] = []
        self.scales: list[Floats] = []
        self.tastes: list[NDArray[np.float32]] = []
        self.number = 0

    def __len__(self) -> int:
        """How many rounds of the chain they are from."""
        return self.number

    def add(self, run: Draws) -> None:
        both = self.step * self.every
        tastes = run.taste[-self.number % both :: both].astype(np.float32)
        some = slice(-self.number % self.step, None, self.step)
        self.number += len(run.loss)
        run = run._replace(taste=np.empty((len(run.loss), 0)))
        kept = Draws(*(part[some] for part in run))
        if self.step > 1:  # and let go of the others
            kept = Draws(*(part.copy() for part in kept))
        self.tastes.append(tastes)
        self.scales.append(gauge_scales(kept.accuracy, self.counts))
        self.runs.append(kept)

    def joined(self) -> tuple[Draws, Floats, NDArray[np.float32]]:
        """All draws, what to multiply their scores by, and the tastes of every `every`-th."""
        if len(self.runs) > 1:
            parts = zip(*self.runs, strict=True)
            self.runs = [Draws(*(np.concatenate(part) for part in parts))]
            self.scales = [np.concatenate(self.scales)]
            self.tastes = [np.concatenate(self.tastes)]
        return self.runs[0], self.scales[0], self.tastes[0]

    def leave_out_first_half(self) -> None:
        both = self.step * self.every
        left_out = both * -(-self.number // (2 * both))
        self.number -= left_out
        draws, scale, taste = self.joined()
        first = left_out // self.step
        self.runs = [Draws(*(part[first:] for part in draws))]
        self.scales, self.tastes = [scale[first:]], [taste[left_out // both :]]

    def scores(self) -> Floats:
        draws, scale, _ = self.joined()
        centred = draws.score - draws.score.mean(axis=1, keepdims=True)
        return np.asarray(centred * scale[:, None])

    def sample(self, judge: Codes, item: Codes, effective: float, chain: Chain) -> Sample:
        draws, scale, taste = self.joined()
        tastes = len(judge) > 0
        score_sd, accuracy_sd, taste_sd, degrees, _, *own = draws.scales.T
        return Sample(
            score=self.scores(),
            accuracy=draws.accuracy / scale[:, None],
            effects=draws.effects,
            taste=taste * scale[:: self.every, None].astype(np.float32),
            every=self.every,
            taste_judge=judge,
            taste_item=item if tastes else np.empty(0, dtype=np.int64),
            score_sd=score_sd * scale,
            accuracy_sd=accuracy_sd,
            taste_sd=taste_sd * scale if tastes else np.empty(0),
            degrees=degrees,
            own_sd=np.array(own).T.reshape(len(scale), len(own)),
            loss=float(np.mean(draws.loss)),
            effective=effective,
            rounds=chain.number,
            juries=chain.juries,
        )


def turned_upright(found: Sample) -> Sample:
    """The draws with the same end up, that of most draws, unless it is a close call.

    Draws in which judges vote the same way, and those in which they do not, are mirror images:
    the leading eigenvector of how many judges have the same side in two draws tells them apart.
    Which end is up is a convention that nearly all draws agree on, or a doubt; each jury has its
    own, and of one judge alone it is but a convention.
    """
    sign, doubt = np.ones((len(found.score), found.juries.number)), 0.0
    for jury in range(found.juries.number):
        judges = found.juries.judge == jury
        turned = _mirrored(np.sign(found.accuracy[:, judges]))
        share = float(turned.mean())
        if share < CLOSE_CALL or np.count_nonzero(judges) == 1:
            sign[turned, jury] = -1.0
        if np.count_nonzero(judges) > 1:
            doubt = max(doubt, share)
    of_judge, of_item = sign[:, found.juries.judge], sign[:, found.juries.item]
    taste = found.taste
    if found.has_tastes:
        taste = taste * of_judge[:: found.every, found.taste_judge].astype(np.float32)
    score = of_item * found.score
    return replace(
        found,
        score=score - score.mean(axis=1, keepdims=True),
        accuracy=of_judge * found.accuracy,
        taste=taste,
        upside_down=doubt,
    )


def _mirrored(side: Floats) -> NDArray[np.bool_]:
    """Which draws of judges' sides are the mirror images of most others."""
    if (side == side[0]).all():
        return np.zeros(len(side), dtype=np.bool_)
    turned = np.linalg.eigh(side @ side.T)[1][:, -1] < 0.0
    return ~turned if turned.mean() > 0.5 else turned


def least_effective(draws: Floats) -> float:
    """The effective number of draws that 95 % of the columns have.

    ``n / (1 + 2 sum_t rho_t)``, the autocorrelations ``rho`` summed in pairs as long as these are
    positive (Geyer). The very lowest of many such estimates would be one that is off.
    """
    count = len(draws)
    centred = draws - draws.mean(axis=0)
    spectrum = np.fft.rfft(centred, 2 * count, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:count]
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = covariance / covariance[0]
    pairs = correlation[: 2 * (count // 2)].reshape(-1, 2, draws.shape[1]).sum(axis=1)
    positive = np.cumprod(np.nan_to_num(pairs, nan=0.0) > 0.0, axis=0)
    time = 2.0 * np.where(positive, pairs, 0.0).sum(axis=0) - 1.0
    return float(count / max(float(np.quantile(time, 0.95)), 1.0))
