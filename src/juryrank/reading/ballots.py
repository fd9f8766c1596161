"""From rankings, best k of a set and choices to `Votes`: one path for all ways to write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.reading.coding import Coded, Codes, coded, order_by, ordered, same_kind
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import Words
from juryrank.reading.rows import MOST_CASES, SKIPPED, Complaint, Mask, Rules, na_names, sift
from juryrank.reading.similar_names import sentences, told, with_spellings
from juryrank.votes.lists import Lists
from juryrank.votes.votes import LEFT_WON, TIE, Votes

Ints = NDArray[np.int64]
REST = np.iinfo(np.int32).max
"""The level of items that were seen and not ranked, until the ranked ones are counted."""


@dataclass(frozen=True)
class Entries:
    """Items of rankings or sets, one entry each, in no particular order."""

    row: Ints
    """The row of the file the entry stands in."""
    level: NDArray[np.int32]
    """0 for the best; equal for ties."""
    label: pl.Series


@dataclass(frozen=True)
class Ballots:
    """The rankings of a file, read but not yet coded."""

    ranked: Entries
    shown: Entries | None
    """The items the judges saw, where that is known."""
    of_row: Ints
    """The ranking each row belongs to; -1 for rows that name none."""
    first_row: Ints
    """Where each ranking begins."""
    judges: Coded
    """The judge of every ranking."""
    weight: NDArray[np.float64] | None
    """The weight of every ranking."""
    judges_known: bool
    names: Names
    complaints: list[Complaint] = field(default_factory=list)
    """What is wrong with rows as such."""
    skipped: Mask | None = None
    both_bad: Mask | None = None
    """The rows that are ties because nothing is any good."""
    one_item_is_no_vote: bool = False
    """Whether rankings of one item are left out on purpose, and not complained about."""


class Names(NamedTuple):
    """What complaints call the things they are about, and how to mend a vote of one item."""

    ranking: str
    options: str = ""
    hint: str = "A vote needs two items or more."


def row_numbers(count: int) -> Ints:
    """Number rows from 0."""
    return np.arange(count, dtype=np.int64)


def ballot_votes(rows: Rows, ballots: Ballots, rules: Rules) -> Votes:
    """Check rankings, code them and sort them by judge."""
    items, entries = _merged(ballots, merge_names=rules.merge_names)
    spellings = told(items.spellings, ballots.judges.spellings)
    complaints = [*ballots.complaints, *_complaints(rows, ballots, items, entries)]
    if not rules.na_is_name:
        complaints += _na_names(ballots, items, len(rows.frame))
    short = _too_short(ballots, items, entries, complaints)
    skipped, why = ballots.skipped, SKIPPED
    if ballots.one_item_is_no_vote:
        skipped, why = short.bad, "which rank only one item and so compare nothing"
    else:
        complaints.append(short)
    keep, left_out = sift(
        rows,
        complaints,
        rules=rules,
        skipped=skipped,
        why_skipped=why,
        together=ballots.of_row if len(ballots.first_row) < len(rows.frame) else None,
    )
    weight = np.ones(len(ballots.first_row)) if ballots.weight is None else ballots.weight
    (judge,) = ballots.judges.codes
    if keep is not None:
        kept = keep[ballots.first_row]
        entries = _of_ballots(entries, kept)
        judge, weight = judge[kept], weight[kept]
    items = ordered(Coded(items.labels, (entries.code,)), rows.text)
    judges = ordered(Coded(ballots.judges.labels, (judge,)), rows.text)
    coded_entries = entries._replace(code=items.codes[0])
    pairs, lists = _sorted_by_judge(
        coded_entries, judges.codes[0], weight, len(items.labels), len(judges.labels)
    )
    both_bad = ballots.both_bad
    if both_bad is not None and keep is not None:
        both_bad = both_bad & keep
    return Votes(
        items=items.labels.alias("item"),
        judges=judges.labels.alias("judge"),
        start=pairs.start,
        winner=pairs.item[0::2].copy(),
        loser=pairs.item[1::2].copy(),
        outcome=np.where(pairs.level[1::2] > 0, LEFT_WON, TIE).astype(np.int8),
        weight=pairs.weight,
        lists=lists,
        both_bad=0 if both_bad is None else int(both_bad.sum()),
        judges_known=ballots.judges_known,
        left_out=left_out,
        notices=sentences(spellings),
        spellings=spellings,
    )


# --- one entry per ranking and item ------------------------------------------------------------


class _Merged(NamedTuple):
    """Rankings and their sets as one table, an entry for each item, sorted by ranking and code."""

    ballot: Ints
    code: NDArray[np.int32]
    level: NDArray[np.int32]
    """`REST` for items that are not ranked."""
    row: Ints
    """The last row that names the item."""
    times_ranked: Ints
    times_shown: Ints


def _merged(ballots: Ballots, *, merge_names: bool) -> tuple[Coded, _Merged]:
    """Code the items, and bring together what ranking and set say of each."""
    ranked, shown = ballots.ranked, ballots.shown
    sources = [ranked] if shown is None else [ranked, shown]
    given = coded(*same_kind(*(source.label for source in sources)))
    rows = [source.row for source in sources]
    items = with_spellings(given, "item", merge=merge_names, rows=rows)
    row = np.concatenate(rows)
    code = np.concatenate(items.codes)
    level = np.concatenate([ranked.level, *(np.full(len(s.row), REST) for s in sources[1:])])
    is_shown = np.arange(len(row)) >= len(ranked.row)
    ballot = ballots.of_row[row]
    there = np.flatnonzero((code >= 0) & (ballot >= 0))
    cell = ballot * max(len(items.labels), 1) + code
    order = there[np.argsort((cell * 2 + is_shown)[there], kind="stable")]
    new = np.diff(cell[order], prepend=-1) != 0
    group = np.cumsum(new) - 1
    first = order[new]
    last = order[np.append(new[1:], True)] if len(order) else order
    times_shown = np.bincount(group, weights=is_shown[order], minlength=len(first))
    times = np.bincount(group, minlength=len(first))
    return items, _Merged(
        ballot[first],
        code[first],
        level[first].astype(np.int32),
        row[last],
        times - times_shown.astype(np.int64),
        times_shown.astype(np.int64),
    )


def _of_ballots(entries: _Merged, kept: Mask) -> _Merged:
    """Keep some of the rankings, and count these anew."""
    stays = kept[entries.ballot]
    number = np.cumsum(kept) - 1
    return _Merged(
        number[entries.ballot[stays]],
        entries.code[stays],
        entries.level[stays],
        entries.row[stays],
        entries.times_ranked[stays],
        entries.times_shown[stays],
    )


# --- what is wrong -----------------------------------------------------------------------------


def _complaints(rows: Rows, ballots: Ballots, items: Coded, entries: _Merged) -> list[Complaint]:
    """Complain about rankings and sets, whatever way they are written."""
    ranking, options, _ = ballots.names
    count = len(rows.frame)
    twice = entries.times_shown > 1
    twice_ranked = (entries.times_ranked > 1) & ~twice
    found = [
        _about_items(f"an item twice in {ranking}", twice_ranked, entries, items, count),
        _empty_items(ranking, ballots.ranked, items.codes[0], count),
    ]
    if ballots.shown is not None:
        strange = (entries.times_shown == 0) & _has_set(ballots)[entries.ballot]
        what = f"an item in {ranking} that is not in {options}"
        found += [
            _about_items(f"an item twice in {options}", twice, entries, items, count),
            _about_items(what, strange, entries, items, count),
            _empty_items(options, ballots.shown, items.codes[1], count),
        ]
    return found


def _na_names(ballots: Ballots, items: Coded, count: int) -> list[Complaint]:
    """Ask about names such as N/A, of items and of judges."""
    where = f"{ballots.names.ranking} or its set" if ballots.shown else ballots.names.ranking
    sources = [ballots.ranked] if ballots.shown is None else [ballots.ranked, ballots.shown]
    found = na_names(items.labels, (where, np.concatenate(items.codes)))
    judges = na_names(ballots.judges.labels, ("the column of judges", ballots.judges.codes[0]))
    rows = np.concatenate([source.row for source in sources])
    return [
        *(_in_rows(one, rows, count) for one in found),
        *(_in_rows(one, ballots.first_row, count) for one in judges),
    ]


def _in_rows(about: Complaint, rows: Ints, count: int) -> Complaint:
    """Complain about the rows in which bad names stand, naming one of each of the first rows."""
    where, first = np.unique(rows[about.bad], return_index=True)
    names = about.values
    said = (
        names.of(np.flatnonzero(about.bad)[first[:MOST_CASES]]) if isinstance(names, Words) else ()
    )
    values = dict(zip(where[:MOST_CASES].tolist(), said, strict=False))
    return replace(about, bad=_mask(where, count), values=values)


def _about_items(what: str, bad: Mask, entries: _Merged, items: Coded, count: int) -> Complaint:
    """Complain about some entries, naming an item of each of the first rows."""
    rows, first = np.unique(entries.row[bad], return_index=True)
    codes = entries.code[bad][first[:MOST_CASES]]
    values = dict(zip(rows[:MOST_CASES].tolist(), items.labels.gather(codes), strict=True))
    return Complaint(what, _mask(rows, count), values)


def _empty_items(where: str, entries: Entries, codes: Codes, count: int) -> Complaint:
    bad = _mask(entries.row[codes < 0], count)
    return Complaint(f"an empty item in {where}", bad, hint="Fill it in or remove it.")


def _mask(rows: Ints, count: int) -> Mask:
    mask = np.zeros(count, dtype=np.bool_)
    mask[rows] = True
    return mask


def _has_set(ballots: Ballots) -> Mask:
    """Tell which rankings have a set; one without has been complained about."""
    rows = np.empty(0, dtype=np.int64) if ballots.shown is None else ballots.shown.row
    return _mask(ballots.of_row[rows], len(ballots.first_row))


def _too_short(
    ballots: Ballots, items: Coded, entries: _Merged, others: Sequence[Complaint]
) -> Complaint:
    """Complain about votes on one item, if there is no other complaint about them."""
    bad = np.logical_or.reduce([complaint.bad for complaint in others])
    size = np.bincount(entries.ballot, minlength=len(ballots.first_row))
    short = np.setdiff1d(np.flatnonzero(size == 1), ballots.of_row[bad])
    codes = entries.code[np.searchsorted(entries.ballot, short[:MOST_CASES])]
    rows = ballots.first_row[short]
    values = dict(zip(rows[:MOST_CASES].tolist(), items.labels.gather(codes), strict=True))
    return Complaint("only one item", _mask(rows, len(bad)), values, ballots.names.hint)


# --- coded and sorted --------------------------------------------------------------------------


def _sorted_by_judge(
    entries: _Merged,
    judge: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_items: int,
    n_judges: int,
) -> tuple[Lists, Lists]:
    """Put rankings in the order of their judges, and tell pairs from longer ones."""
    order = order_by(judge, n_judges)
    ballot = entries.ballot
    if order is not None:
        index = np.empty(len(order), dtype=np.int64)
        index[order] = np.arange(len(order))
        ballot, judge, weight = index[ballot], judge[order], weight[order]
    level = entries.level.astype(np.int64)
    rest = level == REST
    number = len(judge)
    top = np.zeros(number, dtype=np.int64)
    np.maximum.at(top, ballot[~rest], level[~rest] + 1)
    level[rest] = top[ballot[rest]]
    highest = int(level.max()) + 1
    by = np.argsort((ballot * highest + level) * n_items + entries.code, kind="stable")
    size = np.bincount(ballot, minlength=number)
    left_over = np.bincount(ballot[rest], minlength=number)
    ranked = np.where(left_over == 1, size, size - left_over)
    item, level = entries.code[by], level[by]
    is_pair = size == 2
    in_pair = np.repeat(is_pair, size)
    pairs, lists = (
        Lists(
            start=_starts(np.bincount(judge[some], minlength=n_judges)),
            begin=_starts(size[some]),
            item=item[inside],
            level=level[inside].astype(np.int32),
            ranked=ranked[some].astype(np.int32),
            weight=weight[some],
        )
        for some, inside in ((is_pair, in_pair), (~is_pair, ~in_pair))
    )
    return pairs, lists


def _starts(sizes: Sequence[int] | NDArray[np.int64]) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
