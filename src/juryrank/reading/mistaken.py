"""Columns that are called one thing and hold another: outcomes under the name of winners."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from juryrank.errors import InputError, listing
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import Part, first_rows, header, value_counts
from juryrank.reading.names import side_pairs
from juryrank.reading.outcome_words import number_in
from juryrank.reading.outcomes import looks_like_outcome

HEAD = 1000
"""Rows that are looked at before all are."""


def check_winners(parts: Sequence[Part], columns: PairColumns) -> None:
    """Ask about winners that look like outcomes, where no loser looks like them."""
    if columns.outcome is not None:
        return
    head = first_rows(parts, [columns.left, columns.right], HEAD)
    if head.width < 2 or not _are_outcomes(head[columns.left].drop_nulls().unique().to_list()):
        return
    winners, losers = (
        [value for value, _ in value_counts(parts, name)] for name in (columns.left, columns.right)
    )
    if _are_outcomes(winners) and not any(_is_alike(loser, winners) for loser in losers):
        raise InputError(
            f"The column {columns.left!r} holds {listing([repr(word) for word in winners])}, and "
            f"the column {columns.right!r} none of these: they look like outcomes, not like items. "
            f"{_way_out(header(parts[0]), columns.left)}"
        )


def _are_outcomes(words: Sequence[str]) -> bool:
    """Whether words say nothing but which side is better, and not always the same."""
    return len(words) > 1 and all(looks_like_outcome(word) for word in words if word.strip())


def _is_alike(loser: str, winners: Sequence[str]) -> bool:
    """Whether a loser looks like an outcome too, or is a letter or number as the winners are."""
    short = all(_is_short(winner) for winner in winners)
    return looks_like_outcome(loser) or (short and _is_short(loser))


def _is_short(word: str) -> bool:
    return len(word.strip()) <= 1 or number_in(word) is not None


def _way_out(names: Sequence[str], outcome: str) -> str:
    left, right = (side_pairs(names) or [("COLUMN", "COLUMN")])[0]
    options = (("left", left), ("right", right), ("winner", outcome))
    said = " ".join(f"--{option} {shlex.quote(name)}" for option, name in options)
    return f"Name the columns of the two items: {said}. If they are items, give them other names."
