"""Every compiled function, and nothing else.

They stand in one file because numba's disk cache does not see a change in another file. All are
top-level functions, so that they start from that cache in milliseconds; the noise is chosen by
a code, never by passing a function, which would miss the cache in every new process.

**Noise.** `F`, the distribution of the difference of two noises, is symmetric, so its lower tail
says everything. With ``t = |x|`` each family gives ``h(t) = -log F(-t)``, its derivatives ``h'``
and ``h''`` and the odds ``z = F(-t) / F(t)``; then ``g(x) = -log F(x)`` is, for ``x < 0``,

    g = h,           g' = -h',      g'' = h''

and for ``x >= 0``

    g = log(1 + z),  g' = -h' z,    g'' = h'^2 z (1 + z) - h'' z.

**What is not there**, lists and effects, is passed as None. Numba then leaves out the code for it,
which takes longer to compile than that for plain pairs.

**Blocks.** Votes are worked on 256 at a time: gather the differences, do the arithmetic without
branches so that LLVM can vectorise it, scatter the result. No loop both sums and stores: LLVM
would choose at run time, by the addresses of the arrays, whether to run it vectorised, and the
order of the sum with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from juryrank.types import Floats

if TYPE_CHECKING:
    from juryrank.votes.coded import Wins
    from juryrank.votes.lists import Lists

Integers = NDArray[np.int32]
Offsets = NDArray[np.int64]

BLOCK = 256
GUMBEL, NORMAL, EXPONENTIAL, TABLE = 0, 1, 2, 3


class AccuracyRule(NamedTuple):
    """What is known of an accuracy before the votes: ``N(mean, 1/precision)`` within the bound."""

    free: bool
    """False: the accuracies are given and stay as they are."""
    mean: float
    precision: float
    bound: float


class Effects(NamedTuple):
    """What else decides a vote: how readily judges tie, and what the left side gains.

    Both have a row for every judge, or one for all of them.
    """

    sizes: Offsets
    """Sizes (2, 3, ...) of the groups of items that can be tied; empty if none can."""
    tie: Floats
    """The logarithm of the weight of a tie: rows x sizes."""
    order: Floats
    """What an item gains on the left side; empty if it gains nothing."""
    as_one: bool
    """Whether tied items of a list count as one item, so that the size of ties does not matter."""


class EffectPlaces(NamedTuple):
    """Where in the state, after the scores, the effects stand; -1 for what is not estimated."""

    tie: int
    """The weights of ties for all judges, one for each size."""
    own_tie: int
    """What is added to them for the first judge, the second, ..."""
    order: int
    """What the left side gains with all judges."""
    own_order: int
    """What is added to it for the first judge, the second, ..."""


class ReadyLists(NamedTuple):
    """Derivatives of ``-log P`` of lists in their places, worked out before; none has ties."""

    slope: Floats
    """An entry for each item of each list."""
    hessian: Floats
    """Items x items for each list, one after the other."""
    begin: Offsets
    """Where those of each list begin."""


class SparseRows(NamedTuple):
    """``b_u`` of each judge: in ``mixed[start[u]:start[u + 1]]``, and the places it is about."""

    start: Offsets
    place: Integers
    mixed: Floats


class NoiseCode(NamedTuple):
    """A noise as the compiled code knows it; the tables only matter to `TABLE`.

    `knots` and `table` are of the difference of two noises, all that pairs need; what follows is
    of one noise, for rankings.
    """

    family: int
    knots: Floats
    table: Floats
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


NEWTON_STEPS = 60
SMALLEST_CHANCE = 1e-300
NEARLY_NOTHING = 1e-6
RELIABILITY_TOLERANCE = 1e-12
NEWTON_SMALL = (
    1e-3  # a step this small, relative to the accuracy, is no longer on its way to a bound
)
NEWTON_TOLERANCE = 1e-4  # the step in standard errors that is the last one
KEPT = 4096  # votes of a judge up to which what is known of each is kept between Newton steps
RUN = 32  # factors of at most 1e9 whose product is a number


def _cache_can_be_kept() -> bool:
    """Whether numba finds a folder it may write to; else it would refuse to compile at all."""
    try:
        njit(cache=True)(_cache_can_be_kept)
    except RuntimeError:
        return False
    return True


# numpy's rules for division: a check for zero before each would keep LLVM from vectorising.
COMPILED: dict[str, Any] = {
    "cache": _cache_can_be_kept(),
    "nogil": True,
    "error_model": "numpy",
}
# Functions that are called from compiled code alone need no way in from Python: that takes a third
# of the time to compile.
INNER: dict[str, Any] = {
    **COMPILED,
    "cache": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
# Passing arrays in tuples costs as much as a hundred votes: what is called for every judge is made
# part of the caller.
PART: dict[str, Any] = {**INNER, "forceinline": True}
# Only in loops that do nothing but sum; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
# Everywhere else, so that a number does not depend on which version of a loop computed it.
EXACT_ORDER = {"contract", "nsz"}

# (1 + 2a) q(a) as a polynomial in y = (a - 2.5) / (a + 2.5), where
# q(a) = exp(-a^2) / (sqrt(pi) erfc(a)) - a; from its Chebyshev series of degree 26, error 1e-16.
MILLS = np.array(
    [
        1.058042252959173,
        0.08021576065615396,
        -0.28203119696738005,
        0.17928377387142944,
        -0.003288810366333812,
        -0.05310996061231137,
        0.01441948336965615,
        0.01474001472153172,
        -0.007051900601175466,
        -0.00416925190059729,
        0.0027059036302428657,
        0.0012374969700502051,
        -0.0009234597968662657,
        -0.0003861079748697957,
        0.0002863230862956085,
        0.0001226320691942565,
        -7.997972728456615e-05,
        -3.739175611066659e-05,
        1.9697472078959438e-05,
        1.0168539975981368e-05,
        -4.156172784502664e-06,
        -2.249401519391308e-06,
        7.232846340918038e-07,
        3.5153929710716605e-07,
        -9.575883378818145e-08,
        -2.8496102317174778e-08,
        7.362455821408047e-09,
    ]
)

LOG_2_E = 1.4426950408889634
LN_2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts, the first with trailing zeros,
LN_2_LOW = 1.90821492927058770002e-10  # so that k * LN_2_HIGH is exact
ROUND_TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer in the low bits
SMALLEST_EXPONENT = 708.0  # exp(-t) is called 0 beyond it
TWO_ROOT_PI = 3.5449077018110318
EXPONENT_BITS = np.int64(52)
EXPONENT_BIAS = np.int64(1023)


# --- elementary functions that vectorise ---------------------------------------------------------


@njit(**INNER, inline="always")
def _exp_minus(t: float) -> float:
    """``exp(-t)`` for ``t >= 0``, by ``2^k e^r`` with ``|r| <= ln(2)/2``.

    ``e^r = 1 + r + r^2 q(r)``, with q interpolated at Chebyshev's points: an error of 2e-17.
    """
    clipped = min(t, SMALLEST_EXPONENT)
    shifted = ROUND_TO_INTEGER - clipped * LOG_2_E
    k = shifted - ROUND_TO_INTEGER
    r = (-clipped - k * LN_2_HIGH) - k * LN_2_LOW
    p = 2.5100385495510319e-08
    p = p * r + 2.7620088445409748e-07
    p = p * r + 2.7557268459997065e-06
    p = p * r + 2.4801521295954375e-05
    p = p * r + 1.9841269863053617e-04
    p = p * r + 1.3888888917213717e-03
    p = p * r + 8.3333333333300618e-03
    p = p * r + 4.1666666666624128e-02
    p = p * r + 1.6666666666666667e-01
    p = p * r + 5.0000000000000010e-01
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(shifted).view(np.int64)
    power = np.int64((bits + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)
    if t <= SMALLEST_EXPONENT:
        return p * power
    return 0.0 if t > SMALLEST_EXPONENT else t  # what is not a number stays so


@njit(**INNER, inline="always")
def _log_1p(z: float) -> float:
    """``log(1 + z)`` for ``0 <= z <= 1``, as ``2 artanh(z / (2 + z))``."""
    w = z / (2.0 + z)
    v = w * w
    p = 1.0 / 33.0
    p = p * v + 1.0 / 31.0
    p = p * v + 1.0 / 29.0
    p = p * v + 1.0 / 27.0
    p = p * v + 1.0 / 25.0
    p = p * v + 1.0 / 23.0
    p = p * v + 1.0 / 21.0
    p = p * v + 1.0 / 19.0
    p = p * v + 1.0 / 17.0
    p = p * v + 1.0 / 15.0
    p = p * v + 1.0 / 13.0
    p = p * v + 1.0 / 11.0
    p = p * v + 1.0 / 9.0
    p = p * v + 1.0 / 7.0
    p = p * v + 1.0 / 5.0
    p = p * v + 1.0 / 3.0
    p = p * v + 1.0
    return 2.0 * w * p


# --- the lower tail of each family: odds z, h', h'' and, apart, h --------------------------------


@njit(**INNER, fastmath=EXACT_ORDER)
def _gumbel_tail(x: Floats, k: int, odds: Floats, first: Floats, second: Floats) -> None:
    """Logistic ``F``: ``z = e^-t``, ``h' = 1/(1+z)``, ``h'' = z/(1+z)^2``."""
    for i in range(k):
        z = _exp_minus(abs(x[i]))
        inverse = 1.0 / (1.0 + z)
        odds[i] = z
        first[i] = inverse
        second[i] = z * inverse * inverse


@njit(**INNER, fastmath=EXACT_ORDER)
def _normal_tail(x: Floats, k: int, odds: Floats, first: Floats, second: Floats) -> None:
    """``F = Phi(x / sqrt 2)``: with ``a = t/2``, ``h' = a + q(a)`` and ``h'' = h' q(a)``."""
    for i in range(k):
        a = 0.5 * abs(x[i])
        y = (a - 2.5) / (a + 2.5)
        p = MILLS[26]
        for j in range(26):
            p = p * y + MILLS[25 - j]
        q = p / (1.0 + 2.0 * a)
        below = _exp_minus(a * a) / (TWO_ROOT_PI * (a + q))
        odds[i] = below / (1.0 - below)
        first[i] = a + q
        second[i] = (a + q) * q


@njit(**INNER, fastmath=EXACT_ORDER)
def _exponential_tail(x: Floats, k: int, odds: Floats, first: Floats, second: Floats) -> None:
    """Laplace ``F``: ``F(-t) = e^-t / 2``, so ``h' = 1`` and ``h'' = 0``."""
    for i in range(k):
        below = 0.5 * _exp_minus(abs(x[i]))
        odds[i] = below / (1.0 - below)
        first[i] = 1.0
        second[i] = 0.0


@njit(**INNER, inline="always")
def _table_row(noise: NoiseCode, t: float) -> int:
    """The last knot at or below ``t``."""
    return int(np.searchsorted(noise.knots, t, side="right")) - 1


@njit(**INNER)
def _table_tail(
    noise: NoiseCode, x: Floats, k: int, odds: Floats, first: Floats, second: Floats
) -> None:
    """``h`` as a cubic spline, a parabola after the last knot."""
    for i in range(k):
        row = _table_row(noise, abs(x[i]))
        u = abs(x[i]) - noise.knots[row]
        c = noise.table[row]
        below = min(np.exp(-(((c[3] * u + c[2]) * u + c[1]) * u + c[0])), 0.5)
        odds[i] = below / (1.0 - below)
        first[i] = (3.0 * c[3] * u + 2.0 * c[2]) * u + c[1]
        second[i] = 6.0 * c[3] * u + 2.0 * c[2]


