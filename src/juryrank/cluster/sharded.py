"""Votes in shards on a cluster: what `Votes` and `CodedVotes` are on one machine.

Here are only what there is one of for each judge, and the labels of items. Passes go to the shards
(see `juryrank.votes.passes`), and so does whatever selects or weighs votes. A few votes, samples
and those of single judges, can be fetched; to ask for an array of all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.cluster.engine import Engine
from juryrank.cluster.shards import Loaded, Told
from juryrank.errors import InputError
from juryrank.types import Floats
from juryrank.votes.cells import Cells
from juryrank.votes.coded import CodedVotes, Pairs, no_pairs
from juryrank.votes.concat import left_out_together
from juryrank.votes.lists import no_lists
from juryrank.votes.passes import NOTHING_OWN, Found, Own, Part, Pass, in_tree, sum_of
from juryrank.votes.votes import Reading, Votes
from juryrank.votes.weights import equal_weights

if TYPE_CHECKING:
    from distributed import Future

Codes = NDArray[np.int64]
MANY_NUMBERS = 1 << 16
"""Parts of so many numbers are added up by the workers, and do not all come here."""
COLUMNS = ("winner", "loser", "outcome", "weight")
"""What there is of each vote."""
NOT_HERE = (
    "These votes are on a cluster, and what was asked for needs all of them on this machine: "
    "read them with read_votes, with memory=... (--memory) if they are larger than memory. "
    "What works on a cluster is rank with the profile solver and intervals='posterior', "
    "'information', 'sandwich' or None."
)


def not_here() -> NoReturn:
    """Say that votes are not on this machine."""
    raise InputError(NOT_HERE)


# --- shards --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shards:
    """The same kind of thing about the judges from ... to, chunk by chunk, in several places.

    Sums are of chunks, whose bounds depend on the votes alone; shards of several chunks take fewer
    tasks, and the same branch of the tree is added up there.
    """

    engine: Engine
    futures: tuple[Future, ...]
    """What is in each place, a tuple of the chunks."""
    bounds: Codes
    """The first judge of each chunk, and the end."""
    chunks_per_shard: int

    @property
    def judges(self) -> list[slice]:
        """Those of each chunk."""
        return [slice(*ends) for ends in pairwise(self.bounds.tolist())]

    def by_shard(self, of_chunks: Sequence[Part]) -> list[Sequence[Part]]:
        """What there is for each chunk, for each shard."""
        size = self.chunks_per_shard
        return [of_chunks[a : a + size] for a in range(0, len(of_chunks), size)]

    def mapped(self, change: Callable[..., Any], of_chunks: Sequence[Any]) -> Shards:
        """What `change` makes of every chunk and of what there is for it."""
        futures = [
            self.engine.submit("shard", changed, shard, change, given)
            for shard, given in zip(self.futures, self.by_shard(of_chunks), strict=True)
        ]
        return replace(self, futures=tuple(futures))

    def rows(self, own: Own) -> list[Own]:
        """The rows of the judges of each chunk."""
        return [{name: values[here] for name, values in own.items()} for here in self.judges]

    def over(self, one_chunk: Pass[Any, Found], own: Own) -> Iterator[Found]:
        """What a pass finds in every chunk, in order; what it writes is put into the arrays."""
        if one_chunk.stops_early:
            yield from self.engine.results(
                [self.engine.submit("pass", found_in_first, self.futures[0], one_chunk)]
            )
        asked = list(self._asked(found_at, one_chunk, own))
        every = chain.from_iterable(self.engine.results(asked))
        of_chunks = zip(self.judges, every, strict=True)
        for here, (found, written) in islice(of_chunks, int(one_chunk.stops_early), None):
            _put(own, written, here)
            yield one_chunk.in_whole(found, here)

    def sum_over(self, one_chunk: Pass[Any, Floats], own: Own, *, there: bool) -> Floats:
        """The sum of what a pass finds; those of shards are added up `there`, by workers, or here.

        What is about the judges of a chunk alone is only added here.
        """
        if any(one_chunk.for_judges(judges) is not one_chunk for judges in self.judges):
            return sum_of(self.over(one_chunk, own))
        # Held until the sum is here: what nobody holds is forgotten, even if a task runs again.
        asked = list(self._asked(sum_at, one_chunk, own))
        if not there:
            return sum_of(self._sums(asked, own))
        total = in_tree(iter(asked), self._added_up)
        if one_chunk.writes:
            written = [self.engine.submit("written", written_at, one) for one in asked]
            for _ in self._sums(written, own):
                pass
        ((found, _),) = self.engine.results([total])
        return np.array(found)

    def _sums(self, asked: Sequence[Future], own: Own) -> Iterator[Floats]:
        """The sums of shards, in order; what was written is put into the arrays."""
        judges = iter(self.judges)
        for found, written in self.engine.results(asked):
            for of_chunk in written:
                _put(own, of_chunk, next(judges))
            yield found

    def _added_up(self, parts: Iterator[Future]) -> Future:
        return self.engine.submit("sum", added_up, list(parts))

    def _asked(
        self, work: Callable[..., Any], one_chunk: Pass[Any, Any], own: Own
    ) -> Iterator[Future]:
        """The tasks of a pass, one for each shard."""
        passes = [one_chunk.for_judges(judges) for judges in self.judges]
        is_one = all(own_pass is one_chunk for own_pass in passes)
        sent = self.engine.sent(one_chunk) if is_one else None
        read = {name: own[name] for name in one_chunk.reads if name in own}
        room = [
            {
                name: (values[judges].shape, values.dtype.str)
                for name, values in own.items()
                if name not in read
            }
            for judges in self.judges
        ]
        for shard, own_passes, own_read, own_room in zip(
            self.futures, self.by_shard(passes), self.by_shard(self.rows(read)),
            self.by_shard(room), strict=True,
        ):  # fmt: skip
            yield self.engine.submit("pass", work, shard, sent or own_passes, own_read, own_room)

    def of_judges(self, judges: Codes, pick: Callable[..., Any], *more: Any) -> Iterator[Any]:
        """What `pick` takes from the chunks that have some of these judges, which are sorted.

        It is called with the chunk, the judges counted from its first one, and what `more` has for
        the chunk's index.
        """
        at = np.searchsorted(self.bounds, judges, side="right") - 1
        asked: dict[int, list[tuple[Any, ...]]] = {}
        for chunk in np.unique(at).tolist():
            given = (
                judges[at == chunk] - self.bounds[chunk],
                *(of_chunk(chunk) for of_chunk in more),
            )
            shard, index = divmod(chunk, self.chunks_per_shard)
            asked.setdefault(shard, []).append((index, *given))
        futures = [
            self.engine.submit("pick", picked, self.futures[shard], pick, given)
            for shard, given in asked.items()
        ]
        return chain.from_iterable(self.engine.results(futures))


Chunks = Sequence[CodedVotes | Votes]
Room = dict[str, Any]
"""The shape and the type of arrays that are only written."""


def changed(chunks: Chunks, change: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """What is made of every chunk of a shard and of what is given for it."""
    return tuple(change(chunk, own) for chunk, own in zip(chunks, given, strict=True))


def picked(chunks: Chunks, pick: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What is taken from some chunks of a shard."""
    return [pick(chunks[index], *given) for index, *given in asked]


