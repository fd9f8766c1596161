"""What the user says about how to read votes, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from juryrank.errors import InputError
from juryrank.reading.files import Opening
from juryrank.reading.grids import Grid
from juryrank.reading.outcomes import checked_map
from juryrank.reading.rows import Rules

Asked = Mapping[str, str | None]
COLUMNS = (
    "judge", "winner", "loser", "left", "right", "ranking", "options", "item", "position", "rating",
    "weight", "tie",
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """How to open files, which columns hold what, and how rows are taken."""

    opening: Opening
    asked: Asked
    """The user's name for each column, None where the header has to say."""
    grid: Grid
    rules: Rules
    where: str | None = None
    """Which rows are read; None: all."""
    by: str | None = None
    """The column each value of which is ranked apart."""


def request_of(options: Mapping[str, Any]) -> Request:
    """Check the keywords of `read_votes` or `votes_from`."""
    return Request(
        Opening(
            options.get("format"),
            options.get("encoding"),
            options.get("sheet"),
            options.get("unpack_all", False),
        ),
        {role: _named_by_text(role, options[role]) for role in COLUMNS},
        _grid(options),
        _rules(options),
        options.get("where"),
        _named_by_text("by", options.get("by")),
    )


def _named_by_text(role: str, column: object) -> str | None:
    """The name of a column as text: those of pandas' frames may be numbers."""
    if column is None or isinstance(column, str):
        return column
    if isinstance(column, Integral):
        return str(column)
    raise InputError(f"{role}={column!r} must be the name of a column.")


def _grid(options: Mapping[str, Any]) -> Grid:
    cells, counts = options["cells"], options["counts"]
    if cells not in (None, "position", "rating"):
        raise InputError(f"cells={cells!r} must be 'position' or 'rating'.")
    if counts not in ("rows", "columns"):
        raise InputError(f"counts={counts!r} must be 'rows' or 'columns'.")
    items, judges = _several(options["item_columns"]), _several(options["judge_columns"])
    if items and judges:
        raise InputError(
            "There is a column for each item (--item-columns), or one for each judge "
            "(--judge-columns), but not both."
        )
    if options["judge_per_file"] and (options["judge"] or judges or options["judge_per_row"]):
        raise InputError(
            "The name of each file is the judge (--judge-per-file), or the judge is a column "
            "(--judge, --judge-columns) or a row (--judge-per-row), but not both."
        )
    if judges and options["judge_per_row"]:
        raise InputError(
            "There is a column for each judge (--judge-columns), or every row is a judge of its "
            "own (--judge-per-row), but not both."
        )
    return Grid(items, cells, judges, counts)


def _several(columns: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(columns, str | Integral):
        return (str(columns),)
    return tuple(str(column) for column in columns)


def _rules(options: Mapping[str, Any]) -> Rules:
    skip_bad = options["skip_bad"]
    if skip_bad not in (True, False, "most"):
        raise InputError(f"skip_bad={skip_bad!r} must be True, False or 'most'.")
    return Rules(
        checked_map(options["outcome_map"]),
        skip_bad=bool(skip_bad),
        judge_per_row=options["judge_per_row"],
        judge_per_file=options["judge_per_file"],
        skip_most=skip_bad == "most",
        na_is_name=options["na_is_name"],
        lower_is_better=options["lower_is_better"],
        merge_names=options["merge_names"],
    )
