"""Which rows are votes, and what to say about those that are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import Coded, coded, labels
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import AMBIGUOUS, UNKNOWN, Outcomes, Words
from juryrank.votes import LeftOut

Mask = NDArray[np.bool_]
MOST_CASES = 3
LARGEST_WEIGHT = 1e12
NO_JUDGE = "(all)"
SKIPPED = "whose outcome is skip or mapped to skip"
SAME = "in which an item is compared with itself"
_WAY_OUT = "Such rows can be left out with --skip-bad (skip_bad=True)."


@dataclass(frozen=True)
class Rules:
    """How the user wants rows to be taken."""

    meanings: Mapping[str, int] = field(default_factory=dict)
    """What words in the outcome column mean, as codes."""
    skip_bad: bool = False
    judge_per_row: bool = False
    """Whether every vote has a judge of its own."""


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

    def sentence(self, place: Callable[[int], str]) -> str:
        """Say what is wrong, how many rows have it, and which are the first."""
        cases = ", ".join(
            place(row) if value is None else f"{place(row)} {value!r}" for row, value in self.first
        )
        has = "has" if self.count == 1 else "have"
        return f"{self.count:,} of {self.of:,} rows {has} {self.what}: {cases}."

    def none(self) -> Cases:
        """The same of no rows at all."""
        return replace(self, count=0, of=0, first=())

    def followed_by(self, more: Cases, before: int) -> Cases:
        """Add the same of further rows, before which there are so many others."""
        later = tuple((before + row, value) for row, value in more.first)
        return replace(
            self,
            count=self.count + more.count,
            of=self.of + more.of,
            first=(*self.first, *later)[:MOST_CASES],
        )


@dataclass(frozen=True)
class Complaint:
    """Rows with the same thing wrong with them."""

    what: str
    bad: Mask
    values: pl.Series | Mapping[int, object] | Words | None = None
    """What stands in the rows, or at least in the first of the bad ones."""
    hint: str = ""

    def cases(self) -> Cases:
        """Count the rows, and name the first."""
        rows = np.flatnonzero(self.bad)
        first = tuple((int(row), self._value(int(row))) for row in rows[:MOST_CASES])
        return Cases(self.what, len(rows), len(self.bad), first, self.hint)

    def _value(self, row: int) -> object:
        return None if self.values is None else self.values[row]


def judges_of(rows: Rows, column: str | None, per_row: bool) -> Coded:
    """Code the judge of every row; without a column, one for all or one for each."""
    count = len(rows.frame)
    if per_row:
        numbers = np.arange(count, dtype=np.int32)
        return Coded(pl.Series(numbers.astype(np.int64) + 1), (numbers,))
    if column is None:
        return Coded(pl.Series([NO_JUDGE]), (np.zeros(count, dtype=np.int32),))
    return coded(labels(rows.frame[column]))


def missing(column: str, codes: NDArray[np.int32]) -> Complaint:
    """Complain about rows without an item or judge."""
    what = f"nothing in the column {column!r}"
    return Complaint(what, codes < 0, hint="Every vote needs it: fill it in.")


def bad_weights(given: pl.Series, weight: NDArray[np.float64]) -> Complaint:
    """Complain about weights that are not positive numbers."""
    what = f"a weight that is not a positive number (of at most {LARGEST_WEIGHT:g})"
    text = labels(given).cast(pl.String)
    return Complaint(what, ~is_weight(weight), text, "A plain vote has weight 1.")


def is_weight(weight: NDArray[np.float64]) -> Mask:
    """Tell which numbers can be weights."""
    return (weight > 0) & (weight <= LARGEST_WEIGHT)


def bad_outcomes(found: Outcomes) -> list[Complaint]:
    """Complain about words that mean nothing, or two things."""
    if not found.possible & {UNKNOWN, AMBIGUOUS}:
        return []
    return [
        Complaint(
            "an unknown outcome",
            found.codes == UNKNOWN,
            found.words,
            "Known outcomes: left, right, tie (or the winning item's name). "
            "Fix the file or map them with --outcome-map.",
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
        column = column.str.strip_chars()
    return column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def sift(
    rows: Rows,
    complaints: Sequence[Complaint],
    *,
    skip_bad: bool,
    same: Mask | None = None,
    skipped: Mask | None = None,
    together: NDArray[np.int64] | None = None,
) -> tuple[Mask | None, LeftOut]:
    """Decide which rows to keep (None: all of them), and account for the others.

    Args:
        rows: The rows, for their names.
        complaints: What may be wrong with them; those that hit no row are passed over.
        skip_bad: Whether bad rows are left out, not complained about.
        same: The rows that compare an item with itself.
        skipped: The rows without an outcome on purpose.
        together: The ranking each row belongs to: all rows of one are bad if one of them is.
    """
    raised = [complaint for complaint in complaints if complaint.bad.any()]
    cases = [complaint.cases() for complaint in raised]
    if not skip_bad:
        refuse(cases, rows.place)
    same, skipped = (mask if mask is not None and mask.any() else None for mask in (same, skipped))
    if not raised and same is None and skipped is None:
        return None, LeftOut()
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
        Complaint(SKIPPED, skipped).cases(),
        Complaint(SAME, same).cases(),
        rows.place,
    )
    return (kept if left_out.total else None), left_out


def refuse(found: Sequence[Cases], place: Callable[[int], str]) -> None:
    """Complain if there are bad rows."""
    if found:
        said = [f"{cases.sentence(place)} {cases.hint}".rstrip() for cases in found]
        raise InputError(" ".join([*said, _WAY_OUT]))


def account(
    found: Sequence[Cases], bad_rows: int, skipped: Cases, same: Cases, place: Callable[[int], str]
) -> LeftOut:
    """Account for the rows left out: bad ones, some of which may have several things wrong."""
    left_out = LeftOut(
        bad_rows=bad_rows,
        self_comparisons=same.count,
        skipped=skipped.count,
        sentences=(
            *(f"Left out: {cases.sentence(place)}" for cases in found),
            *(
                f"Left out: {cases.count:,} of {cases.of:,} rows, {cases.what}; "
                f"first {place(cases.first[0][0])}."
                for cases in (skipped, same)
                if cases.count
            ),
        ),
    )
    if left_out.total == same.of:
        raise InputError(" ".join(["No votes are left to rank.", *left_out.sentences]))
    return left_out
