"""How far the work has got, on standard error: a bar in a terminal, elsewhere single lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Protocol

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from juryrank.cli.terminal.console import console
from juryrank.cli.terminal.messages import show_note
from juryrank.progress import Pace
from juryrank.text import literal

PATIENCE = 0.4
"""Seconds before anything is said about how far the work has got."""


class Say(Protocol):
    """Tell what is being done now, and how much of it is done, if that is known."""

    def __call__(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Tell it."""


@contextmanager
def progress(what: str, *, patience: float = PATIENCE, pace: Pace | None = None) -> Iterator[Say]:
    """Show on stderr what takes so long, if it does.

    In a terminal that is a bar with the time that is left. Elsewhere it is a line now and then,
    from when the work is seen to take more than a minute.
    """
    errors = console(stderr=True)
    if not (sys.stderr.isatty() and errors.is_interactive):
        yield _in_lines(pace or Pace())
        return
    # Names of files are no markup either.
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    bar = [BarColumn(), TimeRemainingColumn(), TimeElapsedColumn()]
    display = Progress(*columns, *bar, console=errors, transient=True)
    task = display.add_task(literal(what), total=None)
    timer = Timer(patience, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield _in_a_bar(display, task)
    finally:
        timer.cancel()
        timer.join()
        display.stop()


def _in_lines(pace: Pace) -> Say:
    def say(text: str, done: int | None = None, total: int | None = None) -> None:
        line = pace.line(text, done, total)
        if line:
            show_note(line)

    return say


def _in_a_bar(display: Progress, task: TaskID) -> Say:
    def say(text: str, done: int | None = None, total: int | None = None) -> None:
        nonlocal task
        if display.tasks[0].total != total:  # another piece of work, with a pace of its own
            display.remove_task(task)
            task = display.add_task("", total=total)
        display.update(task, description=literal(text), completed=done or 0)

    return say
