"""The constants of the paper's conditions, theorem and corollaries, at a known truth.

The loss is the mean over ``m`` judges of the mean over each judge's ``k`` votes. With ``s`` the
true scores (sum 0), ``a`` the true accuracies, ``C0 = max|a| max|s|`` and ``g = -log F``, all
gaps within the radius ``r`` of the truth satisfy ``|a_u (s_i - s_j)| <= 5 C0``.

`paper_constants` follows the paper to the letter; `corrected_constants` follows its proofs with
these slips mended:

- ``mu2`` and ``L2`` lack a factor ``1/m``: the Hessian in the accuracies is diagonal with entries
  ``1/(mk) sum_l g'' (s_i - s_j)^2``, a sum over the ``k`` votes of one judge divided by ``mk``.
- ``mu2`` has ``(|s| + r)^2`` where a lower bound needs ``(|s| - r)^2``.
- ``L1`` and ``L2`` of the normal noise lack the factor 4 that the same proof gives for Gumbel
  noise (2 of ``E[(e_i - e_j)(e_i - e_j)'] = 2 I / n``, and 2 of the slack for sampling).
- ``eps2`` of Gumbel noise has ``1 + exp(5 C0)`` in its statement and ``1 + exp(-5 C0)`` in its
  proof; the latter is right. Both noises have ``10 C0`` where the gap ``(2 + sqrt 2) max|s|``
  belongs, without any accuracy.
- The statistical error of the theorem is ``(eps1^2 + eps2^2) / mu^2``; its proof gives
  ``4 / mu^2 + 1 / (L^2 + M^2)`` times the same sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from juryrank.errors import InputError
from juryrank.model.noise import GUMBEL, Noise
from juryrank.model.own_noise import noise_from_log_density
from juryrank.types import Floats

REQUIRED_STABILITY = 0.25
"""The theorem assumes ``M1, M2 <= sqrt(mu1 mu2) / 4``."""


@cache
def corollary_noise(name: str) -> Noise:
    """The noise of a corollary: for normal noise its ``F`` is ``Phi(x)``, not ``Phi(x / sqrt 2)``.

    The paper's model divides by the root of 2; its corollary and appendix leave that out, which
    is the noise ``N(0, 1/2)``.
    """
    if name == "gumbel":
        return GUMBEL
    if name == "normal":
        return noise_from_log_density(lambda e: -e * e, name="normal")
    raise InputError(f"The paper has corollaries for gumbel and normal noise, not for {name!r}.")


@dataclass(frozen=True, eq=False)
class Truth:
    """What the votes come from: a noise, scores that sum to 0, accuracies, votes per judge."""

    noise: Noise
    score: Floats
    accuracy: Floats
    votes: int

    @property
    def largest_score(self) -> float:
        """``max |s|``."""
        return float(np.abs(self.score).max())

    @property
    def score_norm(self) -> float:
        """``|s|_2``."""
        return float(np.linalg.norm(self.score))

    @property
    def largest_accuracy(self) -> float:
        """``max |a|``."""
        return float(np.abs(self.accuracy).max())

    @property
    def smallest_accuracy(self) -> float:
        """``min |a|``."""
        return float(np.abs(self.accuracy).min())

    @property
    def c0(self) -> float:
        """``C0 = max |a| max |s|``."""
        return self.largest_accuracy * self.largest_score

    @property
    def radius(self) -> float:
        """``r = min{|s|_2 / 2, min|a| / 2, max|s|, sqrt(C0)}`` of the corollaries."""
        return min(
            self.score_norm / 2.0, self.smallest_accuracy / 2.0, self.largest_score,
            float(np.sqrt(self.c0)),
        )  # fmt: skip


class Constants(NamedTuple):
    """The constants, in the order in which the paper brings them up."""

    mu1: float
    """Strong convexity in the scores."""
    mu2: float
    """Strong convexity in the accuracies."""
    l1: float
    """Smoothness in the scores."""
    l2: float
    """Smoothness in the accuracies."""
    m1: float
    """Change of the gradient in the scores per change of the accuracies."""
    m2: float
    """Change of the gradient in the accuracies per change of the scores."""
    stability: float
    """``max(M1, M2) / sqrt(mu1 mu2)``; the theorem assumes that it is at most 1/4."""
    judges_needed: float
    """With how many judges, everything else the same, that would be so."""
    radius: float
    """That of the corollary, within which the other constants hold."""
    theorem_radius: float
    """``min{mu1 / (2 M1), mu2 / (2 M2)}``."""
    step: float
    """``eta = mu / (12 (L^2 + M^2))`` with mu the smaller, L and M the larger of the two."""
    shrinkage: float
    """``1 - rho = mu^2 / (48 (L^2 + M^2))``; kept apart from 1, next to which it can vanish."""
    epsilon1: float
    """Bound of the sampling error of the gradient in the scores, with probability 1 - 1/n."""
    epsilon2: float
    """The same for the gradient in the accuracies."""
    statistical_error: float
    """The squared error that is left in the end."""

    @property
    def rho(self) -> float:
        """``rho = 1 - mu^2 / (48 (L^2 + M^2))``: the factor of the squared error per iteration."""
        return 1.0 - self.shrinkage


class _Ingredients(NamedTuple):
    """What differs between noises."""

    curvature_low: float
    curvature_high: float
    stability: float
    epsilon1: float
    epsilon2: float


def paper_constants(truth: Truth) -> Constants:
    """The constants as the paper's lemmas, corollaries and theorem state them.

    With ``low`` and ``high`` the noise's bounds of the curvature:

        mu1 = (min|a| - r)^2 low / n        L1 = (max|a| + r)^2 high / n
        mu2 = (|s|_2 + r)^2 low / n         L2 = (|s|_2 + r)^2 high / n
    """
    noises = {"gumbel": _gumbel, "normal": _normal}
    if truth.noise.name not in noises:
        raise InputError(f"The paper has no constants for the noise {truth.noise.name!r}.")
    parts = noises[truth.noise.name](truth)
    n, r = len(truth.score), truth.radius
    mu1 = (truth.smallest_accuracy - r) ** 2 * parts.curvature_low / n
    mu2 = (truth.score_norm + r) ** 2 * parts.curvature_low / n
    l1 = (truth.largest_accuracy + r) ** 2 * parts.curvature_high / n
    l2 = (truth.score_norm + r) ** 2 * parts.curvature_high / n
    found = _assembled(truth, (mu1, mu2), (l1, l2), parts, 1.0 / min(mu1, mu2) ** 2)
    # M falls with the root of m, and as stated neither mu1 nor mu2 depends on m.
    needed = np.ceil(len(truth.accuracy) * (found.stability / REQUIRED_STABILITY) ** 2)
    return found._replace(judges_needed=float(needed))


def _gumbel(truth: Truth) -> _Ingredients:
    """Corollary for Gumbel noise.

        low = e^t / (1 + e^t)^2 with t = 5 C0,    high = 1,    M1 = M2 = 4 sqrt(2) C0 / sqrt(m)
        eps1 = 2 (max|a| + r) / (1 + e^-t) sqrt(2 log(2n) / (mk))
        eps2 = 10 C0 / (1 + e^t) sqrt(2 log(2mn) / (mk))

    ``M`` is the lemma's ``sqrt(2) (1 + 2 C0) / sqrt(m)``, rounded up for ``C0 >= 1/2``.
    """
    n, m, k = len(truth.score), len(truth.accuracy), truth.votes
    grown = np.exp(5.0 * truth.c0)
    reach = 2.0 * (truth.largest_accuracy + truth.radius) / (1.0 + 1.0 / grown)
    return _Ingredients(
        float(grown / (1.0 + grown) ** 2),
        1.0,
        float(np.sqrt(2.0 / m) * max(4.0 * truth.c0, 1.0 + 2.0 * truth.c0)),
        float(reach * np.sqrt(2.0 * np.log(2 * n) / (m * k))),
        float(10.0 * truth.c0 / (1.0 + grown) * np.sqrt(2.0 * np.log(2 * m * n) / (m * k))),
    )


def _normal(truth: Truth) -> _Ingredients:
    """Corollary for normal noise, with ``H = (-log Phi)''``.

    low = H(5 C0),    high = H(-5 C0)
    M1 = M2 = (1 / Phi(-5 C0) + 5 sqrt(2 pi) H(-5 C0) C0) / sqrt(m pi)
    eps1 = (max|a| + r) / (sqrt(pi) Phi(-5 C0)) sqrt(2 log(2n) / (mk))
    eps2 = 10 C0 / (sqrt(pi) Phi(-5 C0)) sqrt(log(2mn) / (mk))
    """
    n, m, k = len(truth.score), len(truth.accuracy), truth.votes
    far = np.array([-5.0, 5.0]) * truth.c0
    high, low = truth.noise.terms(far)[2]
    rare = float(truth.noise.cdf(far[0]))
    crossing = 1.0 / rare + 5.0 * np.sqrt(2.0 * np.pi) * high * truth.c0
    reach = (truth.largest_accuracy + truth.radius) / (np.sqrt(np.pi) * rare)
    spread = 10.0 * truth.c0 / (np.sqrt(np.pi) * rare)
    return _Ingredients(
        float(low),
        float(high),
        float(crossing / np.sqrt(m * np.pi)),
        float(reach * np.sqrt(2.0 * np.log(2 * n) / (m * k))),
        float(spread * np.sqrt(np.log(2 * m * n) / (m * k))),
    )


def corrected_constants(truth: Truth) -> Constants:
    """The constants that the paper's proofs give, for any log-concave noise.

    With ``low``, ``high`` the least and largest ``g''`` and ``steep`` the largest ``|g'|`` where
    ``|x| <= 5 C0``:

        mu1 = (min|a| - r)^2 low / n          L1 = 4 (max|a| + r)^2 high / n
        mu2 = (|s|_2 - r)^2 low / (m n)       L2 = 4 (|s|_2 + r)^2 high / (m n)
        M1 = M2 = sqrt(2) (steep + 5 C0 high) / sqrt(m)
        eps1 = 2 (max|a| + r) steep sqrt(2 log(2n) / (mk))
        eps2 = (2 + sqrt 2) max|s| steep sqrt(2 log(2mn) / (mk))

    ``M`` and ``sqrt(mu1 mu2)`` both fall with the root of ``m``: no number of judges is enough.
    """
    n, m, k, r = len(truth.score), len(truth.accuracy), truth.votes, truth.radius
    _, gradient, curvature = truth.noise.terms(np.linspace(-5.0, 5.0, 1001) * truth.c0)
    low, high, steep = float(curvature.min()), float(curvature.max()), float(np.abs(gradient).max())
    mu = (
        (truth.smallest_accuracy - r) ** 2 * low / n,
        (truth.score_norm - r) ** 2 * low / (m * n),
    )
    smooth = (
        4.0 * (truth.largest_accuracy + r) ** 2 * high / n,
        4.0 * (truth.score_norm + r) ** 2 * high / (m * n),
    )
    gap = (2.0 + np.sqrt(2.0)) * truth.largest_score
    parts = _Ingredients(
        low,
        high,
        float(np.sqrt(2.0 / m) * (steep + 5.0 * truth.c0 * high)),
        float(2 * (truth.largest_accuracy + r) * steep * np.sqrt(2 * np.log(2 * n) / (m * k))),
        float(gap * steep * np.sqrt(2.0 * np.log(2 * m * n) / (m * k))),
    )
    stiffness = max(smooth) ** 2 + parts.stability**2
    return _assembled(truth, mu, smooth, parts, 4.0 / min(mu) ** 2 + 1.0 / stiffness)


def _assembled(
    truth: Truth,
    convex: tuple[float, float],
    smooth: tuple[float, float],
    parts: _Ingredients,
    error_factor: float,
) -> Constants:
    """Put the theorem's step, contraction and error on top of the conditions' constants."""
    least, stiffness = min(convex), max(smooth) ** 2 + parts.stability**2
    return Constants(
        *convex,
        *smooth,
        parts.stability,
        parts.stability,
        stability=parts.stability / float(np.sqrt(convex[0] * convex[1])),
        judges_needed=np.inf,
        radius=truth.radius,
        theorem_radius=least / (2.0 * parts.stability),
        step=least / (12.0 * stiffness),
        shrinkage=least**2 / (48.0 * stiffness),
        epsilon1=parts.epsilon1,
        epsilon2=parts.epsilon2,
        statistical_error=(parts.epsilon1**2 + parts.epsilon2**2) * error_factor,
    )
