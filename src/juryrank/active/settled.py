"""`Settled`: what is sure though somebody looked after every vote."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from juryrank.active.beliefs import Beliefs, beliefs_about
from juryrank.active.sequence import half_width, likelihood_information
from juryrank.active.targets import Target, target_of
from juryrank.errors import counted, percent
from juryrank.inference.opinions import Codes
from juryrank.ranking.ranking import Ranking
from juryrank.types import Floats
from juryrank.votes.connectivity import connection
from juryrank.writing.html_table import html_table

MOST_PAIRS = 1_000
"""The closest pairs, where more decide on a target."""
AGREED = 0.98
"""If a judge of average accuracy agrees that often, answers hardly tell how far apart items are."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Which pairs of items that decide on a target are settled, however often one looks.

    `pairs` has the columns item (the one ranked higher), other, gap, low, high, settled and agreed.
    Gaps are what the votes alone say, on the model's own scale, without the prior that pulls scores
    together; low and high hold at all times together, for all pairs together. Where votes hardly
    ever contradict the order (`agreed`), they do not say how large a gap is, and bounds stay wide
    however many there are. Items of two groups that no vote connects have no gap and no bounds.
    """

    target: str
    confidence: float
    pairs: pl.DataFrame
    groups: int = 1
    """How many groups of items are to be connected before votes can settle the target."""

    @property
    def share(self) -> float:
        """The share of these pairs that are settled."""
        found = self.pairs["settled"].mean()
        return float(found) if isinstance(found, float) else 1.0

    @property
    def done(self) -> bool:
        """Whether all are."""
        return bool(self.pairs["settled"].all())

    def __bool__(self) -> bool:
        """Whether the target is settled."""
        return self.done

    def __str__(self) -> str:
        count, of = int(self.pairs["settled"].sum()), len(self.pairs)
        sure = f"at {percent(self.confidence)} confidence, however often you look"
        if self.done:
            return f"Settled: {self.target}, {sure}."
        if self.groups > 1:
            return f"Not settled: {self.target}. {connect_first(self.groups)}"
        open_pairs = self.pairs.filter(~pl.col("settled")).sort(pl.col("gap").abs())
        closest = open_pairs.row(0, named=True)
        found = (
            f"Not settled: {self.target}. {count:,} of {counted(of, 'pair')} are, {sure}; the "
            f"closest are {closest['item']} and {closest['other']}."
        )
        return " ".join((found, *self.beyond_votes()))

    def beyond_votes(self) -> Iterator[str]:
        """What is said of a pair that more votes of this kind do not settle, if there is one."""
        still_open = self.pairs.filter(~pl.col("settled"))
        if self.groups == 1 and len(still_open) and still_open["agreed"].all():
            first = still_open.row(0, named=True)
            yield (
                f"As long as votes hardly ever contradict that {first['item']} is above "
                f"{first['other']}, they do not say by how much, and this stays open: go by ranks "
                "and tiers."
            )

    def __repr__(self) -> str:
        return f"Settled({self})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>{html_table(self.pairs.head(20))}"


def settled_by(ranking: Ranking, target: object) -> Settled:
    """What `Ranking.settled` does."""
    labels = ranking.votes.items.to_list()
    asked = target_of(target, labels)
    beliefs = beliefs_about(ranking.basis, [])
    order = np.argsort(-beliefs.mean, kind="stable")
    one, other = deciding_pairs(asked, order)
    gaps = Gaps.between(beliefs, one, other)
    allowed = allowed_each(asked, beliefs, 1.0 - ranking.fit.confidence)
    half = half_width(gaps.information, allowed) if allowed > 0.0 else np.full(len(one), np.inf)
    group = group_of(ranking)
    apart = group[one] != group[other]
    half = np.where(apart, np.inf, half)
    names = ranking.votes.items
    pairs = pl.DataFrame(
        {
            "item": names.gather(one),
            "other": names.gather(other),
            "gap": pl.Series(np.where(apart, np.nan, gaps.estimate)).fill_nan(None),
            "low": gaps.estimate - half,
            "high": gaps.estimate + half,
            "settled": np.abs(gaps.estimate) > half,
            "agreed": ~apart & (_chances(beliefs, one, other) > AGREED),
        }
    )
    return Settled(asked.words, ranking.fit.confidence, pairs, groups_to_connect(asked, group))


def group_of(ranking: Ranking) -> Codes:
    """Of each item, by code, the group that votes connect it with."""
    if not ranking.groups:
        return np.zeros(ranking.votes.n_items, dtype=np.int64)
    return connection(ranking.votes).group.astype(np.int64)


def groups_to_connect(target: Target, group: Codes) -> int:
    """How many groups the votes fall into, if more than one of them decides; else 1.

    All are counted: the questions that come first connect all.
    """
    is_order_of_some = target.kind == "items" and len(target.items) > 1
    deciding = group[list(target.items)] if is_order_of_some else group
    return len(np.unique(group)) if len(np.unique(deciding)) > 1 else 1


def connect_first(groups: int) -> str:
    """What is to be done before votes can settle anything."""
    return (
        f"{groups:,} groups of items were never compared with each other, not even through "
        f"others, so nobody can say yet how many votes it takes. "
        f"{counted(groups - 1, 'question')} would connect them: 'juryrank next' "
        "(ranking.next_pairs) asks such questions first."
    )


def _chances(beliefs: Beliefs, one: Codes, other: Codes) -> Floats:
    """That a judge of average accuracy prefers the one to the other."""
    items, at = np.unique(np.concatenate((one, other)), return_inverse=True)
    score, half = beliefs.scores(items), len(one)
    chances = [
        beliefs.noise.cdf(score[i] - score[j]).mean()
        for i, j in zip(at[:half].tolist(), at[half:].tolist(), strict=True)
    ]
    return np.array(chances)


def deciding_pairs(target: Target, order: Codes) -> tuple[Codes, Codes]:
    """The pairs whose order decides on a target, the one ranked higher first."""
    if target.kind == "top":
        best, rest = order[: target.best], order[target.best :]
        most = max(1, MOST_PAIRS // max(1, min(target.best, len(rest))))
        best, rest = best[-most:], rest[:most]
        return np.repeat(best, len(rest)), np.tile(rest, len(best))
    if target.kind == "items":
        rank = np.argsort(order)
        chosen = np.array(target.items)
        if len(chosen) > 1:
            chosen = chosen[np.argsort(rank[chosen])]
            first, second = np.triu_indices(len(chosen), 1)
            return chosen[first], chosen[second]
        above = order[: rank[chosen[0]]][-MOST_PAIRS // 2 :]
        below = order[rank[chosen[0]] + 1 :][: MOST_PAIRS // 2]
        own = np.full(len(above) + len(below), chosen[0])
        return (
            np.concatenate((above, own[: len(below)])),
            np.concatenate((own[: len(above)], below)),
        )
    return order[:-1], order[1:]


def allowed_each(target: Target, beliefs: Beliefs, allowed: float) -> float:
    """The chance of an error that each pair may have.

    Which pairs decide depends on the votes, so all pairs count that ever might; and the chance
    that the whole ranking is upside down counts once.
    """
    n = len(beliefs.mean)
    pairs = n * (n - 1) // 2
    if target.kind == "items":
        several = len(target.items)
        pairs = several * (several - 1) // 2 if several > 1 else n - 1
    return (allowed - beliefs.posterior.upside_down) / pairs


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps between items as the votes alone know them."""

    estimate: Floats
    information: Floats

    @classmethod
    def between(cls, beliefs: Beliefs, one: Codes, other: Codes) -> Gaps:
        """From the posterior, the prior taken off.

        As the prior's mean is 0, ``gap / v`` is the votes' own estimate times its information.
        """
        gap = beliefs.mean[one] - beliefs.mean[other]
        variance = beliefs.gap_variances(one, other)
        known = likelihood_information(variance, 2.0 * beliefs.prior_variance)
        return cls(gap / (variance * known), known)
