"""`Plan`: how many more votes a target needs, as far as one can know before they are cast.

The policy is run forward on the posterior's covariance, as if its questions were answered (what is
left of the variances does not depend on the answers). That gives the information about each gap
after so many votes, which then grows as it did in the second half of the run, until no question is
left: judges can take so many, and none gets a pair twice unless that is allowed. That accurate
judges are used up before others is seen in the run alone. A draw of the scores is taken for the
truth: its gaps say what information they need to be settled, and the largest number of votes over
the gaps that decide on the target is what that draw needs. Quartiles over the draws are told.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from juryrank.active.asked import asked_by_votes
from juryrank.active.batch import Batch
from juryrank.active.beliefs import NEW, Beliefs, beliefs_about
from juryrank.active.candidates import candidates
from juryrank.active.gain import Outlook, outlook
from juryrank.active.people import Judges, costs_of, who_can_be_asked
from juryrank.active.rules import Limits, Rules, question_keys
from juryrank.active.sequence import information_for, likelihood_information
from juryrank.active.settled import Settled, allowed_each, connect_first, settled_by
from juryrank.active.targets import Target, target_of
from juryrank.errors import InputError, counted, listing, percent
from juryrank.inference.opinions import Codes
from juryrank.ranking.ranking import Ranking
from juryrank.threads import one_blas_thread
from juryrank.types import Floats
from juryrank.votes.votes import Votes
from juryrank.writing.html_table import html_table

MOST = 10_000
RUN = 160
"""Votes that the policy is run forward."""
EVERY = 8
"""Votes after which the information is noted."""
MOST_PAIRS = 800
"""Gaps that are followed."""
QUARTILES = (0.25, 0.5, 0.75)
SHOWN = 10
EVEN = (0.1, 0.9)
"""The chance that one item is above another, between which they look equal,"""
ENOUGH = 1.0
"""if the information about the gap is at least this (a standard error of 1)."""
SLOWEST = 1e-6
"""The slowest growth of information for each vote."""


@dataclass(frozen=True, eq=False)
class Plan:
    """How many more votes a target needs: quartiles, and None beyond `most`."""

    target: str
    confidence: float
    most: int
    settled: bool
    """Whether it is settled now."""
    votes_low: int | None
    votes_median: int | None
    votes_high: int | None
    reachable: float | None
    """The chance that `most` votes suffice; None before all groups are connected."""
    unsettled: pl.DataFrame
    """Pairs that may still be open after `most` votes: item, other and the chance of that, which
    is null for items of two groups that no vote connects."""
    cost_per_vote: float | None
    """Of the questions that the policy would ask, by the mean; None if no cost was given."""
    repeats: bool
    """Whether a judge may be asked about a pair again."""
    questions_left: int | None = None
    """How many questions can be asked at all, where these are fewer than `most`."""
    cost_of_one: tuple[Any, ...] = ()
    """Judges whose cost was not given, though that of others was: a question costs 1."""
    look_equal: bool = False
    """Whether the items of the first unsettled pair are known well enough to look equal."""
    beyond_votes: str = ""
    """What is said of a pair that more votes of this kind do not settle, if there is one."""
    groups: int = 1
    """How many groups of items are to be connected before anything can be planned."""

    @property
    def price(self) -> tuple[float | None, float | None, float | None]:
        """What that many votes cost."""
        votes = (self.votes_low, self.votes_median, self.votes_high)
        cost = self.cost_per_vote
        return tuple(None if v is None or cost is None else v * cost for v in votes)  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        low, median, high = self.price
        return {
            "target": self.target,
            "confidence": self.confidence,
            "most": self.most,
            "settled": self.settled,
            "votes_low": self.votes_low,
            "votes_median": self.votes_median,
            "votes_high": self.votes_high,
            "reachable": self.reachable,
            "price_low": low,
            "price_median": median,
            "price_high": high,
            "repeats": self.repeats,
            "look_equal": self.look_equal,
            "beyond_votes": self.beyond_votes,
            "questions_left": self.questions_left,
            "cost_of_one": list(self.cost_of_one),
            "groups": self.groups,
            "unsettled": self.unsettled.to_dicts(),
        }

    def __str__(self) -> str:
        sure = f"at {percent(self.confidence)} confidence, however often you look"
        if self.settled:
            return f"Settled: {self.target}, {sure}."
        if self.groups > 1:
            return f"Not settled: {self.target}. {connect_first(self.groups)}"
        if self.beyond_votes:
            return f"Not settled: {self.target}, {sure}. {self.beyond_votes}"
        if self.questions_left == 0:
            return (
                f"No question is left to ask: {self.target}, {sure}, is not settled.{self._why()}"
            )
        if self.votes_median is None:
            return (
                f"Unlikely to be settled within {self._limit}: {self.target}, {sure}.{self._why()}"
            )
        low, median, high = (
            f"over {self._within:,}" if votes is None else f"{votes:,}"
            for votes in (self.votes_low, self.votes_median, self.votes_high)
        )
        price = self.price[1]
        money = "" if price is None else f", at a cost of about {price:,.2f}"
        found = f"About {median} more votes ({low} to {high}) settle {self.target}{money}, {sure}."
        return found + self._about_costs()

    @property
    def _within(self) -> int:
        return self.most if self.questions_left is None else self.questions_left

    @property
    def _limit(self) -> str:
        if self.questions_left is None:
            return counted(self.most, "vote")
        left = self.questions_left
        return f"the {counted(left, 'question')} that {'is' if left == 1 else 'are'} left"

    def _why(self) -> str:
        if self.questions_left is not None:
            again = " juryrank plan --repeats (repeats=True) asks judges about a pair again."
            return "" if self.repeats else again
        if not len(self.unsettled):
            return ""
        first = self.unsettled.row(0, named=True)
        what = "look equal" if self.look_equal else "are the closest"
        return f" {first['item']} and {first['other']} {what}."

    def _about_costs(self) -> str:
        if not self.cost_of_one:
            return ""
        return f" A question to {listing(list(self.cost_of_one))}, without a cost, counts as 1."

    def __repr__(self) -> str:
        return f"Plan({self})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>{html_table(self.unsettled)}"


def plan_of(
    ranking: Ranking,
    target: object,
    cost: Mapping[Any, float] | float | None,
    judges: Judges,
    most: int,
    repeats: bool | None,
) -> Plan:
    """What `Ranking.plan` does."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(f"most={most!r} must be a number of votes, at least 1.")
    votes = ranking.votes
    asked = target_of(target, votes.items.to_list())
    known = votes.judges.to_list()
    names, capacity, usual = who_can_be_asked(
        None, known if judges is None else judges, votes.judges
    )
    price = costs_of(cost, names, votes.judges)
    code = {judge: at for at, judge in enumerate(known)}
    beliefs = beliefs_about(ranking.basis, [code.get(judge, NEW) for judge in names])
    costs = np.array([price.get(judge, own) for judge, own in zip(names, usual, strict=True)])
    rules = _rules(votes, beliefs, np.array(capacity, dtype=np.int64), costs, repeats)
    left = rules.most()
    within = most if left is None else min(left, most)
    now = settled_by(ranking, target)
    if now.groups > 1:
        return _before_groups_are_connected(now, most, rules)
    allowed = allowed_each(asked, beliefs, 1.0 - ranking.fit.confidence)
    with one_blas_thread():
        found = _needed(beliefs, asked, rules, allowed, within)
    low, median, high = (
        None if votes > within else round(votes)
        for votes in np.quantile(found.votes, QUARTILES, method="inverted_cdf").tolist()
    )
    unsettled = pl.DataFrame(
        {
            "item": votes.items.gather(found.one),
            "other": votes.items.gather(found.other),
            "chance": found.beyond,
        }
    )
    return Plan(
        asked.words, ranking.fit.confidence, most, bool(now) and allowed > 0.0, low, median, high,
        float((found.votes <= within).mean()),
        unsettled.filter(pl.col("chance") > 0.0).head(SHOWN),
        None if cost is None else found.cost,
        rules.limits.repeats,
        None if within == most else within,
        tuple(judge for judge in names if cost is not None and judge not in price),
        _look_equal(beliefs, found.one[:1], found.other[:1]),
        " ".join(now.beyond_votes()),
    )  # fmt: skip


