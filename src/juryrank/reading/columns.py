"""Which column is what, and so what shape the votes have: told by the header, or by the user."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from juryrank.errors import InputError, listing
from juryrank.hints import NEAR, SHORTEST_PART, did_you_mean_all, likeness
from juryrank.reading.bookkeeping import says_bookkeeping
from juryrank.reading.headers import shared_name
from juryrank.reading.names import (
    MODELS_LOST,
    MODELS_WON,
    NAMES,
    known_names,
    last_part,
    plain,
    rank_of,
    side_pairs,
    without_scale,
)

SIDES_SHAPE, WINS_SHAPE = ("left", "right", "outcome"), ("winner", "loser")
_MEANING = {
    "judge": "the judge",
    "left": "the left item",
    "right": "the right item",
    "winner": "the winner",
    "loser": "the loser",
    "outcome": "the outcome",
    "choice": "the choice",
    "weight": "the weight",
    "tie": "whether it is a tie",
    "ranking": "the ranking",
    "options": "the set of options",
    "item": "the item",
    "position": "the position",
    "rating": "the rating",
    "id": "the ranking an item's row belongs to",
}
_KEYWORDS = {"outcome": "winner", "choice": "winner", "id": "ranking"}
"""How the user names a role, where the word is not the role's own."""

NAMELESS = "''"
"""How a column without a name is called: so that it can be given as an option."""
MOST_COLUMNS = 60
"""So many columns are named in a complaint: the one that was meant should be among them."""
_OTHER_SIDE = {"left": "right", "right": "left"}
_OTHER_NUMBER = {"left": 0, "right": 2}
"""The number that another column has if one that is numbered 1 is not this side."""
_SURE_RANKS = ("rank", "ordinal")
"""Names of ranks that cannot be the two or more items of another shape."""


@dataclass(frozen=True)
class PairColumns:
    """Two items and who won; without an outcome, left is the winner."""

    left: str
    right: str
    outcome: str | None
    judge: str | None
    weight: str | None
    tie: str | None = None
    """Whether the two are tied, whatever else is said of who won."""
    said: str | None = None
    """What is said of who won and of ties together; it is not a column of the file."""

    @property
    def words(self) -> str | None:
        """The column with a word for each outcome, if left is not always the winner."""
        return self.said or self.outcome

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        sides = _there(self.judge, self.left, self.right, self.outcome, self.weight)
        return [*sides, *_there(self.tie, self.said)]


@dataclass(frozen=True)
class RankingColumns:
    """A whole ranking in each cell, and perhaps the set of items it is from."""

    ranking: str
    options: str | None
    judge: str | None
    weight: str | None
    unread: str | None = None
    """Where there is no ranking because a line could not be read: that line."""

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, self.ranking, self.options, self.weight, self.unread)


@dataclass(frozen=True)
class ChoiceColumns:
    """A set of items, and which of them was chosen."""

    options: str
    choice: str
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, self.options, self.choice, self.weight)


@dataclass(frozen=True)
class LongColumns:
    """One row per item: a ranking is all rows of one judge, one id, or both."""

    item: str
    position: str
    id: str | None
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, self.id, self.item, self.position, self.weight)


@dataclass(frozen=True)
class WideColumns:
    """One column per rank, from the best down, and perhaps the set of items."""

    ranks: tuple[str, ...]
    options: str | None
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, *self.ranks, self.options, self.weight)


@dataclass(frozen=True)
class RatingColumns:
    """One rating of an item per row; those of one judge, in one context, can be compared."""

    item: str
    rating: str
    id: str | None
    """The context: what the items were rated for."""
    judge: str | None
    weight: None = None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, self.id, self.item, self.rating)


Columns = PairColumns | RankingColumns | ChoiceColumns | LongColumns | WideColumns | RatingColumns


def _there(*names: str | None) -> list[str]:
    return [name for name in names if name is not None]


@dataclass(frozen=True)
class _Shape:
    """A way to write votes: the columns it needs, and those it may have beside judge and weight.

    The first column that a shape needs is the one that tells it from others.
    """

    what: str
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()
    has_ranks: bool = False

    def takes(self, given: Mapping[str, str]) -> bool:
        """Whether it has a role for every column the user has named."""
        known = {_keyword(role) for role in (*self.needs, *self.may, "judge", "weight")}
        return known.issuperset(given)

    def takes_all(self, roles: Iterable[str]) -> bool:
        """Whether it knows each of these roles."""
        return set(roles) <= {*self.needs, *self.may, "judge", "weight"}

    def lacks(self, found: _Header) -> list[str]:
        """What it needs and the header does not have."""
        return [role for role in self.needs if not found.matches(role)]

    def fits(self, found: _Header) -> bool:
        """Whether everything it needs is there."""
        return not self.lacks(found) and (not self.has_ranks or bool(found.rows_of_ranks()))


