"""L-BFGS: the minimum of a smooth function of very many unknowns, from values and gradients.

With the last few moves ``s`` and the changes ``y`` of the gradient ``g`` along them, the next way
is ``-H g``: of all matrices ``H`` that take each ``y`` to its ``s``, the one nearest to a multiple
``s'y / y'y`` of the identity. It is never formed (the two loops of Nocedal, 1980). How far to go
along a way ``d`` is decided by the strong Wolfe conditions,

    f(x + a d) <= f(x) + DECREASE a g'd    and    |g(x + a d)'d| <= FLATTENING |g'd|,

which the first guess, ``a = 1``, nearly always fulfils.

scipy has the same search, at the price of importing all of `scipy.optimize`: that takes longer than
ranking thousands of votes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from juryrank.types import Floats

Function = Callable[[Floats], tuple[float, Floats]]

DECREASE = 1e-3
FLATTENING = 0.9
NARROW = 0.1
"""Between two lengths that differ by so little of the longer one, a better one is not worth it."""
MOST_TRIALS = 20
NEARER, FARTHER = 1.1, 4.0
"""Where the function still falls, go on by so many times the last part of the way."""
INSIDE = 0.1
"""A trial between two lengths keeps so much of their distance from either of them."""


class Point(NamedTuple):
    """A point, and what is known of the function there."""

    position: Floats
    value: float
    gradient: Floats


class _Trial(NamedTuple):
    """A point some way along a line, and the derivative of the function along it."""

    length: float
    point: Point
    derivative: float


def minimised(
    function: Function, start: Floats, *, tolerance: float, max_iterations: int, memory: int
) -> Point:
    """Go down from the start until no entry of the gradient is larger than the tolerance.

    The first move has a length of 1. The search also ends where the function, for its rounding,
    gets no smaller any more.
    """
    here = Point(start, *function(start))
    known = _Known(memory)
    for _ in range(max_iterations):
        if np.abs(here.gradient).max(initial=0.0) <= tolerance:
            break
        there = _along(function, here, known.way(here.gradient), known.first_length(here.gradient))
        if there is None and known.moves:
            known.moves.clear()
            continue
        if there is None:
            break
        known.add(there.position - here.position, there.gradient - here.gradient)
        stands_still = there.value >= here.value
        here = there
        if stands_still:
            break
    return here


class _Known:
    """What the last moves tell of the curvature."""

    def __init__(self, memory: int) -> None:
        self.moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
        """``s``, ``y`` and ``s'y``, the oldest first."""

    def add(self, move: Floats, change: Floats) -> None:
        """Remember a move and how it changed the gradient, if that tells of a minimum."""
        product = float(move @ change)
        if product > np.finfo(np.float64).eps * float(change @ change):
            self.moves.append((move, change, product))

    def way(self, gradient: Floats) -> Floats:
        """``-H gradient``."""
        way, shares = -gradient, []
        for move, change, product in reversed(self.moves):
            shares.append(float(move @ way) / product)
            way -= shares[-1] * change
        if self.moves:
            _, change, product = self.moves[-1]
            way *= product / float(change @ change)
        for move, change, product in self.moves:
            way += (shares.pop() - float(change @ way) / product) * move
        return way

    def first_length(self, gradient: Floats) -> float:
        """How far along the way to try first."""
        return 1.0 if self.moves else 1.0 / float(np.linalg.norm(gradient))


def _along(function: Function, start: Point, way: Floats, length: float) -> Point | None:
    """A point along the way that fulfils the Wolfe conditions, or nearly; None if there is none."""
    first = low = _Trial(0.0, start, float(start.gradient @ way))
    high: _Trial | None = None
    if not first.derivative < 0.0:
        return None
    for _ in range(MOST_TRIALS):
        position = start.position + length * way
        point = Point(position, *function(position))
        here = _Trial(length, point, float(point.gradient @ way))
        enough = start.value + DECREASE * length * first.derivative
        if not (point.value <= enough and point.value <= low.point.value):
            high = here
        elif abs(here.derivative) <= -FLATTENING * first.derivative:
            return point
        elif high is None and here.derivative < 0.0:
            length = _beyond(low, here)
            low = here
            continue
        else:
            if high is None or here.derivative * (high.length - low.length) >= 0.0:
                high = low
            low = here
        if abs(high.length - low.length) <= NARROW * max(high.length, low.length):
            break
        length = _between(low, high)
    return low.point if low.point.value < start.value else None


def _between(one: _Trial, other: _Trial) -> float:
    """Where between two trials the function should be lowest, but not too close to either."""
    low, high = sorted((one.length, other.length))
    margin = INSIDE * (high - low)
    return float(np.clip(_lowest_of_cubic(one, other), low + margin, high - margin))


def _beyond(before: _Trial, last: _Trial) -> float:
    """Where beyond the last trial the function, still falling there, should be lowest."""
    part = last.length - before.length
    lowest = _lowest_of_cubic(before, last)
    if not lowest > last.length:
        lowest = np.inf
    return float(np.clip(lowest, last.length + NEARER * part, last.length + FARTHER * part))


def _lowest_of_cubic(one: _Trial, other: _Trial) -> float:
    """Where the cubic with the values and derivatives of two trials is lowest, or their middle."""
    distance = other.length - one.length
    fall = (
        3.0 * (one.point.value - other.point.value) / distance + one.derivative + other.derivative
    )
    square = fall * fall - one.derivative * other.derivative
    if not 0.0 <= square < np.inf:
        return one.length + 0.5 * distance
    root = np.copysign(np.sqrt(square), distance)
    bottom = other.derivative - one.derivative + 2.0 * root
    if bottom == 0.0:
        return one.length + 0.5 * distance
    return float(other.length - distance * (other.derivative + root - fall) / bottom)
