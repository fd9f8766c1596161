"""Votes for the benchmarks: drawn from HBTL in parts, written once as Parquet, with the truth.

The judge and the pair of every vote are drawn at random, so that nothing is sorted. A judge of
accuracy ``a`` says that the left item wins with probability

    1 / (1 + exp(-a (s_left - s_right)))
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import platformdirs
import polars as pl
from numpy.typing import NDArray

from benchmarks.grid import Case

FORMAT = 1
"""Raised when the same case no longer gives the same votes."""
PART = 1_000_000
"""Votes are drawn and written in parts of this many; the votes depend on it."""
SCORE_SD = 1.0
ACCURACY_LOG_SD = 0.5
WARM_UP = Case("warm-up", votes=100_000, items=100, judges=1_000)
"""What every adapter does once before it is timed."""

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Files:
    """Where a case is kept."""

    votes: Path
    truth: Path


class Truth(NamedTuple):
    """What the votes are drawn from."""

    score: Floats
    accuracy: Floats


class Part(NamedTuple):
    """Some of the votes, in codes."""

    judge: Codes
    left: Codes
    right: Codes
    left_won: NDArray[np.bool_]


def default_folder() -> Path:
    """A folder in the user's cache."""
    return Path(platformdirs.user_cache_dir("juryrank")) / "benchmarks"


def truth_of(case: Case) -> Truth:
    """Scores and accuracies of a case."""
    rng = np.random.default_rng([case.seed, 0])
    score = rng.normal(0.0, SCORE_SD, case.items)
    accuracy = rng.lognormal(0.0, ACCURACY_LOG_SD, case.judges)
    backwards = rng.permutation(case.judges)[: round(case.backwards * case.judges)]
    accuracy[backwards] *= -1.0
    return Truth(score - score.mean(), accuracy)


def parts_of(case: Case) -> Iterator[Part]:
    """All votes of a case, a part at a time."""
    truth = truth_of(case)
    for number, first in enumerate(range(0, case.votes, PART)):
        rng = np.random.default_rng([case.seed, 1 + number])
        yield _drawn(truth, min(PART, case.votes - first), rng)


def _drawn(truth: Truth, votes: int, rng: np.random.Generator) -> Part:
    items = len(truth.score)
    judge = rng.integers(0, len(truth.accuracy), votes, dtype=np.int32)
    left = rng.integers(0, items, votes, dtype=np.int32)
    right = (left + rng.integers(1, items, votes, dtype=np.int32)) % np.int32(items)
    advantage = truth.accuracy[judge] * (truth.score[left] - truth.score[right])
    return Part(judge, left, right, rng.random(votes) * (1.0 + np.exp(-advantage)) < 1.0)


def frame_of(case: Case) -> pl.DataFrame:
    """All votes of a (small) case with labels, without a file."""
    names = names_of(case)
    return pl.concat([_labelled(part, *names) for part in parts_of(case)])


def names_of(case: Case) -> tuple[pl.Series, pl.Series]:
    """Labels of items and of judges."""
    return _names("item", case.items), _names("judge", case.judges)


def _names(word: str, count: int) -> pl.Series:
    width = len(str(count))
    return pl.Series(word, [f"{word}-{number:0{width}d}" for number in range(1, count + 1)])


def _labelled(part: Part, items: pl.Series, judges: pl.Series) -> pl.DataFrame:
    sides = pl.Series(["right", "left"])
    return pl.DataFrame(
        {
            "judge": judges.gather(part.judge),
            "left": items.gather(part.left),
            "right": items.gather(part.right),
            "winner": sides.gather(part.left_won.astype(np.int32)),
        }
    )


def files_of(case: Case, folder: Path) -> Files:
    """The files of a case, made if they are not there yet."""
    stem = (
        f"votes-{case.votes}-items-{case.items}-judges-{case.judges}"
        f"-backwards-{case.backwards:g}-seed-{case.seed}-format-{FORMAT}"
    )
    files = Files(folder / f"{stem}.parquet", folder / f"{stem}.truth.parquet")
    if not (files.votes.exists() and files.truth.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        _write(case, files)
    return files


def _write(case: Case, files: Files) -> None:
    """Write votes and truth; a file is either whole or not there."""
    import pyarrow.parquet as pq

    items, judges = names_of(case)
    won, seen = np.zeros(case.items, np.int64), np.zeros(case.items, np.int64)
    unfinished = files.votes.with_suffix(f".{os.getpid()}.unfinished")
    writer = None
    try:
        for part in parts_of(case):
            table = _labelled(part, items, judges).to_arrow(compat_level=pl.CompatLevel.oldest())
            writer = writer or pq.ParquetWriter(unfinished, table.schema)
            writer.write_table(table)
            count_wins(part, won, seen)
    finally:
        if writer:
            writer.close()
    score = truth_of(case).score
    truth = pl.DataFrame({"item": items, "score": score, "won": won, "seen": seen})
    truth.write_parquet(files.truth)
    unfinished.replace(files.votes)


def count_wins(part: Part, won: NDArray[np.int64], seen: NDArray[np.int64]) -> None:
    """Add how often each item won and was compared at all."""
    winner = np.where(part.left_won, part.left, part.right)
    won += np.bincount(winner, minlength=len(won))
    seen += np.bincount(part.left, minlength=len(seen))
    seen += np.bincount(part.right, minlength=len(seen))
