"""`Votes`: all votes, coded. The only place where labels have become integers."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import LONGEST_NAME, InputError, counted, listing
from juryrank.hints import did_you_mean_all
from juryrank.text import WIDEST_NAME, short, within
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.lists import Lists, judge_codes, no_lists, pairs_of, tied_pairs_of
from juryrank.votes.lists import kept as kept_lists
from juryrank.votes.passes import NOTHING_OWN, Found, Own, Pass
from juryrank.votes.similar_names import Spellings
from juryrank.votes.storage import give_back, new_like, pieces, ranges
from juryrank.votes.weights import (
    are_equal_weights,
    equal_weights,
    given,
    total_weight,
    weight_per_judge,
    weights_taken,
)
from juryrank.writing.html_table import html_table

LEFT_WON, TIE, RIGHT_WON = 1, 0, -1
MOST_VALUES = 5
"""So many values of a column are named in a sentence."""
WIDEST_VALUE = 30
SHOWN, WIDEST_VOTE = 5, 200
"""So many votes of each kind are shown, each with at most so many letters."""
NO_JUDGE_COLUMN = "There is no judge column: all votes count as one judge's."


@dataclass(frozen=True)
class LeftOut:
    """Rows that were read but carry no usable vote, counted, with the first of each kind."""

    bad_rows: int = 0
    self_comparisons: int = 0
    skipped: int = 0
    """Rows without a vote on purpose: skipped, mapped to skip, cancelled, discarded, drafts."""
    sentences: tuple[str, ...] = ()
    rows: int = 0
    """How many rows there were, where some were left out."""

    def __add__(self, other: LeftOut) -> LeftOut:
        return LeftOut(
            self.bad_rows + other.bad_rows,
            self.self_comparisons + other.self_comparisons,
            self.skipped + other.skipped,
            self.sentences + other.sentences,
            self.rows + other.rows,
        )

    @property
    def total(self) -> int:
        """Number of rows left out, whatever the reason."""
        return self.bad_rows + self.self_comparisons + self.skipped


@dataclass(frozen=True)
class Pooled:
    """A column that is not used, and its few values: votes on all of them make one ranking."""

    column: str
    values: tuple[tuple[str, int], ...]
    """Each with its number of rows, the most frequent first."""

    def __str__(self) -> str:
        cases = [f"{short(value, WIDEST_VALUE)} {rows:,}" for value, rows in self.values]
        return f"{len(self.values)} values of {self.column} ({listing(cases, MOST_VALUES)})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return {"column": self.column, "values": dict(self.values)}


@dataclass(frozen=True)
class Repeats:
    """Votes like an earlier one in judge, pair and outcome, but on something else."""

    votes: int
    by: tuple[str, ...]
    """The columns, not used otherwise, that tell them from the earlier ones."""


@dataclass(frozen=True, eq=False)
class JudgeTimes:
    """How long judges take for a vote."""

    median: NDArray[np.float64]
    """Of each judge; NaN where nothing is known."""
    unit: str
    """``s`` for seconds; empty where the input does not tell the unit."""
    column: str
    """Where it stands."""


@dataclass(frozen=True)
class Reading:
    """What was read as what from one source, what was ignored, and what was left out."""

    source: str
    kind: str
    """What the rows were taken for: pairs, ratings and so on."""
    rows: int
    columns: tuple[tuple[str, str], ...]
    """What each column was used as, and its name."""
    ignored: tuple[str, ...]
    """The names of columns that were not used."""
    left_out: int
    remarks: tuple[str, ...] = ()
    """What was guessed, such as the encoding, and conventions, such as that higher is better."""
    where: str | None = None
    """The condition that rows had to fulfil to be read; None: there was none."""
    kept: int | None = None
    """How many of the rows fulfil it."""
    spellings: tuple[Spellings, ...] = ()
    """Names that look the same; of several sources read together, the last tells of all."""
    pooled: tuple[Pooled, ...] = ()
    """Columns that are not used and may be contexts, such as criteria, of which there are few."""
    maybe_judges: tuple[tuple[str, int], ...] = ()
    """If all votes are one judge's: columns that may hold the judge, each with how many values."""
    files: int = 1
    """How many files the source stands for."""

    def __str__(self) -> str:
        used = ", ".join(
            role if role == name else f"{role} = {name}" for role, name in self.columns
        )
        rows = counted(self.rows, "row")
        if self.kept is not None:
            rows = f"{self.kept:,} of {rows} where {within(self.where or '', LONGEST_NAME)},"
        parts = [f"Read {self.source}: {rows} as {self.kind}"]
        parts[0] += f" ({used})" if used else ""
        parts += self.remarks
        parts += [f"ignored: {listing(self._ignored)}"] if self.ignored else []
        parts += [f"left out: {counted(self.left_out, 'row')}"] if self.left_out else []
        return " ".join([f"{'; '.join(parts)}.", *self._pooled()])

    def _pooled(self) -> Iterator[str]:
        """Say what becomes of votes on different questions or criteria."""
        if self.pooled:
            by = " or ".join(f"--by {shlex.quote(one.column)}" for one in self.pooled)
            yield (
                f"Votes on {' and '.join(map(str, self.pooled))} are pooled: one ranking over all "
                f"of them; {by} ranks each separately, --where filters."
            )

    @property
    def _ignored(self) -> list[str]:
        """The columns that were not used, first those of which it may be a pity."""
        wanted = {one.column for one in self.pooled} | {name for name, _ in self.maybe_judges}
        return sorted(self.ignored, key=lambda name: name not in wanted)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return {
            "source": self.source,
            "kind": self.kind,
            "rows": self.rows,
            "columns": dict(self.columns),
            "ignored": list(self.ignored),
            "left_out": self.left_out,
            "remarks": list(self.remarks),
            "where": self.where,
            "kept": self.kept,
            "spellings": [one.to_dict() for one in self.spellings],
            "pooled": [one.to_dict() for one in self.pooled],
            "maybe_judges": dict(self.maybe_judges),
        }