def _before_groups_are_connected(now: Settled, most: int, rules: Rules) -> Plan:
    """What can be said where a target is about items that no vote connects: what comes first."""
    apart = now.pairs.filter(pl.col("gap").is_null()).head(SHOWN)
    unsettled = apart.select("item", "other", pl.lit(None, dtype=pl.Float64).alias("chance"))
    return Plan(
        now.target, now.confidence, most, settled=False, votes_low=None, votes_median=None,
        votes_high=None, reachable=None, unsettled=unsettled, cost_per_vote=None,
        repeats=rules.limits.repeats, groups=now.groups,
    )  # fmt: skip


def _look_equal(beliefs: Beliefs, one: Codes, other: Codes) -> bool:
    """Whether two items are known well, and either may be above the other."""
    score = beliefs.scores(np.concatenate((one, other)))
    known = likelihood_information(beliefs.gap_variances(one, other), 2.0 * beliefs.prior_variance)
    above = float((score[0] > score[1]).mean())
    return EVEN[0] < above < EVEN[1] and float(known[0]) >= ENOUGH


def _rules(
    votes: Votes, beliefs: Beliefs, capacity: Codes, costs: Floats, repeats: bool | None
) -> Rules:
    """What may be asked; pairs again if that is not said and the votes have pairs again."""
    n = beliefs.n_items
    seen = asked_by_votes(votes, beliefs.judge_code)
    keys = np.sort(question_keys(n, seen.judge, seen.one, seen.other))
    again = bool((keys[1:] == keys[:-1]).any()) if repeats is None else repeats
    limits = Limits(np.ones(n, dtype=np.bool_), capacity, costs, repeats=again)
    nothing = np.zeros(n, dtype=np.int64)
    closed = np.empty(0, dtype=np.int64) if again else np.unique(keys)
    return Rules(limits, closed, nothing, nothing.copy())


