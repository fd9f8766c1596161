"""A ranking in a terminal: the items with their scores as bars, and the judges worth a look."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from juryrank.cli.terminal.console import console
from juryrank.cli.terminal.headline import headline
from juryrank.cli.terminal.judges import judges_worth_a_look
from juryrank.cli.terminal.score_bar import ScoreBar
from juryrank.cli.terminal.tables import PADDING, label, labels, table_of
from juryrank.errors import counted, percent
from juryrank.text import literal

if TYPE_CHECKING:
    import polars as pl

    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking

MOST_GROUPS = 5
NARROWEST_LABEL, WIDEST_LABEL = 12, 60


def answer_view(answer: Ranking | Rankings, top: int) -> Iterator[RenderableType]:
    """Show a ranking, or those of all values of a column."""
    from juryrank.ranking.by_value import Rankings  # it needs polars

    if isinstance(answer, Rankings):
        return rankings_view(answer, top)
    return ranking_view(answer, top, planned=True)


def rankings_view(rankings: Rankings, top: int) -> Iterator[RenderableType]:
    """Show what there is of each value, and then its ranking below a heading."""
    yield _overview_table(rankings)
    for value in rankings:
        heading = Text(literal(f"{rankings.by}: {value}"), "bold underline")
        yield from ("", heading, *ranking_view(rankings[value], top))


def _overview_table(rankings: Rankings) -> Table:
    numbers = ("votes", "items", "judges")
    table = table_of(rankings.by, *numbers, "first", right=numbers)
    for value, *counts, first, error in rankings.overview.rows():
        sizes = ("-" if count is None else f"{count:,}" for count in counts)
        told = f"not ranked: {error}" if error else str(first)
        table.add_row(label(value), *sizes, Text(literal(told), "" if first else "yellow"))
    return table


def ranking_view(ranking: Ranking, top: int, *, planned: bool = False) -> Iterator[RenderableType]:
    """Show the best items with their scores as bars, then the judges worth a look.

    If `planned`, it is said how many more votes settle what is open.
    """
    yield headline(ranking)
    yield ""
    for items in ranking.groups[:MOST_GROUPS] or [ranking.items]:
        if ranking.groups:
            yield Text(f"Group {items['group'][0]:,}: {counted(len(items), 'item')}", "bold")
        yield _items_table(ranking, items.head(top))
        hidden = len(items) - top
        if hidden > 0:
            yield Text(f"... and {hidden:,} more (--top {len(items)} shows them)", "dim")
        yield ""
    further = len(ranking.groups) - MOST_GROUPS
    if further > 0:
        yield Text(f"... and {counted(further, 'more group')} (--out writes them all)\n", "dim")
    from juryrank.report.sentences import (  # they need polars
        effects_in_words,
        example,
        no_votes_needed,
        scale_in_words,
        tastes_in_words,
        tiers_in_words,
        votes_needed,
    )

    sentences = (
        *tiers_in_words(ranking), example(ranking), *scale_in_words(ranking),
        *effects_in_words(ranking), *tastes_in_words(ranking),
    )  # fmt: skip
    if planned:
        sentences += (*no_votes_needed(ranking), *votes_needed(ranking))
    yield from (Text(literal(sentence)) for sentence in sentences)
    yield from judges_worth_a_look(ranking)


def _items_table(ranking: Ranking, shown: pl.DataFrame) -> Table:
    ends = shown.select("score", "score_low", "score_high")
    zero = ranking.scale.average
    scores = [value - zero for row in ends.iter_rows() for value in row if value is not None]
    low, high = min(0.0, *scores), max(0.0, *scores)
    written = _as_points if ranking.scale.name == "elo" else _as_scores([*shown["score"], 0.0], low)
    known = shown["score_low"].is_not_null().all()
    heading = f"{percent(ranking.fit.confidence)} interval"
    names = ["rank", "item", "score", *([heading, "ranks", "tier"] if known else [])]
    table = table_of(*names, "", right=[name for name in names if name != "item"])
    _let_bars_give_way(table)
    rows = list(shown.iter_rows(named=True))
    numbers = [_numbers_of(row, written, known=known) for row in rows]
    items = labels(
        shown["item"].to_list(),
        _room_for_labels([name for name in names if name != "item"], numbers),
    )
    for row, item, (rank, *others) in zip(rows, items, numbers, strict=True):
        table.add_row(rank, item, *others, ScoreBar(row["score"] - zero, low, high))
    return table


def _numbers_of(row: dict[str, Any], written: Callable[[float], str], *, known: bool) -> list[str]:
    """Write all that is said of an item but its name."""
    numbers = [f"{row['rank']:,}", written(row["score"])]
    if known:
        interval = f"{written(row['score_low'])} to {written(row['score_high'])}"
        numbers += [interval, _span(row), str(row["tier"])]
    return numbers


def _room_for_labels(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """How many letters wide labels can be beside the numbers, if there are no bars."""
    widths = (max(map(len, column)) + PADDING for column in zip(heading, *rows, strict=True))
    room = console().width - sum(widths) - 2 * PADDING
    return min(max(room, NARROWEST_LABEL), WIDEST_LABEL)


def _let_bars_give_way(table: Table) -> None:
    """Give the last column what the others leave; labels cut short can be mistaken for others."""
    table.expand = True
    table.columns[-1].ratio = 1


def _as_scores(values: Sequence[float], low: float) -> Callable[[float], str]:
    """Write scores with as many decimals as tell them apart, and signs if some are negative."""
    sign, decimals = "+" if low < 0.0 else "", _decimals(values)
    return lambda value: f"{value:{sign}z.{decimals}f}"


def _as_points(value: float) -> str:
    return f"{value:z.0f}"


def _span(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _decimals(values: Sequence[float]) -> int:
    """How many decimals it takes to tell the values apart."""
    widest = max(values) - min(values)
    return min(4, max(2, 2 - math.floor(math.log10(widest)))) if widest > 0.0 else 2
