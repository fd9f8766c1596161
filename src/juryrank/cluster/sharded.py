"""Votes in shards on a cluster: what `Votes` and `CodedVotes` are on one machine.

Here are only what there is one of for each judge, and the labels of items. Passes go to the shards
(see `juryrank.votes.passes`), and so does whatever selects or weighs votes. A few votes, samples
and those of single judges, can be fetched; to ask for an array of all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import islice
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
from juryrank.votes.passes import NOTHING_OWN, Found, Own, Pass, in_tree, sum_of
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
    """The same kind of thing about the judges from ... to, in each of several places."""

    engine: Engine
    futures: tuple[Future, ...]
    bounds: Codes

    @property
    def judges(self) -> list[slice]:
        """Those of each shard."""
        return [slice(*ends) for ends in zip(self.bounds, self.bounds[1:], strict=False)]

    def mapped(self, change: Callable[..., Any], own: Own = NOTHING_OWN) -> Shards:
        """What `change` makes of every shard and of the rows of its judges."""
        futures = [
            self.engine.submit("shard", change, shard, _rows(own, judges))
            for shard, judges in zip(self.futures, self.judges, strict=True)
        ]
        return Shards(self.engine, tuple(futures), self.bounds)

    def over(self, one_shard: Pass[Any, Found], own: Own) -> Iterator[Found]:
        """What a pass finds at every shard, in order; what it writes is put into the arrays."""
        judges, asked = iter(self.judges), self._asked(one_shard, own)
        for batch in (islice(asked, 1 if one_shard.stops_early else None), asked):
            for found, written in self.engine.results(list(batch)):
                here = next(judges)
                _put(own, written, here)
                yield one_shard.in_whole(found, here)

    def sum_over(self, one_shard: Pass[Any, Floats], own: Own) -> Floats:
        """The sum of what a pass finds, added up by the workers: of large parts only it comes here.

        What is about the judges of a shard alone cannot be added there.
        """
        if any(one_shard.for_judges(judges) is not one_shard for judges in self.judges):
            return sum_of(self.over(one_shard, own))
        written: list[Future] = []
        # Held until the sum is here: what nobody holds is forgotten, even if a task runs again.
        asked = list(self._asked(one_shard, own, written))
        total = in_tree(iter(asked), self._added_up)
        for judges, of_shard in zip(self.judges, self.engine.results(written), strict=False):
            _put(own, of_shard, judges)
        ((found, _),) = self.engine.results([total])
        return np.array(found)

    def _added_up(self, parts: Iterator[Future]) -> Future:
        return self.engine.submit("sum", added_up, list(parts))

    def _asked(
        self, one_shard: Pass[Any, Any], own: Own, written: list[Future] | None = None
    ) -> Iterator[Future]:
        """The tasks of a pass; what each writes is asked for apart if there is a list for that."""
        for_all = None
        for shard, judges in zip(self.futures, self.judges, strict=True):
            here: Any = one_shard.for_judges(judges)
            if here is one_shard:
                for_all = for_all or self.engine.sent(one_shard)
                here = for_all
            read = {name: own[name][judges] for name in one_shard.reads if name in own}
            room = {
                name: (values[judges].shape, values.dtype.str)
                for name, values in own.items()
                if name not in read
            }
            found = self.engine.submit("pass", found_at, shard, here, read, room)
            if written is not None and one_shard.writes:
                written.append(self.engine.submit("written", written_at, found))
            yield found

    def of_judges(self, judges: Codes, pick: Callable[..., Any], *more: Any) -> Iterator[Any]:
        """What `pick` takes from the shards that have some of these judges, which are sorted.

        It is called with the shard, the judges counted from its first one, and what `more` has for
        the shard's index.
        """
        at = np.searchsorted(self.bounds, judges, side="right") - 1
        asked = [
            self.engine.submit(
                "pick", pick, self.futures[shard], judges[at == shard] - self.bounds[shard],
                *(of_shard(shard) for of_shard in more),
            )
            for shard in np.unique(at).tolist()
        ]  # fmt: skip
        return self.engine.results(asked)


def _rows(own: Own, judges: slice) -> Own:
    return {name: values[judges] for name, values in own.items()}


def found_at(
    votes: CodedVotes | Votes, one_shard: Pass[Any, Found], own: Own, room: dict[str, Any]
) -> tuple[Found, Own]:
    """What a pass finds at a shard, and what it has written."""
    own = {name: np.array(values) for name, values in own.items()}  # what was sent is read-only
    own |= {name: np.zeros(shape, dtype) for name, (shape, dtype) in room.items()}
    found = one_shard(votes, 0, votes.n_judges, own)
    return found, {name: own[name] for name in one_shard.writes}


def written_at(found: tuple[Any, Own]) -> Own:
    """What a pass has written at a shard."""
    return found[1]


def added_up(parts: Sequence[tuple[Floats, Own]]) -> tuple[Floats, Own]:
    """The sum of what a pass has found at some shards."""
    (first, _), *others = parts
    total = first.copy()  # a result of a task, which may be asked for again
    for found, _ in others:
        total += found
    return total, {}


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
        shards = self.shards.mapped(change, own)
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
        """What a pass finds of all judges: a shard is a chunk."""
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
        if one_chunk.numbers(self.n_items) < MANY_NUMBERS:
            return sum_of(self.shards.over(one_chunk, own))
        return self.shards.sum_over(one_chunk, own)

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

        def rows_of(shard: int) -> Codes:
            return np.asarray(rows[inside[shard] : inside[shard + 1]] - begin[shard])

        return _put_together(self.n_items, list(self.shards.of_judges(judges, _taken, rows_of)))

    def every(self, stride: int) -> Pairs:
        """One of so many pairs, fetched."""
        rows, judges = np.arange(0, self.pairs.number, stride), np.arange(self.n_judges)
        return self.taken(rows, rows[:0], judges).pairs

    def without(self, cells: Cells) -> CodedVotes:
        """The votes without those in the cells."""
        own = {"number": np.zeros(self.n_judges, dtype=np.int64)}
        futures = [
            self.shards.engine.submit("shard", CodedVotes.without, shard, cells.of_judges(judges))
            for shard, judges in zip(self.shards.futures, self.shards.judges, strict=True)
        ]
        shards = Shards(self.shards.engine, tuple(futures), self.shards.bounds)
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
        return _put_together(self.n_items, list(merged.engine.results(merged.futures)))

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
            shards=Shards(engine, loaded.shards, loaded.bounds), loaded=loaded, start=loaded.start,
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
        coded = self.shards.mapped(partial(_for_model, ties=ties, sides=sides))
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
