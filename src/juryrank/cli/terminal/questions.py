"""Questions in a terminal: the pairs, whom to ask, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from juryrank.cli.terminal.tables import label, table_of

if TYPE_CHECKING:
    import polars as pl

MOST_SHOWN = 100


def questions_view(questions: pl.DataFrame) -> Iterator[RenderableType]:
    """Show the questions in the order in which they were chosen."""
    has_judges = questions["judge"].is_not_null().any()
    has_gains = questions["gain"].is_not_null().any()
    names = ["left", "right", *(["judge"] if has_judges else []), *(["gain"] if has_gains else [])]
    table = table_of(*names, "chosen", right=("gain",))
    for row in questions.head(MOST_SHOWN).iter_rows(named=True):
        cells = [label(row["left"]), label(row["right"])]
        cells += [label("" if row["judge"] is None else row["judge"])] if has_judges else []
        gain = "-" if row["gain"] is None else f"{row['gain']:.3f}"
        cells += [Text(gain)] if has_gains else []
        table.add_row(*cells, row["chosen"])
    yield table
    hidden = len(questions) - MOST_SHOWN
    if hidden > 0:
        yield Text(f"... and {hidden:,} more (--out FILE writes them all)", "dim")
    if has_gains:
        yield Text("")
        yield Text("Gain: what the answer is expected to tell, in nats, given those before it.")
