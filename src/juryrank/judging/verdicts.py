"""A word for every judge, and the reason for it.

Words describe votes, not motives, and are read off the posterior of the accuracies and tastes that
are shown beside them. A bad one is given

- to judges of whom at most 5 % are expected not to deserve it (`discoveries`);
- only to judges who have voted on five items or more;
- never to more than a third of the judges: then opinions split, and nobody is odd.

That votes lean to one side (`position`), that they are exact copies or all on one item
(`juryrank.judging.accounts`), does not rest on what other judges think, and is always said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from juryrank.errors import counted, number
from juryrank.inference.posterior import half_width
from juryrank.inference.ranks_and_tiers import FALSE_DISCOVERIES, discoveries
from juryrank.inference.tastes import Orders, OutlyingTaste
from juryrank.judging.accounts import Voice
from juryrank.judging.cells import NOBODY, OneSided
from juryrank.judging.consistency import Consistency, consistencies_of
from juryrank.judging.position import Positions, position_biased, position_reason
from juryrank.judging.verdict_words import APART_FROM_OTHERS, DISAGREEING, VERDICTS, Verdict
from juryrank.model.registry import Model
from juryrank.text import WIDEST_NAME, short
from juryrank.types import Floats
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import Votes

RELIABLE = 0.5
"""A reliable judge is surely more accurate than this share of the average judge."""
LEAST_ITEMS = 5
"""Of a judge who has voted on fewer, nothing bad is said."""
MOST_ODD = 1.0 / 3.0
"""If more judges than this share differ from the others, opinions split."""
LEAST_OWN = 2.0
"""Own errors from 0 that a judge's accuracy must be away for its own votes to tell much of it."""
LEAST_TYPICAL = 0.05
"""How far above one half the average reliability must be to compare with it."""
MANY_PERFECT = 100.0
"""So many votes in line with the order, or its reverse, are as good as any number."""


class Said(NamedTuple):
    """What is said of a judge."""

    verdict: Verdict
    reason: str
    camp: str = ""
    """What judges who differ from the others in this way have in common."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Accuracies and how sure they are."""

    value: Floats
    low: Floats
    high: Floats
    sd: Floats
    """NaN where an accuracy has no finite estimate."""
    own_sd: Floats
    """What the error would be if the judge's votes were all that is known."""
    backwards: Floats
    """The chance that an accuracy is below 0,"""
    weak: Floats
    """and below `RELIABLE`."""


def normal_standing(value: Floats, sd: Floats, own_sd: Floats, confidence: float) -> Standing:
    """How sure accuracies with such standard errors are."""
    half = half_width(confidence) * sd
    with np.errstate(invalid="ignore", divide="ignore"):
        backwards, weak = (
            scipy.special.ndtr(-value / sd),
            scipy.special.ndtr((RELIABLE - value) / sd),
        )
    return Standing(value, value - half, value + half, sd, own_sd, backwards, weak)


@dataclass(frozen=True, eq=False)
class Observed:
    """What was noticed of the judges beside their accuracies."""

    tastes: tuple[OutlyingTaste, ...] = ()
    orders: Orders | None = None
    one_sided: OneSided = NOBODY
    """Judges whose votes on an item were set aside."""
    voices: tuple[Voice, ...] = ()
    orientation_in_doubt: bool = False
    """Whether so many judges disagree that the ranking may be upside down."""
    lean: Positions | None = None


def judge_columns(
    votes: Votes, model: Model, own: Standing | None, observed: Observed, confidence: float
) -> dict[str, pl.Series]:
    """What is known of the judges beyond their accuracies, by code; nulls where nothing is."""
    empty = pl.Series([None] * votes.n_judges, dtype=pl.Float64)
    no_word = pl.Series([None] * votes.n_judges, dtype=pl.String)
    if own is None or np.isnan(own.sd).all():
        return {
            "accuracy_low": empty, "accuracy_high": empty, "verdict": no_word, "reason": no_word,
        }  # fmt: skip
    said = verdicts(votes, _standing(votes, model, own, confidence), observed)
    scale = model.judge_scale
    return {
        "accuracy_low": _or_null(np.maximum(own.low, scale.lowest)),
        "accuracy_high": _or_null(np.minimum(own.high, scale.highest)),
        "verdict": pl.Series([one.verdict for one in said], dtype=pl.String),
        "reason": pl.Series([one.reason for one in said], dtype=pl.String),
    }


def _or_null(values: Floats) -> pl.Series:
    return pl.Series(np.where(np.isfinite(values), values, np.nan), nan_to_null=True)


def by_attention(judges: pl.DataFrame) -> pl.DataFrame:
    """Sort judges by what needs attention, and then by votes."""
    rank = pl.col("verdict").replace_strict(VERDICTS, range(len(VERDICTS)), default=len(VERDICTS))
    return judges.sort(rank, -pl.col("votes"), maintain_order=True)


