"""Who can be asked about what: labels given by users become codes and rows, and are checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from juryrank.active.rules import NO_LIMIT
from juryrank.errors import InputError, counted, listing
from juryrank.hints import near_names
from juryrank.ranking.labels import is_sequence

Judges = Mapping[Any, Any] | Iterable[Any] | None
LEAST_COST, MOST_COST = 1e-30, 1e30
"""In any unit: beyond, what a question tells for its cost is no number worth the name."""
RANGE_OF_COSTS = f"above 0, from {LEAST_COST:g} to {MOST_COST:g} in a unit of your choice"


def labels_like(given: Iterable[Any], known: pl.Series | None, word: str) -> list[Any]:
    """Labels as the votes write them: of their type, where text stands for it."""
    labels = single(given, word)
    if known is None or not len(known) or not labels:
        return labels
    by_text = {str(label): label for label in known.to_list()}
    found = [
        by_text.get(label, _number(label, known.dtype)) if isinstance(label, str) else label
        for label in labels
    ]
    try:
        return pl.Series(found, dtype=known.dtype, strict=True).to_list()
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        strange = [label for label in found if not _is_of(label, known.dtype)]
        kind = "numbers" if known.dtype.is_numeric() else "text"
        raise InputError(
            f"{counted(len(strange), word)} {'is' if len(strange) == 1 else 'are'} not of the type "
            f"of those in the votes, such as {known[0]!r}: {listing(strange)}. There, {word}s are "
            f"{kind}, and new ones must be, too; or make those in the votes text."
        ) from None


def _is_of(label: object, dtype: pl.DataType) -> bool:
    try:
        pl.Series([label], dtype=dtype, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return False
    return True


def single(given: Iterable[Any], word: str) -> list[Any]:
    """Labels, none of which is several: a list in the cell of a table, say."""
    labels = list(given)
    several = [label for label in labels if is_sequence(label)]
    if several:
        raise InputError(
            f"Each {word} must be text or a number, not several in one: {listing(several)}. In a "
            f"table, give each {word} a row of its own."
        )
    return labels


def _number(text: str, dtype: pl.DataType) -> Any:
    """What a new label stands for, where labels are numbers and it is written as they are."""
    if not dtype.is_numeric():
        return text
    found = pl.Series([text]).cast(dtype, strict=False).item()
    return found if found is not None and str(found) == text else text


def all_items(
    known: pl.Series | None, more: object, retired: object
) -> tuple[list[Any], list[Any]]:
    """The items of the votes and after them new ones; and those that are retired."""
    seen = [] if known is None else known.to_list()
    given = labels_like(_listed(more, "items"), known, "item")
    gone = labels_like(_listed(retired, "retired"), known, "item")
    both = sorted({str(item) for item in gone if item in set(given)})
    if both:
        raise InputError(f"{listing(both)}: an item cannot be both in items and in retired.")
    old = set(seen)
    new = list(dict.fromkeys(item for item in given if item not in old))
    strange = [item for item in gone if item not in old and item not in set(new)]
    if strange:
        raise InputError(f"retired names unknown items: {listing(strange)}.")
    if any(_is_blank(item) for item in new):
        raise InputError("An item without a name cannot be asked about.")
    return [*seen, *new], list(dict.fromkeys(gone))


def _listed(labels: object, what: str) -> list[Any]:
    if labels is None:
        return []
    if not is_sequence(labels):
        raise InputError(f"{what} must be a list of items, not {labels!r}.")
    return list(labels)  # type: ignore[call-overload, no-any-return]


def who_can_be_asked(
    judge: object, judges: Judges, known: pl.Series | None
) -> tuple[list[Any], list[int], list[float]]:
    """Judges, how many questions each can take, and what one costs.

    Nobody in particular is the judge None.
    """
    if judge is not None and judges is not None:
        raise InputError(
            "Give judge (all questions are for it) or judges (who is asked), not both."
        )
    if judges is None and judge is None:
        return [None], [NO_LIMIT], [1.0]
    if judges is None:
        return _named(labels_like([judge], known, "judge"), "judge"), [NO_LIMIT], [1.0]
    if not is_sequence(judges):
        raise InputError(f"judges must be a list of judges, or a mapping, not {judges!r}.")
    each = single(judges, "judge")
    wanted = dict(judges) if isinstance(judges, Mapping) else dict.fromkeys(each, NO_LIMIT)
    names = _named(labels_like(wanted, known, "judge"), "judges")
    _once(names, "judges names a judge")
    if not names:
        raise InputError("judges names nobody: there is nobody to ask.")
    limits = [_limits(name, given) for name, given in zip(names, wanted.values(), strict=True)]
    return names, [count for count, _ in limits], [cost for _, cost in limits]


def alike(who: Sequence[Any], voters: pl.Series) -> list[tuple[str, list[str]]]:
    """New judges whose names are spelled nearly as those of judges who voted, and these.

    Names that differ in their digits alone, such as judge 9 and judge 10, are no slips.
    """
    seen = dict.fromkeys(voters.to_list())
    new = [str(judge) for judge in who if judge is not None and judge not in seen]
    known = [str(judge) for judge in seen] if new else []
    found = []
    for name in new:
        near = [other for other in near_names(name, known) if _may_be_a_slip(name, other)]
        if near:
            found.append((name, near))
    return found


def _may_be_a_slip(name: str, other: str) -> bool:
    """Whether names differ in more than their digits, or in case and blanks alone."""
    return _letters(name) != _letters(other) or _digits(name) == _digits(other)


def _letters(name: str) -> str:
    """A name without its digits, in lower case."""
    return "".join(sign for sign in name.casefold().strip() if not sign.isdecimal())


def _digits(name: str) -> str:
    return "".join(sign for sign in name if sign.isdecimal())


def _once(names: list[Any], what: str) -> list[Any]:
    """Refuse names that are there twice, such as 7 and its text."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"{what} more than once: {listing(twice)}.")
    return names