class SomePairs(NamedTuple):
    """The votes on pairs of some judges, as in `Votes`."""

    judges: slice
    start: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]


class _SomeWins(NamedTuple):
    """Some votes as wins."""

    winner: NDArray[np.int32]
    loser: NDArray[np.int32]
    side: NDArray[np.int8]
    vote: NDArray[np.int64]
    """Which of the votes each win is from."""
    share: NDArray[np.float64]
    """Which part of the vote it is."""


def _halved(
    winner: NDArray[np.int32], loser: NDArray[np.int32], outcome: NDArray[np.int8]
) -> _SomeWins:
    """Write votes as wins, ties as two of half the weight."""
    tied = outcome == TIE
    vote = np.repeat(np.arange(len(outcome)), 1 + tied)
    winner, loser, outcome, tied = winner[vote], loser[vote], outcome[vote], tied[vote]
    # The first of the two is won by the right item.
    turned = np.zeros(len(vote), dtype=np.bool_)
    turned[:-1] = tied[:-1] & (vote[1:] == vote[:-1])
    return _SomeWins(
        np.where(turned, loser, winner),
        np.where(turned, winner, loser),
        _sides(np.where(turned, RIGHT_WON, outcome)),
        vote,
        np.where(tied, 0.5, 1.0),
    )


def _sides(outcome: NDArray[np.int8]) -> NDArray[np.int8]:
    """1 for votes won by the left item, and for ties; -1 for those won by the right one."""
    return np.where(outcome == RIGHT_WON, np.int8(-1), np.int8(1))


def turn(one: NDArray[np.int32], other: NDArray[np.int32], outcome: NDArray[np.int8]) -> None:
    """The same as `turned`, in place."""
    for some in pieces(len(outcome)):
        one[some], other[some] = turned(one[some], other[some], outcome[some])


