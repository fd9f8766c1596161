"""Accounts that speak with one voice: exact copies of a judge, and accounts on one item only.

What a judge thinks counts once, however many accounts it has. No model of votes tells a judge with
many accounts from as many judges of one mind; what tells is that they are *too* much alike:

**Copies** cast exactly the same votes. Independent judges may do so too where nearly everybody
votes the same way, so the votes of one of them must be unlikely: with scores and accuracies of a
fit in which all that vote alike count once,

    -log P(votes of one of them) > log(pairs of judges / CHANCE).

**Single-item accounts** have two votes or more, all on one item. With ``p_i`` the share of other
judges' votes that are on item ``i``, and ``N_k`` accounts with ``k`` votes, chance alone gives
about ``sum_k N_k p_i^k`` of them; they count as one if so many more would come about with a chance
below ``CHANCE`` for any item. Accounts whose votes are all on one pair of items, one of them such
an item, count with them. Judges may also have been asked about one item each, by design; then all
items have such accounts, and twice their mean number on other items is expected as well.

Accounts of one voice share one judge's say: the votes of each count ``1 / number of accounts``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR
from juryrank.solvers.search import ROUGH, search
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.lists import Lists, indices_of
from juryrank.votes.passes import Own, Pass
from juryrank.votes.weights import total_weight

Codes = NDArray[np.int64]
Hashes = NDArray[np.uint64]

CHANCE = 0.001
"""The chance that independent judges anywhere in the data are taken for one."""
LEAST_ACCOUNTS = 3
"""So few single-item accounts on an item do no harm."""
MORE_BY_DESIGN = 2.0
"""Times the usual number of single-item accounts that an item may have by design."""
MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
"""Odd numbers with bits all over."""
HALF = np.uint64(32)
HASHED_AT_ONCE = 100_000
"""Votes; several numbers of 8 bytes are kept of each."""


@dataclass(frozen=True, eq=False)
class Voice:
    """Accounts that count as one judge."""

    judges: Codes
    item: int | None = None
    """The only item they vote on; None for exact copies."""


def voices_of(objective: Objective) -> tuple[Voice, ...]:
    """All accounts that share a voice, those on one item first."""
    single = _single_item(objective)
    taken = np.concatenate([voice.judges for voice in single] or [np.empty(0, dtype=np.int64)])
    return (*single, *_copies(objective, taken))


def say_of(voices: tuple[Voice, ...], n_judges: int) -> Floats:
    """How many times each judge's votes count."""
    say = np.ones(n_judges)
    for voice in voices:
        say[voice.judges] = 1.0 / len(voice.judges)
    return say


def voice_codes(voices: tuple[Voice, ...], n_judges: int) -> Codes:
    """The code of the judge that each judge counts as: of a voice, its first."""
    code = np.arange(n_judges)
    for voice in voices:
        code[voice.judges] = voice.judges[0]
    return code


def with_one_say(objective: Objective, voices: tuple[Voice, ...]) -> Objective:
    """The objective in which accounts of one voice count as one judge."""
    if not voices:
        return objective
    say = say_of(voices, objective.n_judges)
    return replace(objective, votes=objective.votes.reweighted(say))


# --- accounts on one item ------------------------------------------------------------------------


def _single_item(objective: Objective) -> tuple[Voice, ...]:
    """Accounts on one item, where they are more than chance explains."""
    votes, n = objective.votes, objective.n_items
    count = votes.pairs.per_judge
    one, other = _items_of_all_votes(votes)
    on_one = (one >= 0) != (other >= 0)
    if on_one.sum() < LEAST_ACCOUNTS:
        return ()
    found = np.bincount(np.maximum(one, other)[on_one], minlength=n)
    elsewhere = (found.sum() - found) / (n - 1)
    expected = _expected(votes, on_one, count) + MORE_BY_DESIGN * elsewhere
    unlikely = scipy.special.gammainc(np.maximum(found, 1), expected) * n < CHANCE
    return tuple(
        Voice(np.flatnonzero((one == i) | (other == i)), i)
        for i in np.flatnonzero(unlikely & (found >= LEAST_ACCOUNTS)).tolist()
    )


