"""Files that are read more than once, however they are named: their votes count each time."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from juryrank.errors import listing

MOST_NAMES = 3
"""How many more names of a file are told."""


def notices_between(sources: Iterable[Iterable[Path]]) -> tuple[str, ...]:
    """What to say if the files of one source are among those of another."""
    return notices_on(names[0] for files in sources for names in _names_of_each(files))


def notices_on(files: Iterable[Path]) -> tuple[str, ...]:
    """What to say if a file is more than once among these."""
    several = [_described(names) for names in _names_of_each(files) if len(names) > 1]
    if not several:
        return ()
    many = "A file is" if len(several) == 1 else f"{len(several):,} files are"
    return (
        f"{many} read more than once, so that votes are counted more than once: "
        f"{listing(several)}. Give each file once.",
    )


def _names_of_each(files: Iterable[Path]) -> list[list[Path]]:
    """The names of each file: a link, or another spelling, is the file itself."""
    found: dict[tuple[int, int], list[Path]] = {}
    for file in files:
        with suppress(OSError, ValueError):  # reading it will say what is wrong
            known = file.stat()
            if stat.S_ISREG(known.st_mode):
                found.setdefault((known.st_dev, known.st_ino), []).append(file)
    return list(found.values())


def _described(names: Sequence[Path]) -> str:
    times = Counter(str(name) for name in names)
    first, *others = times
    also = f"also as {listing(others, MOST_NAMES)}" if others else f"{times[first]:,} times"
    return f"{first} ({also})"