def found_in_first(chunks: Chunks, one_chunk: Pass[Any, Found]) -> Found:
    """What a pass, which neither reads nor writes, finds in the first chunk of a shard."""
    return one_chunk(chunks[0], 0, chunks[0].n_judges, {})


def found_at(
    chunks: Chunks, passes: Pass[Any, Found] | Sequence[Pass[Any, Found]], read: Sequence[Own],
    room: Sequence[Room],
) -> list[tuple[Found, Own]]:  # fmt: skip
    """What a pass finds in each chunk of a shard, and what it has written."""
    if isinstance(passes, Pass):
        passes = [passes] * len(chunks)
    return [_found_in(*of_chunk) for of_chunk in zip(chunks, passes, read, room, strict=True)]


def _found_in(
    votes: CodedVotes | Votes, one_chunk: Pass[Any, Found], read: Own, room: Room
) -> tuple[Found, Own]:
    own = {name: np.array(values) for name, values in read.items()}  # what was sent is read-only
    own |= {name: np.zeros(shape, dtype) for name, (shape, dtype) in room.items()}
    found = one_chunk(votes, 0, votes.n_judges, own)
    return found, {name: own[name] for name in one_chunk.writes}


def sum_at(
    chunks: Chunks, one_chunk: Pass[Any, Floats], read: Sequence[Own], room: Sequence[Room]
) -> tuple[Floats, list[Own]]:
    """The sum of what a pass finds in the chunks of a shard, and what it has written in each."""
    every: list[Own] = []

    def found() -> Iterator[Floats]:
        for votes, own_read, own_room in zip(chunks, read, room, strict=True):
            of_chunk, written = _found_in(votes, one_chunk, own_read, own_room)
            every.append(written)
            yield of_chunk

    return sum_of(found()), every


