"""Whether a file may be written, asked before the long work and not after it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from juryrank.errors import InputError
from juryrank.text import LONGEST_PATH, within
from juryrank.writing.atomic import followed
from juryrank.writing.formats import SAVED_AS, check_ending


def check_savable(path: str | Path, endings: Sequence[str] = SAVED_AS) -> None:
    """Complain if a file of this name cannot be saved."""
    check_ending(path, endings)
    try:
        _check_destination(path)
    except OSError as error:
        name = within(str(path), LONGEST_PATH)
        raise InputError(f"Cannot write {name!r}: {error.strerror or error}.") from error


def _check_destination(path: str | Path) -> None:
    file = Path(path)
    destination = followed(file)
    folder = destination.parent if file.is_symlink() and not file.exists() else file.parent
    if not folder.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: there is no folder {str(folder)!r}.")
    if file.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: it is a folder.")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(f"Cannot write {str(path)!r}: permission denied.")


def check_folder(folder: Path) -> None:
    """Complain if files cannot be saved in a folder, which is made if it is not there."""
    name = within(str(folder), LONGEST_PATH)
    try:
        there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    except OSError as error:
        raise InputError(f"Cannot save in {name!r}: {error.strerror or error}.") from error
    if not there.is_dir():
        raise InputError(f"Cannot save in {name!r}: {there.name!r} is a file, not a folder.")
    if not os.access(there, os.W_OK):
        raise InputError(f"Cannot save in {name!r}: permission denied.")


def is_any_of(path: Path, files: Iterable[Path]) -> bool:
    """Whether a file is one of others, however they are named: links are the file itself."""
    if not path.exists():
        return False
    known = path.stat()
    return any(os.path.samestat(known, file.stat()) for file in files if file.exists())
