"""The names people give their columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

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
    ("generator_1", "generator_2"),
    ("white", "black"),
    ("home", "away"),
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
    "assessor participant grader expert respondent juror taster examiner scorer panelist panellist "
    "evaluateur évaluateur juge votant jurado jury_member verkoster pruefer prüfer gutachter"
    "  bewerter richter beoordelaar"
)
_MORE_JUDGES = _names(
    "judge_model llm_judge judge_llm judge_model_name judge_model_id evaluator_model "
    "annotator_model grader_model annotated_by labeled_by labelled_by rated_by evaluated_by "
    "judged_by completed_by submitted_by prolific_pid prolific_id coder scorer marker teacher "
    "subject subject_id participant_number"
)
_MORE_JUDGES += _names(
    "reviewed_by assessed_by marked_by scored_by voted_by tasted_by graded_by who"
)
_EMAILS = _names("email email_address e_mail username user_name your_name name_of_judge")
_WINNERS = _names(
    "chosen preferred better won winning_item winner_id winner_name winner_model chosen_item "
    "preferred_item"
)
_LOSERS = _names("rejected worse lost losing_item loser_id loser_name loser_model rejected_item")
_THINGS = _names("item model candidate option player team system image text response output")
_WON = _names("winning winner chosen preferred selected better")
_LOST = _names(
    "losing loser rejected not_chosen unchosen not_preferred non_preferred dispreferred unselected "
    "not_selected worse"
)


MODELS_WON = _names("chosen_model winner_model preferred_model")
MODELS_LOST = _names("rejected_model loser_model dispreferred_model")
"""Whose texts were chosen and rejected, where these are given too."""


def _composed(words: tuple[str, ...]) -> tuple[str, ...]:
    """Name a thing by what became of it: ``candidate_chosen``, ``chosen_candidate``."""
    both = [(f"{what}_{word}", f"{word}_{what}") for what in _THINGS for word in words]
    return tuple(f"{name}{end}" for pair in both for name in pair for end in ("", "_id", "_name"))


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
    "choice_set item_set pair pairing matchup match_up"
)
_ITEMS = _names("item_id itemid item_name alternative candidate option object model system")
_ITEM_NAMES = tuple(
    f"{what}{end}"
    for what in ("model", "system", "candidate", "option", "object", "product", "alternative")
    for end in ("_name", "_id")
)
_MORE_ITEMS = _names(
    "response response_id product brand essay essay_id submission submission_id player team movie "
    "image reviewee ratee script script_id work stimulus project project_id paper paper_id "
    "poster proposal proposal_id entry entry_id contestant applicant athlete driver"
)
_STILL_MORE_ITEMS = _names(
    "student student_name wine wein vin vino beer bier cheese dish recipe song film book photo "
    "picture design idea pitch talk speaker logo restaurant city hotel company startup school "
    "variant produit produkt kandidat projekt projet candidat band artist dancer act cake"
)
_REVIEWED = tuple(
    f"{what}_{done}"
    for what in _names("student peer person item work project essay paper candidate entry team")
    for done in _names("reviewed rated judged assessed evaluated marked scored graded")
)
_RATINGS = _names(
    "ratings score stars rating_value likert points mark grade overall_rating overall_score marks "
    "punkte bewertung pts punti puntos puntuacion nota cijfer points_awarded"
)
_POSITIONS = _names("position place placement placing standing rank_position")
_CONTEXTS = _names("prompt context instruction example sample document conversation topic query")
_LISTS = _names("ranking list ballot race task question session")

_NUMBERED = ("1", "2"), ("_1", "_2")
_MORE_SIDES = (
    *((f"{what}{a}", f"{what}{b}") for what in _THINGS for a, b in _NUMBERED),
    *((f"{what}_0", f"{what}_1") for what in _THINGS),
    ("assistant_a", "assistant_b"),
    ("model_a_name", "model_b_name"),
    ("model_name_a", "model_name_b"),
    ("model_name_1", "model_name_2"),
    ("model_a_id", "model_b_id"),
    ("item_a_id", "item_b_id"),
    ("item1_id", "item2_id"),
    ("left_name", "right_name"),
    ("left_image", "right_image"),
    ("image_left", "image_right"),
    ("team_a", "team_b"),
    ("home_team", "away_team"),
)
_MORE_OUTCOMES = _names(
    "response better_response_id better_response better_id which_is_better which_one "
    "human_preference overall_preference pairwise_preference final_verdict comparison "
    "selected_option which_was_better which_one_is_better which_do_you_prefer preferred_one "
    "better_one your_choice pick picked gewinner sieger besser"
)

Tiers = tuple[tuple[str, ...], ...]
NAMES: dict[str, Tiers] = {
    "judge": (
        ("judge",),
        tuple(f"{who}{what}" for who in _JUDGES for what in ("", "_id", "_name", "id", "_hash")),
        ("evaluation_session_id",),  # LMArena's: all votes of a session are one person's
        _MORE_JUDGES,
        tuple(f"{who}_email" for who in _JUDGES),
        _EMAILS,
    ),
    "left": (
        ("left",),
        tuple(a for a, _ in _SIDES),
        tuple(a for a, _ in _SIDES_AS_TEXT),
        tuple(a for a, _ in _MORE_SIDES),
    ),
    "right": (
        ("right",),
        tuple(b for _, b in _SIDES),
        tuple(b for _, b in _SIDES_AS_TEXT),
        tuple(b for _, b in _MORE_SIDES),
    ),
    "winner": (("winner",), MODELS_WON, _WINNERS, _composed(_WON), ("selected", "winners")),
    "loser": (("loser",), MODELS_LOST, _LOSERS, (*_composed(_LOST), *_LOST, "losers")),
    "outcome": (("winner",), (*_OUTCOMES, *_WINNERS, "winners"), _MORE_OUTCOMES),
    "choice": (("winner",), (*_OUTCOMES, *_WINNERS)),
    "weight": (("weight",), ("weights", "count", "counts", "n_votes", "multiplicity", "frequency")),
    "tie": (("tie", "is_tie"), _names("tied is_tied was_tie draw is_draw was_draw drawn is_drawn")),
    "ranking": (("ranking",), _RANKINGS),
    "options": (("options",), _SETS),
    "item": (("item",), _ITEMS, _ITEM_NAMES, _MORE_ITEMS, _REVIEWED, _STILL_MORE_ITEMS),
    "position": (("rank",), _POSITIONS),
    "rating": (("rating",), _RATINGS),
    "id": (
        ("ranking_id",),
        tuple(f"{what}{end}" for what in _LISTS for end in ("", "_id", "id")),
        tuple(f"{what}{end}" for what in _CONTEXTS for end in ("_id", "id")),
        _CONTEXTS,
    ),
}
"""The names people give the columns; an earlier tier wins, two of the same tier are a question."""

COUNTED_WINS = (
    ("wins_a", "wins_b"),
    ("a_wins", "b_wins"),
    ("win1", "win2"),
    ("win_1", "win_2"),
    ("wins1", "wins2"),
    ("wins_1", "wins_2"),
    ("left_wins", "right_wins"),
    ("wins_left", "wins_right"),
    ("home_wins", "away_wins"),
)
"""Names of columns that count the wins of the left and the right item."""
COUNTED_TIES = _names("ties draws tie draw n_ties")

_OTHER_SIDES = {
    "left": ("right",),
    "l": ("r",),
    "a": ("b",),
    "1": ("2",),
    "one": ("two",),
    "first": ("second",),
    "home": ("away", "visitor", "visiting", "guest"),
    "links": ("rechts",),
}
_MOST_WORDS = 50
"""Of a name that tells a side; what is longer is text that was taken for a header."""
_ITEM_WORDS = {*_THINGS, *_names("script essay work paper id name file object product stimulus")}
_ATTRIBUTES = frozenset(
    _names(
        "score scores rating elo time seconds ms rt duration length len tokens words prob "
        "probability confidence comment reason note position rank order win wins won "
        "count votes goals points seed x y width height clicks cost price date judge rater "
        "annotator worker question prompt key button"
    )
)
"""Words in the names of columns that say something about an item, and are not the item."""

_ORDINALS = _names("first second third fourth fifth sixth seventh eighth ninth tenth")
_NUMBERED_RANK = re.compile(
    r"(rank|ranking|choice|position|place|pick|preference|platz|rang|puesto|lugar)_?([1-9][0-9]*)"
)
_BRACKETED = re.compile(r"\s*(.*?)\s*\[\s*([^\[\]]+?)\s*\]\s*", re.DOTALL)
_ORDINAL_RANK = re.compile(r"([1-9][0-9]*)(?:st|nd|rd|th)(?:_choice|_place)?")


@lru_cache(maxsize=1 << 18)
def plain(name: str) -> str:
    """Write a name so that case and the ways to part words do not matter."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


