"""Whether a file can be written, asked before the long work and not after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from juryrank.errors import InputError, listing

SAVED_AS = (".csv", ".tsv", ".json", ".parquet", ".html")


def check_ending(path: str | Path, endings: Sequence[str] = SAVED_AS) -> str:
    """Give the ending of a file name in lower case; complain if it names no known format."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(f"Cannot save as {str(path)!r}: end it in {listing(endings)}.")
    return ending


def check_savable(path: str | Path, endings: Sequence[str] = SAVED_AS) -> None:
    """Complain if a file of this name cannot be saved."""
    check_ending(path, endings)
    file = Path(path)
    folder = file.parent
    if not folder.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: there is no folder {str(folder)!r}.")
    if file.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: it is a folder.")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(f"Cannot write {str(path)!r}: permission denied.")
