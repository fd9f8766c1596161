"""A user's own noise, from the logarithm of its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.errors import InputError
from juryrank.model.noise import Noise
from juryrank.model.quadrature import REACH, Density, LogDensity, tables_of
from juryrank.types import Floats

SCANS = 8
SCAN = np.concatenate((-np.logspace(8, -8, 1200), [0.0], np.logspace(-8, 8, 1200)))


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
    density = Density(log_p, low, high, _kinks(log_p, low, high))
    return Noise(name, _sampler(log_p, low, high), tables_of(density))


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
    """Complain where the log-density curves upwards."""
    grid = np.linspace(low, high, 2001)
    values = log_p(grid)
    curvature = values[2:] - 2.0 * values[1:-1] + values[:-2]
    allowed = 1e-9 * (1.0 + np.abs(values[1:-1]))
    wrong = np.flatnonzero(~(curvature <= allowed))
    if len(wrong):
        raise InputError(
            f"The noise {name!r} is not log-concave: its log-density curves upwards at "
            f"{len(wrong)} of {len(grid)} points, first near {grid[wrong[0] + 1]:.4g}. The fit "
            "would have false optima. Use a log-concave density: normal, Gumbel, exponential, "
            "gamma with a shape of at least 1, ..."
        )


def _kinks(log_p: LogDensity, low: float, high: float) -> Floats:
    """Points where the log-density curves much more sharply than on either side."""
    grid = np.linspace(low, high, 4001)
    curvature = -np.diff(log_p(grid), 2)
    around = np.maximum(np.roll(curvature, 3), np.roll(curvature, -3))
    sharp = np.flatnonzero((curvature > 10.0 * around + 1e-9)[4:-4]) + 4
    peaks = [i for i in sharp if curvature[i] >= curvature[i - 2 : i + 3].max()]
    return np.unique([_sharpest(log_p, grid[i], grid[i + 2]) for i in peaks])


def _sharpest(log_p: LogDensity, left: float, right: float) -> float:
    """Zoom in on the point where the log-density curves most."""
    for _ in range(12):
        grid = np.linspace(left, right, 41)
        middle = int(np.argmax(-np.diff(log_p(grid), 2))) + 1
        left, right = grid[middle - 1], grid[middle + 1]
    return float(0.5 * (left + right))


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
