"""Which column is what, and so what shape the votes have: told by the header, or by the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from juryrank.errors import InputError, listing
from juryrank.hints import NEAR, SHORTEST_PART, did_you_mean, likeness
from juryrank.reading.names import NAMES, known_names, place_of, plain

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
    "ranking": "the ranking",
    "options": "the set of options",
    "item": "the item",
    "position": "the position",
    "id": "the ranking an item's row belongs to",
}
_KEYWORDS = {"outcome": "winner", "choice": "winner", "id": "ranking"}
"""How the user names a role, where the word is not the role's own."""

MOST_COLUMNS = 60
"""So many columns are named in a complaint: the one that was meant should be among them."""
_SURE_PLACES = ("rank", "ordinal")
"""Names of places that cannot be the two or more items of another shape."""


@dataclass(frozen=True)
class PairColumns:
    """Two items and who won; without an outcome, left is the winner."""

    left: str
    right: str
    outcome: str | None
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, self.left, self.right, self.outcome, self.weight)


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
    """One column per place, from the best down, and perhaps the set of items."""

    places: tuple[str, ...]
    options: str | None
    judge: str | None
    weight: str | None

    @property
    def used(self) -> list[str]:
        """The columns to be read."""
        return _there(self.judge, *self.places, self.options, self.weight)


Columns = PairColumns | RankingColumns | ChoiceColumns | LongColumns | WideColumns


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
    has_places: bool = False

    def takes(self, given: Mapping[str, str]) -> bool:
        """Whether it has a place for every column the user has named."""
        known = {_keyword(role) for role in (*self.needs, *self.may, "judge", "weight")}
        return known.issuperset(given)

    def takes_all(self, roles: Iterable[str]) -> bool:
        """Whether it has a place for each of these roles."""
        return set(roles) <= {*self.needs, *self.may, "judge", "weight"}

    def lacks(self, found: _Header) -> list[str]:
        """What it needs and the header does not have."""
        return [role for role in self.needs if not found.matches(role)]

    def fits(self, found: _Header) -> bool:
        """Whether everything it needs is there."""
        return not self.lacks(found) and (not self.has_places or bool(found.rows_of_places()))


_BY_SIDES = _Shape("pairs", SIDES_SHAPE)
_BY_WINS = _Shape("pairs", WINS_SHAPE)
_LONG = _Shape("one row per item", ("position", "item"), ("id",))
_CHOICES = _Shape("choices from a set", ("options", "choice"))
_RANKED = _Shape("a column of rankings", ("ranking",), ("options",))
_WIDE = _Shape("one column per place", (), ("options",), has_places=True)


def choose(
    source: str,
    names: Sequence[str],
    asked: Mapping[str, str | None],
    hints: Mapping[str, Sequence[str]],
) -> Columns:
    """Decide which columns hold what.

    Args:
        source: The name of the file, for complaints.
        names: The header.
        asked: The user's own choice for some of judge, winner, loser, left, right, ranking,
            options, item, position and weight.
        hints: The columns of which is known what they hold, by role, if the user does not say.
    """
    given = {
        role: _column_named(source, names, role, name)
        for role, name in asked.items()
        if name is not None
    }
    _check_given(given)
    found = _Header(source, names, given, hints)
    shape = _shape(found, given)
    missing = shape.lacks(found)
    if missing:
        raise _missing(source, names, missing)
    roles = {role: found.column(role) for role in (*shape.needs, *shape.may, "judge", "weight")}
    _check_distinct({_keyword(role): name for role, name in roles.items() if name is not None})
    columns = _columns(shape, roles, found)
    _check_not_doubled(source, names, columns.used)
    return columns


def _columns(shape: _Shape, roles: Mapping[str, str | None], found: _Header) -> Columns:
    judge, weight, options = roles["judge"], roles["weight"], roles.get("options")
    needed = [str(roles[role]) for role in shape.needs]
    if shape is _LONG:
        return LongColumns(needed[1], needed[0], roles["id"], judge, weight)
    if shape is _CHOICES:
        return ChoiceColumns(needed[0], needed[1], judge, weight)
    if shape is _RANKED:
        return RankingColumns(needed[0], options, judge, weight)
    if shape is _WIDE:
        return WideColumns(found.places(), options, judge, weight)
    left, right, *outcome = needed
    return PairColumns(left, right, outcome[0] if outcome else None, judge, weight)


