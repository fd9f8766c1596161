"""From bytes to rows: each file as a lazy frame, of which only the columns needed are read."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path, PurePath
from typing import IO, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, system_number
from juryrank.reading import qualtrics, run_log
from juryrank.reading.arrow_claims import check_arrow_claims
from juryrank.reading.coding import in_words, is_whole
from juryrank.reading.columns import fits_some_shape
from juryrank.reading.encodings import UTF8, Encoding, encoding_of, not_utf8
from juryrank.reading.exports import is_export, records_as_rows, table_as_rows
from juryrank.reading.formats import (
    FORMATS,
    SEPARATOR_LINE,
    SEPARATORS,
    UTF8_BOM,
    Scan,
    check_not_a_page,
    check_text,
    check_unpacked_size,
    content_of,
    format_named,
    format_of,
    head_of,
    is_compressed,
    most_unpacked,
    separator_of,
)
from juryrank.reading.headers import as_in_the_file, told_apart
from juryrank.reading.nesting import (
    Wrapped,
    check_characters,
    first_record,
    inner_of,
    read_json,
    records_in,
    scan_ndjson,
    wrapped_records,
)
from juryrank.reading.plain import ROW_NAME, Plain
from juryrank.reading.preflib import preflib_rows
from juryrank.reading.rust_panics import without_panics
from juryrank.reading.sheets import read_sheet
from juryrank.reading.sources import (
    LIMITS_AND_FAILURES,
    FoundFile,
    found_files,
    unreadable,
)
from juryrank.reading.titles import MOST_ABOVE_HEADER, Below, header_below

WIDE = 100
"""Columns."""
MOST_AT_ONCE = 64 << 20
"""Bytes of a wide table of text that is read once, and not again for every question about it."""
READ_ERRORS = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    csv.Error,
    zlib.error,
)
_TOO_LARGE = "it holds a whole number that is too large for any column of numbers"
_IN_PLAIN_WORDS = {
    "not properly escaped": "a quote is opened and not closed",
    "out of specification": "it does not follow the rules of its format",
    "out-of-spec": "it does not follow the rules of its format",
    "Cannot detect file format": "it is not a spreadsheet",
    "end-of-stream marker": "the compressed data end too early",
    "cannot cast 'Object' type": "a column mixes types",
    "integer string conversion": _TOO_LARGE,
}
"""What libraries say of files that they cannot read, and what it means."""
RULE = r"^:?-[-+]*:?$"
"""A cell of the line between the header and the rows of such a table."""
BOM = "\ufeff"
"""There may be two of them, if a program that puts one first was given a file that had one."""
QUALTRICS_ID = b"ImportId"


@dataclass(frozen=True)
class Opening:
    """How the user wants files to be opened; None: as they seem to be."""

    format: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    unpack_all: bool = False
    """However much it may become."""


AS_IT_SEEMS = Opening()


FILE = "(file)"
"""The column with the name of the file, where files are judges."""
BLANK = pl.exclude(FILE).is_null()
"""The cells of a blank line, and of Excel's line of nothing but separators, which are no rows."""
NUMBER = "(number)"
"""The column with the number of each row in its file, from 0, where only some rows are read."""


class Kept(NamedTuple):
    """Which rows count, as the user wants it, and how many there are in all."""

    condition: pl.Expr
    of: int


class Before(NamedTuple):
    """A table with a column for each item: what it is called, and how many rows it has."""

    kind: str
    rows: int
    row: str | None = None
    """The column that numbers these rows."""


@dataclass(frozen=True)
class Part:
    """The rows of one file or frame, not yet read."""

    name: str
    plain: Plain
    format: str | None = None
    where: Path | bytes = b""
    separator: str = ","
    remarks: tuple[str, ...] = ()
    """What was guessed in opening it."""
    notices: tuple[str, ...] = ()
    """What is to be warned of in all files of the source."""
    before: Before | None = None
    """What it was before it was made long."""
    kept: Kept | None = None
    """Which of the rows are to be read; None: all."""

    @property
    def is_numbered(self) -> bool:
        """Whether rows have to carry their numbers, since some are left out."""
        return self.kept is not None and not self.plain.names_rows

    @property
    def is_text(self) -> bool:
        """Whether the format has no types, so that numbers are text until seen to be numbers."""
        return self.format is not None and not FORMATS[self.format].is_typed

    @property
    def scan(self) -> pl.LazyFrame:
        """The rows."""
        return self.plain.scan


