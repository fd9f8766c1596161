"""What the words of an outcome column say, in the many ways people and LLM judges write them.

``left``, ``L``, ``A``, ``[[A]]``, ``Assistant A``, ``Model A is better``, ``A>B``, ``A>>B``,
``A=B``, ``1-0``. How much better is not used. Numbers mean something only together: 1 and 2 number
the sides; 1, 0.5 and 0 are what the left item scored. 0 and 1 alone may be either, and are asked
about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from juryrank.reading.names import plain
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE

_NOUNS = (
    "assistant|model|response|option|answer|output|item|system|candidate|text|image|summary|"
    "player|team|side|choice|audio|video|one|completion|translation|script|essay|work|paper|story|"
    "sentence|sample|photo|picture|design|version|variant|clip|document|product|bot|chatbot|agent"
)
_SIDE = "(?P<side>a|b|1|2|l|r|left|right|first|second)"
_STRENGTH = "much|slightly|clearly|significantly|far|somewhat|strongly|a_bit|a_little|a_lot"
_BETTER = f"(?:(?:is|was)_)?(?:(?:{_STRENGTH})_)?"
_STATEMENT = re.compile(
    rf"(?:the_)?(?:(?:{_NOUNS})_?)?{_SIDE}(?:_(?:{_NOUNS}))?"
    rf"(?:_{_BETTER}(?:better|best|wins|won|win|preferred|superior))?"
)
_COMPARISON = re.compile(
    rf"(?:(?:{_NOUNS})_?)?(?P<one>[ab12lr])(?P<sign>[<>]{{1,3}}|[=≈~]{{1,2}}|≫|≪)"
    rf"(?:(?:{_NOUNS})_?)?(?P<other>[ab12lr])"
)
_LEFT_WORDS = ("a", "1", "l", "left", "first")
_TWO_SIDES = ({"a", "b"}, {"1", "2"}, {"l", "r"})
_SIGNS = {">": LEFT_WON, "≫": LEFT_WON, "<": RIGHT_WON, "≪": RIGHT_WON}
_POINTS = {"1": 1.0, "0": 0.0, "1/2": 0.5, "0.5": 0.5, "0,5": 0.5, "\u00bd": 0.5}
_HOW_MUCH = re.compile(rf"(?:^|_)(?:{_STRENGTH})(?:_|$)|[<>]{{2,}}|≫|≪")
_RESULT = re.compile(
    "\\s*(?P<left>[01]|1/2|0[.,]5|\u00bd)\\s*[-:\u2013]\\s*(?P<right>[01]|1/2|0[.,]5|\u00bd)\\s*"
)
"""A result as chess players write it: ``1-0``, ``0-1``, ``1/2-1/2`` (also with the sign for it)."""
_CONCLUSION = re.compile(r"\[\[([^\[\]]+)\]\]")
_BRACKETS = re.compile(r"\[+(.*?)\]+|\"(.*?)\"|'(.*?)'|\((.*?)\)|\*\*(.*?)\*\*")


def statement(word: str) -> int | None:
    """Tell what a verdict says by itself; None if it says nothing that is known."""
    if (result := _RESULT.fullmatch(word)) and (points := _points(result)) is not None:
        return points
    concluded = set(_CONCLUSION.findall(word))
    if len(concluded) == 1:  # all that an LLM wrote, with its verdict in it
        word = f"[[{concluded.pop()}]]"
    is_bracketed, bare = _without_brackets(plain(word).rstrip(".!"))
    if is_bracketed and bare == "c":  # the tie of MT-bench's prompt
        return TIE
    compact = bare.replace("_", "")
    if compared := _COMPARISON.fullmatch(compact):
        return _compared(compared["one"], compared["sign"][0], compared["other"])
    said = _STATEMENT.fullmatch(bare)
    if said is None or bare in "12":  # bare numbers are read together, not one by one
        return None
    return LEFT_WON if said["side"] in _LEFT_WORDS else RIGHT_WON


def says_how_much(word: str) -> bool:
    """Tell whether a verdict says how much better an item is, too."""
    return bool(_HOW_MUCH.search(plain(word))) and statement(word) is not None


def _points(result: re.Match[str]) -> int | None:
    """Who won a game; None if the two did not share one point."""
    left, right = _POINTS[result["left"]], _POINTS[result["right"]]
    if left + right != 1:
        return None
    return LEFT_WON if left > right else RIGHT_WON if left < right else TIE


def _without_brackets(word: str) -> tuple[bool, str]:
    match = _BRACKETS.fullmatch(word)
    if match is None:
        return False, word
    return word.startswith("["), next(group for group in match.groups() if group is not None)


def _compared(one: str, sign: str, other: str) -> int | None:
    if {one, other} not in _TWO_SIDES:
        return None
    said = _SIGNS.get(sign, TIE)
    return said if one in _LEFT_WORDS else -said


def numbers_of_sides(left: str, right: str, words: Iterable[str]) -> Mapping[float, int]:
    """Tell what numbers mean as outcomes, seen all together; nothing where that is in doubt.

    Args:
        left: The name of the left item's column: ``response_0`` says that 0 is the left side.
        right: That of the right item's column.
        words: All words of the outcome column.
    """
    numbers = {number for word in words if (number := number_in(word)) is not None}
    ends = [re.search(r"[0-9]+$", name.strip()) for name in (left, right)]
    if all(ends):
        named = dict(
            zip((float(end[0]) for end in ends if end), (LEFT_WON, RIGHT_WON), strict=True)
        )
        if len(named) == 2 and numbers <= set(named):
            return named
    if numbers == {1.0, 2.0}:
        return {1.0: LEFT_WON, 2.0: RIGHT_WON}
    if 1.5 in numbers and numbers <= {1.0, 1.5, 2.0}:
        return {1.0: LEFT_WON, 1.5: TIE, 2.0: RIGHT_WON}
    if 0.5 in numbers and numbers <= {0.0, 0.5, 1.0}:
        return {1.0: LEFT_WON, 0.5: TIE, 0.0: RIGHT_WON}
    return {}


def number_in(word: str) -> float | None:
    """Take a word as a number, also with a decimal comma; None if it is none."""
    bare = word.strip().replace(",", ".")
    return float(bare) if re.fullmatch(r"[+-]?[0-9]+(?:\.[0-9]+)?", bare) else None
