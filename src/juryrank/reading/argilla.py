"""Argilla's exports of ranking questions: records as JSON, and tables of version 1 and 2."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import polars as pl

from juryrank.errors import InputError, counted, listing
from juryrank.reading.names import plain
from juryrank.reading.nesting import struct_fields
from juryrank.reading.plain import ROW_NAME, Plain, Record, as_list, as_mapping, left_out_of

USER = "user_id"
_RESPONSE = {USER, "value", "status"}
_TAIL = re.compile(r"(?:[0-9]+|(?<=_)[a-z0-9]+)$")

Levels = list[list[Any]]
"""Options from the best down, those of one rank together."""


class _Response(NamedTuple):
    record: int
    question: str
    value: Any
    user: Any
    status: str | None

    @property
    def row_name(self) -> str:
        return f"record {self.record + 1:,} (user {self.user})"

    @property
    def counts(self) -> bool:
        return self.status in (None, "submitted")


def holds_responses(name: str, schema: pl.Schema) -> bool:
    """Tell whether a column has the responses to a question."""
    dtype = schema[name]
    in_objects = isinstance(dtype, pl.List) and struct_fields(dtype.inner) >= _RESPONSE
    return in_objects or (name.endswith(".responses") and f"{name}.users" in schema)


def records_as_rows(name: str, records: Sequence[Record]) -> Plain:
    """Make a row of what a user said of a record, with a column of rankings per question."""
    found = [one for number, record in enumerate(records) for one in _responses(number, record)]
    if not found:
        raise InputError(f"{name} holds {counted(len(records), 'record')} without any response.")
    skipped = [one.row_name for one in found if not one.counts]
    left_out = left_out_of(name, skipped, len(found), "responses", "discarded or drafts")
    kept = [one for one in found if one.counts]
    questions = _questions(name, kept)
    answers = [one for one in kept if one.question in questions]
    options = [_levels(one.value) for one in answers]
    models = _models(name, answers, records)
    sure = tuple(question for question in questions if _is_ranking(question, answers))
    return Plain(
        _table(answers, models or options, questions).lazy(),
        {"judge": (USER,)} | ({"ranking": sure} if sure else {}),
        names_rows=True,
        left_out=left_out,
        notices=(*_no_status(found), *(() if models else _no_models(options))),
    )


# --- responses -----------------------------------------------------------------------------------


def _responses(number: int, record: Record) -> Iterator[_Response]:
    """Give the responses to a record, in whichever of the formats it is written."""
    for question, answers in as_mapping(record.get("responses")).items():
        yield from (_response(number, question, one) for one in map(as_mapping, as_list(answers)))
    for key, cell in record.items():
        if key.endswith(".responses") and f"{key}.users" in record:
            yield from _in_columns(number, key, record)
        elif key != "responses":
            objects = [one for one in as_list(cell) if isinstance(one, Mapping)]
            yield from (_response(number, key, one) for one in objects if set(one) >= _RESPONSE)


def _response(number: int, question: str, given: Record) -> _Response:
    return _Response(number, question, given.get("value"), given.get(USER), given.get("status"))


def _in_columns(number: int, key: str, record: Record) -> Iterator[_Response]:
    values, users = as_list(record[key]), as_list(record[f"{key}.users"])
    status = as_list(record.get(f"{key}.status")) or [None] * len(values)
    for index, value in enumerate(values):
        user = users[index] if index < len(users) else None
        state = status[index] if index < len(status) else None
        yield _Response(number, key.removesuffix(".responses"), value, user, state)


def _levels(value: Any) -> Levels | None:
    """Take an answer as a ranking; None if it is none, or if only some options have a rank."""
    if isinstance(value, Mapping):
        columns = as_list(value.get("rank")), as_list(value.get("value"))
        value = [{"rank": rank, "value": option} for rank, option in zip(*columns, strict=False)]
    options = as_list(value)
    if options and all(isinstance(one, str) for one in options):
        return [[one] for one in options]
    if not options or not all(isinstance(one, Mapping) and one.get("value") for one in options):
        return None
    ranks = [one.get("rank") for one in options]
    if all(rank is None for rank in ranks):
        return [[one["value"]] for one in options]
    if not all(isinstance(rank, int | float) and math.isfinite(rank) for rank in ranks):
        return None
    ordered = sorted(options, key=lambda one: one["rank"])
    by_rank = groupby(ordered, key=lambda one: one["rank"])
    return [[one["value"] for one in tied] for _, tied in by_rank]


def _questions(name: str, kept: Sequence[_Response]) -> tuple[str, ...]:
    """Give the questions that have answers which may be rankings."""
    found = tuple(dict.fromkeys(one.question for one in kept if _levels(one.value)))
    if not found:
        asked = list(dict.fromkeys(one.question for one in kept))
        raise InputError(
            f"{name} has no answers that are rankings, only those to {listing(asked)}."
        )
    return found


def _is_ranking(question: str, answers: Sequence[_Response]) -> bool:
    """Whether answers are rankings and not some of many labels: all are of the same options."""
    given = [one.value for one in answers if one.question == question and _levels(one.value)]
    if not all(isinstance(one, str) for value in given for one in value):
        return True
    options = {frozenset(value) for value in given}
    return len(options) == 1 and len(next(iter(options))) > 1


def _table(
    answers: Sequence[_Response], rankings: Sequence[Levels | None], questions: Sequence[str]
) -> pl.DataFrame:
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    before: Counter[tuple[str, str]] = Counter()
    for one, ranking in zip(answers, rankings, strict=True):
        # Users without a name must not overwrite each other.
        again = before[one.row_name, one.question]
        before[one.row_name, one.question] += 1
        user = None if one.user is None else str(one.user)
        row = rows.setdefault((one.row_name, again), {USER: user, ROW_NAME: one.row_name})
        row[one.question] = ranking
    rankings_as = dict.fromkeys(questions, pl.List(pl.List(pl.String())))
    schema = {USER: pl.String(), ROW_NAME: pl.String()} | rankings_as
    return pl.DataFrame(list(rows.values()), schema=schema)


# --- the models behind the options ---------------------------------------------------------------


def _models(
    name: str, answers: Sequence[_Response], records: Sequence[Record]
) -> list[Levels | None]:
    """Give the models that were ranked, if the records name them; complain if only some do."""
    known = [_known(records[one.record]) for one in answers]
    found = [_models_behind(_levels(one.value), of) for one, of in zip(answers, known, strict=True)]
    ranked = [
        (one.row_name, to) for one, to in zip(answers, found, strict=True) if _levels(one.value)
    ]
    without = [row_name for row_name, models in ranked if models is None]
    if 0 < len(without) < len(ranked):
        raise InputError(
            f"{name}: {len(without):,} of {len(ranked):,} rankings do not say which model is "
            f"behind each option, where the others do: {listing(without, 3)}. Add it to their "
            "metadata, or take it out of all."
        )
    return [] if without else found


def _known(record: Record) -> dict[str, str]:
    """Give all text of a record: its metadata, its fields, its columns."""
    metadata = record.get("metadata")
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = None
    cells = dict(record) | as_mapping(record.get("fields")) | as_mapping(metadata)
    return {plain(key): cell for key, cell in cells.items() if isinstance(cell, str) and cell}


def _models_behind(ranked: Levels | None, known: Mapping[str, str]) -> Levels | None:
    if ranked is None:
        return None
    models = [[_model_behind(plain(str(option)), known) for option in tied] for tied in ranked]
    return models if all(model for tied in models for model in tied) else None


def _model_behind(option: str, known: Mapping[str, str]) -> str | None:
    """Find the model behind ``response-1``: response-1-model, model-response-1 or model-1."""
    tail = _TAIL.search(option)
    keys = [f"{option}_model", f"model_{option}"]
    keys += [f"model_{tail[0]}", f"model{tail[0]}"] if tail else []
    return next((known[key] for key in keys if key in known), None)


def _no_status(found: Sequence[_Response]) -> Iterator[str]:
    if found and all(one.status is None for one in found):
        yield (
            "The responses have no status: drafts and discarded ones, if there are any, count too. "
            "Argilla's to_datasets writes it."
        )


def _no_models(ranked: Sequence[Levels | None]) -> Iterator[str]:
    options = {str(option) for levels in ranked for tied in levels or () for option in tied}
    yield (
        f"The items are the options of the question ({listing(sorted(options), 3)}): the records "
        "do not say which model is behind each, as model_1 or response-1-model would."
    )