def _named(judges: list[Any], what: str) -> list[Any]:
    if any(_is_blank(judge) for judge in judges):
        raise InputError(f"{what} has a judge without a name.")
    return judges


def _is_blank(label: object) -> bool:
    """Whether a label is none: missing, NaN, or text of nothing but blanks."""
    is_missing = label is None or (isinstance(label, float) and math.isnan(label))
    return is_missing or (isinstance(label, str) and not label.strip())


def _limits(name: object, given: Any) -> tuple[int, float]:
    """How many questions a judge can take, and what one costs."""
    count, cost = given if isinstance(given, tuple | list) and len(given) == 2 else (given, 1.0)
    count = NO_LIMIT if count is None else count
    is_count = isinstance(count, int | np.integer) and not isinstance(count, bool) and count >= 0
    if not is_count or not _is_cost(cost):
        raise InputError(
            f"judges[{name!r}] must be how many questions it can take, or (questions, cost) with "
            f"a cost {RANGE_OF_COSTS}, not {given!r}."
        )
    return min(int(count), NO_LIMIT), float(cost)


def _is_cost(cost: object) -> bool:
    return isinstance(cost, int | float) and LEAST_COST <= cost <= MOST_COST


def costs_of(
    cost: Mapping[Any, float] | float | None, judges: Sequence[Any], known: pl.Series
) -> dict[Any, float]:
    """What a question costs each judge; one number is for all of them."""
    if cost is None:
        return {}
    if not isinstance(cost, int | float | Mapping):
        raise InputError(f"cost must be a number, or a mapping of judges to numbers, not {cost!r}.")
    if isinstance(cost, Mapping):
        names = _once(labels_like(cost, known, "judge"), "cost names a judge")
        given = dict(zip(names, cost.values(), strict=True))
    else:
        given = dict.fromkeys(judges, cost)
    bad = [f"{judge}={price!r}" for judge, price in given.items() if not _is_cost(price)]
    if bad:
        raise InputError(f"A cost must be a number {RANGE_OF_COSTS}, not {listing(bad)}.")
    strange = [judge for judge in given if judge not in judges]
    if strange:
        raise InputError(f"cost names judges who are not asked: {listing(strange)}.")
    return given