class Numbers(Protocol):
    """Whole numbers that can be looked up."""

    def __getitem__(self, row: int, /) -> int:
        """Give one of them."""


@dataclass(frozen=True)
class Rows:
    """The rows of all parts, read, with the columns that were asked for."""

    frame: pl.DataFrame
    names: tuple[str, ...]
    ends: tuple[int, ...]
    """How many rows there are up to the end of each part."""
    text: bool
    """Whether the format has no types, so that numbers are text until seen to be numbers."""
    called: pl.Series | None = None
    """What each row is called, if not by its number."""
    origin: Numbers | None = None
    """Which of all rows, those that `ends` counts, each one is; None: these are all."""
    contexts: pl.DataFrame | None = None
    """What sets votes apart that are the same otherwise, such as the question, if that is known."""

    def row_name(self, row: int) -> str:
        """Name a row, counted from 1 without the header, within its file."""
        at = row if self.origin is None else int(self.origin[row])
        part = bisect_right(self.ends, at)
        before = self.ends[part - 1] if part else 0
        where = f"row {at - before + 1:,}" if self.called is None else str(self.called[row])
        return where if len(self.names) == 1 else f"{where} of {self.names[part]}"

    @property
    def numbers(self) -> pl.Series:
        """The numbers of the rows, counted from 1 over all files."""
        if isinstance(self.origin, pl.Series):
            return self.origin + 1
        return pl.int_range(1, len(self.frame) + 1, eager=True)

    def taken(self, some: NDArray[np.int64]) -> Rows:
        """Some of the rows, which keep their names."""
        which = pl.Series(some)
        return replace(
            self,
            frame=self.frame[some],
            called=None if self.called is None else self.called.gather(which),
            origin=(self.numbers - 1).gather(which),
            contexts=None if self.contexts is None else self.contexts[some],
        )


def parts_of(
    source: str | os.PathLike[str] | IO[bytes], opening: Opening = AS_IT_SEEMS
) -> list[Part]:
    """Open every file a source stands for."""
    if opening.format is not None:
        opening = replace(opening, format=format_named(opening.format))
    return [
        _with_told(_part(file, opening), file)
        for file in found_files(source, unpack_all=opening.unpack_all)
    ]


def _with_told(part: Part, file: FoundFile) -> Part:
    return replace(part, remarks=(*part.remarks, *file.remarks), notices=file.notices)


def with_file_as_judge(part: Part) -> Part:
    """Make the name of a file, without its ending, the judge of all votes in it."""
    if part.format == "preflib":
        raise InputError(
            f"{part.name} is a PrefLib file, whose votes are counted and have no judge: omit "
            "--judge-per-file (judge_per_file=True)."
        )
    judge = pl.lit(PurePath(part.name).name.split(".", 1)[0]).alias(FILE)
    plain = replace(
        part.plain,
        scan=part.plain.scan.with_columns(judge),
        hints={**part.plain.hints, "judge": (FILE,)},
    )
    return replace(part, plain=plain, remarks=(*part.remarks, "the name of each file is the judge"))


def header(part: Part) -> list[str]:
    """Give the names of a part's columns."""
    with _complaining(part):
        names = part.scan.collect_schema().names()
    if not names:
        raise InputError(f"{part.name} is empty: there are no votes in it.")
    return [name for name in names if name != ROW_NAME or not part.plain.names_rows]


def read_rows(parts: Sequence[Part], columns: Sequence[str]) -> Rows:
    """Read some columns of all parts."""
    are_called, are_numbered = parts[0].plain.names_rows, parts[0].is_numbered
    more = [ROW_NAME] if are_called else [NUMBER] if are_numbered else []
    frames = [_collect(part, [*columns, *more]) for part in parts]
    frame = _one_frame(parts, frames)
    ends = ends_of(parts) if are_numbered else tuple(accumulate(len(frame) for frame in frames))
    return Rows(
        frame,
        tuple(part.name for part in parts),
        ends,
        text=parts[0].is_text,
        called=frame[ROW_NAME] if are_called else None,
        origin=_over_all(frames, ends) if are_numbered else None,
    )


