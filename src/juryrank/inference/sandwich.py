"""The sandwich: errors that hold if judges, not votes, are the independent draws.

About one judge's own accuracy a sample of judges says nothing, so accuracies keep the errors from
the information (`juryrank.inference.covariance`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from juryrank.inference.covariance import (
    Parts,
    Uncertainty,
    errors_from_inverse,
    from_joint,
    inverse_of_parts,
    require_differences,
)
from juryrank.inference.information import BlocksPass, Information, Inverse, indices_of
from juryrank.model.effects import Layout
from juryrank.model.gauge import Gauge
from juryrank.model.objective import Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.passes import Own

JUDGES_AT_ONCE = 512


def by_sandwich(objective: Objective, solution: Solution, gauge: Gauge) -> Uncertainty:
    """Errors that hold if judges, not votes, are independent: ``W (sum_u psi_u psi_u') W``.

    ``psi_u`` is the judge's part of the profile's gradient, ``dJ_u/ds - b_u C_u^-1 dJ_u/da``, about
    its mean; the sum is multiplied by ``m / (m - 1)``.
    """
    parts = Parts(objective, solution, gauge, Information)
    inverse, judges = inverse_of_parts(parts), objective.n_judges
    found = objective.sum_over_shards(_squares_pass(parts, inverse), _own(parts))
    squares, total = found[:-1], found[-1]
    joint = (squares - np.outer(total, total) / judges) * judges / max(judges - 1, 1)
    information = errors_from_inverse(parts, inverse)
    require_differences(joint, information)
    return from_joint(
        joint, information.accuracy_sd, information.own_accuracy_sd, information.effect_sd
    )


def moves_of_judges(
    objective: Objective, solution: Solution, gauge: Gauge
) -> Callable[[int], Floats]:
    """How far each judge has moved the answer's scores, to first order."""
    parts = Parts(objective, solution, gauge, Information)
    one_shard, own = _squares_pass(parts, inverse_of_parts(parts)), _own(parts)
    return lambda u: one_shard.moves(objective, u, u + 1, own)[0]


def _own(parts: Parts[Information]) -> Own:
    return {"accuracy": parts.accuracy, "share": parts.share, "in gauge": parts.gauge.gradient}


def _squares_pass(parts: Parts[Information], inverse: Inverse) -> _SquaresPass:
    """The pass; ``c W - (W q) s'`` moves scores in the scale of the answer, ``c``."""
    n, scale = len(parts.score), parts.gauge.scale
    centred = parts.centred(inverse.whole)
    follows = scale * centred[:, :n] - np.outer(centred @ parts.scale_pull, parts.score)
    blocks = parts.blocks
    return _SquaresPass(parts.state, blocks.layout, blocks.portions, follows, parts.score, scale)


@dataclass(frozen=True, eq=False)
class _SquaresPass(BlocksPass[Floats]):
    """``sum_u m_u m_u'`` of what each judge has moved the scores, and below it ``sum_u m_u``.

    With ``g_u`` the judge's part of the profile's gradient and ``F`` what follows from it,

        m_u = -g_u' F + d_u s,

    where ``d_u`` is the judge's own share in the scale, which is a mean over judges, who are draws.
    """

    follows: Floats
    """``F``: a row for each unknown, a column for each score."""
    score: Floats
    scale: float

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies, ``C^-1``, and how the scale moves with each accuracy."""
        return ("accuracy", "share", "in gauge")

    def numbers(self, n_items: int) -> int:
        """A matrix."""
        return n_items**2

    def for_layout(self, layout: Layout, judges: slice) -> _SquaresPass:
        """With the parts that are about these judges."""
        if not layout.model.by_judge:
            return self
        part = BlocksPass.for_layout(self, layout, judges)
        follows = self.layout.for_judges(self.follows, judges)
        return replace(self, state=part.state, layout=part.layout, follows=follows)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """Some judges after the other."""
        n = len(self.score)
        found = np.zeros((n + 1, n))
        for begin in range(first, last, JUDGES_AT_ONCE):
            moved = self.moves(here, begin, min(begin + JUDGES_AT_ONCE, last), own)
            found[:-1] += moved.T @ moved
            found[-1] += moved.sum(axis=0)
        return found

    def moves(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """How far each of these judges has moved the answer's scores: a row for each."""
        some = slice(first, last)
        gradients, own_gradient = here.gradients_by_judge(first, last, self.state, own["accuracy"])
        gradients = gradients[:, indices_of(self.layout, here.layout)]
        pull = own_gradient * own["share"][some]
        blocks = self.blocks(here, own)
        mixed = blocks.dense_rows(np.arange(first, last), None, blocks.room(last - first))
        gradients -= pull[:, None] * mixed.rows
        in_gauge = own["in gauge"][some]
        direct = in_gauge * (own["accuracy"][some] - pull) - np.abs(in_gauge) * self.scale
        return np.asarray(np.outer(direct, self.score) - gradients @ self.follows)
