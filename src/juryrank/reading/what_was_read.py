"""What is told of how a source was read: `Reading`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from juryrank.errors import counted, listing
from juryrank.reading.columns import (
    NAMELESS,
    ChoiceColumns,
    Columns,
    LongColumns,
    PairColumns,
    RankingColumns,
    RatingColumns,
    WideColumns,
)
from juryrank.reading.files import Before, Part, header
from juryrank.reading.plain import ROW_NAME
from juryrank.reading.row_filter import Filtered
from juryrank.reading.rows import Rules
from juryrank.reading.unused import maybe_judges, pooled_in
from juryrank.votes.similar_names import Spellings
from juryrank.votes.votes import Reading

MOST_REMARKS = 3
"""On files other than the first."""
_KINDS = {
    PairColumns: "pairs",
    RankingColumns: "rankings",
    ChoiceColumns: "choices from sets",
    LongColumns: "rankings, a row for each item",
    WideColumns: "rankings, a column for each rank",
    RatingColumns: "ratings, a row for each item",
}


def reading_of(
    parts: Sequence[Part],
    columns: Columns,
    rules: Rules,
    rows: int,
    left_out: int,
    numbers: tuple[str, ...] = (),
    filtered: Filtered | None = None,
    spellings: tuple[Spellings, ...] = (),
    *,
    by: str | None = None,
    one_judge: bool = False,
    time: str | None = None,
) -> Reading:
    """Tell how the files of one source were read.

    Args:
        parts: The files, with a row for each item if they had a column for each.
        columns: Which column holds what.
        rules: How rows were taken.
        rows: How many rows there were.
        left_out: How many of them are no votes.
        numbers: What outcomes that are numbers were taken to mean.
        filtered: Which rows were read, if not all.
        spellings: Names that look the same.
        by: The column each value of which is ranked apart.
        one_judge: Whether all votes are one judge's.
        time: The column that tells how long a vote took.
    """
    used_otherwise = {time, by, *(() if filtered is None else filtered.columns)}
    unused = tuple(name for name in unused_columns(parts[0], columns) if name not in used_otherwise)
    before = parts[0].before or Before(_kind(parts[0], columns), rows)
    roles = () if parts[0].format == "preflib" else tuple(_roles(columns))
    roles += () if time is None else (("time", time),)
    roles += () if by is None else (("by", by),)
    more = f" and {counted(len(parts) - 1, 'more file')}" if len(parts) > 1 else ""
    return Reading(
        source=f"{parts[0].name}{more}",
        kind=before.kind,
        rows=before.rows if filtered is None else filtered.of,
        columns=tuple((role, name) for role, name in roles if not name.startswith("(")),
        ignored=unused,
        left_out=left_out,
        remarks=(*_remarks(parts), *numbers, *_conventions(columns, rules)),
        where=None if filtered is None else filtered.where,
        kept=None if filtered is None else filtered.kept,
        spellings=spellings,
        pooled=pooled_in(parts, unused),
        maybe_judges=maybe_judges(parts, unused) if one_judge else (),
        files=len(parts),
    )


def _remarks(parts: Sequence[Part]) -> tuple[str, ...]:
    """What was guessed in opening the files; of others than the first, with their names."""
    first = parts[0].remarks
    others = [
        f"{part.name}: {remark}"
        for part in parts[1:]
        for remark in part.remarks
        if remark not in first
    ]
    more = len(others) - MOST_REMARKS
    told = (f"{more:,} more such remarks",) if more > 0 else ()
    return (*first, *others[:MOST_REMARKS], *told)


def _kind(part: Part, columns: Columns) -> str:
    return "orders" if part.format == "preflib" else _KINDS[type(columns)]


def _roles(columns: Columns) -> Iterator[tuple[str, str]]:
    wins = isinstance(columns, PairColumns) and columns.outcome is None
    words = {"left": "winner", "right": "loser"} if wins else {"id": "context", "ranks": "ranks"}
    for one in sorted(fields(columns), key=lambda field: field.name != "judge"):
        value = getattr(columns, one.name)
        if one.name in ("unread", "said") or value is None:
            continue
        name = listing(value, 3) if isinstance(value, tuple) else str(value) or NAMELESS
        yield words.get(one.name, one.name), name


def unused_columns(part: Part, columns: Columns) -> tuple[str, ...]:
    """Name the columns that hold no part of the votes."""
    if part.format == "preflib":
        return ()
    used = {*columns.used, ROW_NAME}
    return tuple(
        name or "(unnamed)"
        for name in header(part)
        if name not in used and not (part.before and name.startswith("("))
    )


def _conventions(columns: Columns, rules: Rules) -> Iterator[str]:
    if isinstance(columns, RatingColumns):
        better = "lower" if rules.lower_is_better else "higher"
        option = "" if rules.lower_is_better else " (else --lower-is-better)"
        yield f"{better} ratings are better{option}, equal ones are ties"
    if isinstance(columns, LongColumns):
        yield "position 1 is the best"
    if isinstance(columns, PairColumns) and columns.judge is None and rules.judge_per_row:
        yield "every row is a judge of its own"
