"""A list of items from a file: a table with a column of items, or text with a name in each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from juryrank.errors import InputError, counted, listing
from juryrank.reading.encodings import encoding_of
from juryrank.reading.files import header, parts_of, read_rows
from juryrank.reading.formats import SEPARATORS, check_text, content_of, ending_of, head_of
from juryrank.reading.names import known_names, plain
from juryrank.reading.rows import NA_NAMES

MORE_NAMES = frozenset(
    ("items", "id", "ids", "name", "names", "label", "labels", "title", "titles")
)
"""What a column of items may be called besides, where there are no other columns of votes."""
IN_LINES = "a name in each line"


@dataclass(frozen=True)
class ItemList:
    """Items as a file names them, and what is to be said of how it was read."""

    items: list[Any]
    said: str
    """How many were read, and from where."""
    warnings: tuple[str, ...] = ()


def read_items(path: str | Path, *, na_is_name: bool = False) -> ItemList:
    """Read a list of items.

    In a table they are in the column `item`, or in the one that is called as a column of items may
    be. A `.txt` that is no such table has a name in each line, whatever signs are in it. Of text
    with a single column the first line is an item, too, unless it is called as such a column.
    """
    given = str(path)
    found = _in_lines(given) or _in_table(given)
    if not na_is_name:
        _check_names(Path(given).name, found.items)
    return found


def _in_lines(given: str) -> ItemList | None:
    """The lines of a `.txt`; nothing for other files, and for tables with a column of items."""
    if ending_of(given) != ".txt" or not Path(given).is_file():
        return None
    lines = _lines(Path(given))
    if not lines:
        raise _empty(given)
    cells = re.split(f"[{re.escape(SEPARATORS)}]", lines[0])
    if len(cells) > 1 and "item" in map(_plain, cells):
        return None
    if _is_known(lines[0]):
        return _told(given, lines[1:], f"{IN_LINES} below {lines[0]!r}")
    return _told(given, lines, IN_LINES)


def _lines(path: Path) -> list[str]:
    head = head_of(path)
    check_text(path.name, head)
    encoding = encoding_of(path.name, path, head, None)
    text = content_of(path).decode(encoding.name, errors="replace").removeprefix("\ufeff")
    return [line for line in re.split("\r\n|\r|\n", text) if line.strip()]


def _in_table(given: str) -> ItemList:
    if Path(given).is_file() and not Path(given).stat().st_size:
        raise _empty(given)
    parts = parts_of(given)
    if len(parts) > 1:
        raise InputError(f"--items must be one file: {given!r} holds several.")
    columns = header(parts[0])
    name = _column(given, columns)
    cells = read_rows(parts, columns).frame[name]
    if cells.dtype.is_nested():
        raise InputError(
            f"{given!r} has several items in a cell of {name!r}: {listing(cells.to_list(), 1)}. "
            "Give each item a row of its own."
        )
    items = cells.to_list()
    if parts[0].format != "csv" or len(columns) > 1 or _is_known(name):
        return _told(given, items, f"the column {name!r}")
    first = (
        f"The first line of {parts[0].name}, {name!r}, is no usual name of a column of items, so "
        "it is read as an item. If it is a header, call it 'item'."
    )
    return _told(given, [name, *items], IN_LINES, first)


def _column(given: str, columns: Sequence[str]) -> str:
    """The column of items: `item`, the only one there is, or the only one called like it."""
    for known in ([n for n in columns if _plain(n) == "item"], [*filter(_is_known, columns)]):
        if len(known) == 1:
            return known[0]
    if len(columns) == 1:
        return columns[0]
    raise InputError(
        f"{given!r} has no column item. Its columns are: {listing(columns)}. Call the column of "
        "items so; or write the items to a .txt file, a name in each line."
    )


def _plain(name: str) -> str:
    return plain(name.strip("\"'"))


def _is_known(name: str) -> bool:
    names = known_names("item") | MORE_NAMES
    return _plain(name) in names or _plain(name).removesuffix("s") in names


def _told(given: str, items: list[Any], where: str, *warnings: str) -> ItemList:
    different = len(set(items))
    again = "" if different == len(items) else f", {different:,} of them different"
    said = f"Read {counted(len(items), 'item')} from {Path(given).name}{again} ({where})."
    return ItemList(items, said, warnings)


def _check_names(name: str, items: Sequence[Any]) -> None:
    """Refuse words that usually stand for no item."""
    none = [one for one in items if isinstance(one, str) and one.strip().lower() in NA_NAMES]
    if none:
        raise InputError(
            f"{len(none):,} of {counted(len(items), 'item')} in {name} usually "
            f"{'stands' if len(none) == 1 else 'stand'} for nothing: "
            f"{listing([repr(one) for one in none])}. If it is a name, say --na-is-name; else "
            "leave it out."
        )


def _empty(given: str) -> InputError:
    return InputError(f"{given!r} is empty: there are no items in it.")
