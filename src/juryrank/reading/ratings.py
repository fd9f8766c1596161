"""Ratings: of two items that a judge rated in the same context, the one rated higher wins."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import Coded, coded, labels
from juryrank.reading.columns import PairColumns, RatingColumns
from juryrank.reading.files import Rows
from juryrank.reading.long import grouped
from juryrank.reading.pairs import pair_votes
from juryrank.reading.rows import (
    NA_NAMES,
    Complaint,
    Mask,
    Rules,
    judges_of,
    missing,
    na_names,
    sift,
    weights,
)
from juryrank.reading.similar_names import sentences, told, with_spellings
from juryrank.votes.votes import LeftOut, Votes

Ints = NDArray[np.int64]
MOST_PAIRS = 50_000_000
_WITH_A_LABEL = (
    "^([+-]?[0-9]+(?:[.,][0-9]+)?)\\s*(%|/\\s*[0-9]+(?:[.,][0-9]+)?)?\\s*"
    "(?:[-\u2013\u2014:=(]\\s*[^0-9\\s].*)?$"
)
"""A rating may say what it means: ``5 - very good``, ``4 (good)``, ``3/5``, ``80%``. It is taken
apart into the number and what it is a part of; dates, times and ranges are no ratings."""
_STARS, _FULL_STAR = "^[\u2605\u2606\u2b50\ufe0f\\s]+$", "[\u2605\u2b50]"
LONGEST_SCALE = 12


def _scale(text: str) -> dict[str, int]:
    """Number the words of a scale, the lowest first; words with | between them mean the same."""
    levels = (level.split("|") for level in text.split(", "))
    return {word: number for number, level in enumerate(levels) for word in level}


SCALES = tuple(
    map(
        _scale,
        (
            "strongly disagree|completely disagree, disagree, somewhat disagree|slightly disagree, "
            "neutral|neither agree nor disagree|undecided, somewhat agree|slightly agree, agree, "
            "strongly agree|completely agree",
            "terrible|very poor|very bad, poor|bad, fair|average|acceptable|ok|okay|neutral, good, "
            "very good, excellent|outstanding",
            "very dissatisfied, dissatisfied, neutral|neither satisfied nor dissatisfied, "
            "satisfied, very satisfied",
            "very low, low, medium|moderate, high, very high",
            "never, rarely|seldom, sometimes, often, always",
            "not at all, slightly|a little, moderately|somewhat, very, extremely",
        ),
    )
)
"""Words that surveys offer as ratings."""
_PAIRS = PairColumns("left", "right", "winner", "judge", None)


def rating_votes(
    rows: Rows, columns: RatingColumns, rules: Rules, maybe_judges: Sequence[str] = ()
) -> Votes:
    """Compare the ratings of each judge and context, pair by pair; equal ones are ties.

    `maybe_judges` are the columns that may be the judge, if none is known.
    """
    judges = judges_of(rows, columns.judge, rules, per_row=False)
    contexts = None if columns.id is None else coded(labels(rows.frame[columns.id]))
    given = coded(labels(rows.frame[columns.item]))
    items = with_spellings(given, "item", merge=rules.merge_names)
    given_ratings = rows.frame[columns.rating]
    rating, none = ratings(given_ratings), no_rating(given_ratings)
    group, _ = grouped(judges, contexts)
    found = [
        Complaint(
            "a rating that is not a number",
            np.isnan(rating) & ~none,
            labels(rows.frame[columns.rating]),
            "Write ratings as numbers, of which higher is better, or in the words of one usual "
            "scale, such as poor, fair, good.",
        ),
        missing(columns.item, items.codes[0]),
        _rated_twice(columns, items, np.where(none, -1, group), maybe_judges, len(rows.names)),
    ]
    if columns.judge is not None:
        found.append(missing(columns.judge, judges.codes[0]))
    if contexts is not None:
        found.append(missing(str(columns.id), contexts.codes[0]))
    if not rules.na_is_name:
        found += na_names(items.labels, (f"the column {columns.item!r}", items.codes[0]))
        found += na_names(judges.labels, (f"the column {columns.judge!r}", judges.codes[0]))
    keep, left_out = sift(
        rows, found, rules=rules, skipped=none, why_skipped="without a rating (blank, n/a, -)"
    )
    kept = np.flatnonzero(np.ones(len(rating), np.bool_) if keep is None else keep)
    better, worse = _pairs(group[kept], rating[kept] * (-1 if rules.lower_is_better else 1))
    better, worse = kept[better], kept[worse]
    if not len(better):
        raise InputError(_nothing_to_compare(columns))
    of_judge = judges.labels.gather(judges.codes[0][better])
    pairs = pl.DataFrame(
        {
            "judge": group[better] + 1 if rules.judge_per_row else of_judge,
            "left": items.labels.gather(items.codes[0][better]),
            "right": items.labels.gather(items.codes[0][worse]),
            "winner": np.where(rating[better] == rating[worse], "tie", "left"),
        }
    )
    context = None
    if contexts is not None:
        name = str(columns.id)
        context = pl.DataFrame({name: contexts.labels.gather(contexts.codes[0][better])})
    every = Rows(pairs, rows.names, (len(pairs),), rows.text, contexts=context)
    meant = Rules({"tie": 0, "left": 1}, na_is_name=True)
    votes = pair_votes(every, _PAIRS, meant)
    merged = tuple(one for one in told(items.spellings, judges.spellings) if one.merged)
    return replace(
        votes,
        judges_known=columns.judge is not None or rules.judge_per_row,
        sides_known=False,
        notices=(*sentences(merged), *votes.notices),
        spellings=(*merged, *votes.spellings),
        left_out=left_out + _alone(rows, group, kept, np.concatenate((better, worse))),
    )


def no_rating(column: pl.Series) -> Mask:
    """Tell which cells are blank or have a word for nothing, such as n/a or a dash."""
    column = labels(column)
    if column.dtype != pl.String:
        return column.is_null().to_numpy()
    return (column.is_null() | _plainly(column).is_in(("", *NA_NAMES))).to_numpy()


def ratings(column: pl.Series) -> NDArray[np.float64]:
    """Take ratings as numbers, NaN for what is none."""
    column = labels(column)
    if column.dtype == pl.String:
        column = column.set(pl.Series(no_rating(column)), None)
    if column.dtype == pl.String and (scale := scale_of(column)) is not None:
        column = _plainly(column).replace_strict(scale, default=None, return_dtype=pl.Float64)
    if column.dtype == pl.String:
        text = _counted_stars(column.str.strip_chars())
        column = text.str.extract(_WITH_A_LABEL, 1)
        unit = text.str.extract(_WITH_A_LABEL, 2).str.replace_all(r"\s", "").fill_null("")
        usual = unit.filter(column.is_not_null()).mode().sort()
        if len(usual):  # 8/10 and 60/100 cannot be compared as they are
            column = column.zip_with(unit == usual[0], pl.Series([None], dtype=pl.String))
    number = weights(column)
    return np.where(np.isfinite(number), number, np.nan)


def _counted_stars(text: pl.Series) -> pl.Series:
    """Write ``★★★☆☆`` as the number of full stars."""
    is_stars = text.str.contains(_STARS).fill_null(False)
    if not is_stars.any():
        return text
    return text.str.count_matches(_FULL_STAR).cast(pl.String).zip_with(is_stars, text)


def scale_of(column: pl.Series) -> dict[str, int] | None:
    """Find a scale that has all words of a column; nothing if there is none."""
    words = _words(column)
    if not 1 <= len(words) <= LONGEST_SCALE:
        return None
    fitting = (scale for scale in SCALES if words <= scale.keys())
    return next(fitting, None)


def scale_in_words(column: pl.Series) -> tuple[str, ...]:
    """Say in which order words were taken as ratings."""
    column = labels(column)
    scale = scale_of(column) if column.dtype == pl.String else None
    if scale is None:
        return ()
    found = sorted(_words(column), key=lambda word: scale[word])
    return (f"words as ratings, the lowest first: {', '.join(found)}",)


def _words(column: pl.Series) -> set[str]:
    return set(_plainly(column.drop_nulls()).unique()) - {"", *NA_NAMES}


def _plainly(column: pl.Series) -> pl.Series:
    return column.str.strip_chars().str.to_lowercase()


def _pairs(group: Ints, rating: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Give every two rows of a group, the one rated higher first."""
    order = np.lexsort((-rating, group))
    size = np.unique(group, return_counts=True)[1].astype(np.int64)
    count = int((size * (size - 1) // 2).sum())
    if count > MOST_PAIRS:
        raise InputError(
            f"The ratings make {count:,} pairs, more than {MOST_PAIRS:,}: up to {size.max():,} "
            "items are rated by one judge in one context. Name the column of the context, such as "
            "that of the prompt, with --ranking (ranking=...)."
        )
    start = np.cumsum(size) - size
    later = np.repeat(start + size - 1, size) - np.arange(len(order))
    first = np.repeat(np.arange(len(order)), later)
    step = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later) + 1
    return order[first], order[first + step]


def _rated_twice(
    columns: RatingColumns, items: Coded, group: Ints, maybe_judges: Sequence[str], n_files: int
) -> Complaint:
    """Complain about an item that a judge rated again in the same context."""
    key = group * max(len(items.labels), 1) + items.codes[0]
    bad = np.ones(len(key), dtype=np.bool_)
    bad[np.unique(key, return_index=True)[1]] = False
    bad &= (group >= 0) & (items.codes[0] >= 0)
    where = "by one judge" if columns.id is None else f"by one judge for one {columns.id!r}"
    known = pl.Series(items.codes[0]).replace(-1, None)
    names = items.labels.cast(pl.String).gather(known)
    return Complaint(
        f"an item rated before {where}",
        bad,
        names,
        f"{_who_rated(columns, maybe_judges, n_files)}Ratings are compared if they are a judge's "
        "and of the same context: name the column of the context, such as that of the prompt, with "
        "--ranking (ranking=...). Where two columns are the context, such as question and turn, "
        "choose a value of one with --where.",
    )


def _who_rated(columns: RatingColumns, maybe_judges: Sequence[str], n_files: int) -> str:
    """Say how to name the judge, if none is known."""
    if columns.judge is not None:
        return ""
    if not maybe_judges and n_files > 1:
        return "If each file is one judge's, say --judge-per-file (judge_per_file=True). "
    if not maybe_judges:
        return "If a column says who rated, name it with --judge (judge=...). "
    first, *others = (f"--judge {shlex.quote(name)}" for name in maybe_judges)
    also = f" (or {' or '.join(others)})" if others else ""
    return f"No column is known as the judge, who rates each item once: say {first}{also}. "


def _alone(rows: Rows, group: Ints, kept: Ints, paired: Ints) -> LeftOut:
    """Account for ratings with which no other can be compared."""
    alone: Mask = np.zeros(len(group), dtype=np.bool_)
    alone[kept] = True
    alone[paired] = False
    where = np.flatnonzero(alone)
    if not len(where):
        return LeftOut()
    said = (
        f"Left out: {len(where):,} of {len(group):,} rows, with the only rating of their judge and "
        f"context; first {rows.row_name(int(where[0]))}."
    )
    return LeftOut(skipped=len(where), sentences=(said,))


def _nothing_to_compare(columns: RatingColumns) -> str:
    of = f"{columns.judge or 'judge'!r}" if columns.id is None else f"judge and {columns.id!r}"
    return (
        f"No two ratings can be compared: no {of} has more than one. Name the column of the judge "
        "with --judge, and with --ranking that of the context, such as the prompt."
    )
