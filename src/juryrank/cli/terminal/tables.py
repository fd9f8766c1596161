"""What tables of all kinds are made of: columns, labels, and sentences below them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Column, Table
from rich.text import Text

from juryrank.text import literal, short, told_apart

WIDEST_LABEL = 40
PADDING = 2
"""Letters between two columns."""


def table_of(*columns: str, right: Sequence[str]) -> Table:
    """An empty table without lines; the columns named in `right` are numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, PADDING, 0, 0), header_style="dim")
    for name in columns:
        # Where it is narrow, labels give way, numbers do not.
        is_number = name in right
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of numbers, all to the right."""
    table = table_of(*header, right=header)
    for row in rows:
        table.add_row(*row)
    return table


def label(value: object, widest: int = WIDEST_LABEL) -> Text:
    """Give a label on one line, without its middle if it is long."""
    return Text(short(value, widest), no_wrap=True)


def labels(values: Sequence[object], widest: int) -> list[Text]:
    """Give labels on one line each, of which no two look the same."""
    return [Text(name, no_wrap=True) for name in told_apart(values, widest)]


def bullet(sentence: str) -> Table:
    """A sentence of a list."""
    line = Table.grid("", Column(overflow="fold"), padding=(0, 1, 0, 0))
    line.add_row("-", Text(literal(sentence)))
    return line