def _items_of_all_votes(votes: CodedVotes) -> tuple[Codes, Codes]:
    """Whether the winner, and the loser, of a judge's first vote is in all its votes: which, or -1.

    Both are, if all its votes are on one pair.
    """
    m = votes.n_judges
    own = {"one": np.empty(m, dtype=np.int64), "other": np.empty(m, dtype=np.int64)}
    for _ in votes.over_shards(_ItemsPass(), own):
        pass
    return own["one"], own["other"]


@dataclass(frozen=True, eq=False)
class _ItemsPass(Pass[CodedVotes, None]):
    """Whether winner and loser of the first vote of each judge are in all its votes."""

    @property
    def writes(self) -> tuple[str, ...]:
        """Which, or -1."""
        return ("one", "other")

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> None:
        """All judges here."""
        pairs, without_lists = here.pairs, np.diff(here.lists.start) == 0
        several = np.flatnonzero((pairs.per_judge > 1) & without_lists)
        begin, end = pairs.start[several], pairs.start[several + 1] - 1
        for name, items in (("one", pairs.winner), ("other", pairs.loser)):
            item = items[begin]
            likely = _in_votes(pairs, item, begin + 1) & _in_votes(pairs, item, end)
            own[name][:] = -1
            own[name][several[likely]] = _in_all_votes(pairs, several[likely], item[likely])


def _in_votes(pairs: Pairs, item: NDArray[np.int32], vote: Codes) -> NDArray[np.bool_]:
    return np.asarray((pairs.winner[vote] == item) | (pairs.loser[vote] == item))


def _in_all_votes(pairs: Pairs, judges: Codes, item: NDArray[np.int32]) -> Codes:
    """The item of each of these judges if it is in all its votes, else -1."""
    if not len(judges):
        return judges
    number = pairs.per_judge[judges]
    there = _in_votes(pairs, np.repeat(item, number), indices_of(pairs.start, judges))
    return np.where(np.logical_and.reduceat(there, np.cumsum(number) - number), item, -1)


def _expected(votes: CodedVotes, on_one: NDArray[np.bool_], count: Codes) -> Floats:
    """How many accounts would be on each item alone by chance."""
    n = votes.n_items
    found = votes.over_shards(_SeenPass(), {"weight": np.where(on_one, 0.0, 1.0)})
    seen = np.asarray(sum(found))
    share = np.minimum(seen / max(float(0.5 * seen.sum()), 1.0), 1.0)
    expected = np.zeros(n)
    for number in np.unique(count[on_one]).tolist():
        expected += float((count == number).sum()) * share**number
    return expected


@dataclass(frozen=True, eq=False)
class _SeenPass(Pass[CodedVotes, Floats]):
    """How many votes on pairs each item is in, those of each judge weighted."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What each judge's votes count."""
        return ("weight",)

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> Floats:
        """All judges here."""
        pairs, n = here.pairs, here.n_items
        weight = np.repeat(own["weight"], pairs.per_judge)
        return total_weight(pairs.winner, weight, n) + total_weight(pairs.loser, weight, n)


# --- copies --------------------------------------------------------------------------------------


def _copies(objective: Objective, taken: Codes) -> tuple[Voice, ...]:
    """Groups of judges who cast exactly the same votes, and not because everybody does."""
    votes, m = objective.votes, objective.n_judges
    needed = np.log(max(0.5 * m * (m - 1), 1.0) / CHANCE)
    enough = votes.entries_per_judge >= needed  # a vote tells about log 2
    enough[taken] = False
    groups = _alike(_hashes(votes), np.flatnonzero(enough))
    groups = [same for group in groups for same in _exactly_alike(votes, group)]
    if not groups:
        return ()
    alike = tuple(Voice(group) for group in groups)
    loss = _losses(with_one_say(objective, alike)) / say_of(alike, m)
    return tuple(voice for voice in alike if loss[voice.judges[0]] > needed)


def _alike(hashes: Hashes, judges: Codes) -> list[Codes]:
    """Groups of these judges with the same hash."""
    _, group, size = np.unique(hashes[judges], return_inverse=True, return_counts=True)
    several = np.flatnonzero(size[group] > 1)
    order = several[np.argsort(group[several], kind="stable")]
    return [judges[part] for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1)]


