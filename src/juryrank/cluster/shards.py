"""From files to shards: the votes of judges from ... to, each judge whole, in one place.

1. Every piece of the files is read by the ordinary reader, with all its complaints.
2. Labels become codes (`juryrank.cluster.labels`), and the votes of each judge are counted. The
   bounds of the shards follow from these counts alone, as those of chunks on one machine.
3. Every piece deals its votes out to the shards that they belong to, and a shard puts together what
   it was dealt, in the order of the files. If files are cut by judge, in the order of judges, each
   deals to one shard or two, and only these have to be read again if a shard is lost.

What a task needs beside files comes from the client as numbers, so that a lost shard never needs
more than its own files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.cluster.engine import Engine
from juryrank.cluster.files import File, Piece, files_at, frame_of, pieces_of, row_groups_of
from juryrank.cluster.labels import Dictionary, made_one
from juryrank.errors import InputError, JuryrankError, counted
from juryrank.progress import Progress, Watcher
from juryrank.reading import votes_of_some
from juryrank.reading.coding import by_group
from juryrank.reading.row_filter import NothingKeptError
from juryrank.votes.coded import bounds_of_chunks
from juryrank.votes.lists import no_lists
from juryrank.votes.passes import FAN_IN
from juryrank.votes.votes import LeftOut, Reading, Votes
from juryrank.votes.weights import are_equal_weights, equal_weights

if TYPE_CHECKING:
    from distributed import Future

Codes = NDArray[np.int32]

ROWS_LOOKED_AT = 10_000
"""Of the first file, to see which columns hold what."""
SHARDS_PER_THREAD = 2
"""At least, where a shard has several chunks: so that no thread has much more than others."""
BYTES_PER_VOTE = 60
"""While votes are dealt out: as read, as dealt and in shards. Shards alone take a third of it."""
BYTES_PER_ROW = 200
"""While a piece is read: text, codes and checks, for each piece that is read at a time."""
GIGA = 1e9
KEYWORDS = {"outcome": "winner"}
"""How the user names what a column was read as, where the word is another."""


class Told(NamedTuple):
    """What is known of a piece that has been read."""

    judges: int
    items: int
    kinds: tuple[str, str]
    """The types of the names of judges and of items."""
    per_judge: NDArray[np.int64]
    sides_known: bool
    judges_known: bool
    equal_weights: bool
    ties: int
    both_bad: int
    left_out: LeftOut
    notices: tuple[str, ...]
    reading: Reading


@dataclass(frozen=True, eq=False)
class Loaded:
    """Votes in shards, as futures of chunks: `Votes` whose labels are codes."""

    shards: tuple[Future, ...]
    start: NDArray[np.int64]
    """Where the votes of each judge begin, among all."""
    bounds: NDArray[np.int64]
    """The first judge of each chunk, and the end."""
    chunks_per_shard: int
    judges: Dictionary
    items: Dictionary
    told: tuple[Told, ...]


def load(engine: Engine, urls: Sequence[str], options: Mapping[str, Any], tell: Watcher) -> Loaded:
    """Read all files on the workers, and put the votes of every judge into one shard."""
    files = files_at(urls)
    pieces = _pieces(engine, files)
    _check_memory(engine, pieces)
    options, columns = _columns(engine, pieces[0], options)
    pieces, read, told = _read_all(engine, pieces, columns, options, tell)
    if not all(_are_of_one_type(told)) and all(piece.file.is_text for piece in pieces):
        pieces = [replace(piece, only_text=True) for piece in pieces]
        pieces, read, told = _read_all(engine, pieces, columns, options, tell)
    _check_alike(pieces, told)
    judges, judge_codes = _coded(engine, read, told, "judge")
    items, item_codes = _coded(engine, read, told, "item")
    start = _start(len(judges), judge_codes, told)
    if len(items) < 2 or not start[-1]:
        raise InputError("There are no votes between different items in these files.")
    bounds = bounds_of_chunks(start)
    size = chunks_per_shard(len(bounds) - 1, engine.threads)
    shards = _dealt(engine, read, judge_codes, item_codes, bounds, size, len(items))
    for done, _ in enumerate(engine.results([engine.submit("size", len, one) for one in shards])):
        tell(Progress("reading", "Putting judges together", done + 1, len(shards)))
    return Loaded(tuple(shards), start, bounds, size, judges, items, tuple(told))


def _read_all(
    engine: Engine,
    pieces: Sequence[Piece],
    columns: list[str] | None,
    options: Mapping[str, Any],
    tell: Watcher,
) -> tuple[list[Piece], list[Future], list[Told]]:
    """Read every piece; those with votes, and what is known of them."""
    read = [engine.submit("read", read_piece, piece, columns, options) for piece in pieces]
    found: list[Told | None] = []
    for one in engine.results([engine.submit("told", told_of, votes) for votes in read]):
        found.append(one)
        tell(Progress("reading", "Reading files", len(found), len(pieces)))
    return _with_votes(pieces, read, found)


def _are_of_one_type(told: Sequence[Told]) -> tuple[bool, bool]:
    """Whether the names of judges are of one type in all pieces, and those of items."""
    judges, items = ({one.kinds[k] for one in told} for k in range(2))
    return len(judges) == 1, len(items) == 1


def chunks_per_shard(chunks: int, threads: int) -> int:
    """As many as are added up at a time, or so many of these, if all threads have shards enough."""
    size = 1
    while -(-chunks // (size * FAN_IN)) >= SHARDS_PER_THREAD * threads:
        size *= FAN_IN
    return size


def _with_votes(
    pieces: Sequence[Piece], read: Sequence[Future], found: Sequence[Told | None]
) -> tuple[list[Piece], list[Future], list[Told]]:
    """The pieces with rows that fulfil the condition, if there is one."""
    kept = [k for k, one in enumerate(found) if one is not None]
    if not kept:
        raise InputError(f"No row of {counted(len(pieces), 'file')} fulfils the condition (where).")
    told = [one for one in found if one is not None]
    return [pieces[k] for k in kept], [read[k] for k in kept], told


def _pieces(engine: Engine, files: Sequence[File]) -> list[Piece]:
    """The parts of all files, found where they are."""
    found = engine.results([engine.submit("row-groups", row_groups_of, file) for file in files])
    pieces = pieces_of(files, list(found))
    if not pieces:
        raise InputError(f"There are no rows in {counted(len(files), 'file')}.")
    return pieces


def _check_memory(engine: Engine, pieces: Sequence[Piece]) -> None:
    """Refuse votes for which all workers together have too little memory."""
    rows, memory = sum(piece.rows for piece in pieces), engine.memory
    at_a_time = engine.threads * max(piece.rows for piece in pieces)
    needed = rows * BYTES_PER_VOTE + at_a_time * BYTES_PER_ROW
    if memory is not None and needed > memory:
        workers = len(engine.workers)
        raise InputError(
            f"These files have about {rows:,} votes, which need {needed / GIGA:,.1f} GB of memory "
            f"({BYTES_PER_VOTE} bytes each, and what is read at a time); "
            f"{counted(workers, 'worker')} have "
            f"{memory / GIGA:,.1f} GB together. Add workers until they have that much, or rank on "
            "one machine from files that are mapped to memory: read_votes(..., memory=...) "
            "(--memory)."
        )


def _columns(
    engine: Engine, first: Piece, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str] | None]:
    """Which columns hold what, as the first rows tell; they are named for all files."""
    whatever = {name: value for name, value in options.items() if name != "where"}
    (told,) = engine.results([engine.submit("columns", _reading_of, first, whatever)])
    named = {KEYWORDS.get(role, role): name for role, name in told.columns}
    if options.get("where"):  # which may be about any column
        return {**options, **named}, None
    return {**options, **named}, list(dict.fromkeys(name for _, name in told.columns))


def _reading_of(piece: Piece, options: Mapping[str, Any]) -> Reading:
    return _read(frame_of(piece, None, ROWS_LOOKED_AT), piece, options).reading[0]


def read_piece(piece: Piece, columns: list[str] | None, options: Mapping[str, Any]) -> Votes | None:
    """The votes of a piece, with labels of its own; None if no row fulfils the condition."""
    try:
        return _read(frame_of(piece, columns), piece, options)
    except NothingKeptError:
        return None


def _read(frame: pl.DataFrame, piece: Piece, options: Mapping[str, Any]) -> Votes:
    try:
        is_text = piece.file.is_text and not piece.only_text
        votes = votes_of_some(frame, options, is_text=is_text)
    except NothingKeptError:
        raise
    except JuryrankError as error:
        kind = InputError if isinstance(error, InputError) else JuryrankError
        raise kind(f"{piece}: {error}") from error
    if votes.lists.number:
        raise InputError(
            f"{piece} holds rankings or choices from more than two items. A cluster is "
            "for votes on pairs: rank these on one machine, or break them into pairs, knowing that "
            "these are not independent."
        )
    return votes


def told_of(votes: Votes | None) -> Told | None:
    """What the client is to know of a piece; None if it has no votes."""
    if votes is None:
        return None
    kinds = str(votes.judges.dtype), str(votes.items.dtype)
    return Told(
        votes.n_judges, votes.n_items, kinds, np.diff(votes.start), votes.sides_known,
        votes.judges_known, are_equal_weights(votes.weight), int((votes.outcome == 0).sum()),
        votes.both_bad, votes.left_out, votes.notices, votes.reading[0],
    )  # fmt: skip


def _check_alike(pieces: Sequence[Piece], told: Sequence[Told]) -> None:
    """Refuse files of which one tells the side or the judge and the other does not."""
    for piece, one in zip(pieces, told, strict=True):
        for what, mine, first in (
            ("the sides", one.sides_known, told[0].sides_known),
            ("the judge", one.judges_known, told[0].judges_known),
        ):
            if mine != first:
                raise InputError(
                    f"{piece} and {pieces[0]} differ in whether {what} of votes "
                    "can be told. All files need the same columns."
                )


def _coded(
    engine: Engine, read: Sequence[Future], told: Sequence[Told], what: str
) -> tuple[Dictionary, list[Codes]]:
    labels = [engine.submit("labels", _labels, votes, f"{what}s") for votes in read]
    is_judge = what == "judge"
    counts = [one.judges if is_judge else one.items for one in told]
    kinds = [one.kinds[0] if is_judge else one.kinds[1] for one in told]
    return made_one(engine, labels, counts, kinds, what)


def _labels(votes: Votes, name: str) -> pl.Series:
    found: pl.Series = getattr(votes, name)
    return found


def _start(n_judges: int, codes: Sequence[Codes], told: Sequence[Told]) -> NDArray[np.int64]:
    votes_of = np.zeros(n_judges + 1, dtype=np.int64)
    for own, one in zip(codes, told, strict=True):
        votes_of[own + 1] += one.per_judge
    return np.cumsum(votes_of)


def _dealt(
    engine: Engine,
    read: Sequence[Future],
    judge_codes: Sequence[Codes],
    item_codes: Sequence[Codes],
    bounds: NDArray[np.int64],
    size: int,
    n_items: int,
) -> list[Future]:
    """The shards, of so many chunks; a piece deals only to those that have judges of it."""
    begins = [bounds[a : a + size + 1] for a in range(0, len(bounds) - 1, size)]
    ends = np.append([own[0] for own in begins], bounds[-1])
    dealt: list[list[Future]] = [[] for _ in begins]
    for votes, judges, items in zip(read, judge_codes, item_codes, strict=True):
        shards = np.unique(np.searchsorted(ends, judges, side="right") - 1)
        deal = engine.submit("deal", dealt_out, votes, judges, items, ends, shards)
        for at, shard in enumerate(shards.tolist()):
            dealt[shard].append(engine.submit("part", _part, deal, at))
    return [
        engine.submit("votes", put_together, own, bounds_of_shard, n_items)
        for own, bounds_of_shard in zip(dealt, begins, strict=True)
    ]


def _part(parts: Sequence[Any], number: int) -> Any:
    return parts[number]


Part = dict[str, NDArray[Any]]


def dealt_out(
    votes: Votes, judges: Codes, items: Codes, bounds: NDArray[np.int64], shards: NDArray[np.int64]
) -> list[Part]:
    """The votes of a piece for each of these shards, in codes of all."""
    found = []
    for shard in shards.tolist():
        first, last = np.searchsorted(judges, bounds[shard : shard + 2]).tolist()
        own = slice(votes.start[first], votes.start[last])
        part: Part = {
            "judge": np.repeat(judges[first:last], np.diff(votes.start[first : last + 1])),
            "winner": items[votes.winner[own]],
            "loser": items[votes.loser[own]],
            "outcome": votes.outcome[own].copy(),
        }
        if not are_equal_weights(votes.weight):
            part["weight"] = votes.weight[own].copy()
        found.append(part)
    return found


def put_together(
    parts: Sequence[Part], bounds: NDArray[np.int64], n_items: int
) -> tuple[Votes, ...]:
    """A shard: the votes of the judges of each chunk, those of each in the order of the files."""
    first, last = int(bounds[0]), int(bounds[-1])
    judge = np.concatenate([part["judge"] for part in parts]) - np.int32(first)
    start = np.cumsum(np.bincount(judge + 1, minlength=last - first + 1))
    names = ["winner", "loser", "outcome"]
    if any("weight" in part for part in parts):
        names.append("weight")
        ones = {id(part): np.ones(len(part["judge"])) for part in parts}
        parts = [{"weight": ones[id(part)], **part} for part in parts]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    if (np.diff(judge) < 0).any():
        columns = {name: by_group(own, None, judge, start) for name, own in columns.items()}
    return tuple(
        _chunk(columns, start[a - first : b - first + 1], a, n_items)
        for a, b in pairwise(bounds.tolist())
    )


def _chunk(columns: Part, start: NDArray[np.int64], first: int, n_items: int) -> Votes:
    """The votes of the judges from ... on, of whom those of each begin at `start`."""
    own = {name: column[start[0] : start[-1]] for name, column in columns.items()}
    return Votes(
        items=pl.int_range(n_items, eager=True),
        judges=pl.int_range(first, first + len(start) - 1, eager=True),
        start=start - start[0],
        winner=own["winner"],
        loser=own["loser"],
        outcome=own["outcome"],
        weight=own.get("weight", equal_weights(len(own["winner"]))),
        lists=no_lists(len(start) - 1),
        sides_known=True,
    )
