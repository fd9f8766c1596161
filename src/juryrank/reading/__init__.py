"""Votes from files and data frames: every complaint about input is raised here.

What reads them is loaded when there is something to read, so that ranking votes begins at once.
"""

from typing import TYPE_CHECKING

from juryrank.reading.given import as_votes, votes_by

if TYPE_CHECKING:
    from juryrank.reading.reader import read_votes, votes_from, votes_of_some

__all__ = ["as_votes", "read_votes", "votes_by", "votes_from", "votes_of_some"]


def __getattr__(name: str) -> object:
    """Load a reader when it is first used."""
    if name not in ("read_votes", "votes_from", "votes_of_some"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from juryrank.reading import reader

    return getattr(reader, name)
