"""Label Studio's exports of pairwise comparisons: JSON, JSON-MIN and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from juryrank.errors import InputError, counted
from juryrank.reading.nesting import struct_fields, table_of
from juryrank.reading.plain import ROW_NAME, Plain, Record, as_list, as_mapping, left_out_of

ANNOTATOR = "annotator"
_LOOKED_AT = 1_000
_SELECTED = r'"selected"\s*:\s*"([^"]*)"'
_SIDE = r"^(?:left|right|none)$"


class _Annotation(NamedTuple):
    row_name: str
    data: Mapping[str, Any]
    by: Any
    is_cancelled: bool
    answers: Mapping[str, tuple[str, str | None]]
    """The type and the words of each answer, by the name of its tag."""


def tasks_as_rows(name: str, tasks: Sequence[Record]) -> Plain:
    """Make a row of each annotation: the task's data, the annotator, and what was selected."""
    found = list(_annotations(tasks))
    if not found:
        raise InputError(f"{name} holds {counted(len(tasks), 'task')} without any annotation.")
    kept = [one for one in found if not one.is_cancelled]
    cancelled = [one.row_name for one in found if one.is_cancelled]
    left_out = left_out_of(name, cancelled, len(found), "annotations", "cancelled")
    pairwise, choices = _tags(kept, "pairwise"), _tags(kept, "choices")
    if not pairwise + choices:
        raise InputError(
            f"{name} holds annotations of Label Studio, but none with the tag Pairwise or Choices."
        )
    own = (ANNOTATOR, ROW_NAME, *pairwise, *choices)
    bare = sum(not as_list(task.get("annotations")) for task in tasks)
    return Plain(
        table_of([_row(one, own) for one in kept], own).lazy(),
        {"judge": (ANNOTATOR,)} | ({"outcome": pairwise} if pairwise else {}),
        names_rows=True,
        left_out=left_out,
        notices=_without_annotation(bare, len(tasks)),
    )


def _without_annotation(bare: int, of: int) -> tuple[str, ...]:
    have = "has" if bare == 1 else "have"
    return (f"{bare:,} of {of:,} tasks {have} no annotation.",) if bare else ()


def _annotations(tasks: Sequence[Record]) -> Iterator[_Annotation]:
    for number, task in enumerate(tasks, start=1):
        for given in map(as_mapping, as_list(task.get("annotations"))):
            task_name = f"task {task.get('id', number)}"
            yield _Annotation(
                f"annotation {given['id']} ({task_name})" if "id" in given else task_name,
                as_mapping(task.get("data")),
                _who(given.get("completed_by")),
                bool(given.get("was_cancelled")),
                _by_tag(given),
            )


def _who(completed_by: Any) -> Any:
    """Name an annotator by email, else by id."""
    who = as_mapping(completed_by)
    return (who.get("email") or who.get("id")) if who else completed_by


def _by_tag(annotation: Record) -> dict[str, tuple[str, str | None]]:
    """Give the answers by tag; of several under one tag all words, which makes for a complaint."""
    found: dict[str, tuple[str, str | None]] = {}
    for tag, (kind, words) in _answers(annotation):
        before = found.get(tag, (kind, words))[1]
        found[tag] = kind, words if words == before else f"{before}, {words}"
    return found


def _answers(annotation: Record) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for result in map(as_mapping, as_list(annotation.get("result"))):
        tag, kind = str(result.get("from_name")), result.get("type")
        value = as_mapping(result.get("value"))
        if kind == "pairwise":
            yield tag, (kind, value.get("selected"))
        elif kind == "choices":
            yield tag, (kind, ", ".join(map(str, as_list(value.get("choices")))))


def _tags(found: Sequence[_Annotation], kind: str) -> tuple[str, ...]:
    tags = (tag for one in found for tag, answer in one.answers.items() if answer[0] == kind)
    return tuple(dict.fromkeys(tags))


def _row(one: _Annotation, own: Sequence[str]) -> dict[str, Any]:
    # A field of the task's data must not be taken for an answer of the same name.
    data = {f"data.{name}" if name in own else name: cell for name, cell in one.data.items()}
    said = {tag: words for tag, (_, words) in one.answers.items()}
    return data | {ANNOTATOR: one.by, ROW_NAME: one.row_name} | said


# --- JSON-MIN and CSV ----------------------------------------------------------------------------


def is_table(schema: pl.Schema) -> bool:
    """Tell by its columns whether a table is an export."""
    return {ANNOTATOR, "annotation_id", "lead_time"} <= set(schema)


def table_as_rows(scan: pl.LazyFrame, schema: pl.Schema) -> Plain:
    """Find the columns of selections, which may have any name, and take the sides out of them."""
    text = [name for name, dtype in schema.items() if dtype == pl.String]
    first = scan.select(text).head(_LOOKED_AT).collect()
    sides = {name: _side_in_text(name) for name in text if _holds_sides(first[name])}
    for name, dtype in schema.items():
        if (side := _side_in(name, dtype)) is not None:
            sides[name] = side
    if "was_cancelled" in schema:
        cancelled = pl.col("was_cancelled").cast(pl.String).str.to_lowercase() == "true"
        sides = {
            name: pl.when(cancelled).then(pl.lit("skip")).otherwise(side)
            for name, side in sides.items()
        }
    return Plain(
        scan.with_columns(side.alias(name) for name, side in sides.items()),
        {"judge": (ANNOTATOR,)} | ({"outcome": tuple(sides)} if sides else {}),
    )


def _holds_sides(column: pl.Series) -> bool:
    given = column.drop_nulls()
    is_side = given.str.contains(_SIDE)
    return bool(given.str.contains(_SELECTED).any() or (len(given) and is_side.all()))


def _side_in_text(name: str) -> pl.Expr:
    return pl.coalesce(pl.col(name).str.extract(_SELECTED), pl.col(name))


def _side_in(name: str, dtype: pl.DataType) -> pl.Expr | None:
    """Take the side out of an object, or the first of several."""
    if "selected" in struct_fields(dtype):
        return pl.col(name).struct.field("selected")
    if isinstance(dtype, pl.List) and "selected" in struct_fields(dtype.inner):
        return pl.col(name).list.first().struct.field("selected")
    return None