def ends_of(parts: Sequence[Part]) -> tuple[int, ...]:
    """How many rows there are up to the end of each part, with those that do not count."""
    return tuple(accumulate(part.kept.of for part in parts if part.kept is not None))


def _over_all(frames: Sequence[pl.DataFrame], ends: Sequence[int]) -> pl.Series:
    """Number the rows over all parts."""
    before = (0, *ends)
    own = (frame[NUMBER].cast(pl.Int64) for frame in frames)
    return pl.concat([number + first for number, first in zip(own, before, strict=False)])


def common_schema(parts: Sequence[Part], columns: Sequence[str]) -> pl.Schema:
    """Give the types that some columns have when all parts are put together."""
    frames = []
    for part in parts:
        with _complaining(part):
            frames.append(pl.DataFrame(schema=part.scan.select(columns).collect_schema()))
    return _one_frame(parts, frames).schema


def batches(part: Part, schema: pl.Schema, rows: int) -> Iterator[pl.DataFrame]:
    """Read some columns of a part, so many rows at a time."""
    more = [NUMBER] if part.is_numbered else []
    columns = [pl.col(name).cast(dtype) for name, dtype in schema.items()]
    scan = _rows_of(part).select(*columns, *more)
    with _complaining(part):
        found = iter(scan.collect_batches(chunk_size=rows, maintain_order=True))
    while True:
        with _complaining(part):
            batch = next(found, None)
        if batch is None:
            return
        yield batch


def telling_values(parts: Sequence[Part], column: str, schema: pl.Schema) -> pl.Series:
    """Give a value of a column, and one that is no whole number, if there are any."""
    dtype = schema[column]
    given = pl.col(column).cast(dtype)
    asked = [given]
    if dtype.is_float():
        given = given.fill_nan(None)
        asked = [given, given.filter(~is_whole(given))]
    found: list[object] = []
    for part in parts:
        with _complaining(part):
            firsts = [one.drop_nulls().first().alias(str(at)) for at, one in enumerate(asked)]
            found += _rows_of(part).select(firsts).collect(engine="streaming").row(0)
    return pl.Series(column, found, dtype=dtype)


def first_rows(parts: Sequence[Part], columns: Sequence[str], number: int) -> pl.DataFrame:
    """Read the first rows of those columns that hold labels, as text."""
    kept = label_columns(parts, columns)
    with _complaining(parts[0]):
        return _rows_of(parts[0]).select(pl.col(kept).cast(pl.String)).head(number).collect()


def read_head(part: Part, columns: Sequence[str], number: int) -> pl.DataFrame:
    """Read the first rows of some columns as text; what is blank is nothing."""
    text = pl.col(columns).cast(pl.String).str.strip_chars()
    with _complaining(part):
        rows = _rows_of(part).select(text).head(number).collect()
    return rows.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)).name.keep())


def first_cells(part: Part, columns: Sequence[str], number: int) -> pl.DataFrame:
    """Read the first rows of some columns as they are."""
    with _complaining(part):
        return _rows_of(part).select(columns).head(number).collect()


def label_columns(parts: Sequence[Part], columns: Sequence[str]) -> list[str]:
    """Give those of the columns that all parts have, and that hold labels, not lists and such."""
    types = column_types(parts, columns)
    return [name for name, dtype in types.items() if _holds_labels(dtype)]


def column_types(parts: Sequence[Part], columns: Sequence[str]) -> dict[str, pl.DataType]:
    """Give the types, in the first part, of those of the columns that all parts have."""
    shared = set(columns).intersection(*(header(part) for part in parts))
    with _complaining(parts[0]):
        schema = parts[0].scan.collect_schema()
    return {name: schema[name] for name in columns if name in shared}


def _holds_labels(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)


