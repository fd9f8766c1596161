"""Several votes into one, whatever their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.votes.lists import Lists, taken
from juryrank.votes.similar_names import (
    Spellings,
    by_frequency,
    made_one,
    spellings_of,
    twins_among,
)
from juryrank.votes.votes import (
    ByValue,
    JudgeTimes,
    LeftOut,
    Reading,
    Repeats,
    Votes,
    in_natural_order,
)
from juryrank.votes.weights import are_equal_weights, equal_weights

Codes = NDArray[np.int32]


def named_apart(votes: Votes, prefix: object) -> Votes:
    """The votes with a prefix to the judges' names: those of the same name elsewhere are others."""
    names = pl.Series("judge", [f"{prefix} {judge}" for judge in votes.judges], dtype=pl.String)
    by = None if votes.by is None else votes.by.mapped(lambda own: named_apart(own, prefix))
    return replace(votes, judges=names, by=by)


def with_notices(votes: Votes, notices: tuple[str, ...]) -> Votes:
    """The votes, with more that is odd about them."""
    by = votes.by
    if by is not None:
        by = replace(by, remarks=(*by.remarks, *notices))
    return replace(votes, notices=(*votes.notices, *notices), by=by) if notices else votes


def joined_votes(*several: Votes, merge_names: bool = False) -> Votes:
    """Put several votes together; see `juryrank.concat_votes`."""
    if not several:
        raise InputError("There are no votes to join.")
    if merge_names and any(not one.merged for votes in several for one in votes.spellings):
        raise InputError(
            "Some of the votes have names that look the same and were not merged when they were "
            "read: read them with merge_names=True too."
        )
    items, recoded_items, of_items = joined_names(
        "item", [(votes.items, votes.times_compared) for votes in several], merge=merge_names
    )
    judges, recoded_judges, of_judges = joined_names(
        "judge", [(votes.judges, votes.times_voted) for votes in several], merge=merge_names
    )
    before = [votes.spellings for votes in several]
    spellings = joined_spellings(before, (*of_items, *of_judges))
    judge = np.concatenate(
        [codes[votes.judge] for codes, votes in zip(recoded_judges, several, strict=True)]
    )
    order = np.argsort(judge, kind="stable")

    def pairs(column: Callable[[Votes, Codes], NDArray[np.generic]]) -> NDArray[np.generic]:
        parts = [column(*part) for part in zip(several, recoded_items, strict=True)]
        return np.concatenate(parts)[order]

    with_pairs = [votes for votes in several if votes.n_pairs]
    return Votes(
        items=items.alias("item"),
        judges=judges.alias("judge"),
        start=np.searchsorted(judge[order], np.arange(len(judges) + 1)),
        winner=pairs(lambda votes, code: code[votes.winner]).astype(np.int32),
        loser=pairs(lambda votes, code: code[votes.loser]).astype(np.int32),
        outcome=pairs(lambda votes, _: votes.outcome).astype(np.int8),
        weight=(
            equal_weights(len(judge))
            if all(are_equal_weights(votes.weight) for votes in several)
            else pairs(lambda votes, _: votes.weight).astype(np.float64)
        ),
        lists=_joined_lists(several, recoded_items, recoded_judges, len(judges)),
        both_bad=sum(votes.both_bad for votes in several),
        sides_known=bool(with_pairs) and all(votes.sides_known for votes in with_pairs),
        judges_known=all(votes.judges_known for votes in several),
        left_out=left_out_together([votes.left_out for votes in several]),
        times=_joined_times(several, recoded_judges, len(judges)),
        repeats=_joined_repeats([votes.repeats for votes in several if votes.repeats]),
        notices=joined_notices([votes.notices for votes in several], before, spellings),
        spellings=spellings,
        reading=joined_readings(
            tuple(reading for votes in several for reading in votes.reading), spellings
        ),
        by=_joined_by([votes.by for votes in several]),
    )


def _joined_repeats(known: Sequence[Repeats]) -> Repeats | None:
    if not known:
        return None
    by = dict.fromkeys(name for one in known for name in one.by)
    return Repeats(sum(one.votes for one in known), tuple(by))


def _joined_times(
    several: Sequence[Votes], judges: Sequence[Codes], n_judges: int
) -> JudgeTimes | None:
    """The judges' median times; of who is in several votes, the mean of them, by number of votes.

    Times of different units are not joined.
    """
    known = [(votes.times, votes, codes) for votes, codes in zip(several, judges, strict=True)]
    told = [(times, votes, codes) for times, votes, codes in known if times is not None]
    if len({times.unit for times, _, _ in told}) != 1:
        return None
    total, weight = np.zeros(n_judges), np.zeros(n_judges)
    for times, votes, codes in told:
        number = np.where(np.isnan(times.median), 0.0, votes.times_voted)
        np.add.at(total, codes, number * np.nan_to_num(times.median))
        np.add.at(weight, codes, number)
    median = np.divide(total, weight, out=np.full(n_judges, np.nan), where=weight > 0.0)
    return replace(told[0][0], median=median)


