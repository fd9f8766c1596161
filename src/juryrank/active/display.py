"""What is shown while judges are asked: a bar in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar

from juryrank.progress import Pace, Progress, Watcher
from juryrank.text import literal

Shown = Watcher | bool | None
"""A function to be told, or whether something is shown at all."""


class Display:
    """Tells how far the loop has got, and makes room for people at a prompt."""

    def tell(self, event: Progress) -> None:
        """Tell it."""

    def close(self) -> None:
        """Leave nothing on the screen."""

    @contextmanager
    def at_prompt(self) -> Iterator[None]:
        """Keep quiet for as long as somebody is asked."""
        yield


class ToWatcher(Display):
    """Tells a function of the user's."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def tell(self, event: Progress) -> None:
        """Call it."""
        self._watcher(event)


class InLines(Display):
    """Writes a line now and then."""

    def __init__(self, stream: TextIO, pace: Pace) -> None:
        self._stream, self._pace = stream, pace

    def tell(self, event: Progress) -> None:
        """Write a line, if it is time for one."""
        line = self._pace.line(event.text, event.done, event.total)
        if line:
            print(literal(line), file=self._stream, flush=True)


class InBar(Display):
    """Shows a bar, in a terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Bar(
            SpinnerColumn(), MofNCompleteColumn(), BarColumn(bar_width=20), TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False), console=console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None)
        self._lock = threading.Lock()
        self._is_closed = False
        self._bar.start()

    def tell(self, event: Progress) -> None:
        """Move the bar."""
        text = literal(event.text)
        self._bar.update(self._task, description=text, completed=event.done, total=event.total)

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._is_closed = True
            self._bar.stop()

    @contextmanager
    def at_prompt(self) -> Iterator[None]:
        """Take the bar away for as long as somebody is asked."""
        self._bar.stop()
        try:
            yield
        finally:
            with self._lock:
                if not self._is_closed:
                    self._bar.start()


def display_of(progress: Shown) -> Display:
    """The display that the user wants."""
    if callable(progress):
        return ToWatcher(progress)
    if not progress or sys.stderr is None:
        return Display()
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if sys.stderr.isatty() and console.is_interactive:
        return InBar(console)
    return InLines(sys.stderr, Pace())


def quietly(display: Display, ask: Callable[[], None]) -> Callable[[], None]:
    """The same call, with nothing shown meanwhile."""

    def do() -> None:
        with display.at_prompt():
            ask()

    return do
