"""Votes on pairs that are larger than memory: read in batches, sorted in shards, kept in files.

1. Batches of rows are read and coded, and the codes written to files; labels stay in memory.
2. The codes are gone through once more: what the words of outcomes mean is only known now. Bad rows
   are counted, and so are the votes of each judge.
3. The votes are dealt out to shards, ranges of judges small enough to be sorted in memory, and put
   at their rows, shard by shard.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from io import FileIO
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import (
    MISSING,
    Codes,
    blanks,
    by_group,
    coder_of,
    counts,
    in_order,
    labels,
    same_kind,
)
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import NUMBER, Part, Rows, batches, common_schema, telling_values
from juryrank.reading.outcomes import (
    ANY_OUTCOME,
    BOTH_BAD,
    SKIP,
    VOTE_OF,
    Doubts,
    Outcomes,
    Words,
    as_text,
    lexicon_of,
    told_looks,
    told_numbers,
    told_strength,
)
from juryrank.reading.pairs import check_two_items
from juryrank.reading.rows import (
    NO_JUDGE,
    SAME,
    SKIPPED,
    Cases,
    Complaint,
    Rules,
    account,
    bad_outcomes,
    bad_weights,
    header_again,
    is_weight,
    missing,
    na_names,
    refuse,
    weights,
)
from juryrank.reading.similar_names import Seen, Spelled, sentences, spelled, told
from juryrank.votes.concat import joined_names, joined_notices, joined_spellings, left_out_together
from juryrank.votes.lists import no_lists
from juryrank.votes.similar_names import Spellings
from juryrank.votes.storage import check_room, give_back, in_room, new_mapped, pieces, ranges
from juryrank.votes.votes import LEFT_WON, LeftOut, Votes, turned
from juryrank.votes.weights import equal_weights

LARGEST_BATCH, LARGEST_PIECE = 1 << 18, 1 << 20
BYTES_PER_READ_ROW = 1000
"""What a row takes, at most, while it is read: text, and what polars reads ahead."""
BYTES_PER_CODED_ROW = 200
BYTES_PER_SORTED_VOTE = 50

Say = Callable[[str], None]


class Limits(NamedTuple):
    """How many rows may be in memory at a time."""

    batch: int
    """While they are read."""
    piece: int
    """While their codes are gone through."""
    shard: int
    """While they are sorted."""


def limits_of(memory: int) -> Limits:
    """Give the numbers of rows that fit into so many bytes."""
    return Limits(
        batch=max(min(memory // BYTES_PER_READ_ROW, LARGEST_BATCH), 1),
        piece=max(min(memory // BYTES_PER_CODED_ROW, LARGEST_PIECE), 1),
        shard=max(memory // BYTES_PER_SORTED_VOTE, 1),
    )


class _Column:
    """Numbers of one source in a file, after those of the sources before it."""

    def __init__(self, file: FileIO, kind: type[np.generic], before: int) -> None:
        self._file = file
        self._kind = np.dtype(kind)
        self._before = before
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, values: NDArray[Any]) -> None:
        """Write some more numbers."""
        self._go_to(self._count)
        rest = np.ascontiguousarray(values, dtype=self._kind).view(np.uint8)
        with in_room():
            while len(rest):  # a disk that becomes full takes a part first
                rest = rest[self._file.write(rest.data) :]
        self._count += len(values)

    def read(self, where: slice) -> NDArray[Any]:
        """Read some of the numbers."""
        self._go_to(where.start)
        found = self._file.read((where.stop - where.start) * self._kind.itemsize)
        return np.frombuffer(bytearray(found), dtype=self._kind)

    def __getitem__(self, row: int) -> int:
        return int(self.read(slice(row, row + 1))[0])

    def _go_to(self, number: int) -> None:
        self._file.seek((self._before + number) * self._kind.itemsize)


class _Room:
    """Files without names for columns of numbers, each for that of all sources."""

    def __init__(self) -> None:
        self._files = ExitStack()
        self._columns: dict[str, tuple[FileIO, list[_Column]]] = {}

    def __enter__(self) -> _Room:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def column(self, name: str, kind: type[np.generic]) -> _Column:
        """Begin a column of a source; those of other sources are not written to any more."""
        if name not in self._columns:
            # Unbuffered: what a buffer holds back fails later, where nobody expects it.
            with in_room():
                opened = tempfile.TemporaryFile(  # noqa: SIM115  closed on exit
                    buffering=0, prefix="juryrank-"
                )
            self._columns[name] = self._files.enter_context(opened), []
        file, columns = self._columns[name]
        columns.append(_Column(file, kind, sum(map(len, columns))))
        return columns[-1]


class _Labels:
    """Labels of one kind, coded batch by batch; blank ones are missing."""

    def __init__(self, kind: pl.DataType) -> None:
        self._kind = kind
        self._coder = coder_of(kind)
        self._blank = np.empty(0, dtype=np.int64)
        self.has_missing = False

    @property
    def labels(self) -> pl.Series:
        return self._coder.labels

    def codes(self, column: pl.Series) -> Codes:
        known = len(self.labels)
        codes = self._coder.codes(labels(column).cast(self._kind))
        new_blank = known + np.flatnonzero(blanks(self.labels.slice(known)))
        self._blank = np.concatenate((self._blank, new_blank))
        if len(self._blank):
            codes[np.isin(codes, self._blank)] = MISSING
        self.has_missing |= bool(codes.min(initial=0) < 0)
        return codes


# --- 1. from batches to codes --------------------------------------------------------------------


class _Raw:
    """The rows of one source, as codes in files."""

    def __init__(
        self, parts: Sequence[Part], columns: PairColumns, rules: Rules, room: _Room
    ) -> None:
        self.columns = columns
        self._parts = parts
        self._judge_per_row = rules.judge_per_row
        self._schema = common_schema(parts, columns.used)
        self.items = _Labels(_kind_of_items(parts, columns, self._schema))
        self._judges = _Labels(_kind(self._schema, columns.judge))
        self._words = coder_of(_kind(self._schema, columns.words))
        self.judge = room.column("judge", np.int32)
        self.left, self.right = room.column("left", np.int32), room.column("right", np.int32)
        self.word = None if columns.words is None else room.column("word", np.int32)
        self.weight = None if columns.weight is None else room.column("weight", np.float64)
        self._number = room.column("number", np.int64) if parts[0].is_numbered else None
        self.bad_weights: list[Cases] = []
        self.ends: list[int] = []

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def rows(self) -> Rows:
        """What rows are called; the rows themselves are not there."""
        names = tuple(part.name for part in self._parts)
        is_text = self._parts[0].is_text
        return Rows(pl.DataFrame(), names, tuple(self.ends), is_text, origin=self._number)

    @property
    def judges(self) -> pl.Series:
        """The labels of judges."""
        if self._judge_per_row:
            if self._number is not None:
                return pl.Series(self._number.read(slice(0, len(self))) + 1)
            return pl.int_range(1, len(self) + 1, eager=True)
        return pl.Series([NO_JUDGE]) if self.columns.judge is None else self._judges.labels

    @property
    def words(self) -> pl.Series:
        """The words of outcomes."""
        return as_text(self._words.labels)

    def read(self, batch_size: int, say: Say | None) -> None:
        """Read and code all rows."""
        for part in self._parts:
            before = self.ends[-1] if self.ends else 0
            for batch in batches(part, self._schema, batch_size):
                self._append(batch)
                if self._number is not None:
                    self._number.append(batch[NUMBER].to_numpy().astype(np.int64) + before)
                if say:
                    say(f"Reading {part.name}: {len(self):,} rows")
            self.ends.append(len(self) if part.kept is None else before + part.kept.of)
        if not len(self):
            raise InputError(f"{self._parts[0].name} has a header but no votes.")

    def _append(self, batch: pl.DataFrame) -> None:
        columns, before = self.columns, len(self)
        self.left.append(self.items.codes(batch[columns.left]))
        self.right.append(self.items.codes(batch[columns.right]))
        if self.word is not None and columns.words is not None:
            self.word.append(self._words.codes(labels(batch[columns.words])))
        if self.weight is not None and columns.weight is not None:
            given = batch[columns.weight]
            weight = weights(given)
            self.weight.append(weight)
            _add_cases(self.bad_weights, [bad_weights(given, weight)], before)
        self.judge.append(self._judge_codes(batch, before))

    def _judge_codes(self, batch: pl.DataFrame, before: int) -> Codes:
        if self._judge_per_row:
            return np.arange(before, before + len(batch), dtype=np.int32)
        if self.columns.judge is None:
            return np.zeros(len(batch), dtype=np.int32)
        return self._judges.codes(batch[self.columns.judge])


def _kind(schema: pl.Schema, column: str | None) -> pl.DataType:
    """The type of a column's labels."""
    return pl.String() if column is None else labels(pl.Series(column, dtype=schema[column])).dtype


