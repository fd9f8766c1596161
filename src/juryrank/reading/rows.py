"""Which rows are votes, and what to say about those that are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, counted, share
from juryrank.reading.coding import Coded, coded, labels
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import AMBIGUOUS, UNKNOWN, Outcomes, Words
from juryrank.reading.similar_names import with_spellings
from juryrank.votes.votes import LeftOut

Mask = NDArray[np.bool_]
MOST_CASES, MOST_VALUES, MOST_KEPT_VALUES = 3, 8, 1000
LONGEST_VALUE = 63
LARGEST_WEIGHT = 1e12
NO_JUDGE = "(all)"
SKIPPED = "whose outcome is skip or mapped to skip"
SAME = "in which an item is compared with itself"
NA_NAMES = (
    "n/a", "na", "n.a.", "nan", "null", "none", "nil", "<na>", "nat", "undefined", "unknown",
    "missing", "not available", "not applicable", "(none)", "(null)", "(blank)", "(unknown)", "-",
    "--", "---", "\u2013", "\u2014", "?", "??", "???", ".", "...", "\u2026", "#n/a", "#na",
    "#value!", "#ref!", "#name?", "#null!", "#num!", "#div/0!", "skipped", "overvote", "undervote",
)  # fmt: skip
"""Also dashes and dots, what spreadsheets write where a formula fails, and elections' files."""
SUMMARIES = ("total", "totals", "grand total", "subtotal", "sum", "average", "mean", "median")
"""What is called so below a table is computed from it."""
DECIMAL_COMMA, THOUSANDS = r"^[+-]?[0-9]*,[0-9]+$", r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_HOW_TO_WEIGH = "A plain vote has weight 1; write 1250, not 1,250, which might be 1.25 too."
_WAY_OUT = "Such rows can be left out with --skip-bad (skip_bad=True)."


@dataclass(frozen=True)
class Rules:
    """How the user wants rows to be taken."""

    meanings: Mapping[str, int] = field(default_factory=dict)
    """What words in the outcome column mean, as codes."""
    skip_bad: bool = False
    judge_per_row: bool = False
    """Whether every vote has a judge of its own."""
    judge_per_file: bool = False
    """Whether the file's name is the judge."""
    skip_most: bool = False
    """Whether bad rows are left out even if they are more than half."""
    na_is_name: bool = False
    """Whether N/A and the like are names of items and judges."""
    lower_is_better: bool = False
    """Whether the lowest rating is the best."""
    merge_names: bool = False
    """Whether names that look the same are one."""
    some_of_many: bool = False
    """Whether there are more rows elsewhere: what only all of them tell is not looked for."""


class BadRowsError(InputError):
    """Rows that are no votes, and what is wrong with them."""

    def __init__(self, found: Sequence[Cases], row_name: Callable[[int], str]) -> None:
        said = [f"{cases.sentence(row_name)} {cases.hint}".rstrip() for cases in found]
        way_out = [] if any(cases.count == cases.of for cases in found) else [_WAY_OUT]
        super().__init__(" ".join([*said, *way_out]))
        self.found = tuple(found)


class Value(NamedTuple):
    """A value that makes rows bad, in how many of them it stands, and the first of these."""

    text: str
    rows: int
    first: int

    def said(self, row_name: Callable[[int], str]) -> str:
        """Name the value and its rows."""
        shown = repr(self.text if len(self.text) <= LONGEST_VALUE else f"{self.text[:60]}...")
        shown = shown if self.text.strip() else "nothing"
        where = row_name(self.first)
        return f"{shown} ({where if self.rows == 1 else f'{self.rows:,} rows, first {where}'})"


