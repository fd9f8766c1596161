"""Which column is what: recognised from the header, or named by the user."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from juryrank.errors import InputError, listing

_SIDES = (
    ("model_a", "model_b"),
    ("item_a", "item_b"),
    ("option_a", "option_b"),
    ("a", "b"),
    ("item1", "item2"),
    ("item_1", "item_2"),
    ("model1", "model2"),
    ("model_1", "model_2"),
    ("option1", "option2"),
    ("option_1", "option_2"),
    ("first", "second"),
    ("left_item", "right_item"),
    ("item_left", "item_right"),
    ("left_id", "right_id"),
    ("left_model", "right_model"),
    ("model_left", "model_right"),
    ("player_a", "player_b"),
    ("system_a", "system_b"),
    ("candidate_a", "candidate_b"),
)
_SIDES_AS_TEXT = (
    ("response_a", "response_b"),
    ("output_a", "output_b"),
    ("answer_a", "answer_b"),
    ("text_a", "text_b"),
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_JUDGES = _names(
    "judge worker annotator rater user performer labeler labeller evaluator reviewer voter "
    "assessor participant grader expert respondent"
)
_WINNERS = _names(
    "chosen preferred better won winning_item winner_id winner_name winner_model chosen_item "
    "preferred_item"
)
_LOSERS = _names("rejected worse lost losing_item loser_id loser_name loser_model rejected_item")
_OUTCOMES = _names(
    "outcome label result choice preference vote answer verdict judgment judgement decision "
    "selected selection"
)

Tiers = tuple[tuple[str, ...], ...]
NAMES: dict[str, Tiers] = {
    "judge": (
        ("judge",),
        tuple(f"{who}{what}" for who in _JUDGES for what in ("", "_id", "_name", "id")),
    ),
    "left": (("left",), tuple(a for a, _ in _SIDES), tuple(a for a, _ in _SIDES_AS_TEXT)),
    "right": (("right",), tuple(b for _, b in _SIDES), tuple(b for _, b in _SIDES_AS_TEXT)),
    "winner": (("winner",), _WINNERS),
    "loser": (("loser",), _LOSERS),
    "outcome": (("winner",), (*_OUTCOMES, *_WINNERS)),
    "weight": (("weight",), ("weights", "count", "counts", "n_votes", "multiplicity", "frequency")),
}
"""The names people give the columns; an earlier tier wins, two of the same tier are a question."""

SIDES_SHAPE, WINS_SHAPE = ("left", "right", "outcome"), ("winner", "loser")
_MEANING = {
    "judge": "the judge",
    "left": "the left item",
    "right": "the right item",
    "winner": "the winner",
    "loser": "the loser",
    "outcome": "the outcome",
    "weight": "the weight",
}


@dataclass(frozen=True)
class Columns:
    """The user's columns by what they hold; without an outcome, left is the winner."""

    left: str
    right: str
    outcome: str | None
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        every = (self.judge, self.left, self.right, self.outcome, self.weight)
        return [name for name in every if name is not None]


def plain(name: str) -> str:
    """Write a name so that case and the ways to part words do not matter."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def choose(source: str, names: Sequence[str], asked: Mapping[str, str | None]) -> Columns:
    """Decide which columns hold what.

    Args:
        source: The name of the file, for complaints.
        names: The header.
        asked: The user's own choice for some of judge, winner, loser, left, right and weight.
    """
    given = {
        role: _column_named(source, names, role, name)
        for role, name in asked.items()
        if name is not None
    }
    _check_given(given)
    found = _Header(source, names, given)
    shape = _shape(found, given)
    missing = [role for role in shape if not found.matches(role)]
    if missing:
        raise _missing(source, names, missing[0])
    chosen = [found.column(role) for role in (*shape, "judge", "weight")]
    _check_not_doubled(source, names, chosen)
    left, right, *outcome, judge, weight = chosen
    return Columns(str(left), str(right), outcome[0] if outcome else None, judge, weight)


@dataclass(frozen=True)
class _Header:
    source: str
    names: Sequence[str]
    given: Mapping[str, str]

    def matches(self, role: str) -> list[str]:
        """Find the columns that may hold something, only the best of them."""
        # In a file of sides, the winner the user names is the outcome.
        asked = self.given.get("winner" if role == "outcome" else role)
        if asked is not None:
            return [asked]
        free = [name for name in self.names if name not in self.given.values()]
        for tier in NAMES[role]:
            found = [name for name in free if plain(name) in tier]
            if found:
                return [role] if role in found else found
        return []

    def column(self, role: str) -> str | None:
        """Give the column that holds something, if any."""
        found = self.matches(role)
        if len(found) > 1:
            keyword = _keyword(role)
            raise InputError(
                f"{self.source} has {len(found)} columns that may be {_MEANING[role]}: "
                f"{', '.join(found)}. Choose one, for example with --{keyword} {found[0]} "
                f"({keyword}={found[0]!r})."
            )
        return found[0] if found else None


def _shape(found: _Header, given: Collection[str]) -> tuple[str, ...]:
    if "left" in given or "right" in given:
        return SIDES_SHAPE
    if "loser" in given:
        return WINS_SHAPE
    sides_lack, wins_lack = (
        sum(not found.matches(role) for role in shape) for shape in (SIDES_SHAPE, WINS_SHAPE)
    )
    return SIDES_SHAPE if sides_lack == 0 or sides_lack < wins_lack else WINS_SHAPE


def _keyword(role: str) -> str:
    return "winner" if role == "outcome" else role


def _column_named(source: str, names: Sequence[str], role: str, wanted: str) -> str:
    if wanted in names:
        return wanted
    alike = [name for name in names if plain(name) == plain(wanted)]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(wanted, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(
        f"{source} has no column {wanted!r}, asked for as {_MEANING[role]}. "
        f"Columns found: {listing(names, 20)}.{hint}"
    )


def _check_given(given: Mapping[str, str]) -> None:
    if len(set(given.values())) < len(given):
        said = ", ".join(f"{role}={name!r}" for role, name in given.items())
        raise InputError(f"One column cannot be two things: {said}.")
    if "loser" in given and ("left" in given or "right" in given):
        raise InputError("Name a loser, or a left and a right item, but not both.")


def _check_not_doubled(source: str, names: Sequence[str], chosen: Sequence[str | None]) -> None:
    # Polars renames the second of two columns of one name in CSV.
    doubled = [name for name in chosen if f"{name}_duplicated_0" in names]
    if doubled:
        raise InputError(f"{source} has more than one column {doubled[0]!r}. Rename or remove one.")


def _missing(source: str, names: Sequence[str], role: str) -> InputError:
    keyword = _keyword(role)
    known = {name for tier in NAMES[role] for name in tier}
    scores = {
        name: max(difflib.SequenceMatcher(None, plain(name), other).ratio() for other in known)
        for name in names
        if plain(name) not in NAMES["judge"][0]
    }
    near = max(scores, key=lambda name: scores[name], default="")
    hint = (
        f" Nearest match: {near!r}; if that is it, say --{keyword} {near} ({keyword}={near!r})."
        if scores.get(near, 0) >= 0.6
        else f" If another column is it, name it with --{keyword} ({keyword}=...)."
    )
    return InputError(
        f"{source} has no column for {_MEANING[role]}. Columns found: {listing(names, 20)}.{hint} "
        "Votes have the columns judge, winner, loser, or judge, left, right, winner."
    )
