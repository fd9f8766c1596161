"""Conjugate gradients for many right sides at once, each with a search of its own.

A matrix ``M`` is known by its products with vectors, its diagonal ``D`` and, in some directions
``Z`` in which it is far less stiff than ``D`` says, by ``M Z``. There it is inverted exactly, and
``D`` stands for it elsewhere:

    W = Z E^-1 Z' + (1 - Z E^-1 (M Z)') D^-1 (1 - M Z E^-1 Z'),    E = Z' M Z.

The search starts from ``Z E^-1 Z' b`` and keeps to what is conjugate to ``Z``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from juryrank.types import Floats

SLOWEST = 0.999
"""The error is taken to become smaller by this factor or a smaller one in each step."""


@dataclass(frozen=True)
class System:
    """A positive matrix ``M``."""

    times: Callable[[Floats], Floats]
    """``M v`` for each column ``v``."""
    energies: Callable[[Floats], Floats]
    """``v' M v`` for each column ``v``."""
    diagonal: Floats
    soft: Floats
    """``Z``: a few columns."""
    soft_image: Floats
    """``M Z``."""

    def in_soft(self, right: Floats) -> Floats:
        """``E^-1 Z' right``."""
        return self._by_soft(self.soft.T @ right)

    def smoothed(self, residual: Floats) -> Floats:
        """The second part of ``W residual``, where ``Z' residual = 0`` up to rounding."""
        found = residual / self.diagonal[:, None]
        drift = self.soft.T @ residual - self.soft_image.T @ found
        return np.asarray(found + self.soft @ self._by_soft(drift))

    def rough_factors(self) -> tuple[Floats, Floats]:
        """``F`` and ``G``: beside its diagonal, ``W`` is ``F G'``.

        With ``Y = D^-1 M Z`` it is ``Z (E^-1 + E^-1 (M Z)' Y E^-1) Z' - Y E^-1 Z' - Z E^-1 Y'``.
        """
        scaled = self.soft_image / self.diagonal[:, None]
        by_soft = self._by_soft(self.soft.T).T
        square = by_soft + by_soft @ self._by_soft(scaled.T @ self.soft_image).T
        return np.hstack((square - self._by_soft(scaled.T).T, -by_soft)), np.hstack(
            (self.soft, scaled)
        )

    def _by_soft(self, vectors: Floats) -> Floats:
        """``E^-1 vectors``."""
        return np.asarray(np.linalg.solve(self.soft.T @ self.soft_image, vectors))


def solved(
    system: System, right: Floats, whole: NDArray[np.bool_], tolerance: Floats
) -> tuple[Floats, Floats]:
    """``M^-1 b`` and the form ``b' M^-1 b`` for each column ``b``.

    `tolerance` is about the relative error of each form; that of the solution is its root. Where
    the solution is not asked for as a `whole`, it is that before the last step, of which the form
    needs no product. Raises `LinAlgError` where ``M`` is seen not to be positive.
    """
    search = _Search(system, right)
    active = np.arange(right.shape[1])
    for _ in range(len(right)):
        search.step(active)
        active = active[~search.is_near(active, tolerance, steps=0)]
        is_last = ~whole[active] & search.is_near(active, tolerance, steps=1)
        search.finish(active[is_last])
        active = active[~is_last]
        if not len(active):
            break
    return search.found, search.form


class _Search:
    """Where the search for each column is."""

    def __init__(self, system: System, right: Floats) -> None:
        inside = system.in_soft(right)
        self.system = system
        self.found = system.soft @ inside
        self.residual = right - system.soft_image @ inside
        """``b - M found``."""
        self.form = _dots(right, self.found)
        """``b' found``."""
        self.way = system.smoothed(self.residual)
        self.gain = _dots(self.residual, self.way)
        """What the next step adds to the form, if it goes as far as 1 along its way."""
        self.reach = np.zeros(right.shape[1])
        """How far along its way the last step went."""
        self.pace = np.zeros(right.shape[1])
        """By what factor gains become smaller: in the last step or, if larger, in some before."""

    def is_near(
        self, columns: NDArray[np.int64], tolerance: Floats, steps: int
    ) -> NDArray[np.bool_]:
        """Whether so many more steps will do: if each gains less by the same factor."""
        pace = np.minimum(self.pace[columns], SLOWEST)
        left = self.reach[columns] * self.gain[columns] * pace**steps / (1.0 - pace)
        return np.asarray(left <= tolerance[columns] * self.form[columns])

    def step(self, columns: NDArray[np.int64]) -> None:
        """One step for some of the columns."""
        way = self.way[:, columns]
        product = self.system.times(way)
        reach = self._reach(columns, _dots(way, product))
        self.form[columns] += reach * self.gain[columns]
        self.found[:, columns] += reach * way
        self.residual[:, columns] -= reach * product
        smoothed = self.system.smoothed(self.residual[:, columns])
        gain = _dots(self.residual[:, columns], smoothed)
        pace = _ratio(gain, self.gain[columns])
        self.reach[columns], self.gain[columns] = reach, gain
        self.pace[columns] = np.maximum(pace, np.sqrt(pace * self.pace[columns]))
        self.way[:, columns] = smoothed + pace * way

    def finish(self, columns: NDArray[np.int64]) -> None:
        """The last step for some of the columns, of which only the form is wanted."""
        if len(columns):
            reach = self._reach(columns, self.system.energies(self.way[:, columns]))
            self.form[columns] += reach * self.gain[columns]

    def _reach(self, columns: NDArray[np.int64], energy: Floats) -> Floats:
        """How far to go along the way; nowhere if there is nothing to gain."""
        gain = self.gain[columns]
        if np.any(gain < 0.0) or np.any(energy[gain > 0.0] <= 0.0):
            raise LinAlgError("The matrix is not positive definite.")
        return _ratio(gain, energy)


def _ratio(one: Floats, other: Floats) -> Floats:
    """Their ratio; 0 for 0 / 0."""
    return np.divide(one, other, out=np.zeros(len(one)), where=one != 0.0)


def _dots(one: Floats, other: Floats) -> Floats:
    """The products of columns with columns."""
    return np.asarray(np.einsum("ij,ij->j", one, other))