@njit(**INNER)
def _tail(
    noise: NoiseCode,
    x: Floats,
    k: int,
    odds: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """Odds, ``h'`` and ``h''`` of the family at ``|x|``."""
    if noise.family == GUMBEL:
        _gumbel_tail(x, k, odds, first, second)
    elif noise.family == NORMAL:
        _normal_tail(x, k, odds, first, second)
    elif noise.family == EXPONENTIAL:
        _exponential_tail(x, k, odds, first, second)
    else:
        _table_tail(noise, x, k, odds, first, second)


@njit(**INNER, fastmath=EXACT_ORDER)
def _values(
    noise: NoiseCode,
    x: Floats,
    k: int,
    odds: Floats,
    first: Floats,
    value: Floats,
) -> None:
    """``g(x)``, given the odds and ``h'``: ``log(1+z)`` above 0, ``h`` below."""
    for i in range(k):
        value[i] = _log_1p(odds[i])
    if noise.family == GUMBEL:
        for i in range(k):
            value[i] += max(-x[i], 0.0)
    elif noise.family == NORMAL:
        for i in range(k):
            if x[i] < 0.0:
                value[i] = 0.25 * x[i] * x[i] + np.log(TWO_ROOT_PI * first[i])
    elif noise.family == EXPONENTIAL:
        for i in range(k):
            if x[i] < 0.0:
                value[i] = np.log(2.0) - x[i]
    else:
        for i in range(k):
            if x[i] < 0.0:
                row = _table_row(noise, -x[i])
                u = -x[i] - noise.knots[row]
                c = noise.table[row]
                value[i] = ((c[3] * u + c[2]) * u + c[1]) * u + c[0]


@njit(**INNER, fastmath=EXACT_ORDER)
def _slopes(x: Floats, k: int, odds: Floats, first: Floats, slope: Floats) -> None:
    """``g'(x)`` from the lower tail."""
    for i in range(k):
        slope[i] = -first[i] * (odds[i] if x[i] >= 0.0 else 1.0)


@njit(**INNER, fastmath=EXACT_ORDER)
def _bends(x: Floats, k: int, odds: Floats, first: Floats, second: Floats, bend: Floats) -> None:
    """``g''(x)`` from the lower tail."""
    for i in range(k):
        z = odds[i]
        above = first[i] * first[i] * z * (1.0 + z) - second[i] * z
        bend[i] = above if x[i] >= 0.0 else second[i]


@njit(**PART, fastmath=EXACT_ORDER)
def _gumbel_terms(x: Floats, k: int, odds: Floats, slope: Floats, bend: Floats) -> None:
    """Odds, ``g'`` and ``g''`` for logistic ``F``, whose ``g''`` is ``h''`` on both sides of 0."""
    for i in range(k):
        z = _exp_minus(abs(x[i]))
        inverse = 1.0 / (1.0 + z)
        odds[i] = z
        slope[i] = -inverse * (z if x[i] >= 0.0 else 1.0)
        bend[i] = z * inverse * inverse


@njit(**PART)
def _plain_terms(
    noise: NoiseCode, x: Floats, k: int, odds: Floats, first: Floats, slope: Floats, bend: Floats
) -> None:
    """Odds, ``g'``, ``g''`` and, but for Gumbel noise, ``h'`` at every x."""
    if noise.family == GUMBEL:
        _gumbel_terms(x, k, odds, slope, bend)
    else:
        second = slope
        _tail(noise, x, k, odds, first, second)
        _bends(x, k, odds, first, second, bend)
        _slopes(x, k, odds, first, slope)


@njit(**PART, fastmath=FAST)
def _weighted_sum(weight: Floats, a: int, value: Floats, k: int) -> float:
    """``sum w value`` over the votes from a; without weights, all are 1."""
    total = 0.0
    if weight.shape[0]:
        for i in range(k):
            total += weight[a + i] * value[i]
    else:
        for i in range(k):
            total += value[i]
    return total


@njit(**PART, fastmath=FAST)
def _gumbel_value(x: Floats, k: int, odds: Floats) -> float:
    """``sum g(x) = sum max(-x, 0) + log prod (1 + z)``: one logarithm for each block."""
    total = 0.0
    for a in range(0, k, BLOCK):
        product = 1.0
        for i in range(a, min(a + BLOCK, k)):
            total += max(-x[i], 0.0)
            product *= 1.0 + odds[i]
        total += np.log(product)
    return total


@njit(**PART, fastmath=FAST)
def _normal_value(x: Floats, k: int, odds: Floats, first: Floats) -> float:
    """``sum g(x)``, the logarithms taken of products of `RUN` factors."""
    total = 0.0
    for a in range(0, k, RUN):
        product = 1.0
        for i in range(a, min(a + RUN, k)):
            below = x[i] < 0.0
            total += 0.25 * x[i] * x[i] if below else 0.0
            product *= TWO_ROOT_PI * first[i] if below else 1.0 + odds[i]
        total += np.log(product)
    return total


@njit(**PART)
def _value_sum(
    noise: NoiseCode,
    weight: Floats,
    a: int,
    x: Floats,
    k: int,
    odds: Floats,
    first: Floats,
    value: Floats,
) -> float:
    """``sum w g(x)`` over k votes from a; `value` is room to work in."""
    if not weight.shape[0] and noise.family == GUMBEL:
        return float(_gumbel_value(x, k, odds))
    if not weight.shape[0] and noise.family == NORMAL:
        return float(_normal_value(x, k, odds, first))
    _values(noise, x, k, odds, first, value)
    return float(_weighted_sum(weight, a, value, k))


@njit(**COMPILED)
def noise_terms(
    noise: NoiseCode,
    x: Floats,
    value: Floats,
    slope: Floats,
    bend: Floats,
) -> None:
    """Fill ``g(x)``, ``g'(x)`` and ``g''(x)`` for ``g = -log F``."""
    odds, first, second = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for a in range(0, x.shape[0], BLOCK):
        k = min(BLOCK, x.shape[0] - a)
        block = x[a : a + k]
        _tail(noise, block, k, odds, first, second)
        _values(noise, block, k, odds, first, value[a : a + k])
        _slopes(block, k, odds, first, slope[a : a + k])
        _bends(block, k, odds, first, second, bend[a : a + k])


# --- votes ---------------------------------------------------------------------------------------


@njit(**COMPILED)
def counting_order(codes: Integers, n_groups: int) -> Offsets:
    """The stable order that sorts `codes`, which lie in ``0 .. n_groups - 1``."""
    place = np.zeros(n_groups + 1, dtype=np.int64)
    for code in codes:
        place[code + 1] += 1
    for group in range(n_groups):
        place[group + 1] += place[group]
    order = np.empty(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        order[place[codes[i]]] = i
        place[codes[i]] += 1
    return order


@njit(**COMPILED)
def scatter_by_group(
    values: NDArray[Any],
    table: NDArray[Any] | None,
    group: Integers,
    place: Offsets,
    out: NDArray[Any],
) -> None:
    """Write values, or what the table has for them, to the places of their groups.

    A place moves on with every value; what has no group (-1) is left out.
    """
    for i in range(values.shape[0]):
        if group[i] >= 0:
            if table is None:
                out[place[group[i]]] = values[i]
            else:
                out[place[group[i]]] = table[values[i]]
            place[group[i]] += 1


# --- lists of more than two items, Gumbel noise --------------------------------------------------
#
# A list is a row of choices: its first group from all its items, the next from those left, and so
# on. With places ``y = accuracy * score``, the group C is chosen from R with probability
#
#     t_|C| exp(mean of y over C) / sum over groups S of R of t_|S| exp(mean of y over S),
#
# where ``t_1 = 1`` (Plackett-Luce), ``t_2, t_3, ...`` are the weights of ties (Davidson's model,
# generalised to groups) and groups of other sizes do not occur. The sum over all S of size k is
# ``t_k e_k(exp(y / k))``, an elementary symmetric polynomial, and so costs no more than k x items.


@njit(**INNER)
def _log_sum(x: float, y: float) -> float:
    """``log(e^x + e^y)``."""
    high, low = max(x, y), min(x, y)
    return high + np.log1p(np.exp(low - high)) if low > -np.inf else high


@njit(**INNER)
def _luce_along(place: Floats, direction: Floats, ranked: int) -> tuple[float, float, float]:
    """``-log P`` of a list without ties, and two derivatives along a direction of the places."""
    h = place.shape[0]
    top, mass, first, second = -np.inf, 0.0, 0.0, 0.0
    value, slope, bend = 0.0, 0.0, 0.0
    for j in range(h - 1, -1, -1):
        d, new = direction[j], 1.0
        if place[j] > top:
            shrink = np.exp(top - place[j])
            mass *= shrink
            first *= shrink
            second *= shrink
            top = place[j]
        else:
            new = np.exp(place[j] - top)
        mass += new
        first += new * d
        second += new * d * d
        if j < min(ranked, h - 1):
            mean = first / mass
            value += top + np.log(mass) - place[j]
            slope += mean - d
            bend += max(second / mass - mean * mean, 0.0)
    return value, slope, bend


@njit(**INNER)
def _luce_log_masses(place: Floats, log_mass: Floats) -> None:
    """``log sum_{i >= j} exp(place_i)`` for every ``j``."""
    total = -np.inf
    for j in range(place.shape[0] - 1, -1, -1):
        total = _log_sum(total, place[j])
        log_mass[j] = total


@njit(**INNER)
def _luce_pass(place: Floats, ranked: int, slope: Floats) -> float:
    """``-log P`` of a list without ties; sets its slope in the places.

    Item i is in the choices up to its own: ``sum_{j <= i} exp(y_i) / mass_j``, minus 1 if chosen.
    """
    h = place.shape[0]
    choices = min(ranked, h - 1)
    _luce_log_masses(place, slope)
    value = 0.0
    inverse = -np.inf
    for i in range(h):
        if i < choices:
            value += slope[i] - place[i]
            inverse = _log_sum(inverse, -slope[i])
        slope[i] = np.exp(place[i] + inverse) - (1.0 if i < choices else 0.0)
    return value


@njit(**INNER)
def _luce_hessian(place: Floats, ranked: int, slope: Floats, hessian: Floats) -> None:
    """Set the slope as `_luce_pass`; add ``sum_j diag(p_j) - p_j p_j'`` to the Hessian."""
    h = place.shape[0]
    log_mass = np.empty(h)
    _luce_log_masses(place, log_mass)
    _luce_pass(place, ranked, slope)
    squared = -np.inf
    choices = min(ranked, h - 1)
    for i in range(h):
        if i < choices:
            squared = _log_sum(squared, -2.0 * log_mass[i])
        chance = slope[i] + (1.0 if i < choices else 0.0)
        hessian[i, i] += chance - np.exp(2.0 * place[i] + squared)
        for later in range(i + 1, h):
            joint = np.exp(place[i] + place[later] + squared)
            hessian[i, later] -= joint
            hessian[later, i] -= joint


@njit(**INNER)
def _tied_with(level: Integers, j: int, ranked: int) -> int:
    """How many ranked items, from j on, share its level."""
    count = 1
    while j + count < ranked and level[j + count] == level[j]:
        count += 1
    return count


@njit(**INNER)
def _chosen(values: Floats, j: int, count: int) -> float:
    """The mean of the values of a group."""
    total = 0.0
    for i in range(j, j + count):
        total += values[i]
    return total / count


@njit(**INNER)
def _log_tie(count: int, sizes: Offsets, tie: Floats) -> float:
    """The logarithm of the weight of a group of so many."""
    for t in range(sizes.shape[0]):
        if sizes[t] == count:
            return float(tie[t])
    return 0.0


@njit(**INNER)
def _tied_along(
    place: Floats,
    direction: Floats,
    level: Integers,
    ranked: int,
    sizes: Offsets,
    tie: Floats,
) -> tuple[float, float, float]:
    """``-log P`` of a list in which ties can occur, and two derivatives along a direction."""
    h = place.shape[0]
    value, slope, bend = 0.0, 0.0, 0.0
    longest = int(sizes.max()) + 1
    poly, poly1, poly2 = np.empty(longest), np.empty(longest), np.empty(longest)
    j = 0
    while j < ranked and h - j >= 2:
        count = _tied_with(level, j, ranked)
        top = place[j:].max()
        mass, first, second = 0.0, 0.0, 0.0
        for i in range(j, h):
            e = np.exp(place[i] - top)
            mass += e
            first += e * direction[i]
            second += e * direction[i] * direction[i]
        for t in range(sizes.shape[0]):
            k = sizes[t]
            if k > h - j:
                break
            poly[: k + 1] = 0.0
            poly1[: k + 1] = 0.0
            poly2[: k + 1] = 0.0
            poly[0] = 1.0
            for i in range(j, h):
                b = np.exp((place[i] - top) / k)
                b1 = b * direction[i] / k
                b2 = b1 * direction[i] / k
                for d in range(k, 0, -1):
                    poly2[d] += b2 * poly[d - 1] + 2.0 * b1 * poly1[d - 1] + b * poly2[d - 1]
                    poly1[d] += b1 * poly[d - 1] + b * poly1[d - 1]
                    poly[d] += b * poly[d - 1]
            weight = np.exp(tie[t])
            mass += weight * poly[k]
            first += weight * poly1[k]
            second += weight * poly2[k]
        mean = first / mass
        value += top + np.log(mass) - _chosen(place, j, count) - _log_tie(count, sizes, tie)
        slope += mean - _chosen(direction, j, count)
        bend += max(second / mass - mean * mean, 0.0)
        j += count
    return value, slope, bend


@njit(**INNER)
def _leave_one_out(base: Floats, degree: int, left: Floats) -> None:
    """``left_i = e_degree`` of all the bases but the i-th; nothing is ever subtracted."""
    n = base.shape[0]
    before = np.zeros((n + 1, degree + 1))
    before[0, 0] = 1.0
    for i in range(n):
        before[i + 1, 0] = 1.0
        for d in range(1, degree + 1):
            before[i + 1, d] = before[i, d] + base[i] * before[i, d - 1]
    after = np.zeros(degree + 1)
    after[0] = 1.0
    for i in range(n - 1, -1, -1):
        total = 0.0
        for d in range(degree + 1):
            total += before[i, d] * after[degree - d]
        left[i] = total
        for d in range(degree, 0, -1):
            after[d] += base[i] * after[d - 1]


@njit(**INNER)
def _choice_shares(
    place: Floats, sizes: Offsets, tie: Floats, share: Floats, by_size: Floats, chance: Floats
) -> float:
    """One choice from all of `place`: ``log`` of the mass, and its derivatives.

    Sets ``share_i = d log mass / d y_i``, its part ``by_size[t, i]`` from ties of each size, and
    ``chance[t]``, the probability of such a tie.
    """
    r = place.shape[0]
    top = place.max()
    mass = 0.0
    for i in range(r):
        share[i] = np.exp(place[i] - top)
        mass += share[i]
    base, left = np.empty(r), np.empty(r)
    for t in range(sizes.shape[0]):
        k = sizes[t]
        chance[t] = 0.0
        by_size[t, :r] = 0.0
        if k > r:
            continue
        for i in range(r):
            base[i] = np.exp((place[i] - top) / k)
        _leave_one_out(base, k - 1, left)
        weight = np.exp(tie[t])
        for i in range(r):
            by_size[t, i] = weight * base[i] * left[i] / k
            chance[t] += by_size[t, i]  # each group is counted once, a k-th from each member
            share[i] += by_size[t, i]
        mass += chance[t]
    for i in range(r):
        share[i] /= mass
    for t in range(sizes.shape[0]):
        chance[t] /= mass
        for i in range(r):
            by_size[t, i] /= mass
    return float(top + np.log(mass))


@njit(**INNER)
def _tied_pass(
    place: Floats,
    level: Integers,
    ranked: int,
    sizes: Offsets,
    tie: Floats,
    slope: Floats,
    tie_slope: Floats,
) -> float:
    """``-log P`` of a list in which ties can occur; sets its slope, adds to that of the ties."""
    h, kinds = place.shape[0], sizes.shape[0]
    share, by_size, chance = np.empty(h), np.empty((kinds, h)), np.empty(kinds)
    slope[:h] = 0.0
    value = 0.0
    j = 0
    while j < ranked and h - j >= 2:
        count = _tied_with(level, j, ranked)
        value += _choice_shares(place[j:], sizes, tie, share, by_size, chance)
        value -= _chosen(place, j, count) + _log_tie(count, sizes, tie)
        for i in range(j, h):
            slope[i] += share[i - j]
        for i in range(j, j + count):
            slope[i] -= 1.0 / count
        for t in range(kinds):
            tie_slope[t] += chance[t] - (1.0 if sizes[t] == count else 0.0)
        j += count
    return value


@njit(**INNER)
def _choice_pairs(
    place: Floats, sizes: Offsets, tie: Floats, log_mass: float, j: int, hessian: Floats
) -> None:
    """Add the second derivatives of one choice's mass, over the mass, to those of its items."""
    r = place.shape[0]
    base, left = np.empty(r), np.empty(r)
    for i in range(r):
        hessian[j + i, j + i] += np.exp(place[i] - log_mass)
    for t in range(sizes.shape[0]):
        k = sizes[t]
        if k > r:
            break
        weight = np.exp(tie[t])
        for i in range(r):
            base[i] = np.exp((place[i] - log_mass) / k)
        _leave_one_out(base, k - 1, left)
        for i in range(r):
            hessian[j + i, j + i] += weight * base[i] * left[i] / (k * k)
        for i in range(r):
            own = base[i]
            base[i] = 0.0
            _leave_one_out(base, k - 2, left)
            for o in range(r):
                if o != i:
                    hessian[j + i, j + o] += weight * own * base[o] * left[o] / (k * k)
            base[i] = own


@njit(**INNER)
def _tied_hessian(
    place: Floats,
    level: Integers,
    ranked: int,
    sizes: Offsets,
    tie: Floats,
    slope: Floats,
    tie_slope: Floats,
    hessian: Floats,
) -> None:
    """Set slopes as `_tied_pass`; add second derivatives in the places and, after them, ties."""
    h, kinds = place.shape[0], sizes.shape[0]
    share, by_size, chance = np.empty(h), np.empty((kinds, h)), np.empty(kinds)
    j = 0
    while j < ranked and h - j >= 2:
        log_mass = _choice_shares(place[j:], sizes, tie, share, by_size, chance)
        _choice_pairs(place[j:], sizes, tie, log_mass, j, hessian)
        for i in range(j, h):
            for o in range(j, h):
                hessian[i, o] -= share[i - j] * share[o - j]
            for t in range(kinds):
                mixed = by_size[t, i - j] - chance[t] * share[i - j]
                hessian[i, h + t] += mixed
                hessian[h + t, i] += mixed
        for t in range(kinds):
            hessian[h + t, h + t] += chance[t]
            for o in range(kinds):
                hessian[h + t, h + o] -= chance[t] * chance[o]
        j += _tied_with(level, j, ranked)
    _tied_pass(place, level, ranked, sizes, tie, slope, tie_slope)


# --- lists whose tied items count as one, Gumbel noise -------------------------------------------
#
# Items that a judge ties, if only because they are nearly the same, come in first or last together.
# So they stand in the list as one item at their mean place, and the list that is left is one
# without ties (Plackett-Luce). Whether two of the k ranked items are tied at all, their places
# being x apart, is decided as for a pair, each of the ``k (k - 1) / 2`` pairs with a weight of
# ``2 / k``, so that they count for the ``k - 1`` ties that there can be:
#
#     P(tied) = t q / (1 + t q),      q = sqrt(F(x) F(-x)) = 1 / (2 cosh(x / 2)).
#
# For two items both together are Davidson's model.


class _TieTerms(NamedTuple):
    """``-log P`` that two items are tied, or are not: derivatives x, xx, tie, x-tie, tie-tie."""

    value: float
    x: float
    xx: float
    tie: float
    x_tie: float
    tie_tie: float


@njit(**INNER)
def _tie_terms(x: float, tied: bool, tie: float) -> _TieTerms:
    """Whether two items that are x apart are tied; `tie` is ``log t``."""
    small = np.exp(-abs(x))
    log_q = -0.5 * abs(x) - np.log1p(small)
    first_q = -0.5 * np.tanh(0.5 * x)
    second_q = -small / ((1.0 + small) * (1.0 + small))
    above = tie + log_q
    rare = np.exp(-abs(above))
    chance = (1.0 if above > 0.0 else rare) / (1.0 + rare)
    spread = rare / ((1.0 + rare) * (1.0 + rare))
    value = max(above, 0.0) + np.log1p(rare) - (above if tied else 0.0)
    pull = chance - (1.0 if tied else 0.0)
    bend = pull * second_q + spread * first_q * first_q
    return _TieTerms(value, pull * first_q, bend, pull, spread * first_q, spread)


@njit(**INNER)
def _group_of_each(level: Integers, ranked: int, group: Integers, size: Floats) -> int:
    """Number the groups of a list, and count their items; what is not ranked is not tied."""
    number = 0
    for i in range(level.shape[0]):
        if i and (i >= ranked or level[i] != level[i - 1]):
            number += 1
        group[i] = number
        size[number] = 1.0 if i == 0 or group[i - 1] != number else size[number] + 1.0
    return number + 1


@njit(**INNER)
def _group_means(values: Floats, group: Integers, size: Floats, mean: Floats) -> None:
    """The mean over each group."""
    mean[:] = 0.0
    for i in range(values.shape[0]):
        mean[group[i]] += values[i] / size[group[i]]


@njit(**INNER)
def _as_one_along(
    place: Floats, direction: Floats, level: Integers, ranked: int, tie: float
) -> tuple[float, float, float]:
    """``-log P`` of a list whose tied items are one, and two derivatives along a direction."""
    h = place.shape[0]
    group, size = np.empty(h, dtype=np.int64), np.empty(h)
    n = _group_of_each(level, ranked, group, size)
    mean, along = np.empty(n), np.empty(n)
    _group_means(place, group, size, mean)
    _group_means(direction, group, size, along)
    value, slope, bend = _luce_along(mean, along, group[ranked - 1] + 1)
    weight = 2.0 / ranked
    for i in range(ranked):
        for o in range(i):
            terms = _tie_terms(place[o] - place[i], group[i] == group[o], tie)
            d = direction[o] - direction[i]
            value += weight * terms.value
            slope += weight * terms.x * d
            bend += weight * terms.xx * d * d
    return value, slope, bend


@njit(**INNER)
def _as_one_pass(
    place: Floats, level: Integers, ranked: int, tie: float, slope: Floats, tie_slope: Floats
) -> float:
    """``-log P`` of a list whose tied items are one; sets its slope, adds to that of the tie."""
    h = place.shape[0]
    group, size = np.empty(h, dtype=np.int64), np.empty(h)
    n = _group_of_each(level, ranked, group, size)
    mean, of_group = np.empty(n), np.empty(n)
    _group_means(place, group, size, mean)
    value = _luce_pass(mean, group[ranked - 1] + 1, of_group)
    for i in range(h):
        slope[i] = of_group[group[i]] / size[group[i]]
    weight = 2.0 / ranked
    for i in range(ranked):
        for o in range(i):
            terms = _tie_terms(place[o] - place[i], group[i] == group[o], tie)
            value += weight * terms.value
            slope[o] += weight * terms.x
            slope[i] -= weight * terms.x
            tie_slope[0] += weight * terms.tie
    return float(value)


@njit(**INNER)
def _as_one_hessian(
    place: Floats,
    level: Integers,
    ranked: int,
    tie: float,
    slope: Floats,
    tie_slope: Floats,
    hessian: Floats,
) -> None:
    """Set slopes as `_as_one_pass`; add second derivatives in the places and then the tie."""
    h = place.shape[0]
    group, size = np.empty(h, dtype=np.int64), np.empty(h)
    n = _group_of_each(level, ranked, group, size)
    mean, unused, of_groups = np.empty(n), np.empty(n), np.zeros((n, n))
    _group_means(place, group, size, mean)
    _luce_hessian(mean, group[ranked - 1] + 1, unused, of_groups)
    for i in range(h):
        for o in range(h):
            hessian[i, o] += of_groups[group[i], group[o]] / (size[group[i]] * size[group[o]])
    weight = 2.0 / ranked
    for i in range(ranked):
        for o in range(i):
            terms = _tie_terms(place[o] - place[i], group[i] == group[o], tie)
            hessian[i, i] += weight * terms.xx
            hessian[o, o] += weight * terms.xx
            hessian[i, o] -= weight * terms.xx
            hessian[o, i] -= weight * terms.xx
            for at, sign in ((o, 1.0), (i, -1.0)):
                hessian[at, h] += sign * weight * terms.x_tie
                hessian[h, at] += sign * weight * terms.x_tie
            hessian[h, h] += weight * terms.tie_tie
    _as_one_pass(place, level, ranked, tie, slope, tie_slope)


# --- rankings under any noise --------------------------------------------------------------------
#
# A judge sees ``y_i = m_i + e_i``, with noises of density f and distribution F, and ranks by
# decreasing y. The first k items are ranked, the rest lie below. With
#
#     L_{k+1}(t) = prod_q F(t - m_q),        L_j(t) = int_{-inf}^t f(v - m_j) L_{j+1}(v) dv,
#     U_1(t) = 1,                            U_{j+1}(t) = int_t^inf f(v - m_j) U_j(v) dv,
#
# the probability is ``P = int U_j f_j L_{j+1} dv`` for any j; moving an item changes it by the
# density of its coincidences with its neighbours,
#
#     K_{j,j+1} = int U_j f_j f_{j+1} L_{j+2} dv,     K_{k,q} = int U_k f_k (f_q / F_q) L_{k+1} dv,
#     dP/dm_j = K_{j,j+1} - K_{j-1,j},  dP/dm_k = sum_q K_{k,q} - K_{k-1,k},  dP/dm_q = -K_{k,q},
#
# which needs no f', so that densities may jump. All functions live on the Gauss nodes of panels.
#
# **Far out of order.** Where a worse item is ranked above a much better one, all the mass lies in
# the tails: no fixed grid sees it, and L rises like ``e^(lambda t)`` with a large lambda. So the
# panels are laid around the most likely y that obeys the ranking (the isotonic regression of m:
# items out of order are pooled into blocks that share one y), and the chain is run for
#
#     f_j = e^((lambda_{j-1} - lambda_j) t) g_j,   L_j = e^(lambda_{j-1} t) l_j,
#     U_j = e^(-lambda_{j-1} t) u_j,
#
# where the lambda are the multipliers of the isotonic regression: the tilted density g_j has its
# peak at the block's y, and l_j, u_j hardly vary over a panel, whatever the places are:
#
#     l_j(t) = int_{-inf}^t e^(-lambda_{j-1} (t - v)) g_j(v) l_{j+1}(v) dv.
#
# The integral over the decaying factor is exact for a polynomial ``g l``, for any lambda. The
# powers of e cancel in P and K; any lambda would do in exact arithmetic.
#
# **Crowds.** With c items in one place, each is confined by the others to about 1/sqrt(c) of a
# standard deviation, and L rises by up to ``e^(0.4 c)`` per standard deviation: panels get narrow.

NODES = 12
GAUSS_X, GAUSS_W = np.polynomial.legendre.leggauss(NODES)
TARGETS = np.append(GAUSS_X, 1.0)  # where a panel's running integral is wanted: nodes, and the end
ORDERS = 36
LEGENDRE = np.polynomial.legendre.legvander(TARGETS, ORDERS + 1).T.copy()
LEGENDRE_STEP = np.vstack((np.zeros(NODES + 1), LEGENDRE[2:] - LEGENDRE[:-2]))
# The m-th Legendre coefficient of the polynomial that is 1 at node j and 0 at the others.
LAGRANGE = (np.arange(NODES) + 0.5)[:, None] * GAUSS_W * LEGENDRE[:NODES, :NODES]
MOMENTS = np.vstack(
    (1.0 + TARGETS, LEGENDRE_STEP[1:NODES] / (2 * np.arange(1, NODES)[:, None] + 1))
)
PLAIN_FORTH = np.vstack((LAGRANGE.T @ MOMENTS, np.ones(NODES + 1)))  # without decay
PLAIN_BACK = PLAIN_FORTH[np.r_[NODES - 1 : -1 : -1, NODES]][:, np.r_[NODES - 1 : -1 : -1, NODES]]
FORWARD_FROM = 16.0  # the decay per half panel from where the recurrence upwards is stable
WINDOW = 8.0  # standard deviations to either side of the most likely y
FAINT = 38.0  # a factor e^-38 below the peak adds nothing to an integral
CROWD_ROOT = 5.0 / 2.0  # panels are this many widths over the root of the crowd, at most,
CROWD_POWER = 130.0 / 2.0  # and this many over the crowd to the power of 1.4
CROWD_REACH = 0.625  # a crowd is counted this many panel widths to either side
JUMP_CROWD = 2.0
LEAST_TILT = 0.5  # per half panel; below, L is tame enough without
STEEPEST = 1e12
NOTHING = 1e-120
WALK_STEPS = 400
DIFFERENCE = 1e-4  # step of central differences, in panel widths
LOG_ROOT_2_PI = 0.9189385332046728
ROOT_2 = 1.4142135623730951
ROOT_HALF = 0.7071067811865476
CELL_TERMS = 8


@njit(**INNER)
def _decaying_integrals(decay: float, moments: Floats, forth: Floats, back: Floats) -> None:
    """Weights of ``int_{-1}^x e^(-decay (x - v)) p(v) dv`` on the values of p at the nodes.

    The moments ``I_m(x)`` of the Legendre polynomials obey, since (2m+1) P_m = P'_{m+1} - P'_{m-1},

        decay I_{m+1} + (2m+1) I_m - decay I_{m-1} = P_{m+1}(x) - P_{m-1}(x).

    ``forth[j, i]`` is the weight of node j for the target i (the last is the panel's end) and
    ``forth[NODES, i]`` what is left there of a start of 1; `back` is its mirror image.
    """
    for i in range(NODES + 1):
        forth[NODES, i] = np.exp(-decay * (1.0 + TARGETS[i]))
        moments[0, i] = -np.expm1(-decay * (1.0 + TARGETS[i])) / decay
    if decay >= FORWARD_FROM:
        for i in range(NODES + 1):
            moments[1, i] = (TARGETS[i] + forth[NODES, i] - moments[0, i]) / decay
        for m in range(1, NODES - 1):
            for i in range(NODES + 1):
                upper = LEGENDRE_STEP[m, i] - (2 * m + 1) * moments[m, i]
                moments[m + 1, i] = moments[m - 1, i] + upper / decay
    else:
        ratio = 0.0
        for i in range(NODES + 1):
            moments[ORDERS, i] = 0.0
        for m in range(ORDERS - 1, 0, -1):
            inverse = 1.0 / (2 * m + 1 + decay * ratio)
            ratio = decay * inverse
            moments[m, NODES + 1] = ratio
            for i in range(NODES + 1):
                moments[m, i] = (LEGENDRE_STEP[m, i] - decay * moments[m + 1, i]) * inverse
        for m in range(1, NODES):
            for i in range(NODES + 1):
                moments[m, i] += moments[m, NODES + 1] * moments[m - 1, i]
    for j in range(NODES):
        for i in range(NODES + 1):
            forth[j, i] = 0.0
        for m in range(NODES):
            part = LAGRANGE[m, j]
            for i in range(NODES + 1):
                forth[j, i] += part * moments[m, i]
    for j in range(NODES + 1):
        source = NODES - 1 - j if j < NODES else NODES
        for i in range(NODES):
            back[j, i] = forth[source, NODES - 1 - i]
        back[j, NODES] = forth[source, NODES]


@njit(**INNER, fastmath=EXACT_ORDER)
def _integrate_panels(
    weights: Floats, half: Floats, p0: int, panels: int, source: Floats, out: Floats
) -> None:
    """The integral within each panel, from its start to each of its nodes and to its end.

    Arrays hold one row for each node and one column for each panel, so that the sums over the
    nodes, written out, run over many panels at once: eight times as fast as panel by panel.
    """
    width = half[p0 : p0 + panels]
    for i in range(NODES + 1):
        w0, w1, w2 = weights[0, i], weights[1, i], weights[2, i]
        w3, w4, w5 = weights[3, i], weights[4, i], weights[5, i]
        w6, w7, w8 = weights[6, i], weights[7, i], weights[8, i]
        w9, w10, w11 = weights[9, i], weights[10, i], weights[11, i]
        for p in range(panels):
            out[i, p] = width[p] * (
                w0 * source[0, p]
                + w1 * source[1, p]
                + w2 * source[2, p]
                + w3 * source[3, p]
                + w4 * source[4, p]
                + w5 * source[5, p]
                + w6 * source[6, p]
                + w7 * source[7, p]
                + w8 * source[8, p]
                + w9 * source[9, p]
                + w10 * source[10, p]
                + w11 * source[11, p]
            )


# One noise, not the difference of two.


@njit(**INNER, inline="always")
def _cell(noise: NoiseCode, x: float) -> int:
    """The cell of the density's table that holds ``x``, which lies inside its ends."""
    row = int(np.searchsorted(noise.cells, x, side="right")) - 1
    return int(min(max(row, 0), noise.cells.shape[0] - 2))


@njit(**INNER)
def _cell_polynomial(noise: NoiseCode, table: Floats, x: float) -> float:
    """The tabulated function at ``x``."""
    row = _cell(noise, x)
    left, right = noise.cells[row], noise.cells[row + 1]
    u = (2.0 * x - left - right) / (right - left)
    value = table[row, CELL_TERMS - 1]
    for m in range(CELL_TERMS - 1):
        value = value * u + table[row, CELL_TERMS - 2 - m]
    return float(value)


@njit(**INNER)
def _log_density(noise: NoiseCode, x: float) -> float:
    """``log f(x)``."""
    if noise.family == GUMBEL:
        return float(-x - np.exp(-x))
    if noise.family == NORMAL:
        return -0.5 * x * x - LOG_ROOT_2_PI
    if noise.family == EXPONENTIAL:
        return -x if x >= 0.0 else -np.inf
    if x < noise.cells[0] or x > noise.cells[-1]:
        return -np.inf
    return float(_cell_polynomial(noise, noise.density, x))


@njit(**INNER)
def _log_below(noise: NoiseCode, x: float) -> float:
    """``log F(x)``, but for the normal noise, which has `_normal_below`."""
    if noise.family == GUMBEL:
        return float(-np.exp(-x))
    if noise.family == EXPONENTIAL:
        return float(np.log(-np.expm1(-x))) if x > 0.0 else -np.inf
    if x <= noise.cells[0]:
        return -np.inf
    return 0.0 if x >= noise.cells[-1] else _cell_polynomial(noise, noise.below, x)


@njit(**INNER)
def _density_slope(noise: NoiseCode, x: float) -> float:
    """``(log f)'(x)``; at the ends of a table as just inside."""
    if noise.family == GUMBEL:
        return min(float(np.expm1(-x)), STEEPEST)
    if noise.family == NORMAL:
        return -x
    if noise.family == EXPONENTIAL:
        return -1.0
    row = _cell(noise, x)
    left, right = noise.cells[row], noise.cells[row + 1]
    u = min(max((2.0 * x - left - right) / (right - left), -1.0), 1.0)
    value = 0.0
    for m in range(CELL_TERMS - 1, 0, -1):
        value = value * u + m * noise.density[row, m]
    return float(min(max(2.0 * value / (right - left), -STEEPEST), STEEPEST))


@njit(**INNER, fastmath=EXACT_ORDER)
def _normal_below(x: Floats, k: int, square: Floats, factor: Floats, hazard: Floats) -> None:
    """``F = e^-square * factor`` and ``f / F`` of the standard normal noise.

    With ``a = |x| / sqrt 2`` and q as in `MILLS`, ``F(-|x|) = e^(-a^2) / (2 sqrt(pi) (a + q))``.
    """
    for i in range(k):
        a = ROOT_HALF * abs(x[i])
        y = (a - 2.5) / (a + 2.5)
        p = MILLS[26]
        for j in range(26):
            p = p * y + MILLS[25 - j]
        tail = a + p / (1.0 + 2.0 * a)
        over = 1.0 / (TWO_ROOT_PI * tail)
        below = _exp_minus(a * a) * over
        under = x[i] < 0.0
        square[i] = a * a if under else 0.0
        factor[i] = over if under else 1.0 - below
        hazard[i] = ROOT_2 * tail * (1.0 if under else below / (1.0 - below))


# Where the mass lies: the most likely y that obeys the ranking.


@njit(**INNER)
def _pull(noise: NoiseCode, place: Floats, k: int, a: int, b: int, y: float) -> float:
    """Slope at a common ``y`` of the log-densities of the items a..b-1, of the rest if b = k.

    An item of the rest need not be at y, only below: it pulls up, never down.
    """
    total = 0.0
    if noise.family == TABLE:
        for i in range(a, b):
            if y - place[i] < noise.cells[0]:
                total += STEEPEST
            elif y - place[i] > noise.cells[-1]:
                total -= STEEPEST
    for i in range(a, b):
        total += _density_slope(noise, y - place[i])
    if b == k:
        for q in range(k, place.shape[0]):
            total += max(_density_slope(noise, y - place[q]), 0.0)
            if noise.family == TABLE and y - place[q] < noise.cells[0]:
                total += STEEPEST
    return total


@njit(**INNER)
def _common_y(noise: NoiseCode, place: Floats, k: int, a: int, b: int) -> float:
    """The most likely common ``y`` of the items a..b-1, of the rest if b = k."""
    if noise.family == NORMAL:
        mean = 0.0
        for j in range(a, b):
            mean += place[j] / (b - a)
        y = mean
        if b == k:  # Newton's method on a convex, piecewise quadratic function, from the left
            for _ in range(place.shape[0]):
                above, count = 0.0, 0
                for q in range(k, place.shape[0]):
                    if place[q] > y:
                        above += place[q] - mean
                        count += 1
                last = y
                y = mean + above / (b - a + count)
                if y <= last or count == 0:
                    break
        return float(y)
    low = np.min(place[a:b])
    high = np.max(place[a:b])
    if b == k:
        high = max(high, np.max(place[k:]))
    if noise.family == EXPONENTIAL:
        return float(high)
    if noise.family == TABLE:
        low, high = low + noise.cells[0], high + noise.cells[-1]
    else:
        low, high = low - np.log(1.0 + place.shape[0]), high + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _pull(noise, place, k, a, b, middle) > 0.0:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))


