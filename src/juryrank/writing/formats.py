"""The formats of files, by the ending of their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from juryrank.errors import InputError, listing
from juryrank.writing.atomic import is_nameless
from juryrank.writing.needed_packages import check_excel_can_be_written

DOCUMENTS = (".md", ".tex", ".xlsx")
"""What holds several tables."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Text with a separator between the cells."""
SAVED_AS = (*SEPARATORS, ".json", ".parquet", ".html", *DOCUMENTS)


def saved_as(path: str | Path, endings: Sequence[str] = SAVED_AS) -> str:
    """Give the ending that tells the format, in lower case: the first for what has no name."""
    return endings[0] if is_nameless(path) else Path(path).suffix.lower()


def check_ending(path: str | Path, endings: Sequence[str] = SAVED_AS) -> str:
    """Give the ending of a file name in lower case; complain if it names no known format."""
    ending = saved_as(path, endings)
    if ending not in endings:
        known = listing(endings, len(endings))
        raise InputError(f"Cannot save as {str(path)!r}: the name must end in {known}.")
    if ending == ".xlsx":
        check_excel_can_be_written(path)
    return ending
