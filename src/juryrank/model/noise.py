"""The noise families: what a judge adds to a score before comparing.

A judge ``u`` sees ``z_i = s_i + e_i / accuracy_u`` and prefers ``i`` to ``j`` with probability
``F(accuracy_u (s_i - s_j))``, where ``F`` is the distribution of ``e_j - e_i``. All a model needs
is ``g = -log F`` with its first and second derivative; `Noise` gives these pointwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import ArrayLike

from juryrank import _kernels
from juryrank._kernels import NoiseCode
from juryrank.errors import InputError, listing
from juryrank.model.registry import Model
from juryrank.types import Floats, finite_numbers

LogDensity = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Noise:
    """A noise by name, or one of your own from `noise_from_log_density`."""

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats] = field(repr=False)
    """Independent noises of a given shape, for simulation."""
    code: NoiseCode = field(repr=False)

    @property
    def is_gumbel(self) -> bool:
        """Whether a ranking is a row of choices, whose probability has a formula."""
        return self.code.family == _kernels.GUMBEL

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
        """``-log P(y_1 > ... > y_ranked > max of the rest)`` and its gradient in the places.

        Here ``y_i = place_i + e_i`` with independent noises of this kind: the chance that a judge
        of accuracy 1 ranks the first `ranked` items in this order and all others below them. All
        items are ranked unless `ranked` says otherwise.
        """
        places = finite_numbers(place, np.size(place), "The places")
        count = len(places) if ranked is None else ranked
        if not 0 <= count <= len(places):
            raise InputError(f"Of {len(places):,} items, {count:,} cannot be ranked.")
        slope = np.zeros_like(places)
        return _kernels.chain_pass(self.code, places, count, slope), slope


def _family(code: int, width: float, kinks: list[float]) -> NoiseCode:
    cells = np.empty((0, _kernels.CELL_TERMS))
    return NoiseCode(
        code,
        np.empty(0),
        np.empty((0, 4)),
        width,
        np.array(kinks, dtype=np.float64),
        np.empty(0),
        cells,
        cells,
        np.inf,
    )


def _draw_gumbel(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.gumbel(size=shape)


def _draw_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def _draw_exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.exponential(size=shape)


GUMBEL = Noise("gumbel", _draw_gumbel, _family(_kernels.GUMBEL, 1.0, []))
"""``F`` is the logistic distribution: the noise of Bradley-Terry-Luce."""

NORMAL = Noise("normal", _draw_normal, _family(_kernels.NORMAL, 2.0, []))
"""``F(x) = Phi(x / sqrt 2)``: the noise of Thurstone's Case V."""

EXPONENTIAL = Noise("exponential", _draw_exponential, _family(_kernels.EXPONENTIAL, 2.0, [0.0]))
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
    code = _tabulated(density, knots[: len(table)].copy(), table)
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


# --- one noise of a user, not the difference of two: what rankings need ---------------------------

CLIFF = 36.0  # rankings are exact until a pair in them has a chance of e^-36
POLYNOMIAL_ERROR = 5e-8  # of a density between the nodes of a panel; of the normal's if 2 wide
END_ERROR = 1e-11  # of the integral over the panels next to a kink
HALVINGS = 40
CELLS = 400
TOWARDS_ENDS = 20.0 * 0.8 ** np.arange(100)  # in cells; the log-density may be singular there
CELL_NODES = np.cos(np.pi * (np.arange(_kernels.CELL_TERMS)[::-1] + 0.5) / _kernels.CELL_TERMS)
PROBES = np.linspace(-0.999, 0.999, 41)


def _tabulated(density: _Density, knots: Floats, table: Floats) -> NoiseCode:
    """The code of a user's noise: the table of the difference, and those of one noise."""
    width, kinks = _panel_width_and_kinks(density)
    cells = _cells(density)
    farthest = float(knots[np.searchsorted(table[:, 0], CLIFF) - 1])
    log_f, log_below = _cell_tables(density.log_p, cells)
    return NoiseCode(_kernels.TABLE, knots, table, width, kinks, cells, log_f, log_below, farthest)