def _kind_of_items(parts: Sequence[Part], columns: PairColumns, schema: pl.Schema) -> pl.DataType:
    """The type of the labels of both sides."""
    left, right = columns.left, columns.right
    if _kind(schema, left) == _kind(schema, right):
        return _kind(schema, left)
    sides = [telling_values(parts, side, schema) for side in (left, right)]
    return same_kind(*sides)[0].dtype


def _add_cases(found: list[Cases], complaints: Sequence[Complaint], before: int) -> None:
    """Add what is wrong with some more rows, of which there have been so many before."""
    more = [complaint.cases() for complaint in complaints]
    found[:] = [
        one.followed_by(other, before)
        for one, other in zip(found or [cases.none() for cases in more], more, strict=True)
    ]


# --- 2. from codes to votes ----------------------------------------------------------------------


class _Piece(NamedTuple):
    """Some rows, which are votes if they have a judge."""

    judge: Codes
    left: Codes
    right: Codes
    said: NDArray[np.int8] | None
    weight: NDArray[np.float64] | None


class _Checked:
    """The rows of one source, of which is known which are votes."""

    def __init__(self, raw: _Raw, rules: Rules, piece_size: int, say: Say | None) -> None:
        self.raw = raw
        self._piece_size = piece_size
        self._na_is_name = rules.na_is_name
        self._item_names = self._spelled("item", raw.items.labels, (raw.left, raw.right), rules)
        self._judge_names = self._spelled("judge", raw.judges, (raw.judge,), rules)
        self.spellings = told(self._item_names.spellings, self._judge_names.spellings)
        item_labels, judge_labels = self._item_names.labels, self._judge_names.labels
        check_two_items(item_labels, raw.items.has_missing)
        self._words = raw.words
        self._lexicon = lexicon_of(
            self._words, raw.columns, item_labels, rules.meanings, merge_names=rules.merge_names
        )
        self._rows_with = np.zeros(len(self._words), dtype=np.int64)
        self._doubts = Doubts()
        if raw.word is not None and not self._lexicon.is_plain:
            for where in pieces(len(raw), piece_size):
                self._doubts.look(*self._readings(raw.word, where))
        self.votes_of = np.zeros(len(judge_labels), dtype=np.int64)
        self._votes_on = np.zeros(len(item_labels), dtype=np.int64)
        self.both_bad = 0
        self.equal_weights = True
        self.left_out = self._look(rules, say)
        self.items, self.item_table = in_order(item_labels, self._votes_on > 0, raw.rows.text)
        self.judges, self.judge_table = in_order(judge_labels, self.votes_of > 0, raw.rows.text)
        self.judges_known = raw.columns.judge is not None or rules.judge_per_row
        self.said = self._said(rules)

    def _said(self, rules: Rules) -> tuple[str, ...]:
        """Say what words of outcomes were taken to mean, where this is not plain."""
        words, items = self._words, self.items
        return (
            *told_looks(words, self._rows_with, items),
            *told_strength(words),
            *told_numbers(words, self.raw.columns, items, rules.meanings),
        )

    def _spelled(
        self, kind: str, names: pl.Series, columns: Sequence[_Column], rules: Rules
    ) -> Spelled:
        """Find names that look the same, and make them one if wanted."""

        def look_at(seen: Seen) -> None:
            for column in columns:
                for where in pieces(len(column), self._piece_size):
                    seen.look(column.read(where), before=where.start)

        return spelled(names, kind, look_at, merge=rules.merge_names)

    @property
    def named_items(self) -> tuple[pl.Series, NDArray[np.int64]]:
        """The items, and how many votes each is in."""
        return self.items, _reordered(self._votes_on, self.item_table)

    @property
    def named_judges(self) -> tuple[pl.Series, NDArray[np.int64]]:
        """The judges, and how many votes each has cast."""
        return self.judges, _reordered(self.votes_of, self.judge_table)

    @property
    def sides_known(self) -> bool:
        """Whether it is known which item was on the left."""
        return self.raw.columns.outcome is not None

    def pieces(self) -> Iterator[_Piece]:
        """Go through all rows; what is no vote has no judge."""
        for where in pieces(len(self.raw), self._piece_size):
            piece, complaints = self._piece(where)
            keep, *_ = self._sifted(piece, complaints)
            piece.judge[~keep] = MISSING
            yield piece

    def _look(self, rules: Rules, say: Say | None) -> LeftOut:
        """Count votes, and what is wrong with the other rows."""
        wrong: list[Cases] = []
        others: list[Cases] = []
        bad_rows = 0
        for where in pieces(len(self.raw), self._piece_size):
            piece, complaints = self._piece(where)
            keep, bad, skipped, same = self._sifted(piece, complaints)
            _add_cases(wrong, complaints, where.start)
            _add_cases(others, [Complaint(SKIPPED, skipped), Complaint(SAME, same)], where.start)
            bad_rows += int(bad.sum())
            self._count(piece, keep)
            if self.raw.word is not None:
                self._rows_with += counts(self.raw.word.read(where), len(self._rows_with))
            if say:
                say(f"Checking rows: {where.stop:,} of {len(self.raw):,}")
        found = [cases for cases in (*wrong, *self.raw.bad_weights) if cases.count]
        if not rules.skip_bad:
            refuse(found, self.raw.rows.row_name)
        skipped_rows, same_rows = others
        return account(found, bad_rows, skipped_rows, same_rows, self.raw.rows.row_name, rules)

    def _count(self, piece: _Piece, keep: NDArray[np.bool_]) -> None:
        self.votes_of += counts(piece.judge[keep], len(self.votes_of))
        for side in (piece.left, piece.right):
            self._votes_on += counts(side[keep], len(self._votes_on))
        if piece.said is not None:
            self.both_bad += int((piece.said[keep] == BOTH_BAD).sum())
        if piece.weight is not None:
            self.equal_weights &= bool((piece.weight[keep] == 1.0).all())

    def _piece(self, where: slice) -> tuple[_Piece, list[Complaint]]:
        """Read some rows, and find what is wrong with them (but for weights, found before)."""
        raw, columns = self.raw, self.raw.columns
        said, complaints = None, []
        judge = self._judge_names.codes(raw.judge.read(where))
        left, right = (self._item_names.codes(side.read(where)) for side in (raw.left, raw.right))
        if raw.word is not None:
            outcome = self._outcomes(raw.word, where)
            said, complaints = outcome.codes, bad_outcomes(outcome, (left < 0) | (right < 0))
        weight = None if raw.weight is None else raw.weight.read(where)
        labels_of = (self._judge_names.labels, *[self._item_names.labels] * 2)
        sides = ((str(columns.judge), judge), (columns.left, left), (columns.right, right))
        complaints += [missing(column, codes) for column, codes in sides]
        complaints += header_again(columns, self._item_names.labels, left, right)
        if not self._na_is_name:
            for (column, codes), names in zip(sides, labels_of, strict=True):
                complaints += na_names(names, (f"the column {column!r}", codes))
        return _Piece(judge, left, right, said, weight), complaints

    def _outcomes(self, word: _Column, where: slice) -> Outcomes:
        codes = word.read(where)
        if self._lexicon.is_plain:
            said = self._lexicon.as_word[codes]
        else:
            said = self._doubts.settled(*self._readings(word, where))
        advice = self._lexicon.advice(self._words)
        return Outcomes(said, Words(self._words, codes), ANY_OUTCOME, advice)

    def _readings(self, word: _Column, where: slice) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        raw, names = self.raw, self._item_names
        sides = (names.codes(side.read(where)) for side in (raw.left, raw.right))
        return self._lexicon.readings(word.read(where), *sides)

    def _sifted(
        self, piece: _Piece, complaints: Sequence[Complaint]
    ) -> tuple[NDArray[np.bool_], ...]:
        """Tell which rows are votes, which are bad, skipped, or about one item."""
        bad = np.logical_or.reduce([complaint.bad for complaint in complaints])
        if piece.weight is not None:
            bad |= ~is_weight(piece.weight)
        skipped = np.zeros_like(bad) if piece.said is None else (piece.said == SKIP) & ~bad
        same = (piece.left == piece.right) & ~bad & ~skipped
        return ~(bad | skipped | same), bad, skipped, same