@dataclass(frozen=True)
class Cases:
    """How many rows have the same thing about them, and the first of these."""

    what: str
    count: int
    of: int
    """The number of all rows."""
    first: tuple[tuple[int, object], ...]
    """The first rows, and what stands there; None where that need not be said."""
    hint: str = ""
    values: tuple[Value, ...] = ()
    """The distinct values in these rows, where they are known, in the order of the rows."""

    def sentence(self, row_name: Callable[[int], str], *, with_share: bool = False) -> str:
        """Say what is wrong, how many rows have it, and which values or rows are the first."""
        part = f" ({share(self.count, self.of)})" if with_share else ""
        has = "has" if self.count == 1 else "have"
        cases = self._values(row_name) if self.values else self._rows(row_name)
        return f"{self.count:,} of {self.of:,} rows{part} {has} {self.what}: {cases}."

    def _rows(self, row_name: Callable[[int], str]) -> str:
        return ", ".join(
            row_name(row) if value is None else f"{row_name(row)} {value!r}"
            for row, value in self.first
        )

    def _values(self, row_name: Callable[[int], str]) -> str:
        often = sorted(self.values, key=lambda value: (-value.rows, value.first))[:MOST_VALUES]
        rest = self.count - sum(value.rows for value in often)
        shown = ", ".join(value.said(row_name) for value in often)
        return f"{shown} and {counted(rest, 'row')} with other values" if rest else shown

    def none(self) -> Cases:
        """The same of no rows at all."""
        return replace(self, count=0, of=0, first=(), values=())

    def followed_by(self, more: Cases, before: int) -> Cases:
        """Add the same of further rows, before which there are so many others."""
        later = tuple((before + row, value) for row, value in more.first)
        return replace(
            self,
            count=self.count + more.count,
            of=self.of + more.of,
            first=(*self.first, *later)[:MOST_CASES],
            values=_added(self.values, more.values, before),
        )


def _added(values: tuple[Value, ...], more: tuple[Value, ...], before: int) -> tuple[Value, ...]:
    found = {value.text: value for value in values}
    for text, count, first in more:
        known = found.get(text)
        if known is not None:
            found[text] = known._replace(rows=known.rows + count)
        elif len(found) < MOST_KEPT_VALUES:
            found[text] = Value(text, count, before + first)
    return tuple(found.values())


@dataclass(frozen=True)
class Complaint:
    """Rows with the same thing wrong with them."""

    what: str
    bad: Mask
    values: pl.Series | Mapping[int, object] | Words | None = None
    """What stands in the rows, or at least in the first of the bad ones."""
    hint: str = ""

    def cases(self) -> Cases:
        """Count the rows, and name the first, and the distinct values."""
        rows = np.flatnonzero(self.bad)
        known = self.values if isinstance(self.values, Mapping) else {}
        first = tuple((int(row), known.get(int(row))) for row in rows[:MOST_CASES])
        values = self._values(rows)
        return Cases(self.what, len(rows), len(self.bad), first, self.hint, values)

    def _values(self, rows: NDArray[np.int64]) -> tuple[Value, ...]:
        if isinstance(self.values, Words):
            text = self.values.of(rows)
        elif isinstance(self.values, pl.Series):
            text = self.values.gather(rows).cast(pl.String)
        else:
            return ()
        frame = pl.DataFrame({"text": text.fill_null(""), "row": rows})
        grouped = frame.group_by("text", maintain_order=True).agg(pl.len(), pl.first("row"))
        return tuple(Value(*row) for row in grouped.iter_rows())


def filled(column: pl.Series) -> pl.Series:
    """Take cells as text, None for those that are blank."""
    text = column.cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


def answered(column: pl.Series) -> pl.Series:
    """Take cells as text, None for those that are blank or have a word for nothing, such as n/a."""
    text = filled(column)
    return text.set(text.str.to_lowercase().is_in(NA_NAMES), None)


def judges_of(rows: Rows, column: str | None, rules: Rules, *, per_row: bool) -> Coded:
    """Code the judge of every row; without a column, one for all or one for each."""
    count = len(rows.frame)
    if per_row:
        return Coded(rows.numbers, (np.arange(count, dtype=np.int32),))
    if column is None:
        return Coded(pl.Series([NO_JUDGE]), (np.zeros(count, dtype=np.int32),))
    return spelled_as(coded(labels(rows.frame[column])), "judge", rules)


