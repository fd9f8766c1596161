"""The log of `jr.run`: what was asked, answered and failed, one JSON object a line.

The first line, the header, says what the study is. After it there are lines of these kinds:

- ``round``: so many questions follow; none of them is asked before all are written,
- ``question``: id, round, judge, left, right, chosen, propensity, gain,
- ``answer``: id, outcome (left, right, tie or refused), cost, attempt, seconds,
- ``failure``: id, reason, cost, attempt, and whether the question was given up,
- ``resumed``: which questions were out when the process before this one ended, and their cost,
- ``stopped``: why no more is asked.

A process may be killed while it writes. So what is behind the last line break, and a round without
all of its questions, is torn: nobody has acted on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from decimal import Decimal
from typing import Any, TypeVar, get_args, get_type_hints

import polars as pl

from juryrank.errors import InputError, counted
from juryrank.reading.plain import ROW_NAME, Plain, left_out_of
from juryrank.text import short, within

VERSION = 1
MARK = "juryrank_log"
"""The key that the header begins with; its value is the version."""
BEGINNING = f'{{"{MARK}":'.encode()
REFUSED = "refused"
OUTCOMES = ("left", "right", "tie", REFUSED)
WIDEST_LINE = 60
LARGEST = 2**63 - 1

Label = str | int
Record = Mapping[str, Any]
Line = TypeVar("Line")


@dataclass(frozen=True)
class Question:
    """A pair that a judge is asked about."""

    id: int
    round: int
    judge: str
    left: Label
    right: Label
    chosen: str
    """Why: "policy", "random" or "opening"."""
    propensity: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class Answer:
    """What a judge said."""

    id: int
    outcome: str
    cost: float
    attempt: int
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"there is no outcome {self.outcome!r}")


@dataclass(frozen=True)
class Failure:
    """What came instead of an answer."""

    id: int
    reason: str
    cost: float
    attempt: int
    """0 if the judge was not called at all."""
    given_up: bool
    """Whether the question is not asked again."""


@dataclass(frozen=True)
class _Resumed:
    """What calls cost that were out when an earlier process ended."""

    cost: float


@dataclass
class History:
    """What a log says up to one of its lines."""

    header: Record
    questions: dict[int, Question] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    """By the question's id."""
    failures: list[Failure] = field(default_factory=list)
    out: dict[int, Question] = field(default_factory=dict)
    """Questions with neither an answer nor a failure that ends them."""
    spent: Decimal = Decimal(0)
    rounds: int = 0

    def add(self, record: Record) -> None:
        """Take up the next line; a `ValueError` says what is wrong with it."""
        values = dict(record)
        kind = values.pop("kind", None)
        values.pop("at", None)
        match kind:
            case "round":
                self.rounds = _whole_number(values, "round")
            case "question":
                self._add_question(_made(Question, values))
            case "answer":
                self._add_answer(_made(Answer, values))
            case "failure":
                self._add_failure(_made(Failure, values))
            case "resumed":
                self.spent += exact(_made(_Resumed, {"cost": values.get("cost")}).cost)
            case "stopped":
                pass
            case _:
                raise ValueError(f"there are no lines of the kind {kind!r}")

    def _add_question(self, question: Question) -> None:
        if question.id in self.questions:
            raise ValueError(f"question {question.id} occurs twice")
        for what, names in (
            ("judges", (question.judge,)),
            ("items", (question.left, question.right)),
        ):
            strange = [name for name in names if name not in self.header.get(what, names)]
            if strange:
                raise ValueError(f"{strange[0]!r} is none of the {what} of the study")
        self.questions[question.id] = self.out[question.id] = question

    def _add_answer(self, answer: Answer) -> None:
        self._require_out(answer.id)
        del self.out[answer.id]
        self.answers[answer.id] = answer
        self.spent += exact(answer.cost)

    def _add_failure(self, failure: Failure) -> None:
        self._require_out(failure.id)
        if failure.given_up:
            del self.out[failure.id]
        self.failures.append(failure)
        self.spent += exact(failure.cost)

    def _require_out(self, question: int) -> None:
        if question not in self.out:
            what = "is already closed" if question in self.questions else "was never asked"
            raise ValueError(f"question {question} {what}")

    def votes(self) -> pl.DataFrame:
        """The votes, in the order of the questions: id, judge, left, right, outcome and more."""
        given = [self.answers[id_] for id_ in sorted(self.answers)]
        rows = [
            asdict(self.questions[one.id]) | asdict(one) for one in given if one.outcome != REFUSED
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def refusals(self) -> list[Question]:
        """The questions that judges refused."""
        return [self.questions[at] for at, one in self.answers.items() if one.outcome == REFUSED]


def exact(amount: float) -> Decimal:
    """Money as it is written: ten times 0.1 is 1."""
    return Decimal(repr(float(amount)))


@dataclass(frozen=True)
class Log:
    """The content of a log."""

    history: History | None
    """None: there is no whole header."""
    whole: int
    """How many bytes are whole; those that follow are torn."""


def log_in(name: str, content: bytes) -> Log:
    """Take a log apart; complain where it is damaged before its end."""
    history: History | None = None
    whole = start = 0
    awaited: list[Record] = []
    missing = 0
    for number, line in enumerate(content.splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            break
        start += len(line)
        try:
            record = json.loads(line)
            if history is None:
                history = History(_header(name, record))
            else:
                missing = _missing(record, missing)
                awaited.append(record)
            if not missing:
                for one in awaited:
                    history.add(one)
                awaited, whole = [], start
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise _damaged(name, number, line, error) from error
    return Log(history, whole)


def _header(name: str, record: Any) -> Record:
    if not isinstance(record, Mapping) or MARK not in record:
        raise InputError(f"{name} is not a log of jr.run: its first line is not the header of one.")
    if record[MARK] != VERSION:
        raise InputError(
            f"{name} is a log of version {record[MARK]!r}, and this juryrank knows version "
            f"{VERSION}. Use the juryrank that wrote it."
        )
    for what in ("items", "judges"):
        if not isinstance(record.get(what, []), list):
            raise InputError(
                f"{name} is damaged in line 1 ({what!r} is no list): restore it, or begin another "
                "log."
            )
    return record


def _made(kind: type[Line], values: Mapping[str, Any]) -> Line:
    """A line of this kind; a `ValueError` says which of its values is missing or of no use."""
    types = get_type_hints(kind)
    needed = {one.name for one in fields(kind) if one.default is MISSING}  # type: ignore[arg-type]
    for name in sorted(needed - set(values)):
        raise ValueError(f"it has no {name!r}")
    for name, value in values.items():
        if name not in types:
            raise ValueError(f"{name!r} is unknown in such lines")
        is_flag = isinstance(value, bool) and types[name] is not bool
        is_other = is_flag or not isinstance(value, _with_whole(types[name]))
        if is_other or (isinstance(value, int) and abs(value) > LARGEST):
            raise ValueError(f"{name!r} is {within(repr(value), WIDEST_LINE)}")
    return kind(**values)


def _with_whole(kind: Any) -> Any:
    """The type of a value as JSON has it, where 1 is a float, too."""
    return kind | int if float in (kind, *get_args(kind)) else kind


def _whole_number(values: Record, name: str) -> int:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
        raise ValueError(
            f"{name!r} is {within(repr(value), WIDEST_LINE)}, no whole number that can be"
        )
    return value


def _missing(record: Any, missing: int) -> int:
    """How many questions of the round must still follow."""
    if not isinstance(record, Mapping) or "kind" not in record:
        raise ValueError("it is no object with a 'kind'")
    is_question = record["kind"] == "question"
    if is_question != (missing > 0):
        raise ValueError("a round does not have the questions that it should have")
    if is_question:
        return missing - 1
    return _whole_number(record, "questions") if record["kind"] == "round" else 0


def _damaged(name: str, number: int, line: bytes, error: Exception) -> InputError:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else error
    return InputError(
        f"{name} is damaged in line {number:,} ({reason}): "
        f"{short(line[: 4 * WIDEST_LINE].decode(errors='replace').rstrip(), WIDEST_LINE)}. "
        "It was changed or damaged after it was written: restore it, or begin another log."
    )


# --- as votes ------------------------------------------------------------------------------------


def is_log(head: bytes) -> bool:
    """Whether a file begins like a log."""
    return head.startswith(BEGINNING)


def votes_as_rows(name: str, content: bytes) -> Plain:
    """Take the votes out of a log."""
    log = log_in(name, content)
    history = log.history
    votes = pl.DataFrame() if history is None else history.votes()
    if history is None or not len(history.answers):
        raise InputError(f"{name} is a log of jr.run without any answer.")
    refused = [f"question {question.id:,}" for question in history.refusals()]
    left_out = left_out_of(name, refused, len(history.answers), "answers", "refused by the judge")
    named = votes.with_columns(pl.format("question {}", "id").alias(ROW_NAME))
    roles = ("judge", "left", "right", "outcome")
    return Plain(
        named.select(*roles, "chosen", "propensity", "cost", "seconds", ROW_NAME).lazy(),
        {role: (role,) for role in roles},
        names_rows=True,
        left_out=left_out,
        notices=tuple(_notices(name, history, len(content) - log.whole)),
        remark="a log of jr.run",
    )


def _notices(name: str, history: History, torn: int) -> Sequence[str]:
    given_up = sum(one.given_up and one.attempt > 0 for one in history.failures)
    said = []
    if given_up:
        said.append(f"{counted(given_up, 'question')} of {name} failed and have no vote.")
    if history.out:
        said.append(f"{counted(len(history.out), 'question')} of {name} are not answered yet.")
    if torn:
        said.append(f"{name} is cut off: its last {counted(torn, 'byte')} do not count.")
    return said