def written_at(found: tuple[Floats, list[Own]]) -> tuple[Floats, list[Own]]:
    """The same without the sum."""
    return np.empty(0), found[1]


def added_up(parts: Sequence[tuple[Floats, list[Own]]]) -> tuple[Floats, list[Own]]:
    """The sum of what a pass has found in some shards."""
    (first, _), *others = parts
    total = first.copy()  # a result of a task, which may be asked for again
    for found, _ in others:
        total += found
    return total, []


def _put(own: Own, written: Own, judges: slice) -> None:
    """Put what was written of some judges into the arrays of all."""
    for name, rows in written.items():
        own[name][judges] = rows


# --- coded votes ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What there is of each pair."""

    weighted: bool
    ties: bool
    sides: bool


class ShardedPairs(Pairs):
    """Pairs: here is known where those of each judge begin, and what there is of each."""

    def __init__(self, start: Codes, known: Known) -> None:
        vars(self).update(start=start, known=known)

    known: Known

    def _not_here(self) -> Any:
        not_here()

    winner = loser = given_weight = tied = side = property(_not_here)

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.start[-1])

    @property
    def is_weighted(self) -> bool:
        """Whether weights were given."""
        return self.known.weighted

    @property
    def can_tie(self) -> bool:
        """Whether votes can be tied."""
        return self.known.ties

    @property
    def has_sides(self) -> bool:
        """Whether sides matter."""
        return self.known.sides


