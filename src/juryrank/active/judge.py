"""`Judge`: a program, or a person at a prompt, that is asked which of two items is better."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from juryrank.errors import InputError, counted, listing

LEAST_COST, MOST_MONEY = 1e-9, 1e12
"""In any currency."""
PATIENCE = 120.0
"""Seconds that a call may take, unless it is said."""
AT_ONCE = 8
"""Calls of an async function at the same time, unless it is said."""


@dataclass(frozen=True)
class Judge:
    """Somebody who can be asked which of two items is better, and how.

    Args:
        name: The judge's name in the votes.
        call: A function of two items, what is on the left and what is on the right, sync or async.
            It returns "left", "right" or "tie", or None to refuse; or, where it knows what the
            call has cost, a tuple such as ``("left", 0.002)``, a mapping or an object with
            `outcome` and `cost`. Sync functions are called in threads, async ones in the event
            loop, which they must not block.
        cost: What a call costs at most, in any currency. It counts for each answer that does not
            tell its own cost, and is what is set aside for calls that are out.
        most: How many questions the judge is asked at most; None for any number.
        concurrency: How many calls may be out at the same time; None for 1 if the function is sync
            and 8 if it is async.
        timeout: After so many seconds a call counts as failed; None to wait for ever. A thread
            cannot be stopped, and an answer that comes later than that does not count.
        retries: How often a failed call is repeated.
        wait: Seconds before the first repetition. It is twice as long before each further one, up
            to a minute, and each time somewhat shorter or longer by chance.
        prompt: Call the function in the thread that called `run`, without `timeout`, one question
            at a time, while no progress is shown: for a person at a terminal.
    """

    name: str
    call: Callable[[Any, Any], Any]
    cost: float | None = None
    most: int | None = None
    concurrency: int | None = None
    timeout: float | None = PATIENCE
    retries: int = 3
    wait: float = 1.0
    prompt: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError(f"A judge needs a name, which is text, not {self.name!r}.")
        if not callable(self.call):
            kind = type(self.call).__name__
            raise InputError(
                f"The judge {self.name!r} is a {kind}, which cannot be called. It must be a "
                "function of two items that returns 'left', 'right', 'tie' or None."
            )
        self._require_number("cost", self.cost, least=0.0)
        if self.cost and not LEAST_COST <= self.cost <= MOST_MONEY:
            raise InputError(
                f"The judge {self.name!r} has cost={self.cost!r}; it must be 0, or from "
                f"{LEAST_COST:g} to {MOST_MONEY:g}."
            )
        self._require_number("timeout", self.timeout, above=0.0)
        self._require_number("wait", self.wait, least=0.0)
        self._require_whole("most", self.most, 1)
        self._require_whole("concurrency", self.concurrency, 1)
        self._require_whole("retries", self.retries, 0)
        if self.prompt and (self.is_async or self.concurrency not in (None, 1)):
            raise InputError(
                f"The judge {self.name!r} is at a prompt, where there is one question at a time: "
                "its function must be sync, and concurrency 1."
            )

    def _require_number(
        self, name: str, value: object, least: float = -math.inf, above: float = -math.inf
    ) -> None:
        if value is None and name != "wait":
            return
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not (good and math.isfinite(value) and value >= least and value > above):  # type: ignore[arg-type,operator]
            what = "positive" if above == 0.0 else "finite and not negative"
            raise InputError(f"The judge {self.name!r} has {name}={value!r}; it must be {what}.")

    def _require_whole(self, name: str, value: object, least: int) -> None:
        if value is None and name != "retries":
            return
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(
                f"The judge {self.name!r} has {name}={value!r}; it must be a whole number of at "
                f"least {least}."
            )

    @property
    def is_async(self) -> bool:
        """Whether the function is async."""
        return is_async(self.call)

    @property
    def at_once(self) -> int:
        """How many calls may be out at the same time."""
        return self.concurrency or (AT_ONCE if self.is_async else 1)

    def __repr__(self) -> str:
        told = [f"{self.name!r}"] + [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)[2:]
            if getattr(self, one.name) != one.default
        ]
        return f"Judge({', '.join(told)})"


def is_async(call: object) -> bool:
    """Whether a call of this gives something to be awaited."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(call, "__call__", None)  # noqa: B004  of an object, it may be async
    )


Judges = Mapping[str, Callable[[Any, Any], Any]] | Iterable[Judge]


def judges_by_name(judges: Judges) -> dict[str, Judge]:
    """Take judges as the user gives them: sorted, so that their order decides nothing."""
    if isinstance(judges, Mapping):
        odd = [name for name, call in judges.items() if isinstance(call, Judge)]
        if odd:
            raise InputError(
                f"Judges with settings have their names in them ({listing(odd)}): give a list of "
                "jr.Judge, not a mapping."
            )
        judges = [Judge(name, call) for name, call in judges.items()]
    elif isinstance(judges, Iterable):
        judges = list(judges)
    if not isinstance(judges, list) or not all(isinstance(one, Judge) for one in judges):
        raise InputError(
            "judges must be a mapping of names to functions, such as {'gpt': ask_gpt}, or a list "
            "of jr.Judge."
        )
    if not judges:
        raise InputError("There are no judges: give at least one.")
    named = {one.name: one for one in judges}
    if len(named) < len(judges):
        names = [one.name for one in judges]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(
            f"{counted(len(twice), 'name')} of judges occur more than once: {listing(twice)}."
        )
    return dict(sorted(named.items()))
