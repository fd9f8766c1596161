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

from juryrank.arrays import Floats

if TYPE_CHECKING:
    from juryrank.votes import Wins

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


class NoiseCode(NamedTuple):
    """A noise as the compiled code knows it; the last two only matter to `TABLE`."""

    family: int
    knots: Floats
    table: Floats
    """Coefficients of ``h`` after each knot, lowest power first; the last row goes on forever."""


NEWTON_STEPS = 60
SMALLEST_CHANCE = 1e-300
RELIABILITY_TOLERANCE = 1e-12
NEWTON_SMALL = (
    1e-3  # a step this small, relative to the accuracy, is no longer on its way to a bound
)
NEWTON_TOLERANCE = 1e-5  # the step in standard errors after which one more Newton step is exact


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


@njit(**COMPILED, inline="always")
def _exp_minus(t: float) -> float:
    """``exp(-t)`` for ``t >= 0``, by ``2^k e^r`` with ``|r| <= ln(2)/2``."""
    clipped = min(t, SMALLEST_EXPONENT)
    shifted = ROUND_TO_INTEGER - clipped * LOG_2_E
    k = shifted - ROUND_TO_INTEGER
    r = (-clipped - k * LN_2_HIGH) - k * LN_2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(shifted).view(np.int64)
    power = np.int64((bits + EXPONENT_BIAS) << EXPONENT_BITS).view(np.float64)
    if t <= SMALLEST_EXPONENT:
        return p * power
    return 0.0 if t > SMALLEST_EXPONENT else t  # what is not a number stays so


@njit(**COMPILED, inline="always")
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


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _gumbel_tail(x: Floats, k: int, odds: Floats, first: Floats, second: Floats) -> None:
    """Logistic ``F``: ``z = e^-t``, ``h' = 1/(1+z)``, ``h'' = z/(1+z)^2``."""
    for i in range(k):
        z = _exp_minus(abs(x[i]))
        inverse = 1.0 / (1.0 + z)
        odds[i] = z
        first[i] = inverse
        second[i] = z * inverse * inverse


@njit(**COMPILED, fastmath=EXACT_ORDER)
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


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _exponential_tail(x: Floats, k: int, odds: Floats, first: Floats, second: Floats) -> None:
    """Laplace ``F``: ``F(-t) = e^-t / 2``, so ``h' = 1`` and ``h'' = 0``."""
    for i in range(k):
        below = 0.5 * _exp_minus(abs(x[i]))
        odds[i] = below / (1.0 - below)
        first[i] = 1.0
        second[i] = 0.0


@njit(**COMPILED, inline="always")
def _table_row(noise: NoiseCode, t: float) -> int:
    """The last knot at or below ``t``."""
    return int(np.searchsorted(noise.knots, t, side="right")) - 1


@njit(**COMPILED)
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


@njit(**COMPILED)
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


@njit(**COMPILED, fastmath=EXACT_ORDER)
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


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _slopes(x: Floats, k: int, odds: Floats, first: Floats, slope: Floats) -> None:
    """``g'(x)`` from the lower tail."""
    for i in range(k):
        slope[i] = -first[i] * (odds[i] if x[i] >= 0.0 else 1.0)


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _bends(x: Floats, k: int, odds: Floats, first: Floats, second: Floats, bend: Floats) -> None:
    """``g''(x)`` from the lower tail."""
    for i in range(k):
        z = odds[i]
        above = first[i] * first[i] * z * (1.0 + z) - second[i] * z
        bend[i] = above if x[i] >= 0.0 else second[i]


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


# --- one judge's accuracy, given the scores ------------------------------------------------------