_BY_SIDES = _Shape("pairs", SIDES_SHAPE, ("tie",))
_BY_WINS = _Shape("pairs", WINS_SHAPE, ("tie",))
_LONG = _Shape("one row per item", ("position", "item"), ("id",))
_RATED = _Shape("ratings", ("rating", "item"), ("id",))
_CHOICES = _Shape("choices from a set", ("options", "choice"))
_RANKED = _Shape("a column of rankings", ("ranking",), ("options",))
_WIDE = _Shape("one column per rank", (), ("options",), has_ranks=True)


_SHAPES = (_BY_SIDES, _BY_WINS, _LONG, _RATED, _CHOICES, _RANKED, _WIDE)


def choose(
    source: str,
    names: Sequence[str],
    asked: Mapping[str, str | None],
    hints: Mapping[str, Sequence[str]],
    ways_out: Callable[[Sequence[str]], str] = lambda _: "",
    lists: Collection[str] = (),
) -> Columns:
    """Decide which columns hold what.

    Args:
        source: The name of the file, for complaints.
        names: The header.
        asked: The user's own choice for some of judge, winner, loser, left, right, ranking,
            options, item, position, tie and weight.
        hints: The columns of which is known what they hold, by role, if the user does not say.
        ways_out: Says how the columns may be named, if their names do not tell; it is given the
            roles that are missing.
        lists: The columns that hold lists, which are not suggested for what is one name.
    """
    wanted = {role: name for role, name in asked.items() if name is not None}
    found_for = {
        role: _found_column(source, names, name, _MEANING[role]) for role, name in wanted.items()
    }
    given = {role: name for role, name in found_for.items() if name is not None}
    if len(given) < len(wanted):
        raise _not_there(
            source, names, {role: wanted[role] for role in wanted if role not in given}
        )
    _check_given(given)
    found = _Header(source, names, given, hints, lists=lists)
    if not any(shape.takes(given) and shape.fits(found) for shape in _SHAPES):
        found = replace(found, any_sides=True)
    shape = _shape(found, given)
    missing = shape.lacks(found)
    if missing:
        raise _missing(found, shape, missing, ways_out(missing))
    roles = {role: found.column(role) for role in (*shape.needs, *shape.may, "judge", "weight")}
    _check_distinct({_keyword(role): name for role, name in roles.items() if name is not None})
    return _columns(shape, roles, found)


