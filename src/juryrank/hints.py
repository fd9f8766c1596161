"""Hints for who mistyped a name: only names that are near, none rather than a far one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

NEAR = 0.75
"""The similarity, from 0 to 1, from which two names are taken for one with a slip in it."""
MOST_HINTS = 3
SHORTEST_PART = 3
"""Shorter parts are in too many names."""
SHORTEST_BEGINNING = 2
LONGEST_COMPARED, MOST_COMPARED = 200, 20_000
"""Longer names, and more of them, are not compared: that takes a time nobody waits for."""


def likeness(one: str, other: str, at_least: float = 0.0) -> float:
    """How similar two names are: 1 if they are the same, 0 if one is too long to be compared.

    Names that are less similar than `at_least` may be given 0: to see that takes less time.
    """
    longer, both = max(len(one), len(other)), len(one) + len(other)
    if longer > LONGEST_COMPARED:
        return float(one == other)
    if 2 * (both - longer) < at_least * both:
        return 0.0
    if at_least and 2 * _shared_letters(one, other) < at_least * both:
        return 0.0
    return difflib.SequenceMatcher(None, one, other).ratio()


def _shared_letters(one: str, other: str) -> int:
    """How many letters two names have in common, in whatever order."""
    mine, theirs = _letters(one), _letters(other)
    return sum(min(number, theirs[letter]) for letter, number in mine.items() if letter in theirs)


@lru_cache(maxsize=4_096)
def _letters(name: str) -> Counter[str]:
    """How often each letter is in a name; the names that columns may have are asked for often."""
    return Counter(name)


def near_names(wanted: object, names: Iterable[object]) -> list[str]:
    """The names that begin with the wanted one, are spelled nearly as it, or have it in them.

    Upper and lower case are the same.
    """
    plain = str(wanted).casefold()
    few = (str(name) for name in islice(names, MOST_COMPARED))
    known = {name.casefold(): name for name in few if len(name) <= LONGEST_COMPARED}
    if len(plain) > LONGEST_COMPARED:
        return []
    near: list[str] = []
    if len(plain) >= SHORTEST_BEGINNING:
        near += sorted((name for name in known if name.startswith(plain)), key=len)
    near += difflib.get_close_matches(plain, known, n=MOST_HINTS, cutoff=NEAR)
    if len(plain) >= SHORTEST_PART:
        near += sorted((name for name in known if plain in name), key=len)
    return [known[name] for name in list(dict.fromkeys(near))[:MOST_HINTS]]


def did_you_mean(wanted: object, names: Iterable[object]) -> str:
    """A question that names what is near, with a blank before it, or nothing."""
    near = [repr(name) for name in near_names(wanted, names)]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def did_you_mean_all(wanted: Sequence[object], names: Sequence[object]) -> str:
    """The same of several wanted names, of which only the first few have a hint."""
    if len(wanted) == 1:
        return did_you_mean(wanted[0], names)
    hints = ((one, did_you_mean(one, names)) for one in wanted[:MOST_HINTS])
    return "".join(f" {one!r}:{hint}" for one, hint in hints if hint)
