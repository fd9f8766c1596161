"""Names that look the same: how they are found, and what is said of them.

Two names look the same if nothing sets them apart once signs without width are dropped, accents are
composed (NFC), blanks of any kind are single and only between words, and case is ignored.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import counted, listing
from juryrank.text import WIDEST_NAME, short

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

MOST_LOOKS, MOST_SPELLINGS = 3, 4
"""So many are named in a sentence."""
MOST_KEPT = 100
"""So many looks are told one by one where there is room, as in JSON."""
_WITHOUT_WIDTH = (
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufe00-\ufe0f\ufeff]"
)
"""Zero-width spaces and joiners, soft hyphens, signs of direction, variation selectors."""


def _single_blanks(names: pl.Expr) -> pl.Expr:
    return names.str.replace_all(r"\s+", " ").str.strip_chars()


STEPS: tuple[tuple[str, Callable[[pl.Expr], pl.Expr]], ...] = (
    ("invisible signs", lambda names: names.str.replace_all(_WITHOUT_WIDTH, "")),
    ("the composition of accents", lambda names: names.str.normalize("NFC")),
    ("blanks", _single_blanks),
    ("case", lambda names: names.str.to_lowercase()),
)
"""What may set names apart that look the same, and how it is taken away."""
_NOT_IN_ASCII = 2
"""So many of the steps change nothing in plain ASCII."""


def looks(names: pl.Series, but_for: str = "") -> pl.Series:
    """What is left of names when all that is hard to see, but for one thing, is taken away."""
    frame, look = names.alias("name").to_frame(), pl.col("name")
    is_ascii = frame.select((look.str.len_bytes() == look.str.len_chars()).all()).item()
    for what, without in STEPS[_NOT_IN_ASCII if is_ascii else 0 :]:
        look = look if what == but_for else without(look)
    return frame.select(look).to_series().alias(names.name)


class Twins(NamedTuple):
    """The names, by their codes, whose look others have too, and the number of each one's look."""

    code: Codes
    look: Codes


def twins_among(names: pl.Series) -> Twins | None:
    """Find the names that look the same as others; None if there are none."""
    if names.dtype != pl.String or len(names) < 2:
        return None
    look = looks(names)
    code = look.is_duplicated().arg_true()
    if not len(code):
        return None
    number = look.gather(code).rank("dense").cast(pl.Int32) - 1
    return Twins(code.cast(pl.Int32).to_numpy(), number.to_numpy())


class Spelling(NamedTuple):
    """A name, and how often it occurs."""

    name: str
    times: int


@dataclass(frozen=True)
class Spellings:
    """Names of items or judges that look the same."""

    kind: str
    """Whose names they are: "item" or "judge"."""
    names: int
    looks: int
    """How many names would be left if those that look the same were one."""
    differ_by: tuple[str, ...]
    first: tuple[tuple[Spelling, ...], ...]
    """The spellings of each look, the most frequent first; of very many looks only the first."""
    merged: bool
    """Whether those that look the same were made one: the first of each."""

    def __str__(self) -> str:
        names = f"{self.names:,} {self.kind} names"
        only = f"differ only by {' or '.join(self.differ_by)}"
        more = self.looks - MOST_LOOKS
        cases = "; ".join(self._case(group) for group in self.first[:MOST_LOOKS])
        rest = f"; and {more:,} more" if more > 0 else ""
        if self.merged:
            return f"Merged {names} that {only} into {self.looks:,}: {cases}{rest}."
        return (
            f"{names} {only}: {cases}{rest}. They count as different; --merge-names "
            "(merge_names=True) merges those that look the same."
        )

    def _case(self, group: Sequence[Spelling]) -> str:
        said = [f"{_shown(name)} ({counted(times, 'time')})" for name, times in group]
        if not self.merged:
            return listing(said, MOST_SPELLINGS)
        return f"{listing(said[1:], MOST_SPELLINGS)} into {said[0]}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return {
            "kind": self.kind,
            "names": self.names,
            "looks": self.looks,
            "differ_by": list(self.differ_by),
            "first": [[one._asdict() for one in group] for group in self.first],
            "merged": self.merged,
        }


def _shown(name: str) -> str:
    """A name in quotes in which nothing is invisible; accents that stand apart are escaped too."""
    quoted = repr(short(name, WIDEST_NAME))
    return "".join(
        sign.encode("unicode_escape").decode() if unicodedata.combining(sign) else sign
        for sign in quoted
    )


class Ranked(NamedTuple):
    """Names that look the same, those of one look together, the most frequent of each first."""

    code: Codes
    look: Codes
    times: Ints

    @property
    def chosen(self) -> Codes:
        """For each name, the code of the one that stands for all of its look."""
        begin = np.flatnonzero(np.diff(self.look, prepend=-1))
        return np.repeat(self.code[begin], np.diff(begin, append=len(self.code)))


def by_frequency(twins: Twins, times: Ints, first: Ints) -> Ranked:
    """Put the most frequent spelling of each look first; of equally frequent ones the first seen.

    Args:
        twins: The names.
        times: How often each name, twin or not, occurs.
        first: Where each occurs first.
    """
    own, seen = times[twins.code], first[twins.code]
    order = np.lexsort((seen, -own, twins.look))
    return Ranked(twins.code[order], twins.look[order], own[order])


def made_one(number: int, ranked: Ranked) -> tuple[Codes, Codes]:
    """Of so many names, the codes of those that stay, and for each which of them it becomes."""
    stands_for = np.arange(number, dtype=np.int32)
    stands_for[ranked.code] = ranked.chosen
    kept, new = np.unique(stands_for, return_inverse=True)
    return kept, new.astype(np.int32)


def spellings_of(kind: str, names: pl.Series, ranked: Ranked, *, merged: bool) -> Spellings:
    """Tell of names that look the same, those that occur most often first."""
    begin = np.flatnonzero(np.diff(ranked.look, prepend=-1))
    end = np.append(begin[1:], len(ranked.look))
    total = np.add.reduceat(ranked.times, begin)
    often = np.argsort(-total, kind="stable")[:MOST_KEPT].tolist()
    groups = [
        tuple(map(Spelling, names.gather(ranked.code[part]), ranked.times[part].tolist()))
        for part in (slice(begin[at], end[at]) for at in often)
    ]
    differ_by = _differences(names.gather(ranked.code))
    return Spellings(kind, len(ranked.code), len(begin), differ_by, tuple(groups), merged)


def _differences(names: pl.Series) -> tuple[str, ...]:
    """Tell what sets apart names that look the same: what has to be taken away to make them so."""
    alike = looks(names).n_unique()
    return tuple(what for what, _ in STEPS if looks(names, but_for=what).n_unique() > alike)