@njit(**COMPILED, fastmath=FAST)
def _accuracy_derivatives(
    noise: NoiseCode, gap: Floats, weight: Floats, accuracy: float, scratch: Floats
) -> tuple[float, float]:
    """First and second derivative in the accuracy of ``sum w g(accuracy * gap)``."""
    slope_sum = 0.0
    bend_sum = 0.0
    x, odds, first, second = scratch[0], scratch[1], scratch[2], scratch[3]
    for a in range(0, gap.shape[0], BLOCK):
        k = min(BLOCK, gap.shape[0] - a)
        for i in range(k):
            x[i] = accuracy * gap[a + i]
        _tail(noise, x, k, odds, first, second)
        for i in range(k):
            z = odds[i]
            above = x[i] >= 0.0
            slope = -first[i] * (z if above else 1.0)
            bend = first[i] * first[i] * z * (1.0 + z) - second[i] * z if above else second[i]
            pull = weight[a + i] * gap[a + i]
            slope_sum += pull * slope
            bend_sum += pull * gap[a + i] * bend
    return slope_sum, bend_sum


@njit(**COMPILED)
def _best_accuracy(
    noise: NoiseCode,
    rule: AccuracyRule,
    gap: Floats,
    weight: Floats,
    guess: float,
    scratch: Floats,
) -> float:
    """Minimise ``sum w g(accuracy gap) + precision/2 (accuracy - mean)^2`` within the bound.

    The problem is convex: Newton steps inside a shrinking bracket, bisection where they leave it
    or no longer halve the slope.
    """
    low, high = -rule.bound, rule.bound
    low_seen, high_seen = False, False
    accuracy = float(min(max(guess, low), high))
    last_slope = np.inf
    for _ in range(NEWTON_STEPS):
        slope, bend = _accuracy_derivatives(noise, gap, weight, accuracy, scratch)
        slope += rule.precision * (accuracy - rule.mean)
        bend += rule.precision
        if slope == 0.0:
            return accuracy
        if slope > 0.0:
            high, high_seen = accuracy, True
        else:
            low, low_seen = accuracy, True
        if low >= high:
            return accuracy
        move = -slope / bend if bend > 0.0 else np.copysign(np.inf, -slope)
        longest = 2.0 * (1.0 + abs(accuracy))
        proposal = accuracy + min(max(move, -longest), longest)
        small = abs(move) < NEWTON_SMALL * (1.0 + abs(accuracy))
        if small and abs(move) * np.sqrt(bend) < NEWTON_TOLERANCE:
            return float(min(max(proposal, low), high))
        slow = low_seen and high_seen and abs(slope) > 0.5 * last_slope
        if proposal >= high and not high_seen:
            proposal = high
        elif proposal <= low and not low_seen:
            proposal = low
        elif slow or proposal >= high or proposal <= low:
            proposal = 0.5 * (low + high)
        last_slope = abs(slope)
        accuracy = proposal
    return accuracy


# --- the objective: sums over judges -------------------------------------------------------------


@njit(**COMPILED)
def _gather(wins: Wins, a: int, b: int, score: Floats, gap: Floats) -> None:
    """``gap = score[winner] - score[loser]`` for the votes from a to b."""
    for i in range(b - a):
        gap[i] = score[wins.winner[a + i]] - score[wins.loser[a + i]]


@njit(**COMPILED)
def _most_votes(start: Offsets, first_judge: int, last_judge: int) -> int:
    """The largest number of votes any of these judges gave."""
    most = 0
    for u in range(first_judge, last_judge):
        most = max(most, start[u + 1] - start[u])
    return most


