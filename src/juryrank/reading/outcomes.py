"""Who won: the words of an outcome column, and what they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, counted, listing
from juryrank.reading.coding import PIECE, Coded, coded, labels, translated
from juryrank.reading.columns import PairColumns
from juryrank.reading.names import NAMES, plain
from juryrank.reading.outcome_words import (
    number_in,
    numbers_of_sides,
    says_how_much,
    statement,
)
from juryrank.votes.similar_names import looks
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE

UNKNOWN, AMBIGUOUS, SKIP, BOTH_BAD = 2, 3, 4, 5
"""Beside `LEFT_WON`, `TIE` and `RIGHT_WON`: what a row can be before it is a vote."""

_MEANINGS = {
    "left": LEFT_WON,
    "right": RIGHT_WON,
    "tie": TIE,
    "both_bad": BOTH_BAD,
    "skip": SKIP,
}
ADVICE = "Fix the file or map them with --outcome-map."
MEANINGS = "left, right, tie, both_bad or skip"
_TIES = (
    "tie", "ties", "tied", "draw", "drawn", "equal", "equally_good", "both_good", "both_are_good",
    "same", "the_same", "about_the_same", "no_preference", "no_difference", "indifferent",
    "(tie)", "gleich", "gleich_gut", "unentschieden", "remis", "égal", "egal", "égalité", "empate",
    "igual", "it's_a_tie", "its_a_tie", "tie_(inconsistent)", "tie_(both_good)",
)  # fmt: skip
_BOTH_BAD = (
    "both_bad", "bothbad", "both_are_bad", "both_poor", "neither", "equally_bad", "tie_(bothbad)",
    "tie_(both_bad)",
)  # fmt: skip
NO_SIDE_WORDS = (
    dict.fromkeys(_TIES, TIE)
    | dict.fromkeys(_BOTH_BAD, BOTH_BAD)
    | dict.fromkeys(("skip", "skipped", "ignore", "*"), SKIP)
)
"""The words that say something other than which item is better."""
# What numbers sides from 1 goes before what numbers them from 0.
_WORDS = (
    {word: RIGHT_WON for tier in NAMES["right"] for word in tier}
    | {word: LEFT_WON for tier in NAMES["left"] for word in tier}
    | dict.fromkeys(("rechts", "droite", "derecha"), RIGHT_WON)
    | dict.fromkeys(("links", "gauche", "izquierda"), LEFT_WON)
    | NO_SIDE_WORDS
)

_SIDE_NUMBERS = (-1.0, 0.0, 0.5, 1.0, 2.0)

_HOME_WORDS = {"h": LEFT_WON, "home": LEFT_WON, "d": TIE, "a": RIGHT_WON, "away": RIGHT_WON}

_EITHER_WAY = {
    frozenset(words.split()): both
    for words, both in {
        "0 1": ("0=left,1=right", "1=left,0=right"),
        "-1 1": ("1=left,-1=right", "-1=left,1=right"),
        "-1 0 1": ("1=left,0=tie,-1=right", "-1=left,0=tie,1=right"),
        "0 1 2": ("1=left,2=right,0=tie", "0=left,1=right,2=tie"),
        "true false": ("true=left,false=right", "false=left,true=right"),
        "yes no": ("yes=left,no=right", "no=left,yes=right"),
    }.items()
}
"""Words that are common in outcome columns, and two ways in which they are meant."""

Codes = NDArray[np.int8]
ANY_OUTCOME = frozenset((LEFT_WON, TIE, RIGHT_WON, UNKNOWN, AMBIGUOUS, SKIP, BOTH_BAD))


def _vote_of() -> Codes:
    """What each outcome is as a vote; that of `RIGHT_WON`, which is -1, stands last."""
    table = np.full(BOTH_BAD + 2, TIE, dtype=np.int8)
    table[[LEFT_WON, RIGHT_WON]] = LEFT_WON, RIGHT_WON
    return table


VOTE_OF = _vote_of()


@dataclass(frozen=True)
class Words:
    """The word of every row."""

    labels: pl.Series
    codes: NDArray[np.int32]

    def __getitem__(self, row: int) -> str:
        code = self.codes[row]
        return "" if code < 0 else str(self.labels[int(code)])

    def of(self, rows: NDArray[np.int64]) -> pl.Series:
        """Give the words of some rows."""
        codes = pl.Series(self.codes[rows], dtype=pl.Int64)
        return self.labels.cast(pl.String).gather(codes.set(codes < 0, None))


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every row, with the words it was told from."""

    codes: Codes
    words: Words
    possible: frozenset[int]
    """The outcomes that may occur."""
    advice: str = ADVICE
    """What to do about unknown words."""

    def are(self, outcome: int) -> NDArray[np.bool_] | None:
        """Tell which rows have an outcome; None if none can."""
        return self.codes == outcome if outcome in self.possible else None


