"""`concat_votes`: several votes into one, wherever each of them comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from juryrank.reading.given import as_votes
from juryrank.votes.concat import joined_votes
from juryrank.votes.votes import Votes


def concat_votes(*several: Votes | object, merge_names: bool = False) -> Votes:
    """Put several votes together: pairs from one file, rankings from another.

    Items and judges of the same label are the same; where some labels are text and others numbers,
    all become text. Which item was on the left is known afterwards if it was for all pairs.

    Args:
        several: `Votes`, paths or data frames, as several arguments or as one list of them.
        merge_names: Make names one that differ only in what is hard to see, as `read_votes` does;
            of votes that are joined, read each so too.
    """
    given = several[0] if len(several) == 1 and _is_list_of_votes(several[0]) else several
    return joined_votes(*(as_votes(votes) for votes in given), merge_names=merge_names)


def join_votes(*several: Votes | object, merge_names: bool = False) -> Votes:
    """Put several votes together: another name of `concat_votes`.

    Args:
        several: As for `concat_votes`.
        merge_names: As for `concat_votes`.
    """
    return concat_votes(*several, merge_names=merge_names)


def _is_list_of_votes(given: object) -> TypeGuard[Sequence[object]]:
    """Whether this is a list of votes, and not one of rows, which are votes themselves."""
    if not isinstance(given, list | tuple):
        return False
    return not any(isinstance(one, Mapping) for one in given)
