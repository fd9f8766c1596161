"""Which rows are read: ``--where 'language == "de"'``, on columns of any type.

A value in quotes is compared as text, one without as a number, whatever the type of the column; CSV
files have none. A cell with nothing in it fulfils ``is null``, ``!=`` and ``not in``, and no other
comparison, so that every row fulfils either a condition or its negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from juryrank.errors import LONGEST_NAME, InputError, counted, listing
from juryrank.hints import did_you_mean
from juryrank.reading.coding import in_words, is_opaque
from juryrank.reading.columns import column_named
from juryrank.reading.conditions import (
    FLIPPED,
    LARGEST_EXACT,
    Comparison,
    IsNull,
    Membership,
    Name,
    Not,
    Operand,
    Operator,
    Several,
    Tree,
    Value,
    parsed,
)
from juryrank.reading.files import Kept, Part, of_all_rows, schema_of
from juryrank.reading.names import plain
from juryrank.reading.rows import DECIMAL_COMMA, THOUSANDS
from juryrank.text import within

MOST_COMMON = 5
"""So many values of a column are named where none fits."""
MOST_LOOKED_AT = 5000
"""Among so many values, the most common ones, a near one is looked for."""


class NothingKeptError(InputError):
    """No row of a source fulfils the condition."""


@dataclass(frozen=True)
class Filtered:
    """A condition and what became of the rows."""

    where: str
    columns: frozenset[str]
    kept: int
    of: int
    notices: tuple[str, ...]
    """Values that were asked for and do not occur."""


class _Wanted(NamedTuple):
    """A value that a column is asked for, and the rows that have it."""

    column: str
    value: Value
    has: pl.Expr


@dataclass(frozen=True)
class _Leaf:
    """A condition without and, or, not: as it is said, and the rows that fulfil it."""

    said: str
    column: str
    holds: pl.Expr
    wanted: tuple[_Wanted, ...] = ()
    is_order: bool = False
    numbers: tuple[str, ...] = ()
    """The columns that are compared as numbers."""


@dataclass(frozen=True)
class _Bound:
    """A condition on the columns of a file."""

    holds: pl.Expr
    leaves: tuple[_Leaf, ...]

    @property
    def counts(self) -> list[pl.Expr]:
        """How many rows there are, are kept, fulfil each leaf, and have each value."""
        masks = [self.holds, *(leaf.holds for leaf in self.leaves)]
        masks += [wanted.has for leaf in self.leaves for wanted in leaf.wanted]
        return [pl.len().alias("rows"), *(mask.sum().alias(str(n)) for n, mask in enumerate(masks))]


def filtered(parts: Sequence[Part], where: str) -> tuple[list[Part], Filtered]:
    """Say of every file of a source which of its rows count."""
    tree = parsed(where)
    for part in parts:
        if part.format == "preflib":
            raise InputError(
                f"{part.name} is a PrefLib file and has no columns: omit --where (where=...)."
            )
    bound = [_Binder(part.name, schema_of(part)).bound(tree) for part in parts]
    for part, one in zip(parts, bound, strict=True):
        _check_numbers(part, one)
    counts = [of_all_rows(part, one.counts).row(0) for part, one in zip(parts, bound, strict=True)]
    rows, kept, *each = (sum(column) for column in zip(*counts, strict=True))
    leaves = bound[0].leaves
    fulfil, have = each[: len(leaves)], each[len(leaves) :]
    if not kept:
        raise NothingKeptError(" ".join(_nothing(parts, where, leaves, fulfil)))
    wanted = [one for leaf in leaves for one in leaf.wanted]
    absent = [one for one, count in zip(wanted, have, strict=True) if not count]
    some = [
        replace(part, kept=Kept(one.holds, count[0]))
        for part, one, count in zip(parts, bound, counts, strict=True)
    ]
    columns = frozenset(bound[0].holds.meta.root_names())
    return some, Filtered(where, columns, kept, rows, tuple(_absences(parts, absent)))


def _check_numbers(part: Part, bound: _Bound) -> None:
    """Refuse to compare numbers such as 1,250, which may be a thousand or little more than one."""
    schema = schema_of(part)
    for column in dict.fromkeys(name for leaf in bound.leaves for name in leaf.numbers):
        if schema[column] != pl.String:
            continue
        text = pl.col(column).str.strip_chars()
        odd = text.filter(text.str.contains(THOUSANDS))
        found = [odd.len().alias("rows"), odd.first().alias("first"), pl.len().alias("of")]
        rows, first, of = of_all_rows(part, found).row(0)
        if rows:
            raise InputError(
                f"{rows:,} of {of:,} rows of {part.name} have a number in the column {column!r} "
                f"that may mean two things, such as {first!r}, and --where compares it. Write "
                f"{first.replace(',', '')} or {first.replace(',', '.')}."
            )


# --- what no row fulfils -------------------------------------------------------------------------


def _absences(parts: Sequence[Part], absent: Sequence[_Wanted]) -> Iterator[str]:
    """Say of each column which of the values it is asked for no row has."""
    for column in dict.fromkeys(one.column for one in absent):
        values = [one.value for one in absent if one.column == column]
        written = list(dict.fromkeys(value.written for value in values))
        yield (
            f"No row of {parts[0].name} has {listing(written)} in the column {column!r}, which "
            f"--where asks for. {_common(parts, column, values)}"
        )


def _nothing(
    parts: Sequence[Part], where: str, leaves: Sequence[_Leaf], fulfil: Sequence[int]
) -> Iterator[str]:
    name = parts[0].name if len(parts) == 1 else f"{parts[0].name} and the other files"
    yield f"No row of {name} fulfils --where {within(repr(where), LONGEST_NAME)}."
    of_each = {leaf.said: (leaf, count) for leaf, count in zip(leaves, fulfil, strict=True)}
    never = [leaf for leaf, count in of_each.values() if not count]
    for leaf in never[:MOST_COMMON]:
        alone = "" if len(of_each) == 1 else f"None fulfils {within(leaf.said, LONGEST_NAME)}. "
        values = [one.value for one in leaf.wanted]
        told = _range(parts, leaf.column) if leaf.is_order else ""
        yield f"{alone}{told or _common(parts, leaf.column, values)}"
    if not never:
        said = [
            f"{counted(n, 'row')} {'fulfils' if n == 1 else 'fulfil'} {leaf.said}"
            for leaf, n in zip(leaves, fulfil, strict=True)
        ]
        yield f"Each part is satisfied by some rows, but not all parts together: {'; '.join(said)}."


def _common(parts: Sequence[Part], column: str, wanted: Sequence[Value]) -> str:
    """Name the most common values of a column, and those near to what was asked for."""
    values = _of_column(parts, column, _text).alias("value").drop_nulls()
    counts = values.to_frame().group_by("value").len()
    counts = counts.sort(["len", "value"], descending=[True, False])
    if not len(counts):
        return f"The column {column!r} has nothing in it."
    shown = [f"{value} ({counted(rows, 'row')})" for value, rows in counts.head(MOST_COMMON).rows()]
    rest = len(counts) - len(shown)
    more = f" and {counted(rest, 'other value')}" if rest else ""
    known = counts["value"].head(MOST_LOOKED_AT).to_list()
    text = [one.value for one in wanted if isinstance(one.value, str)]
    near = "".join(did_you_mean(value, known) for value in text[:MOST_COMMON])
    return f"The column {column!r} has {listing(shown, MOST_COMMON)}{more}.{near}"


def _range(parts: Sequence[Part], column: str) -> str:
    """Say from where to where the numbers of a column go, if it has some."""
    numbers = _of_column(parts, column, _number).drop_nulls()
    if not len(numbers):
        return ""
    low, high = np.min(numbers.to_numpy()), np.max(numbers.to_numpy())
    return f"The numbers in the column {column!r} go from {low:.10g} to {high:.10g}."


def _of_column(
    parts: Sequence[Part], column: str, way: Callable[[str, pl.DataType], pl.Expr]
) -> pl.Series:
    """Read a column of all files that have it under this name."""
    schemas = [(part, schema_of(part)) for part in parts]
    return pl.concat(
        of_all_rows(part, [way(column, schema[column])]).to_series()
        for part, schema in schemas
        if column in schema
    )


# --- from a tree to an expression ----------------------------------------------------------------


class _Binder:
    """Finds the columns that a condition names, and compares each by its type."""

    def __init__(self, source: str, schema: pl.Schema) -> None:
        self._source = source
        self._schema = schema
        self._leaves: list[_Leaf] = []

    def bound(self, tree: Tree) -> _Bound:
        """Give the condition as an expression that is never null."""
        holds = self._expression(tree)
        return _Bound(holds, tuple(self._leaves))

    def _expression(self, tree: Tree) -> pl.Expr:
        match tree:
            case Several(word, parts):
                every = [self._expression(part) for part in parts]
                return (pl.all_horizontal if word == "and" else pl.any_horizontal)(every)
            case Not(part):
                return ~self._expression(part)
            case Comparison():
                leaf = self._comparison(tree)
            case Membership():
                leaf = self._membership(tree)
            case IsNull():
                column = self._column(tree.column)
                is_null = _text(column, self._schema[column]).is_null()
                leaf = _Leaf(f"{column} is null", column, is_null)
        self._leaves.append(leaf)
        return leaf.holds

    def _comparison(self, tree: Comparison) -> _Leaf:
        left, operator, right = tree.left, tree.operator, tree.right
        if not self._is_column(left) and isinstance(right, Name):
            left, operator, right = right, FLIPPED[operator], left
        column = self._column(left)
        if isinstance(right, Name):
            return self._of_two_columns(column, operator, self._column_or_text(column, right))
        said = f"{column} {operator} {right.written}"
        holds = _compared(column, self._schema[column], operator, right)
        numbers = () if isinstance(right.value, str | bool) else (column,)
        if operator not in ("==", "!="):
            return _Leaf(said, column, holds, is_order=True, numbers=numbers)
        has = holds if operator == "==" else ~holds
        return _Leaf(said, column, holds, (_Wanted(column, right, has),), numbers=numbers)

    def _of_two_columns(self, column: str, operator: Operator, other: str) -> _Leaf:
        types = self._schema[column], self._schema[other]
        as_numbers = operator not in ("==", "!=") or all(one.is_numeric() for one in types)
        way = _number if as_numbers and not any(one.is_temporal() for one in types) else _text
        holds = _by_sign(way(column, types[0]), operator, way(other, types[1]))
        numbers = (column, other) if way is _number else ()
        return _Leaf(f"{column} {operator} {other}", column, holds, numbers=numbers)

    def _membership(self, tree: Membership) -> _Leaf:
        column = self._column(tree.column)
        wanted = tuple(
            _Wanted(column, value, _compared(column, self._schema[column], "==", value))
            for value in tree.values
        )
        said = f"{column} in ({', '.join(value.written for value in tree.values)})"
        has_numbers = any(not isinstance(value.value, str | bool) for value in tree.values)
        holds = pl.any_horizontal([one.has for one in wanted])
        return _Leaf(said, column, holds, wanted, numbers=(column,) if has_numbers else ())

    def _is_column(self, operand: Operand) -> bool:
        """Whether it is a column; in quotes it is one if there is a column of that name."""
        if isinstance(operand, Name):
            return True
        wanted = operand.value
        return isinstance(wanted, str) and plain(wanted) in map(plain, self._schema)

    def _column(self, operand: Operand) -> str:
        wanted = operand.text if isinstance(operand, Name) else str(operand.value)
        column = column_named(self._source, list(self._schema), wanted, "a column of --where")
        dtype = self._schema[column]
        if dtype.is_nested() or is_opaque(dtype):
            holds = f"holds {in_words(dtype)}"
            raise InputError(
                f"The column {column!r} of {self._source} {holds}, and --where compares text and "
                "numbers."
            )
        return column

    def _column_or_text(self, column: str, name: Name) -> str:
        """The column on the right of a sign, which may be text without its quotes."""
        if plain(name.text) in map(plain, self._schema):
            return self._column(name)
        raise InputError(
            f"{self._source} has no column {name.text!r}, with which --where compares {column!r}. "
            f"If it is text, it needs quotes, and these must get past the shell: "
            f"""--where '{column} == "{name.text}"'."""
        )


def _compared(column: str, dtype: pl.DataType, operator: Operator, value: Value) -> pl.Expr:
    """Compare a column with a value, as numbers or as text."""
    wanted = value.value
    if isinstance(wanted, bool):
        told = _text(column, dtype).str.to_lowercase()
        return _by_sign(told, operator, pl.lit("true" if wanted else "false"))
    number = _as_number(wanted, dtype)
    if number is None or dtype.is_temporal():
        text = wanted if isinstance(wanted, str) else value.written
        return _by_sign(_text(column, dtype), operator, pl.lit(text))
    return _by_sign(_number(column, dtype), operator, pl.lit(number))


def _as_number(wanted: str | float, dtype: pl.DataType) -> float | None:
    """The value as a number: one in quotes only where the column has nothing but numbers."""
    if not isinstance(wanted, str):
        return wanted
    try:
        number = float(wanted)
    except ValueError:
        return None
    return number if dtype.is_numeric() and abs(number) <= LARGEST_EXACT else None


def _by_sign(one: pl.Expr, operator: Operator, other: pl.Expr) -> pl.Expr:
    """Compare; what is not there fulfils nothing but ``!=``."""
    match operator:
        case "==":
            return (one == other).fill_null(value=False)
        case "!=":
            return ~(one == other).fill_null(value=False)
        case "<":
            holds = one < other
        case "<=":
            holds = one <= other
        case ">":
            holds = one > other
        case ">=":
            holds = one >= other
    return holds.fill_null(value=False)


def _text(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column as text; nothing for blank cells."""
    given = pl.col(column).fill_nan(None) if dtype.is_float() else pl.col(column)
    text = given.cast(pl.String)
    return pl.when(text.str.strip_chars() != "").then(text)


def _number(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column as numbers; nothing for what is none."""
    given = pl.col(column)
    if not dtype.is_numeric():
        text = given.cast(pl.String).str.strip_chars()
        is_decimal = text.str.contains(DECIMAL_COMMA) & ~text.str.contains(THOUSANDS)
        given = pl.when(is_decimal).then(text.str.replace(",", ".", literal=True)).otherwise(text)
    return given.cast(pl.Float64, strict=False).fill_nan(None)