def value_counts(parts: Sequence[Part], column: str) -> list[tuple[str, int]]:
    """Count the values of a column, those of most rows first; a survey's rows count once."""
    found: dict[str, int] = {}
    for part in parts:
        with _complaining(part):
            rows = _rows_of(part)
            if part.before is not None and part.before.row is not None:
                rows = rows.unique(part.before.row)
            values = rows.select(pl.col(column).cast(pl.String).alias("value")).drop_nulls()
            counts = values.group_by("value").len().collect(engine="streaming")
        for value, count in counts.iter_rows():
            found[value] = found.get(value, 0) + count
    return sorted(found.items(), key=lambda counted: (-counted[1], counted[0]))


def _one_frame(parts: Sequence[Part], frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    _require_text_or_numbers(parts, frames)
    try:
        return frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise InputError(f"The files have columns of different types: {_reason(error)}.") from error


def _require_text_or_numbers(parts: Sequence[Part], frames: Sequence[pl.DataFrame]) -> None:
    """Refuse a column that is text in one file and numbers in another: ids would change."""
    for name, first in frames[0].schema.items():
        for part, frame in zip(parts, frames, strict=True):
            here = frame.schema[name]
            if pl.Null not in (first, here) and _is_text(first) != _is_text(here):
                raise InputError(
                    f"The column {name!r} holds {in_words(first)} in {parts[0].name} and "
                    f"{in_words(here)} in {part.name}. "
                    "Make it the same in all files."
                )


def _is_text(dtype: pl.DataType) -> bool:
    while isinstance(dtype, pl.List | pl.Array):
        dtype = inner_of(dtype)
    return dtype == pl.String


def _collect(part: Part, columns: Sequence[str]) -> pl.DataFrame:
    with _complaining(part):
        return _rows_of(part).select(columns).collect()


def _rows_of(part: Part) -> pl.LazyFrame:
    rows = _all_rows_of(part)
    if part.kept is None:
        return rows
    numbered = rows.with_row_index(NUMBER) if part.is_numbered else rows
    return numbered.filter(part.kept.condition)


def _all_rows_of(part: Part) -> pl.LazyFrame:
    has_blank_rows = part.format in ("csv", "excel") and not part.plain.without_blank_rows
    if not has_blank_rows or part.plain.names_rows:
        return part.scan
    return _without_rows_all_of(part.scan, BLANK)


def _is_wide(scan: pl.LazyFrame) -> bool:
    return len(scan.collect_schema()) > WIDE


def _without_rows_all_of(
    scan: pl.LazyFrame, cells: pl.Expr, *, at_once: bool = False
) -> pl.LazyFrame:
    """Leave out the rows all of whose cells are such; of a wide table, perhaps read at once."""
    kept = ~pl.all_horizontal(cells)
    if not _is_wide(scan):
        return scan.filter(kept)
    if at_once:
        return scan.collect().filter(kept).lazy()
    # To plan such a filter takes polars a time that grows with the square of the columns.
    return scan.map_batches(
        lambda rows: rows.filter(kept),
        predicate_pushdown=False, projection_pushdown=False, streamable=True,
    )  # fmt: skip


def of_all_rows(part: Part, expressions: Sequence[pl.Expr]) -> pl.DataFrame:
    """Compute something of all rows of a part."""
    with _complaining(part):
        return _all_rows_of(part).select(expressions).collect(engine="streaming")


def schema_of(part: Part) -> pl.Schema:
    """Give the names of a part's columns, with their types."""
    names = header(part)
    with _complaining(part):
        return part.scan.select(names).collect_schema()


def _part(file: FoundFile, opening: Opening) -> Part:
    unread = Part(file.name, Plain(pl.LazyFrame()), "unknown", file.where)
    with _complaining(unread):
        if not opening.unpack_all:
            check_unpacked_size(file.name, file.where)
        head = head_of(file.where)
    if not head.removeprefix(UTF8_BOM).strip():
        raise InputError(f"{file.name} is empty: there are no votes in it.")
    check_not_a_page(file.name, head)
    format_ = opening.format or format_of(file.name, head)
    if format_ != "excel" and opening.sheet is not None:
        raise InputError(f"{file.name} is not a spreadsheet: omit --sheet (sheet=...).")
    with _complaining(replace(unread, format=format_)):
        if format_ == "excel":
            return _open_sheet(file, opening.sheet)
        if (scan := FORMATS[format_].scan) is not None:
            return _open_binary(file, format_, scan, unpack_all=opening.unpack_all)
        if opening.encoding is None:
            check_text(file.name, head)
        return _open_text(file, format_, head, opening.encoding)


def _open_sheet(file: FoundFile, wanted: str | None) -> Part:
    sheet = read_sheet(file.name, file.where, wanted)
    plain = _of_qualtrics(file.name, sheet.rows.lazy())
    remarks = tuple(remark for remark in (sheet.remark, sheet.title, plain.remark) if remark)
    return Part(file.name, plain, "excel", file.where, remarks=remarks)


def _open_binary(file: FoundFile, format_: str, scan: Scan, *, unpack_all: bool) -> Part:
    where = content_of(file.where) if is_compressed(file.where) else file.where
    if format_ == "arrow":
        check_arrow_claims(file.name, where, unpack_all=unpack_all, most=most_unpacked(where))
    rows = table_as_rows(file.name, scan(where, file.in_folder))
    return Part(file.name, rows, format_, where)


def _open_text(file: FoundFile, format_: str, head: bytes, wanted: str | None) -> Part:
    encoding = encoding_of(file.name, file.where, head, wanted)
    where = file.where
    if encoding.name != UTF8.name:
        where = _as_utf8(file.name, where, encoding)
        head = where[: len(head)]
    elif format_ == "json" or (head.startswith(UTF8_BOM) and format_ == "ndjson"):
        where = content_of(where).removeprefix(UTF8_BOM)
    separator, title = separator_of(head), ""
    if format_ == "csv" and (named := SEPARATOR_LINE.match(head)):
        separator = named[1].decode()
        where = content_of(where)[named.end() :]
    elif format_ == "csv" and (below := _below_titles(head, separator)) is not None:
        separator, title = below.separator, below.remark
        where = content_of(where)[below.start :]
    with _complaining(Part(file.name, Plain(pl.LazyFrame()), format_, where, separator)):
        plain = _plain(file.name, where, format_, head, separator)
    remarks = tuple(remark for remark in (encoding.remark, title, plain.remark) if remark)
    return Part(file.name, plain, format_, where, separator, remarks)


def _below_titles(head: bytes, separator: str) -> Below | None:
    """Find the header below titles, its start given in bytes."""
    text = head.decode(errors="ignore")
    below = header_below(text, separator, SEPARATORS)
    return below and below._replace(start=len(text[: below.start].encode()))


def _as_utf8(name: str, where: Path | bytes, encoding: Encoding) -> bytes:
    try:
        return content_of(where).decode(encoding.name).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not {encoding.name} text (byte {error.start + 1:,} is not). Name another "
            "encoding with --encoding (encoding=...)."
        ) from error


