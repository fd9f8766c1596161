"""Questions that are out with judges, skipped or expired, and what judges may not see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from juryrank.active.beliefs import Questions
from juryrank.active.people import labels_like
from juryrank.errors import InputError, counted, listing
from juryrank.hints import did_you_mean_all
from juryrank.inference.opinions import Codes
from juryrank.votes.votes import Votes

OUT, SKIPPED, EXPIRED, ANSWERED = "out", "skipped", "expired", "answered"
COLUMNS = ("left", "right", "item", "judge", "status")
STATUSES = (OUT, SKIPPED, EXPIRED, ANSWERED)


class People(NamedTuple):
    """The labels of items and judges, by code and by row."""

    items: Sequence[Any]
    judges: Sequence[Any]
    voters: Sequence[Any]
    """Judges who have voted, whether they can be asked or not."""


class Asked(NamedTuple):
    """Questions with rows of judges, or -1 for judges who cannot be asked now."""

    out: Questions
    skipped: Questions


def asked_in(frame: object, people: People) -> Asked:
    """Read questions that were asked before: left, right, judge and, if there is one, status.

    Those without a status are out. Answered and expired ones do not count: the votes have the
    former, and the latter can be asked again.
    """
    table = _pending(frame)
    status = table["status"].fill_null(OUT) if "status" in table.columns else None
    strange = [] if status is None else sorted(set(status.to_list()) - set(STATUSES))
    if strange:
        raise InputError(
            f"The questions asked before have an unknown status: {listing(strange)}. Known: "
            f"{', '.join(STATUSES)}. Leave it empty for those that are out."
        )
    questions = _questions(table, "pending", people)
    told = np.full(len(table), OUT) if status is None else np.array(status.to_list())
    return Asked(questions[told == OUT], questions[told == SKIPPED])


def judges_in(frame: object, who: Sequence[object], known: pl.Series | None) -> list[Any]:
    """Judges who have questions and cannot be asked more: theirs count as answered."""
    table = _pending(frame)
    found = table["judge"].unique(maintain_order=True) if "judge" in table.columns else [None]
    return [judge for judge in labels_like(found, known, "judge") if judge not in who]


def barred_in(frame: object, people: People) -> tuple[Questions, list[tuple[int, int]]]:
    """Read what judges may not see: rows of judge, left, right, or of judge and item."""
    nothing = Questions(*(np.empty(0, dtype=np.int64) for _ in range(3)))
    table = _frame(frame, "barred", ("judge",))
    if "item" in table.columns:
        judge = _rows(table["judge"], people, "barred")
        item = _codes(table["item"], people.items, "item", "barred")
        return nothing, list(zip(judge.tolist(), item.tolist(), strict=True))
    if not {"left", "right"} <= set(table.columns):
        raise InputError(
            "The barred questions must have the columns judge and item (what a judge may not see "
            f"at all), or judge, left and right (a pair), not {listing(table.columns)}."
        )
    return _questions(table, "barred", people), []


def asked_by_votes(votes: Votes, judge_code: Codes) -> Questions:
    """The questions that votes on pairs have answered, of those with these codes, by their row."""
    row = np.full(votes.n_judges, -1, dtype=np.int64)
    known = judge_code >= 0
    row[judge_code[known]] = np.flatnonzero(known)
    left, right = votes.sides()
    who = row[votes.judge]
    return Questions(who, left.astype(np.int64), right.astype(np.int64))[who >= 0]


def _pending(frame: object) -> pl.DataFrame:
    return _frame(frame, "pending", ("left", "right"))


def _frame(frame: Any, what: str, needed: Sequence[str]) -> pl.DataFrame:
    """A frame with these columns, from whatever polars takes for one."""
    try:
        table = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise InputError(f"{what} must be a data frame, not {type(frame).__name__}.") from None
    missing = [name for name in needed if name not in table.columns]
    if missing and table.width:
        raise InputError(f"{what} has no column {listing(missing)}: {listing(table.columns)}.")
    several = [name for name in table.columns if name in COLUMNS and table[name].dtype.is_nested()]
    if several:
        raise InputError(
            f"{what} must have one question in a row, and holds several values in a cell of "
            f"{listing(several)}: {table[several[0]].to_list()[0]!r}. Give each a row of its own."
        )
    return (
        table if table.width else pl.DataFrame(schema=dict.fromkeys((*needed, "judge"), pl.String))
    )


def _questions(table: pl.DataFrame, what: str, people: People) -> Questions:
    judge = table["judge"] if "judge" in table.columns else pl.Series([None] * len(table))
    found = Questions(
        _rows(judge, people, what),
        _codes(table["left"], people.items, "item", what),
        _codes(table["right"], people.items, "item", what),
    )
    same = np.flatnonzero(found.one == found.other)
    if len(same):
        have, item = "has" if len(same) == 1 else "have", people.items[found.one[same[0]]]
        raise InputError(
            f"{counted(len(same), 'question')} of {what} {have} the same item on both sides, first "
            f"in row {same[0] + 1:,}: {item}."
        )
    return found


def _rows(judges: pl.Series, people: People, what: str) -> Codes:
    """The rows of judges; -1 for known judges who cannot be asked now."""
    row = {judge: at for at, judge in enumerate(people.judges)}
    known = {*people.voters, *people.judges, None}
    asked = _as_known(judges, known)
    strange = sorted({str(j) for j in asked if j not in known})
    if strange:
        many = "a judge" if len(strange) == 1 else f"{len(strange):,} judges"
        hint = did_you_mean_all(strange, [str(j) for j in known if j is not None])
        raise InputError(
            f"{what} names {many} who neither voted nor can be asked: {listing(strange)}.{hint}"
        )
    return np.array([row.get(judge, -1) for judge in asked], dtype=np.int64)


def _codes(labels: pl.Series, known: Sequence[Any], word: str, what: str) -> Codes:
    if labels.null_count():
        raise InputError(
            f"{what} has no {word} in {counted(labels.null_count(), 'row')} of the column "
            f"{labels.name!r}, first in row {labels.is_null().arg_true()[0] + 1:,}: name it, or "
            "leave the row out."
        )
    code = {label: at for at, label in enumerate(known)}
    asked = _as_known(labels, known)
    strange = sorted({str(one) for one in asked if one not in code})
    if strange:
        hint = did_you_mean_all(strange, [str(one) for one in known])
        raise InputError(
            f"{what} names {counted(len(strange), f'unknown {word}')}: {listing(strange)}.{hint}"
        )
    return np.array([code[label] for label in asked], dtype=np.int64)


def _as_known(labels: pl.Series, known: Iterable[Any]) -> list[Any]:
    """Labels that are numbers may be written as text, as in a file."""
    by_text = {str(label): label for label in known if label is not None}
    return [by_text.get(one, one) if isinstance(one, str) else one for one in labels.to_list()]
