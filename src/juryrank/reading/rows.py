"""Which rows are votes, and what to say about those that are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

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
class Complaint:
    """Rows with the same thing wrong with them."""

    what: str
    bad: Mask
    values: pl.Series | Mapping[int, object] | Words | None = None
    """What stands in the rows, or at least in the first of the bad ones."""
    hint: str = ""

    def sentence(self, place: Callable[[int], str]) -> str:
        """Say what is wrong, how many rows have it, and which are the first."""
        rows = np.flatnonzero(self.bad)
        cases = ", ".join(self._case(int(row), place) for row in rows[:MOST_CASES])
        has = "has" if len(rows) == 1 else "have"
        return f"{len(rows):,} of {len(self.bad):,} rows {has} {self.what}: {cases}."

    def _case(self, row: int, place: Callable[[int], str]) -> str:
        if self.values is None:
            return place(row)
        value = self.values[row]
        return f"{place(row)} {'' if value is None else value!r}".rstrip()


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
    bad = ~((weight > 0) & (weight <= LARGEST_WEIGHT))
    what = f"a weight that is not a positive number (of at most {LARGEST_WEIGHT:g})"
    return Complaint(what, bad, labels(given).cast(pl.String), "A plain vote has weight 1.")


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
    same, skipped = (mask if mask is not None and mask.any() else None for mask in (same, skipped))
    if not raised and same is None and skipped is None:
        return None, LeftOut()
    none = np.zeros(len(rows.frame), dtype=np.bool_)
    same = none if same is None else same
    skipped = none if skipped is None else skipped
    if raised and not skip_bad:
        said = [f"{c.sentence(rows.place)} {c.hint}".rstrip() for c in raised]
        raise InputError(" ".join([*said, _WAY_OUT]))
    bad = np.logical_or.reduce([c.bad for c in raised]) if raised else none
    if together is not None and raised:
        bad = bad | np.isin(together, together[bad])
    skipped = skipped & ~bad
    same = same & ~bad & ~skipped
    kept = ~(bad | skipped | same)
    left_out = LeftOut(
        bad_rows=int(bad.sum()),
        self_comparisons=int(same.sum()),
        skipped=int(skipped.sum()),
        sentences=(
            *(f"Left out: {c.sentence(rows.place)}" for c in raised),
            *_first("whose outcome is skip or mapped to skip", skipped, rows),
            *_first("in which an item is compared with itself", same, rows),
        ),
    )
    if not kept.any():
        raise InputError(" ".join(["No votes are left to rank.", *left_out.sentences]))
    return (kept if left_out.total else None), left_out


def _first(what: str, mask: Mask, rows: Rows) -> list[str]:
    if not mask.any():
        return []
    first = rows.place(int(np.argmax(mask)))
    return [f"Left out: {mask.sum():,} of {len(mask):,} rows, {what}; first {first}."]