def checked_map(outcome_map: Mapping[str, str] | None) -> dict[str, int]:
    """Check the user's meanings of words, and give them as codes."""
    codes = {}
    for word, meaning in (outcome_map or {}).items():
        code = _MEANINGS.get(plain(str(meaning)))
        if code is None:
            raise InputError(
                f"An outcome cannot be mapped to {meaning!r} (from {word!r}). "
                f"Known meanings: {MEANINGS}."
            )
        codes[str(word)] = code
    return codes


def outcomes(
    column: pl.Series,
    columns: PairColumns,
    items: Coded,
    meanings: Mapping[str, int],
    *,
    merge_names: bool = False,
) -> Outcomes:
    """Tell from each row's word who won.

    Args:
        column: The outcome column.
        columns: The user's columns, whose names may be used as words too.
        items: The coded left and right items, whose names may be used as words too.
        meanings: What the user says words mean; this goes before everything else.
        merge_names: Whether a word that looks like an item's name is that name.
    """
    word = coded(labels(column), blank_is_missing=False)
    (row_word,) = word.codes
    words = Words(as_text(word.labels), row_word)
    lexicon = lexicon_of(words.labels, columns, items.labels, meanings, merge_names=merge_names)
    if lexicon.is_plain:
        said = lexicon.as_word if word.has_missing else lexicon.as_word[:-1]
        codes = translated(row_word, lexicon.as_word)
        return Outcomes(codes, words, frozenset(said.tolist()))
    sides = (row_word, *items.codes)
    pieces = [slice(a, a + PIECE) for a in range(0, len(row_word), PIECE)]
    doubts = Doubts()
    for piece in pieces:
        doubts.look(*lexicon.readings(*(side[piece] for side in sides)))
    codes = np.empty(len(row_word), dtype=np.int8)
    for piece in pieces:
        codes[piece] = doubts.settled(*lexicon.readings(*(side[piece] for side in sides)))
    return Outcomes(codes, words, ANY_OUTCOME, lexicon.advice(words.labels))


@dataclass(frozen=True)
class Lexicon:
    """What each word can say, by its code; the last entry is for no word."""

    as_word: Codes
    as_item: NDArray[np.int32]
    """The item of that name, -1 if there is none."""
    look_like_items: bool = False
    """Whether words that mean nothing look like the names of items."""

    @property
    def is_plain(self) -> bool:
        """Whether every word has a meaning, and none is an item's name."""
        return bool((self.as_word[:-1] != UNKNOWN).all() and (self.as_item < 0).all())

    def advice(self, words: pl.Series) -> str:
        """Say what to do about unknown words: some are known to mean either side."""
        unknown = pl.Series((self.as_word[:-1] == UNKNOWN) & (self.as_item[:-1] < 0))
        if self.look_like_items:
            return f"Some look like items: --merge-names (merge_names=True) takes them so. {ADVICE}"
        told = words.filter(unknown)
        said = frozenset(word.strip().lower().removesuffix(".0") for word in told if word.strip())
        if said in _EITHER_WAY:
            one, other = _EITHER_WAY[said]
        elif both := _by_sign(said):
            one, other = both
        elif bounds := _on_a_scale(said):
            low, high = bounds
            return (
                f"They are numbers from {low:g} to {high:g}, and nothing says which end is which "
                "item: write left, right or tie instead, such as left below the middle."
            )
        else:
            return ADVICE
        return f"These may mean either side: say --outcome-map {one} or --outcome-map {other}."

    def readings(
        self, word: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
    ) -> tuple[Codes, Codes]:
        """Read words as words, and as names of the row's items."""
        named = self.as_item[word]
        by_item = np.full(len(word), UNKNOWN, dtype=np.int8)
        by_item[(named == right) & (named >= 0)] = RIGHT_WON
        by_item[(named == left) & (named >= 0)] = LEFT_WON
        return self.as_word[word], by_item


def _by_sign(words: Collection[str]) -> tuple[str, str] | None:
    """Say in two ways what numbers from -3 to 3, or the like, mean; None if they are no such."""
    numbers = {word: number for word in words if (number := number_in(word)) is not None}
    values = numbers.values()
    if (
        len(numbers) < len(words)
        or not any(v < 0 for v in values)
        or not any(v > 0 for v in values)
    ):
        return None
    ordered = sorted(numbers, key=lambda word: numbers[word])

    def mapped(below: str, above: str) -> str:
        sides = {-1: below, 0: "tie", 1: above}
        return ",".join(f"{word}={sides[int(np.sign(numbers[word]))]}" for word in ordered)

    return mapped("left", "right"), mapped("right", "left")


