"""The tables of the report: text for people, and keys to sort by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from juryrank.errors import number
from juryrank.judging.verdicts import by_attention
from juryrank.models import model_named
from juryrank.words import chance_in_percent

if TYPE_CHECKING:
    from juryrank.ranking import Ranking

MOST_ROWS = 2_000
PAIRS_SHOWN = 20
MANY_ROWS = 20
"""From so many rows on, it is worth while to search them."""


class Cell(NamedTuple):
    """What is shown and, if it is a number, what it is sorted by."""

    text: str
    key: float | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings; those in `numbers` are set to the right.

    What stands under the heading `naming` says what a row is about, and stays in view.
    """

    name: str
    headings: tuple[str, ...]
    numbers: frozenset[str]
    rows: list[list[Cell]]
    rest: int = 0
    """Rows that there would be more."""
    naming: str = ""

    @property
    def searchable(self) -> bool:
        """Whether there is enough to search in."""
        return len(self.rows) > MANY_ROWS


Show = Callable[[Any], str]


@dataclass(frozen=True)
class Column:
    """A heading, the column of the frame behind it, and how its values are shown."""

    heading: str
    source: str
    show: Show = str
    is_number: bool = True

    def cell(self, row: dict[str, Any]) -> Cell:
        """The cell of a row; empty where nothing is known."""
        value = row[self.source]
        if value is None:
            return Cell("", None)
        return Cell(self.show(value), value if self.is_number else None)


def _made(
    name: str, columns: Sequence[Column], frame: pl.DataFrame, most: int, naming: str
) -> Table:
    known = [column for column in columns if frame[column.source].is_not_null().any()]
    return Table(
        name,
        tuple(column.heading for column in known),
        frozenset(column.heading for column in known if column.is_number),
        [[column.cell(row) for column in known] for row in frame.head(most).iter_rows(named=True)],
        max(len(frame) - most, 0),
        naming,
    )


def _share(value: float) -> str:
    return f"{value:.0%}"


def _decimal(value: float) -> str:
    return f"{value:z.2f}"


def items_table(ranking: Ranking) -> Table:
    """The items, the best first."""
    decimals = ranking.scale.decimals

    def points(value: float) -> str:
        return f"{value:z.{decimals}f}"

    columns = (
        Column("rank", "rank", number),
        Column("item", "item", is_number=False),
        Column("score", "score", points),
        Column("from", "score_low", points),
        Column("to", "score_high", points),
        Column("best rank", "rank_low", number),
        Column("worst rank", "rank_high", number),
        Column("chance to be best", "p_best", chance_in_percent),
        Column("tier", "tier", number),
    )
    return _made("items", columns, ranking.items, MOST_ROWS, "item")


def judges_table(ranking: Ranking) -> Table:
    """The judges, those who need attention first."""
    what = model_named(ranking.model).judges
    accuracy = () if what == "equal" else (
        Column("accuracy" if what == "accuracy" else "reliability", "accuracy", _decimal),
        Column("from", "accuracy_low", _decimal),
        Column("to", "accuracy_high", _decimal),
    )  # fmt: skip
    columns = (
        Column("judge", "judge", is_number=False),
        *accuracy,
        Column("votes", "votes", number),
        Column("verdict", "verdict", is_number=False),
        Column("reason", "reason", is_number=False),
    )
    return _made("judges", columns, by_attention(ranking.judges), MOST_ROWS, "judge")


def pairs_table(ranking: Ranking) -> Table:
    """The pairs of items that disagree most with the model."""
    columns = (
        Column("item", "item", is_number=False),
        Column("against", "other", is_number=False),
        Column("votes", "votes", number),
        Column("won", "observed", _share),
        Column("predicted", "expected", chance_in_percent),
        Column("standard errors off", "surprise", lambda z: f"{z:+z.1f}"),
    )
    return _made("pairs", columns, ranking.pairs.head(PAIRS_SHOWN), PAIRS_SHOWN, "item")
