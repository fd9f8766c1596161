"""The answer in sentences that need no statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from juryrank.errors import counted, listing, percent
from juryrank.model.registry import model_named
from juryrank.ranking.cautions import LARGE_TASTE
from juryrank.text import WIDEST_NAME, short

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

MOST_NAMED = 4
MOST_TIERS = 1
MOST_LEADS = 3
MOST_TIES = 3
"""So many sizes of tied groups are named."""
SMALL_TASTE = 0.2
"""Of the spread of scores: smaller tastes are hardly any."""
WORTH_SAYING = 1.1
"""Intervals wider by this factor are worth a word."""
DOMINANT, MANY_TIMES = 0.3, 2.0
"""A judge with so large a share of the votes, and so many times the usual one, is worth a word."""
CLEAR = 0.9
"""With less confidence nothing is called clear."""
ALMOST_SURE = 0.99
"""With this chance an item is likely the best, even if others are in its tier."""
MOST_PLANNED = 100
"""Of more items it is not said how many more votes they need: that would take its time."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def lead(ranking: Ranking) -> list[str]:
    """Who leads, and who follows, in two sentences, by tiers and plausible ranks."""
    if ranking.groups:
        return list(_leads_of_groups(ranking))
    return _lead(ranking.items, ranking.fit.confidence)


def _leads_of_groups(ranking: Ranking) -> Iterator[str]:
    """Who leads in each group, where groups of items were never compared."""
    groups = ranking.groups
    yield f"{len(groups):,} groups of items were never compared: each is ranked by itself."
    for number, items in enumerate(groups[:MOST_LEADS], start=1):
        yield f"Group {number:,}: {' '.join(_lead(items, ranking.fit.confidence))}"
    if len(groups) > MOST_LEADS:
        yield f"In the tables: {counted(len(groups) - MOST_LEADS, 'more group')}."


def _lead(items: pl.DataFrame, confidence: float) -> list[str]:
    if items["tier"].is_null().all():
        return _without_intervals(items)
    if items["tier"].max() == 1:
        return ["No item is surely better than any other.", f"{_highest(items)}{_odds(items)}."]
    leaders, clearly = leading(items), _clearly(confidence)
    return [_leading(items, leaders, clearly), *_following(items, len(leaders), clearly)]


def _odds(items: pl.DataFrame) -> str:
    """How likely the first item is the best."""
    chance = float(items["p_best"][0])
    return f" and is the best with a chance of {chance_in_percent(chance)}"


def _clearly(confidence: float) -> str:
    """What may be said of an order that the intervals leave no doubt of."""
    return "clearly" if confidence >= CLEAR else "probably"


def _without_intervals(items: pl.DataFrame) -> list[str]:
    next_ones = _names(items.filter(pl.col("rank") > 1).head(MOST_NAMED - 1))
    then = f", then {conjunction(next_ones)}" if next_ones else ""
    return [
        f"{_highest(items)}{then}.",
        "This answer has no intervals, so it does not say how sure the order is.",
    ]


def _highest(items: pl.DataFrame) -> str:
    """Who has the highest score, or who share it."""
    first = _names(items.filter(pl.col("rank") == 1))
    if len(first) == 1:
        return f"{first[0]} has the highest score"
    if len(first) == len(items):
        return "All have the same score"
    return f"{some(first)} share the highest score"


def leading(items: pl.DataFrame) -> list[str]:
    """The items that may well be the best."""
    return _rivals(items, 0)


def _rivals(items: pl.DataFrame, index: int) -> list[str]:
    """The items from this index on that may well be the first of them."""
    rest = items.slice(index)
    may_be = [nth for nth, low in enumerate(rest["rank_low"], start=1) if low <= index + 1]
    return _names(rest.head(max(may_be, default=1)))


def is_sure(items: pl.DataFrame, index: int) -> bool:
    """Whether only one rank is plausible."""
    return bool(items["rank_low"][index] == items["rank_high"][index])


def _leading(items: pl.DataFrame, names: Sequence[str], clearly: str) -> str:
    if len(names) == 1:
        return f"{names[0]} {f'is {clearly} first' if is_sure(items, 0) else 'leads'}."
    if len(names) <= MOST_NAMED:
        chance = chance_in_percent(float(items["p_best"][0]))
        return (
            f"{conjunction(names)} lead; {names[0]} is the best of them with a chance of {chance}."
        )
    worst = items["rank_high"][0]
    others = f"{len(names) - 1:,} others ({listing(names[1:], MOST_NAMED)})"
    return (
        f"{names[0]} has the highest score and a plausible rank of 1 to {worst:,}; {others} may be "
        "as good."
    )


