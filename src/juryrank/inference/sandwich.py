"""The sandwich: errors that hold if judges, not votes, are the independent draws.

About one judge's own accuracy a sample of judges says nothing, so accuracies keep the errors from
the information (`juryrank.inference.covariance`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juryrank.inference.covariance import (
    Parts,
    Uncertainty,
    errors_from_inverse,
    from_joint,
    inverse_of_parts,
)
from juryrank.inference.information import Information, Inverse
from juryrank.model.gauge import Gauge
from juryrank.model.objective import Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

JUDGES_AT_ONCE = 512


def by_sandwich(objective: Objective, solution: Solution, gauge: Gauge) -> Uncertainty:
    """Errors that hold if judges, not votes, are independent: ``W (sum_u psi_u psi_u') W``.

    ``psi_u`` is the judge's part of the profile's gradient, ``dJ_u/ds - b_u C_u^-1 dJ_u/da``, about
    its mean; the sum is multiplied by ``m / (m - 1)``.
    """
    parts = Parts(objective, solution, gauge, Information)
    inverse, n = inverse_of_parts(parts), len(parts.score)
    joint = np.zeros((n, n))
    total = np.zeros(n)
    judges = objective.n_judges
    for first in range(0, judges, JUDGES_AT_ONCE):
        moved = _moves(parts, inverse, first, min(first + JUDGES_AT_ONCE, judges))
        joint += moved.T @ moved
        total += moved.sum(axis=0)
    joint = (joint - np.outer(total, total) / judges) * judges / max(judges - 1, 1)
    information = errors_from_inverse(parts, inverse)
    return from_joint(
        joint, information.accuracy_sd, information.own_accuracy_sd, information.effect_sd
    )


def moves_of_judges(
    objective: Objective, solution: Solution, gauge: Gauge
) -> Callable[[int], Floats]:
    """How far each judge has moved the answer's scores, to first order."""
    parts = Parts(objective, solution, gauge, Information)
    inverse = inverse_of_parts(parts)
    return lambda u: _moves(parts, inverse, u, u + 1)[0]


def _moves(parts: Parts[Information], inverse: Inverse, first: int, last: int) -> Floats:
    """How far each of these judges has moved the answer's scores: a row for each."""
    gradients, own_gradient = parts.objective.gradients_by_judge(
        first, last, parts.state, parts.accuracy
    )
    gradients = gradients[:, parts.blocks.at]
    some = slice(first, last)
    pull = own_gradient * parts.share[some]
    gradients -= pull[:, None] * parts.blocks.mixed_rows(first, last)
    moved = parts.centred(-gradients @ inverse.whole)
    gradient = parts.gauge.gradient[some]
    # The scale is a mean over judges, who are draws here: each has its share in it.
    direct = gradient * (parts.accuracy[some] - pull) - np.abs(gradient) * parts.gauge.scale
    scale = direct - moved @ parts.scale_pull
    scores = moved[:, : len(parts.score)]
    return np.asarray(parts.gauge.scale * scores + np.outer(scale, parts.score))
