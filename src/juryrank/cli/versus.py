"""How much better one item is than another: what `juryrank rank --versus` says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from juryrank.errors import InputError

if TYPE_CHECKING:
    from juryrank.inference.intervals import Difference
    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking


@dataclass(frozen=True)
class Versus:
    """How much better one item is than another: in words, and what JSON has of it."""

    sentences: tuple[str, ...]
    answer: dict[str, Any]


def versus(answer: Ranking | Rankings, items: tuple[str, str]) -> Versus:
    """Compare two items given as text, whatever the type of the labels; with each value apart."""
    from juryrank.ranking.by_value import Rankings

    if isinstance(answer, Rankings):
        return _versus_by_value(answer, items)
    found = _difference(answer, items)
    return Versus((str(found),), answer.to_dict() | {"versus": asdict(found)})


def _difference(ranking: Ranking, items: tuple[str, str]) -> Difference:
    known = {str(item): item for item in ranking.items["item"]}
    return ranking.difference(*(known.get(item, item) for item in items))


def _versus_by_value(rankings: Rankings, items: tuple[str, str]) -> Versus:
    """Compare two items for each value, or say why not; complain if that can be done for none."""
    found: dict[object, Difference | InputError] = {}
    for value in rankings:
        try:
            found[value] = _difference(rankings[value], items)
        except InputError as error:
            found[value] = error
    errors = [one for one in found.values() if isinstance(one, InputError)]
    if len(errors) == len(found):
        raise errors[0]
    answer = rankings.to_dict()
    for one in answer["rankings"]:
        if one["value"] in found:
            one["versus"] = _as_dict(found[one["value"]])
    return Versus(tuple(f"{rankings.by} {value}: {one}" for value, one in found.items()), answer)


def _as_dict(difference: Difference | InputError) -> dict[str, Any]:
    if isinstance(difference, InputError):
        return {"error": str(difference)}
    return asdict(difference)
