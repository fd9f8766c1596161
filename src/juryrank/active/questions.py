"""`next_pairs`: which questions to ask next, and whom."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np
import polars as pl
import scipy

from juryrank.active.asked import Asked, People, asked_by_votes, asked_in, barred_in, judges_in
from juryrank.active.beliefs import ANYONE, NEW, Beliefs, Questions, beliefs_about
from juryrank.active.choice import Choice, Chooser, first_by_rules, with_gains
from juryrank.active.people import Judges, alike, all_items, who_can_be_asked
from juryrank.active.rules import NO_LIMIT, Limits, Rules, question_keys
from juryrank.active.targets import Target, target_of
from juryrank.errors import InputError, JuryrankWarning, counted, require_seed
from juryrank.hints import MOST_HINTS, did_you_mean
from juryrank.inference.opinions import Codes
from juryrank.ranking.rank import rank
from juryrank.ranking.ranking import Ranking
from juryrank.reading import as_votes
from juryrank.threads import one_blas_thread
from juryrank.votes.connectivity import connection
from juryrank.votes.similar_names import twins_among

RANDOM_SHARE = 0.15
LEAST_VIEWS = 2


class Wishes(TypedDict, total=False):
    """The keywords of `next_pairs`."""

    judge: object
    judges: Judges
    target: object
    pending: object
    barred: object
    items: Iterable[Any] | None
    retired: Iterable[Any] | None
    random_share: float
    least_views: int
    most_views: int | None
    repeats: bool
    seed: int


def next_pairs(votes_or_items: object, n: int, **wishes: Unpack[Wishes]) -> pl.DataFrame:
    """Choose the questions to ask next.

    Without votes, questions connect all items, balanced and in a random order. With votes, these
    are ranked by `rank` as it is, and `Ranking.next_pairs` chooses: it says what the keywords are.

    Args:
        votes_or_items: Votes, as `rank` takes them; or a list or Series of items, if there are no
            votes yet.
        n: How many questions.
        **wishes: The keywords of `Ranking.next_pairs`.

    Returns:
        A frame with the columns left, right, judge, gain, chosen and propensity.
    """
    _check_names_of(wishes)
    labels = _labels(votes_or_items)
    if labels is None:
        votes = as_votes(votes_or_items)
        if len(votes):
            return chosen_pairs(rank(votes), n, **wishes)
        labels = votes.items.to_list()
    items = [*labels, *(wishes.get("items") or ())]
    own: Wishes = {**wishes, "items": items}
    task = _Task.of(None, n, **own)
    return task.frame(task.first(None))


def chosen_pairs(ranking: Ranking, n: int, **wishes: Unpack[Wishes]) -> pl.DataFrame:
    """What `Ranking.next_pairs` does."""
    _check_names_of(wishes)
    task = _Task.of(ranking, n, **wishes)
    with one_blas_thread():
        return task.frame(task.choices())


def _check_names_of(wishes: Mapping[str, object]) -> None:
    for name in wishes:
        if name not in Wishes.__annotations__:
            hint = did_you_mean(name, Wishes.__annotations__)
            raise TypeError(f"next_pairs() got an unexpected keyword argument {name!r}.{hint}")


def _labels(given: object) -> list[Any] | None:
    """Items, if these are labels and not votes."""
    if isinstance(given, np.ndarray) and given.ndim == 1:
        return list(given.tolist())
    if isinstance(given, pl.Series):
        return given.to_list()
    is_list = isinstance(given, list | tuple | set | frozenset | range)
    if is_list and all(isinstance(one, str | int | float) for one in given):  # type: ignore[attr-defined]
        return sorted(given) if isinstance(given, set | frozenset) else list(given)  # type: ignore[call-overload]
    return None


@dataclass(frozen=True, eq=False)
class _Task:
    """What was asked for, checked."""

    ranking: Ranking | None
    wanted: int
    people: People
    n_who: int
    """How many of the judges, the first, can be asked."""
    limits: Limits
    shut: Questions
    asked: Asked
    target: Target
    random_share: float
    least_views: int
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        ranking: Ranking | None,
        n: int,
        *,
        judge: object = None,
        judges: Judges = None,
        target: object = "order",
        pending: object = None,
        barred: object = None,
        items: Iterable[Any] | None = None,
        retired: Iterable[Any] | None = None,
        random_share: float = RANDOM_SHARE,
        least_views: int = LEAST_VIEWS,
        most_views: int | None = None,
        repeats: bool = False,
        seed: int = 0,
    ) -> _Task:
        """Check and code it."""
        _check(n, random_share, least_views, most_views, seed)
        votes = None if ranking is None else ranking.votes
        voters = None if votes is None else votes.judges
        names, gone = all_items(None if votes is None else votes.items, items, retired)
        if len(names) - len(gone) < 2:
            raise InputError(
                "Questions are about two items, and there "
                + ("is only one." if len(names) - len(gone) else "are none.")
            )
        _warn_of_items_alike(names, 0 if votes is None else votes.n_items)
        who, capacity, cost = who_can_be_asked(judge, judges, voters)
        if voters is not None:
            _warn_of_names_alike(who, voters)
        others = [] if pending is None else judges_in(pending, who, voters)
        people = People(names, [*who, *others], [] if voters is None else voters.to_list())
        rows = len(people.judges)
        nothing = _no_questions()
        asked = Asked(nothing, nothing) if pending is None else asked_in(pending, people)
        shut, barred_items = (nothing, []) if barred is None else barred_in(barred, people)
        is_open = np.ones(len(names), dtype=np.bool_)
        is_retired = set(gone)
        is_open[[at for at, item in enumerate(names) if item in is_retired]] = False
        limits = Limits(
            is_open,
            np.array([*capacity, *[0] * (rows - len(who))], dtype=np.int64),
            np.array([*cost, *[1.0] * (rows - len(who))]),
            NO_LIMIT if most_views is None else most_views,
            repeats,
            _by_judge(barred_items, len(names)),
        )
        return cls(
            ranking, n, people, len(who), limits, shut[shut.judge >= 0], asked,
            target_of(target, names, gone), random_share, least_views, np.random.default_rng(seed),
        )  # fmt: skip

    # --- rules -----------------------------------------------------------------------------------

    def _seen(self) -> Questions:
        """The questions of the votes on pairs, of those who can be asked."""
        if self.ranking is None:
            return _no_questions()
        return asked_by_votes(self.ranking.votes, self.judge_code)

    @property
    def judge_code(self) -> Codes:
        """The codes of those who can be asked."""
        code = {None: ANYONE} | {judge: at for at, judge in enumerate(self.people.voters)}
        return np.array([code.get(judge, NEW) for judge in self.people.judges], dtype=np.int64)

    def rules(self) -> Rules:
        """With what has been asked until now."""
        n, seen, out = len(self.people.items), self._seen(), self.asked.out
        views, lean = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        if self.ranking is not None:
            votes = self.ranking.votes
            views[: votes.n_items] = votes.times_compared
            if votes.sides_known:
                left, right = votes.sides()
                lean += np.bincount(left, minlength=n) - np.bincount(right, minlength=n)
        for item, side in ((out.one, 1), (out.other, -1)):
            views += np.bincount(item, minlength=n)
            lean += side * np.bincount(item, minlength=n)
        asked = [_keys(n, questions) for questions in (seen, out)]
        forbidden = [_keys(n, self.shut), _keys(n, self.asked.skipped)]
        closed = np.unique(np.concatenate(forbidden if self.limits.repeats else asked + forbidden))
        rules = Rules(self.limits, closed, views, lean)
        if self.limits.repeats:
            for questions, keys in zip((seen, out), asked, strict=True):
                rules.last_left.update(zip(keys.tolist(), questions.one.tolist(), strict=True))
        return rules

    def group(self) -> Codes:
        """Of each item the group that votes and questions connect it with."""
        n, out = len(self.people.items), self.asked.out
        one, other = [out.one], [out.other]
        if self.ranking is not None:
            votes = self.ranking.votes
            found = np.zeros(votes.n_items, dtype=np.int64)
            if self.ranking.groups:
                found = connection(votes).group.astype(np.int64)
            first = np.unique(found, return_index=True)[1]
            one.append(np.arange(len(found)))
            other.append(first[found])
        ends = np.concatenate(one), np.concatenate(other)
        graph = scipy.sparse.coo_array((np.ones(len(ends[0])), ends), shape=(n, n))
        return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1])

    # --- the choice ------------------------------------------------------------------------------

    def first(self, rules: Rules | None, least_views: int | None = None) -> list[Choice]:
        """What comes first by the rules alone."""
        rules = rules or self.rules()
        return first_by_rules(rules, self.group(), least_views, self.wanted, self.rng)

    def choices(self) -> list[Choice]:
        """First by the rules, then by what is believed."""
        beliefs, rules = self.beliefs(), self.rules()
        first = with_gains(beliefs, self.first(rules, self.least_views))
        left = self.wanted - len(first)
        if not left:
            return first
        chooser = Chooser(beliefs, rules, self.target, self.random_share, self.rng)
        return [*first, *chooser.choices(self.asked.out, first, left)]

    def beliefs(self) -> Beliefs:
        """What the ranking believes of the items and judges."""
        assert self.ranking is not None  # noqa: S101
        new = len(self.people.items) - self.ranking.votes.n_items
        return beliefs_about(self.ranking.basis, self.judge_code.tolist(), new)

    def _in_force(self) -> Iterator[tuple[str, _Task]]:
        """What keeps questions from being asked, and the task without it."""
        limits = self.limits
        if not limits.repeats:
            yield (
                "all other pairs were asked before or are out (repeats=True, --repeats, asks a "
                "judge again)",
                replace(self, limits=replace(limits, repeats=True)),
            )
        if (limits.capacity[: self.n_who] < NO_LIMIT).any():
            free = limits.capacity.copy()
            free[: self.n_who] = NO_LIMIT
            yield (
                "the judges who can be asked can take no more questions (judges, --judges-can)",
                replace(self, limits=replace(limits, capacity=free)),
            )
        if limits.barred_items or len(self.shut):
            yield (
                "what judges may not see (barred, --barred) is in all others",
                replace(self, limits=replace(limits, barred_items={}), shut=_no_questions()),
            )
        if len(self.asked.skipped):
            yield (
                "judges skipped all others",
                replace(self, asked=self.asked._replace(skipped=_no_questions())),
            )
        if limits.most_views < NO_LIMIT:
            yield (
                f"items are in most_views={limits.most_views:,} (--most-views) questions already",
                replace(self, limits=replace(limits, most_views=NO_LIMIT)),
            )

    def _why_none(self) -> str:
        """What alone keeps all questions from being asked; if nothing does, all that may."""
        in_force = [*self._in_force()]
        alone = [said for said, without in in_force if without.rules().number()]
        return " or ".join(alone) if alone else "; ".join(said for said, _ in in_force)

    def frame(self, choices: Sequence[Choice]) -> pl.DataFrame:
        """Labels come back."""
        if not choices:
            raise InputError(f"There is no question left to ask: {self._why_none()}.")
        if len(choices) < self.wanted:
            warnings.warn(
                f"Only {counted(len(choices), 'question')} of {self.wanted:,} can be asked: "
                f"{'; '.join(said for said, _ in self._in_force())}.",
                JuryrankWarning,
                stacklevel=4,
            )
        items, judges = self.people.items, self.people.judges
        votes = None if self.ranking is None else self.ranking.votes
        dtype = None if votes is None else votes.items.dtype
        own = pl.String if votes is None else votes.judges.dtype
        who = [judges[one.judge] for one in choices]
        return pl.DataFrame(
            {
                "left": pl.Series([items[one.left] for one in choices], dtype=dtype),
                "right": pl.Series([items[one.right] for one in choices], dtype=dtype),
                "judge": pl.Series(who, dtype=own if votes or set(who) == {None} else None),
                "gain": pl.Series([one.gain for one in choices], dtype=pl.Float64),
                "chosen": pl.Series([one.chosen for one in choices], dtype=pl.String),
                "propensity": pl.Series([one.propensity for one in choices], dtype=pl.Float64),
            }
        )


def _warn_of_names_alike(who: Sequence[Any], voters: pl.Series) -> None:
    """A new judge with nearly the name of a known one may be a slip."""
    found = [
        f"The judge {new!r} has cast no vote, and is taken for a new one. Did you mean "
        f"{' or '.join(map(repr, near))}?"
        for new, near in alike(who, voters)
    ]
    if found:
        warnings.warn(" ".join(found[:MOST_HINTS]), JuryrankWarning, stacklevel=6)


def _warn_of_items_alike(items: Sequence[Any], known: int) -> None:
    """New items whose names look like those of others may be the same ones."""
    if not all(isinstance(item, str) for item in items):
        return
    twins = twins_among(pl.Series(items, dtype=pl.String))
    if twins is None:
        return
    groups = [twins.code[twins.look == look] for look in range(int(twins.look.max()) + 1)]
    alike = [[items[code] for code in group] for group in groups if group.max() >= known]
    if alike:
        said = "; ".join(" and ".join(map(repr, group)) for group in alike[:MOST_HINTS])
        rest = f"; and {len(alike) - MOST_HINTS:,} more" if len(alike) > MOST_HINTS else ""
        warnings.warn(
            f"Items whose names look the same count as different: {said}{rest}.",
            JuryrankWarning,
            stacklevel=6,
        )


def _check(
    n: object, random_share: object, least_views: object, most_views: object, seed: int
) -> None:
    if not _is_count(n) or n < 1:  # type: ignore[operator]
        raise InputError(f"n={n!r} must be how many questions are wanted, at least 1.")
    if not (isinstance(random_share, int | float) and 0.0 <= random_share <= 1.0):
        raise InputError(f"random_share={random_share!r} must lie between 0 and 1.")
    if not _is_count(least_views) or least_views < 0:  # type: ignore[operator]
        raise InputError(f"least_views={least_views!r} must be a whole number, 0 or more.")
    if most_views is not None and (not _is_count(most_views) or most_views < 1):  # type: ignore[operator]
        raise InputError(f"most_views={most_views!r} must be a whole number of at least 1.")
    require_seed(seed)


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _by_judge(barred: Sequence[tuple[int, int]], n_items: int) -> dict[int, np.ndarray[Any, Any]]:
    found: dict[int, np.ndarray[Any, Any]] = {}
    for judge, item in barred:
        if judge >= 0:
            found.setdefault(judge, np.zeros(n_items, dtype=np.bool_))[item] = True
    return found


def _no_questions() -> Questions:
    return Questions(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def _keys(n_items: int, questions: Questions) -> Codes:
    return question_keys(n_items, questions.judge, questions.one, questions.other)
