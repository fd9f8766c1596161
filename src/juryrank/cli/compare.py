"""`juryrank compare`: how well models predict unseen votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli.exits import exits_politely
from juryrank.cli.fitting import fitting, watcher
from juryrank.cli.help import EXPERTS, TO_COMPARE
from juryrank.cli.model_options import Threads
from juryrank.cli.output_options import (
    AsJson,
    SafeCsv,
    TableOut,
    check_destinations,
    check_safe_csv,
    is_stdout,
    save_table,
)
from juryrank.cli.reading_options import with_source
from juryrank.cli.source import Source
from juryrank.cli.terminal.comparison import comparison_view
from juryrank.cli.terminal.console import print_json, show
from juryrank.cli.terminal.messages import show_note
from juryrank.model.registry import model_named

if TYPE_CHECKING:
    from juryrank.ranking.comparison import Comparison
    from juryrank.votes.votes import Votes

Models = Annotated[
    str | None,
    typer.Option(
        help="The models to compare, with commas between them; --help-all lists them.",
        metavar="NAME,...",
        show_default="all but htm that know the kind of votes",
        rich_help_panel=TO_COMPARE,
    ),
]
Folds = Annotated[
    int,
    typer.Option(
        min=2,
        metavar="N",
        help="Into how many parts the votes are split.",
        rich_help_panel=TO_COMPARE,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The same seed gives the same result.",
        rich_help_panel=EXPERTS,
    ),
]


@exits_politely
@with_source
def compare(
    source: Source,
    models: Models = None,
    folds: Folds = 5,
    seed: Seed = 0,
    out: TableOut = None,
    safe_csv: SafeCsv = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Compare models by how well they predict unseen votes.

    Examples:
      juryrank compare --example
      juryrank compare votes.csv --models hbtl,btl --folds 10
    """
    chosen = None if models is None else _models(models)
    check_destinations(source, out)
    check_safe_csv(safe_csv, out)
    votes = source.read()
    comparison = _compared(votes, chosen, folds, seed, threads)
    save_table(comparison.table, "comparison", out, safe_csv=safe_csv)
    if as_json:
        print_json(comparison.to_dict())
    elif not is_stdout(out):
        show(comparison_view(comparison))


def _models(text: str) -> list[str]:
    from juryrank.ranking.comparison import NO_TASTES

    found = []
    for name in (part.strip() for part in text.split(",")):
        suffix = NO_TASTES if name.endswith(NO_TASTES) else ""
        found.append(model_named(name.removesuffix(suffix)).name + suffix)
    return list(dict.fromkeys(found))


def _compared(
    votes: Votes, chosen: Sequence[str] | None, folds: int, seed: int, threads: int | None
) -> Comparison:
    from juryrank.ranking.comparison import compare as fit_and_compare
    from juryrank.ranking.comparison import long_comparison

    expected = long_comparison(votes, chosen, folds)
    if expected is not None:
        show_note(expected)
    with fitting("Comparing models") as say:  # what it would warn of was said just now
        return fit_and_compare(
            votes, chosen, folds=folds, seed=seed, threads=threads, progress=watcher(say)
        )