def _plain(name: str, where: Path | bytes, format_: str, head: bytes, separator: str) -> Plain:
    """Open the rows of a file of text, taken out of their nests if need be."""
    if format_ == "preflib":
        return preflib_rows(name, content_of(where).decode("utf-8-sig"))
    if format_ in ("json", "ndjson"):
        if run_log.is_log(head):
            return run_log.votes_as_rows(name, content_of(where))
        check_characters(name, where)
        if is_export(first_record(where, head)):
            return records_as_rows(name, records_in(where))
        if (wrapped := wrapped_records(name, where, head)) is not None:
            return _unwrapped(name, wrapped)
    match format_:
        case "csv":
            return _table_of_text(name, where, head, separator)
        case "ndjson":
            scan = scan_ndjson(where)
        case _:
            scan = read_json(content_of(where)).lazy()
    return table_as_rows(name, scan)


def _table_of_text(name: str, where: Path | bytes, head: bytes, separator: str) -> Plain:
    scan = _scan_csv(where, separator)
    if QUALTRICS_ID in head:
        return _of_qualtrics(name, scan)
    at_once = _is_small(where)
    if separator == "|" and (table := _without_padding(scan, at_once=at_once)) is not None:
        return table
    if not (at_once and _is_wide(scan)):
        return table_as_rows(name, scan)
    rows = _without_rows_all_of(scan, BLANK, at_once=True)
    return replace(table_as_rows(name, rows), without_blank_rows=True)


