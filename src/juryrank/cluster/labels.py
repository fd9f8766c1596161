"""Labels become codes on a cluster: a dictionary in buckets, which no machine need hold whole.

Every piece of the votes has its own labels, sorted. Some of them cut the labels of all pieces into
buckets, in order; a task for each bucket makes the labels one. So codes are the ranks of labels
among all, as on one machine: what is drawn by code is the same. Of the labels none goes through
the client but those that cut; codes do, as numbers, so that a lost worker can be replaced without
going through all labels again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.cluster.engine import Engine
from juryrank.errors import InputError

if TYPE_CHECKING:
    from distributed import Future

Codes = NDArray[np.int32]

LABELS_OF_BUCKET = 2_000_000
CUTS_OF_PIECE = 64
"""Labels of a piece, evenly spaced, among which are those that cut."""


class Dictionary:
    """All labels of one kind, in buckets."""

    def __init__(self, engine: Engine, buckets: Sequence[Future], sizes: Sequence[int]) -> None:
        self._engine, self._buckets = engine, buckets
        self.before = np.concatenate(([0], np.cumsum(sizes)))

    def __len__(self) -> int:
        return int(self.before[-1])

    def labels(self) -> pl.Series:
        """All labels, in order."""
        every: list[pl.Series] = list(self._engine.results(self._buckets))
        return pl.concat(every)


def made_one(
    engine: Engine, labels: Sequence[Future], counts: Sequence[int], kinds: Sequence[str], what: str
) -> tuple[Dictionary, list[Codes]]:
    """The dictionary of the labels of all pieces, and the codes of the labels of each.

    Args:
        engine: Where the labels are.
        labels: The labels of each piece, once each and sorted.
        counts: How many each has.
        kinds: Their types.
        what: What they name, in words.
    """
    if len(set(kinds)) > 1:
        raise InputError(
            f"The names of {what}s are of different types in different files: "
            f"{', '.join(sorted(set(kinds)))}. Make them one type: CAST(... AS VARCHAR)."
        )
    cuts = _cuts(engine, labels, counts)
    number = len(cuts) + 1
    parts = [engine.submit("cut", cut, own, cuts) for own in labels]
    of_bucket = [
        [engine.submit("part", _part, part, bucket) for part in parts] for bucket in range(number)
    ]
    buckets = [engine.submit("bucket", merged, own) for own in of_bucket]
    sizes = list(engine.results([engine.submit("count", len, bucket) for bucket in buckets]))
    before = np.concatenate(([0], np.cumsum(sizes))).tolist()
    coded = [
        engine.submit(
            "codes",
            _joined,
            [
                engine.submit("some-codes", codes_of, own[piece], bucket, first)
                for own, bucket, first in zip(of_bucket, buckets, before, strict=False)
            ],
        )
        for piece in range(len(labels))
    ]
    return Dictionary(engine, buckets, sizes), list(engine.results(coded))


def _cuts(engine: Engine, labels: Sequence[Future], counts: Sequence[int]) -> pl.Series | list[Any]:
    number = -(-sum(counts) // LABELS_OF_BUCKET)
    if number <= 1:
        return []
    some = [engine.submit("some", evenly_spaced, own) for own in labels]
    found: list[pl.Series] = list(engine.results(some))
    every = pl.concat(found).sort()
    at = np.linspace(0, len(every), number + 1).astype(np.int64)[1:-1]
    return every.gather(at).unique().sort()


def evenly_spaced(labels: pl.Series) -> pl.Series:
    """Some of the labels of a piece."""
    return labels.gather_every(max(1, len(labels) // CUTS_OF_PIECE))


def cut(labels: pl.Series, cuts: pl.Series | list[Any]) -> list[pl.Series]:
    """Sorted labels by bucket."""
    bounds = [labels.search_sorted(cut, side="left") for cut in cuts]
    edges = [0, *bounds, len(labels)]
    return [labels.slice(a, b - a) for a, b in pairwise(edges)]


def _part(parts: Sequence[Any], number: int) -> Any:
    return parts[number]


def merged(parts: Sequence[pl.Series]) -> pl.Series:
    """The labels of a bucket, once each and sorted."""
    return pl.concat(parts).unique().sort()


def codes_of(part: pl.Series, bucket: pl.Series, before: int) -> Codes:
    """The codes of those labels of a piece that are in a bucket, after so many in others."""
    found: Codes = bucket.is_in(part.implode()).arg_true().to_numpy().astype(np.int32)
    return found + np.int32(before)


def _joined(parts: Sequence[Codes]) -> Codes:
    return np.concatenate(parts)
