"""The noise families: what a judge adds to a score before comparing.

A judge ``u`` sees ``z_i = s_i + e_i / accuracy_u`` and prefers ``i`` to ``j`` with probability
``F(accuracy_u (s_i - s_j))``, where ``F`` is the distribution of ``e_j - e_i``. All a model needs
is ``g = -log F`` with its first and second derivative; `Noise` gives these pointwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from juryrank import _kernels
from juryrank._kernels import NoiseCode
from juryrank.errors import InputError, listing

Floats = NDArray[np.float64]
LogDensity = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Noise:
    """A noise by name, or one of your own from `noise_from_log_density`."""

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats] = field(repr=False)
    """Independent noises of a given shape, for simulation."""
    code: NoiseCode = field(repr=False)

    def terms(self, x: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """``g(x)``, ``g'(x)`` and ``g''(x)`` for ``g = -log F``."""
        points = np.asarray(x, dtype=np.float64)
        flat = np.ascontiguousarray(points).reshape(-1)
        value, slope, bend = np.empty_like(flat), np.empty_like(flat), np.empty_like(flat)
        _kernels.noise_terms(self.code, flat, value, slope, bend)
        return (
            value.reshape(points.shape),
            slope.reshape(points.shape),
            bend.reshape(points.shape),
        )

    def cdf(self, x: ArrayLike) -> Floats:
        """``F(x)``: the chance that an item is preferred with an advantage of ``x``."""
        cdf: Floats = np.exp(-self.terms(x)[0])
        return cdf


def _family(code: int) -> NoiseCode:
    return NoiseCode(code, np.empty(0), np.empty((0, 4)))


GUMBEL = Noise(
    "gumbel",
    lambda rng, shape: rng.gumbel(size=shape),
    _family(_kernels.GUMBEL),
)
"""``F`` is the logistic distribution: the noise of Bradley-Terry-Luce."""

NORMAL = Noise(
    "normal",
    lambda rng, shape: rng.standard_normal(shape),
    _family(_kernels.NORMAL),
)
"""``F(x) = Phi(x / sqrt 2)``: the noise of Thurstone's Case V."""

EXPONENTIAL = Noise(
    "exponential",
    lambda rng, shape: rng.exponential(size=shape),
    _family(_kernels.EXPONENTIAL),
)
"""``F`` is the Laplace distribution."""

NOISES = {noise.name: noise for noise in (GUMBEL, NORMAL, EXPONENTIAL)}


def noise_named(name: str) -> Noise:
    """Look a noise family up by its name."""
    if name not in NOISES:
        raise InputError(f"There is no noise called {name!r}. Choose one of: {listing([*NOISES])}.")
    return NOISES[name]


# --- a user's own noise --------------------------------------------------------------------------

NEGLIGIBLE = 46.0  # a factor e^-46 = 1e-20 below the peak adds nothing to an integral
FARTHEST = 60.0  # F is tabulated down to e^-60; beyond it -log F goes on as a parabola
REACH = FARTHEST + NEGLIGIBLE
INTERVALS = 2048
PANELS = 24
SCAN = np.concatenate((-np.logspace(8, -8, 1200), [0.0], np.logspace(-8, 8, 1200)))
PANEL_NODES, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)
KNOT_NODES, KNOT_WEIGHTS = np.polynomial.legendre.leggauss(5)


def noise_from_log_density(
    log_density: LogDensity,
    *,
    name: str = "custom",
    support: tuple[float, float] = (-np.inf, np.inf),
) -> Noise:
    """Make a noise from the logarithm of its density, which need not be normalised.

    ``log_density`` takes and returns an array. The density must be log-concave on its `support`
    (else the objective is not convex in the scores, nor in the accuracies). ``F``, the
    distribution of the difference of two such noises, is computed once, on a grid:

        f(x) = integral p(e) p(e + x) de,    F(-t) = integral_t^inf f(x) dx.
    """
    log_p = _on_support(log_density, support)
    low, high = _bulk(log_p, support, name)
    _require_log_concave(log_p, low, high, name)
    knots = _knots(log_p, low, high)
    log_f = _log_difference_density(log_p, low, high, _nodes_between(knots))
    log_f_at_knots = _log_difference_density(log_p, low, high, knots[:-1])
    table = _lower_tail_table(knots, log_f, log_f_at_knots)
    code = NoiseCode(_kernels.TABLE, knots[: len(table)].copy(), table)
    return Noise(name, _sampler(log_p, low, high), code)


