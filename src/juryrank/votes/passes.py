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
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from juryrank.types import Floats

Where = TypeVar("Where", contravariant=True)
Found = TypeVar("Found")
Own = dict[str, NDArray[Any]]
"""Arrays by name, with a row for each judge."""

NOTHING_OWN: Own = {}


@dataclass(frozen=True, eq=False)
class Pass(ABC, Generic[Where, Found]):
    """What is to be found out; subclasses are at the top of their modules, so they can be sent."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Of the arrays with a row for each judge, those that are read, and so go with the pass."""
        return ()

    @property
    def writes(self) -> tuple[str, ...]:
        """Those that are written, and so come back."""
        return ()

    @abstractmethod
    def __call__(self, here: Where, first: int, last: int, own: Own) -> Found:
        """What is found of the judges from ... to, of those that are here."""

    def for_judges(self, _judges: slice) -> Pass[Where, Found]:
        """The same for votes of these judges alone, counted from 0."""
        return self

    def in_whole(self, found: Found, _judges: slice) -> Found:
        """What was found of these judges alone, as part of all."""
        return found


def every_row(found: Any) -> Floats:
    """What was found of all judges, part by part, in one array."""
    return np.concatenate(list(found))
