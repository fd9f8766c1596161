"""The named models, as data: what each assumes, what votes it takes, how it is fitted.

A model is one entry of `MODELS`, and what it can is read off its fields: a new one is an entry here
and a test. A new way to fit models is an entry in `juryrank.ranking.methods.METHODS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from juryrank.errors import InputError
from juryrank.hints import did_you_mean

Judges = Literal["equal", "accuracy", "reliability"]
Link = Literal["accuracy", "reliability", "odds", "share"]
DEFAULT_SOLVER = "profile"


@dataclass(frozen=True)
class JudgeScale:
    """What the number means that a model gives to a judge."""

    differ: bool
    """Whether judges may have different ones."""
    guessing: float
    """That of a judge who guesses."""
    is_gauged: bool = True
    """Whether the average judge has 1 by convention: the votes tell it only up to a factor."""
    lowest: float = -math.inf
    highest: float = math.inf


JUDGE_SCALES: dict[Judges, JudgeScale] = {
    "equal": JudgeScale(differ=False, guessing=0.0),
    "accuracy": JudgeScale(differ=True, guessing=0.0),
    "reliability": JudgeScale(
        differ=True, guessing=0.5, is_gauged=False, lowest=0.0, highest=1.0
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A model by name; what it can stands in its fields, and nowhere else."""

    name: str
    title: str
    noise: str
    """One of `juryrank.model.noise.NOISES`."""
    judges: Judges
    """equal: all alike; accuracy: ``F(a_u d)``; reliability: ``eta_u F(d) + (1-eta_u) F(-d)``."""
    solvers: tuple[str, ...] = (DEFAULT_SOLVER, "paper")
    """The ways to fit it, from `juryrank.ranking.methods.METHODS`, the usual one first."""
    link: Link = "accuracy"
    """How a vote is predicted: by ``F(a_u d)``, sides and ties included; by reliabilities; by the
    odds ``F(d)`` alone; or by the items' shares of votes."""
    any_noise: bool = False
    """Whether users may choose the noise."""
    odds: bool = True
    """Whether differences between scores say how votes arise: as odds, and within groups of items
    that were compared."""
    lists: bool = True
    """Whether it takes rankings and choices, or pairs alone."""
    ties: bool = True
    """Whether a tie can be an outcome of its own."""
    order: bool = True
    """Whether the advantage of a side can be estimated."""
    prior: bool = True
    """Whether it takes a prior, or the virtual node."""
    tastes: bool = False
    """Whether judges can have tastes of their own."""
    intervals: bool = True
    """Whether anything is known of errors."""

    @property
    def judge_scale(self) -> JudgeScale:
        """What the numbers of judges mean."""
        return JUDGE_SCALES[self.judges]

    @property
    def judges_differ(self) -> bool:
        """Whether it tells judges apart."""
        return self.judge_scale.differ

    @property
    def has_accuracies(self) -> bool:
        """Whether judges differ in accuracy, on the scale where the average judge has 1."""
        return self.judges_differ and self.judge_scale.is_gauged

    @property
    def chooses_questions(self) -> bool:
        """Whether it says how sure it is of each vote, which choosing questions needs."""
        return self.link == "accuracy"

    @property
    def has_noise(self) -> bool:
        """Whether it says how judges err."""
        return self.link != "share"


def _counted(name: str, title: str, link: Link) -> Model:
    """A method that counts: it knows pairs of items and nothing else."""
    return Model(
        name, title, "gumbel", "equal", (name,), link,
        odds=False, lists=False, ties=False, order=False, prior=False, intervals=False,
    )  # fmt: skip


def _crowd(name: str, title: str, noise: str) -> Model:
    """Chen et al. (2013): judges who say the opposite of what they see now and then."""
    return Model(
        name, title, noise, "reliability", ("crowd",), "reliability",
        lists=False, ties=False, order=False,
    )  # fmt: skip


MODELS = {
    model.name: model
    for model in (
        Model("hbtl", "Heterogeneous Bradley-Terry-Luce", "gumbel", "accuracy", tastes=True),
        Model("htcv", "Heterogeneous Thurstone Case V", "normal", "accuracy", tastes=True),
        Model(
            "htm", "Heterogeneous Thurstone Model with any noise", "gumbel", "accuracy",
            any_noise=True, tastes=True,
        ),
        Model("btl", "Bradley-Terry-Luce", "gumbel", "equal"),
        Model("tcv", "Thurstone Case V", "normal", "equal"),
        _crowd("crowdbt", "CrowdBT", "gumbel"),
        _crowd("crowdtcv", "CrowdTCV", "normal"),
        _counted("rank-centrality", "Rank Centrality", "odds"),
        _counted("win-rate", "Share of votes won", "share"),
    )
}  # fmt: skip
DEFAULT_MODEL = "hbtl"
OTHER_NAMES = {"pl": "btl", "plackett-luce": "btl", "hpl": "hbtl"}
"""Plackett-Luce is Bradley-Terry-Luce on rankings."""


def model_named(name: object) -> Model:
    """Look a model up by its name."""
    if not isinstance(name, str):
        raise InputError(f"There is no model called {name!r}. Models: {', '.join(MODELS)}.")
    name = OTHER_NAMES.get(name, name)
    if name not in MODELS:
        hint = did_you_mean(name, MODELS)
        raise InputError(f"There is no model called {name!r}.{hint} Models: {', '.join(MODELS)}.")
    return MODELS[name]


def models_that(can: Callable[[Model], bool], word: str) -> str:
    """Name the models of a kind: "hbtl, htcv and htm", with the last word before the last."""
    *names, last = (model.name for model in MODELS.values() if can(model))
    return f"{', '.join(names)} {word} {last}" if names else last
