"""What a judge's function has returned, as an outcome and a cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from reprlib import Repr
from typing import Any

from juryrank.text import short

WIDEST = 80
DECIDED = ("left", "right", "tie")
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = WIDEST


class Malformed(ValueError):  # noqa: N818  it is what the answer is
    """The answer is none that is known; the message shows it in short."""


@dataclass(frozen=True)
class Reply:
    """What the judge said, and what the call has cost, if the judge told it."""

    outcome: str | None
    """left, right or tie; None for a refusal."""
    cost: float | None = None


def reply_of(value: Any) -> Reply:
    """Read what a judge's function has returned."""
    outcome, cost = _parts(value)
    return Reply(_outcome(outcome, value), _cost(cost, value))


def _parts(value: Any) -> tuple[Any, Any]:
    if value is None or isinstance(value, str):
        return value, None
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise _malformed(value)
        return value[0], value[1]
    if isinstance(value, Mapping):
        if "outcome" not in value:
            raise _malformed(value)
        return value["outcome"], value.get("cost")
    try:
        return value.outcome, getattr(value, "cost", None)
    except Exception as error:  # whatever an object's attributes may do
        raise _malformed(value) from error


def _outcome(outcome: Any, value: Any) -> str | None:
    if outcome is None:
        return None
    said = outcome.strip().lower() if isinstance(outcome, str) else ""
    if said not in DECIDED:
        raise _malformed(value)
    return str(said)


def _cost(cost: Any, value: Any) -> float | None:
    if cost is None:
        return None
    if isinstance(cost, bool) or not isinstance(cost, Real | Decimal):
        raise _malformed(value)
    amount = float(cost)
    if not (math.isfinite(amount) and amount >= 0.0):
        raise _malformed(value)
    return amount


def _malformed(value: Any) -> Malformed:
    return Malformed(
        f"the answer {in_short(value)} is none of 'left', 'right', 'tie' and None, alone or with "
        "its cost"
    )


def in_short(value: Any) -> str:
    """Show a value, which may be huge, or not be able to show itself."""
    try:
        return short(_REPR.repr(value), WIDEST)
    except Exception:  # whatever its __repr__ may do
        return f"<{type(value).__name__}>"
