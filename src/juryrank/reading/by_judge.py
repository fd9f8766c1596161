"""Tables with a column for each judge: a row for each item, or for each pair of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from juryrank.errors import InputError, counted, listing
from juryrank.reading.columns import columns_found, sides_in
from juryrank.reading.files import Before, Part, read_rows
from juryrank.reading.names import known_names, plain
from juryrank.reading.plain import ROW_NAME, Plain
from juryrank.reading.rows import answered
from juryrank.reading.scores import are_both_scores, winners_by_scores

JUDGE, ANSWER = "(judge)", "(answer)"
BY_JUDGE = "a table with a column for each judge"


def made_by_judge(
    part: Part,
    names: Sequence[str],
    columns: Sequence[str],
    asked: Mapping[str, str | None],
    cells: str | None,
) -> Part:
    """Make a row of every cell of the judges' columns; an empty one is no vote."""
    if asked["judge"] is not None:
        raise InputError(
            "The judge is one column (--judge), or there is a column for each judge "
            "(--judge-columns), but not both."
        )
    rest = [name for name in names if name not in columns]
    read = read_rows([part], names)
    answers = pl.concat(
        read.frame.select(rest).with_columns(
            pl.lit(column).alias(JUDGE),
            answered(read.frame[column]).alias(ANSWER),
            pl.Series(ROW_NAME, [f"row {row:,}, column {column}" for row in read.numbers]),
        )
        for column in columns
    )
    filled = answers.filter(pl.col(ANSWER).is_not_null())
    if not len(filled):
        raise InputError(f"{part.name} has no votes: all cells of the judges are empty.")
    empty = len(answers) - len(filled)
    blank = f", {counted(empty, 'cell')} without an answer" if empty else ""
    remark = f"{counted(len(columns), 'column')} of judges ({listing(columns, 4)}){blank}"
    hints = _hints(part.name, rest, asked, cells) | {"judge": (JUDGE,)}
    if "outcome" in hints and are_both_scores(filled[ANSWER]):
        filled = filled.with_columns(winners_by_scores(filled[ANSWER]))
        remark += "; the higher score wins, equal scores are ties"
    return replace(
        part,
        plain=Plain(filled.lazy(), hints, names_rows=True),
        remarks=(*part.remarks, remark),
        before=Before(BY_JUDGE, len(read.frame)),
        kept=None,
    )


def _hints(
    source: str, rest: Sequence[str], asked: Mapping[str, str | None], cells: str | None
) -> dict[str, tuple[str, ...]]:
    """Tell what the cells are: outcomes of two items, or positions or ratings of one."""
    sides = sides_in(rest, asked)
    if sides is not None:
        return {"left": sides[:1], "right": sides[1:], "outcome": (ANSWER,)}
    item = asked["item"] or _item_among(source, rest)
    if cells is None:
        raise InputError(
            f"{source} has a column for each judge, and nothing says what the numbers in them are. "
            "Say --cells position if 1 is the best, or --cells rating if higher is better "
            "(cells=...); for outcomes of two items, name these with --left and --right."
        )
    return {"item": (item,), cells: (ANSWER,)}


def _item_among(source: str, rest: Sequence[str]) -> str:
    known = [name for name in rest if plain(name) in known_names("item")]
    found = known or list(rest)
    if len(found) != 1:
        raise InputError(
            f"{source} has no column that is clearly the item, besides those of the judges: "
            f"{columns_found(rest) or 'there is no other column'}. Name it with --item (item=...), "
            "or the two items of a pair with --left and --right."
        )
    return found[0]