@njit(**COMPILED, fastmath=FAST)
def _weighted_sums(
    weight: Floats, value: Floats, slope: Floats, gap: Floats
) -> tuple[float, float]:
    """``sum w value`` and ``sum w slope gap``."""
    total = 0.0
    moment = 0.0
    for i in range(weight.shape[0]):
        total += weight[i] * value[i]
        moment += weight[i] * slope[i] * gap[i]
    return total, moment


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _judge_pass(
    noise: NoiseCode,
    wins: Wins,
    a: int,
    b: int,
    gap: Floats,
    accuracy: float,
    score_slope: Floats,
    scratch: Floats,
) -> tuple[float, float]:
    """Value and slope in the accuracy of one judge's votes; adds to the slope in the scores."""
    x, odds, first, pull, value = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    total = 0.0
    accuracy_slope = 0.0
    for c in range(a, b, BLOCK):
        k = min(BLOCK, b - c)
        for i in range(k):
            x[i] = accuracy * gap[c - a + i]
        _tail(noise, x, k, odds, first, pull)
        _values(noise, x, k, odds, first, value)
        _slopes(x, k, odds, first, pull)
        sums = _weighted_sums(wins.weight[c : c + k], value, pull, gap[c - a : c - a + k])
        total += sums[0]
        accuracy_slope += sums[1]
        for i in range(k):
            pull[i] *= wins.weight[c + i] * accuracy
        for i in range(k):
            score_slope[wins.winner[c + i]] += pull[i]
            score_slope[wins.loser[c + i]] -= pull[i]
    return total, accuracy_slope


@njit(**COMPILED)
def votes_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    first_judge: int,
    last_judge: int,
    score: Floats,
    accuracy: Floats,
    score_slope: Floats,
    accuracy_slope: Floats,
) -> float:
    """One pass over the votes of some judges: value and both gradients of their likelihood.

    The value is ``sum_u sum_k w_k g(accuracy_u (score_winner - score_loser))``. `score_slope` is
    added to; `accuracy_slope` is set, and so is `accuracy` where the rule leaves it free: to the
    minimum of value and prior given the scores. The prior is not part of value and slopes.
    """
    gap = np.empty(_most_votes(wins.start, first_judge, last_judge))
    scratch = np.empty((5, BLOCK))
    total = 0.0
    for u in range(first_judge, last_judge):
        a, b = wins.start[u], wins.start[u + 1]
        _gather(wins, a, b, score, gap)
        if rule.free:
            accuracy[u] = _best_accuracy(
                noise, rule, gap[: b - a], wins.weight[a:b], accuracy[u], scratch
            )
        value, slope = _judge_pass(noise, wins, a, b, gap, accuracy[u], score_slope, scratch)
        accuracy_slope[u] = slope
        total += value
    return total


@njit(**COMPILED, fastmath=EXACT_ORDER)
def _judge_curvature(
    noise: NoiseCode,
    wins: Wins,
    u: int,
    score: Floats,
    accuracy: float,
    diagonal: Floats,
    cross: Floats,
    scratch: Floats,
) -> float:
    """Add one judge's part of ``A``'s diagonal and its ``b_u``; its ``C_u``, prior left out."""
    x, odds, first, slope, bend = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    own_bend = 0.0
    for c in range(wins.start[u], wins.start[u + 1], BLOCK):
        k = min(BLOCK, wins.start[u + 1] - c)
        _gather(wins, c, c + k, score, x)
        for i in range(k):
            x[i] *= accuracy
        _tail(noise, x, k, odds, first, slope)
        _bends(x, k, odds, first, slope, bend)
        _slopes(x, k, odds, first, slope)
        for i in range(k):
            weight, up, down = wins.weight[c + i], wins.winner[c + i], wins.loser[c + i]
            stiffness = weight * accuracy * accuracy * bend[i]
            diagonal[up] += stiffness
            diagonal[down] += stiffness
            own_bend += weight * (score[up] - score[down]) ** 2 * bend[i]
            mixed = weight * (slope[i] + x[i] * bend[i])
            cross[up] += mixed
            cross[down] -= mixed
    return own_bend


@njit(**COMPILED)
def _items_of_judge(wins: Wins, u: int, seen: NDArray[np.bool_], items: Offsets) -> int:
    """List the items the judge voted on, each once; how many there are."""
    count = 0
    for k in range(wins.start[u], wins.start[u + 1]):
        for item in (wins.winner[k], wins.loser[k]):
            if not seen[item]:
                seen[item] = True
                items[count] = item
                count += 1
    for p in range(count):
        seen[items[p]] = False
    return count


