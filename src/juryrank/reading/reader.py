"""`read_votes` and `votes_from`: rows in, `Votes` out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import polars as pl

from juryrank.errors import InputError
from juryrank.memory_size import size_in_bytes
from juryrank.reading import preflib
from juryrank.reading.ballots import ballot_votes
from juryrank.reading.bookkeeping import says_moment
from juryrank.reading.by_value import column_to_rank_by, votes_by_value
from juryrank.reading.columns import (
    ChoiceColumns,
    Columns,
    LongColumns,
    PairColumns,
    RankingColumns,
    RatingColumns,
    WideColumns,
    choose,
)
from juryrank.reading.crosstables import CROSS_TABLE
from juryrank.reading.files import (
    Part,
    Rows,
    column_types,
    header,
    label_columns,
    parts_of,
    read_rows,
    with_file_as_judge,
)
from juryrank.reading.frames import part_of
from juryrank.reading.grids import made_long
from juryrank.reading.larger_than_memory import larger_votes
from juryrank.reading.list_cells import separator_in_words
from juryrank.reading.long import long_ballots
from juryrank.reading.mistaken import check_winners
from juryrank.reading.names import plain
from juryrank.reading.outcome_words import number_in
from juryrank.reading.outcomes import as_text, told_looks, told_numbers, told_strength
from juryrank.reading.pairs import pair_votes
from juryrank.reading.rankings import choice_ballots, ranking_ballots, wide_ballots
from juryrank.reading.ratings import rating_votes, scale_in_words
from juryrank.reading.request import Asked, Request, request_of
from juryrank.reading.row_filter import Filtered
from juryrank.reading.row_filter import filtered as filtered_parts
from juryrank.reading.rows import Rules
from juryrank.reading.scores import GAMES
from juryrank.reading.suggestions import columns_of_raters, ways_out
from juryrank.reading.tie_column import with_ties
from juryrank.reading.times import judge_times, time_column
from juryrank.reading.unused import contexts_in
from juryrank.reading.what_was_read import reading_of, unused_columns
from juryrank.votes.concat import joined_readings
from juryrank.votes.votes import LeftOut, Reading, Votes

MOST_TOLD_APART = 1_000_000
"""Rows up to which votes on other questions are told from duplicates."""
FIRST_ROWS = 1000
"""Rows in which an outcome that is a number is looked for."""
HOME = ("home", "heim")
"""How the names begin that are given to the side that plays on its own ground."""


def read_votes(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    format: str | None = None,  # noqa: A002  the word users know
    encoding: str | None = None,
    sheet: str | None = None,
    unpack_all: bool = False,
    judge: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    ranking: str | None = None,
    options: str | None = None,
    item: str | None = None,
    position: str | None = None,
    rating: str | None = None,
    lower_is_better: bool = False,
    item_columns: Sequence[str] = (),
    judge_columns: Sequence[str] = (),
    cells: Literal["position", "rating"] | None = None,
    counts: Literal["rows", "columns"] = "rows",
    weight: str | None = None,
    tie: str | None = None,
    outcome_map: Mapping[str, str] | None = None,
    judge_per_row: bool = False,
    judge_per_file: bool = False,
    na_is_name: bool = False,
    merge_names: bool = False,
    skip_bad: bool | Literal["most"] = False,
    where: str | None = None,
    by: str | None = None,
    memory: str | int | None = None,
) -> Votes:
    """Read votes from a file: pairs, rankings, or choices from sets.

    Args:
        source: A file of CSV, TSV, NDJSON, JSON, Parquet, Arrow IPC or PrefLib (``.soc``, ``.soi``,
            ``.toc``, ``.toi``), also compressed as ``.gz`` or ``.zst``; a spreadsheet (``.xlsx``,
            ``.xls``, ``.ods``; needs fastexcel); a folder, glob or ``.zip`` of such
            files; ``-`` for standard input; an open file. Exports of LMArena, Label Studio and
            Argilla are known by their structure.
        format: The format, if it cannot be told from the content and the ending.
        encoding: The encoding of text, such as ``"cp1252"``; without it UTF-8, or a guess that
            ``votes.reading`` tells.
        sheet: The name of the sheet of a spreadsheet; without it the first.
        unpack_all: Unpack a compressed file or an archive however large it becomes.
        judge: The column of judges, if its name does not say so. Without such a column all votes
            are one judge's.
        winner: The column of winners, or of outcomes where there are left and right items, or of
            the items chosen from sets.
        loser: The column of losers.
        left: The column of items shown on the left; of a task of Label Studio, the field.
        right: The column of items shown on the right, or the field.
        ranking: The column of rankings: ``a > b = c``, JSON or lists, where a list in a list is a
            tie; of Argilla, the question. Where there is a row for each item: the column that
            tells rankings apart.
        options: The column of sets, the items the judge saw: lists, JSON, or text with ``|``,
            ``;`` or ``,`` between the items. Those not ranked are below those that are.
        item: The column of items, where there is a row for each item of a ranking.
        position: The column of the items' positions there; 1 is the best.
        rating: The column of ratings, where there is a row for each item that a judge rated. Of
            two items that a judge rated (in one context, named by `ranking`), the one rated higher
            wins; equal ratings are ties.
        lower_is_better: Whether the lower rating wins.
        item_columns: The columns of a survey that has one for each item, or the question they have
            before their brackets.
        judge_columns: The columns of judges, where there is one for each: of outcomes if the rows
            are pairs of items, of positions or ratings (`cells`) if they are items.
        cells: Whether the cells of such tables are positions, 1 being the best, or ratings.
        counts: In a table of counts, item by item: whether they are wins of the items of the rows
            or of the columns.
        weight: The column of weights, positive numbers.
        tie: The column that tells of two items whether they are tied (yes or no, true or false, 1
            or 0), whatever the other columns say of who won.
        outcome_map: What the words in the outcome column mean: left, right, tie, both_bad or skip.
        judge_per_row: Take every row, or ranking, as a judge of its own, named by its number (in
            PrefLib's files everyone who is counted).
        judge_per_file: Take the name of each file, without its ending, as the judge of its votes.
        na_is_name: Take N/A, NaN, null and the like as names of items or judges.
        merge_names: Make names one that differ only by case, blanks, the composition of accents or
            invisible signs: the spelling that occurs most often, or the first of several.
        skip_bad: Leave bad rows out and count them, instead of raising an error; "most": even if
            they are more than half.
        where: A condition that rows must fulfil to be read: ``'language == "de" and round > 3'``,
            with ``== != < <= > >=``, ``in (...)``, ``is null``, ``and``, ``or``, ``not`` and
            parentheses. What is in quotes is compared as text, what is not as a number.
        by: A column each value of which is to be ranked apart, with ``rank(votes, by=...)``.
        memory: For votes on pairs that are larger than memory: how much to use for reading, such as
            ``"1GB"``, beside what Python and its libraries take. The votes are then kept in files
            of the folder for temporary ones (set TMPDIR to choose it), which go with the votes.

    Raises:
        InputError: The source cannot be read or holds bad rows; the message says which.
    """
    request = request_of(locals())
    if memory is not None:
        return read_larger([source], request, memory)
    return _votes(parts_of(source, request.opening), request)


def read_larger(
    sources: Sequence[str | os.PathLike[str] | IO[bytes]],
    request: Request,
    memory: str | int,
    say: Callable[[str], None] | None = None,
) -> Votes:
    """Read votes on pairs from one source or several, which are joined, with so much memory.

    `say` is called with what is being done.
    """
    limit, rules = size_in_bytes(memory), request.rules
    if request.by is not None:
        raise InputError(
            "A memory limit (--memory, memory=...) is for one ranking, and values are to be "
            "ranked apart (--by, by=...): omit one of the two, or take the values one after the "
            "other with --where (where=...)."
        )
    opened, kept = [], []
    for source in sources:
        given, filtered = _filtered(parts_of(source, request.opening), request.where)
        kept.append(filtered)
        parts = [_made_long(part, request) for part in given]
        opened.append(with_ties(parts, _pair_columns(parts, request.asked, rules), request.asked))
    # Rows are judges of their own: those of the same number in two files are not the same.
    apart = rules.judge_per_row and len(opened) > 1
    prefixes = [Path(str(source)).name for source in sources] if apart else ()
    votes, known = larger_votes(opened, rules, limit, prefixes, say)
    told = tuple(
        reading_of(
            parts, columns, rules, one.left_out.rows, one.left_out.total, one.outcomes, filtered,
            one.spellings, one_judge=votes.n_judges == 1,
        )
        for (parts, columns), one, filtered in zip(opened, known, kept, strict=True)
    )  # fmt: skip
    notices = [notice for parts, _ in opened for part in parts for notice in part.notices]
    notices += [notice for filtered in kept if filtered for notice in filtered.notices]
    return replace(
        votes,
        reading=joined_readings(told, votes.spellings),
        notices=(*votes.notices, *notices),
    )


def _filtered(parts: Sequence[Part], where: str | None) -> tuple[Sequence[Part], Filtered | None]:
    return (parts, None) if where is None else filtered_parts(parts, where)


def votes_from(
    frame: object,
    *,
    judge: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    ranking: str | None = None,
    options: str | None = None,
    item: str | None = None,
    position: str | None = None,
    rating: str | None = None,
    lower_is_better: bool = False,
    item_columns: Sequence[str] = (),
    judge_columns: Sequence[str] = (),
    cells: Literal["position", "rating"] | None = None,
    counts: Literal["rows", "columns"] = "rows",
    weight: str | None = None,
    tie: str | None = None,
    outcome_map: Mapping[str, str] | None = None,
    judge_per_row: bool = False,
    na_is_name: bool = False,
    merge_names: bool = False,
    skip_bad: bool | Literal["most"] = False,
    where: str | None = None,
    by: str | None = None,
) -> Votes:
    """Take votes from a data frame: pairs, rankings, or choices from sets.

    Args:
        frame: A data frame of polars, pandas, pyarrow, duckdb or any library with the Arrow
            PyCapsule interface; a mapping of columns; or a list of rows as mappings.
        judge: As for `read_votes`, and so are all further arguments.
        winner: The column of winners, outcomes or choices.
        loser: The column of losers.
        left: The column of items shown on the left.
        right: The column of items shown on the right.
        ranking: The column of rankings, or of what tells them apart.
        options: The column of sets.
        item: The column of items, where there is a row for each item of a ranking.
        position: The column of the items' positions there.
        rating: The column of ratings.
        lower_is_better: Whether the lower rating wins.
        item_columns: The columns of a survey that has one for each item.
        judge_columns: The columns of judges, where there is one for each.
        cells: Whether the cells of such tables are positions or ratings.
        counts: Whether a table of counts holds wins of the items of its rows or of its columns.
        weight: The column of weights.
        tie: The column that tells whether two items are tied.
        outcome_map: What the words in the outcome column mean.
        judge_per_row: Take every row, or ranking, as a judge of its own.
        na_is_name: Take N/A, NaN, null and the like as names of items or judges.
        merge_names: Make names one that differ only by case, blanks, the composition of accents or
            invisible signs: the spelling that occurs most often, or the first of several.
        skip_bad: Leave bad rows out and count them, instead of raising an error; "most": even if
            they are more than half.
        where: A condition that rows must fulfil to be read.
        by: A column each value of which is to be ranked apart.

    Raises:
        InputError: The frame holds no votes or bad rows; the message says which.
    """
    request = request_of({**locals(), "judge_per_file": False})
    return _votes([part_of(frame)], request)


def votes_of_some(
    frame: pl.DataFrame, options: Mapping[str, Any], *, is_text: bool = False
) -> Votes:
    """Take votes from some rows of many, with keywords of `votes_from`.

    What only all rows can tell is not looked for: names that look the same, votes that were cast
    twice, and how long judges take. If the rows are those of a text file, without types, names
    that are whole numbers throughout become numbers.
    """
    keywords = signature(votes_from).parameters.values()
    usual = {one.name: one.default for one in keywords if one.default is not one.empty}
    request = request_of({"judge_per_file": False, **usual, **options})
    rules = replace(request.rules, some_of_many=True)
    part = replace(part_of(frame), format="csv" if is_text else None)
    return _votes([part], replace(request, rules=rules))


def _votes(
    given: Sequence[Part], request: Request, most_told_apart: int = MOST_TOLD_APART
) -> Votes:
    rules = request.rules
    given, filtered = _filtered(given, request.where)
    parts: Sequence[Part] = [_made_long(part, request) for part in given]
    columns = _chosen(parts, request.asked, rules)
    if isinstance(columns, PairColumns):
        parts, columns = with_ties(parts, columns, request.asked)
    by = None if request.by is None else column_to_rank_by(parts, request.by)
    more = [] if by is None or by in columns.used else [by]
    rows = read_rows(parts, [*columns.used, *more])
    if not len(rows.frame):
        raise InputError(f"{parts[0].name} has a header but no votes.")
    look_for_repeats = not rules.some_of_many and len(rows.frame) <= most_told_apart
    if by is None and isinstance(columns, PairColumns) and look_for_repeats:
        rows = replace(rows, contexts=_contexts(parts, columns))
    if by is not None:
        votes = _by_value(rows, columns, rules, by)
    else:
        votes = _coded(rows, columns, rules, _maybe_raters(parts, columns, rules))
    votes = _with_remarks(votes, parts, () if filtered is None else filtered.notices)
    if not rules.some_of_many:
        votes = _with_times(votes, parts, columns, rules)
    if any(part.before is not None and part.before.kind == CROSS_TABLE for part in parts):
        votes = replace(votes, sides_known=False)
    numbers = _told_numbers(rows, columns, votes, rules)
    told = reading_of(
        parts, columns, rules, len(rows.frame), votes.left_out.total, numbers, filtered,
        votes.spellings, by=by, one_judge=votes.n_judges == 1,
        time=None if votes.times is None else votes.times.column,
    )  # fmt: skip
    votes = _with_reading(votes, told)
    if rules.judge_per_row and columns == preflib.COLUMNS:
        return preflib.one_judge_per_voter(votes)
    return votes


def _made_long(part: Part, request: Request) -> Part:
    """Make a table long, and its name the judge if the user wants it."""
    long = made_long(part, request.asked, request.grid)
    return with_file_as_judge(long) if request.rules.judge_per_file else long


def _with_reading(votes: Votes, told: Reading) -> Votes:
    by = votes.by
    if by is not None:
        by = replace(by.mapped(lambda own: replace(own, reading=(told,))), reading=(told,))
    return replace(votes, reading=(told,), by=by)


def _by_value(rows: Rows, columns: Columns, rules: Rules, by: str) -> Votes:
    numbered = rules.judge_per_row and isinstance(columns, LongColumns | RatingColumns)
    return votes_by_value(
        rows, by, rules, lambda own: _coded(own, columns, rules), judges_are_numbers=numbered
    )


def _with_times(votes: Votes, parts: Sequence[Part], columns: Columns, rules: Rules) -> Votes:
    """Add how long each judge takes for a vote, if a column tells."""
    column = time_column(parts, unused_columns(parts[0], columns))
    times = None if column is None else judge_times(parts, columns, rules, votes, column)
    return replace(votes, times=times)


def _maybe_raters(parts: Sequence[Part], columns: Columns, rules: Rules) -> Sequence[str]:
    """Find columns that may say who rated, if no column is known as the judge."""
    if not isinstance(columns, RatingColumns) or columns.judge or rules.judge_per_row:
        return ()
    return columns_of_raters(parts[0], columns)


def _contexts(parts: Sequence[Part], columns: PairColumns) -> pl.DataFrame | None:
    """Read the columns, not used otherwise, that may tell a vote from the same one once more."""
    unused = unused_columns(parts[0], columns)
    named = label_columns(parts, contexts_in(unused))
    if _are_games(parts, columns):
        dates = [name for name in unused if says_moment(name) and name not in named]
        named += [columns.left, *column_types(parts, dates)]
    return read_rows(parts, named).frame.select(named) if named else None


def _are_games(parts: Sequence[Part], columns: PairColumns) -> bool:
    """Whether votes are games, of which there is one on either side's own ground."""
    before = parts[0].before
    return plain(columns.left).startswith(HOME) or (before is not None and before.kind == GAMES)


def _told_numbers(rows: Rows, columns: Columns, votes: Votes, rules: Rules) -> tuple[str, ...]:
    if isinstance(columns, RatingColumns):
        return scale_in_words(rows.frame[columns.rating])
    if isinstance(columns, RankingColumns) and columns.options is None:
        return separator_in_words(rows.frame[columns.ranking])
    if not isinstance(columns, PairColumns) or columns.words is None:
        return ()
    words = rows.frame[columns.words]
    first = as_text(words.head(FIRST_ROWS).unique(maintain_order=True))
    said = (
        *(_told_looks(as_text(words), votes.items) if len(words) <= MOST_TOLD_APART else ()),
        *told_strength(first),
    )
    # Words, which most outcomes are, need not be gone through.
    if all(number_in(word) is None for word in first):
        return said
    return (*said, *told_numbers(as_text(words.unique()), columns, votes.items, rules.meanings))


def _told_looks(words: pl.Series, items: pl.Series) -> tuple[str, ...]:
    distinct = words.alias("word").value_counts()
    return told_looks(distinct["word"], distinct["count"].to_numpy().astype(np.int64), items)


def _with_remarks(votes: Votes, parts: Sequence[Part], more: Sequence[str]) -> Votes:
    """Add what was left out, and what was noticed, before there were rows."""
    notices = dict.fromkeys(
        notice for part in parts for notice in (*part.notices, *part.plain.notices)
    )
    notices |= dict.fromkeys(more)
    before = sum((part.plain.left_out for part in parts), LeftOut())
    by = votes.by
    if by is not None:
        by = replace(by, remarks=(*by.remarks, *before.sentences, *notices))
    return replace(
        votes, left_out=votes.left_out + before, notices=(*votes.notices, *notices), by=by
    )


def _chosen(parts: Sequence[Part], asked: Asked, rules: Rules) -> Columns:
    """Decide which columns hold what, as the rules want it."""
    if rules.judge_per_row and asked["judge"] is not None:
        raise InputError(
            f"The judge is the column {asked['judge']!r}, or every row is a judge of its own "
            "(--judge-per-row), but not both."
        )
    columns = _columns(parts, asked)
    if isinstance(columns, PairColumns):
        check_winners(parts, columns)
    _check_map(columns, rules)
    if rules.lower_is_better and not isinstance(columns, RatingColumns):
        raise InputError(
            f"{parts[0].name} has no ratings: omit --lower-is-better (lower_is_better=True), or "
            "name their column with --rating (rating=...)."
        )
    if rules.judge_per_row and not isinstance(columns, LongColumns | RatingColumns):
        return replace(columns, judge=None)
    return columns


def _pair_columns(parts: Sequence[Part], asked: Asked, rules: Rules) -> PairColumns:
    columns = _chosen(parts, asked, rules)
    if not isinstance(columns, PairColumns) or parts[0].plain.names_rows:
        is_pairs = isinstance(columns, PairColumns)
        what = "an export or a table of counts" if is_pairs else "rankings, choices or ratings"
        raise InputError(
            f"A memory limit (--memory, memory=...) is for tables of votes on pairs, and "
            f"{parts[0].name} holds {what}: omit the limit."
        )
    return columns


def _coded(rows: Rows, columns: Columns, rules: Rules, maybe_raters: Sequence[str] = ()) -> Votes:
    match columns:
        case PairColumns():
            return pair_votes(rows, columns, rules)
        case RankingColumns():
            ballots = ranking_ballots(rows, columns, rules)
        case ChoiceColumns():
            ballots = choice_ballots(rows, columns, rules)
        case WideColumns():
            ballots = wide_ballots(rows, columns, rules)
        case RatingColumns():
            return rating_votes(rows, columns, rules, maybe_raters)
        case LongColumns():
            ballots = long_ballots(rows, columns, rules)
    return ballot_votes(rows, ballots, rules)


def _columns(parts: Sequence[Part], asked: Asked) -> Columns:
    found = [_columns_of(part, asked) for part in parts]
    for part, columns in zip(parts, found, strict=True):
        if columns != found[0]:
            raise InputError(
                f"{parts[0].name} and {part.name} have different columns: "
                f"{', '.join(found[0].used)}; {', '.join(columns.used)}."
            )
    return found[0]


def _columns_of(part: Part, asked: Asked) -> Columns:
    if part.format != "preflib":
        names = header(part)
        lists = [name for name, kind in column_types([part], names).items() if kind.is_nested()]
        return choose(
            part.name, names, asked, part.plain.hints, lambda roles: ways_out(part, roles), lists
        )
    named = [role for role, column in asked.items() if column is not None]
    if named:
        raise InputError(f"{part.name} is a PrefLib file and has no columns: omit {named[0]}.")
    return preflib.COLUMNS


def _check_map(columns: Columns, rules: Rules) -> None:
    if not rules.meanings or isinstance(columns, ChoiceColumns):
        return
    if not isinstance(columns, PairColumns):
        raise InputError(
            "There is no outcome column to map: the votes are rankings. Omit the outcome map."
        )
    if columns.words is None and columns.tie is None:
        raise InputError(
            f"There is no outcome column to map: {columns.left!r} always beats {columns.right!r}. "
            "Omit the outcome map, or name the columns of the left and right item."
        )
