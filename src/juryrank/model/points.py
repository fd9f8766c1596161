"""The scale on which scores are told: the model's own, or one like that of Elo ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from juryrank.errors import InputError
from juryrank.hints import did_you_mean
from juryrank.model.registry import Model

if TYPE_CHECKING:
    from juryrank.model.noise import Noise

ScaleName = Literal["model", "elo"]
Anchor = tuple[object, float]
"""An item, and the points it is to have."""

POINTS_FOR_TEN_TO_ONE = 400.0
AVERAGE_POINTS = 1000.0
MOST_POINTS = 1e9
"""Beyond, the differences between items would be lost among the digits."""


@dataclass(frozen=True)
class Scale:
    """How points are told from the scores of the model: ``average + unit * score``."""

    name: ScaleName = "model"
    unit: float = 1.0
    """The points of a unit of the model's scores."""
    average: float = 0.0
    """The points of the average item."""
    anchor: Anchor | None = None
    """The item that was given its points, if any."""

    def __repr__(self) -> str:
        if self.name == "model":
            return "Scale(model)"
        anchor = "" if self.anchor is None else f", {self.anchor[0]} has {self.anchor[1]:g}"
        return f"Scale({self.name}: {self.average:.6g} + {self.unit:.6g} * score{anchor})"

    @property
    def decimals(self) -> int:
        """How many decimals are worth showing."""
        return 0 if self.name == "elo" else 2

    def to_dict(self) -> dict[str, Any]:
        """The scale as a plain dictionary."""
        item, points = self.anchor or (None, None)
        anchor = None if self.anchor is None else {"item": item, "points": points}
        return {"name": self.name, "unit": self.unit, "average": self.average, "anchor": anchor}


MODEL_SCALE = Scale()


def elo_unit(noise: Noise) -> float:
    """How many points a difference of 1 between the model's scores is.

    ``4 F'(0) 400 / log 10``: as many as make the win probability rise as steeply at even odds as
    ``1 / (1 + 10^(-points / 400))`` does. For Gumbel noise ``F'(0)`` is 1/4, and both are the same
    everywhere.
    """
    gradient = float(noise.terms(0.0)[1])  # of -log F, which is -F'(0) / F(0) with F(0) = 1/2
    return -2.0 * gradient * POINTS_FOR_TEN_TO_ONE / math.log(10.0)


def check_scale(name: str, model: Model, anchor: object = None) -> None:
    """Complain about a scale that does not exist, or that a model's scores cannot be told on."""
    if name not in get_args(ScaleName):
        raise InputError(f"There is no scale {name!r}. Scales: {', '.join(get_args(ScaleName))}.")
    if name == "model" and anchor is not None:
        raise InputError(
            "An anchor is for the scale elo: the zero of the model's own scale is fixed."
        )
    if name == "elo" and not model.odds:
        raise InputError(
            f"The scores of {model.name} say nothing about odds, on which the scale elo is based. "
            "Choose a model that estimates them, such as hbtl or btl."
        )


def check_anchor(anchor: object, items: Sequence[object]) -> Anchor:
    """Check that an anchor is an item of these and the number of its points."""
    if not isinstance(anchor, list | tuple) or len(anchor) != 2:
        raise InputError(f"The anchor {anchor!r} must be an item and its points: ('item', 1000).")
    item, points = anchor
    if isinstance(points, str) or not _is_small_number(points):
        raise InputError(
            f"The points of the anchor {item} must be a number of at most {MOST_POINTS:,.0f}, not "
            f"{points!r}."
        )
    if item not in items:
        hint = did_you_mean(item, items)
        raise InputError(f"The anchor {item!r} is not an item in the votes.{hint}")
    return item, float(points)


def _is_small_number(points: Any) -> bool:
    try:
        return abs(float(points)) <= MOST_POINTS
    except (TypeError, ValueError, OverflowError):
        return False


def anchor_in(text: str) -> tuple[str, float]:
    """Take an anchor from text: the item may have ``=`` in its name, the points have none."""
    item, sign, points = text.rpartition("=")
    try:
        found = float(points)
    except ValueError:
        found = math.nan
    if not sign or not item or not _is_small_number(found):
        raise InputError(
            f"The anchor {text!r} must be ITEM=POINTS, with points that are a number of at most "
            f"{MOST_POINTS:,.0f}, such as 'gpt-4=1000'."
        )
    return item, found