@njit(**COMPILED)
def curvature_pass(
    noise: NoiseCode,
    rule: AccuracyRule,
    wins: Wins,
    score: Floats,
    accuracy: Floats,
    diagonal: Floats,
    accuracy_bend: Floats,
) -> None:
    """Curvature of the likelihood in each score, with the free accuracies profiled out.

    Let ``A`` be the second derivatives in the scores, ``C`` those in the accuracies (a diagonal,
    prior included) and ``B`` the mixed ones, a column ``b_u`` for each judge. Adds the diagonal of
    ``A - B C^-1 B'`` to `diagonal` and sets `accuracy_bend` to ``C``.
    """
    n = score.shape[0]
    scratch = np.empty((5, BLOCK))
    cross = np.zeros(n)
    seen = np.zeros(n, dtype=np.bool_)
    items = np.empty(n, dtype=np.int64)
    for u in range(wins.start.shape[0] - 1):
        bend = rule.precision + _judge_curvature(
            noise, wins, u, score, accuracy[u], diagonal, cross, scratch
        )
        accuracy_bend[u] = bend
        share = 1.0 / bend if rule.free and bend > 0.0 else 0.0
        count = _items_of_judge(wins, u, seen, items)
        for p in range(count):
            i = items[p]
            diagonal[i] -= cross[i] * cross[i] * share
            cross[i] = 0.0


# --- covariance ----------------------------------------------------------------------------------


@njit(**COMPILED, fastmath=EXACT_ORDER)
def vote_bends(
    noise: NoiseCode,
    wins: Wins,
    score: Floats,
    accuracy: Floats,
    stiffness: Floats,
    mixed: Floats,
) -> None:
    """Second derivatives of every vote: ``w a^2 g''(x)`` and ``w (g'(x) + x g''(x))``.

    The first is that in the gap of the scores, the second the mixed one in gap and accuracy.
    """
    x, odds, first = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    slope, bend = np.empty(BLOCK), np.empty(BLOCK)
    for u in range(wins.start.shape[0] - 1):
        for c in range(wins.start[u], wins.start[u + 1], BLOCK):
            k = min(BLOCK, wins.start[u + 1] - c)
            _gather(wins, c, c + k, score, x)
            for i in range(k):
                x[i] *= accuracy[u]
            _tail(noise, x, k, odds, first, slope)
            _bends(x, k, odds, first, slope, bend)
            _slopes(x, k, odds, first, slope)
            for i in range(k):
                stiffness[c + i] = wins.weight[c + i] * accuracy[u] * accuracy[u] * bend[i]
                mixed[c + i] = wins.weight[c + i] * (slope[i] + x[i] * bend[i])


@njit(**COMPILED)
def profile_curvature_times(
    wins: Wins, stiffness: Floats, mixed: Floats, share: Floats, vector: Floats, product: Floats
) -> None:
    """Add ``(A - B D B') vector`` to `product`, ``D`` the diagonal `share`; see `vote_bends`."""
    for u in range(wins.start.shape[0] - 1):
        pull = 0.0
        for k in range(wins.start[u], wins.start[u + 1]):
            up, down = wins.winner[k], wins.loser[k]
            gap = vector[up] - vector[down]
            pull += mixed[k] * gap
            product[up] += stiffness[k] * gap
            product[down] -= stiffness[k] * gap
        pull *= share[u]
        for k in range(wins.start[u], wins.start[u + 1]):
            product[wins.winner[k]] -= mixed[k] * pull
            product[wins.loser[k]] += mixed[k] * pull


@njit(**COMPILED)
def mixed_sum(wins: Wins, mixed: Floats, factor: Floats, total: Floats) -> None:
    """Add ``sum_u factor_u b_u`` to `total`, ``b_u`` the judge's column of ``B``."""
    for u in range(wins.start.shape[0] - 1):
        for k in range(wins.start[u], wins.start[u + 1]):
            total[wins.winner[k]] += factor[u] * mixed[k]
            total[wins.loser[k]] -= factor[u] * mixed[k]