def _on_support(log_density: LogDensity, support: tuple[float, float]) -> LogDensity:
    """The log-density, minus infinity outside the support."""

    def log_p(e: Floats) -> Floats:
        inside = (e >= support[0]) & (e <= support[1])
        values = np.full(e.shape, -np.inf)
        with np.errstate(all="ignore"):
            values[inside] = log_density(e[inside])
        return values

    return log_p


def _bulk(log_p: LogDensity, support: tuple[float, float], name: str) -> tuple[float, float]:
    """The interval outside which the density is negligible."""
    middle = float(np.mean(support)) if np.all(np.isfinite(support)) else 0.0
    ends = [end for end in support if np.isfinite(end)]
    scan = np.unique(np.concatenate([middle + SCAN, *(end + SCAN for end in ends)]))
    values = log_p(scan)
    if np.isnan(values).any() or np.isposinf(values).any():
        where = scan[np.isnan(values) | np.isposinf(values)]
        raise InputError(
            f"The log-density of the noise {name!r} is not a number at {len(where)} of "
            f"{len(scan)} points, first at {where[0]:g}. It must be finite inside its support "
            f"{support}, and minus infinity outside."
        )
    kept = np.flatnonzero(values > values.max() - REACH)
    if np.isneginf(values.max()) or len(kept) < 3 or kept[0] == 0 or kept[-1] == len(scan) - 1:
        raise InputError(
            f"The density of the noise {name!r} does not fall off within 1e8 of 0, or its scale is "
            "below 1e-8: it cannot be integrated. Check the log-density, and scale it to about 1."
        )
    low = _edge(log_p, scan[kept[0] - 1], scan[kept[0]], values.max())
    high = _edge(log_p, scan[kept[-1] + 1], scan[kept[-1]], values.max())
    return low, high


def _edge(log_p: LogDensity, outside: float, inside: float, peak: float) -> float:
    """Where the density becomes negligible, by bisection, just inside."""
    for _ in range(100):
        middle = 0.5 * (outside + inside)
        if float(log_p(np.array([middle]))[0]) > peak - REACH:
            inside = middle
        else:
            outside = middle
    return float(inside)


def _require_log_concave(log_p: LogDensity, low: float, high: float, name: str) -> None:
    """Complain where the log-density bends upwards."""
    grid = np.linspace(low, high, 2001)
    values = log_p(grid)
    bend = values[2:] - 2.0 * values[1:-1] + values[:-2]
    allowed = 1e-9 * (1.0 + np.abs(values[1:-1]))
    wrong = np.flatnonzero(~(bend <= allowed))
    if len(wrong):
        raise InputError(
            f"The noise {name!r} is not log-concave: its log-density bends upwards at {len(wrong)} "
            f"of {len(grid)} points, first near {grid[wrong[0] + 1]:.4g}. The fit would have false "
            "optima. Use a log-concave density: normal, Gumbel, exponential, gamma with a shape of "
            "at least 1, ..."
        )


def _knots(log_p: LogDensity, low: float, high: float) -> Floats:
    """Knots from 0 to where ``F(-t)`` is negligible, denser where ``-log F(-t)`` is steep."""
    width = high - low
    grid = width * np.unique(
        np.concatenate((np.linspace(0, 1, 801), 1 - np.logspace(-13, -2, 400)))
    )
    log_f = _log_difference_density(log_p, low, high, grid)
    kept = log_f > log_f[0] - REACH
    grid, fall = grid[kept], log_f[0] - log_f[kept]
    progress = grid / grid[-1] + fall / fall[-1]
    even = np.linspace(0.0, float(progress[-1]), INTERVALS + 1)
    return np.asarray(np.interp(even, progress, grid), dtype=np.float64)