MANY_NUMBERS = 8
"""From so many distinct numbers on, they are a scale and not words for outcomes."""


def _on_a_scale(words: Collection[str]) -> tuple[float, float] | None:
    """Give the ends of a scale, if the words are many numbers; None if they are not."""
    numbers = [number for word in words if (number := number_in(word)) is not None]
    if len(numbers) < max(len(words), MANY_NUMBERS):
        return None
    return min(numbers), max(numbers)


def lexicon_of(
    words: pl.Series,
    columns: PairColumns,
    items: pl.Series,
    meanings: Mapping[str, int],
    *,
    merge_names: bool = False,
) -> Lexicon:
    """Find out what words can say."""
    # The name of a side's column means that side, whatever other files mean by it.
    known = (
        _WORDS
        | _at_home(columns)
        | {plain(columns.left): LEFT_WON, plain(columns.right): RIGHT_WON}
    )
    numbers = numbers_of_sides(columns.left, columns.right, words)
    told = np.array([_told(text, known, numbers, meanings) for text in (*words, "")], dtype=np.int8)
    as_item = _item_of_word(words, items, meanings, merge_names=merge_names)
    if items.dtype == pl.String:
        may_be = [
            code < 0 and meaning(word, known, meanings) == UNKNOWN
            for code, word in zip(as_item, words, strict=True)
        ]
        if any(may_be):
            as_item = np.where(may_be, _item_by_look(words, items), as_item)
    strange = words.filter((told[:-1] == UNKNOWN) & (as_item < 0))
    return Lexicon(told, np.append(as_item, np.int32(-1)), _look_like(strange, items))


def _at_home(columns: PairColumns) -> dict[str, int]:
    """What letters say of a game at home: H, D and A, where A is not the left side."""
    is_home = plain(columns.left).startswith("home") and plain(columns.right).startswith("away")
    return _HOME_WORDS if is_home else {}


def _look_like(words: pl.Series, items: pl.Series) -> bool:
    """Tell whether some words differ from the names of items only in what is hard to see."""
    if not len(words) or items.dtype != pl.String:
        return False
    return bool(looks(words).is_in(looks(items).implode()).any())


def _told(
    word: str, known: Mapping[str, int], numbers: Mapping[float, int], meanings: Mapping[str, int]
) -> int:
    said = meaning(word, known, meanings)
    if said != UNKNOWN:
        return said
    number = number_in(word)
    told = statement(word) if number is None else numbers.get(number)
    return UNKNOWN if told is None else told


def told_numbers(
    words: pl.Series, columns: PairColumns, items: pl.Series, meanings: Mapping[str, int]
) -> tuple[str, ...]:
    """Say what numbers were taken to mean, if the user has not said it and no item has the name."""
    numbers = numbers_of_sides(columns.left, columns.right, words)
    if not numbers or words.is_in(items.cast(pl.String).implode()).any():
        return ()
    names = {LEFT_WON: "left", TIE: "tie", RIGHT_WON: "right"}
    said = []
    for word in words.sort():
        number = number_in(word)
        if number is not None and number in numbers and meaning(word, {}, meanings) == UNKNOWN:
            said.append(f"{word.strip()} means {names[numbers[number]]}")
    return (f"outcome {', '.join(said)} (else --outcome-map)",) if said else ()


def as_text(column: pl.Series) -> pl.Series:
    """Take a column as words, nothing as the empty word."""
    column = labels(column)
    # Whole numbers with gaps come as floats from pandas, and are still whole numbers.
    if column.dtype.is_float() and (column.is_finite() & (column == column.round())).all():
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String).fill_null("")


def looks_like_outcome(word: str) -> bool:
    """Tell whether a word says which side is better, or that none is."""
    return plain(word) in _WORDS or statement(word) is not None or number_in(word) in _SIDE_NUMBERS


def meaning(word: str, known: Mapping[str, int], meanings: Mapping[str, int]) -> int:
    """Tell what a word means: to the user, else to everyone, else `UNKNOWN`."""
    if word in meanings:
        return meanings[word]
    alike = (code for mapped, code in meanings.items() if plain(mapped) == plain(word))
    return next(alike, known.get(plain(word), UNKNOWN))


