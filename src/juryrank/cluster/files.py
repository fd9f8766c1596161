"""Files of votes, wherever fsspec finds them: folders, globs, object stores, hive partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import polars as pl
from polars.exceptions import PolarsError

from juryrank.errors import InputError, listing
from juryrank.reading.files import header, parts_of, read_rows

PIECES = 16
"""Files of Parquet are read in about so many pieces, in whole row groups,"""
FEWEST_ROWS, MOST_ROWS = 1 << 19, 1 << 22
"""but none has fewer rows than these, if its file has more, and few have more than these."""
PARQUET = (".parquet", ".pq")
JSON_LINES = (".ndjson", ".jsonl")
ENDINGS = (*PARQUET, ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", *JSON_LINES)
STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
"""What tells, beside the size, whether a file has changed; the first that there is."""
_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
BYTES_PER_ROW_OF_TEXT = 24
"""About; only to tell beforehand how much memory is needed."""


@dataclass(frozen=True)
class File:
    """A file as it was when the work began."""

    url: str
    size: int
    stamp: str
    partition: tuple[tuple[str, str | None], ...] = ()
    """What the folders it is in say of all its rows: ``judge=ana``."""

    @property
    def is_text(self) -> bool:
        """Whether cells have no types, so that numbers are text until seen to be numbers."""
        return not self.url.endswith((*PARQUET, *JSON_LINES))

    @property
    def is_parquet(self) -> bool:
        """Whether parts of it can be read."""
        return self.url.endswith(PARQUET)


@dataclass(frozen=True)
class Piece:
    """Some rows of a file: all, or those of some row groups of Parquet."""

    file: File
    row_groups: tuple[int, ...] | None
    rows: int
    """How many; a guess for text."""
    first: int = 0
    """How many rows of the file are before them."""
    only_text: bool = False
    """Whether names in a text file are text though all of this one are whole numbers."""

    def __str__(self) -> str:
        counted_from = f", counted from row {self.first + 1:,}" if self.first else ""
        return f"{self.file.url}{counted_from}"


def files_at(urls: Sequence[str]) -> list[File]:
    """The files of paths, folders and globs, in the order of their names."""
    found: list[File] = []
    for url in urls:
        more = _files_at(url)
        if not more:
            raise InputError(
                f"{url!r}: there are no files of votes. Known endings: {', '.join(ENDINGS)}."
            )
        found += more
    return sorted(found, key=lambda file: file.url)


def _files_at(url: str) -> list[File]:
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(url)
        if "*" in path or "?" in path or "[" in path:
            names = system.glob(path)
        elif system.isdir(path):
            names = system.find(path)
        else:
            names = [path] if system.exists(path) else []
        wanted = [name for name in names if name.lower().endswith(ENDINGS) and not _hidden(name)]
        return [
            File(system.unstrip_protocol(name), *_stamp(system.info(name)), _partition(name))
            for name in wanted
        ]
    except ImportError as error:
        raise InputError(f"{url!r}: {error}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{url!r} cannot be read: {error}") from error


def _hidden(name: str) -> bool:
    """Whether a file is none of votes, such as ``_SUCCESS`` or ``.part-0.parquet.crc``."""
    return PurePosixPath(name).name.startswith(("_", "."))


def _stamp(info: dict[str, Any]) -> tuple[int, str]:
    told = next((str(info[key]) for key in STAMPS if info.get(key) is not None), "")
    return int(info.get("size") or 0), told


def _partition(name: str) -> tuple[tuple[str, str | None], ...]:
    parts = [_PARTITION.fullmatch(part) for part in PurePosixPath(name).parts[:-1]]
    return tuple(
        (unquote(part[1]), None if part[2] == HIVE_NULL else unquote(part[2]))
        for part in parts
        if part
    )


def row_groups_of(file: File) -> list[int]:
    """How many rows each row group of Parquet has; a guess for text, as one.

    To be called where the file can be read fast.
    """
    if not file.is_parquet:
        return [max(file.size // BYTES_PER_ROW_OF_TEXT, 1)]
    import pyarrow.parquet

    with _opened(file) as opened, _complaining(file):
        told = pyarrow.parquet.ParquetFile(opened).metadata
        return [told.row_group(group).num_rows for group in range(told.num_row_groups)]


def pieces_of(
    files: Sequence[File], row_groups: Sequence[Sequence[int]], fewest: int = FEWEST_ROWS
) -> list[Piece]:
    """The parts of files that are read apart, of which these are the row groups."""
    every = sum(map(sum, row_groups))
    enough = min(max(every // PIECES, fewest), MOST_ROWS)
    return [
        piece
        for file, rows in zip(files, row_groups, strict=True)
        for piece in _pieces_of(file, rows, enough)
        if piece.rows
    ]


def _pieces_of(file: File, rows: Sequence[int], enough: int) -> Iterator[Piece]:
    """Row groups one after the other, until they have enough rows."""
    first = count = begin = 0
    for group, own in enumerate(rows):
        count += own
        if count >= enough or group == len(rows) - 1:
            groups = tuple(range(begin, group + 1)) if file.is_parquet else None
            yield Piece(file, groups, count, first)
            first, count, begin = first + count, 0, group + 1


def check_unchanged(file: File) -> None:
    """Refuse a file that is no longer what it was: shards of two versions do not go together."""
    import fsspec

    system, path = fsspec.core.url_to_fs(file.url)
    try:
        now = _stamp(system.info(path))
    except OSError as error:
        raise InputError(
            f"{file.url} was there when the work began, and can no longer be read: {error}. "
            "Put it back, and rank again."
        ) from error
    if now != (file.size, file.stamp):
        raise InputError(
            f"{file.url} has changed since the work began: it had {file.size:,} bytes "
            f"({file.stamp}), and has {now[0]:,} ({now[1]}). Rank again when nothing writes to it."
        )


def frame_of(piece: Piece, columns: Sequence[str] | None, most: int | None = None) -> pl.DataFrame:
    """The rows of a piece, with the columns that are needed; None: all."""
    check_unchanged(piece.file)
    partition = dict(piece.file.partition)
    there = None if columns is None else [name for name in columns if name not in partition]
    with _complaining(piece.file):
        frame = _parquet(piece, there, most) if piece.file.is_parquet else _text(piece.file, there)
    frame = frame if most is None else frame.head(most)
    return frame.with_columns(
        pl.lit(value, pl.String).alias(key) for key, value in partition.items()
    )


def _parquet(piece: Piece, columns: list[str] | None, most: int | None) -> pl.DataFrame:
    path = _local_path(piece.file)
    if path is None:
        return _parquet_from_afar(piece, columns)
    scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    names = scan.collect_schema().names()
    _check_columns(piece.file, columns, names)
    rows = piece.rows if most is None else min(most, piece.rows)
    return scan.slice(piece.first, rows).select(names if columns is None else columns).collect()


def _local_path(file: File) -> str | None:
    """Where a file is in a folder of this machine, where polars reads it faster than pyarrow."""
    import fsspec
    from fsspec.implementations.local import LocalFileSystem

    system, path = fsspec.core.url_to_fs(file.url)
    return path if isinstance(system, LocalFileSystem) else None


def _parquet_from_afar(piece: Piece, columns: list[str] | None) -> pl.DataFrame:
    """Of a file in an object store nothing is fetched but these row groups and columns."""
    import pyarrow.parquet

    with _opened(piece.file) as opened:
        file = pyarrow.parquet.ParquetFile(opened)
        _check_columns(piece.file, columns, file.schema_arrow.names)
        table = file.read_row_groups(
            list(piece.row_groups or ()), columns=columns, use_threads=False
        )
    found = pl.from_arrow(table)
    return found if isinstance(found, pl.DataFrame) else found.to_frame()


def _text(file: File, columns: list[str] | None) -> pl.DataFrame:
    """Cells of text stay text, as on one machine: 01 and 1 are two names."""
    with _opened(file) as opened:
        content = BytesIO(opened.read())
    content.name = PurePosixPath(file.url).name
    (part,) = parts_of(content)
    names = header(part)
    _check_columns(file, columns, names)
    return read_rows([part], names if columns is None else columns).frame


def _check_columns(file: File, columns: Sequence[str] | None, names: Sequence[str]) -> None:
    missing = [name for name in columns or () if name not in names]
    if missing:
        raise InputError(
            f"{file.url} has no column {listing(missing)}, which the first file has. Its columns: "
            f"{listing(names)}. All files need the same columns."
        )


@contextmanager
def _complaining(file: File) -> Iterator[None]:
    """Say which file is damaged, as those who read it put it."""
    import pyarrow

    try:
        yield
    except (OSError, PolarsError, pyarrow.ArrowException) as error:
        raise InputError(
            f"{file.url} cannot be read: {error}. It may be damaged or cut off: write or download "
            "it again."
        ) from error


def _opened(file: File) -> Any:
    import fsspec

    try:
        return fsspec.open(file.url, "rb").open()
    except OSError as error:
        raise InputError(f"{file.url} cannot be read: {error}") from error
