"""Counting how often juryrank goes over the votes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from juryrank.model.objective import Objective
from juryrank.solvers.profile import ProfileSolver

ALL = 0.9
"""Votes may be set aside: so large a share of them counts as all."""


@dataclass
class Passes:
    """How often the votes were gone over."""

    votes: int
    evaluations: int = 0
    """Of the profile objective over all votes, whatever for (guard and prior scales included)."""
    work: float = 0.0
    """All evaluations, those on samples by their share of the votes; curvatures included."""
    cold_starts: int = 0
    """Fits of all votes that began without a guess."""

    def add(self, objective: Objective, *, evaluation: bool) -> None:
        """Count one pass."""
        share = objective.votes.pairs.number / self.votes
        self.work += share
        self.evaluations += evaluation and share >= ALL

    @property
    def per_start(self) -> float:
        """Evaluations over all votes for each starting point."""
        return self.evaluations / max(1, self.cold_starts)


@contextmanager
def counting(votes: int) -> Iterator[Passes]:
    """Count the passes over so many votes made within."""
    passes = Passes(votes)
    kept = {name: getattr(Objective, name) for name in ("profile", "gradients", "curvature")}
    solve = ProfileSolver.solve
    for name, method in kept.items():
        setattr(Objective, name, _counted(passes, name, method))

    def counted_solve(
        self: ProfileSolver, objective: Objective, *arguments: Any, **named: Any
    ) -> Any:
        cold = named.get("accuracy", arguments[1] if len(arguments) > 1 else None) is None
        passes.cold_starts += cold and objective.votes.pairs.number >= ALL * votes
        return solve(self, objective, *arguments, **named)

    ProfileSolver.solve = counted_solve  # type: ignore[method-assign]
    try:
        yield passes
    finally:
        ProfileSolver.solve = solve  # type: ignore[method-assign]
        for name, method in kept.items():
            setattr(Objective, name, method)


def _counted(passes: Passes, name: str, method: Any) -> Any:
    def counted(self: Objective, *arguments: Any, **named: Any) -> Any:
        passes.add(self, evaluation=name == "profile")
        return method(self, *arguments, **named)

    return counted