@dataclass(frozen=True)
class _Header:
    source: str
    names: Sequence[str]
    given: Mapping[str, str]
    hints: Mapping[str, Sequence[str]]

    def matches(self, role: str) -> list[str]:
        """Find the columns that may hold something, only the best of them."""
        # In a file of sides, the winner the user names is the outcome.
        asked = self.given.get(_keyword(role))
        if asked is not None:
            return [asked]
        if role in self.hints:
            return list(self.hints[role])
        free = [name for name in self.names if name not in self.given.values()]
        for tier in NAMES[role]:
            found = [name for name in free if plain(name) in tier]
            if found:
                return [role] if role in found else found
        return []

    def column(self, role: str) -> str | None:
        """Give the column that holds something, if any."""
        found = self.matches(role)
        if len(found) > 1:
            keyword = _keyword(role)
            raise InputError(
                f"{self.source} has {len(found)} columns that may be {_MEANING[role]}: "
                f"{', '.join(found)}. Choose one, for example with --{keyword} {found[0]} "
                f"({keyword}={found[0]!r})."
            )
        return found[0] if found else None

    def places(self) -> tuple[str, ...]:
        """Give the columns of the first place, the second and so on."""
        found = self.rows_of_places()
        if len(found) > 1:
            raise InputError(
                f"{self.source} has several rows of places: "
                f"{'; '.join(', '.join(columns) for columns in found)}. Remove all but one."
            )
        return found[0]

    def rows_of_places(self) -> list[tuple[str, ...]]:
        """Find columns of the first place, the second and so on, for each way to name them."""
        families: dict[str, dict[int, str]] = {}
        for name in self.names:
            family, number = place_of(name)
            if number and name not in self.given.values():
                families.setdefault(family, {}).setdefault(number, name)
        return [
            tuple(columns[number] for number in sorted(columns))
            for family, columns in families.items()
            if sorted(columns) == list(range(1, len(columns) + 1))
            and (len(columns) >= 2 if family in _SURE_PLACES else self._may_be_places(len(columns)))
        ]

    def _may_be_places(self, count: int) -> bool:
        """Whether columns such as choice_1 are places, and not items to be chosen from."""
        return count >= 3 and not self.matches("outcome")


def _shape(found: _Header, given: Mapping[str, str]) -> _Shape:
    """Choose the shape: pairs if they are complete, else the one other shape that is."""
    order = (_BY_SIDES, _BY_WINS, _LONG, _CHOICES, _RANKED, _WIDE)
    able = [shape for shape in order if shape.takes(given) and shape.takes_all(found.hints)]
    if not able:
        said = ", ".join(f"{role}={name!r}" for role, name in given.items())
        raise InputError(
            f"No kind of vote has all these columns: {said}. Votes have left, right and winner; "
            "winner and loser; ranking, with or without options; options and winner; or item, "
            "position and ranking."
        )
    fitting = [shape for shape in able if shape.fits(found)]
    if fitting and fitting[0] in (_BY_SIDES, _BY_WINS):
        return fitting[0]
    if _LONG in fitting and _RANKED in fitting:
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
    begun.sort(key=lambda shape: (len(shape.lacks(found)), shape not in pairs, shape is _BY_SIDES))
    if begun:
        return begun[0]
    return next(shape for shape in able if shape.needs)


def _several(found: _Header, shapes: Sequence[_Shape]) -> InputError:
    ways = []
    for shape in shapes:
        columns = [str(found.matches(role)[0]) for role in shape.needs] or found.places()
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


def _column_named(source: str, names: Sequence[str], role: str, wanted: str) -> str:
    if wanted in names:
        return wanted
    alike = [name for name in names if plain(name) == plain(wanted)]
    if len(alike) == 1:
        return alike[0]
    raise InputError(
        f"{source} has no column {wanted!r}, asked for as {_MEANING[role]}. "
        f"Columns found: {listing(names, MOST_COLUMNS)}.{did_you_mean(wanted, names)}"
    )


def _check_distinct(column_of: Mapping[str, str]) -> None:
    if len(set(column_of.values())) < len(column_of):
        said = ", ".join(f"{keyword}={name!r}" for keyword, name in column_of.items())
        raise InputError(f"One column cannot be two things: {said}.")


def _check_given(given: Mapping[str, str]) -> None:
    _check_distinct(given)
    if "loser" in given and ("left" in given or "right" in given):
        raise InputError("Name a loser, or a left and a right item, but not both.")


def _check_not_doubled(source: str, names: Sequence[str], chosen: Sequence[str]) -> None:
    # Polars renames the second of two columns of one name in CSV.
    doubled = [name for name in chosen if f"{name}_duplicated_0" in names]
    if doubled:
        raise InputError(f"{source} has more than one column {doubled[0]!r}. Rename or remove one.")


def _missing(source: str, names: Sequence[str], roles: Sequence[str]) -> InputError:
    many = "no column" if len(roles) == 1 else "no columns"
    wanted = " and ".join(_MEANING[role] for role in roles)
    hints = "".join(_hint(names, role) for role in roles)
    return InputError(
        f"{source} has {many} for {wanted}. Columns found: {listing(names, MOST_COLUMNS)}.{hints} "
        "Votes have the columns judge, winner, loser, or judge, left, right, winner; rankings "
        "judge, ranking, or judge, item, rank."
    )


def _hint(names: Sequence[str], role: str) -> str:
    """How to name the column of a role, with the one that it may well be."""
    keyword, known = _keyword(role), known_names(role)
    others = set().union(*(known_names(other) for other in NAMES)) - known
    free = [name for name in names if plain(name) not in others]
    nearness = {name: max(likeness(plain(name), other) for other in known) for name in free}
    near = [name for name in free if nearness[name] >= NEAR or _words(name) & known]
    if not near:
        return f" If another column is {_MEANING[role]}, say --{keyword} COLUMN ({keyword}=...)."
    best = max(near, key=lambda name: nearness[name])
    return f" Nearest match: {best!r}; if that is it, say --{keyword} {best} ({keyword}={best!r})."


def _words(name: str) -> set[str]:
    """The words of a name that say something: ``human_winner`` may well be the winner."""
    return {word for word in plain(name).split("_") if len(word) > SHORTEST_PART}
