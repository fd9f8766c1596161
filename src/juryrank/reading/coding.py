"""Labels become codes, votes are sorted by judge: the last step on the way to `Votes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import randbits
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank import _core
from juryrank.errors import InputError
from juryrank.votes.similar_names import Spellings

MISSING = -1
_WHOLE_NUMBER = r"^(?:0|-?[1-9][0-9]{0,18})$"

HASHED = (
    pl.String, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
)  # fmt: skip

Codes = NDArray[np.int32]
Hashes = NDArray[np.uint64]
Entry = TypeVar("Entry", bound=np.generic)
Numbers = TypeVar("Numbers", pl.Series, pl.Expr)

PIECE = 1 << 16
"""Rows whose temporary arrays stay in the cache."""
SLICE = 1 << 18
SAMPLE = 1 << 14
"""Of more rows than these so many are looked at first, to find the labels that occur often, but
at most one in so many:"""
SPARSEST = 8
SLOTS_PER_LABEL = 8
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Coded:
    """Columns of labels of one kind as codes, which index the labels; `MISSING` for no label."""

    labels: pl.Series
    codes: tuple[Codes, ...]
    spellings: Spellings | None = None
    """What is to be said of labels that look the same."""

    @property
    def has_missing(self) -> bool:
        """Whether some row has no label."""
        return any(bool(codes.min(initial=0) < 0) for codes in self.codes)


def same_kind(*columns: pl.Series) -> tuple[pl.Series, ...]:
    """Make columns of items one type, so that they can be told apart and sorted."""
    columns = tuple(labels(column) for column in columns)
    filled = [column for column in columns if column.null_count() < len(column)]
    other = next((column for column in filled if column.dtype != filled[0].dtype), None)
    if other is None:
        kind = filled[0].dtype if filled else pl.String()
        return tuple(column.cast(kind) for column in columns)
    whole = [whole_numbers(column) for column in columns]
    if all(column is not None for column in whole):
        return tuple(column for column in whole if column is not None)
    if all(column.dtype.is_integer() for column in filled):
        return tuple(column.cast(pl.Int128) for column in columns)
    raise InputError(
        f"The items are of different types: {in_words(filled[0].dtype)} in the column "
        f"{filled[0].name!r}, {in_words(other.dtype)} in {other.name!r}. Make both "
        "numbers or both text."
    )


def whole_numbers(column: pl.Series) -> pl.Series | None:
    """Numbers as whole numbers, if they are; pandas makes floats of those with a gap."""
    if column.dtype.is_integer():
        found = column.cast(pl.Int64, strict=False)
        return found if found.null_count() == column.null_count() else None
    if column.dtype.is_float() and is_whole(column).all():
        return column.cast(pl.Int64)
    return None


def is_whole(numbers: Numbers) -> Numbers:
    """Tell which floats are whole numbers that can be stored as such, or nothing."""
    return numbers.cast(pl.Int64, strict=False).cast(pl.Float64).eq_missing(numbers)


def labels(column: pl.Series) -> pl.Series:
    """Take a column as labels, as given: only ways to store text are made one."""
    if column.dtype.is_float():
        return column.fill_nan(None)
    if isinstance(column.dtype, pl.Categorical | pl.Enum | pl.Binary | pl.Null):
        try:
            text = column.cast(pl.String)
        except pl.exceptions.PolarsError as error:
            raise _no_labels(column) from error
        if column.dtype == pl.Binary and text.str.contains("\x00", literal=True).any():
            raise _no_labels(column)
        return text
    if column.dtype.is_nested() or column.dtype == pl.Duration or is_opaque(column.dtype):
        raise _no_labels(column)
    return column


def is_opaque(dtype: pl.DataType) -> bool:
    """Whether cells are no text and cannot be made text: Python's objects, a library's own types.

    Such as the periods and intervals of pandas, which Arrow knows as extensions.
    """
    return dtype == pl.Object or isinstance(dtype, pl.BaseExtension)


def in_words(dtype: pl.DataType) -> str:
    """Name a type of column as people do."""
    kinds = {
        pl.String: "text", pl.Categorical: "text", pl.Enum: "text", pl.Boolean: "true and false",
        pl.Binary: "binary data", pl.Duration: "durations", pl.Struct: "objects", pl.List: "lists",
        pl.Array: "lists", pl.Object: "values of several types", pl.Null: "nothing",
    }  # fmt: skip
    named = next((words for kind, words in kinds.items() if dtype == kind), None)
    if named is not None:
        return named
    if isinstance(dtype, pl.BaseExtension):
        return f"values of the type {dtype.ext_name()}"
    if dtype.is_integer():
        return "whole numbers"
    return "dates or times" if dtype.is_temporal() else "numbers"


def _no_labels(column: pl.Series) -> InputError:
    if column.dtype == pl.Object:
        kinds = sorted({type(value).__name__ for value in column.to_list() if value is not None})
        if kinds == ["int"]:
            return InputError(
                f"The column {column.name!r} has whole numbers of more than 38 digits. Make all of "
                "it text."
            )
        return InputError(
            f"The column {column.name!r} mixes types ({', '.join(kinds)}). Make all of it text, or "
            "all of it numbers."
        )
    return InputError(
        f"The column {column.name!r} holds {in_words(column.dtype)}. Give text or numbers."
    )


def coded(*columns: pl.Series, blank_is_missing: bool = True) -> Coded:
    """Give the distinct labels of columns of one type, in no particular order, and their codes."""
    coder = _coder(columns)
    codes = tuple(coder.codes(column) for column in columns)
    if blank_is_missing and (blank := blanks(coder.labels)).any():
        table = np.arange(len(blank) + 1, dtype=np.int32)
        table[[*np.flatnonzero(blank), -1]] = MISSING
        codes = tuple(translated(some, table) for some in codes)
    return Coded(coder.labels, codes)


def blanks(labels: pl.Series) -> NDArray[np.bool_]:
    """Tell which labels are nothing but blanks."""
    if labels.dtype != pl.String:
        return np.zeros(len(labels), dtype=np.bool_)
    return (labels.str.strip_chars() == "").to_numpy()


def translated(
    codes: NDArray[np.integer[Any]], table: NDArray[Entry], piece: int = PIECE
) -> NDArray[Entry]:
    """Look codes up in a table, the last entry of which is for `MISSING`."""
    out = np.empty(len(codes), dtype=table.dtype)
    # In pieces: numpy makes 64-bit numbers of all indices first.
    for a in range(0, len(codes), piece):
        out[a : a + piece] = table[codes[a : a + piece]]
    return out


def counts(codes: Codes, number: int, piece: int = PIECE) -> NDArray[np.int64]:
    """Count each code below `number`; `MISSING` does not count."""
    found = np.zeros(number + 1, dtype=np.int64)
    for a in range(0, len(codes), piece):
        found += np.bincount(codes[a : a + piece] + 1, minlength=number + 1)
    return found[1:]


class Coder(Protocol):
    """Whatever gives labels of one type their codes, one column after the other."""

    labels: pl.Series

    def codes(self, column: pl.Series) -> Codes:
        """Give the code of every row, `MISSING` for none; new labels are added."""


def _coder(columns: Sequence[pl.Series]) -> Coder:
    dtype = columns[0].dtype
    if dtype.is_integer() and _fit_a_table(columns):
        return TableCoder(columns)
    return coder_of(dtype)


def coder_of(dtype: pl.DataType) -> Coder:
    """Make a coder for columns of a type, however many there will be."""
    return HashCoder(dtype) if dtype in HASHED else ValueCoder(dtype)


class HashCoder:
    """Codes text and whole numbers by a 64-bit hash: far faster than to compare text with text.

    Two of a million texts have the same hash with a chance of 1 in 30 million; numbers never do.
    Nobody can make it happen on purpose, or make it slow: the seed is another one every time.
    """

    def __init__(
        self,
        dtype: pl.DataType,
        slots_per_label: int = SLOTS_PER_LABEL,
        *,
        piece: int = PIECE,
        at_once: int = SLICE,
        sample: int = SAMPLE,
    ) -> None:
        self.labels = pl.Series(dtype=dtype)
        self._slots_per_label = slots_per_label
        self._piece, self._at_once, self._sample = piece, at_once, sample
        self._seed = randbits(64)
        self._hash = np.zeros(1, dtype=np.uint64)  # of each label, and a last one for none
        self._make_slots(2)

    def codes(self, column: pl.Series) -> Codes:
        """Give the code of every row, `MISSING` for none; new labels are added."""
        if len(column) > self._sample:
            often = column.gather_every(max(len(column) // self._sample, SPARSEST)).drop_nulls()
            self._fill_in(often, np.empty(len(often), dtype=np.int32))
        codes, rows = np.empty(len(column), dtype=np.int32), self._at_once
        for a in range(0, len(column), rows):
            self._fill_in(column.slice(a, rows), codes[a : a + rows])
        return codes

    def _fill_in(self, column: pl.Series, codes: Codes) -> None:
        """Fill in the codes of some rows, whether their labels are known or not."""
        hashes, piece = _hashes(column, self._seed), self._piece
        for a in range(0, len(hashes), piece):
            codes[a : a + piece] = self._look_up(hashes[a : a + piece])
        if codes.min(initial=0) < 0 or column.null_count():
            new = codes < 0
            if column.null_count():
                named = column.is_not_null().to_numpy()
                codes[~named] = MISSING
                new &= named
            rows = np.flatnonzero(new)
            codes[rows] = self._added(column, rows, hashes[rows])

    def _look_up(self, hashes: Hashes) -> Codes:
        """Give the code of each hash, `MISSING` if it is new."""
        slot = self._slot_of(hashes)
        codes = self._slots.take(slot)
        wrong = np.flatnonzero(self._hash.take(codes) != hashes)
        while len(wrong := wrong[codes[wrong] >= 0]):
            slot[wrong] = (slot[wrong] + 1) & (len(self._slots) - 1)
            codes[wrong] = self._slots[slot[wrong]]
            wrong = wrong[self._hash[codes[wrong]] != hashes[wrong]]
        return codes

    def _added(self, column: pl.Series, rows: NDArray[np.int64], hashes: Hashes) -> Codes:
        """Add the labels of these rows, some of which may be the same, and give their codes."""
        new, known = _each_once(hashes), len(self.labels)
        number = known + len(new)
        self._hash = np.concatenate((self._hash[:-1], new, self._hash[-1:]))
        first = known
        if number * self._slots_per_label > len(self._slots):
            self._make_slots(2 * number * self._slots_per_label)
            first = 0
        self._fill_slots(np.arange(first, number, dtype=np.int32))
        codes = self._look_up(hashes)
        row = np.empty(len(new), dtype=np.int64)
        row[codes - known] = rows
        self.labels = pl.concat([self.labels, column.gather(row)], rechunk=False)
        return codes

    def _make_slots(self, least: int) -> None:
        self._bits = (least - 1).bit_length()
        self._slots = np.full(1 << self._bits, MISSING, dtype=np.int32)

    def _slot_of(self, hashes: Hashes) -> NDArray[np.int64]:
        return (hashes >> np.uint64(64 - self._bits)).view(np.int64)

    def _fill_slots(self, codes: Codes) -> None:
        """Put each code into the first slot that is free, from that of its hash on."""
        slot = self._slot_of(self._hash[codes])
        while len(codes):
            free = self._slots[slot] < 0
            self._slots[slot[free]] = codes[free]
            homeless = self._slots[slot] != codes
            codes = codes[homeless]
            slot = (slot[homeless] + 1) & (len(self._slots) - 1)


def _hashes(column: pl.Series, seed: int) -> Hashes:
    """Hash text; multiply numbers by an odd one, which spreads them and keeps them apart.

    The seed comes before that: else ids could be made up that all want the same slot.
    """
    if column.dtype == pl.String:
        return column.hash(seed).to_numpy()
    wide = pl.UInt64 if column.dtype.is_unsigned_integer() else pl.Int64
    numbers = column.cast(wide).fill_null(0).to_numpy().view(np.uint64)
    return np.asarray((numbers ^ np.uint64(seed)) * SPREAD)


def _each_once(hashes: Hashes) -> Hashes:
    """The hashes that there are, sorted; `numpy.unique` would hash them once more."""
    found = np.sort(hashes)
    is_new = np.ones(len(found), dtype=np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return np.asarray(found[is_new])


class ValueCoder:
    """Codes whatever is neither text nor whole numbers."""

    def __init__(self, dtype: pl.DataType) -> None:
        self.labels = pl.Series(dtype=dtype)

    def codes(self, column: pl.Series) -> Codes:
        """Give the code of every row, `MISSING` for none; new labels are added."""
        if column.null_count() == len(column):  # polars would look up nothing in nothing
            return np.full(len(column), MISSING, dtype=np.int32)
        every = pl.concat([self.labels, column.unique().drop_nulls()])
        self.labels = every.unique(maintain_order=True)
        numbers = pl.int_range(len(self.labels), dtype=pl.Int32, eager=True)
        codes = column.replace_strict(self.labels, numbers, return_dtype=pl.Int32)
        return codes.fill_null(MISSING).to_numpy(writable=True)


class TableCoder:
    """Codes whole numbers that lie close together: far faster than hashing them."""

    def __init__(self, columns: Sequence[pl.Series], at_once: int = SLICE) -> None:
        self._at_once = at_once
        self._lowest, highest = _range(columns)
        present = np.zeros(highest - self._lowest + 1, dtype=np.bool_)
        for column in columns:
            for a in range(0, len(column), at_once):
                present[self._offset(column.slice(a, at_once))] = True
        self._table = np.cumsum(present, dtype=np.int32) - np.int32(1)
        self.labels = pl.Series(np.flatnonzero(present) + self._lowest, dtype=columns[0].dtype)

    def codes(self, column: pl.Series) -> Codes:
        """Give the code of every row."""
        codes, rows = np.empty(len(column), dtype=np.int32), self._at_once
        for a in range(0, len(column), rows):
            codes[a : a + rows] = self._table[self._offset(column.slice(a, rows))]
        return codes

    def _offset(self, column: pl.Series) -> NDArray[np.int64]:
        return column.cast(pl.Int64).to_numpy() - self._lowest


def _fit_a_table(columns: Sequence[pl.Series]) -> bool:
    length = sum(len(column) for column in columns)
    if any(column.has_nulls() for column in columns) or not length:
        return False
    lowest, highest = _range(columns)
    return highest - lowest <= 2 * length and highest <= np.iinfo(np.int64).max


def _range(columns: Sequence[pl.Series]) -> tuple[int, int]:
    filled = [column for column in columns if len(column)]
    return (
        min(cast(int, column.min()) for column in filled),
        max(cast(int, column.max()) for column in filled),
    )


def ordered(found: Coded, numbers_are_text: bool) -> Coded:
    """Keep the labels that occur, and sort them, so that row order leaves no trace in the codes.

    Args:
        found: Labels and codes, none of them missing.
        numbers_are_text: Whether text that is whole numbers throughout should become numbers.
    """
    occurs = sum(counts(codes, len(found.labels)) for codes in found.codes)
    labels, table = in_order(found.labels, np.asarray(occurs) > 0, numbers_are_text)
    return Coded(labels, tuple(translated(codes, table) for codes in found.codes))


def in_order(
    labels: pl.Series, occurs: NDArray[np.bool_], numbers_are_text: bool
) -> tuple[pl.Series, Codes]:
    """Sort the labels that occur, and give for each old code the new one, `MISSING` for none."""
    kept = np.flatnonzero(occurs)
    table = np.full(len(labels) + 1, MISSING, dtype=np.int32)
    if len(kept) < len(labels):
        labels = labels.gather(kept)
    if numbers_are_text:
        labels = _as_numbers(labels)
    order = labels.arg_sort()
    table[kept[order.to_numpy()]] = np.arange(len(order), dtype=np.int32)
    return labels.gather(order), table


def _as_numbers(labels: pl.Series) -> pl.Series:
    if labels.dtype != pl.String or not labels.str.contains(_WHOLE_NUMBER).all():
        return labels
    numbers = labels.cast(pl.Int64, strict=False)
    return labels if numbers.has_nulls() else numbers


def order_by(codes: Codes, n_groups: int) -> NDArray[np.int64] | None:
    """Give the stable order that sorts codes, or None if they are sorted already."""
    if (codes[1:] >= codes[:-1]).all():
        return None
    return _core.counting_order(codes, n_groups)


def by_group(
    values: NDArray[Any], table: NDArray[Any] | None, group: Codes, first: NDArray[np.int64]
) -> NDArray[Any]:
    """Put values in groups, those of one group in the order of the rows.

    Args:
        values: What to put there, or where in the table it stands.
        table: What the values stand for.
        group: The group of each value; `MISSING` leaves it out.
        first: Where each group begins, whichever comes first, and where the last ends.
    """
    out = np.empty(first[-1], dtype=(values if table is None else table).dtype)
    _core.scatter_by_group(values, table, group, first[:-1], out)
    return out