@njit(**INNER)
def _pool(noise: NoiseCode, place: Floats, k: int, first: Offsets, y: Floats) -> int:
    """Pool neighbours out of order; block b holds the items ``first[b] .. first[b+1] - 1``."""
    blocks = 0
    for j in range(k):
        first[blocks] = j
        y[blocks] = _common_y(noise, place, k, j, j + 1)
        blocks += 1
        while blocks > 1 and y[blocks - 1] > y[blocks - 2]:
            blocks -= 1
            y[blocks - 1] = _common_y(noise, place, k, first[blocks - 1], j + 1)
    first[blocks] = k
    return blocks


@njit(**INNER)
def _tilts(
    noise: NoiseCode, place: Floats, k: int, a: int, b: int, y: float, half: float, tilt: Floats
) -> None:
    """Multipliers of the constraints: ``tilt[j+1]`` ties item j to the next, 0 between blocks."""
    total = 0.0
    for j in range(a, b):
        total -= _density_slope(noise, y - place[j])
        tilt[j + 1] = total
    tilt[b] = 0.0
    if b == k:
        for q in range(k, place.shape[0]):
            tilt[k] += max(_density_slope(noise, y - place[q]), 0.0)
    for j in range(a + 1, b + 1):
        if noise.family == EXPONENTIAL or tilt[j] * half < LEAST_TILT:
            tilt[j] = 0.0


@njit(**INNER)
def _log_rest(noise: NoiseCode, place: Floats, k: int, t: float) -> float:
    """``log L_{k+1}(t)``."""
    total = 0.0
    for q in range(k, place.shape[0]):
        total += _log_below(noise, t - place[q])
    return total


@njit(**INNER)
def _left_end(
    noise: NoiseCode, place: Floats, k: int, a: int, b: int, y: float, tilt: Floats
) -> float:
    """Below it the block adds nothing: a lower item of the block is faint there, and so all are."""
    reach = y
    for j in range(a, b):
        lean = tilt[j] - tilt[j + 1]
        peak = _log_density(noise, y - place[j])
        peak = peak if peak > -np.inf else 0.0
        t = y
        for n in range(WALK_STEPS):
            log_g = _log_density(noise, t - place[j]) - lean * (t - y) - peak
            if log_g - tilt[j] * max(reach - t, 0.0) < -FAINT:
                break
            t -= noise.width * (0.25 + 0.05 * n)
        reach = t
    if b == k:
        top = _log_rest(noise, place, k, y)
        top = top if top > -np.inf else 0.0
        t = y
        for n in range(WALK_STEPS):
            if t < reach:
                break
            if _log_rest(noise, place, k, t) - tilt[k] * (t - y) - top < -FAINT:
                break
            t -= noise.width * (0.25 + 0.05 * n)
        reach = max(reach, t)
    return reach


@njit(**INNER)
def _right_end(noise: NoiseCode, place: Floats, a: int, b: int, y: float, tilt: Floats) -> float:
    """Above it the block adds nothing."""
    reach = y
    for j in range(b - 1, a - 1, -1):
        lean = tilt[j] - tilt[j + 1]
        peak = _log_density(noise, y - place[j])
        peak = peak if peak > -np.inf else 0.0
        t = y
        for n in range(WALK_STEPS):
            log_g = _log_density(noise, t - place[j]) - lean * (t - y) - peak
            if log_g - tilt[j + 1] * max(t - reach, 0.0) < -FAINT and t > y:
                break
            t += noise.width * (0.25 + 0.05 * n)
        reach = t
    return reach


@njit(**INNER)
def _count_crowds(
    place: Floats, k: int, first: Offsets, y: Floats, blocks: int, reach: float, crowd: Floats
) -> None:
    """How many items lie within `reach` of each block; the rest is where the last block is."""
    low, high = 0, 0
    for b in range(blocks):
        while y[low] > y[b] + reach:
            low += 1
        while high < blocks and y[high] >= y[b] - reach:
            high += 1
        crowd[b] = first[high] - first[low]
        if high == blocks:
            for q in range(k, place.shape[0]):
                crowd[b] += place[q] > y[blocks - 1] - reach


@njit(**INNER)
def _panel_width(noise: NoiseCode, crowd: float) -> float:
    """How wide a panel may be among so many items."""
    return float(noise.width * min(1.0, CROWD_ROOT / np.sqrt(crowd), CROWD_POWER / crowd**1.4))


