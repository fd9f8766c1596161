"""Games with the scores of both sides: the higher wins, equal ones are a tie."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, listing
from juryrank.reading.columns import sides_in
from juryrank.reading.files import Before, Part, label_columns, read_head, read_rows
from juryrank.reading.names import plain
from juryrank.reading.plain import ROW_NAME, Plain, left_out_of
from juryrank.reading.rows import filled, weights

GAMES = "pairs with the scores of both sides"
WINNER = "(winner)"
HEAD = 500
MOST_COLUMNS = 1_000
"""A table that has more is none of games: its cells are not looked at."""
LEAST_SCORES = 0.5
"""The share of cells of a column that are scores, at least, to take it for one of scores."""
BOTH_SCORES = r"^\s*([0-9]+(?:[.,][0-9]+)?)\s*[-:\u2013\u2014]\s*([0-9]+(?:[.,][0-9]+)?)\s*$"
"""Those of both sides in one cell: ``3-1``."""
_SIDES = (
    ("home", "away"), ("left", "right"), ("a", "b"), ("1", "2"), ("h", "a"), ("white", "black"),
    ("first", "second"), ("l", "r"), ("heim", "gast"), ("home", "visitor"), ("home", "guest"),
)  # fmt: skip
_WHAT = ("score", "scores", "goals", "points", "pts", "runs", "sets", "result", "total", "tore")
_KNOWN_PAIRS = (("fthg", "ftag"), ("hg", "ag"), ("hgoals", "agoals"), ("home_pts", "away_pts"))


class Scores(NamedTuple):
    """The columns of the scores of the left and right side; or one column of both."""

    left: str
    right: str | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [self.left] if self.right is None else [self.left, self.right]


def scores_in(
    part: Part, names: Sequence[str], asked: Mapping[str, str | None]
) -> tuple[tuple[str, str], Scores] | None:
    """Find the two items and their scores; None if the table is another."""
    sides = sides_in(names, asked)
    if sides is None or asked["loser"]:
        return None
    wanted = asked["winner"]
    rest = [name for name in names if name not in sides and wanted in (None, name)]
    both = _column_of_both(part, rest)
    if both is not None:
        return sides, Scores(both)
    pair = None if wanted else _two_columns(sides, rest)
    return None if pair is None else (sides, pair)


def _two_columns(sides: tuple[str, str], names: Sequence[str]) -> Scores | None:
    """Find two columns that are called scores, one of each side."""
    called = {plain(name): name for name in names}
    for one, other in (tuple(map(plain, sides)), *_SIDES):
        for left, right in _pairs_of_scores(one, other):
            if left in called and right in called:
                found = called[left], called[right]
                return Scores(*(found[::-1] if _is_swapped(sides, one, other) else found))
    return None


@lru_cache(maxsize=100)
def _pairs_of_scores(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """What the scores of two sides may be called."""
    known = _KNOWN_PAIRS if one == "home" else ()
    composed = (
        (form.format(side=one, what=what), form.format(side=other, what=what))
        for what in _WHAT
        for form in ("{side}_{what}", "{what}_{side}", "{what}{side}", "{side}{what}")
    )
    return (*known, *composed)


def _is_swapped(sides: tuple[str, str], one: str, other: str) -> bool:
    """Whether the user calls that side left which is the second of two, such as the guest's."""
    left, right = (set(plain(side).split("_")) for side in sides)
    return other in left and one in right


def _column_of_both(part: Part, names: Sequence[str]) -> str | None:
    """Find the column with cells such as 3-1; if there are several, ask which of them counts."""
    if len(names) > MOST_COLUMNS:
        return None
    head = read_head(part, label_columns([part], names), HEAD)
    found = [name for name in _mostly_of_both(head) if are_both_scores(head[name])]
    if len(found) > 1:
        several = shlex.quote(",".join(found))
        raise InputError(
            f"{part.name} has {len(found)} columns with the scores of both sides: "
            f"{listing([repr(name) for name in found])}. If each is a judge's, say --judge-columns "
            f"{several} (judge_columns=[...]); if one counts, name it with --winner "
            f"{shlex.quote(found[0])} (winner={found[0]!r})."
        )
    return found[0] if found else None


def _mostly_of_both(head: pl.DataFrame) -> list[str]:
    """Give the columns most of whose cells may be the scores of both sides."""
    # All at once, since there may be thousands, and each query takes its time.
    shares = head.select(pl.all().str.contains(BOTH_SCORES).mean())
    return [share.name for share in shares if (share.item() or 0.0) >= LEAST_SCORES]


def are_both_scores(column: pl.Series) -> bool:
    """Tell whether cells are such as 3-1, not only the 1-0 of chess, which is an outcome."""
    given = column.drop_nulls()
    if not len(given) or given.dtype != pl.String:
        return False
    left, right = _ends(given.filter(given.str.contains(BOTH_SCORES)))
    points = left + right
    return len(points) >= LEAST_SCORES * len(given) and not bool((points == 1).all())


def winners_by_scores(column: pl.Series) -> pl.Series:
    """Say of cells such as 3-1 who won; other cells stay as they are."""
    is_game = column.str.contains(BOTH_SCORES).fill_null(False)
    won = pl.Series(column.name, _who_won(*_ends(column)))
    return won.zip_with(is_game, column)


def _who_won(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.where(left > right, "left", np.where(left < right, "right", "tie"))


def made_of_scores(
    part: Part, names: Sequence[str], sides: tuple[str, str], scores: Scores
) -> Part:
    """Say of every game who won; those without two numbers are left out."""
    read = read_rows([part], names)
    left, right = _numbers(read.frame, scores)
    known = np.isfinite(left) & np.isfinite(right)
    if not known.any():
        raise InputError(
            f"{part.name} has no game with both scores in {' and '.join(scores.columns)}."
        )
    row_names = [f"row {row:,}" for row in read.numbers]
    won = _who_won(left, right)
    winner = scores.left if scores.right is None else WINNER  # so that the user may name it
    votes = read.frame.drop(scores.columns).with_columns(
        pl.Series(winner, won), pl.Series(ROW_NAME, row_names)
    )
    without = [
        row_name for row_name, is_known in zip(row_names, known, strict=True) if not is_known
    ]
    left_out = left_out_of(part.name, without, len(row_names), "rows", "without both scores")
    hints = {
        **part.plain.hints, "left": sides[:1], "right": sides[1:], "outcome": (winner,),
    }  # fmt: skip
    return replace(
        part,
        plain=Plain(votes.filter(known).lazy(), hints, names_rows=True, left_out=left_out),
        remarks=(
            *part.remarks,
            f"the higher score wins, equal scores are ties ({', '.join(scores.columns)})",
        ),
        before=Before(GAMES, len(read.frame)),
        kept=None,
    )


def _numbers(frame: pl.DataFrame, scores: Scores) -> tuple[NDArray[np.float64], ...]:
    if scores.right is not None:
        return tuple(weights(filled(frame[name])) for name in scores.columns)
    return _ends(frame[scores.left].cast(pl.String))


def _ends(cells: pl.Series) -> tuple[NDArray[np.float64], ...]:
    """The two numbers of each cell such as 3-1."""
    ends = cells.str.extract_groups(BOTH_SCORES).struct.unnest()
    return tuple(weights(ends[end]) for end in ends.columns)
