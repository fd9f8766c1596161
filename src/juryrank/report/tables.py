"""The tables of the report: text for people, keys to sort by, and intervals drawn to scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from juryrank.charts.judges import LANDMARKS
from juryrank.charts.pairs import LEAST_VOTES_OF_DOT
from juryrank.errors import counted, number, percent
from juryrank.judging.verdict_words import VERDICTS
from juryrank.judging.verdicts import by_attention
from juryrank.model.registry import model_named
from juryrank.report.sentences import chance_in_percent

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

MOST_ROWS = 2_000
MOST_PAIRS = 100
ROWS_AT_FIRST = 20
"""On a screen; a button shows the others, and then it is worth while to search them."""
ROWS_ON_PAPER, PAIRS_ON_PAPER = 120, 15
MOST_GROUPS = 10
"""Groups that were never compared and have a table of their own; all others share one."""

Row = dict[str, Any]
Show = Callable[[Any], str]


class Bar(NamedTuple):
    """An interval in a strip, in per cent of its width."""

    low: float
    width: float
    dot: float
    landmark: float | None


class Cell(NamedTuple):
    """What is shown, what it is sorted by if that is a number, and an interval drawn to scale."""

    text: str
    key: float | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class Strip:
    """The scale on which the intervals of a column are drawn, and a value that is marked on it."""

    dot: str
    low: float
    high: float
    landmark: float

    def bar(self, low: float, value: float, high: float) -> Bar | None:
        """An interval on this scale."""
        if not self.low < self.high:
            return None
        at, begin, end, mark = (
            round(100.0 * (x - self.low) / (self.high - self.low), 1)
            for x in (value, low, high, self.landmark)
        )
        return Bar(begin, round(end - begin, 1), at, mark if 0.0 <= mark <= 100.0 else None)


@dataclass(frozen=True)
class Column:
    """A heading, the column of the frame behind it, and how its values are shown."""

    heading: str
    source: str
    show: Show = str
    is_number: bool = True
    to: str = ""
    """The column of the other end, if there are ranges."""
    strip: Strip | None = None
    order: Sequence[str] = ()
    """What words are sorted by; by the alphabet, if by nothing."""

    @property
    def has_keys(self) -> bool:
        """Whether rows are sorted by numbers."""
        return self.is_number or bool(self.order)

    def cell(self, row: Row) -> Cell:
        """The cell of a row; empty where nothing is known."""
        value = row[self.source]
        if value is None:
            return Cell("")
        if self.order:
            return Cell(self.show(value), self.order.index(value))
        if not self.to:
            return Cell(self.show(value), value if self.is_number else None)
        other = row[self.to]
        bar = None if self.strip is None else self.strip.bar(value, row[self.strip.dot], other)
        text = self.show(value) if other == value else f"{self.show(value)} to {self.show(other)}"
        return Cell(text, value, bar)


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns; what stands under `naming` says what a row is about."""

    name: str
    columns: tuple[Column, ...]
    rows: list[list[Cell]]
    naming: str
    sorted_by: str = ""
    rest: int = 0
    """Rows that there would be more."""
    on_paper: int = ROWS_ON_PAPER
    title: str = ""
    """What stands above it, if that is not told by where it stands."""

    @property
    def is_long(self) -> bool:
        """Whether only some of the rows are shown at first."""
        return len(self.rows) > ROWS_AT_FIRST

    @property
    def has_groups(self) -> bool:
        """Whether there is a column more, for the group."""
        return self.columns[0].source == "group"


def _made(
    name: str, columns: Sequence[Column], frame: pl.DataFrame, naming: str, sorted_by: str
) -> Table:
    known = tuple(column for column in columns if frame[column.source].is_not_null().any())
    rows = frame.head(MOST_ROWS).iter_rows(named=True)
    cells = [[column.cell(row) for column in known] for row in rows]
    return Table(name, known, cells, naming, sorted_by, max(len(frame) - MOST_ROWS, 0))


def _share(value: float) -> str:
    return f"{value:.0%}"


def _decimal(value: float) -> str:
    return f"{value:z.2f}"


def _strip(frame: pl.DataFrame, value: str, landmark: float) -> Strip | None:
    """The scale on which all intervals have room; None if there are none."""
    low, high = frame[f"{value}_low"].min(), frame[f"{value}_high"].max()
    if low is None or high is None:
        return None
    return Strip(value, float(low), float(high), landmark)  # type: ignore[arg-type]