@njit(**INNER)
def _sharpest(
    noise: NoiseCode,
    place: Floats,
    k: int,
    a: int,
    b: int,
    y: float,
    width: float,
    crowd: float,
    tilt: Floats,
) -> float:
    """The scale on which a block's densities change at its y, at most `width`.

    Next to a jump of a density the tilts matter too, since the mass falls off like
    ``e^(-tilt t)``; and the crowd, since the lowest of c items is about 1/c above the jump.
    """
    step = 1e-3 * noise.width
    bend, jump = 0.0, False
    for j in range(a, place.shape[0] if b == k else b):
        x = y - place[j]
        near = noise.family == TABLE and (x < noise.cells[0] + step or x > noise.cells[-1] - step)
        for kink in noise.kinks:
            near = near or abs(x - kink) < step
            jump = jump or abs(x - kink) < width
        if not near:
            rise = _density_slope(noise, x - step) - _density_slope(noise, x + step)
            bend = max(bend, rise / (2.0 * step))
    least = min(width, 2.0 / np.sqrt(bend)) if bend > 0.0 else width
    if jump:
        least = min(least, JUMP_CROWD * noise.width / crowd)
        for j in range(a + 1, b + 1):
            if tilt[j] > 0.0:
                least = min(least, 3.0 / tilt[j])
    return float(max(least, 1e-9 * width))


@njit(**INNER)
def _cuts(noise: NoiseCode, place: Floats, low: float, high: float) -> Floats:
    """The ends `low` and `high`, and between them all points where some density has a kink."""
    cuts = np.empty(2 + noise.kinks.shape[0] * place.shape[0])
    cuts[0], cuts[1] = low, high
    count = 2
    for i in range(place.shape[0]):
        for kink in noise.kinks:
            if low < place[i] + kink < high:
                cuts[count] = place[i] + kink
                count += 1
    cuts = np.sort(cuts[:count])
    kept = 1
    for i in range(1, count):
        if cuts[i] > cuts[kept - 1]:
            cuts[kept] = cuts[i]
            kept += 1
    return cuts[:kept]


@njit(**INNER)
def _even_panels(low: float, high: float, width: float) -> Floats:
    """Ends of equal panels, four or eight or ...: their columns are worked on in fours."""
    panels = 4 * int(np.ceil(0.25 * (high - low) / width))
    ends = np.empty(panels + 1)
    for p in range(panels):
        ends[p] = low + (high - low) * p / panels
    ends[panels] = high
    return ends


@njit(**INNER)
def _graded_panels(
    noise: NoiseCode,
    place: Floats,
    low: float,
    high: float,
    width: float,
    y: Floats,
    sharp: Floats,
) -> Floats:
    """Ends of panels that are narrow next to the sharp blocks, and end at every kink."""
    cuts = _cuts(noise, place, low, high)
    ends = np.empty(64)
    ends[0] = low
    count = 1
    for c in range(1, cuts.shape[0]):
        while ends[count - 1] < cuts[c]:
            t = ends[count - 1]
            step = width
            for b in range(y.shape[0]):
                step = min(step, max(sharp[b], 0.4 * abs(t - y[b])))
            left = cuts[c] - t
            ends_here = left <= step * (1.0 + 1e-9) or t + step == t
            following = cuts[c] if ends_here else t + min(step, 0.5 * left)
            if count == ends.shape[0]:
                longer = np.empty(2 * count)
                longer[:count] = ends
                ends = longer
            ends[count] = following
            count += 1
    return ends[:count]


@njit(**INNER)
def _lay_panels(
    noise: NoiseCode,
    place: Floats,
    k: int,
    first: Offsets,
    y: Floats,
    blocks: int,
    tilt: Floats,
    span: Offsets,
) -> tuple[Floats, Floats]:
    """Panels (middle and half width) over the windows of all blocks, and each block's own span.

    Windows that overlap share panels; far apart, there is nothing between them: L and U are
    constant there. Fills `tilt` and ``span[b] = (first panel, last panel + 1)``.
    """
    crowd = np.empty(blocks)
    left, right, sharp = np.empty(blocks), np.empty(blocks), np.empty(blocks)
    _count_crowds(place, k, first, y, blocks, CROWD_REACH * noise.width, crowd)
    for b in range(blocks):
        width = _panel_width(noise, crowd[b])
        _tilts(noise, place, k, first[b], first[b + 1], y[b], 0.5 * width, tilt)
        if noise.family == NORMAL:
            left[b], right[b] = y[b] - WINDOW, y[b] + WINDOW
        else:
            left[b] = _left_end(noise, place, k, first[b], first[b + 1], y[b], tilt)
            right[b] = _right_end(noise, place, first[b], first[b + 1], y[b], tilt)
            sharp[b] = _sharpest(
                noise, place, k, first[b], first[b + 1], y[b], width, crowd[b], tilt
            )
    middle, half, count = np.empty(64), np.empty(64), 0
    b = blocks
    while b > 0:
        c = b - 1
        low, high, most = left[c], right[c], crowd[c]
        while c > 0 and left[c - 1] <= high:
            c -= 1
            low, high, most = min(low, left[c]), max(high, right[c]), max(most, crowd[c])
        width = _panel_width(noise, most)
        if noise.family == NORMAL:
            ends = _even_panels(low, high, width)
        else:
            ends = _graded_panels(noise, place, low, high, width, y[c:b], sharp[c:b])
        panels = ends.shape[0] - 1
        for d in range(c, b):
            before = max(int(np.searchsorted(ends, left[d], side="right")) - 1, 0)
            after = min(int(np.searchsorted(ends, right[d], side="left")), panels)
            if noise.family == NORMAL:
                before, after = before // 4 * 4, -(-after // 4) * 4
            span[d, 0], span[d, 1] = count + before, count + after
        if count + panels > middle.shape[0]:
            longer = 2 * (count + panels)
            middle = np.concatenate((middle[:count], np.empty(longer - count)))
            half = np.concatenate((half[:count], np.empty(longer - count)))
        for p in range(panels):
            middle[count + p] = 0.5 * (ends[p + 1] + ends[p])
            half[count + p] = 0.5 * (ends[p + 1] - ends[p])
        if noise.family == NORMAL:
            half[count : count + panels] = 0.5 * (high - low) / panels
        count += panels
        b = c
    return middle, half


# The chain itself. Arrays of values at nodes have a row for each node, a column for each panel.


@njit(**INNER, fastmath=EXACT_ORDER)
def _fill_nodes(middle: Floats, half: Floats, span: Offsets, y: float, nodes: Floats) -> None:
    """The nodes of a span of panels, from y; columns that are not in use get 0."""
    nodes[:] = 0.0
    for i in range(NODES):
        for p in range(span[1] - span[0]):
            nodes[i, p] = (middle[span[0] + p] - y) + half[span[0] + p] * GAUSS_X[i]


@njit(**INNER, fastmath=EXACT_ORDER)
def _tilted_density(
    noise: NoiseCode, m: float, y: float, lean: float, nodes: Floats, g: Floats
) -> float:
    """Fill ``g = e^(-lean (t - y)) f(t - m)`` up to a constant, whose logarithm is returned."""
    offset, values = nodes.reshape(nodes.size), g.reshape(g.size)
    if noise.family == NORMAL:
        shift = (m - y) - lean  # the square is completed: g is a bell around y + shift
        for i in range(offset.shape[0]):
            d = offset[i] - shift
            values[i] = _exp_minus(0.5 * d * d)
        return -0.5 * (y - m) * (y - m) + 0.5 * shift * shift - LOG_ROOT_2_PI
    peak = _log_density(noise, y - m)
    peak = peak if peak > -np.inf else 0.0
    for i in range(offset.shape[0]):
        log_f = _log_density(noise, offset[i] + (y - m))
        values[i] = np.exp(log_f - lean * offset[i] - peak)
    return float(peak)


@njit(**INNER, fastmath=EXACT_ORDER)
def _tilted_rest(
    noise: NoiseCode,
    place: Floats,
    k: int,
    y: float,
    lean: float,
    nodes: Floats,
    below: Floats,
    hazard: Floats,
) -> float:
    """Fill ``below = e^(-lean (t - y)) L_{k+1}(t)``, scaled to at most 1; return the logarithm.

    Fills the hazards ``f_q / F_q`` as well, for each item of the rest.
    """
    size = nodes.size
    offset, log_l, x = nodes.reshape(size), below.reshape(size), np.empty(size)
    product = np.ones(size)
    for i in range(size):
        log_l[i] = -lean * offset[i]
    if noise.family == NORMAL:
        square, factor = np.empty(size), np.empty(size)
        for q in range(k, place.shape[0]):
            for i in range(size):
                x[i] = offset[i] + (y - place[q])
            _normal_below(x, size, square, factor, hazard[q - k].reshape(size))
            for i in range(size):
                log_l[i] -= square[i]
                product[i] *= factor[i]
            if (q - k) % 16 == 15:
                for i in range(size):
                    log_l[i] += np.log(product[i])
                    product[i] = 1.0
    else:
        for q in range(k, place.shape[0]):
            rate = hazard[q - k].reshape(size)
            for i in range(size):
                log_below = _log_below(noise, offset[i] + (y - place[q]))
                log_l[i] += log_below
                log_rate = _log_density(noise, offset[i] + (y - place[q])) - log_below
                rate[i] = np.exp(log_rate) if log_below > -np.inf else 0.0
    top = np.max(log_l)
    for i in range(size):
        log_l[i] = product[i] * _exp_minus(top - log_l[i])
    return float(top)


@njit(**INNER, fastmath=EXACT_ORDER)
def _running_integral(
    decay: float,
    half: Floats,
    span: Offsets,
    backwards: bool,
    source: Floats,
    out: Floats,
    tables: Floats,
    moments: Floats,
) -> float:
    """``int e^(-decay |t - v|) source(v) dv`` over v below t (above, if backwards); its end.

    `tables` holds the weights without decay and those for the last other one, which is
    remembered in the corner of `moments`.
    """
    panels = span[1] - span[0]
    way = 1 if backwards else 0
    which = way
    if decay > 0.0:
        which = 2 + way
        for p in range(span[0], span[1]):
            if half[p] != half[span[0]]:
                return float(
                    _uneven_integral(decay, half, span, backwards, source, out, tables, moments)
                )
        _know_decay(decay * half[span[0]], tables, moments)
    _integrate_panels(tables[which], half, span[0], panels, source, out)
    left, starts, start = tables[which, NODES], out[NODES], 0.0
    for n in range(panels):
        p = panels - 1 - n if backwards else n
        whole = starts[p]
        starts[p] = start
        start = start * left[NODES] + whole
    for i in range(NODES):
        part, row = left[i], out[i]
        for p in range(panels):
            row[p] += part * starts[p]
    return start


@njit(**INNER)
def _know_decay(turn: float, tables: Floats, moments: Floats) -> None:
    """Have the weights for the decay per half panel in the last two tables."""
    if turn != moments[ORDERS, NODES + 1]:
        _decaying_integrals(turn, moments, tables[2], tables[3])
        moments[ORDERS, NODES + 1] = turn


@njit(**INNER, fastmath=EXACT_ORDER)
def _uneven_integral(
    decay: float,
    half: Floats,
    span: Offsets,
    backwards: bool,
    source: Floats,
    out: Floats,
    tables: Floats,
    moments: Floats,
) -> float:
    """`_running_integral` with decay over panels of different widths, one by one."""
    panels = span[1] - span[0]
    start = 0.0
    for n in range(panels):
        p = panels - 1 - n if backwards else n
        width = half[span[0] + p]
        _know_decay(decay * width, tables, moments)
        weights = tables[3] if backwards else tables[2]
        for i in range(NODES + 1):
            total = 0.0
            for j in range(NODES):
                total += weights[j, i] * source[j, p]
            out[i, p] = width * total + start * weights[NODES, i]
        start = out[NODES, p]
    return start


@njit(**INNER, fastmath=EXACT_ORDER)
def _carry(
    values: Floats,
    own: Offsets,
    end: float,
    decay: float,
    upwards: bool,
    other: Offsets,
    out: Floats,
) -> float:
    """Scale values to at most 1, and carry them from one span of panels to another.

    Beyond their own span they stay at their end value, before it they are 0. Returns the divisor.
    What is far too small to matter becomes 0: numbers next to underflow are slow to compute with.
    """
    top = max(end, SMALLEST_CHANCE)  # without decay an integral is largest at its end
    if decay > 0.0:
        for i in range(NODES):
            for p in range(own[1] - own[0]):
                top = max(top, values[i, p])
    inverse = 1.0 / top
    same_from, same_to = max(own[0], other[0]), min(own[1], other[1])
    if same_from > other[0] or same_to < other[1]:
        for p in range(other[1] - other[0]):
            out[:, p] = end * inverse if (p + other[0] >= own[1]) == upwards else 0.0
    for i in range(NODES):
        here, there = out[i, same_from - other[0] :], values[i, same_from - own[0] :]
        for p in range(same_to - same_from):
            scaled = there[p] * inverse
            here[p] = scaled if abs(scaled) > NOTHING else 0.0
    return top


@njit(**INNER, fastmath=FAST)
def _panel_sum(half: Floats, p0: int, p1: int, one: Floats, a: int, other: Floats, b: int) -> float:
    """``int one(t) other(t) dt`` over the panels p0..p1-1, columns a.. of one and b.. of other."""
    total = 0.0
    width = half[p0:p1]
    for i in range(NODES):
        left, right = one[i, a:], other[i, b:]
        part = 0.0
        for p in range(p1 - p0):
            part += width[p] * left[p] * right[p]
        total += GAUSS_W[i] * part
    return total


@njit(**INNER, fastmath=EXACT_ORDER)
def _multiply(one: Floats, other: Floats, panels: int, out: Floats) -> None:
    """The product at all nodes."""
    for i in range(NODES):
        for p in range(panels):
            out[i, p] = one[i, p] * other[i, p]


@njit(**INNER)
def _chain(noise: NoiseCode, place: Floats, k: int, slope: Floats) -> float:
    """``-log P`` and its gradient, the last item or more below k ranked ones; see above."""
    first, y, tilt = np.empty(k + 1, dtype=np.int64), np.empty(k), np.zeros(k + 1)
    blocks = _pool(noise, place, k, first, y)
    spans = np.empty((blocks, 2), dtype=np.int64)
    middle, half = _lay_panels(noise, place, k, first, y, blocks, tilt, spans)
    block, columns = np.empty(k, dtype=np.int64), 0
    for b in range(blocks):
        block[first[b] : first[b + 1]] = b
        columns = max(columns, spans[b, 1] - spans[b, 0])
    tables, moments = np.empty((4, NODES + 1, NODES + 1)), np.zeros((ORDERS + 1, NODES + 2))
    tables[0], tables[1] = PLAIN_FORTH, PLAIN_BACK
    g, inner = np.empty((k, NODES, columns)), np.empty((k, NODES, columns))
    running, carried = np.empty((NODES + 1, columns)), np.empty((NODES, columns))
    product, nodes, shrunk = np.empty((NODES, columns)), np.empty((NODES, columns)), np.ones(k)

    # 1. From the last item to the first: L, of which only inner_j = g_j L_{j+1} is kept.
    _fill_nodes(middle, half, spans[blocks - 1], y[blocks - 1], nodes)
    hazard = np.empty((place.shape[0] - k, NODES, columns))
    log_p = _tilted_rest(noise, place, k, y[blocks - 1], tilt[k], nodes, carried, hazard)
    for j in range(k - 1, -1, -1):
        span = spans[block[j]]
        panels = span[1] - span[0]
        if j < k - 1 and block[j] != block[j + 1]:
            _fill_nodes(middle, half, span, y[block[j]], nodes)
        log_p += _tilted_density(noise, place[j], y[block[j]], tilt[j] - tilt[j + 1], nodes, g[j])
        _multiply(g[j], carried, panels, inner[j])
        end = _running_integral(tilt[j], half, span, False, inner[j], running, tables, moments)
        if j > 0:
            shrunk[j] = _carry(running, span, end, tilt[j], True, spans[block[j - 1]], carried)
        else:
            shrunk[j] = max(end, SMALLEST_CHANCE)
        log_p += np.log(shrunk[j])

    # 2. From the first to the last: U, and the coincidences of neighbours.
    slope[:] = 0.0
    carried[:] = 1.0
    for j in range(k):
        span = spans[block[j]]
        panels = span[1] - span[0]
        total = _panel_sum(half, span[0], span[1], carried, 0, inner[j], 0)
        total = max(total, SMALLEST_CHANCE)
        if j == k - 1:
            _multiply(carried, inner[j], panels, product)
            for q in range(k, place.shape[0]):
                meet = _panel_sum(half, span[0], span[1], product, 0, hazard[q - k], 0) / total
                slope[j] -= meet
                slope[q] += meet
            break
        _multiply(carried, g[j], panels, product)
        below = spans[block[j + 1]]
        p0, p1 = max(span[0], below[0]), min(span[1], below[1])
        if p0 < p1:
            both = _panel_sum(half, p0, p1, product, p0 - span[0], inner[j + 1], p0 - below[0])
            meet = both / (total * shrunk[j + 1])
            slope[j] -= meet
            slope[j + 1] += meet
        end = _running_integral(tilt[j + 1], half, span, True, product, running, tables, moments)
        _carry(running, span, end, tilt[j + 1], False, below, carried)
    return float(max(-log_p, 0.0))


@njit(**COMPILED)
def chain_pass(noise: NoiseCode, place: Floats, ranked: int, slope: Floats) -> float:
    """``-log P(y_1 > ... > y_ranked > max of the rest)``; fills its gradient in the places.

    Of hundreds of items in the opposite order P is too small for any number to hold. There, the
    value goes on as a straight line from as far on the way out as it can be worked out: no answer
    is there, but a search may begin there and must find its way back.
    """
    value = _chain_pass(noise, place, ranked, slope)
    part = 1.0
    while not (np.isfinite(value) and np.isfinite(slope).all()) and part > NEARLY_NOTHING:
        part *= 0.5
        value = _chain_pass(noise, part * place, ranked, slope)
    return float(value + (1.0 - part) * (slope @ place)) if part < 1.0 else float(value)


