"""The noise families: what a judge adds to a score before comparing.

A judge ``u`` sees ``z_i = s_i + e_i / accuracy_u`` and prefers ``i`` to ``j`` with probability
``F(accuracy_u (s_i - s_j))``, where ``F`` is the distribution of ``e_j - e_i``. All a model needs
is ``g = -log F`` with its first and second derivative; `Noise` gives these pointwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from juryrank import _kernels
from juryrank._kernels import NoiseCode
from juryrank.arrays import Floats
from juryrank.errors import InputError, listing
from juryrank.models import Model

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


def _draw_gumbel(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.gumbel(size=shape)


def _draw_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def _draw_exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.exponential(size=shape)


GUMBEL = Noise("gumbel", _draw_gumbel, _family(_kernels.GUMBEL))
"""``F`` is the logistic distribution: the noise of Bradley-Terry-Luce."""

NORMAL = Noise("normal", _draw_normal, _family(_kernels.NORMAL))
"""``F(x) = Phi(x / sqrt 2)``: the noise of Thurstone's Case V."""

EXPONENTIAL = Noise("exponential", _draw_exponential, _family(_kernels.EXPONENTIAL))
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
    if model.name != "htm":
        raise InputError(
            f"The model {model.name!r} has {model.noise} noise. To choose a noise, use model='htm' "
            "(--model htm)."
        )
    return noise if isinstance(noise, Noise) else noise_named(noise)


# --- a user's own noise --------------------------------------------------------------------------

NEGLIGIBLE = 46.0  # a factor e^-46 = 1e-20 below the peak adds nothing to an integral
FARTHEST = 60.0  # F is tabulated down to e^-60; beyond it -log F goes on as a parabola
REACH = FARTHEST + NEGLIGIBLE
INTERVALS = 2048
PANELS = 24
SCANS = 8
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
    density = _Density(log_p, low, high, _kinks(log_p, low, high))
    knots = _knots(density)
    log_f = _log_difference_density(density, _nodes_between(knots))
    log_f_at_knots = _log_difference_density(density, knots[:-1])
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
    scan, values = _scan(log_p, support)
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
            f"The density of the noise {name!r} does not fall off within 1e8 of its peak, or its "
            "scale is below 1e-8: it cannot be integrated. Check the log-density, and scale it to "
            "about 1."
        )
    low = _edge(log_p, scan[kept[0] - 1], scan[kept[0]], values.max())
    high = _edge(log_p, scan[kept[-1] + 1], scan[kept[-1]], values.max())
    return low, high


def _scan(log_p: LogDensity, support: tuple[float, float]) -> tuple[Floats, Floats]:
    """The log-density at points of all scales around its peak."""
    ends = [end for end in support if np.isfinite(end)]
    peak = float(np.mean(ends)) if ends else 0.0
    for _ in range(SCANS):
        scan = np.unique(np.concatenate([peak + SCAN, *(end + SCAN for end in ends)]))
        values = log_p(scan)
        if np.isnan(values).any() or scan[np.argmax(values)] == peak:
            break
        peak = float(scan[np.argmax(values)])
    return scan, values


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


@dataclass(frozen=True, eq=False)
class _Density:
    """A log-density, the interval that matters, and where in it the slope jumps."""

    log_p: LogDensity
    low: float
    high: float
    kinks: Floats


def _kinks(log_p: LogDensity, low: float, high: float) -> Floats:
    """Points where the log-density bends much more sharply than on either side."""
    grid = np.linspace(low, high, 4001)
    bend = -np.diff(log_p(grid), 2)
    around = np.maximum(np.roll(bend, 3), np.roll(bend, -3))
    sharp = np.flatnonzero((bend > 10.0 * around + 1e-9)[4:-4]) + 4
    peaks = [i for i in sharp if bend[i] >= bend[i - 2 : i + 3].max()]
    return np.unique([_sharpest(log_p, grid[i], grid[i + 2]) for i in peaks])


