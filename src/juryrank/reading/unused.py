"""What columns that hold no part of a vote may be: a context, the judge, the time that it took.

Votes on several questions or criteria are pooled unless the user wants them apart, and votes
without a judge are one judge's. Both may be meant, but nobody should find it out by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

import polars as pl

from juryrank.reading.bookkeeping import is_bookkeeping
from juryrank.reading.files import Part, first_rows, value_counts
from juryrank.reading.names import NAMES, plain
from juryrank.votes.votes import Pooled

FEWEST_VALUES, MOST_VALUES = 2, 20
"""Of a context whose votes may well be worth a ranking each."""
MOST_JUDGES = 200
LEAST_ROWS_OF_VALUE = 2
"""With fewer rows for each value a column tells rows apart, and does not group them."""
HEAD = 1000
"""Rows that are looked at before all are."""
MOST_MAYBE_JUDGES = 3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTEXTS = _words(
    "criterion criteria dimension aspect attribute facet trait question prompt query instruction "
    "task category topic theme domain subject area genre subset split fold dataset benchmark "
    "language lang locale turn difficulty condition round phase wave stage scenario section skill "
    "context document passage article conversation dialog dialogue sample example use_case "
    "question_type prompt_type task_type problem exam season matchday gameweek"
)
_ENDINGS = ("_id", "id", "_name", "_no", "_nr", "_number", "_code", "_key", "_uid", "s")
_SPLITS = _words("train training test testing dev val valid validation eval holdout")
_LANGUAGES = _words(
    "ar bg bn cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nl no pl pt ro ru sk sl "
    "sr sv sw ta th tr uk ur vi zh arabic chinese czech danish dutch english finnish french german "
    "greek hebrew hindi hungarian indonesian italian japanese korean norwegian persian polish "
    "portuguese romanian russian spanish swedish thai turkish ukrainian vietnamese"
)
_KNOWN_VALUES = (_SPLITS, _LANGUAGES)

_JUDGE_WORDS = {
    word for tier in NAMES["judge"] for name in tier for word in name.split("_") if len(word) > 3
} - {"model", "evaluation", "number", "hash"} | {"person", "people", "who", "session", "account"}
_NO_JUDGE = re.compile(
    r"(?:time|date|stamp|score|rating|comment|reason|note|text|url|link|conf|weight|version|index)"
)
"""Words of names of columns that are no judges, however few values they have."""


MOST_LOOKED_AT = 100


def contexts_in(names: Iterable[str]) -> list[str]:
    """Find the columns whose names say that they hold a question, a criterion or the like."""
    return [name for name in names if is_context(name)]


def _worth_a_look(names: Sequence[str]) -> list[str]:
    """The columns that values are looked at of: the first of many, and those with telling names."""
    telling = (is_context(name) or _is_judge(name) for name in names[MOST_LOOKED_AT:])
    return [*names[:MOST_LOOKED_AT], *compress(names[MOST_LOOKED_AT:], telling)]


def _is_judge(name: str) -> bool:
    return bool(_JUDGE_WORDS & set(plain(name).split("_")))


def is_context(name: str) -> bool:
    """Tell by its name whether a column may hold a question, a criterion or the like."""
    bare = plain(name)
    stems = (bare.removesuffix(ending) for ending in _ENDINGS)
    return bare in _CONTEXTS or any(stem in _CONTEXTS for stem in stems)


def pooled_in(parts: Sequence[Part], unused: Sequence[str]) -> tuple[Pooled, ...]:
    """Find the contexts of which there are few, with their votes."""
    head = first_rows(parts, _worth_a_look(unused), HEAD)
    likely = [
        name
        for name in head.columns
        if is_context(name) or _has_known_values(head[name].drop_nulls())
    ]
    return tuple(_pooled(parts, head, likely))


def _has_known_values(values: pl.Series) -> bool:
    """Tell whether values are the names of splits of a dataset, or of languages."""
    said = set(values.str.strip_chars().str.to_lowercase().unique())
    return bool(said) and any(said <= known for known in _KNOWN_VALUES)


def _pooled(parts: Sequence[Part], head: pl.DataFrame, names: Sequence[str]) -> Iterator[Pooled]:
    for name in names:
        if head[name].drop_nulls().n_unique() > MOST_VALUES:
            continue
        counts = value_counts(parts, name)
        rows, several = sum(count for _, count in counts), len(counts)
        if FEWEST_VALUES <= several <= MOST_VALUES and rows >= LEAST_ROWS_OF_VALUE * several:
            yield Pooled(name, tuple(counts))


def maybe_judges(parts: Sequence[Part], unused: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Find columns that may be the judge, with the number of their values.

    Those with a name like a judge's come first, then those with few values.
    """
    first = first_rows(parts, _worth_a_look(unused), HEAD)
    head = first.select(column.name for column in first if not is_bookkeeping(column))
    by_name = [name for name in head.columns if _is_judge(name)]
    by_values = [
        name
        for name in head.columns
        if name not in by_name
        and not is_context(name)
        and not _NO_JUDGE.search(plain(name))
        and _groups_rows(head[name])
    ]
    found = []
    for name in (*by_name, *by_values):
        several = len(value_counts(parts, name))
        if several >= FEWEST_VALUES and (name in by_name or several <= MOST_JUDGES):
            found.append((name, several))
        if len(found) == MOST_MAYBE_JUDGES:
            break
    return tuple(found)


def _groups_rows(column: pl.Series) -> bool:
    values = column.drop_nulls()
    return 0 < LEAST_ROWS_OF_VALUE * values.n_unique() <= len(values)
