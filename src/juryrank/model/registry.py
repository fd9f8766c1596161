"""The named models: what each assumes of noise and judges, and the method that fits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from juryrank.errors import InputError
from juryrank.hints import did_you_mean

Judges = Literal["equal", "accuracy", "reliability"]
Method = Literal["likelihood", "crowd", "rank-centrality", "win-rate"]


@dataclass(frozen=True)
class Model:
    """A model by name; the noise is one of `juryrank.model.noise.NOISES`."""

    name: str
    title: str
    noise: str
    judges: Judges
    """equal: all alike; accuracy: ``F(a_u d)``; reliability: ``eta_u F(d) + (1-eta_u) F(-d)``."""
    method: Method = "likelihood"


MODELS = {
    model.name: model
    for model in (
        Model("hbtl", "Heterogeneous Bradley-Terry-Luce", "gumbel", "accuracy"),
        Model("htcv", "Heterogeneous Thurstone Case V", "normal", "accuracy"),
        Model("htm", "Heterogeneous Thurstone Model with any noise", "gumbel", "accuracy"),
        Model("btl", "Bradley-Terry-Luce", "gumbel", "equal"),
        Model("tcv", "Thurstone Case V", "normal", "equal"),
        Model("crowdbt", "CrowdBT", "gumbel", "reliability", "crowd"),
        Model("crowdtcv", "CrowdTCV", "normal", "reliability", "crowd"),
        Model("rank-centrality", "Rank Centrality", "gumbel", "equal", "rank-centrality"),
        Model("win-rate", "Share of votes won", "gumbel", "equal", "win-rate"),
    )
}
DEFAULT_MODEL = "hbtl"
OTHER_NAMES = {"pl": "btl", "plackett-luce": "btl", "hpl": "hbtl"}
"""Plackett-Luce is Bradley-Terry-Luce on rankings."""


def model_named(name: str) -> Model:
    """Look a model up by its name."""
    name = OTHER_NAMES.get(name, name)
    if name not in MODELS:
        hint = did_you_mean(name, MODELS)
        raise InputError(f"There is no model called {name!r}.{hint} Models: {', '.join(MODELS)}.")
    return MODELS[name]
