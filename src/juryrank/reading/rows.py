"""Which rows are votes, and what to say about those that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import labels
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import AMBIGUOUS, SKIP, UNKNOWN, Outcomes
from juryrank.votes import LeftOut

Mask = NDArray[np.bool_]
MOST_CASES = 3
LARGEST_WEIGHT = 1e12
_WAY_OUT = "Such rows can be left out with --skip-bad (skip_bad=True)."


@dataclass(frozen=True)
class Complaint:
    """Rows with the same thing wrong with them."""

    what: str
    bad: Mask
    values: pl.Series | None = None
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
    same: Mask,
    outcome: Outcomes | None,
    skip_bad: bool,
) -> tuple[Mask | None, LeftOut]:
    """Decide which rows to keep (None: all of them), and account for the others.

    Args:
        rows: The rows, for their names.
        complaints: What may be wrong with them; those that hit no row are passed over.
        same: The rows that compare an item with itself.
        outcome: The outcomes, some of which the user may want skipped.
        skip_bad: Whether bad rows are left out, not complained about.
    """
    raised = [complaint for complaint in complaints if complaint.bad.any()]
    if raised and not skip_bad:
        said = [f"{c.sentence(rows.place)} {c.hint}".rstrip() for c in raised]
        raise InputError(" ".join([*said, _WAY_OUT]))
    bad = np.logical_or.reduce([c.bad for c in raised]) if raised else np.zeros_like(same)
    skipped = np.zeros_like(same) if outcome is None else (outcome.codes == SKIP) & ~bad
    same = same & ~bad & ~skipped
    kept = ~(bad | skipped | same)
    left_out = LeftOut(
        bad_rows=int(bad.sum()),
        self_comparisons=int(same.sum()),
        skipped=int(skipped.sum()),
        sentences=(
            *(f"Left out: {c.sentence(rows.place)}" for c in raised),
            *_first("whose outcome is mapped to skip", skipped, rows),
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