class ShardedCodedVotes(CodedVotes):
    """`CodedVotes` in shards. There are no lists."""

    pairs: ShardedPairs
    shards: Shards

    def __init__(self, n_items: int, shards: Shards, start: Codes, known: Known) -> None:
        pairs = ShardedPairs(start, known)
        vars(self).update(
            n_items=n_items, pairs=pairs, lists=no_lists(len(start) - 1), shards=shards
        )

    def _changed(
        self, change: Callable[..., CodedVotes], own: Own = NOTHING_OWN, **known: bool
    ) -> ShardedCodedVotes:
        """What is made of every shard, if as many votes stay as there are."""
        now = replace(self.pairs.known, **known)
        shards = self.shards.mapped(change, self.shards.rows(own))
        return ShardedCodedVotes(self.n_items, shards, self.pairs.start, now)

    @property
    def in_memory(self) -> bool:
        """Whether there is room for a copy: that was seen to before shards were made."""
        return True

    @cached_property
    def votes_per_judge(self) -> Floats:
        """Total weight of each judge's votes."""
        if not self.pairs.is_weighted:
            return np.diff(self.pairs.start).astype(np.float64)
        own = {"weight": np.empty(self.n_judges)}
        for _ in self.over_shards(_WeightPass(), own):
            pass
        return own["weight"]

    @property
    def choices_per_judge(self) -> Floats:
        """The same: a vote on a pair is one choice."""
        return self.votes_per_judge

    @property
    def tie_sizes(self) -> tuple[int, ...]:
        """Two, if pairs are tied."""
        found = [False] if not self.pairs.can_tie else list(self.over_shards(_TiesPass()))
        return (2,) if any(found) else ()

    def over_chunks(
        self,
        one_chunk: Pass[CodedVotes, Found],
        own: Own = NOTHING_OWN,
        threads: int = 1,  # noqa: ARG002  workers have their own
    ) -> Iterator[Found]:
        """What a pass finds of all judges, chunk by chunk."""
        return self.shards.over(one_chunk, own)

    def over_shards(
        self, one_shard: Pass[CodedVotes, Found], own: Own = NOTHING_OWN
    ) -> Iterator[Found]:
        """What a pass finds at every shard."""
        return self.shards.over(one_shard, own)

    def sum_over_chunks(
        self,
        one_chunk: Pass[CodedVotes, Floats],
        own: Own = NOTHING_OWN,
        threads: int = 1,  # noqa: ARG002
    ) -> Floats:
        """The sum of what a pass finds: on the workers, if that is large; the order is the same."""
        many = one_chunk.numbers(self.n_items) >= MANY_NUMBERS
        return self.shards.sum_over(one_chunk, own, there=many)

    def sum_over_shards(
        self, one_shard: Pass[CodedVotes, Floats], own: Own = NOTHING_OWN
    ) -> Floats:
        """The same."""
        return self.sum_over_chunks(one_shard, own)

    def chunks(self, most: int | None = None) -> Iterator[tuple[slice, CodedVotes]]:  # noqa: ARG002
        """Votes do not come here one after the other."""
        not_here()

    @cached_property
    def core_pairs(self) -> Any:
        """Compiled code looks at shards."""
        not_here()

    # --- some of them -----------------------------------------------------------------------------

    def of_range(self, first: int, last: int) -> CodedVotes:
        """The votes of the judges from ... to, fetched."""
        return self.of_judges(np.arange(first, last))

    def of_judges(self, judges: Codes) -> CodedVotes:
        """The votes of these judges, fetched."""
        each, index = np.unique(judges, return_inverse=True)
        found = _put_together(self.n_items, list(self.shards.of_judges(each, CodedVotes.of_judges)))
        return found if np.array_equal(each, judges) else found.of_judges(index)

    def taken(self, rows: Codes, lists: Codes, judges: Codes) -> CodedVotes:  # noqa: ARG002
        """Some pairs, by number, all by these judges, fetched."""
        begin = self.pairs.start[self.shards.bounds]
        inside = np.searchsorted(rows, begin)

        def rows_of(chunk: int) -> Codes:
            return np.asarray(rows[inside[chunk] : inside[chunk + 1]] - begin[chunk])

        return _put_together(self.n_items, list(self.shards.of_judges(judges, _taken, rows_of)))

    def every(self, stride: int) -> Pairs:
        """One of so many pairs, fetched."""
        rows, judges = np.arange(0, self.pairs.number, stride), np.arange(self.n_judges)
        return self.taken(rows, rows[:0], judges).pairs

    def without(self, cells: Cells) -> CodedVotes:
        """The votes without those in the cells."""
        own = {"number": np.zeros(self.n_judges, dtype=np.int64)}
        of_chunks = [cells.of_judges(judges) for judges in self.shards.judges]
        shards = self.shards.mapped(CodedVotes.without, of_chunks)
        for _ in shards.over(_NumberPass(), own):
            pass
        start = np.concatenate(([0], np.cumsum(own["number"])))
        return ShardedCodedVotes(self.n_items, shards, start, self.pairs.known)

    # --- the same, told otherwise -----------------------------------------------------------------

    def reweighted(self, per_judge: Floats) -> CodedVotes:
        """Each judge's votes counting so many times."""
        return self._changed(_reweighted, {"times": per_judge}, weighted=True)

    def averaged(self) -> CodedVotes:
        """Not on a cluster."""
        not_here()

    def with_weights(
        self, weigh: Callable[[CodedVotes, slice], tuple[Floats, Floats]]
    ) -> CodedVotes:
        """Weights that `weigh` gives the votes of some judges."""
        return self._changed(partial(_weighed, weigh), weighted=True)

    def with_ties(self, *, possible: bool) -> CodedVotes:
        """The same if pairs can, or cannot, be tied."""
        return self._changed(partial(_with_ties, possible=possible), ties=possible)

    def without_sides(self) -> CodedVotes:
        """The same if sides do not matter."""
        return self._changed(_without_sides, sides=False)

    def in_every_order(self) -> CodedVotes:
        """The same: there are no lists."""
        return self

    def recoded(self, item: Any, n_items: int) -> CodedVotes:  # noqa: ARG002
        """Not on a cluster."""
        not_here()

    def merged(self) -> CodedVotes:
        """Pairs of a judge that say the same as one; there are few then, and they are fetched."""
        merged = self._changed(_merged, weighted=True).shards
        every = chain.from_iterable(merged.engine.results(merged.futures))
        return _put_together(self.n_items, list(every))

    def judges_and_items(self) -> Any:
        """Not on a cluster."""
        not_here()


