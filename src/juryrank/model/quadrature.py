"""Tables of a noise that is known by its log-density alone, by Gauss-Legendre quadrature.

Pairs need ``h(t) = -log F(-t)`` of the difference of two noises,

    f(x) = integral p(e) p(e + x) de,    F(-t) = integral_t^inf f(x) dx,

which becomes a cubic spline. Rankings need ``log f`` and ``log F`` of one noise, which become
polynomials in cells, and panels on which a polynomial is as good as the density.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import legvander

from juryrank.model.noise import Tables
from juryrank.types import Floats

LogDensity = Callable[[Floats], Floats]

NEGLIGIBLE = 46.0  # a factor e^-46 = 1e-20 below the peak adds nothing to an integral
FARTHEST = 60.0  # F is tabulated down to e^-60; beyond it -log F goes on as a parabola
REACH = FARTHEST + NEGLIGIBLE
INTERVALS = 2048
PANELS = 24
PANEL_NODES, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)
KNOT_NODES, KNOT_WEIGHTS = np.polynomial.legendre.leggauss(5)
CLIFF = 36.0  # rankings are exact until a pair in them has a chance of e^-36
POLYNOMIAL_ERROR = 5e-8  # of a density between the nodes of a panel; of the normal's if 2 wide
END_ERROR = 1e-11  # of the integral over the panels next to a kink
HALVINGS = 40
CELLS = 400
TOWARDS_ENDS = 20.0 * 0.8 ** np.arange(100)  # in cells; the log-density may be singular there
NODES = 12  # of a panel of a ranking's integrals
NODE_X, NODE_W = np.polynomial.legendre.leggauss(NODES)
CELL_TERMS = 8
CELL_NODES = np.cos(np.pi * (np.arange(CELL_TERMS)[::-1] + 0.5) / CELL_TERMS)
PROBES = np.linspace(-0.999, 0.999, 41)


@dataclass(frozen=True, eq=False)
class Density:
    """A log-density, the interval that matters, and where in it the derivative jumps."""

    log_p: LogDensity
    low: float
    high: float
    kinks: Floats


def tables_of(density: Density) -> Tables:
    """All tables of a noise."""
    knots = _knots(density)
    log_f = _log_difference_density(density, _nodes_between(knots))
    log_f_at_knots = _log_difference_density(density, knots[:-1])
    table = _lower_tail_table(knots, log_f, log_f_at_knots)
    return _tabulated(density, knots[: len(table)].copy(), table)


# --- the difference of two noises: what pairs need ------------------------------------------------


def _knots(density: Density) -> Floats:
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


def _log_difference_density(density: Density, x: Floats) -> Floats:
    """``log f(x)`` of the difference at each ``x >= 0``."""
    shifts = x.reshape(-1)
    result = np.empty_like(shifts)
    for a in range(0, len(shifts), 512):
        result[a : a + 512] = _log_overlap(density, shifts[a : a + 512, None])
    return result.reshape(x.shape)


def _log_overlap(density: Density, shift: Floats) -> Floats:
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
    h, derivative = h[:usable], np.exp(log_f_at_knots - log_above)[:usable]
    spline = CubicSpline(knots[:usable], h, bc_type=((1, derivative[0]), (1, derivative[-1])))
    last = np.array([[h[-1], derivative[-1], 0.5 * float(spline(knots[usable - 1], 2)), 0.0]])
    return np.ascontiguousarray(np.vstack((spline.c[::-1].T, last)))


# --- one noise: what rankings need ---------------------------------------------------------------


def _tabulated(density: Density, knots: Floats, table: Floats) -> Tables:
    """The table of the difference, and those of one noise."""
    width, kinks = _panel_width_and_kinks(density)
    cells = _cells(density)
    farthest = float(knots[np.searchsorted(table[:, 0], CLIFF) - 1])
    log_f, log_below = _cell_tables(density.log_p, cells)
    return Tables(knots, table, width, kinks, cells, log_f, log_below, farthest)


def _panel_width_and_kinks(density: Density) -> tuple[float, Floats]:
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
    nodes, terms = NODE_X, np.arange(NODES)
    to_terms = (terms[:, None] + 0.5) * NODE_W * legvander(nodes, len(terms) - 1).T
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


def _cells(density: Density) -> Floats:
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