@njit(**COMPILED)
def mixed_rows(wins: Wins, mixed: Floats, judges: Offsets, rows: Floats) -> None:
    """Add ``b_u`` of each of the judges to a row."""
    for row in range(judges.shape[0]):
        u = judges[row]
        for k in range(wins.start[u], wins.start[u + 1]):
            rows[row, wins.winner[k]] += mixed[k]
            rows[row, wins.loser[k]] -= mixed[k]


@njit(**COMPILED)
def _mixed_column(
    wins: Wins, mixed: Floats, u: int, column: Floats, seen: NDArray[np.bool_], items: Offsets
) -> int:
    """Put ``b_u`` into `column`, which is all 0, and the items it is about into `items`."""
    for k in range(wins.start[u], wins.start[u + 1]):
        column[wins.winner[k]] += mixed[k]
        column[wins.loser[k]] -= mixed[k]
    return int(_items_of_judge(wins, u, seen, items))


@njit(**COMPILED)
def add_profile_curvature(
    wins: Wins, stiffness: Floats, mixed: Floats, share: Floats, matrix: Floats
) -> None:
    """Add ``A - B D B'`` to `matrix`, ``D`` the diagonal `share`; see `vote_bends`."""
    n = matrix.shape[0]
    column = np.zeros(n)
    seen = np.zeros(n, dtype=np.bool_)
    items = np.empty(n, dtype=np.int64)
    for k in range(wins.winner.shape[0]):
        up, down = wins.winner[k], wins.loser[k]
        matrix[up, up] += stiffness[k]
        matrix[down, down] += stiffness[k]
        matrix[up, down] -= stiffness[k]
        matrix[down, up] -= stiffness[k]
    for u in range(wins.start.shape[0] - 1):
        if share[u] == 0.0:
            continue
        count = _mixed_column(wins, mixed, u, column, seen, items)
        for p in range(count):
            i = items[p]
            for o in range(count):
                matrix[i, items[o]] -= column[i] * column[items[o]] * share[u]
        for p in range(count):
            column[items[p]] = 0.0


@njit(**COMPILED)
def mixed_squares(
    wins: Wins,
    mixed: Floats,
    skipped: NDArray[np.bool_],
    covariance: Floats,
    variance: Floats,
    square: Floats,
) -> None:
    """Set ``square_u = b_u' covariance b_u`` for every judge that is not skipped.

    An empty `covariance` stands for a diagonal one, the `variance`.
    """
    n = variance.shape[0]
    column = np.zeros(n)
    seen = np.zeros(n, dtype=np.bool_)
    items = np.empty(n, dtype=np.int64)
    for u in range(wins.start.shape[0] - 1):
        if skipped[u]:
            continue
        count = _mixed_column(wins, mixed, u, column, seen, items)
        square[u] = 0.0
        for p in range(count):
            i = items[p]
            row = column[i] * variance[i]
            if covariance.shape[0]:
                row = 0.0
                for o in range(count):
                    row += covariance[i, items[o]] * column[items[o]]
            square[u] += column[i] * row
        for p in range(count):
            column[items[p]] = 0.0


# --- one judge's votes on one item ---------------------------------------------------------------


@njit(**COMPILED)
def cell_counts(wins: Wins, n_items: int, most: int) -> Offsets:
    """How many pairs of judge and item have 0, 1, ... `most` (or more) votes."""
    counts = np.zeros(most + 1, dtype=np.int64)
    votes = np.zeros(n_items, dtype=np.int64)
    seen = np.zeros(n_items, dtype=np.bool_)
    items = np.empty(n_items, dtype=np.int64)
    for u in range(wins.start.shape[0] - 1):
        for k in range(wins.start[u], wins.start[u + 1]):
            votes[wins.winner[k]] += 1
            votes[wins.loser[k]] += 1
        count = _items_of_judge(wins, u, seen, items)
        for p in range(count):
            counts[min(votes[items[p]], most)] += 1
            votes[items[p]] = 0
    return counts


