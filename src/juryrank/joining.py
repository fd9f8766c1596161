"""`join_votes`: several votes into one, whatever their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.lists import Lists, taken
from juryrank.votes import LeftOut, Votes, are_equal_weights, equal_weights

Codes = NDArray[np.int32]


def join_votes(*several: Votes) -> Votes:
    """Put several votes together: pairs from one file, rankings from another.

    Items and judges of the same label are the same; where some labels are text and others numbers,
    all become text. Which item was on the left is known afterwards if it was for all pairs.
    """
    if not several:
        raise InputError("There are no votes to join.")
    strange = [type(votes).__name__ for votes in several if not isinstance(votes, Votes)]
    if strange:
        raise InputError(
            f"join_votes takes votes, one after the other, and not a {strange[0]}: read them first "
            "with read_votes or votes_from, and write join_votes(first, second)."
        )
    items, recoded_items = together([votes.items for votes in several])
    judges, recoded_judges = together([votes.judges for votes in several])
    judge = np.concatenate(
        [codes[votes.judge] for codes, votes in zip(recoded_judges, several, strict=True)]
    )
    order = np.argsort(judge, kind="stable")

    def pairs(column: Callable[[Votes, Codes], NDArray[np.generic]]) -> NDArray[np.generic]:
        parts = [column(*part) for part in zip(several, recoded_items, strict=True)]
        return np.concatenate(parts)[order]

    with_pairs = [votes for votes in several if votes.n_pairs]
    return Votes(
        items=items.alias("item"),
        judges=judges.alias("judge"),
        start=np.searchsorted(judge[order], np.arange(len(judges) + 1)),
        left=pairs(lambda votes, code: code[votes.left]).astype(np.int32),
        right=pairs(lambda votes, code: code[votes.right]).astype(np.int32),
        outcome=pairs(lambda votes, _: votes.outcome).astype(np.int8),
        weight=(
            equal_weights(len(judge))
            if all(are_equal_weights(votes.weight) for votes in several)
            else pairs(lambda votes, _: votes.weight).astype(np.float64)
        ),
        lists=_joined_lists(several, recoded_items, recoded_judges, len(judges)),
        both_bad=sum(votes.both_bad for votes in several),
        sides_known=bool(with_pairs) and all(votes.sides_known for votes in with_pairs),
        judges_known=all(votes.judges_known for votes in several),
        left_out=left_out_together([votes.left_out for votes in several]),
        notices=tuple(dict.fromkeys(notice for votes in several for notice in votes.notices)),
        reading=tuple(reading for votes in several for reading in votes.reading),
    )


def together(labels: list[pl.Series]) -> tuple[pl.Series, list[Codes]]:
    """All labels, sorted, and for each of the several the new code of every old one."""
    if len({series.dtype for series in labels}) > 1:
        labels = [series.cast(pl.String) for series in labels]
    every = pl.concat(labels).unique().sort()
    number = pl.int_range(len(every), dtype=pl.Int32, eager=True)
    return every, [
        series.replace_strict(every, number, return_dtype=pl.Int32).to_numpy() for series in labels
    ]


def _joined_lists(
    several: tuple[Votes, ...], items: list[Codes], judges: list[Codes], n_judges: int
) -> Lists:
    parts = [votes.lists for votes in several]
    judge = np.concatenate([codes[lists.judge] for codes, lists in zip(judges, parts, strict=True)])
    length = np.concatenate([lists.length for lists in parts])
    whole = Lists(
        start=np.array([0, len(judge)]),
        begin=np.concatenate(([0], np.cumsum(length))),
        item=np.concatenate(
            [codes[lists.item] for codes, lists in zip(items, parts, strict=True)]
        ).astype(np.int32),
        level=np.concatenate([lists.level for lists in parts]),
        ranked=np.concatenate([lists.ranked for lists in parts]),
        weight=np.concatenate([lists.weight for lists in parts]),
    )
    order = np.argsort(judge, kind="stable")
    start = np.searchsorted(judge[order], np.arange(n_judges + 1))
    return taken(whole, order)._replace(start=start)


def left_out_together(parts: Sequence[LeftOut]) -> LeftOut:
    """The rows left out of several sources."""
    return sum(parts, LeftOut())