def _hashes(votes: CodedVotes) -> Hashes:
    """A number for each judge that does not depend on the order of its votes."""
    own = {"hash": np.zeros(votes.n_judges, dtype=np.uint64)}
    for _ in votes.over_shards(_HashPass(), own):
        pass
    return own["hash"]


@dataclass(frozen=True, eq=False)
class _HashPass(Pass[CodedVotes, None]):
    """A number for each judge."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The number."""
        return ("hash",)

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> None:
        """Some judges after the other."""
        for judges, some in here.chunks(HASHED_AT_ONCE):
            found = np.zeros(some.n_judges, dtype=np.uint64)
            _add_up(found, some.pairs.start, _of_pairs(some.pairs))
            if some.has_lists:
                _add_up(found, some.lists.start, _of_lists(some.lists))
            own["hash"][judges] = found


def _of_pairs(pairs: Pairs) -> Hashes:
    """A number for each vote on a pair."""
    one, other = pairs.winner.astype(np.uint64), pairs.loser.astype(np.uint64)
    if pairs.tied is not None:
        turned = pairs.tied & (one > other)
        one, other = np.where(turned, other, one), np.where(turned, one, other)
        one = one + (pairs.tied.astype(np.uint64) << HALF)
    hashed = _scrambled(one, other)
    if pairs.given_weight is not None:
        hashed = _scrambled(hashed, pairs.given_weight.view(np.uint64))
    return hashed


def _of_lists(lists: Lists) -> Hashes:
    """A number for each list."""
    entry = _scrambled(lists.item.astype(np.uint64), lists.level.astype(np.uint64))
    of_list = np.zeros(lists.number, dtype=np.uint64)
    _add_up(of_list, lists.begin, entry)
    return _scrambled(of_list, lists.weight.view(np.uint64))


def _scrambled(one: Hashes, other: Hashes) -> Hashes:
    """A number for two of them, all of whose bits depend on all of theirs."""
    mixed = one * MULTIPLIERS[0] + (other ^ (other >> HALF)) * MULTIPLIERS[1]
    mixed ^= mixed >> HALF
    mixed *= MULTIPLIERS[2]
    return np.asarray(mixed ^ (mixed >> HALF))


def _add_up(totals: Hashes, start: Codes, values: Hashes) -> None:
    """Add the values of each run to its total, modulo 2^64."""
    busy = np.flatnonzero(np.diff(start))
    if len(busy):
        totals[busy] += np.add.reduceat(values, start[busy])


def _exactly_alike(votes: CodedVotes, judges: Codes) -> list[Codes]:
    """The judges in groups of the same votes; those who are alone are in none."""
    groups: dict[bytes, list[int]] = {}
    own = votes.of_judges(judges)
    for k, u in enumerate(judges.tolist()):
        groups.setdefault(_all_votes(own.of_range(k, k + 1)), []).append(u)
    return [np.array(group) for group in groups.values() if len(group) > 1]


def _all_votes(votes: CodedVotes) -> bytes:
    """Everything a judge has said, in an order of its own."""
    own, lists = votes.pairs, votes.lists
    pairs = np.stack((own.winner, own.loser, own.weight))
    said = [
        np.concatenate(
            ([lists.weight[k]], lists.item[lists.begin[k] : lists.begin[k + 1]],
             lists.level[lists.begin[k] : lists.begin[k + 1]])
        ).tobytes()
        for k in range(lists.number)
    ]  # fmt: skip
    if own.tied is not None:
        turned = own.tied & (pairs[0] > pairs[1])
        pairs[:2, turned] = pairs[1::-1, turned]
        pairs = np.vstack((pairs, own.tied))
    return pairs[:, np.lexsort(pairs)].tobytes() + b"".join(sorted(said))


def _losses(objective: Objective) -> Floats:
    """``-log P`` of each judge's votes, at the best fit."""
    found = search(objective, ROUGH)
    alone = replace(objective, prior=NO_PRIOR, lambda0=0.0)
    return alone.votes_alone(found.state, found.accuracy).value