@njit(**COMPILED)
def _chain_pass(noise: NoiseCode, place: Floats, ranked: int, slope: Floats) -> float:
    """The same, as far as numbers hold it.

    A table of a density ends somewhere, so that P would be 0 far out of order. There, an item more
    than `NoiseCode.farthest` = G below a worse one is lifted to G below it, and what the lift
    hides is added from the pair: ``c (h(gap) - h(G))`` with ``h(t) = -log F(-t)`` of the
    difference, which goes on as a parabola. So the value is continuous and rises with each such
    gap, and the gradient is the value's own. For two items c = 1, which gives the pair's value; in
    a list c = 2, since there one item may have to do alone what two share in a pair, and the
    slope must not fall where the lift begins: the value would not be convex.
    """
    items = place.shape[0]
    k = min(ranked, items - 1)
    if k < 1:
        slope[:] = 0.0
        return 0.0
    if noise.family != TABLE:
        return float(_chain(noise, place, k, slope))
    lifted, best = place.copy(), np.full(k, -1, dtype=np.int64)
    top = k + int(np.argmax(place[k:]))
    extra, share = 0.0, 1.0 if items == 2 else 2.0
    for j in range(k - 1, -1, -1):
        if place[j] < place[top] - noise.farthest:
            lifted[j] = place[top] - noise.farthest
            best[j] = top
        if place[j] > place[top]:
            top = j
    value = _chain(noise, lifted, k, slope)
    for j in range(k):
        if best[j] >= 0:
            gap = place[best[j]] - place[j]
            over, push = _pair_tail(noise, gap)
            push *= share
            extra += share * (over - _pair_tail(noise, noise.farthest)[0])
            slope[best[j]] += slope[j] + push
            slope[j] = -push
    return float(value + extra)


@njit(**INNER)
def _pair_tail(noise: NoiseCode, t: float) -> tuple[float, float]:
    """``h(t) = -log F(-t)`` and ``h'(t)`` from the table of the difference."""
    row = _table_row(noise, t)
    u = t - noise.knots[row]
    c = noise.table[row]
    value = ((c[3] * u + c[2]) * u + c[1]) * u + c[0]
    return value, (3.0 * c[3] * u + 2.0 * c[2]) * u + c[1]


# --- lists of more than two items ----------------------------------------------------------------


@njit(**INNER)
def _list_along(
    place: Floats, direction: Floats, level: Integers, ranked: int, effects: Effects, u: int
) -> tuple[float, float, float]:
    """``-log P`` of a judge's list, and two derivatives along a direction of the places."""
    tie = _own_tie(effects, u)
    if effects.as_one:
        value, slope, bend = _as_one_along(place, direction, level, ranked, tie[0])
    elif effects.sizes.shape[0]:
        value, slope, bend = _tied_along(place, direction, level, ranked, effects.sizes, tie)
    else:
        value, slope, bend = _luce_along(place, direction, ranked)
    return value, slope, bend


@njit(**INNER)
def _list_pass(
    place: Floats,
    level: Integers,
    ranked: int,
    effects: Effects,
    u: int,
    slope: Floats,
    tie_slope: Floats,
) -> float:
    """``-log P`` of a judge's list; sets its slope in the places and adds to that in the ties."""
    tie = _own_tie(effects, u)
    if effects.as_one:
        return float(_as_one_pass(place, level, ranked, tie[0], slope, tie_slope))
    if effects.sizes.shape[0]:
        return float(_tied_pass(place, level, ranked, effects.sizes, tie, slope, tie_slope))
    return float(_luce_pass(place, ranked, slope))


@njit(**INNER)
def _list_hessian(
    place: Floats,
    level: Integers,
    ranked: int,
    effects: Effects,
    u: int,
    slope: Floats,
    tie_slope: Floats,
    hessian: Floats,
) -> None:
    """Set the slope in the places, and second derivatives in them and, after them, in the ties."""
    sizes, tie = effects.sizes, _own_tie(effects, u)
    size = place.shape[0] + sizes.shape[0]
    hessian[:size, :size] = 0.0
    if effects.as_one:
        _as_one_hessian(place, level, ranked, tie[0], slope, tie_slope, hessian)
    elif sizes.shape[0]:
        _tied_hessian(place, level, ranked, sizes, tie, slope, tie_slope, hessian)
    else:
        _luce_hessian(place, ranked, slope, hessian)


@njit(**COMPILED)
def list_losses(
    lists: Lists,
    effects: Effects,
    score: Floats,
    accuracy: Floats,
    taste: Floats,
    loss: Floats,
) -> None:
    """Set ``-log P`` of every list, weights left out, with places ``accuracy score + taste``."""
    longest = _longest(lists)
    spot, slope, tie_slope = np.empty(longest), np.empty(longest), np.empty(effects.sizes.shape[0])
    for u in range(lists.start.shape[0] - 1):
        for k in range(lists.start[u], lists.start[u + 1]):
            a, b = lists.begin[k], lists.begin[k + 1]
            for e in range(a, b):
                i = lists.item[e]
                spot[e - a] = accuracy[u] * score[i] + taste[i]
            loss[k] = _list_pass(
                spot[: b - a], lists.level[a:b], lists.ranked[k], effects, u, slope, tie_slope
            )


@njit(**COMPILED)
def chain_terms(
    noise: NoiseCode,
    lists: Lists,
    which: Offsets,
    place: Floats,
    value: Floats,
    slope: Floats,
) -> None:
    """Set ``-log P`` of some of the lists, by the chain, and its slope in the places.

    `place` and `slope` have an entry for each of `lists.item`.
    """
    for k in which:
        a, b = lists.begin[k], lists.begin[k + 1]
        value[k] = chain_pass(noise, place[a:b], lists.ranked[k], slope[a:b])


@njit(**COMPILED)
def luce_terms(
    lists: Lists,
    which: Offsets,
    place: Floats,
    direction: Floats,
    slope: Floats,
    bend: Floats,
) -> None:
    """Set slopes in the places under Gumbel noise, and second derivatives along a direction."""
    for k in which:
        a, b = lists.begin[k], lists.begin[k + 1]
        bend[k] = _luce_along(place[a:b], direction[a:b], lists.ranked[k])[2]
        _luce_pass(place[a:b], lists.ranked[k], slope[a:b])


@njit(**INNER)
def _longest(lists: Lists) -> int:
    """The largest number of items in a list."""
    longest = 0
    for k in range(lists.ranked.shape[0]):
        longest = max(longest, lists.begin[k + 1] - lists.begin[k])
    return longest


@njit(**COMPILED)
def list_agreement(lists: Lists, score: Floats, agreement: Floats, variance: Floats) -> None:
    """Per list: slope of the log-likelihood in an accuracy at 0, and its variance there.

    A choice of C from R adds ``mean of s over C - mean over R``; its variance under random choice
    is that of s in R, divided by the size of C.
    """
    for k in range(lists.ranked.shape[0]):
        a, b = lists.begin[k], lists.begin[k + 1]
        agreement[k] = 0.0
        variance[k] = 0.0
        j = a
        while j < a + lists.ranked[k] and b - j >= 2:
            count = _tied_with(lists.level[a:b], j - a, lists.ranked[k])
            total, square, own = 0.0, 0.0, 0.0
            for e in range(j, b):
                s = score[lists.item[e]]
                total += s
                square += s * s
                if e < j + count:
                    own += s
            mean = total / (b - j)
            agreement[k] += own / count - mean
            variance[k] += max(square / (b - j) - mean * mean, 0.0) / count
            j += count


# --- one judge's accuracy, given the scores ------------------------------------------------------


@njit(**INNER, inline="always")
def _weight(given: Floats, k: int) -> float:
    """The weight of a vote; without given ones, all are 1."""
    return float(given[k]) if given.shape[0] else 1.0


@njit(**PART)
def _some_weights(wins: Wins, a: int, b: int) -> Floats:
    """The weights of the votes from a to b; nothing if all are 1."""
    return wins.given_weight[a:b] if wins.given_weight.shape[0] else wins.given_weight


@njit(**PART, fastmath=FAST)
def _accuracy_sums(
    weight: Floats, a: int, gap: Floats, k: int, slope: Floats, bend: Floats
) -> tuple[float, float]:
    """``sum w g' gap`` and ``sum w g'' gap^2`` over k votes from a; without weights, all are 1."""
    slope_sum, bend_sum = 0.0, 0.0
    if weight.shape[0]:
        for i in range(k):
            pull = weight[a + i] * gap[i]
            slope_sum += pull * slope[i]
            bend_sum += pull * gap[i] * bend[i]
    else:
        for i in range(k):
            slope_sum += gap[i] * slope[i]
            bend_sum += gap[i] * gap[i] * bend[i]
    return slope_sum, bend_sum


@njit(**INNER, fastmath=EXACT_ORDER)
def _accuracy_derivatives(
    noise: NoiseCode, wins: Wins, a: int, gap: Floats, accuracy: float, scratch: Floats
) -> tuple[float, float]:
    """First and second derivative in the accuracy of ``sum w g(accuracy * gap)``, votes from a."""
    slope_sum, bend_sum = 0.0, 0.0
    x, odds, first, slope, bend = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for c in range(0, gap.shape[0], BLOCK):
        k = min(BLOCK, gap.shape[0] - c)
        for i in range(k):
            x[i] = accuracy * gap[c + i]
        _plain_terms(noise, x, k, odds, first, slope, bend)
        sums = _accuracy_sums(wins.given_weight, a + c, gap[c : c + k], k, slope, bend)
        slope_sum += sums[0]
        bend_sum += sums[1]
    return slope_sum, bend_sum


# --- pairs whose outcome depends on more than scores and accuracy --------------------------------
#
# With ``x = accuracy * gap + side * order`` and ``q = sqrt(F(x) F(-x))``, a pair that can be tied
# is won with probability ``F(x) / (1 + t q)`` and tied with probability ``t q / (1 + t q)``: for
# Gumbel noise Davidson's model, for any other its like. Decided votes follow ``F(x)`` as ever.


@njit(**INNER)
def _pair_terms(
    noise: NoiseCode, x: Floats, k: int, tied: NDArray[np.bool_], tie: float, terms: Floats
) -> None:
    """Fill, for each vote, the rows of `terms`: loss, its derivatives x, xx, tie, x-tie, tie-tie.

    Without `tied` (an empty array) votes cannot be tied, and the last three are 0.
    """
    odds, first, second, other = terms[6], terms[7], terms[8], terms[9]
    value, slope, bend = terms[0], terms[1], terms[2]
    terms[3, :k] = 0.0
    terms[4, :k] = 0.0
    terms[5, :k] = 0.0
    _tail(noise, x, k, odds, first, second)
    _values(noise, x, k, odds, first, value)
    _slopes(x, k, odds, first, slope)
    _bends(x, k, odds, first, second, bend)
    if not tied.shape[0]:
        return
    mirrored, value_of, slope_of, bend_of = other, terms[10], terms[11], terms[12]
    for i in range(k):
        mirrored[i] = -x[i]
    _values(noise, mirrored, k, odds, first, value_of)
    _slopes(mirrored, k, odds, first, slope_of)
    _bends(mirrored, k, odds, first, second, bend_of)
    for i in range(k):
        log_q = -0.5 * (value[i] + value_of[i])
        first_q = -0.5 * (slope[i] - slope_of[i])
        second_q = -0.5 * (bend[i] + bend_of[i])
        above = tie + log_q
        small = np.exp(-abs(above))
        loss = max(above, 0.0) + np.log1p(small)
        chance = (1.0 if above > 0.0 else small) / (1.0 + small)
        spread = small / ((1.0 + small) * (1.0 + small))
        if tied[i]:
            value[i] = loss - above
            slope[i] = (chance - 1.0) * first_q
            bend[i] = (chance - 1.0) * second_q + spread * first_q * first_q
            terms[3, i] = chance - 1.0
        else:
            value[i] += loss
            slope[i] += chance * first_q
            bend[i] += chance * second_q + spread * first_q * first_q
            terms[3, i] = chance
        terms[4, i] = spread * first_q
        terms[5, i] = spread


@njit(**INNER)
def _arguments(
    wins: Wins, a: int, gap: Floats, k: int, accuracy: float, order: float, x: Floats
) -> None:
    """``x = accuracy * gap + side * order`` for the votes from a."""
    for i in range(k):
        x[i] = accuracy * gap[i]
    if wins.side.shape[0]:
        for i in range(k):
            x[i] += wins.side[a + i] * order


@njit(**INNER)
def _some_tied(wins: Wins, a: int, b: int) -> NDArray[np.bool_]:
    """Which votes from a to b are ties; nothing if votes cannot be."""
    return wins.tied[a:b] if wins.tied.shape[0] else wins.tied


@njit(**INNER)
def _is_plain(wins: Wins) -> bool:
    """Whether nothing but scores and accuracies decides the pairs."""
    return bool(wins.tied.shape[0] == 0 and wins.side.shape[0] == 0)


@njit(**INNER)
def _own_order(effects: Effects, u: int) -> float:
    """What the left side gains with a judge."""
    if not effects.order.shape[0]:
        return 0.0
    return float(effects.order[u if effects.order.shape[0] > 1 else 0])


@njit(**INNER)
def _own_tie(effects: Effects, u: int) -> Floats:
    """How readily a judge ties groups of each size."""
    tie: Floats = effects.tie[u if effects.tie.shape[0] > 1 else 0]
    return tie


@njit(**INNER)
def _pair_tie(effects: Effects, u: int) -> float:
    """How readily a judge ties two items; it does not matter where it never does."""
    return float(_own_tie(effects, u)[0]) if effects.sizes.shape[0] else 0.0


# --- the objective: sums over judges -------------------------------------------------------------


@njit(**PART)
def _gather(wins: Wins, a: int, b: int, score: Floats, gap: Floats) -> None:
    """``gap = score[winner] - score[loser]`` for the votes from a to b.

    With unsigned indices numba does not look for negative ones, which count from the end.
    """
    winner, loser = wins.winner, wins.loser
    for i in range(b - a):
        gap[i] = score[np.uint32(winner[a + i])] - score[np.uint32(loser[a + i])]


@njit(**INNER)
def _most_votes(start: Offsets, first_judge: int, last_judge: int) -> int:
    """The largest number of votes any of these judges gave."""
    most = 0
    for u in range(first_judge, last_judge):
        most = max(most, start[u + 1] - start[u])
    return most


@njit(**INNER)
def _effects_derivatives(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects,
    u: int,
    gap: Floats,
    accuracy: float,
    scratch: Floats,
) -> tuple[float, float]:
    """As `_accuracy_derivatives` for one judge, where ties and sides may matter too."""
    a, b = wins.start[u], wins.start[u + 1]
    if _is_plain(wins):
        slope_sum, bend_sum = _accuracy_derivatives(noise, wins, a, gap[: b - a], accuracy, scratch)
        return slope_sum, bend_sum
    slope_sum, bend_sum = 0.0, 0.0
    x, terms = scratch[13], scratch
    for c in range(a, b, BLOCK):
        k = min(BLOCK, b - c)
        _arguments(wins, c, gap[c - a :], k, accuracy, _own_order(effects, u), x)
        _pair_terms(noise, x, k, _some_tied(wins, c, c + k), _pair_tie(effects, u), terms)
        for i in range(k):
            pull = _weight(wins.given_weight, c + i) * gap[c - a + i]
            slope_sum += pull * terms[1, i]
            bend_sum += pull * gap[c - a + i] * terms[2, i]
    return slope_sum, bend_sum


@njit(**INNER)
def _judge_derivatives(
    noise: NoiseCode,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    u: int,
    gap: Floats,
    spot: Floats,
    accuracy: float,
    scratch: Floats,
) -> tuple[float, float]:
    """First and second derivative of one judge's loss in its accuracy.

    `gap` has the differences of scores of its pairs, `spot` the scores of the items of its lists.
    """
    a, b = wins.start[u], wins.start[u + 1]
    slope_sum, bend_sum = 0.0, 0.0
    if effects is None:
        slope_sum, bend_sum = _accuracy_derivatives(noise, wins, a, gap[: b - a], accuracy, scratch)
    else:
        slope_sum, bend_sum = _effects_derivatives(noise, wins, effects, u, gap, accuracy, scratch)
        if lists is not None:
            for k in range(lists.start[u], lists.start[u + 1]):
                place, score, level = _list_of(lists, u, k, spot, accuracy)
                _, slope, bend = _list_along(place, score, level, lists.ranked[k], effects, u)
                slope_sum += lists.weight[k] * slope
                bend_sum += lists.weight[k] * bend
    return slope_sum, bend_sum


@njit(**INNER)
def _list_of(
    lists: Lists, u: int, k: int, spot: Floats, accuracy: float
) -> tuple[Floats, Floats, Integers]:
    """Places, scores and levels of the items of a list."""
    a, b, origin = lists.begin[k], lists.begin[k + 1], lists.begin[lists.start[u]]
    score = spot[a - origin : b - origin]
    return accuracy * score, score, lists.level[a:b]


@njit(**INNER)
def _gather_lists(lists: Lists, u: int, score: Floats, spot: Floats) -> None:
    """The scores of the items of a judge's lists, one list after the other."""
    a, b = lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]]
    for e in range(a, b):
        spot[e - a] = score[lists.item[e]]


@njit(**INNER)
def _most_entries(lists: Lists, first_judge: int, last_judge: int) -> int:
    """The largest number of items in the lists of any of these judges."""
    most = 0
    for u in range(first_judge, last_judge):
        most = max(most, lists.begin[lists.start[u + 1]] - lists.begin[lists.start[u]])
    return most


@njit(**INNER)
def _next_accuracy(
    rule: AccuracyRule, accuracy: float, slope: float, bend: float, search: Floats
) -> tuple[float, bool]:
    """One step towards the accuracy at which the slope is 0; whether it was the last one.

    The problem is convex: Newton steps inside a shrinking bracket, bisection where they leave it
    or no longer halve the slope. `search` holds the ends of the bracket, NaN for one at which the
    slope has not been seen yet, and the size of the last slope.
    """
    if slope == 0.0:
        return accuracy, True
    search[1 if slope > 0.0 else 0] = accuracy
    low = -rule.bound if np.isnan(search[0]) else search[0]
    high = rule.bound if np.isnan(search[1]) else search[1]
    if low >= high:
        return accuracy, True
    move = -slope / bend if bend > 0.0 else np.copysign(np.inf, -slope)
    longest = 2.0 * (1.0 + abs(accuracy))
    proposal = accuracy + min(max(move, -longest), longest)
    small = abs(move) < NEWTON_SMALL * (1.0 + abs(accuracy))
    if small and abs(move) * np.sqrt(bend) < NEWTON_TOLERANCE:
        return float(min(max(proposal, low), high)), True
    both_seen = not (np.isnan(search[0]) or np.isnan(search[1]))
    slow = both_seen and abs(slope) > 0.5 * search[2]
    if proposal >= high and np.isnan(search[1]):
        proposal = high
    elif proposal <= low and np.isnan(search[0]):
        proposal = low
    elif slow or proposal >= high or proposal <= low:
        proposal = 0.5 * (low + high)
    search[2] = abs(slope)
    return float(proposal), False