def _unwrapped(name: str, wrapped: Wrapped) -> Plain:
    """Open the records that stand under a key."""
    plain = (
        records_as_rows(name, wrapped.records)
        if is_export(wrapped.records[0])
        else table_as_rows(name, read_json(json.dumps(wrapped.records).encode()).lazy())
    )
    return replace(plain, remark=wrapped.remark)


def _of_qualtrics(name: str, scan: pl.LazyFrame) -> Plain:
    """Open what may be an export of Qualtrics."""
    first = scan.head(qualtrics.LINES).collect()
    if qualtrics.is_export(first):
        return qualtrics.rows_of(scan, first)
    return table_as_rows(name, scan)


def _scan_csv(where: Path | bytes, separator: str) -> pl.LazyFrame:
    scan = pl.scan_csv(where, separator=separator, infer_schema=False)
    names = scan.collect_schema().names()
    given = [name.lstrip(BOM) for name in as_in_the_file(names)]
    return scan if given == names else scan.rename(dict(zip(names, told_apart(given), strict=True)))


def _is_small(where: Path | bytes) -> bool:
    if is_compressed(where):
        return False
    size = len(where) if isinstance(where, bytes) else where.stat().st_size
    return size <= MOST_AT_ONCE


def _without_padding(scan: pl.LazyFrame, *, at_once: bool) -> Plain | None:
    """Take a table of text with | between its cells, which may have padding and a line of dashes.

    ``| judge | winner  |``, as Markdown and databases write it. None if there is no padding.
    """
    names = scan.collect_schema().names()
    bare = [name.strip() for name in names]
    outer = [at for at in (0, len(names) - 1) if not bare[at] or bare[at].startswith("(unnamed")]
    kept = [at for at in range(len(names)) if at not in outer]
    if all(bare[at] == names[at] for at in kept):
        return None
    called = told_apart([bare[at] for at in kept])
    cells = [
        pl.col(names[at]).str.strip_chars().alias(name)
        for at, name in zip(kept, called, strict=True)
    ]
    # Not with replace, whose planning takes a time that grows with the square of the columns.
    filled = scan.select(cells).select(pl.when(pl.all() != "").then(pl.all()))
    rule = pl.all().fill_null("-").str.contains(RULE)
    return Plain(
        _without_rows_all_of(filled, rule, at_once=at_once),
        without_blank_rows=True,
        remark="a table with | between padded cells; the padding does not count",
    )


@contextmanager
def _complaining(part: Part) -> Iterator[None]:
    """Turn the failure of whatever reads a part into a complaint."""
    quiet = without_panics() if part.format and FORMATS[part.format].may_panic else nullcontext()
    try:
        with quiet:
            yield
    except InputError:
        raise
    except PermissionError as error:
        raise unreadable(part.name, error) from error
    except READ_ERRORS as error:
        if system_number(error) in LIMITS_AND_FAILURES:
            raise unreadable(part.name, error) from error
        raise _complaint(part, error) from error


def _complaint(part: Part, error: BaseException) -> InputError:
    if part.format is None:
        return InputError(f"{part.name} cannot be read: {_reason(error)}.")
    if part.format == "csv":
        return _csv_complaint(part, error)
    if part.format == "ndjson":
        return _ndjson_complaint(part) or _damaged(part.name, "NDJSON", error)
    if part.format == "json":
        return _json_complaint(part) or _damaged(part.name, "JSON", error)
    if _is_plain_text(part.where):
        return InputError(
            f"{part.name} is text, not {FORMATS[part.format].title}: give it the right ending, or "
            "say what it is with --format csv (format='csv')."
        )
    return _damaged(part.name, FORMATS[part.format].title, error)


def _damaged(name: str, what: str, error: BaseException) -> InputError:
    return InputError(
        f"{name} cannot be read as {what}: {_reason(error)}. "
        "It may be damaged or cut off: write or download it again."
    )


