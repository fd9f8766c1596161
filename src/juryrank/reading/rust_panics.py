"""Damaged files without the messages of Rust's panics.

A reader in Rust that meets what cannot be, panics. polars makes an exception of that, but before,
the thread that panicked has written a message, and often a backtrace, straight to the descriptor of
stderr, which no setting of Python's or of polars' keeps it from. Such files cannot be told from
sound ones by anything but reading them. So what is written to that descriptor during a read is
kept, and all but the panics is handed on when the read is over.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import IO

STDERR = 2
PANIC = re.compile(
    rb"\n?thread '[^'\n]*'(?: \(\d+\))? panicked at [^\n]*\n"
    rb".*?(?:\nnote: [^\n]*\n|(?=\n?thread '[^'\n]*'(?: \(\d+\))? panicked at )|\Z)",
    re.DOTALL,
)


class _Kept:
    """What is written to stderr while at least one thread reads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._real: int | None = None
        self._file: IO[bytes] | None = None

    def begin(self) -> None:
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                self._redirect()

    def end(self) -> None:
        with self._lock:
            self._readers -= 1
            if self._readers == 0:
                self._restore()

    def _redirect(self) -> None:
        try:
            real = os.dup(STDERR)
        except OSError:  # it is closed: nobody would see anything
            return
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError:  # no folder to write to: better to be read with noise than not at all
            os.close(real)
            return
        self._real = real
        os.dup2(self._file.fileno(), STDERR)

    def _restore(self) -> None:
        if self._real is None or self._file is None:
            return
        os.dup2(self._real, STDERR)
        os.close(self._real)
        with self._file as file:
            file.seek(0)
            said = PANIC.sub(b"", file.read())
        self._real = self._file = None
        if said:
            os.write(STDERR, said)


_kept = _Kept()


@contextmanager
def without_panics() -> Iterator[None]:
    """Keep the messages of panics from being seen; JURYRANK_DEBUG=1 shows them."""
    if os.environ.get("JURYRANK_DEBUG"):
        yield
        return
    _kept.begin()
    try:
        yield
    finally:
        _kept.end()
