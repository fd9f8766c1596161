"""The rules around a choice: who may be asked what, how often, and on which side items stand.

A question is a judge, by row, and a pair of items, by code; its key is one number for all three.
Judges are those who can be asked; "nobody in particular" is one where nobody is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from juryrank.active.beliefs import Questions
from juryrank.inference.opinions import Codes

NO_LIMIT = int(np.iinfo(np.int64).max)
TRIES = 200
"""Draws after which an open question is searched for among all."""


def question_keys(n_items: int, judge: Codes, one: Codes, other: Codes) -> Codes:
    """A number for each question, whichever item comes first."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    return np.asarray((judge * n_items + low) * n_items + high, dtype=np.int64)


def are_among(keys: Codes, ascending: Codes) -> NDArray[np.bool_]:
    """Which of the keys are among others."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[at] == keys)


@dataclass(frozen=True, eq=False)
class Limits:
    """What may be asked, by code."""

    is_open: NDArray[np.bool_]
    """Of all items, which may be asked about."""
    capacity: Codes
    """Of each judge, how many questions it can take; `NO_LIMIT` for any number."""
    cost: NDArray[np.float64]
    """Of each judge, what a question costs."""
    most_views: int = NO_LIMIT
    repeats: bool = False
    barred_items: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    """Of judges who may not see some items, which."""


@dataclass(eq=False)
class Rules:
    """What may be asked now: every question that is put changes it."""

    limits: Limits
    closed: Codes
    """Keys of questions that are not to come (again), in ascending order."""
    views: Codes
    """Of each item, in how many questions it is."""
    lean: Codes
    """Of each item, how many times more it was on the left than on the right."""
    last_left: dict[int, int] = field(default_factory=dict)
    """By the key of a question that may be repeated, what was on the left the last time."""

    def __post_init__(self) -> None:
        self.left = self.limits.capacity.copy()
        self.asked: Codes = np.zeros_like(self.left)
        """Of each judge, how many questions were put to it."""
        self._put = np.empty(0, dtype=np.int64)  # keys in ascending order
        self._number: dict[int, int] = {}

    @property
    def n_items(self) -> int:
        """All items, closed ones included."""
        return len(self.views)

    @property
    def _is_open(self) -> NDArray[np.bool_]:
        return np.asarray(self.limits.is_open & (self.views < self.limits.most_views))

    @property
    def judges(self) -> Codes:
        """The judges who can still be asked."""
        return np.flatnonzero(self.left > 0)

    def items(self, judge: int | None = None) -> Codes:
        """The items that may still be asked about, by one judge or by somebody."""
        barred = None if judge is None else self.limits.barred_items.get(judge)
        found = self._is_open if barred is None else self._is_open & ~barred
        return np.flatnonzero(found)

    def allowed(self, questions: Questions) -> NDArray[np.bool_]:
        """Which questions may be asked now."""
        judge, one, other = questions.judge, questions.one, questions.other
        is_open = self._is_open
        found = (self.left[judge] > 0) & is_open[one] & is_open[other]
        for who, barred in self.limits.barred_items.items():
            found &= (judge != who) | ~(barred[one] | barred[other])
        keys = question_keys(self.n_items, judge, one, other)
        found &= ~are_among(keys, self.closed)
        if not self.limits.repeats:
            found &= ~are_among(keys, self._put)
        return np.asarray(found)

    def allows(self, judge: int, one: int, other: int) -> bool:
        """Whether a single question may be asked now."""
        asked = Questions(*(np.array([code]) for code in (judge, one, other)))
        return one != other and bool(self.allowed(asked)[0])

    def put(self, judge: int, one: int, other: int, rng: np.random.Generator) -> tuple[int, int]:
        """Count a question as put; its items come back as left and right.

        What was on the left less often stands there now; a repeated question is turned.
        """
        key = int(question_keys(self.n_items, *(np.array([c]) for c in (judge, one, other)))[0])
        lean, before = int(self.lean[one] - self.lean[other]), self.last_left.get(key)
        heads = bool(rng.random() < 0.5)
        turned = before == one if before is not None else lean > 0 or (lean == 0 and heads)
        left, right = (other, one) if turned else (one, other)
        self.lean[left] += 1
        self.lean[right] -= 1
        self.views[[one, other]] += 1
        self.left[judge] -= int(self.left[judge] < NO_LIMIT)
        self.asked[judge] += 1
        self.last_left[key] = left
        if not self.limits.repeats:
            self._put = np.insert(self._put, np.searchsorted(self._put, key), key)
        if self.limits.repeats or judge not in self._number:
            return left, right
        self._number[judge] -= 1
        if (self.views[[one, other]] >= self.limits.most_views).any():
            self._number.clear()
        return left, right

    # --- a question drawn at random --------------------------------------------------------------

    def number(self) -> int:
        """How many questions are open: pairs, of all judges."""
        return sum(self._open_to(judge) for judge in self.judges.tolist())

    def most(self) -> int | None:
        """How many questions can still be asked at most; None for any number."""
        judges = self.judges.tolist()
        room = [int(self.left[judge]) for judge in judges]
        if not self.limits.repeats:
            pairs = map(self._open_to, judges)
            room = [min(both) for both in zip(room, pairs, strict=True)]
        total = sum(room)
        return None if total >= NO_LIMIT else total

    def _open_to(self, judge: int) -> int:
        """How many pairs are open to a judge: all of its items, less those that are closed."""
        if judge not in self._number:
            own, n = np.zeros(self.n_items, dtype=np.bool_), self.n_items
            own[self.items(judge)] = True
            own_keys = (judge * n * n, (judge + 1) * n * n)
            shut = np.unique(
                np.concatenate(
                    [
                        keys[slice(*np.searchsorted(keys, own_keys))]
                        for keys in (self.closed, self._put)
                    ]
                )
            )
            one, other = np.divmod(shut % (n * n), n)
            some = int(own.sum())
            self._number[judge] = some * (some - 1) // 2 - int((own[one] & own[other]).sum())
        return self._number[judge]

    def any_open(self, rng: np.random.Generator) -> tuple[int, int, int] | None:
        """An open question, all of them being equally likely; None if there is none."""
        judges = self.judges
        number = np.array([self._open_to(judge) for judge in judges.tolist()], dtype=np.float64)
        if not number.sum():
            return None
        judge = int(rng.choice(judges, p=number / number.sum()))
        items = self.items(judge)
        for _ in range(TRIES):
            one, other = items[rng.choice(len(items), 2, replace=False)].tolist()
            if self.allows(judge, one, other):
                return judge, one, other
        first, second = np.triu_indices(len(items), 1)
        every = Questions(np.full(len(first), judge), items[first], items[second])
        at = int(rng.choice(np.flatnonzero(self.allowed(every))))
        return judge, int(every.one[at]), int(every.other[at])