def _reordered(number: NDArray[np.int64], table: Codes) -> NDArray[np.int64]:
    """What is known of old codes, in the order of the new ones."""
    there = np.flatnonzero(table[:-1] >= 0)
    found = np.empty(len(there), dtype=np.int64)
    found[table[there]] = number[there]
    return found


# --- 3. sorted by judge --------------------------------------------------------------------------


class Known(NamedTuple):
    """What is to be told of a source."""

    left_out: LeftOut
    outcomes: tuple[str, ...]
    """What words and numbers of outcomes were taken to mean."""
    spellings: tuple[Spellings, ...]


def larger_votes(
    sources: Sequence[tuple[Sequence[Part], PairColumns]],
    rules: Rules,
    memory: int,
    judge_prefixes: Sequence[str] = (),
    say: Say | None = None,
) -> tuple[Votes, list[Known]]:
    """Read votes on pairs from one source or several, holding few of them in memory at a time.

    Gives the votes of all, and what is to be told of each source.

    Args:
        sources: The files of each source, and which of their columns hold what.
        rules: How the user wants rows to be taken.
        memory: How many bytes may be used.
        judge_prefixes: For each source, what its judges' names begin with; nothing if empty.
        say: Called with what is being done.
    """
    check_room()
    with _Room() as room:
        limits = limits_of(memory)
        checked = [_checked(*source, rules, limits, room, say) for source in sources]
        for source, prefix in zip(checked, judge_prefixes, strict=bool(judge_prefixes)):
            source.judges = pl.Series([f"{prefix} {judge}" for judge in source.judges])
        known = [Known(one.left_out, one.said, one.spellings) for one in checked]
        return _joined(checked, rules, limits, say), known


