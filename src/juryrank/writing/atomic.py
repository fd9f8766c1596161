"""Files that are whole or not there: written beside their place, and put there when complete.

What stood there before stays until then. If the process is killed in between, a part file is left
over, ``.NAME.PROCESS.part`` (with the thread before ``.part``, if it is not the main one); the next
file of that name removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EBUSY, EDQUOT, EFBIG, EIO, ELOOP, ENOSPC, EXDEV
from pathlib import Path

from juryrank.errors import InputError, JuryrankError, system_number

PART = ".part"
LONGEST_NAME = 200
"""Bytes; most systems have 255."""
CANNOT_BE_RENAMED = (EBUSY, EXDEV)
"""A file that is mounted by itself, as into a container, can only be written over."""
FULL_OR_BROKEN = (ENOSPC, EDQUOT, EFBIG, EIO)
"""What is wrong with a disk, and not with what the user gave."""
STDOUT, STDERR = 1, 2
"""Descriptors."""


def write_text(path: str | Path, text: str) -> None:
    """Write a file of text, in UTF-8."""
    write_bytes(path, text.encode(errors="backslashreplace"))  # what is no text is no UTF-8


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file, such as a picture."""
    write_whole(path, lambda part: part.write_bytes(content))


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let a file be written, so that it is whole or not there; complain if that cannot be done."""
    from polars.exceptions import PolarsError  # quick answers need no polars

    try:
        with whole_file(path) as part:
            write(part)
    except BrokenPipeError:
        raise
    except (OSError, PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        kind = JuryrankError if system_number(error) in FULL_OR_BROKEN else InputError
        raise kind(f"Cannot write {str(path)!r}: {reason}.") from error


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; what was written is put at `path` if nothing went wrong.

    A link is followed, permissions of an old file are kept. A pipe or a device is written to as it
    is. What is a stream of this process, such as ``/dev/stdout``, is written to through that, so
    that what it has got already, and what is yet to come, are kept.
    """
    given = Path(path)
    stream = own_stream(given)
    if stream is not None:
        with _through(stream) as part:
            yield part
        return
    if given.exists() and not given.is_file():
        yield given
        return
    destination = followed(given)
    folder = destination.parent
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    name = _short(destination.name)
    _remove_left_over(folder, name)
    part = folder / f".{name}.{os.getpid()}{_thread()}{PART}"
    try:
        yield part
        _put(part, destination)
    finally:
        part.unlink(missing_ok=True)


def followed(path: Path) -> Path:
    """Follow all links; an `OSError` if they lead in a circle."""
    try:
        return path.resolve()
    except RuntimeError as error:  # from Python 3.13 on it is an OSError
        raise OSError(ELOOP, os.strerror(ELOOP), str(path)) from error


def own_stream(path: Path) -> int | None:
    """The stream of this process that a file is, however it is named: 1 stdout, 2 stderr."""
    with suppress(OSError, ValueError):
        known = path.stat()
        for stream in (STDOUT, STDERR):
            with suppress(OSError):  # it may be closed
                if os.path.samestat(known, os.fstat(stream)):
                    return stream
    return None


def is_regular(stream: int) -> bool:
    """Whether a stream of this process is a file, and not a terminal, a pipe or closed."""
    try:
        return stat.S_ISREG(os.fstat(stream).st_mode)
    except OSError:
        return False


def is_nameless(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pipe, a device or a stream, whose name has no ending to tell a format."""
    given = Path(path)
    if given.suffix or given.is_dir() or not given.exists():
        return False
    return not given.is_file() or own_stream(given) is not None


@contextmanager
def _through(stream: int) -> Iterator[Path]:
    """Give a path to write to; what was written goes through a stream if nothing went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "part"
        yield part
        for said in (sys.stdout, sys.stderr):
            said.flush()
        with part.open("rb") as written, os.fdopen(os.dup(stream), "wb") as opened:
            shutil.copyfileobj(written, opened)


def _thread() -> str:
    """What tells apart the files that several threads write at the same time to one place."""
    is_main = threading.current_thread() is threading.main_thread()
    return "" if is_main else f".{threading.get_ident()}"


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
    left_over = re.compile(rf"\.{re.escape(name)}\.(\d+)(?:\.\d+)?{re.escape(PART)}")
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
