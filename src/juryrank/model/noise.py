"""The noise families: what a judge adds to a score before comparing.

A judge ``u`` sees ``z_i = s_i + e_i / accuracy_u`` and prefers ``i`` to ``j`` with probability
``F(accuracy_u (s_i - s_j))``, where ``F`` is the distribution of ``e_j - e_i``. All a model needs
is ``g = -log F`` with its first and second derivative; `Noise` gives these pointwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from juryrank import _core
from juryrank.errors import InputError, listing
from juryrank.model.registry import Model
from juryrank.types import Floats, WithCore, finite_numbers


@dataclass(frozen=True)
class Family:
    """A noise with formulas in the compiled code, `_core/noise.hpp`."""

    name: str
    width: float
    """The widest panel on which a polynomial through 12 nodes is as good as the density."""
    kinks: tuple[float, ...] = ()
    """Where the density is not smooth."""

    def core(self) -> _core.Noise:
        """The same for the compiled code."""
        kinks = np.array(self.kinks, dtype=np.float64)
        return _core.Noise.of_family(self.name, width=self.width, kinks=kinks)


@dataclass(frozen=True, eq=False)
class Tables:
    """A noise as the compiled code knows it, if it is no family that has formulas there.

    `knots` and `tail` are of the difference of two noises, all that pairs need; what follows is
    of one noise, for rankings.
    """

    knots: Floats
    tail: Floats
    """Coefficients of ``h`` after each knot, lowest power first; the last row goes on forever."""
    width: float
    """The widest panel on which a polynomial through the nodes is as good as the density."""
    kinks: Floats
    """Where the density is not smooth, its jumps and ends included: panels must end there."""
    cells: Floats
    """Ends of the cells of the next two tables; outside the first and last, the density is 0."""
    density: Floats
    """Coefficients of ``log f`` in ``u`` from -1 to 1 across each cell, lowest power first."""
    below: Floats
    """The same for ``log F`` of one noise."""
    farthest: float
    """A worse item may be ranked above another this far from it before -log P is extrapolated."""

    def core(self) -> _core.Noise:
        """The same for the compiled code."""
        return _core.Noise.of_tables(**vars(self))


@dataclass(frozen=True, eq=False)
class Noise(WithCore):
    """A noise by name, or one of your own from `noise_from_log_density`."""

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats] = field(repr=False)
    """Independent noises of a given shape, for simulation."""
    form: Family | Tables = field(repr=False)

    @cached_property
    def core(self) -> _core.Noise:
        """The same for the compiled code."""
        return self.form.core()

    def __getstate__(self) -> dict[str, Any]:
        """Without what belongs to this process."""
        return {name: value for name, value in vars(self).items() if name != "core"}

    @property
    def is_gumbel(self) -> bool:
        """Whether a ranking is a row of choices, whose probability has a formula."""
        return self.core.is_gumbel

    def terms(self, x: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """``g(x)``, ``g'(x)`` and ``g''(x)`` for ``g = -log F``."""
        points = np.asarray(x, dtype=np.float64)
        flat = np.ascontiguousarray(points).reshape(-1)
        value, gradient, curvature = np.empty_like(flat), np.empty_like(flat), np.empty_like(flat)
        _core.noise_terms(self.core, flat, value, gradient, curvature)
        return (
            value.reshape(points.shape),
            gradient.reshape(points.shape),
            curvature.reshape(points.shape),
        )

    def share(self, x: ArrayLike, tie: ArrayLike) -> Floats:
        """The chance to win plus half that of a tie, whose weight has the logarithm `tie`.

        ``(F(x) + t q / 2) / (1 + t q)`` with ``q = sqrt(F(x) F(-x))``; without ties ``F(x)``.
        """
        log_q = -0.5 * (self.terms(x)[0] + self.terms(-np.asarray(x))[0])
        tied = np.exp(-np.logaddexp(0.0, -np.asarray(tie) - log_q))
        return np.asarray(self.cdf(x) * (1.0 - tied) + 0.5 * tied)

    def cdf(self, x: ArrayLike) -> Floats:
        """``F(x)``: the chance that an item is preferred with an advantage of ``x``."""
        cdf: Floats = np.exp(-self.terms(x)[0])
        return cdf

    def ranking_terms(self, place: ArrayLike, ranked: int | None = None) -> tuple[float, Floats]:
        """``-log P(y_1 > ... > y_ranked > max of the rest)`` and its gradient in these locations.

        Here ``y_i = place_i + e_i`` with independent noises of this kind: the chance that a judge
        of accuracy 1 ranks the first `ranked` items in this order and all others below them. All
        items are ranked unless `ranked` says otherwise.
        """
        location = finite_numbers(place, np.size(place), "The locations")
        count = len(location) if ranked is None else ranked
        if not 0 <= count <= len(location):
            raise InputError(f"Of {len(location):,} items, {count:,} cannot be ranked.")
        gradient = np.zeros_like(location)
        return _core.chain_pass(self.core, location, count, gradient), gradient


def _draw_gumbel(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.gumbel(size=shape)


def _draw_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def _draw_exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.exponential(size=shape)


GUMBEL = Noise("gumbel", _draw_gumbel, Family("gumbel", width=1.0))
"""``F`` is the logistic distribution: the noise of Bradley-Terry-Luce."""

NORMAL = Noise("normal", _draw_normal, Family("normal", width=2.0))
"""``F(x) = Phi(x / sqrt 2)``: the noise of Thurstone's Case V."""

EXPONENTIAL = Noise(
    "exponential", _draw_exponential, Family("exponential", width=2.0, kinks=(0.0,))
)
"""``F`` is the Laplace distribution."""

NOISES = {noise.name: noise for noise in (GUMBEL, NORMAL, EXPONENTIAL)}


def noise_named(name: str) -> Noise:
    """Look a noise family up by its name."""
    if name not in NOISES:
        raise InputError(f"There is no noise called {name!r}. Choose one of: {listing([*NOISES])}.")
    return NOISES[name]


def noise_of(model: Model, noise: str | Noise | None) -> Noise:
    """The model's own noise, or for the model htm the one that is asked for."""
    if noise is None:
        return noise_named(model.noise)
    if not model.any_noise:
        raise InputError(
            f"The model {model.name!r} has {model.noise} noise. To choose a noise, use model='htm' "
            "(--model htm)."
        )
    return noise if isinstance(noise, Noise) else noise_named(noise)
