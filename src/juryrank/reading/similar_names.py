"""Names that look the same, among those of one source: told or, if the user wants, merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.reading.coding import MISSING, PIECE, Coded, Codes, translated
from juryrank.votes.similar_names import (
    Spellings,
    by_frequency,
    made_one,
    spellings_of,
    twins_among,
)

Ints = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


class Seen:
    """How often each label occurs, and where first."""

    def __init__(self, number: int) -> None:
        self.times = np.zeros(number, dtype=np.int64)
        self.first = np.full(number, NEVER)

    def look(self, codes: Codes, rows: Ints | None = None, before: int = 0) -> None:
        """Take note of labels that stand in these rows, or one in each row from `before` on."""
        for a in range(0, len(codes), PIECE):
            piece = codes[a : a + PIECE]
            row = np.arange(before + a, before + a + len(piece))
            self._look(piece, row if rows is None else rows[a : a + PIECE])

    def _look(self, codes: Codes, row: Ints) -> None:
        named = codes >= 0
        if not named.all():
            codes, row = codes[named], row[named]
        self.times += np.bincount(codes, minlength=len(self.times))
        earlier = np.flatnonzero(row < self.first[codes])
        np.minimum.at(self.first, codes[earlier], row[earlier])


class Spelled(NamedTuple):
    """Labels, of which those that look the same may have been made one."""

    labels: pl.Series
    table: Codes | None
    """For each code before the new one, and a last entry for none; None if nothing changed."""
    spellings: Spellings | None
    """What is to be said of names that look the same; None if no two do."""

    def codes(self, codes: Codes) -> Codes:
        """Give the codes of these labels for those of the labels before."""
        return codes if self.table is None else translated(codes, self.table)


def spelled(
    labels: pl.Series, kind: str, look_at: Callable[[Seen], None], *, merge: bool
) -> Spelled:
    """Find labels that look the same, and make them one if wanted.

    Args:
        labels: The labels, each once.
        kind: Whose they are: "item" or "judge".
        look_at: Shows where the labels occur; not called if no two look the same.
        merge: Whether to make them one: the most frequent spelling, or the first of several.
    """
    twins = twins_among(labels)
    if twins is None:
        return Spelled(labels, None, None)
    seen = Seen(len(labels))
    look_at(seen)
    ranked = by_frequency(twins, seen.times, seen.first)
    told = spellings_of(kind, labels, ranked, merged=merge)
    if not merge:
        return Spelled(labels, None, told)
    kept, new = made_one(len(labels), ranked)
    return Spelled(labels.gather(kept), np.append(new, np.int32(MISSING)), told)


def with_spellings(
    found: Coded, kind: str, *, merge: bool, rows: Sequence[Ints] | None = None
) -> Coded:
    """Labels and codes, of which those that look the same are told, or made one.

    Args:
        found: The labels and codes.
        kind: Whose they are: "item" or "judge".
        merge: Whether to make them one.
        rows: The rows in which each column of codes stands, if that is not one after the other.
    """

    def look_at(seen: Seen) -> None:
        for at, codes in enumerate(found.codes):
            seen.look(codes, None if rows is None else rows[at])

    names = spelled(found.labels, kind, look_at, merge=merge)
    codes = tuple(names.codes(some) for some in found.codes)
    return replace(found, labels=names.labels, codes=codes, spellings=names.spellings)


def told(*found: Spellings | None) -> tuple[Spellings, ...]:
    """Those of whom there is something to be said."""
    return tuple(one for one in found if one is not None)


def sentences(found: Sequence[Spellings]) -> tuple[str, ...]:
    """What is to be said of names that look the same."""
    return tuple(str(one) for one in found)