def _merged(shard: CodedVotes, _own: Own) -> CodedVotes:
    return shard.merged()


def _taken(shard: CodedVotes, judges: Codes, rows: Codes) -> CodedVotes:
    return shard.taken(rows, np.empty(0, dtype=np.int64), judges)


def _reweighted(shard: CodedVotes, own: Own) -> CodedVotes:
    return shard.reweighted(own["times"])


def _weighed(
    weigh: Callable[[CodedVotes, slice], tuple[Floats, Floats]], shard: CodedVotes, _own: Own
) -> CodedVotes:
    return shard.with_weights(weigh)


def _with_ties(shard: CodedVotes, _own: Own, *, possible: bool) -> CodedVotes:
    return shard.with_ties(possible=possible)


def _without_sides(shard: CodedVotes, _own: Own) -> CodedVotes:
    return shard.without_sides()


def _put_together(n_items: int, parts: Sequence[CodedVotes]) -> CodedVotes:
    """The votes of several parts, one after the other."""
    if not parts:
        return CodedVotes.of_pairs(n_items, no_pairs(0))
    if len(parts) == 1:
        return parts[0]
    names = {name for part in parts for name in part.pairs.columns()}
    columns = {
        name: np.concatenate([_column(part.pairs, name) for part in parts]) for name in names
    }
    count = np.concatenate([part.pairs.per_judge for part in parts])
    return CodedVotes.of_pairs(n_items, Pairs(np.concatenate(([0], np.cumsum(count))), **columns))


def _column(pairs: Pairs, name: str) -> NDArray[Any]:
    found: NDArray[Any] = pairs.weight if name == "given_weight" else getattr(pairs, name)
    return found


@dataclass(frozen=True, eq=False)
class _WeightPass(Pass[CodedVotes, None]):
    """Total weight of each judge's votes."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The weight."""
        return ("weight",)

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> None:
        """All judges here."""
        own["weight"][:] = here.votes_per_judge


@dataclass(frozen=True, eq=False)
class _NumberPass(Pass[CodedVotes, None]):
    """How many pairs there are of each judge."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The number."""
        return ("number",)

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> None:
        """All judges here."""
        own["number"][:] = here.pairs.per_judge


@dataclass(frozen=True, eq=False)
class _TiesPass(Pass[CodedVotes, bool]):
    """Whether any pair is tied."""

    def __call__(self, here: CodedVotes, _first: int, _last: int, _own: Own) -> bool:
        """All judges here."""
        return here.pairs.tied is not None and bool(here.pairs.tied.any())


# --- votes with labels ---------------------------------------------------------------------------