@njit(**INNER)
def _best_accuracy(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    u: int,
    gap: Floats,
    spot: Floats,
    guess: float,
    scratch: Floats,
) -> float:
    """Minimise a judge's loss + precision/2 (accuracy - mean)^2 within the bound, scores given."""
    accuracy = float(min(max(guess, -rule.bound), rule.bound))
    search = np.array([np.nan, np.nan, np.inf])
    for _ in range(NEWTON_STEPS):
        slope, bend = _judge_derivatives(
            noise, wins, lists, effects, u, gap, spot, accuracy, scratch
        )
        slope += rule.precision * (accuracy - rule.mean)
        accuracy, done = _next_accuracy(rule, accuracy, slope, bend + rule.precision, search)
        if done:
            break
    return accuracy


@njit(**COMPILED)
def next_accuracies(
    rule: AccuracyRule,
    judges: Offsets,
    accuracy: Floats,
    slope: Floats,
    bend: Floats,
    search: Floats,
    done: NDArray[np.bool_],
) -> None:
    """One step of the search for the best accuracy of each of the judges."""
    for u in judges:
        accuracy[u], done[u] = _next_accuracy(rule, accuracy[u], slope[u], bend[u], search[u])


@njit(**COMPILED)
def pair_derivatives(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    judges: Offsets,
    score: Floats,
    accuracy: Floats,
    slope: Floats,
    bend: Floats,
) -> None:
    """Set the derivatives in its accuracy of the loss of the pairs of each of the judges."""
    gap = np.empty(_most_votes(wins.start, 0, wins.start.shape[0] - 1))
    scratch = np.empty((14, BLOCK))
    for u in judges:
        _gather(wins, wins.start[u], wins.start[u + 1], score, gap)
        slope[u], bend[u] = _judge_derivatives(
            noise, wins, None, effects, u, gap, gap, accuracy[u], scratch
        )


@njit(**PART, fastmath=FAST)
def _moment(weight: Floats, a: int, slope: Floats, gap: Floats, k: int) -> float:
    """``sum w slope gap`` over the votes from a; without weights, all are 1."""
    moment = 0.0
    if weight.shape[0]:
        for i in range(k):
            moment += weight[a + i] * slope[i] * gap[i]
    else:
        for i in range(k):
            moment += slope[i] * gap[i]
    return moment


@njit(**PART, fastmath=EXACT_ORDER)
def _scatter(wins: Wins, a: int, k: int, factor: float, slope: Floats, score_slope: Floats) -> None:
    """Add ``factor w slope`` of the votes from a to the winners', and take it from the losers'."""
    winner, loser = wins.winner, wins.loser
    for i in range(wins.given_weight.shape[0] and k):
        slope[i] *= wins.given_weight[a + i]
    for i in range(k):
        pull = factor * slope[i]
        score_slope[np.uint32(winner[a + i])] += pull
        score_slope[np.uint32(loser[a + i])] -= pull


class Kept(NamedTuple):
    """What is known of each of a run of votes, while one judge's are worked on."""

    gap: Floats
    x: Floats
    odds: Floats
    first: Floats
    slope: Floats
    bend: Floats
    spare: Floats


@njit(**INNER)
def _room(votes: int) -> Kept:
    """Room for so many votes."""
    return Kept(
        np.empty(votes), np.empty(votes), np.empty(votes), np.empty(votes), np.empty(votes),
        np.empty(votes), np.empty(votes),
    )  # fmt: skip


@njit(**PART, fastmath=EXACT_ORDER)
def _terms_at(noise: NoiseCode, accuracy: float, k: int, kept: Kept) -> None:
    """Work out the terms of a run of votes whose gaps are there."""
    for i in range(k):
        kept.x[i] = accuracy * kept.gap[i]
    _plain_terms(noise, kept.x, k, kept.odds, kept.first, kept.slope, kept.bend)


@njit(**PART)
def _judge_pass(
    noise: NoiseCode,
    wins: Wins,
    a: int,
    b: int,
    score: Floats,
    accuracy: float,
    score_slope: Floats,
    kept: Kept,
) -> tuple[float, float]:
    """Value and slope in the accuracy of one judge's votes; adds to the slope in the scores."""
    total, accuracy_slope = 0.0, 0.0
    for c in range(a, b, KEPT):
        k = min(KEPT, b - c)
        _gather(wins, c, c + k, score, kept.gap)
        _terms_at(noise, accuracy, k, kept)
        total += _value_sum(
            noise, wins.given_weight, c, kept.x, k, kept.odds, kept.first, kept.spare
        )
        accuracy_slope += _moment(wins.given_weight, c, kept.slope, kept.gap, k)
        _scatter(wins, c, k, accuracy, kept.slope, score_slope)
    return total, accuracy_slope


@njit(**PART, fastmath=EXACT_ORDER)
def _free_judge_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    a: int,
    b: int,
    score: Floats,
    guess: float,
    score_slope: Floats,
    kept: Kept,
    search: Floats,
) -> tuple[float, float, float]:
    """The best accuracy of a judge of plain pairs; value and slope there as by `_judge_pass`.

    The last Newton step is so small that nothing need be worked out anew after it: with ``d`` what
    it adds to a vote's argument, ``g(x + d) = g + g' d + g'' d^2 / 2`` and
    ``g'(x + d) = g' + g'' d``.
    """
    accuracy = float(min(max(guess, -rule.bound), rule.bound))
    search[0], search[1], search[2] = np.nan, np.nan, np.inf
    for _ in range(NEWTON_STEPS):
        slope_sum, bend_sum = 0.0, 0.0
        for c in range(a, b, KEPT):
            k = min(KEPT, b - c)
            if np.isinf(search[2]) or b - a > KEPT:
                _gather(wins, c, c + k, score, kept.gap)
            _terms_at(noise, accuracy, k, kept)
            sums = _accuracy_sums(wins.given_weight, c, kept.gap, k, kept.slope, kept.bend)
            slope_sum += sums[0]
            bend_sum += sums[1]
        proposal, done = _next_accuracy(
            rule, accuracy, slope_sum + rule.precision * (accuracy - rule.mean),
            bend_sum + rule.precision, search,
        )  # fmt: skip
        if done and b - a <= KEPT:
            move, k = proposal - accuracy, b - a
            total = move * (slope_sum + 0.5 * move * bend_sum)
            total += _value_sum(
                noise, wins.given_weight, a, kept.x, k, kept.odds, kept.first, kept.spare
            )
            for i in range(k):
                kept.slope[i] += kept.bend[i] * kept.gap[i] * move
            _scatter(wins, a, k, proposal, kept.slope, score_slope)
            return proposal, total, slope_sum + move * bend_sum
        accuracy = proposal
        if done:
            break
    value, own_slope = _judge_pass(noise, wins, a, b, score, accuracy, score_slope, kept)
    return accuracy, value, own_slope


@njit(**INNER)
def _plain_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    score_slope: Floats,
    judge_value: Floats,
    accuracy_slope: Floats,
) -> float:
    """`votes_pass` where there is nothing but plain pairs."""
    start = wins.start
    kept = _room(min(KEPT, _most_votes(start, first_judge, last_judge)))
    search = np.empty(3)
    total = 0.0
    for u in range(first_judge, last_judge):
        a, b = start[u], start[u + 1]
        if rule.free:
            accuracy[u], value, accuracy_slope[u] = _free_judge_pass(
                noise, rule, wins, a, b, score, accuracy[u], score_slope, kept, search
            )
        else:
            value, accuracy_slope[u] = _judge_pass(
                noise, wins, a, b, score, accuracy[u], score_slope, kept
            )
        judge_value[u] = value
        total += value
    return total


@njit(**INNER)
def _effects_pass(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects,
    u: int,
    gap: Floats,
    score: Floats,
    accuracy: float,
    score_slope: Floats,
    tie_slope: Floats,
    order_slope: Floats,
    scratch: Floats,
    kept: Kept,
) -> tuple[float, float]:
    """As `_judge_pass`, where ties and sides matter too."""
    a, b = wins.start[u], wins.start[u + 1]
    if _is_plain(wins):
        value, slope = _judge_pass(noise, wins, a, b, score, accuracy, score_slope, kept)
        return value, slope
    x, terms = scratch[13], scratch
    total, accuracy_slope = 0.0, 0.0
    for c in range(a, b, BLOCK):
        k = min(BLOCK, b - c)
        _arguments(wins, c, gap[c - a :], k, accuracy, _own_order(effects, u), x)
        _pair_terms(noise, x, k, _some_tied(wins, c, c + k), _pair_tie(effects, u), terms)
        for i in range(k):
            weight = _weight(wins.given_weight, c + i)
            total += weight * terms[0, i]
            accuracy_slope += weight * terms[1, i] * gap[c - a + i]
            score_slope[wins.winner[c + i]] += weight * accuracy * terms[1, i]
            score_slope[wins.loser[c + i]] -= weight * accuracy * terms[1, i]
        if wins.tied.shape[0]:
            for i in range(k):
                tie_slope[u, 0] += _weight(wins.given_weight, c + i) * terms[3, i]
        if wins.side.shape[0]:
            for i in range(k):
                weight = _weight(wins.given_weight, c + i)
                order_slope[u] += weight * wins.side[c + i] * terms[1, i]
    return total, accuracy_slope


@njit(**INNER)
def _lists_pass(
    lists: Lists,
    effects: Effects,
    u: int,
    spot: Floats,
    accuracy: float,
    score_slope: Floats,
    tie_slope: Floats,
) -> tuple[float, float]:
    """Value and slope in the accuracy of one judge's lists; adds to the other slopes."""
    total, accuracy_slope = 0.0, 0.0
    own_tie = np.zeros(effects.sizes.shape[0])
    for k in range(lists.start[u], lists.start[u + 1]):
        place, score, level = _list_of(lists, u, k, spot, accuracy)
        slope = np.empty(place.shape[0])
        own_tie[:] = 0.0
        value = _list_pass(place, level, lists.ranked[k], effects, u, slope, own_tie)
        weight = lists.weight[k]
        total += weight * value
        for i in range(place.shape[0]):
            accuracy_slope += weight * slope[i] * score[i]
            score_slope[lists.item[lists.begin[k] + i]] += weight * accuracy * slope[i]
        for t in range(own_tie.shape[0]):
            tie_slope[u, t] += weight * own_tie[t]
    return total, accuracy_slope


@njit(**COMPILED)
def votes_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    score_slope: Floats,
    judge_value: Floats,
    accuracy_slope: Floats,
    tie_slope: Floats,
    order_slope: Floats,
) -> float:
    """One pass over the votes of some judges: value and gradients of their likelihood.

    For plain pairs the value is ``sum_u sum_k w_k g(accuracy_u (score_winner - score_loser))``.
    `score_slope` is added to; what belongs to single judges (`judge_value`, the parts of the value;
    `accuracy_slope`; `tie_slope`, a column per size; `order_slope`) is set, and so is `accuracy`
    where the rule leaves it free: to the minimum of value and prior given the scores. The prior is
    not part of value and slopes.
    """
    if effects is None:
        return float(
            _plain_pass(
                noise, rule, wins, first_judge, last_judge,
                score, accuracy, score_slope, judge_value, accuracy_slope,
            )
        )  # fmt: skip
    gap = np.empty(_most_votes(wins.start, first_judge, last_judge))
    kept = _room(min(KEPT, gap.shape[0]))
    spot = np.empty(0)
    if lists is not None:
        spot = np.empty(_most_entries(lists, first_judge, last_judge))
    scratch = np.empty((14, BLOCK))
    total = 0.0
    for u in range(first_judge, last_judge):
        _gather(wins, wins.start[u], wins.start[u + 1], score, gap)
        if lists is not None:
            _gather_lists(lists, u, score, spot)
        tie_slope[u] = 0.0
        if wins.side.shape[0]:
            order_slope[u] = 0.0
        if rule.free:
            accuracy[u] = _best_accuracy(
                noise, rule, wins, lists, effects, u, gap, spot, accuracy[u], scratch
            )
        value, slope = _effects_pass(
            noise, wins, effects, u, gap, score, accuracy[u],
            score_slope, tie_slope, order_slope, scratch, kept,
        )  # fmt: skip
        if lists is not None:
            of_lists = _lists_pass(lists, effects, u, spot, accuracy[u], score_slope, tie_slope)
            value += of_lists[0]
            slope += of_lists[1]
        judge_value[u] = value
        accuracy_slope[u] = slope
        total += value
    return total


# --- plain sums over pairs -----------------------------------------------------------------------


@njit(**COMPILED)
def add_to_both(wins: Wins, factor: Floats, first: int, last: int, total: Floats) -> None:
    """Add to both items of every pair of some judges its weight times the judge's factor."""
    for u in range(first, last):
        for k in range(wins.start[u], wins.start[u + 1]):
            pull = factor[u] * _weight(wins.given_weight, k)
            total[wins.winner[k]] += pull
            total[wins.loser[k]] += pull


@njit(**COMPILED)
def count_wins(wins: Wins, first: int, last: int, counts: Floats) -> None:
    """Add the weight of every win with some judges to ``counts[winner, loser]``."""
    for k in range(wins.start[first], wins.start[last]):
        counts[wins.winner[k], wins.loser[k]] += _weight(wins.given_weight, k)


@njit(**COMPILED)
def pair_agreement(
    wins: Wins, counts: Floats, say: Floats, score: Floats, first: int, last: int
) -> tuple[float, float]:
    """Some judges' ``sum c q w d`` over decided pairs, and ``sum c q^2 w d^2``, d half the gap."""
    agreement, variance = 0.0, 0.0
    for u in range(first, last):
        own, own_square = 0.0, 0.0
        for k in range(wins.start[u], wins.start[u + 1]):
            half = 0.5 * (score[wins.winner[k]] - score[wins.loser[k]])
            weight = _weight(wins.given_weight, k)
            tied = wins.tied.shape[0] > 0 and wins.tied[k]
            own += 0.0 if tied else weight * half
            own_square += weight * half * half
        agreement += counts[u] * say[u] * own
        variance += counts[u] * say[u] * say[u] * own_square
    return agreement, variance


@njit(**COMPILED)
def elsewhere(wins: Wins, n_items: int, first: int, last: int, share: Floats) -> None:
    """The share of each judge's votes that are not on the item on which it has most votes."""
    seen = np.zeros(n_items)
    for u in range(first, last):
        most, total = 0.0, 0.0
        for k in range(wins.start[u], wins.start[u + 1]):
            weight = _weight(wins.given_weight, k)
            seen[wins.winner[k]] += weight
            seen[wins.loser[k]] += weight
            total += weight
            most = max(most, seen[wins.winner[k]], seen[wins.loser[k]])
        for k in range(wins.start[u], wins.start[u + 1]):
            seen[wins.winner[k]] = 0.0
            seen[wins.loser[k]] = 0.0
        share[u] = 1.0 - most / total if total > 0.0 else 1.0


# --- second derivatives --------------------------------------------------------------------------


@njit(**INNER, fastmath=EXACT_ORDER)
def _plain_bends(
    noise: NoiseCode,
    wins: Wins,
    a: int,
    k: int,
    score: Floats,
    accuracy: float,
    gap: Floats,
    mixed: Floats,
    bend: Floats,
    scratch: Floats,
) -> None:
    """As `_pair_bends`, where scores and accuracies alone decide."""
    x, odds, first, slope = scratch[0], scratch[1], scratch[2], scratch[3]
    _gather(wins, a, a + k, score, gap)
    for i in range(k):
        x[i] = accuracy * gap[i]
    _plain_terms(noise, x, k, odds, first, slope, bend)
    for i in range(k):
        mixed[i] = _weight(wins.given_weight, a + i) * (slope[i] + x[i] * bend[i])
    for i in range(k):
        bend[i] *= _weight(wins.given_weight, a + i)


@njit(**INNER, fastmath=EXACT_ORDER)
def _effect_bends(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects,
    u: int,
    a: int,
    k: int,
    score: Floats,
    accuracy: float,
    gap: Floats,
    mixed: Floats,
    bend: Floats,
    scratch: Floats,
) -> None:
    """As `_pair_bends`, where ties and sides may matter too."""
    if _is_plain(wins):
        _plain_bends(noise, wins, a, k, score, accuracy, gap, mixed, bend, scratch)
        return
    x, terms = scratch[13], scratch
    _gather(wins, a, a + k, score, gap)
    _arguments(wins, a, gap, k, accuracy, _own_order(effects, u), x)
    _pair_terms(noise, x, k, _some_tied(wins, a, a + k), _pair_tie(effects, u), terms)
    for i in range(k):
        bend[i] = _weight(wins.given_weight, a + i) * terms[2, i]
    for i in range(k):
        mixed[i] = _weight(wins.given_weight, a + i) * terms[1, i] + accuracy * gap[i] * bend[i]


@njit(**INNER)
def _pair_bends(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    u: int,
    a: int,
    k: int,
    score: Floats,
    accuracy: float,
    gap: Floats,
    mixed: Floats,
    bend: Floats,
    scratch: Floats,
) -> None:
    """Fill, for k votes of a judge from the a-th vote on, the gap and second derivatives.

    These are `mixed`, ``w (g' + accuracy gap g'')``, in gap and accuracy, and `bend`, ``w g''``,
    in ``accuracy gap``. Where ties and sides matter, `scratch` holds the rows of `_pair_terms`.
    """
    if effects is None:
        _plain_bends(noise, wins, a, k, score, accuracy, gap, mixed, bend, scratch)
    else:
        _effect_bends(noise, wins, effects, u, a, k, score, accuracy, gap, mixed, bend, scratch)


@njit(**INNER)
def _accuracy_bend(k: int, gap: Floats, bend: Floats) -> float:
    """``sum w gap^2 g''``: the part of ``C_u`` of some votes."""
    total = 0.0
    for i in range(k):
        total += gap[i] * gap[i] * bend[i]
    return total


@njit(**INNER)
def _add_mixed(wins: Wins, a: int, k: int, factor: float, mixed: Floats, column: Floats) -> None:
    """Add the part of ``factor b_u`` of the votes from a."""
    for i in range(k):
        column[wins.winner[a + i]] += factor * mixed[i]
        column[wins.loser[a + i]] -= factor * mixed[i]


