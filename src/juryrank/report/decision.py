"""What a decision needs: the tiers, the judges to look at, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from juryrank.errors import counted, listing, number
from juryrank.judging.verdict_words import NEEDS_ATTENTION, Verdict
from juryrank.judging.verdicts import by_attention
from juryrank.ranking.cautions import remarks_beside_verdicts
from juryrank.report.sentences import (
    WORTH_SAYING,
    leading,
    likely_best,
    no_votes_needed,
    some,
    tier_columns,
    votes_needed,
)
from juryrank.text import WIDEST_NAME, short

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

MOST_TIERS = 5
NAMED_IN_TIER = 8
REASONS_SHOWN = 4
"""Of each verdict."""
NAMED_TOGETHER = 10
SELDOM = 1.0 / 3.0
"""Items with less than this part of the usual number of comparisons are seldom shown."""
MANY = 1.0 / 3.0
"""If too little is known of more than this share of the judges, that is worth a step."""
ADVICE: dict[Verdict, str] = {
    "one-sided": "Look at their votes on this item.",
    "position-biased": "Show pairs in both orders, and rank with --order by-judge.",
    "backwards": "Look for swapped labels or a misread question.",
    "inconsistent": "Check whether the task was understood.",
    "guessing": "Check whether the task was understood.",
    "of another opinion": "Ask whether the question has two meanings.",
    "opinions split": "Rank the camps separately.",
    "copy": "Check whether a file was read twice, or one person has several accounts.",
    "single-item": "Find out where these accounts come from.",
}
"""What to do about the judges of whom this is said."""


@dataclass(frozen=True)
class Tier:
    """Items that cannot be told apart."""

    name: str
    size: int
    items: str


@dataclass(frozen=True)
class Concern:
    """A verdict that needs attention, what to do about it, and of whom it was said and why."""

    verdict: str
    count: int
    advice: str
    cases: list[tuple[str, str]]
    not_told: int


def tiers(items: pl.DataFrame) -> list[Tier]:
    """The tiers with their first items; the last of many tiers as one."""
    if items["tier"].is_null().any():
        return []
    found = [
        Tier(_name_of_tier(*key), len(rows), _named(rows["item"], NAMED_IN_TIER))
        for key, rows in items.group_by(tier_columns(items), maintain_order=True)
    ]
    rest = found[MOST_TIERS:]
    if len(rest) < 2:
        return found
    below = Tier(f"{len(rest):,} more tiers", sum(tier.size for tier in rest), "in the table")
    return [*found[:MOST_TIERS], below]


def _name_of_tier(*key: object) -> str:
    """By its number, after that of its group, if there are groups."""
    *group, tier = key
    return f"Group {group[0]}, tier {tier}" if group else f"Tier {tier}"


def concerns(judges: pl.DataFrame) -> list[Concern]:
    """The verdicts that need attention, the worst first."""
    worth = by_attention(judges.filter(pl.col("verdict").is_in(NEEDS_ATTENTION)))
    groups = dict(worth.group_by("verdict", maintain_order=True))
    return [
        _concern(verdict, groups[(verdict,)]) for verdict in NEEDS_ATTENTION if (verdict,) in groups
    ]


def _concern(verdict: Verdict, judges: pl.DataFrame) -> Concern:
    """Judges of whom the same is said are named together."""
    cases = [
        (_named(rows["judge"], NAMED_TOGETHER), str(reason))
        for (reason,), rows in judges.group_by("reason", maintain_order=True)
    ]
    return Concern(
        verdict,
        len(judges),
        ADVICE[verdict],
        cases[:REASONS_SHOWN],
        max(len(cases) - REASONS_SHOWN, 0),
    )


def other_warnings(ranking: Ranking) -> list[str]:
    """The warnings, but for those about judges of whom the page speaks anyway."""
    return remarks_beside_verdicts(ranking.warnings, ranking.judges, ranking.fit.set_aside)


def next_steps(ranking: Ranking) -> list[str]:
    """What would make the answer better."""
    steps = [
        *_step_about_direction(ranking.judges),
        *(_step_about_groups(ranking) if ranking.groups else _step_about_leaders(ranking)),
        *_step_about_votes(ranking),
        *_step_about_items(ranking),
        *_step_about_judges(ranking.judges),
    ]
    return steps or ["Nothing stands out: one item leads, and no judge needs attention."]


def _step_about_direction(judges: pl.DataFrame) -> Iterator[str]:
    if (judges["verdict"] == "withheld").any():
        yield (
            "Look at a few pairs of which you know the better item: the ranking may be upside down."
        )


def _step_about_groups(ranking: Ranking) -> Iterator[str]:
    first, second = (short(group["item"][0], WIDEST_NAME) for group in ranking.groups[:2])
    yield (
        f"Collect votes between the groups, such as {first} against {second}: until then nothing "
        "is known of how they compare."
    )


def _step_about_leaders(ranking: Ranking) -> Iterator[str]:
    items = ranking.items
    if items["tier"].is_null().all():
        yield "Rank with the default model and intervals: they say how sure the order is."
        return
    one_tier = items["tier"].n_unique() == 1
    count = len(items) if one_tier else len(leading(items))
    if count == 1:
        yield from no_votes_needed(ranking)
        return
    best = items["item"].head(count)
    pairs = ranking.pairs
    is_best = best.implode()
    among = pairs.filter(pl.col("item").is_in(is_best), pl.col("other").is_in(is_best))["votes"]
    by_others = ""
    if (ranking.fit.widening or 0.0) >= WORTH_SAYING:
        by_others = ", if possible by judges who have not seen them yet, since tastes differ"
    names = [short(item, WIDEST_NAME) for item in best]
    if likely := likely_best(items):
        yield (
            f"To make sure that {likely} is the best, collect votes on it and {some(names[1:])}"
            f"{by_others}. {'They' if count > 2 else 'The two'} have met in "
            f"{counted(float(among.sum()), 'comparison')} so far."
        )
        return
    which = "the items" if count == len(items) else some(names)
    yield (
        f"To tell which of {which} is the best, collect votes on them against each other"
        f"{by_others}. They have met in {counted(float(among.sum()), 'comparison')} so far."
    )


def _step_about_votes(ranking: Ranking) -> Iterator[str]:
    """How many more votes name the best item, and settle the whole order."""
    found = list(votes_needed(ranking))
    if found:
        chooses = "" if ranking.groups else " The command 'juryrank next' chooses what to ask."
        yield f"{' '.join(found)}{chooses}"


def _step_about_items(ranking: Ranking) -> Iterator[str]:
    compared, _ = ranking.tallies.records()
    usual = float(np.median(compared))
    seldom = np.flatnonzero(compared < SELDOM * usual)
    if len(seldom):
        names = _named(ranking.tallies.votes.items.gather(seldom), NAMED_IN_TIER)
        yield (
            f"Show {names} more often: compared at most {number(compared[seldom].max())} times, "
            f"where {number(usual)} is usual."
        )


def _step_about_judges(judges: pl.DataFrame) -> Iterator[str]:
    odd = int(judges["verdict"].is_in(NEEDS_ATTENTION).sum())
    if odd:
        who = "judge that needs" if odd == 1 else f"{odd:,} judges that need"
        yield (
            f"Look into the {who} attention; the command 'juryrank judges' shows how far ranks "
            "move without each."
        )
    unknown = int((judges["verdict"] == "too few votes to tell").sum())
    if unknown > MANY * len(judges):
        yield (
            f"Ask each judge for more votes: too little is known of {unknown:,} of "
            f"{len(judges):,} to say how accurate they are."
        )


def _named(names: pl.Series, most: int) -> str:
    return listing([short(name, WIDEST_NAME) for name in names], most)
