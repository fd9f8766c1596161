"""Who won: the words of an outcome column, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import Coded, coded, labels
from juryrank.reading.columns import PairColumns
from juryrank.reading.names import NAMES, plain
from juryrank.votes import LEFT_WON, RIGHT_WON, TIE

UNKNOWN, AMBIGUOUS, SKIP, BOTH_BAD = 2, 3, 4, 5
"""Beside `LEFT_WON`, `TIE` and `RIGHT_WON`: what a row can be before it is a vote."""

_MEANINGS = {
    "left": LEFT_WON,
    "right": RIGHT_WON,
    "tie": TIE,
    "both_bad": BOTH_BAD,
    "skip": SKIP,
}
MEANINGS = "left, right, tie, both_bad or skip"
_TIES = ("tie", "ties", "tied", "draw", "equal", "tie_(inconsistent)")
_BOTH_BAD = ("both_bad", "bothbad", "both_are_bad", "neither", "tie_(bothbad)", "tie_(both_bad)")
NO_SIDE_WORDS = (
    dict.fromkeys(_TIES, TIE)
    | dict.fromkeys(_BOTH_BAD, BOTH_BAD)
    | dict.fromkeys(("skip", "skipped"), SKIP)
)
"""The words that say something other than which item is better."""
_WORDS = (
    {word: LEFT_WON for tier in NAMES["left"] for word in tier}
    | {word: RIGHT_WON for tier in NAMES["right"] for word in tier}
    | NO_SIDE_WORDS
)

Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every row, with the words it was told from."""

    codes: Codes
    words: pl.Series


def checked_map(outcome_map: Mapping[str, str] | None) -> dict[str, int]:
    """Check the user's meanings of words, and give them as codes."""
    codes = {}
    for word, meaning in (outcome_map or {}).items():
        code = _MEANINGS.get(plain(str(meaning)))
        if code is None:
            raise InputError(
                f"An outcome cannot be mapped to {meaning!r} (from {word!r}). "
                f"Known meanings: {MEANINGS}."
            )
        codes[str(word)] = code
    return codes


def outcomes(
    column: pl.Series, columns: PairColumns, items: Coded, meanings: Mapping[str, int]
) -> Outcomes:
    """Tell from each row's word who won.

    Args:
        column: The outcome column.
        columns: The user's columns, whose names may be used as words too.
        items: The coded left and right items, whose names may be used as words too.
        meanings: What the user says words mean; this goes before everything else.
    """
    words = as_text(column)
    word = coded(words, blank_is_missing=False)
    # The name of a side's column means that side, whatever other files mean by it.
    known = _WORDS | {plain(columns.left): LEFT_WON, plain(columns.right): RIGHT_WON}
    told = np.array([meaning(text, known, meanings) for text in word.labels], dtype=np.int8)
    (row_word,) = word.codes
    by_word = told[row_word]
    item_of_word = _item_of_word(word.labels, items.labels, meanings)
    if (told != UNKNOWN).all() and (item_of_word < 0).all():
        return Outcomes(by_word, words)
    by_item = _by_item(item_of_word[row_word], *items.codes)
    return Outcomes(_reconciled(by_word, by_item), words)


def as_text(column: pl.Series) -> pl.Series:
    """Take a column as words, nothing as the empty word."""
    column = labels(column)
    # Whole numbers with gaps come as floats from pandas, and are still whole numbers.
    if column.dtype.is_float() and (column.is_finite() & (column == column.round())).all():
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String).fill_null("")


def meaning(word: str, known: Mapping[str, int], meanings: Mapping[str, int]) -> int:
    """Tell what a word means: to the user, else to everyone, else `UNKNOWN`."""
    if word in meanings:
        return meanings[word]
    alike = (code for mapped, code in meanings.items() if plain(mapped) == plain(word))
    return next(alike, known.get(plain(word), UNKNOWN))


def _item_of_word(
    words: pl.Series, items: pl.Series, meanings: Mapping[str, int]
) -> NDArray[np.int32]:
    """Give for each word the item of that name, -1 if there is none."""
    names = items.cast(pl.String)
    code_of = {names[code]: code for code in names.is_in(words.implode()).arg_true()}
    for word in words if meanings else ():
        if meaning(word, {}, meanings) != UNKNOWN:
            code_of.pop(word, None)
    return np.array([code_of.get(word, -1) for word in words], dtype=np.int32)


def _by_item(named: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]) -> Codes:
    codes = np.full(len(named), UNKNOWN, dtype=np.int8)
    codes[(named == right) & (named >= 0)] = RIGHT_WON
    codes[(named == left) & (named >= 0)] = LEFT_WON
    return codes


def _reconciled(by_word: Codes, by_item: Codes) -> Codes:
    """Read each word as a word or as an item's name.

    Where both readings say different things, the column as a whole decides: if it can be read as
    names of the row's items and ties throughout, it is; else if as words throughout, it is that.
    """
    is_name, is_word = by_item != UNKNOWN, by_word != UNKNOWN
    clash = is_name & is_word & (by_item != by_word)
    if not clash.any():
        return np.where(is_word, by_word, by_item)
    no_side = np.isin(by_word, (TIE, BOTH_BAD, SKIP))
    tie_is_a_name_too = (no_side & is_name).any() and (no_side & ~is_name).any()
    if (is_name | no_side).all():
        if not tie_is_a_name_too:
            return np.where(is_name, by_item, by_word)
    elif is_word.all():
        return by_word
    return np.where(clash, np.int8(AMBIGUOUS), np.where(is_word, by_word, by_item))
