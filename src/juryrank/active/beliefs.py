"""What is believed of items and judges, draw by draw, as far as questions may be about them.

Shapes: a row for each item, judge or question, a column for each draw. Items are those of the votes
by code, and after them new ones; judges are those who can be asked, by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from juryrank.active.pairs_own import NOTHING_OWN, PairsOwn, Sights, VotesOnPairs, pairs_own
from juryrank.errors import InputError
from juryrank.inference.opinions import Codes
from juryrank.inference.posterior import NormalPosterior, SampledPosterior
from juryrank.judging.accounts import say_of, voice_codes
from juryrank.judging.cells import votes_that_count
from juryrank.model.effects import Layout
from juryrank.model.noise import Noise
from juryrank.ranking.basis import Basis
from juryrank.types import Floats
from juryrank.votes.votes import RIGHT_WON

NEW, ANYONE = -1, -2
"""The codes of a judge who has cast no vote, and of nobody in particular."""
MOST_DRAWS = 160
"""Draws that are used, evenly spaced."""
MOST_VOTES, DRAWS_OF_VOTES = 300_000, 8
"""What pairs have of their own is found by so many draws, and not looked for in more votes."""
KINDS, APART = 509, 101
"""So many tastes are drawn for what judges have not seen; a judge's begin so far from the last's:
both are primes, so that few are shared."""
SEED = 21
"""What is drawn here is always the same: the choice of questions has a seed of its own."""

_OF_PAIRS: WeakKeyDictionary[Basis, PairsOwn] = WeakKeyDictionary()
"""What pairs have of their own, of each ranking that is still in use."""


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions: whom to ask, by row, and the two items."""

    judge: Codes
    one: Codes
    other: Codes

    def __len__(self) -> int:
        return len(self.judge)

    def __getitem__(self, some: Codes | NDArray[np.bool_]) -> Questions:
        return Questions(self.judge[some], self.one[some], self.other[some])


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The posterior, and what it implies of new items and judges."""

    basis: Basis
    judge_code: Codes
    """Of each judge who can be asked; `NEW` for those who are not in the votes, or `ANYONE`."""
    new_items: int = 0

    @property
    def noise(self) -> Noise:
        """The noise of the model."""
        return self.basis.noise

    @property
    def n_items(self) -> int:
        """All items, new ones included."""
        return self.basis.votes.n_items + self.new_items

    @cached_property
    def posterior(self) -> SampledPosterior | NormalPosterior:
        """That of the ranking; a model without one cannot tell what it does not know."""
        known = self.basis.posterior
        if not isinstance(known, SampledPosterior | NormalPosterior) or not self.basis.model.odds:
            raise InputError(
                "To choose questions, the answer must say how sure it is of each vote, and this "
                f"one, by {self.basis.model.name!r}, does not. Rank with hbtl, btl, htcv, tcv or "
                "htm, and with intervals."
            )
        return known

    @cached_property
    def _draws(self) -> Codes:
        """Which draws of a sample are used; its tastes are kept for some draws only."""
        known = self.posterior
        if not isinstance(known, SampledPosterior):
            return np.arange(MOST_DRAWS)
        every = known.sample.every
        step = every * max(1, -(-len(known.sample.score) // (every * MOST_DRAWS)))
        return np.arange(0, len(known.sample.score), step)

    @property
    def count(self) -> int:
        """How many draws there are."""
        return len(self._draws)

    @cached_property
    def accuracy(self) -> Floats:
        """Of each judge; of a new one, that of a judge drawn at random for each draw.

        Nobody in particular has 1, the average by the gauge, less what tastes blur.
        """
        average = blurred(self.noise, 1.0, 2.0 * float(np.mean(self.taste_sd**2)))
        return self._judges(self._every_accuracy, np.full(self.count, average))

    @property
    def answers(self) -> Codes:
        """Of each judge who can be asked, how often it has voted."""
        voted = self.basis.votes.times_voted
        return np.where(self.judge_code >= 0, voted[np.maximum(self.judge_code, 0)], 0)

    @cached_property
    def _every_accuracy(self) -> Floats:
        """Of the judges of the votes, by code."""
        known = self.posterior
        if isinstance(known, SampledPosterior):
            return np.asarray(known.sample.accuracy[self._draws].T)
        spread = np.nan_to_num(known.accuracy_sd, nan=0.0, posinf=0.0)
        error = np.random.default_rng(SEED).standard_normal((len(spread), self.count))
        return np.asarray(known.accuracy[:, None] + spread[:, None] * error)

    def _judges(self, by_code: Floats, of_anyone: Floats) -> Floats:
        """Rows of judges from those by code; a new judge is like one drawn at random."""
        if not len(by_code):
            return np.tile(of_anyone, (len(self.judge_code), 1))
        found = by_code[np.maximum(self.judge_code, 0)]
        found[self.judge_code == ANYONE] = of_anyone
        for row in np.flatnonzero(self.judge_code == NEW).tolist():
            like = np.random.default_rng([SEED, row]).integers(len(by_code), size=self.count)
            found[row] = by_code[like, np.arange(self.count)]
        return np.asarray(found)

    @cached_property
    def tie(self) -> Floats | None:
        """``log t`` of each judge, the weight of a tie; None if two items cannot be tied."""
        by_code = self._every_tie
        return (
            None if by_code is None else self._judges(by_code, np.full(self.count, by_code.mean()))
        )

    @cached_property
    def _every_tie(self) -> Floats | None:
        """Of the judges of the votes, by code."""
        return self._every_effect(Layout.pair_ties) if 2 in self.basis.effects.sizes else None

    def _every_effect(self, told: Callable[[Layout, Floats], Floats | None]) -> Floats:
        """What the effects of each draw tell of the judges of the votes, by code."""
        layout = Layout(self.basis.effects, self.basis.votes.n_items, self.basis.votes.n_judges)
        nothing, known = np.zeros(layout.n_items), self.posterior
        if isinstance(known, SampledPosterior):
            drawn = known.sample.effects[self._draws]
        else:
            shape = (self.count, layout.size - len(nothing))
            drawn = np.broadcast_to(known.estimated_effects, shape)
        found = [told(layout, np.concatenate((nothing, effects))) for effects in drawn]
        return np.broadcast_to(np.array(found).T, (layout.n_judges, self.count))

    @cached_property
    def mean(self) -> Floats:
        """Of the scores; a new item is expected to be average."""
        return np.concatenate((self.posterior.score, np.zeros(self.new_items)))

    @cached_property
    def variance(self) -> Floats:
        """Of the scores."""
        new = np.full(self.new_items, self.prior_variance)
        return np.concatenate((self.posterior.score_variance, new))

    @property
    def prior_variance(self) -> float:
        """Of the scores before the votes, by the mean."""
        return float(np.mean(self._prior_sd**2))

    def gap_variances(self, one: Codes, other: Codes) -> Floats:
        """Of the gaps between items of the votes."""
        known = self.posterior
        if isinstance(known, SampledPosterior):
            score = known.score_draws()
            return np.asarray((score[:, one] - score[:, other]).var(axis=0))
        whole = known.uncertainty.covariance
        if isinstance(whole, np.ndarray):
            both = whole[one, other]
            return np.asarray(self.variance[one] + self.variance[other] - 2.0 * both)
        return np.asarray(self.variance[one] + self.variance[other])

    @cached_property
    def _prior_sd(self) -> Floats:
        """Of the scores of items nobody has seen, for each draw."""
        known = self.posterior
        if isinstance(known, SampledPosterior):
            return np.asarray(known.sample.score_sd[self._draws])
        spread = np.sqrt(np.mean(known.score**2) + np.mean(known.score_variance))
        return np.full(self.count, spread)

    def scores(self, items: Codes) -> Floats:
        """Draws of the scores of some items, jointly."""
        seen = self.basis.votes.n_items
        found = np.empty((len(items), self.count))
        old = items < seen
        found[old] = self._old_scores(items[old])
        for at in np.flatnonzero(~old).tolist():
            rng = np.random.default_rng([SEED, 1, int(items[at])])
            found[at] = self._prior_sd * rng.standard_normal(self.count)
        return found

    def _old_scores(self, items: Codes) -> Floats:
        known = self.posterior
        if isinstance(known, SampledPosterior):
            return np.ascontiguousarray(known.score_draws()[np.ix_(self._draws, items)].T)
        drawn = known.uncertainty.draws_of(items, self.count, SEED)
        return np.asarray(known.score[items][:, None] + drawn.T)

    @cached_property
    def pairs_own(self) -> PairsOwn:
        """What pairs have of their own, which is found once for each ranking."""
        if self.basis not in _OF_PAIRS:
            _OF_PAIRS[self.basis] = self._found_of_pairs()
        return _OF_PAIRS[self.basis]

    def _found_of_pairs(self) -> PairsOwn:
        basis = self.basis
        if not basis.votes.is_here or basis.votes.n_pairs > MOST_VOTES:
            return NOTHING_OWN
        votes = votes_that_count(basis.votes, basis.one_sided)
        voice = voice_codes(basis.voices, votes.n_judges).astype(np.int32)
        weight = votes.weight * say_of(basis.voices, votes.n_judges)[votes.judge]
        on_pairs = VotesOnPairs(
            votes.judge, voice[votes.judge], votes.winner, votes.loser, votes.outcome, weight,
            votes.n_items,
        )  # fmt: skip
        return pairs_own(on_pairs, self.noise, self._as_seen)

    def _as_seen(self, votes: VotesOnPairs) -> Sights:
        """How votes were seen, by some of the draws."""
        some, score = self._draws_of_votes, self._scores_of_votes
        gap = score[votes.winner] - score[votes.loser]
        gap += self._tastes_of_votes(votes.judge, votes.winner)
        gap -= self._tastes_of_votes(votes.judge, votes.loser)
        accuracy, tie = self._every_accuracy[:, some][votes.judge], self._every_tie
        x = accuracy * gap
        if self.basis.effects.order:
            side = np.where(votes.outcome == RIGHT_WON, -1.0, 1.0)[:, None]
            x += side * self._every_effect(Layout.orders)[:, some][votes.judge]
        return Sights(x, accuracy, None if tie is None else tie[:, some][votes.judge])

    @property
    def _draws_of_votes(self) -> Codes:
        """Which of the draws votes are looked at by."""
        return np.arange(0, self.count, max(1, self.count // DRAWS_OF_VOTES))

    @cached_property
    def _scores_of_votes(self) -> Floats:
        """In these draws, of all items of the votes.

        Of a normal by a Cholesky factor: the eigenvectors of so large a matrix take far longer.
        """
        known, some = self.posterior, self._draws_of_votes
        if isinstance(known, SampledPosterior):
            return np.ascontiguousarray(known.score_draws()[self._draws[some]].T)
        errors = np.concatenate(list(known.uncertainty.draws(len(some), SEED)))
        return np.asarray(known.score[:, None] + errors.T)

    # --- tastes ----------------------------------------------------------------------------------

    @cached_property
    def taste_sd(self) -> Floats:
        """The spread of tastes in each draw; that of a normal whose middle half is as wide."""
        known = self.posterior
        if isinstance(known, SampledPosterior) and known.sample.has_tastes:
            return np.asarray(known.sample.typical_tastes[self._draws])
        return np.zeros(self.count)

    @cached_property
    def _taste_keys(self) -> Codes:
        """Judge and item of each known taste in one number, in ascending order."""
        known = self.posterior
        if isinstance(known, SampledPosterior) and known.sample.has_tastes:
            return known.sample.taste_judge * self.n_items + known.sample.taste_item
        return np.empty(0, dtype=np.int64)

    def tastes(self, judge: Codes, item: Codes) -> Floats:
        """Draws of the tastes of judges for items.

        What a judge thinks of an item is known, as far as it is, if the judge has voted on it.
        Otherwise a taste is drawn, the same for the same judge and item; nobody in particular has
        none that could be learnt.
        """
        if not len(self._taste_keys):
            return np.zeros((len(judge), self.count))
        found = self._new_tastes(judge, item)
        code = self.judge_code[judge]
        at, known = self._where_known(code, item)
        known &= code >= 0
        found[known] = self._known_tastes(at[known])
        found[code == ANYONE] = 0.0
        return found

    def _where_known(
        self, code: Codes | NDArray[np.int32], item: Codes | NDArray[np.int32]
    ) -> tuple[Codes, NDArray[np.bool_]]:
        """Where the tastes of the sample have those of judges, by code, if they do."""
        key = code.astype(np.int64) * self.n_items + item
        at = np.minimum(np.searchsorted(self._taste_keys, key), len(self._taste_keys) - 1)
        return at, self._taste_keys[at] == key

    def _tastes_of_votes(self, code: NDArray[np.int32], item: NDArray[np.int32]) -> Floats:
        """Those of judges of the votes."""
        draws = self._draws[self._draws_of_votes]
        found = np.zeros((len(code), len(draws)))
        if len(self._taste_keys):
            at, known = self._where_known(code, item)
            sample = self.posterior.sample  # type: ignore[union-attr]
            found[known] = sample.taste[np.ix_(draws // sample.every, at[known])].T
        return found

    def _known_tastes(self, at: Codes) -> Floats:
        """Of the tastes of the sample, some."""
        sample = self.posterior.sample  # type: ignore[union-attr]
        return np.asarray(sample.taste[np.ix_(self._draws // sample.every, at)].T)

    def _new_tastes(self, judge: Codes, item: Codes) -> Floats:
        """Tastes that nothing is known of; of many cells, some share theirs."""
        return np.asarray(self._kinds_of_tastes[(judge * APART + item) % KINDS])

    @cached_property
    def _kinds_of_tastes(self) -> Floats:
        return np.asarray(_kinds(self.count) * self.taste_sd)


def blurred(noise: Noise, mean: Floats | float, variance: Floats | float) -> Floats:
    """The ``x`` at which ``F`` is about what it is on average over a normal ``x``."""
    at_zero = -0.5 * float(noise.terms(0.0)[1])  # F'(0), as F(0) = 1/2
    return np.asarray(mean / np.sqrt(1.0 + 2.0 * np.pi * at_zero**2 * variance))


@lru_cache(maxsize=8)
def _kinds(count: int) -> Floats:
    """Tastes of spread 1 that are drawn for what judges have not seen, always the same."""
    drawn = np.random.default_rng([SEED, 2]).standard_normal((KINDS, count))
    drawn.flags.writeable = False
    return drawn


def beliefs_about(basis: Basis, judges: Sequence[int], new_items: int = 0) -> Beliefs:
    """What is believed, for choosing among these judges, by code."""
    return Beliefs(basis, np.array(judges, dtype=np.int64), new_items)
