"""What is told of how a source was read: `Reading`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from juryrank.errors import counted, listing
from juryrank.reading.columns import (
    ChoiceColumns,
    Columns,
    LongColumns,
    PairColumns,
    RankingColumns,
    RatingColumns,
    WideColumns,
)
from juryrank.reading.files import Before, Part, header
from juryrank.reading.plain import PLACE
from juryrank.reading.rows import Rules
from juryrank.votes import Reading

_KINDS = {
    PairColumns: "pairs",
    RankingColumns: "rankings",
    ChoiceColumns: "choices from sets",
    LongColumns: "rankings, a row for each item",
    WideColumns: "rankings, a column for each place",
    RatingColumns: "ratings, a row for each item",
}


def reading_of(
    parts: Sequence[Part],
    columns: Columns,
    rules: Rules,
    rows: int,
    left_out: int,
    numbers: tuple[str, ...] = (),
) -> Reading:
    """Tell how the files of one source were read.

    Args:
        parts: The files, with a row for each item if they had a column for each.
        columns: Which column holds what.
        rules: How rows were taken.
        rows: How many rows there were.
        left_out: How many of them are no votes.
        numbers: What outcomes that are numbers were taken to mean.
    """
    before = parts[0].before or Before(_kind(parts[0], columns), rows)
    roles = () if parts[0].format == "preflib" else tuple(_roles(columns))
    more = f" and {counted(len(parts) - 1, 'more file')}" if len(parts) > 1 else ""
    return Reading(
        source=f"{parts[0].name}{more}",
        kind=before.kind,
        rows=before.rows,
        columns=tuple((role, name) for role, name in roles if not name.startswith("(")),
        ignored=tuple(_ignored(parts[0], columns)),
        left_out=left_out,
        remarks=(*parts[0].remarks, *numbers, *_conventions(columns, rules)),
    )


def _kind(part: Part, columns: Columns) -> str:
    return "orders" if part.format == "preflib" else _KINDS[type(columns)]


def _roles(columns: Columns) -> Iterator[tuple[str, str]]:
    wins = isinstance(columns, PairColumns) and columns.outcome is None
    words = {"left": "winner", "right": "loser"} if wins else {"id": "context", "places": "places"}
    for one in sorted(fields(columns), key=lambda field: field.name != "judge"):
        value = getattr(columns, one.name)
        if one.name == "unread" or value is None:
            continue
        name = listing(value, 3) if isinstance(value, tuple) else str(value)
        yield words.get(one.name, one.name), name


def _ignored(part: Part, columns: Columns) -> Iterator[str]:
    if part.format == "preflib":
        return
    used = {*columns.used, PLACE}
    for name in header(part):
        if name not in used and not (part.before and name.startswith("(")):
            yield name or "(unnamed)"


def _conventions(columns: Columns, rules: Rules) -> Iterator[str]:
    if isinstance(columns, RatingColumns):
        better = "lower" if rules.lower_is_better else "higher"
        option = "" if rules.lower_is_better else " (else --lower-is-better)"
        yield f"{better} ratings are better{option}, equal ones are ties"
    if isinstance(columns, LongColumns):
        yield "position 1 is the best"
    if isinstance(columns, PairColumns) and columns.judge is None and rules.judge_per_row:
        yield "every row is a judge of its own"
