"""How a command ends when something goes wrong: a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import typer

from juryrank.cli.starting import end_behind_an_error
from juryrank.cli.terminal.messages import show_error
from juryrank.errors import INTERRUPTED, JuryrankError
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
            show_error(_refusal(error))
            raise typer.Exit(1) from None
        except MemoryError:
            show_error(NO_MEMORY)
            raise typer.Exit(1) from None
        except Exception as error:
            if (code := end_behind_an_error()) is not None:
                raise typer.Exit(code) from None
            if os.environ.get("JURYRANK_DEBUG"):
                raise
            show_error(_too_little_memory(error) or _apology(error))
            raise typer.Exit(1) from None

    return polite


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


def _limited_to(limit: _Limit) -> int | None:
    """The most bytes that this process may have; None if there is no such limit."""
    if resource is None:
        return None
    most, _ = resource.getrlimit(getattr(resource, limit.name))
    return None if most == resource.RLIM_INFINITY else most


def _check_limits() -> None:
    for limit in LIMITS:
        most = _limited_to(limit)
        if most is not None and most < limit.least:
            raise JuryrankError(
                f"There is not enough memory: this process is limited to {most >> 20:,} MB (ulimit "
                f"{limit.flag}), and the libraries that it needs take up to "
                f"{limit.least >> 20:,} MB, most of which they never use. Raise the limit."
            )


def _too_little_memory(error: Exception) -> str | None:
    """What a limit on memory makes of any error: libraries break in many ways where it is tight."""
    for limit in LIMITS:
        most = _limited_to(limit)
        if most is not None:
            return (
                f"There may not be enough memory: this process is limited to {most >> 20:,} MB "
                f"(ulimit {limit.flag}), and something failed inside ({type(error).__name__}: "
                f"{error}). Raise the limit."
            )
    return None


def _apology(error: Exception) -> str:
    return (
        f"Something went wrong inside juryrank ({type(error).__name__}: {error}). This is a bug: "
        "please report it, with what is shown if you set JURYRANK_DEBUG=1 and try again."
    )
