"""Labels become codes, votes are sorted by judge: the last step on the way to `Votes`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError

MISSING = -1
_WHOLE_NUMBER = r"^(?:0|-?[1-9][0-9]{0,18})$"

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Coded:
    """Columns of labels of one kind as codes, which index the labels; `MISSING` for no label."""

    labels: pl.Series
    codes: tuple[Codes, ...]

    @property
    def has_missing(self) -> bool:
        """Whether some row has no label."""
        return any(bool((codes < 0).any()) for codes in self.codes)


def same_kind(*columns: pl.Series) -> tuple[pl.Series, ...]:
    """Make columns of items one type, so that they can be told apart and sorted."""
    columns = tuple(labels(column) for column in columns)
    filled = [column for column in columns if column.null_count() < len(column)]
    other = next((column for column in filled if column.dtype != filled[0].dtype), None)
    if other is None:
        kind = filled[0].dtype if filled else pl.String()
        return tuple(column.cast(kind) for column in columns)
    whole = [_whole_numbers(column) for column in columns]
    if all(column is not None for column in whole):
        return tuple(column for column in whole if column is not None)
    raise InputError(
        f"The items are of different types: {filled[0].dtype} in the column {filled[0].name!r}, "
        f"{other.dtype} in {other.name!r}. Make both numbers or both text."
    )


def _whole_numbers(column: pl.Series) -> pl.Series | None:
    """Numbers as whole numbers, if they are; pandas makes floats of those with a gap."""
    if column.dtype.is_integer() and column.dtype != pl.UInt64:
        return column.cast(pl.Int64)
    if column.dtype.is_float() and (column.drop_nulls() == column.drop_nulls().round()).all():
        return column.cast(pl.Int64)
    return None


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
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise _no_labels(column)
    return column


def _no_labels(column: pl.Series) -> InputError:
    return InputError(f"The column {column.name!r} holds {column.dtype}. Give text or numbers.")


def coded(*columns: pl.Series, blank_is_missing: bool = True) -> Coded:
    """Give the distinct labels of columns of one type, in no particular order, and their codes."""
    together = pl.concat(columns, rechunk=False)
    labels, codes = _coder(together)(together)
    if blank_is_missing and labels.dtype == pl.String:
        codes = _without_blanks(labels, codes)
    ends = np.cumsum([len(column) for column in columns])
    return Coded(labels, tuple(np.split(codes, ends[:-1])))


def _without_blanks(labels: pl.Series, codes: Codes) -> Codes:
    blank = (labels.str.strip_chars() == "").to_numpy()
    return np.where(np.isin(codes, np.flatnonzero(blank)), MISSING, codes) if blank.any() else codes


def _coder(column: pl.Series) -> Callable[[pl.Series], tuple[pl.Series, Codes]]:
    if column.dtype == pl.String:
        return _coded_text
    return _coded_by_table if _fits_a_table(column) else _coded_values


def _coded_text(column: pl.Series) -> tuple[pl.Series, Codes]:
    """Let polars number the texts: faster than finding the distinct ones and looking them up."""
    numbers = _codes(column.cast(pl.Categorical).to_physical().cast(pl.Int32))
    # One place more than there are numbers: that is where MISSING, as an index, ends up.
    seen_at = np.full(numbers.max(initial=MISSING) + 2, MISSING, dtype=np.int64)
    seen_at[numbers] = np.arange(len(numbers))
    # Polars shares its numbers with other columns, so not all of them occur in this one.
    used = np.flatnonzero(seen_at[:-1] >= 0)
    table = np.full(len(seen_at), MISSING, dtype=np.int32)
    table[used] = np.arange(len(used), dtype=np.int32)
    return column.gather(seen_at[used]), table[numbers]


def _coded_values(column: pl.Series) -> tuple[pl.Series, Codes]:
    labels = column.unique().drop_nulls()
    numbers = pl.int_range(len(labels), dtype=pl.Int32, eager=True)
    return labels, _codes(column.replace_strict(labels, numbers, return_dtype=pl.Int32))


def _fits_a_table(column: pl.Series) -> bool:
    if not column.dtype.is_integer() or column.has_nulls() or not len(column):
        return False
    lowest, highest = _range(column)
    return highest - lowest <= 2 * len(column) and highest <= np.iinfo(np.int64).max


def _range(column: pl.Series) -> tuple[int, int]:
    return cast(int, column.min()), cast(int, column.max())


def _coded_by_table(column: pl.Series) -> tuple[pl.Series, Codes]:
    """Code whole numbers that lie close together: far faster than hashing them."""
    lowest, highest = _range(column)
    offset = column.cast(pl.Int64).to_numpy() - lowest
    present = np.zeros(highest - lowest + 1, dtype=np.bool_)
    present[offset] = True
    table = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return pl.Series(np.flatnonzero(present) + lowest, dtype=column.dtype), table[offset]


def _codes(column: pl.Series) -> Codes:
    return column.fill_null(MISSING).to_numpy()


def ordered(found: Coded, numbers_are_text: bool) -> Coded:
    """Keep the labels that occur, and sort them, so that row order leaves no trace in the codes.

    Args:
        found: Labels and codes, none of them missing.
        numbers_are_text: Whether text that is whole numbers throughout shall become numbers.
    """
    occurs = sum(np.bincount(codes, minlength=len(found.labels)) for codes in found.codes)
    kept = pl.Series(np.flatnonzero(occurs))
    labels = found.labels.gather(kept)
    if numbers_are_text:
        labels = _as_numbers(labels)
    order = labels.arg_sort()
    table = np.full(len(found.labels), MISSING, dtype=np.int32)
    table[kept.gather(order).to_numpy()] = np.arange(len(order), dtype=np.int32)
    return Coded(labels.gather(order), tuple(table[codes] for codes in found.codes))


def _as_numbers(labels: pl.Series) -> pl.Series:
    if labels.dtype != pl.String or not labels.str.contains(_WHOLE_NUMBER).all():
        return labels
    numbers = labels.cast(pl.Int64, strict=False)
    return labels if numbers.has_nulls() else numbers


def notices(*labels: pl.Series) -> tuple[str, ...]:
    """Say what is odd about labels of items and of judges."""
    return tuple(notice for notice in map(_blank_twins, labels) if notice)


def _blank_twins(labels: pl.Series) -> str:
    """Say so if some labels differ by nothing but blanks around them."""
    if labels.dtype != pl.String:
        return ""
    bare = labels.str.strip_chars()
    twins = labels.filter(bare.is_duplicated())
    if not len(twins):
        return ""
    named = ", ".join(repr(label) for label in twins[:4])
    return (
        f"{len(twins):,} ids differ only by blanks around them, such as {named}. They count as "
        "different; if they are not, remove the blanks."
    )


def order_by(codes: Codes, n_groups: int) -> NDArray[np.int64] | None:
    """Give the stable order that sorts codes, or None if they are sorted already."""
    if (codes[1:] >= codes[:-1]).all():
        return None
    # Numba takes its time to load: not before every complaint about the input has been raised.
    from juryrank._kernels import counting_order

    order: NDArray[np.int64] = counting_order(codes, n_groups)
    return order
