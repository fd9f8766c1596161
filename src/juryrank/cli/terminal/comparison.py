"""A comparison of models in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from juryrank.cli.terminal.tables import bullet, table_of
from juryrank.errors import counted

if TYPE_CHECKING:
    from juryrank.ranking.comparison import Comparison


def comparison_view(comparison: Comparison) -> Iterator[RenderableType]:
    """Show the models, the best first, with what each loses against the best."""
    done = f"{counted(comparison.votes, 'vote')}, {comparison.folds} folds, seed {comparison.seed}"
    yield Text.assemble(("How well models predict unseen votes", "bold"), f" ({done})")
    yield ""
    yield _models_table(comparison)
    yield ""
    yield Text(
        f"Log-loss: lower is better, and {comparison.guessing:.3f} is what guessing gets. Worse "
        "by: the log-loss above the best model's, with its standard error."
    )
    for row in comparison.table.iter_rows(named=True):
        if row["note"]:
            yield bullet(f"{row['model']} {row['note']}")


def _models_table(comparison: Comparison) -> Table:
    numbers = ("log-loss", "predicted right", "worse by")
    table = table_of("model", *numbers, right=numbers)
    for row in comparison.table.iter_rows(named=True):
        if row["log_loss"] is None:
            table.add_row(row["model"], "-", "-", "could not be fitted")
            continue
        table.add_row(
            row["model"],
            f"{row['log_loss']:.4f}",
            f"{row['correct']:.1%}",
            f"{row['worse_by']:.4f} ± {row['worse_by_se']:.4f}" if row["worse_by"] else "best",
        )
    return table
