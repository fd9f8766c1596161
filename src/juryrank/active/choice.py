"""The choice itself: question after question, each given those before it and those that are out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.active.answer import fisher
from juryrank.active.batch import Answers, Batch
from juryrank.active.beliefs import Beliefs, Questions
from juryrank.active.candidates import candidates
from juryrank.active.gain import LEAST_GAIN, Outlook, outlook
from juryrank.active.opening import Opening
from juryrank.active.rules import Rules
from juryrank.active.targets import Target, widest_first
from juryrank.inference.opinions import Codes
from juryrank.types import Floats

Chosen = Literal["policy", "random", "opening"]
KNOWN = 10
"""Questions after which it is known about how accurate a judge is."""
AGAIN = 0.5
"""What a question is worth, by what it tells, that is out already and has not been answered."""


class Choice(NamedTuple):
    """A question that was chosen, by code."""

    left: int
    right: int
    judge: int
    gain: float | None
    chosen: Chosen
    propensity: float | None


@dataclass(eq=False)
class Chooser:
    """Chooses by what is believed, within the rules."""

    beliefs: Beliefs
    rules: Rules
    target: Target
    random_share: float
    rng: np.random.Generator

    def choices(self, pending: Questions, first: list[Choice], wanted: int) -> Iterator[Choice]:
        """So many questions, or as many as there are; `first` of them came before by the rules."""
        asked_of = np.flatnonzero(self.rules.limits.is_open)  # at their limit of views or not
        self._events = self.target.events(self.beliefs, asked_of)
        self._focus = self.target.focus(self.beliefs, asked_of)
        out = _joined(pending, _questions_of(first))
        self._out, self._answers = [out], self._answers_to(out)
        batch, among, again = self._batch(wanted)
        for _ in range(wanted):
            number = self.rules.number()
            if not number:
                return
            worth = batch.gains * self._value(batch, among)
            worth[~self.rules.allowed(among)] = -1.0
            if not len(worth) or worth.max() < 0.0:
                batch, among, again = self._batch(wanted)
                if not len(among):
                    return
                worth = batch.gains * self._value(batch, among)
            best = _best(worth, again)
            policy = (int(among.judge[best]), int(among.one[best]), int(among.other[best]))
            drawn = self._drawn_at_random()
            gain = float(batch.gains[best])
            if drawn is None or drawn == policy:
                batch.answer(best)
            else:
                gain = batch.answer_other(self._outlook(_single(*drawn)))
            asked = policy if drawn is None else drawn
            put = _single(*asked)
            self._out.append(put)
            again |= _are_any_of(among, put)
            by_policy = (1.0 - self.random_share) * (asked == policy)
            left, right = self.rules.put(*asked, self.rng)
            yield Choice(
                left, right, asked[0], gain, "policy" if drawn is None else "random",
                self.random_share / number + by_policy,
            )  # fmt: skip

    def _value(self, batch: Batch, among: Questions) -> Floats:
        """By what to multiply gains: 1 over the cost, unless judges have prices.

        What the first answers of judges tell is little different, as it is mostly about the judges,
        and cheap ones who guess would be asked for ever. Later, where scores are known well and
        tastes of the variance ``t^2`` blur them, an answer has the information
        ``w a^2 / (1 + 2 w a^2 t^2)`` about a gap near 0. Judges are compared by the mean of that
        over the draws, and the questions to each by their gains. As long as a judge was hardly
        asked, the mean says little of it, and its price counts by its root.
        """
        cost = self.rules.limits.cost
        asked_of = cost[self.rules.limits.capacity > 0]
        if not len(asked_of) or asked_of.min() == asked_of.max():
            return np.asarray(1.0 / cost[among.judge])
        beliefs, top = self.beliefs, np.full(len(cost), LEAST_GAIN)
        np.maximum.at(top, among.judge, batch.alone)
        told = beliefs.accuracy**2 * fisher(beliefs.noise, np.zeros(1))
        rate = (told / (1.0 + 2.0 * told * beliefs.taste_sd**2)).mean(axis=1)
        known = beliefs.answers + self.rules.asked >= KNOWN
        price = np.where(known, cost, np.sqrt(asked_of.min() * cost))
        return np.asarray((rate / (price * top))[among.judge])

    def _drawn_at_random(self) -> tuple[int, int, int] | None:
        """A question that is drawn uniformly, if the coin says so."""
        if self.rng.random() >= self.random_share:
            return None
        drawn = self.rules.any_open(self.rng)
        if drawn is None:
            return None
        judge, one, other = drawn
        return judge, min(one, other), max(one, other)

    def _outlook(self, questions: Questions) -> Outlook:
        found = outlook(self.beliefs, questions, self._events)
        if self.target.kind != "widths":
            return found
        gain = widest_first(found.gain, self.beliefs, questions.one, questions.other)
        return Outlook(gain, found.deviation, found.weight)

    def _answers_to(self, out: Questions) -> Answers:
        """What is known when the questions that are out have been answered."""
        answers = Answers(self.beliefs.count)
        if len(out):
            known = outlook(self.beliefs, out, None)
            for deviation, told in zip(known.deviation, known.weight.tolist(), strict=True):
                answers.count(answers.of(deviation), told)
        return answers

    def _batch(self, wanted: int) -> tuple[Batch, Questions, NDArray[np.bool_]]:
        """Candidates, as they are after the answers to all that is out, and which of them are."""
        among = candidates(self.beliefs, self.rules, self._focus, wanted, self.rng)
        batch = Batch(self._outlook(among), self._answers)
        return batch, among, _are_any_of(among, _joined(*self._out))


def _best(worth: Floats, again: NDArray[np.bool_]) -> int:
    """The question that is worth most, where one that is out already counts for half.

    What draws say of a question is a little off, and the largest of many gains is too large; asked
    again and again before its answer is known, it would take the place of others as good.
    """
    return int(np.argmax(np.where(again & (worth > 0.0), AGAIN * worth, worth)))


def first_by_rules(
    rules: Rules, group: Codes, least_views: int | None, wanted: int, rng: np.random.Generator
) -> list[Choice]:
    """The questions that come first: what connects groups, and items that were hardly seen."""
    put: list[tuple[int, int, int]] = []
    turns = np.zeros(len(rules.limits.capacity), dtype=np.int64)

    def ask(one: int, other: int) -> bool:
        judges = rules.judges
        for judge in judges[np.lexsort((rng.random(len(judges)), turns[judges]))].tolist():
            if rules.allows(judge, one, other):
                put.append((judge, *rules.put(judge, one, other, rng)))
                turns[judge] += 1
                return True
        return False

    opening = Opening(rules.items(), group, rules.views, ask, rng)
    for asked in (opening.links(), opening.least_seen(least_views)):
        while len(put) < wanted and next(asked, None) is not None:
            pass
    return [Choice(left, right, judge, None, "opening", None) for judge, left, right in put]


def with_gains(beliefs: Beliefs, choices: list[Choice]) -> list[Choice]:
    """The same, with what the questions that the rules chose tell by themselves."""
    if not choices:
        return choices
    gains: Floats = outlook(beliefs, _questions_of(choices), None).gain
    return [one._replace(gain=gain) for one, gain in zip(choices, gains.tolist(), strict=True)]


def _questions_of(choices: list[Choice]) -> Questions:
    columns = [[one.judge, one.left, one.right] for one in choices]
    table: NDArray[np.int64] = np.array(columns, dtype=np.int64).reshape(len(choices), 3)
    return Questions(*table.T)


def _are_any_of(questions: Questions, others: Questions) -> NDArray[np.bool_]:
    """Which questions are among others, whichever item is on the left."""
    items = (questions.one, questions.other, others.one, others.other)
    n = 1 + max(int(codes.max(initial=0)) for codes in items)
    return np.isin(_keys(questions, n), _keys(others, n))


def _keys(questions: Questions, n: int) -> Codes:
    """A number for each judge and pair of `n` items."""
    low = np.minimum(questions.one, questions.other)
    high = np.maximum(questions.one, questions.other)
    return np.asarray((questions.judge * n + low) * n + high)


def _single(judge: int, one: int, other: int) -> Questions:
    return Questions(*(np.array([code], dtype=np.int64) for code in (judge, one, other)))


def _joined(*several: Questions) -> Questions:
    parts = ("judge", "one", "other")
    return Questions(*(np.concatenate([getattr(one, part) for one in several]) for part in parts))