def _joined(checked: Sequence[_Checked], rules: Rules, limits: Limits, say: Say | None) -> Votes:
    """Put the votes of all sources together."""
    items, item_codes, of_items = _united(
        "item", [source.named_items for source in checked], merge=rules.merge_names
    )
    judges, judge_codes, of_judges = _united(
        "judge", [source.named_judges for source in checked], merge=rules.merge_names
    )
    before = [source.spellings for source in checked]
    spellings = joined_spellings(before, (*of_items, *of_judges))
    tables = [
        (of_item[source.item_table], of_judge[source.judge_table])
        for source, of_item, of_judge in zip(checked, item_codes, judge_codes, strict=True)
    ]
    votes_of = np.zeros(len(judges), dtype=np.int64)
    for source, (_, of_judge) in zip(checked, tables, strict=True):
        there = np.flatnonzero(source.votes_of)
        votes_of[of_judge[there]] += source.votes_of[there]
    start = np.concatenate(([0], np.cumsum(votes_of)))
    columns = _sorted_columns(checked, tables, start, limits, say)
    return Votes(
        items=items.alias("item"),
        judges=judges.alias("judge"),
        start=start,
        winner=columns["winner"],
        loser=columns["loser"],
        outcome=columns["outcome"],
        weight=columns.get("weight", equal_weights(int(start[-1]))),
        lists=no_lists(len(judges)),
        both_bad=sum(source.both_bad for source in checked),
        sides_known=all(source.sides_known for source in checked),
        judges_known=all(source.judges_known for source in checked),
        left_out=left_out_together([source.left_out for source in checked]),
        notices=joined_notices([sentences(own) for own in before], before, spellings),
        spellings=spellings,
    )


