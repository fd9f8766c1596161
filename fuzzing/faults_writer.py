"""An answer that is written again and again: without what made it, so that processes begin fast."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking


@dataclass(frozen=True)
class Written:
    """What files hold of a ranking."""

    items: pl.DataFrame
    judges: pl.DataFrame
    json: str
    page: str

    def to_json(self) -> str:
        """Everything as JSON."""
        return self.json

    def report(self) -> str:
        """The report as a page."""
        return self.page


def written(ranking: Ranking) -> Written:
    """What files hold of a ranking."""
    return Written(ranking.items, ranking.judges, ranking.to_json(), ranking.report())


def loaded(path: str) -> Written:
    """Read it, as pickle has written it a moment ago."""
    found = pickle.loads(Path(path).read_bytes())  # noqa: S301
    assert isinstance(found, Written)
    return found