def _with_records(ranking: Ranking) -> pl.DataFrame:
    """The items with how often they were compared, and how often they won."""
    compared, won = ranking.tallies.records()
    names = ranking.tallies.votes.items.alias("item")
    records = pl.DataFrame({"item": names, "compared": compared, "won": won}, nan_to_null=True)
    return ranking.items.join(records, on="item", how="left", maintain_order="left")


def items_tables(ranking: Ranking) -> list[Table]:
    """The items, the best first; a table for each group of those that were compared."""
    items = _with_records(ranking)
    if not ranking.groups:
        return [_items_table(ranking, "items", items)]
    number_of = pl.col("group")
    made = []
    for group in range(1, min(len(ranking.groups), MOST_GROUPS) + 1):
        own = items.filter(number_of == group)
        table = _items_table(ranking, f"items-{group}", own.drop("group"))
        made.append(replace(table, title=f"Group {group}: {counted(len(own), 'item')}"))
    others = items.filter(number_of > MOST_GROUPS)
    if len(others):
        title = f"{counted(len(ranking.groups) - MOST_GROUPS, 'more group')}"
        made.append(replace(_items_table(ranking, "items-others", others), title=title))
    return made


def _items_table(ranking: Ranking, name: str, items: pl.DataFrame) -> Table:
    decimals = ranking.scale.decimals

    def points(value: float) -> str:
        return f"{value:z.{decimals}f}"

    group = (Column("group", "group", number),) if "group" in items.columns else ()
    columns = (
        *group,
        Column("rank", "rank", number),
        Column("item", "item", is_number=False),
        Column("score", "score", points),
        Column(
            f"{percent(ranking.fit.confidence)} interval", "score_low", points, to="score_high",
            strip=_strip(items, "score", ranking.scale.average),
        ),
        Column("plausible ranks", "rank_low", number, to="rank_high"),
        Column("chance to be best", "p_best", chance_in_percent),
        Column("tier", "tier", number),
        Column("comparisons", "compared", number),
        Column("win rate", "won", _share),
    )  # fmt: skip
    return _made(name, columns, items, "item", "" if group else "rank")


def judges_table(ranking: Ranking) -> Table:
    """The judges, those who need attention first."""
    model, judges = model_named(ranking.model), by_attention(ranking.judges)
    what = model.judges
    accuracy = () if not model.judges_differ else (
        Column(what, "accuracy", _decimal),
        Column(
            f"{percent(ranking.fit.confidence)} interval", "accuracy_low", _decimal,
            to="accuracy_high", strip=_strip(judges, "accuracy", LANDMARKS[what][0]),
        ),
    )  # fmt: skip
    columns = (
        Column("judge", "judge", is_number=False),
        *accuracy,
        Column("votes" if ranking.fit.weight is None else "weight of votes", "votes", number),
        Column("verdict", "verdict", is_number=False, order=VERDICTS),
        Column("reason", "reason", is_number=False),
    )
    return _made("judges", columns, judges, "judge", "verdict")


def details_table(ranking: Ranking) -> Table:
    """What comparative judgement looks at in judges; who is most surprising comes first."""
    unit = f" {ranking.time_unit}".rstrip()
    columns = (
        Column("judge", "judge", is_number=False),
        Column("infit", "infit", _decimal),
        Column("outfit", "outfit", _decimal),
        Column("left votes", "left_share", _share),
        Column("median time", "median_time", lambda time: f"{time:,.3g}{unit}"),
    )
    ordered = ranking.judge_details.sort("infit", descending=True, nulls_last=True)
    return _made("details", columns, ordered, "judge", "")


def pairs_table(ranking: Ranking) -> Table | None:
    """The pairs of items that disagree most with the model; None if all have too few votes."""
    columns = (
        Column("item", "item", is_number=False),
        Column("against", "other", is_number=False),
        Column("votes", "votes", number),
        Column("won", "observed", _share),
        Column("predicted", "expected", chance_in_percent),
        Column("standard errors off", "residual", lambda z: f"{z:+z.1f}"),
    )
    pairs = telling_pairs(ranking.pairs)
    if not len(pairs):
        return None
    made = _made("pairs", columns, pairs.head(MOST_PAIRS), "item", "")
    return replace(made, on_paper=PAIRS_ON_PAPER)


def telling_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Those with enough votes to tell something."""
    return pairs.filter(pl.col("votes") >= LEAST_VOTES_OF_DOT)