def turned(
    one: NDArray[np.int32], other: NDArray[np.int32], outcome: NDArray[np.int8]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Winners and losers from left and right items, or the other way round.

    Of a tie the left item stands for the winner.
    """
    right_won = outcome == RIGHT_WON
    return np.where(right_won, other, one), np.where(right_won, one, other)


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on pairs of items, and lists of more, coded and sorted by judge.

    The pairs of judge ``u`` are ``winner[start[u]:start[u + 1]]`` and so on, in the order of the
    input. Codes index `items` and `judges`, which hold the labels as they were given, sorted.
    Votes may be as large as memory, and are kept once: `left` and `right` are worked out.
    """

    items: pl.Series
    judges: pl.Series
    start: NDArray[np.int64]
    winner: NDArray[np.int32]
    """Of a tie, the item on the left."""
    loser: NDArray[np.int32]
    outcome: NDArray[np.int8]
    """`LEFT_WON`, `TIE` or `RIGHT_WON`."""
    weight: NDArray[np.float64]
    """If all are 1, a view of a single number that must not be written to."""
    lists: Lists
    """The votes on more than two items."""
    both_bad: int = 0
    """How many of the ties say that both items are bad."""
    sides_known: bool = False
    """Whether left and right are where the judge saw the items (else left is just the winner)."""
    judges_known: bool = True
    """False if the input had no judge column, so that all votes count as one judge's."""
    left_out: LeftOut = field(default_factory=LeftOut)
    notices: tuple[str, ...] = ()
    """What is odd about the input though nothing is wrong with it."""
    spellings: tuple[Spellings, ...] = ()
    """Names of items and judges that look the same; `notices` says so in words."""
    reading: tuple[Reading, ...] = ()
    """How each source was read."""
    by: ByValue | None = field(default=None, repr=False)
    """The votes of each value of a column, if they were read to be ranked apart."""
    repeats: Repeats | None = None
    """Which votes on pairs would be duplicates but for a column that is not used, if known."""
    times: JudgeTimes | None = None
    """How long each judge takes for a vote, if the input tells."""

    def __len__(self) -> int:
        return self.n_pairs + self.lists.number

    def __getstate__(self) -> dict[str, Any]:
        """Weights that are all 1 take no memory where votes are sent, either."""
        return vars(self) | {"weight": given(self.weight)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weight = state["weight"]
        ones = equal_weights(len(state["winner"]))
        vars(self).update(state | {"weight": ones if weight is None else weight})

    @property
    def is_here(self) -> bool:
        """Whether single votes can be looked at, as on this machine they can."""
        return True

    @property
    def n_pairs(self) -> int:
        """Number of votes on two items."""
        return len(self.winner)

    def __repr__(self) -> str:
        pairs, lists = counted(self.n_pairs, "pair"), counted(self.lists.number, "list")
        of_which = f" ({pairs}, {lists})" if self.lists.number else ""
        return (
            f"Votes({counted(len(self), 'vote')}{of_which} by {counted(self.n_judges, 'judge')} on "
            f"{counted(self.n_items, 'item')}, {counted(self.left_out.total, 'row')} left out)"
        )

    def _repr_html_(self) -> str:
        rows = [*self._first_pairs(), *self._first_lists()]
        parts = [
            f"<p>{html.escape(repr(self))}</p>",
            html_table(pl.DataFrame(rows, schema=["judge", "vote", "weight"], orient="row")),
            *(f"<p>{html.escape(remark)}</p>" for remark in self.remarks),
        ]
        return "\n".join(parts)

    def _first_pairs(self) -> Iterator[tuple[str, str, str]]:
        """A few of the votes on two items: judge, ``winner > loser`` or ``a = b``, and weight."""
        count = min(self.n_pairs, SHOWN)
        judge = np.searchsorted(self.start, np.arange(count), side="right") - 1
        columns = (judge, self.left[:count], self.right[:count], self.outcome[:count])
        weight = self.weight[:count].tolist()
        for (who, *pair, outcome), own in zip(
            np.column_stack(columns).tolist(), weight, strict=True
        ):
            first, second = reversed(pair) if outcome == RIGHT_WON else pair
            sign = "=" if outcome == TIE else ">"
            yield (
                str(self.judges[who]),
                f"{self.items[first]} {sign} {self.items[second]}",
                f"{own:g}",
            )

    def _first_lists(self) -> Iterator[tuple[str, str, str]]:
        """A few of the votes on more items, those that were not ranked set off by ``|``."""
        lists = self.lists
        for vote in range(min(lists.number, SHOWN)):
            begin, end = lists.begin[vote : vote + 2].tolist()
            item, level = lists.item[begin:end].tolist(), lists.level[begin:end].tolist()
            said = str(self.items[item[0]])
            for at in range(1, end - begin):
                tied = "=" if at < lists.ranked[vote] else "|"
                said += f" {tied if level[at] == level[at - 1] else '>'} {self.items[item[at]]}"
            who = int(np.searchsorted(lists.start, vote, side="right")) - 1
            yield str(self.judges[who]), short(said, WIDEST_VOTE), f"{lists.weight[vote]:g}"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return len(self.judges)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be said of these votes, whatever is done with them."""
        return (*self.left_out.sentences, *self.notices, *self.remarks_on_one_judge())

    def remarks_on_one_judge(self) -> Iterator[str]:
        """What must be said if all votes are one judge's."""
        if self.judges_known and self.n_judges != 1:
            return
        said = NO_JUDGE_COLUMN
        if self.judges_known:
            who = short(self.judges[0], WIDEST_NAME)
            said = f"There is only one judge, {who}: nothing can tell how accurate it is."
        maybe = dict(pair for one in self.reading for pair in one.maybe_judges)
        if maybe:
            cases = [f"{name} ({counted(several, 'value')})" for name, several in maybe.items()]
            option = f"--judge {shlex.quote(next(iter(maybe)))}"
            said += f" Columns that may be the judge: {listing(cases)}; name it with {option}."
        if not self.judges_known and max((one.files for one in self.reading), default=1) > 1:
            said += " If each file is one judge's, say --judge-per-file (judge_per_file=True)."
        yield said

    @property
    def judge(self) -> NDArray[np.int32]:
        """The code of the judge of every vote."""
        return judge_codes(self.start)

    @property
    def has_tied_pairs(self) -> bool:
        """Whether some pair is tied."""
        return any(bool((self.outcome[some] == TIE).any()) for some in self.pieces())

    @property
    def left(self) -> NDArray[np.int32]:
        """The item on the left of every pair."""
        return self.sides()[0]

    @property
    def right(self) -> NDArray[np.int32]:
        """The item on the right of every pair."""
        return self.sides()[1]

    def sides(self, some: slice = slice(None)) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The items on the left and on the right of some pairs."""
        return turned(self.winner[some], self.loser[some], self.outcome[some])

    def with_outcomes(self, outcome: NDArray[np.int8]) -> Votes:
        """The same questions, answered otherwise."""
        winner, loser = turned(*self.sides(), outcome)
        return replace(self, winner=winner, loser=loser, outcome=outcome)

    def pieces(self) -> Iterator[slice]:
        """Go through the votes on pairs, giving back the memory of those that have been seen."""
        for some in pieces(self.n_pairs):
            yield some
            give_back(self.winner[some], self.loser[some], self.outcome[some], self.weight[some])

    def chunks(self) -> Iterator[SomePairs]:
        """The pairs of some judges after the other; memory is given back as by `pieces`."""
        for first, last in ranges(self.start):
            start = self.start[first : last + 1]
            own = slice(start[0], start[-1])
            outcome, weight = self.outcome[own], self.weight[own]
            yield SomePairs(slice(first, last), start - start[0], *self.sides(own), outcome, weight)
            give_back(self.winner[own], self.loser[own], outcome, weight)

    def over_shards(self, one_shard: Pass[Votes, Found], own: Own = NOTHING_OWN) -> Iterator[Found]:
        """What a pass finds of the judges of each place where votes are: here is one, with all."""
        yield one_shard(self, 0, self.n_judges, own)

    @property
    def times_compared(self) -> NDArray[np.int64]:
        """How many votes each item is in."""
        items = (self.winner, self.loser, self.lists.item)
        return np.asarray(sum(np.bincount(item, minlength=self.n_items) for item in items))

    @property
    def times_voted(self) -> NDArray[np.int64]:
        """How many votes each judge has cast."""
        return np.asarray(np.diff(self.start) + np.diff(self.lists.start))

    @property
    def weight_of_pairs(self) -> NDArray[np.float64]:
        """Total weight of each judge's votes on pairs."""
        return weight_per_judge(self.start, self.weight)

    @property
    def weight_of_ties(self) -> NDArray[np.float64]:
        """Total weight of each judge's ties of pairs."""
        total = np.zeros(self.n_judges)
        for some in self.chunks():
            tied = some.outcome == TIE
            judge = judge_codes(some.start)[tied]
            total[some.judges] = total_weight(judge, some.weight[tied], len(some.start) - 1)
        return total

    @property
    def total_weight(self) -> float:
        """That of all votes."""
        return float(self.weight.sum() + self.lists.weight.sum())

    @property
    def votes_per_judge(self) -> NDArray[np.float64]:
        """Total weight of each judge's votes."""
        pairs = self.weight_of_pairs
        return pairs + total_weight(self.lists.judge, self.lists.weight, self.n_judges)

    @property
    def votes_per_item(self) -> NDArray[np.float64]:
        """Total weight of the votes each item took part in."""
        left, right = np.zeros(self.n_items), np.zeros(self.n_items)
        for some in self.pieces():
            for total, item in zip((left, right), self.sides(some), strict=True):
                total += total_weight(item, self.weight[some], self.n_items)
        weight = self.lists.weight[self.lists.entry_list]
        return left + right + total_weight(self.lists.item, weight, self.n_items)

    def unordered(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Pair and outcome of every vote on two items, whichever was on the left.

        A pair is one number for both its items; the outcome is that for the one of lower code.
        """
        low, high = np.minimum(self.winner, self.loser), np.maximum(self.winner, self.loser)
        said = np.where(self.winner == low, np.int8(1), np.int8(-1)) * (self.outcome != TIE)
        return low.astype(np.int64) * self.n_items + high, said

    def for_model(self, *, ties: bool = False, sides: bool = False) -> CodedVotes:
        """The votes as a model counts them, every vote on two items as a win.

        With `ties`, a tie is an outcome of its own and the item on the left stands for the
        winner; else it is two wins of half its weight. With `sides`, they are told too.
        """
        if not ties and self.has_tied_pairs:
            pairs = self._with_halves(sides=sides)
        else:
            side = self._of_outcomes(_sides, np.int8) if sides else None
            tied = self._of_outcomes(lambda outcome: outcome == TIE, np.bool_) if ties else None
            winner, loser = (
                np.ascontiguousarray(item, np.int32) for item in (self.winner, self.loser)
            )
            pairs = Pairs(self.start, winner, loser, given(self.weight), tied, side)
        lists = self.lists if self.lists.number else no_lists(self.n_judges)
        return CodedVotes(self.n_items, pairs, lists)

    def _of_outcomes(
        self, told: Callable[[NDArray[np.int8]], NDArray[Any]], kind: type[np.generic]
    ) -> NDArray[Any]:
        """What outcomes tell of every vote on two items."""
        found = new_like(self.winner, self.n_pairs, np.dtype(kind))
        for some in self.pieces():
            found[some] = told(self.outcome[some])
            give_back(found[some])
        return found

    def _with_halves(self, *, sides: bool) -> Pairs:
        """The votes on two items, a tie as two wins of half its weight."""
        start = self._start_with_halves()
        count = int(start[-1])
        winner, loser = (new_like(self.winner, count, np.dtype(np.int32)) for _ in range(2))
        weight = new_like(self.winner, count, np.dtype(np.float64))
        side = new_like(self.winner, count, np.dtype(np.int8)) if sides else None
        end = 0
        for some in self.pieces():
            one = _halved(self.winner[some], self.loser[some], self.outcome[some])
            begin, end = end, end + len(one.winner)
            winner[begin:end], loser[begin:end] = one.winner, one.loser
            weight[begin:end] = self.weight[some][one.vote] * one.share
            if side is not None:
                side[begin:end] = one.side
            give_back(winner[begin:end], loser[begin:end], weight[begin:end])
        return Pairs(start, winner, loser, weight, None, side)

    def _start_with_halves(self) -> NDArray[np.int64]:
        """Where the wins of each judge start, if a tie is two of them."""
        number = np.diff(self.start)
        for first, end in ranges(self.start):
            own = self.outcome[self.start[first] : self.start[end]] == TIE
            before = np.concatenate(([0], np.cumsum(own)))
            number[first:end] += np.diff(before[self.start[first : end + 1] - self.start[first]])
        return np.concatenate(([0], np.cumsum(number)))

    def in_pairs(self) -> Votes:
        """Break every list into the pairs it implies, each of which counts as a vote of its own.

        This is not what a list says (its pairs are not independent): scores come out much the
        same, but intervals too narrow.
        """
        if not self.lists.number:  # nor has any value of `by` any
            return self
        number, better, worse = pairs_of(self.lists)
        tied, one, other = tied_pairs_of(self.lists)
        of_list = np.concatenate((number, tied))
        judge = np.concatenate((self.judge, self.lists.judge[of_list]))
        order = np.argsort(judge, kind="stable")
        outcome = np.repeat(np.array([LEFT_WON, TIE], dtype=np.int8), [len(number), len(tied)])
        return replace(
            self,
            start=np.searchsorted(judge[order], np.arange(self.n_judges + 1)),
            winner=np.concatenate((self.winner, better, one))[order],
            loser=np.concatenate((self.loser, worse, other))[order],
            outcome=np.concatenate((self.outcome, outcome))[order],
            weight=np.concatenate((self.weight, self.lists.weight[of_list]))[order],
            lists=no_lists(self.n_judges),
            sides_known=False,
            by=None if self.by is None else self.by.mapped(Votes.in_pairs),
        )

    def without(self, judges: Iterable[object]) -> Votes:
        """The votes of all judges but these (or this one); the items stay."""
        several = [judges] if isinstance(judges, str) else judges
        unwanted = [str(judge) for judge in several]
        if not unwanted:
            return self
        names = self.judges.cast(pl.String)
        known = dict.fromkeys(names)
        strangers = [judge for judge in unwanted if judge not in known]
        if strangers:
            many = "judge is" if len(strangers) == 1 else "judges are"
            hint = did_you_mean_all(strangers, list(known))
            raise InputError(
                f"{len(strangers):,} {many} not in the votes: {listing(strangers)}.{hint}"
            )
        by = None if self.by is None else self.by.mapped(lambda own: own._without(unwanted))
        return replace(self._without(unwanted), by=by)

    def _without(self, unwanted: list[str]) -> Votes:
        stays = ~self.judges.cast(pl.String).is_in(unwanted).to_numpy()
        if not stays.any():
            raise InputError("Without these judges there are no votes left.")
        return self.of_judges(stays)

    def of_judges(self, stays: NDArray[np.bool_]) -> Votes:
        """The votes of some judges, chosen by their codes; the items stay."""
        number = np.diff(self.start)
        start = np.concatenate(([0], np.cumsum(number[stays])))
        equal = are_equal_weights(self.weight)
        old: list[NDArray[Any]] = [self.winner, self.loser, self.outcome]
        old += [] if equal else [self.weight]
        new = [new_like(column, int(start[-1]), column.dtype) for column in old]
        end = 0
        for first, last in ranges(self.start):
            own = slice(self.start[first], self.start[last])
            keep = np.repeat(stays[first:last], number[first:last])
            begin, end = end, end + int(number[first:last][stays[first:last]].sum())
            for column, kept in zip(old, new, strict=True):
                kept[begin:end] = column[own][keep]
                give_back(column[own], kept[begin:end])
        lists = kept_lists(self.lists, stays[self.lists.judge])
        return replace(
            self,
            judges=self.judges.filter(stays),
            start=start,
            winner=new[0],
            loser=new[1],
            outcome=new[2],
            weight=equal_weights(len(new[0])) if equal else new[3],
            lists=lists._replace(start=lists.start[np.append(stays, True)]),
            by=None,
            repeats=None,
            times=self.times and replace(self.times, median=self.times.median[stays]),
        )

    def subset(self, keep: NDArray[np.bool_]) -> Votes:
        """Keep some of the votes (pairs come first, then lists), and all items and judges."""
        pairs = keep[: self.n_pairs]
        kept_before = np.concatenate(([0], np.cumsum(pairs)))
        return replace(
            self,
            start=kept_before[self.start],
            winner=self.winner[pairs],
            loser=self.loser[pairs],
            outcome=self.outcome[pairs],
            weight=weights_taken(self.weight, pairs),
            lists=kept_lists(self.lists, keep[self.n_pairs :]),
            by=None,
            repeats=None,
        )


@dataclass(frozen=True, eq=False)
class ByValue:
    """The votes of each value of a column, which are to be ranked apart."""

    column: str
    of: Mapping[object, Votes | str]
    """For each value, in natural order, its votes, or why there are none that can be ranked."""
    remarks: tuple[str, ...] = ()
    """What is to be said about rows whatever their value, or without one."""
    reading: tuple[Reading, ...] = ()
    """How each source was read."""

    @property
    def votes(self) -> dict[object, Votes]:
        """The votes of the values that have some."""
        return {value: own for value, own in self.of.items() if isinstance(own, Votes)}

    @property
    def errors(self) -> dict[object, str]:
        """Why the other values have none."""
        return {value: own for value, own in self.of.items() if isinstance(own, str)}

    def mapped(self, change: Callable[[Votes], Votes]) -> ByValue:
        """The same with other votes; where there can be none, with why."""
        changed = {value: _changed(own, change) for value, own in self.of.items()}
        return replace(self, of=changed)

    def nothing_to_rank(self) -> InputError:
        """Say why none of the values can be ranked."""
        reasons = list(dict.fromkeys(self.errors.values()))
        if len(reasons) == 1:
            return InputError(reasons[0])
        said = [f"{value}: {reason}" for value, reason in self.errors.items()]
        return InputError(
            f"No value of the column {self.column!r} can be ranked. {' '.join(said[:3])}"
        )


def _changed(own: Votes | str, change: Callable[[Votes], Votes]) -> Votes | str:
    if isinstance(own, str):
        return own
    try:
        return change(own)
    except InputError as error:
        return str(error)


def in_natural_order(values: Sequence[object]) -> list[int]:
    """The order of values as people sort them: round 2 before round 10."""
    return sorted(range(len(values)), key=lambda at: _natural(values[at]))


def _natural(value: object) -> Any:
    if not isinstance(value, str):
        return value
    parts = re.split(r"([0-9]+)", value.casefold())
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], value
