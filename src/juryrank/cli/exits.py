"""How a command ends when something goes wrong: a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

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

LEAST_ADDRESSES = 2 << 30
"""Bytes of address space below which libraries may end the process without any message of ours:
on two cores, 1.3 GB sufficed to check votes, and 2 GB to rank them."""


def exits_politely(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into messages on stderr and exit codes."""

    @wraps(command)
    def polite(**given: Any) -> None:
        try:
            _check_address_space()
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


def _address_space() -> int | None:
    """The most bytes of addresses that this process may have; None if there is no limit."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _check_address_space() -> None:
    limit = _address_space()
    if limit is not None and limit < LEAST_ADDRESSES:
        raise JuryrankError(
            f"There is not enough memory: this process is limited to {limit >> 20:,} MB of "
            f"addresses (ulimit -v), and the libraries that it needs take up to "
            f"{LEAST_ADDRESSES >> 20:,} MB, most of which they never use. Raise the limit."
        )


def _too_little_memory(error: Exception) -> str | None:
    """What a limit on memory makes of any error: libraries break in many ways where it is tight."""
    limit = _address_space()
    if limit is None:
        return None
    return (
        f"There may not be enough memory: this process is limited to {limit >> 20:,} MB (ulimit "
        f"-v), and something failed inside ({type(error).__name__}: {error}). Raise the limit."
    )


def _apology(error: Exception) -> str:
    return (
        f"Something went wrong inside juryrank ({type(error).__name__}: {error}). This is a bug: "
        "please report it, with what is shown if you set JURYRANK_DEBUG=1 and try again."
    )
