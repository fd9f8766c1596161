"""How far long work has got, and how much is left.

Whatever takes long tells a `Watcher` how far it is, by one `Progress` event after the other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Stage = Literal[
    "value", "fitting", "sampling", "errors", "resampling", "leaving out", "simulating",
    "comparing", "study", "reading", "asking",
]  # fmt: skip
"""What is being done: the next value of a column whose values are ranked apart; the fit; draws from
the posterior; how sure the answer is; the bootstrap; fits without one judge; votes by equal judges;
fits to be compared; the parts of a study of the paper; files that a cluster reads; votes that
judges are asked for."""

LONG = 60.0
"""Seconds from which on users are told beforehand."""
SOON, LATER = 10.0, 2.0
"""Seconds after which the pace of work is told first, and the factor by which it is told later."""
FEW = 100
"""One part of so many has to be done before the rest is estimated within the first minute."""


@dataclass(frozen=True)
class Progress:
    """How far the work has got, as `rank(progress=...)` and others tell it."""

    stage: Stage
    text: str
    """What is being done, in words."""
    done: int | None = None
    """How much of it is done: evaluations, rounds, resamples, judges or fits,"""
    total: int | None = None
    """and how much there is in all, if that is known."""
    objective: float | None = None
    """What is minimised, while fitting,"""
    gradient: float | None = None
    """and the size of its gradient, in standard errors (with CrowdBT: the largest change of a
    score); None if it is not known."""
    part: float | None = None
    """About which part of the work of this stage is done, 0 to 1, where it is not counted."""

    def __str__(self) -> str:
        if self.objective is not None:
            size = "" if self.gradient is None else f", gradient {self.gradient:.2g}"
            return f"{self.text}: evaluation {self.done}, objective {self.objective:,.2f}{size}"
        if self.done is None or self.total is None:
            return self.text
        return f"{self.text}: {self.done:,} of {self.total:,}"


Watcher = Callable[[Progress], None]
"""Called with every event."""


def part_of(watch: Watcher | None, begin: float, end: float) -> Watcher | None:
    """A watcher of work that goes from one part of the whole to another."""
    if watch is None:
        return None

    def tell(event: Progress) -> None:
        part = None if event.part is None else begin + (end - begin) * event.part
        watch(replace(event, part=part))

    return tell


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

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        soon: float = SOON,
        long: float = LONG,
    ) -> None:
        self._clock = clock
        self._soon, self._long = soon, long
        self._begun = self._next = clock()
        self._next += soon
        self._stage: tuple[int | None, int] = (None, 0)

    def line(self, text: str, done: int | None = None, total: int | None = None) -> str | None:
        """What to say now; None if it is too early, or if the work is nearly over."""
        now = self._clock()
        if total != self._stage[0] or (done or 0) < self._stage[1]:
            self._begun, self._next = now, now + self._soon
        self._stage = (total, done or 0)
        if now < self._next:
            return None
        elapsed = now - self._begun
        self._next = self._begun + LATER * elapsed
        if not total or not done or (done * FEW < total and elapsed < self._long):
            return f"{text} ({duration(elapsed)} so far)"
        left = elapsed * (total - done) / done
        return f"{text} ({duration(left)} left)" if elapsed + left >= self._long else None
