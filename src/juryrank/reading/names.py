"""The names people give their columns."""

from __future__ import annotations

import re

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
    ("xs", "ys"),
)
_TEXTS = ("response", "output", "answer", "text", "summary", "image", "audio", "video")
_SIDES_AS_TEXT = tuple(
    (f"{what}{a}", f"{what}{b}")
    for what in _TEXTS
    for a, b in (("_a", "_b"), ("1", "2"), ("_1", "_2"))
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
_RANKINGS = _names(
    "ranked rankings order ordering rank_order ranked_order preference_order preferences "
    "ranked_items ranked_list ranked_options item_order"
)
_SETS = _names(
    "set shown candidates choices alternatives seen slate items_shown shown_items option_set "
    "choice_set item_set"
)
_ITEMS = _names("item_id itemid item_name alternative candidate option object model system")
_PLACES = _names("position place placement placing standing rank_position")
_LISTS = _names("ranking list ballot race task question session")

Tiers = tuple[tuple[str, ...], ...]
NAMES: dict[str, Tiers] = {
    "judge": (
        ("judge",),
        tuple(f"{who}{what}" for who in _JUDGES for what in ("", "_id", "_name", "id", "_hash")),
        ("evaluation_session_id",),  # LMArena's: all votes of a session are one person's
    ),
    "left": (("left",), tuple(a for a, _ in _SIDES), tuple(a for a, _ in _SIDES_AS_TEXT)),
    "right": (("right",), tuple(b for _, b in _SIDES), tuple(b for _, b in _SIDES_AS_TEXT)),
    "winner": (("winner",), _WINNERS),
    "loser": (("loser",), _LOSERS),
    "outcome": (("winner",), (*_OUTCOMES, *_WINNERS, "winners")),
    "choice": (("winner",), (*_OUTCOMES, *_WINNERS)),
    "weight": (("weight",), ("weights", "count", "counts", "n_votes", "multiplicity", "frequency")),
    "ranking": (("ranking",), _RANKINGS),
    "options": (("options",), _SETS),
    "item": (("item",), _ITEMS),
    "position": (("rank",), _PLACES),
    "id": (("ranking_id",), tuple(f"{what}{end}" for what in _LISTS for end in ("", "_id", "id"))),
}
"""The names people give the columns; an earlier tier wins, two of the same tier are a question."""

_ORDINALS = _names("first second third fourth fifth sixth seventh eighth ninth tenth")
_NUMBERED_PLACE = re.compile(r"(rank|choice|position|place|pick|preference)_?([1-9][0-9]*)")
_ORDINAL_PLACE = re.compile(r"([1-9][0-9]*)(?:st|nd|rd|th)(?:_choice|_place)?")


def plain(name: str) -> str:
    """Write a name so that case and the ways to part words do not matter."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def known_names(role: str) -> set[str]:
    """All names by which a column is recognised."""
    return {name for tier in NAMES[role] for name in tier}


def place_of(name: str) -> tuple[str, int]:
    """Give the kind of name a place has, and the number of the place, 0 for no place."""
    name = plain(name)
    if numbered := _NUMBERED_PLACE.fullmatch(name):
        return numbered[1], int(numbered[2])
    if ordinal := _ORDINAL_PLACE.fullmatch(name):
        return "ordinal", int(ordinal[1])
    word = name.removesuffix("_choice").removesuffix("_place")
    return ("word", _ORDINALS.index(word) + 1) if word in _ORDINALS else ("", 0)