class _Needed(NamedTuple):
    votes: Floats
    """In each draw."""
    one: Codes
    other: Codes
    beyond: Floats
    """The chance that the gap between them is still open after the most votes, largest first."""
    cost: float


def _needed(beliefs: Beliefs, target: Target, rules: Rules, allowed: float, most: int) -> _Needed:
    one, other = _pairs(beliefs, target)
    items, at = np.unique(np.concatenate((one, other)), return_inverse=True)
    score = beliefs.scores(items)
    gap = score[at[: len(one)]] - score[at[len(one) :]]
    steps, information, cost = _run(beliefs, target, rules, gap)
    needed = _decides(target, beliefs, items, at, score, gap)
    votes = np.full(gap.shape, np.inf)
    if allowed > 0.0:
        wanted = information_for(np.abs(gap), allowed)
        votes = np.array([_votes_for(wanted[c], steps, information[:, c]) for c in range(len(gap))])
    votes = np.where(needed, votes, 0.0)
    beyond = (votes > most).mean(axis=1)
    order = np.argsort(-beyond, kind="stable")
    mean = beliefs.mean[one] >= beliefs.mean[other]
    higher, lower = np.where(mean, one, other), np.where(mean, other, one)
    return _Needed(votes.max(axis=0), higher[order], lower[order], beyond[order], cost)


