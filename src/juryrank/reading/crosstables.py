"""Cross tables of a tournament: a row and a column for each player, and results where they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.files import Before, Part, read_rows
from juryrank.reading.names import plain
from juryrank.reading.plain import ROW_NAME, Plain
from juryrank.reading.ratings import ratings
from juryrank.reading.rows import filled

CROSS_TABLE = "a cross table of results"
LEFT, RIGHT, WINNER = "(left)", "(right)", "(winner)"
FEWEST_PLAYERS = 3
MOST_PLAYERS = 500
POINTS = {
    "1": 1.0, "1.0": 1.0, "+": 1.0, "w": 1.0, "0": 0.0, "0.0": 0.0, "l": 0.0, "=": 0.5, "0.5": 0.5,
    "0,5": 0.5, "\u00bd": 0.5, "1/2": 0.5, "d": 0.5, ".5": 0.5,
}  # fmt: skip
"""What a player got from a game."""
ITSELF = (
    "x",
    "*",
    "#",
    "-",
    "--",
    "---",
    "\u2013",
    "\u2014",
    "\\",
    "\u2588",
    "\u25a0",
    "xx",
    "xxx",
)
RECIPE = "Write one row per game instead, with the columns white, black and result (1-0, 0-1, 1/2)."
_NAMED = ("name", "player", "team", "item", "players", "names", "club", "spieler", "nom")


class CrossTable(NamedTuple):
    """The columns of a cross table, and what is in them."""

    players: str
    """The column with the names of the players."""
    columns: tuple[str, ...]
    """The columns of the same players, in the order of the rows."""


def cross_table(part: Part, names: Sequence[str]) -> CrossTable | None:
    """Find a square of results with nothing on its diagonal; None if there is none."""
    if not FEWEST_PLAYERS < len(names) <= MOST_PLAYERS:
        return None
    frame = read_rows([part], names).frame
    if any(column.dtype.is_nested() for column in frame):
        return None
    for player in _columns_of_players(frame):
        players = filled(frame[player])
        number = players.null_count() and len(players) - players.null_count()
        rows = frame.head(number or len(frame))
        found = _columns_by_number(rows, names) or _columns_by_name(rows, player, names)
        if found is not None and _is_square_of_results(rows.select(found)):
            return CrossTable(player, tuple(found))
    return None


def _columns_of_players(frame: pl.DataFrame) -> list[str]:
    """Find columns with different words in all rows, first those that are called so."""
    found = [
        name
        for name in frame.columns
        if len(cells := filled(frame[name]).drop_nulls()) >= FEWEST_PLAYERS
        and cells.n_unique() == len(cells)
        and np.isnan(ratings(cells)).all()
    ]
    return sorted(found, key=lambda name: plain(name) not in _NAMED)[:FEWEST_PLAYERS]


def _columns_by_number(rows: pl.DataFrame, names: Sequence[str]) -> list[str] | None:
    called = {name.strip().lower().removeprefix("r").strip(" ."): name for name in names}
    numbers = [str(number) for number in range(1, len(rows) + 1)]
    more = str(len(rows) + 1) in called
    return [called[one] for one in numbers] if called.keys() >= set(numbers) and not more else None


def _columns_by_name(rows: pl.DataFrame, player: str, names: Sequence[str]) -> list[str] | None:
    called = {name.strip().lower(): name for name in names if name != player}
    players = [name.lower() for name in filled(rows[player]).fill_null("")]
    are_all = called.keys() >= set(players) and len(set(players)) == len(players)
    return [called[one] for one in players] if are_all else None


def _is_square_of_results(cells: pl.DataFrame) -> bool:
    """Whether the cells are results, some of them draws, and those on the diagonal nothing."""
    words = [[(cell or "").lower() for cell in filled(column)] for column in cells]
    own = [column[at] for at, column in enumerate(words)]
    others = [
        word for at, column in enumerate(words) for row, word in enumerate(column) if row != at
    ]
    played = [word for word in others if word and word not in ITSELF]
    is_halved = any(POINTS.get(word) == 0.5 for word in played)
    return (
        all(not word or word in ITSELF for word in own)
        and is_halved
        and all(word in POINTS or _is_several(word) for word in played)
    )


def _is_several(word: str) -> bool:
    """Whether a cell has the results of two games or more, such as ``1\u00bd`` and ``01``."""
    return len(word) > 1 and all(sign in POINTS or sign in " ,/" for sign in word)


def made_of_results(part: Part, table: CrossTable) -> Part:
    """Make a vote of every two players who met; both must have the result of the same game."""
    read = read_rows([part], [table.players, *table.columns])
    frame = read.frame.head(len(table.columns))
    players = filled(frame[table.players]).to_list()
    got = np.column_stack([_points(part.name, frame[name]) for name in table.columns])
    _check_same(part.name, players, got)
    one, other = np.triu_indices(len(players), 1)
    points = np.where(np.isnan(got[one, other]), 1 - got[other, one], got[one, other])
    met = ~np.isnan(points)
    one, other, points = one[met], other[met], points[met]
    votes = pl.DataFrame(
        {
            LEFT: [players[at] for at in one],
            RIGHT: [players[at] for at in other],
            WINNER: np.where(points > 0.5, "left", np.where(points < 0.5, "right", "tie")),
            ROW_NAME: [
                f"row {a + 1:,}, column {table.columns[b]}" for a, b in zip(one, other, strict=True)
            ],
        }
    )
    hints = {"left": (LEFT,), "right": (RIGHT,), "outcome": (WINNER,)}
    return replace(
        part,
        plain=Plain(votes.lazy(), hints, names_rows=True),
        remarks=(
            *part.remarks,
            f"players = {table.players}; {len(votes):,} games, each of which is there twice",
        ),
        before=Before(CROSS_TABLE, len(players)),
    )


def _points(source: str, column: pl.Series) -> NDArray[np.float64]:
    words = [(cell or "").lower() for cell in filled(column)]
    several = next((word for word in words if word not in POINTS and _is_several(word)), None)
    if several is not None:
        raise InputError(
            f"{source} is {CROSS_TABLE} with several games in a cell, such as {several!r} in the "
            f"column {column.name!r}. {RECIPE}"
        )
    return np.array([POINTS.get(word, np.nan) for word in words])


def _check_same(source: str, players: Sequence[object], got: NDArray[np.float64]) -> None:
    """Refuse results of the same game that do not make one point together."""
    with np.errstate(invalid="ignore"):
        wrong = np.argwhere(np.triu(np.abs(got + got.T - 1) > 1e-9, 1))
    if len(wrong):
        one, other = (players[at] for at in wrong[0])
        raise InputError(
            f"{source} is {CROSS_TABLE}, and {len(wrong):,} of them do not agree with those of the "
            f"other player: first {one!r} against {other!r}. The two must add up to one point. "
            f"{RECIPE}"
        )