@njit(**INNER)
def _pair_curvature(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    places: EffectPlaces,
    u: int,
    score: Floats,
    accuracy: float,
    work: Floats,
    scratch: Floats,
) -> float:
    """Add one judge's pairs to ``A``'s diagonal and to ``b_u``; their part of ``C_u``.

    These are the two columns of `work`.
    """
    gap, mixed, bend, terms = scratch[14], scratch[15], scratch[16], scratch
    own_bend = 0.0
    for c in range(wins.start[u], wins.start[u + 1], BLOCK):
        k = min(BLOCK, wins.start[u + 1] - c)
        _pair_bends(noise, wins, effects, u, c, k, score, accuracy, gap, mixed, bend, scratch)
        own_bend += _accuracy_bend(k, gap, bend)
        for i in range(k):
            up, down, stiffness = wins.winner[c + i], wins.loser[c + i], accuracy**2 * bend[i]
            work[up, 0] += stiffness
            work[up, 1] += mixed[i]
            work[down, 0] += stiffness
            work[down, 1] -= mixed[i]
        if effects is not None:
            if wins.side.shape[0]:
                for i in range(k):
                    side = wins.side[c + i]
                    for at in _touched(places.order, places.own_order, u):
                        work[at, 0] += side * side * bend[i]
                        work[at, 1] += side * gap[i] * bend[i]
            if wins.tied.shape[0]:
                for i in range(k):
                    weight = _weight(wins.given_weight, c + i)
                    for at in _touched(_tie_place(places, 0), places.own_tie, u):
                        work[at, 0] += weight * terms[5, i]
                        work[at, 1] += weight * gap[i] * terms[4, i]
    return own_bend


@njit(**INNER)
def _touched(common: int, own: int, u: int) -> tuple[int, int]:
    """Where an effect stands in the state: for all judges, and for one; the last place if none."""
    return common, own + u if own >= 0 else -1


@njit(**INNER)
def _tie_place(places: EffectPlaces, t: int) -> int:
    """Where the weight of ties of the t-th size stands in the state."""
    return places.tie + t if places.tie >= 0 else -1


@njit(**INNER)
def _lists_curvature(
    lists: Lists,
    likeness: Floats | None,
    effects: Effects,
    places: EffectPlaces,
    u: int,
    spot: Floats,
    accuracy: float,
    diagonal: Floats,
    cross: Floats,
    hessian: Floats,
) -> float:
    """Add one judge's lists to ``A``'s diagonal and to ``b_u``; their part of ``C_u``."""
    own_bend = 0.0
    kinds = effects.sizes.shape[0]
    unused = np.zeros(kinds)
    for k in range(lists.start[u], lists.start[u + 1]):
        place, score, level = _list_of(lists, u, k, spot, accuracy)
        h, size = place.shape[0], place.shape[0] + kinds
        slope = np.empty(h)
        if likeness is None:
            _list_hessian(place, level, lists.ranked[k], effects, u, slope, unused, hessian)
        else:
            hessian[:size, :size] = 0.0
            _luce_hessian(place, lists.ranked[k], slope, hessian)
            hessian[:h, :h] *= likeness[k]
        weight = lists.weight[k]
        for i in range(h):
            along = 0.0
            for o in range(h):
                along += hessian[i, o] * score[o]
            at = lists.item[lists.begin[k] + i]
            diagonal[at] += weight * accuracy * accuracy * hessian[i, i]
            cross[at] += weight * (slope[i] + accuracy * along)
            own_bend += weight * score[i] * along
        for t in range(kinds):
            along = 0.0
            for o in range(h):
                along += hessian[h + t, o] * score[o]
            common, own = _touched(_tie_place(places, t), places.own_tie, u)
            diagonal[common] += weight * hessian[h + t, h + t]
            diagonal[own] += weight * hessian[h + t, h:size].sum()
            cross[common] += weight * along
            cross[own] += weight * along
    return own_bend


@njit(**INNER)
def _items_of_judge(
    wins: Wins, lists: Lists | None, u: int, seen: NDArray[np.bool_], items: Offsets
) -> int:
    """List the items the judge voted on, each once; how many there are."""
    count = 0
    for k in range(wins.start[u], wins.start[u + 1]):
        for item in (wins.winner[k], wins.loser[k]):
            if not seen[item]:
                seen[item] = True
                items[count] = item
                count += 1
    if lists is not None:
        for e in range(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]]):
            item = lists.item[e]
            if not seen[item]:
                seen[item] = True
                items[count] = item
                count += 1
    for p in range(count):
        seen[items[p]] = False
    return count


@njit(**INNER)
def _places_of_judge(
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    places: EffectPlaces,
    u: int,
    seen: NDArray[np.bool_],
    found: Offsets,
) -> int:
    """Where in the state the judge's votes have an effect: its items, then ties and sides."""
    count = _items_of_judge(wins, lists, u, seen, found)
    if effects is not None:
        for t in range(effects.sizes.shape[0] if places.tie >= 0 else 0):
            found[count] = places.tie + t
            count += 1
    for common, own in ((-1, places.own_tie), (places.order, places.own_order)):
        if common >= 0:
            found[count] = common
            count += 1
        if own >= 0:
            found[count] = own + u
            count += 1
    return int(count)


@njit(**INNER)
def _room_for_lists(lists: Lists | None, effects: Effects | None) -> tuple[Floats, Floats]:
    """Room for the scores in one judge's lists, and for the second derivatives of one list."""
    spot, hessian = np.empty(0), np.empty((0, 0))
    if lists is not None:
        spot = np.empty(_most_entries(lists, 0, lists.start.shape[0] - 1))
        if effects is not None:
            size = _longest(lists) + effects.sizes.shape[0]
            hessian = np.empty((size, size))
    return spot, hessian


@njit(**INNER, inline="always")
def _profile_place(work: Floats, i: int, share: float) -> None:
    """Subtract ``share b_ui^2`` from the diagonal at one place and forget ``b_ui``."""
    work[i, 0] -= share * work[i, 1] * work[i, 1]
    work[i, 1] = 0.0


@njit(**INNER)
def _profile_places(
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    places: EffectPlaces,
    u: int,
    share: float,
    work: Floats,
) -> None:
    """`_profile_place` wherever a judge's votes have an effect; a second visit changes nothing."""
    for k in range(wins.start[u], wins.start[u + 1]):
        _profile_place(work, wins.winner[k], share)
        _profile_place(work, wins.loser[k], share)
    if lists is not None:
        for e in range(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]]):
            _profile_place(work, lists.item[e], share)
    if effects is not None:
        for t in range(effects.sizes.shape[0] if places.tie >= 0 else 0):
            _profile_place(work, places.tie + t, share)
    for common, own in ((-1, places.own_tie), (places.order, places.own_order)):
        if common >= 0:
            _profile_place(work, common, share)
        if own >= 0:
            _profile_place(work, own + u, share)
    work[-1, 1] = 0.0


@njit(**COMPILED)
def curvature_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    places: EffectPlaces,
    likeness: Floats | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    work: Floats,
    accuracy_bend: Floats,
) -> None:
    """Curvature of some judges' likelihood in each unknown, the free accuracies profiled out.

    Let ``A`` be the second derivatives in the state (scores, ties, order), ``C`` those in the
    accuracies (a diagonal, prior included) and ``B`` the mixed ones, a column ``b_u`` for each
    judge. Adds the diagonal of ``A - B C^-1 B'`` to the first column of `work` and sets
    `accuracy_bend` to ``C``. The second column, 0 before and after, is for ``b_u``: next to what
    it is subtracted from, as both are looked up together.

    With a `likeness` of the lists to those under Gumbel noise, their second derivatives are those
    under Gumbel noise, times the likeness. `work` has one place more than the state, for effects
    that are not there.
    """
    scratch = np.empty((17, BLOCK))
    diagonal, cross = work[:, 0], work[:, 1]
    spot, hessian = _room_for_lists(lists, effects)
    for u in range(first_judge, last_judge):
        bend = rule.precision + _pair_curvature(
            noise, wins, effects, places, u, score, accuracy[u], work, scratch
        )
        if lists is not None:
            _gather_lists(lists, u, score, spot)
            bend += _lists_curvature(
                lists, likeness, effects, places, u, spot, accuracy[u], diagonal, cross, hessian
            )
        accuracy_bend[u] = bend
        share = 1.0 / bend if rule.free and bend > 0.0 else 0.0
        _profile_places(wins, lists, effects, places, u, share, work)


# --- all second derivatives, for errors ----------------------------------------------------------


@njit(**INNER)
def _add(matrix: Floats, i: int, j: int, amount: float) -> None:
    """Add to an entry of a symmetric matrix, of which only the upper triangle is kept."""
    matrix[min(i, j), max(i, j)] += amount


@njit(**INNER)
def _pair_blocks(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    places: EffectPlaces,
    u: int,
    score: Floats,
    accuracy: float,
    matrix: Floats,
    column: Floats,
    scratch: Floats,
) -> float:
    """Add one judge's pairs to ``A`` and to ``b_u``; their part of ``C_u``.

    A `matrix` of no size stands for an ``A`` that is not asked for.
    """
    gap, mixed, bend = scratch[14], scratch[15], scratch[16]
    own_bend = 0.0
    for c in range(wins.start[u], wins.start[u + 1], BLOCK):
        k = min(BLOCK, wins.start[u + 1] - c)
        _pair_bends(noise, wins, effects, u, c, k, score, accuracy, gap, mixed, bend, scratch)
        own_bend += _accuracy_bend(k, gap, bend)
        _add_mixed(wins, c, k, 1.0, mixed, column)
        if matrix.shape[0]:
            for i in range(k):
                up, down, stiffness = wins.winner[c + i], wins.loser[c + i], accuracy**2 * bend[i]
                matrix[up, up] += stiffness
                matrix[down, down] += stiffness
                _add(matrix, up, down, -stiffness)
        if effects is not None:
            _effect_blocks(wins, places, u, c, k, accuracy, matrix, column, scratch)
    return own_bend


@njit(**INNER)
def _effect_blocks(
    wins: Wins,
    places: EffectPlaces,
    u: int,
    c: int,
    k: int,
    accuracy: float,
    matrix: Floats,
    column: Floats,
    scratch: Floats,
) -> None:
    """Add what the votes from c say of sides and ties; see `_pair_bends` for the `scratch`."""
    if _is_plain(wins):
        return
    gap, bend, terms = scratch[14], scratch[16], scratch
    order = _touched(places.order, places.own_order, u)
    tie = _touched(_tie_place(places, 0), places.own_tie, u)
    for i in range(k):
        up, down = wins.winner[c + i], wins.loser[c + i]
        with_tie = _weight(wins.given_weight, c + i) * terms[4, i]
        if wins.side.shape[0]:
            side = wins.side[c + i]
            _add_effect(
                matrix, column, order, up, down,
                accuracy * side * bend[i], side * gap[i] * bend[i], bend[i] * side * side,
            )  # fmt: skip
        if wins.tied.shape[0]:
            _add_effect(
                matrix, column, tie, up, down, accuracy * with_tie, gap[i] * with_tie,
                _weight(wins.given_weight, c + i) * terms[5, i],
            )  # fmt: skip
            if wins.side.shape[0] and matrix.shape[0]:
                for at in order:
                    for to in tie:
                        if at >= 0 and to >= 0:
                            _add(matrix, at, to, wins.side[c + i] * with_tie)


@njit(**INNER)
def _add_effect(
    matrix: Floats,
    column: Floats,
    touched: tuple[int, int],
    up: int,
    down: int,
    with_scores: float,
    with_accuracy: float,
    own: float,
) -> None:
    """Add what one vote says of an effect, which stands in one or two places of the state."""
    for at in touched:
        if at < 0:
            continue
        column[at] += with_accuracy
        if matrix.shape[0]:
            _add(matrix, at, up, with_scores)
            _add(matrix, at, down, -with_scores)
            for to in touched:
                if to >= at:
                    matrix[at, to] += own


@njit(**INNER)
def _list_blocks(
    lists: Lists,
    ready: ReadyLists | None,
    effects: Effects,
    places: EffectPlaces,
    u: int,
    spot: Floats,
    accuracy: float,
    matrix: Floats,
    entries: Floats,
    entry: int,
    column: Floats,
    hessian: Floats,
) -> tuple[int, float]:
    """Add one judge's lists to ``A`` and to ``b_u``; their part of ``C_u``.

    Without a `matrix`, what would be added to it is listed in `entries`, where there is room, from
    `entry` on.
    """
    own_bend = 0.0
    kinds = effects.sizes.shape[0]
    unused = np.zeros(kinds)
    for k in range(lists.start[u], lists.start[u + 1]):
        place, score, level = _list_of(lists, u, k, spot, accuracy)
        h = place.shape[0]
        slope = np.empty(h)
        if ready is None:
            _list_hessian(place, level, lists.ranked[k], effects, u, slope, unused, hessian)
        else:
            a, first = lists.begin[k], ready.begin[k]
            hessian[: h + kinds, : h + kinds] = 0.0
            for i in range(h):
                slope[i] = ready.slope[a + i]
                for o in range(h):
                    hessian[i, o] = ready.hessian[first + i * h + o]
        weight = lists.weight[k]
        items = lists.item[lists.begin[k] : lists.begin[k + 1]]
        for i in range(h):
            along = 0.0
            for o in range(h):
                along += hessian[i, o] * score[o]
                pull = weight * accuracy * accuracy * hessian[i, o]
                if matrix.shape[0]:
                    if items[i] <= items[o]:
                        matrix[items[i], items[o]] += pull
                elif entries.shape[0]:
                    entries[entry] = pull
                    entry += 1
            column[items[i]] += weight * (slope[i] + accuracy * along)
            own_bend += weight * score[i] * along
        for t in range(kinds):
            for at in _touched(_tie_place(places, t), places.own_tie, u):
                if at < 0:
                    continue
                for o in range(h):
                    column[at] += weight * hessian[h + t, o] * score[o]
                if not matrix.shape[0]:
                    continue
                for o in range(h):
                    _add(matrix, at, items[o], weight * accuracy * hessian[h + t, o])
                for r in range(kinds):
                    for to in _touched(_tie_place(places, r), places.own_tie, u):
                        if to >= at:
                            matrix[at, to] += weight * hessian[h + t, h + r]
    return entry, own_bend


@njit(**COMPILED)
def blocks_pass(
    noise: NoiseCode,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    places: EffectPlaces,
    ready: ReadyLists | None,
    score: Floats,
    accuracy: Floats,
    judges: Offsets,
    matrix: Floats,
    rows: Floats,
    bend: Floats,
) -> None:
    """All second derivatives of some judges' likelihood, exact; those of lists may be `ready`.

    Adds ``A`` to the upper triangle of `matrix`, if that has a size, and ``b_u`` to a row of `rows`
    for each of the judges; sets `bend` to their ``C_u``.
    """
    scratch, nothing = np.empty((17, BLOCK)), np.empty(0)
    spot, hessian = _room_for_lists(lists, effects)
    for p, u in enumerate(judges):
        bend[p] = _pair_blocks(
            noise, wins, effects, places, u, score, accuracy[u], matrix, rows[p], scratch
        )
        if lists is not None:
            _gather_lists(lists, u, score, spot)
            _, of_lists = _list_blocks(
                lists, ready, effects, places, u, spot, accuracy[u],
                matrix, nothing, 0, rows[p], hessian,
            )  # fmt: skip
            bend[p] += of_lists


@njit(**COMPILED)
def sparse_blocks_pass(
    noise: NoiseCode,
    wins: Wins,
    lists: Lists | None,
    effects: Effects | None,
    places: EffectPlaces,
    ready: ReadyLists | None,
    score: Floats,
    accuracy: Floats,
    judges: Offsets,
    matrix: Floats,
    entries: Floats,
    size: int,
    start: Offsets,
    place: Integers,
    mixed: Floats,
    bend: Floats,
) -> None:
    """As `blocks_pass`, with ``b_u`` of the p-th judge in ``mixed[start[p]:start[p + 1]]``.

    The places in the state (of this `size`) that it is about go to `place`, and `start` is set.
    Without a matrix, lists set the `entries` for their items instead, row by row.
    """
    scratch = np.empty((17, BLOCK))
    spot, hessian = _room_for_lists(lists, effects)
    column, seen = np.zeros(size), np.zeros(size, dtype=np.bool_)
    found = np.empty(size, dtype=np.int64)
    entry = 0
    for p, u in enumerate(judges):
        bend[p] = _pair_blocks(
            noise, wins, effects, places, u, score, accuracy[u], matrix, column, scratch
        )
        if lists is not None:
            _gather_lists(lists, u, score, spot)
            entry, of_lists = _list_blocks(
                lists, ready, effects, places, u, spot, accuracy[u],
                matrix, entries, entry, column, hessian,
            )  # fmt: skip
            bend[p] += of_lists
        count = _places_of_judge(wins, lists, effects, places, u, seen, found)
        start[p + 1] = start[p] + count
        for o in range(count):
            place[start[p] + o] = found[o]
            mixed[start[p] + o] = column[found[o]]
            column[found[o]] = 0.0


@njit(**COMPILED)
def subtract_squares(
    start: Offsets, place: Integers, mixed: Floats, share: Floats, matrix: Floats
) -> None:
    """Subtract ``sum_u share_u b_u b_u'`` from the upper triangle of `matrix`; places ascend."""
    for u in range(start.shape[0] - 1):
        if share[u] == 0.0:
            continue
        for p in range(start[u], start[u + 1]):
            pull = mixed[p] * share[u]
            for o in range(p, start[u + 1]):
                matrix[place[p], place[o]] -= pull * mixed[o]


@njit(**COMPILED)
def squares(
    start: Offsets, place: Integers, mixed: Floats, covariance: Floats, square: Floats
) -> None:
    """Set ``square_u = b_u' covariance b_u``."""
    for u in range(start.shape[0] - 1):
        square[u] = 0.0
        for p in range(start[u], start[u + 1]):
            row = 0.5 * covariance[place[p], place[p]] * mixed[p]
            for o in range(p + 1, start[u + 1]):
                row += covariance[place[p], place[o]] * mixed[o]
            square[u] += 2.0 * mixed[p] * row


