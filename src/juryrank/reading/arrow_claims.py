"""What an Arrow file says about the lengths of its parts, compared with what it holds.

polars takes as much memory as a file asks for. If that is terabytes, the system refuses and the
process ends, which nothing in Python can keep from happening. So all lengths are looked at before.

A stream is messages, one after the other: 0xFFFFFFFF, the length of the metadata, the metadata (a
table of Flatbuffers), and a body of buffers. A file is ``ARROW1``, a stream, and a footer that says
where the messages are. https://arrow.apache.org/docs/format/Columnar.html
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from juryrank.errors import InputError

FILE_MAGIC, CONTINUES = b"ARROW1", 0xFFFFFFFF
PREFIX = 8
"""Bytes before the metadata of a message, and before a compressed buffer."""
NOT_COMPRESSED = -1
"""What a buffer has for its length if it did not become shorter."""
DICTIONARY, RECORDS = 2, 3
"""Kinds of messages that have buffers."""
TOO_MUCH = (
    "{} has {:,} bytes and would unpack to more than {:,}. If you trust it, say --unpack-all "
    "(unpack_all=True)."
)


class UntrueError(ValueError):
    """A file does not hold what it says."""

    def __init__(self) -> None:
        super().__init__("its description of its own parts is wrong")


class _Table(NamedTuple):
    """A table of Flatbuffers: fields that are found by their number."""

    data: bytes
    at: int

    def number(self, field: int, kind: str) -> int:
        """Give a number that is a field; 0 if it is left out."""
        where = self._where(field)
        return 0 if where is None else _number(self.data, where, kind)

    def table(self, field: int) -> _Table | None:
        """Give the table that a field points to."""
        where = self._where(field)
        return None if where is None else _table_from(self.data, where)

    def structs(self, field: int, kinds: str) -> list[tuple[int, ...]]:
        """Give the numbers of all structs of a list."""
        where = self._where(field)
        if where is None:
            return []
        first = where + _number(self.data, where, "I") + 4
        count, each = _number(self.data, first - 4, "I"), struct.calcsize(f"<{kinds}")
        if first + count * each > len(self.data):
            raise UntrueError
        return list(struct.iter_unpack(f"<{kinds}", self.data[first : first + count * each]))

    def _where(self, field: int) -> int | None:
        fields = self.at - _number(self.data, self.at, "i")
        entry = 4 + 2 * field
        if entry + 2 > _number(self.data, fields, "H"):
            return None
        offset = _number(self.data, fields + entry, "H")
        return self.at + offset if offset else None


class _Message(NamedTuple):
    """The metadata of a message, and where its body begins."""

    metadata: _Table
    body: int


def _table_from(data: bytes, where: int) -> _Table:
    return _Table(data, where + _number(data, where, "I"))


def _number(data: bytes, at: int, kind: str) -> int:
    if at < 0 or at + struct.calcsize(f"<{kind}") > len(data):
        raise UntrueError
    return int(struct.unpack_from(f"<{kind}", data, at)[0])


@dataclass
class _Content:
    """The bytes of a file, of which no more is looked at than there is."""

    file: IO[bytes]
    size: int
    looked_at: int = 0

    def piece(self, at: int, length: int) -> bytes:
        """Read some bytes that must be there."""
        self.check(at, length)
        self.looked_at += length
        if self.looked_at > 2 * self.size:  # parts overlap, and there may be a million of them
            raise UntrueError
        self.file.seek(at)
        found = self.file.read(length)
        if len(found) < length:
            raise UntrueError
        return found

    def check(self, at: int, length: int) -> None:
        """Complain about a part that is not within the file."""
        if at < 0 or length < 0 or at + length > self.size:
            raise UntrueError


def check_arrow_claims(name: str, where: Path | bytes, *, unpack_all: bool, most: int) -> None:
    """Refuse a file that says it is longer than it is, or would become longer than `most`."""
    with io.BytesIO(where) if isinstance(where, bytes) else where.open("rb") as file:
        content, total = _Content(file, file.seek(0, os.SEEK_END)), 0
        for message in _messages(content):
            total += _taken_by(content, message)
            if total > most and not unpack_all:
                raise InputError(TOO_MUCH.format(name, content.size, most))


def _messages(content: _Content) -> Iterator[_Message]:
    content.file.seek(0)
    is_file = content.file.read(len(FILE_MAGIC)) == FILE_MAGIC
    return _messages_of_file(content) if is_file else _messages_of_stream(content)


def _messages_of_stream(content: _Content) -> Iterator[_Message]:
    at = 0
    while at + PREFIX <= content.size:
        message = _message_at(content, at)
        if message is None:
            return
        yield message
        at = message.body + message.metadata.number(3, "q")


def _messages_of_file(content: _Content) -> Iterator[_Message]:
    """Find the messages that the footer names; it stands before its length and the magic."""
    end = content.size - len(FILE_MAGIC) - 4
    length = _number(content.piece(end, 4), 0, "i")
    footer = _table_from(content.piece(end - length, length), 0)
    for at, metadata, body in footer.structs(2, "qi4xq") + footer.structs(3, "qi4xq"):
        content.check(at, metadata)
        content.check(at + metadata, body)
        if (message := _message_at(content, at)) is not None:
            yield message._replace(body=at + metadata)


def _message_at(content: _Content, at: int) -> _Message | None:
    """Read the metadata of a message; None at the end of a stream, which has none."""
    first, second = struct.unpack("<II", content.piece(at, PREFIX))
    # Before Arrow 0.15, the length came first.
    start, length = (at + 8, second) if first == CONTINUES else (at + 4, first)
    if length == 0:
        return None
    return _Message(_table_from(content.piece(start, length), 0), start + length)


def _taken_by(content: _Content, message: _Message) -> int:
    """Check a message, and count the bytes that its buffers become, and its rows."""
    metadata, body = message
    content.check(body, metadata.number(3, "q"))
    kind, batch = metadata.number(1, "B"), metadata.table(2)
    if kind == DICTIONARY and batch is not None:
        batch = batch.table(1)
    if kind not in (DICTIONARY, RECORDS) or batch is None:
        return 0
    is_compressed = batch.table(3) is not None
    return _rows_of(batch) + sum(
        _length_of(content, body + at, length, is_compressed=is_compressed)
        for at, length in batch.structs(2, "qq")
    )


def _rows_of(batch: _Table) -> int:
    """Count the rows of all columns: one of nothing but nulls has no buffer that tells."""
    counts = [batch.number(0, "q"), *(rows for rows, _ in batch.structs(1, "qq"))]
    if min(counts) < 0:
        raise UntrueError
    return sum(counts)


def _length_of(content: _Content, at: int, length: int, *, is_compressed: bool) -> int:
    content.check(at, length)
    if not is_compressed or length == 0:
        return length
    unpacked = _number(content.piece(at, min(length, PREFIX)), 0, "q")
    if unpacked < NOT_COMPRESSED:
        raise UntrueError
    return length if unpacked == NOT_COMPRESSED else unpacked