def _standing(votes: Votes, model: Model, own: Standing, confidence: float) -> Standing:
    """Accuracies with a guesser at 0 and the average judge at 1, all of them finite."""
    if not model.judge_scale.is_gauged:
        guessing = model.judge_scale.guessing
        typical = float(np.average(own.value, weights=votes.votes_per_judge)) - guessing
        unit = max(typical, LEAST_TYPICAL)
        value, sd, own_sd = (own.value - guessing) / unit, own.sd / unit, own.own_sd / unit
        return normal_standing(value, sd, own_sd, confidence)
    held = np.isnan(own.sd)
    if not held.any():
        return own
    sd = own.sd.copy()
    sd[held] = _sd_of_perfect(votes.votes_per_judge[held], own.value[held])
    return normal_standing(own.value, sd, np.where(held, sd, own.own_sd), confidence)


def _sd_of_perfect(votes: Floats, value: Floats) -> Floats:
    """An error for judges without a finite accuracy: all votes follow the order, or its reverse.

    A guesser does so with a chance of ``2^-votes``.
    """
    far = -scipy.special.ndtri(0.5 ** np.clip(votes, 1.0, MANY_PERFECT))
    found = np.divide(np.abs(value), far, out=np.full(len(value), np.inf), where=far > 0.0)
    return np.asarray(found)


# --- the verdicts --------------------------------------------------------------------------------


def verdicts(votes: Votes, standing: Standing, observed: Observed) -> list[Said]:
    """What is said of each judge, by code.

    The standing is such that a guesser has 0 and the average judge 1.
    """
    said = _by_accuracy(votes, standing)
    if observed.orders is not None:
        said = _with_own_orders(said, observed.orders)
    lean = observed.lean
    if lean is not None:
        for u in np.flatnonzero(position_biased(lean)).tolist():
            said[u] = Said("position-biased", position_reason(lean, u))
    for u, one in (*_of_one_voice(votes, observed.voices), *_one_sided(votes, observed)):
        said[u] = one
    said = _without_the_unknown(votes, said)
    if observed.orientation_in_doubt:
        return [one if one.verdict in APART_FROM_OTHERS else WITHHELD for one in said]
    if sum(one.verdict in DISAGREEING for one in said) > MOST_ODD * len(said):
        return [_split(one) for one in said]
    return said