class ShardedVotes(Votes):
    """`Votes` in shards. There are no lists."""

    shards: Shards
    loaded: Loaded

    def __init__(self, engine: Engine, loaded: Loaded, source: str) -> None:
        told = loaded.told
        vars(self).update(
            shards=Shards(engine, loaded.shards, loaded.bounds, loaded.chunks_per_shard),
            loaded=loaded, start=loaded.start,
            items=loaded.items.labels().alias("item"), lists=no_lists(len(loaded.judges)),
            both_bad=sum(one.both_bad for one in told), sides_known=told[0].sides_known,
            judges_known=told[0].judges_known,
            left_out=left_out_together([one.left_out for one in told]),
            notices=_notices(told),
            spellings=(), by=None, repeats=None, times=None,
            reading=(_reading(source, told),),
        )  # fmt: skip

    def _not_here(self) -> Any:
        not_here()

    winner = loser = outcome = weight = property(_not_here)

    @property
    def is_here(self) -> bool:
        """They are with the workers."""
        return False

    def fetched(self) -> Votes:
        """The same votes on this machine."""
        parts = list(self.over_shards(_EveryPass()))
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in parts]) for name in COLUMNS
        }
        if not self._is_weighted:
            columns["weight"] = equal_weights(self.n_pairs)
        same = [one.name for one in fields(Votes) if one.name not in columns]
        return Votes(**columns, **{name: getattr(self, name) for name in same})

    @cached_property
    def judges(self) -> pl.Series:
        """The names of judges, fetched for the answer."""
        return self.loaded.judges.labels().alias("judge")

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return len(self.start) - 1

    @property
    def n_pairs(self) -> int:
        """Number of votes."""
        return int(self.start[-1])

    @property
    def has_tied_pairs(self) -> bool:
        """Whether some pair is tied."""
        return any(one.ties for one in self.loaded.told)

    @property
    def _is_weighted(self) -> bool:
        return not all(one.equal_weights for one in self.loaded.told)

    @cached_property
    def weight_of_pairs(self) -> Floats:
        """Total weight of each judge's votes."""
        if not self._is_weighted:
            return np.diff(self.start).astype(np.float64)
        return self._summed("weight_of_pairs")

    @property
    def weight_of_ties(self) -> Floats:
        """Of those that are ties."""
        return self._summed("weight_of_ties")

    def _summed(self, name: str) -> Floats:
        own = {"sum": np.empty(self.n_judges)}
        for _ in self.over_shards(_OfJudgesPass(name), own):
            pass
        return own["sum"]

    @property
    def total_weight(self) -> float:
        """That of all votes."""
        return float(self.weight_of_pairs.sum())

    @property
    def times_compared(self) -> Codes:
        """How many votes each item is in."""
        return np.asarray(sum(self.over_shards(_ComparedPass())))

    def over_shards(self, one_shard: Pass[Votes, Found], own: Own = NOTHING_OWN) -> Iterator[Found]:
        """What a pass finds at every shard."""
        return self.shards.over(one_shard, own)

    def for_model(self, *, ties: bool = False, sides: bool = False) -> CodedVotes:
        """The votes as a model counts them."""
        change = partial(_for_model, ties=ties, sides=sides)
        coded = self.shards.mapped(change, self.shards.rows(NOTHING_OWN))
        halves, start = self.has_tied_pairs and not ties, self.start
        if halves:
            own = {"number": np.empty(self.n_judges, dtype=np.int64)}
            for _ in coded.over(_NumberPass(), own):
                pass
            start = np.concatenate(([0], np.cumsum(own["number"])))
        known = Known(weighted=self._is_weighted or halves, ties=ties, sides=sides)
        return ShardedCodedVotes(self.n_items, coded, start, known)


def _notices(told: Sequence[Told]) -> tuple[str, ...]:
    """What is odd about the files; where rows must fulfil a condition, what is so in all of them.

    A value that is asked for need not be in every file.
    """
    every = dict.fromkeys(notice for one in told for notice in one.notices)
    if told[0].reading.where is None:
        return tuple(every)
    return tuple(notice for notice in every if all(notice in one.notices for one in told))


def _for_model(shard: Votes, _own: Own, *, ties: bool, sides: bool) -> CodedVotes:
    return shard.for_model(ties=ties, sides=sides)


def _reading(source: str, told: Sequence[Told]) -> Reading:
    """How all files were read: as the first, with the rows of all."""
    readings = [one.reading for one in told]
    return replace(
        readings[0], source=source, rows=sum(one.rows for one in readings),
        left_out=sum(one.left_out for one in readings), spellings=(), pooled=(),
        kept=None if readings[0].kept is None else sum(one.kept or 0 for one in readings),
        files=len(told),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _OfJudgesPass(Pass[Votes, None]):
    """A sum over the votes of each judge, by its name."""

    name: str

    @property
    def writes(self) -> tuple[str, ...]:
        """The sum."""
        return ("sum",)

    def __call__(self, here: Votes, _first: int, _last: int, own: Own) -> None:
        """All judges here."""
        own["sum"][:] = getattr(here, self.name)


@dataclass(frozen=True, eq=False)
class _EveryPass(Pass[Votes, Votes]):
    """The votes themselves."""

    def __call__(self, here: Votes, _first: int, _last: int, _own: Own) -> Votes:
        """All votes here."""
        return here


@dataclass(frozen=True, eq=False)
class _ComparedPass(Pass[Votes, Codes]):
    """How many votes each item is in."""

    def __call__(self, here: Votes, _first: int, _last: int, _own: Own) -> Codes:
        """All judges here."""
        return here.times_compared