def _sharpest(log_p: LogDensity, left: float, right: float) -> float:
    """Zoom in on the point where the log-density bends most."""
    for _ in range(12):
        grid = np.linspace(left, right, 41)
        middle = int(np.argmax(-np.diff(log_p(grid), 2))) + 1
        left, right = grid[middle - 1], grid[middle + 1]
    return float(0.5 * (left + right))


def _knots(density: _Density) -> Floats:
    """Knots from 0 to where ``F(-t)`` is negligible, denser where ``-log F(-t)`` is steep."""
    width = density.high - density.low
    steps = np.unique(np.concatenate((np.linspace(0, 1, 801), 1 - np.logspace(-13, -2, 400))))
    grid = width * steps
    log_f = _log_difference_density(density, grid)
    kept = log_f > log_f[0] - REACH
    grid, fall = grid[kept], log_f[0] - log_f[kept]
    progress = grid / grid[-1] + fall / fall[-1]
    even = np.linspace(0.0, float(progress[-1]), INTERVALS + 1)
    return np.asarray(np.interp(even, progress, grid), dtype=np.float64)


def _nodes_between(knots: Floats) -> Floats:
    """Gauss-Legendre nodes in every interval between knots, one row each."""
    half = 0.5 * np.diff(knots)[:, None]
    return np.asarray(0.5 * (knots[1:] + knots[:-1])[:, None] + half * KNOT_NODES)


def _log_difference_density(density: _Density, x: Floats) -> Floats:
    """``log f(x)`` of the difference at each ``x >= 0``."""
    shifts = x.reshape(-1)
    result = np.empty_like(shifts)
    for a in range(0, len(shifts), 512):
        result[a : a + 512] = _log_overlap(density, shifts[a : a + 512, None])
    return result.reshape(x.shape)


def _log_overlap(density: _Density, shift: Floats) -> Floats:
    """``log integral p(e) p(e + shift) de`` for a column of shifts, by Gauss-Legendre.

    The integrand is log-concave: one peak, found on a coarse grid. The panels are laid over the
    part around it that is not negligible, and end where either factor has a kink.
    """
    log_p = density.log_p
    coarse = density.low + (density.high - shift - density.low) * np.linspace(0.0, 1.0, 401)
    values = log_p(coarse) + log_p(coarse + shift)
    kept = values > values.max(axis=1, keepdims=True) - NEGLIGIBLE
    last = coarse.shape[1] - 1
    first_kept = np.maximum(kept.argmax(axis=1) - 1, 0)
    last_kept = np.minimum(last - kept[:, ::-1].argmax(axis=1) + 1, last)
    rows = np.arange(len(coarse))
    left, right = coarse[rows, first_kept][:, None], coarse[rows, last_kept][:, None]
    even = left + (right - left) * np.linspace(0.0, 1.0, PANELS + 1)
    kinks = np.concatenate((np.broadcast_to(density.kinks, (len(shift), len(density.kinks))),
                            density.kinks - shift), axis=1)  # fmt: skip
    ends = np.sort(np.concatenate((even, np.clip(kinks, left, right)), axis=1), axis=1)
    half = 0.5 * np.diff(ends, axis=1)[:, :, None]
    nodes = 0.5 * (ends[:, 1:] + ends[:, :-1])[:, :, None] + half * PANEL_NODES
    with np.errstate(divide="ignore"):
        log_weight = np.log(half * PANEL_WEIGHTS)
    moved = nodes + shift[:, :, None]
    log_terms = log_p(nodes) + log_p(moved) + log_weight
    return np.asarray(np.logaddexp.reduce(log_terms.reshape(len(shift), -1), axis=1))


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


@dataclass(frozen=True, eq=False)
class _GridSampler:
    """Draws by inverting a distribution function that is known on a fine grid."""

    grid: Floats
    cumulative: Floats

    def __call__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.interp(rng.random(shape), self.cumulative, self.grid)


def _sampler(log_p: LogDensity, low: float, high: float) -> _GridSampler:
    grid = np.linspace(low, high, 20_001)
    density = np.exp(log_p(grid) - log_p(grid).max())
    cumulative = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))
    return _GridSampler(grid, cumulative / cumulative[-1])
