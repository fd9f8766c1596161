"""What a command does before all else: for streams, the environment and signals."""

from __future__ import annotations

import _thread
import io
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TextIO, cast

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

    from _typeshed import ReadableBuffer

BAD_INPUT = 2
THREADS = ("POLARS_MAX_THREADS",)
"""Variables of the environment that must be positive numbers, or libraries break when imported."""
AFTER_SIGNAL = 128
"""Added to the number of the signal that ended a command."""
BEFORE_AGAIN = 0.05
"""Seconds until a signal is raised again that could not be where it came."""


def start() -> None:
    """Prepare for what a shell, the environment and signals may do to a command."""
    _open_closed_streams()
    _speak_past_readers()
    _check_environment()
    _end_in_order_when_told_to()
    _insist_on_ends()


def _open_closed_streams() -> None:
    """Let there be streams where a shell has closed them: what is written to these is lost.

    Else the first file that is opened would take a stream's place, and get what is meant for it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stdout = sys.stdout or _nowhere("w")
    sys.stderr = sys.stderr or _nowhere("w")


def _speak_past_readers() -> None:
    """Let what the command says have a descriptor of its own.

    While a file is read, that of stderr is kept from showing the panics of readers (see
    `juryrank.reading.rust_panics`), and the progress of a long read should be seen.
    """
    given = sys.stderr
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Forgetful(os.dup(2), "w")),
        encoding=given.encoding, errors=given.errors, line_buffering=True,
    )  # fmt: skip


class _Forgetful(io.FileIO):
    """A stream whose reader may have left, or whose disk may be full: what it cannot take is lost.

    The answer is on stdout or in a file, and not worth less for that.
    """

    def write(self, said: ReadableBuffer, /) -> int:
        try:
            return super().write(said)
        except OSError:
            return memoryview(said).nbytes


def _check_environment() -> None:
    for name in THREADS:
        value = os.environ.get(name, "1")
        if not (value.isascii() and value.isdigit() and int(value[:9]) > 0):
            said = f"Error: {name}={value[:60]} must be a whole number of at least 1. Unset it.\n"
            sys.stderr.write(said)
            sys.exit(BAD_INPUT)


def _nowhere(mode: str) -> TextIO:
    return cast(TextIO, Path(os.devnull).open(mode, encoding="utf-8"))


def _end_in_order_when_told_to() -> None:
    """Clean up before a signal ends the command, as after an interrupt."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _end)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(AFTER_SIGNAL + number)


def _insist_on_ends() -> None:
    """Raise an end again that came where nothing can be raised, as in a callback of a compiler.

    There Python would print a traceback, and the command would go on as if it had not been told.
    """
    complain = sys.unraisablehook

    def again(what: UnraisableHookArgs) -> None:
        number = _signal_behind(what.exc_value)
        if number is None:
            complain(what)
            return
        soon = threading.Timer(BEFORE_AGAIN, _thread.interrupt_main, (number,))
        soon.daemon = True
        _unheard[number] = soon
        soon.start()

    sys.unraisablehook = again


_unheard: dict[int, threading.Timer] = {}
"""The signals that came where nothing can be raised, and what raises them again."""


def end_behind_an_error() -> int | None:
    """The exit code if a signal came before an error, where nothing can be raised; else None.

    Who is called back there, such as a compiler, fails for want of what the callback should do.
    """
    for number, soon in _unheard.items():
        soon.cancel()
        return AFTER_SIGNAL + number
    return None


def _signal_behind(error: BaseException | None) -> int | None:
    """The signal that has raised an end of the command, if one has."""
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        return error.code - AFTER_SIGNAL if error.code > AFTER_SIGNAL else None
    return None
