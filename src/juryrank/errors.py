"""The errors juryrank raises on purpose, each with the exit code the command line gives it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral

from juryrank.text import within

OS_ERROR = re.compile(r"\(os error ([0-9]+)\)")
INTERRUPTED = 130
"""The exit code after an interrupt."""
LONGEST_NAME, LONGEST_MESSAGE = 300, 2_000
"""Characters: a name or a message is as long as what it quotes, which may be a megabyte."""


class JuryrankError(Exception):
    """Something juryrank cannot do; the message says what, and the way out."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(within(message, LONGEST_MESSAGE))


class InputError(JuryrankError, ValueError):
    """What the user gave is wrong: a file, a column, a row, an option."""

    exit_code = 2


class JuryrankWarning(UserWarning):
    """The answer stands, but the user should know something about it."""


class ConvergenceWarning(JuryrankWarning):
    """The solver or the sampler stopped before it converged; the message says what to do."""


def system_number(error: BaseException) -> int | None:
    """The operating system's number of an error; libraries in Rust only tell it in words."""
    told = OS_ERROR.search(str(error))
    return getattr(error, "errno", None) or (int(told[1]) if told else None)


def require_seed(seed: int) -> None:
    """Refuse a seed that numpy's generators do not take."""
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise InputError(f"seed={seed!r} must be a whole number.")
    if seed < 0:
        raise InputError(f"seed={seed} must not be negative.")


def number(count: float) -> str:
    """Give a number as people read it: ``1,200`` or ``2.5``."""
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"


def counted(count: float, word: str) -> str:
    """Give a number with its word: ``1 judge``, ``1,200 votes``."""
    return f"{number(count)} {word}" if count == 1 else f"{number(count)} {word}s"


def percent(confidence: float) -> str:
    """Give a confidence as it was asked for, not rounded to a certainty: ``95%``, ``99.95%``."""
    return f"{100 * confidence:.10g}%"


def share(count: int, of: int) -> str:
    """Give a part of a whole, not rounded to none or all of it: ``42%``, ``under 1%``."""
    if 0 < 100 * count < of:
        return "under 1%"
    return f"{100 * count // of if 2 * count > of else round(100 * count / of)}%"


def listing(names: Sequence[object], most: int = 5) -> str:
    """Name the first `most` things and count the rest: ``a, b, c and 4 more``."""
    shown = ", ".join(within(str(name), LONGEST_NAME) for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown
