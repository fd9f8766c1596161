"""Votes of every kind made by hand, their probabilities by enumeration, and simulated rankings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numerics_help import Floats, minus_log_f

from juryrank.model.effects import EffectModel
from juryrank.model.noise import GUMBEL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.votes.lists import Lists
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes, turned

Label = int | str


class Row(NamedTuple):
    """One vote: groups of items from the best down, and items below them in no order."""

    judge: Label
    groups: Sequence[Sequence[Label]]
    rest: Sequence[Label] = ()
    weight: float = 1.0
    flipped: bool = False
    """Of a pair: whether the item that is named first was on the right."""

    @property
    def named(self) -> list[Label]:
        return [item for group in self.groups for item in group] + list(self.rest)

    @property
    def is_tied_pair(self) -> bool:
        return len(self.groups) == 1 and not self.rest


def ranking(judge: Label, items: Iterable[Label], weight: float = 1.0) -> Row:
    """A ranking without ties."""
    return Row(judge, [[item] for item in items], weight=weight)


def made(
    rows: Sequence[Row], *, items: Sequence[Label] | None = None, pairs_as_lists: bool = False
) -> Votes:
    """Votes from rows; pairs become pairs, unless they are to be lists of two."""
    labels = sorted({i for row in rows for i in row.named}) if items is None else list(items)
    judges = sorted({row.judge for row in rows})
    item, judge = ({x: k for k, x in enumerate(known)} for known in (labels, judges))
    ordered = sorted(rows, key=lambda row: judge[row.judge])
    pairs = [row for row in ordered if len(row.named) == 2 and not pairs_as_lists]
    lists = [row for row in ordered if len(row.named) != 2 or pairs_as_lists]
    ends = [[item[x] for x in (row.named[::-1] if row.flipped else row.named)] for row in pairs]
    said = [TIE if row.is_tied_pair else RIGHT_WON if row.flipped else LEFT_WON for row in pairs]
    level = [
        k
        for row in lists
        for k, group in enumerate([*row.groups, row.rest])
        for _ in group
    ]  # fmt: skip

    def start(some: Sequence[Row]) -> np.ndarray:
        count = np.bincount([judge[row.judge] for row in some], minlength=len(judges))
        return np.concatenate(([0], np.cumsum(count))).astype(np.int64)

    left, right = np.array(ends, dtype=np.int32).reshape(-1, 2).T
    outcome = np.array(said, dtype=np.int8)
    winner, loser = turned(left, right, outcome)
    return Votes(
        items=pl.Series("item", labels),
        judges=pl.Series("judge", judges),
        start=start(pairs),
        winner=winner,
        loser=loser,
        outcome=outcome,
        weight=np.array([row.weight for row in pairs], dtype=np.float64),
        lists=Lists(
            start=start(lists),
            begin=np.cumsum([0, *(len(row.named) for row in lists)]).astype(np.int64),
            item=np.array([item[x] for row in lists for x in row.named], dtype=np.int32),
            level=np.array(level, dtype=np.int32),
            ranked=np.array([_ranked(row) for row in lists], dtype=np.int32),
            weight=np.array([row.weight for row in lists], dtype=np.float64),
        ),
        sides_known=any(row.flipped for row in pairs),
    )


def _ranked(row: Row) -> int:
    return len(row.named) - (len(row.rest) if len(row.rest) > 1 else 0)


def as_rows(votes: Votes) -> list[Row]:
    """The votes as rows again: pairs first, then lists."""
    items, judges, lists = votes.items.to_list(), votes.judges.to_list(), votes.lists
    rows = []
    for u, left, right, said, weight in zip(
        votes.judge, votes.left, votes.right, votes.outcome, votes.weight, strict=True
    ):
        ends = [items[left], items[right]][:: -1 if said == RIGHT_WON else 1]
        groups = [ends] if said == TIE else [[end] for end in ends]
        rows.append(Row(judges[u], groups, (), float(weight), bool(said == RIGHT_WON)))
    for k in range(lists.number):
        groups, rest = [], []
        for index, e in enumerate(range(lists.begin[k], lists.begin[k + 1])):
            label = items[lists.item[e]]
            if index >= lists.ranked[k]:
                rest.append(label)
            elif index and lists.level[e] == lists.level[e - 1]:
                groups[-1].append(label)
            else:
                groups.append([label])
        rows.append(Row(judges[lists.judge[k]], groups, rest, float(lists.weight[k])))
    return rows


# --- probabilities, by enumeration ---------------------------------------------------------------


def list_loss(
    groups: Sequence[Sequence[Label]],
    rest: Sequence[Label],
    location: Mapping[Label, float],
    log_tie: Mapping[int, float],
) -> float:
    """``-log P`` with Gumbel noise: every choice of a group among all groups that could be."""
    left = [item for group in groups for item in group] + list(rest)
    sizes = {1: 0.0, **log_tie}
    loss = 0.0
    for group in groups:
        if len(left) == 1:
            break
        every = (
            math.exp(log_weight + sum(location[i] for i in some) / size)
            for size, log_weight in sizes.items()
            for some in combinations(left, size)
        )
        chosen = sizes[len(group)] + sum(location[i] for i in group) / len(group)
        loss += math.log(sum(every)) - chosen
        left = [item for item in left if item not in group]
    return loss


def as_one_loss(
    groups: Sequence[Sequence[Label]],
    rest: Sequence[Label],
    location: Mapping[Label, float],
    log_tie: float,
) -> float:
    """``-log P`` of a list of groups at their means, and of which of its items are tied."""
    means: dict[Label, float] = {
        k: sum(location[i] for i in group) / len(group) for k, group in enumerate(groups)
    }
    means |= {f"below {i}": location[i] for i in rest}
    below = list(means)[len(groups) :]
    loss = list_loss([[k] for k in range(len(groups))], below, means, {})
    ranked = [(i, k) for k, group in enumerate(groups) for i in group]
    if len(rest) == 1:
        ranked.append((rest[0], len(groups)))
    for (one, level), (other, its_level) in combinations(ranked, 2):
        odds = math.exp(log_tie) / (2.0 * math.cosh((location[one] - location[other]) / 2.0))
        chance = odds / (1.0 + odds)
        said = chance if level == its_level else 1.0 - chance
        loss -= 2.0 / len(ranked) * math.log(said)
    return loss


def pair_loss(noise: Noise, x: float, *, tied: bool, log_tie: float | None) -> float:
    """``-log P`` of a pair whose winner has the advantage x; it can be tied if there is a tie."""
    win, lose = (math.exp(-minus_log_f(noise, y)) for y in (x, -x))
    if log_tie is None:
        return -math.log(win)
    tie = math.exp(log_tie) * math.sqrt(win * lose)
    return -math.log((tie if tied else win) / (win + lose + tie))


class Truth(NamedTuple):
    """A point: scores and accuracies by code, and effects, the judges' own ones by code."""

    score: Floats
    accuracy: Floats
    tie: Floats
    own_tie: Floats
    order: float
    own_order: Floats


def plain_penalty(at: Truth, prior: Prior) -> float:
    """What the prior adds, unknown by unknown."""
    parts = (
        (at.score, prior.score_sd),
        (at.accuracy - 1.0, prior.accuracy_sd),
        (np.append(at.tie, at.order), prior.effect_sd),
        (at.own_tie, prior.tie_sd),
        (at.own_order, prior.order_sd),
    )
    return float(sum(0.5 * np.sum(values**2) / sd**2 for values, sd in parts))


def plain_value(votes: Votes, model: EffectModel, at: Truth, noise: Noise = GUMBEL) -> float:
    """The negative log-likelihood of votes, vote by vote."""
    items, judges = votes.items.to_list(), votes.judges.to_list()
    total = 0.0
    for row in as_rows(votes):
        u = judges.index(row.judge)
        location = {i: float(at.accuracy[u] * s) for i, s in zip(items, at.score, strict=True)}
        own = float(at.own_tie[u]) if model.ties_by_judge else 0.0
        log_tie = {k: float(t) + own for k, t in zip(model.sizes, at.tie, strict=True)}
        if len(row.named) == 2 and not row.rest:
            x = location[row.named[0]] - location[row.named[1]]
            gain = at.order if model.order else 0.0
            gain += float(at.own_order[u]) if model.order_by_judge else 0.0
            x += -gain if row.flipped else gain
            loss = pair_loss(noise, x, tied=row.is_tied_pair, log_tie=log_tie.get(2))
        elif model.as_one:
            loss = as_one_loss(row.groups, row.rest, location, log_tie[2])
        else:
            loss = list_loss(row.groups, row.rest, location, log_tie)
        total += row.weight * loss
    return total


def weak_orders(items: Sequence[Label], sizes: set[int]) -> Iterator[list[list[Label]]]:
    """All rankings of the items in which only groups of these sizes are tied."""
    if not items:
        yield []
    for size in sorted({1} | sizes):
        for group in combinations(items, size):
            left = [item for item in items if item not in group]
            for tail in weak_orders(left, sizes):
                yield [list(group), *tail]


# --- votes to test with --------------------------------------------------------------------------


def random_rows(seed: int, *, n_items: int = 6, judges: int = 4, rows: int = 24) -> list[Row]:
    """Every kind of vote: pairs, ties, rankings with ties of 2 and 3, best k, choices; weights."""
    rng = np.random.default_rng(seed)
    made_rows = []
    for _ in range(rows):
        length = int(rng.choice([2, 2, 3, 4, 5]))
        items: list[Label] = rng.permutation(n_items)[:length].tolist()
        groups: list[list[Label]] = []
        while items:
            size = min(int(rng.choice([1, 1, 1, 2, 3])), len(items))
            groups.append(items[:size])
            items = items[size:]
        rest: list[Label] = []
        if length > 2 and len(groups) > 1 and rng.random() < 0.4:
            keep = int(rng.integers(1, len(groups)))
            rest = [item for group in groups[keep:] for item in group]
            groups = groups[:keep]
        judge = int(rng.integers(judges))
        flipped = length == 2 and len(groups) == 2 and bool(rng.random() < 0.5)
        weight = float(rng.choice([0.5, 1.0, 2.0]))
        made_rows.append(Row(judge, groups, rest, weight, flipped))
    return made_rows


def objective_of(
    votes: Votes, model: EffectModel, prior: Prior = NO_PRIOR, noise: Noise = GUMBEL
) -> Objective:
    """The objective with given effects."""
    coded = votes.for_model(ties=2 in model.sizes, sides=model.order)
    return Objective(coded, noise, prior, effects=model)


def random_point(seed: int, objective: Objective, scale: float = 1.0) -> tuple[Floats, Floats]:
    """A state with moderate effects, and accuracies of both signs."""
    rng = np.random.default_rng(seed)
    n = objective.n_items
    state = rng.normal(0.0, 0.5, objective.layout.size)
    state[:n] = scale * rng.normal(size=n)
    return state, rng.normal(0.5, 1.0, objective.n_judges)


def truth_at(objective: Objective, state: Floats, accuracy: Floats) -> Truth:
    """The same point by name."""
    layout = objective.layout
    order = state[layout.order]
    return Truth(
        state[: objective.n_items], accuracy, state[layout.tie], state[layout.own_tie],
        float(order[0]) if len(order) else 0.0, state[layout.own_order],
    )  # fmt: skip


def drawn_order(rng: np.random.Generator, location: Floats) -> list[int]:
    """Item codes from the best down, as a judge with Gumbel noise sees them."""
    return [int(i) for i in np.argsort(-(location + rng.gumbel(size=len(location))))]


def simulated(
    seed: int, score: Floats, accuracy: Sequence[float], lists: int, length: int
) -> list[Row]:
    """Rankings of random sets, as many by each judge."""
    rng = np.random.default_rng(seed)
    rows = []
    for u, a in enumerate(accuracy):
        for _ in range(lists):
            some = rng.permutation(len(score))[:length]
            order = drawn_order(rng, a * score[some])
            rows.append(ranking(f"j{u:03}", [f"i{int(i):03}" for i in some[order]]))
    return rows


def drawn_tied(
    rng: np.random.Generator, location: Floats, weights: Mapping[int, float]
) -> list[list[int]]:
    """A ranking with ties, drawn choice by choice from all groups."""
    left = list(range(len(location)))
    groups: list[list[int]] = []
    while left:
        every = [list(some) for k in (1, *weights) for some in combinations(left, k)]
        mass = [weights.get(len(g), 1.0) * math.exp(float(location[g].mean())) for g in every]
        group = every[int(rng.choice(len(every), p=np.array(mass) / sum(mass)))]
        groups.append(group)
        left = [i for i in left if i not in group]
    return groups


def soc(path: Path) -> Votes:
    """A file of complete rankings with counts, all by one judge."""
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    rows = []
    for line in lines:
        count, order = line.split(":")
        rows.append(ranking(0, [int(i) for i in order.split(",")], float(count)))
    return made(rows)