def _nodes_between(knots: Floats) -> Floats:
    """Gauss-Legendre nodes in every interval between knots, one row each."""
    half = 0.5 * np.diff(knots)[:, None]
    return np.asarray(0.5 * (knots[1:] + knots[:-1])[:, None] + half * KNOT_NODES)


def _log_difference_density(log_p: LogDensity, low: float, high: float, x: Floats) -> Floats:
    """``log f(x)`` of the difference at each ``x >= 0``: Gauss-Legendre where it matters."""
    shifts = x.reshape(-1)
    result = np.empty_like(shifts)
    for a in range(0, len(shifts), 512):
        shift = shifts[a : a + 512, None]
        result[a : a + 512] = _log_overlap(log_p, low, high - shift, shift)
    return result.reshape(x.shape)


def _log_overlap(log_p: LogDensity, low: float, high: Floats, shift: Floats) -> Floats:
    """``log integral_low^high p(e) p(e + shift) de`` for a column of shifts.

    The integrand is log-concave: one peak. It is found on a coarse grid, and the panels are laid
    over the part around it that is not negligible.
    """
    coarse = low + (high - low) * np.linspace(0.0, 1.0, 401)
    values = log_p(coarse) + log_p(coarse + shift)
    kept = values > values.max(axis=1, keepdims=True) - NEGLIGIBLE
    last = coarse.shape[1] - 1
    first_kept = np.maximum(kept.argmax(axis=1) - 1, 0)
    last_kept = np.minimum(last - kept[:, ::-1].argmax(axis=1) + 1, last)
    rows = np.arange(len(coarse))
    left, right = coarse[rows, first_kept][:, None], coarse[rows, last_kept][:, None]
    half = 0.5 * np.maximum(right - left, 0.0) / PANELS
    centres = left + half * (2.0 * np.arange(PANELS) + 1.0)
    nodes = (centres[:, :, None] + half[:, :, None] * PANEL_NODES).reshape(len(coarse), -1)
    log_terms = log_p(nodes) + log_p(nodes + shift) + np.log(np.tile(PANEL_WEIGHTS, PANELS))
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(log_terms, axis=1) + np.log(half[:, 0]))


def _lower_tail_table(knots: Floats, log_f: Floats, log_f_at_knots: Floats) -> Floats:
    """Spline coefficients of ``h(t) = -log F(-t)``; the last row is a parabola that goes on."""
    from scipy.interpolate import CubicSpline  # slow to import, and few need it

    half = 0.5 * np.diff(knots)[:, None]
    log_piece = np.logaddexp.reduce(log_f + np.log(KNOT_WEIGHTS * half), axis=1)
    log_above = np.logaddexp.accumulate(log_piece[::-1])[::-1]
    h = log_above[0] + np.log(2.0) - log_above
    usable = int(np.searchsorted(h, FARTHEST))
    h, slope = h[:usable], np.exp(log_f_at_knots - log_above)[:usable]
    spline = CubicSpline(knots[:usable], h, bc_type=((1, slope[0]), (1, slope[-1])))
    last = np.array([[h[-1], slope[-1], 0.5 * float(spline(knots[usable - 1], 2)), 0.0]])
    return np.ascontiguousarray(np.vstack((spline.c[::-1].T, last)))


def _sampler(
    log_p: LogDensity, low: float, high: float
) -> Callable[[np.random.Generator, tuple[int, ...]], Floats]:
    """Draw by inverting the distribution function on a fine grid."""
    grid = np.linspace(low, high, 20_001)
    density = np.exp(log_p(grid) - log_p(grid).max())
    cumulative = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.interp(rng.random(shape), cumulative / cumulative[-1], grid)

    return draw
