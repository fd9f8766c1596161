"""The formats of files as data, and which one a file has: told from its first bytes and its ending.

A new format is one entry of `FORMATS`. If it is binary, the entry says how it is scanned; how text
is taken apart stands in `juryrank.reading.files`.
"""

from __future__ import annotations

import gzip
import importlib
import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import cast

import polars as pl

from juryrank.errors import InputError

ARCHIVE = ".zip"
COMPRESSED = (".gz", ".zst")
SEPARATORS = ",\t;|"
SEPARATOR_LINE = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,\t;|])\r?\n")
"""The first line of some files for Excel: it names the separator."""
HEAD = 1 << 16
GZIP = zlib.MAX_WBITS | 16
PIECE = 1 << 20
MOST_UNPACKED, MOST_TIMES = 1_000_000_000, 100
"""Bytes to which a file may unpack whatever its size, and times its size."""
MOST_COUNTED = 64 << 20
"""Bytes of a file that are unpacked to find out."""
GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF8_BOM, UTF16_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
IPC_FILE_MAGIC, IPC_STREAM_MAGIC = b"ARROW1", b"\xff\xff\xff\xff"
ZIP_MAGIC, OLD_EXCEL_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


Scan = Callable[[Path | bytes, bool], pl.LazyFrame]
"""Opens a file, or its content; the flag tells whether it was found in a folder of votes."""


@dataclass(frozen=True)
class Format:
    """A format of files, by name."""

    name: str
    title: str
    """What it is called in messages."""
    endings: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    """What its files begin with, if that tells it from all others."""
    scan: Scan | None = None
    """How it is opened; None for text and spreadsheets."""
    is_typed: bool = True
    """Whether its columns have types of their own, and are not all text."""
    may_panic: bool = False
    """Whether its reader trusts what a file says about itself."""


def _scan_parquet(where: Path | bytes, in_folder: bool) -> pl.LazyFrame:
    if not in_folder or isinstance(where, bytes):
        return pl.scan_parquet(where, hive_partitioning=False)
    # What a folder's name says is text: polars would make numbers and dates of it.
    columns = {part.split("=", 1)[0]: pl.String() for part in where.parts[:-1] if "=" in part}
    return pl.scan_parquet(where, hive_partitioning=bool(columns), hive_schema=columns or None)


def _scan_arrow(where: Path | bytes, _in_folder: bool) -> pl.LazyFrame:
    if head_of(where).startswith(IPC_FILE_MAGIC):
        return pl.scan_ipc(where)
    return pl.read_ipc_stream(where).lazy()


FORMATS = {
    one.name: one
    for one in (
        Format("csv", "CSV", (".csv", ".tsv", ".tab", ".txt"), is_typed=False),
        Format("ndjson", "NDJSON", (".ndjson", ".jsonl")),
        Format("json", "JSON", (".json",)),
        Format(
            "parquet", "Parquet", (".parquet", ".pq"), (b"PAR1",), _scan_parquet, may_panic=True
        ),
        Format(
            "arrow", "Arrow IPC", (".arrow", ".ipc", ".feather"),
            (IPC_FILE_MAGIC, IPC_STREAM_MAGIC), _scan_arrow, may_panic=True,
        ),
        Format("preflib", "PrefLib", (".soc", ".soi", ".toc", ".toi"), is_typed=False),
        Format(
            "excel", "a spreadsheet (Excel or OpenDocument)",
            (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
            (ZIP_MAGIC, OLD_EXCEL_MAGIC),  # archives were unpacked before
            is_typed=False, may_panic=True,
        ),
        Format("unknown", "a file of votes"),
    )
}  # fmt: skip
ENDINGS = {ending: one.name for one in FORMATS.values() for ending in one.endings}


def ending_of(name: str) -> str:
    """Give the ending of a file name in lower case, without that of a compression."""
    path = PurePath(name.lower())
    return (PurePath(path.stem) if path.suffix in COMPRESSED else path).suffix


def format_named(name: str) -> str:
    """Check the name of a format: that of an ending, without the dot."""
    ending = f".{name.strip().lower().removeprefix('.')}"
    if ending not in ENDINGS:
        known = ", ".join(known.removeprefix(".") for known in ENDINGS)
        raise InputError(f"There is no format {name!r}. Known formats: {known}.")
    return ENDINGS[ending]


def format_of(name: str, head: bytes) -> str:
    """Tell the format from the first bytes, and from the ending where these do not say."""
    for one in FORMATS.values():
        if one.begins and head.startswith(one.begins):
            return one.name
    by_ending = ENDINGS.get(ending_of(name), "unknown")
    if by_ending in ("unknown", "json"):
        if head.removeprefix(UTF8_BOM).startswith(b"#") and b"# ALTERNATIVE NAME" in head:
            return "preflib"
        first = head.removeprefix(UTF8_BOM).lstrip()[:1]
        otherwise = "csv" if by_ending == "unknown" else by_ending
        return {b"{": "ndjson", b"[": "json"}.get(first, otherwise)
    return by_ending


def check_text(name: str, head: bytes) -> None:
    """Complain about a file that should be text and is not."""
    if b"\x00" in head and not head.startswith(UTF16_BOMS):
        raise InputError(
            f"{name} is binary data in none of the formats juryrank reads: {_all_formats()}, also "
            "as .gz, .zst or .zip."
        )


def _all_formats() -> str:
    return ", ".join(one.title for one in FORMATS.values() if one.endings)


def check_not_a_page(name: str, head: bytes) -> None:
    """Complain about a web page that was saved instead of a file of votes."""
    begin = head.removeprefix(UTF8_BOM).lstrip()[:100].lower()
    if begin.startswith((b"<!doctype html", b"<html", b"<table")):
        raise InputError(
            f"{name} is a web page (HTML), not a table of votes. Download the file itself; if the "
            "page has the table, open it in a spreadsheet and save it as .xlsx or CSV."
        )


def separator_of(head: bytes) -> str:
    """Tell the separator of a delimited file: the one the header has most of."""
    header = head.removeprefix(UTF8_BOM).lstrip().split(b"\n", 1)[0].decode(errors="replace")
    unquoted = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=unquoted.count)


