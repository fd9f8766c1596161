"""The votes of each value of a column, which `juryrank rank --by` ranks apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from juryrank.errors import InputError, listing

if TYPE_CHECKING:
    from juryrank.model.points import Anchor
    from juryrank.votes.votes import ByValue, Votes


def votes_by_value(votes: Votes, column: str, anchor: Anchor | None) -> ByValue:
    """The votes of each value; complain, before the long work, if one has none on the anchor."""
    by = votes.by
    if by is None:
        raise InputError(
            f"The column {column!r} does not have the same name in all files: rename it in some."
        )
    if anchor is not None:
        _check_anchor(by, anchor[0])
    return by


def _check_anchor(by: ByValue, item: object) -> None:
    lacking = [value for value, votes in by.votes.items() if item not in votes.items.to_list()]
    if lacking:
        raise InputError(
            f"The anchor {item!r} has no votes in {len(lacking)} of {len(by.votes)} values of "
            f"{by.column!r}: {listing(lacking)}. Choose an item that all have, or leave these "
            "values out with --where."
        )
