"""Ties that a column of their own tells, beside who won: ``winner, loser, is_tie``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from juryrank.errors import InputError
from juryrank.reading.coding import in_words, is_opaque
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import Part, column_types, value_counts
from juryrank.reading.outcomes import NO_SIDE_WORDS

SAID = "(outcome)"
YES = ("1", "1.0", "true", "yes", "y", "t", "x", "tie", "tied", "draw", "drawn")
NO = ("0", "0.0", "false", "no", "n", "f")
_IS_TIE, _LEFT_WON = "(tie)", "(left)"
"""Words that outcomes have, and hardly any item."""


def with_ties(
    parts: Sequence[Part], columns: PairColumns, asked: Mapping[str, str | None]
) -> tuple[Sequence[Part], PairColumns]:
    """Bring who won and whether it is a tie into one column of outcomes.

    A column that is called so and has neither yes nor no in it, such as the draw of a tournament,
    tells of no ties, unless the user says that it does.
    """
    if columns.tie is None:
        return parts, columns
    dtype = column_types(parts, [columns.tie])[columns.tie]
    if is_opaque(dtype):
        raise InputError(
            f"The column {columns.tie!r}, which tells ties, holds {in_words(dtype)}. Make all of "
            "it text, or all of it numbers."
        )
    words = {word.strip().lower() for word, _ in value_counts(parts, columns.tie)}
    if asked["tie"] is None and not words & {*YES, *NO}:
        return parts, replace(columns, tie=None)
    says_no = bool(words & set(NO))
    said = _said(columns, columns.tie, blank_is_no=not says_no).alias(SAID)
    with_said = [
        replace(part, plain=replace(part.plain, scan=part.plain.scan.with_columns(said)))
        for part in parts
    ]
    return with_said, replace(columns, said=SAID)


def _said(columns: PairColumns, tie: str, *, blank_is_no: bool) -> pl.Expr:
    """Give the outcome of every row; what is neither yes nor no stays, to be complained about."""
    flag = pl.col(tie).cast(pl.String).str.strip_chars().str.to_lowercase()
    is_blank = flag.is_null() | (flag == "")
    is_no = flag.is_in(NO) | (is_blank if blank_is_no else pl.lit(value=False))
    is_row = pl.any_horizontal(pl.col(columns.left, columns.right).is_not_null())
    if columns.outcome is None:
        won, has_no_side = pl.lit(_LEFT_WON), pl.lit(value=False)
    else:
        won = pl.col(columns.outcome).cast(pl.String)
        plain = won.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s_-]+", "_")
        has_no_side = plain.is_in(list(NO_SIDE_WORDS)).fill_null(value=False)
    strange = pl.lit(f"{tie}: ") + pl.col(tie).cast(pl.String).fill_null("nothing")
    # A row with nothing in it stays one: it is left out as a blank line.
    return (
        pl.when(~is_row)
        .then(None)
        .when(is_no | has_no_side)
        .then(won)
        .when(flag.is_in(YES))
        .then(pl.lit(_IS_TIE))
        .otherwise(strange)
    )
