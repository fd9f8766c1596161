"""Which end is up, as far as the votes say."""

from __future__ import annotations

from juryrank.model.objective import Objective
from juryrank.solvers.search import votes_for
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

CLOSE_CALL = 3.0
"""Standard errors of the votes' agreement with the ranking below which its direction is unsure."""


def direction_is_sure(objective: Objective, solution: Solution) -> bool:
    """Whether the votes leave no doubt about which end is up."""
    if not objective.accuracies_free:
        return True
    return votes_for(objective, solution.score) >= CLOSE_CALL and not who_objects(
        objective, solution.score
    )


def who_objects(objective: Objective, score: Floats) -> str | None:
    """Who says that the other end is up."""
    if votes_for(objective, score, "judges") < 0.0:
        return (
            "judges who voted on many items agree with this ranking, but if those who kept to one "
            "item are heard as well, the votes do not"
        )
    if votes_for(objective, score, "votes") < 0.0:
        return "most judges agree with this ranking, but most votes, by judges with many, do not"
    return None
