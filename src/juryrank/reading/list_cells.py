"""Cells that hold several items: ``a > b = c``, JSON lists, list columns, sets."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import polars as pl

from juryrank.errors import InputError
from juryrank.reading.ballots import Entries, Ints, row_numbers
from juryrank.reading.coding import in_words, labels
from juryrank.reading.nesting import (
    HALF_CHARACTER,
    flat,
    has_half_character,
    never_empty,
    without_arrays,
)
from juryrank.reading.rows import Mask

SET_SEPARATORS = "|;,"
RANKING_SEPARATORS = "\n;|,"
"""What parts the items of rankings that are written without ``>``, as forms do."""
VERSUS = r"(?i)\s+(?:vs\.?|versus)\s+"
_NUMBER = r"^[0-9]+\s*[.):]\s*"
_NESTED_TEXT = pl.List(pl.List(pl.String()))


@dataclass(frozen=True)
class Cells:
    """A column of rankings or sets, taken apart."""

    entries: Entries
    empty: Mask
    """The cells with nothing in them."""
    unreadable: Mask
    """The cells that are not written as they should be."""
    plain_text: Mask
    """The cells that are text with separators: blanks around their items do not count."""


def ranking_cells(column: pl.Series, *, may_be_one_item: bool = False) -> Cells:
    """Take rankings apart: items from the best down, those of one level tied.

    Where a ranking may be a single item of a set, only ``>`` parts items: a name may have commas.
    """
    _require_lists_or_text(
        column,
        "text such as a > b > c. If it is the position of the item in each row, say "
        f"--position {shlex.quote(column.name)} (position={column.name!r})",
    )
    if column.dtype.is_nested():
        return _of_lists(column)
    separator = ">" if may_be_one_item else ranking_separator(column)
    if separator == ">":
        return _of_text(column, separator, "=")
    return _of_text(_without_ends(labels(column), separator), separator, "")


def ranking_separator(column: pl.Series) -> str:
    """Tell what is between the items of rankings: ``>``, or what is so in most cells without it."""
    text = labels(column).drop_nulls().str.strip_chars()
    text = text.filter((text != "") & ~_is_bracketed(text))
    if not len(text) or text.str.contains("[>=]").any():
        return ">"
    ended = _without_ends(text, RANKING_SEPARATORS)
    often = (
        sign
        for sign in RANKING_SEPARATORS
        if 2 * int(ended.str.contains(sign, literal=True).sum()) > len(text)
    )
    return next(often, ">")


def separator_in_words(column: pl.Series) -> tuple[str, ...]:
    """Say what was taken to part the items of rankings, if it is not the usual sign."""
    if column.dtype.is_nested():
        return ()
    separator = ranking_separator(column)
    named = "line breaks" if separator == "\n" else separator
    return () if separator == ">" else (f"rankings with {named} between the items, the best first",)


def _without_ends(text: pl.Series, separator: str) -> pl.Series:
    """Take away separators at the end of a cell, which Microsoft Forms writes after each item."""
    return text.str.strip_chars_end(f"{separator} \r\n")


def set_cells(column: pl.Series) -> Cells:
    """Take sets apart; the levels mean nothing."""
    _require_lists_or_text(column, "text such as a | b | c")
    if column.dtype.is_nested():
        return _of_lists(column)
    text = labels(column)
    if _are_duels(text):
        text = text.str.replace_all(VERSUS, "|")
    return _of_text(text, _set_separator(text), "")


def _are_duels(text: pl.Series) -> bool:
    """Whether sets are two items each, such as ``tea vs milk``."""
    filled = text.drop_nulls()
    return len(filled) > 0 and bool((filled.str.count_matches(VERSUS) == 1).all())


def _require_lists_or_text(column: pl.Series, what: str) -> None:
    is_list = isinstance(column.dtype, pl.List | pl.Array)
    if is_list or (not column.dtype.is_nested() and labels(column).dtype == pl.String):
        return
    raise InputError(
        f"The column {column.name!r} holds {in_words(column.dtype)}, not lists of items. Give "
        f"lists, or {what}."
    )


def _set_separator(text: pl.Series) -> str:
    """Tell what is between the items of the sets: the first sign that occurs anywhere."""
    text = text.filter(~_is_bracketed(text).fill_null(False))
    found = (sign for sign in SET_SEPARATORS if text.str.contains(sign, literal=True).any())
    return next(found, SET_SEPARATORS[-1])


def _is_bracketed(text: pl.Series) -> pl.Series:
    bare = text.str.strip_chars()
    return bare.str.starts_with("[") & bare.str.ends_with("]")


# --- lists -------------------------------------------------------------------------------------


def _of_lists(column: pl.Series) -> Cells:
    """Take list columns apart, where a list within a list is a tie."""
    lists = without_arrays(column)
    nothing = np.zeros(len(lists), dtype=np.bool_)
    entries = _entries_of_lists(row_numbers(len(lists)), lists)
    empty = (lists.list.len().fill_null(0) == 0).to_numpy()
    return Cells(entries, empty, unreadable=nothing, plain_text=nothing)


def _entries_of_lists(row: Ints, lists: pl.Series) -> Entries:
    """Give the items of lists; the level of an item is its index, or that of its inner list."""
    owner, index, values = flat(lists)
    if isinstance(values.dtype, pl.List):
        inner_owner, _, values = flat(never_empty(values))
        owner, index = owner[inner_owner], index[inner_owner]
    return Entries(row[owner], index.astype(np.int32), labels(values))


# --- text --------------------------------------------------------------------------------------


def _of_text(column: pl.Series, separator: str, tie: str) -> Cells:
    """Take text apart: JSON lists, and items with signs between them."""
    text = labels(column).fill_null("").str.strip_chars()
    empty = (text == "").to_numpy()
    signs = [sign for sign in (separator, tie) if sign]
    has_sign = np.logical_or.reduce(
        [text.str.contains(sign, literal=True).to_numpy() for sign in signs]
    )
    in_json = np.flatnonzero(_is_bracketed(text).to_numpy())
    decoded = _decoded(text.gather(in_json))
    failed = in_json[decoded.is_null().to_numpy()]
    is_json = np.zeros(len(text), dtype=np.bool_)
    is_json[in_json] = True
    is_json[failed] = False
    unreadable = np.zeros(len(text), dtype=np.bool_)
    unreadable[failed] = ~has_sign[failed]
    plain_text = ~(empty | is_json | unreadable)
    from_json = _entries_of_lists(np.flatnonzero(is_json), decoded.drop_nulls())
    rows = np.flatnonzero(plain_text)
    from_text = _split(rows, text.filter(plain_text), separator, tie)
    empty[is_json] = (decoded.drop_nulls().list.len() == 0).to_numpy()
    entries = Entries(
        np.concatenate([from_json.row, from_text.row]),
        np.concatenate([from_json.level, from_text.level]),
        pl.concat([from_json.label.cast(pl.String), from_text.label]).alias(column.name),
    )
    return Cells(entries, empty, unreadable, plain_text)


def _split(row: Ints, text: pl.Series, separator: str, tie: str) -> Entries:
    owner, level, values = flat(text.str.split(separator))
    if tie and values.str.contains(tie, literal=True).any():
        inner_owner, _, values = flat(values.str.split(tie))
        owner, level = owner[inner_owner], level[inner_owner]
    return Entries(row[owner], level.astype(np.int32), _without_numbers(values, level, separator))


def _without_numbers(values: pl.Series, level: Ints, separator: str) -> pl.Series:
    """Take the numbers from ``1. tea``, ``2. milk`` on lines, if all items have theirs."""
    bare = values.str.strip_chars()
    if separator != "\n":
        return bare
    numbers = bare.str.extract(r"^([0-9]+)\s*[.):]").cast(pl.Int64, strict=False)
    is_numbered = (numbers == pl.Series(level + 1)).fill_null(False).all()
    return bare.str.replace(_NUMBER, "") if is_numbered else bare


def _decoded(cells: pl.Series) -> pl.Series:
    """Decode JSON lists of items, and of lists of tied items; nothing where a cell is no such."""
    lists = None
    # Polars makes the same sign of all halves of characters, and so one name of several.
    if not cells.str.contains(HALF_CHARACTER).any():
        with suppress(pl.exceptions.PolarsError):
            lists = cells.str.json_decode(_NESTED_TEXT)
    # Polars takes a cell of two lists for two cells.
    if lists is not None and len(lists) == len(cells):
        return lists
    return pl.Series(cells.name, [_one_decoded(cell) for cell in cells], dtype=_NESTED_TEXT)


def _one_decoded(cell: str) -> list[list[str | None]] | None:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    levels = [level if isinstance(level, list) else [level] for level in found]
    if any(isinstance(item, list | dict) for level in levels for item in level):
        return None
    if has_half_character(found):
        return None
    return [_as_text(level) for level in levels]


def _as_text(items: Sequence[object]) -> list[str | None]:
    """Write items as polars does when it decodes them."""
    return [
        item if item is None or isinstance(item, str) else json.dumps(item).removesuffix(".0")
        for item in items
    ]