def fits_some_shape(names: Sequence[str], hints: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a header is that of votes, so that no other reading need be tried."""
    found = _Header("", names, {}, hints, any_sides=True)
    return any(shape.takes_all(hints) and shape.fits(found) for shape in _SHAPES)


def sides_in(names: Sequence[str], asked: Mapping[str, str | None]) -> tuple[str, str] | None:
    """Find the columns of the left and the right item, if there is one of each."""
    given = {side: name for side in ("left", "right") if (name := asked[side]) in names and name}
    found = _Header("", names, given, {}, any_sides=True)
    sides = [name for side in ("left", "right") for name in found.matches(side)]
    return (sides[0], sides[1]) if len(set(sides)) == len(sides) == 2 else None


def _columns(shape: _Shape, roles: Mapping[str, str | None], found: _Header) -> Columns:
    judge, weight, options = roles["judge"], roles["weight"], roles.get("options")
    needed = [str(roles[role]) for role in shape.needs]
    if shape is _LONG:
        return LongColumns(needed[1], needed[0], roles["id"], judge, weight)
    if shape is _RATED:
        if weight is not None and weight in found.given.values():
            raise InputError("Ratings have no weights: leave the weight column out.")
        return RatingColumns(needed[1], needed[0], roles["id"], judge)
    if shape is _CHOICES:
        return ChoiceColumns(needed[0], needed[1], judge, weight)
    if shape is _RANKED:
        return RankingColumns(needed[0], options, judge, weight)
    if shape is _WIDE:
        return WideColumns(found.ranks(), options, judge, weight)
    left, right, *outcome = needed
    return PairColumns(left, right, outcome[0] if outcome else None, judge, weight, roles["tie"])


@dataclass(frozen=True)
class _Header:
    source: str
    names: Sequence[str]
    given: Mapping[str, str]
    hints: Mapping[str, Sequence[str]]
    any_sides: bool = False
    """Whether two columns are taken for the items if only left and right tell their names apart."""

    lists: Collection[str] = ()
    """The columns that hold lists."""

    def matches(self, role: str) -> list[str]:
        """Find the columns that may hold something, only the best of them."""
        # In a file of sides, the winner the user names is the outcome.
        asked = self.given.get(_keyword(role))
        if asked is not None:
            return [asked]
        if role in self.hints:
            return list(self.hints[role])
        for tier in NAMES[role]:
            if tier in (MODELS_WON, MODELS_LOST) and not self._has_both_models():
                continue
            found = self._named(tier)
            if role in _OTHER_NUMBER:
                found = [name for name in found if not self._is_other_side(name, role)]
            if found:
                return [role] if role in found else found
        return self._side(role) if self.any_sides and role in _OTHER_SIDE else []

    def _side(self, role: str) -> list[str]:
        """Find the columns of a side; that of the other one, if it is given, says which."""
        other = self.given.get(_OTHER_SIDE[role])
        ways = [pair if role == "left" else pair[::-1] for pair in self._side_pairs]
        return [own for own, others in ways if other is None or others == other]

    @cached_property
    def _side_pairs(self) -> list[tuple[str, str]]:
        return side_pairs(self.names)

    def _named(self, tier: Sequence[str]) -> list[str]:
        """Find the columns of these names that the user has not given, in the file's order."""
        called = self._numbers.keys() & set(tier)
        numbers = sorted(number for name in called for number in self._numbers[name])
        taken = self.given.values()
        return [name for number in numbers if (name := self.names[number]) not in taken]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The columns that are called the same in the file, in plain spelling."""
        known = frozenset(self.names)
        numbers: dict[str, list[int]] = {}
        for number, name in enumerate(self.names):
            called = plain(without_scale(last_part(shared_name(name, known)))).removeprefix("_")
            numbers.setdefault(called, []).append(number)
        return numbers

    def _has_both_models(self) -> bool:
        """Whether the models of both texts are known, so that they are the items."""
        known = self._plain_spellings
        return not (known.isdisjoint(MODELS_WON) or known.isdisjoint(MODELS_LOST))

    def _is_other_side(self, name: str, role: str) -> bool:
        """Whether a side is numbered 1, and another 0 (so it is the right one) or 2 (the left)."""
        stem = plain(name).removesuffix("_1")
        return stem != plain(name) and f"{stem}_{_OTHER_NUMBER[role]}" in self._plain_spellings

    @cached_property
    def _plain_spellings(self) -> frozenset[str]:
        return frozenset(map(plain, self.names))

    def column(self, role: str) -> str | None:
        """Give the column that holds something, if any."""
        found = self.matches(role)
        if len(found) > 1:
            keyword = _keyword(role)
            raise InputError(
                f"{self.source} has {len(found)} columns that may be {_MEANING[role]}: "
                f"{', '.join(found)}. Choose one, for example with --{keyword} "
                f"{shlex.quote(found[0])} ({keyword}={found[0]!r})."
            )
        return found[0] if found else None

    def ranks(self) -> tuple[str, ...]:
        """Give the columns of the first rank, the second and so on."""
        found = self.rows_of_ranks()
        if len(found) > 1:
            raise InputError(
                f"{self.source} has several rows of ranks: "
                f"{'; '.join(', '.join(columns) for columns in found)}. Remove all but one."
            )
        return found[0]

    def rows_of_ranks(self) -> list[tuple[str, ...]]:
        """Find columns of the first rank, the second and so on, for each way to name them."""
        families: dict[tuple[str, str], dict[int, str]] = {}
        for name in self.names:
            question, kind, number = rank_of(name)
            if number and name not in self.given.values():
                families.setdefault((question, kind), {}).setdefault(number, name)
        return [
            tuple(columns[number] for number in sorted(columns))
            for (question, kind), columns in families.items()
            if sorted(columns) == list(range(1, len(columns) + 1))
            and len(columns) >= 2
            and (question or kind in _SURE_RANKS or self._may_be_ranks(len(columns)))
        ]

    def _may_be_ranks(self, count: int) -> bool:
        """Whether columns such as choice_1 are ranks, and not items to be chosen from."""
        return count >= 3 and not self.matches("outcome")


def _shape(found: _Header, given: Mapping[str, str]) -> _Shape:
    """Choose the shape: pairs if they are complete, else the one other shape that is."""
    able = [shape for shape in _SHAPES if shape.takes(given) and shape.takes_all(found.hints)]
    if not able:
        said = ", ".join(f"{role}={name!r}" for role, name in given.items())
        raise InputError(
            f"No kind of vote has all these columns: {said}. Votes have left, right and winner; "
            "winner and loser; ranking, with or without options; options and winner; item, "
            "position and ranking; or item, rating and ranking."
        )
    fitting = [shape for shape in able if shape.fits(found)]
    if fitting and fitting[0] in (_BY_SIDES, _BY_WINS):
        return fitting[0]
    if _RATED in fitting and len(fitting) > 1 and not {"rating"} & {*given, *found.hints}:
        fitting.remove(_RATED)  # scores may be noted beside any other kind of vote
    if {_LONG, _RATED} & set(fitting) and _RANKED in fitting:
        fitting.remove(_RANKED)  # there it is the ranking's id
    if "ranking" in given and _RANKED in fitting:
        return _RANKED
    if len(fitting) > 1:
        raise _several(found, fitting)
    return fitting[0] if fitting else _nearest(found, able)


def _nearest(found: _Header, able: Sequence[_Shape]) -> _Shape:
    """Choose the shape that lacks least, to complain about what it lacks; pairs if in doubt."""
    pairs = _BY_SIDES, _BY_WINS
    begun = [
        shape for shape in able if shape in pairs or (shape.needs and found.matches(shape.needs[0]))
    ]
    # Of the pairs the second is the simpler one, so that it goes first where both lack as much.
    begun.sort(
        key=lambda shape: (
            len(shape.lacks(found)),
            len(shape.lacks(found)) - len(shape.needs),
            shape not in pairs,
            shape is _BY_SIDES,
        )
    )
    if begun:
        return begun[0]
    return next(shape for shape in able if shape.needs)


def _several(found: _Header, shapes: Sequence[_Shape]) -> InputError:
    ways = []
    for shape in shapes:
        columns = [str(found.matches(role)[0]) for role in shape.needs] or found.ranks()
        ways.append(f"{shape.what} ({', '.join(columns)})")
    advice = {
        _LONG: "--item and --position for one row per item",
        _CHOICES: "--winner for choices",
        _RANKED: "--ranking for a column of rankings",
    }
    options = "; ".join(advice[shape] for shape in shapes if shape in advice)
    return InputError(
        f"{found.source} may be read in {len(shapes)} ways: as {' or as '.join(ways)}. Name the "
        f"columns that count ({options}), or remove the others."
    )


def _keyword(role: str) -> str:
    return _KEYWORDS.get(role, role)


def column_named(source: str, names: Sequence[str], wanted: str, meaning: str) -> str:
    """Find the column that the user means; complain, with those that are near, if there is none."""
    found = _found_column(source, names, wanted, meaning)
    if found is None:
        raise InputError(
            f"{source} has no column {wanted!r}, asked for as {meaning}. "
            f"Columns found: {columns_found(names)}.{did_you_mean_all([wanted], names)}"
        )
    return found


def _found_column(source: str, names: Sequence[str], wanted: str, meaning: str) -> str | None:
    """Find the column that the user means; None if there is none."""
    if wanted in names:
        return wanted
    alike = [name for name in names if plain(name) == plain(wanted)]
    if len(alike) == 1:
        return alike[0]
    known = frozenset(names)
    doubled = [name for name in names if shared_name(name, known) == wanted]
    if doubled:
        raise InputError(
            f"{source} has {len(doubled)} columns named {wanted!r}. Say which is {meaning}, "
            f"in their order: {', '.join(map(repr, doubled))}."
        )
    return None


def _not_there(source: str, names: Sequence[str], wanted: Mapping[str, str]) -> InputError:
    """Complain about all columns that the user names and the header does not have."""
    cases = " or ".join(f"{name!r}, asked for as {_MEANING[role]}" for role, name in wanted.items())
    return InputError(
        f"{source} has no column {cases}. Columns found: {columns_found(names)}."
        f"{did_you_mean_all(list(wanted.values()), names)}"
    )


def columns_found(names: Sequence[str]) -> str:
    """Name the columns of a file; of very many, those first whose names say that they may count."""
    if len(names) <= MOST_COLUMNS:
        return listing([name or NAMELESS for name in names], MOST_COLUMNS)
    known = set().union(*(known_names(role) for role in NAMES))
    telling = {name for name in names if (_words(name) | {plain(name)}) & known}
    return listing(sorted(names, key=lambda name: name not in telling), MOST_COLUMNS)


def _check_distinct(column_of: Mapping[str, str]) -> None:
    if len(set(column_of.values())) < len(column_of):
        said = ", ".join(f"{keyword}={name!r}" for keyword, name in column_of.items())
        raise InputError(f"One column cannot be two things: {said}.")


def _check_given(given: Mapping[str, str]) -> None:
    _check_distinct(given)
    if "loser" in given and ("left" in given or "right" in given):
        raise InputError("Name a loser, or a left and a right item, but not both.")


def _missing(found: _Header, shape: _Shape, roles: Sequence[str], ways_out: str) -> InputError:
    names = found.names
    what = [_MEANING[role] for role in roles]
    named = what[0] if len(what) == 1 else f"{', '.join(what[:-1])} and {what[-1]}"
    taken = {name for role in shape.needs if role not in roles for name in found.matches(role)}
    free = [name for name in names if name not in taken]
    near = {
        role: found_near
        for role in roles
        if (found_near := _near([n for n in free if _may_hold(n, role, found.lists)], role))
    }
    if list(roles) == list(shape.needs) and not near and not found.given:
        hints = [*_about_header(names, ways_out), ways_out]
        return InputError(
            f"The columns of {found.source} do not tell how to read it. Columns found: "
            f"{columns_found(names)}. {' '.join(hints)}".rstrip()
        )
    hints = [_if_that_is_it(role, near_names) for role, near_names in near.items()]
    rest = [_keyword(role) for role in roles if role not in near]
    if rest:
        options = " ".join(f"--{keyword} COLUMN" for keyword in rest)
        also = ", or the two items with --left COLUMN --right COLUMN" if rest == ["loser"] else ""
        hints.append(f"If other columns hold it, name them: {options}{also}.")
    hints += [*_about_header(names, ways_out), *([ways_out] if rest else [])]
    return InputError(
        f"{found.source} has no column for {named}. Columns found: {columns_found(names)}. "
        f"{' '.join(hints)}".rstrip()
    )


def _may_hold(name: str, role: str, lists: Collection[str]) -> bool:
    return role in ("ranking", "options") or name not in lists


def _if_that_is_it(role: str, near: Sequence[str]) -> str:
    keyword, first = _keyword(role), near[0]
    others = "".join(f" or --{keyword} {shlex.quote(name)}" for name in near[1:])
    return (
        f"{listing([repr(name) for name in near])} {'is' if len(near) == 1 else 'are'} close to "
        f"{_MEANING[role]}: if that is it, say --{keyword} {shlex.quote(first)}{others} "
        f"({keyword}={first!r})."
    )


def _about_header(names: Sequence[str], ways_out: str) -> Iterator[str]:
    """Say what may be wrong with the header itself, unless the way out is to mend it."""
    if "header" in ways_out:
        return
    known = frozenset(names)
    doubled = {shared_name(name, known) for name in names} - known
    for name in sorted(doubled):
        yield (
            f"Columns named {name!r} are told apart by their number: --left '{name} (1)' --right "
            f"'{name} (2)' takes the first as the left item and the second as the right one."
        )
    unnamed = sum(not name.strip() or name.startswith("(unnamed") for name in names)
    if 2 * unnamed >= len(names):
        yield (
            "The header has to be the first line: remove what is above it; if it has two lines, "
            "make it one."
        )
    elif unnamed:
        yield (
            f"{unnamed:,} of {len(names):,} columns have no name: if the header has two lines, "
            "make it one."
        )


MOST_NEAR, LONGEST_NEAR = MOST_COLUMNS, 60
"""Columns that are compared with known names, and characters of theirs."""


def _near(names: Sequence[str], role: str) -> list[str]:
    """Find the columns whose names are nearly one of those that a role is known by."""
    known = known_names(role)
    others = set().union(*(known_names(other) for other in NAMES)) - known
    scores = {
        name: _nearness(name, role)
        for name in names[:MOST_NEAR]
        if len(name) <= LONGEST_NEAR and plain(name) not in others and not says_bookkeeping(name)
    }
    best = max(scores.values(), default=0.0)
    return [name for name in scores if scores[name] == best] if best >= NEAR else []


@lru_cache(maxsize=4_096)  # files of one tool have the same columns
def _nearness(name: str, role: str) -> float:
    """How near a column's name is to any of those known: above 1 if it has one of them in it.

    So has a nested name if its last part has: ``judgment.verdict`` may well be the verdict.
    """
    known, whole = known_names(role), plain(name)
    for spelling in (plain(name.rsplit(".", 1)[-1]), whole):
        if _words(spelling) & known:
            return 1.0 + max(likeness(spelling, other) for other in known)
    return max(likeness(whole, other, at_least=NEAR) for other in known)


def _words(name: str) -> set[str]:
    """The words of a name that say something: ``human_winner`` may well be the winner."""
    return {word for word in plain(name).split("_") if len(word) > SHORTEST_PART}