def spelled_as(found: Coded, kind: str, rules: Rules) -> Coded:
    """Labels and codes; those that look the same are told, or made one, if all rows are here."""
    return found if rules.some_of_many else with_spellings(found, kind, merge=rules.merge_names)


def missing(column: str, codes: NDArray[np.int32]) -> Complaint:
    """Complain about rows without an item or judge."""
    what = f"nothing in the column {column!r}"
    bad = codes < 0
    hint = "Every vote needs it: fill it in."
    if len(bad) and not bad[0] and 2 * int(bad.sum()) > len(bad):
        hint += " If it stands only in the first of several rows, as merged cells do, fill it down."
    return Complaint(what, bad, hint=hint)


def header_again(
    columns: PairColumns, labels: pl.Series, *sides: NDArray[np.int32]
) -> list[Complaint]:
    """Complain about rows that hold the names of the columns of winners and losers."""
    if columns.outcome is not None:
        return []
    names = (columns.left, columns.right)
    codes = [code for name in names for code in (labels.cast(pl.String) == name).arg_true()]
    if len(codes) < len(names):
        return []
    return [
        Complaint(
            "the names of the columns where the items should be",
            np.logical_and(*(side == code for side, code in zip(sides, codes, strict=True))),
            hint="Files that are joined end to end repeat their header: remove it.",
        )
    ]


def bad_weights(given: pl.Series, weight: NDArray[np.float64]) -> Complaint:
    """Complain about weights that are not positive numbers."""
    what = f"a weight that is not a positive number (of at most {LARGEST_WEIGHT:g})"
    text = labels(given).cast(pl.String)
    return Complaint(what, ~is_weight(weight), text, _HOW_TO_WEIGH)


def is_weight(weight: NDArray[np.float64]) -> Mask:
    """Tell which numbers can be weights."""
    return (weight > 0) & (weight <= LARGEST_WEIGHT)


def na_names(labels: pl.Series, *columns: tuple[str, NDArray[np.int32]]) -> list[Complaint]:
    """Ask about names such as N/A and Total, which usually are none.

    Args:
        labels: The names.
        columns: Where they stand, and their codes there.
    """
    if labels.dtype != pl.String:
        return []
    plain = pl.col("name").str.strip_chars().str.to_lowercase()
    kinds = {"stands for nothing": NA_NAMES, "is a sum or mean of other rows": SUMMARIES}
    found = (
        labels.alias("name")
        .to_frame()
        .select(plain.is_in(words).alias(what) for what, words in kinds.items())
    )
    # Codes of missing labels, -1, find the last entry.
    return [
        Complaint(
            f"a word in {where} that usually {what}",
            np.append(is_none.to_numpy(), False)[codes],
            Words(labels, codes),
            "If it is a name, say --na-is-name (na_is_name=True).",
        )
        for where, codes in columns
        for what, is_none in found.to_dict().items()
        if is_none.any()
    ]


def bad_outcomes(found: Outcomes, lacks_item: Mask) -> list[Complaint]:
    """Complain about words that mean nothing, or two things, in rows that have both items."""
    if not found.possible & {UNKNOWN, AMBIGUOUS}:
        return []
    return [
        Complaint(
            "an unknown outcome",
            (found.codes == UNKNOWN) & ~lacks_item,
            found.words,
            f"Known outcomes: left, right, tie (or the winning item's name). {found.advice}",
        ),
        Complaint(
            "an ambiguous outcome",
            found.codes == AMBIGUOUS,
            found.words,
            "It is an item's name and also means a side or a tie. Say what it means with "
            "--outcome-map, or give the votes as winner and loser.",
        ),
    ]


def weights(column: pl.Series) -> NDArray[np.float64]:
    """Take weights as numbers, NaN for what is no number."""
    column = labels(column)
    if column.dtype == pl.String:
        column = with_decimal_points(column.str.strip_chars())
    return column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def with_decimal_points(numbers: pl.Series) -> pl.Series:
    """Write decimal commas as points, but not those of 1,250, which may part thousands."""
    is_decimal = numbers.str.contains(DECIMAL_COMMA) & ~numbers.str.contains(THOUSANDS)
    return numbers.zip_with(
        ~is_decimal.fill_null(False), numbers.str.replace(",", ".", literal=True)
    )


