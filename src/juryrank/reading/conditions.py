"""The little language of ``--where``, from text to a tree: ``language == "de" and round > 3``.

It is not SQL, and `polars.sql_expr` does not read it. There, text in double quotes is a column, and
columns of a CSV file, which are text, cannot be compared with numbers; nor does it give the single
comparisons, of which must be said which of them no row fulfils.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from juryrank.errors import LONGEST_NAME, InputError
from juryrank.text import within

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
FLIPPED: dict[Operator, Operator] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_OPERATORS: dict[str, Operator] = {sign: sign for sign in FLIPPED} | {"=": "==", "<>": "!="}
_ENDS = {"(": ")", "[": "]"}
_KEYWORDS = ("and", "or", "not", "in", "is", "null", "none", "true", "false")
LARGEST_EXACT = 2**53
"""Larger whole numbers are ids: as floats some of them would be the same."""
EXAMPLE = """Write for example language == "de" and round > 3, or language in ("de", "fr")."""
_NO_BLANK = re.compile(r"\S")
_DECIMALS = re.compile(r",[0-9]+")
_TOKEN = re.compile(
    r"""
    (?P<text> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
    | (?P<column> `[^`]+` )
    | (?P<number> [+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]) )
    | (?P<word> [^\W\d]\w*(?:\.\w+)* )
    | (?P<sign> == | != | <> | <= | >= | [=<>()\[\],] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Name:
    """A word without quotes, or one in backticks: a column."""

    text: str


@dataclass(frozen=True)
class Value:
    """Text in quotes, which may be a column too if it stands on the left; a number; yes or no."""

    value: str | float | bool
    written: str


Operand = Name | Value


@dataclass(frozen=True)
class Comparison:
    """Two operands and a sign."""

    left: Operand
    operator: Operator
    right: Operand


@dataclass(frozen=True)
class Membership:
    """A column and the values one of which it must have."""

    column: Operand
    values: tuple[Value, ...]


@dataclass(frozen=True)
class IsNull:
    """A column in which nothing must stand."""

    column: Operand


@dataclass(frozen=True)
class Not:
    """What must not be."""

    part: Tree


@dataclass(frozen=True)
class Several:
    """Parts that must all be fulfilled, or one of them."""

    word: Literal["and", "or"]
    parts: tuple[Tree, ...]


Tree = Comparison | Membership | IsNull | Not | Several
_Rule = Callable[[], Tree]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def keyword(self) -> str:
        """The word in lower case, if it is one of the language."""
        word = self.text.lower()
        return word if self.kind == "word" and word in _KEYWORDS else ""


def parsed(text: str) -> Tree:
    """Parse a condition; complain about what cannot be read, and where it is."""
    reader = _Reader(text)
    try:
        tree = reader.alternatives()
    except RecursionError:
        raise InputError(f"The condition --where {text[:60]!r}... is nested too deeply.") from None
    if reader.token.kind != "end":
        raise reader.error("and, or, or the end")
    return tree


def _after_blanks(text: str, start: int) -> int:
    """Where the first sign after blanks stands, or the end of the text."""
    found = _NO_BLANK.search(text, start)
    return len(text) if found is None else found.start()


class _Reader:
    """Goes through the tokens from left to right, one method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._in_list = False
        self.token = self._next()

    def alternatives(self) -> Tree:
        """Read ``condition or condition``."""
        return self._several("or", lambda: self._several("and", self._negated))

    def error(self, expected: str) -> InputError:
        """Say what is expected here, and what was found."""
        at = self.token.start
        found = self._text[at : at + 20]
        where = f"at character {at + 1}, before {found!r}" if found else "at the end"
        return InputError(
            f"The condition --where {within(repr(self._text), LONGEST_NAME)} cannot be read: "
            f"expected {expected} {where}. {EXAMPLE} Names of columns with blanks or other "
            "signs need backticks or quotes."
        )

    def _next(self) -> _Token:
        start = _after_blanks(self._text, self._end)
        if start == len(self._text):
            return _Token("end", "", start)
        found = _TOKEN.match(self._text, start)
        if found is None:
            return _Token("unknown", self._text[start], start)
        self._end = found.end()
        return _Token(cast(str, found.lastgroup), found[0], start)

    def _take(self) -> _Token:
        token, self.token = self.token, self._next()
        return token

    def _skips(self, *keywords: str) -> bool:
        """Go on if the next word is one of these."""
        if self.token.keyword not in keywords:
            return False
        self._take()
        return True

    def _several(self, word: Literal["and", "or"], part: _Rule) -> Tree:
        parts = [part()]
        while self._skips(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Several(word, tuple(parts))

    def _negated(self) -> Tree:
        return Not(self._negated()) if self._skips("not") else self._simple()

    def _simple(self) -> Tree:
        if self.token.text == "(":
            self._take()
            inside = self.alternatives()
            self._require(")")
            return inside
        left = self._operand()
        if self._skips("is"):
            return self._null(left)
        if self._skips("not"):
            if not self._skips("in"):
                raise self.error("in")
            return Not(Membership(left, self._values()))
        if self._skips("in"):
            return Membership(left, self._values())
        if self.token.text not in _OPERATORS:
            raise self.error("a comparison (==, !=, <, <=, >, >=, in, is null)")
        return Comparison(left, _OPERATORS[self._take().text], self._operand())

    def _null(self, column: Operand) -> Tree:
        negated = self._skips("not")
        if not self._skips("null", "none"):
            raise self.error("null or not null")
        return Not(IsNull(column)) if negated else IsNull(column)

    def _values(self) -> tuple[Value, ...]:
        if self.token.text not in _ENDS:
            raise self.error("a list of values in parentheses")
        end = _ENDS[self._take().text]
        self._in_list = True
        values = [self._value()]
        while self.token.text == ",":
            self._take()
            if self.token.text != end:
                values.append(self._value())
        self._in_list = False
        self._require(end)
        return tuple(values)

    def _value(self) -> Value:
        start = self.token
        operand = self._operand()
        if isinstance(operand, Name):
            self.token = start
            raise self.error("a value, which is text in quotes or a number,")
        return operand

    def _operand(self) -> Operand:
        kind, text, _ = self.token
        if kind == "text":
            self._take()
            return Value(re.sub(r"""\\(["'\\])""", r"\1", text[1:-1]), text)
        if kind == "column":
            self._take()
            return Name(text[1:-1])
        if kind == "number":
            self._take()
            self._check_decimal_point(text)
            number = float(text)
            return Value(text if abs(number) > LARGEST_EXACT else number, text)
        if self.token.keyword in ("true", "false"):
            return Value(self._take().keyword == "true", text)
        if kind == "word" and not self.token.keyword:
            self._take()
            return Name(text)
        raise self.error("a column or a value")

    def _check_decimal_point(self, number: str) -> None:
        """Complain about 0,5, where it cannot be two values of a list."""
        digits = _DECIMALS.match(self._text, self.token.start)
        if digits and not self._in_list:
            raise InputError(
                f"The condition --where {self._text!r} has a decimal comma: write "
                f"{number}.{digits[0][1:]}. Cells of the file may still have commas."
            )

    def _require(self, sign: str) -> None:
        if self.token.text != sign:
            raise self.error(repr(sign))
        self._take()
