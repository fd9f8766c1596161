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
from numpy.typing import NDArray
from scipy.special import gammainc

from juryrank.inference.many_votes import reweighted
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR
from juryrank.solvers.search import ROUGH, search
from juryrank.types import Floats
from juryrank.votes.lists import Lists, places_of
from juryrank.votes.storage import give_back, ranges
from juryrank.votes.votes import Wins
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


def with_one_say(objective: Objective, voices: tuple[Voice, ...]) -> Objective:
    """The objective in which accounts of one voice count as one judge."""
    if not voices:
        return objective
    return reweighted(objective, say_of(voices, objective.n_judges))


# --- accounts on one item ------------------------------------------------------------------------


def _single_item(objective: Objective) -> tuple[Voice, ...]:
    """Accounts on one item, where they are more than chance explains."""
    wins, lists, n = objective.wins, objective.lists, objective.n_items
    count = np.diff(wins.start)
    one, other = _items_of_all_votes(wins, np.diff(lists.start) == 0)
    on_one = (one >= 0) != (other >= 0)
    if on_one.sum() < LEAST_ACCOUNTS:
        return ()
    found = np.bincount(np.maximum(one, other)[on_one], minlength=n)
    elsewhere = (found.sum() - found) / (n - 1)
    expected = _expected(objective, on_one, count) + MORE_BY_DESIGN * elsewhere
    unlikely = gammainc(np.maximum(found, 1), expected) * n < CHANCE
    return tuple(
        Voice(np.flatnonzero((one == i) | (other == i)), i)
        for i in np.flatnonzero(unlikely & (found >= LEAST_ACCOUNTS)).tolist()
    )


def _items_of_all_votes(wins: Wins, without_lists: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Whether the winner, and the loser, of a judge's first vote is in all its votes: which, or -1.

    Both are, if all its votes are on one pair.
    """
    several = np.flatnonzero((np.diff(wins.start) > 1) & without_lists)
    first, last = wins.start[several], wins.start[several + 1] - 1
    found = []
    for items in (wins.winner, wins.loser):
        item = items[first]
        likely = _in_votes(wins, item, first + 1) & _in_votes(wins, item, last)
        in_all = np.full(len(without_lists), -1, dtype=np.int64)
        in_all[several[likely]] = _in_all_votes(wins, several[likely], item[likely])
        found.append(in_all)
    return found[0], found[1]


def _in_votes(wins: Wins, item: NDArray[np.int32], vote: Codes) -> NDArray[np.bool_]:
    return np.asarray((wins.winner[vote] == item) | (wins.loser[vote] == item))


def _in_all_votes(wins: Wins, judges: Codes, item: NDArray[np.int32]) -> Codes:
    """The item of each of these judges if it is in all its votes, else -1."""
    if not len(judges):
        return judges
    number = np.diff(wins.start)[judges]
    there = _in_votes(wins, np.repeat(item, number), places_of(wins.start, judges))
    return np.where(np.logical_and.reduceat(there, np.cumsum(number) - number), item, -1)


def _expected(objective: Objective, on_one: NDArray[np.bool_], count: Codes) -> Floats:
    """How many accounts would be on each item alone by chance."""
    wins, n = objective.wins, objective.n_items
    weight = np.repeat(np.where(on_one, 0.0, 1.0), count)
    seen = total_weight(wins.winner, weight, n) + total_weight(wins.loser, weight, n)
    share = np.minimum(seen / max(float(weight.sum()), 1.0), 1.0)
    expected = np.zeros(n)
    for votes in np.unique(count[on_one]).tolist():
        expected += float((count == votes).sum()) * share**votes
    return expected


# --- copies --------------------------------------------------------------------------------------


def _copies(objective: Objective, taken: Codes) -> tuple[Voice, ...]:
    """Groups of judges who cast exactly the same votes, and not because everybody does."""
    m, lists = objective.n_judges, objective.lists
    needed = np.log(max(0.5 * m * (m - 1), 1.0) / CHANCE)
    count = np.diff(objective.wins.start) + np.diff(lists.begin[lists.start])
    enough = count >= needed  # a vote tells about log 2
    enough[taken] = False
    groups = _alike(_hashes(objective), np.flatnonzero(enough))
    groups = [same for group in groups for same in _exactly_alike(objective, group)]
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


def _hashes(objective: Objective) -> Hashes:
    """A number for each judge that does not depend on the order of its votes."""
    wins, lists = objective.wins, objective.lists
    found = np.zeros(objective.n_judges, dtype=np.uint64)
    for first, end in ranges(wins.start):
        own = slice(wins.start[first], wins.start[end])
        start = wins.start[first : end + 1] - wins.start[first]
        _add_up(found[first:end], start, _of_pairs(wins, own))
        give_back(wins.winner[own], wins.loser[own])
    if lists.number:
        entry = _scrambled(lists.item.astype(np.uint64), lists.level.astype(np.uint64))
        of_list = np.zeros(lists.number, dtype=np.uint64)
        _add_up(of_list, lists.begin, entry)
        _add_up(found, lists.start, _scrambled(of_list, lists.weight.view(np.uint64)))
    return found


def _of_pairs(wins: Wins, own: slice) -> Hashes:
    """A number for each vote on a pair."""
    one, other = wins.winner[own].astype(np.uint64), wins.loser[own].astype(np.uint64)
    if len(wins.tied):
        tied = wins.tied[own]
        turned = tied & (one > other)
        one, other = np.where(turned, other, one), np.where(turned, one, other)
        one = one + (tied.astype(np.uint64) << HALF)
    hashed = _scrambled(one, other)
    if len(wins.given_weight):
        hashed = _scrambled(hashed, wins.given_weight[own].view(np.uint64))
    return hashed


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


def _exactly_alike(objective: Objective, judges: Codes) -> list[Codes]:
    """The judges in groups of the same votes; those who are alone are in none."""
    groups: dict[bytes, list[int]] = {}
    for u in judges.tolist():
        groups.setdefault(_all_votes(objective.wins, objective.lists, u), []).append(u)
    return [np.array(group) for group in groups.values() if len(group) > 1]


def _all_votes(wins: Wins, lists: Lists, judge: int) -> bytes:
    """Everything a judge has said, in an order of its own."""
    own = slice(wins.start[judge], wins.start[judge + 1])
    pairs = np.stack((wins.winner[own], wins.loser[own], wins.weight[own]))
    said = [
        np.concatenate(
            ([lists.weight[k]], lists.item[lists.begin[k] : lists.begin[k + 1]],
             lists.level[lists.begin[k] : lists.begin[k + 1]])
        ).tobytes()
        for k in range(lists.start[judge], lists.start[judge + 1])
    ]  # fmt: skip
    if len(wins.tied):
        tied = wins.tied[own]
        turned = tied & (pairs[0] > pairs[1])
        pairs[:2, turned] = pairs[1::-1, turned]
        pairs = np.vstack((pairs, tied))
    return pairs[:, np.lexsort(pairs)].tobytes() + b"".join(sorted(said))


def _losses(objective: Objective) -> Floats:
    """``-log P`` of each judge's votes, at the best fit."""
    found = search(objective, ROUGH)
    alone = replace(objective, prior=NO_PRIOR, lambda0=0.0)
    return alone.votes_alone(found.state, found.accuracy).value
