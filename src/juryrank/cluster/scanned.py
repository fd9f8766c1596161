"""`ScannedVotes`: votes that nobody has read yet, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from juryrank.errors import listing


@dataclass(frozen=True)
class ScannedVotes:
    """Where votes are, and how to read them; nothing has been read yet."""

    urls: tuple[str, ...]
    options: Mapping[str, Any]
    """What `votes_from` is told."""

    def __repr__(self) -> str:
        return f"ScannedVotes({listing(self.urls)})"
