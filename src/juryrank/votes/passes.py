"""Passes: what is to be found out about votes, judge by judge, wherever the votes are.

Nearly everything about votes is a sum over judges, or one thing for each judge. What is summed is
written as a pass: a value that can be called on the votes of some judges, and sent to another
machine. Whoever holds votes goes through them with a pass; the sums are added up by whoever asked:

    held by                 parts                              called
    `CodedVotes`, `Votes`   judges from ... to of the arrays   here, by threads
    the same, mapped        the same; memory is given back     here, by threads
    `juryrank.cluster`      shards, each with judges from 0    where the shard is

Parts depend on the votes alone, and what is found comes in their order: a sum has the same bits
however many threads or workers there are. Arrays with a row for each judge, `own`, are read and
written by all parts, each in the rows of its judges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from juryrank.types import Floats

Where = TypeVar("Where", contravariant=True)
Found = TypeVar("Found")
Part = TypeVar("Part")
Own = dict[str, NDArray[Any]]
"""Arrays by name, with a row for each judge."""

NOTHING_OWN: Own = {}
FAN_IN = 4
"""So many parts are added up at a time, then so many of these sums."""


@dataclass(frozen=True, eq=False)
class Pass(ABC, Generic[Where, Found]):
    """What is to be found out; subclasses are at the top of their modules, so they can be sent."""

    stops_early: ClassVar[bool] = False
    """Whether what is found in the first place is likely to be enough."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Of the arrays with a row for each judge, those that are read, and so go with the pass."""
        return ()

    @property
    def writes(self) -> tuple[str, ...]:
        """Those that are written, and so come back."""
        return ()

    def numbers(self, n_items: int) -> int:
        """About how many numbers each part has, if they are summed: many are where votes are."""
        return n_items

    @abstractmethod
    def __call__(self, here: Where, first: int, last: int, own: Own) -> Found:
        """What is found of the judges from ... to, of those that are here."""

    def for_judges(self, _judges: slice) -> Pass[Where, Found]:
        """The same for votes of these judges alone, counted from 0."""
        return self

    def in_whole(self, found: Found, _judges: slice) -> Found:
        """What was found of these judges alone, as part of all."""
        return found


def sum_of(parts: Iterator[Floats]) -> Floats:
    """The sum of the parts in the order of the tree; what is added to is overwritten."""
    return in_tree(parts, _added_to_first)


def _added_to_first(parts: Iterator[Floats]) -> Floats:
    total = next(parts)
    for part in parts:
        total += part
    return total


def in_tree(parts: Iterator[Part], add: Callable[[Iterator[Part]], Part]) -> Part:
    """Add up parts, a few at a time, then their sums, and so on; each when it is first needed.

    The order depends on the number of parts alone, and not on who adds which of them.
    """
    first, second = next(parts), next(parts, None)
    if second is None:
        return first
    return in_tree(_sums_of_groups(chain((first, second), parts), add), add)


def _sums_of_groups(parts: Iterator[Part], add: Callable[[Iterator[Part]], Part]) -> Iterator[Part]:
    for first in parts:
        yield add(chain((first,), islice(parts, FAN_IN - 1)))


def every_row(found: Any) -> Floats:
    """What was found of all judges, part by part, in one array."""
    return np.concatenate(list(found))
