"""Files in a folder or an archive that are not read, and which of them are told of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from juryrank.errors import counted, listing
from juryrank.reading.formats import ENDINGS, ending_of

HIDDEN = (".", "_", "~")
"""How files and folders begin that systems and programs make for themselves."""
TRACES = ("._", "~$", "__MACOSX")
"""Such as macOS and Office leave beside a file of the same ending."""
MOST_NAMED = 3


def is_hidden(path: PurePath) -> bool:
    """Whether a path within a folder or an archive leads to what is not shown."""
    return any(part.startswith(HIDDEN) for part in path.parts)


def is_about(name: str) -> bool:
    """Whether a file only tells about the others."""
    stem = PurePath(name).name.lower().split(".", 1)[0]
    return stem in ("readme", "license", "licence", "changelog", "codebook") and name.endswith(
        ".txt"
    )


def remarks_on(paths: Sequence[PurePath]) -> tuple[str, ...]:
    """Say which files were not read, unless nobody would expect votes in them."""
    told = [str(path) for path in paths if _may_be_missed(path)]
    if not told:
        return ()
    return (f"passed over {counted(len(told), 'other file')} ({listing(told, MOST_NAMED)})",)


def _may_be_missed(path: PurePath) -> bool:
    if any(part.startswith(TRACES) for part in path.parts):
        return False
    return ending_of(path.name) in ENDINGS if is_hidden(path) else not is_about(path.name)