def discovered(false: Floats, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """As many of the candidates as possible, at most 5 % of whom are expected to be false."""
    found = np.zeros(len(false), dtype=np.bool_)
    among = np.flatnonzero(candidates)
    found[among[discoveries(false[among])]] = True
    return found


def _by_accuracy(votes: Votes, standing: Standing) -> list[Said]:
    """What the accuracies say."""
    low, high = standing.low, standing.high
    backwards = discovered(1.0 - standing.backwards, high < 0.0)
    near_0 = (low > -1.0) & (low <= 0.0) & (high >= 0.0) & (high < 1.0)
    weak = discovered(1.0 - standing.weak, near_0)
    untold = ~(np.abs(standing.value) >= LEAST_OWN * standing.own_sd)
    choices: list[tuple[NDArray[np.bool_], Said]] = [
        (backwards, Said("backwards", "votes against the order", "votes against the order")),
        (high < 0.0, Said("too few votes to tell", "seems to vote against the order")),
        (weak, GUESSING),
        (low <= 0.0, Said("too few votes to tell", "could be guessing")),
        (untold, Said("too few votes to tell", "taken to be like the others")),
        (low < RELIABLE, Said("ordinary", "follows the order")),
    ]
    chosen = np.select([mask for mask, _ in choices], range(len(choices)), len(choices))
    known = [*(one for _, one in choices), Said("reliable", "follows the order well")]
    said = [known[kind] for kind in chosen.tolist()]
    for u, own in consistencies_of(votes, weak).items():
        said[u] = _weak(own)
    return said


HARDLY = "hardly follows the order"
FOLLOWING: tuple[Verdict, ...] = ("ordinary", "reliable")
OWN_VIEWS = "sees several items quite differently"
MOST_SIDES = 2
"""Items that a one-sided judge sees quite differently; one with more has another opinion."""
OWN_ORDER = f"{HARDLY}, but agrees with itself"
GUESSING = Said("guessing", HARDLY, HARDLY)


def _weak(own: Consistency) -> Said:
    """What is said of a judge who hardly follows the order, by how far it agrees with itself."""
    if own.is_consistent:
        return Said("of another opinion", f"{OWN_ORDER}: {own}", OWN_ORDER)
    if own.is_inconsistent:
        return Said("inconsistent", f"{HARDLY} and contradicts itself: {own}", HARDLY)
    return GUESSING


def _with_own_orders(said: list[Said], orders: Orders) -> list[Said]:
    """The same, but for judges who agree with themselves, and perhaps not with the others."""
    said = list(said)
    follows = np.array([said[u].verdict in FOLLOWING for u in orders.judge.tolist()])
    surely = discovered(1.0 - orders.own, follows & (orders.own > 0.5))
    perhaps = follows & (orders.own > FALSE_DISCOVERIES)
    for k in np.flatnonzero(perhaps).tolist():
        said[orders.judge[k]] = Said("too few votes to tell", "may have an order of its own")
    for k in np.flatnonzero(surely).tolist():
        reason = (
            f"{OWN_ORDER}: its opinions have a correlation of {orders.correlation[k]:.2f} "
            f"({orders.low[k]:.2f} to {orders.high[k]:.2f}) with the scores"
        )
        said[orders.judge[k]] = Said("of another opinion", reason, OWN_ORDER)
    return said


def _one_sided(votes: Votes, observed: Observed) -> Iterable[tuple[int, Said]]:
    """Judges who see an item quite differently, the clearest of each last."""
    count = Counter(taste.judge for taste in observed.tastes)
    for taste in reversed(observed.tastes):
        yield taste.judge, _of_taste(votes.items, taste, count[taste.judge])
    found = observed.one_sided
    for index, u in reversed(list(enumerate(found.judge.tolist()))):
        camp = _camp(votes.items, int(found.item[index]), float(found.z[index]))
        yield u, Said("one-sided", _set_aside_reason(votes.items, found, index), camp)


def _of_taste(items: pl.Series, taste: OutlyingTaste, count: int) -> Said:
    """What is said of a judge who sees so many items quite differently, and this one most."""
    reason = _taste_reason(items, taste)
    if count <= MOST_SIDES:
        return Said("one-sided", reason, _camp(items, taste.item, taste.median))
    reason = f"{OWN_VIEWS}: {reason}, and on {count - 1} more"
    return Said("of another opinion", reason, OWN_VIEWS)


def _camp(items: pl.Series, item: int, taste: float) -> str:
    name = short(items[item], WIDEST_NAME)
    return f"rates {name} {'higher' if taste > 0.0 else 'lower'} than the others do"


def _taste_reason(items: pl.Series, taste: OutlyingTaste) -> str:
    item = short(items[taste.item], WIDEST_NAME)
    return (
        f"differs from the others on {item} by {taste.median:+.1f} ({taste.low:+.1f} to "
        f"{taste.high:+.1f}), in {counted(round(taste.votes, 1), 'vote')}"
    )


def _set_aside_reason(items: pl.Series, found: OneSided, index: int) -> str:
    """What a judge did for, or to, one item."""
    item = short(items[int(found.item[index])], WIDEST_NAME)
    won, votes, expected = found.won[index], found.votes[index], found.expected[index]
    for_or_against = "for" if won > expected else "against"
    times = won if won > expected else votes - won
    usual = expected if won > expected else votes - expected
    halves = "" if times == int(times) else " (ties: halves)"
    return (
        f"voted {for_or_against} {item} in {number(round(float(times), 1))} of "
        f"{counted(round(float(votes), 1), 'vote')}{halves}, where {usual:,.0f} would be usual"
    )


def _without_the_unknown(votes: Votes, said: list[Said]) -> list[Said]:
    """Nothing bad of judges who have voted on very few items."""
    asked = np.array([one.verdict in DISAGREEING for one in said], dtype=np.bool_)
    own: Own = {"asked": asked, "items": np.zeros(len(said), dtype=np.int64)}
    for _ in votes.over_shards(_ItemsSeenPass(), own):
        pass
    for u in np.flatnonzero(asked & (own["items"] < LEAST_ITEMS)).tolist():
        said[u] = TOO_FEW_ITEMS
    return said


TOO_FEW_ITEMS = Said(
    "too few votes to tell", "differs from the others, but has voted on too few items"
)


@dataclass(frozen=True, eq=False)
class _ItemsSeenPass(Pass[Votes, None]):
    """On how many items judges have voted."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Who is asked about."""
        return ("asked",)

    @property
    def writes(self) -> tuple[str, ...]:
        """How many; of judges who are not asked about, anything."""
        return ("items",)

    def __call__(self, here: Votes, _first: int, _last: int, own: Own) -> None:
        """Judge by judge."""
        for u in np.flatnonzero(own["asked"]).tolist():
            own["items"][u] = _items_seen(here, u)


def _items_seen(votes: Votes, judge: int) -> int:
    """How many items a judge has voted on."""
    own, lists = slice(votes.start[judge], votes.start[judge + 1]), votes.lists
    listed = slice(lists.begin[lists.start[judge]], lists.begin[lists.start[judge + 1]])
    return len(np.unique(np.concatenate((votes.winner[own], votes.loser[own], lists.item[listed]))))


COPY: Verdict = "copy"
SINGLE_ITEM: Verdict = "single-item"
WITHHELD = Said("withheld", "which end of the ranking is up is in doubt")


def _split(one: Said) -> Said:
    """What is said of a judge where so many differ that nobody is odd."""
    return Said("opinions split", one.camp) if one.verdict in DISAGREEING else one


def _of_one_voice(votes: Votes, voices: Sequence[Voice]) -> Iterable[tuple[int, Said]]:
    """Accounts that count as one judge."""
    for voice in voices:
        many = counted(len(voice.judges) - 1, "other account")
        if voice.item is None:
            word, what = COPY, f"casts exactly the same votes as {many}"
        else:
            item = short(votes.items[voice.item], WIDEST_NAME)
            word, what = SINGLE_ITEM, f"only ever votes on {item}, as do {many}"
        for u in voice.judges.tolist():
            yield u, Said(word, f"{what}: they count as one judge")
