"""Hamiltonian steps: moves of many unknowns at once, along the gradient of their posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from juryrank.arrays import Floats

WANTED = 0.8
"""The share of moves to be accepted, by which step sizes are adapted."""
JITTER = 0.3
"""Step sizes vary by this share from move to move."""
LARGEST_STEP, SMALLEST_STEP = 1.6, 0.01

Found = TypeVar("Found")


class Trajectory(NamedTuple):
    """Where a move has led."""

    position: Floats
    momentum: Floats


def leapfrog(
    start: Trajectory,
    slope: Floats,
    step: Floats | float,
    steps: int,
    velocity: Callable[[Floats], Floats],
    evaluate: Callable[[Floats], tuple[Found, Floats]],
) -> tuple[Trajectory, Found]:
    """So many leapfrog steps from a position with this slope of the potential.

    `velocity` makes one of a momentum; `evaluate` gives what is known of a position, and the slope
    of the potential there. What is known of the last position is given back.
    """
    position, momentum = start
    momentum = momentum - 0.5 * step * slope
    for number in range(steps):
        position = position + step * velocity(momentum)
        found, slope = evaluate(position)
        last = number == steps - 1
        momentum = momentum - (0.5 if last else 1.0) * step * slope
    return Trajectory(position, momentum), found


def chances(change: Floats) -> Floats:
    """The chance to accept moves that change the energy so much; none where it is not a number."""
    return np.where(np.isnan(change), 0.0, np.exp(-np.clip(change, 0.0, 700.0)))


def adapted(step: Floats, chance: Floats, rounds: int) -> Floats:
    """Longer steps after moves that are accepted, shorter ones after others; ever less so."""
    rate = 1.0 / np.sqrt(1.0 + 0.2 * rounds)
    grown = step * np.exp(rate * (chance - WANTED))
    return np.asarray(np.clip(grown, SMALLEST_STEP, LARGEST_STEP))


def jittered(step: Floats, rng: np.random.Generator) -> Floats:
    """The step sizes of one move."""
    return np.minimum(step * rng.uniform(1.0 - JITTER, 1.0 + JITTER), LARGEST_STEP)
