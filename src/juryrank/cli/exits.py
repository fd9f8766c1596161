"""How a command ends when something goes wrong: a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from errno import EMFILE, ENFILE
from functools import wraps
from typing import Any, NamedTuple

import typer

from juryrank.cli.starting import end_behind_an_error
from juryrank.cli.terminal.messages import show_error
from juryrank.errors import INTERRUPTED, JuryrankError, counted, system_number
from juryrank.text import LONGEST_PATH, within

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

READER_GONE = 1
"""As rich and typer have it when the reader of stdout has left, as `head` does."""

NO_MEMORY = (
    "There is not enough memory for these votes. --memory SIZE reads them in pieces from the disk."
)


class _Limit(NamedTuple):
    """A limit on memory, as `resource` and a shell know it."""

    name: str
    flag: str
    least: int
    """Bytes below which libraries may break without any message of ours."""


LIMITS = (_Limit("RLIMIT_AS", "-v", 2 << 30), _Limit("RLIMIT_DATA", "-d", 512 << 20))
"""With too few addresses the process may end: on two cores, 1.3 GB sufficed to check votes, and
2 GB to rank them. With too little data, 256 MB, OpenBLAS asks for more for ever."""

LEAST_FILES = 32
"""Open files, below which libraries may break too: 8 sufficed to rank votes, 16 for a report."""
FILES = "RLIMIT_NOFILE"
TOO_MANY_FILES = (EMFILE, ENFILE)
PANIC = "PanicException"
"""What libraries in Rust raise where they cannot go on. It is no `Exception`."""


def exits_politely(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into messages on stderr and exit codes."""

    @wraps(command)
    def polite(**given: Any) -> None:
        try:
            _check_limits()
            command(**given)
            sys.stdout.flush()
        except JuryrankError as error:
            show_error(str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _forget_stdout()
            raise typer.Exit(READER_GONE) from None
        except OSError as error:
            show_error(_too_many_files(error) or _refusal(error))
            raise typer.Exit(1) from None
        except MemoryError:
            show_error(NO_MEMORY)
            raise typer.Exit(1) from None
        except BaseException as error:
            raise typer.Exit(_failure(error)) from None

    return polite


def _failure(error: BaseException) -> int:
    """Say what failed inside, and give the exit code; what ends the process is no failure."""
    if not isinstance(error, Exception) and type(error).__name__ != PANIC:
        raise error
    if (code := end_behind_an_error()) is not None:
        return code
    if os.environ.get("JURYRANK_DEBUG"):
        raise error
    show_error(_too_many_files(error) or _too_little_memory(error) or _apology(error))
    return 1


def _forget_stdout() -> None:
    """Keep Python from complaining, when it exits, that nobody reads stdout any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refusal(error: OSError) -> str:
    """What the system would not do, and with what."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is None:
        return f"Cannot write the output: {reason}."
    name = within(os.fsdecode(error.filename), LONGEST_PATH)
    return f"Cannot use {name!r}: {reason}."


def _limited_to(name: str) -> int | None:
    """The most that this process may have; None if there is no such limit."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(getattr(resource, name))
    return None if most == resource.RLIM_INFINITY else most


def _check_limits() -> None:
    files = _limited_to(FILES)
    if files is not None and files < LEAST_FILES:
        raise JuryrankError(
            f"This process may have only {counted(files, 'file')} open (ulimit -n), and the "
            f"libraries that it needs open up to {LEAST_FILES}. Raise the limit."
        )
    for limit in LIMITS:
        most = _limited_to(limit.name)
        if most is not None and most < limit.least:
            raise JuryrankError(
                f"There is not enough memory: this process is limited to {most >> 20:,} MB (ulimit "
                f"{limit.flag}), and the libraries that it needs take up to "
                f"{limit.least >> 20:,} MB, most of which they never use. Raise the limit."
            )


def _too_many_files(error: BaseException) -> str | None:
    """What to say if there may be no more open files; libraries in Rust tell it in many ways."""
    said = str(error)
    told = any(os.strerror(number) in said for number in TOO_MANY_FILES)
    if not told and system_number(error) not in TOO_MANY_FILES:
        return None
    most = _limited_to(FILES)
    limit = "" if most is None else f": this process may have {most:,} (ulimit -n)"
    return f"Too many files are open{limit}. Raise the limit."


def _too_little_memory(error: BaseException) -> str | None:
    """What a limit on memory makes of any error: libraries break in many ways where it is tight."""
    for limit in LIMITS:
        most = _limited_to(limit.name)
        if most is not None:
            return (
                f"There may not be enough memory: this process is limited to {most >> 20:,} MB "
                f"(ulimit {limit.flag}), and something failed inside ({type(error).__name__}: "
                f"{error}). Raise the limit."
            )
    return None


def _apology(error: BaseException) -> str:
    return (
        f"Something went wrong inside juryrank ({type(error).__name__}: {error}). This is a bug: "
        "please report it, with what is shown if you set JURYRANK_DEBUG=1 and try again."
    )