def head_of(where: Path | bytes) -> bytes:
    """Read the first bytes, decompressed."""
    raw = _raw_head(where)
    if raw.startswith(GZIP_MAGIC):
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, HEAD)
    if raw.startswith(ZSTD_MAGIC):
        return _zstd_head(where)
    return raw


def content_of(where: Path | bytes) -> bytes:
    """Read everything, decompressed."""
    raw = where if isinstance(where, bytes) else where.read_bytes()
    if raw.startswith(GZIP_MAGIC):
        return gzip.decompress(raw)
    if raw.startswith(ZSTD_MAGIC):
        return _zstd_content(raw)
    return raw


def check_unpacked_size(name: str, where: Path | bytes) -> None:
    """Complain about a file that would become very much larger than it is."""
    if not _raw_head(where).startswith(GZIP_MAGIC):
        return
    size, most = _size_of(where), most_unpacked(where)
    if _unpacks_to_more(where, most):
        raise InputError(
            f"{name} has {size:,} bytes and would unpack to more than {most:,}. If you trust it, "
            "say --unpack-all (unpack_all=True)."
        )


def most_unpacked(where: Path | bytes) -> int:
    """Give the bytes to which a file may unpack."""
    return max(MOST_UNPACKED, MOST_TIMES * _size_of(where))


def _size_of(where: Path | bytes) -> int:
    return len(where) if isinstance(where, bytes) else where.stat().st_size


def _unpacks_to_more(where: Path | bytes, most: int) -> bool:
    """Unpack a file, or the beginning of a large one, piece by piece, and count."""
    engine, total, read = zlib.decompressobj(GZIP), 0, 0
    with io.BytesIO(where) if isinstance(where, bytes) else where.open("rb") as file:
        while read < MOST_COUNTED and (piece := file.read(PIECE)):
            read += len(piece)
            while piece:
                total += len(engine.decompress(piece, PIECE))
                if total > most:
                    return True
                piece = engine.unused_data or engine.unconsumed_tail
                if engine.eof:  # the next of several, one after the other
                    engine = zlib.decompressobj(GZIP)
    return False


def is_compressed(where: Path | bytes) -> bool:
    """Tell whether the bytes are those of gzip or zstd."""
    return _raw_head(where).startswith((GZIP_MAGIC, ZSTD_MAGIC))


def _raw_head(where: Path | bytes) -> bytes:
    if isinstance(where, bytes):
        return where[:HEAD]
    with where.open("rb") as file:
        return file.read(HEAD)


def _zstd_head(where: Path | bytes) -> bytes:
    try:
        return _joined(pl.read_lines(where, n_rows=2))
    except pl.exceptions.PolarsError:
        return content_of(where)[:HEAD]


def _zstd_content(raw: bytes) -> bytes:
    """Decompress zstd: with Python 3.14 anything, before that text, by means of polars."""
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return cast(bytes, importlib.import_module(module).decompress(raw))
        except ImportError:
            continue
    try:
        return _joined(pl.read_lines(raw))
    except pl.exceptions.ComputeError as error:
        raise InputError(
            "Binary data in zstd can only be read with Python 3.14 or later. "
            "Decompress it first, with `zstd -d`; Parquet and Arrow are compressed inside anyway."
        ) from error


def _joined(lines: pl.DataFrame) -> bytes:
    return "\n".join(lines["line"]).encode()
