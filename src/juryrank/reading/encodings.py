"""How text is encoded: UTF-8 unless the user or the bytes say otherwise, and then it is said."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from juryrank.errors import InputError
from juryrank.reading.formats import UTF16_BOMS, content_of, is_compressed

WESTERN = "cp1252"
PIECE, MOST_UNPACKED_BYTES, MOST_BYTES_CHECKED = 1 << 20, 1 << 22, 1 << 28
"""Larger files are taken to be UTF-8 if their first bytes are; if not, that is said later."""
_NOT_WESTERN = re.compile(rb"[\x81\x8d\x8f\x90\x9d]|[\x80-\xff]{4}")
"""What Windows-1252 does not have, and four such letters in a row, which no western word has."""


class Encoding(NamedTuple):
    """How to decode a file, and what to say about it."""

    name: str
    remark: str = ""


UTF8 = Encoding("utf-8")


def encoding_named(name: str) -> str:
    """Check the name of an encoding."""
    try:
        found = codecs.lookup(name.strip()).name
        "x".encode(found)  # some are no encodings of text
    except (LookupError, ValueError):
        raise InputError(
            f"There is no encoding {name!r}. Common ones: utf-8, cp1252 (Windows, western), "
            "cp1250, cp1251, latin-1, utf-16, shift_jis, gb18030."
        ) from None
    return found


def encoding_of(name: str, where: Path | bytes, head: bytes, wanted: str | None) -> Encoding:
    """Tell the encoding of a file of text: the user's, else UTF-8 if it is that, else a guess."""
    if wanted is not None:
        return Encoding(encoding_named(wanted))
    if head.startswith(UTF16_BOMS):
        return Encoding("utf-16")
    is_whole = _is_looked_through(where)
    bad = _first_bad_byte(_pieces(where) if is_whole else (head,), is_whole=is_whole)
    if bad is None:
        return UTF8
    content = content_of(where)
    if _NOT_WESTERN.search(content):
        raise not_utf8(name, bad)
    shown = content[max(bad - 12, 0) : bad + 12].decode(WESTERN)
    return Encoding(
        WESTERN,
        f"not UTF-8, so read as Windows-1252 (…{' '.join(shown.split())}…); if that is wrong, say "
        "--encoding",
    )


def not_utf8(name: str, bad: int) -> InputError:
    """Complain about a file that is not UTF-8."""
    return InputError(
        f"{name} is not UTF-8 text (byte {bad + 1:,} is not). Save it as UTF-8, or say what it is "
        "with --encoding (encoding=...), such as cp1252, cp1251, shift_jis or gb18030."
    )


def _is_looked_through(where: Path | bytes) -> bool:
    """Whether all of a file is looked at, or only its head."""
    size = len(where) if isinstance(where, bytes) else where.stat().st_size
    return size <= (MOST_UNPACKED_BYTES if is_compressed(where) else MOST_BYTES_CHECKED)


def _pieces(where: Path | bytes) -> Iterator[bytes]:
    if isinstance(where, bytes) or is_compressed(where):
        yield content_of(where)
        return
    with where.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _first_bad_byte(pieces: Iterable[bytes], *, is_whole: bool) -> int | None:
    """Find the first byte that is not UTF-8; the last character of a head may be cut off."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = 0
    for piece in chain(pieces, (b"",)):
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(piece, final=is_whole and not piece)
        except UnicodeDecodeError as error:
            return before - waiting + error.start
        before += len(piece)
    return None
