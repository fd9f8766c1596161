"""Arrays in files instead of memory, for votes that are larger than it.

The files have no names, so that nothing is left of them when the arrays are gone, whatever happens.
To compiled code they are arrays like any other. What has been looked at stays in memory until it is
given back, or until the operating system needs the room.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import InputError

RANGE = 1 << 20
"""Votes that are worked on at a time."""

Entry = TypeVar("Entry", bound=np.generic)


def new_mapped(count: int, dtype: np.dtype[Entry]) -> NDArray[Entry]:
    """Make an array in a file; it is zero throughout."""
    size = max(count * dtype.itemsize, 1)
    with in_room(), tempfile.TemporaryFile(prefix="juryrank-") as file:
        file.truncate(size)
        if hasattr(os, "posix_fallocate"):
            # Else a full disk would be noticed only when it kills the process.
            os.posix_fallocate(file.fileno(), 0, size)
        whole = mmap.mmap(file.fileno(), size)
    return np.frombuffer(whole, dtype=dtype, count=count)


@contextmanager
def in_room() -> Iterator[None]:
    """Say what to do if a file cannot be made or written: most likely there is no room for it."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(
                f"The folder for temporary files, {tempfile.gettempdir()}, has no room left for "
                "the votes, which take up to 50 bytes each. Free some space, or set TMPDIR to "
                "another folder."
            ) from error
        raise InputError(
            f"The votes cannot be kept in a temporary file: {error.strerror or error}. "
            "Set TMPDIR to another folder."
        ) from error


def check_room() -> None:
    """Complain if TMPDIR names no folder to write to: Python would silently take another one."""
    named = os.environ.get("TMPDIR")
    if named and not (Path(named).is_dir() and os.access(named, os.W_OK | os.X_OK)):
        raise InputError(
            f"TMPDIR names {named!r} for temporary files, which is not a folder that can be "
            "written to. Set it to one that is."
        )


def new_like(array: NDArray[Any], count: int, dtype: np.dtype[Entry]) -> NDArray[Entry]:
    """Make an array in a file if `array` is in one, else in memory."""
    return new_mapped(count, dtype) if is_mapped(array) else np.zeros(count, dtype=dtype)


def is_mapped(array: NDArray[Any]) -> bool:
    """Tell whether an array is in a file."""
    return _file_of(array) is not None


def give_back(*arrays: NDArray[Any]) -> None:
    """Free the memory that parts of arrays in files take; their content stays."""
    for array in arrays:
        whole = _file_of(array)
        if whole is None or not array.size or not hasattr(whole, "madvise"):
            continue
        begin = array.__array_interface__["data"][0] - _address(whole)
        # Pages that hold something else too are given back as well: they come again when needed.
        first = begin - begin % mmap.PAGESIZE
        whole.madvise(mmap.MADV_DONTNEED, first, begin + array.nbytes - first)


def _file_of(array: NDArray[Any]) -> mmap.mmap | None:
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def _address(whole: mmap.mmap) -> int:
    return int(np.frombuffer(whole, dtype=np.uint8, count=1).__array_interface__["data"][0])


def ranges(start: NDArray[np.int64], most: int = RANGE) -> Iterator[tuple[int, int]]:
    """Split judges into ranges of at most so many votes, or of one judge.

    Args:
        start: Where each judge's votes start, and where the last one's end.
        most: How many votes a range may have.
    """
    first, number = 0, len(start) - 1
    while first < number:
        end = int(np.searchsorted(start, start[first] + most, side="right")) - 1
        end = min(max(end, first + 1), number)
        yield first, end
        first = end


def pieces(count: int, most: int = RANGE) -> Iterator[slice]:
    """Split votes into pieces of at most so many."""
    for begin in range(0, count, most):
        yield slice(begin, min(begin + most, count))
