"""`juryrank paper`: the paper's tables again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli.exits import exits_politely
from juryrank.errors import InputError
from juryrank.terminal import console, plain_table, progress, show_note

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

NAMES = ("gumbel-benign", "normal-benign", "gumbel-adversarial", "normal-adversarial")


@exits_politely
def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help=f"{', '.join(NAMES)}; all if none is given."),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=2, metavar="N", help="Trials in each cell; the paper has 100.")
    ] = 100,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed gives the same result.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Save each table as CSV, Markdown and a picture."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Processes to use.", show_default="all cores"),
    ] = None,
) -> None:
    """Run the paper's synthetic tables again, beside its numbers and our default.

    A run that was interrupted continues where it was.

    Examples:
      juryrank paper gumbel-benign --trials 20
      juryrank paper --out docs/paper
    """
    chosen = names or list(NAMES)
    for name in chosen:
        if name not in NAMES:
            raise InputError(f"There is no table {name!r}. Tables: {', '.join(NAMES)}.")
    from juryrank.paper.tables import save_table

    for name in chosen:
        table = _run(name, trials, seed, jobs)
        for part in _view(name, table):
            console().print(part)
        if out is not None:
            options = f" --trials {trials} --seed {seed} --out {out}"
            paths = save_table(table, out, f"juryrank paper {name}{options}")
            show_note(f"Saved {', '.join(str(path) for path in paths)}.")


def _run(name: str, trials: int, seed: int, jobs: int | None) -> pl.DataFrame:
    from juryrank.paper.synthetic import cells, run_table

    with progress(name, total=len(cells(name)) * trials) as say:

        def watch(done: int, total: int) -> None:
            if say:
                say(f"{name}: {done:,} of {total:,} trials", done)

        return run_table(name, trials=trials, seed=seed, jobs=jobs, progress=watch)


def _view(name: str, trials: pl.DataFrame) -> Iterator[RenderableType]:
    from juryrank.paper.synthetic import summary, verdict
    from juryrank.paper.tables import short_table_rows

    table = summary(trials)
    yield f"\n{name}: Kendall's tau, and its difference from the paper's in standard errors"
    yield "juryrank: our rank as it comes; oracle: told the true accuracies\n"
    yield plain_table(*short_table_rows(table))
    yield f"\n{verdict(table)}"