# --- the same without matrices, for very many items ----------------------------------------------
#
# What a pair adds to ``(A - B C^-1 B') v`` is, at its winner and with the other sign at its loser,
#
#     stiffness (v_winner - v_loser) - mixed share_u b_u'v.
#
# So a judge's votes are gone through twice, for ``b_u'v`` and for this, with many ``v`` at a time:
# they are the columns of a matrix, of which a vote needs two rows. Effects are taken as known.


@njit(**INNER, fastmath=EXACT_ORDER)
def _take_steps(wins: Wins, a: int, k: int, vectors: Floats, step: Floats) -> None:
    """``step = vectors[winner] - vectors[loser]`` for the votes from a."""
    for i in range(k):
        up, down = wins.winner[a + i], wins.loser[a + i]
        for j in range(vectors.shape[1]):
            step[i, j] = vectors[up, j] - vectors[down, j]


@njit(**INNER, fastmath=EXACT_ORDER)
def _add_along(k: int, mixed: Floats, step: Floats, along: Floats) -> None:
    """Add the part of ``b_u' vectors`` of some votes."""
    for i in range(k):
        for j in range(along.shape[0]):
            along[j] += mixed[i] * step[i, j]


@njit(**INNER, fastmath=EXACT_ORDER)
def _add_energy(k: int, square: float, bend: Floats, step: Floats, energy: Floats) -> None:
    """Add the part of ``vectors' A vectors`` of some votes, of each vector with itself."""
    for i in range(k):
        for j in range(energy.shape[0]):
            energy[j] += square * bend[i] * (step[i, j] * step[i, j])


@njit(**INNER, fastmath=EXACT_ORDER)
def _add_product(
    wins: Wins,
    a: int,
    k: int,
    square: float,
    mixed: Floats,
    bend: Floats,
    step: Floats,
    along: Floats,
    product: Floats,
) -> None:
    """Add the part of the votes from a; `along` is ``share_u b_u' vectors``, `step` is spoilt."""
    for i in range(k):
        up, down = wins.winner[a + i], wins.loser[a + i]
        for j in range(along.shape[0]):
            step[i, j] = square * bend[i] * step[i, j] - mixed[i] * along[j]
        for j in range(product.shape[1]):
            product[up, j] += step[i, j]
        for j in range(product.shape[1]):
            product[down, j] -= step[i, j]


@njit(**COMPILED, fastmath=EXACT_ORDER)
def profile_product(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    share: Floats,
    vectors: Floats,
    judged: Floats | None,
    product: Floats,
) -> None:
    """Add some judges' part of ``(A - B C^-1 B') vectors`` to `product`: that of their pairs.

    Where they have lists too, `judged` has these lists' part of ``b_u' vectors``, a row for each
    judge, and gets the whole.
    """
    scratch, step = np.empty((17, BLOCK)), np.empty((BLOCK, vectors.shape[1]))
    gap, mixed, bend = scratch[14], scratch[15], scratch[16]
    along = np.empty(vectors.shape[1])
    for u in range(first_judge, last_judge):
        a, b = wins.start[u], wins.start[u + 1]
        along[:] = 0.0
        for c in range(a, b, BLOCK):
            k = min(BLOCK, b - c)
            _pair_bends(
                noise, wins, effects, u, c, k, score, accuracy[u], gap, mixed, bend, scratch
            )
            _take_steps(wins, c, k, vectors, step)
            _add_along(k, mixed, step, along)
        if judged is not None:
            along += judged[u]
            judged[u] = along
        along *= share[u]
        for c in range(a, b, BLOCK):
            k = min(BLOCK, b - c)
            if b - a > BLOCK:
                _pair_bends(
                    noise, wins, effects, u, c, k, score, accuracy[u], gap, mixed, bend, scratch
                )
                _take_steps(wins, c, k, vectors, step)
            _add_product(wins, c, k, accuracy[u] ** 2, mixed, bend, step, along, product)


@njit(**COMPILED, fastmath=EXACT_ORDER)
def profile_energy(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    share: Floats,
    vectors: Floats,
    judged: Floats | None,
    energy: Floats,
) -> None:
    """Add some judges' part of ``v' (A - B C^-1 B') v`` for each column ``v`` of `vectors`.

    `judged` is as in `profile_product`, and stays as it is; what lists add to ``A`` is left out.
    """
    scratch, step = np.empty((17, BLOCK)), np.empty((BLOCK, vectors.shape[1]))
    gap, mixed, bend = scratch[14], scratch[15], scratch[16]
    along = np.empty(vectors.shape[1])
    for u in range(first_judge, last_judge):
        along[:] = 0.0
        for c in range(wins.start[u], wins.start[u + 1], BLOCK):
            k = min(BLOCK, wins.start[u + 1] - c)
            _pair_bends(
                noise, wins, effects, u, c, k, score, accuracy[u], gap, mixed, bend, scratch
            )
            _take_steps(wins, c, k, vectors, step)
            _add_along(k, mixed, step, along)
            _add_energy(k, accuracy[u] ** 2, bend, step, energy)
        if judged is not None:
            along += judged[u]
        for j in range(along.shape[0]):
            energy[j] -= share[u] * along[j] * along[j]


@njit(**COMPILED)
def pairs_mixed_sum(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    factor: Floats,
    total: Floats,
) -> None:
    """Add ``sum_u factor_u b_u`` over some judges to `total`: the part of their pairs."""
    scratch = np.empty((17, BLOCK))
    gap, mixed, bend = scratch[14], scratch[15], scratch[16]
    for u in range(first_judge, last_judge):
        for c in range(wins.start[u], wins.start[u + 1], BLOCK):
            k = min(BLOCK, wins.start[u + 1] - c)
            _pair_bends(
                noise, wins, effects, u, c, k, score, accuracy[u], gap, mixed, bend, scratch
            )
            _add_mixed(wins, c, k, factor[u], mixed, total)


@njit(**INNER, inline="always")
def _taken_square(column: Floats, variance: Floats, i: int) -> float:
    """``b_ui^2 variance_i``; it is forgotten, so that a second visit adds nothing."""
    found = column[i] * column[i] * variance[i]
    column[i] = 0.0
    return float(found)


@njit(**COMPILED)
def mixed_squares(
    noise: NoiseCode,
    wins: Wins,
    effects: Effects | None,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    of_lists: SparseRows | None,
    variance: Floats,
    square: Floats,
) -> None:
    """Set ``square_u = sum_i b_ui^2 variance_i`` for some judges."""
    scratch = np.empty((17, BLOCK))
    column = np.zeros(score.shape[0])
    gap, mixed, bend = scratch[14], scratch[15], scratch[16]
    for u in range(first_judge, last_judge):
        square[u] = 0.0
        for c in range(wins.start[u], wins.start[u + 1], BLOCK):
            k = min(BLOCK, wins.start[u + 1] - c)
            _pair_bends(
                noise, wins, effects, u, c, k, score, accuracy[u], gap, mixed, bend, scratch
            )
            _add_mixed(wins, c, k, 1.0, mixed, column)
        if of_lists is not None:
            for p in range(of_lists.start[u], of_lists.start[u + 1]):
                column[of_lists.place[p]] += of_lists.mixed[p]
            for p in range(of_lists.start[u], of_lists.start[u + 1]):
                square[u] += _taken_square(column, variance, of_lists.place[p])
        for i in range(wins.start[u], wins.start[u + 1]):
            square[u] += _taken_square(column, variance, wins.winner[i])
            square[u] += _taken_square(column, variance, wins.loser[i])


# --- one judge's votes on one item ---------------------------------------------------------------


@njit(**COMPILED)
def cell_counts(wins: Wins, lists: Lists, n_items: int, most: int) -> Offsets:
    """How many pairs of judge and item have 0, 1, ... `most` (or more) votes."""
    counts = np.zeros(most + 1, dtype=np.int64)
    votes = np.zeros(n_items, dtype=np.int64)
    seen = np.zeros(n_items, dtype=np.bool_)
    items = np.empty(n_items, dtype=np.int64)
    for u in range(wins.start.shape[0] - 1):
        for k in range(wins.start[u], wins.start[u + 1]):
            votes[wins.winner[k]] += 1
            votes[wins.loser[k]] += 1
        for e in range(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]]):
            votes[lists.item[e]] += 1
        count = _items_of_judge(wins, lists, u, seen, items)
        for p in range(count):
            counts[min(votes[items[p]], most)] += 1
            votes[items[p]] = 0
    return counts


@njit(**COMPILED)
def capped_weights(wins: Wins, lists: Lists, n_items: int, cap: float) -> tuple[Floats, Floats]:
    """Weights, of pairs and of lists, under which no judge has more than `cap` on any item."""
    weight, list_weight = np.empty(wins.winner.shape[0]), lists.weight.copy()
    for k in range(weight.shape[0]):
        weight[k] = _weight(wins.given_weight, k)
    votes = np.zeros(n_items)
    for u in range(wins.start.shape[0] - 1):
        for k in range(wins.start[u], wins.start[u + 1]):
            votes[wins.winner[k]] = 0.0
            votes[wins.loser[k]] = 0.0
        for e in range(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]]):
            votes[lists.item[e]] = 0.0
        for k in range(wins.start[u], wins.start[u + 1]):
            votes[wins.winner[k]] += _weight(wins.given_weight, k)
            votes[wins.loser[k]] += _weight(wins.given_weight, k)
        for k in range(lists.start[u], lists.start[u + 1]):
            for e in range(lists.begin[k], lists.begin[k + 1]):
                votes[lists.item[e]] += lists.weight[k]
        for k in range(wins.start[u], wins.start[u + 1]):
            most = max(votes[wins.winner[k]], votes[wins.loser[k]])
            if most > cap:
                weight[k] *= cap / most
        for k in range(lists.start[u], lists.start[u + 1]):
            most = 0.0
            for e in range(lists.begin[k], lists.begin[k + 1]):
                most = max(most, votes[lists.item[e]])
            if most > cap:
                list_weight[k] *= cap / most
    return weight, list_weight


@njit(**INNER)
def _won_and_played(wins: Wins, lists: Lists, u: int, won: Floats, played: Floats) -> None:
    """Add the weight of one judge's votes on each item, and how much of it the item won.

    In a list an item wins the share of the others that are below it, and half of its equals.
    """
    for k in range(wins.start[u], wins.start[u + 1]):
        tied = wins.tied.shape[0] > 0 and wins.tied[k]
        weight = _weight(wins.given_weight, k)
        won[wins.winner[k]] += weight * (0.5 if tied else 1.0)
        won[wins.loser[k]] += weight * (0.5 if tied else 0.0)
        played[wins.winner[k]] += weight
        played[wins.loser[k]] += weight
    for k in range(lists.start[u], lists.start[u + 1]):
        a, b = lists.begin[k], lists.begin[k + 1]
        for e in range(a, b):
            below, same = 0, -1
            for o in range(a, b):
                below += lists.level[o] > lists.level[e]
                same += lists.level[o] == lists.level[e]
            won[lists.item[e]] += lists.weight[k] * (below + 0.5 * same) / (b - a - 1)
            played[lists.item[e]] += lists.weight[k]


@njit(**COMPILED)
def item_totals(wins: Wins, lists: Lists, n_items: int) -> tuple[Floats, Floats, Offsets]:
    """Per item: the weight won, the weight of all its votes, the number of judges on it."""
    won, played = np.zeros(n_items), np.zeros(n_items)
    judges = np.zeros(n_items, dtype=np.int64)
    seen = np.zeros(n_items, dtype=np.bool_)
    items = np.empty(n_items, dtype=np.int64)
    for u in range(wins.start.shape[0] - 1):
        _won_and_played(wins, lists, u, won, played)
        for p in range(_items_of_judge(wins, lists, u, seen, items)):
            judges[items[p]] += 1
    return won, played, judges


@njit(**COMPILED)
def heavy_cells(
    wins: Wins, lists: Lists, n_items: int, least: float
) -> tuple[Offsets, Offsets, Floats, Floats]:
    """Pairs of judge and item with a weight of at least `least`: codes, weight won, weight."""
    won, played = np.zeros(n_items), np.zeros(n_items)
    seen = np.zeros(n_items, dtype=np.bool_)
    items = np.empty(n_items, dtype=np.int64)
    judge_of, item_of = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    won_of, played_of = [0.0 for _ in range(0)], [0.0 for _ in range(0)]
    for u in range(wins.start.shape[0] - 1):
        _won_and_played(wins, lists, u, won, played)
        for p in range(_items_of_judge(wins, lists, u, seen, items)):
            i = items[p]
            if played[i] >= least:
                judge_of.append(np.int64(u))
                item_of.append(i)
                won_of.append(won[i])
                played_of.append(played[i])
            won[i] = 0.0
            played[i] = 0.0
    return np.array(judge_of), np.array(item_of), np.array(won_of), np.array(played_of)


# --- what a judge's votes say about the judge ----------------------------------------------------


@njit(**COMPILED)
def position_sums(
    noise: NoiseCode,
    start: Offsets,
    left: Integers,
    right: Integers,
    outcome: NDArray[np.int8],
    weight: Floats,
    score: Floats,
    accuracy: Floats,
    order: Floats,
    ties_count: bool,
    excess: Floats,
    information: Floats,
    third: Floats,
    won: Floats,
) -> None:
    """Per judge: slope and information at 0 of an advantage ``d`` of the left side, and left wins.

    The left item wins with chance ``F(a (s_left - s_right) + order + d)``. Ties count as half a
    win, or not at all: where they are an outcome, this is the chance given that there is no tie.
    The information is the variance of the slope, and `third` its third central moment.
    """
    x, odds = np.empty(BLOCK), np.empty(BLOCK)
    first, second = np.empty(BLOCK), np.empty(BLOCK)
    for u in range(start.shape[0] - 1):
        excess[u] = 0.0
        information[u] = 0.0
        third[u] = 0.0
        won[u] = 0.0
        for c in range(start[u], start[u + 1], BLOCK):
            k = min(BLOCK, start[u + 1] - c)
            for i in range(k):
                x[i] = accuracy[u] * (score[left[c + i]] - score[right[c + i]]) + order[u]
            _tail(noise, x, k, odds, first, second)
            for i in range(k):
                share, times = 0.5 * (1.0 + outcome[c + i]), _weight(weight, c + i)
                won[u] += times * share
                if outcome[c + i] == 0 and not ties_count:
                    continue
                # f / F and f / (1 - F), from h' on the far side of 0 and h' z on the near one
                gain = first[i] * (odds[i] if x[i] >= 0.0 else 1.0)
                loss = first[i] * (1.0 if x[i] >= 0.0 else odds[i])
                excess[u] += times * (share * gain - (1.0 - share) * loss)
                information[u] += times * gain * loss
                third[u] += times * gain * loss * (gain - loss)


# --- CrowdBT and CrowdTCV: a judge votes as the items say with probability eta -------------------


@njit(**INNER)
def _chance(x: float, odds: float) -> float:
    """``F(x)`` from the odds at ``|x|``."""
    return (1.0 if x > 0.0 else odds) / (1.0 + odds)


@njit(**COMPILED)
def crowd_scores_pass(
    noise: NoiseCode, wins: Wins, score: Floats, reliability: Floats, score_slope: Floats
) -> float:
    """``-sum w log p``, ``p = eta F(d) + (1 - eta) F(-d)``, and its gradient in the scores."""
    total = 0.0
    x, odds, first, second = (
        np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK),
    )  # fmt: skip
    for u in range(wins.start.shape[0] - 1):
        eta = reliability[u]
        for c in range(wins.start[u], wins.start[u + 1], BLOCK):
            k = min(BLOCK, wins.start[u + 1] - c)
            _gather(wins, c, c + k, score, x)
            _tail(noise, x, k, odds, first, second)
            for i in range(k):
                p = eta * _chance(x[i], odds[i]) + (1.0 - eta) * _chance(-x[i], odds[i])
                p = max(p, SMALLEST_CHANCE)
                density = first[i] * odds[i] / (1.0 + odds[i])
                total -= _weight(wins.given_weight, c + i) * np.log(p)
                pull = -_weight(wins.given_weight, c + i) * (2.0 * eta - 1.0) * density / p
                score_slope[wins.winner[c + i]] += pull
                score_slope[wins.loser[c + i]] -= pull
    return total


@njit(**INNER)
def _best_reliability(chance: Floats, other: Floats, weight: Floats, guess: float) -> float:
    """Minimise ``-sum w log(eta F(x) + (1 - eta) F(-x))`` over ``0 <= eta <= 1``."""
    low, high = 0.0, 1.0
    eta = guess
    for _ in range(NEWTON_STEPS):
        slope = 0.0
        bend = 0.0
        for i in range(chance.shape[0]):
            p = eta * chance[i] + (1.0 - eta) * other[i]
            ratio = (chance[i] - other[i]) / max(p, SMALLEST_CHANCE)
            times = weight[i] if weight.shape[0] else 1.0
            slope -= times * ratio
            bend += times * ratio * ratio
        if slope == 0.0 or (slope < 0.0 and eta == 1.0) or (slope > 0.0 and eta == 0.0):
            return eta
        if slope > 0.0:
            high = eta
        else:
            low = eta
        proposal = eta - slope / bend
        if proposal >= high:
            proposal = 1.0 if high == 1.0 else 0.5 * (eta + high)
        elif proposal <= low:
            proposal = 0.0 if low == 0.0 else 0.5 * (eta + low)
        if abs(proposal - eta) < RELIABILITY_TOLERANCE:
            return proposal
        eta = proposal
    return eta


@njit(**COMPILED)
def crowd_reliabilities(noise: NoiseCode, wins: Wins, score: Floats, reliability: Floats) -> None:
    """Set each judge's ``eta`` in [0, 1] to the maximum of its likelihood, scores given."""
    most = _most_votes(wins.start, 0, wins.start.shape[0] - 1)
    x, odds, chance, other = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    first, second = np.empty(most), np.empty(most)
    for u in range(wins.start.shape[0] - 1):
        a, b = wins.start[u], wins.start[u + 1]
        _gather(wins, a, b, score, x)
        _tail(noise, x, b - a, odds, first, second)
        for i in range(b - a):
            chance[i] = _chance(x[i], odds[i])
            other[i] = _chance(-x[i], odds[i])
        reliability[u] = _best_reliability(
            chance[: b - a], other[: b - a], _some_weights(wins, a, b), reliability[u]
        )
