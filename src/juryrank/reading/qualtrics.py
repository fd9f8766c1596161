"""Exports of Qualtrics: three lines of header, of which the first has the names of columns.

The second has the questions, and the third ``{"ImportId": "QID1_1"}``. A question with a column for
each item has texts such as ``Rank the drinks - Tea``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

from juryrank.reading.names import known_names, plain
from juryrank.reading.plain import Plain

IMPORT_ID = '{"ImportId"'
RESPONDENT = "ResponseId"
BETWEEN = " - "
"""What parts the question from the item."""
LINES = 2
"""Of the header, below the first."""
REMARK = "an export of Qualtrics, whose second and third line are part of the header"


def is_export(head: pl.DataFrame) -> bool:
    """Tell by its first rows whether a table is an export of Qualtrics."""
    if len(head) < LINES or not all(dtype == pl.String for dtype in head.dtypes):
        return False
    return any(_is_id(cell) for cell in head.row(LINES - 1))


def _is_id(cell: object) -> bool:
    return isinstance(cell, str) and cell.replace(" ", "").startswith(IMPORT_ID)


def rows_of(scan: pl.LazyFrame, head: pl.DataFrame) -> Plain:
    """Take the votes from below the header; whoever answered is the judge."""
    names = head.columns
    texts = {name: text or "" for name, text in zip(names, head.row(0), strict=True)}
    rows = scan.slice(LINES).rename(_with_brackets(texts))
    has_judge = any(plain(name) in known_names("judge") for name in names)
    hints = {"judge": (RESPONDENT,)} if RESPONDENT in names and not has_judge else {}
    return Plain(rows, hints, remark=REMARK)


def _with_brackets(texts: Mapping[str, str]) -> dict[str, str]:
    """Name columns of items by their question and item: ``Rank the drinks [Tea]``."""
    parted = {name: text.rpartition(BETWEEN) for name, text in texts.items() if BETWEEN in text}
    columns_of = Counter(question.strip() for question, _, _ in parted.values())
    named = {
        name: f"{question.strip()} [{item.strip()}]"
        for name, (question, _, item) in parted.items()
        if columns_of[question.strip()] > 1 and not {"[", "]"} & set(item)
    }
    after = [named.get(name, name) for name in texts]
    return named if len(set(after)) == len(after) else {}
