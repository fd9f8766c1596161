"""Whether a file can be written, asked before the long work and not after it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from juryrank.errors import InputError, listing
from juryrank.labels import LONGEST_PATH, within
from juryrank.replacing import followed, is_nameless

REPORT_NEEDS = {"altair": "altair", "vl_convert": "vl-convert-python", "jinja2": "jinja2"}
"""Modules that the report needs, and the packages they come in."""
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
        raise InputError(f"Cannot save as {str(path)!r}: end it in {known}.")
    if ending == ".xlsx" and find_spec("xlsxwriter") is None:
        raise InputError(
            f"Cannot save as {str(path)!r}: Excel needs the package xlsxwriter. "
            "Install it with pip install xlsxwriter."
        )
    return ending


def check_savable(path: str | Path, endings: Sequence[str] = SAVED_AS) -> None:
    """Complain if a file of this name cannot be saved."""
    check_ending(path, endings)
    try:
        _check_place(path)
    except OSError as error:
        name = within(str(path), LONGEST_PATH)
        raise InputError(f"Cannot write {name!r}: {error.strerror or error}.") from error


def _check_place(path: str | Path) -> None:
    file = Path(path)
    followed(file)
    folder = file.parent
    if not folder.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: there is no folder {str(folder)!r}.")
    if file.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: it is a folder.")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(f"Cannot write {str(path)!r}: permission denied.")


def is_any_of(path: Path, files: Iterable[Path]) -> bool:
    """Whether a file is one of others, however they are named: links are the file itself."""
    if not path.exists():
        return False
    known = path.stat()
    return any(os.path.samestat(known, file.stat()) for file in files if file.exists())


def check_report_can_be_made() -> None:
    """Complain if a package is missing that the report needs."""
    missing = [package for module, package in REPORT_NEEDS.items() if find_spec(module) is None]
    if missing:
        raise InputError(
            f"The report needs what is not installed: {', '.join(missing)}. "
            f"Install it with pip install {' '.join(missing)}."
        )
