"""What studies of verdicts have in common: who is named, and how a study is run and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.paper.pictures import save_study
from studies.jury import code_of
from studies.running import all_results, options

BAD = (
    "one-sided", "backwards", "guessing", "inconsistent", "of another opinion", "position-biased",
    "copy", "single-item",
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One data set of a setting."""

    setting: str
    seed: int
    number: int


def named_judges(ranking: jr.Ranking) -> dict[int, str]:
    """Judges with a bad verdict, by code."""
    rows = ranking.judges.filter(pl.col("verdict").is_in(BAD))
    return {code_of(row["judge"]): row["verdict"] for row in rows.iter_rows(named=True)}


def is_said(ranking: jr.Ranking) -> bool:
    """Whether a warning speaks of accounts that count as one, or of opinions that split."""
    return any("count as one" in text or "split" in text for text in ranking.warnings)


def share_with_error(share: float, count: int) -> str:
    """A share of so many data sets in %, and its standard error."""
    spread = max(share * (1.0 - share), 0.25 / count)
    return f"{100 * share:.1f} ± {100 * float(np.sqrt(spread / count)):.1f}"


def run_study(
    name: str,
    description: str | None,
    measured: Callable[[Trial], dict[str, Any]],
    settings: Sequence[str],
    summary: Callable[[pl.DataFrame], pl.DataFrame],
    page: Callable[[pl.DataFrame, pl.DataFrame, str], Iterator[str]],
    chart: Callable[[pl.DataFrame], object],
) -> None:
    """Run a study with the options given on the command line, and write its page."""
    parser = options(description)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--settings", nargs="*", default=list(settings))
    given = parser.parse_args()
    trials = [Trial(one, given.seed, k) for one in given.settings for k in range(given.data_sets)]
    found = all_results(measured, trials, name.capitalize(), given.jobs)
    rows = pl.DataFrame(found, infer_schema_length=None)
    command = f"python -m studies.{name} --data-sets {given.data_sets} --seed {given.seed}"
    if len(given.settings) < len(settings):
        command += f" --settings {' '.join(map(repr, given.settings))}"
    table = summary(rows)
    lines = list(page(rows, table, command))
    for path in save_study(Path(given.out), name, table, lines, chart(table)):
        print(path)
