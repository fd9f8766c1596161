"""Hints for who mistyped a name: only names that are near, none rather than a far one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR = 0.75
"""The similarity, from 0 to 1, from which two names are taken for one with a slip in it."""
MOST_HINTS = 3
SHORTEST_PART = 3
"""Shorter parts are in too many names."""


def likeness(one: str, other: str) -> float:
    """How similar two names are: 1 if they are the same."""
    return difflib.SequenceMatcher(None, one, other).ratio()


def near_names(wanted: object, names: Iterable[object]) -> list[str]:
    """The names that are spelled nearly as the wanted one, or have it in them, the nearest first.

    Upper and lower case are the same.
    """
    plain = str(wanted).casefold()
    known = {str(name).casefold(): str(name) for name in names}
    near = difflib.get_close_matches(plain, known, n=MOST_HINTS, cutoff=NEAR)
    if len(plain) >= SHORTEST_PART:
        near += sorted((name for name in known if plain in name and name not in near), key=len)
    return [known[name] for name in near[:MOST_HINTS]]


def did_you_mean(wanted: object, names: Iterable[object]) -> str:
    """A question that names what is near, with a blank before it, or nothing."""
    near = [repr(name) for name in near_names(wanted, names)]
    return f" Did you mean {' or '.join(near)}?" if near else ""