def _pairs(beliefs: Beliefs, target: Target) -> tuple[Codes, Codes]:
    """The gaps to follow: the closest of those that may decide."""
    n = len(beliefs.mean)
    order = np.argsort(-beliefs.mean, kind="stable")
    if target.kind == "items":
        chosen = np.array(target.items)
        if len(chosen) > 1:
            first, second = np.triu_indices(len(chosen), 1)
            return chosen[first], chosen[second]
        others = order[order != chosen[0]]
        one, other = np.full(len(others), chosen[0]), others
    else:
        near = order
        if n * (n - 1) // 2 > MOST_PAIRS:
            half = int(np.sqrt(MOST_PAIRS))
            edge = target.best if target.kind == "top" else n // 2
            near = order[max(0, edge - half) : edge + half] if target.kind == "top" else order
        first, second = np.triu_indices(min(len(near), 2_000), 1)
        one, other = near[first], near[second]
    z = np.abs(beliefs.mean[one] - beliefs.mean[other])
    z /= np.sqrt(beliefs.variance[one] + beliefs.variance[other])
    kept = np.sort(np.argsort(z, kind="stable")[:MOST_PAIRS])
    return one[kept], other[kept]


def _decides(
    target: Target, beliefs: Beliefs, items: Codes, at: Codes, score: Floats, gap: Floats
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """In each draw, which gaps decide: pairs x draws."""
    if target.kind != "top":
        return np.ones(gap.shape, dtype=np.bool_)
    rest = np.setdiff1d(np.arange(len(beliefs.mean)), items)
    surely = int((beliefs.mean[rest] > beliefs.mean[items].mean()).sum())
    is_best = (-score).argsort(axis=0).argsort(axis=0) < target.best - surely
    half = len(gap)
    return np.asarray(is_best[at[:half]] != is_best[at[half:]])


def _run(
    beliefs: Beliefs, target: Target, rules: Rules, gap: Floats
) -> tuple[Floats, Floats, float]:
    """Run the policy: after how many votes there is what information about each gap."""
    rng = np.random.default_rng(0)
    everything, costs = np.arange(len(beliefs.mean)), rules.limits.cost
    among = candidates(beliefs, rules, target.focus(beliefs, everything), RUN, rng)
    seen = outlook(beliefs, among, target.events(beliefs, everything))
    followed = (gap - gap.mean(axis=1, keepdims=True)) / np.sqrt(beliefs.count)
    batch = Batch(_with_gaps(seen, followed))
    prior = 2.0 * beliefs.prior_variance
    steps, known, spent = [0], [likelihood_information(batch.variance[len(among) :], prior)], 0.0
    is_open, left = np.ones(len(among), dtype=np.bool_), rules.limits.capacity.copy()
    for step in range(1, RUN + 1):
        if not is_open.any():
            break
        worth = np.where(is_open, batch.gains[: len(among)] / costs[among.judge], -1.0)
        best = int(np.argmax(worth))
        judge = int(among.judge[best])
        is_open[best] = False
        left[judge] -= 1
        if not left[judge]:
            is_open[among.judge == judge] = False
        spent += float(costs[judge])
        batch.answer(best)
        if step % EVERY == 0 or not is_open.any():
            steps.append(step)
            known.append(likelihood_information(batch.variance[len(among) :], prior))
    mean = spent / steps[-1] if steps[-1] else float(costs.mean())
    return np.array(steps, dtype=np.float64), np.array(known), mean


def _with_gaps(seen: Outlook, followed: Floats) -> Outlook:
    """The questions, and after them gaps that nobody asks about."""
    nothing = np.zeros(len(followed))
    return Outlook(
        np.concatenate((seen.gain, nothing)),
        np.concatenate((seen.deviation, followed)),
        np.concatenate((seen.weight, nothing + 1.0)),
    )


def _votes_for(wanted: Floats, steps: Floats, known: Floats) -> Floats:
    """After how many votes a gap is known so well, in each draw."""
    middle = len(steps) // 2
    growth = (known[-1] - known[middle]) / max(steps[-1] - steps[middle], 1.0)
    within = np.interp(wanted, np.maximum.accumulate(known), steps)
    beyond = steps[-1] + (wanted - known[-1]) / max(float(growth), SLOWEST)
    return np.asarray(
        np.where(wanted <= known[0], 0.0, np.where(wanted <= known[-1], within, beyond))
    )