@njit(**COMPILED)
def capped_weights(wins: Wins, n_items: int, cap: float) -> Floats:
    """Weights under which no judge has more than `cap` votes on any item."""
    weight = wins.weight.copy()
    votes = np.zeros(n_items)
    for u in range(wins.start.shape[0] - 1):
        a, b = wins.start[u], wins.start[u + 1]
        for k in range(a, b):
            votes[wins.winner[k]] += wins.weight[k]
            votes[wins.loser[k]] += wins.weight[k]
        for k in range(a, b):
            most = max(votes[wins.winner[k]], votes[wins.loser[k]])
            if most > cap:
                weight[k] *= cap / most
        for k in range(a, b):
            votes[wins.winner[k]] = 0.0
            votes[wins.loser[k]] = 0.0
    return weight


@njit(**COMPILED)
def heavy_cells(wins: Wins, n_items: int, least: float) -> tuple[Offsets, Offsets, Floats, Floats]:
    """Pairs of judge and item with a weight of at least `least`: codes, weight won, weight."""
    won, played = np.zeros(n_items), np.zeros(n_items)
    seen = np.zeros(n_items, dtype=np.bool_)
    items = np.empty(n_items, dtype=np.int64)
    judge_of, item_of = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    won_of, played_of = [0.0 for _ in range(0)], [0.0 for _ in range(0)]
    for u in range(wins.start.shape[0] - 1):
        for k in range(wins.start[u], wins.start[u + 1]):
            won[wins.winner[k]] += wins.weight[k]
            played[wins.winner[k]] += wins.weight[k]
            played[wins.loser[k]] += wins.weight[k]
        count = _items_of_judge(wins, u, seen, items)
        for p in range(count):
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
    excess: Floats,
    information: Floats,
    won: Floats,
) -> None:
    """Per judge: slope and information at 0 of an advantage ``d`` of the left side, and left wins.

    The left item wins with chance ``F(a (s_left - s_right) + d)``; a tie is half a win.
    """
    x, odds = np.empty(BLOCK), np.empty(BLOCK)
    first, second = np.empty(BLOCK), np.empty(BLOCK)
    for u in range(start.shape[0] - 1):
        excess[u] = 0.0
        information[u] = 0.0
        won[u] = 0.0
        for c in range(start[u], start[u + 1], BLOCK):
            k = min(BLOCK, start[u + 1] - c)
            for i in range(k):
                x[i] = accuracy[u] * (score[left[c + i]] - score[right[c + i]])
            _tail(noise, x, k, odds, first, second)
            for i in range(k):
                share = 0.5 * (1.0 + outcome[c + i])
                # f / F and f / (1 - F), from h' on the far side of 0 and h' z on the near one
                gain = first[i] * (odds[i] if x[i] >= 0.0 else 1.0)
                loss = first[i] * (1.0 if x[i] >= 0.0 else odds[i])
                excess[u] += weight[c + i] * (share * gain - (1.0 - share) * loss)
                information[u] += weight[c + i] * gain * loss
                won[u] += weight[c + i] * share


# --- CrowdBT and CrowdTCV: a judge votes as the items say with probability eta -------------------


@njit(**COMPILED)
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
                total -= wins.weight[c + i] * np.log(p)
                pull = -wins.weight[c + i] * (2.0 * eta - 1.0) * density / p
                score_slope[wins.winner[c + i]] += pull
                score_slope[wins.loser[c + i]] -= pull
    return total


@njit(**COMPILED)
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
            slope -= weight[i] * ratio
            bend += weight[i] * ratio * ratio
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
            chance[: b - a], other[: b - a], wins.weight[a:b], reliability[u]
        )