def _checked(
    parts: Sequence[Part],
    columns: PairColumns,
    rules: Rules,
    limits: Limits,
    room: _Room,
    say: Say | None,
) -> _Checked:
    raw = _Raw(parts, columns, rules, room)
    raw.read(limits.batch, say)
    return _Checked(raw, rules, limits.piece, say)


def _sorted_columns(
    checked: Sequence[_Checked],
    tables: Sequence[tuple[Codes, Codes]],
    start: NDArray[np.int64],
    limits: Limits,
    say: Say | None,
) -> dict[str, NDArray[Any]]:
    """Sort the votes by judge, those of one judge in the order of the sources and rows."""
    kinds: dict[str, type[np.generic]] = {
        "winner": np.int32, "loser": np.int32, "outcome": np.int8,
    }  # fmt: skip
    if not all(source.equal_weights for source in checked):
        kinds["weight"] = np.float64
    shards = _Shards(start, kinds, limits.shard)
    for source, (of_item, of_judge) in zip(checked, tables, strict=True):
        for piece in source.pieces():
            shards.deal(_finished(piece, of_item, of_judge))
    return shards.sorted(say)


def _united(
    kind: str, named: list[tuple[pl.Series, NDArray[np.int64]]], *, merge: bool
) -> tuple[pl.Series, list[Codes], tuple[Spellings, ...]]:
    """All labels, and the new codes of the old ones of each source, with a last one for none.

    Names that look the same are told, or made one.
    """
    every, codes, spellings = joined_names(kind, named, merge=merge)
    return every, [np.append(some, np.int32(MISSING)) for some in codes], spellings