def _panel_width_and_kinks(density: _Density) -> tuple[float, Floats]:
    """Panels on which a polynomial is as good as the density: their width, and where they end.

    The widest even panels will do that are good enough but for those next to a kink; towards a
    kink where the density is singular, like that of a gamma of a shape that is no integer, panels
    are halved until what they miss is negligible, and their ends become kinks too.
    """
    log_p = density.log_p
    scan = np.linspace(density.low, density.high, 20_001)
    peak = log_p(scan).max()
    bulk = scan[log_p(scan) > peak - NEGLIGIBLE]
    ends = np.array([bulk[0], bulk[-1]])
    jumps = [
        end
        for end, outwards in ((density.low, -1.0), (density.high, 1.0))
        if log_p(np.array([end + outwards * 1e-6 * (ends[1] - ends[0])]))[0] < peak - 2 * REACH
    ]
    kinks = np.unique(np.concatenate((density.kinks, jumps)))
    stops = np.unique(np.concatenate((ends, kinks)))
    mass = np.exp(log_p(scan) - peak)
    mean = np.average(scan, weights=mass)
    widest = 2.0 * float(np.sqrt(np.average((scan - mean) ** 2, weights=mass)))
    for width in widest / np.sqrt(2.0) ** np.arange(12):
        if all(
            _polynomial_error(log_p, peak, left, right) < POLYNOMIAL_ERROR
            for left, right in _panels_off(kinks, stops, width)
        ):
            break
    finer = [p for kink in kinks for p in _halved(log_p, peak, kink, width, ends)]
    return float(width), np.unique(np.concatenate((kinks, finer)))


def _panels_off(kinks: Floats, stops: Floats, width: float) -> list[tuple[float, float]]:
    """Even panels between the stops; those that would touch a kink are half a panel off it."""
    panels: list[tuple[float, float]] = []
    for left, right in pairwise(stops):
        first = left + 0.5 * width * (left in kinks)
        last = right - 0.5 * width * (right in kinks)
        if first < last:
            panels += pairwise(np.linspace(first, last, int(np.ceil((last - first) / width)) + 1))
    return panels


def _polynomial_error(log_p: LogDensity, peak: float, left: float, right: float) -> float:
    """How far the polynomial through the nodes of a panel is from the density, over its peak."""
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    nodes, terms = _kernels.GAUSS_X, np.arange(_kernels.NODES)
    to_terms = (terms[:, None] + 0.5) * _kernels.GAUSS_W * legvander(nodes, len(terms) - 1).T
    exact = np.exp(log_p(middle + half * PROBES) - peak)
    at_nodes = np.exp(log_p(middle + half * nodes) - peak)
    return float(np.abs(legvander(PROBES, len(terms) - 1) @ (to_terms @ at_nodes) - exact).max())


def _halved(log_p: LogDensity, peak: float, kink: float, width: float, ends: Floats) -> list[float]:
    """Ends of ever narrower panels towards a kink, until what they miss is negligible."""
    found = []
    for side in (-1.0, 1.0):
        size = width
        for _ in range(HALVINGS):
            left, right = sorted((kink, kink + side * size))
            left, right = max(left, float(ends[0])), min(right, float(ends[1]))
            missed = _polynomial_error(log_p, peak, left, right) if right > left else 0.0
            if missed < POLYNOMIAL_ERROR or missed * size < END_ERROR * width:
                break
            size *= 0.5
            found.append(kink + side * size)
    return found


def _cells(density: _Density) -> Floats:
    """Ends of the cells of the tables: even between the kinks, shrinking towards them."""
    stops = np.unique(np.concatenate(([density.low, density.high], density.kinks)))
    size = (density.high - density.low) / CELLS
    cells = [stops]
    for left, right in pairwise(stops):
        even = np.linspace(left, right, max(int((right - left) / size), 2) + 1)
        first = even[1] - even[0]
        near = first * TOWARDS_ENDS[first * TOWARDS_ENDS < right - left]
        cells += [even, left + near, right - near]
    ends = np.unique(np.concatenate(cells))
    apart = np.concatenate(([True], np.diff(ends) > 1e-14 * (density.high - density.low)))
    return ends[apart]


def _cell_tables(log_p: LogDensity, cells: Floats) -> tuple[Floats, Floats]:
    """Coefficients of ``log f`` and ``log F`` in each cell."""
    half, left = 0.5 * np.diff(cells)[:, None], cells[:-1, None]
    nodes = left + half * (1.0 + CELL_NODES)
    log_f = log_p(nodes)
    peak = log_f.max()
    reach = 0.5 * np.append(nodes - left, 2.0 * half, axis=1)[:, :, None]
    inside = reach * PANEL_WEIGHTS * np.exp(
        log_p(left[:, :, None] + reach * (1.0 + PANEL_NODES)) - peak
    )  # fmt: skip
    within = inside.sum(axis=2)
    before = np.concatenate(([0.0], np.cumsum(within[:, -1])))
    below = (before[:-1, None] + within[:, :-1]) / before[-1]
    to_powers = np.linalg.inv(np.vander(CELL_NODES, increasing=True)).T
    log_f = log_f - peak - np.log(before[-1])
    return np.ascontiguousarray(log_f @ to_powers), np.ascontiguousarray(np.log(below) @ to_powers)


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