def joined_names(
    kind: str, named: Sequence[tuple[pl.Series, NDArray[np.int64]]], *, merge: bool
) -> tuple[pl.Series, list[Codes], tuple[Spellings, ...]]:
    """All labels, the new codes of the old ones, and what to say of labels that look the same.

    Args:
        kind: Whose they are: "item" or "judge".
        named: The labels of each of the several, and how often each occurs.
        merge: Whether to make labels one that look the same.
    """
    if len(named) == 1:
        labels, _ = named[0]
        return labels, [np.arange(len(labels), dtype=np.int32)], ()
    every, codes = together([labels for labels, _ in named])
    twins = twins_among(every)
    if twins is None:
        return every, codes, ()
    times, first = np.zeros(len(every), dtype=np.int64), np.full(len(every), len(named))
    for at, (some, (_, own)) in reversed(list(enumerate(zip(codes, named, strict=True)))):
        times[some] += own
        first[some] = at
    ranked = by_frequency(twins, times, first)
    told = (spellings_of(kind, every, ranked, merged=merge),)
    if not merge:
        return every, codes, told
    kept, new = made_one(len(every), ranked)
    return every.gather(kept), [new[some] for some in codes], told


def joined_notices(
    notices: Sequence[tuple[str, ...]],
    before: Sequence[tuple[Spellings, ...]],
    spellings: tuple[Spellings, ...],
) -> tuple[str, ...]:
    """What is odd about each of the several, and about the names of all of them together."""
    told = {str(one) for own in before for one in own}
    others = dict.fromkeys(notice for own in notices for notice in own if notice not in told)
    return (*others, *(str(one) for one in spellings))


def joined_spellings(
    before: Sequence[tuple[Spellings, ...]], joint: tuple[Spellings, ...]
) -> tuple[Spellings, ...]:
    """What is to be said of the names of several votes, each of which had something said of it.

    Names that were not merged are told of all votes together, and not of each as well.
    """
    if len(before) == 1:
        return before[0]
    return (*(one for own in before for one in own if one.merged), *joint)


def joined_readings(
    readings: tuple[Reading, ...], spellings: tuple[Spellings, ...]
) -> tuple[Reading, ...]:
    """Let the reading of the last source tell of the names of all."""
    if len(readings) < 2:
        return readings
    *others, last = readings
    return (*others, replace(last, spellings=spellings))


def together(labels: list[pl.Series]) -> tuple[pl.Series, list[Codes]]:
    """All labels, sorted, and for each of the several the new code of every old one."""
    if len({series.dtype for series in labels}) > 1:
        labels = [series.cast(pl.String) for series in labels]
    every = pl.concat(labels).unique().sort()
    number = pl.int_range(len(every), dtype=pl.Int32, eager=True)
    return every, [
        series.replace_strict(every, number, return_dtype=pl.Int32).to_numpy() for series in labels
    ]


def _joined_lists(
    several: tuple[Votes, ...], items: list[Codes], judges: list[Codes], n_judges: int
) -> Lists:
    parts = [votes.lists for votes in several]
    judge = np.concatenate([codes[lists.judge] for codes, lists in zip(judges, parts, strict=True)])
    length = np.concatenate([lists.length for lists in parts])
    whole = Lists(
        start=np.array([0, len(judge)]),
        begin=np.concatenate(([0], np.cumsum(length))),
        item=np.concatenate(
            [codes[lists.item] for codes, lists in zip(items, parts, strict=True)]
        ).astype(np.int32),
        level=np.concatenate([lists.level for lists in parts]),
        ranked=np.concatenate([lists.ranked for lists in parts]),
        weight=np.concatenate([lists.weight for lists in parts]),
    )
    order = np.argsort(judge, kind="stable")
    start = np.searchsorted(judge[order], np.arange(n_judges + 1))
    return taken(whole, order)._replace(start=start)


def _joined_by(several: Sequence[ByValue | None]) -> ByValue | None:
    """Join the votes of each value; None unless all have the same column to rank by."""
    known = [by for by in several if by is not None]
    if len(known) < len(several) or len({by.column for by in known}) > 1:
        return None
    values = list(dict.fromkeys(value for by in known for value in by.of))
    if len({type(value) for value in values}) > 1:
        known = [replace(by, of={str(value): own for value, own in by.of.items()}) for by in known]
        values = list(dict.fromkeys(str(value) for value in values))
    of: dict[object, Votes | str] = {}
    remarks = [remark for by in known for remark in by.remarks]
    for value in (values[at] for at in in_natural_order(values)):
        found = [by.of[value] for by in known if value in by.of]
        votes = [one for one in found if isinstance(one, Votes)]
        errors = [one for one in found if isinstance(one, str)]
        of[value] = joined_votes(*votes) if votes else errors[0]
        remarks += [f"{known[0].column} {value}: {error}" for error in errors if votes]
    reading = tuple(reading for by in known for reading in by.reading)
    return ByValue(known[0].column, of, tuple(remarks), reading)


def left_out_together(parts: Sequence[LeftOut]) -> LeftOut:
    """The rows left out of several sources."""
    return sum(parts, LeftOut())
