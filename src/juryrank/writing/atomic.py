"""Files that are whole or not there: written beside their place, and put there when complete.

What stood there before stays until then. If the process is killed in between, a part file is left
over, ``.NAME.PROCESS.part``; the next file of that name removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EBUSY, EXDEV
from pathlib import Path

import polars as pl

from juryrank.errors import InputError

PART = ".part"
LONGEST_NAME = 200
"""Bytes; most systems have 255."""
CANNOT_BE_RENAMED = (EBUSY, EXDEV)
"""A file that is mounted by itself, as into a container, can only be written over."""


def write_text(path: str | Path, text: str) -> None:
    """Write a file of text, in UTF-8."""
    content = text.encode(errors="backslashreplace")  # what is no text is no UTF-8
    write_whole(path, lambda part: part.write_bytes(content))


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let a file be written, so that it is whole or not there; complain if that cannot be done."""
    try:
        with whole_file(path) as part:
            write(part)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise InputError(f"Cannot write {str(path)!r}: {reason}.") from error


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; what was written is put at `path` if nothing went wrong.

    A link is followed, permissions of an old file are kept. A pipe or a device, such as
    ``/dev/stdout``, is written to as it is.
    """
    given = Path(path)
    if given.exists() and not given.is_file():
        yield given
        return
    destination = given.resolve()
    folder = destination.parent
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    name = _short(destination.name)
    _remove_left_over(folder, name)
    part = folder / f".{name}.{os.getpid()}{PART}"
    try:
        yield part
        _put(part, destination)
    finally:
        part.unlink(missing_ok=True)


def _short(name: str) -> str:
    """As much of a name as leaves room for what is added to it."""
    return os.fsencode(name)[:LONGEST_NAME].decode(errors="ignore")


def _put(part: Path, destination: Path) -> None:
    """Let what is complete take its place, and let it be on the disk before it does."""
    _flush(part)
    if destination.exists():
        _keep_permissions(part, destination)
    try:
        if part.parent != destination.parent:
            raise OSError(EXDEV, "another folder")
        part.replace(destination)
    except OSError as error:
        if error.errno not in CANNOT_BE_RENAMED:
            raise
        shutil.copyfile(part, destination)
        _flush(destination)
    with suppress(OSError):  # not every system knows folders as files
        _flush(destination.parent, os.O_RDONLY)


def _flush(path: Path, mode: int = os.O_RDWR) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _keep_permissions(part: Path, destination: Path) -> None:
    shutil.copymode(destination, part)
    owner = destination.stat()
    if hasattr(os, "chown") and (owner.st_uid, owner.st_gid) != (os.getuid(), os.getgid()):
        with suppress(OSError):  # only some may give files away
            os.chown(part, owner.st_uid, owner.st_gid)


def _remove_left_over(folder: Path, name: str) -> None:
    """Remove what processes left behind that are no more."""
    left_over = re.compile(rf"\.{re.escape(name)}\.(\d+){re.escape(PART)}")
    with suppress(OSError):
        for entry in os.scandir(folder):
            match = left_over.fullmatch(entry.name)
            if match and not _is_running(int(match[1])):
                Path(entry.path).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether there is such a process; where that cannot be asked, there may be."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
