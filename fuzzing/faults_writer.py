"""An answer that is written again and again: without what made it, so that processes begin fast."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from juryrank.charts.whole import saved_whole
from juryrank.writing.save import save_answer

if TYPE_CHECKING:
    from juryrank.ranking.ranking import Ranking

PICTURES = (".svg", ".png")


@dataclass(frozen=True)
class Written:
    """What files hold of a ranking."""

    items: pl.DataFrame
    judges: pl.DataFrame
    json: str
    page: str
    picture: dict[str, Any]

    def to_json(self) -> str:
        """Everything as JSON."""
        return self.json

    def report(self) -> str:
        """The report as a page."""
        return self.page


def written(ranking: Ranking) -> Written:
    """What files hold of a ranking."""
    return Written(
        ranking.items,
        ranking.judges,
        ranking.to_json(),
        ranking.report(),
        ranking.plot.items().to_dict(),
    )


def save(answer: Written, path: Path) -> None:
    """Write one of its files."""
    if path.suffix in PICTURES:
        saved_whole(alt.Chart.from_dict(answer.picture)).save(path)
    else:
        save_answer(answer, path)


def write_for_ever(kept: Path, place: Path, ready: Event) -> None:
    """Write a file again and again; what is written has been pickled a moment ago."""
    answer = pickle.loads(kept.read_bytes())  # noqa: S301
    assert isinstance(answer, Written)
    save(answer, place.with_name(f"first{place.suffix}"))  # libraries take their time to begin
    ready.set()
    while True:
        save(answer, place)
