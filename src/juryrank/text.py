"""Labels come from data: they are shown, never interpreted."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate, takewhile

LINE_BREAKS_AND_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
TEXT_DIRECTION_SIGNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

WIDEST_NAME = 60
"""In letters; of longer names the middle is left out, so that sentences can still be read."""

LONGEST_COMPARED = 2000
"""In letters, of names that are told apart: of longer ones, so many at each end."""
SHORTEST_BEGINNING = 8
"""In letters: what names begin with is left out if it is at least as long."""

LONGEST_PATH = 300
"""In letters, of the names of files in messages."""


def literal(text: object) -> str:
    """Give text in which control characters and line breaks are visible and do nothing."""
    return "".join(_visible(sign) for sign in str(text))


def _visible(sign: str) -> str:
    harmful = unicodedata.category(sign) in LINE_BREAKS_AND_CONTROLS or sign in TEXT_DIRECTION_SIGNS
    return sign.encode("unicode_escape").decode() if harmful else sign


def short(text: object, most: int) -> str:
    """Give text that is at most so many letters wide: of a long one the middle is left out.

    Names often begin alike and differ in how they end.
    """
    shown = literal(_ends(str(text), most))
    if _width(shown) <= most:
        return shown
    end = (most - 1) // 2
    return f"{_begin(shown, most - 1 - end)}\u2026{_begin(shown[::-1], end)[::-1]}"


def told_apart(names: Sequence[object], most: int) -> list[str]:
    """Shorten names to so many letters, so that no two that differ look the same.

    What all long ones begin with is left out; then the middle of those that are still too long.
    Those that look the same even then are numbered.
    """
    whole = [literal(_ends(str(name), LONGEST_COMPARED)) for name in names]
    if all(_width(name) <= most for name in whole):
        return whole
    begin = _common_beginning(whole)
    tails = [f"\u2026{name[begin:]}" if begin else name for name in whole]
    shown = [short(name, most) for name in tails]
    seen: dict[str, list[str]] = {}
    for one, name in zip(shown, map(str, names), strict=True):
        same = seen.setdefault(one, [])
        same += [] if name in same else [name]
    numbers = [seen[one].index(str(name)) for one, name in zip(shown, names, strict=True)]
    return [
        f"{short(one, most - len(str(number)) - 3)} ({number + 1})" if len(seen[one]) > 1 else one
        for one, number in zip(shown, numbers, strict=True)
    ]


def _common_beginning(names: Sequence[str]) -> int:
    """How many letters all names begin with, up to the end of a word; 0 if it is not worth it."""
    letters = zip(min(names), max(names), strict=False)  # between which all others are
    common = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], letters))
    end = common.rfind("/")  # of paths, the slash is kept
    if end < SHORTEST_BEGINNING:
        end = max(common.rfind(sign) + 1 for sign in "\\_-. :")
    return end if len(names) > 1 and end >= SHORTEST_BEGINNING else 0


def within(text: str, most: int) -> str:
    """Give text as it is, unless it is longer than so many letters."""
    return text if len(text) <= most else short(text, most)


def _ends(text: str, most: int) -> str:
    """As much of a text's beginning and end as can be shown: it may be a megabyte."""
    return text if len(text) <= 2 * most else text[:most] + text[-most:]


def _begin(text: str, most: int) -> str:
    """As much of a text as fits."""
    widths = accumulate(_width(sign) for sign in text)
    return "".join(sign for sign, width in zip(text, widths, strict=True) if width <= most)


def _width(text: str) -> int:
    """In letters; signs of Chinese and the like, and most pictures, are two letters wide."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