def _finished(piece: _Piece, item_table: Codes, judge_table: Codes) -> dict[str, NDArray[Any]]:
    """The votes of some rows, in their final codes."""
    kept = piece.judge >= 0
    number = int(kept.sum())
    said, weight = piece.said, piece.weight
    outcome = np.full(number, LEFT_WON, np.int8) if said is None else VOTE_OF[said[kept]]
    left, right = item_table[piece.left[kept]], item_table[piece.right[kept]]
    winner, loser = turned(left, right, outcome)
    return {
        "judge": judge_table[piece.judge[kept]],
        "winner": winner,
        "loser": loser,
        "outcome": outcome,
        "weight": np.ones(number) if weight is None else weight[kept],
    }


class _Shards:
    """Votes dealt out to ranges of judges, each of which can be sorted in memory."""

    def __init__(
        self, start: NDArray[np.int64], kinds: dict[str, type[np.generic]], most: int
    ) -> None:
        self._start = start
        self._ranges = list(ranges(start, most))
        # The smallest type there is: numpy sorts short numbers far faster.
        numbers = np.arange(len(self._ranges), dtype=np.min_scalar_type(len(self._ranges)))
        self._of_judge = np.repeat(numbers, [end - first for first, end in self._ranges])
        self._next = np.array([start[first] for first, _ in self._ranges])
        count = int(start[-1])
        self._judge = new_mapped(count, np.dtype(np.int32))
        self._columns = {name: new_mapped(count, np.dtype(kind)) for name, kind in kinds.items()}

    def deal(self, votes: dict[str, NDArray[Any]]) -> None:
        """Add votes to their shards, in the order of the rows."""
        shard = self._of_judge[votes["judge"]]
        order = np.argsort(shard, kind="stable")
        size = np.bincount(shard, minlength=len(self._ranges))
        end = np.cumsum(size)
        for number in np.flatnonzero(size):
            own = order[end[number] - size[number] : end[number]]
            rows = slice(self._next[number], self._next[number] + len(own))
            self._next[number] = rows.stop
            for name, column in {"judge": self._judge, **self._columns}.items():
                column[rows] = votes[name][own]
                give_back(column[rows])

    def sorted(self, say: Say | None) -> dict[str, NDArray[Any]]:
        """Sort the votes of every shard by judge."""
        for first, end in self._ranges:
            if end - first > 1:  # else it is sorted as it is, and may be too large
                self._sort(first, self._start[first : end + 1])
            if say:
                say(f"Sorting votes: {self._start[end]:,} of {self._start[-1]:,}")
        return self._columns

    def _sort(self, first: int, start: NDArray[np.int64]) -> None:
        rows = slice(start[0], start[-1])
        judge = self._judge[rows] - np.int32(first)
        give_back(self._judge[rows])
        for column in self._columns.values():
            column[rows] = by_group(column[rows], None, judge, start - start[0])
            give_back(column[rows])
