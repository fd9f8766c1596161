"""Votes and money: what is left of them, with what is out at judges counted as spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from juryrank.active.judge import MOST_MONEY, Judge
from juryrank.errors import InputError, listing
from juryrank.reading.run_log import Answer, History, exact

NOTHING = Decimal(0)


@dataclass
class _Bill:
    """What a judge's answers have cost."""

    answers: int = 0
    total: Decimal = NOTHING
    highest: Decimal = NOTHING

    def add(self, answer: Answer) -> None:
        cost = exact(answer.cost)
        self.answers += 1
        self.total += cost
        self.highest = max(self.highest, cost)


@dataclass
class Purse:
    """What may still be spent.

    A call is only made if its price is set aside for it before: what is spent and what is set aside
    are never more than what there is, as long as no answer costs more than its price.
    """

    judges: Mapping[str, Judge]
    history: History
    votes: int | None = None
    money: Decimal | None = None
    _set_aside: Decimal = NOTHING
    _bills: dict[str, _Bill] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bills = {name: _Bill() for name in self.judges}
        for answer in self.history.answers.values():
            self.note(answer)

    def note(self, answer: Answer) -> None:
        """Learn from an answer what the judge's answers cost."""
        self._bills[self.history.questions[answer.id].judge].add(answer)

    def price(self, judge: str) -> Decimal:
        """What a call costs at most, as far as is known: as declared, or the dearest so far."""
        return max(exact(self.judges[judge].cost or 0.0), self._bills[judge].highest)

    def burden(self, judge: str) -> float:
        """Which share of what is left an answer takes: of the votes, and of the money.

        Where both are limited, an answer that costs much is worth it if votes are the shorter.
        """
        votes, money = self.votes_left, self.money_left
        of_votes = 1.0 / votes if votes else 0.0
        return of_votes + (self._usual_cost(judge) / float(money) if money else 0.0)

    def _usual_cost(self, judge: str) -> float:
        """What an answer costs: the mean so far, before the first as declared."""
        bill = self._bills[judge]
        if bill.answers:
            return float(bill.total / bill.answers)
        return self.judges[judge].cost or 0.0

    @property
    def money_left(self) -> Decimal | None:
        """What is neither spent nor set aside; None if there is no limit."""
        return None if self.money is None else self.money - self.history.spent - self._set_aside

    @property
    def votes_left(self) -> int | None:
        """How many more questions may be asked; None if there is no limit."""
        if self.votes is None:
            return None
        return max(self.votes - len(self.history.answers) - len(self.history.out), 0)

    def affordable(self, judge: str) -> int | None:
        """How many calls of a judge can be paid; None for any number."""
        left, price = self.money_left, self.price(judge)
        if left is None or (not price and left >= 0):
            return None
        return max(int(left / price), 0) if price else 0

    def too_dear(self) -> str:
        """That not a single question could be paid, if it is so; else nothing."""
        prices = {name: self.price(name) for name in self.judges}
        cheapest = min(prices, key=lambda name: prices[name])
        if self.money is None or self.history.spent or prices[cheapest] <= self.money:
            return ""
        return (
            f"spend={float(self.money):g} does not pay a single question: the cheapest judge, "
            f"{cheapest}, costs {float(prices[cheapest]):g}. Nobody was asked."
        )

    def set_aside(self, price: Decimal) -> bool:
        """Set the price of a call aside; False if there is not enough left."""
        left = self.money_left
        if left is not None and price > left:
            return False
        self._set_aside += price
        return True

    def give_back(self, price: Decimal) -> None:
        """What was set aside is spent, or not needed."""
        self._set_aside -= price


def checked_budget(
    budget: int | None, spend: float | None, judges: Mapping[str, Judge]
) -> tuple[int | None, Decimal | None]:
    """Check how many votes and how much money there are."""
    if budget is None and spend is None:
        raise InputError(
            "How many votes may be asked for (budget=500), or how much may they cost (spend=5.0)? "
            "Give one of the two, or both."
        )
    if budget is not None and (
        not isinstance(budget, int) or isinstance(budget, bool) or budget < 1
    ):
        raise InputError(f"budget={budget!r} must be a whole number of votes, at least 1.")
    if spend is None:
        return budget, None
    is_number = isinstance(spend, int | float | Decimal) and not isinstance(spend, bool)
    if not (is_number and math.isfinite(spend) and 0 < spend <= MOST_MONEY):
        raise InputError(
            f"spend={spend!r} must be a positive amount of money, at most {MOST_MONEY:g}."
        )
    unknown = [judge.name for judge in judges.values() if judge.cost is None]
    if unknown:
        raise InputError(
            f"spend={spend!r} needs to know what a call costs at most, and {listing(unknown)} "
            "did not say: jr.Judge(name, call, cost=0.01), or cost=0 if it is free."
        )
    free = [judge.name for judge in judges.values() if not judge.cost and judge.most is None]
    if free and budget is None:
        raise InputError(
            f"{listing(free)} can be asked for ever, as that is free: give a budget of votes, too, "
            "or the most questions for this judge (jr.Judge(..., most=100))."
        )
    return budget, Decimal(str(spend))
