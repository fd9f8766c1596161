"""Labels come from data: they are shown, never interpreted."""

from __future__ import annotations

import unicodedata
from itertools import accumulate

LINE_BREAKS_AND_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
TEXT_DIRECTION_SIGNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

WIDEST_NAME = 60
"""In letters; of longer names the middle is left out, so that sentences can still be read."""

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
