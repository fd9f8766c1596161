"""What is taken out of an export: plain rows, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from juryrank.errors import InputError
from juryrank.votes.votes import LeftOut

Record = Mapping[str, Any]
ROW_NAME = "(row name)"
"""The column that names each row, if a row has a better name than its number."""


NOTHING = LeftOut()


@dataclass(frozen=True)
class Plain:
    """Rows to be read like those of any other table."""

    scan: pl.LazyFrame
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that hold something, by role, whatever their names."""
    names_rows: bool = False
    """Whether the column `ROW_NAME` names the rows."""
    left_out: LeftOut = NOTHING
    """What was left out before there were rows."""
    notices: tuple[str, ...] = ()
    without_blank_rows: bool = False
    """Whether lines without a filled cell have been left out already."""
    remark: str = ""
    """What was found to be unusual in opening it."""


def left_out_of(name: str, rows: Sequence[str], of: int, what: str, why: str) -> LeftOut:
    """Account for what is in an export but does not count; complain if nothing else is in it."""
    if not rows:
        return NOTHING
    said = f"Left out: {len(rows):,} of {of:,} {what}, {why}; first {rows[0]}."
    if len(rows) == of:
        raise InputError(f"{name} has no votes to rank. {said}")
    return LeftOut(skipped=len(rows), sentences=(said,))


def as_mapping(value: object) -> dict[str, Any]:
    """Take what should be an object; nothing if it is none."""
    return dict(value) if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """Take what should be a list; nothing if it is none."""
    return list(value) if isinstance(value, list | tuple) else []