def _is_plain_text(where: Path | bytes) -> bool:
    with suppress(*READ_ERRORS):
        head = head_of(where)
        return b"\x00" not in head and bool(head.decode(errors="ignore").strip())
    return False


def _json_complaint(part: Part) -> InputError | None:
    """Say where JSON is wrong, or what it holds instead of objects."""
    with suppress(OSError, EOFError, zlib.error, RecursionError):
        try:
            found = json.loads(content_of(part.where).removeprefix(UTF8_BOM))
        except json.JSONDecodeError as error:
            return InputError(
                f"{part.name} cannot be read as JSON: line {error.lineno:,}, column "
                f"{error.colno:,}: {error.msg}. Fix it there; the file may be cut off."
            )
        except UnicodeDecodeError:
            return None
        except ValueError as error:  # a number of more digits than Python reads
            return _damaged(part.name, "JSON", error)
        found = found if isinstance(found, list) else [found]
        odd = [at for at, one in enumerate(found, start=1) if not isinstance(one, dict)]
        if odd:
            return InputError(
                f"{part.name} cannot be read as JSON: {len(odd):,} of {len(found):,} entries are "
                f"not objects; first entry {odd[0]:,}: {json.dumps(found[odd[0] - 1])[:60]}. Write "
                'each vote as an object, such as {"judge": "ann", "winner": "a", "loser": "b"}.'
            )
    return None


def _ndjson_complaint(part: Part) -> InputError | None:
    """Find the first line that is no object: polars only says at which character of it."""
    with suppress(*READ_ERRORS):
        lines = content_of(part.where).decode().splitlines()
        for number, line in enumerate(lines, start=1):
            if line.strip() and not _is_object(line):
                return InputError(
                    f"{part.name} cannot be read as NDJSON: line {number:,} is not a JSON object: "
                    f"{line[:60]!r}. Fix or remove it; the file may be cut off there."
                )
    return None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, parse_int=float), dict)
    except (ValueError, RecursionError):
        return False


def _csv_complaint(part: Part, error: BaseException) -> InputError:
    try:
        return _ragged(part, content_of(part.where).decode()) or _damaged(part.name, "CSV", error)
    except UnicodeDecodeError as bad:
        return not_utf8(part.name, bad.start)
    except READ_ERRORS as unread:
        return _damaged(part.name, "CSV", unread)


def _ragged(part: Part, text: str) -> InputError | None:
    """Find the rows with more fields than the header: polars only says that there are some."""
    lines = [line for line in csv.reader(io.StringIO(text), delimiter=part.separator) if line]
    rows = lines[1:]
    width = len(lines[0]) if lines else 0
    long = [number for number, row in enumerate(rows, start=1) if len(row) > width]
    if not long:
        return None
    cases = ", ".join(f"row {number:,} ({len(rows[number - 1])})" for number in long[:3])
    hint = _header_below(lines) or "A field with a separator in it needs quotes."
    if all(len(row) == width + 1 for row in rows):
        hint = "The header lacks a name for the first column, as R writes it: add one."
    has = "has" if len(long) == 1 else "have"
    return InputError(
        f"{part.name}: {len(long):,} of {len(rows):,} rows {has} more fields than the header's "
        f"{width}: {cases}. {hint}"
    )


def _header_below(lines: Sequence[Sequence[str]]) -> str:
    """Say in which line the header seems to be, if there is something above it."""
    for number, line in enumerate(lines[1:MOST_ABOVE_HEADER], start=1):
        if len(line) > len(lines[0]) and fits_some_shape(line, {}):
            above = "the line" if number == 1 else f"the {number:,} lines"
            return f"The header seems to be {', '.join(line)[:80]}: remove {above} above it."
    return ""


def _reason(error: BaseException) -> str:
    """Give the first line of an error: what follows is advice for users of polars."""
    if isinstance(error, OverflowError):
        return _TOO_LARGE
    for jargon, words in _IN_PLAIN_WORDS.items():
        if jargon in str(error):
            return words
    if isinstance(error, pl.exceptions.PanicException):
        return "its description of its own parts is wrong"
    return (str(error).strip().split("\n", 1)[0] or type(error).__name__)[:200].rstrip(".")
