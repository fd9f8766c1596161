"""What functions that take votes are given: votes, or what they can be read from."""

from __future__ import annotations

import os

import polars as pl

from juryrank.errors import InputError
from juryrank.reading.names import plain
from juryrank.votes.votes import ByValue, Votes


def as_votes(votes: Votes | object, *, by: str | None = None) -> Votes:
    """Give votes back as they are, read them from a path, or take them from a data frame.

    What holds votes, as a simulation or a data set does, stands for them.
    """
    held = getattr(votes, "votes", None)
    votes = held if isinstance(held, Votes | pl.DataFrame) else votes
    if isinstance(votes, Votes):
        return votes
    from juryrank.reading.reader import read_votes, votes_from

    if isinstance(votes, str | os.PathLike):
        return read_votes(votes, by=by)
    return votes_from(votes, by=by)


def votes_by(votes: Votes | object, column: str) -> ByValue:
    """Give the votes of each value of a column: `Votes` must have been read with it."""
    known = as_votes(votes, by=column).by
    if known is None or plain(known.column) != plain(str(column)):  # pandas may name by numbers
        raise InputError(
            f"The votes were read without the column {column!r}, and so cannot be ranked by it. "
            f"Name it when you read them: read_votes(..., by={column!r}) or "
            f"votes_from(..., by={column!r}), and then use nothing but concat_votes, "
            "without and in_pairs on them."
        )
    return known