def _item_of_word(
    words: pl.Series, items: pl.Series, meanings: Mapping[str, int], *, merge_names: bool
) -> NDArray[np.int32]:
    """Give for each word the item of that name, -1 if there is none."""
    names, sought = items.cast(pl.String), words
    if merge_names and items.dtype == pl.String:
        names, sought = looks(names), looks(words)
    code_of = {names[code]: code for code in names.is_in(sought.implode()).arg_true()}
    found = [code_of.get(name, -1) for name in sought]
    if meanings:
        told = (meaning(word, {}, meanings) != UNKNOWN for word in words)
        found = [-1 if is_told else code for is_told, code in zip(told, found, strict=True)]
    return np.array(found, dtype=np.int32)


def _item_by_look(words: pl.Series, items: pl.Series) -> NDArray[np.int32]:
    """Give for each word the only item that looks like it, -1 if there is none or several."""
    look = looks(items)
    single = look.is_duplicated().not_()
    code_of = {look[code]: code for code in single.arg_true()}
    return np.array([code_of.get(word, -1) for word in looks(words)], dtype=np.int32)


def told_looks(words: pl.Series, count: NDArray[np.int64], items: pl.Series) -> tuple[str, ...]:
    """Say how many outcomes are names of items but for case, blanks and the like.

    Args:
        words: The distinct words of the outcome column.
        count: How many rows have each of them.
        items: The names of the items.
    """
    known = pl.Series([plain(word) in _WORDS for word in words], dtype=pl.Boolean)
    if items.dtype != pl.String or known.all():
        return ()
    strange = ~words.is_in(items.implode()) & (words.str.strip_chars() != "") & ~known
    meant = strange & pl.Series(_item_by_look(words, items) >= 0)
    if not (total := int(count[meant.to_numpy()].sum())):
        return ()
    shown = listing([repr(word) for word in words.filter(meant).sort()], 3)
    return (
        f"{counted(total, 'outcome')} taken as an item's name, ignoring case and blanks ({shown})",
    )


def told_strength(words: Iterable[str]) -> tuple[str, ...]:
    """Say that verdicts such as "much better" count as "better", if there are any."""
    return ("how much better an item is does not count",) if any(map(says_how_much, words)) else ()


MOST_ODD = 0.1
"""The share of rows that may be neither, where the others decide what a column is."""


class Doubts:
    """Whether words that are both words and names of items are to be read as the one or the other.

    Where both readings say different things, the column as a whole decides: if it can be read as
    names of the row's items and ties throughout, it is; else if as words throughout, it is that;
    else the reading that leaves few rows, and fewer than the other, without a meaning.
    """

    def __init__(self) -> None:
        self._clash = False
        self._all_words = self._all_names = True
        self._named_tie = self._plain_tie = False
        self._rows = self._no_names = self._no_words = 0

    def look(self, by_word: Codes, by_item: Codes) -> None:
        """Take note of some rows."""
        is_name, is_word = by_item != UNKNOWN, by_word != UNKNOWN
        no_side = np.isin(by_word, (TIE, BOTH_BAD, SKIP))
        self._clash |= bool((is_name & is_word & (by_item != by_word)).any())
        self._all_words &= bool(is_word.all())
        self._all_names &= bool((is_name | no_side).all())
        self._rows += len(by_word)
        self._no_names += int((~(is_name | no_side)).sum())
        self._no_words += int((~is_word).sum())
        self._named_tie |= bool((no_side & is_name).any())
        self._plain_tie |= bool((no_side & ~is_name).any())

    def settled(self, by_word: Codes, by_item: Codes) -> Codes:
        """Choose a reading for some rows, after all of them have been looked at."""
        is_name, is_word = by_item != UNKNOWN, by_word != UNKNOWN
        words_first = np.where(is_word, by_word, by_item)
        if not self._clash:
            return words_first
        if self._all_names:
            if not (self._named_tie and self._plain_tie):
                return np.where(is_name, by_item, by_word)
        elif self._all_words or self._decide(self._no_words, self._no_names):
            return by_word
        elif self._decide(self._no_names, self._no_words):
            no_side = np.isin(by_word, (TIE, BOTH_BAD, SKIP))
            return np.where(is_name, by_item, np.where(no_side, by_word, np.int8(UNKNOWN)))
        return np.where(is_name & is_word & (by_item != by_word), np.int8(AMBIGUOUS), words_first)

    def _decide(self, odd: int, odd_otherwise: int) -> bool:
        """Whether one reading leaves few rows without a meaning, and fewer than the other."""
        return odd <= MOST_ODD * self._rows and odd < odd_otherwise