def sift(
    rows: Rows,
    complaints: Sequence[Complaint],
    *,
    rules: Rules,
    same: Mask | None = None,
    skipped: Mask | None = None,
    why_skipped: str = SKIPPED,
    together: NDArray[np.int64] | None = None,
) -> tuple[Mask | None, LeftOut]:
    """Decide which rows to keep (None: all of them), and account for the others.

    Args:
        rows: The rows, for their names.
        complaints: What may be wrong with them; those that hit no row are passed over.
        rules: Whether bad rows are left out, not complained about.
        same: The rows that compare an item with itself.
        skipped: The rows without an outcome on purpose.
        why_skipped: Why they have none.
        together: The ranking each row belongs to: all rows of one are bad if one of them is.
    """
    raised = [complaint for complaint in complaints if complaint.bad.any()]
    cases = [complaint.cases() for complaint in raised]
    if not rules.skip_bad:
        refuse(cases, rows.row_name)
    same, skipped = (mask if mask is not None and mask.any() else None for mask in (same, skipped))
    if not raised and same is None and skipped is None:
        return None, LeftOut(rows=len(rows.frame))
    none = np.zeros(len(rows.frame), dtype=np.bool_)
    bad = np.logical_or.reduce([c.bad for c in raised]) if raised else none
    if together is not None and raised:
        bad = bad | np.isin(together, together[bad])
    skipped = (none if skipped is None else skipped) & ~bad
    same = (none if same is None else same) & ~bad & ~skipped
    kept = ~(bad | skipped | same)
    left_out = account(
        cases,
        int(bad.sum()),
        Complaint(why_skipped, skipped).cases(),
        Complaint(SAME, same).cases(),
        rows.row_name,
        rules,
    )
    return (kept if left_out.total else None), left_out


def refuse(found: Sequence[Cases], row_name: Callable[[int], str]) -> None:
    """Complain if there are bad rows."""
    if found:
        raise BadRowsError(found, row_name)


def account(
    found: Sequence[Cases],
    bad_rows: int,
    skipped: Cases,
    same: Cases,
    row_name: Callable[[int], str],
    rules: Rules,
) -> LeftOut:
    """Account for the rows left out: bad ones, some of which may have several things wrong."""
    of = same.of
    is_all = len(found) == 1 and found[0].count == bad_rows
    left_out = LeftOut(
        bad_rows=bad_rows,
        self_comparisons=same.count,
        skipped=skipped.count,
        sentences=(
            *([] if is_all or not bad_rows else [_in_all(found, bad_rows, of)]),
            *(f"Left out: {cases.sentence(row_name, with_share=is_all)}" for cases in found),
            *(
                f"Left out: {cases.count:,} of {cases.of:,} rows, {cases.what}; "
                f"first {row_name(cases.first[0][0])}."
                for cases in (skipped, same)
                if cases.count
            ),
        ),
        rows=of,
    )
    if left_out.total == of:
        raise InputError(" ".join(["No votes are left to rank.", *left_out.sentences]))
    if 2 * bad_rows > of and not rules.skip_most:
        raise InputError(
            f"--skip-bad would leave out {bad_rows:,} of {of:,} rows ({share(bad_rows, of)}), "
            "more than half. "
            + " ".join(f"{cases.sentence(row_name)} {cases.hint}".rstrip() for cases in found)
            + " If the rest is worth ranking all the same, say --skip-most (skip_bad='most')."
        )
    return left_out


def _in_all(found: Sequence[Cases], bad_rows: int, of: int) -> str:
    whole = bad_rows > sum(cases.count for cases in found)
    why = ", since a ranking with a bad row is left out whole" if whole else ""
    return f"Left out: {bad_rows:,} of {of:,} rows ({share(bad_rows, of)}) in all{why}."