def _following(items: pl.DataFrame, index: int, clearly: str) -> Iterator[str]:
    """Those that come next and, if there are more, how many there are."""
    names = _rivals(items, index) if index < len(items) else []
    if not names:
        return
    if len(names) == 1:
        sure = f"is {clearly} {_ordinal(index)}" if is_sure(items, index) else "comes next"
        said = f"{names[0]} {sure}"
    elif len(names) <= MOST_NAMED:
        said = f"{conjunction(names)} come next, in an order that is not sure"
    else:
        said = f"{names[0]} comes next, and {len(names) - 1:,} others may be as good"
    below = len(items) - index - len(names)
    rest = f"; {counted(below, 'item')} {'is' if below == 1 else 'are'} below" if below else ""
    yield f"{said}{rest}."


def _ordinal(index: int) -> str:
    return ORDINALS[index] if index < len(ORDINALS) else f"number {index + 1:,}"


def _names(items: pl.DataFrame) -> list[str]:
    return [short(item, WIDEST_NAME) for item in items["item"]]


def conjunction(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def limits(ranking: Ranking) -> Iterator[str]:
    """What is not settled."""
    yield from _within_tiers(ranking)
    few = int((ranking.judges["verdict"] == "too few votes to tell").sum())
    if few:
        yield (
            f"How good {few:,} of {counted(len(ranking.judges), 'judge')} "
            f"{'is' if few == 1 else 'are'}: there are too few votes to tell guessing from care."
        )
    yield (
        "Whether these judges are right. The votes show where judges differ; what all of them get "
        "wrong in the same way looks like agreement."
    )


def tier_columns(items: pl.DataFrame) -> list[str]:
    """What tells tiers apart: their number, in a group if there are groups."""
    return [name for name in ("group", "tier") if name in items.columns]


def _within_tiers(ranking: Ranking) -> Iterator[str]:
    """Which items of a tier are better."""
    items, confidence = ranking.items, ranking.fit.confidence
    if items["tier"].is_null().all():
        return
    how_sure = "" if confidence >= CLEAR else f", even at {percent(confidence)} confidence"
    tiers = [_names(rows) for _, rows in items.group_by(tier_columns(items), maintain_order=True)]
    several = [names for names in tiers if len(names) > 1]
    # A single tier more is as soon named as counted.
    named = len(several) if len(several) <= MOST_TIERS + 1 else MOST_TIERS
    if several and several[0] == tiers[0] and (likely := likely_best(items)):
        chance = chance_in_percent(items["p_best"][0])
        yield (
            f"Whether {likely} is the best: that is likely ({chance}), but not sure where all "
            f"pairs are compared at once{how_sure}."
        )
        several, named = several[1:], named - 1
    for names in several[:named]:
        yield f"Which of {some(names)} is better{how_sure}."
    rest = several[named:]
    if rest:
        yield f"The order within {counted(len(rest), 'further tier')}{how_sure}."


def likely_best(items: pl.DataFrame) -> str | None:
    """The item that is almost surely the best, though not beside all pairs; None for none."""
    if "group" in items.columns or is_sure(items, 0):
        return None
    chance = items["p_best"][0]
    return _names(items.head(1))[0] if chance is not None and chance >= ALMOST_SURE else None


def some(names: Sequence[str]) -> str:
    """``a, b and c``, or of many ``a, b, c, d and 5 more``."""
    return conjunction(names) if len(names) <= MOST_NAMED else listing(names, MOST_NAMED)


def headline(ranking: Ranking) -> str:
    """What was ranked, and by how many."""
    items, judges = counted(len(ranking.items), "item"), counted(len(ranking.judges), "judge")
    return f"Ranking of {items} by {judges}"


def tiers_in_words(ranking: Ranking) -> Iterator[str]:
    """What ranks and tiers are adjusted for."""
    if ranking.items["tier"].is_null().all():
        return
    sure = percent(ranking.fit.confidence)
    yield f"Ranks and tiers hold jointly with {sure} confidence, each interval by itself."


def tastes_in_words(ranking: Ranking) -> Iterator[str]:
    """How large judges' tastes are, what they do to the intervals, and who decides a lot."""
    fit = ranking.fit
    if fit.taste_sd is None:
        return
    if fit.taste_sd < SMALL_TASTE * float(fit.prior[0] or 1.0 if fit.prior else 1.0):
        yield f"Judges hardly differ in taste (±{fit.taste_sd:.2g} on the scale of the scores)."
    else:
        wider = "" if fit.widening is None or fit.widening < WORTH_SAYING else (
            f": intervals are {fit.widening:.1f} times as wide as without them"
        )  # fmt: skip
        yield (
            f"Judges differ in taste: an item is worth ±{fit.taste_sd:.2f} more or less to a judge "
            f"than its score{wider}."
        )
    typical = 1.0 / len(ranking.judges)
    if (fit.largest_share or 0.0) >= max(DOMINANT, MANY_TIMES * typical):
        share = fit.largest_share
        yield (
            f"One judge cast {share:.0%} of the votes. Repeated votes on an item are one opinion, "
            "so they count for less than as many by several judges."
        )


def example(ranking: Ranking) -> str:
    """What the scores mean, by the example of the first two items."""
    first, second = ranking.items["item"][:2]
    share = chance_in_percent(float(ranking.predict(None, first, second)))
    which = "decided votes" if "tie" in ranking.effects["effect"] else "votes"
    one, other = (short(item, WIDEST_NAME) for item in (first, second))
    return f"A judge like these prefers {one} to {other} in {share} of {which}."


def chance_in_percent(chance: float) -> str:
    """Give a chance as people read it, never rounded to a certainty."""
    return "<1%" if chance < 0.01 else ">99%" if chance > 0.99 else f"{chance:.0%}"


def effects_in_words(ranking: Ranking) -> Iterator[str]:
    """What was found about ties and sides, for all judges and for those that differ most."""
    larger = []
    for row in ranking.effects.filter(ranking.effects["judge"].is_null()).iter_rows(named=True):
        name = row["effect"]
        if name == "tie":
            said = _ties_in_words(ranking, chance_in_percent(row["chance"]))
        elif name == "left side":
            share = chance_in_percent(row["chance"])
            said = f"The left one of two equal items wins {share} of decided votes"
        else:
            larger.append(f"{name} {row['value']:.3g}")
            continue
        yield f"{said} ({name} {row['value']:.3g}{_from_to(row)})."
    if larger:
        yield f"Larger groups are tied too ({listing(larger, MOST_TIES)})."
    single = ranking.effects.filter(ranking.effects["judge"].is_not_null())
    for (name,), rows in single.group_by("effect", maintain_order=True):
        ends = rows.sort("value")
        low, high = ends["value"][0], ends["value"][-1]
        lowest, highest = (short(ends["judge"][end], WIDEST_NAME) for end in (0, -1))
        yield f"By judge, {name}: from {low:.3g} ({lowest}) to {high:.3g} ({highest})."


def _ties_in_words(ranking: Ranking, share: str) -> str:
    """How often equal items are tied: equal to one judge, where judges differ far too much."""
    if (ranking.fit.taste_sd or 0.0) < LARGE_TASTE:
        return f"Two equal items are tied in {share} of votes"
    return f"Two items that one judge likes equally are tied in {share} of that judge's votes"


def _from_to(row: dict[str, Any]) -> str:
    return "" if row["low"] is None else f", {row['low']:.3g} to {row['high']:.3g}"


def scale_in_words(ranking: Ranking) -> Iterator[str]:
    """What points are, and where they start, if scores are told in points."""
    scale = ranking.scale
    if scale.name != "elo":
        return
    said = "Scores are points: 400 are odds of ten to one"
    if not ranking.noise.is_gumbel:
        said = "Scores are points that mean the same as Elo's near even odds"
    average = f"{scale.average:z.0f}"
    if scale.anchor is None:
        yield f"{said}, and the average item has {average}."
        return
    item, points = scale.anchor
    yield (
        f"{said}, and {short(item, WIDEST_NAME)} has {points:.10g}. Intervals are relative to the "
        f"average item, which has {average}."
    )


def best_item_is_sure(ranking: Ranking) -> bool:
    """Whether the ranking names one item as the best, at a confidence that is worth the word."""
    if ranking.groups or ranking.items["tier"].is_null().all():
        return False
    return is_sure(ranking.items, 0) and ranking.fit.confidence >= CLEAR


def no_votes_needed(ranking: Ranking) -> Iterator[str]:
    """That the best item is known, if it is; and if so, whether that holds at all looks."""
    if not best_item_is_sure(ranking):
        return
    if model_named(ranking.model).chooses_questions and (settled := ranking.settled("top:1")):
        yield str(settled)
        return
    best = short(ranking.items["item"][0], WIDEST_NAME)
    yield f"To name the best item, {best}, no more votes are needed."


def votes_needed(ranking: Ranking) -> Iterator[str]:
    """How many more votes settle the best item, unless it is sure, and the order of all items.

    Where that takes its time, only where to ask; of groups, how many questions connect them.
    """
    fit, model = ranking.fit, model_named(ranking.model)
    has_tiers = bool(ranking.items["tier"].is_not_null().all())
    if not model.chooses_questions or not has_tiers or not ranking.votes.is_here:
        return
    if ranking.groups:
        questions = counted(len(ranking.groups) - 1, "question")
        yield f"{questions} would connect the groups: 'juryrank next' asks such questions first."
        return
    if fit.posterior != "sampled" or not 2 <= len(ranking.items) <= MOST_PLANNED:
        yield "The command 'juryrank plan' says how many more votes a target needs."
        return
    if not best_item_is_sure(ranking):
        yield str(ranking.plan("top:1"))
    if len(ranking.items) > 2:  # else the best item is the order
        yield str(ranking.plan("order"))
