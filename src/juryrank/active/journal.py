"""The journal of a loop: what is known of it, and the log in which every line of that stands.

A line is on the disk before it counts, and lines are only ever added. The file is locked as long as
it is open, so that two processes never write to one log. What a killed process left torn at the end
is moved to a file of its own beside the log. What the lines mean: `juryrank.reading.run_log`.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from juryrank.active.file_lock import locked
from juryrank.errors import InputError, JuryrankError, counted, listing
from juryrank.reading.run_log import BEGINNING, MARK, VERSION, History, Record, log_in
from juryrank.text import within

TORN = ".torn"
"""What is added to the name of a log for what was torn at its end."""
PIECE = 1 << 20
LONGEST_VALUE = 60
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class JournalClosed(Exception):  # noqa: N818  nothing is wrong: somebody stopped the loop
    """Nothing more is written: what comes now does not count."""


class Journal:
    """What was asked, answered and failed so far; with a file, all of it is written there first."""

    def __init__(self, history: History, file: _LogFile | None = None) -> None:
        self.history = history
        self.remarks: list[str] = []
        """What was found when the log was opened."""
        self._file = file
        self._lock = threading.Lock()
        self._is_closed = False

    def write(self, *records: Record) -> None:
        """Add lines: they are on the disk when this returns, and count from then on."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        stamped = [{**record, "at": now} for record in records]
        with self._lock:
            if self._is_closed:
                raise JournalClosed
            if self._file is not None:
                self._file.append("".join(map(_line, stamped)).encode())
            for record in stamped:
                self.history.add(record)

    def close(self) -> None:
        """Let nothing more be written, and unlock the file."""
        with self._lock:
            self._is_closed = True
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _line(record: Record) -> str:
    return json.dumps(record, allow_nan=False) + "\n"


def open_journal(path: str | os.PathLike[str] | None, study: Mapping[str, Any]) -> Journal:
    """Begin a journal, or take up the one that a log holds, if it is of the same study.

    Args:
        path: The log; None for a journal that is kept in memory only.
        study: The header: what must be the same for the log to be taken up again.
    """
    header = {MARK: VERSION, "kind": "study", **study}
    if path is None:
        return Journal(History(header))
    name = os.fspath(path)
    try:
        file = _LogFile(Path(name).expanduser())
        try:
            return _taken_up(file, name, header)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise InputError(f"Cannot write the log {name!r}: {error.strerror or error}.") from error


def _taken_up(file: _LogFile, name: str, header: Record) -> Journal:
    content = file.content()
    if content and not (content.startswith(BEGINNING) or BEGINNING.startswith(content)):
        raise InputError(f"{name!r} already exists and is not a log of jr.run: give another name.")
    log = log_in(name, content)
    if log.history is not None:
        _require_same(name, log.history.header, header)
    remarks = list(_moved_aside(file, content, log.whole))
    if log.history is None:
        file.append(_line(header).encode())
        file.save_name()
    journal = Journal(log.history or History(header), file)
    journal.remarks += remarks
    return journal


def _moved_aside(file: _LogFile, content: bytes, whole: int) -> Iterator[str]:
    """Move what is torn to a file of its own, and say so."""
    torn = content[whole:]
    if torn:
        aside = file.path.with_name(file.path.name + TORN)
        file.cut(whole, aside)
        yield (
            f"The end of {file.path.name} is incomplete ({counted(len(torn), 'byte')}): the last "
            f"process ended while writing it. Nothing depends on it; it was moved to {aside.name}."
        )


class _LogFile:
    """A file that is locked, and only ever grows by what is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, _FLAGS, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(self._handle).st_mode):
                raise InputError(f"The log {str(path)!r} is not a file that can be added to.")
            if not locked(self._handle):
                raise InputError(
                    f"The log {str(path)!r} is in use by another process, or by another jr.run of "
                    "this one: wait until it ends, or give another log."
                )
        except BaseException:
            self.close()
            raise

    def content(self) -> bytes:
        """Everything in it."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        return b"".join(iter(lambda: os.read(self._handle, PIECE), b""))

    def append(self, lines: bytes) -> None:
        """Add lines, and wait until they are on the disk; if that fails, none of them is there."""
        size = os.fstat(self._handle).st_size
        try:
            _write_all(self._handle, lines)
            os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, size)
            raise JuryrankError(
                f"Cannot write to the log {str(self.path)!r}: {error.strerror or error}. All that "
                "counts is in it: once this is fixed, call jr.run with it again."
            ) from error

    def cut(self, whole: int, aside: Path) -> None:
        """Keep so many bytes, and move the others to the end of another file."""
        other = os.open(aside, _FLAGS, 0o666)
        try:
            _write_all(other, self.content()[whole:] + b"\n")
            os.fsync(other)
        finally:
            os.close(other)
        os.ftruncate(self._handle, whole)
        os.fsync(self._handle)
        self.save_name()

    def save_name(self) -> None:
        """Let the folder remember a new file, even if the power goes off."""
        with suppress(OSError):  # not every system knows folders as files
            folder = os.open(self.path.resolve().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def close(self) -> None:
        """Close it, which unlocks it."""
        os.close(self._handle)


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


# --- is it the same study? -----------------------------------------------------------------------


def _require_same(name: str, there: Record, here: Record) -> None:
    said = list(_differences(there, here))
    if said:
        raise InputError(
            f"The log {name!r} is of another study: {'; '.join(said)}. Call jr.run as it was "
            "called then, or give another log; jr.read_votes can still read the votes of this one."
        )


def _differences(there: Record, here: Record) -> Iterator[str]:
    for key in dict.fromkeys((*there, *here)):
        old, new = there.get(key), here.get(key)
        if key == "contents":
            labels = _changed(there, here)
            if labels:
                yield f"other contents of {counted(len(labels), 'item')} ({listing(labels)})"
        elif old != new and isinstance(old, list) and isinstance(new, list):
            yield f"{key}: {_of_lists(old, new)}"
        elif old != new:
            yield f"{key} {_shown(old)} then, {_shown(new)} now"


def _changed(there: Record, here: Record) -> list[Any]:
    """The items with other contents, if they are the same items."""
    if there.get("items") != here.get("items"):
        return []
    old_ones = there.get("contents")
    if not isinstance(old_ones, list) or len(old_ones) != len(here["contents"]):
        return list(here["items"])
    both = zip(here["items"], old_ones, here["contents"], strict=True)
    return [item for item, old, new in both if old != new]


def _of_lists(old: list[Any], new: list[Any]) -> str:
    gone, come = ([one for one in some if one not in other]
                  for some, other in ((old, new), (new, old)))  # fmt: skip
    parts = [f"without {listing(gone)}" if gone else "", f"with {listing(come)}" if come else ""]
    return " and ".join(filter(None, parts)) + " now"


def _shown(value: object) -> str:
    return within(repr(value), LONGEST_VALUE)
