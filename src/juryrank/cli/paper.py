"""`juryrank paper`: the paper's tables again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from juryrank.cli.exits import exits_politely
from juryrank.cli.terminal.console import console
from juryrank.cli.terminal.messages import show_error, show_note, show_warning
from juryrank.cli.terminal.progress import progress
from juryrank.cli.terminal.tables import plain_table
from juryrank.errors import InputError, JuryrankError
from juryrank.paper import REAL, STUDIES
from juryrank.progress import Progress, Watcher
from juryrank.writing.destination_checks import check_folder

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from juryrank.paper.real import RealStudy


class Settings(NamedTuple):
    """What the options of the command say."""

    trials: int
    seed: int
    jobs: int | None
    out: Path | None


@exits_politely
def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help=f"{', '.join(STUDIES)}; all if none is given."),
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
    """Reproduce the paper's tables and figures, beside its numbers and our defaults.

    A run that was interrupted continues where it was.

    Examples:
      juryrank paper gumbel-benign --trials 20
      juryrank paper --out docs/paper
    """
    chosen = names or list(STUDIES)
    for name in chosen:
        if name not in STUDIES:
            raise InputError(f"There is no study {name!r}. Choose from: {', '.join(STUDIES)}.")
    if out is not None:
        check_folder(out)
    settings = Settings(trials, seed, jobs, out)
    lacking = _without_data(chosen)
    runnable = [name for name in chosen if name not in lacking]
    if runnable:
        for name in lacking:
            show_warning(
                f"{name} is left out: its data is not available. The reason follows at the end."
            )
    for name in runnable:
        paths = _STUDY.get(name, _table)(name, settings)
        if paths:
            show_note(f"Saved {', '.join(str(path) for path in paths)}.")
    _complain_about(list(lacking.values()))


def _without_data(names: list[str]) -> dict[str, JuryrankError]:
    """The chosen studies whose data can be neither read nor downloaded, and why."""
    lacking: dict[str, JuryrankError] = {}
    for name in (name for name in names if name in REAL):
        from juryrank.paper.real import STUDIES as REAL_STUDIES

        try:
            REAL_STUDIES[name].load()
        except JuryrankError as error:
            lacking[name] = error
    return lacking


def _complain_about(errors: list[JuryrankError]) -> None:
    """Print all errors; the last one ends the command."""
    for error in errors[:-1]:
        show_error(str(error))
    if errors:
        raise errors[-1]


def _table(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.tables import save_table

    trials, seed, jobs, out = settings
    table = _run(name, trials, seed, jobs)
    for part in _view(name, table):
        console().print(part)
    command = f"juryrank paper {name} --trials {trials} --seed {seed} --out {out}"
    return [] if out is None else save_table(table, out, command)


def _accuracy_curve(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.figures import accuracy_curve, curve_lines, save_accuracy_curve

    console().print("\naccuracy-curve: the chance of an error on two items with scores 0 and 1\n")
    header = ["accuracy", *(f"{gamma}" for gamma in range(-5, 6))]
    rows = [[noise, *cells] for noise, cells in curve_lines(accuracy_curve())]
    console().print(plain_table(header, rows))
    out = settings.out
    command = f"juryrank paper {name} --out {out}"
    return [] if out is None else save_accuracy_curve(out, command)


def _convergence(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.figures import convergence, rates, save_convergence

    _, seed, _, out = settings
    with progress(name):
        paths = convergence(seed)
    found = rates(paths)
    console().print("\nconvergence: the factor per iteration, and the error that is left\n")
    console().print(_frame_table(found))
    command = f"juryrank paper {name} --seed {seed} --out {out}"
    return [] if out is None else save_convergence(paths, out, command)


def _real(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.real import fits, real_study
    from juryrank.paper.real_pages import save_real

    _, seed, _, out = settings
    with _counting(name, fits(name), "fits") as watch:
        found = real_study(name, seed, watch)
    for part in _real_view(found):
        console().print(part)
    seeded = f" --seed {seed}" if seed else ""
    command = f"juryrank paper {name}{seeded} --out {out}"
    return [] if out is None else save_real(found, out, command)


def _real_view(found: RealStudy) -> Iterator[RenderableType]:
    from juryrank.paper.real import held_out_verdict, real_verdict
    from juryrank.paper.real_pages import (
        best_rows,
        cell_rows,
        held_out_rows,
        note_rows,
        unsettled_sentence,
        variant_rows,
    )

    yield f"\n{found.study.name}: Kendall's tau-b, in brackets the published number\n"
    yield plain_table(*cell_rows(found))
    yield f"\n{real_verdict(found)}"
    for method, lambda0, *_, why in note_rows(found)[1]:
        yield f"- {method} at {lambda0}: {why}."
    yield "\nBest over lambda0; juryrank: our rank with its defaults\n"
    yield plain_table(*best_rows(found))
    yield "\nAlgorithm 1 with other settings\n"
    yield plain_table(*variant_rows(found))
    yield f"\n{unsettled_sentence(found)}"
    yield f"\nVotes held out, {found.held_out.folds} folds\n"
    yield plain_table(*held_out_rows(found))
    yield f"\n{held_out_verdict(found.held_out)}"


def _efficiency(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.efficiency import MODELS, VOTES_PER_JUDGE, efficiency, save_efficiency

    trials, seed, _, out = settings
    with _counting(name, len(MODELS) * len(VOTES_PER_JUDGE), "settings") as watch:
        table = efficiency(trials, seed, watch)
    console().print("\nefficiency: root mean square error, and the Cramer-Rao bound\n")
    console().print(_frame_table(table))
    command = f"juryrank paper {name} --trials {trials} --seed {seed} --out {out}"
    return [] if out is None else save_efficiency(table, out, command)


def _theory(name: str, settings: Settings) -> list[Path]:
    from juryrank.paper.theory import paper_cases, parts, theory
    from juryrank.paper.theory_page import save_theory, sections

    trials, seed, _, out = settings
    with _counting(name, parts(paper_cases()), "parts") as watch:
        found = theory(trials, seed, watch)
    for section in sections(found):
        console().print(f"\n{name}: {section.title}\n")
        console().print(_frame_table(section.table))
    command = f"juryrank paper {name} --trials {trials} --seed {seed} --out {out}"
    return [] if out is None else save_theory(found, out, command)


@contextmanager
def _counting(name: str, total: int, unit: str) -> Iterator[Watcher]:
    """Show how many of the study's parts are done."""
    with progress(name) as say:
        say(name, 0, total)

        def watch(event: Progress) -> None:
            say(f"{name}: {event.done:,} of {event.total:,} {unit}", event.done, event.total)

        yield watch


def _frame_table(frame: pl.DataFrame) -> RenderableType:
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.iter_rows()
    ]
    return plain_table(frame.columns, rows)


def _run(name: str, trials: int, seed: int, jobs: int | None) -> pl.DataFrame:
    from juryrank.paper.synthetic import cells, run_table

    with _counting(name, len(cells(name)) * trials, "trials") as watch:
        return run_table(name, trials=trials, seed=seed, jobs=jobs, progress=watch)


def _view(name: str, trials: pl.DataFrame) -> Iterator[RenderableType]:
    from juryrank.paper.synthetic import summary, verdict
    from juryrank.paper.tables import short_table_rows

    table = summary(trials)
    yield f"\n{name}: Kendall's tau, and its difference from the paper's in standard errors"
    yield "juryrank: our rank with its defaults; oracle: told the true accuracies\n"
    yield plain_table(*short_table_rows(table))
    yield f"\n{verdict(table)}"


_STUDY: dict[str, Callable[[str, Settings], list[Path]]] = {
    "accuracy-curve": _accuracy_curve,
    "convergence": _convergence,
    "efficiency": _efficiency,
    "theory": _theory,
    **dict.fromkeys(REAL, _real),
}
