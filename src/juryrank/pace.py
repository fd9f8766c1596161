"""How long work takes: what to expect before it begins, and how much is left while it goes on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juryrank.lists import Lists

GUMBEL = "gumbel"
LONG = 60.0
"""Seconds from which on users are told beforehand."""
SOON, LATER = 10.0, 2.0
"""Seconds after which the pace of work is told first, and the factor by which it is told later."""
FEW = 100
"""One part of so many has to be done before the rest is estimated within the first minute."""
EVALUATIONS = 1_000
"""How often rankings are worked out in a fit, about."""
SECONDS_PER_ENTRY, SECONDS_PER_SQUARE, SHORT_RANKING = 3e-6, 3e-7, 100
"""What that takes for one item of a ranking, and for each item beyond these many, measured for
normal noise."""


def expected_seconds(lists: Lists, *, is_gumbel: bool) -> float:
    """About how much processor time a fit takes: rankings under noise that has no formula.

    Their probabilities are chains of integrals, over all items of a ranking at once.
    """
    if is_gumbel:
        return 0.0
    length = lists.length.astype("float64")
    per_entry = (SECONDS_PER_SQUARE * (length - SHORT_RANKING)).clip(SECONDS_PER_ENTRY)
    return float(EVALUATIONS * (length * per_entry).sum())


def long_work(lists: Lists, noise: str, fits: int = 1) -> str | None:
    """What to tell before work of so many fits begins that takes long; None if it does not."""
    seconds = fits * expected_seconds(lists, is_gumbel=noise == GUMBEL)
    if seconds < LONG:
        return None
    return (
        f"This may take {duration(seconds)} of processor time: there are rankings of up to "
        f"{int(lists.length.max()):,} items, and under {noise} noise their probabilities are "
        "chains of integrals. With Gumbel noise (the models hbtl and btl) they take seconds."
    )


def duration(seconds: float) -> str:
    """Give a time in words, as roughly as it is known."""
    if seconds < 90.0:
        return f"about {max(round(seconds, -1), 10):.0f} seconds"
    if seconds < 90.0 * 60.0:
        return f"about {_roughly(seconds / 60.0)} minutes"
    return f"about {_roughly(seconds / 3600.0)} hours"


def _roughly(number: float) -> str:
    """A number to two digits at most, and one from ten on."""
    digits = 0 if number < 10.0 else -math.floor(math.log10(number))
    return f"{round(number, digits):,.0f}"


class Pace:
    """Says how far work has got, at times that lie further and further apart."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._next = clock()
        self._next += SOON
        self._stage: tuple[int | None, int] = (None, 0)

    def line(self, text: str, done: int | None = None, total: int | None = None) -> str | None:
        """What to say now; None if it is too early, or if the work is nearly over."""
        now = self._clock()
        if total != self._stage[0] or (done or 0) < self._stage[1]:
            self._begun, self._next = now, now + SOON
        self._stage = (total, done or 0)
        if now < self._next:
            return None
        elapsed = now - self._begun
        self._next = self._begun + LATER * elapsed
        if not total or not done or (done * FEW < total and elapsed < LONG):
            return f"{text} ({duration(elapsed)} so far)"
        left = elapsed * (total - done) / done
        return f"{text} ({duration(left)} left)" if elapsed + left >= LONG else None