_SCALE_BEHIND = re.compile(
    r"""(?<!\s)(?:
        \s*\((?:(?=[^()]*[0-9])(?=[^()]*[^()0-9\s])[^()]*|[^()]*%)\)
        | \s*\[\s*[0-9.]+\s*(?:-|\u2013|to|/)\s*[0-9.]+\s*\]
        | \s*/\s*[0-9]+
        | (?:\s*,)?\s+out\s+of\s*[0-9]+
        | \s*[?:*%]
    )\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands behind a name and tells how it was asked: ``Mark (1-10)``, ``Better?``."""
_LONGEST_SCALE = 300
"""Characters at the end of a name that are looked at for it."""


@lru_cache(maxsize=1 << 18)
def without_scale(name: str) -> str:
    """Drop the scale, or the question mark, that stands behind the name of a column."""
    bare = name.strip()
    while True:
        start, end = bare[:-_LONGEST_SCALE], bare[-_LONGEST_SCALE:]
        shorter = start + _SCALE_BEHIND.sub("", end)
        if shorter == bare or not shorter:
            return bare
        bare = shorter


def side_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Find columns that are called the same but for a left and a right, or an a and a b.

    ``script_left, script_right``; those of what is only known about the items are none, such as
    ``score_a, score_b``. Of several those are meant whose names say that they are the items.
    """
    words = {name: tuple(re.split(r"[_.]", plain(_parted(name)))) for name in names}
    named = {of_name: name for name, of_name in words.items()}
    found = []
    for name, own in words.items():
        if not 1 < len(own) <= _MOST_WORDS or _ATTRIBUTES & set(own):
            continue
        for at, word in enumerate(own):
            is_third = word == "1" and (*own[:at], "3", *own[at + 1 :]) in named
            if is_third:
                continue
            others = ((*own[:at], side, *own[at + 1 :]) for side in _OTHER_SIDES.get(word, ()))
            found += [(name, named[other]) for other in others if other in named]
    sure = [pair for pair in found if _ITEM_WORDS & set(words[pair[0]])]
    return sure or found


def _parted(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[12]$)", "_", name)


def last_part(name: str) -> str:
    """Give what a name is of: ``Answer.choice`` in MTurk's files, ``OUTPUT:choice`` in Toloka's."""
    if name.lower().startswith(("input.", "answer.")):
        return name.rsplit(".", 1)[-1]
    if name.lower().startswith(("input:", "output:", "assignment:")):
        return name.split(":", 1)[-1]
    return name


def in_brackets(name: str) -> re.Match[str] | None:
    """Take a survey's column apart: ``Rank the drinks [Tea]`` is a question and its row."""
    return _BRACKETED.fullmatch(name)


@cache
def known_names(role: str) -> frozenset[str]:
    """All names by which a column is recognised."""
    return frozenset(name for tier in NAMES[role] for name in tier)


class RankName(NamedTuple):
    """What the name of a column of a rank says."""

    question: str
    """What was asked, where the rank stands in brackets behind it."""
    kind: str
    number: int
    """0 for no rank."""


NO_RANK = RankName("", "", 0)


def rank_of(name: str) -> RankName:
    """Tell which rank a column is for: ``1st``, ``rank_2``, ``Your favourites [3rd choice]``."""
    question = ""
    if bracketed := in_brackets(name):
        question, name = bracketed[1], bracketed[2]
    name = plain(name)
    if numbered := _NUMBERED_RANK.fullmatch(name):
        return RankName(question, numbered[1], int(numbered[2]))
    if ordinal := _ORDINAL_RANK.fullmatch(name):
        return RankName(question, "ordinal", int(ordinal[1]))
    word = name.removesuffix("_choice").removesuffix("_place")
    if word not in _ORDINALS:
        return NO_RANK
    return RankName(question, "word", _ORDINALS.index(word) + 1)
