"""A task: what is to be fitted, checked; and the interface of the ways to fit it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from juryrank.errors import InputError
from juryrank.inference.sampling import Length
from juryrank.model.effects import EffectModel
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import FIRST_GUESS, Prior
from juryrank.model.registry import Model
from juryrank.progress import Watcher
from juryrank.ranking.fitted import Fitted
from juryrank.votes.coded import CodedVotes
from juryrank.votes.connectivity import Connection
from juryrank.votes.votes import Votes

USUAL_SPREAD = 0.5
"""Of accuracies, where the virtual node holds the scores."""


@dataclass(frozen=True)
class Method(ABC):
    """A way to fit a task: a solver with its settings, and what is done before and after it.

    Those that models name are in `juryrank.ranking.methods.METHODS`.
    """

    solver: Any
    """An instance of"""
    settings: ClassVar[type[Any]]
    """the class that users may give an instance of, instead of a name."""
    estimates_effects: ClassVar[bool] = False
    """Whether ties as an outcome and the advantage of a side are estimated."""
    chooses_prior: ClassVar[bool] = True
    """Whether the data can choose the scales of the prior."""
    finds_optimum: ClassVar[bool] = False
    """Whether the curvature at the solution says how sure it is."""

    @abstractmethod
    def fit(self, task: Task, watch: Watcher | None = None) -> Fitted:
        """Find scores and accuracies, telling a watcher how far it is."""


@dataclass(frozen=True, eq=False)
class Task:
    """What was asked for, checked."""

    votes: Votes
    coded: CodedVotes
    """The votes as the model counts them."""
    effects: EffectModel
    connection: Connection
    model: Model
    noise: Noise
    prior: Prior | None
    """None: to be chosen by the data."""
    lambda0: float
    method: Method
    guard: bool
    tastes: bool
    """Whether judges may have tastes of their own."""
    unasked_ties: bool
    """Whether the data decide if judges differ in how readily they tie."""
    unasked_half: bool
    """Whether ties count half for each side though nobody has asked for it."""
    of_mode: bool
    """Whether the best fit is asked for, where the posterior could be sampled too."""
    length: Length
    """How long the posterior is sampled."""
    threads: int

    @property
    def regularised(self) -> bool:
        """Whether something keeps the scores finite."""
        return self.prior is None or np.isfinite(self.prior.score_sd) or self.lambda0 > 0.0

    @property
    def accuracies_free(self) -> bool:
        """Whether accuracies are estimated."""
        return self.model.has_accuracies and self.votes.n_judges > 1

    def objective(self) -> Objective:
        """The objective to begin with."""
        return Objective(
            votes=self.coded,
            noise=self.noise,
            prior=self._first_prior(),
            lambda0=self.lambda0,
            fixed_accuracy=None if self.accuracies_free else np.ones(self.votes.n_judges),
            threads=self.threads,
            effects=self.effects,
        )

    @property
    def chooses_scales(self) -> bool:
        """Whether the data say how strong the prior is."""
        return self.prior is None and not self.lambda0

    def _first_prior(self) -> Prior:
        if self.prior is not None:
            return self.prior
        if self.lambda0:
            return replace(FIRST_GUESS, score_sd=np.inf, accuracy_sd=USUAL_SPREAD)
        return FIRST_GUESS


# --- when the votes alone cannot decide ----------------------------------------------------------


def require_scale(task: Task, objective: Objective) -> None:
    """Refuse a fit whose scores would shrink for ever."""
    if task.lambda0 and not objective.has_scale:
        raise InputError(
            f"lambda0={task.lambda0:g} pulls all scores to 0 while the accuracies, which have no "
            "prior, can grow without end: there is no best fit. Use prior='auto' (--prior auto), "
            "or solver='paper' (--solver paper), which stops early."
        )


def require_strong(task: Task) -> None:
    """Refuse votes that Rank Centrality cannot rank."""
    if not task.connection.is_strong:
        raise InputError(
            "Rank Centrality needs every item to have beaten every other one, if only through "
            f"others, and here {groups_in_words(task)}. Use another model, or collect votes that "
            "link them."
        )


def require_connected(task: Task) -> None:
    """Refuse votes that maximum likelihood cannot rank."""
    if not task.regularised and not task.connection.is_strong:
        raise InputError(
            f"Without a prior these votes cannot rank the items: {groups_in_words(task)}. Their "
            "distance would be infinite or arbitrary. Use prior='auto' (--prior auto), or collect "
            "votes that link them."
        )


def groups_in_words(task: Task) -> str:
    """What keeps the votes from ranking all items."""
    return "; ".join(task.connection.sentences(task.votes.items))
